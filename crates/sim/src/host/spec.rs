//! What fixes a host.

/// What a processor does while the storage works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoWait {
    /// It is free for others.
    #[default]
    Free,
    /// Whoever waits loops, and has the same share of it as whoever computes.
    Polling,
    /// It spins: nothing else runs on it.
    Spinning,
}

/// When writes go to the storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WritePolicy {
    /// At once, and the writer waits.
    Through,
    /// Later: when more than this share of the cache is dirty, or when the oldest dirty page is
    /// that old. Writers wait only while twice that share is dirty.
    Back {
        /// Share of the cache, in 0..=1.
        dirty_share: f64,
        /// Nanoseconds.
        interval: u64,
    },
}

/// Everything that fixes a host. Times are nanoseconds, sizes bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    /// Processors.
    pub cpus: usize,
    /// Time that a unit of processor work takes here, if that is known: what an 80486DX2/66 does
    /// in a second.
    pub cpu_unit: Option<u64>,
    /// Processor time of an I/O that memory answers.
    pub cpu_hit: u64,
    /// Processor time of an I/O of the storage that runs beside it.
    pub cpu_overlapped: u64,
    /// Processor time of an I/O of the storage that comes after it.
    pub cpu_serial: u64,
    /// Processor time for each byte that goes to or comes from the storage, beside it.
    pub cpu_byte: f64,
    /// The same, after it.
    pub cpu_byte_serial: f64,
    /// Processor time for each byte that a client behind a link gets or sends, beside the link.
    pub cpu_byte_sent: f64,
    /// What a processor does while the storage works.
    pub waiting: IoWait,
    pub memory: u64,
    /// What system and programs keep of it.
    pub system: u64,
    /// The file cache at the start.
    pub cache: u64,
    /// The file cache at most.
    pub cache_max: u64,
    /// By how much it may grow with each read of the storage.
    pub cache_growth: u64,
    /// A page of the file cache.
    pub page: u64,
    /// What is read beyond what was asked for, when reads follow each other.
    pub read_ahead: u64,
    /// Streams that it reads ahead for, those that were read last.
    pub read_ahead_streams: usize,
    /// The most that comes from the storage in one read, but where it reads ahead.
    pub read_run: u64,
    /// When writes go to the storage.
    pub writes: WritePolicy,
    /// The most that goes to the storage in one write.
    pub write_run: u64,
}

impl HostSpec {
    /// Bytes that the file cache can have when `taken` bytes are taken by programs.
    #[must_use]
    pub fn room(&self, limit: u64, taken: u64) -> u64 {
        limit.min(
            self.memory
                .saturating_sub(self.system)
                .saturating_sub(taken),
        )
    }
}
