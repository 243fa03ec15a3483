//! Counts failures by cause.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

/// Maximum number of distinct causes. Further ones are counted together.
const CAUSES_MAX: usize = 32;
const OTHERS: &str = "others";

/// Failures by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureCounts {
    counts: BTreeMap<String, u64>,
}

impl FailureCounts {
    pub fn count(&mut self, cause: impl fmt::Display) {
        let cause = cause.to_string();
        let is_full = self.counts.len() >= CAUSES_MAX && !self.counts.contains_key(&cause);
        let key = if is_full { OTHERS.to_owned() } else { cause };
        *self.counts.entry(key).or_default() += 1;
    }

    /// Adds all failures of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (cause, count) in &other.counts {
            let is_full = self.counts.len() >= CAUSES_MAX && !self.counts.contains_key(cause);
            let key = if is_full { OTHERS } else { cause };
            *self.counts.entry(key.to_owned()).or_default() += count;
        }
    }

    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Causes with counts, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts
            .iter()
            .map(|(cause, count)| (cause.as_str(), *count))
    }
}

impl fmt::Display for FailureCounts {
    /// Formats as `3 x status 404, 1 x connect: Connection refused`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (cause, count)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{count} x {cause}")?;
        }
        Ok(())
    }
}

/// The system's text for an error, without its number.
pub fn cause_of(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_counted_and_named() {
        let mut faults = FailureCounts::default();
        faults.count("status 404");
        faults.count("connect: refused");
        faults.count("status 404");
        assert_eq!(faults.total(), 3);
        assert_eq!(faults.to_string(), "1 x connect: refused, 2 x status 404");
    }

    #[test]
    fn a_server_cannot_make_the_list_endless() {
        let mut faults = FailureCounts::default();
        for status in 0..1000 {
            faults.count(format!("status {status}"));
        }
        assert_eq!(faults.total(), 1000);
        assert_eq!(faults.iter().count(), CAUSES_MAX + 1);
    }

    #[test]
    fn numbers_of_the_system_are_left_out() {
        let error = io::Error::from_raw_os_error(111);
        assert_eq!(cause_of(&error), "Connection refused");
    }
}
