//! `seekstone runs import`: exported runs, pages, and what a log of a classic program holds, become
//! runs in the archive.

use std::path::Path;

use archive::Archive;
use drivers::{ReadFileError, read_regular_file};
use results::Run;

use super::import_run::{begins_run, import_run};
use crate::exit::{Exit, UsageError, missing_is_usage};

/// Bytes of the largest log.
pub const LOG_BYTES_MAX: u64 = 1 << 28;
/// Runs among which an earlier import of the same log is looked for.
const LOOK_BACK: usize = 1000;

/// Archive the run, or what the log of a classic program, in `file` holds.
///
/// # Errors
/// When the file is no log, or the archive cannot be written.
pub fn import(archive: &mut Archive, file: &Path) -> anyhow::Result<Exit> {
    let text = file_text(file)?;
    // A page holds its run.
    let text = report::run_in_page(&text).unwrap_or(text);
    if begins_run(&text) {
        return import_run(archive, file, &text);
    }
    super::vintage::import(archive, file, &text)
}

/// The run that a file holds: its JSON form, or a page.
///
/// # Errors
/// When the file cannot be read, or holds no run.
pub fn run_in_file(file: &Path) -> anyhow::Result<Run> {
    let text = file_text(file)?;
    let text = report::run_in_page(&text).unwrap_or(text);
    results::from_json(&text).map_err(|error| no_log(file, &error.to_string()))
}

/// A file that is no log is named wrongly.
pub fn no_log(file: &Path, why: &str) -> anyhow::Error {
    UsageError(format!("{}: {why}", file.display())).into()
}

/// The text of a log.
///
/// # Errors
/// When the file cannot be read, is too large, or is no text.
pub fn file_text(file: &Path) -> anyhow::Result<String> {
    // fuzzed: run_json, rpt_log, diskrand_log, diskmbps_log
    let why = match read_regular_file(file, LOG_BYTES_MAX) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes);
            return text.map_err(|_| {
                no_log(
                    file,
                    "is not text, so not a log of rpt, diskmbps or \
                    diskrand",
                )
            });
        }
        Err(ReadFileError::NotRegular) => "is not a regular file",
        Err(ReadFileError::TooLarge { .. }) => "is too large to be a log",
        Err(error) => {
            let read = format!("cannot read {}", file.display());
            return Err(missing_is_usage(anyhow::Error::new(error).context(read)));
        }
    };
    Err(no_log(file, why))
}

/// The number of a run of the same command with the same arguments on the same host at the same
/// moment: the same run, or what an earlier import of this log made.
///
/// # Errors
/// When the archive cannot be listed.
pub fn earlier(archive: &Archive, wanted: &Run) -> anyhow::Result<Option<i64>> {
    for summary in archive.list(LOOK_BACK)? {
        // One damaged run must not keep others from being imported.
        let Ok(run) = archive.load(summary.id) else {
            continue;
        };
        let is_same = run.settings == wanted.settings
            && run.environment.host_name == wanted.environment.host_name
            && run.environment.started_at == wanted.environment.started_at;
        if is_same {
            return Ok(Some(summary.id));
        }
    }
    Ok(None)
}
