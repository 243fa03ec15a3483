//! An error in a job file or on a command line, with its place.

use std::fmt;
use std::sync::Arc;

/// A place in a job file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFilePosition {
    /// The file as named; "command line" for arguments.
    pub file: Arc<str>,
    /// Line, counted from 1; 0 if there are no lines.
    pub line: usize,
}

impl fmt::Display for JobFilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// An error or a refusal, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Fault {
    /// Its place.
    pub place: JobFilePosition,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl Fault {
    pub fn new(place: &JobFilePosition, message: impl Into<String>) -> Self {
        Self {
            place: place.clone(),
            message: message.into(),
        }
    }
}
