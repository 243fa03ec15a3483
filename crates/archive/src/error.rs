//! Errors of an archive.

use std::io;
use std::path::PathBuf;

use results::JsonError;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The directory of the archive could not be created.
    #[error("cannot create the directory {} for the archive", .0.display())]
    Directory(PathBuf, #[source] io::Error),
    /// The file could not be opened or created.
    #[error("cannot open the archive {}. Name another file with --archive or \
             SEEKSTONE_ARCHIVE",
        .0.display())]
    Open(PathBuf, #[source] rusqlite::Error),
    /// The file could not be examined or created.
    #[error("cannot open the archive {}. Name another file with --archive or \
             SEEKSTONE_ARCHIVE",
        .0.display())]
    Examine(PathBuf, #[source] io::Error),
    /// An empty file may belong to someone else, and is not an archive.
    #[error(
        "{} is not an archive of Seekstone, but an empty file. Name one that does not exist with \
         --archive, or remove it",
        .0.display()
    )]
    EmptyFile(PathBuf),
    /// It belongs to another user, who can read it, in a directory where anyone can create files.
    #[error(
        "the archive {} is of another user, in a directory where anyone can make files. Runs \
         name hosts and serial numbers. Name another file with --archive",
        .0.display()
    )]
    Strangers(PathBuf),
    /// The archive has a second hard link. Opened by that name, SQLite would not find its journal.
    #[error(
        "the archive {} has a second name (a hard link). Under that it could be damaged: remove \
         one of the names",
        .0.display()
    )]
    Linked(PathBuf),
    /// Other files have the names that SQLite needs.
    #[error(
        "the archive {} needs the names {} for itself, and what is there is not its own. Move that \
         away, or name another archive with --archive",
        .0.display(),
        listed(.1)
    )]
    SideFiles(PathBuf, Vec<PathBuf>),
    /// The file changed while it was being opened.
    #[error("the archive {} is being replaced by another program: try again", .0.display())]
    Restless(PathBuf),
    /// The file does not exist.
    #[error("there is no archive {}. Check the spelling", .0.display())]
    Missing(PathBuf),
    /// The file is something else.
    #[error("{} is not an archive of Seekstone. Name another file with --archive or \
             SEEKSTONE_ARCHIVE",
        .0.display())]
    Foreign(PathBuf),
    /// The file was damaged.
    #[error(
        "the archive {} is damaged: move it away, and recover what can be read with the sqlite3 \
         command's .recover",
        .0.display()
    )]
    Damaged(PathBuf, #[source] rusqlite::Error),
    /// The file was written by a newer program.
    #[error(
        "the archive {} has schema version {found}, and this program knows versions up to {known}. \
         Use the version of Seekstone that wrote it, or a newer one",
        path.display()
    )]
    NewerSchema {
        /// The archive.
        path: PathBuf,
        /// Version of the file.
        found: i64,
        /// Newest version that this program knows.
        known: i64,
    },
    /// The file has an invalid version.
    #[error(
        "the archive {} has schema version {found}, which no version of Seekstone writes: another \
         program changed it. Put a copy of before in its place, or name another with --archive",
        path.display()
    )]
    UnknownSchema {
        /// The archive.
        path: PathBuf,
        /// Version of the file.
        found: i64,
    },
    /// There is no run with that number.
    #[error("the archive has no run {id}: {known}")]
    UnknownRun {
        /// The requested number.
        id: i64,
        /// Existing numbers, and how to list them.
        known: String,
    },
    /// There are no runs.
    #[error("the archive {} is empty: commands that measure fill it", .0.display())]
    Empty(PathBuf),
    /// The document of a run could not be read.
    #[error("run {0} of the archive cannot be read")]
    Document(i64, #[source] JsonError),
    /// The run's JSON could not be read back.
    #[error("the run cannot be kept: its JSON form would not be readable")]
    Unkeepable(#[source] JsonError),
    /// SQLite failed.
    #[error("cannot {action} the archive {}", path.display())]
    Sqlite {
        /// The operation: `read`, `write`.
        action: &'static str,
        /// The archive.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

fn listed(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
    names.join(", ")
}
