//! What is wrong in a file, with the place; listed without echoing what could harm a terminal.

use std::fmt;

use units::edits;

/// Faults that are listed in full; the rest are counted.
pub const LISTED_MAX: usize = 5;
/// Characters of a user's text that a message repeats.
const QUOTED_MAX: usize = 40;

/// A file and a line in it, counted from one. Line zero is the command line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileLine {
    /// The file as it was named.
    pub file: String,
    pub line: u32,
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}", printable(&self.file))
        } else {
            write!(f, "{}:{}", printable(&self.file), self.line)
        }
    }
}

/// One thing that is wrong, or looks so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub place: FileLine,
    /// What, and what to do.
    pub text: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// Errors, and what only looks wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// What keeps the test from being run.
    pub errors: Vec<Diagnostic>,
    /// What is worth a second look.
    pub warnings: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(crate) fn error(&mut self, place: &FileLine, text: impl Into<String>) {
        self.errors.push(Diagnostic {
            place: place.clone(),
            text: text.into(),
        });
    }

    pub(crate) fn warn(&mut self, place: &FileLine, text: impl Into<String>) {
        self.warnings.push(Diagnostic {
            place: place.clone(),
            text: text.into(),
        });
    }
}

/// The first faults, each on a line of its own, and the number of the others.
#[must_use]
pub fn listed(faults: &[Diagnostic]) -> String {
    let mut lines: Vec<String> = faults
        .iter()
        .take(LISTED_MAX)
        .map(Diagnostic::to_string)
        .collect();
    if faults.len() > LISTED_MAX {
        lines.push(format!("and {} more", faults.len() - LISTED_MAX));
    }
    lines.join("\n")
}

/// A user's text in quotes: cut short, and without a character that a terminal would obey.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", printable(text))
}

fn printable(text: &str) -> String {
    let mut safe: String = units::printable(text).chars().take(QUOTED_MAX).collect();
    if text.chars().nth(QUOTED_MAX).is_some() {
        safe.push_str("...");
    }
    safe
}

/// The name among `known` that was probably meant.
pub(crate) fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|other| (distance(name, other), other))
        .filter(|&(distance, other)| distance <= 2 && distance < other.chars().count())
        .min()
        .map(|(_, other)| other)
}

/// Number of letters to change, add or leave out; a difference in case counts nothing.
fn distance(a: &str, b: &str) -> usize {
    let fold = |text: &str| -> String { text.to_lowercase().chars().take(64).collect() };
    edits(&fold(a), &fold(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_faults_are_told_and_the_rest_counted() {
        let fault = |line| Diagnostic {
            place: FileLine {
                file: "a.rpt".into(),
                line,
            },
            text: "wrong".into(),
        };
        let faults: Vec<Diagnostic> = (1..=8).map(fault).collect();
        let text = listed(&faults);
        assert_eq!(text.lines().count(), 6);
        assert!(text.starts_with("a.rpt:1: wrong") && text.ends_with("and 3 more"));
        assert_eq!(listed(&faults[..2]), "a.rpt:1: wrong\na.rpt:2: wrong");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_echoed() {
        assert_eq!(quoted("a\u{1b}[31m\u{7}b"), "\"a?[31m?b\"");
        assert_eq!(quoted(&"x".repeat(50)).chars().count(), 45);
    }

    #[test]
    fn a_probable_name_is_found() {
        let known = ["Rsmin", "Rsmax", "Dlmax"];
        assert_eq!(similar("rsmax", known.into_iter()), Some("Rsmax"));
        assert_eq!(similar("Dlmx", known.into_iter()), Some("Dlmax"));
        assert_eq!(similar("Colour", known.into_iter()), None);
    }
}
