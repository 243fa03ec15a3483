//! May io_uring be used here, and may it poll a device?

use std::io;
use std::os::fd::AsRawFd as _;

use io_uring::{IoUring, opcode, types};

use crate::buffers::AlignedBuffer;
use crate::target::Target;

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
#[must_use]
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
    let len = target.alignment().offset.max(4096);
    let buffer = AlignedBuffer::zeroed(len as usize).map_err(io::Error::other)?;
    let mut ring: IoUring = IoUring::builder().setup_iopoll().build(2)?;
    let read = opcode::Read::new(types::Fd(target.file().as_raw_fd()), buffer.as_ptr(), len);
    // SAFETY: the buffer outlives the request, whose end is waited for below; where that fails, the
    // memory is given up for good.
    let pushed = unsafe { ring.submission().push(&read.build()) };
    pushed.map_err(io::Error::other)?;
    let result = loop {
        match ring.submit_and_wait(1) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                std::mem::forget(buffer);
                return Err(error);
            }
        }
        if let Some(done) = ring.completion().next() {
            break done.result();
        }
    };
    match result {
        0.. => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

fn is_disabled() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled")
        .is_ok_and(|value| value.trim() != "0")
}
