//! A trial: one interval with fixed settings.

use engine::OnError;
use monitor::TimeLimit;
use results::{Access, Work, shares, user_shares};
use serde::{Deserialize, Serialize};
use stats::{ArrivalPattern, Channel, Goal};
use units::Duration;
use workload::{ClientSpec, FilesPhase, JobSpec, OwnCounts, Pacing, ThreadType};

/// Page-cache preparation before a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preparation {
    /// Nothing.
    None,
    /// Writes back and drops the target's pages.
    DropCache,
    /// Reads the region once to fill the page cache.
    FillCache,
}

/// A trial and its end conditions. What one host requests of others has no goal or limit: only that
/// host sees the slots of all, and tells them when to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Stable name, in kebab case.
    pub name: String,
    /// Description.
    pub title: String,
    /// The workload of one client.
    pub spec: ClientSpec,
    /// Number of clients.
    pub clients: u32,
    /// Maximum number of outstanding requests over all workers.
    pub depth: u32,
    /// How storage is accessed.
    pub access: Access,
    /// Page-cache preparation.
    pub preparation: Preparation,
    /// When the result is precise enough; `None` runs until the clients finish or time is up.
    #[serde(skip)]
    pub goal: Option<Goal>,
    /// Which time the goal refers to.
    #[serde(skip)]
    pub channel: Channel,
    /// Time limit.
    pub duration_max: Duration,
    /// Added to the run's seed, so that repeated trials draw differently.
    pub salt: u64,
    /// Interval length for recording the machine's activity; `None` for no series.
    #[serde(skip)]
    pub sample_every: Option<Duration>,
    /// A limit on the response time: the trial may end as soon as it is decided whether it is met.
    #[serde(skip)]
    pub limit: Option<TimeLimit>,
    /// Fixed warm-up; detected automatically if absent.
    pub warm_up: Option<Duration>,
}

/// From this limit on, a trial ends with its work rather than by time.
const WORK_ENDS_FROM: Duration = Duration::from_secs(3600);

impl Trial {
    /// One client without a goal; the name is also the title.
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

    /// Number of clients from the user's view: the engine sees a job as one client, which keeps as
    /// many requests outstanding as closed-loop clients.
    pub fn clients_at_work(&self) -> u32 {
        match &self.spec {
            ClientSpec::Jobs(own) if !own.jobs.is_empty() => {
                self.clients / own.jobs.len() as u32 * own.clients()
            }
            _ => self.clients,
        }
    }

    /// When its time is over, if time ends it; `None` if its work does.
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

    /// Offered load of an open workload, operations per second.
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

    /// The unit of work that its clients repeat.
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

    /// The arrival pattern of its clients.
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

    /// When all users are active: the last has arrived and thought once. Only the time after that
    /// counts. `None` for other clients.
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

    /// The percentiles that its measurement reports.
    pub fn percentiles(&self) -> Vec<f64> {
        match self.spec {
            ClientSpec::Users(_) => user_shares(),
            _ => shares(),
        }
    }

    /// What a failed operation does to it, where `asked` is the requested behaviour. A pass that
    /// must write a whole file always ends at an error, since skipped parts would be holes. One
    /// that may also end when precise need not be complete.
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

    /// Whether every client always has exactly one operation outstanding, so that the queue depth
    /// equals the number of clients.
    pub fn is_saturating(&self) -> bool {
        match &self.spec {
            ClientSpec::Mix(mix) => {
                matches!(mix.pacing, Pacing::Closed { think } if think.mean_ns == 0.0)
            }
            ClientSpec::Control(control) => control.types.iter().all(ThreadType::is_batch),
            ClientSpec::Files(_) => true,
            // Users also think and compute. A job has several requests outstanding.
            ClientSpec::Users(_) | ClientSpec::Own(_) | ClientSpec::Jobs(_) => false,
        }
    }
}
