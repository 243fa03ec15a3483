//! A file of JSON lines owned by one process: each line is flushed to storage before the next is
//! written, and a truncated last line is ignored.
//!
//! A new file gets its first line before its name, so an empty file, or one without our first line,
//! belongs to someone else and is left alone. The lock shows that its owner is still running.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use drivers::{NewFile, open_directory};
use serde::Serialize;

use crate::locked::Locked;

/// Maximum length of a file.
const BYTES_MAX: u64 = 1 << 30;
/// Only the owner may read it, since it names the host and holds commands.
const MODE: u32 = 0o600;
/// How often to retry a name that other processes release.
const TRIES: u32 = 8;

/// A kind of line file, with its names in messages.
#[derive(Debug, PartialEq, Eq)]
pub struct LineFileKind {
    /// First line of a new file.
    pub first_line: &'static [u8],
    /// As in "cannot write the study's journal".
    pub name: &'static str,
    /// As in "this study is under way in another process".
    pub owner: &'static str,
    /// As in "is no journal of a study".
    pub what: &'static str,
}

/// Why a line file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LineFileError {
    /// A system error.
    #[error("cannot {action} {} {}", kind.name, path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        kind: &'static LineFileKind,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another program has it open.
    #[error("{} is in progress in another process, which holds {}", kind.owner, path.display())]
    Busy {
        kind: &'static LineFileKind,
        /// The file.
        path: PathBuf,
    },
    /// It is not such a file.
    #[error("{} is no {} ({why}): move it away", path.display(), kind.what)]
    Foreign {
        /// The expected kind.
        kind: &'static LineFileKind,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// An open, locked line file.
#[derive(Debug)]
pub struct LineFile {
    kind: &'static LineFileKind,
    path: PathBuf,
    file: Locked,
}

impl LineFile {
    /// Opens or creates the file, and calls `read` with its complete lines. A truncated last line
    /// is removed afterwards.
    ///
    /// # Errors
    /// If another process has it open, it is another kind of file, or the system refuses.
    pub fn open<T>(
        path: &Path,
        kind: &'static LineFileKind,
        read: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<(Self, T), LineFileError> {
        let failed = |action| {
            let path = path.to_owned();
            move |source| LineFileError::Io {
                action,
                kind,
                path,
                source,
            }
        };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(failed("make the directory of"))?;
        }
        let foreign = |why: &str| LineFileError::Foreign {
            kind,
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let mut file = locked(path, kind, &failed)?;
        let found = file.metadata().map_err(failed("examine"))?;
        if !found.is_file() || found.nlink() > 1 {
            return Err(foreign("it has a second name, or is not a file"));
        }
        if found.len() > BYTES_MAX {
            return Err(foreign("it is too large"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n');
        let whole = whole.map_or(0, |last| last + 1);
        let content = read(&bytes[..whole]).map_err(|why| foreign(&why))?;
        if whole == 0 {
            return Err(foreign("it holds no line of one"));
        }
        // A truncated line must not become the start of the next one.
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed("repair"))?;
        }
        let path = path.to_owned();
        Ok((Self { kind, path, file }, content))
    }

    /// Files whose names begin with `stem`, of any kind.
    pub fn named(stem: &Path) -> Vec<PathBuf> {
        let directory = stem.parent().filter(|it| !it.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        let begins = stem.file_name().unwrap_or_default().as_encoded_bytes();
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let named = entries.filter(|it| it.file_name().as_encoded_bytes().starts_with(begins));
        named.map(|entry| entry.path()).collect()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line and flushes it to storage.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&mut self, entry: &impl Serialize) -> Result<(), LineFileError> {
        let mut line =
            serde_json::to_vec(entry).map_err(|error| self.failed("fill", error.into()))?;
        line.push(b'\n');
        let written = self.file.write_all(&line);
        written
            .and_then(|()| self.file.sync_data())
            .map_err(|error| self.failed("write", error))
    }

    /// Discards the content and starts again.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn restart(&mut self) -> Result<(), LineFileError> {
        self.emptied().map_err(|error| self.failed("empty", error))
    }

    /// Removes the file.
    ///
    /// # Errors
    /// If the system refuses, or another file has its name.
    pub fn remove(self) -> Result<(), LineFileError> {
        let removed = match is_named(&self.file, &self.path) {
            Ok(true) => fs::remove_file(&self.path),
            Ok(false) => Err(io::Error::other("another file has its name")),
            Err(error) => Err(error),
        };
        removed.map_err(|error| self.failed("remove", error))
    }

    /// Truncates it to the first line.
    fn emptied(&mut self) -> io::Result<()> {
        let mut first = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        let mut head = (&*self.file).take(self.kind.first_line.len() as u64);
        head.read_to_end(&mut first)?;
        if first == self.kind.first_line {
            return self.file.set_len(first.len() as u64);
        }
        self.file.set_len(0)?;
        self.file.write_all(self.kind.first_line)
    }

    fn failed(&self, action: &'static str, source: io::Error) -> LineFileError {
        LineFileError::Io {
            action,
            kind: self.kind,
            path: self.path.clone(),
            source,
        }
    }
}

/// Opens or creates the file and locks it.
fn locked<F: FnOnce(io::Error) -> LineFileError>(
    path: &Path,
    kind: &'static LineFileKind,
    failed: &impl Fn(&'static str) -> F,
) -> Result<Locked, LineFileError> {
    // A finished owner removes the file, and another process may create the next one first.
    for _ in 0..TRIES {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let opened = OpenOptions::new()
            .read(true)
            .append(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(path, kind).map_err(failed("make"))?;
                continue;
            }
            Err(error) => return Err(failed("open")(error)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let path = path.to_owned();
                return Err(LineFileError::Busy { kind, path });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        let file = Locked(file);
        if is_named(&file, path).map_err(failed("examine"))? {
            return Ok(file);
        }
    }
    let path = path.to_owned();
    Err(LineFileError::Busy { kind, path })
}

/// Creates the file, unless another process has.
fn make(path: &Path, kind: &LineFileKind) -> io::Result<()> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let directory = open_directory(directory.unwrap_or(Path::new(".")))?;
    let mut new = NewFile::create(directory, MODE)?;
    let mut file = new.file();
    file.write_all(kind.first_line)?;
    file.sync_all()?;
    match new.publish(path.file_name().unwrap_or_default()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Whether the name still refers to the open file.
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let number = |found: &Metadata| (found.dev(), found.ino());
    let opened = file.metadata()?;
    match path.symlink_metadata() {
        Ok(named) => Ok(number(&named) == number(&opened)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
