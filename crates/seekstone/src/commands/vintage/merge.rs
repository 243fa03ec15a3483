//! `seekstone runs merge`: passes of several logs and archived runs in one table, by time.

use std::path::Path;

use anyhow::Context as _;
use archive::Archive;
use drivers::{ReadFileError, read_regular_file};
use vintage::diskmbps::{LogColumn, merged, read_logs};
use vintage::import::column_of;

use crate::commands::import::LOG_BYTES_MAX;
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
                columns.push(column_of(&run, id).map_err(UsageError)?);
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
    let bytes = match read_regular_file(file, LOG_BYTES_MAX) {
        Err(ReadFileError::NotRegular) => return Err(refuse("is not a regular file")),
        Err(ReadFileError::TooLarge { .. }) => return Err(refuse("is too large to be a log")),
        read => read.with_context(|| format!("cannot read {}", file.display()))?,
    };
    let text =
        String::from_utf8(bytes).map_err(|_| refuse("is not text, so not a diskmbps log"))?;
    let jobs = read_logs(&text).map_err(|error| refuse(&error.to_string()))?;
    Ok(jobs.iter().map(|job| job.column()).collect())
}
