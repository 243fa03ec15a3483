//! Choosing a driver: io_uring where the kernel lets us, blocking threads elsewhere.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{Driver, DriverError};
use units::Duration;

use crate::buffers::{BufferPages, BufferPool, VARIETY_BYTES};
use crate::compute::ComputeSettings;
use crate::payload::Payload;
use crate::table::TargetTable;
use crate::threads::ThreadsDriver;
use crate::uring::UringDriver;
use crate::uring_probe::{RingDelay, UringSupport, probe, ring_delay};
use crate::uring_ring::{SETUP, Taskrun};
use sys::MonotonicClock;

/// The most requests that one driver keeps outstanding: as many buffers as the kernel registers.
/// Blocking threads keep fewer, [`THREADS_MAX`].
pub const DEPTH_MAX: usize = 16_384;

/// The most blocking threads of one driver.
pub const THREADS_MAX: usize = 4096;

/// Covers how late nine of ten sleeping threads wake on a virtual machine.
const AWAKE_USUAL: Duration = Duration::from_micros(30);

/// Which driver to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriverKind {
    /// io_uring if it may be used here, else threads.
    #[default]
    Auto,
    /// io_uring or nothing.
    Uring,
    /// Blocking threads.
    Threads,
}

/// What every driver needs to know.
#[derive(Clone, Debug)]
pub struct DriverOptions {
    /// How many requests may be outstanding, 1 to [`DEPTH_MAX`].
    pub depth: usize,
    /// The longest transfer.
    pub buffer_len: usize,
    /// Memory that the buffers have together at least, so that writes do not send the same bytes
    /// again and again. Reads need none.
    pub variety: usize,
    /// The pages that they lie in.
    pub pages: BufferPages,
    /// What is written, and whether it is checked when read.
    pub payload: Payload,
    /// How long before a deadline the driver stays awake. A sleeping thread wakes some 20 to 30 us
    /// late on a virtual machine, and a late generator is the largest error a benchmark makes; the
    /// price is processor time, for each deadline that is reached. Zero never stays awake.
    pub awake: Duration,
    /// Who does work of a processor, if there is any.
    pub compute: ComputeSettings,
    /// What only io_uring needs to know.
    pub uring: UringSettings,
}

/// What only io_uring needs to know.
#[derive(Clone, Debug)]
pub struct UringSettings {
    /// How many requests are handed to the kernel together at most; those that are ready, and none
    /// waits long for others. With 1, each enters the kernel as soon as it was handed over.
    pub batch: usize,
    /// Who runs the kernel's part of a completion.
    pub taskrun: Taskrun,
    /// Whether files and buffers are registered, which saves work for each request.
    pub register: bool,
    /// Who notices that the device is done.
    pub notice: Notice,
}

/// Who notices that a device is done with a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notice {
    /// The device, by an interrupt.
    #[default]
    Interrupt,
    /// The worker, which asks over and over: direct transfers alone, on a device with queues for
    /// it. What else a client may ask fails.
    Poll,
}

impl Default for UringSettings {
    fn default() -> Self {
        Self {
            batch: 1,
            taskrun: Taskrun::default(),
            register: true,
            notice: Notice::default(),
        }
    }
}

impl DriverOptions {
    /// `depth` outstanding requests of at most `buffer_len` bytes, everything else as is usual.
    pub fn new(depth: usize, buffer_len: usize) -> Self {
        Self {
            depth,
            buffer_len,
            variety: VARIETY_BYTES,
            pages: BufferPages::default(),
            payload: Payload::default(),
            awake: AWAKE_USUAL,
            compute: ComputeSettings::default(),
            uring: UringSettings::default(),
        }
    }

    /// Memory for the requests of a driver.
    pub(crate) fn buffers(&self) -> Result<BufferPool, DriverError> {
        let (seed, len) = (self.payload.run, self.buffer_len);
        let pool = BufferPool::in_pages(self.pages, self.depth, len, self.variety, seed);
        pool.map_err(|error| DriverError::System {
            operation: "getting memory",
            reason: error.to_string(),
        })
    }

    pub(crate) fn check(&self) -> Result<(), DriverError> {
        let is_right = (1..=DEPTH_MAX).contains(&self.depth)
            && u32::try_from(self.buffer_len).is_ok()
            && (1..=DEPTH_MAX).contains(&self.uring.batch);
        if is_right {
            return Ok(());
        }
        Err(DriverError::System {
            operation: "setting up a driver",
            reason: format!(
                "depth {} and batch {} must lie in 1 to {DEPTH_MAX}, block size {} below 4 GiB",
                self.depth, self.uring.batch, self.buffer_len
            ),
        })
    }
}

/// A driver, and what the report should say about it.
pub struct OpenedDriver {
    /// The driver; it must stay on the thread that opened it.
    pub driver: Box<dyn Driver>,
    /// Which one it is; never [`DriverKind::Auto`].
    pub kind: DriverKind,
    /// Why it is not io_uring, or not as usual, as the end of "...: ".
    pub obstacle: Option<String>,
    /// What else is not as one would expect, a sentence each.
    pub notes: Vec<String>,
}

/// Open a driver on the thread that will use it.
///
/// # Errors
/// When the kind that was asked for cannot be had.
pub fn open_driver(
    kind: DriverKind,
    targets: &Arc<TargetTable>,
    clock: MonotonicClock,
    options: &DriverOptions,
) -> Result<OpenedDriver, DriverError> {
    match kind {
        DriverKind::Threads => open_threads(targets, clock, options, None),
        DriverKind::Uring => open_uring(targets, clock, options),
        DriverKind::Auto => match obstacle(targets) {
            Some(obstacle) if obstacle.calls_for_threads(options.depth) => {
                open_threads(targets, clock, options, Some(obstacle))
            }
            _ => match open_uring(targets, clock, options) {
                // A small ring may be had where one for all requests is refused.
                Err(DriverError::System { operation, reason }) if operation == SETUP => {
                    open_threads(targets, clock, options, Some(Obstacle::Refused { reason }))
                }
                opened => opened,
            },
        },
    }
}

/// What stands in the way of io_uring.
enum Obstacle {
    Refused { reason: String },
    Slow { path: PathBuf, delay: RingDelay },
}

impl Obstacle {
    /// Whether blocking calls are the better way for `depth` requests at once. Threads of the
    /// kernel take many of them with fewer switches than threads of ours; one is done at once by
    /// the thread that wants it.
    fn calls_for_threads(&self, depth: usize) -> bool {
        match self {
            Self::Slow { delay, .. } => *delay == RingDelay::Entry || depth == 1,
            Self::Refused { .. } => true,
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { reason } => write!(f, "io_uring is refused here ({reason})"),
            Self::Slow { path, delay } => {
                let does = match delay {
                    RingDelay::Entry => "keeps io_uring waiting for each request",
                    RingDelay::KernelThreads => "makes io_uring wake a kernel thread per request",
                };
                write!(f, "the file system of {} {does}", path.display())
            }
        }
    }
}

fn obstacle(targets: &TargetTable) -> Option<Obstacle> {
    if let UringSupport::Refused { reason } = probe() {
        return Some(Obstacle::Refused { reason });
    }
    // One file of each file system is enough: there may be thousands.
    let mut devices = BTreeSet::new();
    let mut firsts = targets.targets().iter().filter(|target| {
        let found = target.identity();
        found.is_ok_and(|(device, _)| devices.insert(device))
    });
    firsts.find_map(|target| {
        let delay = ring_delay(target)?;
        let path = target.path().to_owned();
        Some(Obstacle::Slow { path, delay })
    })
}

fn open_uring(
    targets: &Arc<TargetTable>,
    clock: MonotonicClock,
    options: &DriverOptions,
) -> Result<OpenedDriver, DriverError> {
    let obstacle = obstacle(targets);
    if let Some(Obstacle::Refused { reason }) = obstacle {
        return Err(DriverError::System {
            operation: SETUP,
            reason,
        });
    }
    let mut driver = UringDriver::new(targets, clock, options)?;
    if obstacle.is_some() {
        driver.leave_to_kernel_threads();
    }
    let notes = driver.features().notes();
    Ok(OpenedDriver {
        driver: Box::new(driver),
        kind: DriverKind::Uring,
        obstacle: obstacle.map(|it| it.to_string()),
        notes,
    })
}

/// Threads that a driver of that kind starts for `depth` requests at once to `targets`.
pub fn io_threads(kind: DriverKind, targets: &TargetTable, depth: usize) -> usize {
    match kind {
        DriverKind::Uring => 0,
        DriverKind::Auto if !obstacle(targets).is_some_and(|it| it.calls_for_threads(depth)) => 0,
        DriverKind::Threads | DriverKind::Auto => depth.min(THREADS_MAX),
    }
}

fn open_threads(
    targets: &Arc<TargetTable>,
    clock: MonotonicClock,
    options: &DriverOptions,
    obstacle: Option<Obstacle>,
) -> Result<OpenedDriver, DriverError> {
    let driver = Box::new(ThreadsDriver::new(targets, clock, options)?);
    Ok(OpenedDriver {
        driver,
        kind: DriverKind::Threads,
        obstacle: obstacle.map(|it| it.to_string()),
        notes: Vec::new(),
    })
}
