//! May io_uring be used here, may it poll a device, and does it wait for the storage?

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, PoisonError};

use io_uring::{IoUring, opcode, squeue, types};

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

/// Reads that must all hold the caller up.
const READS_HELD_UP: usize = 3;

/// Whether a ring that is to read from `target` holds the caller up until the storage has answered,
/// so that the storage has one request at a time, however many were asked for. A file is asked
/// once, by three reads of its first bytes; one that holds nothing does not show it.
pub(crate) fn holds_up(target: &Target) -> bool {
    static KNOWN: Mutex<BTreeMap<(u64, u64), bool>> = Mutex::new(BTreeMap::new());
    let Ok(file) = target.descriptor() else {
        return false;
    };
    let Ok(metadata) = file.metadata() else {
        return false;
    };
    // The number of a device that is unmounted is given to the next one.
    let key = (metadata.dev(), metadata.ino());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(&key) {
        return *known;
    }
    for _ in 0..READS_HELD_UP {
        match is_read_held_up(&file, target.alignment()) {
            Ok(Some(true)) => {}
            Ok(Some(false)) => {
                known.insert(key, false);
                return false;
            }
            Ok(None) | Err(_) => return false,
        }
    }
    known.insert(key, true);
    true
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
    let len = alignment.offset.max(4096);
    let buffer = AlignedBuffer::zeroed(len as usize).map_err(io::Error::other)?;
    let fd = types::Fd(file.as_raw_fd());
    let read = opcode::Read::new(fd, buffer.as_ptr(), len).build();
    Ok((buffer, read))
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
