//! Steady state of an SSD: rounds of a test, and what two rules say of them.

use serde::{Deserialize, Serialize};
use stats::{DriftVerdict, Estimate};

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
    }
}

/// What one load of a round does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SsdLoad {
    /// Bytes of one operation.
    pub block_bytes: u64,
    /// Share of reads, percent.
    pub read_percent: u32,
    /// Where operations go.
    pub pattern: SsdPattern,
    /// Operations outstanding all the time.
    pub depth: u32,
}

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

/// What became of a test of the standard, or of one of its block sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdPhase {
    /// `wsat`, `iops`, `lat`, `tp-128k`, `tp-1m`.
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
    /// Each load over the rounds of the result.
    pub cells: Vec<SsdCell>,
    /// What a model's law says of the tracked load.
    pub law: Option<SteadyLaw>,
    /// Doubts about this test.
    pub warnings: Vec<Warning>,
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
    /// The tests, in their order.
    pub phases: Vec<SsdPhase>,
}

impl SsdPhase {
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
