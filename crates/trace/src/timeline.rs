//! From a format's stamps to instants that begin at zero and never go back, and from names to
//! numbers.

use std::collections::BTreeMap;

use crate::record::Notes;

/// Files or devices of a trace, at most: their names are all that is kept of it.
const FILES_MAX: usize = 65_536;

/// Instants of a trace.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    first: Option<u64>,
    last: u64,
}

impl Timeline {
    /// The instant of a stamp in nanoseconds, whatever they count from.
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
    /// The number of a name, a new one where it was not met before.
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
