//! The time from the first start to the last end of several things.

use serde::{Deserialize, Serialize};

use crate::Duration;

/// A span of time whose ends are relative to a common origin. Rates are per second of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSpan {
    begun: Duration,
    ended: Duration,
}

impl Default for TimeSpan {
    /// Empty.
    fn default() -> Self {
        Self {
            begun: Duration::from_nanos(u64::MAX),
            ended: Duration::ZERO,
        }
    }
}

impl TimeSpan {
    /// From `begun` to `ended`.
    pub const fn new(begun: Duration, ended: Duration) -> Self {
        Self { begun, ended }
    }

    /// The span that covers both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            begun: self.begun.min(other.begun),
            ended: self.ended.max(other.ended),
        }
    }

    /// The same relative to an origin that is `earlier`.
    #[must_use]
    pub fn later_by(self, earlier: Duration) -> Self {
        match self.is_empty() {
            true => self,
            false => Self::new(self.begun + earlier, self.ended + earlier),
        }
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.begun > self.ended
    }

    pub const fn begun(self) -> Duration {
        self.begun
    }

    pub const fn ended(self) -> Duration {
        self.ended
    }

    /// From the first start to the last end; zero if empty.
    pub const fn length(self) -> Duration {
        self.ended.saturating_sub(self.begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(begun: u64, ended: u64) -> TimeSpan {
        TimeSpan::new(Duration::from_secs(begun), Duration::from_secs(ended))
    }

    #[test]
    fn a_span_goes_from_the_first_start_to_the_last_end() {
        let both = span(0, 3).with(span(3, 6));
        assert_eq!(both.length(), Duration::from_secs(6));
        let apart = span(8, 9).with(span(1, 2));
        assert_eq!(apart, span(1, 9));
        assert_eq!(apart.with(TimeSpan::default()), apart);
        assert_eq!(span(1, 9).later_by(Duration::from_secs(2)), span(3, 11));
        let none = TimeSpan::default();
        assert!(none.is_empty() && !span(0, 0).is_empty());
        assert_eq!(none.later_by(Duration::from_secs(2)), none);
        assert_eq!(none.length(), Duration::ZERO);
    }
}
