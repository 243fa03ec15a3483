//! All mistakes of a file at once, with file and line.

use std::fmt;
use std::ops::Range;

use units::{did_you_mean, line_at, nearest, shortened};

/// Maximum number of mistakes listed.
const LISTED_MAX: usize = 20;

/// A mistake with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlFault {
    /// File and line, or the option as typed.
    pub place: String,
    /// What is wrong, and what is right.
    pub message: String,
}

/// Formats a line of a file; its name cannot control the terminal.
pub fn place_at(file: &str, line: usize) -> String {
    format!("{}:{line}", units::printable(file))
}

/// File and line of a part of a text.
pub fn place_in(file: &str, text: &str, span: &Range<usize>) -> String {
    place_at(file, line_at(text, span.start))
}

/// Message about an invalid value of a key; `typed` is short.
pub fn refused_value(key: &str, typed: &str, wanted: &str) -> String {
    format!("{key} = {typed}: {key} is {wanted}")
}

/// Message about an unknown key, with the one of `known` that was probably meant.
pub fn unknown_key(key: &str, what: &str, known: &[&str]) -> String {
    let meant = did_you_mean(nearest(key, known.iter().copied()));
    let (key, known) = (shortened(key), known.join(", "));
    format!("unknown key {key:?}{meant}: {what} takes {known}")
}

/// The mistakes of a file, one line of text each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TomlFaults {
    /// At least one.
    pub faults: Vec<TomlFault>,
}

impl fmt::Display for TomlFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, TomlFault { place, message }) in self.faults.iter().take(LISTED_MAX).enumerate()
        {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{place}: {message}")?;
        }
        match self.faults.len().saturating_sub(LISTED_MAX) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more mistakes"),
        }
    }
}
