//! An event: the storage was slower than usual for a while.

use serde::{Deserialize, Serialize};

use crate::prober::ProbeKind;

/// A process, and the bytes that it moved to and from storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessShare {
    pub pid: u32,
    /// As the kernel keeps it: 15 bytes of the program's name.
    pub name: String,
    pub read_bytes: u64,
    pub written_bytes: u64,
}

/// An event of a target, with what else was seen in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchEvent {
    /// The target as it was typed.
    pub target: String,
    pub probe: ProbeKind,
    #[serde(flatten)]
    pub slow: SlowEvent,
    /// Those that moved most, most first.
    pub who: Vec<ProcessShare>,
    /// Requests at the device in one look, at most.
    pub queue_max: Option<u64>,
    /// Share of the time in which some task waited for storage.
    pub pressure_io: Option<f64>,
}

/// A time in which probes took longer than they usually do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowEvent {
    /// When the first of its probes was due: milliseconds since 1970 in UTC.
    pub begin_ms: u64,
    /// When the last of them was due; `None` while it goes on.
    pub end_ms: Option<u64>,
    /// Probes in it.
    pub probes: u64,
    /// The longest of them, ns.
    pub worst_ns: u64,
    /// The time that 99 % of them took at most, ns; of fewer than 100 the longest.
    pub p99_ns: u64,
    /// The same of the day before, ns.
    pub usual_p99_ns: u64,
    /// Whether this is now what is usual: it lasted for an hour.
    pub stays: bool,
}
