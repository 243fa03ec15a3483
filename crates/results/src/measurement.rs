//! The result of one trial.

use serde::{Deserialize, Serialize};
use stats::{Channel, Drift, DriftVerdict, Estimate, PercentileEstimate, Tail, Verdict, Window};
use workload::ClientSpec;

use crate::environment::CountersDelta;
use crate::failure::ErrorCount;
use crate::generator::{Generator, RoomWait};
use crate::interval::Interval;
use crate::series::{Law, ServerTimes, SteadyLaw, SystemSeries};
use crate::warning::Warning;
use crate::warning_code::WarningCode;

units::words! {
    /// How a trial accessed its storage.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Access {
        /// Past the page cache.
        Direct = "direct",
        /// Through the page cache.
        Buffered = "buffered",
        /// On a model, in virtual time.
        Simulated = "simulated",
        /// On the null driver, which completes every request at once.
        Null = "null",
    }
}

/// The unit of work that clients repeat and a trial counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    #[default]
    Operation,
    /// A file created, written or read, and removed.
    File,
    /// A transaction of several operations.
    Transaction,
}

/// A distribution of times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Mean with its interval, over the steady part.
    pub mean: Estimate,
    /// Percentiles with their intervals, over the steady part.
    pub percentiles: Vec<PercentileEstimate>,
    /// Shortest over the whole trial.
    pub min_ns: u64,
    /// Longest over the whole trial.
    pub max_ns: u64,
}

impl Times {
    /// The percentile `p` (0.99 for the 99th); its interval is unbounded if the sample is too
    /// small.
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
    /// 99th percentile of the response time; absent if the sample is too small.
    pub response_p99_ns: Option<u64>,
    /// Longest response time.
    pub response_max_ns: u64,
    /// Mean and percentiles of the response time with intervals, in a mix of kinds. The correlation
    /// is taken from all operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Times>,
    /// All response times: HdrHistogram V2, base 64.
    pub response_histogram: String,
    /// All service times, in the same form; empty in runs of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub service_histogram: String,
}

/// Lateness of the load generator, from ready to issued, over the whole trial; nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    #[serde(with = "stats::undefined")]
    pub mean_ns: f64,
    /// 99th percentile; absent if the sample is too small.
    pub p99_ns: Option<u64>,
    /// Longest.
    pub max_ns: u64,
}

/// CPU cost of a trial: this process with its kernel threads, without the observing thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuCost {
    /// CPU time per completed unit of work, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub per_operation_ns: f64,
    /// CPU time per MiB, nanoseconds; absent if no bytes are moved.
    pub per_mib_ns: Option<f64>,
    /// Processor cores used.
    #[serde(with = "stats::undefined")]
    pub cores_busy: f64,
}

/// Operations that were due but not completed when the trial ended. Response times cover completed
/// operations only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnfinishedOperations {
    pub count: u64,
    /// Their mean wait until then, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub waited_mean_ns: f64,
    /// How many of them completed while the trial drained; 0 in runs of earlier versions.
    #[serde(default)]
    pub answered: u64,
    /// Their mean response time, nanoseconds: final for those that completed, so far for the
    /// others. Absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_mean_ns: Option<f64>,
    /// The longest of these times, nanoseconds; absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ns: Option<u64>,
}

impl UnfinishedOperations {
    /// Whether all of them completed in the end.
    pub const fn is_answered(&self) -> bool {
        self.answered >= self.count
    }

    /// Their mean response time as far as it is known, nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.response_mean_ns.unwrap_or(self.waited_mean_ns)
    }
}

/// The percentile that the trial was run for, of both times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tails {
    /// Of the response time.
    pub response: Option<Tail>,
    /// Of the service time.
    pub service: Option<Tail>,
}

impl Tails {
    /// The tail of this channel.
    pub const fn of(&self, channel: Channel) -> Option<&Tail> {
        match channel {
            Channel::Response => self.response.as_ref(),
            Channel::Service => self.service.as_ref(),
        }
    }
}

/// What a trial was long enough to detect. Slower or rarer effects may exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// Changes that take longer than this, nanoseconds, cannot be told from drift.
    pub slowest_change_ns: u64,
    /// Events rarer than one in this many operations may have been missed, with a probability above
    /// 5 % (rule of three).
    pub rarest_operations: u64,
    /// The same in nanoseconds.
    pub rarest_ns: u64,
}

impl Resolution {
    /// The resolution of a steady part of that many operations and nanoseconds.
    pub const fn of(operations: u64, duration_ns: u64) -> Self {
        Self {
            slowest_change_ns: duration_ns / stats::RESOLVABLE,
            rarest_operations: operations / 3,
            rarest_ns: duration_ns / 3,
        }
    }

    /// What both were long enough to detect.
    #[must_use]
    pub fn both(self, other: Self) -> Self {
        Self {
            slowest_change_ns: self.slowest_change_ns.min(other.slowest_change_ns),
            rarest_operations: self.rarest_operations.min(other.rarest_operations),
            rarest_ns: self.rarest_ns.min(other.rarest_ns),
        }
    }
}

/// The result of one trial: one interval with fixed settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Whether it was added for a goal, such as `p99 <= 2ms @ 20k/s`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_for_goal: bool,
    /// Stable name, in kebab case.
    pub name: String,
    /// What was measured, in words.
    pub title: String,
    /// What each client did; absent if the load did not come from our clients.
    pub workload: Option<ClientSpec>,
    /// The unit of work that response time and throughput refer to.
    #[serde(default)]
    pub work: Work,
    /// Number of virtual clients.
    pub clients: u32,
    /// Number of workers.
    pub workers: u32,
    /// How storage was accessed.
    pub access: Access,
    /// The driver that executed the requests.
    pub driver: String,
    /// Seed of the clients' streams.
    #[serde(with = "crate::seed")]
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
    /// Failed operations; no other figure has them.
    pub errors: Vec<ErrorCount>,
    /// Short transfers.
    pub short: u64,
    /// Operations not completed when the trial ended, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedOperations>,
    /// Operations that waited for a free slot before submission, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomWait>,
    /// CPU time spent.
    pub cpu: Option<CpuCost>,
    /// Share of the bytes that the page cache served or absorbed, as counted by the kernel.
    pub page_cache_share: Option<f64>,
    /// System counters during the trial.
    pub counters: Option<CountersDelta>,
    /// Units of work in the steady part.
    pub completions: u64,
    /// Units of work over the whole trial, warm-up included.
    pub completions_all: u64,
    /// Bytes moved over the whole trial.
    pub bytes_all: u64,
    /// Length of the steady part, nanoseconds.
    pub duration_ns: u64,
    /// Length of the warm-up that was cut off, nanoseconds.
    pub warmup_ns: u64,
    /// Load times service time: mean number of requests in the device.
    #[serde(with = "stats::undefined")]
    pub effective_depth: f64,
    /// Maximum number of requests that the driver can hold.
    pub nominal_depth: u32,
    /// System calls to submit or to wait; absent where not applicable.
    pub kernel_entries: Option<u64>,
    /// The load generator's own overhead, on real storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<Generator>,
    /// What the trial was long enough to detect; absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// Whether the required precision and steady state were reached.
    pub verdict: Verdict,
    /// Trend of the response time over the steady part.
    pub drift: Drift,
    /// Whether the trial is steady by the SNIA's rule.
    pub snia_steady: Option<bool>,
    /// Start, as RFC 3339 text in UTC; absent for models, which have no wall-clock time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// Activity by interval: always for users, otherwise on request. Its transactions are the
    /// operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SystemSeries>,
    /// Response times by interval, in check-ups and trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
    /// Theory for the same load, if the model has a law.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<Law>,
    /// Wait and service time, on a simulated queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerTimes>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// Time series behind the intervals of response time and load; not archived.
    #[serde(skip)]
    pub window: Option<Window>,
    /// Time series behind the intervals of service time and load; not archived.
    #[serde(skip)]
    pub service_window: Option<Window>,
    /// The percentiles of the goal, of response and service time; not archived.
    #[serde(skip)]
    pub tails: Option<Tails>,
    /// Percentiles of the service time however few samples they rest on, to pool trials; not
    /// archived.
    #[serde(skip)]
    pub service_quantiles: Vec<PercentileEstimate>,
}

impl Measurement {
    /// Name of the io_uring driver whose requests were executed by kernel threads.
    pub const BY_KERNEL_THREADS: &str = "io_uring-async";

    /// The I/O engine, in words.
    pub fn engine_in_words(&self) -> &str {
        match self.driver.as_str() {
            "threads" => "blocking threads",
            Self::BY_KERNEL_THREADS => "the kernel's threads of io_uring",
            driver => driver,
        }
    }

    /// Its short name, if it is not the usual engine.
    pub fn unusual_engine(&self) -> Option<&str> {
        let is_unusual = self.generator.as_ref()?.engine_because.is_some();
        is_unusual.then_some(&*self.driver)
    }

    /// An empty trial of one client, for `..Measurement::empty()` after the measured fields.
    pub fn empty() -> Self {
        let nothing = Estimate::exact(f64::NAN, 0.0).without_interval();
        let times = Times {
            mean: nothing,
            percentiles: Vec::new(),
            min_ns: 0,
            max_ns: 0,
        };
        Self {
            is_for_goal: false,
            name: String::new(),
            title: String::new(),
            work: Work::Operation,
            workload: None,
            clients: 1,
            workers: 1,
            access: Access::Buffered,
            driver: String::new(),
            seed: 0,
            offered: None,
            response: times.clone(),
            service: times,
            throughput: nothing,
            bandwidth: None,
            lateness: Lateness::default(),
            kinds: Vec::new(),
            errors: Vec::new(),
            short: 0,
            unfinished: None,
            room: None,
            cpu: None,
            page_cache_share: None,
            counters: None,
            completions: 0,
            completions_all: 0,
            bytes_all: 0,
            duration_ns: 0,
            warmup_ns: 0,
            effective_depth: f64::NAN,
            nominal_depth: 1,
            kernel_entries: None,
            generator: None,
            resolution: None,
            verdict: Verdict::Budget { is_citable: false },
            drift: Drift {
                total: 0.0,
                standard_error: 0.0,
                bound: f64::INFINITY,
                verdict: DriftVerdict::Undecided,
            },
            snia_steady: None,
            warnings: Vec::new(),
            window: None,
            service_window: None,
            tails: None,
            started_at: None,
            series: None,
            intervals: Vec::new(),
            law: None,
            server: None,
            service_quantiles: Vec::new(),
        }
    }

    /// Whether every condition of the stopping rule was met.
    pub const fn is_converged(&self) -> bool {
        matches!(self.verdict, Verdict::Converged)
    }

    /// The law of random writes to flash, if it applies.
    pub const fn steady_law(&self) -> Option<&SteadyLaw> {
        match &self.law {
            Some(Law::Steady(law)) => Some(law),
            _ => None,
        }
    }

    /// Whether the offered load exceeded the achieved one. Latency then depends on the length of
    /// the trial.
    pub fn is_overloaded(&self) -> bool {
        let mut warnings = self.warnings.iter();
        warnings.any(|it| it.code == WarningCode::LoadNotSustained)
    }

    /// Whether there were operations and all of them failed.
    pub fn is_all_failed(&self) -> bool {
        self.completions_all == 0 && self.errors_total() > 0
    }

    /// Failed operations of all kinds.
    pub fn errors_total(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}
