//! Figures of the commands whose rows are known when they were measured. `run`, `trial` and `curve`
//! know theirs once they have looked at their target.

use procedure::{LATENCIES, LEVEL_FIGURES, Offer, OfferedRow, Requirement, split, whole_name};
use results::Unit;
use study::{Measures as _, OwnMeasurements};

use crate::args::{Command, CompareArgs};
use crate::exit::UsageError;

const SERVICE_TIMES: [(&str, Unit); 5] = [
    ("service-time", Unit::Seconds),
    ("service-time-p50", Unit::Seconds),
    ("service-time-p95", Unit::Seconds),
    ("service-time-p99", Unit::Seconds),
    ("service-time-p99.9", Unit::Seconds),
];
const RATES: [(&str, Unit); 2] = [
    ("iops", Unit::PerSecond),
    ("throughput", Unit::BytesPerSecond),
];
const RABMARKS: [(&str, Unit); 4] = [
    ("rabmark-r", Unit::Ratio),
    ("rabmark-s", Unit::BytesPerSecond),
    ("iops-by-latency", Unit::PerSecond),
    ("service-time-one-client", Unit::Seconds),
];
const TRANSACTIONS: [(&str, Unit); 2] = [("tps", Unit::PerSecond), ("latency-p90", Unit::Seconds)];
const FILES: [(&str, Unit); 4] = [
    ("elapsed", Unit::Seconds),
    ("files-per-second", Unit::PerSecond),
    ("calls-per-second", Unit::PerSecond),
    ("throughput", Unit::BytesPerSecond),
];
const COMMANDS: [(&str, Unit); 3] = [
    ("elapsed", Unit::Seconds),
    ("cpu-user", Unit::Seconds),
    ("cpu-system", Unit::Seconds),
];

/// Whether jobs of fio, in phases of these names, can give what the goals are on.
///
/// # Errors
/// When they cannot.
pub fn check_fio(phases: Vec<String>, goals: &[Requirement]) -> Result<(), UsageError> {
    let metrics = [&LATENCIES[..], &SERVICE_TIMES].concat();
    let row = match phases.as_slice() {
        [_] => OfferedRow::Only,
        _ => OfferedRow::Named,
    };
    let offer = phases.into_iter().fold(Offer::default(), |offer, name| {
        offer.and(row(name), &metrics)
    });
    offer.check(goals).map_err(UsageError)
}

/// Whether a command can give what its goals are on.
///
/// # Errors
/// When it cannot.
pub fn check(command: &Command) -> Result<(), UsageError> {
    let (common, metrics) = match command {
        Command::Rab(args) => (
            &args.common,
            [&RABMARKS[..], &RATES, &SERVICE_TIMES].concat(),
        ),
        Command::Random(args) => (&args.common, [&SERVICE_TIMES[..], &RATES[..1]].concat()),
        Command::Ssd(args) => (&args.common, LATENCIES.to_vec()),
        Command::Replay(args) => (&args.common, [&LATENCIES[..], &SERVICE_TIMES].concat()),
        Command::Transfer(args) => (&args.common, RATES[1..].to_vec()),
        Command::Transactions(args) => {
            (&args.common, [&TRANSACTIONS[..], &LATENCIES[2..]].concat())
        }
        Command::Files(args) => (&args.common, FILES.to_vec()),
        Command::Time(args) => (&args.common, COMMANDS.to_vec()),
        _ => return Ok(()),
    };
    let offer = Offer::default().and(OfferedRow::Any, &metrics);
    offer.check(&common.goals).map_err(UsageError)
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

/// The figures of what `compare` measures, where they are known before.
fn figures_of(kind: &str) -> Option<Vec<String>> {
    let metrics = match kind {
        "trial" => LATENCIES.to_vec(),
        "run" => [&LATENCIES[..], &LEVEL_FIGURES[1..]].concat(),
        "curve" => LEVEL_FIGURES.to_vec(),
        own => return OwnMeasurements.outline(own)?.readings,
    };
    Some(
        metrics
            .into_iter()
            .map(|(name, _)| name.to_owned())
            .collect(),
    )
}
