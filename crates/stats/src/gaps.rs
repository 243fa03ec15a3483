//! How long nothing completed although something was asked for: the gaps between completions, to
//! the epoch.
//!
//! Slots are merged as a trial grows, and a stall that is shorter than a slot is lost in them. Gaps
//! are counted by length, so that a stall is reported however often it comes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tail_index::LengthClass;

/// Classes of lengths in an octave.
const CLASSES: f64 = 4.0;
/// How much longer than all other gaps a stall is. Of 1000 exponential gaps, the longest is 1.15
/// times as long as the next on average.
const TIMES_LONGER: f64 = 3.0;
/// ... and of `n` exponential gaps the longest exceeds `ln n` and this many means once in 1000.
const BEYOND_LONGEST: f64 = 7.0;
/// Gaps that come after one in so many completions are a mode of the storage.
const RARE: u64 = 50;
/// So few gaps are always rare.
const FEW: u64 = 10;
/// The longest gaps, of which it is known when they were.
const DATED_MAX: usize = 128;
/// So many stalls have a period, when no distance between two of them is further from the mean of
/// all than this part of it. Of four at random, one set in a hundred is as regular.
const PERIODIC_MIN: usize = 4;
const PERIOD_PART: f64 = 0.1;

/// Times in which nothing completed, far longer than all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    pub count: u64,
    /// The longest, ns.
    pub longest_ns: u64,
    /// The shortest, ns.
    pub shortest_ns: u64,
    /// From the end of one to that of the next, ns, where they come regularly.
    pub period_ns: Option<u64>,
}

/// How a trial ended, for its last gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silence {
    /// For how long something had been due in the end, as far as is known, ns.
    pub waited_ns: u64,
    /// From the end to the next completion, ns; zero where nobody waited for it.
    pub afterwards_ns: u64,
}

/// Gaps of about the same length, epochs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct GapClass {
    count: u64,
    shortest: u64,
    longest: u64,
}

/// When a gap ended, and its length: epochs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DatedGap {
    end: u64,
    length: u64,
}

/// The lengths of all gaps, in epochs without a completion.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gaps {
    classes: BTreeMap<u16, GapClass>,
    /// Epochs since the last completion.
    open: u64,
    /// Epochs so far.
    epochs: u64,
    /// The longest gaps.
    dated: Vec<DatedGap>,
}

impl Gaps {
    /// Nothing completed in `epochs` more epochs.
    pub fn pass(&mut self, epochs: u64) {
        self.open = self.open.saturating_add(epochs);
        self.epochs = self.epochs.saturating_add(epochs);
    }

    /// Something completed in the next epoch that had been due for `waited` epochs: the rest of the
    /// gap, nobody asked for anything. Returns the length of the gap.
    pub fn end(&mut self, waited: u64) -> u64 {
        let gap = std::mem::take(&mut self.open).min(waited);
        insert(&mut self.classes, gap);
        if gap > 0 {
            self.note(gap);
        }
        self.epochs = self.epochs.saturating_add(1);
        gap
    }

    /// Keep a gap that ends now, if it is one of the longest.
    fn note(&mut self, length: u64) {
        let gap = DatedGap {
            end: self.epochs,
            length,
        };
        if self.dated.len() < DATED_MAX {
            return self.dated.push(gap);
        }
        let shortest = self.dated.iter_mut().min_by_key(|it| it.length);
        if let Some(shortest) = shortest.filter(|it| it.length < length) {
            *shortest = gap;
        }
    }

    /// From the end of one gap of `shortest` epochs or more to that of the next, epochs, where they
    /// are regular.
    pub fn period(&self, shortest: u64) -> Option<f64> {
        let long = self.dated.iter().filter(|it| it.length >= shortest);
        let mut ends: Vec<u64> = long.map(|it| it.end).collect();
        if !(PERIODIC_MIN..DATED_MAX).contains(&ends.len()) {
            return None;
        }
        ends.sort_unstable();
        let whole = ends[ends.len() - 1] - ends[0];
        let mean = whole as f64 / (ends.len() - 1) as f64;
        let is_near = |pair: &[u64]| ((pair[1] - pair[0]) as f64 - mean).abs() < PERIOD_PART * mean;
        ends.windows(2).all(is_near).then_some(mean)
    }

    /// All lengths, epochs, from the shortest on.
    pub fn lengths(&self) -> Vec<LengthClass> {
        let edge = |class: u16| (f64::from(class) / CLASSES).exp2().ceil();
        let classes = self.classes.iter();
        classes
            .map(|(&at, class)| (edge(at)..edge(at + 1), class.count))
            .collect()
    }

    /// The gaps that `completions` in `epochs` do not have anyway: count, longest and shortest, in
    /// epochs. At the end something had been due for `waited` epochs, and nothing completed for
    /// `afterwards` more.
    pub fn stalls(
        &self,
        completions: u64,
        epochs: u64,
        (waited, afterwards): (u64, u64),
    ) -> Option<(u64, u64, u64)> {
        let mut classes = self.classes.clone();
        insert(
            &mut classes,
            self.open.saturating_add(afterwards).min(waited),
        );
        let per_completion = epochs as f64 / completions.max(1) as f64;
        let least = improbable(completions) * per_completion;
        let most = FEW.max(completions / RARE);
        let (mut count, mut found) = (0, None);
        let longest = classes.values().next_back()?.longest;
        let mut below = classes.values().rev().skip(1);
        for class in classes.values().rev() {
            count += class.count;
            if count > most || (class.shortest as f64) < least {
                break;
            }
            let next = below.next().map_or(1, |class| class.longest);
            if class.shortest as f64 > TIMES_LONGER * next as f64 {
                found = Some((count, longest, class.shortest));
            }
        }
        found
    }
}

fn insert(classes: &mut BTreeMap<u16, GapClass>, gap: u64) {
    if gap == 0 {
        return;
    }
    let new = GapClass {
        count: 0,
        shortest: gap,
        longest: gap,
    };
    let class = (gap as f64).log2() * CLASSES;
    let class = classes.entry(class as u16).or_insert(new);
    class.count += 1;
    class.shortest = class.shortest.min(gap);
    class.longest = class.longest.max(gap);
}

/// Of so many exponential gaps, hardly ever is one this many means long.
fn improbable(gaps: u64) -> f64 {
    (gaps.max(1) as f64).ln() + BEYOND_LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(lengths: impl IntoIterator<Item = u64>) -> Gaps {
        let mut gaps = Gaps::default();
        for length in lengths {
            gaps.pass(length);
            gaps.end(u64::MAX);
        }
        gaps
    }

    /// Bug: the longest gap was compared with the eleventh, so that stalls which came every ten
    /// seconds were named in a trial of 60 s and in none of 200 s.
    #[test]
    fn stalls_are_told_however_many_there_are() {
        let usual = || (0..10_000).map(|i| i % 7);
        assert_eq!(gaps(usual()).stalls(10_000, 40_000, (0, 0)), None);
        for count in [1, 10, 11, 100] {
            let stalls = (0..count).map(|i| 500 + i % 20);
            let (epochs, longest) = (40_000 + 510 * count, 500 + (count - 1).min(19));
            let found = gaps(usual().chain(stalls)).stalls(10_000, epochs, (0, 0));
            assert_eq!(found, Some((count, longest, 500)));
        }
        let a_mode = std::iter::repeat_n(500, 500);
        assert_eq!(
            gaps(usual().chain(a_mode)).stalls(10_000, 290_000, (0, 0)),
            None
        );
    }

    #[test]
    fn stalls_at_even_distances_have_a_period() {
        let check = |distances: &[u64], expected: Option<f64>| {
            let mut gaps = Gaps::default();
            for distance in distances {
                // Half of the epochs have a completion.
                for _ in 0..(distance - 100) / 2 {
                    gaps.pass(1);
                    gaps.end(u64::MAX);
                }
                gaps.pass(99);
                gaps.end(u64::MAX);
            }
            assert_eq!(gaps.period(90), expected, "{distances:?}");
        };
        check(&[1000; 5], Some(1000.0));
        check(&[400, 1000, 1050, 950], Some(1000.0));
        check(&[1000, 1000, 1200, 1000], None);
        check(&[1000; 3], None);
        check(&[200; 200], None);
    }

    #[test]
    fn one_long_stall_does_not_hide_short_ones() {
        let lengths = (0..1000).map(|i| i % 7).chain([200, 200, 5000]);
        assert_eq!(
            gaps(lengths).stalls(1000, 9400, (0, 0)),
            Some((3, 5000, 200))
        );
    }

    #[test]
    fn the_gap_at_the_end_counts_as_far_as_something_waited() {
        let mut gaps = gaps((0..1000).map(|i| i % 7));
        gaps.pass(500);
        assert_eq!(gaps.stalls(1000, 4500, (500, 0)), Some((1, 500, 500)));
        assert_eq!(gaps.stalls(1000, 4500, (0, 0)), None);
        // It went on beyond the end, as those know who waited for it.
        let found = gaps.stalls(1000, 4500, (1900, 1500));
        assert_eq!(found, Some((1, 1900, 1900)));
    }

    /// Clients that all think leave a gap, and no stall.
    #[test]
    fn a_gap_in_which_nothing_was_due_is_none() {
        let mut gaps = gaps((0..1000).map(|i| i % 7));
        gaps.pass(500);
        assert_eq!(gaps.end(3), 3);
        assert_eq!(gaps.stalls(1000, 4500, (0, 0)), None);
    }

    #[test]
    fn few_completions_far_apart_are_no_stall() {
        assert_eq!(gaps([10, 90, 20]).stalls(4, 120, (0, 0)), None);
        assert_eq!(gaps([]).stalls(0, 0, (0, 0)), None);
    }
}
