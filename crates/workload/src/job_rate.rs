//! How often workloads side by side ask for operations, and what they offer by that.

use serde::{Deserialize, Serialize};

use crate::group::JobsSpec;
use crate::job_spec::JobSpec;

/// How often requests of a direction are due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "kebab-case")]
pub enum JobRate {
    /// As soon as there is room.
    Free,
    /// So many a second.
    Requests {
        /// Requests.
        per_second: f64,
    },
    /// So many bytes a second.
    Bytes {
        /// Bytes.
        per_second: u64,
    },
}

impl JobsSpec {
    /// Operations per second that all of them offer together from the trial's start to its end,
    /// where all arrive at random, whatever becomes of those before.
    #[must_use]
    pub fn offered(&self) -> Option<f64> {
        let of = |job: &JobSpec| job.offered().filter(|_| job.arrives_at_random());
        self.jobs.iter().map(of).sum()
    }

    /// Whether some of what they do has a rate.
    #[must_use]
    pub fn has_rates(&self) -> bool {
        let mut rates = self.jobs.iter().flat_map(|job| &job.rates);
        rates.any(|rate| !matches!(rate, JobRate::Free))
    }

    /// Clients that they are of: as many as requests of a job wait for each other, and one for a
    /// job at a rate.
    #[must_use]
    pub fn clients(&self) -> u32 {
        let of = |job: &JobSpec| job.offered().map_or(job.depth, |_| 1);
        self.jobs.iter().map(of).sum()
    }
}

impl JobSpec {
    /// Operations per second that it offers, where all that it does has a rate of operations.
    #[must_use]
    pub fn offered(&self) -> Option<f64> {
        let used = [self.read_percent > 0, self.read_percent < 100];
        let rates = self.rates.iter().zip(used).filter(|(_, is_used)| *is_used);
        let rate = |(rate, _): (&JobRate, bool)| match rate {
            JobRate::Requests { per_second } => Some(*per_second),
            JobRate::Free | JobRate::Bytes { .. } => None,
        };
        rates.map(rate).sum()
    }

    /// Whether nothing but chance says when its operations come, all the time.
    const fn arrives_at_random(&self) -> bool {
        self.is_poisson
            && self.bytes.is_none()
            && self.requests.is_none()
            && self.delay.as_nanos() == 0
            && self.think.as_nanos() == 0
    }
}
