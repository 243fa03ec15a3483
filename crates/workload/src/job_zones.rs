//! Zones of a file that a job uses one after the other, as with fio's `zonemode=strided`.
//!
//! In each zone it moves a number of bytes, sequentially or each block once, then continues with
//! the next; the last is followed by the first. Follows fio's documentation, "Zoned block devices"
//! and `zonemode`; checked against the I/O logs of fio 3.33.

use serde::{Deserialize, Serialize};

use crate::address::Region;

/// Zones of a file, the first of which starts with its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StridedZones {
    /// Bytes to move in a zone, which may be less or more than its size.
    pub bytes: u64,
    /// Size of a zone, bytes.
    pub range: u64,
    /// Gap between two zones, bytes.
    pub skip: u64,
}

impl StridedZones {
    /// The first zone of a region.
    pub(crate) const fn first_of(self, region: Region) -> Region {
        Region {
            len: self.range,
            ..region
        }
    }

    /// Distance from the start of a region of `len` bytes to the end of the last zone that starts
    /// in it; all of that zone counts if `is_random`, else only the part reached.
    pub fn end(self, len: u64, block: u64, is_random: bool) -> u64 {
        let step = self.range.saturating_add(self.skip).max(1);
        let last = len.saturating_sub(1) / step * step;
        let reached = self.bytes.next_multiple_of(block.max(1));
        let used = match is_random {
            true => self.range,
            false => self.range.min(reached),
        };
        last.saturating_add(used)
    }
}

/// Position of a job among its zones.
#[derive(Clone, Debug)]
pub(crate) struct ZoneWalk {
    zones: StridedZones,
    /// Size of the file's region, bytes: a zone that would start beyond it is the first again.
    whole: u64,
    /// Start of the zone.
    begin: u64,
    /// Bytes moved in it.
    moved: u64,
}

impl ZoneWalk {
    pub(crate) const fn new(zones: StridedZones, whole: u64) -> Self {
        Self {
            zones,
            whole,
            begin: 0,
            moved: 0,
        }
    }

    /// Continues with the next zone if enough was moved in this one. Returns whether to start at
    /// the beginning of a zone, for the first time or again.
    pub(crate) const fn turn(&mut self) -> bool {
        if self.moved >= self.zones.bytes {
            self.moved = 0;
            self.begin += self.zones.range + self.zones.skip;
            if self.begin >= self.whole {
                self.begin = 0;
            }
        }
        self.moved.is_multiple_of(self.zones.range)
    }

    /// Counts a request of `len` bytes at `at` of the zone. Returns its position in the region.
    pub(crate) const fn take(&mut self, at: u64, len: u32) -> u64 {
        self.moved += len as u64;
        self.begin + at
    }
}
