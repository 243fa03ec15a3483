//! What this program itself had and did during a trial: how much of a number may be its own.

use serde::{Deserialize, Serialize};

/// The program's own part in a trial on real storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// Memory for transfers, bytes, over all workers.
    pub buffer_bytes: u64,
    /// Share of it, 0 to 1, that lay in huge pages; absent where the kernel does not tell.
    pub huge_page_share: Option<f64>,
    /// Requests that a worker handed over together at most.
    pub batch: u32,
    /// Processors that the workers were bound to, in turn; empty where the scheduler chose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processors: Vec<usize>,
    /// Mean length, nanoseconds, of the entries into the kernel that only handed requests over:
    /// the last operation of a batch may have begun so much later than its stamp says. Absent where
    /// there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_mean_ns: Option<f64>,
    /// Length of the longest of them, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_longest_ns: Option<u64>,
    /// Why the I/O engine is not the usual one; absent where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_because: Option<String>,
    /// Share of the trial, 0 to 1, that the busiest worker was at work or waited for a processor;
    /// waiting awake is no work. Near 1, that one thread is the limit. Absent in runs of earlier
    /// versions, as the next three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_worker: Option<f64>,
    /// Share of the trial, 0 to 1, that the busiest worker waited for a processor; 0 where the
    /// kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_wait: Option<f64>,
    /// As the busiest worker's, the mean of all workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers_busy: Option<f64>,
    /// Time, nanoseconds, that all workers waited awake for the next deadline: processor time that
    /// buys punctuality, and is no cost of an operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awake_ns: Option<u64>,
    /// Whether the workers asked the device over and over whether it was done, rather than let it
    /// interrupt them. `awake_ns` then holds the asking that found nothing.
    #[serde(default)]
    pub polls: bool,
}

/// Operations that waited for room, since as many as this program lets be outstanding were.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoomWait {
    /// How many waited.
    pub count: u64,
    /// Share, 0 to 1, of the sum of all response times that was such a wait.
    #[serde(with = "stats::undefined")]
    pub share: f64,
    /// Mean service time of those that waited over that of those that found room; absent where one
    /// of them has too few. Near 1: the storage was not slower when it had all that may be
    /// outstanding, so the limit was this program's.
    pub service_ratio: Option<f64>,
}
