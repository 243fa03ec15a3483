//! A disk drive with a head that moves and a cache that holds what was touched last.
//!
//! What a read takes follows from where it goes: from the cache always the same time; else a fixed
//! time and a seek that grows with the square root of the distance, as accelerating arms do. A
//! write goes to the medium and stays in the cache. The cache is first in, first out: uniform reads
//! over `s` bytes find the share `min(1, c / s)` in a cache of `c` bytes, and two uniform places
//! lie 8/15 of the root of their span apart in the mean root of the distance.

use std::collections::{BTreeSet, VecDeque};

use crate::device::{Action, Command};

/// What is in the cache or not.
const UNIT: u64 = 4096;

/// A drive's sizes and times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveLaw {
    /// Bytes of the drive.
    pub size: u64,
    /// Bytes of its cache.
    pub cache: u64,
    /// Time of a read from the cache, nanoseconds.
    pub hit_ns: f64,
    /// Time of everything else without its seek, nanoseconds.
    pub miss_ns: f64,
    /// Seek from one end of the drive to the other, nanoseconds.
    pub seek_ns: f64,
}

/// Where the head is and what the cache holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drive {
    head: u64,
    held: BTreeSet<u64>,
    order: VecDeque<u64>,
}

impl Drive {
    /// What `command` takes, nanoseconds.
    pub fn take(&mut self, command: &Command, law: &DriveLaw) -> f64 {
        let is_read = match command.action {
            Action::Read => true,
            Action::Write(_) => false,
            Action::Flush | Action::Compute { .. } => return law.hit_ns,
        };
        let offset = command.offset;
        let units = offset / UNIT..command.end().div_ceil(UNIT);
        let is_held = units.clone().all(|unit| self.held.contains(&unit));
        if is_read && is_held {
            return law.hit_ns;
        }
        let distance = offset.abs_diff(self.head) as f64 / law.size as f64;
        self.head = offset;
        for unit in units {
            self.keep(unit, law.cache / UNIT);
        }
        law.miss_ns + law.seek_ns * distance.sqrt()
    }

    fn keep(&mut self, unit: u64, room: u64) {
        if room == 0 || !self.held.insert(unit) {
            return;
        }
        self.order.push_back(unit);
        if self.order.len() as u64 > room
            && let Some(oldest) = self.order.pop_front()
        {
            self.held.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Durability;

    const LAW: DriveLaw = DriveLaw {
        size: 1 << 20,
        cache: 2 * UNIT,
        hit_ns: 1.0,
        miss_ns: 100.0,
        seek_ns: 1000.0,
    };

    fn read(unit: u64) -> Command {
        Command {
            tag: 0,
            action: Action::Read,
            client: None,
            offset: unit * UNIT,
            len: UNIT,
        }
    }

    #[test]
    fn the_head_moves_and_the_cache_forgets_the_oldest() {
        let mut drive = Drive::default();
        let mut check = |command: Command, expected: f64| {
            let found = drive.take(&command, &LAW);
            assert!((found - expected).abs() < 1e-9, "{command:?}: {found}");
        };
        check(read(0), 100.0);
        check(read(0), 1.0);
        // A quarter of the drive away: half of the longest seek.
        check(read(64), 600.0);
        check(read(0), 1.0);
        check(read(64), 1.0);
        check(read(128), 600.0);
        check(read(0), 100.0 + 1000.0 * 0.5_f64.sqrt());
        let write = Command {
            action: Action::Write(Durability::Volatile),
            ..read(0)
        };
        check(write, 100.0);
        check(read(0), 1.0);
    }
}
