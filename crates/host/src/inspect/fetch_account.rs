//! Who counts what reads fetched from storage: one answer for every file system and what lies
//! beneath it. Whoever says what share the page cache answered asks here.
//!
//! The kernel adds to `read_bytes` of a process where a request of it enters the block layer
//! (`submit_bio` in block/blk-core.c). Reads of FUSE and of most network file systems never get
//! there, or do in a thread of the kernel: all of them would seem to come from the page cache.

use std::path::{Path, PathBuf};

use super::block::Stack;
use super::mounts::{self, Mount};
use super::{InspectedPath, MEMORY_KINDS, REMOTE_KINDS, SystemRoots};

/// File systems that fetch other bytes than are read (they are compressed), or past the block layer
/// (from flash).
const UNLIKE_KINDS: [&str; 5] = ["squashfs", "erofs", "cramfs", "ubifs", "jffs2"];

/// Options of an overlay that name directories of other file systems.
const OVERLAID: [&str; 4] = ["upperdir", "lowerdir", "lowerdir+", "datadir+"];

/// Who counts the bytes that reads of a target fetched from storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchAccount {
    /// The block layer, for each process: `read_bytes` in `/proc/self/io`.
    Process,
    /// The client of NFS, for the mount at this point: `/proc/self/mountstats`.
    NfsMount(PathBuf),
    /// ZFS, for its own cache: `arcstats`.
    Arc,
    /// Nobody: the share of the page cache is unknown.
    Nobody(Uncounted),
}

/// Why nobody counts what was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncounted {
    /// A program serves the file system.
    Program,
    /// The block layer sees no reads of this kind of file system, or other bytes.
    FileSystem(String),
    /// The mount goes past the page cache and the block layer.
    Dax,
    /// What lies beneath cannot be seen.
    OutOfSight,
    /// The page cache holds the file of a loop device, and nobody counts what it answers.
    LoopFile,
    /// Some targets are counted here, and some there.
    Several,
}

impl FetchAccount {
    /// Of the file, directory or block device at `path`, on this machine.
    #[must_use]
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

    /// Of several targets together: of all of them, or nobody's.
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
        let is_one_of = |kinds: &[&str]| kinds.contains(&mount.kind.as_str());
        let is_fuse = is_one_of(&["fuse", "fuseblk"]) || mount.kind.starts_with("fuse.");
        match mount.kind.as_str() {
            _ if is_fuse => Self::Nobody(Uncounted::Program),
            "nfs" | "nfs3" | "nfs4" => Self::NfsMount(mount.point.clone()),
            "zfs" => Self::Arc,
            "overlay" => Self::of_overlay(table, mount),
            // Their files are the page cache, and the block layer counts what was swapped out.
            _ if is_one_of(&MEMORY_KINDS) => Self::Process,
            _ if is_dax(mount) => Self::Nobody(Uncounted::Dax),
            _ if is_on_block_device(mount) && !is_one_of(&REMOTE_KINDS) => Self::Process,
            kind => Self::Nobody(Uncounted::FileSystem(kind.to_owned())),
        }
    }

    /// Of all that an overlay shows: a file may lie in any of its layers.
    fn of_overlay(table: &[Mount], top: &Mount) -> Self {
        let named = top.super_options.iter();
        let named = named.filter_map(|option| option.split_once('='));
        let named = named.filter(|(name, _)| OVERLAID.contains(name));
        named
            .flat_map(|(_, directories)| directories.split(':'))
            // Others are relative to a place that nobody tells.
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

/// Whether its requests enter the block layer where its device is known: btrfs and bcachefs have no
/// device number of their own.
fn is_on_block_device(mount: &Mount) -> bool {
    let has_device = !mount.number.starts_with("0:") || mount.source.starts_with("/dev/");
    has_device && !UNLIKE_KINDS.contains(&mount.kind.as_str())
}

fn is_dax(mount: &Mount) -> bool {
    mount.has("dax") && !matches!(mount.value("dax"), Some("never" | "inode"))
}

/// Whether the page cache may hold the file of a loop device in the stack, and nobody counts what
/// it answers ([`super::buffered_loops`] does where the file lies on a device).
fn has_uncounted_loop(table: &[Mount], stack: &Stack<'_>) -> bool {
    stack.devices.iter().any(|device| {
        let Some(file) = &device.backing_file else {
            return false;
        };
        mounts::holding(table, None, Path::new(file)).is_none_or(|mount| {
            let is_in_memory = MEMORY_KINDS.contains(&mount.kind.as_str());
            let is_counted = is_on_block_device(mount)
                && FetchAccount::of_mount(table, mount) == FetchAccount::Process;
            is_in_memory || !is_counted && device.backing_direct != Some(true)
        })
    })
}
