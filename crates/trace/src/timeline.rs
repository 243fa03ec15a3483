//! Converts timestamps of a format to times that start at zero and never decrease, and names to
//! numbers.

use std::collections::BTreeMap;

use crate::record::Notes;

/// Maximum number of files or devices in a trace, whose names are the only part kept in memory.
const FILES_MAX: usize = 65_536;

/// Times of a trace.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    first: Option<u64>,
    last: u64,
}

impl Timeline {
    /// The time of a timestamp in nanoseconds, whatever its origin.
    pub fn place(&mut self, stamp_ns: u64, notes: &mut Notes) -> u64 {
        let first = *self.first.get_or_insert(stamp_ns);
        let at = stamp_ns.saturating_sub(first);
        if stamp_ns < first || at < self.last {
            notes.reordered += 1;
        }
        self.last = self.last.max(at);
        self.last
    }
}

/// Names with their numbers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<String>,
    numbers: BTreeMap<String, u32>,
    latest: u32,
}

impl Names {
    /// The number of a name, which is added if new.
    pub fn number(&mut self, name: &str) -> Result<u32, String> {
        if self
            .names
            .get(self.latest as usize)
            .is_some_and(|it| it == name)
        {
            return Ok(self.latest);
        }
        self.latest = match self.known(name) {
            Some(number) => number,
            None if self.names.len() == FILES_MAX => {
                return Err(format!(
                    "more than {FILES_MAX} files or devices. Cut the trace by device first"
                ));
            }
            None => {
                let number = self.names.len() as u32;
                self.numbers.insert(name.to_owned(), number);
                self.names.push(name.to_owned());
                number
            }
        };
        Ok(self.latest)
    }

    pub fn known(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub fn all(&self) -> &[String] {
        &self.names
    }
}
