//! A run that another archive exported as JSON: it gets a number here, and keeps its origin.

use std::path::Path;

use anyhow::Context as _;
use archive::Archive;
use results::{Run, Warning, WarningCode};

use super::import::{earlier, no_log};
use crate::commands::setup::show_command;
use crate::exit::Exit;
use crate::output;

/// The note that tells where a run came from.
const IMPORTED: WarningCode = WarningCode::Imported;

/// Whether a text could be the JSON form of a run.
pub fn begins_run(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Archive the run in `text`. Nothing that is in the archive is changed.
///
/// # Errors
/// When it is no run, is there already, or the archive cannot be written.
pub fn import_run(archive: &mut Archive, file: &Path, text: &str) -> anyhow::Result<Exit> {
    let mut run = results::from_json(text).map_err(|error| no_log(file, &error.to_string()))?;
    if let Some(id) = earlier(archive, &run)? {
        let why = format!(
            "is already in the archive, as run {id}. `{}` prints it",
            show_command(id, archive.path(), "")
        );
        return Err(no_log(file, &why));
    }
    run.warnings.push(origin(&run, file));
    run.id = None;
    let id = archive
        .save(&mut run)
        .context("the run could not be archived")?;
    output::print(&format!(
        "run {id}: {} of {} on {}, {}\nimported {}: {}",
        run.settings.command,
        run.target.given,
        run.environment.host_name,
        run.environment.started_at,
        file.display(),
        show_command(id, archive.path(), " --all")
    ))
}

fn origin(run: &Run, file: &Path) -> Warning {
    let number = run
        .id
        .map_or_else(String::new, |id| format!(", where it was run {id}"));
    let text = format!(
        "Imported from {}: measured on host {} at {}{number}.",
        file.display(),
        run.environment.host_name,
        run.environment.started_at
    );
    Warning::info(IMPORTED, text)
}
