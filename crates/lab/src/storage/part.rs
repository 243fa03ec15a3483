//! What a process finds of a trial, or of its share of one.

use engine::Record;
use host::processors::processors;
use procedure::{
    Circumstances, Ending, Monitor, OwnDeviceWork, Trial, TrialError, silent_part, summarise,
};
use results::Measurement;
use units::Duration;

use super::cache_share::CacheLook;
use super::foreign::distinguished;
use crate::coordinator::TrialCoordinator;
use crate::laboratory::{Outcome, error_name};

/// What a process found of its share of a trial.
pub(crate) struct PartialTrial {
    /// What it measured.
    pub outcome: Outcome,
    /// What it recorded, so that records of several hosts can be added.
    pub record: Record,
    /// What it can have caused on its device; `None` where that is not known.
    pub own: Option<OwnDeviceWork>,
}

impl PartialTrial {
    /// Whether no operation was done, and nothing failed.
    pub(crate) fn is_silent(&self) -> bool {
        let measurement = &self.outcome.measurement;
        let has_failed = self.outcome.failure.is_some() || !measurement.errors.is_empty();
        measurement.completions_all == 0 && !has_failed
    }
}

/// Sum up what this process did: a rank that completed nothing is a part of the sum of all.
///
/// # Errors
/// When nothing was done by the only one, or all of it failed.
pub(super) fn summed(
    trial: &Trial,
    (monitor, record): (&Monitor, &Record),
    circumstances: &Circumstances,
    coordinator: &dyn TrialCoordinator,
) -> Result<Measurement, TrialError> {
    match summarise(trial, monitor, record, circumstances, error_name) {
        Err(TrialError::Nothing { .. }) if !coordinator.is_alone() => {
            Ok(silent_part(trial, record, circumstances))
        }
        summed => summed,
    }
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
