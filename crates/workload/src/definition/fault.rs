//! What can be wrong with a definition, in words that tell the right form.

use std::fmt;

use thiserror::Error;
use units::UnitError;

use crate::definition::keys::Key;
use crate::threads::ConstraintError;
use crate::users::ProfileError;

/// The most mistakes of one file that a message tells.
const TOLD_MAX: usize = 20;

/// The mistakes of one definition; one line of text for each.
#[derive(Clone, Debug, PartialEq, Error)]
pub struct DefinitionError {
    /// The file as the user named it.
    pub file: String,
    /// One at least, in the order of their lines.
    pub faults: Vec<LocatedFault>,
}

/// A mistake and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedFault {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: DefinitionFault,
}

/// One mistake in a definition.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DefinitionFault {
    /// No definition is that long.
    #[error("the file has {bytes} bytes, and a workload definition has {max} at most")]
    TooLong {
        /// Bytes of the text.
        bytes: usize,
        /// The most that are read.
        max: usize,
    },
    /// The text is not TOML.
    #[error("not TOML: {message}")]
    Syntax {
        /// What the TOML parser says.
        message: String,
    },
    /// A key that nobody knows.
    #[error("unknown key {key:?}{}: {place} takes {allowed}", units::did_you_mean(*nearest))]
    UnknownKey {
        /// The key as typed.
        key: String,
        /// The known key that is spelled nearly so.
        nearest: Option<&'static str>,
        /// Where the key stands.
        place: &'static str,
        /// All keys that may stand there.
        allowed: String,
    },
    /// A known key in the wrong place.
    #[error("the key {key:?} belongs {place}")]
    Misplaced {
        /// The key.
        key: &'static str,
        /// Where it belongs.
        place: &'static str,
    },
    /// A key that must be there is not.
    #[error("the key {key:?} is missing: {meaning}, such as {key} = {example}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What it says.
        meaning: &'static str,
        /// A value in TOML.
        example: &'static str,
    },
    /// A value that cannot be read.
    #[error("{key} = {typed}: {key} is {wanted}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value as typed, or what kind of value it is.
        typed: String,
        /// What is allowed.
        wanted: &'static str,
    },
    /// A size or rate that cannot be read.
    #[error("{key}: {error}")]
    Unit {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        error: UnitError,
    },
    /// No `[[threads]]` at all.
    #[error("the workload has no threads: add a table that begins with [[threads]]")]
    NoThreads,
    /// A batch workload without a number of threads.
    #[error(
        "a batch workload runs a fixed number of threads: add threads-fixed = 5, or leave the \
         group out"
    )]
    BatchNeedsThreads,
    /// A transaction workload with a fixed number of threads.
    #[error(
        "a transaction workload adds threads until the response times are reached: leave \
         threads-fixed out, or write group = \"batch\""
    )]
    TransactionWithThreads,
    /// The numbers do not go together.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// Users of that kind could not be.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

impl DefinitionFault {
    pub(super) fn missing(key: &Key) -> Self {
        Self::Missing {
            key: key.name,
            meaning: key.meaning,
            example: key.example,
        }
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clean = |c: char| if c.is_control() { '?' } else { c };
        let file: String = self.file.chars().map(clean).collect();
        for (index, LocatedFault { line, fault }) in self.faults.iter().take(TOLD_MAX).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{file}:{line}: {fault}")?;
        }
        match self.faults.len().saturating_sub(TOLD_MAX) {
            0 => Ok(()),
            more => write!(f, "\n{file}: and {more} more mistakes"),
        }
    }
}
