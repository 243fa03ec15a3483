//! The archive file and its operations.

mod baselines;
mod watches;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use report::ListRow;
use results::Run;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row, Transaction, TransactionBehavior};

use crate::error::ArchiveError;
use crate::judged::{ArchiveFile, make};
use crate::rows;
use crate::schema::{self, OpenedFileKind};
use crate::side_files::{foreign, journal};
use crate::summary::{COLUMNS, summary};

pub use baselines::BASELINE_RUNS_MAX;
pub use watches::WatchEntries;

/// How long to wait for another program that is saving a run: usually milliseconds, except on a
/// device that is being measured.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How often to retry a file that other programs create or remove.
const TRIES: u32 = 8;

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    connection: Connection,
    path: PathBuf,
    /// Path with all links resolved. SQLite puts its journal and lock files next to it.
    file: PathBuf,
}

impl Archive {
    /// Opens the archive at `path`. Creates it and its directories if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be opened or created, is not an archive, or was written by a newer
    /// program.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        if let Some(directory) = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            fs::create_dir_all(directory)
                .map_err(|error| ArchiveError::Directory(directory.to_owned(), error))?;
        }
        // If two programs create it at once, one succeeds and the other finds it.
        for _ in 0..TRIES {
            if let Some(judged) = ArchiveFile::of(path)? {
                return Self::opened(path, &judged);
            }
            make(path)?;
        }
        Err(ArchiveError::Restless(path.to_owned()))
    }

    /// Opens an existing archive at `path`.
    ///
    /// # Errors
    /// If it does not exist, cannot be opened, or was written by a newer program.
    // fuzzed: archive
    pub fn open_existing(path: &Path) -> Result<Self, ArchiveError> {
        match ArchiveFile::of(path)? {
            Some(judged) => Self::opened(path, &judged),
            None => Err(ArchiveError::Missing(path.to_owned())),
        }
    }

    fn opened(path: &Path, judged: &ArchiveFile) -> Result<Self, ArchiveError> {
        let path = path.to_owned();
        // Neither creates files nor treats names as URIs.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&judged.path, flags);
        if connection.is_ok() && !judged.is_there() {
            return Err(ArchiveError::Restless(path));
        }
        let opened = connection.and_then(|mut connection| {
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            // A run reported as saved survives a power failure.
            connection.pragma_update(None, "synchronous", "FULL")?;
            empty_journals(&connection)?;
            let found = schema::prepare(&mut connection)?;
            Ok((connection, found))
        });
        match opened {
            Ok((connection, OpenedFileKind::Usable)) => Ok(Self {
                connection,
                path,
                file: judged.path.clone(),
            }),
            Ok((_, OpenedFileKind::Newer(found))) => Err(ArchiveError::NewerSchema {
                path,
                found,
                known: schema::VERSION,
            }),
            Ok((_, OpenedFileKind::Unknown(found))) => {
                Err(ArchiveError::UnknownSchema { path, found })
            }
            Ok((_, OpenedFileKind::Foreign)) => Err(ArchiveError::Foreign(path)),
            Err(source) => Err(match source.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => ArchiveError::Foreign(path),
                Some(ErrorCode::DatabaseCorrupt) => ArchiveError::Damaged(path, source),
                _ => ArchiveError::Open(path, source),
            }),
        }
    }

    /// Whether runs can be saved: a file of another user, or on read-only storage, is only read.
    pub fn is_writable(&self) -> bool {
        self.connection.is_readonly("main").is_ok_and(|it| !it)
    }

    /// Path of the archive.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Saves the run completely or, on an error, not at all. Sets its number, and returns it.
    ///
    /// # Errors
    /// If the file cannot be written, or the run's JSON cannot be read back.
    pub fn save(&mut self, run: &mut Run) -> Result<i64, ArchiveError> {
        if run.verdict.is_none() {
            run.verdict = Some(procedure::verdict(run));
        }
        let number_before = run.id;
        let saved = self.save_numbered(run);
        if saved.is_err() {
            run.id = number_before;
        }
        saved
    }

    /// Starts a write transaction. Takes the lock at once, since waiting for it later could fail.
    fn writing(&mut self) -> Result<Transaction<'_>, ArchiveError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|source| failure("write", self.path.clone(), source))?;
        refuse_strange_side_files(&self.path, &self.file)?;
        Ok(transaction)
    }

    fn save_numbered(&mut self, run: &mut Run) -> Result<i64, ArchiveError> {
        let path = self.path.clone();
        let failed = |source| failure("write", path.clone(), source);
        let transaction = self.writing()?;
        let id = rows::insert(&transaction, run).map_err(failed)?;
        run.id = Some(id);
        let document = serde_json::to_string(run);
        let document = document.map_err(|error| ArchiveError::Unkeepable(error.into()))?;
        // Better to fail now than when the measured system is gone.
        results::from_json(&document).map_err(ArchiveError::Unkeepable)?;
        rows::set_document(&transaction, id, &document).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        self.tidy();
        Ok(id)
    }

    /// The run with that number.
    ///
    /// # Errors
    /// If it does not exist or cannot be read.
    pub fn load(&self, id: i64) -> Result<Run, ArchiveError> {
        let query = "SELECT document FROM runs WHERE id = ?";
        let Some(document) = self.rows(query, [id], |row| row.get::<_, String>(0))?.pop() else {
            return Err(self.unknown(id));
        };
        let run = results::from_json(&document);
        let mut run = run.map_err(|error| ArchiveError::Document(id, error))?;
        run.id = Some(id);
        // Runs of older versions have none.
        if run.verdict.is_none() {
            run.verdict = Some(procedure::verdict(&run));
        }
        Ok(run)
    }

    /// The latest run.
    ///
    /// # Errors
    /// If the archive is empty, or the run cannot be read.
    pub fn latest(&self) -> Result<Run, ArchiveError> {
        match self.range()? {
            Some((_, last)) => self.load(last),
            None => Err(ArchiveError::Empty(self.path.clone())),
        }
    }

    /// At most `limit` runs, the newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn list(&self, limit: usize) -> Result<Vec<ListRow>, ArchiveError> {
        let query = format!("SELECT {COLUMNS} FROM runs ORDER BY id DESC LIMIT ?");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.rows(&query, [limit], summary)
    }

    /// The values of a metric, in the order of runs and rows: run, row, value.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn values_of(&self, metric: &str) -> Result<Vec<(i64, String, f64)>, ArchiveError> {
        let query = "SELECT run_id, row, value FROM figures
                     WHERE metric = ? AND value IS NOT NULL AND trust <> 'invalid'
                     ORDER BY run_id, position";
        self.rows(query, [metric], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
    }

    /// Number of runs.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn count(&self) -> Result<u64, ArchiveError> {
        self.connection
            .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
            .map(|count: i64| u64::try_from(count).unwrap_or(0))
            .map_err(|source| self.unread(source))
    }

    /// Deletes these runs: all of them or, on an error, none. Their numbers are not reused.
    ///
    /// # Errors
    /// If one of them does not exist, or the file cannot be written.
    pub fn delete(&mut self, ids: &[i64]) -> Result<(), ArchiveError> {
        let path = self.path.clone();
        let failed = |source| failure("write", path.clone(), source);
        let transaction = self.writing()?;
        for (at, id) in ids.iter().enumerate() {
            let delete = "DELETE FROM runs WHERE id = ?";
            let deleted = transaction.execute(delete, [id]).map_err(failed)?;
            if deleted == 0 && !ids[..at].contains(id) {
                transaction.rollback().map_err(failed)?;
                return Err(self.unknown(*id));
            }
        }
        transaction.commit().map_err(failed)?;
        self.tidy();
        Ok(())
    }

    /// Removes the journal of the last transaction, which SQLite has truncated. SQLite itself would
    /// remove any file with that name; here a file with content stays. On failure an empty file
    /// stays, which the next transaction reuses.
    fn tidy(&mut self) {
        let journal = journal(&self.file);
        let parent = journal.parent();
        let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
        let directory = fs::File::open(parent.unwrap_or(Path::new(".")));
        // While this lock is held, nobody else has the journal open.
        let exclusive = TransactionBehavior::Exclusive;
        let locked = self.connection.transaction_with_behavior(exclusive);
        let (Ok(directory), Ok(locked), Some(name)) = (directory, locked, journal.file_name())
        else {
            return;
        };
        let is_empty = |_: &fs::File, found: &drivers::FileLinks| Ok(found.size == 0);
        let _ = drivers::remove_marked(directory, name, is_empty);
        let _ = locked.rollback();
    }

    /// The first and the last number.
    fn range(&self) -> Result<Option<(i64, i64)>, ArchiveError> {
        self.connection
            .query_row("SELECT min(id), max(id) FROM runs", [], |row| {
                let (first, last): (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
                Ok(first.zip(last))
            })
            .map_err(|source| self.unread(source))
    }

    fn unknown(&self, id: i64) -> ArchiveError {
        let known = match self.range() {
            Ok(Some((first, last))) if first == last => {
                format!("it holds run {first} only")
            }
            Ok(Some((first, last))) => {
                format!("it holds runs between {first} and {last}. `runs list` names them")
            }
            Ok(None) => "it is empty".to_owned(),
            Err(error) => return error,
        };
        ArchiveError::UnknownRun { id, known }
    }

    /// What `read` makes of each row of a query.
    fn rows<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ArchiveError> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare_cached(query)?;
            statement.query_map(params, read)?.collect()
        };
        rows().map_err(|error| self.unread(error))
    }

    fn unread(&self, source: rusqlite::Error) -> ArchiveError {
        failure("read", self.path.clone(), source)
    }
}

/// Makes SQLite truncate its journals instead of removing them, since it would remove any file with
/// that name, see `tidy`. Another journal mode chosen by the user is kept.
fn empty_journals(connection: &Connection) -> rusqlite::Result<()> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode == "delete" {
        connection.pragma_update_and_check(None, "journal_mode", "TRUNCATE", |_| Ok(()))?;
    }
    Ok(())
}

/// SQLite opens its journal by name at the first write, which may be long after the archive was
/// opened. Files that have appeared there meanwhile must not be used.
fn refuse_strange_side_files(path: &Path, file: &Path) -> Result<(), ArchiveError> {
    match foreign(file) {
        Ok(files) if files.is_empty() => Ok(()),
        Ok(files) => Err(ArchiveError::SideFiles(path.to_owned(), files)),
        Err(error) => Err(ArchiveError::Examine(path.to_owned(), error)),
    }
}

fn failure(action: &'static str, path: PathBuf, source: rusqlite::Error) -> ArchiveError {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            ArchiveError::Damaged(path, source)
        }
        _ => ArchiveError::Sqlite {
            action,
            path,
            source,
        },
    }
}
