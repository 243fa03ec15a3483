//! The marker of a permanent data file, which proves its ownership and completeness.
//!
//! `rpt`, `transact`, `diskrand` and `diskmbps` create files with names given by the user, among
//! the user's own files. Beside each is a marker, named like the file plus `.seekstone`, with the
//! seal that the file contains. Only a file with the seal of its marker is written, emptied or
//! removed without `--overwrite`: see [`DataMarker::proves`].

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use drivers::{FileLinks, Identity, NewFile, Proof, Removal, Seal, remove_marked};
use rustix::fs::{FlockOperation, OFlags, flock};

/// Suffix of a data file's name in the name of its marker.
pub const MARKER_SUFFIX: &str = ".seekstone";
const HEAD: &str = "seekstone data file";
/// Only the owner may read or write a marker.
const MODE: u32 = 0o600;
/// Maximum size of a marker, bytes.
const BYTES_MAX: u64 = 4096;

/// State of a data file in its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerState {
    /// Being written or in temporary use; a killed program leaves it in this state.
    Unfinished,
    /// Complete and permanent.
    Complete,
}

/// The open marker of a data file.
#[derive(Debug)]
pub struct DataMarker {
    path: PathBuf,
    file: File,
    seal: Seal,
    size: u64,
    state: MarkerState,
}

/// The path of a data file's marker.
pub fn marker_path(data: &Path) -> PathBuf {
    let mut name = data.as_os_str().to_owned();
    name.push(MARKER_SUFFIX);
    name.into()
}

impl DataMarker {
    /// Creates and locks the marker of a data file of `size` bytes that is about to be created,
    /// with the seal of this run. Replaces an old marker without a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if something else has its name,
    /// [`io::ErrorKind::ResourceBusy`] if another program uses it, and system errors.
    pub fn make(data: &Path, size: u64) -> io::Result<Self> {
        if let Some(old) = Self::read(data)? {
            if !old.is_idle() {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            old.remove()?;
        }
        let path = marker_path(data);
        let (directory, name) = place_of(&path)?;
        // It never appears without content, since an empty marker would have no owner.
        let mut new = NewFile::create(directory.into(), MODE)?;
        // Without locks, other programs cannot tell that this one is alive.
        let _ = flock(new.file(), FlockOperation::NonBlockingLockExclusive);
        let made = Self {
            path,
            file: new.file().try_clone()?,
            seal: Seal::of_this_run(),
            size,
            state: MarkerState::Unfinished,
        };
        made.write()?;
        new.publish(&name)?;
        Ok(made)
    }

    /// Reads the marker of a data file, if there is a valid one.
    ///
    /// # Errors
    /// If the system refuses.
    // fuzzed: left_behind
    pub fn read(data: &Path) -> io::Result<Option<Self>> {
        let path = marker_path(data);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits().cast_signed())
            .open(&path);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if is_nothing_of_ours(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let found = FileLinks::of(&file)?;
        if !found.is_file() || found.links != 1 {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        (&mut file).take(BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(parse(&bytes).map(|(seal, size, state)| Self {
            path,
            file,
            seal,
            size,
            state,
        }))
    }

    /// The seal of the data file.
    pub const fn seal(&self) -> Seal {
        self.seal
    }

    /// Whether the data file was written completely.
    pub fn is_complete(&self) -> bool {
        self.state == MarkerState::Complete
    }

    /// Whether no other program holds it. If so, this value holds it from now on.
    pub fn is_idle(&self) -> bool {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    /// Records the state and the final size of the data file.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn note(&mut self, state: MarkerState, size: u64) -> io::Result<()> {
        (self.state, self.size) = (state, size);
        self.write()
    }

    /// Whether an open file belongs to this marker: it contains the seal, has no second hard link,
    /// and has the recorded size.
    ///
    /// # Errors
    /// If it cannot be read, which proves nothing.
    pub fn proves(&self, file: &File) -> io::Result<bool> {
        let found = FileLinks::of(file)?;
        if !found.is_file() || found.links != 1 {
            return Ok(false);
        }
        let proof = self.seal.examine(file)?;
        Ok(match self.state {
            MarkerState::Complete => proof == Proof::Sealed && found.size == self.size,
            MarkerState::Unfinished => proof.is_ours(),
        })
    }

    /// Removes the data file if it is proved to belong to this marker, then the marker.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove_with(self, data: &Path) -> io::Result<Removal> {
        let (directory, name) = place_of(data)?;
        let removed = remove_marked(&directory, &name, |file, _| self.proves(file))?;
        if removed != Removal::Foreign {
            self.remove()?;
        }
        Ok(removed)
    }

    /// Removes the marker.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(self) -> io::Result<()> {
        self.remove_file()
    }

    /// The same for a marker that is part of another value.
    pub fn remove_file(&self) -> io::Result<()> {
        remove_known(&self.path, &Identity::of(&self.file)?).map(drop)
    }

    fn write(&self) -> io::Result<()> {
        let state = match self.state {
            MarkerState::Unfinished => "filling",
            MarkerState::Complete => "complete",
        };
        let body = format!(
            "{HEAD}\nseal {}\nsize {}\nstate {state}\n",
            self.seal, self.size
        );
        let text = format!("{body}check {:08x}\n", crc32fast::hash(body.as_bytes()));
        self.file.write_all_at(text.as_bytes(), 0)?;
        self.file.set_len(text.len() as u64)?;
        self.file.sync_all()
    }
}

/// Removes the file at `path` if it is the one that this process opened or created.
///
/// # Errors
/// If the system refuses.
pub fn remove_known(path: &Path, made: &Identity) -> io::Result<Removal> {
    let (directory, name) = place_of(path)?;
    remove_marked(&directory, &name, |_, found| {
        Ok(found.identity.is_same_file(made))
    })
}

/// The open directory of a file, and the file's name in it.
pub(crate) fn place_of(path: &Path) -> io::Result<(OwnedFd, OsString)> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = File::open(parent.unwrap_or(Path::new(".")))?;
    let name = path.file_name().map(OsString::from).unwrap_or_default();
    Ok((directory.into(), name))
}

/// Nothing is there, or a link, or something that cannot be opened for writing.
fn is_nothing_of_ours(error: &io::Error) -> bool {
    let kinds = [libc_code::ENXIO, libc_code::ELOOP, libc_code::EISDIR];
    let code = error.raw_os_error();
    error.kind() == io::ErrorKind::NotFound || code.is_some_and(|code| kinds.contains(&code))
}

mod libc_code {
    use rustix::io::Errno;

    pub const ENXIO: i32 = Errno::NXIO.raw_os_error();
    pub const ELOOP: i32 = Errno::LOOP.raw_os_error();
    pub const EISDIR: i32 = Errno::ISDIR.raw_os_error();
}

/// Seal, size and state; `None` if it is not an unmodified marker.
fn parse(bytes: &[u8]) -> Option<(Seal, u64, MarkerState)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let at = text.rfind("check ")?;
    let (body, check) = text.split_at(at);
    let check = u32::from_str_radix(check.strip_prefix("check ")?.trim_end(), 16).ok()?;
    (check == crc32fast::hash(body.as_bytes())).then_some(())?;
    let mut lines = body.lines();
    (lines.next() == Some(HEAD)).then_some(())?;
    let mut value = |name: &str| lines.next()?.strip_prefix(name);
    let seal = value("seal ")?.parse().ok()?;
    let size = value("size ")?.parse().ok()?;
    let state = match value("state ")? {
        "filling" => MarkerState::Unfinished,
        "complete" => MarkerState::Complete,
        _ => return None,
    };
    Some((seal, size, state))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use drivers::Payload;
    use workload::TargetId;

    use super::*;

    fn sealed(seal: Seal, len: usize) -> Vec<u8> {
        let mut bytes = vec![7; len];
        let payload = Payload {
            run: seal.number(),
            ..Payload::default()
        };
        payload.stamp(&mut bytes, TargetId(0), 0);
        bytes
    }

    #[test]
    fn a_marker_is_read_back_and_proves_its_own_file_only() {
        let top = tempfile::tempdir().expect("a directory");
        let data = top.path().join("data");
        let mut marker = DataMarker::make(&data, 8192).expect("a marker");
        let ours = sealed(marker.seal(), 8192);
        fs::write(&data, &ours).expect("a file");
        marker.note(MarkerState::Complete, 8192).expect("noted");
        drop(marker);
        let marker = DataMarker::read(&data).expect("read").expect("a marker");
        assert!(marker.is_complete() && marker.is_idle());
        let proves = |content: &[u8]| {
            fs::write(&data, content).expect("a file");
            marker
                .proves(&File::open(&data).expect("a file"))
                .expect("read")
        };
        // The same inode number and size, but without our data.
        assert!(!proves(&vec![b'p'; 8192]));
        assert!(!proves(&[]) && !proves(&ours[..4096]));
        assert!(proves(&ours));
        fs::hard_link(&data, top.path().join("second")).expect("a name");
        assert!(!proves(&ours), "it has a second name");
    }

    #[test]
    fn what_is_no_marker_is_never_replaced() {
        let top = tempfile::tempdir().expect("a directory");
        let data = top.path().join("data");
        let path = marker_path(&data);
        let whole = {
            drop(DataMarker::make(&data, 5).expect("a marker"));
            fs::read_to_string(&path).expect("a marker")
        };
        drop(DataMarker::make(&data, 6).expect("an old marker is replaced"));
        for content in [
            "of the user".to_owned(),
            String::new(),
            whole.replace("size 5", "size 6"),
            whole[..whole.len() - 6].to_owned(),
        ] {
            fs::write(&path, &content).expect("a file");
            assert!(
                DataMarker::read(&data).expect("read").is_none(),
                "{content}"
            );
            DataMarker::make(&data, 5).expect_err("it is somebody's");
            assert_eq!(fs::read_to_string(&path).expect("a file"), content);
        }
    }

    #[test]
    fn a_marker_in_use_is_not_idle() {
        let top = tempfile::tempdir().expect("a directory");
        let data = top.path().join("data");
        let held = DataMarker::make(&data, 5).expect("a marker");
        let seen = DataMarker::read(&data).expect("read").expect("a marker");
        assert!(!seen.is_idle());
        DataMarker::make(&data, 5).expect_err("in use");
        drop(held);
        assert!(seen.is_idle());
        assert_eq!(seen.remove_with(&data).expect("removed"), Removal::Absent);
        assert!(!marker_path(&data).exists());
    }
}
