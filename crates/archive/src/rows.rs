//! Stores a run as rows of the tables.

use results::{CurvePoint, Figure, LimitVerdict, Row, Run, RunVerdict, Status, Table, Warning};
use rusqlite::{Transaction, named_params, params};
use stats::Estimate;

/// Inserts everything except the document, which needs the number.
pub(crate) fn insert(transaction: &Transaction<'_>, run: &Run) -> rusqlite::Result<i64> {
    let id = insert_run(transaction, run)?;
    if let Some(verdict) = &run.verdict {
        set_verdict(transaction, id, verdict)?;
    }
    let mut position = 0;
    for table in &run.tables() {
        insert_table(transaction, id, table, &mut position)?;
    }
    if let Some(curve) = run.curve() {
        for (position, point) in curve.points.iter().enumerate() {
            insert_point(transaction, id, position, point)?;
        }
    }
    for (position, (scope, warning)) in run.scoped_warnings().enumerate() {
        insert_warning(transaction, id, position, &scope, warning)?;
    }
    Ok(id)
}

/// Adds verdicts to runs archived without one, as far as they can be read.
pub(crate) fn add_verdicts(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut runs = transaction.prepare("SELECT id, document FROM runs WHERE verdict IS NULL")?;
    let mut runs = runs.query([])?;
    while let Some(row) = runs.next()? {
        let (id, document): (i64, String) = (row.get(0)?, row.get(1)?);
        if let Ok(run) = results::from_json(&document) {
            set_verdict(transaction, id, &procedure::verdict(&run))?;
        }
    }
    Ok(())
}

fn set_verdict(
    transaction: &Transaction<'_>,
    id: i64,
    verdict: &RunVerdict,
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "UPDATE runs SET verdict = ?2, verdict_trust = ?3, verdict_because = ?4, goals = ?5
         WHERE id = ?1",
    )?;
    let goals = verdict.goals.map(LimitVerdict::name);
    let (trust, because) = (verdict.trust.name(), verdict.codes());
    statement
        .execute(params![id, verdict.sentence, trust, because, goals])
        .map(|_| ())
}

/// Stores the JSON document of a run.
pub(crate) fn set_document(
    transaction: &Transaction<'_>,
    id: i64,
    document: &str,
) -> rusqlite::Result<()> {
    transaction
        .execute(
            "UPDATE runs SET document = ?2 WHERE id = ?1",
            params![id, document],
        )
        .map(|_| ())
}

fn insert_run(transaction: &Transaction<'_>, run: &Run) -> rusqlite::Result<i64> {
    let status = match run.status {
        Status::Complete => "complete",
        Status::Partial { .. } => "partial",
    };
    transaction.execute(
        "INSERT INTO runs (started_at, command, target, target_path, file_system, device, status,
             seed, version, host, kernel, elapsed_s, headline, document)
         VALUES (:started_at, :command, :target, :target_path, :file_system, :device, :status,
             :seed, :version, :host, :kernel, :elapsed_s, :headline, '')",
        named_params! {
            ":started_at": run.environment.started_at,
            ":command": run.settings.command,
            ":target": run.target.given,
            ":target_path": run.target.path,
            ":file_system": run.target.file_system.as_ref().map(|fs| &fs.kind),
            ":device": run.target.devices.first().map(|device| &device.name),
            ":status": status,
            ":seed": run.settings.seed.to_string(),
            ":version": run.environment.seekstone_version,
            ":host": run.environment.host_name,
            ":kernel": run.environment.kernel,
            ":elapsed_s": run.elapsed_ns as f64 / 1e9,
            ":headline": report::headline(run),
        },
    )?;
    Ok(transaction.last_insert_rowid())
}

/// The rows of a table: their levels, then their figures.
fn insert_table(
    transaction: &Transaction<'_>,
    id: i64,
    table: &Table,
    position: &mut i64,
) -> rusqlite::Result<()> {
    // Levels requested twice are one row.
    let mut of_level =
        transaction.prepare_cached("INSERT OR IGNORE INTO factors VALUES (?, ?, ?, ?, ?)")?;
    for row in &table.rows {
        let name = table.row_name(row);
        for (factor, level) in table.factors.iter().zip(&row.levels) {
            of_level.execute(params![id, table.name, name, factor, level])?;
        }
        for figure in &row.figures {
            insert_figure(
                transaction,
                (id, *position),
                (&table.name, &name),
                row,
                figure,
            )?;
            *position += 1;
        }
    }
    Ok(())
}

fn insert_figure(
    transaction: &Transaction<'_>,
    (id, position): (i64, i64),
    (table, name): (&str, &str),
    row: &Row,
    figure: &Figure,
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO figures VALUES (:run_id, :position, :table, :row, :metric, :unit, :better,
             :role, :value, :low, :high, :confidence, :samples, :indicative, :trust)",
    )?;
    let (metric, value) = (&figure.metric, figure.value);
    statement
        .execute(named_params! {
            ":run_id": id,
            ":position": position,
            ":table": table,
            ":row": name,
            ":metric": metric.name,
            ":unit": metric.unit.name(),
            ":better": metric.better.name(),
            ":role": metric.role.name(),
            ":value": finite(value.value),
            ":low": finite(value.low),
            ":high": finite(value.high),
            ":confidence": value.confidence,
            ":samples": finite(value.samples),
            ":indicative": figure.is_indicative,
            ":trust": row.trust.name(),
        })
        .map(|_| ())
}

fn insert_point(
    transaction: &Transaction<'_>,
    id: i64,
    position: usize,
    point: &CurvePoint,
) -> rusqlite::Result<()> {
    let mut statement = transaction
        .prepare_cached("INSERT INTO curve_points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    statement
        .execute(params![
            id,
            position as i64,
            point.clients,
            finite(point.load.value),
            finite(point.load.low),
            finite(point.load.high),
            finite(point.response.value),
            finite(point.response.low),
            finite(point.response.high),
            value(point.response_p99),
            point.is_scout,
            point.is_converged,
        ])
        .map(|_| ())
}

fn insert_warning(
    transaction: &Transaction<'_>,
    id: i64,
    position: usize,
    scope: &str,
    warning: &Warning,
) -> rusqlite::Result<()> {
    let mut statement =
        transaction.prepare_cached("INSERT INTO warnings VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    statement
        .execute(params![
            id,
            position as i64,
            scope,
            warning.code.as_str(),
            warning.severity.name(),
            warning.cause,
            warning.advice
        ])
        .map(|_| ())
}

fn value(estimate: Option<Estimate>) -> Option<f64> {
    estimate.and_then(|estimate| finite(estimate.value))
}

/// SQL has no infinity that other programs would understand.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
