//! What a process finds of a trial, or of its share of one.

use engine::Record;
use host::processors::processors;
use procedure::{Ending, Monitor, OwnDeviceWork};
use results::Measurement;
use units::Duration;

use super::cache_share::CacheLook;
use super::foreign::distinguished;
use crate::laboratory::Outcome;

/// What a process found of its share of a trial.
pub(crate) struct PartialTrial {
    /// What it measured.
    pub outcome: Outcome,
    /// What it recorded, so that records of several hosts can be added.
    pub record: Record,
    /// What it can have caused on its device; `None` where that is not known.
    pub own: Option<OwnDeviceWork>,
}

/// What a trial gave in which nothing failed.
pub(super) fn outcome_of(
    measurement: Measurement,
    ending: Ending,
    elapsed: Duration,
    monitor: &Monitor,
    record: &Record,
    caches: &CacheLook,
) -> Outcome {
    Outcome {
        intervals: distinguished(monitor.intervals(), &measurement),
        measurement,
        ending,
        failure: None,
        units: record.units.clone(),
        rows: record.rows.clone(),
        elapsed,
        series: caches.known_misses(monitor.series(processors().len() as u32)),
        within: monitor.within_limit(),
        model_cpu_ns: None,
    }
}
