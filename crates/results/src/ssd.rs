//! Steady state of an SSD: rounds of a test, and what two rules say of them.

use serde::{Deserialize, Serialize};
use stats::{DriftVerdict, Estimate};

use crate::measurement::Times;
use crate::series::SteadyLaw;
use crate::warning::Warning;

units::words! {
    /// The figure that a test follows from round to round.
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
    /// Where the operations of a load go.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SsdPattern {
        /// Every block is equally likely.
        Random = "random",
        /// One block after the other.
        Sequential = "sequential",
        /// Many sizes, half of them in a twentieth of the blocks, as in the composite workload of
        /// SSS PTS.
        Composite = "composite",
    }
}

/// Sizes of the composite workload of SSS PTS 2.0, bytes, with their shares, percent.
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

/// What one load of a round does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SsdLoad {
    /// Bytes of one operation; of a composite load those of which all sizes are multiples.
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

    /// Bytes of an operation on average.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        let weighted = self
            .sizes()
            .map(|(len, weight)| f64::from(len) * f64::from(weight));
        let weights: u32 = self.sizes().map(|(_, weight)| weight).sum();
        weighted.sum::<f64>() / f64::from(weights.max(1))
    }

    /// Bytes of its largest operation.
    #[must_use]
    pub fn largest(&self) -> u64 {
        self.sizes()
            .map(|(len, _)| u64::from(len))
            .max()
            .unwrap_or(0)
    }
}

/// From this share on the time is all of the standard's: whole nanoseconds are scaled.
const WHOLE: f64 = 0.999;

/// What the letter of SSS PTS says of five rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PtsWindow {
    /// The first of its rounds, from 1.
    pub first_round: u32,
    /// The last of them.
    pub last_round: u32,
    /// Mean of the tracked figure: per second, nanoseconds, or bytes per second.
    #[serde(with = "stats::undefined")]
    pub mean: f64,
    /// Largest less smallest, divided by the mean.
    #[serde(with = "stats::undefined")]
    pub range: f64,
    /// What the least-squares line climbs from the first to the last round, divided by the mean.
    #[serde(with = "stats::undefined")]
    pub excursion: f64,
    /// Whether the range is at most 20 % and the line moves at most 10 % either way.
    pub is_met: bool,
}

/// The trend over the last half of the rounds, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTrend {
    /// The first of its rounds, from 1; the last is the round that it stands with.
    pub first_round: u32,
    /// Mean of the tracked figure over these rounds.
    pub mean: Estimate,
    /// Change of the least-squares line from the first to the last round, divided by the mean.
    #[serde(with = "stats::undefined")]
    pub total: f64,
    /// Standard error of `total`, correlation of the rounds included.
    #[serde(with = "stats::undefined")]
    pub standard_error: f64,
    /// The change is at most this, at the one-sided 95 % level.
    #[serde(with = "stats::unbounded")]
    pub bound: f64,
    /// Steady: a larger change than the limit is excluded. Drifting: a change is certain, and not
    /// small. Undecided: the rounds are too few or too noisy, or too little was written.
    pub verdict: DriftVerdict,
}

/// One round of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdRound {
    /// From 1.
    pub number: u32,
    /// When it ended, nanoseconds from the beginning of the first.
    pub end_ns: u64,
    /// Bytes written by then: those of the fill, of the precondition, and of all rounds.
    pub written_bytes: u64,
    /// The tracked figure: per second, nanoseconds, or bytes per second.
    pub tracked: Estimate,
    /// The letter of SSS PTS, from the first whole window on.
    pub pts: Option<PtsWindow>,
    /// The trend, from eight rounds on.
    pub trend: Option<RoundTrend>,
}

/// What one load gave in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdCellRound {
    /// Number of the round, from 1.
    pub number: u32,
    /// Operations per second.
    pub iops: Estimate,
    /// Mean response time, nanoseconds.
    pub latency_ns: Estimate,
}

/// What one load gave over the rounds that the result is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdCell {
    /// What it does.
    pub load: SsdLoad,
    /// Operations per second: mean of the rounds.
    pub iops: Estimate,
    /// Mean response time, nanoseconds.
    pub latency_ns: Estimate,
    /// 99 % of the response times are below, nanoseconds: mean of the rounds that bear it.
    pub p99_ns: Option<Estimate>,
    /// The same of 99.9 %.
    pub p999_ns: Option<Estimate>,
    /// The longest response time of all rounds of the result, nanoseconds.
    pub max_ns: u64,
    /// Failed operations in all rounds.
    pub errors: u64,
    /// The rounds that the result is of.
    pub rounds: Vec<SsdCellRound>,
}

/// What one burst of a segment gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdBurst {
    /// When it ended, nanoseconds from the beginning of the segments of its test.
    pub end_ns: u64,
    /// Operations per second.
    pub iops: Estimate,
    /// Response times.
    pub times: Times,
    /// Failed operations.
    pub errors: u64,
}

/// One load in bursts, behind the rounds of a test or in their place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdSegment {
    /// What it is called, such as `wait 5 s`.
    pub name: String,
    /// What each burst does.
    pub load: SsdLoad,
    /// How long a burst is, nanoseconds.
    pub burst_ns: u64,
    /// How long nothing is done before each burst, nanoseconds.
    pub pause_ns: u64,
    /// Time of all bursts by the standard, nanoseconds.
    pub standard_ns: u64,
    /// Those that were measured, one at least.
    pub bursts: Vec<SsdBurst>,
}

impl SsdSegment {
    /// Time of its bursts over that of the standard.
    #[must_use]
    pub fn share_of_standard(&self) -> f64 {
        let done = self.burst_ns * self.bursts.len() as u64;
        done as f64 / self.standard_ns.max(1) as f64
    }

    /// Operations per second: the mean of the bursts.
    #[must_use]
    pub fn iops(&self) -> Option<Estimate> {
        let all: Vec<f64> = self.bursts.iter().map(|it| it.iops.value).collect();
        stats::repeats_mean(&all).or(self.bursts.last().map(|it| it.iops))
    }
}

/// What became of a test of the standard, or of one of its block sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdPhase {
    /// `wsat`, `iops`, `lat`, `tp-128k`, `tp-1m`, `hir`, `xsr`, `cbw`, `dirth`.
    pub name: String,
    /// What is done, in words.
    pub title: String,
    /// What is followed from round to round.
    pub tracked: Tracked,
    /// The load that it is a figure of.
    pub tracked_load: SsdLoad,
    /// From one round of a window of SSS PTS to the next.
    pub stride: u32,
    /// What was done to forget earlier writes.
    pub purge: Option<PurgeRecord>,
    /// Bytes written before the first round.
    pub precondition_bytes: u64,
    /// Bytes per second at which they were written.
    pub precondition_rate: Option<Estimate>,
    pub rounds: Vec<SsdRound>,
    /// The round from which on our verdict is steady.
    pub steady_round: Option<u32>,
    /// The first round at which the letter of SSS PTS is met.
    pub pts_round: Option<u32>,
    /// What the drive said of itself before and after, where it did.
    #[serde(default)]
    pub health: [Option<DeviceHealth>; 2],
    /// Each load over the rounds of the result.
    pub cells: Vec<SsdCell>,
    /// What was done behind the rounds.
    #[serde(default)]
    pub segments: Vec<SsdSegment>,
    /// What a model's law says of the tracked load.
    pub law: Option<SteadyLaw>,
    /// Doubts about this test.
    pub warnings: Vec<Warning>,
}

/// What a drive says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceHealth {
    /// Its temperature, degrees Celsius.
    pub celsius: Option<f64>,
    /// Share of the writes that its maker promises that are used, 0 to 1 or more.
    pub wear: Option<f64>,
}

/// A purge, and what reading back found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeRecord {
    /// `discard` or `punch`.
    pub method: String,
    /// How long it took, nanoseconds.
    pub took_ns: u64,
    /// Blocks of 4 KiB that were read back.
    pub sampled: u32,
    /// Those of them that held only zeroes.
    pub zero: u32,
}

/// What `seekstone ssd` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdTests {
    /// Bytes of the device or file, or of the part of it that is used.
    pub size_bytes: u64,
    /// Whether rounds ended on precision: no timing of the standard.
    pub is_quick: bool,
    /// The most time of a load in a round, nanoseconds.
    pub round_ns: u64,
    /// A change over the rounds of the result that counts as none.
    #[serde(with = "stats::undefined")]
    pub trend_limit: f64,
    /// The volatile cache of the drive: what the kernel says of it, or that it was switched off.
    pub write_cache: Option<String>,
    /// The tests, in their order.
    pub phases: Vec<SsdPhase>,
}

impl SsdPhase {
    /// The least share of the time of the standard that a segment had, where that is not all of it.
    #[must_use]
    pub fn share_of_standard(&self) -> Option<f64> {
        let shares = self.segments.iter().map(SsdSegment::share_of_standard);
        shares.reduce(f64::min).filter(|it| *it < WHOLE)
    }

    /// Whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty() && self.segments.is_empty()
    }

    /// Operations per second of the tracked load in the rounds of the result.
    #[must_use]
    pub fn steady_iops(&self) -> Option<Estimate> {
        let cell = self.cells.iter().find(|it| it.load == self.tracked_load);
        cell.map(|it| it.iops)
    }

    /// What our verdict is in the end.
    #[must_use]
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

    /// The trend at the end.
    #[must_use]
    pub fn trend(&self) -> Option<&RoundTrend> {
        self.rounds.last()?.trend.as_ref()
    }

    /// The window in which the letter of SSS PTS is first met, or the last one.
    #[must_use]
    pub fn pts_window(&self) -> Option<&PtsWindow> {
        let mut windows = self.rounds.iter().filter_map(|round| round.pts.as_ref());
        let met = windows.clone().find(|window| window.is_met);
        met.or_else(|| windows.next_back())
    }
}
