//! Counting times on the measuring path, at a third of what a general histogram costs there.

use crate::histogram::Histogram;

/// Buckets in each octave, as in a histogram of three significant digits: a width of at most 0.1 %.
const OCTAVE_BITS: u32 = 10;
/// Times up to 18 minutes need no growth.
const EXPECTED_LEN: usize = index_of(1 << 40);

/// Counts of times in ns, in the buckets of a [`Histogram`], which it turns into without loss.
#[derive(Clone, Debug)]
pub struct TimeCounts {
    counts: Vec<u64>,
    min: u64,
    max: u64,
    sum: u128,
}

/// The bucket of a value: exact below 2048, then 1024 buckets for each power of two.
#[inline]
const fn index_of(value: u64) -> usize {
    let shift = (value | 1 << OCTAVE_BITS).ilog2() - OCTAVE_BITS;
    ((shift as usize) << OCTAVE_BITS) + (value >> shift) as usize
}

/// The smallest value of a bucket.
const fn low_of(index: usize) -> u64 {
    let octave = 1_usize << OCTAVE_BITS;
    if index < 2 * octave {
        return index as u64;
    }
    let shift = index / octave - 1;
    ((index - shift * octave) as u64) << shift
}

impl Default for TimeCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl TimeCounts {
    /// No times yet. Takes 0.25 MB of address space, and memory only where times fall.
    pub fn new() -> Self {
        Self {
            counts: vec![0; EXPECTED_LEN],
            min: u64::MAX,
            max: 0,
            sum: 0,
        }
    }

    /// Adds one time, ns.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let index = index_of(value);
        match self.counts.get_mut(index) {
            Some(count) => *count += 1,
            None => self.record_beyond(index),
        }
        // A new extreme is rare: a branch foreseen costs less than a choice each time.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        self.sum += u128::from(value);
    }

    #[cold]
    fn record_beyond(&mut self, index: usize) {
        self.counts.resize(index_of(u64::MAX) + 1, 0);
        self.counts[index] += 1;
    }

    /// The same as a histogram.
    pub fn to_histogram(&self) -> Histogram {
        let buckets = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        let buckets = buckets.map(|(index, &count)| (low_of(index), count));
        Histogram::from_buckets(buckets, self.min, self.max, self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_and_are_narrow() {
        for index in 0..index_of(u64::MAX) {
            let (low, next) = (low_of(index), low_of(index + 1));
            assert_eq!(
                (index_of(low), index_of(next - 1)),
                (index, index),
                "bucket {index}"
            );
            assert!(
                (next - low) as f64 <= 1.0_f64.max(low as f64 / 1024.0),
                "bucket {index}"
            );
        }
        assert_eq!(low_of(index_of(u64::MAX)).leading_zeros(), 0);
    }

    #[test]
    fn counting_and_recording_give_the_same_histogram() {
        let seed = 0x5eed_u64;
        let mut counts = TimeCounts::new();
        let mut histogram = Histogram::new();
        let mut state = seed;
        let edges = (0..64)
            .flat_map(|bit| [1_u64 << bit, (1_u64 << bit) - 1])
            .chain([u64::MAX]);
        let random: Vec<u64> = (0..20_000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                state >> (state % 60)
            })
            .collect();
        for value in edges.chain(random) {
            counts.record(value);
            histogram.record(value);
        }
        assert_eq!(counts.to_histogram(), histogram, "seed {seed}");
    }
}
