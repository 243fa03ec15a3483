//! Request rates of concurrent workloads, and their offered load.

use serde::{Deserialize, Serialize};

use crate::group::JobsSpec;
use crate::job_spec::JobSpec;

/// When requests of a direction are due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "kebab-case")]
pub enum JobRate {
    /// As soon as a slot is free.
    Free,
    /// At a rate of requests.
    Requests {
        /// Requests.
        per_second: f64,
    },
    /// At a rate of bytes.
    Bytes {
        /// Bytes.
        per_second: u64,
    },
}

impl JobsSpec {
    /// Total offered load in operations per second from the trial's start to its end, if all arrive
    /// at random independently of earlier ones.
    pub fn offered(&self) -> Option<f64> {
        let of = |job: &JobSpec| job.offered().filter(|_| job.arrives_at_random());
        self.jobs.iter().map(of).sum()
    }

    /// Whether any of them has a rate.
    pub fn has_rates(&self) -> bool {
        let mut rates = self.jobs.iter().flat_map(|job| &job.rates);
        rates.any(|rate| !matches!(rate, JobRate::Free))
    }

    /// Equivalent number of clients: the closed-loop depth of a job, or one for a job with a rate.
    pub fn clients(&self) -> u32 {
        let of = |job: &JobSpec| job.offered().map_or(job.depth, |_| 1);
        self.jobs.iter().map(of).sum()
    }
}

impl JobSpec {
    /// Offered load in operations per second, if everything it does has a rate of operations.
    pub fn offered(&self) -> Option<f64> {
        let used = [self.read_percent > 0, self.read_percent < 100];
        let rates = self.rates.iter().zip(used).filter(|(_, is_used)| *is_used);
        let rate = |(rate, _): (&JobRate, bool)| match rate {
            JobRate::Requests { per_second } => Some(*per_second),
            JobRate::Free | JobRate::Bytes { .. } => None,
        };
        rates.map(rate).sum()
    }

    /// Whether its arrivals are always purely random.
    const fn arrives_at_random(&self) -> bool {
        self.is_poisson
            && self.bytes.is_none()
            && self.requests.is_none()
            && self.delay.as_nanos() == 0
            && self.think.as_nanos() == 0
    }
}
