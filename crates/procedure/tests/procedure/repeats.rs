//! Whatever repeats ends by one rule, and its interval holds the truth as often as it says: also
//! where precision ended the repeats, and where each resembles the one before it.

#![allow(
    clippy::print_stdout,
    reason = "the coverages are a product of this test"
)]

use std::collections::BTreeMap;

use crate::support::{Coverage, run_trial};
use procedure::study::{StudyShape, analyse, is_precise};
use procedure::{
    DeviceRead, FileCell, FilePlayed, FileStep, FilesPlan, FilesProcedure, PassCount, Plan as _,
    RandomOptions, RandomProcedure, RandomShape, RoundOrder, Rounds, RoundsRule, TimingProcedure,
    TimingStep, file_test, rate_over, summarise_command,
};
use random::{Purpose, Stream};
use results::{
    Access, Better, FilePass, FileState, FileSystemRole, RandomKind, Reading, StudyReplicate,
    TimedRun, Unit,
};
use sim::SimSpec;
use stats::{Estimate, student_t};
use units::{Bytes, Duration};
use workload::{Durability, FilesShape, MetadataSpec};

/// Repeats vary by this share ...
const NOISE: f64 = 0.03;
/// ... and their mean is wanted within this one.
const PRECISION: f64 = 0.02;

/// The 20 rounds that a cell of `random` has at most reach no 2 % with that noise: then precision
/// would end none of them.
const PRECISION_OF_ROUNDS: f64 = 0.04;

const RULE: RoundsRule = RoundsRule {
    rounds: None,
    rounds_min: 1,
    rounds_max: 1000,
    precision: PRECISION,
    budget: Duration::from_secs(3600),
};

/// What storage takes from one repeat to the next, beside its mean of 1.
struct Speed {
    stream: Stream,
    correlation: f64,
    level: Option<f64>,
}

impl Speed {
    fn new(correlation: f64, seed: u64, number: u64) -> Self {
        Self {
            stream: Stream::new(seed, number, Purpose::Demand),
            correlation,
            level: None,
        }
    }

    fn next(&mut self) -> f64 {
        // The sum of twelve uniform numbers is nearly normal, with variance 1.
        let fresh = (0..12).map(|_| self.stream.unit()).sum::<f64>() - 6.0;
        let rest = (1.0 - self.correlation * self.correlation).sqrt();
        let level = self
            .level
            .map_or(fresh, |it| self.correlation * it + rest * fresh);
        self.level = Some(level);
        1.0 + NOISE * level
    }
}

/// One thing that repeats: the estimates of a run, over their truth, by correlation and seed.
struct Case {
    name: &'static str,
    runs: u64,
    correlations: &'static [f64],
    run: fn(f64, u64) -> Vec<Estimate>,
}

const ANY: &[f64] = &[0.0, 0.3, 0.6];
/// Of a number of repeats that was fixed before.
const FEW: &[f64] = &[0.0, 0.3];

// Rounds of `random` without correlation cover too often, .993: 20 of them at most, and their
// caution, leave few that precision ends.
#[rustfmt::skip]
const CASES: [Case; 10] = [
    Case { name: "passes of transfer", runs: 4000, correlations: ANY, run: transfer },
    Case { name: "five passes", runs: 4000, correlations: &[0.0, 0.3], run: five_passes },
    Case { name: "ten passes", runs: 4000, correlations: &[0.0, 0.3], run: ten_passes },
    Case { name: "tests of files", runs: 600, correlations: ANY, run: files },
    Case { name: "20 passes of files", runs: 600, correlations: FEW, run: twenty_passes_of_files },
    Case { name: "20 runs of time", runs: 2000, correlations: FEW, run: twenty_runs_of_time },
    Case { name: "runs of time", runs: 2000, correlations: ANY, run: time },
    Case { name: "cells of a study", runs: 2000, correlations: ANY, run: study_until_precise },
    Case { name: "a study of eight", runs: 4000, correlations: &[0.0, 0.3], run: study_of_eight },
    Case { name: "rounds of random", runs: 400, correlations: &[0.3, 0.6], run: random_access },
];

/// Bug: passes were taken for independent, and the first look that found them precise ended the
/// series: of correlated ones .81 to .88 of the intervals held the rate at a correlation of .3, and
/// .61 to .74 at .6. Then the correlation as it was found widened the interval, and few passes
/// hardly show it: .892 and .804. Rounds of `random` had a rule of their own, which looked after
/// each round.
#[test]
fn intervals_over_repeats_cover() {
    check_repeats(4);
}

#[test]
#[ignore = "nightly: takes a quarter of a minute"]
fn intervals_over_many_repeats_cover() {
    check_repeats(1);
}

/// With one of `part` of the runs.
fn check_repeats(part: u64) {
    let mut failed = Vec::new();
    for case in &CASES {
        for &correlation in case.correlations {
            let name = format!("{}, correlation {correlation}", case.name);
            let mut coverage = Coverage::of(name);
            for seed in 1..=case.runs / part {
                for found in (case.run)(correlation, seed) {
                    coverage.add(&found, 1.0, seed);
                }
            }
            println!("{coverage}");
            if !(0.93..=0.985).contains(&coverage.share()) {
                failed.push(coverage.to_string());
            }
        }
    }
    assert!(failed.is_empty(), "outside of .93 to .985: {failed:#?}");
}

/// Bug: `files --passes 20` and `time --runs 20` had intervals as if a look at their precision had
/// ended them, 1.6 times as wide as Student's. Ideal is that of the true deviation.
#[test]
fn intervals_of_a_fixed_number_of_repeats_are_narrow() {
    const SEEDS: u64 = 200;
    let check = |name: &str, count: u32, run: fn(f64, u64) -> Vec<Estimate>| {
        let found: Vec<Estimate> = (1..=SEEDS).flat_map(|seed| run(0.0, seed)).collect();
        let halves = found.iter().map(|it| it.relative_half_width());
        let mean = halves.sum::<f64>() / found.len() as f64;
        let count = f64::from(count);
        let width = mean / (student_t(0.975, count - 1.0) * NOISE / count.sqrt());
        println!("{name}: {width:.2} of the ideal");
        assert!(width <= 1.3, "{name}: {width:.2} of the ideal");
    };
    check("ten passes", 10, ten_passes);
    check("20 passes of files", 19, twenty_passes_of_files);
    check("20 runs of time", 20, twenty_runs_of_time);
}

fn passes(rule: RoundsRule, correlation: f64, seed: u64) -> Vec<Estimate> {
    let mut speed = Speed::new(correlation, seed, 0);
    let mut count = PassCount::new(rule);
    let mut seconds = Vec::new();
    while count.next_pass().is_some() {
        let time = speed.next();
        seconds.push(time);
        count.record(1_000_000, Duration::from_secs_f64(time));
    }
    let rate = rate_over(1_000_000 * seconds.len() as u64, &seconds, rule.end(), None);
    vec![rate.scale(1e-6)]
}

/// A number of repeats that was fixed before.
const fn of_rounds(count: u32) -> RoundsRule {
    RoundsRule {
        rounds: Some(count),
        ..RULE
    }
}

fn five_passes(correlation: f64, seed: u64) -> Vec<Estimate> {
    passes(of_rounds(5), correlation, seed)
}

fn ten_passes(correlation: f64, seed: u64) -> Vec<Estimate> {
    passes(of_rounds(10), correlation, seed)
}

fn transfer(correlation: f64, seed: u64) -> Vec<Estimate> {
    passes(RULE, correlation, seed)
}

fn files(correlation: f64, seed: u64) -> Vec<Estimate> {
    tests_of_files(RULE, correlation, seed)
}

fn twenty_passes_of_files(correlation: f64, seed: u64) -> Vec<Estimate> {
    tests_of_files(of_rounds(20), correlation, seed)
}

fn tests_of_files(rule: RoundsRule, correlation: f64, seed: u64) -> Vec<Estimate> {
    let tree = MetadataSpec::in_own_trees(1_000, 2, 10);
    let mut procedure = FilesProcedure::new(FilesPlan {
        items: FilesPlan::metadata(&tree),
        roles: vec![FileSystemRole::Target],
        states: vec![FileState::AsIs],
        scales: vec![1],
        device: DeviceRead::OwnFile,
        rule,
        order: RoundOrder::Random,
        seed,
    });
    let mut spent = Duration::ZERO;
    let mut cells: BTreeMap<FileCell, (Speed, Vec<f64>)> = BTreeMap::new();
    while let Some(step) = procedure.next_step(spent) {
        let FileStep::Measure { cell, pass } = step else {
            continue;
        };
        let number = cells.len() as u64;
        let fresh = || (Speed::new(correlation, seed, number), Vec::new());
        let (speed, seconds) = cells.entry(cell).or_insert_with(fresh);
        let time = speed.next();
        // The first pass of a round in random order fills the caches.
        if pass > 1 {
            seconds.push(time);
        }
        let elapsed = Duration::from_secs_f64(time / 10.0);
        spent += elapsed;
        procedure.record(&cell, elapsed);
    }
    let found = cells.iter().map(|(cell, (_, seconds))| {
        file_test(
            cell,
            Some(&FilesShape::Tree(tree)),
            1,
            true,
            rule.end(),
            &played(seconds),
        )
        .elapsed_seconds
    });
    found.collect()
}

fn played(seconds: &[f64]) -> FilePlayed {
    let mut all = FilePlayed::new(true);
    for (number, seconds) in (1..).zip(seconds) {
        let pass = FilePass {
            number,
            is_warm_up: false,
            elapsed_ns: (seconds * 1e9) as u64,
            calls: 900,
            bytes: 153_600,
            cpu_user_ns: None,
            cpu_system_ns: None,
            device_reads: None,
            device_writes: None,
            items: None,
            stonewall: None,
        };
        all.add(pass, &BTreeMap::new());
    }
    all
}

fn time(correlation: f64, seed: u64) -> Vec<Estimate> {
    runs_of_time(RULE, correlation, seed)
}

fn twenty_runs_of_time(correlation: f64, seed: u64) -> Vec<Estimate> {
    runs_of_time(of_rounds(20), correlation, seed)
}

fn runs_of_time(rule: RoundsRule, correlation: f64, seed: u64) -> Vec<Estimate> {
    let mut speed = Speed::new(correlation, seed, 0);
    let mut procedure = TimingProcedure::new(1, rule, seed);
    let mut runs = Vec::new();
    while let TimingStep::Run { round, .. } = procedure.next(Duration::ZERO) {
        let real_s = speed.next();
        procedure.record(real_s, 0);
        runs.push(TimedRun {
            round,
            real_s,
            user_s: 0.5,
            system_s: 0.0,
            read_bytes: 0,
            written_bytes: 0,
            memory_bytes: None,
            exit: 0,
        });
    }
    let found = summarise_command("c".into(), "c".into(), runs, None, rule.end());
    vec![found.real_s.expect("several runs")]
}

fn study_until_precise(correlation: f64, seed: u64) -> Vec<Estimate> {
    study(
        correlation,
        seed,
        RoundsRule {
            rounds_min: 5,
            rounds_max: 200,
            ..RULE
        },
    )
}

fn study_of_eight(correlation: f64, seed: u64) -> Vec<Estimate> {
    study(
        correlation,
        seed,
        RoundsRule {
            rounds: Some(8),
            ..RULE
        },
    )
}

fn study(correlation: f64, seed: u64, rule: RoundsRule) -> Vec<Estimate> {
    let shape = StudyShape {
        factors: Vec::new(),
        levels: Vec::new(),
        against: Vec::new(),
        cells: vec![Vec::new()],
        margin: PRECISION,
        readings: Vec::new(),
    };
    let mut speed = Speed::new(correlation, seed, 0);
    let mut replicates = Vec::new();
    let mut rounds = Rounds::new(rule);
    loop {
        let done = rounds.next_look().min(rule.rounds_max);
        let first = replicates.len() as u32 + 1;
        replicates.extend((first..=done).map(|round| replicate(round, speed.next())));
        let cells = analyse(&shape, &replicates).cells;
        let is_enough = || is_precise(&cells, PRECISION);
        if rounds.end(done, Duration::ZERO, is_enough).is_some() {
            return vec![cells[0].figures[0].value];
        }
    }
}

fn replicate(round: u32, value: f64) -> StudyReplicate {
    let reading = Reading::new("rate", Unit::BytesPerSecond, value, Better::Higher);
    StudyReplicate {
        number: round,
        round,
        levels: Vec::new(),
        started_at: String::new(),
        elapsed_ns: 0,
        readings: vec![reading],
        warnings: Vec::new(),
    }
}

/// Storage whose time is constant within a round, and another one in the next.
fn random_access(correlation: f64, seed: u64) -> Vec<Estimate> {
    let shape = RandomShape {
        kinds: vec![RandomKind::Read],
        spans: Some(vec![None]),
        blocks: Some(vec![Bytes(4096)]),
        depths: Some(vec![1]),
        is_crossed: false,
    };
    let options = RandomOptions {
        rounds: 4,
        precision: PRECISION_OF_ROUNDS,
        trial_max: Duration::from_millis(250),
        warm_up: None,
        budget: Duration::from_secs(3600),
        durability: Durability::Volatile,
        seed,
    };
    let cells = shape.cells(Bytes(1 << 20)).expect("cells that fit");
    let mut procedure = RandomProcedure::new(options, &cells.plans);
    let mut speed = Speed::new(correlation, seed, 0);
    while let Some(step) = procedure.next_step() {
        let device = format!("sim:md1?time={}ns", (1e6 * speed.next()) as u64);
        let device = SimSpec::parse(&device).expect("a model");
        let trial = procedure.trial(&step, Access::Simulated);
        let outcome = run_trial(&device, &trial, seed, Duration::from_millis(1));
        let measurement = outcome.measurement.expect("a model answers");
        procedure.record(&step, &measurement, outcome.elapsed);
    }
    vec![procedure.cells()[0].service.mean.scale(1e-6)]
}
