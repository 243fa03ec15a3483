//! Why a target cannot be used: what is wrong, with what, and what to do.

use std::io;
use std::path::{Path, PathBuf};

use units::Bytes;

/// Why a target cannot be used. Every message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The system refused an operation on a path.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        operation: &'static str,
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was opened is opened again by its descriptor, which takes /proc.
    #[error(
        "cannot open {}: /proc is not mounted. Mount it (mount -t proc proc /proc)",
        path.display()
    )]
    NoProc {
        /// The path as given.
        path: PathBuf,
    },
    /// The path is neither a regular file nor a block device.
    #[error("{} is a {kind}. Name a regular file or a block device", path.display())]
    NotStorage {
        /// The path as given.
        path: PathBuf,
        kind: &'static str,
    },
    /// It has no bytes.
    #[error("{} is empty: there is nothing to read", path.display())]
    NothingToRead {
        /// The path as given.
        path: PathBuf,
    },
    /// The device, or something on it, is mounted.
    #[error("{device} is not overwritten: {member} is mounted at {place}. Unmount it first")]
    Mounted {
        /// The device named.
        device: String,
        /// What is mounted: itself, or something that shares bytes with it.
        member: String,
        /// Where it is mounted, and who sees it there if not we.
        place: String,
    },
    /// The device or file, or something on it, is swap space.
    #[error("{device} is not overwritten: {member} is swap space in use. Run `swapoff` first")]
    Swap {
        /// The target named.
        device: String,
        /// The swap space.
        member: String,
    },
    /// Another device is built on it: RAID, LVM, device mapper, or a loop device on a file.
    #[error("{device} is not overwritten: {member} is in use by {holders}. Take that apart first")]
    Held {
        /// The target named.
        device: String,
        /// The member that is held.
        member: String,
        /// Who holds it.
        holders: String,
    },
    /// The system reports too little to know that the device is unused.
    #[error(
        "{device} is not overwritten: {what}, so it may be in use. Run as root, where /dev, /proc \
         and /sys are whole"
    )]
    Unseen {
        /// The device named.
        device: String,
        /// What is not known.
        what: String,
    },
    /// The kernel says that another user has exclusive access to the device.
    #[error("{device} is not overwritten: it is in use by the system or by another program")]
    Busy {
        /// The device named.
        device: String,
    },
    /// The device has what looks like data.
    #[error(
        "{device} is not overwritten: it carries {found}. If that may go, confirm with the name of \
         the device, {name}"
    )]
    Signature {
        /// The path as given.
        device: String,
        /// What was found on it.
        found: String,
        /// What to type.
        name: String,
    },
    /// The file system or device refuses direct I/O.
    #[error(
        "{} does not support direct I/O: use buffered I/O, or another file system",
        path.display()
    )]
    DirectUnsupported {
        /// The file.
        path: PathBuf,
    },
    /// There is too little room.
    #[error(
        "{} has no space for {}{why}: {} are free, and {} must stay free. Ask for less \
         (--size, or in a study --set size=...), keep less free (--reserve), or free some space",
        path.display(), Bytes(*wanted), Bytes(*available), Bytes(*reserve)
    )]
    NoRoom {
        /// The file system.
        path: PathBuf,
        /// Bytes wanted.
        wanted: u64,
        /// Why so many, in brackets after a space, where that is not plain.
        why: &'static str,
        /// Bytes that may be used.
        available: u64,
        /// Bytes that must stay free.
        reserve: u64,
    },
    /// The file system holds as many files as it can.
    #[error(
        "{} has no space for {wanted} more files: its free inodes allow {available}. Ask for \
         fewer, remove some, or name another directory", path.display()
    )]
    NoFiles {
        /// The file system.
        path: PathBuf,
        /// Files wanted.
        wanted: u64,
        /// Files that may still be made.
        available: u64,
    },
    /// A name that is not a plain file name.
    #[error("{name:?} is not a plain file name: use letters, digits, `-`, `_` and `.`")]
    BadName { name: String },
    /// A directory that this program does not dare to remove.
    #[error("{} was left unchanged: {why}", path.display())]
    LeftBehind {
        /// The directory.
        path: PathBuf,
        why: String,
    },
}

impl TargetError {
    /// A refusal by the system: `operation` is a verb, as in "cannot open".
    pub fn io(
        operation: &'static str,
        path: impl AsRef<Path>,
        source: impl Into<io::Error>,
    ) -> Self {
        Self::Io {
            operation,
            path: path.as_ref().to_path_buf(),
            source: source.into(),
        }
    }
}
