//! Examines a file with the name of an archive before SQLite opens it, since SQLite would turn an
//! empty file into a database, and use any files with the names of its journals.

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
/// Only the owner may read it: runs contain host names, serial numbers and commands.
const MODE: u32 = 0o600;

/// A file that is an archive.
#[derive(Debug)]
pub(crate) struct ArchiveFile {
    /// Its path without links.
    pub(crate) path: PathBuf,
    found: Metadata,
}

impl ArchiveFile {
    /// Examines `path`; `None` if it does not exist.
    pub(crate) fn of(path: &Path) -> Result<Option<Self>, ArchiveError> {
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
            Err(_) => return Err(ArchiveError::Foreign(path.to_owned())),
        };
        let found = file.metadata().map_err(|source| examine(path, source))?;
        let directory = real.parent().unwrap_or(Path::new("/")).metadata();
        let directory = directory.map_err(|source| examine(path, source))?;
        if drivers::is_strangers(&directory, &found) {
            return Err(ArchiveError::Strangers(path.to_owned()));
        }
        // Closed here: closing it later would release SQLite's locks.
        let mut head = Vec::new();
        let read = file.take(HEADER_BYTES as u64).read_to_end(&mut head);
        read.map_err(|source| examine(path, source))?;
        match kind(&head) {
            _ if head.is_empty() => return Err(ArchiveError::EmptyFile(path.to_owned())),
            OpenedFileKind::Foreign => return Err(ArchiveError::Foreign(path.to_owned())),
            OpenedFileKind::Unknown(found) => {
                let path = path.to_owned();
                return Err(ArchiveError::UnknownSchema { path, found });
            }
            // SQLite reports that itself, including the content of its log.
            OpenedFileKind::Newer(_) | OpenedFileKind::Usable => {}
        }
        if !is_plain(&found) {
            return Err(ArchiveError::Linked(path.to_owned()));
        }
        let files = foreign(&real).map_err(|source| examine(path, source))?;
        if !files.is_empty() {
            return Err(ArchiveError::SideFiles(path.to_owned(), files));
        }
        Ok(Some(Self { path: real, found }))
    }

    /// Whether the name still refers to the examined file.
    pub(crate) fn is_there(&self) -> bool {
        let number = |found: &Metadata| (found.dev(), found.ino());
        let now = self.path.symlink_metadata();
        now.is_ok_and(|now| number(&now) == number(&self.found))
    }
}

/// Creates an empty archive, unless something has its name by then. It gets its name when complete,
/// so that an empty file is never left.
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
    // A journal may belong to an archive that another program has created meanwhile.
    if !files.is_empty() && real.symlink_metadata().is_err() {
        return Err(ArchiveError::SideFiles(path.to_owned(), files));
    }
    let bytes = schema::blank().map_err(|error| ArchiveError::Open(path.to_owned(), error))?;
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
    // Runs are saved even if the directory cannot be synced.
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
    ArchiveError::Examine(path.to_owned(), source)
}
