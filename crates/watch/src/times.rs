//! Times of probes, sparse and mergeable.

use serde::{Deserialize, Serialize};
use stats::LogBins;

/// Response times of probes: bins at most 1.6 % wide, with the count, sum and maximum exact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeTimes {
    bins: LogBins,
    count: u64,
    sum_ns: u64,
    max_ns: u64,
}

impl ProbeTimes {
    /// Adds one time.
    pub fn record(&mut self, time_ns: u64) {
        self.bins.add(LogBins::bin_of(time_ns), 1);
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(time_ns);
        self.max_ns = self.max_ns.max(time_ns);
    }

    /// Adds all of `other`: the same as if its times had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        self.bins.merge(&other.bins);
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Whether times from outside could have been made by this type.
    pub(crate) fn is_sound(&self) -> bool {
        self.bins.is_sound() && self.bins.total() == self.count
    }

    /// Number of times.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all times, ns.
    pub const fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The longest time, ns.
    pub const fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The non-empty bins.
    pub const fn bins(&self) -> &LogBins {
        &self.bins
    }

    /// The quantile `p` (ns), never above the maximum; `None` without times.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let value = self.bins.quantile(p)?;
        Some((value as u64).min(self.max_ns))
    }

    /// The quantile, or the maximum if there are too few times.
    pub fn quantile_or_max(&self, p: f64) -> u64 {
        const ABOVE_MIN: f64 = 1.0;
        match self.count as f64 * (1.0 - p) < ABOVE_MIN {
            true => self.max_ns,
            false => self.quantile(p).unwrap_or(0),
        }
    }
}
