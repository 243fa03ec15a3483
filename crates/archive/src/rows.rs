//! A run as rows of the tables.

use results::{CurvePoint, Level, LevelOutcome, Measurement, Run, Severity, Status, Warning};
use rusqlite::{Transaction, named_params, params};
use stats::Estimate;

/// Insert everything but the document, which cannot be made before the number is known.
pub(crate) fn insert(transaction: &Transaction<'_>, run: &Run) -> rusqlite::Result<i64> {
    let id = insert_run(transaction, run)?;
    for (position, measurement) in run.measurements.iter().enumerate() {
        insert_measurement(transaction, id, position, measurement)?;
    }
    if let Some(curve) = &run.curve {
        for (position, point) in curve.points.iter().enumerate() {
            insert_point(transaction, id, position, point)?;
        }
        for level in &curve.levels {
            insert_level(transaction, id, level)?;
        }
    }
    for (position, (scope, warning)) in scoped_warnings(run).enumerate() {
        insert_warning(transaction, id, position, scope, warning)?;
    }
    Ok(id)
}

/// Put the document beside the rows.
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

fn insert_measurement(
    transaction: &Transaction<'_>,
    id: i64,
    position: usize,
    m: &Measurement,
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO measurements VALUES (:run_id, :position, :name, :title, :clients, :access,
             :driver, :response_mean, :response_low, :response_high, :response_p99, :service_mean,
             :throughput, :throughput_low, :throughput_high, :bandwidth, :bandwidth_low,
             :bandwidth_high, :cpu, :page_cache_share, :errors, :converged)",
    )?;
    statement
        .execute(named_params! {
            ":run_id": id,
            ":position": position as i64,
            ":name": m.name,
            ":title": m.title,
            ":clients": m.clients,
            ":access": m.access.name(),
            ":driver": m.driver,
            ":response_mean": finite(m.response.mean.value),
            ":response_low": finite(m.response.mean.low),
            ":response_high": finite(m.response.mean.high),
            ":response_p99": value(m.response.percentile(0.99)),
            ":service_mean": finite(m.service.mean.value),
            ":throughput": finite(m.throughput.value),
            ":throughput_low": finite(m.throughput.low),
            ":throughput_high": finite(m.throughput.high),
            ":bandwidth": value(m.bandwidth),
            ":bandwidth_low": m.bandwidth.and_then(|estimate| finite(estimate.low)),
            ":bandwidth_high": m.bandwidth.and_then(|estimate| finite(estimate.high)),
            ":cpu": m.cpu.and_then(|cost| finite(cost.per_operation_ns)),
            ":page_cache_share": m.page_cache_share.and_then(finite),
            ":errors": i64::try_from(m.errors_total()).unwrap_or(i64::MAX),
            ":converged": m.is_converged(),
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

fn insert_level(transaction: &Transaction<'_>, id: i64, level: &Level) -> rusqlite::Result<()> {
    let (outcome, load, clients) = match level.outcome {
        LevelOutcome::Reached { load, clients, .. } => ("reached", bounds(load), finite(clients)),
        LevelOutcome::Between { low, high } => ("between", (None, finite(low), finite(high)), None),
        LevelOutcome::Exceeded { .. } => ("exceeded", (None, None, None), None),
        LevelOutcome::NotReached { clients, load, .. } => {
            ("not-reached", bounds(load), Some(f64::from(clients)))
        }
    };
    // A level that was asked for twice has one answer.
    let mut statement =
        transaction.prepare_cached("INSERT OR REPLACE INTO levels VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    let level_ns = i64::try_from(level.level_ns).unwrap_or(i64::MAX);
    statement
        .execute(params![
            id, level_ns, outcome, load.0, load.1, load.2, clients
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
    let severity = match warning.severity {
        Severity::Note => "note",
        Severity::Doubt => "doubt",
        Severity::Void => "void",
    };
    let mut statement =
        transaction.prepare_cached("INSERT INTO warnings VALUES (?, ?, ?, ?, ?, ?)")?;
    statement
        .execute(params![
            id,
            position as i64,
            scope,
            warning.code,
            severity,
            warning.text
        ])
        .map(|_| ())
}

/// Every warning with what it is about.
fn scoped_warnings(run: &Run) -> impl Iterator<Item = (&str, &Warning)> {
    let own = run.warnings.iter().map(|warning| ("run", warning));
    let measured = run.measurements.iter().flat_map(|measurement| {
        measurement
            .warnings
            .iter()
            .map(|warning| (measurement.name.as_str(), warning))
    });
    let cells = run.random.iter().flat_map(|found| &found.cells);
    let cells = cells.flat_map(|cell| &cell.warnings);
    let curve = run.curve.iter().flat_map(|curve| &curve.warnings);
    own.chain(measured)
        .chain(curve.map(|warning| ("curve", warning)))
        .chain(cells.map(|warning| ("random", warning)))
}

fn bounds(estimate: Estimate) -> (Option<f64>, Option<f64>, Option<f64>) {
    (
        finite(estimate.value),
        finite(estimate.low),
        finite(estimate.high),
    )
}

fn value(estimate: Option<Estimate>) -> Option<f64> {
    estimate.and_then(|estimate| finite(estimate.value))
}

/// SQL has no infinity that other programs would understand.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
