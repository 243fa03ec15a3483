//! What all clients completed in one epoch, and the accumulator that fills it.
//!
//! A slot is the unit of the stopping rule. It never straddles epochs, and it holds the
//! completions of all clients: see section 5 of the statistics notes, "UNIT".

use serde::{Deserialize, Serialize};

use crate::bins::{BIN_COUNT, LogBins};
use crate::histogram::Histogram;

/// Moments and bins of one kind of time (response or service) within one slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Number of values.
    pub count: u64,
    /// Sum of the values, ns.
    pub sum: f64,
    /// Sum of their squares, ns^2.
    pub sum_squares: f64,
    /// Smallest value, ns; `u64::MAX` without values.
    pub min: u64,
    /// Largest value, ns; 0 without values.
    pub max: u64,
    /// Coarse distribution. May be left empty: then only percentiles are missing.
    pub bins: LogBins,
}

impl Default for Tally {
    fn default() -> Self {
        let bins = LogBins::new();
        Self {
            count: 0,
            sum: 0.0,
            sum_squares: 0.0,
            min: u64::MAX,
            max: 0,
            bins,
        }
    }
}

impl Tally {
    /// Adds one value, ns. For cold paths; hot ones use [`SlotAccumulator`].
    pub fn record(&mut self, value: u64) {
        self.record_moments(value);
        self.bins.add(LogBins::bin_of(value), 1);
    }

    /// Adds one value, ns, to everything but the bins.
    #[inline]
    pub fn record_moments(&mut self, value: u64) {
        let nanos = value as f64;
        self.count += 1;
        self.sum += nanos;
        self.sum_squares += nanos * nanos;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// The same as a histogram, whose values are those of the bins' middles; the smallest and the
    /// largest value, the count and the sum are kept.
    pub fn to_histogram(&self) -> Histogram {
        // The ends are exact, and count in the bins that hold them.
        let mut left = [
            (LogBins::bin_of(self.min), 1),
            (LogBins::bin_of(self.max), 1),
        ];
        if self.count < 2 {
            left[1].1 = 0;
        }
        let ends = [(self.min, left[0].1), (self.max, left[1].1)];
        let inner = self.bins.iter().map(|(bin, count)| {
            let at_ends: u64 = left.iter().filter(|it| it.0 == bin).map(|it| it.1).sum();
            let (low, next) = (LogBins::lower_edge(bin), LogBins::upper_edge(bin));
            let middle = low + (next - low) / 2;
            (middle.clamp(self.min, self.max), count - at_ends)
        });
        let ends = ends.into_iter().filter(|_| self.count > 0);
        Histogram::from_buckets(ends.chain(inner), self.min, self.max, self.sum as u128)
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_squares += other.sum_squares;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.bins.merge(&other.bins);
    }
}

/// What all clients completed in one epoch; completions of all workers merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// Number of the (first) epoch, counted in base widths.
    pub epoch: u64,
    /// Completions without error.
    pub completions: u64,
    /// Failed operations.
    pub errors: u64,
    /// Bytes moved by the completions.
    pub bytes: u64,
    /// Times from due to completed.
    pub response: Tally,
    /// Times from issued to completed.
    pub service: Tally,
    /// Sum of the generator's own lateness (issued minus ready), ns.
    pub lateness_sum: f64,
    /// Sum of the times between a completion and the next due time of the same client, ns.
    pub think_sum: f64,
    /// Number of such times. Stays 0 where clients follow a schedule instead of thinking.
    pub think_count: u64,
    /// Clients that reached their second completion in this slot.
    pub newly_warm: u32,
    /// Clients that finished in this slot.
    #[serde(default)]
    pub left: u32,
    /// The longest time without a completion that ended in this slot, epochs, as far as something
    /// was due. The store fills it in.
    #[serde(default)]
    pub gap: u64,
}

impl Slot {
    /// A slot in which nothing happened: a stalled device completes nothing, and that counts.
    pub fn empty(epoch: u64) -> Self {
        Self {
            epoch,
            ..Self::default()
        }
    }

    /// Adds all of `other`; the earlier epoch stays.
    pub fn merge(&mut self, other: &Self) {
        self.epoch = self.epoch.min(other.epoch);
        self.completions += other.completions;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.lateness_sum += other.lateness_sum;
        self.think_sum += other.think_sum;
        self.think_count += other.think_count;
        self.newly_warm = self.newly_warm.saturating_add(other.newly_warm);
        self.left = self.left.saturating_add(other.left);
        self.gap = self.gap.max(other.gap);
    }
}

/// Fills one slot at a time. Recording costs a few nanoseconds and never allocates once the
/// widest slot has been seen.
#[derive(Clone, Debug)]
pub struct SlotAccumulator {
    /// Everything but the tallies and the sums of lateness and think times.
    slot: Slot,
    response: TallyCounts,
    service: TallyCounts,
    lateness_sum: u128,
    think_sum: u128,
}

impl Default for SlotAccumulator {
    fn default() -> Self {
        Self::new()
    }
}

impl SlotAccumulator {
    /// An empty accumulator.
    pub fn new() -> Self {
        Self {
            slot: Slot::default(),
            response: TallyCounts::new(),
            service: TallyCounts::new(),
            lateness_sum: 0,
            think_sum: 0,
        }
    }

    /// Adds one completion without error; times in ns.
    #[inline]
    pub fn record(&mut self, response_ns: u64, service_ns: u64, lateness_ns: u64, bytes: u64) {
        self.slot.completions += 1;
        self.slot.bytes += bytes;
        self.lateness_sum += u128::from(lateness_ns);
        self.response.record(response_ns);
        self.service.record(service_ns);
    }

    /// Adds one failed operation. Its time says nothing about the device and is left out.
    #[inline]
    pub fn record_error(&mut self) {
        self.slot.errors += 1;
    }

    /// Adds the time between a completion and the next due time of the same client, ns.
    #[inline]
    pub fn record_think(&mut self, think_ns: u64) {
        self.think_sum += u128::from(think_ns);
        self.slot.think_count += 1;
    }

    /// Notes that one more client has reached its second completion.
    #[inline]
    pub fn record_warm(&mut self) {
        self.slot.newly_warm = self.slot.newly_warm.saturating_add(1);
    }

    /// Notes that one more client has finished.
    #[inline]
    pub fn record_left(&mut self) {
        self.slot.left = self.slot.left.saturating_add(1);
    }

    /// Whether nothing was recorded since the last `take`.
    pub fn is_empty(&self) -> bool {
        let slot = &self.slot;
        let counts = [slot.completions, slot.errors, slot.think_count];
        counts == [0; 3] && slot.newly_warm == 0 && slot.left == 0
    }

    /// Hands over what was recorded as the slot of `epoch`, and starts anew.
    #[inline]
    pub fn take(&mut self, epoch: u64) -> Slot {
        let slot = std::mem::take(&mut self.slot);
        let lateness_sum = std::mem::take(&mut self.lateness_sum) as f64;
        let think_sum = std::mem::take(&mut self.think_sum) as f64;
        let (response, service) = (self.response.take(), self.service.take());
        Slot {
            epoch,
            response,
            service,
            lateness_sum,
            think_sum,
            ..slot
        }
    }
}

/// Words of a mark for each bin.
const MARK_WORDS: usize = BIN_COUNT.div_ceil(64);

/// A tally being filled. Sums are integers, which add faster than a `u64` turns into a float;
/// all bins have a place, and a mark for each that is in use keeps emptying cheap.
#[derive(Clone, Debug)]
struct TallyCounts {
    count: u64,
    sum: u128,
    sum_squares: u128,
    min: u64,
    max: u64,
    counts: Box<[u32; BIN_COUNT]>,
    marks: Box<[u64; MARK_WORDS]>,
}

impl TallyCounts {
    fn new() -> Self {
        Self {
            count: 0,
            sum: 0,
            sum_squares: 0,
            min: u64::MAX,
            max: 0,
            counts: Box::new([0; BIN_COUNT]),
            marks: Box::new([0; MARK_WORDS]),
        }
    }

    #[inline]
    fn record(&mut self, value: u64) {
        let wide = u128::from(value);
        self.count += 1;
        self.sum += wide;
        // Squares overflow beyond 2^60 ns, 36 years: then a wrong spread is the least trouble,
        // but it must not be a crash.
        self.sum_squares = self.sum_squares.wrapping_add(wide * wide);
        // A new extreme is rare: a branch foreseen costs less than a choice each time.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        let bin = usize::from(LogBins::bin_of(value));
        // 4e9 completions in one epoch do not happen.
        self.counts[bin] = self.counts[bin].wrapping_add(1);
        self.marks[bin / 64] |= 1 << (bin % 64);
    }

    fn take(&mut self) -> Tally {
        let tally = Tally {
            count: self.count,
            sum: self.sum as f64,
            sum_squares: self.sum_squares as f64,
            min: self.min,
            max: self.max,
            bins: self.take_bins(),
        };
        (self.count, self.sum, self.sum_squares) = (0, 0, 0);
        (self.min, self.max) = (u64::MAX, 0);
        tally
    }

    /// Only what lies between the extremes can have been marked.
    fn take_bins(&mut self) -> LogBins {
        if self.count == 0 {
            return LogBins::new();
        }
        let ends = [self.min, self.max].map(|end| usize::from(LogBins::bin_of(end)) / 64);
        let Self { counts, marks, .. } = self;
        let words = (ends[0]..).zip(&mut marks[ends[0]..=ends[1]]);
        let marked = words.flat_map(|(place, word)| {
            let mut left = std::mem::take(word);
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(place * 64 + bit)
            })
        });
        let pairs = marked.map(|bin| (bin as u16, u64::from(std::mem::take(&mut counts[bin]))));
        LogBins::from_sorted(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accumulator_agrees_with_plain_tallies() {
        let mut accumulator = SlotAccumulator::new();
        for epoch in 0..3u64 {
            let mut response = Tally::default();
            let mut service = Tally::default();
            for i in 0..500u64 {
                let (r, s) = (1000 * (i % 37) + epoch, 17 * i);
                accumulator.record(r, s, 3, 4096);
                response.record(r);
                service.record(s);
            }
            accumulator.record_error();
            accumulator.record_think(11);
            accumulator.record_warm();
            let slot = accumulator.take(epoch);
            assert_eq!((slot.epoch, slot.completions, slot.errors), (epoch, 500, 1));
            assert_eq!(
                (slot.bytes, slot.newly_warm, slot.think_count),
                (500 * 4096, 1, 1)
            );
            assert_eq!((slot.lateness_sum, slot.think_sum), (1500.0, 11.0));
            assert_eq!(slot.response, response);
            assert_eq!(slot.service, service);
            assert!(accumulator.is_empty());
        }
        assert_eq!(accumulator.take(9), Slot::empty(9));
    }

    /// It is written and read back: what contradicts itself would be refused there.
    #[test]
    fn the_histogram_of_a_tally_is_as_wide_as_its_bins() {
        for seed in 0..200_u64 {
            let values = (0..seed).map(|at| (at * at * 7919 + seed * 31) % (1 << (seed % 50)));
            let mut tally = Tally::default();
            values.clone().for_each(|value| tally.record(value));
            let found = tally.to_histogram();
            let read = Histogram::from_bytes(&found.to_bytes().expect("bytes"));
            assert_eq!(read.as_ref(), Ok(&found), "{seed}");
            let mut sorted: Vec<u64> = values.collect();
            sorted.sort_unstable();
            assert_eq!(found.len(), seed);
            let ends = (sorted.first().copied(), sorted.last().copied());
            assert_eq!(
                (found.min(), found.max()),
                (ends.0.unwrap_or(0), ends.1.unwrap_or(0))
            );
            for p in [0.1, 0.5, 0.9] {
                let Some(at) = found.quantile(p) else {
                    continue;
                };
                let rank = (p * seed as f64).ceil() as usize;
                let exact = sorted[rank - 1] as f64;
                let off = (at as f64 - exact).abs();
                assert!(off <= 0.016 * exact + 1.0, "{seed}, {p}: {at} for {exact}");
            }
        }
    }

    #[test]
    fn merging_slots_adds_every_field() {
        let mut accumulator = SlotAccumulator::new();
        accumulator.record(10, 5, 1, 100);
        accumulator.record_warm();
        let first = accumulator.take(4);
        accumulator.record(30, 15, 2, 200);
        accumulator.record_think(7);
        accumulator.record_left();
        let second = accumulator.take(5);
        let mut merged = first;
        merged.merge(&second);
        accumulator.record(10, 5, 1, 100);
        accumulator.record_warm();
        accumulator.record(30, 15, 2, 200);
        accumulator.record_think(7);
        accumulator.record_left();
        assert_eq!(merged, accumulator.take(4));
    }
}
