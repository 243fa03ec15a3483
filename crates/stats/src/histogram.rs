//! Full-resolution distribution of nanosecond values.
//!
//! The buckets are hdrhistogram's (3 significant digits: at most 0.1 % wide); count, minimum,
//! maximum and sum are kept exactly beside them. Gives values, never intervals: completions are
//! correlated, so intervals need slots (see [`crate::percentiles`]).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::de::Visitor;
use serde::{Deserialize, Serialize, de, ser};

/// Significant decimal digits of a bucket.
const DIGITS: u8 = 3;
/// How the V2 format begins.
const COOKIE: u32 = 0x1c84_9313;
/// Bytes before the counts in the V2 format.
const HEADER_LEN: usize = 40;
/// Values above this (69 s in ns) make the histogram grow once; smaller ones never do.
const EXPECTED_MAX: u64 = 1 << 36;
/// Observations that must be expected above a quantile before it is given.
const ABOVE_MIN: f64 = 10.0;
/// Minimum, maximum and sum, appended to the V2 bytes.
const TRAILER_LEN: usize = 8 + 8 + 16;

/// Distribution of nanosecond values with a relative error of at most 0.1 % and no upper limit.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: hdrhistogram::Histogram<u64>,
    min: u64,
    max: u64,
    // 128 bits: the sum of 2^64 values of 2^64 ns still fits, so merging is exact in any order.
    sum: u128,
}

/// A bucket of values `low..=high` (ns) that holds `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value of the bucket, ns.
    pub low: u64,
    /// Largest value of the bucket, ns.
    pub high: u64,
    /// Number of values.
    pub count: u64,
}

/// Why bytes are not a histogram.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// The hdrhistogram part could not be read.
    #[error("not an hdrhistogram in V2 format: {0}")]
    Malformed(String),
    /// A count is too large for the format.
    #[error("histogram cannot be written: {0}")]
    TooLarge(String),
    /// The exact minimum, maximum and sum are cut short or contradict the counts.
    #[error("histogram bytes end early or contradict themselves")]
    Trailer,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let exact = |h: &Self| (h.min, h.max, h.sum, h.len());
        exact(self) == exact(other) && self.iter_recorded().eq(other.iter_recorded())
    }
}

impl Histogram {
    /// An empty histogram. Allocates about 0.2 MB.
    pub fn new() -> Self {
        let mut counts = hdrhistogram::Histogram::new_with_max(EXPECTED_MAX, DIGITS)
            .expect("constant bounds are valid");
        counts.auto(true);
        Self {
            counts,
            min: u64::MAX,
            max: 0,
            sum: 0,
        }
    }

    /// A histogram of buckets counted elsewhere, given as (value, count), with what is known
    /// exactly of the values themselves.
    pub(crate) fn from_buckets(
        buckets: impl Iterator<Item = (u64, u64)>,
        min: u64,
        max: u64,
        sum: u128,
    ) -> Self {
        let mut histogram = Self::new();
        for (value, count) in buckets {
            histogram.record_n(value, count);
        }
        Self {
            min,
            max,
            sum,
            ..histogram
        }
    }

    /// Adds one value, ns.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Adds one value, ns, `count` times.
    #[inline]
    pub fn record_n(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        // With auto-resize the only failure is an address space below 64 bits.
        self.counts
            .record_n(value, count)
            .expect("buckets for all of u64 fit into memory");
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += u128::from(value) * u128::from(count);
    }

    /// Adds all of `other`: the same as if its values had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        self.counts
            .add(&other.counts)
            .expect("both histograms have the same shape and grow");
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
    }

    /// Number of values.
    pub fn len(&self) -> u64 {
        self.counts.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The smallest value, ns, exact; 0 without values.
    pub fn min(&self) -> u64 {
        if self.is_empty() { 0 } else { self.min }
    }

    /// The largest value, ns, exact; 0 without values.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The mean, ns, exact up to rounding; 0 without values.
    pub fn mean(&self) -> f64 {
        if self.is_empty() {
            0.0
        } else {
            self.sum as f64 / self.len() as f64
        }
    }

    /// The value (ns) at or below which a share `p` (0 to 1) of all values lies, interpolated
    /// inside its bucket and never beyond `min()` and `max()`.
    ///
    /// `None` when fewer than 10 values are expected above it: such a number would describe the
    /// sample's largest few values, not the distribution.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let total = self.len() as f64;
        // `!(>=)` also refuses a NaN. The tolerance forgives 1 - 0.99 being just below 0.01.
        if !(0.0..=1.0).contains(&p) || total * (1.0 - p) < ABOVE_MIN - 1e-6 {
            return None;
        }
        self.value_at(p)
    }

    /// The same however few values lie above it: what is known of this sample, not of what it was
    /// drawn from. `None` without values.
    pub fn value_at(&self, p: f64) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let wanted = p * self.len() as f64;
        let mut below = 0.0;
        for bucket in self.iter_recorded() {
            let count = bucket.count as f64;
            if below + count >= wanted {
                let width = (bucket.high - bucket.low) as f64;
                let inside = (width * ((wanted - below) / count).clamp(0.0, 1.0)) as u64;
                return Some((bucket.low + inside).clamp(self.min, self.max));
            }
            below += count;
        }
        Some(self.max)
    }

    /// Buckets that hold something, at full resolution, in increasing order.
    pub fn iter_recorded(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.iter_recorded().map(|step| Bucket {
            low: self.counts.lowest_equivalent(step.value_iterated_to()),
            high: self.counts.highest_equivalent(step.value_iterated_to()),
            count: step.count_at_value(),
        })
    }

    /// Buckets for drawing: `per_octave` (1 to 64) equal steps in the logarithm per doubling,
    /// without gaps from the first to the last that holds something.
    pub fn log_buckets(&self, per_octave: u32) -> Vec<Bucket> {
        let steps = f64::from(per_octave.clamp(1, 64));
        let edge = |k: u64| (k as f64 / steps).exp2().round() as u64;
        let step_of = |value: u64| {
            let guess = ((value.max(1) as f64).log2() * steps) as u64;
            // The logarithm may round across an edge; edges are what the reader sees.
            if edge(guess) > value.max(1) {
                guess - 1
            } else {
                guess
            }
        };
        let mut buckets: Vec<Bucket> = Vec::new();
        let mut next = None;
        for recorded in self.iter_recorded() {
            let step = step_of(recorded.low + (recorded.high - recorded.low) / 2);
            for k in next.unwrap_or(step)..=step {
                let low = if k == 0 { 0 } else { edge(k) };
                buckets.push(Bucket {
                    low,
                    high: edge(k + 1).saturating_sub(1).max(low),
                    count: 0,
                });
            }
            next = Some(next.unwrap_or(0).max(step + 1));
            if let Some(last) = buckets.last_mut() {
                last.count += recorded.count;
            }
        }
        buckets
    }

    /// The histogram in hdrhistogram's V2 format, followed by 32 bytes of ours: minimum, maximum
    /// (u64) and sum (u128), little endian. Readers of V2 ignore them.
    ///
    /// # Errors
    /// Fails when a count exceeds `i64::MAX`, which the format cannot hold.
    pub fn to_bytes(&self) -> Result<Vec<u8>, HistogramError> {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&self.counts, &mut bytes)
            .map_err(|error| HistogramError::TooLarge(error.to_string()))?;
        bytes.extend_from_slice(&self.min.to_le_bytes());
        bytes.extend_from_slice(&self.max.to_le_bytes());
        bytes.extend_from_slice(&self.sum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads what `to_bytes` wrote.
    ///
    /// # Errors
    /// Fails when the bytes are not in V2 format or are cut short.
    // fuzzed: histogram
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        if !is_sound(bytes) {
            let why = "its lengths are not those of its bytes".to_owned();
            return Err(HistogramError::Malformed(why));
        }
        let mut rest = bytes;
        let mut counts: hdrhistogram::Histogram<u64> =
            Deserializer::new()
                .deserialize(&mut rest)
                .map_err(|error| HistogramError::Malformed(error.to_string()))?;
        counts.auto(true);
        if rest.len() != TRAILER_LEN || counts.sigfig() != DIGITS {
            return Err(HistogramError::Trailer);
        }
        let number = |at: usize| {
            let bytes = rest[at..at + 8]
                .try_into()
                .map_err(|_| HistogramError::Trailer)?;
            Ok(u64::from_le_bytes(bytes))
        };
        let sum = u128::from(number(16)?) | u128::from(number(24)?) << 64;
        let histogram = Self {
            counts,
            min: number(0)?,
            max: number(8)?,
            sum,
        };
        let counts = &histogram.counts;
        let is_consistent = counts.is_empty()
            || counts.equivalent(counts.min(), histogram.min)
                && counts.equivalent(counts.max(), histogram.max);
        if is_consistent {
            Ok(histogram)
        } else {
            Err(HistogramError::Trailer)
        }
    }
}

/// Its bytes; in a format for people as base64.
impl Serialize for Histogram {
    fn serialize<S: ser::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bytes = self.to_bytes().map_err(ser::Error::custom)?;
        match to.is_human_readable() {
            true => to.serialize_str(&STANDARD.encode(bytes)),
            false => to.serialize_bytes(&bytes),
        }
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: de::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match from.is_human_readable() {
            true => from.deserialize_str(HistogramVisitor),
            false => from.deserialize_bytes(HistogramVisitor),
        }
    }
}

struct HistogramVisitor;

impl Visitor<'_> for HistogramVisitor {
    type Value = Histogram;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a histogram")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Histogram, E> {
        Histogram::from_bytes(bytes).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Histogram, E> {
        self.visit_bytes(&STANDARD.decode(text).map_err(E::custom)?)
    }
}

/// Whether the format's reader, which takes memory by the lengths that it is told and negates runs
/// of zeros unseen, can be given these bytes.
fn is_sound(bytes: &[u8]) -> bool {
    let word = |at: usize| {
        let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    };
    let payload = bytes.len().saturating_sub(HEADER_LEN + TRAILER_LEN);
    let is_valid = word(0) == Some(COOKIE)
        && word(4).is_some_and(|stated| stated as usize == payload)
        && word(12) == Some(u32::from(DIGITS));
    // The one number whose negation overflows.
    let has_endless_run = bytes.windows(9).any(|number| number == [0xff; 9]);
    is_valid && !has_endless_run
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers(u64);

    impl Iterator for Numbers {
        type Item = u64;
        fn next(&mut self) -> Option<u64> {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            Some(self.0 >> (self.0 & 31) >> 5)
        }
    }

    fn recorded(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    /// The bucket of one value, with neighbours far away on both sides.
    fn check_bucket(histogram: &mut Histogram, value: u64) {
        *histogram = Histogram::new();
        histogram.record(value);
        let bucket = histogram
            .iter_recorded()
            .next()
            .expect("one value was recorded");
        assert!(
            bucket.low <= value && value <= bucket.high,
            "{value} in {bucket:?}"
        );
        let width = (bucket.high - bucket.low) as f64;
        assert!(width <= 0.001 * bucket.low as f64, "{value} in {bucket:?}");
        assert_eq!(
            (histogram.min(), histogram.max(), histogram.len()),
            (value, value, 1)
        );
    }

    #[test]
    fn a_bucket_is_at_most_a_thousandth_wide() {
        let mut histogram = Histogram::new();
        for power in 0..62u32 {
            for distance in [0u64, 1, 2, 3, 1000, 1024] {
                check_bucket(&mut histogram, (1u64 << power) + distance);
                check_bucket(
                    &mut histogram,
                    (1u64 << power).saturating_sub(distance).max(1),
                );
            }
        }
        for value in Numbers(1).take(300) {
            check_bucket(&mut histogram, value.max(1));
        }
        check_bucket(&mut histogram, u64::MAX / 4);
    }

    #[test]
    fn quantiles_are_within_a_thousandth_of_the_sorted_sample() {
        for seed in 0..20 {
            let mut values: Vec<u64> = Numbers(seed).take(20_000).collect();
            let histogram = recorded(values.iter().copied());
            values.sort_unstable();
            for p in [0.001, 0.1, 0.5, 0.9, 0.99, 0.999] {
                let given = histogram.quantile(p).expect("supported") as f64;
                let rank = (p * values.len() as f64).ceil() as usize - 1;
                let exact = values[rank] as f64;
                assert!(
                    (given - exact).abs() <= 0.001 * exact + 1.0,
                    "seed {seed} p {p}: {given}"
                );
                assert!(given as u64 <= histogram.max());
            }
        }
    }

    #[test]
    fn a_quantile_without_ten_values_above_is_not_given() {
        let histogram = recorded(1..=1000);
        assert!(histogram.quantile(0.99).is_some());
        assert_eq!(histogram.quantile(0.995), None);
        assert_eq!(histogram.quantile(1.0), None);
        assert_eq!(histogram.quantile(f64::NAN), None);
        assert_eq!(Histogram::new().quantile(0.5), None);
    }

    #[test]
    fn a_quantile_is_never_above_the_maximum() {
        let histogram = recorded(std::iter::repeat_n(1_048_577, 10_000));
        for p in [0.0, 0.5, 0.9, 0.999] {
            assert_eq!(histogram.quantile(p), Some(1_048_577));
        }
    }

    #[test]
    fn merging_equals_recording_everything() {
        for seed in 0..10 {
            let left: Vec<u64> = Numbers(seed).take(500).collect();
            let right: Vec<u64> = Numbers(seed + 100)
                .take(700)
                .chain([u64::MAX / 4])
                .collect();
            let mut merged = recorded(left.clone());
            merged.merge(&recorded(right.clone()));
            assert_eq!(
                merged,
                recorded(left.into_iter().chain(right)),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn bytes_give_back_the_same_histogram() {
        for values in [
            vec![],
            vec![0],
            vec![5, 7, 1 << 50],
            Numbers(3).take(900).collect(),
        ] {
            let histogram = recorded(values);
            let histogram_is_empty = histogram.is_empty();
            let bytes = histogram.to_bytes().expect("counts are small");
            assert_eq!(Histogram::from_bytes(&bytes), Ok(histogram));
            assert!(Histogram::from_bytes(&bytes[..bytes.len() - 1]).is_err());
            assert!(Histogram::from_bytes(&[]).is_err());
            let mut wrong = bytes;
            let maximum = wrong.len() - TRAILER_LEN + 8;
            wrong[maximum + 7] ^= 0x40;
            assert!(histogram_is_empty || Histogram::from_bytes(&wrong).is_err());
        }
    }

    /// A document of a run could ask for 4 GiB of memory in forty bytes, and a run of zeros as long
    /// as numbers go was an overflow.
    #[test]
    fn bytes_that_lie_about_their_lengths_are_refused() {
        let good = recorded(vec![5, 7]).to_bytes().expect("counts are small");
        let mut long = good.clone();
        long[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        let mut fine = good.clone();
        fine[15] = 5;
        let endless = |at: usize| {
            let mut bytes = good.clone();
            bytes.splice(at..at, [0xff; 9]);
            let payload = (bytes.len() - HEADER_LEN - TRAILER_LEN) as u32;
            bytes[4..8].copy_from_slice(&payload.to_be_bytes());
            bytes
        };
        for wrong in [long, fine, endless(HEADER_LEN)] {
            let read = Histogram::from_bytes(&wrong);
            assert!(
                matches!(read, Err(HistogramError::Malformed(_))),
                "{read:?}"
            );
        }
    }

    #[test]
    fn mean_is_exact() {
        let histogram = recorded([1_000_001, 1_000_003]);
        assert_eq!(histogram.mean(), 1_000_002.0);
        assert_eq!(Histogram::new().mean(), 0.0);
    }

    #[test]
    fn drawing_buckets_have_no_gaps_and_lose_nothing() {
        for seed in 0..20 {
            let histogram = recorded(Numbers(seed).take(200));
            let buckets = histogram.log_buckets(4);
            assert_eq!(
                buckets.iter().map(|b| b.count).sum::<u64>(),
                200,
                "seed {seed}"
            );
            for pair in buckets.windows(2) {
                assert!(
                    pair[0].low <= pair[0].high && pair[0].low <= pair[1].low,
                    "seed {seed}"
                );
                assert!(pair[1].low <= pair[0].high + 1, "seed {seed}: {pair:?}");
            }
        }
        assert!(Histogram::new().log_buckets(8).is_empty());
    }
}
