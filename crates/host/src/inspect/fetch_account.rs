//! Which counter has the bytes that reads fetched from storage, for every file system and the
//! devices below it. All page-cache shares are based on this.
//!
//! The kernel adds to `read_bytes` of a process when one of its requests enters the block layer
//! (`submit_bio` in block/blk-core.c). Reads of FUSE and most network file systems never get there,
//! or only from a kernel thread, so all of them would appear to be page-cache hits.

use std::path::{Path, PathBuf};

use super::block::Stack;
use super::mounts::{self, Mount};
use super::{InspectedPath, MEMORY_KINDS, REMOTE_KINDS, SystemRoots, has_word};

/// File systems that fetch other bytes than are read (compressed ones), or bypass the block layer
/// (on flash).
const UNLIKE_KINDS: [&str; 5] = ["squashfs", "erofs", "cramfs", "ubifs", "jffs2"];

/// Overlay options that name directories on other file systems.
const OVERLAID: [&str; 4] = ["upperdir", "lowerdir", "lowerdir+", "datadir+"];

/// The counter of bytes that reads of a target fetched from storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchAccount {
    /// The block layer, per process: `read_bytes` in `/proc/self/io`.
    Process,
    /// The NFS client, for the mount at this point: `/proc/self/mountstats`.
    NfsMount(PathBuf),
    /// ZFS, for its own cache: `arcstats`.
    Arc,
    /// None: the page-cache share is unknown.
    Nobody(Uncounted),
}

/// Why there is no counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncounted {
    /// The file system is served by a program.
    Program,
    /// The block layer does not see reads of this kind of file system, or sees other bytes.
    FileSystem(String),
    /// The mount bypasses the page cache and the block layer.
    Dax,
    /// The storage below is not visible.
    OutOfSight,
    /// The page cache holds the backing file of a loop device, and its hits are not counted.
    LoopFile,
    /// Targets have different counters.
    Several,
}

impl FetchAccount {
    /// The counter for the file, directory or block device at `path` on this machine.
    pub fn of(path: &Path) -> Self {
        let facts = SystemRoots::default();
        let Ok(subject) = InspectedPath::look(path) else {
            return Self::Nobody(Uncounted::OutOfSight);
        };
        Self::within(&facts, &subject)
    }

    pub(super) fn within(facts: &SystemRoots, subject: &InspectedPath) -> Self {
        let table = mounts::read(facts);
        let layers = super::layers(&table, subject);
        let stack = super::stack_beneath(facts, &table, subject, &layers);
        Self::of_subject(&table, subject, layers.first().copied(), &stack)
    }

    /// The common counter of several targets, or none.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nobody(why), _) | (_, Self::Nobody(why)) => Self::Nobody(why),
            (one, other) if one == other => one,
            _ => Self::Nobody(Uncounted::Several),
        }
    }

    pub(super) fn of_subject(
        table: &[Mount],
        subject: &InspectedPath,
        mount: Option<&Mount>,
        stack: &Stack<'_>,
    ) -> Self {
        let own = match (&subject.device, mount) {
            (Some(_), _) => Self::Process,
            (None, Some(mount)) => Self::of_mount(table, mount),
            (None, None) => Self::Nobody(Uncounted::OutOfSight),
        };
        if has_uncounted_loop(table, stack) {
            return own.and(Self::Nobody(Uncounted::LoopFile));
        }
        own
    }

    fn of_mount(table: &[Mount], mount: &Mount) -> Self {
        let is_one_of = |kinds: &str| has_word(kinds, &mount.kind);
        let is_fuse = is_one_of("fuse fuseblk") || mount.kind.starts_with("fuse.");
        match mount.kind.as_str() {
            _ if is_fuse => Self::Nobody(Uncounted::Program),
            "nfs" | "nfs3" | "nfs4" => Self::NfsMount(mount.point.clone()),
            "zfs" => Self::Arc,
            "overlay" => Self::of_overlay(table, mount),
            // Their files are in the page cache, and the block layer counts swapped-out pages.
            _ if is_one_of(MEMORY_KINDS) => Self::Process,
            _ if is_dax(mount) => Self::Nobody(Uncounted::Dax),
            _ if is_on_block_device(mount) && !is_one_of(REMOTE_KINDS) => Self::Process,
            kind => Self::Nobody(Uncounted::FileSystem(kind.to_owned())),
        }
    }

    /// The counter for all layers of an overlay: a file may be in any of them.
    fn of_overlay(table: &[Mount], top: &Mount) -> Self {
        let named = top.super_options.iter();
        let named = named.filter_map(|option| option.split_once('='));
        let named = named.filter(|(name, _)| OVERLAID.contains(name));
        named
            .flat_map(|(_, directories)| directories.split(':'))
            // Other paths are relative to an unknown directory.
            .filter(|directory| directory.starts_with('/'))
            .map(|directory| {
                mounts::beneath_overlay(table, Path::new(directory))
                    .map_or(Self::Nobody(Uncounted::OutOfSight), |mount| {
                        Self::of_mount(table, mount)
                    })
            })
            .reduce(Self::and)
            .unwrap_or(Self::Nobody(Uncounted::OutOfSight))
    }
}

/// Whether its requests enter the block layer of a known device. btrfs and bcachefs have no device
/// number of their own.
fn is_on_block_device(mount: &Mount) -> bool {
    let has_device = !mount.number.starts_with("0:") || mount.source.starts_with("/dev/");
    has_device && !UNLIKE_KINDS.contains(&mount.kind.as_str())
}

fn is_dax(mount: &Mount) -> bool {
    mount.has("dax") && !matches!(mount.value("dax"), Some("never" | "inode"))
}

/// Whether the page cache may hold a loop device's backing file without counting its hits
/// ([`super::buffered_loops`] counts them if the file is on a device).
fn has_uncounted_loop(table: &[Mount], stack: &Stack<'_>) -> bool {
    stack.devices.iter().any(|device| {
        let Some(file) = &device.backing_file else {
            return false;
        };
        mounts::holding(table, None, Path::new(file)).is_none_or(|mount| {
            let is_in_memory = has_word(MEMORY_KINDS, &mount.kind);
            let is_counted = is_on_block_device(mount)
                && FetchAccount::of_mount(table, mount) == FetchAccount::Process;
            is_in_memory || !is_counted && device.backing_direct != Some(true)
        })
    })
}
