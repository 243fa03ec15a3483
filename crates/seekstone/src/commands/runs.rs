//! `seekstone runs`: the archive.

use std::path::Path;

use anyhow::Context;
use archive::{Archive, ArchiveError};
use drivers::text_file;
use report::{ListRow, SystemsTable};
use results::Run;
use units::format_counted;

use crate::args::{
    CompareRunsArgs, Outputs, RepeatArgs, RunChoice, RunPart, RunSet, RunsArgs, RunsCommand,
    SystemFactsFile, TableChoice,
};
use crate::commands::devices::described;
use crate::commands::export::{exported, form_of};
use crate::commands::import::import;
use crate::commands::repeat::repeat;
use crate::commands::setup::{archive_path, check_archive};
use crate::commands::unfinished::resume;
use crate::commands::vintage::merge;
use crate::exit::{Exit, UsageError};
use crate::output::{self, Output};

/// More runs than this are no sensible set.
const RUNS_MAX: usize = 10_000;
/// A file that says something of systems is never larger.
const FACTS_BYTES_MAX: u64 = 1 << 20;

/// List, show, export or delete archived runs.
///
/// # Errors
/// When the archive or a run in it cannot be read.
pub fn runs(args: &RunsArgs) -> anyhow::Result<Exit> {
    let path = archive_path(args.archive.as_ref())?;
    if let RunsCommand::Import { file } = &args.command {
        check_archive(args.archive.as_ref())?;
        return import(&mut Archive::open(&path)?, file);
    }
    if let RunsCommand::Merge { sources } = &args.command {
        return merge(&path, sources);
    }
    if let RunsCommand::Resume(args) = &args.command {
        return resume(&path, args);
    }
    // Storage that failed when an archive was made leaves an empty file.
    let has_none = path
        .metadata()
        .map_or(true, |it| it.is_file() && it.len() == 0);
    if has_none && args.archive.is_none() {
        // Made by commands that measure: whoever only looks leaves no empty archive behind.
        return match &args.command {
            RunsCommand::List { json, .. } => listed(&[], json.as_ref()),
            _ => Err(ArchiveError::Empty(path).into()),
        };
    }
    let mut archive = Archive::open_existing(&path)?;
    match &args.command {
        RunsCommand::List { limit, json, .. } => {
            listed(&archive.list(*limit as usize)?, json.as_ref())
        }
        RunsCommand::Show {
            ids,
            all,
            facts,
            outputs,
        } => {
            let runs = priced_runs(&archive, ids, facts)?;
            shown_again(&runs, *all, outputs)
        }
        RunsCommand::Repeat(args) => repeated(archive, &path, args),
        RunsCommand::Export {
            ids,
            beside,
            form,
            every,
            facts,
            output,
            ..
        } => {
            let form = form_of(*form, *every, output)?;
            let others = beside.iter().map(|id| RunPart::Archived(*id)).collect();
            let ids = [&ids[..], &[RunSet(others)]].concat();
            let runs = priced_runs(&archive, &ids, facts)?;
            let text = exported(&runs, form, *every)?;
            output.write(&text).map(|()| Exit::Done)
        }
        RunsCommand::Import { .. } | RunsCommand::Merge { .. } | RunsCommand::Resume(_) => {
            unreachable!("done above")
        }
        RunsCommand::Compare(args) => compared(&archive, args),
        RunsCommand::Delete { ids } => {
            let ids = named(&archive, ids)?;
            archive.delete(&ids)?;
            output::print(&format!("deleted: {}", ids.len()))
        }
    }
}

/// Runs printed again, and written in the forms that were asked for.
fn shown_again(runs: &[Run], all: bool, outputs: &Outputs) -> anyhow::Result<Exit> {
    if !outputs.have_stdout() {
        let texts = runs.iter().map(|run| shown(run, all));
        let texts: Vec<String> = texts.map(|it| it.trim_end().to_owned()).collect();
        output::print(&texts.join("\n\n"))?;
    }
    for (form, output) in outputs.asked() {
        output.write(&form.write_all(runs, None)?)?;
    }
    Ok(Exit::Done)
}

/// The runs that are named, with what their systems cost.
fn priced_runs(
    archive: &Archive,
    sets: &[RunSet],
    facts: &SystemFactsFile,
) -> anyhow::Result<Vec<Run>> {
    let ids = named(archive, sets)?;
    let runs = ids.iter().map(|id| archive.load(*id));
    let mut runs = runs.collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &facts.facts {
        let mut known = facts_of(path)?;
        known.systems.retain(|it| ids.contains(&it.run));
        if known.systems.iter().all(|it| it.price.is_none()) {
            refuse!("{}: no price of a run that is shown", path.display());
        }
        known.price(&mut runs).map_err(UsageError::of)?;
    }
    Ok(runs)
}

/// A run measured again, and archived where it came from.
fn repeated(archive: Archive, path: &Path, args: &RepeatArgs) -> anyhow::Result<Exit> {
    let run = run_of(&archive, args.id)?;
    drop(archive);
    let asked = (!args.no_save).then(|| path.to_string_lossy().into_owned());
    repeat(&run, asked, args)
}

/// The numbers of the runs that are named, each once.
fn named(archive: &Archive, sets: &[RunSet]) -> anyhow::Result<Vec<i64>> {
    let mut found: Vec<i64> = Vec::new();
    for part in sets.iter().flat_map(|set| &set.0) {
        let ids = match part {
            RunPart::Archived(RunChoice::Number(id)) => vec![*id],
            RunPart::Archived(RunChoice::Latest) => Vec::from_iter(archive.latest()?.id),
            RunPart::Latest(count) => newest(archive, *count)?,
            RunPart::Range(first, last) => between(archive, *first, *last)?,
            RunPart::File(path) => {
                refuse!("{}: name runs of the archive by number", path.display());
            }
        };
        for id in ids {
            if !found.contains(&id) {
                found.push(id);
            }
        }
    }
    Ok(found)
}

/// The runs of the archive between two numbers, oldest first: deleted ones are left out.
pub fn between(archive: &Archive, first: i64, last: i64) -> anyhow::Result<Vec<i64>> {
    let ids = archive.list(RUNS_MAX)?.into_iter().map(|it| it.id);
    let mut ids: Vec<i64> = ids.filter(|id| (first..=last).contains(id)).collect();
    ids.reverse();
    match ids.is_empty() {
        true => Err(UsageError(format!("the archive has no run in {first}..{last}")).into()),
        false => Ok(ids),
    }
}

/// The numbers of so many runs, the newest, in the order of their making.
pub fn newest(archive: &Archive, count: usize) -> anyhow::Result<Vec<i64>> {
    let runs = archive.list(count)?;
    if runs.len() < count {
        let there = format_counted(runs.len() as u64, "run");
        refuse!("latest:{count}: the archive has {there}");
    }
    Ok(runs.into_iter().rev().map(|it| it.id).collect())
}

/// The run of that number, or the latest.
pub fn run_of(archive: &Archive, choice: RunChoice) -> Result<Run, ArchiveError> {
    match choice {
        RunChoice::Latest => archive.latest(),
        RunChoice::Number(id) => archive.load(id),
    }
}

/// The list of runs, on the screen or as JSON.
fn listed(rows: &[ListRow], json: Option<&Output>) -> anyhow::Result<Exit> {
    let Some(json) = json else {
        return output::print(report::run_list(rows, output::list_width()).trim_end());
    };
    json.write(&report::run_list_json(rows).into())?;
    Ok(Exit::Done)
}

/// A run with its setup.
pub fn shown(run: &Run, all: bool) -> String {
    let setup = report::setup(&run.settings, &output::style(all));
    format!("{}\n\n{setup}", show(run, all).trim_end())
}

/// Runs compared with the first of them, or in the table that was asked for.
fn compared(archive: &Archive, args: &CompareRunsArgs) -> anyhow::Result<Exit> {
    let runs: Result<Vec<Run>, _> = args.ids.iter().map(|id| run_of(archive, *id)).collect();
    let mut runs = runs?;
    let facts = args.facts.facts.as_deref().map(facts_of).transpose()?;
    if let Some(facts) = &facts {
        facts.price(&mut runs).map_err(UsageError::of)?;
    }
    let whole = output::style(true);
    let text = match args.table {
        None => report::comparison(&runs, &output::style(args.all)).map_err(UsageError::of)?,
        Some(TableChoice::Files) if facts.is_some() || !args.metrics.is_empty() => {
            let advice = "--metric and --facts apply to --table systems";
            return Err(UsageError(advice.to_owned()).into());
        }
        Some(TableChoice::Files) => {
            report::files_comparison(&runs, args.against, &whole, &described)
                .map_err(UsageError::of)?
        }
        Some(TableChoice::Systems) => {
            let wanted = SystemsTable {
                against: args.against,
                metrics: args.metrics.clone(),
                ..facts.unwrap_or_default()
            };
            report::systems_comparison(&runs, &wanted, &whole, &described)
                .map_err(UsageError::of)?
        }
    };
    match &args.html {
        Some(html) => write_page(&runs, html, &text),
        None => output::print(text.trim_end()),
    }
}

/// What a file says of systems.
fn facts_of(path: &Path) -> anyhow::Result<SystemsTable> {
    let shown = path.display();
    let text = text_file(path, FACTS_BYTES_MAX).with_context(|| format!("cannot read {shown}"))?;
    SystemsTable::read(&text).map_err(|(line, why)| {
        let line = line.map_or_else(String::new, |it| format!(", line {it}"));
        UsageError(format!("{shown}{line}: {why}")).into()
    })
}

/// Write a comparison as a page, and print its `text` unless the page is printed.
fn write_page(runs: &[Run], html: &Output, text: &str) -> anyhow::Result<Exit> {
    let page = report::comparison_html(runs).map_err(UsageError::of)?;
    html.write(&page.into())?;
    match html.is_stdout() {
        true => Ok(Exit::Done),
        false => output::print(text.trim_end()),
    }
}

/// A run as its command prints it; with `all` every measurement and every point.
pub fn show(run: &Run, all: bool) -> String {
    let style = output::style(all);
    let mut text = report::check_up(run, &style);
    for curve in run.curves.iter().filter(|_| all) {
        text.push('\n');
        text.push_str(&report::curve_table(curve, &style));
    }
    if all {
        for measurement in &run.measurements {
            text.push('\n');
            text.push_str(&report::measurement(measurement, &style));
        }
    }
    text
}
