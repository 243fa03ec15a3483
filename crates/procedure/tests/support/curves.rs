//! Whole load curves in virtual time.

use procedure::{CurveOptions, LoadCurve, Plan as _};
use results::{Arrivals, Curve, LevelOutcome, Measurement};
use units::Duration;
use workload::Pacing;

use super::{Bench, poisson, reads};

/// A load curve of closed clients and what it cost.
pub struct CurveRun {
    pub curve: Curve,
    pub operations: u64,
    pub elapsed: Duration,
    pub points: usize,
}

/// More points than any honest search needs.
const POINTS_MAX: usize = 400;

/// Measure a whole curve, everything drawn from `seed`.
pub fn run_curve(device: &str, pacing: Pacing, options: CurveOptions, seed: u64) -> CurveRun {
    run_adjusted_curve(device, pacing, options, seed, |_| {})
}

/// As `run_curve`, with every measurement `adjust`ed before the procedure sees it.
pub fn run_adjusted_curve(
    device: &str,
    pacing: Pacing,
    options: CurveOptions,
    seed: u64,
    adjust: impl Fn(&mut Measurement),
) -> CurveRun {
    let mut procedure = LoadCurve::new(options);
    let mut run = CurveRun {
        curve: procedure.curve("laboratory"),
        operations: 0,
        elapsed: Duration::ZERO,
        points: 0,
    };
    let mut bench = Bench::new(device, 1, pacing, 1.0);
    while let Some(plan) = procedure.next_step() {
        bench.trial.clients = plan.clients;
        let sources = plan.sources.map(|sources| poisson(sources.rate_each));
        bench.trial.spec = reads(sources.unwrap_or(pacing));
        bench.trial.goal = Some(plan.goal);
        bench.trial.duration_max = plan.duration_max;
        bench.trial.salt = plan.salt;
        let outcome = bench.run(seed);
        let mut measurement = outcome
            .measurement
            .unwrap_or_else(|error| panic!("seed {seed}: {plan:?}: {error}"));
        adjust(&mut measurement);
        run.operations += measurement.completions_all;
        run.elapsed += outcome.elapsed;
        run.points += 1;
        assert!(
            run.points <= POINTS_MAX,
            "seed {seed}: the search does not end: {plan:?}"
        );
        procedure.record(&plan, &measurement, outcome.elapsed);
    }
    run.curve = procedure.curve("laboratory");
    assert_numbers(&run.curve, seed);
    run
}

/// No estimate of the curve may be "not a number".
fn assert_numbers(curve: &Curve, seed: u64) {
    let mut numbers = Vec::new();
    let mut add = |estimate: &stats::Estimate| {
        numbers.extend([
            estimate.value,
            estimate.low,
            estimate.high,
            estimate.samples,
        ]);
    };
    for point in &curve.points {
        [Some(point.load), Some(point.response), point.response_p99]
            .iter()
            .flatten()
            .for_each(&mut add);
    }
    curve
        .saturation
        .iter()
        .for_each(|saturation| add(&saturation.load));
    for level in &curve.levels {
        match level.outcome {
            LevelOutcome::Reached { load, clients, .. } => {
                add(&load);
                if curve.arrivals == Arrivals::Closed {
                    add(&stats::Estimate::exact(clients, 1.0));
                }
            }
            LevelOutcome::Between { low, high } => {
                add(&stats::Estimate {
                    low,
                    high,
                    ..stats::Estimate::exact(low, 1.0)
                });
            }
            LevelOutcome::Exceeded { response } => add(&response),
            LevelOutcome::NotReached { load, response, .. } => {
                [load, response].iter().for_each(&mut add);
            }
        }
    }
    assert!(
        numbers.iter().all(|number| !number.is_nan()),
        "seed {seed}: NaN in {curve:#?}"
    );
}
