//! A trial: one interval with fixed settings.

use engine::OnError;
use results::{Access, Work, shares, user_shares};
use serde::{Deserialize, Serialize};
use stats::{ArrivalPattern, Channel, Goal};
use units::Duration;
use workload::{ClientSpec, FilesPhase, JobSpec, OwnCounts, Pacing, ThreadType};

/// What is done to the page cache before a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// What a trial does, and when it may end. What one host asks of others has neither goal nor
/// limit: it alone sees the slots of all, and tells them when to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    #[serde(skip)]
    pub goal: Option<Goal>,
    /// Which time the goal is about.
    #[serde(skip)]
    pub channel: Channel,
    /// When to stop in any case.
    pub duration_max: Duration,
    /// Added to the run's seed, so that repeated trials draw afresh.
    pub salt: u64,
    /// Length of the intervals that the machine's work is noted by; `None` for no such series.
    #[serde(skip)]
    pub sample_every: Option<Duration>,
    /// A limit of the response time: the trial may end as soon as it is clear whether it is met.
    #[serde(skip)]
    pub limit: Option<TimeLimit>,
    /// What is left out at the start, whatever it looks like; a rule finds it when absent.
    pub warm_up: Option<Duration>,
}

/// No trial is this long for its time's sake: it ends with its work.
const WORK_ENDS_FROM: Duration = Duration::from_secs(3600);

impl Trial {
    /// One client without a goal; its name is its title, too.
    #[must_use]
    pub fn new(name: impl Into<String>, spec: ClientSpec, access: Access) -> Self {
        let name = name.into();
        Self {
            title: name.clone(),
            name,
            spec,
            clients: 1,
            depth: 1,
            access,
            preparation: Preparation::None,
            goal: None,
            channel: Channel::Response,
            duration_max: Duration::ZERO,
            salt: 0,
            sample_every: None,
            limit: None,
            warm_up: None,
        }
    }

    /// Its clients as a user counts them: a job is a single one to the engine, and keeps as many
    /// requests outstanding as clients that wait for each other.
    #[must_use]
    pub fn clients_at_work(&self) -> u32 {
        match &self.spec {
            ClientSpec::Jobs(own) if !own.jobs.is_empty() => {
                self.clients / own.jobs.len() as u32 * own.clients()
            }
            _ => self.clients,
        }
    }

    /// After how long its time is over, where that ends it; `None` where its work does.
    #[must_use]
    pub fn ends_after(&self) -> Option<Duration> {
        let runtimes = match &self.spec {
            ClientSpec::Jobs(own) => {
                let each = own.jobs.iter().map(JobSpec::ends_after);
                // One without an end outlasts the others.
                each.collect::<Option<Vec<_>>>()
                    .and_then(|all| all.into_iter().max())
            }
            _ => None,
        };
        let time = runtimes.map_or(self.duration_max, |time| time.min(self.duration_max));
        (time < WORK_ENDS_FROM).then_some(time)
    }

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
            ClientSpec::Own(own) => match own.counts {
                OwnCounts::Scheduled { per_second } | OwnCounts::ScheduledUnits { per_second } => {
                    Some(per_second)
                }
                OwnCounts::Units | OwnCounts::Operations => None,
            },
            ClientSpec::Jobs(jobs) => jobs.offered(),
            ClientSpec::Files(_) | ClientSpec::Users(_) => None,
        }
    }

    /// What its clients do over and over.
    #[must_use]
    pub const fn work(&self) -> Work {
        match self.spec {
            ClientSpec::Mix(_) | ClientSpec::Control(_) | ClientSpec::Jobs(_) => Work::Operation,
            ClientSpec::Files(_) => Work::File,
            ClientSpec::Users(_) => Work::Transaction,
            ClientSpec::Own(ref own) => match own.counts {
                OwnCounts::Units | OwnCounts::ScheduledUnits { .. } => Work::Transaction,
                OwnCounts::Scheduled { .. } | OwnCounts::Operations => Work::Operation,
            },
        }
    }

    /// When its clients ask for operations.
    #[must_use]
    pub fn arrivals(&self) -> ArrivalPattern {
        match &self.spec {
            ClientSpec::Mix(mix) if matches!(mix.pacing, Pacing::Open { .. }) => {
                ArrivalPattern::Open
            }
            ClientSpec::Own(own)
                if matches!(
                    own.counts,
                    OwnCounts::Scheduled { .. } | OwnCounts::ScheduledUnits { .. }
                ) =>
            {
                ArrivalPattern::Open
            }
            ClientSpec::Jobs(jobs) if jobs.offered().is_some() => ArrivalPattern::Open,
            _ if self.is_saturating() => ArrivalPattern::Saturating,
            _ => ArrivalPattern::Thinking,
        }
    }

    /// After how long all its users are at work: the last has come and thought once. Only what they
    /// do together counts. `None` for other clients.
    #[must_use]
    pub fn lead_in(&self) -> Option<Duration> {
        let ClientSpec::Users(users) = &self.spec else {
            return None;
        };
        let rate = users.ramp_per_second.unwrap_or(f64::INFINITY);
        let ramp = f64::from(self.clients.saturating_sub(1)) / rate;
        let thinks = users.profiles().iter().map(|it| it.think.mean_ns);
        let think = thinks.fold(0.0, f64::max);
        Some(Duration::from_secs_f64(ramp + think / 1e9))
    }

    /// The percentiles that its measurement states.
    #[must_use]
    pub fn percentiles(&self) -> Vec<f64> {
        match self.spec {
            ClientSpec::Users(_) => user_shares(),
            _ => shares(),
        }
    }

    /// What a failed operation does to it, where `asked` is what was asked for. A pass that is to
    /// write all of a file ends at an error whatever was asked for: what it leaves out would be a
    /// hole. One that may also end when it is precise need not be whole.
    #[must_use]
    pub fn on_error(&self, asked: OnError) -> OnError {
        let is_whole = match &self.spec {
            ClientSpec::Mix(mix) => mix.operations.is_some() && self.goal.is_none(),
            ClientSpec::Files(files) => files.phase != FilesPhase::Read,
            ClientSpec::Control(_)
            | ClientSpec::Users(_)
            | ClientSpec::Own(_)
            | ClientSpec::Jobs(_) => false,
        };
        if is_whole { OnError::Stop } else { asked }
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
            // Users are more than their I/Os: they think and compute, too. A job has several
            // requests outstanding.
            ClientSpec::Users(_) | ClientSpec::Own(_) | ClientSpec::Jobs(_) => false,
        }
    }
}
