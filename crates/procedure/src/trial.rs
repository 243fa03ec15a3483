//! A trial: one interval with fixed settings.

use results::Access;
use stats::{Arrivals, Channel, Goal};
use units::Duration;
use workload::{ClientSpec, Pacing, ThreadType};

use crate::monitor::{PERCENTILES, USER_PERCENTILES};

/// What is done to the page cache before a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// Nothing.
    None,
    /// The target's pages are written back and dropped.
    DropCache,
    /// The region is read once, so that the page cache holds it.
    FillCache,
}

/// What share of the response times must not be longer than a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLimit {
    /// The share, 0 to 1.
    pub share: f64,
    /// The limit, nanoseconds.
    pub limit_ns: u64,
    /// How sure it must be, 0 to 1, before the trial is ended for it.
    pub clear: f64,
}

/// What a trial does, and when it may end.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Stable name, in kebab case.
    pub name: String,
    /// What is done, in words.
    pub title: String,
    /// What one client does.
    pub spec: ClientSpec,
    /// Number of clients.
    pub clients: u32,
    /// How many requests may be outstanding over all workers.
    pub depth: u32,
    /// How storage is reached.
    pub access: Access,
    /// What is done to the page cache before.
    pub preparation: Preparation,
    /// When the answer is good enough; `None` runs until the clients finish or time is up.
    pub goal: Option<Goal>,
    /// Which time the goal is about.
    pub channel: Channel,
    /// When to stop in any case.
    pub duration_max: Duration,
    /// Added to the run's seed, so that repeated trials draw afresh.
    pub salt: u64,
    /// Length of the intervals that the machine's work is noted by; `None` for no such series.
    pub sample_every: Option<Duration>,
    /// A limit of the response time: the trial may end as soon as it is clear whether it is met.
    pub limit: Option<TimeLimit>,
}

impl Trial {
    /// Operations per second that an open workload offers.
    #[must_use]
    pub fn offered(&self) -> Option<f64> {
        match &self.spec {
            ClientSpec::Mix(mix) => match mix.pacing {
                Pacing::Open { gap } if gap.mean_ns > 0.0 => {
                    Some(f64::from(self.clients) * 1e9 / gap.mean_ns)
                }
                _ => None,
            },
            ClientSpec::Control(control) => control.offered(self.clients),
            ClientSpec::Files(_) | ClientSpec::Users(_) => None,
        }
    }

    /// When its clients ask for operations.
    #[must_use]
    pub fn arrivals(&self) -> Arrivals {
        match &self.spec {
            ClientSpec::Mix(mix) if matches!(mix.pacing, Pacing::Open { .. }) => Arrivals::Open,
            _ if self.is_saturating() => Arrivals::Saturating,
            _ => Arrivals::Thinking,
        }
    }

    /// The percentiles that its measurement states.
    #[must_use]
    pub const fn percentiles(&self) -> &'static [f64] {
        match self.spec {
            ClientSpec::Users(_) => &USER_PERCENTILES,
            _ => &PERCENTILES,
        }
    }

    /// Whether every client has exactly one operation outstanding all the time, so that the depth
    /// of the queue is the number of clients.
    #[must_use]
    pub fn is_saturating(&self) -> bool {
        match &self.spec {
            ClientSpec::Mix(mix) => {
                matches!(mix.pacing, Pacing::Closed { think } if think.mean_ns == 0.0)
            }
            ClientSpec::Control(control) => control.types.iter().all(ThreadType::is_batch),
            ClientSpec::Files(_) => true,
            // Users are more than their I/Os: they think and compute, too.
            ClientSpec::Users(_) => false,
        }
    }
}
