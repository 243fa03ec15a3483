//! May io_uring be used here?

use std::io;

use io_uring::IoUring;

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
    let reason = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) if is_disabled() => {
            "kernel.io_uring_disabled forbids it".to_owned()
        }
        Some(libc::EPERM | libc::EACCES) => "a sandbox forbids the system call".to_owned(),
        Some(libc::ENOSYS) => "the kernel is older than 5.11 or a sandbox hides it".to_owned(),
        Some(libc::ENOMEM) => "too little memory may be locked, see `ulimit -l`".to_owned(),
        Some(libc::EMFILE | libc::ENFILE) => "too many files are open".to_owned(),
        _ => error.to_string(),
    };
    UringSupport::Refused { reason }
}

fn is_disabled() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled")
        .is_ok_and(|value| value.trim() != "0")
}
