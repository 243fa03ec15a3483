//! The outcome of one trial.

use serde::{Deserialize, Serialize};
use stats::{Channel, Drift, Estimate, PercentileEstimate, Tail, Verdict, Window};

use crate::environment::CountersDelta;
use crate::generator::{Generator, RoomWait};
use crate::series::{SteadyLaw, SystemSeries};
use crate::warning::Warning;

/// How a trial reached its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Past the page cache.
    Direct,
    /// Through the page cache.
    Buffered,
    /// On a model, in virtual time.
    Simulated,
    /// On the driver that completes at once.
    Null,
}

impl Access {
    /// The word that reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Buffered => "buffered",
            Self::Simulated => "simulated",
            Self::Null => "null",
        }
    }
}

/// A distribution of times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Mean with its interval, in the steady part of the trial.
    pub mean: Estimate,
    /// Percentiles with their intervals, in the steady part of the trial.
    pub percentiles: Vec<PercentileEstimate>,
    /// Shortest over the whole trial.
    pub min_ns: u64,
    /// Longest over the whole trial.
    pub max_ns: u64,
}

impl Times {
    /// The percentile `p` (0.99 for the 99th); its interval is unbounded if the sample bears none.
    #[must_use]
    pub fn percentile(&self, p: f64) -> Option<Estimate> {
        self.percentiles
            .iter()
            .find(|percentile| (percentile.p - p).abs() < 1e-9)
            .and_then(|percentile| percentile.estimate)
    }
}

/// The times of one kind of operation over the whole trial, warm-up included; nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindTimes {
    /// `read`, `write`, `flush`, `create`, `open`, `close`, `remove`.
    pub kind: String,
    /// Operations without error.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Mean service time.
    #[serde(with = "stats::undefined")]
    pub service_mean_ns: f64,
    /// Service time below which 99 % lie; absent when the sample cannot support it.
    pub service_p99_ns: Option<u64>,
    /// Longest service time.
    pub service_max_ns: u64,
    /// Mean response time.
    #[serde(with = "stats::undefined")]
    pub response_mean_ns: f64,
    /// Response time below which 99 % lie; absent when the sample cannot support it.
    pub response_p99_ns: Option<u64>,
    /// Longest response time.
    pub response_max_ns: u64,
    /// All response times: HdrHistogram V2, base 64.
    pub response_histogram: String,
}

/// The generator's own lateness: from ready to issued, over the whole trial; nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Mean.
    #[serde(with = "stats::undefined")]
    pub mean_ns: f64,
    /// 99 % lie below; absent when the sample cannot support it.
    pub p99_ns: Option<u64>,
    /// Longest.
    pub max_ns: u64,
}

/// Failed operations of one kind with one error number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Kind of operation.
    pub kind: String,
    /// Error number.
    pub errno: i32,
    /// What the system calls it.
    pub name: String,
    /// How many.
    pub count: u64,
}

/// What a trial cost this process, its kernel helpers included and the observing thread left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuCost {
    /// CPU time for each completed unit of work, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub per_operation_ns: f64,
    /// CPU time for each MiB moved, nanoseconds; absent where no bytes move.
    pub per_mib_ns: Option<f64>,
    /// Share of one core that was busy.
    #[serde(with = "stats::undefined")]
    pub cores_busy: f64,
}

/// Operations that were due and not done when a trial ended. The times of a measurement are of what
/// was done, so these are missing there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unfinished {
    /// How many.
    pub count: u64,
    /// How long they had waited by then on average, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub waited_mean_ns: f64,
}

/// The percentile that a trial was made for, of both times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tails {
    /// Of the response time.
    pub response: Option<Tail>,
    /// Of the service time.
    pub service: Option<Tail>,
}

impl Tails {
    /// That of one time.
    #[must_use]
    pub const fn of(&self, channel: Channel) -> Option<&Tail> {
        match channel {
            Channel::Response => self.response.as_ref(),
            Channel::Service => self.service.as_ref(),
        }
    }
}

/// The outcome of one trial: one interval with fixed settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Stable name, in kebab case.
    pub name: String,
    /// What was done, in words.
    pub title: String,
    /// Number of virtual clients.
    pub clients: u32,
    /// Number of workers.
    pub workers: u32,
    /// How storage was reached.
    pub access: Access,
    /// What carried the requests out.
    pub driver: String,
    /// Seed of the clients' streams.
    pub seed: u64,
    /// Offered load of an open workload, per second.
    pub offered: Option<f64>,
    /// Time from due to completed.
    pub response: Times,
    /// Time from issued to completed.
    pub service: Times,
    /// Units of work per second.
    pub throughput: Estimate,
    /// Bytes per second; absent where no bytes move.
    pub bandwidth: Option<Estimate>,
    /// The generator's own lateness.
    pub lateness: Lateness,
    /// Times by kind of operation.
    pub kinds: Vec<KindTimes>,
    /// Failed operations.
    pub errors: Vec<ErrorCount>,
    /// Operations that moved fewer bytes than asked for.
    pub short: u64,
    /// Operations that were not done when the trial ended, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// Operations that waited for room here before they were handed over, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomWait>,
    /// CPU time spent.
    pub cpu: Option<CpuCost>,
    /// Share of the bytes read or written that the page cache answered, as counted by the kernel.
    pub page_cache_share: Option<f64>,
    /// What the system counted meanwhile.
    pub counters: Option<CountersDelta>,
    /// Units of work in the steady part.
    pub completions: u64,
    /// Units of work over the whole trial, warm-up included.
    pub completions_all: u64,
    /// Bytes moved over the whole trial.
    pub bytes_all: u64,
    /// Length of the steady part, nanoseconds.
    pub duration_ns: u64,
    /// Length of the part cut off as warm-up, nanoseconds.
    pub warmup_ns: u64,
    /// Load times service time: how many requests were with the device on average.
    #[serde(with = "stats::undefined")]
    pub effective_depth: f64,
    /// How many requests the driver could hold.
    pub nominal_depth: u32,
    /// How often the kernel was entered to hand over or to wait; absent where that has no meaning.
    pub kernel_entries: Option<u64>,
    /// What this program itself had and did, on real storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<Generator>,
    /// Whether precision and steadiness were reached.
    pub verdict: Verdict,
    /// Trend of the response time over the steady part.
    pub drift: Drift,
    /// Whether the SNIA's rule would call the trial steady.
    pub snia_steady: Option<bool>,
    /// The trial interval by interval, where that was asked for; its transactions are the
    /// operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SystemSeries>,
    /// What a law says of the same load, where a model has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<SteadyLaw>,
    /// Doubts.
    pub warnings: Vec<Warning>,
    /// The series behind the intervals of response time and load; not archived.
    #[serde(skip)]
    pub window: Option<Window>,
    /// The series behind the intervals of service time and load; not archived.
    #[serde(skip)]
    pub service_window: Option<Window>,
    /// The percentiles that the goal is about, of response and service time; not archived.
    #[serde(skip)]
    pub tails: Option<Tails>,
    /// Percentiles of the service time whatever their evidence, for those who pool trials; not
    /// archived.
    #[serde(skip)]
    pub service_quantiles: Vec<PercentileEstimate>,
}

impl Measurement {
    /// Whether every condition of the goal was met.
    #[must_use]
    pub const fn is_converged(&self) -> bool {
        matches!(self.verdict, Verdict::Converged)
    }

    /// Changes that take longer than this, nanoseconds, could not be told from a drift.
    #[must_use]
    pub const fn slowest_change_ns(&self) -> u64 {
        self.duration_ns / stats::RESOLVABLE
    }

    /// The rarest event that could be seen: one in so many operations, and one in so many
    /// nanoseconds. A rarer one is missed with a chance above 5 % (the rule of three).
    #[must_use]
    pub const fn rarest_event(&self) -> (u64, u64) {
        (self.completions / 3, self.duration_ns / 3)
    }

    /// Failed operations of all kinds.
    #[must_use]
    pub fn errors_total(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}
