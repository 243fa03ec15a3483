//! Properties of repeats besides their mean: drift, and two groups of values.
//!
//! The common judge of passes over files and transfers, of runs of commands, and of the repeats of
//! a study's cell. Outliers are found by [`stats::outliers`].

use results::{Warning, WarningCode};
use units::format_duration_ns;

/// Minimum number of repeats to compare their halves.
const DRIFT_REPEATS: usize = 8;
/// Halves that differ by this many standard errors ...
const DRIFT_ERRORS: f64 = 4.0;
/// ... and by this share of the first half do not have a common mean.
const DRIFT_MIN: f64 = 0.05;
/// Minimum number of repeats to look for two groups ...
const KINDS_REPEATS: usize = 10;
/// ... of which the smaller one must have at least this many repeats ...
const KIND_MIN: usize = 3;
/// ... and this share of all.
const KIND_SHARE: f64 = 0.05;
/// The slower group must take at least this many times as long, an octave, as for two modes of a
/// trial ...
const KINDS_APART: f64 = 2.0;
/// ... and be separated by this many of its own and the other's standard deviations, on a
/// logarithmic scale. The best split of many uniform times is 3.5 apart, of normal ones 2.7. With
/// ten repeats, chance doubles that in one series of a few hundred.
const KINDS_DEVIATIONS: f64 = 8.0;

/// How far the later half of the repeats lies above the earlier half, as a share, if significant
/// and not small.
pub(crate) fn drift(values: &[f64]) -> Option<f64> {
    if values.len() < DRIFT_REPEATS {
        return None;
    }
    let (first, second) = values.split_at(values.len() / 2);
    let [(early, early_error), (late, late_error)] = [first, second].map(|half| {
        let (mean, squares) = moments(half);
        (mean, squares / (half.len() - 1) as f64 / half.len() as f64)
    });
    let error = (early_error + late_error).sqrt();
    let change = late - early;
    let is_beyond_chance = change.abs() > DRIFT_ERRORS * error;
    (is_beyond_chance && change.abs() > DRIFT_MIN * early).then(|| change / early)
}

/// Repeats in two groups with different means. The overall mean describes neither.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TwoKinds {
    pub fast: f64,
    pub slow: f64,
    /// Share of the repeats in the slow group.
    pub slow_share: f64,
}

impl TwoKinds {
    /// The two groups of positive values, if there are two: the split with the smallest variance
    /// within both, if they are far enough apart.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count < KINDS_REPEATS || !values.iter().all(|it| *it > 0.0 && it.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let logs: Vec<f64> = sorted.iter().map(|it| it.ln()).collect();
        let least = KIND_MIN.max((KIND_SHARE * count as f64).ceil() as usize);
        let within = |at: usize| moments(&logs[..at]).1 + moments(&logs[at..]).1;
        let splits = least..=count.saturating_sub(least);
        let at = splits.min_by(|a, b| within(*a).total_cmp(&within(*b)))?;
        let apart = moments(&logs[at..]).0 - moments(&logs[..at]).0;
        let deviation = (within(at) / (count - 2) as f64).sqrt();
        let is_two = apart >= KINDS_APART.ln() && apart >= KINDS_DEVIATIONS * deviation;
        is_two.then(|| Self {
            fast: moments(&sorted[..at]).0,
            slow: moments(&sorted[at..]).0,
            slow_share: (count - at) as f64 / count as f64,
        })
    }

    /// The warning about the mean time, in seconds, of `subject`.
    pub fn warning(&self, subject: &str) -> Warning {
        Warning::warn(
            WarningCode::TwoModes,
            format!(
                "{subject}: run times are bimodal, {} and {} ({:.0} % of runs). The mean \
                 describes neither.",
                format_duration_ns(1e9 * self.fast),
                format_duration_ns(1e9 * self.slow),
                100.0 * self.slow_share,
            ),
        )
        .advise("Find out what differs, and measure each case separately.")
    }
}

/// The mean, and the sum of squared deviations from it.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|it| (it - mean).powi(2)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::{Purpose, Stream};

    type Law = fn(&mut Stream) -> f64;

    fn normal(stream: &mut Stream) -> f64 {
        (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0
    }

    /// Bug: a command that took 10 and 200 ms by turns was "sound, 116 ms".
    #[test]
    fn ten_and_two_hundred_by_turns_are_two_kinds() {
        let turns: Vec<f64> = (0..20)
            .map(|at| if at % 2 == 0 { 0.010 } else { 0.200 } * (1.0 + 0.001 * f64::from(at)))
            .collect();
        let found = TwoKinds::of(&turns).expect("two kinds");
        assert!(
            (found.fast - 0.01).abs() < 3e-4 && (found.slow - 0.2).abs() < 5e-3,
            "{found:?}"
        );
        assert_eq!(found.slow_share, 0.5);
        assert_eq!(TwoKinds::of(&turns[..4]), None, "too few to tell");
        // A single slow repeat is an outlier, not a group.
        let mut one = vec![0.01; 19];
        one.push(0.2);
        assert_eq!(TwoKinds::of(&one), None);
    }

    #[test]
    fn repeats_of_one_kind_are_seldom_said_to_be_two() {
        let laws: [(&str, Law); 4] = [
            ("normal", |it| 1.0 + 0.1 * normal(it)),
            ("uniform", |it| 0.1 + it.unit()),
            ("lognormal", |it| normal(it).exp()),
            ("exponential", |it| -(1.0 - it.unit()).ln() + 1e-9),
        ];
        for (name, law) in laws {
            let false_alarms = (0..2000_u64).filter(|&seed| {
                let mut stream = Stream::new(seed, 0, Purpose::Demand);
                let count = [10, 13, 30, 100][seed as usize % 4];
                let values: Vec<f64> = (0..count).map(|_| law(&mut stream)).collect();
                TwoKinds::of(&values).is_some()
            });
            let share = false_alarms.count() as f64 / 2000.0;
            assert!(share <= 0.005, "{name}, seeds from 0: {share}");
        }
    }

    #[test]
    fn a_later_half_that_is_slower_is_a_drift() {
        let moves = |by: f64| {
            let values: Vec<f64> = (0..16)
                .map(|at| 1.0 + by * f64::from(at / 8) + 0.01 * f64::from(at % 3))
                .collect();
            drift(&values)
        };
        assert!(moves(0.2).is_some_and(|it| (it - 0.2).abs() < 0.02));
        assert_eq!((moves(0.02), drift(&[1.0, 2.0])), (None, None));
    }
}
