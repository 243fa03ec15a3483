//! The second seam: the calls of a program that uses files, one after the other, each blocking.
//!
//! [`crate::Driver`] is made for many requests at once. A program that creates, writes and closes
//! has one call under way, and the next makes sense only when that one is done; so here the driver
//! performs a call and returns. Time still passes in the driver alone.

use std::collections::BTreeMap;

use stats::{Histogram, TimeCounts};
use units::{Duration, Instant};
use workload::{Errno, FileOp, FileOpKind};

use crate::driver::{Activity, Clock};

/// Performs a program's calls, on a real file system or on a model of one.
///
/// # Contract
/// - `perform` returns when the call is done; the clock has moved on by what it took.
/// - It returns the bytes moved, or an error number. A read of other data than were written last is
///   an error, `EILSEQ`; a short read or write is one, too: `EIO`, unless the system named another.
/// - Only what was made through this driver can be opened for writing, renamed or removed.
/// - At most one file is open. After an error nothing is.
pub trait FileDriver: Clock {
    /// Perform one call.
    ///
    /// # Errors
    /// The system's error number. What the call was to do is then undone or remembered, so that
    /// [`FileOp::Initialise`] still removes it.
    fn perform(&mut self, op: &FileOp) -> Result<u64, Errno>;

    /// Bytes of the device that [`FileOp::ReadDevice`] reads; `None` where there is none.
    fn device_bytes(&self) -> Option<u64> {
        None
    }

    /// Processor time that this program has used so far; `None` where unknown.
    fn processor_time(&self) -> Option<ProcessorTime> {
        None
    }

    /// What the storage has done so far, where the driver itself knows: on a model. On real storage
    /// the kernel is asked instead.
    fn activity(&self) -> Option<Activity> {
        None
    }
}

impl<D: FileDriver + ?Sized> FileDriver for Box<D> {
    fn perform(&mut self, op: &FileOp) -> Result<u64, Errno> {
        (**self).perform(op)
    }
    fn device_bytes(&self) -> Option<u64> {
        (**self).device_bytes()
    }
    fn processor_time(&self) -> Option<ProcessorTime> {
        (**self).processor_time()
    }
    fn activity(&self) -> Option<Activity> {
        (**self).activity()
    }
}

/// The error number of a read that found other data than were written last.
pub const WRONG_DATA: Errno = Errno(84);

/// Processor time by where it was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    /// In the program.
    pub user: Duration,
    /// In the system, for the program.
    pub system: Duration,
}

impl ProcessorTime {
    /// What was used between an `earlier` look and this one.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user: Duration(self.user.0.saturating_sub(earlier.user.0)),
            system: Duration(self.system.0.saturating_sub(earlier.system.0)),
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            user: self.user + other.user,
            system: self.system + other.system,
        }
    }
}

/// How a script came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayEnd {
    /// Every call was made.
    Whole,
    /// It was stopped in between.
    Stopped,
    /// A call failed, and those after it would have made no sense.
    Failed {
        /// The call.
        op: FileOp,
        /// Why.
        error: Errno,
    },
}

/// What playing a script brought.
#[derive(Clone, Debug)]
pub struct Played {
    /// How it ended.
    pub end: PlayEnd,
    pub began: Instant,
    pub ended: Instant,
    /// Calls of the system that succeeded.
    pub ops: u64,
    /// Bytes moved, the null device's included.
    pub bytes: u64,
    /// Times of the calls that succeeded, by kind.
    pub times: BTreeMap<FileOpKind, Histogram>,
    /// Processor time used; absent where unknown.
    pub cpu: Option<ProcessorTime>,
    /// What the storage did; absent where the driver does not know.
    pub activity: Option<Activity>,
}

/// Make the calls of `script` until it ends, one fails, or `is_stopped` says so.
///
/// The clock is read once between two calls: the end of one is the start of the next.
pub fn play(
    driver: &mut dyn FileDriver,
    mut script: impl Iterator<Item = FileOp>,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Played {
    let mut playing = Playing::begin(driver);
    playing.go_on(driver, &mut script, is_stopped);
    playing.end(driver)
}

/// A script that is played in parts. Of drivers and scripts it knows no types: so it is compiled in
/// this crate, which is optimised for measuring.
pub(crate) struct Playing {
    counts: [Option<Box<TimeCounts>>; FileOpKind::ALL.len()],
    cpu_before: Option<ProcessorTime>,
    activity_before: Option<Activity>,
    /// When the first call began.
    pub began: Instant,
    /// When the last call so far ended.
    pub ended: Instant,
    ops: u64,
    /// Bytes moved so far.
    pub bytes: u64,
    /// How the parts so far ended.
    pub end: PlayEnd,
}

impl Playing {
    /// Nothing is played yet.
    pub fn begin(driver: &mut dyn FileDriver) -> Self {
        let (cpu_before, activity_before) = (driver.processor_time(), driver.activity());
        let began = driver.now();
        Self {
            counts: Default::default(),
            cpu_before,
            activity_before,
            began,
            ended: began,
            ops: 0,
            bytes: 0,
            end: PlayEnd::Whole,
        }
    }

    /// Time passes that is no call's.
    pub fn wait(&mut self, driver: &dyn FileDriver) {
        self.ended = driver.now();
    }

    /// Play a part, unless one before it was not played to its end.
    pub fn go_on(
        &mut self,
        driver: &mut dyn FileDriver,
        script: &mut dyn Iterator<Item = FileOp>,
        is_stopped: &mut dyn FnMut() -> bool,
    ) {
        if self.end != PlayEnd::Whole {
            return;
        }
        for op in script {
            if is_stopped() {
                self.end = PlayEnd::Stopped;
                break;
            }
            let done = driver.perform(&op);
            let now = driver.now();
            match done {
                Ok(moved) => {
                    self.bytes += moved;
                    if op.kind().is_call() {
                        let times = self.counts[op.kind() as usize].get_or_insert_default();
                        times.record(now.since(self.ended).as_nanos());
                        self.ops += 1;
                    }
                }
                Err(error) => {
                    self.end = PlayEnd::Failed { op, error };
                    self.ended = now;
                    break;
                }
            }
            self.ended = now;
        }
    }

    /// What all parts brought.
    pub fn end(self, driver: &dyn FileDriver) -> Played {
        let cpu = driver.processor_time().zip(self.cpu_before);
        let activity = driver.activity().zip(self.activity_before);
        let by_kind = FileOpKind::ALL.into_iter().zip(self.counts);
        Played {
            end: self.end,
            began: self.began,
            ended: self.ended,
            ops: self.ops,
            bytes: self.bytes,
            times: by_kind
                .filter_map(|(kind, times)| Some((kind, times?.to_histogram())))
                .collect(),
            cpu: cpu.map(|(after, before)| after.since(&before)),
            activity: activity.map(|(after, before)| after.since(&before)),
        }
    }
}
