//! The load generator's own overhead during a trial: how much of a figure may be Seekstone's own.

use serde::{Deserialize, Serialize};

/// The load generator's share in a trial on real storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// I/O buffers of all workers, bytes.
    pub buffer_bytes: u64,
    /// Share of the buffers in huge pages, 0 to 1; absent if the kernel does not report it.
    pub huge_page_share: Option<f64>,
    /// Largest batch of requests that a worker submitted at once.
    pub batch: u32,
    /// Processors that workers were pinned to, in turn; empty if the scheduler chose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processors: Vec<usize>,
    /// Mean length, nanoseconds, of the entries into the kernel that only handed requests over:
    /// the last operation of a batch may have begun so much later than its stamp says. Absent where
    /// there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_mean_ns: Option<f64>,
    /// The longest of these calls, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_longest_ns: Option<u64>,
    /// Why an unusual I/O engine was used; absent if it is the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_because: Option<String>,
    /// Share of the trial, 0 to 1, in which the busiest worker ran or waited for a processor,
    /// busy-waiting excluded. Near 1, that thread is the bottleneck. Absent in runs of earlier
    /// versions, like the next three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_worker: Option<f64>,
    /// Share of the trial, 0 to 1, in which the busiest worker waited for a processor; 0 if the
    /// kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_wait: Option<f64>,
    /// The mean of `busiest_worker` over all workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers_busy: Option<f64>,
    /// Busy-waiting of all workers for the next deadline, nanoseconds: CPU time spent on
    /// punctuality, not on operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awake_ns: Option<u64>,
    /// Whether workers polled for completions instead of using interrupts. `awake_ns` then includes
    /// polls that found none.
    #[serde(default)]
    pub polls: bool,
}

/// Operations that waited for a free slot because the maximum number was outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoomWait {
    /// How many waited.
    pub count: u64,
    /// Share of the total response time spent in this wait, 0 to 1.
    #[serde(with = "stats::undefined")]
    pub share: f64,
    /// Mean service time of the operations that waited over that of those that did not; absent if
    /// either group is too small. Near 1, the storage was no slower at the limit, so the limit is
    /// this program's.
    pub service_ratio: Option<f64>,
}
