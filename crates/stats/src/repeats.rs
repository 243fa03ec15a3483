//! The mean of repeats of a measurement, with an interval that holds.
//!
//! Repeats that follow each other resemble each other (heat, caches, cleaning): their lag-1
//! correlation widens the interval, as that of an autoregressive series would. A few repeats hardly
//! show how far they resemble each other, so that the upper limit of the correlation counts.

use crate::estimate::{CONFIDENCE, Estimate};
use crate::variance::{possible, student_t};

/// From so many repeats on their number may have been chosen by a look at their precision.
pub const REPEATS_LOOKED_AT: usize = 10;
/// A correlation above this is a drift, which has a warning of its own. Of series that resemble
/// each other less, a few come out above by chance: with a limit of .9 and one degree of freedom
/// their intervals were seven times as wide, and no more of them held the mean.
const CORRELATION_MAX: f64 = 0.7;
/// The variance of any series is taken to have so many degrees of freedom, if there are as many
/// values: Student's t of one degree is 12.7, and widened intervals that were wide enough.
const FREEDOM_MIN: f64 = 3.0;
/// Fewer repeats say nothing of a correlation.
const CORRELATED_MIN: usize = 5;
/// Standard errors by which a correlation may be larger than it was found, at its one-sided 90 %
/// limit: a look picks the series in which it came out small ...
const CAUTION: f64 = 1.28;
/// ... and a number of repeats that was fixed before does not.
const CAUTION_FIXED: f64 = 0.5;

/// How it was decided that there are enough repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatsEnd {
    /// Their number was known before the first.
    Fixed,
    /// Perhaps when they were found to be precise.
    LookedAt,
}

/// The mean of repeats that may have ended when they were precise: [`mean_of_repeats`].
pub fn repeats_mean(values: &[f64]) -> Option<Estimate> {
    mean_of_repeats(values, RepeatsEnd::LookedAt)
}

/// The geometric mean of such repeats, with the interval of their logarithms; `None` if one is not
/// positive, too. The ratio of two such means over the same rounds is the geometric mean of the
/// ratios in the rounds.
pub fn geometric_repeats_mean(values: &[f64]) -> Option<Estimate> {
    geometric_mean_of_repeats(values, RepeatsEnd::LookedAt)
}

/// As [`geometric_repeats_mean`], of repeats that ended that way.
pub fn geometric_mean_of_repeats(values: &[f64], end: RepeatsEnd) -> Option<Estimate> {
    // Relative to the first: repeats that are the same have it as their mean, to the last digit.
    let first = *values.first().filter(|it| **it > 0.0)?;
    let logs: Vec<f64> = values.iter().map(|it| (it / first).ln()).collect();
    let mean = of_repeats(&logs, end)?;
    Some(Estimate {
        value: first * mean.value.exp(),
        low: first * mean.low.exp(),
        high: first * mean.high.exp(),
        ..mean
    })
}

/// The mean of repeats that may resemble each other; `None` for fewer than two, or for a value that
/// is not finite.
pub fn mean_of_repeats(values: &[f64], end: RepeatsEnd) -> Option<Estimate> {
    Some(possible(of_repeats(values, end)?, values))
}

fn of_repeats(values: &[f64], end: RepeatsEnd) -> Option<Estimate> {
    if values.len() < 2 || !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    let is_fixed = end == RepeatsEnd::Fixed || values.len() < REPEATS_LOOKED_AT;
    let caution = if is_fixed { CAUTION_FIXED } else { CAUTION };
    let correlation = lag_one(values, mean, squares, caution);
    let dependence = (1.0 + correlation) / (1.0 - correlation);
    let error = (squares / (count - 1.0) / count * dependence).sqrt();
    // What is widened by a correlation that is taken for larger than it was found is wide enough.
    let freedom = if is_fixed {
        count - 1.0
    } else {
        ((count - 1.0) / dependence).max(FREEDOM_MIN.min(count - 1.0))
    };
    let half = student_t(0.5 + CONFIDENCE / 2.0, freedom) * error;
    Some(Estimate {
        low: mean - half,
        high: mean + half,
        ..Estimate::exact(mean, count)
    })
}

/// The lag-1 correlation that repeats may have, when it is positive. Its estimate is too low by
/// about `(1 + 3 r) / n` (Kendall 1954) and has a standard error of about `1 / sqrt(n)`.
fn lag_one(values: &[f64], mean: f64, squares: f64, caution: f64) -> f64 {
    if values.len() < CORRELATED_MIN || squares <= 0.0 {
        return 0.0;
    }
    let count = values.len() as f64;
    let pairs = values.windows(2);
    let products: f64 = pairs.map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let found = products / squares;
    let most = found + (1.0 + 3.0 * found.max(0.0)) / count + caution / count.sqrt();
    most.clamp(0.0, CORRELATION_MAX)
}
