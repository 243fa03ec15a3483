//! Figures of the commands whose rows are known when they were measured. `run`, `trial` and `curve`
//! know theirs once they have looked at their target.

use procedure::{OfferedFigures, OfferedRow, Requirement, split, whole_name};
use results::metrics_of;
use study::{Measures as _, OwnMeasurements};

use crate::args::CompareArgs;
use crate::exit::UsageError;

/// Whether jobs of fio, in phases of these names, can give what the goals are on.
///
/// # Errors
/// When they cannot.
pub fn check_fio(phases: Vec<String>, goals: &[Requirement]) -> Result<(), UsageError> {
    let row = match phases.as_slice() {
        [_] => OfferedRow::Only,
        _ => OfferedRow::Named,
    };
    let offer = phases
        .into_iter()
        .fold(OfferedFigures::default(), |offer, name| {
            offer.and(row(name), "fio")
        });
    offer.check(goals).map_err(UsageError)
}

/// Whether what is measured on each target has the figures that limits, goals and `--figures` name.
/// Rows are known later.
///
/// # Errors
/// Names the first that does not exist, and what there is.
pub fn check_compared(args: &CompareArgs) -> Result<(), UsageError> {
    if figures_of(&args.measure).is_none() {
        return Ok(());
    }
    check_named(&args.measure, limited(args))?;
    check_goals(&args.measure, &args.common.goals)?;
    check_named(&args.measure, shown(args))?;
    check_rows(args)?;
    let mut goals = args.common.goals.iter();
    let nameless = goals.find(|it| split(it.figure()).0.is_none());
    nameless.map_or(Ok(()), |goal| {
        Err(UsageError(format!(
            "--goal {:?}: name the target, as in {}.{}",
            goal.text(),
            args.target[0],
            goal.figure()
        )))
    })
}

/// Limits, as they were typed, and their figures.
fn limited(args: &CompareArgs) -> impl Iterator<Item = (String, String)> {
    let limits = args.fail.iter();
    limits.map(|it| (format!("--fail {:?}", it.text), it.reading.clone()))
}

/// Figures that are shown.
fn shown(args: &CompareArgs) -> impl Iterator<Item = (String, String)> {
    let figures = args.figures.iter();
    figures.map(|it| (format!("--figures {it}"), whole_name(it)))
}

/// Whether goals are on figures that a measurement gives.
///
/// # Errors
/// Names the first that is not, and what there is.
pub fn check_goals(kind: &str, goals: &[Requirement]) -> Result<(), UsageError> {
    let goals = goals.iter();
    let named = goals.map(|it| (format!("--goal {:?}", it.text()), it.figure().to_owned()));
    check_named(kind, named)
}

fn check_named(
    kind: &str,
    mut named: impl Iterator<Item = (String, String)>,
) -> Result<(), UsageError> {
    let known = figures_of(kind).unwrap_or_default();
    let is_known = |figure: &str| {
        let metric = split(figure).1;
        known.iter().any(|it| it == figure || it == metric)
    };
    named
        .find(|(_, figure)| !is_known(figure))
        .map_or(Ok(()), |(option, figure)| {
            Err(UsageError(format!(
                "{option}: {kind} gives no {figure}. It gives {}",
                known.join(", ")
            )))
        })
}

/// Whether figures name their row, where a run has several whatever its target is.
fn check_rows(args: &CompareArgs) -> Result<(), UsageError> {
    if !["run", "curve"].contains(&args.measure.as_str()) {
        return Ok(());
    }
    let mut named = limited(args).chain(shown(args));
    let nameless = named.find(|(_, figure)| split(figure).0.is_none());
    let of_trial = metrics_of("trial");
    nameless.map_or(Ok(()), |(option, figure)| {
        let of_level = args.measure == "curve" || !of_trial.iter().any(|it| it.0 == figure);
        let row = if of_level { "1ms" } else { "random-read" };
        Err(UsageError(format!(
            "{option}: {} has several rows. Name the row, as in {row}.{figure}",
            args.measure
        )))
    })
}

/// The figures of what `compare` measures, where they are known before.
fn figures_of(kind: &str) -> Option<Vec<String>> {
    // Of the kinds that studies have of their own, `transfer` among them, the study knows them.
    if let Some(own) = OwnMeasurements.outline(kind) {
        return own.readings;
    }
    let metrics: Vec<String> = metrics_of(kind).into_iter().map(|it| it.0).collect();
    (!metrics.is_empty()).then_some(metrics)
}
