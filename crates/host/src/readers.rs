//! Private parsers of untrusted text, for the fuzz targets.

use crate::counters::Counters;
use crate::device_state::reported;
use crate::inspect::{SystemRoots, cgroup, mounts, raid};

/// Parses `/proc` and `/sys` texts about mounts, control groups, the array `md0` and the disk
/// `sda`.
pub fn system_text(facts: &SystemRoots) {
    let table = mounts::read(facts);
    let _ = cgroup::memory_limit(facts, &table);
    let _ = cgroup::cpu_limit(facts, &table);
    let _ = cgroup::throttle(facts, &table, "8:0");
    let _ = raid::md_state(facts, "md0");
    let before = Counters::take_from(facts, Some("sda"));
    let _ = before.delta(&before).device;
}

/// Parses the output of `smartctl`.
pub fn drive_report(report: &[u8]) {
    let _ = reported(report);
}
