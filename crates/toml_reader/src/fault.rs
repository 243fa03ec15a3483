//! What is wrong with a file, all at once, with file and line.

use std::fmt;

/// The most mistakes that a message tells.
const TOLD_MAX: usize = 20;

/// One mistake and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlFault {
    /// File and line, or the option as typed.
    pub place: String,
    /// What is wrong, and what is right.
    pub message: String,
}

/// The mistakes of a file; one line of text for each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TomlFaults {
    /// One at least.
    pub faults: Vec<TomlFault>,
}

impl fmt::Display for TomlFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, TomlFault { place, message }) in self.faults.iter().take(TOLD_MAX).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{place}: {message}")?;
        }
        match self.faults.len().saturating_sub(TOLD_MAX) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more mistakes"),
        }
    }
}
