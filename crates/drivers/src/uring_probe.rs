//! May io_uring be used here, may it poll a device, and what does a file system do with a ring?

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, PoisonError};

use io_uring::{IoUring, opcode, squeue, types};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::alignment::Alignment;
use crate::buffers::AlignedBuffer;
use crate::target::Target;
use sys::voluntary_switches;

/// Whether io_uring may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UringSupport {
    /// It may.
    Usable,
    /// It may not.
    Refused {
        /// Why, as the end of "io_uring is refused here (...)".
        reason: String,
    },
}

/// Ask the kernel for a small ring and read off why it refuses.
pub fn probe() -> UringSupport {
    let error = match IoUring::new(2) {
        // Waiting with a time limit came with Linux 5.11, and every wait here has one.
        Ok(ring) if ring.params().is_feature_ext_arg() => return UringSupport::Usable,
        Ok(_) => io::Error::from_raw_os_error(libc::ENOSYS),
        Err(error) => error,
    };
    UringSupport::Refused {
        reason: refusal(&error),
    }
}

/// Why the kernel gives no ring, as the end of "io_uring is refused here (...)".
pub(crate) fn refusal(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) if is_disabled() => {
            "kernel.io_uring_disabled forbids it".to_owned()
        }
        Some(libc::EPERM | libc::EACCES) => "a sandbox forbids the system call".to_owned(),
        Some(libc::ENOSYS) => "the kernel is older than 5.11 or a sandbox hides it".to_owned(),
        Some(libc::ENOMEM) => "too little memory may be locked, see `ulimit -l`".to_owned(),
        Some(libc::EMFILE | libc::ENFILE) => "too many files are open".to_owned(),
        _ => error.to_string(),
    }
}

/// Read the first bytes of `target`, which is open past the page cache, from a ring that polls. A
/// target that holds nothing shows only whether its file system takes part.
///
/// # Errors
/// What the kernel says against it: that it does not support it, as a rule.
pub fn probe_polling(target: &Target) -> io::Result<()> {
    let (buffer, read) = first_bytes(target.file(), target.alignment())?;
    let mut ring: IoUring = IoUring::builder().setup_iopoll().build(2)?;
    // SAFETY: the buffer outlives the request, whose end `end_of` waits for.
    let pushed = unsafe { ring.submission().push(&read) };
    pushed.map_err(io::Error::other)?;
    let result = end_of(&mut ring, buffer)?;
    match result {
        0.. => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

/// What makes a ring the wrong way to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingDelay {
    /// The caller is held up until the storage has answered, so that the storage has one request at
    /// a time, however many were asked for.
    Entry,
    /// The file cannot say that it would have to wait (`RWF_NOWAIT`), so the kernel wakes a thread
    /// of its own for each request.
    KernelThreads,
}

/// Reads that must all hold the caller up.
const READS_HELD_UP: usize = 3;

/// What makes a ring the wrong way to `target`. A file is asked once, by reads of its first bytes;
/// one that holds nothing does not show that it holds the caller up.
pub(crate) fn ring_delay(target: &Target) -> Option<RingDelay> {
    static KNOWN: Mutex<BTreeMap<(u64, u64), Option<RingDelay>>> = Mutex::new(BTreeMap::new());
    let file = target.descriptor().ok()?;
    let metadata = file.metadata().ok()?;
    // The number of a device that is unmounted is given to the next one.
    let key = (metadata.dev(), metadata.ino());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(&key) {
        return *known;
    }
    let alignment = target.alignment();
    let delay = match is_left_to_kernel_threads(&file, alignment) {
        Ok(true) => Some(RingDelay::KernelThreads),
        Ok(false) | Err(_) => held_up(&file, alignment)?.then_some(RingDelay::Entry),
    };
    known.insert(key, delay);
    delay
}

/// A place past the end of any file, where a read moves no bytes.
const PAST_THE_END: u64 = 1 << 60;

/// Whether the kernel knows neither reads of `file` that return instead of waiting nor how to wait
/// for it (`io_file_supports_nowait` in Linux).
fn is_left_to_kernel_threads(file: &File, alignment: Alignment) -> io::Result<bool> {
    let mut buffer = first_buffer(alignment)?;
    let mut parts = [IoSliceMut::new(buffer.as_mut_slice())];
    match preadv2(file, &mut parts, PAST_THE_END, ReadWriteFlags::NOWAIT) {
        Ok(_) | Err(Errno::AGAIN) => Ok(false),
        Err(Errno::OPNOTSUPP) => Ok(!can_poll(file)?),
        Err(error) => Err(error.into()),
    }
}

/// Whether one may wait for `file` to become readable, as for a pipe; FUSE has that for files, too.
fn can_poll(file: &File) -> io::Result<bool> {
    let waiter = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    match epoll::add(&waiter, file, EventData::new_u64(0), EventFlags::IN) {
        Ok(()) => Ok(true),
        Err(Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether reads of `file` hold the caller up, each of them; `None` where it cannot be known.
fn held_up(file: &File, alignment: Alignment) -> Option<bool> {
    for _ in 0..READS_HELD_UP {
        if !is_read_held_up(file, alignment).ok().flatten()? {
            return Some(false);
        }
    }
    Some(true)
}

/// Whether the thread slept while it handed a read over, and found it done when it came back;
/// `None` where nothing was read.
fn is_read_held_up(file: &File, alignment: Alignment) -> io::Result<Option<bool>> {
    let mut ring = IoUring::new(2)?;
    let (buffer, read) = first_bytes(file, alignment)?;
    // SAFETY: the buffer outlives the request, whose end `end_of` waits for.
    let pushed = unsafe { ring.submission().push(&read) };
    pushed.map_err(io::Error::other)?;
    let before = voluntary_switches();
    let submitted = ring.submit();
    let slept = voluntary_switches() > before;
    let is_done = !ring.completion().is_empty();
    let read = end_of(&mut ring, buffer)?;
    submitted?;
    Ok((read > 0).then_some(slept && is_done))
}

/// A read of the first bytes of `file`, and the memory it goes to.
fn first_bytes(file: &File, alignment: Alignment) -> io::Result<(AlignedBuffer, squeue::Entry)> {
    let buffer = first_buffer(alignment)?;
    let fd = types::Fd(file.as_raw_fd());
    let read = opcode::Read::new(fd, buffer.as_ptr(), first_len(alignment)).build();
    Ok((buffer, read))
}

/// Memory for the first bytes of a file.
fn first_buffer(alignment: Alignment) -> io::Result<AlignedBuffer> {
    AlignedBuffer::zeroed(first_len(alignment) as usize).map_err(io::Error::other)
}

fn first_len(alignment: Alignment) -> u32 {
    alignment.offset.max(4096)
}

/// Wait for the end of the only request of `ring`, which reads into `buffer`; where that fails, the
/// memory is given up for good.
fn end_of(ring: &mut IoUring, buffer: AlignedBuffer) -> io::Result<i32> {
    loop {
        if let Some(done) = ring.completion().next() {
            return Ok(done.result());
        }
        match ring.submit_and_wait(1) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                std::mem::forget(buffer);
                return Err(error);
            }
        }
    }
}

fn is_disabled() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled")
        .is_ok_and(|value| value.trim() != "0")
}
