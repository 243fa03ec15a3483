//! Stores a run as rows of the tables.

use results::{CurvePoint, Figure, LimitVerdict, Row, Run, RunVerdict, Status, Table, Warning};
use rusqlite::{Params, Transaction, named_params, params};

/// Inserts everything except the document, which needs the number.
pub(crate) fn insert(transaction: &Transaction<'_>, run: &Run) -> rusqlite::Result<i64> {
    let id = insert_run(transaction, run)?;
    let rows = RunRows { transaction, id };
    if let Some(verdict) = &run.verdict {
        rows.set_verdict(verdict)?;
    }
    rows.insert_tables(&run.tables())?;
    if let Some(curve) = run.curve() {
        for (position, point) in (0..).zip(&curve.points) {
            rows.insert_point(position, point)?;
        }
    }
    for (position, (scope, warning)) in (0..).zip(run.scoped_warnings()) {
        rows.insert_warning(position, &scope, warning)?;
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
            RunRows { transaction, id }.set_verdict(&procedure::verdict(&run))?;
        }
    }
    Ok(())
}

/// Stores the JSON document of a run.
pub(crate) fn set_document(
    transaction: &Transaction<'_>,
    id: i64,
    document: &str,
) -> rusqlite::Result<()> {
    let rows = RunRows { transaction, id };
    let update = "UPDATE runs SET document = ?2 WHERE id = ?1";
    rows.execute(update, params![id, document])
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

/// What the tables hold of a run.
struct RunRows<'a> {
    transaction: &'a Transaction<'a>,
    id: i64,
}

impl RunRows<'_> {
    fn execute(&self, sql: &str, params: impl Params) -> rusqlite::Result<()> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        statement.execute(params).map(drop)
    }

    fn set_verdict(&self, verdict: &RunVerdict) -> rusqlite::Result<()> {
        let goals = verdict.goals.map(LimitVerdict::name);
        let (trust, because) = (verdict.trust.name(), verdict.codes());
        self.execute(
            "UPDATE runs SET verdict = ?2, verdict_trust = ?3, verdict_because = ?4, goals = ?5
             WHERE id = ?1",
            params![self.id, verdict.sentence, trust, because, goals],
        )
    }

    /// The rows of the tables: their levels, then their figures.
    fn insert_tables(&self, tables: &[Table]) -> rusqlite::Result<()> {
        let mut position = 0;
        for table in tables {
            for row in &table.rows {
                let name = table.row_name(row);
                for (factor, level) in table.factors.iter().zip(&row.levels) {
                    // Levels requested twice are one row.
                    let insert = "INSERT OR IGNORE INTO factors VALUES (?, ?, ?, ?, ?)";
                    self.execute(insert, params![self.id, table.name, name, factor, level])?;
                }
                for figure in &row.figures {
                    self.insert_figure(position, (&table.name, &name), row, figure)?;
                    position += 1;
                }
            }
        }
        Ok(())
    }

    fn insert_figure(
        &self,
        position: i64,
        (table, name): (&str, &str),
        row: &Row,
        figure: &Figure,
    ) -> rusqlite::Result<()> {
        let (metric, value) = (&figure.metric, figure.value);
        self.execute(
            "INSERT INTO figures VALUES (:run_id, :position, :table, :row, :metric, :unit, :better,
                 :role, :value, :low, :high, :confidence, :samples, :indicative, :trust)",
            named_params! {
                ":run_id": self.id,
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
            },
        )
    }

    fn insert_point(&self, position: i64, point: &CurvePoint) -> rusqlite::Result<()> {
        self.execute(
            "INSERT INTO curve_points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                self.id,
                position,
                point.clients,
                finite(point.load.value),
                finite(point.load.low),
                finite(point.load.high),
                finite(point.response.value),
                finite(point.response.low),
                finite(point.response.high),
                point.response_p99.and_then(|it| finite(it.value)),
                point.is_scout,
                point.is_converged,
            ],
        )
    }

    fn insert_warning(
        &self,
        position: i64,
        scope: &str,
        warning: &Warning,
    ) -> rusqlite::Result<()> {
        let (code, severity) = (warning.code.as_str(), warning.severity.name());
        let (id, cause, advice) = (self.id, &warning.cause, &warning.advice);
        self.execute(
            "INSERT INTO warnings VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![id, position, scope, code, severity, cause, advice],
        )
    }
}

/// SQL has no infinity that other programs would understand.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
