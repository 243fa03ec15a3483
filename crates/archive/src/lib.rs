//! The archive: every run in one SQLite file, whole and in columns that users can query.
//!
//! The file is the only place where SQL lives. A run is kept twice: as the JSON document that
//! [`results::json`] describes, from which it is read back, and as rows to be asked with SQL.
//!
//! A rollback journal is used, not a write-ahead log: at rest the archive is then one file, which
//! can be copied, and it works on network file systems too. Both survive SIGKILL at any moment.

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
