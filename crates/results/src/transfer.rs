//! Transfer rates: passes over files and devices, from their first byte to their last.

use serde::{Deserialize, Serialize};
use stats::{Estimate, repeats_mean};

use crate::rank_share::RankShare;
use crate::warning::Warning;

units::words! {
    /// How passes reach their data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TransferMode {
        /// Past the page cache.
        Direct = "direct",
        /// Through the page cache, which keeps what earlier passes left in it.
        Buffered = "buffered",
        /// Through the page cache, which is dropped before each pass.
        Cold = "cold",
        /// Through the page cache, over growing parts of the file.
        SmallFile = "small-file",
        /// On a model, in virtual time.
        Simulated = "simulated",
    }
}

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferKind {
    /// Writes.
    Write,
    Read,
}

/// One stream in one pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamPass {
    /// Number of the stream, from 1.
    pub stream: u32,
    /// Bytes moved.
    pub bytes: u64,
    /// Time taken, nanoseconds.
    pub elapsed_ns: u64,
    /// Bytes per second over the whole pass.
    #[serde(with = "stats::undefined")]
    pub rate: f64,
    /// Bytes per second within the pass, with the interval of its time slots; absent when the pass
    /// is too short for one.
    pub within: Option<Estimate>,
}

/// What the blocks of a pass took, from issue to completion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockTimes {
    /// How many there were.
    pub count: u64,
    /// Their mean, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub mean_ns: f64,
    /// What 99 % of them did not exceed, nanoseconds; absent where ranks of several hosts know only
    /// their own.
    pub p99_ns: Option<u64>,
}

impl BlockTimes {
    /// Of two parts of a pass together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let count = self.count + other.count;
        let sum = self.mean_ns * self.count as f64 + other.mean_ns * other.count as f64;
        Self {
            count,
            mean_ns: sum / count.max(1) as f64,
            p99_ns: None,
        }
    }
}

/// One pass of all streams together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferPass {
    /// Number of the pass, from 1.
    pub number: u32,
    /// Bytes moved by all streams.
    pub bytes: u64,
    /// Time of the longest stream, nanoseconds.
    pub elapsed_ns: u64,
    /// Bytes per second of all streams.
    #[serde(with = "stats::undefined")]
    pub rate: f64,
    /// Share of the time in which all streams were under way.
    #[serde(with = "stats::undefined")]
    pub overlap_share: f64,
    /// Each stream; empty where only their sum is known.
    pub streams: Vec<StreamPass>,
    /// What its blocks took; absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockTimes>,
    /// CPU time of this process, nanoseconds; in virtual time, that of the model's host, if it has
    /// one.
    pub cpu_ns: Option<u64>,
    /// Its part in the program, in steps of one clock tick.
    pub cpu_user_ns: Option<u64>,
    /// Its part in the kernel, in steps of one clock tick.
    pub cpu_system_ns: Option<u64>,
    /// Share of the bytes that the page cache answered, as counted by the kernel.
    pub page_cache_share: Option<f64>,
    /// Bytes per second that the device moved meanwhile, whoever asked for them.
    pub device_rate: Option<f64>,
    /// When it ended, RFC 3339, UTC; absent in virtual time.
    pub ended_at: Option<String>,
    /// When it ended on the host's monotonic clock, nanoseconds; virtual time on a model.
    pub ended_monotonic_ns: u64,
}

/// Passes with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferSeries {
    /// What is done, in words.
    pub title: String,
    /// What a pass does.
    pub kind: TransferKind,
    /// How it reaches its data.
    pub mode: TransferMode,
    /// Bytes of one operation.
    pub block_bytes: u64,
    /// Bytes of one pass of one stream.
    pub size_bytes: u64,
    /// Numbers of the streams that take part.
    pub streams: Vec<u32>,
    /// The passes, in their order.
    pub passes: Vec<TransferPass>,
    /// Bytes per second of all streams over the passes, with an interval from their variation; that
    /// of one pass has the interval within it, if there is one.
    pub rate: Estimate,
    /// Each stream's rate over the passes, in the order of the numbers.
    pub stream_rates: Vec<Estimate>,
    /// Whether the interval is as narrow as was asked for.
    pub is_precise: bool,
    /// Doubts about this series.
    pub warnings: Vec<Warning>,
}

impl TransferSeries {
    /// Blocks per second.
    #[must_use]
    pub fn iops(&self) -> Estimate {
        self.rate.scale(1.0 / self.block_bytes.max(1) as f64)
    }

    /// Mean time of a block, nanoseconds, with an interval from the variation between passes.
    #[must_use]
    pub fn block_mean(&self) -> Option<Estimate> {
        self.over_passes(|it| Some(it.mean_ns))
    }

    /// Mean over the passes of the 99th percentile of the times of blocks, nanoseconds.
    #[must_use]
    pub fn block_p99(&self) -> Option<Estimate> {
        self.over_passes(|it| it.p99_ns.map(|ns| ns as f64))
    }

    /// How many blocks were moved, where that is known.
    #[must_use]
    pub fn blocks(&self) -> Option<u64> {
        let counts = self.passes.iter().map(|pass| Some(pass.blocks?.count));
        counts.sum()
    }

    fn over_passes(&self, of: fn(&BlockTimes) -> Option<f64>) -> Option<Estimate> {
        let values = self.passes.iter().map(|pass| of(&pass.blocks?));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let alone = || {
            let one = *values.first()?;
            Some(Estimate::exact(one, 1.0).without_interval())
        };
        repeats_mean(&values).or_else(alone)
    }
}

/// What is moved, by its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferStream {
    /// From 1.
    pub number: u32,
    /// The target as it was named.
    pub target: String,
    /// The device whose work is counted.
    pub device: Option<String>,
    /// The rank that moves it, with its host, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// A stream alone against the same stream together with the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AloneTogether {
    /// Number of the stream; null: the sum of all.
    pub stream: Option<u32>,
    /// Bytes of one operation.
    pub block_bytes: u64,
    /// Bytes per second alone; of the sum, the sum of the streams alone.
    pub alone: Estimate,
    /// Bytes per second together.
    pub together: Estimate,
    /// Together over alone.
    pub ratio: Estimate,
}

/// What `seekstone transfer` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The host that the passes ran on.
    pub host_name: String,
    /// Relative half-width asked for; absent when a number of passes was.
    pub precision: Option<f64>,
    /// Number of read passes asked for; absent when a precision was.
    pub passes: Option<u32>,
    /// What of each block was checked when it was read: `none`, `last`, `block`.
    pub check: String,
    pub streams: Vec<TransferStream>,
    /// Series in the order of measuring.
    pub series: Vec<TransferSeries>,
    /// Each stream alone against together.
    pub comparisons: Vec<AloneTogether>,
    /// Largest part of the file that came from memory when it was read again, bytes; absent
    /// unless growing parts were read.
    pub memory_up_to_bytes: Option<u64>,
    /// What each rank did, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankShare>,
}
