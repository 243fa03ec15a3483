//! The time of day of what happened in a trial.

use jiff::{SignedDuration, Timestamp};
use results::Measurement;

/// Turns times from the start of a trial into ISO 8601 text in UTC. A model has no time of day.
pub(crate) struct ClockTime(Timestamp);

impl ClockTime {
    pub fn of(measurement: &Measurement) -> Option<Self> {
        measurement.started_at.as_ref()?.parse().ok().map(Self)
    }

    /// `at_ns` after the start, to that many digits of a second.
    pub fn at(&self, at_ns: u64, digits: usize) -> String {
        let at = SignedDuration::from_nanos(i64::try_from(at_ns).unwrap_or(i64::MAX));
        let moment = self.0.checked_add(at).unwrap_or(self.0);
        format!("{moment:.digits$}")
    }
}
