//! What can go wrong with an archive.

use std::io;
use std::path::PathBuf;

use report::JsonError;

/// Why the archive did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The directory of the archive could not be made.
    #[error("cannot create the directory {} for the archive", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file could not be opened or made.
    #[error("cannot open the archive {}; another place can be named with SEEKSTONE_ARCHIVE",
        path.display())]
    Open {
        /// The archive.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// There is no file of that name.
    #[error("there is no archive {}: check the spelling", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not an archive of Seekstone: name another file with SEEKSTONE_ARCHIVE",
        path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was damaged.
    #[error(
        "the archive {} is damaged: move it away, and recover what can be read with the sqlite3 \
         command's .recover",
        path.display()
    )]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file was written by a newer program.
    #[error(
        "the archive {} has schema version {found}, and this program knows versions up to {known}: \
         use the version of Seekstone that wrote it, or a newer one",
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
    /// There is no run of that number.
    #[error("the archive has no run {id}: {known}")]
    UnknownRun {
        /// The number asked for.
        id: i64,
        /// Which there are, and how to list them.
        known: String,
    },
    /// There is no run at all.
    #[error("the archive {} is empty: commands that measure fill it", path.display())]
    Empty {
        /// The archive.
        path: PathBuf,
    },
    /// The document of a run could not be read.
    #[error("run {id} of the archive cannot be read")]
    Document {
        /// Number of the run.
        id: i64,
        /// What is wrong with it.
        source: JsonError,
    },
    /// The run has no JSON form that could be read back.
    #[error("the run cannot be kept: its JSON form would not be readable")]
    Unkeepable {
        /// What is wrong with it.
        source: JsonError,
    },
    /// SQLite failed.
    #[error("cannot {action} the archive {}", path.display())]
    Sqlite {
        /// What was being done: `read`, `write`.
        action: &'static str,
        /// The archive.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}
