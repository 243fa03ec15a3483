//! Passes of an archived run of `seekstone transfer`, to compare with those of logs.

use host::environment::local_moment;
use results::{Run, Table};

use crate::diskmbps::{LogColumn, PassMoment, PassRow};

/// The table of a run's passes.
const PASSES: &str = "transfer-passes";

/// Its passes as a column of the merged table.
///
/// # Errors
/// If it has none, or none with a date.
pub fn column_of(run: &Run, id: i64) -> Result<LogColumn, String> {
    let Some(passes) = run.tables.iter().find(|it| it.name == PASSES) else {
        return Err(format!(
            "run {id} is no run of `seekstone transfer`, and has no passes"
        ));
    };
    let rows = rows_of(passes);
    if rows.is_empty() {
        return Err(format!(
            "run {id} was in virtual time, and no pass of it has a date"
        ));
    }
    let host = &run.environment.host_name;
    Ok(LogColumn {
        title: format!("{host}, run {id}"),
        host: Some(host.clone()),
        rows,
    })
}

fn rows_of(passes: &Table) -> Vec<PassRow> {
    let found = passes.rows.iter().filter_map(|pass| {
        let value = |metric: &str| pass.figure(metric).map(|it| it.value.value);
        let (time, local, wall) = local_moment(pass.word("ended"))?;
        let name = pass.levels.last()?;
        let is_write = name.starts_with("write");
        Some(PassRow {
            what: if is_write {
                "write".into()
            } else {
                name.clone()
            },
            is_write,
            rate: value("throughput")? / f64::from(1 << 20),
            seconds: value("elapsed")?,
            moment: PassMoment {
                time,
                local,
                monotonic: pass.word("monotonic s").parse().ok(),
                wall: Some(wall),
            },
        })
    });
    found.collect()
}
