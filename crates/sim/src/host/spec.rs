//! Parameters of a host.

/// Use of a processor while the storage works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoWait {
    /// Free for other work.
    #[default]
    Free,
    /// The waiting job polls, with the same share as a computing one.
    Polling,
    /// The waiting job spins and blocks the processor.
    Spinning,
}

/// When writes go to the storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WritePolicy {
    /// At once; the writer waits.
    Through,
    /// Later: when more than this share of the cache is dirty, or when the oldest dirty page
    /// reaches this age. Writers are throttled only while twice that share is dirty.
    Back {
        /// Share of the cache, in 0..=1.
        dirty_share: f64,
        /// Nanoseconds.
        interval: u64,
    },
}

/// Parameters of a host. Times are nanoseconds, sizes bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    /// Processors.
    pub cpus: usize,
    /// Time of a unit of CPU work, if known: what an 80486DX2/66 does in a second.
    pub cpu_unit: Option<u64>,
    /// CPU time of a cache hit.
    pub cpu_hit: u64,
    /// CPU time of a storage I/O that overlaps it.
    pub cpu_overlapped: u64,
    /// CPU time of a storage I/O that follows it.
    pub cpu_serial: u64,
    /// CPU time per byte of storage I/O that overlaps it.
    pub cpu_byte: f64,
    /// CPU time per byte that follows it.
    pub cpu_byte_serial: f64,
    /// CPU time per byte that a client behind a link sends or receives, overlapping the link.
    pub cpu_byte_sent: f64,
    /// Use of a processor while the storage works.
    pub waiting: IoWait,
    pub memory: u64,
    /// Memory used by system and programs.
    pub system: u64,
    /// Initial size of the file cache.
    pub cache: u64,
    /// Maximum size of the file cache.
    pub cache_max: u64,
    /// Growth of the file cache per storage read.
    pub cache_growth: u64,
    /// Page size of the file cache.
    pub page: u64,
    /// Read-ahead of sequential reads.
    pub read_ahead: u64,
    /// Number of streams with read-ahead, the most recent ones.
    pub read_ahead_streams: usize,
    /// Maximum size of a storage read, except for read-ahead.
    pub read_run: u64,
    /// When writes go to the storage.
    pub writes: WritePolicy,
    /// Maximum size of a storage write.
    pub write_run: u64,
}

impl HostSpec {
    /// Memory available to the file cache when programs use `taken` bytes.
    pub fn room(&self, limit: u64, taken: u64) -> u64 {
        limit.min(
            self.memory
                .saturating_sub(self.system)
                .saturating_sub(taken),
        )
    }
}
