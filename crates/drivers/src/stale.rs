//! What dead runs left behind: found by name, marker and a lock that nobody holds; removed if the
//! content of each file carries the seal of the marker. A run that was killed before it wrote the
//! marker left an empty directory, whose name tells that it is ours.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::guard::beneath::open_beneath;
use crate::guard::identity::FileLinks;
use crate::guard::removal::{Removal, is_aside, remove_proven};
use crate::guard::seal::{Maker, Seal};
use crate::target_error::TargetError;
use crate::work_directory::{
    DIRECTORY_FLAGS, MARKER_DRAFT, MARKER_HEAD, MARKER_MAKES, MARKER_NAME, MARKER_SEAL, entries,
    is_directory_name, is_given_name, is_plain_name, remove_emptied, remove_marker, shape_of,
    small_file_number,
};
use crate::work_tree::{examine_tree, is_tree_directory, remove_tree};

/// A marker is a few lines; what is longer is none.
const MARKER_BYTES_MAX: u64 = 64 << 10;

/// A work directory whose owner is dead. While this value lives, nobody else removes it.
#[derive(Debug)]
pub struct StaleDirectory {
    pub path: PathBuf,
    /// The process that made it, which was killed before it could say so where there is none.
    pub pid: Option<u32>,
    /// Bytes that its files take up.
    pub bytes: u64,
    /// How many files it holds, the marker not counted.
    pub files: u64,
    parent: OwnedFd,
    directory: OwnedFd,
    name: String,
    /// None in one that is empty, which is locked itself.
    marked: Option<Marked>,
}

/// What the marker tells.
#[derive(Debug)]
struct Marked {
    /// Shapes of the names of files that its run made.
    shapes: Vec<String>,
    maker: Maker,
    /// Holds the lock.
    marker: File,
    /// What it is named.
    name: String,
}

/// The directories under `parent` that dead runs left behind, in the order of their names. What
/// cannot be examined is not ours to judge, and is passed over.
///
/// # Errors
/// When `parent` cannot be listed.
// fuzzed: left_behind
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

/// A directory that has a name of ours, and that could not be looked into.
#[derive(Debug)]
pub struct ClosedDirectory {
    /// Where it is.
    pub path: PathBuf,
    /// What the system said.
    pub why: io::Error,
}

/// The directories under `parent` that have a name of ours, and that we may not look into, are
/// another user's, or are on storage that does not show them: what killed runs left may be among
/// them.
///
/// # Errors
/// When `parent` cannot be listed.
pub fn find_closed(parent: &Path) -> Result<Vec<ClosedDirectory>, TargetError> {
    let names = names_like_ours(parent)?;
    let paths = names.into_iter().map(|name| parent.join(name));
    let closed = paths.filter_map(|path| {
        let why = why_closed(&path)?;
        Some(ClosedDirectory { path, why })
    });
    Ok(closed.collect())
}

/// Why it cannot be known whether a directory is a run's.
fn why_closed(path: &Path) -> Option<io::Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty()).and_then(|directory| {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(&directory, MARKER_NAME, flags, Mode::empty())
    });
    let error = opened.err()?;
    let is_broken = matches!(
        error,
        Errno::IO | Errno::BADMSG | Errno::UCLEAN | Errno::STALE
    );
    let is_denied = matches!(error, Errno::ACCESS | Errno::PERM);
    (is_broken || is_denied).then(|| error.into())
}

impl StaleDirectory {
    /// Remove the files and trees of directories inside, and the directory.
    ///
    /// # Errors
    /// When it holds anything that is not provably the run's (then nothing is touched), or the
    /// system refuses.
    pub fn remove(self) -> Result<(), TargetError> {
        let Self {
            parent,
            directory,
            name,
            path,
            marked,
            ..
        } = self;
        if let Some(marked) = marked {
            marked.remove_content(&directory, &path)?;
        }
        remove_emptied(&parent, &directory, &name, &path)
    }
}

impl Marked {
    /// Remove all that is inside, or nothing.
    fn remove_content(self, directory: &OwnedFd, path: &Path) -> Result<(), TargetError> {
        let in_context = |error| TargetError::io("clean up", path, error);
        let found = entries(directory).map_err(|error| in_context(error.into()))?;
        let mut strange = Vec::new();
        for (name, kind) in &found {
            strange.extend(self.strange(directory, name, *kind).map_err(in_context)?);
        }
        if !strange.is_empty() {
            strange.sort_unstable();
            let why = format!(
                "no proof that its run made {}. Move that elsewhere, or remove it, and clean \
                 again",
                strange.join(", ")
            );
            let path = path.to_path_buf();
            return Err(TargetError::LeftBehind { path, why });
        }
        // The marker goes last: without it nobody would know whose the rest is.
        for (name, kind) in found.iter().filter(|(name, _)| *name != self.name) {
            self.remove_one(directory, name, *kind)
                .map_err(in_context)?;
        }
        remove_marker(directory, path, (&self.marker, &self.name))
    }

    /// What of an entry is not provably the run's.
    fn strange(
        &self,
        directory: &OwnedFd,
        name: &str,
        kind: FileType,
    ) -> io::Result<Option<String>> {
        Ok(match kind {
            FileType::RegularFile if is_marker(name) || name == self.name => None,
            FileType::RegularFile if self.is_known(name) => {
                let is_made = self.maker.made_name(directory, name)?;
                (!is_made).then(|| name.to_owned())
            }
            FileType::Directory if is_tree_directory(name) => {
                let tree = examine_tree(directory, name, &self.maker)?;
                tree.strange.map(|inner| format!("{name}/.../{inner}"))
            }
            _ => Some(name.to_owned()),
        })
    }

    fn remove_one(&self, directory: &OwnedFd, name: &str, kind: FileType) -> io::Result<()> {
        if kind == FileType::Directory {
            return remove_tree(directory, name, &self.maker);
        }
        let removed = remove_proven(directory, name, |file, found| {
            // A draft says something else in each of its states.
            Ok(is_marker(name) || self.maker.made(file, found)?)
        });
        match removed? {
            Removal::Removed | Removal::Absent => Ok(()),
            Removal::Foreign => Err(Errno::NOTEMPTY.into()),
        }
    }

    /// Whether the run made files of such a name.
    fn is_known(&self, name: &str) -> bool {
        let is_recorded = || is_plain_name(name) && self.shapes.contains(&shape_of(name));
        small_file_number(name).is_some() || is_aside(name) || is_recorded()
    }
}

fn examine(parent: &Path, name: String) -> Option<StaleDirectory> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent_fd = rustix::fs::open(parent, flags, Mode::empty()).ok()?;
    let directory = open_beneath(&parent_fd, &name, DIRECTORY_FLAGS).ok()?;
    let directory = OwnedFd::from(directory);
    // Written by whoever owns the directory, so a FIFO must not block us nor a link lead us away.
    let open_for =
        |access: OFlags, name: &str| open_beneath(&directory, name, OFlags::NONBLOCK | access);
    // Some network file systems lock only what is open for writing. On one that is mounted
    // read-only nothing can be removed, which is told when it is tried.
    let open = |name: &str| {
        open_for(OFlags::RDWR, name).or_else(|error| match error {
            Errno::ROFS => open_for(OFlags::RDONLY, name),
            error => Err(error),
        })
    };
    let inside = entries(&directory).unwrap_or_default();
    // A run that was killed before its marker was on the storage left the draft of it; one that was
    // killed while it removed the marker left that, and nothing else.
    let aside = match inside.as_slice() {
        [(only, _)] if is_aside(only) => only.as_str(),
        _ => MARKER_NAME,
    };
    let names = [MARKER_NAME, MARKER_DRAFT, aside].into_iter();
    let mut opened = names.filter_map(|name| Some((open(name).ok()?, name.to_owned())));
    let Some((marker, marker_name)) = opened.next() else {
        return examine_empty(parent, name, parent_fd, directory);
    };
    let owner_of_both = owner_of(&directory, &marker)?;
    // Read before it is locked: a draft that says something was locked by whoever wrote that, and
    // one that says nothing yet must not be locked in front of its maker.
    let MarkerContent { pid, seal, shapes } = read_marker(&marker)?;
    let maker = Maker {
        seal,
        owner: owner_of_both,
    };
    rustix::fs::flock(&marker, FlockOperation::NonBlockingLockExclusive).ok()?;
    // What a broken file system does not show is not counted: it is told when it is to be removed.
    let (mut bytes, mut files) = (0, 0);
    let is_content = |file: &str| !is_marker(file) && file != marker_name;
    for (file, kind) in inside.iter().filter(|(file, _)| is_content(file)) {
        if *kind == FileType::Directory && is_tree_directory(file) {
            let tree = examine_tree(&directory, file, &maker).unwrap_or_default();
            bytes += tree.bytes;
            files += tree.files;
            continue;
        }
        bytes += FileLinks::named(&directory, file).map_or(0, |found| found.taken);
        files += 1;
    }
    let path = parent.join(&name);
    Some(StaleDirectory {
        path,
        pid: Some(pid),
        bytes,
        files,
        parent: parent_fd,
        directory,
        name,
        marked: Some(Marked {
            shapes,
            maker,
            marker,
            name: marker_name,
        }),
    })
}

/// One without a marker, if its name is one that we give, nothing is in it, and nobody is about to
/// put a marker there.
fn examine_empty(
    parent: &Path,
    name: String,
    parent_fd: OwnedFd,
    directory: OwnedFd,
) -> Option<StaleDirectory> {
    let found = FileLinks::of(&directory).ok()?;
    let is_ours = found.is_private() && is_open_to_us(found.owner);
    (is_given_name(&name) && is_ours).then_some(())?;
    rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive).ok()?;
    entries(&directory).ok()?.is_empty().then_some(())?;
    Some(StaleDirectory {
        path: parent.join(&name),
        pid: None,
        bytes: 0,
        files: 0,
        parent: parent_fd,
        directory,
        name,
        marked: None,
    })
}

fn is_marker(name: &str) -> bool {
    name == MARKER_NAME || name == MARKER_DRAFT
}

/// The owner of directory and marker, if it is one user, who is us unless we are root.
fn owner_of(directory: &OwnedFd, marker: &File) -> Option<u32> {
    let (outer, inner) = (FileLinks::of(directory).ok()?, FileLinks::of(marker).ok()?);
    let is_ours = outer.owner == inner.owner && is_open_to_us(outer.owner);
    (inner.is_file() && inner.links == 1 && is_ours).then_some(outer.owner)
}

/// Whether we clean up for that user.
fn is_open_to_us(owner: u32) -> bool {
    let me = rustix::process::geteuid();
    me.is_root() || owner == me.as_raw()
}

/// What a marker tells.
struct MarkerContent {
    pid: u32,
    /// Not told by markers of older versions.
    seal: Option<Seal>,
    shapes: Vec<String>,
}

/// The seal that a marker tells; `None` when it is no marker of ours.
pub(crate) fn seal_of_marker(marker: &File) -> Option<Seal> {
    read_marker(marker)?.seal
}

/// `None` when it is no marker of ours.
fn read_marker(marker: &File) -> Option<MarkerContent> {
    let mut text = String::new();
    marker
        .take(MARKER_BYTES_MAX)
        .read_to_string(&mut text)
        .ok()?;
    let mut lines = text.lines();
    (lines.next() == Some(MARKER_HEAD)).then_some(())?;
    let pid = lines.next()?.strip_prefix("pid ")?.parse().ok()?;
    let values = |prefix| text.lines().filter_map(move |it| it.strip_prefix(prefix));
    Some(MarkerContent {
        pid,
        seal: values(MARKER_SEAL).next().and_then(|it| it.parse().ok()),
        shapes: values(MARKER_MAKES).map(str::to_owned).collect(),
    })
}
