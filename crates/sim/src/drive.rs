//! A disk drive with a moving head and a cache of recently used data.
//!
//! A cache hit takes a constant time. Any other operation takes a fixed time and a seek that grows
//! with the square root of the distance, as for accelerating arms. A write goes to the medium and
//! into the cache. The cache is FIFO: uniform reads over `s` bytes hit a cache of `c` bytes with
//! the share `min(1, c / s)`, and the mean root of the distance between two uniform positions is
//! 8/15 of the root of their span.

use std::collections::{BTreeSet, VecDeque};

use crate::device::{Action, Command};

/// Cache granularity, bytes.
const UNIT: u64 = 4096;

/// Sizes and times of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveLaw {
    /// Bytes of the drive.
    pub size: u64,
    /// Cache size, bytes.
    pub cache: u64,
    /// Time of a cache hit, nanoseconds.
    pub hit_ns: f64,
    /// Time of any other operation without its seek, nanoseconds.
    pub miss_ns: f64,
    /// Full-stroke seek, nanoseconds.
    pub seek_ns: f64,
}

/// State of the head and the cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drive {
    head: u64,
    held: BTreeSet<u64>,
    order: VecDeque<u64>,
}

impl Drive {
    /// Service time of `command`, nanoseconds.
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
