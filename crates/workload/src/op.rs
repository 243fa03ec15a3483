//! Operations of a client, and their completions.

use serde::{Deserialize, Serialize};
use std::fmt;

use units::{Duration, Instant};

/// A virtual client, numbered from zero over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u32);

/// A file or device, as an index into the trial's table of targets.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct TargetId(pub u32);

impl TargetId {
    /// No file or device at all.
    pub const NONE: Self = Self(u32::MAX);
}

/// Durability of a completed write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// The data may be in a volatile cache.
    #[default]
    Volatile,
    /// The write and the `fsync` after it count as one request, complete when both are.
    Synced,
    /// The same with `fdatasync`: of the file's attributes only those needed to read the data back
    /// are made durable, such as a new size.
    DataSynced,
    /// The write itself is as durable as with `fdatasync`, like a write to a file opened with
    /// `O_DSYNC`.
    Through,
}

impl Durability {
    /// Whether the data survives a power loss once the write completes.
    pub const fn is_durable(self) -> bool {
        !matches!(self, Self::Volatile)
    }
}

/// What `sync_file_range` does with cached pages of a part of a file. It guarantees no durability:
/// neither the file's attributes nor a device cache are flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WriteOut {
    /// Wait for pages that are being written.
    pub waits_before: bool,
    /// Start to write dirty pages.
    pub writes: bool,
    /// Wait until they are written.
    pub waits_after: bool,
}

impl WriteOut {
    /// Linux flags (`SYNC_FILE_RANGE_*`).
    pub const fn flags(self) -> u32 {
        self.waits_before as u32 | (self.writes as u32) << 1 | (self.waits_after as u32) << 2
    }
}

/// One operation. Offsets and lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read `len` bytes at `offset`.
    Read {
        target: TargetId,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u32,
    },
    /// Write `len` bytes at `offset`.
    Write {
        target: TargetId,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u32,
        /// Its durability.
        durability: Durability,
    },
    /// Discard `len` bytes at `offset`: a device may drop them, a file gets a hole there.
    Trim {
        target: TargetId,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u32,
    },
    /// Make everything written so far durable.
    Flush {
        /// The file or device.
        target: TargetId,
        /// Whether it is `fdatasync`, which only flushes file attributes needed to read the data;
        /// otherwise `fsync`.
        data_only: bool,
    },
    /// Write out cached pages of a part of a file with `sync_file_range`.
    WriteOut {
        /// The file.
        target: TargetId,
        /// First byte.
        offset: u64,
        /// Number of bytes; zero for up to the end of the file.
        span: u32,
        /// The steps.
        how: WriteOut,
    },
    /// Create a file that must not exist yet, and keep it open for writing.
    Create {
        /// Index in the table of targets.
        target: TargetId,
    },
    /// Open an existing file for reading.
    Open {
        /// Index in the table of targets.
        target: TargetId,
    },
    /// Close a file that `Create` or `Open` opened.
    Close {
        /// Index in the table of targets.
        target: TargetId,
    },
    /// Remove a file that this trial created.
    Remove {
        /// Index in the table of targets.
        target: TargetId,
    },
    /// Get the attributes of a file by name.
    Stat {
        /// Index in the table of targets.
        target: TargetId,
    },
    /// CPU work, independent of the storage: it takes no slot of the outstanding requests and does
    /// not delay them.
    Compute {
        /// CPU time, nanoseconds.
        work_ns: u64,
        /// Bytes of the client's own memory to touch, page by page.
        touched: u64,
    },
}

units::words! {
    /// Kind of an operation, by which its times are recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum OpKind {
        Read = "read",
        /// Writes, durable ones included.
        Write = "write",
        Trim = "trim",
        Flush = "flush",
        /// File creation.
        Create = "create",
        /// Opening.
        Open = "open",
        /// Closing.
        Close = "close",
        /// Removal.
        Remove = "remove",
        /// Getting attributes.
        Stat = "stat",
        /// CPU work.
        Compute = "compute",
    }
}

impl fmt::Display for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Op {
    /// Its kind.
    pub const fn kind(&self) -> OpKind {
        match self {
            Self::Read { .. } => OpKind::Read,
            Self::Write { .. } => OpKind::Write,
            Self::Trim { .. } => OpKind::Trim,
            Self::Flush { .. } | Self::WriteOut { .. } => OpKind::Flush,
            Self::Create { .. } => OpKind::Create,
            Self::Open { .. } => OpKind::Open,
            Self::Close { .. } => OpKind::Close,
            Self::Remove { .. } => OpKind::Remove,
            Self::Stat { .. } => OpKind::Stat,
            Self::Compute { .. } => OpKind::Compute,
        }
    }

    /// Whether it is CPU work rather than a storage operation.
    #[inline]
    pub const fn is_compute(&self) -> bool {
        matches!(self, Self::Compute { .. })
    }

    /// Its file or device; [`TargetId::NONE`] for CPU work.
    pub const fn target(&self) -> TargetId {
        match *self {
            Self::Read { target, .. }
            | Self::Write { target, .. }
            | Self::Trim { target, .. }
            | Self::Flush { target, .. }
            | Self::WriteOut { target, .. }
            | Self::Create { target }
            | Self::Open { target }
            | Self::Close { target }
            | Self::Remove { target }
            | Self::Stat { target } => target,
            Self::Compute { .. } => TargetId::NONE,
        }
    }

    /// Bytes moved or discarded by a complete successful operation.
    pub const fn len(&self) -> u32 {
        match *self {
            Self::Read { len, .. } | Self::Write { len, .. } | Self::Trim { len, .. } => len,
            _ => 0,
        }
    }

    /// Whether it moves no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory required, bytes.
    #[inline]
    pub const fn memory_len(&self) -> u32 {
        match self {
            Self::Trim { .. } => 0,
            _ => self.len(),
        }
    }
}

/// I/O priority as in Linux (`ioprio`): a class, and a level within it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct IoPriority(pub u16);

impl IoPriority {
    const CLASS_SHIFT: u16 = 13;

    /// From a class (1 real time, 2 best effort, 3 idle) and a level (0, the highest, to 7).
    pub const fn new(class: u16, level: u16) -> Self {
        Self(class << Self::CLASS_SHIFT | level)
    }

    pub const fn class(self) -> u16 {
        self.0 >> Self::CLASS_SHIFT
    }

    pub const fn level(self) -> u16 {
        self.0 & ((1 << Self::CLASS_SHIFT) - 1)
    }
}

/// An operation requested by a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Due time, which may be past or future.
    pub due: Instant,
    pub op: Op,
    pub priority: IoPriority,
}

/// An operation with its client and due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The client.
    pub client: ClientId,
    /// Its priority, if passed to the storage.
    pub priority: IoPriority,
    /// Due time, from which the response time counts.
    pub due: Instant,
    /// When it was due and had a free slot. The time from here to its issue is the generator's own
    /// lateness. Set by the engine.
    pub ready: Instant,
    /// The operation.
    pub op: Op,
}

impl Request {
    /// A request that is ready when due.
    pub const fn new(client: ClientId, due: Instant, op: Op) -> Self {
        Self {
            client,
            priority: IoPriority(0),
            due,
            ready: due,
            op,
        }
    }
}

/// An errno value of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Errno(pub i32);

/// Completion of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub request: Request,
    /// When it was submitted to the kernel or the model.
    pub issued: Instant,
    /// When its completion was noticed. Completions reaped together share this time.
    pub completed: Instant,
    /// Bytes moved, or the error: a failed operation is data.
    pub result: Result<u32, Errno>,
}

impl Completion {
    /// Response time: from due to completed.
    pub fn response_time(&self) -> Duration {
        self.completed.since(self.request.due)
    }

    /// The generator's own lateness: from ready to issued.
    pub fn lateness(&self) -> Duration {
        self.issued.since(self.request.ready)
    }

    /// What the device took: from issued to completed.
    pub fn service_time(&self) -> Duration {
        self.completed.since(self.issued)
    }
}
