//! The variance of the mean of a correlated series, and intervals made from it.
//!
//! Long-run variance by Geyer's initial positive sequence (1992), at two levels; Student's t
//! with the skewness adjustment of Johnson (1978) as used by Skart. Formulas: section 3 of the
//! statistics notes; procedure: section 5.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::estimate::{CONFIDENCE, Estimate, NOT_NEGATIVE};

/// Groups of the second level, once the series is long enough for it.
const GROUPS: usize = 64;
/// Groups from which the skewness is estimated.
const SKEW_GROUPS: usize = 32;
/// The skewness adjustment is a first-order term: beyond this it is no longer believed.
const SKEW_MAX: f64 = 0.1;
/// A variance below this share of the squared mean is rounding, not variation.
const ROUNDING: f64 = 1e-24;

/// Batches of a series that is only a few times longer than its correlations ...
const BATCHES: usize = 8;
/// ... beyond this first autocorrelation they say nothing of the size of the variance ...
const BATCH_CORRELATION_MAX: f64 = 0.6;
/// ... and fewer degrees of freedom are not believed.
const FREEDOM_MIN: f64 = 3.0;

/// Standard errors of white noise beyond which one autocorrelation is real, or the sum of several.
const NOISE_OF_ONE: f64 = 3.0;
const NOISE_OF_SUM: f64 = 4.0;

/// Correlations that widen the variance by less than this change the interval by less than a tenth:
/// however wrong their estimate, it does no harm. Counts that alternate since operations end in
/// step with each other resemble their neighbours strongly, and cancel out.
const MATERIAL: f64 = 1.21;

/// What is known about the mean of a series: its variance and how well that is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongRun {
    /// Variance of the mean, in the squared unit of the series.
    pub variance_of_mean: f64,
    /// Degrees of freedom of that variance.
    pub degrees_of_freedom: f64,
    /// Largest lag at which the series was still found correlated.
    pub lag: usize,
    /// Whether those correlations are more than white noise of this length shows by chance, and
    /// widen the interval.
    pub is_correlated: bool,
}

impl LongRun {
    /// Half of a symmetric interval of the usual confidence.
    fn half_width(&self) -> f64 {
        student_t(0.5 + CONFIDENCE / 2.0, self.degrees_of_freedom) * self.variance_of_mean.sqrt()
    }
}

/// The two-level variance of the mean of `series` (`lrv` of section 5).
///
/// A single level underestimates when the correlation is long and weak, because each lag alone
/// drowns in noise; the means of 64 groups show it. The larger of the two counts.
pub fn long_run_variance(series: &[f64]) -> LongRun {
    let len = series.len();
    if len < 2 {
        return LongRun {
            variance_of_mean: 0.0,
            degrees_of_freedom: 8.0,
            lag: 1,
            is_correlated: false,
        };
    }
    let fine = initial_positive_sequence(series);
    let groups = if len >= 2 * GROUPS {
        GROUPS
    } else {
        (len / 2).max(16).min(len)
    };
    let coarse = initial_positive_sequence(&group_means(series, groups));
    let of_fine = fine.variance / len as f64;
    let of_coarse = coarse.variance / groups as f64;
    let freedom = |count: usize, lag: usize| count as f64 / (lag + 1) as f64;
    let (variance_of_mean, degrees_of_freedom) = if of_coarse > of_fine {
        (of_coarse, freedom(groups, coarse.lag).max(6.0))
    } else {
        (of_fine, freedom(len, fine.lag).max(8.0))
    };
    LongRun {
        variance_of_mean,
        degrees_of_freedom,
        lag: fine.lag,
        is_correlated: fine.is_correlated,
    }
}

/// As [`long_run_variance`], of a series that is only a few times longer than its correlations.
///
/// There two things go wrong, both towards intervals that are too narrow: the mean that is taken
/// off follows the series, which takes `2 (L + 1) / n` from the variance, and few correlations say
/// what the variance is. The first is put back, and the degrees of freedom are those of a window of
/// as many lags. Then there are the means of 8 batches, taken for autoregressive with their own
/// first autocorrelation, whose bias of `-1 / 8` is put back twice. The wider of the two counts.
pub(crate) fn cautious_variance(series: &[f64]) -> LongRun {
    let seen = long_run_variance(series);
    let len = series.len() as f64;
    let lags = 2.0 * (seen.lag + 1) as f64;
    let corrected = LongRun {
        variance_of_mean: seen.variance_of_mean * (1.0 + lags / len),
        degrees_of_freedom: (len / lags).min(seen.degrees_of_freedom).max(FREEDOM_MIN),
        ..seen
    };
    let batches = centred(&group_means(series, BATCHES));
    let own = autocovariance(&batches, 0);
    let count = BATCHES as f64;
    if own <= 0.0 {
        return corrected;
    }
    let first = autocovariance(&batches, 1) / own + 2.0 / count;
    let first = first.clamp(0.0, BATCH_CORRELATION_MAX);
    let inflation = (1.0 + first) / (1.0 - first);
    let of_batches = LongRun {
        variance_of_mean: own / (count - 1.0) * inflation,
        degrees_of_freedom: ((count - 1.0) / inflation).max(FREEDOM_MIN),
        ..seen
    };
    if of_batches.half_width() > corrected.half_width() {
        of_batches
    } else {
        corrected
    }
}

/// The mean of `series` with its interval (`ci` of section 5), in the unit of the series.
///
/// Without variation the interval has no width. An empty series gives zero. Where no value is
/// negative, neither is the interval.
pub fn mean_interval(series: &[f64]) -> Estimate {
    let found = interval_around(mean(series), series, &long_run_variance(series));
    possible(found, series)
}

/// Of values none of which is negative, neither is what is said of them.
pub(crate) fn possible(found: Estimate, values: &[f64]) -> Estimate {
    if values.iter().all(|value| *value >= 0.0) {
        found.within(&NOT_NEGATIVE)
    } else {
        found
    }
}

/// The interval of `series`, whose variance is known, around a value that the caller knows more
/// exactly than the series' mean.
pub(crate) fn interval_around(value: f64, series: &[f64], long_run: &LongRun) -> Estimate {
    if long_run.variance_of_mean <= 0.0 {
        return Estimate::exact(value, series.len() as f64);
    }
    let error = long_run.variance_of_mean.sqrt();
    let t = student_t(0.5 + CONFIDENCE / 2.0, long_run.degrees_of_freedom);
    let groups = SKEW_GROUPS.min(series.len());
    let skewness = skewness(&group_means(series, groups));
    let bend = (skewness / (6.0 * (groups as f64).sqrt())).clamp(-SKEW_MAX, SKEW_MAX);
    Estimate {
        value,
        low: value - bent(t, bend) * error,
        high: value - bent(-t, bend) * error,
        confidence: CONFIDENCE,
        samples: variance(series) / long_run.variance_of_mean,
    }
}

/// Quantile `p` of Student's t with `degrees_of_freedom`, which need not be whole.
pub fn student_t(p: f64, degrees_of_freedom: f64) -> f64 {
    let (p, freedom) = (p.clamp(1e-12, 1.0 - 1e-12), degrees_of_freedom.max(1.0));
    // The library's search loses digits far out; there the first term of Hill's expansion around
    // the normal quantile has all of them.
    if freedom > 1e4 {
        let z = Normal::standard().inverse_cdf(p);
        return z + (z.powi(3) + z) / (4.0 * freedom);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

/// The quantile `z` bent for skewness, where `bend` = skewness / (6 sqrt n) (`G` of section 3).
fn bent(z: f64, bend: f64) -> f64 {
    if bend.abs() < 1e-6 {
        return z;
    }
    ((1.0 + 6.0 * bend * (z - bend)).cbrt() - 1.0) / (2.0 * bend)
}

/// Long-run variance of one element, and the largest lag that went into it.
pub(crate) struct PositiveSequence {
    pub variance: f64,
    pub lag: usize,
    /// Whether the correlations up to there are more than noise, and widen the variance.
    pub is_correlated: bool,
}

/// Geyer's initial monotone positive sequence: pairs of neighbouring autocovariances of a
/// reversible chain are positive and decreasing, so the first negative one is noise.
pub(crate) fn initial_positive_sequence(series: &[f64]) -> PositiveSequence {
    let centred = centred(series);
    let own = autocovariance(&centred, 0);
    let centre = mean(series);
    if own <= ROUNDING * centre * centre {
        return PositiveSequence {
            variance: 0.0,
            lag: 1,
            is_correlated: false,
        };
    }
    let mut sum = 0.0;
    let mut previous = f64::INFINITY;
    let mut pairs = 0;
    while 2 * pairs + 1 < centred.len() {
        let even = if pairs == 0 {
            own
        } else {
            autocovariance(&centred, 2 * pairs)
        };
        let pair = even + autocovariance(&centred, 2 * pairs + 1);
        if pair <= 0.0 {
            break;
        }
        previous = pair.min(previous);
        sum += previous;
        pairs += 1;
    }
    // The floor guards against a short negative swing that would promise the impossible.
    let variance = (2.0 * sum - own).max(0.2 * own);
    let lag = (2 * pairs).max(2) - 1;
    PositiveSequence {
        variance,
        lag,
        is_correlated: variance > MATERIAL * own && exceeds_noise(&centred, own, lag),
    }
}

/// Whether the autocorrelations up to `lag`, or their sum, are beyond those of white noise, which
/// vary by `1 / sqrt(n)` each (Bartlett 1946). The last lag was chosen where they are positive: the
/// sum must be larger for that.
fn exceeds_noise(centred: &[f64], own: f64, lag: usize) -> bool {
    let noise = 1.0 / (centred.len() as f64).sqrt();
    let lags = 1..=lag.min(centred.len() - 1);
    let (largest, sum) = lags
        .map(|lag| autocovariance(centred, lag) / own)
        .fold((0.0, 0.0), |(largest, sum), r| (r.max(largest), sum + r));
    largest > NOISE_OF_ONE * noise || sum > NOISE_OF_SUM * noise * (lag as f64).sqrt()
}

/// The series minus its mean.
pub(crate) fn centred(series: &[f64]) -> Vec<f64> {
    let centre = mean(series);
    series.iter().map(|x| x - centre).collect()
}

/// Autocovariance at `lag`, divided by the full length (biased, hence positive definite).
pub(crate) fn autocovariance(centred: &[f64], lag: usize) -> f64 {
    if lag >= centred.len() {
        return 0.0;
    }
    dot(&centred[lag..], &centred[..centred.len() - lag]) / centred.len() as f64
}

/// Sum of products in four lanes: the order is fixed, and the compiler may use them.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (mut lanes, mut rest) = ([0.0; 4], 0.0);
    let (a_chunks, b_chunks) = (a.chunks_exact(4), b.chunks_exact(4));
    for (x, y) in a_chunks.remainder().iter().zip(b_chunks.remainder()) {
        rest += x * y;
    }
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..4 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes[0] + lanes[1] + lanes[2] + lanes[3] + rest
}

/// Arithmetic mean; 0 for an empty series.
pub(crate) fn mean(series: &[f64]) -> f64 {
    if series.is_empty() {
        0.0
    } else {
        series.iter().sum::<f64>() / series.len() as f64
    }
}

/// Variance of the elements, divided by their number.
pub(crate) fn variance(series: &[f64]) -> f64 {
    autocovariance(&centred(series), 0)
}

/// Means of `groups` neighbouring groups, as equal in size as the length allows.
pub(crate) fn group_means(series: &[f64], groups: usize) -> Vec<f64> {
    let edge = |i: usize| i * series.len() / groups;
    (0..groups)
        .map(|i| mean(&series[edge(i)..edge(i + 1)]))
        .collect()
}

fn skewness(series: &[f64]) -> f64 {
    let centred = centred(series);
    let moment = |power: i32| mean(&centred.iter().map(|x| x.powi(power)).collect::<Vec<_>>());
    let spread = moment(2).sqrt();
    // The cube of a tiny spread may underflow; then there is no shape to speak of.
    let cube = spread.powi(3);
    if cube > 0.0 && cube.is_finite() {
        moment(3) / cube
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_match_the_tables() {
        for (p, freedom, expected) in [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 2.0, 4.302_652_730),
            (0.975, 6.0, 2.446_911_851),
            (0.975, 8.0, 2.306_004_135),
            (0.975, 30.0, 2.042_272_456),
            (0.975, 100.0, 1.983_971_519),
            (0.95, 10.0, 1.812_461_123),
            (0.995, 20.0, 2.845_339_710),
        ] {
            let t = student_t(p, freedom);
            assert!(
                (t - expected).abs() < 1e-6,
                "t({p}, {freedom}) = {t}, not {expected}"
            );
            assert!((student_t(1.0 - p, freedom) + expected).abs() < 1e-6);
        }
        for freedom in [1e3, 1e4, 1e5, 1e6, 1e9, f64::INFINITY] {
            // First term of Hill's expansion around the normal quantile.
            let z: f64 = 1.959_963_985;
            let expected = z + (z.powi(3) + z) / (4.0 * freedom);
            let t = student_t(0.975, freedom);
            assert!((t - expected).abs() < 1e-4, "t({freedom}) = {t}");
        }
        assert!(student_t(0.975, 8.5) < student_t(0.975, 8.0));
    }

    #[test]
    fn without_skew_the_quantile_is_not_bent() {
        assert_eq!(bent(2.0, 0.0), 2.0);
        assert!((bent(2.0, 1e-5) - 2.0).abs() < 1e-3);
        // A long right tail moves the interval up: the mean is more often too low than too high.
        assert!(bent(2.0, 0.05) < 2.0 && bent(-2.0, 0.05) < -2.0);
    }

    #[test]
    fn the_sequence_sums_the_covariances_of_a_moving_average() {
        // Sums of two neighbouring noises: long-run variance 4 times that of the noise.
        let mut state = 1u64;
        let mut noise = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut last = noise();
        let series: Vec<f64> = (0..100_000)
            .map(|_| {
                let next = noise();
                let sum = last + next;
                last = next;
                sum
            })
            .collect();
        let found = initial_positive_sequence(&series);
        let truth = 4.0 / 12.0;
        assert!(
            (found.variance / truth - 1.0).abs() < 0.1,
            "{}",
            found.variance
        );
    }

    #[test]
    fn a_constant_series_has_an_interval_without_width() {
        for value in [0.0, 1.0 / 3.0, 1e18] {
            let series = vec![value; 100];
            let estimate = mean_interval(&series);
            assert!((estimate.value - value).abs() <= 1e-12 * value);
            assert_eq!(estimate.low, estimate.high);
            assert_eq!(long_run_variance(&series).lag, 1);
        }
    }

    #[test]
    fn short_series_give_numbers() {
        for len in 0..40usize {
            let series: Vec<f64> = (0..len).map(|i| (i * i % 7) as f64).collect();
            let estimate = mean_interval(&series);
            assert!(
                estimate.low <= estimate.value && estimate.value <= estimate.high,
                "{len}"
            );
            assert!(estimate.samples.is_finite());
        }
    }

    /// Bug: any lag that came out positive counted as correlation: of trials of white noise with 60
    /// to 100 slots, every second was said to be full of slow ups and downs.
    #[test]
    fn white_noise_is_not_correlated_and_a_queue_is() {
        let mut state = 7u64;
        let mut noise = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            -(((state >> 11) + 1) as f64 / (1u64 << 53) as f64).ln()
        };
        for len in [20, 40, 60, 100, 250] {
            let (mut found, mut missed) = (0, 0);
            for _ in 0..1000 {
                let white: Vec<f64> = (0..len).map(|_| noise()).collect();
                found += u32::from(long_run_variance(&white).is_correlated);
                let mut level = 1.0;
                let red: Vec<f64> = white
                    .iter()
                    .map(|x| {
                        level = 0.8 * level + x;
                        level
                    })
                    .collect();
                missed += u32::from(!long_run_variance(&red).is_correlated);
            }
            assert!(found <= 10, "{len}: {found} of 1000");
            assert!(len < 60 || missed <= 50, "{len}: {missed} of 1000 missed");
        }
    }

    /// Bug: four reads that end in step with each other, every 9.6 ms, put 24, 28 or 28 of them
    /// into slots of 64 ms. That rate was said to be full of slow ups and downs.
    #[test]
    fn counts_that_alternate_are_not_correlated() {
        for (every_us, slot_us) in [(9_600u64, 64_000u64), (76_997, 128_000), (9_973, 64_000)] {
            let ends = |slot: u64| 4 * (slot * slot_us / every_us);
            let counts: Vec<f64> = (0..72)
                .map(|slot| (ends(slot + 1) - ends(slot)) as f64)
                .collect();
            let found = long_run_variance(&counts);
            assert!(!found.is_correlated, "{every_us} in {slot_us}: {found:?}");
            let rate = 4.0 * slot_us as f64 / every_us as f64;
            assert!(mean_interval(&counts).contains(rate), "{every_us}");
        }
    }
}
