//! Errors in a trace, with their position.

use std::fmt;

/// A position in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracePosition {
    /// A line, counted from 1.
    Line(u64),
    /// A byte, counted from 0.
    Byte(u64),
    /// The trace as a whole.
    Whole,
}

/// Description of an error, as half a sentence, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum TraceFault {
    /// The trace violates its format.
    #[error("{0}")]
    Format(String),
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
}

/// An error in a trace.
#[derive(Debug)]
pub struct TraceError {
    /// The file name as given.
    pub file: String,
    pub place: TracePosition,
    /// The error.
    pub fault: TraceFault,
}

impl TraceError {
    pub(crate) fn new(file: &str, place: TracePosition, fault: impl Into<TraceFault>) -> Self {
        Self {
            file: file.to_owned(),
            place,
            fault: fault.into(),
        }
    }
}

impl From<String> for TraceFault {
    fn from(message: String) -> Self {
        Self::Format(message)
    }
}

impl From<&str> for TraceFault {
    fn from(message: &str) -> Self {
        Self::Format(message.to_owned())
    }
}

impl std::error::Error for TraceError {}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, fault } = self;
        match place {
            TracePosition::Line(line) => write!(f, "{file}:{line}: {fault}"),
            TracePosition::Byte(byte) => write!(f, "{file}, byte {byte}: {fault}"),
            TracePosition::Whole => write!(f, "{file}: {fault}"),
        }
    }
}
