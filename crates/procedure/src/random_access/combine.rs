//! The rounds of a cell as one: means with intervals that hold what the rounds differ by.

use results::{Measurement, RandomCell, Times, Warning};
use stats::{CONFIDENCE, Estimate, PercentileEstimate, Verdict, student_t};

use super::shape::CellPlan;
use crate::monitor::PERCENTILES;

/// Below this many independent operations no number should be quoted.
const CITABLE_SAMPLES: f64 = 200.0;
/// A percentile with fewer independent operations beyond it is indicative only.
const EVIDENCE_FULL: f64 = 20.0;
/// Doubts of single rounds that are judged over all rounds here.
const JUDGED_HERE: [&str; 2] = ["not-converged", "not-citable"];

/// What the rounds of a cell say together; `None` before the first.
pub(super) fn cell_of(
    plan: &CellPlan,
    rounds: &[Measurement],
    precision: f64,
) -> Option<RandomCell> {
    if rounds.is_empty() {
        return None;
    }
    let means: Vec<Estimate> = rounds.iter().map(|round| round.service.mean).collect();
    let mean = over_rounds(&means);
    let rates: Vec<Estimate> = rounds.iter().map(|round| round.throughput).collect();
    let times = rounds.iter().map(|round| &round.service);
    let is_correlated = |round: &Measurement| round.verdict == Verdict::Correlated;
    let is_steady = |round: &Measurement| round.verdict != Verdict::NotStationary;
    Some(RandomCell {
        kind: plan.kind,
        span_bytes: plan.span,
        block_bytes: plan.block,
        depth: plan.depth,
        service: Times {
            mean,
            percentiles: PERCENTILES.map(|p| percentile(rounds, p)).to_vec(),
            min_ns: times.clone().map(|it| it.min_ns).min().unwrap_or(0),
            max_ns: times.map(|it| it.max_ns).max().unwrap_or(0),
        },
        throughput: over_rounds(&rates),
        page_cache_share: by_operations(rounds, |round| round.page_cache_share),
        cpu_per_operation_ns: by_operations(rounds, |round| {
            round.cpu.map(|cost| cost.per_operation_ns)
        }),
        operations: rounds.iter().map(|round| round.completions_all).sum(),
        errors: rounds.iter().map(Measurement::errors_total).sum(),
        rounds_agree: agree(&means),
        is_precise: is_narrow(&mean, precision) && !rounds.iter().any(is_correlated),
        is_citable: mean.samples >= CITABLE_SAMPLES && rounds.iter().all(is_steady),
        rounds: means,
        warnings: warnings_of(rounds),
    })
}

/// Whether another round may help: its interval is wide or rests on little, and the rounds agree;
/// those that differ will differ still.
pub(super) fn wants_more(cell: &RandomCell, precision: f64) -> bool {
    let mean = cell.service.mean;
    let is_enough = is_narrow(&mean, precision) && mean.samples >= CITABLE_SAMPLES;
    cell.rounds_agree && !is_enough
}

fn is_narrow(mean: &Estimate, precision: f64) -> bool {
    mean.relative_half_width() <= precision
}

/// Whether the intervals have a point in common.
fn agree(rounds: &[Estimate]) -> bool {
    let low = rounds.iter().map(|it| it.low).fold(0.0, f64::max);
    let high = rounds.iter().map(|it| it.high);
    low <= high.fold(f64::INFINITY, f64::min)
}

/// The mean of the rounds. Its variance is the larger one of what the intervals of the rounds
/// promise and what their means show; where the intervals have no point in common, the interval
/// spans all of them.
fn over_rounds(rounds: &[Estimate]) -> Estimate {
    let [first, others @ ..] = rounds else {
        return Estimate::exact(f64::NAN, 0.0);
    };
    if others.is_empty() {
        return *first;
    }
    let count = rounds.len() as f64;
    let value = rounds.iter().map(|it| it.value).sum::<f64>() / count;
    let squares = rounds.iter().map(|it| (it.value - value).powi(2));
    let between = (squares.sum::<f64>() / (count - 1.0) / count).sqrt();
    let between = student_t(0.5 + CONFIDENCE / 2.0, f64::INFINITY) * between;
    let within = |side: fn(&Estimate) -> f64| {
        let squares = rounds.iter().map(|it| side(it).powi(2));
        squares.sum::<f64>().sqrt() / count
    };
    let mut low = value - between.max(within(|it| it.value - it.low));
    let mut high = value + between.max(within(|it| it.high - it.value));
    if !agree(rounds) {
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

/// A percentile of the rounds that bear one; indicative where some do not.
fn percentile(rounds: &[Measurement], p: f64) -> PercentileEstimate {
    let of_rounds = rounds.iter().flat_map(|round| &round.service.percentiles);
    let of_rounds: Vec<&PercentileEstimate> =
        of_rounds.filter(|it| (it.p - p).abs() < 1e-9).collect();
    let evidence = of_rounds.iter().map(|it| it.evidence).sum();
    let known: Vec<Estimate> = of_rounds.iter().filter_map(|it| it.estimate).collect();
    PercentileEstimate {
        p,
        estimate: (!known.is_empty()).then(|| over_rounds(&known)),
        is_indicative: evidence < EVIDENCE_FULL || known.len() < rounds.len(),
        evidence,
    }
}

/// The mean of what is known of every round, each with the weight of its operations.
fn by_operations(rounds: &[Measurement], of: fn(&Measurement) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = rounds.iter().map(of).collect();
    let weights = || rounds.iter().map(|round| round.completions_all as f64);
    let sum: f64 = values?
        .iter()
        .zip(weights())
        .map(|(value, weight)| value * weight)
        .sum();
    Some(sum / weights().sum::<f64>().max(1.0))
}

/// What was said of the rounds, each kind once. What is judged over all rounds is said of all cells
/// together.
fn warnings_of(rounds: &[Measurement]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in rounds.iter().flat_map(|round| &round.warnings) {
        let is_known = warnings.iter().any(|known| known.code == warning.code);
        if !is_known && !JUDGED_HERE.contains(&warning.code.as_str()) {
            warnings.push(warning.clone());
        }
    }
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    warnings
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

    /// Two precise rounds that differ a little: what they differ by is the interval.
    #[test]
    fn what_the_rounds_differ_by_widens_it() {
        let rounds = [estimate(99.0, 100.0, 103.0), estimate(103.0, 104.0, 105.0)];
        let found = over_rounds(&rounds);
        assert!(agree(&rounds));
        assert!(found.low < 100.0 && found.high > 104.0, "{found:?}");
    }

    #[test]
    fn rounds_that_disagree_are_all_inside() {
        let rounds = [estimate(99.0, 100.0, 101.0), estimate(190.0, 200.0, 210.0)];
        let found = over_rounds(&rounds);
        assert!(!agree(&rounds));
        assert!(found.low <= 99.0 && found.high >= 210.0, "{found:?}");
    }

    #[test]
    fn a_round_without_a_bound_gives_none() {
        let rounds = [
            estimate(0.0, 100.0, f64::INFINITY),
            estimate(99.0, 100.0, 101.0),
        ];
        assert_eq!(over_rounds(&rounds).high, f64::INFINITY);
        assert!(agree(&rounds));
    }
}
