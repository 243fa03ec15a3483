//! A mistake in a job file or on a command line, with its place.

use std::fmt;
use std::sync::Arc;

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFilePosition {
    /// The file as it was named; "command line" for arguments.
    pub file: Arc<str>,
    /// Line, counted from 1; 0 where there are no lines.
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

/// One mistake or refusal, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Fault {
    /// Where it stands.
    pub place: JobFilePosition,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl Fault {
    #[must_use]
    pub fn new(place: &JobFilePosition, message: impl Into<String>) -> Self {
        Self {
            place: place.clone(),
            message: message.into(),
        }
    }
}
