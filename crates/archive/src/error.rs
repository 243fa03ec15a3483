//! What can go wrong with an archive.

use std::io;
use std::path::PathBuf;

use results::JsonError;

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
    #[error("cannot open the archive {}. Name another file with --archive or \
             SEEKSTONE_ARCHIVE",
        path.display())]
    Open {
        /// The archive.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file could not be looked at or made.
    #[error("cannot open the archive {}. Name another file with --archive or \
             SEEKSTONE_ARCHIVE",
        path.display())]
    Examine {
        /// The archive.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An empty file may be somebody's, and is no archive.
    #[error(
        "{} is not an archive of Seekstone, but an empty file. Name one that does not exist with \
         --archive, or remove it",
        path.display()
    )]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },
    /// It was put where anyone can make files by somebody who can read it.
    #[error(
        "the archive {} is of another user, in a directory where anyone can make files. Runs \
         name hosts and serial numbers. Name another file with --archive",
        path.display()
    )]
    Strangers {
        /// The archive.
        path: PathBuf,
    },
    /// Another name of the same file would be without what SQLite keeps beside this one.
    #[error(
        "the archive {} has a second name (a hard link). Under that it could be damaged: remove \
         one of the names",
        path.display()
    )]
    Linked {
        /// The archive.
        path: PathBuf,
    },
    /// Files of somebody else have the names that SQLite needs.
    #[error(
        "the archive {} needs the names {} for itself, and what is there is not its own. Move that \
         away, or name another archive with --archive",
        path.display(),
        listed(files)
    )]
    SideFiles {
        /// The archive.
        path: PathBuf,
        /// What is in the way.
        files: Vec<PathBuf>,
    },
    /// The file became another while it was opened.
    #[error("the archive {} is being replaced by another program: try again", path.display())]
    Restless {
        /// The archive.
        path: PathBuf,
    },
    /// There is no file of that name.
    #[error("there is no archive {}. Check the spelling", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not an archive of Seekstone. Name another file with --archive or \
             SEEKSTONE_ARCHIVE",
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
    /// The file has a version that no program of ours writes.
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

fn listed(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
    names.join(", ")
}
