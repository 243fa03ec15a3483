//! SSD steady state: rounds of a test, and what two rules conclude from them.

use serde::{Deserialize, Serialize};
use stats::{DriftVerdict, Estimate};

use crate::measurement::Times;
use crate::series::SteadyLaw;
use crate::warning::Warning;

units::words! {
    /// The figure that a test tracks from round to round.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Tracked {
        /// Operations per second.
        Iops = "IOPS",
        /// Mean response time.
        Latency = "mean latency",
        /// Bytes per second.
        Throughput = "throughput",
    }
}

units::words! {
    /// Access pattern of a load.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SsdPattern {
        /// Every block is equally likely.
        Random = "random",
        /// Sequential blocks.
        Sequential = "sequential",
        /// Many sizes, half of them to 5 % of the blocks, as in the composite workload of SSS PTS.
        Composite = "composite",
    }
}

/// Block sizes of the composite workload of SSS PTS 2.0, in bytes, with their shares in percent.
pub const COMPOSITE_SIZES: [(u32, u32); 12] = [
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4096, 67),
    (8192, 10),
    (16_384, 7),
    (32_768, 3),
    (65_536, 3),
];

/// One load of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SsdLoad {
    /// Block size in bytes; of a composite load the common divisor of all sizes.
    pub block_bytes: u64,
    /// Share of reads, percent.
    pub read_percent: u32,
    /// Where operations go.
    pub pattern: SsdPattern,
    /// Operations outstanding all the time.
    pub depth: u32,
}

impl SsdLoad {
    /// Sizes of its operations, bytes, with their weights.
    pub fn sizes(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let block = self.block_bytes as u32;
        let one = (self.pattern != SsdPattern::Composite).then_some((block, 1));
        let many = COMPOSITE_SIZES.into_iter();
        let many = many.filter(move |(len, _)| one.is_none() && len.is_multiple_of(block));
        one.into_iter().chain(many)
    }

    /// Mean bytes per operation.
    pub fn mean_bytes(&self) -> f64 {
        let weighted = self
            .sizes()
            .map(|(len, weight)| f64::from(len) * f64::from(weight));
        let weights: u32 = self.sizes().map(|(_, weight)| weight).sum();
        weighted.sum::<f64>() / f64::from(weights.max(1))
    }

    /// Bytes of its largest operation.
    pub fn largest(&self) -> u64 {
        self.sizes()
            .map(|(len, _)| u64::from(len))
            .max()
            .unwrap_or(0)
    }
}

/// Shares from here on count as the full time of the standard: scaled times are rounded to
/// nanoseconds.
const WHOLE: f64 = 0.999;

/// Five rounds judged by the rules of SSS PTS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PtsWindow {
    /// The first of its rounds, from 1.
    pub first_round: u32,
    /// The last of them.
    pub last_round: u32,
    /// Mean of the tracked figure: per second, nanoseconds, or bytes per second.
    #[serde(with = "stats::undefined")]
    pub mean: f64,
    /// (largest - smallest) / mean.
    #[serde(with = "stats::undefined")]
    pub range: f64,
    /// Rise of the least-squares line from the first to the last round, divided by the mean.
    #[serde(with = "stats::undefined")]
    pub excursion: f64,
    /// Whether the range is at most 20 % and the line changes by at most 10 % either way.
    pub is_met: bool,
}

/// Trend over the last half of the rounds, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTrend {
    /// The first of its rounds, from 1. The last is the round that holds this trend.
    pub first_round: u32,
    /// Mean of the tracked figure over these rounds.
    pub mean: Estimate,
    /// Change of the least-squares line from the first to the last round, divided by the mean.
    #[serde(with = "stats::undefined")]
    pub total: f64,
    /// Standard error of `total`, adjusted for correlation between rounds.
    #[serde(with = "stats::undefined")]
    pub standard_error: f64,
    /// One-sided 95 % upper bound of the change.
    #[serde(with = "stats::unbounded")]
    pub bound: f64,
    /// Steady: a change larger than the limit is excluded. Drifting: a change is significant and
    /// not small. Undecided: too few or too noisy rounds, or too little written.
    pub verdict: DriftVerdict,
}

/// One round of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdRound {
    /// From 1.
    pub number: u32,
    /// End, nanoseconds from the start of the first round.
    pub end_ns: u64,
    /// Bytes written so far: fill, preconditioning and all rounds.
    pub written_bytes: u64,
    /// The tracked figure: per second, nanoseconds, or bytes per second.
    pub tracked: Estimate,
    /// The window of SSS PTS, from the first complete one on.
    pub pts: Option<PtsWindow>,
    /// The trend, from round eight on.
    pub trend: Option<RoundTrend>,
}

/// One load in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdCellRound {
    /// Number of the round, from 1.
    pub number: u32,
    /// Operations per second.
    pub iops: Estimate,
    /// Mean response time, nanoseconds.
    pub latency_ns: Estimate,
}

/// One load over the rounds of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdCell {
    /// The load.
    pub load: SsdLoad,
    /// Operations per second: mean of the rounds.
    pub iops: Estimate,
    /// Mean response time, nanoseconds.
    pub latency_ns: Estimate,
    /// 99th percentile of the response time, nanoseconds: mean of the rounds that have enough
    /// samples.
    pub p99_ns: Option<Estimate>,
    /// 99.9th percentile, likewise.
    pub p999_ns: Option<Estimate>,
    /// The longest response time of all rounds of the result, nanoseconds.
    pub max_ns: u64,
    /// Failed operations in all rounds.
    pub errors: u64,
    /// The rounds of the result.
    pub rounds: Vec<SsdCellRound>,
}

/// One burst of a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdBurst {
    /// End, nanoseconds from the start of the segments of its test.
    pub end_ns: u64,
    /// Operations per second.
    pub iops: Estimate,
    /// Response times.
    pub times: Times,
    /// Failed operations.
    pub errors: u64,
}

/// One load in bursts, after the rounds of a test or instead of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdSegment {
    /// Name, such as `wait 5 s`.
    pub name: String,
    /// The load of each burst.
    pub load: SsdLoad,
    /// Length of a burst, nanoseconds.
    pub burst_ns: u64,
    /// Pause before each burst, nanoseconds.
    pub pause_ns: u64,
    /// Total length of the bursts in the standard, nanoseconds.
    pub standard_ns: u64,
    /// The measured bursts, at least one.
    pub bursts: Vec<SsdBurst>,
}

impl SsdSegment {
    /// Total length of its bursts relative to the standard.
    pub fn share_of_standard(&self) -> f64 {
        let done = self.burst_ns * self.bursts.len() as u64;
        done as f64 / self.standard_ns.max(1) as f64
    }

    /// Operations per second: the mean of the bursts.
    pub fn iops(&self) -> Option<Estimate> {
        let all: Vec<f64> = self.bursts.iter().map(|it| it.iops.value).collect();
        stats::repeats_mean(&all).or(self.bursts.last().map(|it| it.iops))
    }
}

/// Result of a test of the standard, or of one of its block sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdPhase {
    /// `wsat`, `iops`, `lat`, `tp-128k`, `tp-1m`, `hir`, `xsr`, `cbw`, `dirth`.
    pub name: String,
    /// What it measures, in words.
    pub title: String,
    /// The tracked figure.
    pub tracked: Tracked,
    /// The tracked load.
    pub tracked_load: SsdLoad,
    /// Distance between rounds of an SSS PTS window.
    pub stride: u32,
    /// How the device was purged before.
    pub purge: Option<PurgeRecord>,
    /// Bytes written before the first round.
    pub precondition_bytes: u64,
    /// Rate of preconditioning, bytes per second.
    pub precondition_rate: Option<Estimate>,
    pub rounds: Vec<SsdRound>,
    /// The first round at which our verdict is steady.
    pub steady_round: Option<u32>,
    /// The first round at which SSS PTS is met.
    pub pts_round: Option<u32>,
    /// Health of the drive before and after, if it reports it.
    #[serde(default)]
    pub health: [Option<DeviceHealth>; 2],
    /// All loads over the rounds of the result.
    pub cells: Vec<SsdCell>,
    /// Segments after the rounds.
    #[serde(default)]
    pub segments: Vec<SsdSegment>,
    /// The prediction of a model's law for the tracked load.
    pub law: Option<SteadyLaw>,
    /// Warnings about this test.
    pub warnings: Vec<Warning>,
}

/// Health data that a drive reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceHealth {
    /// Its temperature, degrees Celsius.
    pub celsius: Option<f64>,
    /// Share of the rated writes that is used up, 0 to 1 or more.
    pub wear: Option<f64>,
}

/// A purge, verified by reading back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeRecord {
    /// `discard` or `punch`.
    pub method: String,
    /// How long it took, nanoseconds.
    pub took_ns: u64,
    /// Blocks of 4 KiB that were read back.
    pub sampled: u32,
    /// How many of them were all zeroes.
    pub zero: u32,
}

/// Result of `seekstone ssd`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdTests {
    /// Bytes of the device or file, or of the used part.
    pub size_bytes: u64,
    /// Whether rounds ended when precise, instead of by the timing of the standard.
    pub is_quick: bool,
    /// Maximum time of a load in a round, nanoseconds.
    pub round_ns: u64,
    /// Largest change over the rounds of the result that counts as steady.
    #[serde(with = "stats::undefined")]
    pub trend_limit: f64,
    /// Volatile write cache of the drive: as the kernel reports it, or that it was switched off.
    pub write_cache: Option<String>,
    /// The tests, in order.
    pub phases: Vec<SsdPhase>,
}

impl SsdPhase {
    /// The smallest share of the standard's time that a segment had, if less than all.
    pub fn share_of_standard(&self) -> Option<f64> {
        let shares = self.segments.iter().map(SsdSegment::share_of_standard);
        shares.reduce(f64::min).filter(|it| *it < WHOLE)
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty() && self.segments.is_empty()
    }

    /// IOPS of the tracked load in the rounds of the result.
    pub fn steady_iops(&self) -> Option<Estimate> {
        let cell = self.cells.iter().find(|it| it.load == self.tracked_load);
        cell.map(|it| it.iops)
    }

    /// The final verdict.
    pub fn verdict(&self) -> DriftVerdict {
        let last = self.rounds.last().and_then(|round| round.trend);
        match last {
            Some(_) if self.steady_round.is_some() => DriftVerdict::Steady,
            Some(RoundTrend {
                verdict: DriftVerdict::Drifting,
                ..
            }) => DriftVerdict::Drifting,
            _ => DriftVerdict::Undecided,
        }
    }

    /// The final trend.
    pub fn trend(&self) -> Option<&RoundTrend> {
        self.rounds.last()?.trend.as_ref()
    }

    /// The first window that meets SSS PTS, or the last one.
    pub fn pts_window(&self) -> Option<&PtsWindow> {
        let mut windows = self.rounds.iter().filter_map(|round| round.pts.as_ref());
        let met = windows.clone().find(|window| window.is_met);
        met.or_else(|| windows.next_back())
    }
}
