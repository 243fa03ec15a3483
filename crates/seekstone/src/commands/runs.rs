//! `seekstone runs`: the archive.

use archive::{Archive, ArchiveError};
use report::ListRow;
use results::Run;

use crate::args::{RunsArgs, RunsCommand, TableChoice};
use crate::commands::export::exported;
use crate::commands::import::import;
use crate::commands::merge::merge;
use crate::commands::setup::archive_path;
use crate::exit::{Exit, UsageError};
use crate::output;

/// List, show, export or delete archived runs.
///
/// # Errors
/// When the archive or a run in it cannot be read.
pub fn runs(args: &RunsArgs) -> anyhow::Result<Exit> {
    let path = archive_path(args.archive.as_ref())?;
    if let RunsCommand::Import { file } = &args.command {
        return import(&mut Archive::open(&path)?, file);
    }
    if let RunsCommand::Merge { sources } = &args.command {
        return merge(&path, sources);
    }
    // Storage that failed when an archive was made leaves an empty file.
    let has_none = path
        .metadata()
        .map_or(true, |it| it.is_file() && it.len() == 0);
    if has_none && args.archive.is_none() {
        // Made by commands that measure: whoever only looks leaves no empty archive behind.
        return match &args.command {
            RunsCommand::List { .. } => output::print(report::run_list(&[]).trim_end()),
            _ => Err(ArchiveError::Empty { path }.into()),
        };
    }
    let mut archive = Archive::open_existing(&path)?;
    match &args.command {
        RunsCommand::List { limit } => {
            let rows: Vec<ListRow> = archive
                .list(*limit as usize)?
                .into_iter()
                .map(ListRow::from)
                .collect();
            output::print(report::run_list(&rows).trim_end())
        }
        RunsCommand::Show { id, all } => {
            let run = match id {
                Some(id) => archive.load(*id)?,
                None => archive.latest()?,
            };
            output::print(show(&run, *all).trim_end())
        }
        RunsCommand::Export {
            id,
            beside,
            form,
            output,
            force: _,
        } => {
            let text = exported(&archive, *id, *beside, *form)?;
            output.write(&text)?;
            Ok(Exit::Done)
        }
        RunsCommand::Import { .. } | RunsCommand::Merge { .. } => {
            unreachable!("done above, where no archive need exist")
        }
        RunsCommand::Compare {
            table: TableChoice::Files,
            ids,
            against,
        } => {
            let runs: Result<Vec<Run>, _> = ids.iter().map(|id| archive.load(*id)).collect();
            let text = report::files_comparison(&runs?, *against, &output::style(true));
            let text = text.map_err(|error| UsageError(error.to_string()))?;
            output::print(text.trim_end())
        }
        RunsCommand::Delete { ids } => {
            archive.delete(ids)?;
            output::print(&format!("deleted: {}", ids.len()))
        }
    }
}

/// What the command that made the run printed of it; with `all` every measurement and every point.
pub fn show(run: &Run, all: bool) -> String {
    // A trial prints its one measurement in full, a curve all of its warnings.
    let command = run.settings.command.as_str();
    let style = output::style(all || matches!(command, "trial" | "curve"));
    let mut text = report::check_up(run, &style);
    if let (true, Some(curve)) = (all, &run.curve) {
        text.push('\n');
        text.push_str(&report::curve_table(curve, &style));
    }
    if all || command == "trial" {
        for measurement in &run.measurements {
            text.push('\n');
            text.push_str(&report::measurement(measurement, &style));
        }
    }
    text
}
