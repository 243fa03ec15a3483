//! Common parts of all three programs' runs: errors, the time in C's format, the marker of a data
//! file.

pub(crate) mod data_file;
pub(crate) mod shared;
mod together;

pub use crate::diskmbps::run::{DiskMbps, JobStart, run_diskmbps};
pub use crate::diskrand::run::{
    ReadSummary, UserOutcome, UserRequest, WriteRequest, erase, run_user, run_write,
};
pub use together::{
    ClassicProgram, HostBatch, HostPlace, PROGRAMS_MAX, ProgramEnd, ProgramLaunch, ProgramOutput,
    ScriptLine, Together, TogetherFigures, TogetherRow, clock_from, rows, run_together,
    script_lines, together_table,
};

pub use crate::rpt::run::{
    DataAccess, Detail, Filling, IoDetail, Operator, OutputFiles, SoloReport, SoloRequest,
    TestEnding, TestRequest, run_solo, run_test,
};

use std::path::PathBuf;

use drivers::TargetError;
use engine::DriverError;

use host::interrupt::Interrupt;
use host::limits::LimitError;
use shared::ProgramSlot;
use workload::{Durability, Op, TargetId};

/// Why a classic program cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ClassicError {
    /// Usage error.
    #[error("{0}")]
    Usage(String),
    /// The data file cannot be used.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The model does not exist.
    #[error(transparent)]
    Sim(#[from] sim::SimError),
    /// The driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The machine's limits do not allow it.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A file cannot be read or written.
    #[error("cannot {operation} {}", path.display())]
    File {
        /// The failed action, as a verb.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// An operation of a control thread failed.
    #[error("{0}")]
    Operation(String),
    /// A signal arrived.
    #[error("stopped by {signal}; {kept}")]
    Interrupted {
        /// Its name.
        signal: &'static str,
        /// What is left of the work.
        kept: &'static str,
    },
}

/// Receives the output.
pub trait Console {
    /// A line of the screen, which is also logged.
    fn line(&mut self, text: &str);

    /// Progress, for someone who waits.
    fn progress(&mut self, _text: &str) {}

    /// A note.
    fn note(&mut self, text: &str) {
        self.line(text);
    }
}

impl<F: FnMut(&str)> Console for F {
    fn line(&mut self, text: &str) {
        self(text);
    }
}

/// Whether the lines of a program are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPlace {
    /// In the files named by its command line or its job.
    Named,
    /// Not at all: the caller gets them from the console.
    Nowhere,
}

/// Environment of a program besides its command line.
pub struct ProgramRun<'a> {
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) console: &'a mut dyn Console,
    pub(crate) logs: LogPlace,
    /// Its slot at a model shared with other programs.
    pub(crate) slot: Option<&'a ProgramSlot>,
}

impl<'a> ProgramRun<'a> {
    /// A single program with its logs.
    pub fn new(interrupt: &'a Interrupt, console: &'a mut dyn Console) -> Self {
        Self {
            interrupt,
            console,
            logs: LogPlace::Named,
            slot: None,
        }
    }

    /// The same without a log: lines go only to the console.
    #[must_use]
    pub fn unlogged(self) -> Self {
        Self {
            logs: LogPlace::Nowhere,
            ..self
        }
    }

    /// An error if a signal has arrived.
    pub(crate) fn go_on(&self, kept: &'static str) -> Result<(), ClassicError> {
        go_on(self.interrupt, kept)
    }
}

/// An error if a signal has arrived; `kept` says what is left of the work.
pub(crate) fn go_on(interrupt: &Interrupt, kept: &'static str) -> Result<(), ClassicError> {
    match interrupt.is_raised() {
        None => Ok(()),
        Some(signal) => Err(ClassicError::Interrupted {
            signal: signal.name,
            kept,
        }),
    }
}

/// Reads or writes a part of a program's only file.
pub(crate) const fn part_of_file(is_write: bool, offset: u64, len: u32) -> Op {
    let target = TargetId(0);
    if is_write {
        Op::Write {
            target,
            offset,
            len,
            durability: Durability::Volatile,
        }
    } else {
        Op::Read {
            target,
            offset,
            len,
        }
    }
}

/// The current time in the format of C's `ctime`, such as `Fri Jun 23 12:36:08 1995`.
pub fn timestamp() -> String {
    timestamp_of(&jiff::Zoned::now())
}

pub(crate) fn timestamp_of(moment: &jiff::Zoned) -> String {
    moment.strftime("%a %b %e %H:%M:%S %Y").to_string()
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
