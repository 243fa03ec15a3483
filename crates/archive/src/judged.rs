//! What has the name of an archive, looked at before SQLite opens it: that would make a database of
//! an empty file, and take for its own what has the names beside it.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use drivers::{NewFile, ReadFileError, open_directory, open_regular_file};

use crate::error::ArchiveError;
use crate::schema::{self, OpenedFileKind};
use crate::side_files::{foreign, is_plain, present};

/// Length of the header of a database (SQLite's file format, section 1.3).
const HEADER_BYTES: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Where the header has the user version and the application id.
const VERSION_AT: usize = 60;
const APPLICATION_AT: usize = 68;
/// Runs name hosts, serial numbers and commands: they are for their owner.
const MODE: u32 = 0o600;

/// A file that is an archive of ours.
#[derive(Debug)]
pub(crate) struct ArchiveFile {
    /// Where it lies, without links.
    pub(crate) path: PathBuf,
    found: Metadata,
}

impl ArchiveFile {
    /// Look at `path`; nothing if nothing is there.
    pub(crate) fn of(path: &Path) -> Result<Option<Self>, ArchiveError> {
        let owned = || path.to_owned();
        drivers::refuse_strangers_links(path).map_err(|source| examine(path, source))?;
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => {
                return Ok(None);
            }
            Err(source) => return Err(examine(path, source)),
        };
        let file = match open_regular_file(&real) {
            Ok(file) => file,
            Err(ReadFileError::Io(source)) if source.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(ReadFileError::Io(source)) => return Err(examine(path, source)),
            Err(_) => return Err(ArchiveError::Foreign { path: owned() }),
        };
        let found = file.metadata().map_err(|source| examine(path, source))?;
        let directory = real.parent().unwrap_or(Path::new("/")).metadata();
        let directory = directory.map_err(|source| examine(path, source))?;
        if drivers::is_strangers(&directory, &found) {
            return Err(ArchiveError::Strangers { path: owned() });
        }
        // Closed here: to close it later would take away SQLite's locks.
        let mut head = Vec::new();
        let read = file.take(HEADER_BYTES as u64).read_to_end(&mut head);
        read.map_err(|source| examine(path, source))?;
        match kind(&head) {
            _ if head.is_empty() => return Err(ArchiveError::EmptyFile { path: owned() }),
            OpenedFileKind::Foreign => return Err(ArchiveError::Foreign { path: owned() }),
            OpenedFileKind::Unknown(found) => {
                return Err(ArchiveError::UnknownSchema {
                    path: owned(),
                    found,
                });
            }
            // SQLite says so itself, with what its log holds.
            OpenedFileKind::Newer(_) | OpenedFileKind::Usable => {}
        }
        if !is_plain(&found) {
            return Err(ArchiveError::Linked { path: owned() });
        }
        let files = foreign(&real).map_err(|source| examine(path, source))?;
        if !files.is_empty() {
            return Err(ArchiveError::SideFiles {
                path: owned(),
                files,
            });
        }
        Ok(Some(Self { path: real, found }))
    }

    /// Whether the name still stands for the file that was looked at.
    pub(crate) fn is_there(&self) -> bool {
        let number = |found: &Metadata| (found.dev(), found.ino());
        let now = self.path.symlink_metadata();
        now.is_ok_and(|now| number(&now) == number(&self.found))
    }
}

/// Make an archive without runs, unless something has its name by then. It has its name when it is
/// whole, so that no empty file stays whatever happens.
pub(crate) fn make(path: &Path) -> Result<(), ArchiveError> {
    let examine = |source| examine(path, source);
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let parent = parent.canonicalize().map_err(examine)?;
    let Some(name) = path.file_name() else {
        return Err(examine(ErrorKind::IsADirectory.into()));
    };
    let real = parent.join(name);
    let files = present(&real);
    // A journal may be that of an archive which another program has made meanwhile.
    if !files.is_empty() && real.symlink_metadata().is_err() {
        return Err(ArchiveError::SideFiles {
            path: path.to_owned(),
            files,
        });
    }
    let bytes = schema::blank().map_err(|source| ArchiveError::Open {
        path: path.to_owned(),
        source,
    })?;
    let written = || -> io::Result<()> {
        let mut new = NewFile::create(open_directory(&parent)?, MODE)?;
        let mut file = new.file();
        file.write_all(&bytes)?;
        file.sync_all()?;
        match new.publish(name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            published => published,
        }
    };
    written().map_err(examine)?;
    // A directory that cannot be synced is no reason to keep no runs.
    let _ = File::open(&parent).and_then(|directory| directory.sync_all());
    Ok(())
}

/// What the header says.
fn kind(head: &[u8]) -> OpenedFileKind {
    let number = |at: usize| {
        let bytes = head.get(at..at + 4)?.try_into().ok()?;
        Some(i64::from(i32::from_be_bytes(bytes)))
    };
    match (number(APPLICATION_AT), number(VERSION_AT)) {
        (Some(schema::APPLICATION_ID), Some(version)) if head.starts_with(MAGIC) => {
            schema::of_version(version)
        }
        _ => OpenedFileKind::Foreign,
    }
}

fn examine(path: &Path, source: io::Error) -> ArchiveError {
    ArchiveError::Examine {
        path: path.to_owned(),
        source,
    }
}
