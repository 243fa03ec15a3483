//! Events: times in which the storage was slower than usual.

use serde::{Deserialize, Serialize};

use crate::prober::ProbeKind;

/// A process with the bytes that it moved to and from storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessShare {
    pub pid: u32,
    /// Program name as the kernel keeps it: 15 bytes.
    pub name: String,
    pub read_bytes: u64,
    pub written_bytes: u64,
}

/// An event of a target, with other observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchEvent {
    /// The target as typed.
    pub target: String,
    pub probe: ProbeKind,
    #[serde(flatten)]
    pub slow: SlowEvent,
    /// Processes by bytes moved, most first.
    pub who: Vec<ProcessShare>,
    /// Maximum queue of the device in a reading.
    pub queue_max: Option<u64>,
    /// Share of the time in which some task waited for storage (PSI).
    pub pressure_io: Option<f64>,
}

/// A time in which probes took longer than usual.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowEvent {
    /// Due time of its first probe, milliseconds since 1970 in UTC.
    pub begin_ms: u64,
    /// Due time of its last probe; `None` while it continues.
    pub end_ms: Option<u64>,
    /// Number of probes.
    pub probes: u64,
    /// Longest time, ns.
    pub worst_ns: u64,
    /// 99th percentile, ns; with fewer than 100 probes the maximum.
    pub p99_ns: u64,
    /// 99th percentile of the day before, ns.
    pub usual_p99_ns: u64,
    /// Whether it has become the new normal, after an hour.
    pub stays: bool,
}
