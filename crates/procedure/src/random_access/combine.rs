//! Combines the rounds of a cell: means with intervals that cover the differences between rounds.

use results::{Measurement, RandomCell, Times, shares};
use stats::{CONFIDENCE, Estimate, PercentileEstimate, Verdict, student_t};

use super::MeasuredCell;
use super::shape::CellPlan;
use crate::replications::{
    CITABLE_SAMPLES, REPLICATIONS_MIN, agree, are_few, by_operations, errors, inverse, over_rounds,
    percentile, warnings_of,
};

/// Probability that the rounds of a stable cell are reported to differ.
const FALSE_ALARMS: f64 = 0.001;

/// The combined result of a cell's rounds; `None` before the first. Rounds in which every operation
/// failed have no times and are counted separately.
pub(super) fn cell_of(cell: &MeasuredCell, precision: f64) -> Option<RandomCell> {
    let MeasuredCell {
        plan,
        rounds,
        failed,
        ..
    } = cell;
    if rounds.is_empty() {
        return all_failed(plan, failed);
    }
    let means: Vec<Estimate> = rounds.iter().map(|round| round.service.mean).collect();
    let mean = over_rounds(&means);
    let gaps = rounds.iter().map(|round| inverse(round.throughput));
    let gaps: Vec<Estimate> = gaps.collect();
    let times: Vec<&Times> = rounds.iter().map(|round| &round.service).collect();
    let quantiles: Vec<&[PercentileEstimate]> = rounds
        .iter()
        .map(|round| round.service_quantiles.as_slice())
        .collect();
    let operations = rounds.iter().map(|round| round.completions_all).sum();
    // The interval of replications does not depend on those of the rounds.
    let are_replications = rounds.len() >= REPLICATIONS_MIN;
    let few = |verdict| are_few(rounds.iter().map(|round| round.verdict), verdict);
    Some(RandomCell {
        kind: plan.kind,
        span_bytes: plan.span,
        block_bytes: plan.block,
        depth: plan.depth,
        service: Times {
            mean,
            percentiles: shares()
                .into_iter()
                .map(|p| percentile(&quantiles, p))
                .collect(),
            min_ns: times.iter().map(|it| it.min_ns).min().unwrap_or(0),
            max_ns: times.iter().map(|it| it.max_ns).max().unwrap_or(0),
        },
        throughput: inverse(over_rounds(&gaps)),
        page_cache_share: by_operations(rounds, |round| round.page_cache_share),
        cpu_per_operation_ns: by_operations(rounds, |round| {
            round.cpu.map(|cost| cost.per_operation_ns)
        }),
        operations,
        errors: errors(rounds) + errors(failed),
        rounds_agree: are_alike(&means),
        is_precise: mean.relative_half_width() <= precision
            && (are_replications || few(Verdict::Correlated)),
        is_citable: (mean.samples >= CITABLE_SAMPLES
            || are_replications && operations as f64 >= CITABLE_SAMPLES)
            && few(Verdict::NotStationary),
        rounds: means,
        warnings: warnings_of(&plan.title(), rounds, failed),
    })
}

/// A cell in which no operation succeeded: no time, and by the rule of three at most a few
/// operations per second.
fn all_failed(plan: &CellPlan, failed: &[Measurement]) -> Option<RandomCell> {
    let first = failed.first()?;
    let longest = failed.iter().map(|round| round.duration_ns).sum::<u64>();
    let high = first.throughput.high * first.duration_ns as f64 / longest.max(1) as f64;
    Some(RandomCell {
        kind: plan.kind,
        span_bytes: plan.span,
        block_bytes: plan.block,
        depth: plan.depth,
        service: Times {
            mean: over_rounds(&[]),
            percentiles: Vec::new(),
            min_ns: 0,
            max_ns: 0,
        },
        throughput: Estimate {
            high,
            ..first.throughput
        },
        page_cache_share: None,
        cpu_per_operation_ns: None,
        operations: 0,
        errors: errors(failed),
        rounds: Vec::new(),
        rounds_agree: true,
        is_precise: false,
        is_citable: false,
        warnings: warnings_of(&plan.title(), &[], failed),
    })
}

/// Whether the intervals of the rounds cover their differences.
pub(super) fn promise_enough(rounds: &[Estimate]) -> bool {
    agree(rounds) && rounds.iter().all(Estimate::is_bounded)
}

/// Whether all pairs of rounds agree within their noise. The error rate is one in a thousand cells:
/// 95 % intervals would be too narrow, since all pairs of rounds of all cells are tested.
fn are_alike(rounds: &[Estimate]) -> bool {
    let pairs = (rounds.len() * rounds.len().saturating_sub(1) / 2).max(1);
    let limit = student_t(1.0 - 0.5 * FALSE_ALARMS / pairs as f64, f64::INFINITY);
    let widths = limit / student_t(0.5 + CONFIDENCE / 2.0, f64::INFINITY);
    let is_pair_alike = |one: &Estimate, other: &Estimate| {
        let (low, high) = match one.value <= other.value {
            true => (one, other),
            false => (other, one),
        };
        let noise = (low.high - low.value).hypot(high.value - high.low);
        high.value - low.value <= widths * noise
    };
    let after = |index: usize| &rounds[index + 1..];
    let mut firsts = rounds.iter().enumerate();
    firsts.all(|(index, one)| after(index).iter().all(|it| is_pair_alike(one, it)))
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

    /// Two precise rounds that differ a little: the interval spans their difference.
    #[test]
    fn what_the_rounds_differ_by_widens_it() {
        let rounds = [estimate(99.0, 100.0, 103.0), estimate(103.0, 104.0, 105.0)];
        let found = over_rounds(&rounds);
        assert!(agree(&rounds) && are_alike(&rounds));
        assert!(found.low < 100.0 && found.high > 104.0, "{found:?}");
    }

    #[test]
    fn rounds_that_disagree_are_all_inside() {
        let rounds = [estimate(99.0, 100.0, 101.0), estimate(190.0, 200.0, 210.0)];
        let found = over_rounds(&rounds);
        assert!(!agree(&rounds) && !are_alike(&rounds));
        assert!(found.low <= 99.0 && found.high >= 210.0, "{found:?}");
    }

    #[test]
    fn a_round_without_a_bound_gives_none() {
        let rounds = [
            estimate(0.0, 100.0, f64::INFINITY),
            estimate(99.0, 100.0, 101.0),
        ];
        assert_eq!(over_rounds(&rounds).high, f64::INFINITY);
        assert!(agree(&rounds) && are_alike(&rounds));
    }
}
