//! The seam between the pure core and the world: a clock, and a driver that performs requests.

use units::Instant;
use workload::{Completion, Request};

/// A source of time: the machine's monotonic clock, or a virtual one.
pub trait Clock {
    /// The present instant.
    fn now(&self) -> Instant;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Instant {
        (**self).now()
    }
}

/// What makes a driver useless. A failed operation is not one of these: it is a [`Completion`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The kernel refused to go on.
    #[error("{operation} failed: {reason}")]
    System {
        /// Which call failed.
        operation: &'static str,
        /// What the system said.
        reason: String,
    },
    /// `wait` was called with nothing in flight and no deadline: it would never return.
    #[error("nothing is in flight and no deadline was set: the wait would never end")]
    Idle,
}

/// Performs requests, on real storage or on a model of it.
///
/// # Contract, checked by the conformance suite
/// - At most [`Driver::capacity`] requests are outstanding; `submit` beyond that panics. Work of a
///   processor (`Op::Compute`) does not count, and delays no other request.
/// - `submit` may only queue. [`Driver::wait`] is the only place where time passes.
/// - `wait` returns when at least one request is done or the deadline has come, whichever is first;
///   with nothing in flight it waits for the deadline. It never loses or repeats a request.
/// - `issued` is stamped when the kernel or the model is entered, never before `submit`.
/// - Short reads and writes are carried on until they are whole, fail, or reach the end of file.
pub trait Driver: Clock {
    /// How many requests may be outstanding.
    fn capacity(&self) -> usize;

    /// Take a request.
    ///
    /// # Errors
    /// When the driver itself is broken; a failing request is reported by `wait`.
    fn submit(&mut self, request: Request) -> Result<(), DriverError>;

    /// Wait for completions until `deadline`, and append them to `done`.
    ///
    /// # Errors
    /// When the driver itself is broken, or would wait for ever.
    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError>;

    /// As [`Driver::wait`], for a deadline at which nothing is due, such as the end of a slice.
    /// What is done still ends it at once, but nobody stays awake for the deadline, which may
    /// pass by as much as a sleep ends late.
    ///
    /// # Errors
    /// When the driver itself is broken.
    fn rest(&mut self, deadline: Instant, done: &mut Vec<Completion>) -> Result<(), DriverError> {
        self.wait(Some(deadline), done)
    }

    /// Until when the last `wait` was held up by a request that it carried out in place. A request
    /// that fell due in that time had no room: the generator did not miss it.
    fn blocked_until(&self) -> Instant {
        Instant::START
    }

    /// How often the kernel was entered to submit or reap, for the report. Zero where it has no
    /// meaning.
    fn kernel_entries(&self) -> u64 {
        0
    }

    /// What the driver itself had and did so far, for the report.
    fn own_work(&self) -> OwnWork {
        OwnWork::default()
    }

    /// What the storage and the processors have done so far, where the driver itself knows: on a
    /// model. On real storage the kernel is asked instead.
    fn activity(&self) -> Option<Activity> {
        None
    }
}

/// What a driver had and did itself, apart from the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnWork {
    /// Memory for transfers, bytes.
    pub buffer_bytes: u64,
    /// What of it lies in huge pages, where the kernel tells.
    pub huge_bytes: Option<u64>,
    /// Entries into the kernel that only handed requests over, and were timed.
    pub entries_timed: u64,
    /// The sum of their lengths, nanoseconds.
    pub entries_timed_ns: u64,
    /// The length of the longest, nanoseconds.
    pub entry_longest_ns: u64,
    /// Entries that waited for the storage, of those that were watched for it.
    pub entries_held_up: u64,
    /// Whether threads of the kernel carried requests out, since entries waited for the storage.
    pub by_kernel_threads: bool,
    /// Time spent awake for nothing but the next deadline, nanoseconds.
    pub awake_ns: u64,
}

impl OwnWork {
    /// Both together; of bytes in huge pages nothing is known where one does not know.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            buffer_bytes: self.buffer_bytes + other.buffer_bytes,
            huge_bytes: self.huge_bytes.zip(other.huge_bytes).map(|(a, b)| a + b),
            entries_timed: self.entries_timed + other.entries_timed,
            entries_timed_ns: self.entries_timed_ns + other.entries_timed_ns,
            entry_longest_ns: self.entry_longest_ns.max(other.entry_longest_ns),
            entries_held_up: self.entries_held_up + other.entries_held_up,
            by_kernel_threads: self.by_kernel_threads || other.by_kernel_threads,
            awake_ns: self.awake_ns + other.awake_ns,
        }
    }
}

/// Counters of storage and processors since some beginning. An unknown sum is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Processor time that was used, by whomever, nanoseconds.
    pub cpu_busy_ns: Option<u64>,
    /// Processor time that there was, over all processors, nanoseconds.
    pub cpu_there_ns: Option<u64>,
    /// Processor time that this process used, nanoseconds.
    pub cpu_own_ns: Option<u64>,
    /// Time in which the device had one request at least, nanoseconds.
    pub device_busy_ns: Option<u64>,
    /// Time that requests were with the device, summed over requests, nanoseconds.
    pub device_queue_ns: Option<u64>,
    /// Reads that the device completed.
    pub device_reads: Option<u64>,
    /// Writes that the device completed.
    pub device_writes: Option<u64>,
    /// Bytes that the device moved.
    pub device_bytes: Option<u64>,
    /// Bytes that this process had the device move.
    pub own_bytes: Option<u64>,
    /// Pages of 4 KiB that this process caused to be fetched from a device.
    pub pages_fetched: Option<u64>,
    /// Page faults of this process that were served from memory.
    pub minor_faults: Option<u64>,
    /// Page faults of this process that waited for a device.
    pub major_faults: Option<u64>,
    /// Pages of 4 KiB in the file cache of a model, summed over microseconds.
    pub file_cache_page_us: Option<u64>,
}

impl Activity {
    /// What was done between an `earlier` look and this one.
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    fn with(&self, other: &Self, join: fn(u64, u64) -> u64) -> Self {
        let both = |of: fn(&Self) -> Option<u64>| Some(join(of(self)?, of(other)?));
        Self {
            cpu_busy_ns: both(|it| it.cpu_busy_ns),
            cpu_there_ns: both(|it| it.cpu_there_ns),
            cpu_own_ns: both(|it| it.cpu_own_ns),
            device_busy_ns: both(|it| it.device_busy_ns),
            device_queue_ns: both(|it| it.device_queue_ns),
            device_reads: both(|it| it.device_reads),
            device_writes: both(|it| it.device_writes),
            device_bytes: both(|it| it.device_bytes),
            own_bytes: both(|it| it.own_bytes),
            pages_fetched: both(|it| it.pages_fetched),
            minor_faults: both(|it| it.minor_faults),
            major_faults: both(|it| it.major_faults),
            file_cache_page_us: both(|it| it.file_cache_page_us),
        }
    }
}

impl<D: Driver + ?Sized> Driver for Box<D> {
    fn capacity(&self) -> usize {
        (**self).capacity()
    }
    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        (**self).submit(request)
    }
    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        (**self).wait(deadline, done)
    }
    fn rest(&mut self, deadline: Instant, done: &mut Vec<Completion>) -> Result<(), DriverError> {
        (**self).rest(deadline, done)
    }
    fn blocked_until(&self) -> Instant {
        (**self).blocked_until()
    }
    fn kernel_entries(&self) -> u64 {
        (**self).kernel_entries()
    }
    fn own_work(&self) -> OwnWork {
        (**self).own_work()
    }
    fn activity(&self) -> Option<Activity> {
        (**self).activity()
    }
}

impl<D: Clock + ?Sized> Clock for Box<D> {
    fn now(&self) -> Instant {
        (**self).now()
    }
}
