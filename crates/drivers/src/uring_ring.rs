//! A ring with as little between us and the kernel as possible: which flags it got, and one way in.

use std::io;
use std::os::fd::AsRawFd;

use engine::DriverError;
use io_uring::{IoUring, cqueue, squeue};
use units::Duration;

use crate::buffers::BufferPool;
use crate::open::{DriverOptions, Notice, THREADS_MAX, UringSettings};
use crate::table::TargetTable;
use crate::uring_probe::refusal;
use sys::timespec;

/// What the kernel refuses where it gives no ring.
pub(crate) const SETUP: &str = "io_uring_setup";

/// Enter flags and register calls that the binding does not export.
const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 1 << 3;
const ENTER_REGISTERED_RING: u32 = 1 << 4;
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;
/// The kernel picks the place.
const ANY_PLACE: u32 = u32::MAX;

/// The largest piece of memory that the kernel registers as one buffer.
const REGISTERED_BYTES_MAX: usize = 1 << 30;
/// How often in a row the kernel may be too busy to take or give anything.
const REFUSALS_MAX: u32 = 100_000;

/// Who runs the kernel's part of a completion, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taskrun {
    /// The worker, when it waits (Linux 6.1 and later).
    #[default]
    Deferred,
    /// The worker, at its next system call (Linux 5.19 and later).
    Cooperative,
    /// The worker, interrupted for it.
    Immediate,
}

/// What the kernel granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Who runs completions.
    pub taskrun: Taskrun,
    /// How many of the first targets are registered.
    pub registered_files: u32,
    /// Whether the buffers are registered.
    pub has_registered_buffers: bool,
    /// Whether the ring's own descriptor is registered.
    pub has_registered_ring: bool,
    /// Whether buffers were to be registered.
    wants_buffers: bool,
}

impl Features {
    /// What the report should say, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        if self.wants_buffers && !self.has_registered_buffers {
            let text = "the kernel did not register the buffers (see `ulimit -l`): each request \
                        costs a little more processor time";
            return vec![text.to_owned()];
        }
        Vec::new()
    }
}

/// How long to stay in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingWait {
    /// Hand over only.
    Submit,
    /// Hand over, and let finished requests be delivered.
    Poll,
    /// Until a request is done or the time is over.
    AtMost(Duration),
    /// Until a request is done.
    Forever,
}

/// The kernel's `io_uring_getevents_arg`.
#[repr(C)]
struct WaitArgument {
    signal_mask: u64,
    signal_mask_size: u32,
    min_wait_us: u32,
    timespec: u64,
}

/// The kernel's `io_uring_rsrc_update`.
#[repr(C)]
struct RingUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

pub(crate) struct Ring {
    ring: IoUring,
    /// What `enter` is called with: a descriptor, or a place in the thread's table of rings.
    entrance: i32,
    entrance_flags: u32,
    /// Entries queued and not taken by the kernel yet.
    queued: u32,
    refusals: u32,
    entries: u64,
    features: Features,
    /// How many buffers lie in each registered piece of memory; zero where none is registered.
    buffers_together: u32,
}

impl Ring {
    /// A ring with room for the completions of all requests, so that they cannot overflow: a
    /// request has at most two, and a cancellation has one.
    pub(crate) fn new(
        options: &DriverOptions,
        targets: &TargetTable,
        buffers: &BufferPool,
    ) -> Result<Self, DriverError> {
        let UringSettings {
            batch, register, ..
        } = options.uring;
        // One more than a batch: a resumed request may join.
        let queue_len = (2 * batch as u32 + 2).next_power_of_two().max(16);
        let results_len = (2 * options.depth as u32 + 16)
            .next_power_of_two()
            .max(2 * queue_len);
        let (ring, taskrun) = set_up(&options.uring, queue_len, results_len).map_err(|error| {
            DriverError::System {
                operation: SETUP,
                reason: refusal(&error),
            }
        })?;
        let buffers_together = match register {
            true => register_buffers(&ring, buffers),
            false => 0,
        };
        let features = Features {
            taskrun,
            registered_files: if register {
                register_files(&ring, targets)
            } else {
                0
            },
            has_registered_buffers: buffers_together > 0,
            has_registered_ring: false,
            wants_buffers: register,
        };
        let entrance = ring.as_raw_fd();
        let mut ring = Self {
            ring,
            entrance,
            entrance_flags: 0,
            queued: 0,
            refusals: 0,
            entries: 0,
            features,
            buffers_together,
        };
        if register {
            ring.register_itself();
        }
        ring.allow_threads(options.depth as u32);
        Ok(ring)
    }

    pub(crate) fn features(&self) -> Features {
        self.features
    }

    /// Which registered piece of memory buffer `index` lies in.
    #[inline]
    pub(crate) fn piece_of(&self, index: u32) -> Option<u16> {
        index
            .checked_div(self.buffers_together)
            .map(|piece| piece as u16)
    }

    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// How many entries can be queued before the kernel must be entered.
    pub(crate) fn room(&mut self) -> usize {
        let queue = self.ring.submission();
        queue.capacity() - queue.len()
    }

    /// Queue an entry.
    ///
    /// # Safety
    /// Its memory must stay valid, and nobody else's, until its completion was reaped.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: the caller's promise.
        let pushed = unsafe { self.ring.submission().push(entry) };
        assert!(pushed.is_ok(), "the submission queue takes what is queued");
        self.queued += 1;
    }

    /// Finished requests that need no system call to be seen.
    #[inline]
    pub(crate) fn results(&mut self) -> cqueue::CompletionQueue<'_> {
        self.ring.completion()
    }

    /// Hand over what is queued and wait as `patience` says. An interrupted or timed-out wait is no
    /// error: the caller looks at the clock and at what is finished.
    #[inline]
    pub(crate) fn enter(&mut self, patience: RingWait) -> Result<(), DriverError> {
        let (want, flags, limit) = match patience {
            RingWait::Submit => (0, 0, None),
            RingWait::Poll => (0, ENTER_GETEVENTS, None),
            RingWait::Forever => (1, ENTER_GETEVENTS, None),
            RingWait::AtMost(span) => (1, ENTER_GETEVENTS | ENTER_EXT_ARG, Some(timespec(span))),
        };
        let argument = WaitArgument {
            signal_mask: 0,
            signal_mask_size: 0,
            min_wait_us: 0,
            timespec: limit
                .as_ref()
                .map_or(0, |limit| std::ptr::from_ref(limit) as u64),
        };
        let (start, len) = if limit.is_some() {
            (std::ptr::from_ref(&argument), size_of::<WaitArgument>())
        } else {
            (std::ptr::null(), 0)
        };
        self.entries += 1;
        let flags = flags | self.entrance_flags;
        // SAFETY: the argument and the time limit it points to live through the call, and both have
        // the kernel's layout. What the queued entries refer to was promised in `push`.
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.entrance,
                self.queued,
                want,
                flags,
                start,
                len,
            )
        };
        match u32::try_from(taken) {
            Ok(taken) => {
                self.queued -= taken;
                self.refusals = 0;
                Ok(())
            }
            Err(_) => self.judge(&io::Error::last_os_error()),
        }
    }

    fn judge(&mut self, error: &io::Error) -> Result<(), DriverError> {
        match error.raw_os_error() {
            Some(libc::EINTR | libc::ETIME) => Ok(()),
            // Short of memory, or results wait to be fetched: the caller fetches and comes again.
            Some(libc::EAGAIN | libc::EBUSY) if self.refusals < REFUSALS_MAX => {
                self.refusals += 1;
                std::thread::yield_now();
                Ok(())
            }
            _ => Err(system("io_uring_enter", error)),
        }
    }

    /// The kernel's own threads (io-wq) run what a file system cannot start without waiting. By
    /// default they are four per processor, which would cap the queue depth: allow one per request.
    fn allow_threads(&self, depth: u32) {
        let submitter = self.ring.submitter();
        // Those for files, and for what may never end; zero changes nothing.
        let mut limits = [0, 0];
        let is_known = submitter.register_iowq_max_workers(&mut limits).is_ok();
        let wanted = depth.min(THREADS_MAX as u32);
        if is_known && limits[0] < wanted {
            let _ = submitter.register_iowq_max_workers(&mut [wanted, 0]);
        }
    }

    /// A registered ring saves the look-up of its descriptor at each entry.
    fn register_itself(&mut self) {
        let data = self.ring.as_raw_fd() as u64;
        let mut update = RingUpdate {
            offset: ANY_PLACE,
            reserved: 0,
            data,
        };
        if self.register_call(REGISTER_RING_FDS, &mut update) {
            self.entrance = i32::try_from(update.offset).expect("a place in a table of 16");
            self.entrance_flags = ENTER_REGISTERED_RING;
            self.features.has_registered_ring = true;
        }
    }

    fn register_call(&self, operation: u32, update: &mut RingUpdate) -> bool {
        let fd = self.ring.as_raw_fd();
        // SAFETY: `update` is one valid entry with the kernel's layout, as the count says.
        let count = unsafe {
            libc::syscall(
                libc::SYS_io_uring_register,
                fd,
                operation,
                std::ptr::from_mut(update),
                1,
            )
        };
        count == 1
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.features.has_registered_ring {
            // The thread's table would keep the ring alive.
            let offset = self.entrance.unsigned_abs();
            let mut update = RingUpdate {
                offset,
                reserved: 0,
                data: 0,
            };
            self.register_call(UNREGISTER_RING_FDS, &mut update);
        }
        if self.features.registered_files > 0 {
            // Else the files stay open for as long as that takes, and their file system busy.
            let _ = self.ring.submitter().unregister_files();
        }
        if self.features.has_registered_buffers {
            // The kernel takes a ring apart some time later; the next driver needs the locked
            // memory now.
            let _ = self.ring.submitter().unregister_buffers();
        }
    }
}

/// Set the ring up with the best flags that this kernel knows.
fn set_up(
    settings: &UringSettings,
    queue_len: u32,
    results_len: u32,
) -> io::Result<(IoUring, Taskrun)> {
    let wanted = settings.taskrun;
    let mut last = io::Error::from_raw_os_error(libc::EINVAL);
    for (taskrun, is_modern) in [
        (wanted, true),
        (wanted, false),
        (Taskrun::Cooperative, false),
        (Taskrun::Immediate, false),
    ] {
        let mut builder = IoUring::builder();
        builder.setup_cqsize(results_len).dontfork();
        match taskrun {
            Taskrun::Deferred => builder.setup_single_issuer().setup_defer_taskrun(),
            Taskrun::Cooperative => builder.setup_coop_taskrun(),
            Taskrun::Immediate => &mut builder,
        };
        if is_modern {
            builder.setup_no_sqarray();
        }
        if settings.notice == Notice::Poll {
            builder.setup_iopoll();
        }
        match builder.build(queue_len) {
            Ok(ring) => return Ok((ring, taskrun)),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn register_files(ring: &IoUring, targets: &TargetTable) -> u32 {
    let files = targets.targets().iter();
    let files: Vec<_> = match targets.opens_on_demand() {
        true => Vec::new(),
        false => files.map(|target| target.file().as_raw_fd()).collect(),
    };
    if files.is_empty() || ring.submitter().register_files(&files).is_err() {
        return 0;
    }
    files.len() as u32
}

/// Register the memory in as many pieces as the kernel asks for; says how many buffers lie in each,
/// zero when it refuses.
fn register_buffers(ring: &IoUring, buffers: &BufferPool) -> u32 {
    let (pieces, together) = buffers.pieces(REGISTERED_BYTES_MAX);
    let pieces = pieces.iter().map(|piece| libc::iovec {
        iov_base: piece.as_ptr().cast_mut().cast(),
        iov_len: piece.len(),
    });
    let pieces: Vec<libc::iovec> = pieces.collect();
    // SAFETY: the driver keeps the pool until the ring is gone, or for ever.
    let registered = unsafe { ring.submitter().register_buffers(&pieces) };
    registered.map_or(0, |()| together as u32)
}

fn system(operation: &'static str, error: &io::Error) -> DriverError {
    DriverError::System {
        operation,
        reason: error.to_string(),
    }
}
