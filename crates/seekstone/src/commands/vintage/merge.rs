//! `seekstone runs merge`: passes of several logs and archived runs in one table, by time.

use std::path::Path;

use anyhow::Context as _;
use archive::Archive;
use drivers::{ReadFileError, read_regular_file};
use host::environment::local_moment;
use results::{Run, Table};
use vintage::diskmbps::{LogColumn, PassMoment, PassRow, merged, read_logs};
use vintage::rpt::LOG_BYTES_MAX;

use crate::exit::{Exit, UsageError};
use crate::output;

/// The table of a run's passes.
const PASSES: &str = "transfer-passes";

/// Merge logs, named by file, and archived runs, named by number.
///
/// # Errors
/// When one of them cannot be read, or holds no passes.
pub fn merge(archive_path: &Path, sources: &[String]) -> anyhow::Result<Exit> {
    let mut columns = Vec::new();
    for source in sources {
        match source.parse::<i64>() {
            Ok(id) if !Path::new(source).exists() => {
                let run = Archive::open_existing(archive_path)?.load(id)?;
                columns.push(column_of(&run, id)?);
            }
            _ => columns.extend(columns_in(Path::new(source))?),
        }
    }
    output::print(merged(&columns).trim_end())
}

fn columns_in(file: &Path) -> anyhow::Result<Vec<LogColumn>> {
    let refuse =
        |why: &str| -> anyhow::Error { UsageError(format!("{}: {why}", file.display())).into() };
    // fuzzed: diskmbps_log
    let bytes = match read_regular_file(file, LOG_BYTES_MAX as u64) {
        Err(ReadFileError::NotRegular) => return Err(refuse("is not a regular file")),
        Err(ReadFileError::TooLarge { .. }) => return Err(refuse("is too large to be a log")),
        read => read.with_context(|| format!("cannot read {}", file.display()))?,
    };
    let text =
        String::from_utf8(bytes).map_err(|_| refuse("is not text, so not a diskmbps log"))?;
    let jobs = read_logs(&text).map_err(|error| refuse(&error.to_string()))?;
    Ok(jobs.iter().map(|job| job.column()).collect())
}

fn column_of(run: &Run, id: i64) -> anyhow::Result<LogColumn> {
    let Some(passes) = run.tables.iter().find(|it| it.name == PASSES) else {
        let text = format!("run {id} is no run of `seekstone transfer`, and has no passes");
        return Err(UsageError(text).into());
    };
    let rows = rows_of(passes);
    if rows.is_empty() {
        let text = format!("run {id} was in virtual time, and no pass of it has a date");
        return Err(UsageError(text).into());
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
