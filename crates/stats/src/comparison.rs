//! Repeats and interleaved pairs: statistics over whole repetitions of a measurement.
//!
//! Within one repetition values are correlated and the rest of this crate applies. Repetitions are
//! the unit here: each gives one value, made afresh, and Student's t is right for their mean. Two
//! systems are compared by pairs that were measured next to each other, because the machine's own
//! drift then meets both alike.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::estimate::Estimate;
use crate::variance::student_t;

/// The fewest pairs from which a difference is claimed.
pub const PAIRS_MIN: usize = 5;
/// The number of pairs where nothing else is asked for.
pub const PAIRS_DEFAULT: usize = 8;
/// Differences below this share are of no interest where nothing else is asked for.
pub const MARGIN_DEFAULT: f64 = 0.02;
/// From so many values on, the modified z-score above which one lies far from the others: the 99 %
/// quantile of the largest score of normal noise, from 6,000 series and more of each length.
const OUTLIER_SCORES: [(usize, f64); 9] = [
    (5, 18.5),
    (6, 10.7),
    (8, 8.3),
    (10, 6.9),
    (12, 6.3),
    (15, 6.0),
    (20, 5.3),
    (30, 4.8),
    (50, 4.6),
];
/// Makes the median absolute deviation of normal values their standard deviation.
const MAD_SCALE: f64 = 0.674_489_750_196_081_7;

/// Whether so many pairs bear a conclusion: a difference, that there is none, or none shown.
/// A round is a pair where it is complete: all that is compared was measured in it.
pub const fn bears_conclusion(pairs: usize) -> bool {
    pairs >= PAIRS_MIN
}

/// What the interval of a ratio shows about two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The first value is larger, by more than the margin.
    Larger,
    /// The first value is smaller, by more than the margin.
    Smaller,
    /// They differ by less than the margin.
    Equivalent,
    /// The data do not tell.
    NotShown,
}

/// Two systems, from pairs of values measured next to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Geometric mean of first over second, with the interval of Student's t on the logarithms.
    pub ratio: Estimate,
    /// Two-sided probability of pairs at least this far from 1 if there were no difference.
    pub p_value: f64,
    /// Number of pairs.
    pub pairs: usize,
}

impl Comparison {
    /// The verdict: a difference or an equivalence is claimed only if the whole interval lies on
    /// one side of `margin`, a share, and there are pairs enough ([`bears_conclusion`]).
    pub fn difference(&self, margin: f64) -> Difference {
        let Estimate { low, high, .. } = self.ratio;
        let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
        if !bears_conclusion(self.pairs) {
            Difference::NotShown
        } else if low > above {
            Difference::Larger
        } else if high < below {
            Difference::Smaller
        } else if low >= below && high <= above {
            Difference::Equivalent
        } else {
            Difference::NotShown
        }
    }
}

/// The ratio of the first to the second value of each pair.
///
/// `None` for fewer than two pairs, and when a value is not positive and finite: such values have
/// no ratio.
pub fn compare_pairs(pairs: &[(f64, f64)], confidence: f64) -> Option<Comparison> {
    let is_usable = |x: f64| x > 0.0 && x.is_finite();
    if !pairs.iter().all(|&(a, b)| is_usable(a) && is_usable(b)) {
        return None;
    }
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).collect();
    let mean = replicate_mean(&logs, confidence)?;
    let freedom = logs.len() as f64 - 1.0;
    let half_width = mean.high - mean.value;
    let error = half_width / student_t(0.5 + confidence / 2.0, freedom);
    Some(Comparison {
        ratio: Estimate {
            value: mean.value.exp(),
            low: mean.low.exp(),
            high: mean.high.exp(),
            ..mean
        },
        p_value: two_sided(mean.value, error, freedom),
        pairs: pairs.len(),
    })
}

/// The mean of independent replicates with Student's t; `None` for fewer than two, or for a value
/// that is not finite.
pub fn replicate_mean(values: &[f64], confidence: f64) -> Option<Estimate> {
    if values.len() < 2 || !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let error = (square / (count - 1.0) / count).sqrt();
    let half_width = student_t(0.5 + confidence / 2.0, count - 1.0) * error;
    Some(Estimate {
        value: mean,
        low: mean - half_width,
        high: mean + half_width,
        confidence,
        samples: count,
    })
}

/// Adjusts the p-values of a family so that the chance of even one false claim stays at the level
/// at which they are read (Holm, 1979). In the order given; never above 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut floor: f64 = 0.0;
    for (rank, &at) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        floor = floor.max(left * p_values[at]).min(1.0);
        adjusted[at] = floor;
    }
    adjusted
}

/// Positions of values that lie far from the others by their modified z-score, which is the
/// distance from the median over the median of such distances. One of a hundred series of normal
/// noise has such a value, however long it is: the usual limit of 3.5 names one in a fifth of the
/// series of five.
///
/// Fewer than five values, or more than half of them alike, name none.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    if values.len() < 5 || !values.iter().all(|x| x.is_finite()) {
        return Vec::new();
    }
    let center = median(values);
    let distances: Vec<f64> = values.iter().map(|x| (x - center).abs()).collect();
    let spread = median(&distances);
    if spread == 0.0 {
        return Vec::new();
    }
    let limit = outlier_score(values.len());
    let is_far = |&at: &usize| MAD_SCALE * distances[at] / spread > limit;
    (0..values.len()).filter(is_far).collect()
}

/// The score that the largest of so many normal values exceeds in one of a hundred series.
fn outlier_score(count: usize) -> f64 {
    let longer = OUTLIER_SCORES.iter().rev();
    let found = longer.copied().find(|&(least, _)| count >= least);
    found.map_or(f64::INFINITY, |(_, score)| score)
}

/// The middle value, or the mean of the two in the middle; NaN for none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

fn two_sided(mean: f64, error: f64, freedom: f64) -> f64 {
    if error == 0.0 {
        return if mean == 0.0 { 1.0 } else { 0.0 };
    }
    let t = (mean / error).abs();
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |law| (2.0 * law.sf(t)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CONFIDENCE;

    fn pairs(logs: &[f64]) -> Vec<(f64, f64)> {
        logs.iter().map(|log| (3.0 * log.exp(), 3.0)).collect()
    }

    #[test]
    fn the_interval_is_that_of_the_logarithms() {
        let found = compare_pairs(&pairs(&[0.1, 0.2, 0.3]), CONFIDENCE).unwrap();
        // Mean .2, standard error .1 / sqrt 3, t for two degrees of freedom 4.302 653.
        let half_width = 4.302_652_73 * 0.1 / 3.0_f64.sqrt();
        assert!((found.ratio.value.ln() - 0.2).abs() < 1e-12);
        assert!((found.ratio.low.ln() - (0.2 - half_width)).abs() < 1e-6);
        assert!((found.ratio.high.ln() - (0.2 + half_width)).abs() < 1e-6);
        // For two degrees of freedom P(|T| > t) = 1 - t / sqrt(t^2 + 2), and t = 2 sqrt 3.
        assert!((found.p_value - (1.0 - (12.0_f64 / 14.0).sqrt())).abs() < 1e-9);
    }

    #[test]
    fn the_interval_excludes_1_exactly_when_p_is_below_its_level() {
        for shift in [0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.1] {
            let logs = [
                shift - 0.02,
                shift + 0.03,
                shift,
                shift + 0.01,
                shift - 0.01,
            ];
            let found = compare_pairs(&pairs(&logs), CONFIDENCE).unwrap();
            assert_eq!(!found.ratio.contains(1.0), found.p_value < 0.05, "{shift}");
        }
    }

    #[test]
    fn a_difference_is_claimed_only_when_the_interval_clears_the_margin() {
        let verdict = |logs: &[f64]| {
            let found = compare_pairs(&pairs(logs), CONFIDENCE).unwrap();
            found.difference(MARGIN_DEFAULT)
        };
        assert_eq!(verdict(&[0.10, 0.11, 0.12, 0.10, 0.11]), Difference::Larger);
        assert_eq!(
            verdict(&[-0.10, -0.11, -0.12, -0.10, -0.11]),
            Difference::Smaller
        );
        assert_eq!(
            verdict(&[0.005, 0.004, 0.006, 0.005, 0.004]),
            Difference::Equivalent
        );
        assert_eq!(
            verdict(&[0.02, 0.019, 0.021, 0.02, 0.02]),
            Difference::NotShown
        );
        assert_eq!(verdict(&[0.3, -0.3, 0.2, -0.1, 0.4]), Difference::NotShown);
        assert_eq!(verdict(&[0.10, 0.11, 0.12, 0.10]), Difference::NotShown);
    }

    #[test]
    fn equal_pairs_are_equal_for_certain() {
        let found = compare_pairs(&[(2.0, 2.0); 5], CONFIDENCE).unwrap();
        assert_eq!((found.ratio.low, found.ratio.high), (1.0, 1.0));
        assert_eq!(found.p_value, 1.0);
        assert_eq!(found.difference(0.0), Difference::Equivalent);
        let found = compare_pairs(&[(4.0, 2.0); 5], CONFIDENCE).unwrap();
        assert_eq!(found.p_value, 0.0);
    }

    #[test]
    fn what_has_no_ratio_is_not_compared() {
        assert_eq!(compare_pairs(&[(1.0, 0.0), (1.0, 1.0)], CONFIDENCE), None);
        assert_eq!(compare_pairs(&[(-1.0, 1.0), (1.0, 1.0)], CONFIDENCE), None);
        assert_eq!(
            compare_pairs(&[(f64::NAN, 1.0), (1.0, 1.0)], CONFIDENCE),
            None
        );
        assert_eq!(compare_pairs(&[(1.0, 1.0)], CONFIDENCE), None);
        assert_eq!(replicate_mean(&[1.0], CONFIDENCE), None);
        assert_eq!(replicate_mean(&[1.0, f64::INFINITY], CONFIDENCE), None);
    }

    #[test]
    fn holm_multiplies_the_smallest_by_all_and_never_falls() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() < 1e-12, "{found:?}");
            }
        };
        close(holm(&[0.01, 0.04, 0.03]), &[0.03, 0.06, 0.06]);
        close(holm(&[0.04, 0.01, 0.02]), &[0.04, 0.03, 0.04]);
        close(holm(&[0.9, 0.8]), &[1.0, 1.0]);
        close(holm(&[]), &[]);
    }

    #[test]
    fn far_values_are_named() {
        assert_eq!(outliers(&[10.0, 10.1, 9.9, 10.05, 14.0, 9.95]), [4]);
        // Scores of 4.7 and 5.4: as far as this lies one of five such series of chance.
        assert!(outliers(&[10.0, 10.1, 9.9, 10.8, 10.05]).is_empty());
        assert!(outliers(&[10.0, 10.1, 9.9, 10.05, 9.95]).is_empty());
        assert!(outliers(&[1.0, 1.0, 1.0, 9.0]).is_empty());
        assert!(outliers(&[1.0, 1.0, 1.0, 1.0, 9.0]).is_empty());
    }

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
