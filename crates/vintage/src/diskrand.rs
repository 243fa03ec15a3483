//! DISKRAND of 1997: arguments, records, lines of screen and log, and reading logs back.
//!
//! Source: the document "Disk and Transaction Random Access Test". Its text came without line ends
//! and runs of blanks: words and their order are the document's, the columns are ours.

mod arguments;
mod checks;
mod layout;
mod log_file;
mod record;
pub mod run;
mod timeline;

pub use arguments::{
    COMMANDS, DiskrandArguments, LogName, PassLength, ReadArguments, ReadMode, TWO_LOGS,
    WriteArguments, typed,
};
pub use checks::{SampleTimes, doubts, percentile_95};
pub use layout::{
    Allocated, RandomPass, ReadProfile, RunHeading, Stopped, Transaction, WrittenFile,
};
pub use log_file::{DiskRandLog, NoDiskRandLog, UserSession, WriteRun, begins_log};
pub use record::{
    RECORD_BYTES, RECORDS_PER_MEGABYTE, fill_records, is_beginning_of_record, is_record,
};
pub use timeline::{UserTimeline, groups};

/// The first of the two logs: profiles.
pub const PROFILES_LOG: &str = "Multi1.txt";
/// The second of the two logs: transactions.
pub const TRANSACTIONS_LOG: &str = "Multi2.txt";
