//! Models, watched in virtual time from the beginning of 1970 on.

use engine::Clock as _;
use host::interrupt::Interrupt;
use lab::simulated::open_model;
use sim::SimDriver;
use units::{Duration, Instant};
use watch::{PROBES_AT_ONCE, ProbePlan, Prober};

use super::probing::ProbeBatch;
use super::session::{WatchOutputs, WatchSession, WatchedTarget};
use crate::args::WatchArgs;
use crate::exit::{Exit, UsageError};

/// What a model is watched for, unless it is said.
const DAY: Duration = Duration::from_secs(86_400);
const SLICE: Duration = Duration::from_secs(1);

/// Watch models; a signal ends it as the end of the time does.
///
/// # Errors
/// When a model is none, or nobody can be told.
pub fn watch(
    args: &WatchArgs,
    outputs: WatchOutputs,
    interrupt: &Interrupt,
) -> anyhow::Result<Exit> {
    if args.listen.is_some() {
        refuse!("--listen is for storage: a model's day takes seconds");
    }
    let mut probed: Vec<(SimDriver, Prober)> = Vec::new();
    let mut targets = Vec::new();
    for (number, name) in args.targets.iter().enumerate() {
        let spec = open_model(name.as_str()).map_err(UsageError::of)?;
        let seed = args.seed.wrapping_add(number as u64);
        let plan = ProbePlan {
            every: args.every,
            size: spec.size.0,
            syncs: !spec.is_read_only(),
            seed,
        };
        let driver = spec.driver(seed, PROBES_AT_ONCE, Instant::START);
        let prober = Prober::new(&plan, driver.now());
        probed.push((driver, prober));
        targets.push(WatchedTarget::new(
            name.as_str().to_owned(),
            None,
            args.every,
            0,
        ));
    }
    let mut session = WatchSession::new(targets, outputs);
    let length = args.length.unwrap_or(DAY);
    let mut end = Instant::START;
    while end.since(Instant::START) < length && interrupt.is_raised().is_none() {
        end = (end + SLICE).min(Instant::START + length);
        for (target, (driver, prober)) in probed.iter_mut().enumerate() {
            let batch = ProbeBatch::run((target, prober), driver, end)?;
            session.take(&batch, |_| false, |at| at.as_nanos() / 1_000_000)?;
        }
    }
    session.end(
        end.as_nanos() / 1_000_000_000,
        end.since(Instant::START),
        None,
    )
}
