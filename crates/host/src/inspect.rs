//! Inspects a target: its kind, the storage below it, and what can distort results.
//!
//! Only looks: nothing is opened, read or written except the kernel's text files. A missing fact
//! stays unknown. It is an error only if the target does not exist or is out of reach.

pub(crate) mod block;
mod buffered_loop;
pub(crate) mod cautions;
pub(crate) mod cgroup;
mod device_cautions;
pub mod facts;
mod fetch_account;
pub mod mounts;
mod queue;
pub(crate) mod raid;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use results::environment::{Caution, FileSystem, RaidState, TargetDescription, TargetKind};
use rustix::fs::{AtFlags, CWD, FileType, StatxAttributes, StatxFlags};
use rustix::io::Errno;

pub use self::buffered_loop::{BytesMoved, Layers, buffered_loops};
pub use self::cautions::{of_machine as machine_cautions, warnings};
pub use self::device_cautions::short_seeks;
pub use self::facts::SystemRoots;
pub use self::fetch_account::{FetchAccount, Uncounted};
use self::mounts::Mount;
pub use self::queue::{has_poll_queues, request_bytes, writes_of_each_byte};
use crate::environment;

/// File systems in main memory.
const MEMORY_KINDS: &str = "tmpfs ramfs devtmpfs hugetlbfs";

/// File systems with data on another machine, or on the host of a virtual machine.
const REMOTE_KINDS: &str = "
    nfs nfs3 nfs4 cifs smb3 smbfs 9p virtiofs vboxsf prl_fs ceph lustre afs coda gpfs beegfs
    orangefs davfs glusterfs fuse.sshfs fuse.glusterfs fuse.ceph fuse.ceph-fuse fuse.s3fs
    fuse.rclone fuse.gcsfuse fuse.davfs fuse.davfs2 fuse.smbnetfs fuse.fuse-nfs fuse.mfs
    fuse.juicefs
";

/// Transports of devices in main memory.
const MEMORY_TRANSPORTS: &str = "zram ram";

/// Transports of devices on another machine.
const REMOTE_TRANSPORTS: &str = "nbd rbd iscsi nvme-tcp nvme-rdma";

/// Whether one of those words is `word`.
fn has_word(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|it| it == word)
}

/// Maximum depth of stacked overlays.
const LAYERS_MAX: usize = 8;

/// Why a target cannot be inspected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The path does not exist.
    #[error("{}", missing(.0))]
    Missing(PathBuf),
    /// No permission for this path.
    #[error(
        "no permission to access `{}`. Choose another target, or ask its owner for access",
        .0.display()
    )]
    Denied(PathBuf),
    /// The path is neither a directory, a regular file nor a block device.
    #[error(
        "`{}` is {found}, which cannot be measured. Name a directory, a file or a block device",
        path.display()
    )]
    Unsupported {
        /// The path as given.
        path: PathBuf,
        /// What it is, in words.
        found: &'static str,
    },
    /// Another system error.
    #[error("cannot look at `{}`", path.display())]
    System {
        /// The path as given.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// What to name where nothing is.
fn missing(path: &Path) -> String {
    let named = path.display().to_string();
    let device = Path::new("/dev").join(path);
    if let Some((protocol, rest)) = named.split_once("://") {
        let rest = rest.trim_end_matches('/');
        return match (protocol, rest.contains('/')) {
            ("http" | "https", has_bucket) => {
                let bucket = if has_bucket { "" } else { "/BUCKET" };
                format!(
                    "`{named}` is a URL. `seekstone objects s3:{protocol}://{rest}{bucket}` \
                     measures an object store"
                )
            }
            _ => format!("`{named}` is a URL. Mount it, and name its directory"),
        };
    }
    let advice = if path.starts_with("/dev") {
        "`lsblk` lists devices".to_owned()
    } else if path.is_relative() && device.exists() {
        format!("The device is {}", device.display())
    } else if named.contains(":/") {
        "Mount it, and name its directory".to_owned()
    } else {
        "Check the spelling, or create the directory first".to_owned()
    };
    format!("there is nothing at `{named}`. {advice}")
}

/// Describes the target at `path`, with cautions about its results.
///
/// # Errors
///
/// If the path does not exist or is not permitted, or is of a kind without storage (a pipe, a
/// socket, a character device).
pub fn inspect(path: &Path) -> Result<(TargetDescription, Vec<Caution>), InspectError> {
    let subject = InspectedPath::look(path)?;
    let facts = SystemRoots::default();
    let (description, mut cautions) = describe(&facts, &subject);
    cautions.extend(machine_cautions(&environment::capture_from(&facts)));
    Ok((description, cautions))
}

/// What system calls tell about the path itself; the rest comes from the kernel's text files.
#[derive(Clone, Debug)]
pub(crate) struct InspectedPath {
    pub(crate) given: String,
    pub(crate) path: PathBuf,
    pub(crate) kind: TargetKind,
    /// `major:minor` of the path itself, if it is a block device.
    pub(crate) device: Option<String>,
    pub(crate) mount_id: Option<u64>,
    pub(crate) size_bytes: Option<u64>,
    pub(crate) allocated_bytes: Option<u64>,
    pub(crate) space: Option<Space>,
    /// Whether its own attribute makes the file system compress it, or files created in it.
    pub(crate) is_compressed: bool,
}

/// Space in a file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    pub(crate) size_bytes: u64,
    pub(crate) available_bytes: u64,
    pub(crate) files_free: Option<u64>,
}

impl InspectedPath {
    fn look(given: &Path) -> Result<Self, InspectError> {
        let path = fs::canonicalize(given).map_err(|error| explain(given, error))?;
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        let found = rustix::fs::statx(CWD, &path, AtFlags::empty(), wanted)
            .map_err(|error| explain(given, error.into()))?;
        let kind = kind_of(given, FileType::from_raw_mode(found.stx_mode.into()))?;
        let (is_file, is_device) = (kind == TargetKind::File, kind == TargetKind::BlockDevice);
        let has_mount = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        Ok(InspectedPath {
            given: given.display().to_string(),
            kind,
            device: is_device.then(|| format!("{}:{}", found.stx_rdev_major, found.stx_rdev_minor)),
            mount_id: has_mount.then_some(found.stx_mnt_id),
            size_bytes: is_file.then_some(found.stx_size),
            allocated_bytes: is_file.then(|| found.stx_blocks.saturating_mul(512)),
            space: if is_device { None } else { Space::of(&path) },
            is_compressed: found.stx_attributes.contains(StatxAttributes::COMPRESSED),
            path,
        })
    }
}

impl Space {
    fn of(path: &Path) -> Option<Self> {
        let found = rustix::fs::statvfs(path).ok()?;
        Some(Space {
            size_bytes: found.f_blocks.saturating_mul(found.f_frsize),
            available_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            files_free: (found.f_files > 0).then_some(found.f_favail),
        })
    }
}

fn explain(path: &Path, error: io::Error) -> InspectError {
    match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::NOTDIR) => InspectError::Missing(path.to_path_buf()),
        Some(Errno::ACCESS | Errno::PERM) => InspectError::Denied(path.to_path_buf()),
        _ => InspectError::System {
            path: path.to_path_buf(),
            source: error,
        },
    }
}

fn kind_of(path: &Path, found: FileType) -> Result<TargetKind, InspectError> {
    let found = match found {
        FileType::Directory => return Ok(TargetKind::Directory),
        FileType::RegularFile => return Ok(TargetKind::File),
        FileType::BlockDevice => return Ok(TargetKind::BlockDevice),
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "of an unknown kind",
    };
    Err(InspectError::Unsupported {
        path: path.to_path_buf(),
        found,
    })
}

/// All facts on which cautions are based.
pub(crate) struct Evidence<'a> {
    pub(crate) facts: &'a SystemRoots,
    pub(crate) mounts: &'a [Mount],
    pub(crate) mount: Option<&'a Mount>,
    pub(crate) account: &'a FetchAccount,
    pub(crate) target: &'a TargetDescription,
    pub(crate) is_compressed: bool,
    pub(crate) memory_bytes: Option<u64>,
}

/// Describes a subject by the given trees.
pub(crate) fn describe(
    facts: &SystemRoots,
    subject: &InspectedPath,
) -> (TargetDescription, Vec<Caution>) {
    let table = mounts::read(facts);
    let layers = layers(&table, subject);
    let mount = layers.first().copied();
    let stack = stack_beneath(facts, &table, subject, &layers);
    let account = FetchAccount::of_subject(&table, subject, mount, &stack);
    let on_any = |kinds: &str, transports: &str| {
        let mut mounts = layers.iter().chain(&stack.backing);
        let mut known = stack.devices.iter().flat_map(|it| &it.transport);
        mounts.any(|mount| has_word(kinds, &mount.kind)) || known.any(|it| has_word(transports, it))
    };
    let raid: Option<RaidState> = raid::state(facts, layers.last().copied(), &stack.devices);
    let device_size = stack.devices.first().and_then(|device| device.size_bytes);
    let target = TargetDescription {
        given: subject.given.clone(),
        path: subject.path.display().to_string(),
        kind: subject.kind,
        size_bytes: subject
            .size_bytes
            .or(subject.device.as_ref().and(device_size)),
        allocated_bytes: subject.allocated_bytes,
        file_system: mount.map(|mount| file_system(mount, subject.space)),
        memory_backed: on_any(MEMORY_KINDS, MEMORY_TRANSPORTS),
        remote: on_any(REMOTE_KINDS, REMOTE_TRANSPORTS),
        raid,
        devices: stack.devices,
    };
    let memory_bytes = facts.memory_bytes("MemTotal");
    let evidence = Evidence {
        facts,
        mounts: &table,
        mount,
        account: &account,
        target: &target,
        is_compressed: subject.is_compressed,
        memory_bytes,
    };
    let mut cautions = cautions::of_blindness(&evidence);
    cautions.extend(cautions::of_file_system(&evidence));
    cautions.extend(device_cautions::of_devices(&evidence));
    cautions.extend(cautions::of_created_files(&evidence));
    (target, cautions)
}

/// The mount that holds the subject, then those that an overlay writes to. For a block device there
/// is none: its node's mount is irrelevant.
fn layers<'a>(table: &'a [Mount], subject: &InspectedPath) -> Vec<&'a Mount> {
    if subject.kind == TargetKind::BlockDevice {
        return Vec::new();
    }
    let mut layers: Vec<&Mount> = mounts::holding(table, subject.mount_id, &subject.path)
        .into_iter()
        .collect();
    while let Some(upper) = layers
        .last()
        .filter(|_| layers.len() < LAYERS_MAX)
        .and_then(|top| {
            let path = top.value("upperdir").filter(|_| top.kind == "overlay")?;
            mounts::beneath_overlay(table, Path::new(path))
        })
    {
        layers.push(upper);
    }
    layers
}

/// The devices below the last of the `layers`, or those below a block device.
fn stack_beneath<'a>(
    facts: &'a SystemRoots,
    table: &'a [Mount],
    subject: &InspectedPath,
    layers: &[&Mount],
) -> block::Stack<'a> {
    let names: Vec<String> = match &subject.device {
        Some(number) => block::name_of_number(facts, number).into_iter().collect(),
        None => layers
            .last()
            .map(|m| block::names_beneath(facts, m))
            .unwrap_or_default(),
    };
    block::stack(facts, table, &names)
}

fn file_system(mount: &Mount, space: Option<Space>) -> FileSystem {
    FileSystem {
        kind: mount.kind.clone(),
        source: mount.source.clone(),
        mount_point: mount.point.display().to_string(),
        options: mount.options.clone(),
        super_options: mount.super_options.clone(),
        read_only: mount.is_read_only(),
        size_bytes: space.map(|space| space.size_bytes),
        available_bytes: space.map(|space| space.available_bytes),
        files_free: space.and_then(|space| space.files_free),
    }
}
