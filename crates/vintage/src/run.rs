//! What the runs of all three share: why one cannot go on, the moment as C writes it, the marker
//! of a data file.

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

/// Shown what happens.
pub trait Console {
    /// A line of the screen, which the log has too.
    fn line(&mut self, text: &str);

    /// How far it is, for somebody who waits.
    fn progress(&mut self, _text: &str) {}

    /// Something that should be known.
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
    /// In the files that its command line or its job names.
    Named,
    /// Nowhere: whoever asks has them from the console.
    Nowhere,
}

/// What a program runs with, beside what was typed.
pub struct ProgramRun<'a> {
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) console: &'a mut dyn Console,
    pub(crate) logs: LogPlace,
    /// Its place at a model that other programs use, too.
    pub(crate) slot: Option<&'a ProgramSlot>,
}

impl<'a> ProgramRun<'a> {
    /// A program by itself, with its logs.
    pub fn new(interrupt: &'a Interrupt, console: &'a mut dyn Console) -> Self {
        Self {
            interrupt,
            console,
            logs: LogPlace::Named,
            slot: None,
        }
    }

    /// The same without a log: the lines go to the console alone.
    #[must_use]
    pub fn unlogged(self) -> Self {
        Self {
            logs: LogPlace::Nowhere,
            ..self
        }
    }

    /// The end of a program that a signal stops.
    pub(crate) fn go_on(&self, kept: &'static str) -> Result<(), ClassicError> {
        go_on(self.interrupt, kept)
    }
}

/// The end of a program that a signal stops; `kept` is left of its work.
pub(crate) fn go_on(interrupt: &Interrupt, kept: &'static str) -> Result<(), ClassicError> {
    match interrupt.is_raised() {
        None => Ok(()),
        Some(signal) => Err(ClassicError::Interrupted {
            signal: signal.name,
            kept,
        }),
    }
}

/// Read or write a part of the only file that a program uses.
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

/// The present moment as C's `ctime` writes it, such as `Fri Jun 23 12:36:08 1995`.
#[must_use]
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
