//! What can be wrong with the definition of a device, in words that tell the right form.

use std::fmt;

use units::UnitError;

/// The most mistakes of one definition that a message tells.
const TOLD_MAX: usize = 20;

/// The mistakes of a definition; one line of text for each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DefinitionError {
    /// One at least.
    pub faults: Vec<LocatedFault>,
}

/// A mistake and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedFault {
    /// File and line, or the option as typed.
    pub place: String,
    /// What is wrong.
    pub fault: DefinitionFault,
}

/// One mistake in the definition of a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionFault {
    /// No definition is that long.
    #[error("the file has {bytes} bytes, and a device has {max} at most")]
    TooLong {
        /// Bytes of the text.
        bytes: usize,
        /// The most that are read.
        max: usize,
    },
    /// The text is not TOML.
    #[error("not TOML: {0}")]
    Syntax(String),
    /// The file cannot be read, or there is no device of that name.
    #[error("{0}")]
    Missing(String),
    /// A key that nobody knows.
    #[error(
        "unknown key \"{key}\"{}: {place} takes {known}",
        units::did_you_mean(nearest.as_deref())
    )]
    UnknownKey {
        /// The key as typed.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
        /// Where it stands.
        place: String,
        /// What may stand there.
        known: String,
    },
    /// A key that must be there is not.
    #[error("the key \"{key}\" is missing: {meaning}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// What it says, with an example.
        meaning: &'static str,
    },
    /// A value that cannot be read or cannot be.
    #[error("{key} = {typed}: {key} is {wanted}")]
    Value {
        /// The key.
        key: &'static str,
        /// As typed.
        typed: String,
        /// What is allowed.
        wanted: String,
    },
    /// A size, time, rate or share that cannot be read.
    #[error("{key} = {typed}: {error}")]
    Unit {
        /// The key.
        key: &'static str,
        /// As typed.
        typed: String,
        /// What is wrong with it.
        error: UnitError,
    },
    /// Two values that cannot both be.
    #[error("{key} = {value} does not go with {other} = {other_value} ({other_place}): {why}")]
    Disagree {
        /// One key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The other key.
        other: &'static str,
        /// Its value.
        other_value: String,
        /// Where that stands.
        other_place: String,
        /// What is wrong.
        why: String,
    },
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, LocatedFault { place, fault }) in self.faults.iter().take(TOLD_MAX).enumerate()
        {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{place}: {fault}")?;
        }
        match self.faults.len().saturating_sub(TOLD_MAX) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more mistakes"),
        }
    }
}
