//! `seekstone runs export`: an archived run in another form.

use results::{Interval, Run};
use units::Duration;

use crate::args::{Command, MeasureCommand, definition, typed};
use crate::commands::trial_targets::as_fio;
use crate::exit::UsageError;
use crate::forms::{RunForm, form_named, form_of_ending};
use crate::output::{Output, OutputContent};
use crate::recorded::again;

/// The form that has windows.
const SERIES: &str = "series";

/// The form that was asked for, that of windows, or that of the output's ending, else JSON.
///
/// # Errors
/// When the ending is that of another form.
pub fn form_of(
    asked: Option<&'static RunForm>,
    every: Option<Duration>,
    output: &Output,
) -> Result<&'static RunForm, UsageError> {
    let path = output.path();
    let asked = asked.or_else(|| every.and_then(|_| form_named(SERIES)));
    let by_ending = form_of_ending(path);
    if let (None, None, Some(ending)) = (asked, by_ending, path.extension()) {
        refuse!(
            ".{} is not a known file ending: choose the format with --form",
            ending.display()
        );
    }
    let form = asked.or(by_ending).or_else(|| form_named("json"));
    let form = form.ok_or_else(|| UsageError("there is no form json".into()))?;
    form.mismatch(path)
        .map_or(Ok(form), |why| Err(UsageError(why)))
}

/// Runs in another form.
///
/// # Errors
/// When one has nothing of that form, or several do not go together in it.
pub fn exported(
    runs: &[Run],
    form: &RunForm,
    every: Option<Duration>,
) -> anyhow::Result<OutputContent> {
    if every.is_some() && form.name != SERIES {
        refuse!("--every joins the intervals of a series: use --form series");
    }
    if let Some(every) = every {
        runs.iter().try_for_each(|run| adds_up(run, every))?;
    }
    form.write_all(runs, every)
}

/// Windows are exactly as long as asked, or there are none.
fn adds_up(run: &Run, every: Duration) -> Result<(), UsageError> {
    let kept = run.measurements.iter().map(|it| &it.intervals);
    let is_other = |kept: &&Vec<Interval>| {
        !kept.is_empty() && Interval::windows(kept, every.as_nanos()).is_none()
    };
    let Some(first) = kept.filter(|it| is_other(it)).find_map(|it| it.first()) else {
        return Ok(());
    };
    let (id, kept) = (run.id.unwrap_or_default(), Duration(first.length_ns));
    let kept = kept.to_exact_string();
    refuse!(
        "--every {}: the intervals of run {id} are {kept} long. Use a multiple of {kept}, or \
         rerun with `trial --interval`.",
        every.to_exact_string()
    )
}

/// The trial as fio's job file, or the job files that were read.
pub fn job_file(run: &Run) -> Option<String> {
    let setup = &run.settings;
    if setup.command == "fio" {
        let texts: Vec<&str> = setup.files.iter().map(|it| it.text.as_str()).collect();
        return (!texts.is_empty()).then(|| texts.join("\n"));
    }
    if setup.command != "trial" {
        return None;
    }
    let (_, matches) = again(definition(), setup, &[]).ok()?;
    match typed(&matches).ok()?.command {
        Command::Measure(MeasureCommand::Trial(args)) => as_fio(&args, &mut setup.clone()).ok(),
        _ => None,
    }
}
