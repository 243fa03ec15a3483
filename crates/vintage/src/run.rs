//! What the runs of all three share: why one cannot go on, the moment as C writes it, the marker
//! of a data file.

pub(crate) mod shared;
mod together;

pub use crate::diskmbps::run::{DiskMbps, JobStart, Screen, passes_on_model, run_diskmbps};
pub use crate::diskrand::run::{
    Console, ReadSummary, UserOutcome, UserRequest, WriteRequest, erase, run_user, run_write,
    user_on_model, write_on_model,
};
pub use together::{
    ClassicProgram, HostBatch, HostPlace, PROGRAMS_MAX, ProgramEnd, ProgramLaunch, ProgramOutput,
    ScriptLine, Together, TogetherFigures, TogetherLogs, TogetherRow, clock_from, rows,
    run_together, script_lines,
};

pub use crate::rpt::run::{
    DataFile, DataRequest, Detail, Ending, Failure, Filling, IoDetail, Operator, OutputFiles,
    Posted, Report, Rig, Said, SoloRequest, TestRequest, open_data, run_solo, run_test,
};

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use drivers::TargetError;
use engine::DriverError;

use host::limits::LimitError;
use lab::data_marker::{DataMarker, marker_path};

/// Why a classic program cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ClassicError {
    /// It was asked for wrongly.
    #[error("{0}")]
    Usage(String),
    /// The data file cannot be used.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The model does not exist.
    #[error(transparent)]
    Sim(#[from] sim::SimError),
    /// The driver broke.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The machine does not allow as much as is asked for.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A file cannot be read or written.
    #[error("cannot {operation} {}", path.display())]
    File {
        /// What was tried, as a verb.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An operation of a control thread failed.
    #[error("{0}")]
    Operation(String),
    /// A signal came.
    #[error("stopped by {signal}; {kept}")]
    Interrupted {
        /// Its name.
        signal: &'static str,
        /// What is left of the work.
        kept: &'static str,
    },
}

/// The present moment as C's `ctime` writes it, such as `Fri Jun 23 12:36:08 1995`.
#[must_use]
pub fn timestamp() -> String {
    timestamp_of(&jiff::Zoned::now())
}

pub(crate) fn timestamp_of(moment: &jiff::Zoned) -> String {
    moment.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// Make the marker of a data file that is about to be made.
pub(crate) fn make_marker(data: &Path, size: u64) -> Result<DataMarker, ClassicError> {
    DataMarker::make(data, size).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => ClassicError::Usage(format!(
            "{} exists and is not a marker of this program: it would stand next to the data file; \
             choose another name for that",
            marker_path(data).display()
        )),
        ErrorKind::ResourceBusy => ClassicError::Usage(format!(
            "{} is being made by another program: begin when that has ended",
            data.display()
        )),
        _ => ClassicError::file("make the marker of", data)(error),
    })
}

impl ClassicError {
    pub(crate) fn file(
        operation: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            operation,
            path,
            source,
        }
    }
}
