//! `seekstone runs`: the archive.

use archive::{Archive, ArchiveError};
use report::ListRow;
use results::{Curve, Run};

use crate::args::{ExportForm, RunsArgs, RunsCommand, TableChoice};
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
    if !path.exists() && args.archive.is_none() {
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
        } => {
            let text = exported(&archive, *id, *beside, *form)?;
            output::write_file(output, &text)?;
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

/// A run in another form.
fn exported(
    archive: &Archive,
    id: i64,
    beside: Option<i64>,
    form: ExportForm,
) -> anyhow::Result<String> {
    let run = archive.load(id)?;
    if beside.is_some() && form != ExportForm::Svg {
        let text = "--beside is about pictures: add --form svg";
        return Err(UsageError(text.into()).into());
    }
    let (found, what, command) = match form {
        ExportForm::Svg => {
            let other = beside.map(|other| archive.load(other)).transpose()?;
            return Ok(picture(&run, other.as_ref())?);
        }
        ExportForm::Json => return Ok(report::json(&run)),
        ExportForm::Csv => {
            let of_study = report::csv_study(&run);
            return Ok(of_study.unwrap_or_else(|| report::csv_measurements(&run)));
        }
        ExportForm::Text => return Ok(show(&run, false)),
        ExportForm::Markdown => (report::markdown_note(&run), "note", "study"),
        ExportForm::Replicates => (report::csv_study_replicates(&run), "replicates", "study"),
        ExportForm::Intervals => (report::csv_intervals(&run), "intervals", "transactions"),
        ExportForm::Passes => (report::csv_passes(&run), "passes", "transfer"),
        ExportForm::Times => (report::csv_timed_runs(&run), "times", "time"),
        ExportForm::Files => (report::csv_files(&run), "file tests", "files"),
    };
    Ok(found.ok_or_else(|| nothing(id, what, command))?)
}

/// The load curves of a run, of one workload with those of another run; or the intervals of a
/// trial.
fn picture(run: &Run, beside: Option<&Run>) -> Result<String, UsageError> {
    let id = run.id.unwrap_or_default();
    let mut measured = run.measurements.iter();
    let drawn = measured.find_map(|it| report::series_svg(&run.target.given, it));
    if let (Some(drawn), None) = (drawn, beside) {
        return Ok(drawn);
    }
    let runs = std::iter::once(run).chain(beside);
    let mut curves = Vec::new();
    for run in runs {
        let of_rab = run.rab.iter().flat_map(|rab| &rab.workloads);
        let of_rab = of_rab.filter_map(|workload| workload.curve.as_ref());
        let known = curves.len();
        curves.extend(run.curve.iter().chain(of_rab).map(|curve| (run, curve)));
        if curves.len() == known {
            return Err(UsageError(format!(
                "run {} has nothing to draw: a load curve (`seekstone curve`, `seekstone rab`), or \
                 the intervals of a trial (`seekstone trial --interval`)",
                run.id.unwrap_or(id)
            )));
        }
    }
    let title = curves[0].1.title.clone();
    let is_one = curves.iter().all(|(_, curve)| curve.title == title);
    let names: Vec<String> = curves
        .iter()
        .map(|(run, curve)| match is_one {
            true => run.target.given.clone(),
            false => format!("{}, {}", curve.title, run.target.given),
        })
        .collect();
    let named: Vec<(&str, &Curve)> = names
        .iter()
        .zip(&curves)
        .map(|(name, (_, curve))| (name.as_str(), *curve))
        .collect();
    Ok(report::curves_svg(
        &if is_one {
            format!("{title}: load curve")
        } else {
            "load curves".into()
        },
        &named,
    ))
}

fn nothing(id: i64, what: &str, command: &str) -> UsageError {
    UsageError(format!(
        "run {id} has no {what}: they belong to runs of `seekstone {command}`"
    ))
}

fn show(run: &Run, all: bool) -> String {
    let style = output::style(all);
    let mut text = report::check_up(run, &style);
    if all {
        if let Some(curve) = &run.curve {
            text.push('\n');
            text.push_str(&report::curve_table(curve, &style));
        }
        for measurement in &run.measurements {
            text.push('\n');
            text.push_str(&report::measurement(measurement, &style));
        }
    }
    text
}
