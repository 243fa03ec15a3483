//! Logs of the programs become runs in the archive.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use archive::Archive;
use results::{Warning, WarningCode};
use vintage::diskrand::{PROFILES_LOG, TRANSACTIONS_LOG, begins_log};
use vintage::import::{ImportedLog, LogText, runs_in_log};

use crate::commands::import::{earlier, file_text};
use crate::commands::setup::show_command;
use crate::exit::{Exit, UsageError};
use crate::output;

/// Archive what the log `file`, with this text, holds.
///
/// # Errors
/// When it is no log, or the archive cannot be written.
pub fn import(archive: &mut Archive, file: &Path, text: &str) -> anyhow::Result<Exit> {
    let names = pair_of(file).filter(|_| begins_log(text));
    let texts = names.map(|names| {
        let texts = [file_text(&names[0])?, file_text(&names[1])?];
        anyhow::Ok((names.map(|it| it.display().to_string()), texts))
    });
    let texts = texts.transpose()?;
    let pair = texts.as_ref().map(|(names, texts)| {
        [0, 1].map(|at| LogText {
            file: &names[at],
            text: &texts[at],
        })
    });
    let file = file.display().to_string();
    let found = runs_in_log(LogText { file: &file, text }, pair);
    save_all(archive, found.map_err(UsageError::of)?, &file)
}

/// The two logs of `2logs`, where `file` is one of them and both are there.
fn pair_of(file: &Path) -> Option<[PathBuf; 2]> {
    let pair = [PROFILES_LOG, TRANSACTIONS_LOG].map(|name| file.with_file_name(name));
    let is_pair = pair.iter().any(|it| it == file) && pair.iter().all(|it| it.is_file());
    is_pair.then_some(pair)
}

/// Archive runs of one log, and say what their log lacks.
fn save_all(archive: &mut Archive, found: ImportedLog, file: &str) -> anyhow::Result<Exit> {
    let ImportedLog { mut runs, strange } = found;
    let before = earlier(archive, &runs[0])?;
    let mut ids = Vec::new();
    for run in &mut runs {
        run.warnings.push(Warning::info(
            WarningCode::Imported,
            format!(
                "Imported from {file}: machine, storage and seed are not in a log, and are not \
                 known."
            ),
        ));
        let id = archive.save(run).context("the run could not be archived")?;
        ids.push(id);
        let title = run.findings.first().map_or("", String::as_str);
        output::print(&format!("run {id}: {title}"))?;
    }
    if !strange.is_empty() {
        output::complain(&format!(
            "warning: {} lines of {file} were not understood and were skipped. The first is line \
             {}",
            strange.len(),
            strange[0]
        ));
    }
    if let Some(earlier) = before {
        output::complain(&format!(
            "warning: this log was imported before, as run {earlier}, and is now in the archive \
             twice. `runs delete` removes a run"
        ));
    }
    output::print(&format!(
        "imported {file}: {}",
        show_command(ids[0], archive.path(), " --all")
    ))
}
