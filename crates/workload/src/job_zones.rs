//! Zones of a file in which a job works one after the other, as fio's `zonemode=strided` has them.
//!
//! In each zone it moves so many bytes, in order or each block once, and then goes on to the next;
//! behind the last comes the first again. Follows fio's documentation, "Zoned block devices" and
//! `zonemode`; checked against the I/O logs of fio 3.33.

use serde::{Deserialize, Serialize};

use crate::address::Region;

/// Zones of a file, of which the first begins with its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StridedZones {
    /// Bytes to move in a zone: less than it has, or more.
    pub bytes: u64,
    /// Bytes that a zone has.
    pub range: u64,
    /// Bytes between two zones.
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

    /// From the begin of a region of `len` bytes to the end of the last zone that begins in it; of
    /// that zone all counts where `is_random`, and else what is reached.
    #[must_use]
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

/// Where a job stands among its zones.
#[derive(Clone, Debug)]
pub(crate) struct ZoneWalk {
    zones: StridedZones,
    /// Bytes of the file's region: a zone that would begin behind it is the first.
    whole: u64,
    /// Where the zone begins.
    begin: u64,
    /// Bytes that were moved in it.
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

    /// Go on to the next zone if enough was moved in this one. Whether it is to be worked through
    /// from its beginning, for the first time or again.
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

    /// Take a request of `len` bytes at `at` of the zone: where it is in the region.
    pub(crate) const fn take(&mut self, at: u64, len: u32) -> u64 {
        self.moved += len as u64;
        self.begin + at
    }
}
