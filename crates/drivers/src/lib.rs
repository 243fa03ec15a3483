//! Storage behind the driver seam: io_uring, blocking threads, and targets opened with care.
//!
//! Knows nothing about clients, procedures or reports. The only crate that talks to the kernel
//! about storage.

// Completion rings, system calls that no crate wraps, and memory that the kernel writes into cannot
// be had without it; no other crate of the workspace may use it.
#![allow(unsafe_code)]

mod alignment;
mod batch;
mod blocking;
mod buffers;
mod compute;
mod content;
mod device;
mod entry_watch;
mod event_loops;
mod file_content;
mod file_system;
mod guard;
mod huge_pages;
mod on_demand;
mod open;
mod payload;
mod purge;
mod raw_device;
#[doc(hidden)]
pub mod readers;
mod signature;
mod space;
mod stale;
mod table;
mod target;
mod target_error;
mod threads;
mod uring;
mod uring_compute;
mod uring_probe;
mod uring_ring;
mod uring_slot;
mod verification;
mod work_directory;
mod work_tree;

pub use alignment::{Alignment, direct_unit, find_alignment};
pub use buffers::{
    AlignedBuffer, BufferError, BufferPages, BufferPool, PAGE_BYTES, VARIETY_BYTES,
    fill_incompressible,
};
pub use compute::ComputeSettings;
pub use content::ContentSource;
pub use device::refuse_if_file_used;
pub use event_loops::{null_loop, storage_loop};
pub use file_content::ReadCompare;
pub use file_system::{CacheDrop, FileSystemDriver, FileSystemOptions};
pub use guard::identity::{FileLinks, Identity, require as require_same};
pub use guard::kept::{is_kept, is_kept_at};
pub use guard::new_file::{NewFile, open_directory, remove_unfinished};
pub use guard::regular_file::{ReadFileError, open_regular_file, read_regular_file, text_file};
pub use guard::removal::{
    Removal, first_mount, left_aside, remove_content, remove_left_aside, remove_marked,
};
pub use guard::seal::{Proof, Seal};
pub use guard::strangers::{is_strangers, refuse_strangers_links};
pub use on_demand::OpenFilePool;
pub use open::{
    DEPTH_MAX, DriverKind, DriverOptions, Notice, OpenedDriver, THREADS_MAX, UringSettings,
    io_threads, open_driver,
};
pub use payload::{
    BLOCK_BYTES, Checking, MISMATCH, Mismatch, Payload, PayloadMismatch, STAMP_BYTES,
    VerificationLog, stamp,
};
pub use purge::{PurgeMethod, ReadBack, purge, zero_blocks};
pub use raw_device::DeviceReader;
pub use signature::find_signatures;
pub use space::{FreeSpace, check_room, free_space};
pub use stale::{ClosedDirectory, StaleDirectory, find_closed, find_stale};
pub use table::{SmallFiles, TargetTable};
pub use target::{AccessMode, Caching, Target, TargetDescriptor, TargetFileType, TargetOptions};
pub use target_error::TargetError;
pub use threads::{IO_STACK_BYTES, ThreadsDriver};
pub use uring::UringDriver;
pub use uring_probe::{UringSupport, probe, probe_polling};
pub use uring_ring::{Features, Taskrun};
pub use verification::Verification;
pub use work_directory::{
    DIRECTORY_PREFIX, DirectoryOwner, MARKER_NAME, WorkDirectory, checked_digits, is_checked,
};
