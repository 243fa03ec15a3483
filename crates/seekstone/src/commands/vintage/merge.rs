//! `seekstone runs merge`: passes of several logs and archived runs in one table, by time.

use std::path::Path;

use anyhow::Context as _;
use archive::Archive;
use drivers::{ReadFileError, read_regular_file};
use host::environment::local_moment;
use results::{Run, Transfer, TransferKind};
use vintage::diskmbps::{Column, Moment, Row, merged, read_logs};
use vintage::rpt::LOG_BYTES_MAX;

use crate::exit::{Exit, UsageError};
use crate::output;

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

fn columns_in(file: &Path) -> anyhow::Result<Vec<Column>> {
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

fn column_of(run: &Run, id: i64) -> anyhow::Result<Column> {
    let Some(transfer) = &run.transfer else {
        let text = format!("run {id} is no run of `seekstone transfer`, and has no passes");
        return Err(UsageError(text).into());
    };
    let rows = rows_of(transfer);
    if rows.is_empty() {
        let text = format!("run {id} was in virtual time, and no pass of it has a date");
        return Err(UsageError(text).into());
    }
    Ok(Column {
        title: format!("{}, run {id}", transfer.host_name),
        host: Some(transfer.host_name.clone()),
        rows,
    })
}

fn rows_of(transfer: &Transfer) -> Vec<Row> {
    let passes = transfer
        .series
        .iter()
        .flat_map(|series| series.passes.iter().map(move |pass| (series, pass)));
    passes
        .filter_map(|(series, pass)| {
            let ended = pass.ended_at.as_deref()?;
            let (time, local, wall) = local_moment(ended)?;
            let is_write = series.kind == TransferKind::Write;
            Some(Row {
                what: if is_write {
                    "write".into()
                } else {
                    format!("read {}", pass.number)
                },
                is_write,
                rate: pass.rate / f64::from(1 << 20),
                seconds: pass.elapsed_ns as f64 / 1e9,
                moment: Moment {
                    time,
                    local,
                    monotonic: Some(pass.ended_monotonic_ns as f64 / 1e9),
                    wall: Some(wall),
                },
            })
        })
        .collect()
}
