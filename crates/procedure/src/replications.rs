//! Combines several trials of one load: means with intervals that cover the differences between
//! trials. Used for the rounds of a cell of random access, and for a batch workload started at
//! several sets of places.

use results::{Measurement, Severity, Warning, WarningCode};
use stats::{CONFIDENCE, Estimate, PercentileEstimate, Verdict, repeats_mean, student_t};

use crate::failures::{FAILED_OPERATIONS, Failures};

/// Minimum number of independent operations, or of operations in replications, to quote a number.
pub(crate) const CITABLE_SAMPLES: f64 = 200.0;
/// From this many rounds on, their spread determines the interval of their mean.
pub(crate) const REPLICATIONS_MIN: usize = 4;
/// A percentile needs this many independent operations beyond it. Below the second number it is
/// only indicative.
const EVIDENCE_MIN: f64 = 10.0;
const EVIDENCE_FULL: f64 = 20.0;
/// Warnings of single rounds that are judged over all rounds here.
const JUDGED_HERE: [WarningCode; 6] = [
    FAILED_OPERATIONS,
    WarningCode::TooShort,
    WarningCode::NotConverged,
    WarningCode::TooFewSamples,
    WarningCode::NotStationary,
    WarningCode::Correlated,
];

/// The mean of the rounds.
///
/// From [`REPLICATIONS_MIN`] rounds on, its interval is the wider of two: that of repeats, and that
/// implied by the intervals of the rounds, if any. It thus covers the long-run mean of storage that
/// changes between rounds. Fewer rounds cannot show how much it changes: their means widen the
/// implied interval, and if their intervals are disjoint, the result spans all of them.
pub(crate) fn over_rounds(rounds: &[Estimate]) -> Estimate {
    let [first, others @ ..] = rounds else {
        return Estimate::exact(f64::NAN, 0.0);
    };
    if others.is_empty() {
        return *first;
    }
    let count = rounds.len() as f64;
    let values: Vec<f64> = rounds.iter().map(|it| it.value).collect();
    let value = values.iter().sum::<f64>() / count;
    let are_replications = rounds.len() >= REPLICATIONS_MIN;
    let between = if are_replications {
        repeats_mean(&values).map_or(f64::INFINITY, |mean| mean.high - mean.value)
    } else {
        let squares = values.iter().map(|it| (it - value).powi(2));
        let error = (squares.sum::<f64>() / (count - 1.0) / count).sqrt();
        student_t(0.5 + CONFIDENCE / 2.0, f64::INFINITY) * error
    };
    let within = |side: fn(&Estimate) -> f64| {
        let squares = rounds.iter().map(|it| side(it).powi(2));
        let half = squares.sum::<f64>().sqrt() / count;
        let is_promised = half.is_finite() || !are_replications;
        if is_promised { half } else { 0.0 }
    };
    let mut low = value - between.max(within(|it| it.value - it.low));
    let mut high = value + between.max(within(|it| it.high - it.value));
    if !are_replications && !agree(rounds) {
        low = rounds.iter().map(|it| it.low).fold(low, f64::min);
        high = rounds.iter().map(|it| it.high).fold(high, f64::max);
    }
    Estimate {
        value,
        low: low.max(0.0),
        high,
        confidence: CONFIDENCE,
        samples: rounds.iter().map(|it| it.samples).sum(),
    }
}

/// A percentile over all rounds, if they have enough samples together. Every round counts, however
/// few samples it has: without unstable rounds a percentile would be too low, and inconsistent with
/// the others.
pub(crate) fn percentile(rounds: &[&[PercentileEstimate]], p: f64) -> PercentileEstimate {
    let of_rounds = rounds.iter().flat_map(|round| *round);
    let of_rounds: Vec<&PercentileEstimate> =
        of_rounds.filter(|it| (it.p - p).abs() < 1e-9).collect();
    let evidence = of_rounds.iter().map(|it| it.evidence).sum();
    let known: Vec<Estimate> = of_rounds.iter().filter_map(|it| it.estimate).collect();
    let combined = (known.len() == rounds.len()).then(|| over_rounds(&known));
    PercentileEstimate {
        p,
        estimate: combined.map(|all| bearing(evidence, all)),
        is_indicative: evidence < EVIDENCE_FULL,
        evidence,
    }
}

fn bearing(evidence: f64, estimate: Estimate) -> Estimate {
    if evidence >= EVIDENCE_MIN {
        estimate
    } else {
        estimate.without_interval()
    }
}

/// Mean over the rounds with known values, weighted by operations.
pub(crate) fn by_operations(
    rounds: &[Measurement],
    of: fn(&Measurement) -> Option<f64>,
) -> Option<f64> {
    let values: Option<Vec<f64>> = rounds.iter().map(of).collect();
    let weights = || rounds.iter().map(|round| round.completions_all as f64);
    let sum: f64 = values?
        .iter()
        .zip(weights())
        .map(|(value, weight)| value * weight)
        .sum();
    Some(sum / weights().sum::<f64>().max(1.0))
}

/// Warnings of the rounds, each code once, without those that are judged over all rounds. A round
/// that failed completely makes the cell invalid, however short it was.
pub(crate) fn warnings_of(
    title: &str,
    rounds: &[Measurement],
    failed: &[Measurement],
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    let mut failures = Failures::default();
    rounds.iter().chain(failed).for_each(|it| failures.add(it));
    if let Some(mut warning) = failures.warning(title) {
        if !failed.is_empty() {
            warning.severity = Severity::Invalid;
        }
        warnings.push(warning);
    }
    for warning in rounds.iter().flat_map(|round| &round.warnings) {
        let is_known = warnings.iter().any(|known| known.code == warning.code);
        if !is_known && !JUDGED_HERE.contains(&warning.code) {
            warnings.push(warning.clone());
        }
    }
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    warnings
}

/// The reciprocal of an estimate. Rates are averaged as gaps between completions, so that every
/// round has the same weight in the mean time and in the rate, and the two are consistent.
pub(crate) fn inverse(estimate: Estimate) -> Estimate {
    let over = |value: f64| {
        if value > 0.0 {
            1.0 / value
        } else {
            f64::INFINITY
        }
    };
    Estimate {
        value: over(estimate.value),
        low: over(estimate.high),
        high: over(estimate.low),
        ..estimate
    }
}

/// Whether all intervals overlap.
pub(crate) fn agree(rounds: &[Estimate]) -> bool {
    let low = rounds.iter().map(|it| it.low).fold(0.0, f64::max);
    let high = rounds.iter().map(|it| it.high);
    low <= high.fold(f64::INFINITY, f64::min)
}

/// Whether fewer than half of the rounds ended that way.
pub(crate) fn are_few(rounds: impl Iterator<Item = Verdict>, verdict: Verdict) -> bool {
    let (mut all, mut found) = (0, 0);
    for round in rounds {
        all += 1;
        found += usize::from(round == verdict);
    }
    2 * found < all
}

pub(crate) fn errors(rounds: &[Measurement]) -> u64 {
    rounds.iter().map(Measurement::errors_total).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate {
            low,
            high,
            ..Estimate::exact(value, 300.0)
        }
    }

    #[test]
    fn rounds_that_agree_narrow_the_interval() {
        let found = over_rounds(&[estimate(96.0, 100.0, 104.0), estimate(96.0, 100.0, 104.0)]);
        assert_eq!((found.value, found.samples), (100.0, 600.0));
        let half = (32.0_f64).sqrt() / 2.0;
        assert!((found.high - 100.0 - half).abs() < 1e-9, "{found:?}");
        assert!((100.0 - found.low - half).abs() < 1e-9, "{found:?}");
    }

    /// From four rounds on, their spread determines the interval of the mean, whatever each
    /// implies.
    #[test]
    fn many_rounds_that_disagree_narrow_the_interval_again() {
        let round = |value: f64| estimate(value - 1.0, value, value + 1.0);
        let four = [90.0, 110.0, 95.0, 105.0].map(round);
        let eight = [four, four].concat();
        let (four, eight) = (over_rounds(&four), over_rounds(&eight));
        // Standard deviation 9.129, error 4.564, times 3.182.
        assert!((four.high - 114.53).abs() < 0.01, "{four:?}");
        assert!(eight.high < 108.0 && eight.low > 92.0, "{eight:?}");
        let unknown = [90.0, 110.0, 95.0, 105.0].map(|it| estimate(0.0, it, f64::INFINITY));
        assert!((over_rounds(&unknown).high - 114.53).abs() < 0.01);
    }

    #[test]
    fn a_percentile_needs_evidence_from_all_rounds_together() {
        let round = |evidence: f64, values: &[(f64, f64)]| -> Vec<PercentileEstimate> {
            let values = values.iter().map(|&(p, value)| PercentileEstimate {
                p,
                estimate: Some(estimate(value * 0.9, value, value * 1.1)),
                is_indicative: true,
                evidence,
            });
            values.collect()
        };
        let fast = round(6.0, &[(0.5, 10.0), (0.95, 20.0), (0.99, 30.0)]);
        let slow = round(5.0, &[(0.5, 30.0), (0.95, 60.0)]);
        let found = |rounds: &[&[PercentileEstimate]], p| {
            let found = percentile(rounds, p);
            assert!(found.is_indicative);
            found.estimate.map(|it| it.value)
        };
        let both = [fast.as_slice(), slow.as_slice()];
        assert_eq!(
            (found(&both, 0.5), found(&both, 0.95)),
            (Some(20.0), Some(40.0))
        );
        assert_eq!(
            found(&both, 0.99),
            None,
            "30 of the fast round alone lie below the rest"
        );
        let alone = percentile(&both[..1], 0.5).estimate.expect("a value");
        assert!(!alone.is_bounded(), "one round alone shows too little");
    }

    /// One operation in 1 ms and one in 3 ms are two in 4 ms, not one in 1.5 ms.
    #[test]
    fn rates_fit_the_mean_time() {
        let rates = [1000.0, 1000.0 / 3.0].map(|rate| estimate(rate * 0.9, rate, rate * 1.1));
        let rate = inverse(over_rounds(&rates.map(inverse)));
        assert!((rate.value - 500.0).abs() < 1e-9, "{rate:?}");
        assert!(rate.low <= 300.0 && rate.high >= 1100.0, "{rate:?}");
        let unknown = inverse(estimate(0.0, 10.0, f64::INFINITY));
        assert_eq!((unknown.low, unknown.high), (0.0, f64::INFINITY));
    }

    #[test]
    fn a_later_round_can_outweigh_an_unsteady_one() {
        use Verdict::{Converged, NotStationary};
        let check = |rounds: &[Verdict]| are_few(rounds.iter().copied(), NotStationary);
        assert!(check(&[Converged, Converged]));
        assert!(!check(&[NotStationary, Converged]));
        assert!(check(&[NotStationary, Converged, Converged]));
        assert!(!check(&[NotStationary]));
    }
}
