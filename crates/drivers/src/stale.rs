//! What dead runs left behind: found by name, marker and a lock that nobody holds.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::target_error::TargetError;
use crate::work_directory::{
    DirectoryFacts, MARKER_DRAFT, MARKER_HEAD, MARKER_MAKES, MARKER_NAME, entries,
    is_directory_name, is_plain_name, is_small_file, remove_marked, shape_of,
};
use crate::work_tree::{examine_tree, is_tree_directory, remove_tree};

/// A marker is a few lines; what is longer is none.
const MARKER_BYTES_MAX: u64 = 64 << 10;

/// A work directory whose owner is dead. While this value lives, nobody else removes it.
#[derive(Debug)]
pub struct StaleDirectory {
    /// Where it is.
    pub path: PathBuf,
    /// The process that made it.
    pub pid: u32,
    /// Bytes that its files take up.
    pub bytes: u64,
    /// How many files it holds, the marker not counted.
    pub files: u64,
    parent: OwnedFd,
    directory: OwnedFd,
    name: String,
    /// Shapes of the names of files that its run made.
    shapes: Vec<String>,
    /// Holds the lock.
    _marker: File,
}

/// The directories under `parent` that dead runs left behind, in the order of their names. What
/// cannot be examined is not ours to judge, and is passed over.
///
/// # Errors
/// When `parent` cannot be listed.
pub fn find_stale(parent: &Path) -> Result<Vec<StaleDirectory>, TargetError> {
    Ok(names_like_ours(parent)?
        .into_iter()
        .filter_map(|name| examine(parent, name))
        .collect())
}

fn names_like_ours(parent: &Path) -> Result<Vec<String>, TargetError> {
    let entries = std::fs::read_dir(parent)
        .map_err(|error| TargetError::io("list the directory", parent, error))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| is_directory_name(&entry.file_name()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// The directories under `parent` that have a name of ours, and that we may not look into or are
/// another user's: what killed runs left may be among them.
///
/// # Errors
/// When `parent` cannot be listed.
pub fn find_closed(parent: &Path) -> Result<Vec<PathBuf>, TargetError> {
    let names = names_like_ours(parent)?;
    let paths = names.into_iter().map(|name| parent.join(name));
    Ok(paths.filter(|path| is_closed(path)).collect())
}

fn is_closed(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty()).and_then(|directory| {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(&directory, MARKER_NAME, flags, Mode::empty())
    });
    matches!(opened, Err(Errno::ACCESS | Errno::PERM))
}

impl StaleDirectory {
    /// Remove the files and trees of directories inside, and the directory.
    ///
    /// # Errors
    /// When it holds anything that a run of ours would not make (then nothing is touched), or the
    /// system refuses.
    pub fn remove(self) -> Result<(), TargetError> {
        let in_context = |error: Errno| TargetError::io("clean up", &self.path, error);
        let found = entries(&self.directory).map_err(in_context)?;
        let mut strange = Vec::new();
        for (name, kind) in &found {
            strange.extend(match kind {
                FileType::RegularFile if self.is_made_here(name).map_err(in_context)? => None,
                FileType::Directory if is_tree_directory(name) => {
                    let tree = examine_tree(&self.directory, name).map_err(in_context)?;
                    tree.strange.map(|inner| format!("{name}/.../{inner}"))
                }
                _ => Some(name.clone()),
            });
        }
        if !strange.is_empty() {
            strange.sort_unstable();
            let why = format!(
                "it holds {}, which its run did not make; move that elsewhere, or remove it, and \
                 clean again",
                strange.join(", ")
            );
            return Err(TargetError::LeftBehind {
                path: self.path,
                why,
            });
        }
        // The marker goes last: without it nobody would know whose the rest is.
        let (last, others): (Vec<_>, Vec<_>) = found.iter().partition(|(name, _)| is_marker(name));
        let drafts = last.into_iter().filter(|(name, _)| name == MARKER_DRAFT);
        for (name, kind) in others.into_iter().chain(drafts) {
            let removed = if *kind == FileType::Directory {
                remove_tree(&self.directory, name)
            } else {
                rustix::fs::unlinkat(&self.directory, name, AtFlags::empty())
            };
            removed.map_err(in_context)?;
        }
        remove_marked(&self.parent, &self.directory, &self.name, &self.path)
    }
}

impl StaleDirectory {
    /// Whether a regular file is one that the run made, by all that can be told of it.
    fn is_made_here(&self, name: &str) -> Result<bool, Errno> {
        if is_marker(name) {
            return Ok(true);
        }
        let is_known =
            is_small_file(name) || is_plain_name(name) && self.shapes.contains(&shape_of(name));
        let found = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let place = DirectoryFacts::of(&self.directory)?;
        Ok(is_known && place.is_made_here(&found))
    }
}

fn examine(parent: &Path, name: String) -> Option<StaleDirectory> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent_fd = rustix::fs::open(parent, flags, Mode::empty()).ok()?;
    let flags = flags | OFlags::NOFOLLOW;
    let directory = rustix::fs::openat(&parent_fd, &name, flags, Mode::empty()).ok()?;
    // Written by whoever owns the directory, so a FIFO must not block us nor a link lead us away.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open_for = |access: OFlags, name: &str| {
        rustix::fs::openat(&directory, name, flags | access, Mode::empty())
    };
    // Some network file systems lock only what is open for writing. On one that is mounted
    // read-only nothing can be removed, which is told when it is tried.
    let open = |name: &str| {
        open_for(OFlags::RDWR, name).or_else(|error| match error {
            Errno::ROFS => open_for(OFlags::RDONLY, name),
            error => Err(error),
        })
    };
    // A run that was killed before its marker was on the storage left the draft of it.
    let marker = open(MARKER_NAME).or_else(|_| open(MARKER_DRAFT)).ok()?;
    let marker = File::from(marker);
    let is_file = marker.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file || !is_ours(&directory, &marker) {
        return None;
    }
    // Read before it is locked: a draft that says something was locked by whoever wrote that, and
    // one that says nothing yet must not be locked in front of its maker.
    let (pid, shapes) = owner(&marker)?;
    rustix::fs::flock(&marker, FlockOperation::NonBlockingLockExclusive).ok()?;
    let (mut bytes, mut files) = (0, 0);
    for (file, kind) in entries(&directory)
        .ok()?
        .iter()
        .filter(|(file, _)| !is_marker(file))
    {
        if *kind == FileType::Directory && is_tree_directory(file) {
            let tree = examine_tree(&directory, file).ok()?;
            bytes += tree.bytes;
            files += tree.files;
            continue;
        }
        let found = rustix::fs::statat(&directory, file, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        bytes += u64::try_from(found.st_blocks).unwrap_or(0) * 512;
        files += 1;
    }
    let path = parent.join(&name);
    Some(StaleDirectory {
        path,
        pid,
        bytes,
        files,
        parent: parent_fd,
        directory,
        name,
        shapes,
        _marker: marker,
    })
}

fn is_marker(name: &str) -> bool {
    name == MARKER_NAME || name == MARKER_DRAFT
}

/// Directory and marker belong to one and the same user, who is us unless we are root.
fn is_ours(directory: &OwnedFd, marker: &File) -> bool {
    let (Ok(outer), Ok(inner)) = (rustix::fs::fstat(directory), rustix::fs::fstat(marker)) else {
        return false;
    };
    let me = rustix::process::geteuid();
    outer.st_uid == inner.st_uid && (me.is_root() || outer.st_uid == me.as_raw())
}

/// The process number in a marker, and the shapes of names; `None` when it is no marker of ours.
fn owner(marker: &File) -> Option<(u32, Vec<String>)> {
    let mut text = String::new();
    marker
        .take(MARKER_BYTES_MAX)
        .read_to_string(&mut text)
        .ok()?;
    let mut lines = text.lines();
    (lines.next() == Some(MARKER_HEAD)).then_some(())?;
    let pid = lines.next()?.strip_prefix("pid ")?.parse().ok()?;
    let shapes = lines.filter_map(|line| line.strip_prefix(MARKER_MAKES));
    Some((pid, shapes.map(str::to_owned).collect()))
}
