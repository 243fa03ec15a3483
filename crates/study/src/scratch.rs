//! A study's scratch directory, for use by its set-ups, with a record of what must be undone.
//!
//! Its content is removed with it, except mounts, whose data belongs to someone else. A record in
//! it identifies the owner: it is locked while its study runs, and has the seal that is also part
//! of the directory's name, and the identity of the original directory, so that a copy has no
//! owner.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use drivers::{FileLinks, Identity, Seal, checked_digits, first_mount, is_checked, remove_content};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::in_use::{mounted_below, user_of};
use super::journal::Undo;
use host::locked::Locked;

/// Prefix of these directories' names, followed by sixteen hexadecimal digits.
const PREFIX: &str = ".seekstone-study-";
const DIGITS: usize = 16;
/// Name of the record.
const RECORD: &str = ".seekstone-record";
const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// Maximum length of a record.
const RECORD_BYTES_MAX: u64 = 16 << 20;

/// Owner of a scratch directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ScratchOwner {
    /// The process that created it.
    pid: u32,
    /// Name of the study.
    study: String,
    /// Digest of the study's meaning.
    digest: String,
    /// The digits of the directory's name, which are unpredictable.
    seal: String,
    /// Identity of the directory.
    directory: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ScratchRecordLine {
    Owner(ScratchOwner),
    Undo(Vec<Undo>),
}

/// A path with all scratch directories replaced by the same name.
pub fn without_digits(path: &str) -> String {
    let mut parts = path.split(PREFIX);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(PREFIX);
        plain.push_str(part.get(DIGITS..).unwrap_or_default());
    }
    plain
}

/// A scratch directory. It is not removed on drop, since [`Scratch::remove`] reports errors.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Holds the lock.
    record: Locked,
}

impl Scratch {
    /// Creates one in `parent`, accessible only to the owner.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn create(parent: &Path, study: &str, digest: &str) -> io::Result<Self> {
        let parent = fs::canonicalize(parent)?;
        let seal = checked_digits(Seal::fresh()?.number());
        let path = parent.join(format!("{PREFIX}{seal}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        Self::begin(&path, seal, study, digest).inspect_err(|_| {
            // Fails if it is not empty, which is intended.
            let _ = fs::remove_dir(&path);
        })
    }

    fn begin(path: &Path, seal: String, study: &str, digest: &str) -> io::Result<Self> {
        let directory = rustix::fs::open(path, DIRECTORY_FLAGS, Mode::empty())?;
        let directory = Locked(directory.into());
        // Locked until the record has an owner.
        flock(&*directory, FlockOperation::NonBlockingLockExclusive)?;
        // Anything in it would be removed with it.
        if !is_mine(&directory)? || names(&directory)?.next().is_some() {
            let why = "somebody put another directory in its place";
            return Err(io::Error::other(why));
        }
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let record = File::from(rustix::fs::openat(&*directory, RECORD, flags, mode)?);
        flock(&record, FlockOperation::NonBlockingLockExclusive)?;
        let record = Locked(record);
        let path = path.to_owned();
        let mut made = Self { path, record };
        let written = made.write(&ScratchRecordLine::Owner(ScratchOwner {
            pid: std::process::id(),
            study: study.to_owned(),
            digest: digest.to_owned(),
            seal,
            directory: Identity::of(&*directory)?.text(),
        }));
        written.inspect_err(|_| {
            // The disk may be full.
            let _ = rustix::fs::unlinkat(&*directory, RECORD, AtFlags::empty());
        })?;
        Ok(made)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records what must be undone from now on, the last first.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn note(&mut self, undo: &[Undo]) -> io::Result<()> {
        self.write(&ScratchRecordLine::Undo(undo.to_vec()))
    }

    fn write(&mut self, line: &ScratchRecordLine) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.record.write_all(&text)?;
        self.record.sync_data()
    }

    /// Removes it with all its content, the record last.
    ///
    /// # Errors
    /// If something is mounted in it (then nothing is changed), or the system refuses.
    pub fn remove(self) -> io::Result<()> {
        remove(&self.path, &self.record)
    }
}

/// Scratch directory of a killed study. While this value lives, nobody else removes it.
#[derive(Debug)]
pub struct LeftScratch {
    pub path: PathBuf,
    /// The process that created it, unless it was killed before it recorded that.
    pub pid: Option<u32>,
    /// Name of the study.
    pub study: String,
    /// Digest of the study's meaning.
    pub digest: String,
    /// Set-ups not yet undone, in the order in which they were made.
    pub undo: Vec<Undo>,
    /// Size of its files on disk, bytes, without the record.
    pub bytes: u64,
    /// Number of files, without the record.
    pub files: u64,
    /// Holds the lock.
    record: Locked,
}

impl LeftScratch {
    /// Those in `directory`, sorted by name. Directories that cannot be examined are skipped.
    pub fn find(directory: &Path) -> Vec<Self> {
        let entries = fs::read_dir(directory).into_iter().flatten();
        // There may be millions of others.
        let is_like = |name: &OsStr| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
        let entries = entries
            .flatten()
            .filter(|entry| is_like(&entry.file_name()));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort_unstable();
        paths.iter().filter_map(|path| Self::at(path)).collect()
    }

    /// The one at `path`; `None` if there is none, it is in use, or it is not ours.
    pub fn at(path: &Path) -> Option<Self> {
        let digits = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
        let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        (digits.len() == DIGITS && digits.chars().all(is_digit)).then_some(())?;
        let directory = rustix::fs::open(path, DIRECTORY_FLAGS, Mode::empty()).ok()?;
        // Must not block on a FIFO or follow a link.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let record = rustix::fs::openat(&directory, RECORD, flags, Mode::empty());
        let directory = File::from(directory);
        let record = match record.map(File::from) {
            Ok(record) if FileLinks::of(&record).is_ok_and(|it| it.size > 0) => record,
            Ok(_) | Err(Errno::NOENT) => return Self::blank_at(path, digits, directory),
            Err(_) => return None,
        };
        let (outer, inner) = (directory.metadata().ok()?, record.metadata().ok()?);
        let me = rustix::process::geteuid();
        let is_ours = outer.uid() == inner.uid() && outer.uid() == me.as_raw();
        let is_alone = inner.is_file() && inner.nlink() == 1;
        (is_ours && is_alone).then_some(())?;
        flock(&record, FlockOperation::NonBlockingLockExclusive).ok()?;
        let record = Locked(record);
        let (owner, undo) = read(&record)?;
        let made = Identity::of(&directory).ok()?.text();
        (owner.seal == digits && owner.directory == made).then_some(())?;
        let found = Survey::of(path).ok()?;
        Some(Self {
            path: fs::canonicalize(path).ok()?,
            pid: Some(owner.pid),
            study: owner.study,
            digest: owner.digest,
            undo,
            bytes: found.bytes.saturating_sub(inner.blocks() * 512),
            files: found.files.saturating_sub(1),
            record,
        })
    }

    /// One of a study killed before its record was written, or after it was removed.
    fn blank_at(path: &Path, digits: &str, directory: File) -> Option<Self> {
        (is_mine(&directory).ok()? && is_checked(digits)).then_some(())?;
        flock(&directory, FlockOperation::NonBlockingLockExclusive).ok()?;
        names(&directory)
            .ok()?
            .all(|it| it == RECORD)
            .then_some(())?;
        Some(Self {
            path: fs::canonicalize(path).ok()?,
            pid: None,
            study: String::new(),
            digest: String::new(),
            undo: Vec::new(),
            bytes: 0,
            files: 0,
            record: Locked(directory),
        })
    }

    /// Removes it with all its content.
    ///
    /// # Errors
    /// If something is mounted in it or it is in use (then nothing is changed), or the system
    /// refuses.
    pub fn remove(self) -> io::Result<()> {
        if self.pid.is_none() {
            let directory = &*self.record;
            if FileLinks::named(directory, RECORD).is_ok_and(|it| it.is_file() && it.size == 0) {
                rustix::fs::unlinkat(directory, RECORD, AtFlags::empty())?;
            }
            return fs::remove_dir(&self.path);
        }
        if let Some(user) = user_of(&self.path, &self.path.join(RECORD)) {
            return Err(io::Error::other(format!("{user} uses it: end that first")));
        }
        remove(&self.path, &self.record)
    }
}

/// Whether only the current user can access a directory.
fn is_mine(directory: &File) -> io::Result<bool> {
    let found = FileLinks::of(directory)?;
    Ok(found.is_private() && found.owner == rustix::process::geteuid().as_raw())
}

/// The names in a directory.
fn names(directory: &File) -> io::Result<impl Iterator<Item = String>> {
    let entries = rustix::fs::Dir::read_from(directory)?.flatten();
    let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|it| it != "." && it != ".."))
}

/// The owner, and what must be undone; `None` if the record is not valid.
fn read(record: &File) -> Option<(ScratchOwner, Vec<Undo>)> {
    let mut bytes = Vec::new();
    record.take(RECORD_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let (mut owner, mut undo) = (None, Vec::new());
    // A truncated line is ignored.
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    for line in lines.filter(|line| line.ends_with(b"\n")) {
        // fuzzed: left_behind
        match serde_json::from_slice(line).ok()? {
            ScratchRecordLine::Owner(found) => owner = Some(found),
            ScratchRecordLine::Undo(found) => undo = found,
        }
    }
    Some((owner?, undo))
}

fn remove(path: &Path, record: &File) -> io::Result<()> {
    let directory = rustix::fs::open(path, DIRECTORY_FLAGS, Mode::empty())?;
    // The name may refer to another directory by now. The record is in ours.
    let named = FileLinks::named(&directory, RECORD)?;
    if !named.identity.is_same_file(&Identity::of(record)?) {
        return Err(io::Error::other("another directory has its name now"));
    }
    let mounted = match mounted_below(path) {
        Some(mount) => Some(mount),
        None => first_mount(&directory)?.map(|inner| path.join(inner)),
    };
    if let Some(mount) = mounted {
        let why = format!(
            "{} is still mounted there. Unmount it, and remove {} with `seekstone clean`",
            mount.display(),
            path.display()
        );
        return Err(io::Error::other(why));
    }
    // Without its record, the rest would have no owner.
    remove_content(&directory, Some(RECORD))?;
    // Otherwise it would be taken for that of a killed study.
    let _ = flock(&directory, FlockOperation::NonBlockingLockExclusive);
    rustix::fs::unlinkat(&directory, RECORD, AtFlags::empty())?;
    fs::remove_dir(path)
}

/// Content of a directory.
#[derive(Debug, Default)]
struct Survey {
    bytes: u64,
    files: u64,
}

impl Survey {
    /// Examines everything without following links.
    fn of(path: &Path) -> io::Result<Self> {
        let mut found = Self::default();
        let device = path.symlink_metadata()?.dev();
        let mut directories = vec![path.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory)? {
                let path = entry?.path();
                let metadata = path.symlink_metadata()?;
                if metadata.dev() != device {
                    continue;
                }
                if metadata.is_dir() {
                    directories.push(path);
                } else {
                    found.bytes += metadata.blocks() * 512;
                    found.files += 1;
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undo() -> Undo {
        Undo {
            place: "study.toml:7".into(),
            what: "the tear-down of the study".into(),
            text: "umount \"$SEEKSTONE_SCRATCH/mnt\"".into(),
            variables: vec![("SEEKSTONE_SCRATCH".into(), "/x".into())],
        }
    }

    fn make(parent: &Path) -> Scratch {
        Scratch::create(parent, "study.toml", "5eed").expect("a scratch directory")
    }

    #[test]
    fn everything_in_it_goes_and_links_are_not_followed() {
        let top = tempfile::tempdir().expect("a directory");
        let kept = top.path().join("kept");
        fs::create_dir(&kept).expect("a directory");
        fs::write(kept.join("file"), "of the user").expect("a file");
        let scratch = make(top.path());
        let path = scratch.path().to_owned();
        fs::create_dir(path.join("inner")).expect("a directory");
        fs::write(path.join("inner/file"), "ours").expect("a file");
        std::os::unix::fs::symlink(&kept, path.join("link")).expect("a link");
        scratch.remove().expect("removed");
        assert!(!path.exists());
        assert_eq!(fs::read(kept.join("file")).expect("a file"), b"of the user");
    }

    #[test]
    fn what_is_left_is_found_with_what_must_be_undone() {
        let top = tempfile::tempdir().expect("a directory");
        let mut scratch = make(top.path());
        scratch.note(&[undo(), undo()]).expect("noted");
        scratch.note(&[undo()]).expect("noted");
        let path = scratch.path().to_owned();
        fs::write(path.join("file"), "ours").expect("a file");
        // Its study is running.
        assert!(LeftScratch::at(&path).is_none());
        drop(scratch);
        let mut found = LeftScratch::find(top.path());
        let left = found.pop().expect("a directory of ours");
        assert_eq!((&left.path, left.files), (&path, 1));
        assert_eq!(
            (left.study.as_str(), left.digest.as_str()),
            ("study.toml", "5eed")
        );
        assert_eq!(left.undo, [undo()]);
        // Someone else examines it.
        assert!(found.is_empty() && LeftScratch::at(&path).is_none());
        // An open file is in use.
        let used = File::open(path.join("file")).expect("a file");
        let refused = left.remove().expect_err("in use").to_string();
        assert!(refused.ends_with(" uses it: end that first"), "{refused}");
        drop(used);
        let left = LeftScratch::at(&path).expect("a directory of ours");
        left.remove().expect("removed");
        assert!(!path.exists());
    }

    #[test]
    fn what_is_not_provably_ours_is_left_alone() {
        let top = tempfile::tempdir().expect("a directory");
        let ours = make(top.path()).path().to_owned();
        let record = fs::read(ours.join(RECORD)).expect("a record");
        let like = |name: &str, record: Option<&[u8]>| {
            let path = top.path().join(name);
            fs::create_dir(&path).expect("a directory");
            fs::write(path.join("precious"), "of the user").expect("a file");
            if let Some(record) = record {
                fs::write(path.join(RECORD), record).expect("a file");
            }
            path
        };
        // A copy, one without a record, a truncated one, and other names.
        like(".seekstone-study-0123456789abcdef", Some(&record));
        like(".seekstone-study-0123456789abcde0", None);
        like(
            ".seekstone-study-0123456789abcde1",
            Some(&record[..record.len() - 1]),
        );
        like(".seekstone-study-0123456789abcde2", Some(b"{}\n"));
        let other = top.path().join(".seekstone-study-mine");
        fs::rename(&ours, &other).expect("renamed");
        assert!(LeftScratch::find(top.path()).is_empty());
        fs::rename(&other, &ours).expect("renamed");
        assert_eq!(LeftScratch::find(top.path()).len(), 1);
    }

    /// Bug: whatever came into the place of the directory before its record existed was removed
    /// with it.
    #[test]
    fn a_directory_that_holds_something_is_not_taken() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join(".seekstone-study-0123456789abcdef");
        let mut builder = DirBuilder::new();
        builder.mode(0o700).create(&path).expect("a directory");
        fs::write(path.join("precious"), "of the user").expect("a file");
        let seal = "0123456789abcdef".to_owned();
        Scratch::begin(&path, seal, "study.toml", "5eed").expect_err("it is somebody's");
        assert_eq!(fs::read_dir(&path).expect("a directory").count(), 1);
    }

    /// Bug: a study killed before its record was written, or after it was removed, left a directory
    /// without an owner.
    #[test]
    fn an_empty_directory_of_a_killed_study_is_known_by_its_name() {
        let top = tempfile::tempdir().expect("a directory");
        for record in [None, Some("")] {
            let path = make(top.path()).path().to_owned();
            fs::remove_file(path.join(RECORD)).expect("removed");
            if let Some(text) = record {
                fs::write(path.join(RECORD), text).expect("a file");
            }
            fs::write(path.join("precious"), "of the user").expect("a file");
            assert!(LeftScratch::at(&path).is_none(), "it holds a file");
            fs::remove_file(path.join("precious")).expect("removed");
            let users = top.path().join(".seekstone-study-0123456789abcdef");
            fs::rename(&path, &users).expect("renamed");
            assert!(LeftScratch::at(&users).is_none(), "any name is no proof");
            fs::rename(&users, &path).expect("renamed");
            let left = LeftScratch::at(&path).expect("a directory of ours");
            assert_eq!((left.pid, left.files), (None, 0));
            left.remove().expect("removed");
            assert!(!path.exists());
        }
    }
}
