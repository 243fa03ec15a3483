//! Figures of the commands whose rows are known when they were measured. `run`, `trial` and `curve`
//! know theirs once they have looked at their target.

use procedure::{OfferedFigures, OfferedRow, Requirement, split, whole_name};
use results::metrics_of;
use study::{Measures as _, OwnMeasurements};

use crate::args::{Command, CompareArgs, ModeChoice, TransferArgs};
use crate::exit::UsageError;

const NO_PICTURE: &str = "there is no load curve to draw; --html has the charts of every run";

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

/// Whether a command can give what its goals are on.
///
/// # Errors
/// When it cannot.
pub fn check(command: &Command) -> Result<(), UsageError> {
    check_picture(command)?;
    let (common, name) = match command {
        Command::Rab(args) => (&args.common, "rab"),
        Command::Random(args) => (&args.common, "random"),
        Command::Ssd(args) => (&args.common, "ssd"),
        Command::Replay(args) => (&args.common, "replay"),
        Command::Transfer(args) => (&args.common, "transfer"),
        Command::Transactions(args) => (&args.common, "transactions"),
        Command::Files(args) => (&args.common, "files"),
        Command::Time(args) => (&args.common, "time"),
        _ => return Ok(()),
    };
    let offer = match command {
        Command::Transfer(args) if has_two_series(args) => ["write", "read"]
            .into_iter()
            .fold(OfferedFigures::default(), |offer, row| {
                offer.and(OfferedRow::Named(row.into()), name)
            }),
        _ => OfferedFigures::default().and(OfferedRow::Any, name),
    };
    offer.check(&common.goals).map_err(UsageError)
}

/// Whether a transfer is one write and reads of one kind, whose rows are `write` and `read`.
fn has_two_series(args: &TransferArgs) -> bool {
    let [_] = args.blocks.as_slice() else {
        return false;
    };
    let is_growing = matches!(args.mode, Some(ModeChoice::SmallFile));
    !args.compare_alone && !is_growing
}

/// Whether there is something to draw where a picture is asked for.
fn check_picture(command: &Command) -> Result<(), UsageError> {
    let (common, why) = match command {
        Command::Trial(args) if args.interval.is_none() => (
            &args.common,
            "a trial is drawn over time: add --interval 1s",
        ),
        Command::Random(args) => (&args.common, NO_PICTURE),
        Command::Ssd(args) => (&args.common, NO_PICTURE),
        Command::Replay(args) => (&args.common, NO_PICTURE),
        Command::Transfer(args) => (&args.common, NO_PICTURE),
        Command::Transactions(args) => (&args.common, NO_PICTURE),
        Command::Files(args) => (&args.common, NO_PICTURE),
        Command::Time(args) => (&args.common, NO_PICTURE),
        Command::Fio(args) => (&args.common, NO_PICTURE),
        Command::Study(args) => (&args.common, NO_PICTURE),
        Command::Kind(args) => (&args.rules.common, NO_PICTURE),
        _ => return Ok(()),
    };
    match common.outputs.of("svg") {
        Some(_) => Err(UsageError(format!("--svg: {why}"))),
        None => Ok(()),
    }
}

/// Whether what is measured on each target has the figures that limits, goals and `--figures` name.
/// Rows are known later.
///
/// # Errors
/// Names the first that does not exist, and what there is.
pub fn check_compared(args: &CompareArgs) -> Result<(), UsageError> {
    let Some(known) = figures_of(&args.measure) else {
        return Ok(());
    };
    let is_known = |figure: &str| {
        let metric = split(figure).1;
        known.iter().any(|it| it == figure || it == metric)
    };
    let limits = args.fail.iter();
    let limits = limits.map(|it| (format!("--fail {:?}", it.text), it.reading.clone()));
    let goals = args.common.goals.iter();
    let goals = goals.map(|it| (format!("--goal {:?}", it.text()), it.figure().to_owned()));
    let figures = args.figures.iter();
    let figures = figures.map(|it| (format!("--figures {it}"), whole_name(it)));
    let mut named = limits.chain(goals).chain(figures);
    if let Some((option, figure)) = named.find(|(_, figure)| !is_known(figure)) {
        return Err(UsageError(format!(
            "{option}: {} gives no {figure}. It gives {}",
            args.measure,
            known.join(", ")
        )));
    }
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

/// Whether figures name their row, where a run has several whatever its target is.
fn check_rows(args: &CompareArgs) -> Result<(), UsageError> {
    if !["run", "curve"].contains(&args.measure.as_str()) {
        return Ok(());
    }
    let limits = args.fail.iter();
    let limits = limits.map(|it| (format!("--fail {:?}", it.text), it.reading.clone()));
    let figures = args.figures.iter();
    let figures = figures.map(|it| (format!("--figures {it}"), whole_name(it)));
    let mut named = limits.chain(figures);
    let nameless = named.find(|(_, figure)| split(figure).0.is_none());
    let of_trial = metrics_of("trial");
    nameless.map_or(Ok(()), |(option, figure)| {
        let of_level = args.measure == "curve" || !of_trial.iter().any(|it| it.0 == figure);
        let row = if of_level { "1ms" } else { "random-read" };
        Err(UsageError(format!(
            "{option}: {} has several rows: name the row, as in {row}.{figure}",
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
