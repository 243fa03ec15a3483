//! Coarse logarithmic bins of nanosecond values, for the slots of the stopping rule.
//!
//! 64 bins an octave (at most 1.6 % wide), values below 64 ns exact. Full resolution is the
//! business of [`crate::Histogram`]; these bins exist once per slot, so they must be small.

use serde::{Deserialize, Serialize};

/// Bins per octave, a power of two.
const PER_OCTAVE: u64 = 1 << PER_OCTAVE_BITS;
const PER_OCTAVE_BITS: u32 = 6;

/// Number of bins that cover all of `u64`.
pub const BIN_COUNT: usize = ((64 - PER_OCTAVE_BITS as usize) + 1) << PER_OCTAVE_BITS;

/// Less than this part of the bins are few: a search for each of them is cheaper than a walk.
const FEW: usize = 8;

/// Counts of values per bin, sparse and sorted by bin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogBins {
    // Two columns, not pairs: a pair of u16 and u64 would occupy 16 bytes instead of 10.
    bins: Vec<u16>,
    counts: Vec<u64>,
}

impl LogBins {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// From pairs of bin and count in strictly increasing order of bins.
    pub(crate) fn from_sorted(pairs: impl Iterator<Item = (u16, u64)>) -> Self {
        let (bins, counts): (Vec<u16>, Vec<u64>) = pairs.unzip();
        assert!(bins.is_sorted(), "bins must come in order");
        Self { bins, counts }
    }

    /// The bin that holds `value` (ns).
    #[inline]
    pub fn bin_of(value: u64) -> u16 {
        let shift = (value | PER_OCTAVE).ilog2() - PER_OCTAVE_BITS;
        ((u64::from(shift) << PER_OCTAVE_BITS) + (value >> shift)) as u16
    }

    /// The smallest value (ns) of a bin.
    pub fn lower_edge(bin: u16) -> u64 {
        let bin = u64::from(bin);
        if bin < PER_OCTAVE {
            return bin;
        }
        let shift = (bin >> PER_OCTAVE_BITS) - 1;
        (PER_OCTAVE + (bin & (PER_OCTAVE - 1))) << shift
    }

    /// The first value (ns) above a bin; for the last bin `u64::MAX`.
    pub fn upper_edge(bin: u16) -> u64 {
        if usize::from(bin) + 1 >= BIN_COUNT {
            u64::MAX
        } else {
            Self::lower_edge(bin + 1)
        }
    }

    /// Adds `count` values to `bin`.
    pub fn add(&mut self, bin: u16, count: u64) {
        if count == 0 {
            return;
        }
        match self.bins.binary_search(&bin) {
            Ok(at) => self.counts[at] += count,
            Err(at) => {
                self.bins.insert(at, bin);
                self.counts.insert(at, count);
            }
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.bins.len() * FEW <= self.bins.len() {
            return other.iter().for_each(|(bin, count)| self.add(bin, count));
        }
        self.interleave(other);
    }

    /// Adds all of `other` in one walk over both.
    fn interleave(&mut self, other: &Self) {
        let fresh = other
            .bins
            .iter()
            .filter(|bin| self.bins.binary_search(bin).is_err())
            .count();
        let mut from = self.bins.len();
        let mut to = from + fresh;
        self.bins.resize(to, 0);
        self.counts.resize(to, 0);
        // Backwards, so that no entry is overwritten before it has moved.
        for (bin, count) in other.iter().rev() {
            while from > 0 && self.bins[from - 1] > bin {
                (from, to) = (from - 1, to - 1);
                self.bins[to] = self.bins[from];
                self.counts[to] = self.counts[from];
            }
            if from > 0 && self.bins[from - 1] == bin {
                from -= 1;
                to -= 1;
                self.bins[to] = bin;
                self.counts[to] = self.counts[from] + count;
            } else {
                to -= 1;
                self.bins[to] = bin;
                self.counts[to] = count;
            }
        }
    }

    /// Bins that hold something, with their counts, in increasing order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u16, u64)> + '_ {
        self.bins.iter().copied().zip(self.counts.iter().copied())
    }

    /// Number of values.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Whether bins that were read from elsewhere are such as this type makes: in order, each with
    /// values, and few enough of them to be added up.
    pub fn is_sound(&self) -> bool {
        let sum = self
            .counts
            .iter()
            .try_fold(0_u64, |sum, &count| sum.checked_add(count));
        self.bins.len() == self.counts.len()
            && self.bins.is_sorted_by(|one, next| one < next)
            && self
                .bins
                .last()
                .is_none_or(|&last| usize::from(last) < BIN_COUNT)
            && !self.counts.contains(&0)
            && sum.is_some()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// Number of values at or below `value` (ns), interpolated linearly inside its bin.
    pub fn count_below(&self, value: f64) -> f64 {
        let mut below = 0.0;
        for (bin, count) in self.iter() {
            let (low, high) = (Self::lower_edge(bin) as f64, Self::upper_edge(bin) as f64);
            if value < low {
                break;
            }
            below += count as f64 * ((value - low) / (high - low)).min(1.0);
        }
        below
    }

    /// Number of values in the bins before `bin`, and a `fraction` of those in it.
    pub fn count_until(&self, bin: u16, fraction: f64) -> f64 {
        let at = self.bins.partition_point(|&other| other < bin);
        let before: u64 = self.counts[..at].iter().sum();
        let inside = self.bins.get(at).filter(|&&other| other == bin);
        before as f64 + inside.map_or(0.0, |_| self.counts[at] as f64 * fraction)
    }

    /// The value (ns) at which a share `p` of all values lies at or below, interpolated inside
    /// its bin; `None` without values.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let wanted = p.clamp(0.0, 1.0) * self.total() as f64;
        let mut below = 0.0;
        let mut last = None;
        for (bin, count) in self.iter() {
            let (low, high) = (Self::lower_edge(bin) as f64, Self::upper_edge(bin) as f64);
            let count = count as f64;
            if below + count >= wanted {
                return Some(low + (high - low) * ((wanted - below) / count).clamp(0.0, 1.0));
            }
            below += count;
            last = Some(high);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around_powers_of_two() -> impl Iterator<Item = u64> {
        (0..64u32).flat_map(|power| {
            let base = 1u64 << power;
            (0..200u64).flat_map(move |d| [base.saturating_add(d), base.saturating_sub(d)])
        })
    }

    #[test]
    fn a_value_lies_between_the_edges_of_its_bin() {
        for value in around_powers_of_two().chain([u64::MAX, u64::MAX / 4, 0]) {
            let bin = LogBins::bin_of(value);
            assert!(usize::from(bin) < BIN_COUNT, "{value}");
            let (low, high) = (LogBins::lower_edge(bin), LogBins::upper_edge(bin));
            assert!(
                low <= value && (value < high || high == u64::MAX),
                "{value}: {low}..{high}"
            );
            let width = if high == u64::MAX {
                1 << 57
            } else {
                high - low
            };
            assert!(
                width == 1 || width as f64 <= low as f64 / 64.0,
                "{value}: {low}..{high}"
            );
        }
    }

    #[test]
    fn edges_of_neighbours_meet() {
        for bin in 0..(BIN_COUNT - 1) as u16 {
            assert_eq!(LogBins::bin_of(LogBins::lower_edge(bin)), bin);
            assert_eq!(LogBins::bin_of(LogBins::upper_edge(bin)), bin + 1);
        }
    }

    #[test]
    fn merging_equals_adding_everything() {
        let mut state = 7u64;
        for round in 0..200 {
            let (mut left, mut right, mut all) = (LogBins::new(), LogBins::new(), LogBins::new());
            for _ in 0..round {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let bin = (state >> 58) as u16 * 3;
                let side = if state & (1 << 20) == 0 {
                    &mut left
                } else {
                    &mut right
                };
                side.add(bin, 2);
                all.add(bin, 2);
            }
            left.merge(&right);
            assert_eq!(left, all, "round {round}");
        }
    }

    #[test]
    fn counting_below_a_quantile_gives_back_its_share() {
        let mut bins = LogBins::new();
        for value in 1000..9000u64 {
            bins.add(LogBins::bin_of(value), 1);
        }
        for p in [0.01, 0.5, 0.9, 0.999] {
            let value = bins.quantile(p).expect("values were added");
            assert!((bins.count_below(value) / 8000.0 - p).abs() < 1e-9);
            assert!((value - (1000.0 + 8000.0 * p)).abs() < 0.016 * value);
        }
        assert_eq!(LogBins::new().quantile(0.5), None);
    }
}
