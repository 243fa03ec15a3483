//! How long nothing completed: the longest gaps between completions, to the epoch.
//!
//! Slots are merged as a trial grows, and a stall that is shorter than a slot is lost in them.

use serde::{Deserialize, Serialize};

/// The longest gap is compared with the one after this many others: fewer may all be stalls.
const COMPARED: usize = 10;
/// How much longer it must be. Of exponential gaps, the longest is 2.4 means longer than the
/// eleventh on average, which is itself about 5 means of 1000 and 8 of 30 000.
const TIMES_LONGER: f64 = 3.0;
/// ... and of `n` exponential gaps the longest exceeds `ln n` and this many means once in 1000.
const BEYOND_LONGEST: f64 = 7.0;

/// The longest gaps, in epochs without a completion.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gaps {
    /// The longest, longest first.
    longest: Vec<u64>,
    /// Epochs since the last completion.
    open: u64,
}

impl Gaps {
    /// Nothing completed in `epochs` more epochs.
    pub fn pass(&mut self, epochs: u64) {
        self.open = self.open.saturating_add(epochs);
    }

    /// Something completed.
    pub fn end(&mut self) {
        let gap = std::mem::take(&mut self.open);
        let at = self.longest.partition_point(|&longer| longer >= gap);
        if gap > 0 && at <= COMPARED {
            self.longest.insert(at, gap);
            self.longest.truncate(COMPARED + 1);
        }
    }

    /// The longest gap in epochs, if it is none that `completions` in `epochs` have anyway.
    pub fn stall(&self, completions: u64, epochs: u64) -> Option<u64> {
        let closed = |index: usize| self.longest.get(index).copied().unwrap_or(0);
        // The gap in which the trial ended takes its place among the others.
        let (longest, compared) = if self.open > closed(0) {
            (self.open, closed(COMPARED - 1))
        } else {
            (
                closed(0),
                closed(COMPARED).max(self.open.min(closed(COMPARED - 1))),
            )
        };
        let missed = longest as f64 * completions as f64 / epochs.max(1) as f64;
        (missed > improbable(completions) && longest as f64 > TIMES_LONGER * compared as f64)
            .then_some(longest)
    }
}

/// Of so many exponential gaps, hardly ever is one this many means long.
pub(crate) fn improbable(gaps: u64) -> f64 {
    (gaps.max(1) as f64).ln() + BEYOND_LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(lengths: impl IntoIterator<Item = u64>) -> Gaps {
        let mut gaps = Gaps::default();
        for length in lengths {
            gaps.pass(length);
            gaps.end();
        }
        gaps
    }

    #[test]
    fn one_gap_among_many_is_a_stall() {
        let usual = || (0..1000).map(|i| i % 7);
        assert_eq!(gaps(usual()).stall(1000, 4000), None);
        assert_eq!(gaps(usual().chain([500])).stall(1000, 4500), Some(500));
        let many = std::iter::repeat_n(500, 10);
        assert_eq!(gaps(usual().chain(many)).stall(1000, 9000), Some(500));
        let too_many = std::iter::repeat_n(500, 11);
        assert_eq!(gaps(usual().chain(too_many)).stall(1000, 9500), None);
    }

    #[test]
    fn the_gap_at_the_end_counts() {
        let mut gaps = gaps((0..1000).map(|i| i % 7));
        gaps.pass(500);
        assert_eq!(gaps.stall(1000, 4500), Some(500));
    }

    #[test]
    fn few_completions_far_apart_are_no_stall() {
        assert_eq!(gaps([10, 90, 20]).stall(4, 120), None);
        assert_eq!(gaps([]).stall(0, 0), None);
    }
}
