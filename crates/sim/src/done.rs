//! Work done by processors and storage, summed over virtual time.

use engine::Activity;
use units::Instant;

/// Page size in `Activity`, bytes.
const PAGE: u64 = 4096;

/// Sums over virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// End of the sums.
    until: Instant,
    passed_ns: u64,
    cpus: u64,
    cpu_busy_ns: u64,
    storage: StorageDone,
    /// Bytes read that were not in memory.
    missed_bytes: u64,
    memory: MemoryDone,
}

/// Memory use of a host.
#[derive(Clone, Copy, Debug, Default)]
struct MemoryDone {
    /// Integral of the file cache's size over time.
    file_cache_byte_ns: u128,
    /// Pages touched by programs for the first time.
    touched: u64,
    /// Reads that missed the file cache.
    missed: u64,
}

/// Requests of a storage.
#[derive(Clone, Copy, Debug, Default)]
struct StorageDone {
    busy_ns: u64,
    queue_ns: u64,
    reads: u64,
    writes: u64,
    bytes: u64,
}

impl Done {
    /// Nothing yet, with `cpus` processors.
    pub fn new(cpus: usize, start: Instant) -> Self {
        Self {
            until: start,
            cpus: cpus as u64,
            ..Self::default()
        }
    }

    /// Adds the size of the file cache until `now`.
    pub fn held(&mut self, now: Instant, file_cache: u64) {
        let passed = now.since(self.until).as_nanos();
        self.memory.file_cache_byte_ns += u128::from(file_cache) * u128::from(passed);
    }

    /// Until `now`, `busy` processors were busy and `asked` requests were in the storage.
    pub fn pass(&mut self, now: Instant, busy: usize, waiting: usize) {
        let passed = now.since(self.until).as_nanos();
        let waiting = waiting as u64;
        self.until = now.max(self.until);
        self.passed_ns += passed;
        self.cpu_busy_ns += passed * busy as u64;
        self.storage.busy_ns += passed * waiting.min(1);
        self.storage.queue_ns += passed * waiting;
    }

    /// Adds a read of the storage.
    pub fn read(&mut self, bytes: u64) {
        self.storage.reads += 1;
        self.storage.bytes += bytes;
    }

    /// Adds a write of the storage.
    pub fn wrote(&mut self, bytes: u64) {
        self.storage.writes += 1;
        self.storage.bytes += bytes;
    }

    /// Adds bytes read that were not in memory.
    pub fn missed(&mut self, bytes: u64) {
        self.missed_bytes += bytes;
    }

    /// Adds bytes touched by a program for the first time.
    pub fn touched(&mut self, bytes: u64) {
        self.memory.touched += bytes.div_ceil(PAGE);
    }

    /// Adds a read that missed the file cache.
    pub fn faulted(&mut self) {
        self.memory.missed += 1;
    }

    /// These processors with the storage of a server, which has its own disk.
    #[must_use]
    pub fn on_server(self, server: &Self) -> Self {
        Self {
            storage: server.storage,
            ..self
        }
    }

    /// The same as a driver's activity, with memory if there is a file cache.
    pub fn activity(&self, has_cache: bool) -> Activity {
        Activity {
            cpu_busy_ns: Some(self.cpu_busy_ns),
            cpu_there_ns: Some(self.passed_ns.saturating_mul(self.cpus)),
            device_busy_ns: Some(self.storage.busy_ns),
            device_queue_ns: Some(self.storage.queue_ns),
            device_reads: Some(self.storage.reads),
            device_writes: Some(self.storage.writes),
            device_bytes: Some(self.storage.bytes),
            pages_fetched: has_cache.then_some(self.missed_bytes / PAGE),
            minor_faults: has_cache.then_some(self.memory.touched),
            major_faults: has_cache.then_some(self.memory.missed),
            file_cache_page_us: has_cache.then_some(self.memory.page_us()),
            ..Activity::default()
        }
    }
}

impl MemoryDone {
    /// Pages of the file cache integrated over microseconds.
    fn page_us(&self) -> u64 {
        let page_us = self.file_cache_byte_ns / (u128::from(PAGE) * 1000);
        u64::try_from(page_us).unwrap_or(u64::MAX)
    }
}
