//! The archive: all runs in one SQLite file, as documents and in columns that users can query.
//!
//! The file is the only place where SQL lives. A run is stored twice: as the JSON document of
//! [`results::json`], from which it is read back, and as rows for SQL queries.
//!
//! It uses a rollback journal instead of a write-ahead log: the archive is then a single file when
//! idle, which can be copied, and it works on network file systems. Both survive SIGKILL at any
//! time.

mod archive;
mod error;
mod judged;
mod path;
mod rows;
mod schema;
mod side_files;
mod summary;

pub use archive::{Archive, BASELINE_RUNS_MAX, WatchEntries};
pub use error::ArchiveError;
pub use path::default_path;
pub use side_files::side_files;
