//! Errors in a file with their place, printed without characters that could harm a terminal.

use std::fmt;

use units::edits;

/// Maximum number of errors listed in full; the rest are counted.
pub const LISTED_MAX: usize = 5;
/// Maximum length of quoted user text.
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

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub place: FileLine,
    /// The text, and what to do.
    pub text: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// Errors and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Errors, which prevent the test.
    pub errors: Vec<Diagnostic>,
    /// Warnings.
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

/// The first errors, one per line, and the number of the others.
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

/// A user's text in quotes, shortened, and without control characters.
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

/// Edit distance between two words, ignoring case.
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
