//! Windows of a minute, their binary form, and merging into longer ones.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::prober::ProbeKind;
use crate::times::ProbeTimes;

/// Length of a measured window.
pub const WINDOW_SECONDS: u64 = 60;
/// Lengths to which windows are merged in turn when the budget is exceeded.
const MERGED_SECONDS: [u64; 2] = [3_600, 86_400];
/// First byte of the binary form.
const FORM: u8 = 1;

units::words! {
    /// What is counted beside the probes. A maximum is merged as one, all else as a sum.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
    )]
    pub enum WatchCounter {
        DeviceReads = "device_reads": "Reads that the device completed.",
        DeviceReadBytes = "device_read_bytes": "Bytes read from the device.",
        DeviceWrites = "device_writes": "Writes that the device completed.",
        DeviceWrittenBytes = "device_written_bytes": "Bytes written to the device.",
        DeviceBusyMs = "device_busy_ms": "Milliseconds in which the device had a request.",
        DeviceQueueMax = "device_queue_max": "Requests at the device in one look, at most.",
        PressureIoUs = "pressure_io_us": "Microseconds in which a task waited for storage.",
        PressureCpuUs = "pressure_cpu_us": "Microseconds in which a task waited for a CPU.",
        PressureMemoryUs = "pressure_memory_us":
            "Microseconds in which a task waited for memory.",
        DirtyBytesMax = "dirty_bytes_max": "Bytes of dirty pages in one look, at most.",
        WritebackBytesMax = "writeback_bytes_max": "Bytes under writeback in one look, at most.",
        StealMs = "steal_ms": "Milliseconds of CPU time taken by the hypervisor.",
    }
}

impl WatchCounter {
    /// The counter with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Whether it is merged as a maximum instead of a sum.
    pub const fn is_maximum(self) -> bool {
        matches!(
            self,
            Self::DeviceQueueMax | Self::DirtyBytesMax | Self::WritebackBytesMax
        )
    }

    /// The combined value of two windows.
    pub fn join(self, one: u64, other: u64) -> u64 {
        match self.is_maximum() {
            true => one.max(other),
            false => one.saturating_add(other),
        }
    }
}

/// Observations of a target in a minute, or in merged minutes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchWindow {
    /// Start, seconds since 1970 in UTC.
    pub start_s: u64,
    /// Length from its start to the end of its last minute, seconds.
    pub span_s: u64,
    /// Completed reads.
    pub reads: ProbeTimes,
    /// Completed writes with `fdatasync`.
    pub syncs: ProbeTimes,
    /// Failed probes.
    pub failed: u64,
    /// Probes issued late by this program, whose times are not the storage's.
    pub late: u64,
    /// Probes outstanding while this process stood still.
    pub stopped: u64,
    /// Probes left out because the device's queue was long.
    pub withheld: u64,
    /// Counters.
    pub counters: BTreeMap<WatchCounter, u64>,
}

/// Why bytes are not a valid window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// Written by a later version.
    #[error("a window of the form {0}, which only a newer seekstone reads")]
    Form(u8),
    /// Truncated or modified.
    #[error("the bytes of a window are damaged")]
    Damaged,
}

impl WatchWindow {
    /// An empty window.
    pub fn new(start_s: u64, span_s: u64) -> Self {
        Self {
            start_s,
            span_s,
            ..Self::default()
        }
    }

    /// The window that contains that second.
    pub fn at(second: u64) -> Self {
        Self::new(second - second % WINDOW_SECONDS, WINDOW_SECONDS)
    }

    /// Times of a kind of probe.
    pub const fn times(&self, kind: ProbeKind) -> &ProbeTimes {
        match kind {
            ProbeKind::Read => &self.reads,
            ProbeKind::Sync => &self.syncs,
        }
    }

    /// The same, mutable.
    pub(crate) const fn times_mut(&mut self, kind: ProbeKind) -> &mut ProbeTimes {
        match kind {
            ProbeKind::Read => &mut self.reads,
            ProbeKind::Sync => &mut self.syncs,
        }
    }

    /// Adds a value of a counter.
    pub fn count(&mut self, counter: WatchCounter, figure: u64) {
        let known = self.counters.entry(counter).or_default();
        *known = counter.join(*known, figure);
    }

    /// Merges `other`, in any order.
    pub fn merge(&mut self, other: &Self) {
        let end = |it: &Self| it.start_s.saturating_add(it.span_s);
        let end = end(self).max(end(other));
        self.start_s = self.start_s.min(other.start_s);
        self.span_s = end - self.start_s;
        self.reads.merge(&other.reads);
        self.syncs.merge(&other.syncs);
        self.failed = self.failed.saturating_add(other.failed);
        self.late = self.late.saturating_add(other.late);
        self.stopped = self.stopped.saturating_add(other.stopped);
        self.withheld = self.withheld.saturating_add(other.withheld);
        for (&counter, &figure) in &other.counters {
            self.count(counter, figure);
        }
    }

    /// Its binary form, about two bytes per non-empty bin.
    ///
    /// # Panics
    /// Never: it writes to memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_extend(self, vec![FORM]).expect("memory takes a window")
    }

    /// Parses the output of [`WatchWindow::to_bytes`].
    ///
    /// # Errors
    /// If it is damaged, or written by a later version.
    // fuzzed: watch_window
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WindowError> {
        match bytes.split_first() {
            Some((&FORM, rest)) => {
                let window: Option<Self> = postcard::from_bytes(rest).ok();
                window.filter(Self::is_sound).ok_or(WindowError::Damaged)
            }
            Some((&form, _)) => Err(WindowError::Form(form)),
            None => Err(WindowError::Damaged),
        }
    }

    fn is_sound(&self) -> bool {
        self.reads.is_sound() && self.syncs.is_sound()
    }
}

/// A window in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredWindow {
    pub start_s: u64,
    pub span_s: u64,
    pub bytes: u64,
}

/// The next windows to merge, in order of time, to stay within `budget` bytes: the minutes of the
/// oldest hour, later the hours of the oldest day. `None` within the budget, and if nothing is left
/// to merge. The newest hour is never merged.
pub fn next_merge(stored: &[StoredWindow], budget: u64) -> Option<Range<usize>> {
    let bytes: u64 = stored.iter().map(|it| it.bytes).sum();
    if bytes <= budget {
        return None;
    }
    let newest = stored.last()?.start_s;
    MERGED_SECONDS.iter().find_map(|&length| {
        let block = |it: &StoredWindow| it.start_s / length;
        let mut from = 0;
        let mut blocks = stored.chunk_by(|one, other| block(one) == block(other));
        blocks.find_map(|windows| {
            let range = from..from + windows.len();
            from = range.end;
            (windows.len() > 1 && block(&windows[0]) < newest / length).then_some(range)
        })
    })
}
