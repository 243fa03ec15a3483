//! What a client can ask of storage, and what comes back.

use serde::{Deserialize, Serialize};
use std::fmt;

use units::{Duration, Instant};

/// A virtual client, numbered from zero over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u32);

/// A file or device that requests go to, as an index into the trial's table of targets.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct TargetId(pub u32);

impl TargetId {
    /// No file or device at all.
    pub const NONE: Self = Self(u32::MAX);
}

/// What a completed write promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// The data may still sit in a cache that loses them with the power.
    #[default]
    Volatile,
    /// The write and the `fsync` that follows it count as one request, done when both are.
    Synced,
    /// The same with `fdatasync`: of the file's attributes only those are forced that reading the
    /// data back takes, such as a new size.
    DataSynced,
    /// The write itself keeps the promise of `fdatasync`, as into a file opened with `O_DSYNC`.
    Through,
}

impl Durability {
    /// Whether the data survive a power loss once the write is done.
    #[must_use]
    pub const fn is_durable(self) -> bool {
        !matches!(self, Self::Volatile)
    }
}

/// What `sync_file_range` does with the cached pages of a part of a file. Nothing of it survives a
/// power loss for certain: neither the file's attributes nor a cache of the device are forced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WriteOut {
    /// Wait for pages that are being written.
    pub waits_before: bool,
    /// Begin to write those that are dirty.
    pub writes: bool,
    /// Wait until they are written.
    pub waits_after: bool,
}

impl WriteOut {
    /// As Linux has it (`SYNC_FILE_RANGE_*`).
    #[must_use]
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
        /// What its completion promises.
        durability: Durability,
    },
    /// Give `len` bytes at `offset` back: a device may forget them, a file has a hole there.
    Trim {
        target: TargetId,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u32,
    },
    /// Everything written so far survives a power loss.
    Flush {
        /// Which file or device.
        target: TargetId,
        /// Whether that is `fdatasync`: of the file's attributes only those are forced that reading
        /// the data needs. Else it is `fsync`.
        data_only: bool,
    },
    /// Write cached pages of a part of a file out, with `sync_file_range`.
    WriteOut {
        /// Which file.
        target: TargetId,
        /// First byte.
        offset: u64,
        /// Number of bytes; all to the end of the file where it is zero.
        span: u32,
        /// What is done.
        how: WriteOut,
    },
    /// Create a file that must not exist yet, and keep it open for writing.
    Create {
        /// The file's place in the table of targets.
        target: TargetId,
    },
    /// Open an existing file for reading.
    Open {
        /// The file's place in the table of targets.
        target: TargetId,
    },
    /// Close a file that `Create` or `Open` opened.
    Close {
        /// The file's place in the table of targets.
        target: TargetId,
    },
    /// Remove a file that this trial created.
    Remove {
        /// The file's place in the table of targets.
        target: TargetId,
    },
    /// Ask for the attributes of a file, by its name.
    Stat {
        /// The file's place in the table of targets.
        target: TargetId,
    },
    /// Work of a processor, done beside the storage: it needs no room among the requests that are
    /// outstanding, and holds none of them up.
    Compute {
        /// Processor time, nanoseconds.
        work_ns: u64,
        /// Bytes of the client's own memory that are touched, page by page.
        touched: u64,
    },
}

units::words! {
    /// The kind of an operation: what its times are filed under.
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
        /// Looking at attributes.
        Stat = "stat",
        /// Work of a processor.
        Compute = "compute",
    }
}

impl fmt::Display for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Op {
    /// What kind of operation this is.
    #[must_use]
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

    /// Whether this is work of a processor and not of the storage.
    #[inline]
    #[must_use]
    pub const fn is_compute(&self) -> bool {
        matches!(self, Self::Compute { .. })
    }

    /// The file or device that the operation goes to; [`TargetId::NONE`] for work of a processor.
    #[must_use]
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

    /// Bytes that move, or are given back, when the operation succeeds whole.
    #[must_use]
    pub const fn len(&self) -> u32 {
        match *self {
            Self::Read { len, .. } | Self::Write { len, .. } | Self::Trim { len, .. } => len,
            _ => 0,
        }
    }

    /// Whether these are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that the operation takes.
    #[inline]
    #[must_use]
    pub const fn memory_len(&self) -> u32 {
        match self {
            Self::Trim { .. } => 0,
            _ => self.len(),
        }
    }
}

/// How urgent a request is, as Linux has it (`ioprio`): a class, and a level within it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct IoPriority(pub u16);

impl IoPriority {
    const CLASS_SHIFT: u16 = 13;

    /// That of a class (1 real time, 2 best effort, 3 idle) and a level (0, the highest, to 7).
    #[must_use]
    pub const fn new(class: u16, level: u16) -> Self {
        Self(class << Self::CLASS_SHIFT | level)
    }

    #[must_use]
    pub const fn class(self) -> u16 {
        self.0 >> Self::CLASS_SHIFT
    }

    #[must_use]
    pub const fn level(self) -> u16 {
        self.0 & ((1 << Self::CLASS_SHIFT) - 1)
    }
}

/// An operation that a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// When; now, past, or future.
    pub due: Instant,
    pub op: Op,
    pub priority: IoPriority,
}

/// An operation with the client that wants it and the moment it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asks.
    pub client: ClientId,
    /// How urgent it is, where the storage is told.
    pub priority: IoPriority,
    /// When the client wanted it; the response time counts from here.
    pub due: Instant,
    /// When it was due and had room: what passes from here until it is issued is the generator's
    /// own lateness. Set by the engine.
    pub ready: Instant,
    /// What is asked.
    pub op: Op,
}

impl Request {
    /// A request that is ready when it is due.
    #[must_use]
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

/// An error number of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Errno(pub i32);

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub request: Request,
    /// When the kernel (or the model) was entered with it.
    pub issued: Instant,
    /// When its end was noticed. Completions reaped together share this stamp.
    pub completed: Instant,
    /// Bytes moved, or the error: a failed operation is data.
    pub result: Result<u32, Errno>,
}

impl Completion {
    /// What a user waits: from due to completed.
    #[must_use]
    pub fn response_time(&self) -> Duration {
        self.completed.since(self.request.due)
    }

    /// The generator's own lateness: from ready to issued.
    #[must_use]
    pub fn lateness(&self) -> Duration {
        self.issued.since(self.request.ready)
    }

    /// What the device took: from issued to completed.
    #[must_use]
    pub fn service_time(&self) -> Duration {
        self.completed.since(self.issued)
    }
}
