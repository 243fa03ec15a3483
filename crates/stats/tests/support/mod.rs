//! Seeded processes with known truth, replications in parallel, and a table of coverages.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod acceptance;
pub mod closed_loop;
pub mod processes;
pub mod rivals;
pub mod table;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use stats::{Slot, SlotAccumulator, SlotStore};

/// Nanoseconds in the unit of time of all processes.
pub const UNIT_NS: f64 = 1e6;
/// Completions in a ready-made slot.
pub const PER_SLOT: u64 = 25;

/// splitmix64: tiny, good enough, and the same everywhere.
pub struct Random(u64);

impl Random {
    /// An independent stream for every process and replication.
    pub fn new(process: &str, replication: u64) -> Self {
        // SipHash with fixed keys: stable for one toolchain, and any stream will do.
        let mut hasher = DefaultHasher::new();
        (process, replication).hash(&mut hasher);
        Self(hasher.finish())
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform over (0, 1].
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Standard normal (Box and Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Runs `count` replications on all cores; results come in the order of replications.
pub fn replicate<T: Send>(count: u64, run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let run = &run;
    let mut results: Vec<(u64, T)> = std::thread::scope(|scope| {
        let worker = |first: u64| {
            let share = (first..count).step_by(threads as usize);
            scope.spawn(move || share.map(|i| (i, run(i))).collect::<Vec<_>>())
        };
        let workers: Vec<_> = (0..threads).map(worker).collect();
        workers
            .into_iter()
            .flat_map(|w| w.join().expect("replications do not panic"))
            .collect()
    });
    results.sort_by_key(|&(i, _)| i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Share of true values.
pub fn share(outcomes: impl Iterator<Item = bool>) -> f64 {
    let (count, hits) = outcomes.fold((0u32, 0u32), |(n, k), hit| (n + 1, k + u32::from(hit)));
    f64::from(hits) / f64::from(count)
}

/// A ready-made slot of given response times (in units of `UNIT_NS`); service times are the same.
pub fn slot_of(epoch: u64, times: impl Iterator<Item = f64>) -> Slot {
    let mut slot = Slot::empty(epoch);
    for time in times {
        let nanos = (time.max(0.0) * UNIT_NS) as u64;
        slot.completions += 1;
        slot.response.record(nanos);
    }
    slot.service = slot.response.clone();
    slot
}

/// A store of `slots` ready-made slots with the response times that `next` gives; service times
/// are zero.
pub fn store_of(slots: u64, next: impl FnMut(u64) -> f64) -> SlotStore {
    store_of_epochs(0..slots, next)
}

/// The same of these slots: between them nothing completed.
pub fn store_of_epochs(
    epochs: impl IntoIterator<Item = u64>,
    mut next: impl FnMut(u64) -> f64,
) -> SlotStore {
    let mut store = SlotStore::with_grouping(25_000_000, 0, 1);
    let mut accumulator = SlotAccumulator::new();
    for epoch in epochs {
        for i in epoch * PER_SLOT..(epoch + 1) * PER_SLOT {
            accumulator.record((next(i).max(0.0) * UNIT_NS) as u64, 0, 0, 0);
        }
        store.push(accumulator.take(epoch));
    }
    store
}
