//! DISKMBPS of 1997: arguments, data, screen and log of the disk data transfer rate test, and the
//! merging of several logs by time.
//!
//! Source: the document "Disk Data Transfer Rate Test". Its text came without line ends and runs
//! of blanks: words and their order are the document's, the columns are ours.

mod arguments;
mod data;
mod layout;
mod log_file;
mod merge;
pub mod run;

pub use arguments::{
    DiskmbpsArguments, DiskmbpsWork, PASSES_MAX, letter_of, passes_of, size_of, typed,
};
pub use data::{BLOCK_BYTES, BLOCK_WORDS, BLOCKS_PER_MEGABYTE, block, last_word};
pub use layout::{
    Finished, LogHeading, PassKind, Stamp, decimals, job_name, megabytes, rate_mb_s, rates_mb_s,
};
pub use log_file::{LoggedJob, LoggedPass, NoTransferLog, read_logs};
pub use merge::{LogColumn, PassMoment, PassRow, merged};
