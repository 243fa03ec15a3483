//! A directory of our own, in which every file that is written was made by this run.
//!
//! All operations go through the directory's descriptor and never follow symbolic links or enter a
//! mount: whatever others rename or plant, only this very directory is touched. What was made is
//! known by its identity, and is compared with it before a byte is written or a name removed. A
//! marker file with a lock tells a live owner from a dead one, and carries the seal of the run.

mod joined;
mod keeping;
mod names;
mod small_identities;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::guard::beneath::open_beneath;
use crate::guard::identity::{self, FileLinks, Identity};
use crate::guard::new_file::NewFile;
use crate::guard::removal::{Removal, remove_proven};
use crate::guard::seal::{Seal, random};
use crate::on_demand::{FileSource, OpenFilePool};
use crate::target::{AccessMode, Caching, Target, TargetFileType};
use crate::target_error::TargetError;

/// How the names of our directories begin; sixteen hexadecimal digits follow.
pub const DIRECTORY_PREFIX: &str = ".seekstone-";
/// The marker's name.
pub const MARKER_NAME: &str = "owner";
/// The marker's first line.
pub(crate) const MARKER_HEAD: &str = "seekstone work directory";
/// How the marker's line begins that tells the seal of the run.
pub(crate) const MARKER_SEAL: &str = "seal ";
/// How the marker's lines begin that tell the shapes of files' names.
pub(crate) const MARKER_MAKES: &str = "makes ";
/// Names of the large files of most commands, which the marker tells from the beginning, when it is
/// waited for: a power cut leaves no gigabytes that nobody may remove.
const USUAL_NAMES: [&str; 3] = ["probe", "main", "cache"];
/// How often it is tried to remove a directory that was just emptied, and in which intervals.
const EMPTY_TRIES_MAX: u32 = 50;
const EMPTY_TRY: Duration = Duration::from_millis(10);
/// Only its owner may read or write a marker.
const MARKER_MODE: u32 = 0o600;
/// The name that the markers of earlier versions had until they were locked.
pub(crate) const MARKER_DRAFT: &str = "owner.new";

use small_identities::SmallIdentities;

pub use names::{checked_digits, is_checked};
pub(crate) use names::{
    directory_name, is_directory_name, is_given_name, is_plain_name, shape_of, small_file_name,
    small_file_number,
};

pub(crate) const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What the marker says about the run that owns a directory.
#[derive(Clone, Debug, Default)]
pub struct DirectoryOwner {
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
    state: Mutex<WorkDirectoryState>,
    small: SmallIdentities,
}

#[derive(Debug)]
struct WorkDirectoryState {
    /// Holds the lock; `None` once the directory is gone.
    marker: Option<File>,
    /// Each file of a name of its own: another file may have been put in its place.
    created: BTreeMap<String, Identity>,
    /// Shapes of names that the marker tells.
    shapes: BTreeSet<String>,
    /// Whether the marker is gone, and the directory is not.
    is_emptied: bool,
}

impl WorkDirectory {
    /// Make a directory under `parent`, for the owner alone.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(parent: &Path, owner: &DirectoryOwner) -> Result<Self, TargetError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent_fd = rustix::fs::open(parent, flags, Mode::empty())
            .map_err(|error| TargetError::io("open the directory", parent, error))?;
        let (name, directory) = make_unique(&parent_fd, parent)?;
        let path = parent.join(&name);
        refuse_foreign(&directory, &path)?;
        let marker = match make_marker(&directory, owner) {
            Ok(marker) => marker,
            Err(error) => {
                let _ = rustix::fs::unlinkat(&parent_fd, &name, AtFlags::REMOVEDIR);
                return Err(TargetError::io("write the marker of", &path, error));
            }
        };
        let state = Mutex::new(WorkDirectoryState {
            marker: Some(marker),
            is_emptied: false,
            created: BTreeMap::new(),
            shapes: USUAL_NAMES.map(str::to_owned).into(),
        });
        Ok(Self {
            parent: parent_fd,
            directory,
            name,
            path,
            state,
            small: SmallIdentities::default(),
        })
    }

    /// Where the directory was made.
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
        let mut state = self.state();
        // Noted first: a file must not be left behind because we were cut off in between.
        state.record_shape(name).map_err(in_context)?;
        let file = self
            .open_at(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
            .map_err(|error| in_context(error.into()))?;
        let identity = Identity::of(&file).map_err(in_context)?;
        state.created.insert(name.to_owned(), identity);
        Ok(file)
    }

    /// The same for a file whose content will be a copy of somebody's: it carries the seal as an
    /// attribute, where the file system keeps one, since its content cannot.
    ///
    /// # Errors
    /// As [`WorkDirectory::create_file`].
    pub fn create_copy(&self, name: &str) -> Result<File, TargetError> {
        let file = self.create_file(name)?;
        // Without it the file of a killed run is named, and left to its user.
        let _ = Seal::of_this_run().tag(&file);
        Ok(file)
    }

    /// Open the file `name`, which this run created, as a target that may be written.
    ///
    /// # Errors
    /// When it was not created here, when direct I/O is not supported, or the system refuses.
    pub fn open_target(&self, name: &str, caching: Caching) -> Result<Target, TargetError> {
        let file = self.open_made(name, caching)?;
        let kind = TargetFileType::File;
        Target::opened(
            file,
            &self.path.join(name),
            kind,
            AccessMode::Overwrite,
            caching,
        )
    }

    /// The same, closed until it is used.
    ///
    /// # Errors
    /// As [`WorkDirectory::open_target`].
    pub fn target_on_demand(
        self: &Arc<Self>,
        name: &str,
        caching: Caching,
        pool: &Arc<OpenFilePool>,
    ) -> Result<Target, TargetError> {
        let target = self.open_target(name, caching)?;
        let source = FileSource::Made {
            directory: Arc::clone(self),
            name: name.to_owned(),
            caching,
            identity: self.identity_of(name)?,
        };
        Ok(target.closed(pool, source))
    }

    /// Open the file `name`, which this run created, for reading and writing.
    pub(crate) fn open_made(&self, name: &str, caching: Caching) -> Result<File, TargetError> {
        let path = self.path.join(name);
        let made = self.identity_of(name)?;
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
        identity::require(&file, &made).map_err(|error| TargetError::io("use", &path, error))?;
        Ok(file)
    }

    fn identity_of(&self, name: &str) -> Result<Identity, TargetError> {
        let made = self.state().created.get(name).copied();
        made.ok_or_else(|| TargetError::io("open", self.path.join(name), Errno::NOENT))
    }

    /// Remove the file `name`, which this run created.
    ///
    /// # Errors
    /// When it was not created here, another file has its name now, or the system refuses.
    pub fn remove_file(&self, name: &str) -> Result<(), TargetError> {
        let path = self.path.join(name);
        let in_context = |error| TargetError::io("remove", &path, error);
        let Some(made) = self.state().created.remove(name) else {
            return Err(in_context(Errno::NOENT.into()));
        };
        match self.remove_made(name, &made).map_err(in_context)? {
            Removal::Removed => Ok(()),
            Removal::Absent => Err(in_context(Errno::NOENT.into())),
            Removal::Foreign => {
                let why = "another file has this name now, which this run did not make".to_owned();
                Err(TargetError::LeftBehind { path, why })
            }
        }
    }

    /// Remove our files and the directory; a second call does nothing.
    ///
    /// # Errors
    /// When something is in it that this run did not make, or the system refuses. What is left is
    /// named, and a later call tries again.
    pub fn remove(&self) -> Result<(), TargetError> {
        let mut state = self.state();
        if state.marker.is_some() {
            self.remove_files(&mut state)?;
            state.is_emptied = true;
        }
        if state.is_emptied {
            remove_emptied(&self.parent, &self.directory, &self.name, &self.path)?;
            state.is_emptied = false;
        }
        Ok(())
    }

    /// Remove our files, and then the marker.
    fn remove_files(&self, state: &mut WorkDirectoryState) -> Result<(), TargetError> {
        let listed = entries(&self.directory);
        let names = listed.map_err(|error| TargetError::io("list", &self.path, error))?;
        let mut foreign = Vec::new();
        for (name, kind) in names {
            let made = (kind == FileType::RegularFile).then(|| self.made(state, &name));
            let removed = made.flatten().map(|made| self.remove_made(&name, &made));
            match removed.transpose() {
                Ok(Some(Removal::Removed | Removal::Absent)) => drop(state.created.remove(&name)),
                Ok(Some(Removal::Foreign)) => foreign.push(name),
                Ok(None) if name == MARKER_NAME => {}
                Ok(None) => foreign.push(name),
                Err(error) => return Err(TargetError::io("remove", self.path.join(&name), error)),
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
        let marker = state.marker.as_ref().expect("the caller has looked");
        remove_marker(&self.directory, &self.path, (marker, MARKER_NAME))?;
        state.marker = None;
        Ok(())
    }

    /// What the name stood for when this run made it.
    fn made(&self, state: &WorkDirectoryState, name: &str) -> Option<Identity> {
        let small = || small_file_number(name).and_then(|number| self.small.get(number));
        state.created.get(name).copied().or_else(small)
    }

    fn remove_made(&self, name: &str, made: &Identity) -> std::io::Result<Removal> {
        remove_proven(&self.directory, name, |_, found| {
            Ok(found.identity.is_same_file(made))
        })
    }

    /// Create small file `number`, which must not exist.
    pub(crate) fn create_small(&self, number: u32, flags: OFlags) -> Result<File, Errno> {
        let file = self.open_at(
            &small_file_name(number),
            flags | OFlags::CREATE | OFlags::EXCL,
        )?;
        self.small.set(
            number,
            Identity::of(&file).map_err(|error| errno_of(&error))?,
        );
        Ok(file)
    }

    /// Remove small file `number` by one call, as a program would whose removals are measured. What
    /// stands under its name is looked at right before: only who swaps names within that
    /// microsecond could lose what he put there.
    pub(crate) fn remove_small(&self, number: u32) -> Result<(), Errno> {
        let name = small_file_name(number);
        self.small.require(number, &self.directory, &name)?;
        rustix::fs::unlinkat(&self.directory, &name, AtFlags::empty())?;
        self.small.forget(number);
        Ok(())
    }

    /// The directory itself, for a driver that makes a tree of directories in it.
    pub(crate) const fn descriptor(&self) -> &OwnedFd {
        &self.directory
    }

    /// Keep the directory and its files, as if the process had died: the lock is given up.
    pub fn abandon(self) {
        self.state().marker = None;
    }

    /// Open `name` inside, without following a link or entering a mount.
    pub(crate) fn open_at(&self, name: &str, flags: OFlags) -> Result<File, Errno> {
        open_beneath(&self.directory, name, flags)
    }

    fn state(&self) -> MutexGuard<'_, WorkDirectoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkDirectoryState {
    /// Let the marker tell what this name is like, for whoever removes what a killed run left. It
    /// is not waited for: that would take the time of what is measured, and what the system wrote
    /// survives our death.
    fn record_shape(&mut self, name: &str) -> std::io::Result<()> {
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

/// `ESTALE` when `name` does not stand for the file that was made, or that has a second name.
pub(crate) fn require_name(directory: impl AsFd, name: &str, made: &Identity) -> Result<(), Errno> {
    let found = FileLinks::named(directory, name).map_err(|error| errno_of(&error))?;
    let is_alone = found.is_directory() || found.links == 1;
    match found.identity.is_same_file(made) && is_alone {
        true => Ok(()),
        false => Err(Errno::STALE),
    }
}

pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // Nobody is left to tell; the next start finds what could not be removed.
        let _ = self.remove();
    }
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

/// Remove the marker of a directory that holds nothing else. Close it before the directory is
/// removed.
pub(crate) fn remove_marker(
    directory: &OwnedFd,
    path: &Path,
    (marker, name): (&File, &str),
) -> Result<(), TargetError> {
    let in_context = |error| TargetError::io("remove the marker of", path, error);
    let made = Identity::of(marker).map_err(in_context)?;
    let removed = remove_proven(directory, name, |_, found| {
        Ok(found.identity.is_same_file(&made))
    });
    if removed.map_err(in_context)? == Removal::Foreign {
        return Err(TargetError::LeftBehind {
            path: path.to_path_buf(),
            why: "its marker is not the one that its run wrote".to_owned(),
        });
    }
    Ok(())
}

/// Remove an empty directory, if its name still stands for it. It is waited for what a file system
/// keeps in it of files that were just closed.
pub(crate) fn remove_emptied(
    parent: &OwnedFd,
    directory: &OwnedFd,
    name: &str,
    path: &Path,
) -> Result<(), TargetError> {
    let in_context = |error| TargetError::io("remove the directory", path, error);
    let ours = FileLinks::of(directory).map_err(in_context)?;
    match FileLinks::named(parent, name) {
        Ok(found) if found.identity.is_same_file(&ours.identity) => {}
        // Somebody removed it for us.
        Err(error) if is_absent(&error) && ours.links == 0 => return Ok(()),
        Err(error) if !is_absent(&error) => return Err(in_context(error)),
        _ => {
            return Err(TargetError::LeftBehind {
                path: path.to_path_buf(),
                why: "somebody renamed it. It is empty now".to_owned(),
            });
        }
    }
    let mut tries = 0;
    loop {
        let removed = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
        match removed {
            Err(Errno::NOTEMPTY | Errno::EXIST) if tries < EMPTY_TRIES_MAX => {
                tries += 1;
                std::thread::sleep(EMPTY_TRY);
            }
            removed => return removed.map_err(|error| in_context(error.into())),
        }
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

/// Make a directory of a new name, and lock it: while it is locked, its emptiness proves nothing.
/// One that was taken for a dead run's before that is made again.
fn make_unique(parent_fd: &OwnedFd, parent: &Path) -> Result<(String, OwnedFd), TargetError> {
    const ATTEMPTS: usize = 16;
    for _ in 0..ATTEMPTS {
        let drawn = random();
        let drawn = drawn.map_err(|error| TargetError::io("name a directory in", parent, error))?;
        let name = directory_name(drawn);
        match rustix::fs::mkdirat(parent_fd, &name, Mode::RWXU) {
            Ok(()) => {}
            Err(Errno::EXIST) => continue,
            Err(error) => return Err(TargetError::io("make a directory in", parent, error)),
        }
        let locked = open_beneath(parent_fd, &name, DIRECTORY_FLAGS).and_then(|directory| {
            // What locks no directories lets nobody else lock one, either.
            let _ = rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive);
            let made = Identity::of(&directory).map_err(|error| errno_of(&error))?;
            require_name(parent_fd, &name, &made)?;
            Ok(directory)
        });
        match locked {
            Ok(directory) => return Ok((name, directory.into())),
            Err(Errno::NOENT) => {}
            Err(error) => {
                return Err(TargetError::io(
                    "open the new directory",
                    parent.join(name),
                    error,
                ));
            }
        }
    }
    Err(TargetError::io("make a directory in", parent, Errno::EXIST))
}

/// Between making and opening, somebody with write access to the parent could have swapped it.
fn refuse_foreign(directory: &OwnedFd, path: &Path) -> Result<(), TargetError> {
    let examined = FileLinks::of(directory).and_then(|found| Ok((found, entries(directory)?)));
    let (found, content) =
        examined.map_err(|error| TargetError::io("examine the new directory", path, error))?;
    if found.is_own_directory() && content.is_empty() {
        return Ok(());
    }
    let why = "somebody else put another directory in its place".to_owned();
    Err(TargetError::LeftBehind {
        path: path.to_path_buf(),
        why,
    })
}

/// Make the marker; it is never seen without its content, nor, while we live, without its lock.
fn make_marker(directory: &OwnedFd, owner: &DirectoryOwner) -> std::io::Result<File> {
    let mut marker = NewFile::create(File::from(directory.try_clone()?), MARKER_MODE)?;
    match rustix::fs::flock(marker.file(), FlockOperation::NonBlockingLockExclusive) {
        // Without locks nobody can tell that we are alive, and nobody will take us for dead either,
        // because that needs the lock.
        Ok(()) | Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {}
        Err(error) => return Err(error.into()),
    }
    marker.file().write_all(marker_text(owner).as_bytes())?;
    // At once: killed before, we leave an empty directory, of which only its name says whose it is.
    marker.publish(OsStr::new(MARKER_NAME))?;
    // Or a power cut would leave an empty marker beside gigabytes that nobody knows to be ours.
    marker.file().sync_all().inspect_err(|_| {
        let made = Identity::of(marker.file());
        let is_ours = |found: &FileLinks| made.is_ok_and(|made| found.identity.is_same_file(&made));
        // Nobody is left to tell; the directory then says what is in it.
        let _ = remove_proven(directory, MARKER_NAME, |_, found| Ok(is_ours(found)));
    })?;
    // Not every file system can do this, and none of them loses the name for long.
    let _ = rustix::fs::fsync(directory);
    // The lock is that of the open file, which both share.
    marker.file().try_clone()
}

fn marker_text(owner: &DirectoryOwner) -> String {
    let DirectoryOwner {
        program,
        started,
        purpose,
    } = owner;
    let usual = USUAL_NAMES.map(|name| format!("{MARKER_MAKES}{name}\n"));
    format!(
        "{MARKER_HEAD}\npid {}\n{MARKER_SEAL}{}\nprogram {}\nstarted {}\npurpose {}\n{}",
        std::process::id(),
        Seal::of_this_run(),
        one_line(program),
        one_line(started),
        one_line(purpose),
        usual.concat(),
    )
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
