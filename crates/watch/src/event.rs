//! An event: the storage was slower than usual for a while.

use serde::{Deserialize, Serialize};

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
