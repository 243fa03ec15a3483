//! What processors and storage have done, summed over virtual time.

use engine::Activity;
use units::Instant;

/// Bytes of a page, as `Activity` counts them.
const PAGE: u64 = 4096;

/// Sums over virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Until when they go.
    until: Instant,
    passed_ns: u64,
    cpus: u64,
    cpu_busy_ns: u64,
    storage: StorageDone,
    /// Bytes that were read because no memory held them.
    missed_bytes: u64,
}

/// What became of the requests that a storage was asked for.
#[derive(Clone, Copy, Debug, Default)]
struct StorageDone {
    busy_ns: u64,
    queue_ns: u64,
    reads: u64,
    writes: u64,
    bytes: u64,
}

impl Done {
    /// Nothing yet, on so many processors.
    pub fn new(cpus: usize, start: Instant) -> Self {
        Self {
            until: start,
            cpus: cpus as u64,
            ..Self::default()
        }
    }

    /// Until `now`, so many processors were busy, and so many requests were with the storage.
    pub fn pass(&mut self, now: Instant, busy: usize, waiting: usize) {
        let passed = now.since(self.until).as_nanos();
        let waiting = waiting as u64;
        self.until = now.max(self.until);
        self.passed_ns += passed;
        self.cpu_busy_ns += passed * busy as u64;
        self.storage.busy_ns += passed * waiting.min(1);
        self.storage.queue_ns += passed * waiting;
    }

    /// The storage has read so much.
    pub fn read(&mut self, bytes: u64) {
        self.storage.reads += 1;
        self.storage.bytes += bytes;
    }

    /// The storage has written so much.
    pub fn wrote(&mut self, bytes: u64) {
        self.storage.writes += 1;
        self.storage.bytes += bytes;
    }

    /// Memory did not hold so much of what was read.
    pub fn missed(&mut self, bytes: u64) {
        self.missed_bytes += bytes;
    }

    /// These processors with the storage of a server, which has a disk of its own.
    #[must_use]
    pub fn on_server(self, server: &Self) -> Self {
        Self {
            storage: server.storage,
            ..self
        }
    }

    /// The same as a driver says it; memory has a part in it where there is a file cache.
    #[must_use]
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
            ..Activity::default()
        }
    }
}
