//! Transfer rates: passes over files and devices from the first byte to the last.

use serde::{Deserialize, Serialize};
use stats::{Estimate, repeats_mean};

use crate::rank_share::RankShare;
use crate::warning::Warning;

units::words! {
    /// How passes access their data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TransferMode {
        /// Direct, bypassing the page cache.
        Direct = "direct",
        /// Through the page cache, as earlier passes left it.
        Buffered = "buffered",
        /// Through the page cache, dropped before each pass.
        Cold = "cold",
        /// Through the page cache, over growing parts of the file.
        SmallFile = "small-file",
        /// On a model, in virtual time.
        Simulated = "simulated",
    }
}

/// Direction of a pass.
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
    /// Bytes per second within the pass, with an interval from its time slots; absent if the pass
    /// is too short.
    pub within: Option<Estimate>,
}

/// Times of the blocks of a pass, from issue to completion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockTimes {
    /// Number of blocks.
    pub count: u64,
    /// Their mean, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub mean_ns: f64,
    /// 99th percentile, nanoseconds; absent if the ranks of several hosts know only their own.
    pub p99_ns: Option<u64>,
}

impl BlockTimes {
    /// Combines two parts of a pass.
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
    /// Time of the slowest stream, nanoseconds.
    pub elapsed_ns: u64,
    /// Bytes per second of all streams.
    #[serde(with = "stats::undefined")]
    pub rate: f64,
    /// Share of the time in which all streams were active.
    #[serde(with = "stats::undefined")]
    pub overlap_share: f64,
    /// Each stream; empty where only their sum is known.
    pub streams: Vec<StreamPass>,
    /// Times of its blocks; absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockTimes>,
    /// CPU time of this process, nanoseconds; in virtual time, of the model's host, if it has one.
    pub cpu_ns: Option<u64>,
    /// User CPU time, with a resolution of one clock tick.
    pub cpu_user_ns: Option<u64>,
    /// System CPU time, with a resolution of one clock tick.
    pub cpu_system_ns: Option<u64>,
    /// Share of the bytes served from the page cache, as counted by the kernel.
    pub page_cache_share: Option<f64>,
    /// Bytes per second moved by the device, from all processes.
    pub device_rate: Option<f64>,
    /// End, RFC 3339, UTC; absent in virtual time.
    pub ended_at: Option<String>,
    /// End on the host's monotonic clock, nanoseconds; virtual time on a model.
    pub ended_monotonic_ns: u64,
}

/// Passes with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferSeries {
    /// What is done, in words.
    pub title: String,
    /// Direction.
    pub kind: TransferKind,
    /// How passes access their data.
    pub mode: TransferMode,
    /// Block size, bytes.
    pub block_bytes: u64,
    /// Bytes of one pass of one stream.
    pub size_bytes: u64,
    /// Numbers of the participating streams.
    pub streams: Vec<u32>,
    /// The passes, in order.
    pub passes: Vec<TransferPass>,
    /// Bytes per second of all streams over the passes, with an interval from their variation; for
    /// a single pass, the interval within it, if there is one.
    pub rate: Estimate,
    /// Rate of each stream over the passes, in the order of the numbers.
    pub stream_rates: Vec<Estimate>,
    /// Whether the interval is as narrow as requested.
    pub is_precise: bool,
    /// Warnings about this series.
    pub warnings: Vec<Warning>,
}

impl TransferSeries {
    /// Blocks per second.
    pub fn iops(&self) -> Estimate {
        self.rate.scale(1.0 / self.block_bytes.max(1) as f64)
    }

    /// Mean time of a block, nanoseconds, with an interval from the variation between passes.
    pub fn block_mean(&self) -> Option<Estimate> {
        self.over_passes(|it| Some(it.mean_ns))
    }

    /// 99th percentile of block times, nanoseconds: the mean over the passes.
    pub fn block_p99(&self) -> Option<Estimate> {
        self.over_passes(|it| it.p99_ns.map(|ns| ns as f64))
    }

    /// Number of blocks, if known.
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

/// A stream, by its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferStream {
    /// From 1.
    pub number: u32,
    /// The target as typed.
    pub target: String,
    /// The device whose activity is counted.
    pub device: Option<String>,
    /// The rank that moves it, with its host, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// A stream alone compared with the same stream running together with the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AloneTogether {
    /// Number of the stream; null for the sum of all.
    pub stream: Option<u32>,
    /// Block size, bytes.
    pub block_bytes: u64,
    /// Bytes per second alone; for the sum, the sum over the streams alone.
    pub alone: Estimate,
    /// Bytes per second together.
    pub together: Estimate,
    /// Together over alone.
    pub ratio: Estimate,
}

/// Result of `seekstone transfer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Host name.
    pub host_name: String,
    /// Requested relative half-width; absent if a number of passes was requested.
    pub precision: Option<f64>,
    /// Requested number of read passes; absent if a precision was requested.
    pub passes: Option<u32>,
    /// Verified part of each block: `none`, `last`, `block`.
    pub check: String,
    pub streams: Vec<TransferStream>,
    /// The series, in order of measurement.
    pub series: Vec<TransferSeries>,
    /// Each stream alone compared with together.
    pub comparisons: Vec<AloneTogether>,
    /// Largest part of the file that was served from memory when read again, bytes; absent unless
    /// growing parts were read.
    pub memory_up_to_bytes: Option<u64>,
    /// Results by rank, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankShare>,
}
