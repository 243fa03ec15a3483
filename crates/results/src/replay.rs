//! Results of a trace replay.

use serde::{Deserialize, Serialize};

/// When requests of a replay are due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "pace")]
pub enum ReplayPace {
    /// At the recorded times, divided by a factor.
    Recorded {
        /// Speed relative to the recording.
        #[serde(with = "stats::undefined")]
        scale: f64,
    },
    /// As fast as possible at a fixed depth.
    Fast {
        /// Requests outstanding.
        depth: u32,
    },
}

/// Delay relative to the trace: from due to issued, over all requests. Includes the wait for slow
/// storage and the generator's own lateness.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayLag {
    /// Mean, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub mean_ns: f64,
    /// Median, nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile, nanoseconds.
    pub p99_ns: u64,
    /// Maximum, nanoseconds.
    pub longest_ns: u64,
    /// Share of requests more than [`ReplayLag::LATE_NS`] behind, 0 to 1.
    #[serde(with = "stats::undefined")]
    pub late_share: f64,
}

impl ReplayLag {
    /// A request further behind than this counts as late, nanoseconds.
    pub const LATE_NS: u64 = 1_000_000;
}

/// A trace and its replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The trace's format, with its version.
    pub format: String,
    /// When requests were due.
    #[serde(flatten)]
    pub pace: ReplayPace,
    /// Files or devices in the trace. Each is mapped to its own part of the target.
    pub files: u32,
    /// Bytes of the target that the trace needs.
    pub extent_bytes: u64,
    /// Requests of the trace in this replay, flushes included.
    pub recorded: u64,
    /// Requests executed, failed ones included.
    pub requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Requests moved to another offset to fit the target.
    pub moved: u64,
    /// Requests skipped: they did not fit, or their kind is not replayed.
    pub left_out: u64,
    /// From the first due time to the last, nanoseconds; zero without a schedule.
    pub length_ns: u64,
    /// From the first due time to the last issue, nanoseconds.
    pub took_ns: u64,
    /// Delay relative to the schedule; absent without a schedule.
    pub behind: Option<ReplayLag>,
    /// How the trace was divided among ranks, if there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealt: Option<ReplayDeal>,
    /// Results by rank, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<ReplayHost>,
}

/// How a trace is divided among ranks, in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayDeal {
    /// By file or device, each with all its requests.
    Files,
    Requests,
}

/// Results of one rank in a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayHost {
    pub rank: u32,
    pub host: String,
    /// Requests executed, failed ones included.
    pub requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// From the common start to its last issue, by its own clock, nanoseconds.
    pub took_ns: u64,
    /// Delay relative to the schedule; absent without one, and if the rank had no requests.
    pub behind: Option<ReplayLag>,
}

impl Replay {
    /// Excess of the replay's duration over the schedule, as a share of its length; `None` without
    /// a schedule.
    pub fn stretch(&self) -> Option<f64> {
        let has_schedule = self.behind.is_some() && self.length_ns > 0;
        has_schedule.then(|| self.took_ns as f64 / self.length_ns as f64 - 1.0)
    }
}
