//! A recorded trace that was replayed.

use serde::{Deserialize, Serialize};

/// When requests of a replay are due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "pace")]
pub enum ReplayPace {
    /// At the recorded instants, divided by a factor.
    Recorded {
        /// How much faster than recorded.
        #[serde(with = "stats::undefined")]
        scale: f64,
    },
    /// Each as soon as one of so many outstanding is done.
    Fast {
        /// Requests outstanding.
        depth: u32,
    },
}

/// How far requests were behind the trace: from when one was due to when it was issued, over every
/// request. The wait for a slow storage is in it, as is the program's own lateness.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayLag {
    /// Mean, nanoseconds.
    #[serde(with = "stats::undefined")]
    pub mean_ns: f64,
    /// Median, nanoseconds.
    pub p50_ns: u64,
    /// 99 of 100 were no further behind, nanoseconds.
    pub p99_ns: u64,
    /// The furthest behind, nanoseconds.
    pub longest_ns: u64,
    /// The share that was more than [`ReplayLag::LATE_NS`] behind, 0 to 1.
    #[serde(with = "stats::undefined")]
    pub late_share: f64,
}

impl ReplayLag {
    /// A request that is further behind than this counts as late, nanoseconds.
    pub const LATE_NS: u64 = 1_000_000;
}

/// A trace, and how it was replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The trace's format, with its version.
    pub format: String,
    /// When requests were due.
    #[serde(flatten)]
    pub pace: ReplayPace,
    /// Files or devices that the trace names, each in a part of the target of its own.
    pub files: u32,
    /// Bytes of the target that the trace asks for.
    pub extent_bytes: u64,
    /// Requests that the trace has for this replay, flushes included.
    pub recorded: u64,
    /// Requests that were done, failed ones included.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Requests whose offset was changed so that they fit.
    pub moved: u64,
    /// Requests that were left out: they did not fit, or are of a kind that is not replayed.
    pub left_out: u64,
    /// From the first request's due instant to the last one's, nanoseconds; zero where there is no
    /// schedule.
    pub length_ns: u64,
    /// From when the first was due to when the last was issued, nanoseconds.
    pub took_ns: u64,
    /// How far behind the schedule requests were; absent where there is none.
    pub behind: Option<ReplayLag>,
    /// What was dealt to the ranks, where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealt: Option<ReplayDeal>,
    /// What each rank did, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<ReplayHost>,
}

/// What of a trace was dealt to ranks in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayDeal {
    /// Its files or devices, each with all of its requests.
    Files,
    Requests,
}

/// What one rank did of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayHost {
    pub rank: u32,
    pub host: String,
    /// Requests that were done, failed ones included.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// From the common start to its last issue, by its own clock, nanoseconds.
    pub took_ns: u64,
    /// How far behind the schedule its requests were; absent where there is none, and where it had
    /// none of them.
    pub behind: Option<ReplayLag>,
}

impl Replay {
    /// By how much the replay took longer than it should, as a share of its length; `None` where
    /// there is no schedule.
    #[must_use]
    pub fn stretch(&self) -> Option<f64> {
        let has_schedule = self.behind.is_some() && self.length_ns > 0;
        has_schedule.then(|| self.took_ns as f64 / self.length_ns as f64 - 1.0)
    }
}
