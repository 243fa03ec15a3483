//! The load curve on closed queues whose answers are known exactly: M/M/4//N, 5 ms of service, 50
//! ms of thinking, as in section 4.5 of the statistics notes.

#![allow(
    clippy::print_stdout,
    reason = "the tables are a product of these tests"
)]

use std::ops::RangeInclusive;

use crate::support::curves::{CurveRun, run_curve};
use crate::support::queues::ClosedQueue;
use crate::support::{Coverage, thinking};
use procedure::{CurveOptions, Levels};
use results::LevelOutcome;
use units::Duration;

const QUEUE: ClosedQueue = ClosedQueue {
    servers: 4,
    service_mean: 0.005,
    think_mean: 0.050,
};
const DEVICE: &str = "sim:mmc?servers=4&mean=5ms";
const LEVELS_MS: [u64; 3] = [8, 12, 20];
const CLIENTS_MAX: u32 = 80;

fn run(seed: u64) -> CurveRun {
    let options = CurveOptions {
        levels: Levels::Explicit(LEVELS_MS.map(Duration::from_millis).to_vec()),
        clients_max: CLIENTS_MAX,
        ..CurveOptions::default()
    };
    run_curve(DEVICE, thinking(Duration::from_millis(50)), options, seed)
}

/// What many curves of the same system came to.
struct Replications {
    levels: Vec<Coverage>,
    saturation: Coverage,
    unsettled: Vec<String>,
    imprecise: u64,
    operations: u64,
    seconds: f64,
    points: usize,
}

impl Replications {
    fn of(seeds: RangeInclusive<u64>) -> Self {
        let mut sum = Self {
            levels: LEVELS_MS
                .map(|ms| Coverage::of(format!("load at {ms} ms")))
                .to_vec(),
            saturation: Coverage::of("saturation"),
            unsettled: Vec::new(),
            imprecise: 0,
            operations: 0,
            seconds: 0.0,
            points: 0,
        };
        for seed in seeds {
            sum.add(&run(seed), seed);
        }
        sum.print();
        sum
    }

    fn add(&mut self, run: &CurveRun, seed: u64) {
        assert_eq!(run.curve.levels.len(), LEVELS_MS.len(), "seed {seed}");
        for (level, coverage) in run.curve.levels.iter().zip(&mut self.levels) {
            let truth = QUEUE.load_at(level.level_ns as f64 / 1e9, CLIENTS_MAX);
            match &level.outcome {
                LevelOutcome::Reached {
                    load, is_precise, ..
                } => {
                    coverage.add(load, truth, seed);
                    self.imprecise += u64::from(!is_precise);
                }
                other => self.unsettled.push(format!("seed {seed}: {other:?}")),
            }
        }
        let saturation = run.curve.saturation.expect("something was measured");
        self.saturation
            .add(&saturation.load, QUEUE.at(CLIENTS_MAX).0, seed);
        self.operations += run.operations;
        self.seconds += run.elapsed.as_secs_f64();
        self.points += run.points;
    }

    /// The notes' own simulation took 218,000 operations in 462 s and 20 points, without a point
    /// for saturation.
    fn print(&self) {
        let count = self.saturation.replications();
        println!(
            "{count} curves, each {} operations in {:.0} virtual seconds and {:.1} points; {} \
             levels imprecise; unsettled: {:?}",
            self.operations / count,
            self.seconds / count as f64,
            self.points as f64 / count as f64,
            self.imprecise,
            self.unsettled
        );
    }

    /// With all the time they want, curves of a stationary system must settle every level; one in
    /// a hundred may be wider than was asked for, where bending alone takes up the precision.
    fn check_settled(&self) {
        let levels = self.saturation.replications() * LEVELS_MS.len() as u64;
        assert!(self.unsettled.is_empty(), "{:?}", self.unsettled);
        let allowed = most_of(levels as f64 / 100.0);
        assert!(
            self.imprecise <= allowed,
            "{} of {levels} imprecise, at most {allowed}",
            self.imprecise
        );
    }
}

/// What a Poisson count of this mean exceeds once in a thousand times.
fn most_of(mean: f64) -> u64 {
    let mut term = (-mean).exp();
    let mut sum = term;
    let mut count = 0;
    while sum < 0.999 {
        count += 1;
        term *= mean / count as f64;
        sum += term;
    }
    count
}

#[test]
fn loads_at_levels_lie_in_their_intervals_in_fifteen_curves() {
    let found = Replications::of(1..=15);
    found.check_settled();
    found.levels.iter().for_each(Coverage::check);
    found.saturation.check();
    // The notes' 218,000 and a half: what the point of saturation and unlucky draws may add.
    assert!(
        found.operations / 15 <= 327_000,
        "{} operations",
        found.operations / 15
    );
}

/// The acceptance test of section 9. Its upper bound catches uselessly wide intervals.
#[test]
#[ignore = "nightly: takes minutes"]
fn loads_at_levels_lie_in_their_intervals_in_four_hundred_curves() {
    let found = Replications::of(1001..=1400);
    found.check_settled();
    found
        .levels
        .iter()
        .for_each(|level| level.check_band(0.910..=0.995));
    found.saturation.check_band(0.910..=0.995);
}
