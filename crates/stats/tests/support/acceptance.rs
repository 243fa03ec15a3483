//! Runs the stopping rule on a process until it stops, and asks whether its intervals cover.

use stats::{
    Aim, Channel, Goal, Slot, SlotAccumulator, SlotStore, evaluate, percentiles, quantile_interval,
};

use super::closed_loop::ClosedLoop;
use super::processes::{Process, Series};
use super::table::Table;
use super::{PER_SLOT, UNIT_NS, replicate, share};

/// A percentile and the normal quantile that belongs to it.
pub const PERCENTILES: [(f64, f64); 4] = [
    (0.5, 0.0),
    (0.95, 1.644_853_627),
    (0.99, 2.326_347_874),
    (0.999, 3.090_232_306),
];

/// Whether the percentiles are judged too. Bins cost time.
#[derive(Clone, Copy, PartialEq)]
pub enum Judge {
    Means,
    MeansAndPercentiles,
}

/// What one replication gave, per precision.
pub struct Outcome {
    pub covered: Vec<bool>,
    pub completions: Vec<u64>,
    /// At the stop of the first precision.
    pub percentiles_covered: Vec<bool>,
}

/// The goal of a result without the floor on time: virtual seconds mean nothing here.
pub fn goal(precision: f64) -> Goal {
    Goal {
        duration_min_ns: 0,
        ..Goal::result(precision)
    }
}

/// Completions after which a replication is judged as it stands.
fn completions_max(precision: f64) -> u64 {
    if precision > 0.05 {
        1_600_000
    } else {
        6_500_000
    }
}

fn next_slot(series: &mut Series, with: &mut SlotAccumulator, epoch: u64, judge: Judge) -> Slot {
    let mut slot = Slot::empty(epoch);
    for _ in 0..PER_SLOT {
        let nanos = (series.next_time().max(0.0) * UNIT_NS) as u64;
        if judge == Judge::MeansAndPercentiles {
            with.record(nanos, 0, 0, 0);
        } else {
            slot.response.record_moments(nanos);
        }
    }
    if judge == Judge::MeansAndPercentiles {
        with.take(epoch)
    } else {
        slot
    }
}

/// Runs one replication through all `precisions`, the tightest first.
pub fn run(process: &Process, precisions: &[f64], judge: Judge, replication: u64) -> Outcome {
    let mut series = process.start(replication);
    let mut accumulator = SlotAccumulator::new();
    let mut store = SlotStore::with_grouping(25_000_000, 0, 1);
    let mut outcome = Outcome {
        covered: vec![false; precisions.len()],
        completions: vec![0; precisions.len()],
        percentiles_covered: Vec::new(),
    };
    let truth = process.mean() * UNIT_NS;
    for epoch in 0.. {
        store.push(next_slot(&mut series, &mut accumulator, epoch, judge));
        if !store.look_due() {
            continue;
        }
        let completions = (epoch + 1) * PER_SLOT;
        for (i, &precision) in precisions.iter().enumerate() {
            if outcome.completions[i] > 0 {
                continue;
            }
            let found = evaluate(&store, Channel::Response, &goal(precision)).expect("64 slots");
            if found.is_converged || completions > completions_max(precision) {
                outcome.completions[i] = completions;
                outcome.covered[i] = found.mean.contains(truth);
                if i == 0 && judge == Judge::MeansAndPercentiles {
                    let covers = |&(p, z): &(f64, f64)| {
                        let interval = quantile_interval(&store, Channel::Response, &found, p)
                            .expect("there are completions");
                        // Times are cut to whole nanoseconds.
                        let truth = process.quantile(p, z) * UNIT_NS;
                        interval.low - 1.0 <= truth && truth <= interval.high + 1.0
                    };
                    outcome.percentiles_covered = PERCENTILES.iter().map(covers).collect();
                }
            }
        }
        if outcome.completions.iter().all(|&stop| stop > 0) {
            return outcome;
        }
    }
    unreachable!("epochs do not end")
}

/// Runs one replication until the percentile `p`, to which the normal's `z` belongs, is known to
/// `precision`: whether its interval, as it is printed, covers, and after how many completions.
pub fn run_to_percentile(
    process: &Process,
    (p, z): (f64, f64),
    precision: f64,
    replication: u64,
) -> (bool, u64) {
    let goal = Goal {
        aim: Aim::Percentile(p),
        ..goal(precision)
    };
    let mut series = process.start(replication);
    let mut accumulator = SlotAccumulator::new();
    let mut store = SlotStore::with_grouping(25_000_000, 0, 1);
    for epoch in 0.. {
        let judge = Judge::MeansAndPercentiles;
        store.push(next_slot(&mut series, &mut accumulator, epoch, judge));
        if !store.look_due() {
            continue;
        }
        let found = evaluate(&store, Channel::Response, &goal).expect("64 slots");
        if found.is_converged {
            let printed = percentiles(&store, Channel::Response, &found, &[p])[0];
            let interval = printed.estimate.expect("a value");
            assert!(!printed.is_indicative && interval.relative_half_width() <= precision);
            let truth = process.quantile(p, z) * UNIT_NS;
            let covers = interval.low - 1.0 <= truth && truth <= interval.high + 1.0;
            return (covers, (epoch + 1) * PER_SLOT);
        }
    }
    unreachable!("epochs do not end")
}

/// Mean of completions, in thousands.
pub fn thousands(completions: impl Iterator<Item = u64>) -> f64 {
    let (count, sum) = completions.fold((0u64, 0u64), |(n, sum), x| (n + 1, sum + x));
    sum as f64 / count as f64 / 1e3
}

/// Most thousand completions that the rule may take on average (section 9, "efficiency"); NaN
/// where the long-run variance is not known.
pub fn allowance(process: &Process, precision: f64) -> f64 {
    let of_precision =
        (1.96 / precision).powi(2) * process.long_run_variance() / process.mean().powi(2);
    let of_samples = goal(precision).samples_min * process.long_run_variance() / process.variance();
    if of_precision.is_nan() {
        return f64::NAN;
    }
    1.75 * of_precision.max(of_samples).max(6400.0) / 1e3
}

/// Coverage of response time and throughput of a closed system, and mean completions (1000s).
pub fn closed_loop(system: &ClosedLoop, goal: &Goal, replications: u64) -> (f64, f64, f64) {
    let (rate, response_ms) = system.truth();
    let outcomes = replicate(replications, |replication| {
        let mut outcome = (false, false, 0);
        system.run_into_store(replication, 1_000_000, |store, completions| {
            let found = evaluate(store, Channel::Response, goal).expect("64 slots");
            outcome = (
                found.mean.contains(response_ms * 1e6),
                found.throughput.contains(rate),
                completions,
            );
            !found.is_converged && completions < 3_000_000
        });
        outcome
    });
    (
        share(outcomes.iter().map(|o| o.0)),
        share(outcomes.iter().map(|o| o.1)),
        thousands(outcomes.iter().map(|o| o.2)),
    )
}

/// Adds both coverages of a closed system to the table.
pub fn closed_loop_cells(
    table: &mut Table,
    system: &ClosedLoop,
    precision: f64,
    replications: u64,
    band: std::ops::RangeInclusive<f64>,
) {
    let (response, rate, thousand) = closed_loop(system, &goal(precision), replications);
    let name = format!("{} r {precision:.2}", system.name);
    let note = format!("{thousand:.1}k I/Os");
    table.cell(&format!("{name} response"), response, band.clone(), &note);
    table.cell(&format!("{name} throughput"), rate, band, &note);
}
