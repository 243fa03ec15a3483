//! How much the mean may have moved during the trial, and the verdict a SNIA test would give.

use serde::{Deserialize, Serialize};

use crate::variance::{long_run_variance, mean};
use crate::window::Window;

/// Two-sided 1 % and one-sided 5 % points of the normal distribution.
const Z_DRIFTING: f64 = 2.58;
pub(crate) const Z_BOUND: f64 = 1.645;
/// A smaller total drift is of no practical interest, however significant.
const RELEVANT: f64 = 0.02;

/// What can be said about a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftVerdict {
    /// A drift of more than 2 % is there, at the 1 % level.
    #[serde(alias = "Drifting")]
    Drifting,
    /// Any drift is below four times the precision wanted, at the 5 % level.
    #[serde(alias = "Steady")]
    Steady,
    /// Too short or too noisy to say.
    #[serde(alias = "Undecided")]
    Undecided,
}

/// Linear drift over the window, relative to the mean (section 3, "Total drift").
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Change from the start to the end of the window, divided by the mean.
    #[serde(with = "crate::undefined")]
    pub total: f64,
    /// Standard error of `total`.
    #[serde(with = "crate::unbounded")]
    pub standard_error: f64,
    /// The drift is at most this, with 95 % confidence: |total| + 1.645 standard errors.
    #[serde(with = "crate::unbounded")]
    pub bound: f64,
    /// What this amounts to.
    pub verdict: DriftVerdict,
}

impl Drift {
    /// Whether the mean probably moves, at the 10 % level, by so much that it is off by the
    /// precision wanted at one of the ends of the window. It costs a steady trial another look at
    /// times; a trial that ends on a ramp gives a wrong mean.
    pub(crate) fn spoils(&self, precision: f64) -> bool {
        let total = self.total.abs();
        total > 2.0 * precision && total > Z_BOUND * self.standard_error
    }

    /// The drift of the mean time; steady means within `4 * precision`.
    pub(crate) fn of(window: &Window, precision: f64) -> Self {
        let series = &window.response_influence;
        let len = series.len() as f64;
        let centre = mean(series);
        let at = |i: usize| (i as f64 + 0.5) / len - 0.5;
        let spread: f64 = (0..series.len()).map(|i| at(i) * at(i)).sum();
        let slope = series
            .iter()
            .enumerate()
            .map(|(i, y)| at(i) * (y - centre))
            .sum::<f64>()
            / spread.max(f64::MIN_POSITIVE);
        let residuals: Vec<f64> = series
            .iter()
            .enumerate()
            .map(|(i, y)| y - slope * at(i))
            .collect();
        let variance = long_run_variance(&residuals).variance_of_mean * len;
        if centre <= 0.0 {
            let verdict = DriftVerdict::Undecided;
            return Self {
                total: 0.0,
                standard_error: 0.0,
                bound: 0.0,
                verdict,
            };
        }
        let total = slope / centre;
        let standard_error = (variance / spread).sqrt() / centre;
        let bound = total.abs() + Z_BOUND * standard_error;
        let verdict = if total.abs() > Z_DRIFTING * standard_error && total.abs() > RELEVANT {
            DriftVerdict::Drifting
        } else if bound <= 4.0 * precision {
            DriftVerdict::Steady
        } else {
            DriftVerdict::Undecided
        };
        Self {
            total,
            standard_error,
            bound,
            verdict,
        }
    }
}

/// Steady state as SNIA PTS 2.0.2 defines it, over five equal rounds of the window: range at most
/// 20 % of the mean, and the fitted line moves at most 10 % of it. Printed for comparison only;
/// it accepts a 10 % drift nine times out of ten.
pub(crate) fn is_steady_by_snia(window: &Window) -> bool {
    const ROUNDS: usize = 5;
    let series = &window.response_influence;
    if series.len() < ROUNDS {
        return false;
    }
    let rounds = crate::variance::group_means(series, ROUNDS);
    let centre = mean(&rounds);
    let largest = rounds.iter().copied().fold(f64::MIN, f64::max);
    let smallest = rounds.iter().copied().fold(f64::MAX, f64::min);
    // Least squares over -2, -1, 0, 1, 2, whose squares add up to 10.
    let slope = rounds
        .iter()
        .zip(-2i8..)
        .map(|(y, u)| f64::from(u) * y)
        .sum::<f64>()
        / 10.0;
    largest - smallest <= 0.2 * centre && slope.abs() * 4.0 <= 0.1 * centre
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(level: impl Fn(f64) -> f64, expected: DriftVerdict, snia: bool) {
        let noise = |i: usize| if i.is_multiple_of(2) { 0.01 } else { -0.01 };
        let series: Vec<f64> = (0..300)
            .map(|i| level(i as f64 / 300.0) + noise(i))
            .collect();
        let window = Window {
            slots: 0..300,
            throughput: vec![1.0; 300],
            width_ns: 1,
            mean_ns: mean(&series),
            rate: 1.0,
            completions: 300,
            response_influence: series,
        };
        let drift = Drift::of(&window, 0.03);
        assert_eq!(drift.verdict, expected, "{drift:?}");
        assert_eq!(is_steady_by_snia(&window), snia);
        assert!(drift.bound >= drift.total.abs());
    }

    #[test]
    fn trends_are_told_from_levels() {
        check(|_| 1.0, DriftVerdict::Steady, true);
        check(|u| 1.0 + 0.01 * u, DriftVerdict::Steady, true);
        check(|u| 1.0 + 0.08 * u, DriftVerdict::Drifting, true);
        check(|u| 1.0 + 0.3 * u, DriftVerdict::Drifting, false);
        check(|_| -1.0, DriftVerdict::Undecided, false);
    }
}
