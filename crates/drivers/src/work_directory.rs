//! A directory of our own, in which every file that is written was made by this run.
//!
//! All operations go through the directory's descriptor and never follow symbolic links: whatever
//! others rename or plant, only this very directory is touched. A marker file with a lock tells a
//! live owner from a dead one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::target::{AccessMode, Caching, Target, TargetKind};
use crate::target_error::TargetError;

/// How the names of our directories begin; sixteen hexadecimal digits follow.
pub const DIRECTORY_PREFIX: &str = ".seekstone-";
/// The marker's name.
pub const MARKER_NAME: &str = "owner";
/// The marker's first line.
pub(crate) const MARKER_HEAD: &str = "seekstone work directory";
/// How the marker's lines begin that tell the shapes of files' names.
pub(crate) const MARKER_MAKES: &str = "makes ";
/// Names of the large files of most commands, which the marker tells from the beginning, when it is
/// waited for: a power cut leaves no gigabytes that nobody may remove.
const USUAL_NAMES: [&str; 3] = ["probe", "main", "cache"];
/// The marker's name until it is locked: a marker is never seen without its lock while we live.
pub(crate) const MARKER_DRAFT: &str = "owner.new";

pub(crate) const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What the marker says about the run that owns a directory.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// The program and its version.
    pub program: String,
    /// When the run started, as the caller writes times.
    pub started: String,
    /// What the directory is for.
    pub purpose: String,
}

/// A directory of our own, removed with its files when it is dropped.
#[derive(Debug)]
pub struct WorkDirectory {
    parent: OwnedFd,
    directory: OwnedFd,
    name: String,
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Holds the lock; `None` once the directory is gone.
    marker: Option<File>,
    /// Each file of a name of its own, by its inode: another file may have been put in its place.
    created: BTreeMap<String, Option<u64>>,
    /// Shapes of names that the marker tells.
    shapes: BTreeSet<String>,
}

impl WorkDirectory {
    /// Make a directory under `parent`, for the owner alone.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(parent: &Path, owner: &Owner) -> Result<Self, TargetError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent_fd = rustix::fs::open(parent, flags, Mode::empty())
            .map_err(|error| TargetError::io("open the directory", parent, error))?;
        let name = make_unique(&parent_fd, parent)?;
        let path = parent.join(&name);
        let directory = rustix::fs::openat(&parent_fd, &name, DIRECTORY_FLAGS, Mode::empty())
            .map_err(|error| TargetError::io("open the new directory", &path, error))?;
        refuse_foreign(&directory, &path)?;
        let marker = match make_marker(&directory, owner) {
            Ok(marker) => marker,
            Err(error) => {
                let _ = rustix::fs::unlinkat(&directory, MARKER_DRAFT, AtFlags::empty());
                let _ = rustix::fs::unlinkat(&parent_fd, &name, AtFlags::REMOVEDIR);
                return Err(TargetError::io("write the marker of", &path, error));
            }
        };
        let state = Mutex::new(State {
            marker: Some(marker),
            created: BTreeMap::new(),
            shapes: USUAL_NAMES.map(str::to_owned).into(),
        });
        Ok(Self {
            parent: parent_fd,
            directory,
            name,
            path,
            state,
        })
    }

    /// Where the directory was made.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Make the file `name`, which must not exist, for reading and writing.
    ///
    /// # Errors
    /// When the name is no plain file name, or the system refuses.
    pub fn create_file(&self, name: &str) -> Result<File, TargetError> {
        if !is_plain_name(name) {
            return Err(TargetError::BadName {
                name: name.to_owned(),
            });
        }
        let in_context = |error| TargetError::io("create", self.path.join(name), error);
        // Noted first: a file must not be left behind because we were cut off in between.
        let mut state = self.state();
        state.tell_shape(name).map_err(in_context)?;
        let before = state.created.get(name).copied();
        state.created.insert(name.to_owned(), None);
        let made = self.open_at(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL);
        match made.and_then(|file| rustix::fs::fstat(&file).map(|found| (file, found.st_ino))) {
            Ok((file, inode)) => {
                state.created.insert(name.to_owned(), Some(inode));
                Ok(file)
            }
            Err(error) => {
                match before {
                    Some(inode) => state.created.insert(name.to_owned(), inode),
                    None => state.created.remove(name),
                };
                Err(in_context(error.into()))
            }
        }
    }

    /// Open the file `name`, which this run created, as a target that may be written.
    ///
    /// # Errors
    /// When it was not created here, when direct I/O is not supported, or the system refuses.
    pub fn open_target(&self, name: &str, caching: Caching) -> Result<Target, TargetError> {
        let path = self.path.join(name);
        if !self.state().created.contains_key(name) {
            return Err(TargetError::io("open", path, Errno::NOENT));
        }
        let direct = if caching == Caching::Direct {
            OFlags::DIRECT
        } else {
            OFlags::empty()
        };
        let file = self
            .open_at(name, OFlags::RDWR | direct)
            .map_err(|error| match error {
                Errno::INVAL if caching == Caching::Direct => {
                    TargetError::DirectUnsupported { path: path.clone() }
                }
                _ => TargetError::io("open", &path, error),
            })?;
        Target::opened(
            file,
            &path,
            TargetKind::File,
            AccessMode::Overwrite,
            caching,
        )
    }

    /// Remove the file `name`, which this run created.
    ///
    /// # Errors
    /// When it was not created here, another file has its name now, or the system refuses.
    pub fn remove_file(&self, name: &str) -> Result<(), TargetError> {
        let path = self.path.join(name);
        let in_context = |error| TargetError::io("remove", &path, error);
        let Some(inode) = self.state().created.remove(name) else {
            return Err(in_context(Errno::NOENT));
        };
        let place = self.facts().map_err(in_context)?;
        let found = self.stat(name).map_err(in_context)?;
        if !place.is_made_here(&found) || inode.is_some_and(|inode| inode != found.st_ino) {
            let why = "another file has this name now, which this run did not make".to_owned();
            return Err(TargetError::LeftBehind { path, why });
        }
        self.unlink(name).map_err(in_context)
    }

    /// Remove our files and the directory; a second call does nothing.
    ///
    /// # Errors
    /// When something is in it that this run did not make, or the system refuses. What is left is
    /// named, and a later call tries again.
    pub fn remove(&self) -> Result<(), TargetError> {
        let mut state = self.state();
        if state.marker.is_none() {
            return Ok(());
        }
        let listed = entries(&self.directory);
        let names = listed.map_err(|error| TargetError::io("list", &self.path, error))?;
        let place = self.facts();
        let place = place.map_err(|error| TargetError::io("examine", &self.path, error))?;
        let mut foreign = Vec::new();
        for (name, kind) in names {
            if kind == FileType::RegularFile && self.is_ours(&state, &place, &name) {
                match self.unlink(&name) {
                    Ok(()) | Err(Errno::NOENT) => state.created.remove(&name),
                    Err(error) => {
                        return Err(TargetError::io("remove", self.path.join(&name), error));
                    }
                };
            } else if name != MARKER_NAME {
                foreign.push(name);
            }
        }
        if !foreign.is_empty() {
            let why = format!(
                "it holds {}, which this run did not make",
                foreign.join(", ")
            );
            return Err(TargetError::LeftBehind {
                path: self.path.clone(),
                why,
            });
        }
        remove_marked(&self.parent, &self.directory, &self.name, &self.path)?;
        state.marker = None;
        Ok(())
    }

    /// Whether the file `name` is one that this run made, and not another in its place.
    fn is_ours(&self, state: &State, place: &DirectoryFacts, name: &str) -> bool {
        let inode = match state.created.get(name) {
            Some(inode) => *inode,
            None if is_small_file(name) => None,
            None => return false,
        };
        match self.stat(name) {
            Ok(found) => {
                place.is_made_here(&found) && inode.is_none_or(|inode| inode == found.st_ino)
            }
            // Then there is nothing to lose either.
            Err(_) => true,
        }
    }

    fn facts(&self) -> Result<DirectoryFacts, Errno> {
        DirectoryFacts::of(&self.directory)
    }

    fn stat(&self, name: &str) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// The directory itself, for a driver that makes a tree of directories in it.
    pub(crate) const fn descriptor(&self) -> &OwnedFd {
        &self.directory
    }

    /// Keep the directory and its files, as if the process had died: the lock is given up.
    pub fn abandon(self) {
        self.state().marker = None;
    }

    /// Open `name` inside, without following a link. Reads and writes go where they should because
    /// the directory is ours alone.
    pub(crate) fn open_at(&self, name: &str, flags: OFlags) -> Result<File, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::openat(&self.directory, name, flags, mode).map(File::from)
    }

    pub(crate) fn unlink(&self, name: &str) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.directory, name, AtFlags::empty())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Let the marker tell what this name is like, for whoever removes what a killed run left. It
    /// is not waited for: that would take the time of what is measured, and what the system wrote
    /// survives our death.
    fn tell_shape(&mut self, name: &str) -> std::io::Result<()> {
        let shape = shape_of(name);
        if self.shapes.contains(&shape) {
            return Ok(());
        }
        if let Some(marker) = &mut self.marker {
            marker.write_all(format!("{MARKER_MAKES}{shape}\n").as_bytes())?;
        }
        self.shapes.insert(shape);
        Ok(())
    }
}

/// What is the same for every file that a run makes in its directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectoryFacts {
    owner: u32,
}

impl DirectoryFacts {
    pub(crate) fn of(directory: impl AsFd) -> Result<Self, Errno> {
        let found = rustix::fs::fstat(directory)?;
        Ok(Self {
            owner: found.st_uid,
        })
    }

    /// Whether a file in the directory can be one that a run made there: for its owner alone, and
    /// under one name.
    pub(crate) fn is_made_here(&self, found: &Stat) -> bool {
        found.st_uid == self.owner && found.st_nlink == 1 && found.st_mode & 0o077 == 0
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // Nobody is left to tell; the next start finds what could not be removed.
        let _ = self.remove();
    }
}

/// A name with every row of digits as one `#`, so that numbered files have one shape.
pub(crate) fn shape_of(name: &str) -> String {
    let mut shape = String::new();
    for character in name.chars() {
        match character {
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            other => shape.push(other),
        }
    }
    shape
}

/// Small files are named by number, so that millions of them need no list.
pub(crate) fn small_file_name(number: u32) -> String {
    format!("f{number:07}")
}

pub(crate) fn is_small_file(name: &str) -> bool {
    name.strip_prefix('f')
        .is_some_and(|digits| digits.len() >= 7 && digits.bytes().all(|b| b.is_ascii_digit()))
}

pub(crate) fn is_directory_name(name: &OsStr) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(DIRECTORY_PREFIX))
        .is_some_and(|digits| {
            digits.len() == 16
                && digits
                    .bytes()
                    .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })
}

/// Whether `name` can stand in our directory: no path, nothing special, not the marker.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=200).contains(&name.len())
        && name.bytes().all(is_plain)
        && !matches!(name, "." | ".." | MARKER_NAME | MARKER_DRAFT)
}

/// Names and kinds in a directory, without `.` and `..`.
pub(crate) fn entries(directory: impl AsFd) -> Result<Vec<(String, FileType)>, Errno> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not say; then the entry itself is asked.
            FileType::Unknown => {
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                let found = rustix::fs::statat(&directory, entry.file_name(), flags)?;
                FileType::from_raw_mode(found.st_mode)
            }
            known => known,
        };
        names.push((name, kind));
    }
    Ok(names)
}

/// Remove the marker and then the empty directory, if its name still stands for it.
pub(crate) fn remove_marked(
    parent: &OwnedFd,
    directory: &OwnedFd,
    name: &str,
    path: &Path,
) -> Result<(), TargetError> {
    let in_context = |error: Errno| TargetError::io("remove the directory", path, error);
    match rustix::fs::unlinkat(directory, MARKER_NAME, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(in_context(error)),
    }
    let ours = rustix::fs::fstat(directory).map_err(in_context)?;
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino) => {}
        // Somebody removed it for us.
        Err(Errno::NOENT) if ours.st_nlink == 0 => return Ok(()),
        Ok(_) | Err(Errno::NOENT) => {
            let why = "somebody renamed it; it is empty now".to_owned();
            return Err(TargetError::LeftBehind {
                path: path.to_path_buf(),
                why,
            });
        }
        Err(error) => return Err(in_context(error)),
    }
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR).map_err(in_context)
}

fn make_unique(parent_fd: &OwnedFd, parent: &Path) -> Result<String, TargetError> {
    const ATTEMPTS: usize = 16;
    for _ in 0..ATTEMPTS {
        // Each state is keyed by the system's random numbers: no need for a generator of our own.
        let name = format!(
            "{DIRECTORY_PREFIX}{:016x}",
            RandomState::new().build_hasher().finish()
        );
        match rustix::fs::mkdirat(parent_fd, &name, Mode::RWXU) {
            Ok(()) => return Ok(name),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(TargetError::io("make a directory in", parent, error)),
        }
    }
    Err(TargetError::io("make a directory in", parent, Errno::EXIST))
}

/// Between making and opening, somebody with write access to the parent could have swapped it.
fn refuse_foreign(directory: &OwnedFd, path: &Path) -> Result<(), TargetError> {
    let found = rustix::fs::fstat(directory)
        .map_err(|error| TargetError::io("examine the new directory", path, error))?;
    let is_private = found.st_mode & 0o077 == 0;
    let is_ours = found.st_uid == rustix::process::geteuid().as_raw();
    if is_private && is_ours {
        return Ok(());
    }
    let why = "somebody else put another directory in its place".to_owned();
    Err(TargetError::LeftBehind {
        path: path.to_path_buf(),
        why,
    })
}

fn make_marker(directory: &OwnedFd, owner: &Owner) -> std::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let draft = rustix::fs::openat(directory, MARKER_DRAFT, flags, Mode::RUSR | Mode::WUSR)?;
    let mut marker = File::from(draft);
    match rustix::fs::flock(&marker, FlockOperation::NonBlockingLockExclusive) {
        // Without locks nobody can tell that we are alive, and nobody will take us for dead either,
        // because that needs the lock.
        Ok(()) | Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {}
        Err(error) => return Err(error.into()),
    }
    let pid = std::process::id();
    let Owner {
        program,
        started,
        purpose,
    } = owner;
    write!(
        marker,
        "{MARKER_HEAD}\npid {pid}\nprogram {}\nstarted {}\npurpose {}\n",
        one_line(program),
        one_line(started),
        one_line(purpose),
    )?;
    for name in USUAL_NAMES {
        writeln!(marker, "{MARKER_MAKES}{name}")?;
    }
    // Or a power cut would leave an empty marker beside gigabytes that nobody knows to be ours.
    marker.sync_all()?;
    rustix::fs::renameat(directory, MARKER_DRAFT, directory, MARKER_NAME)?;
    // Not every file system can do this, and none of them loses the rename for long.
    let _ = rustix::fs::fsync(directory);
    Ok(marker)
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
