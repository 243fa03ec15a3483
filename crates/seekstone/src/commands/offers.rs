//! Figures of the commands whose rows are known when they were measured. `run`, `trial` and `curve`
//! know theirs once they have looked at their target.

use procedure::{LATENCIES, Offer, OfferedRow, Requirement};
use results::Unit;

use crate::args::Command;
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
