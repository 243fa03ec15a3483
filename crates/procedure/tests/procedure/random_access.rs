//! Random access in virtual time, on devices whose service times are known: every cell finds its
//! own, the step of a cache lies where the cache ends, and rounds that differ are reported.

use crate::support::{Coverage, run_trial};
use procedure::{
    Plan as _, RandomOptions, RandomProcedure, RandomShape, RandomStep, random_doubts,
    random_findings,
};
use random::{Purpose, Stream};
use results::{Access, RandomAccess, RandomKind, WarningCode};
use sim::SimSpec;
use units::{Bytes, Duration};
use workload::Durability;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn options(seed: u64, seconds: u64) -> RandomOptions {
    RandomOptions {
        warm_up: None,
        rounds: 2,
        precision: 0.05,
        trial_max: Duration::from_secs(60),
        budget: Duration::from_secs(seconds),
        durability: Durability::Volatile,
        seed,
    }
}

fn reads() -> RandomShape {
    RandomShape {
        kinds: vec![RandomKind::Read],
        spans: Some(vec![None]),
        blocks: Some(vec![Bytes(4 * KIB)]),
        depths: Some(vec![1]),
        is_crossed: false,
    }
}

/// What is found of a device, which may be another one in each round, and in which order.
fn measure(
    shape: &RandomShape,
    size: u64,
    options: RandomOptions,
    device: impl Fn(u32) -> String,
) -> (RandomAccess, Vec<RandomStep>) {
    let cells = shape.cells(Bytes(size)).expect("cells that fit");
    let mut procedure = RandomProcedure::new(options, &cells.plans);
    let mut steps = Vec::new();
    while let Some(step) = procedure.next_step() {
        let device = SimSpec::parse(&device(step.round)).expect("a model");
        let trial = procedure.trial(&step, Access::Simulated);
        let outcome = run_trial(&device, &trial, options.seed, Duration::from_millis(1));
        let measurement = outcome.measurement.expect("a model answers");
        procedure.record(&step, &measurement, outcome.elapsed);
        steps.push(step);
    }
    let (span_bytes, block_bytes, depth) = cells.base;
    let found = RandomAccess {
        span_bytes,
        block_bytes,
        depth,
        size_bytes: cells.size,
        is_crossed: shape.is_crossed,
        rounds: options.rounds,
        precision: options.precision,
        durable: false,
        check: "none".into(),
        turn_ns: None,
        fill_rate: None,
        cells: procedure.cells(),
    };
    (found, steps)
}

/// In a closed network without think time, `n` operations at `c` exponential servers take the mean
/// service time where all find one, and `n / c` times as long where they do not.
#[test]
fn depths_of_a_queue_take_what_theory_says() {
    let shape = RandomShape {
        depths: Some(vec![1, 4, 8, 32]),
        ..reads()
    };
    let mut coverage = Coverage::of("depths 1 to 32 of four servers");
    for seed in 1..=25 {
        let device = |_| "sim:mmc?mean=100us&servers=4".to_owned();
        let (found, _) = measure(&shape, MIB, options(seed, 60), device);
        for cell in &found.cells {
            let truth = 1e5 * f64::from(cell.depth.max(4)) / 4.0;
            let mean = cell.service.mean;
            assert!(cell.is_precise && cell.is_citable, "seed {seed}: {mean:?}");
            assert!(
                (mean.value / truth - 1.0).abs() < 0.08,
                "seed {seed}: {mean:?}"
            );
            coverage.add(&mean, truth, seed);
        }
    }
    // Two rounds of 95 % each, widened where they differ: that, or a little more.
    coverage.check();
}

#[test]
fn the_step_of_a_cache_lies_where_the_cache_ends() {
    let shape = RandomShape {
        spans: None,
        ..reads()
    };
    for (cache, between) in [
        (
            "128KiB",
            "If a cache ends there, it probably holds between 128 KiB and 512 KiB.",
        ),
        (
            "1MiB",
            "If a cache ends there, it probably holds between 512 KiB and 2 MiB.",
        ),
        (
            "16KiB",
            "If a cache ends there, it holds less than 128 KiB.",
        ),
    ] {
        let device = |_| format!("sim:drive?cache={cache}&hit=20us&miss=200us&seek=1us&size=64MiB");
        let (found, _) = measure(&shape, 64 * MIB, options(1, 60), device);
        let texts = random_findings(&found);
        let steps: Vec<&String> = texts
            .iter()
            .filter(|it| it.contains("clearly longer"))
            .collect();
        assert_eq!(steps.len(), 1, "{cache}: {texts:#?}");
        assert!(steps[0].ends_with(between), "{cache}: {}", steps[0]);
    }
}

/// First in, first out finds the share `c / s` of uniform reads in its cache.
#[test]
fn a_cache_answers_its_share() {
    let shape = RandomShape {
        spans: Some(
            [256, 512, 1024, 4096]
                .map(|kib| Some(Bytes(kib * KIB)))
                .to_vec(),
        ),
        ..reads()
    };
    let device = |_| "sim:drive?cache=512KiB&hit=20us&miss=200us&seek=1ns&size=4MiB".to_owned();
    let (found, _) = measure(&shape, 4 * MIB, options(5, 60), device);
    for cell in &found.cells {
        let share = (512.0 * 1024.0 / cell.span_bytes as f64).min(1.0);
        let truth = 20e3 * share + 200e3 * (1.0 - share);
        let mean = cell.service.mean;
        assert!((mean.value / truth - 1.0).abs() < 0.05, "{truth}: {mean:?}");
    }
}

/// Heads that move further take longer with every span, and that is no cache. Two uniform places
/// lie 8/15 of the root of their span apart in the mean root of the distance.
#[test]
fn seek_distance_rises_without_a_step() {
    let shape = RandomShape {
        spans: None,
        ..reads()
    };
    let device = |_| "sim:drive?cache=0&hit=1us&miss=900us&seek=1ms&size=64MiB".to_owned();
    let (found, _) = measure(&shape, 64 * MIB, options(3, 600), device);
    let whole = found.base(RandomKind::Read).expect("the base cell");
    let truth = 900e3 + 1e6 * 8.0 / 15.0;
    let mean = whole.service.mean;
    assert!((mean.value / truth - 1.0).abs() < 0.02, "{mean:?}");
    let texts = random_findings(&found);
    assert!(texts[0].contains("times as long"), "{texts:#?}");
    assert!(!texts[0].contains("no difference"), "{texts:#?}");
    assert!(
        !texts.iter().any(|text| text.contains("cache ends")),
        "{texts:#?}"
    );
}

#[test]
fn every_round_visits_every_cell_in_an_order_of_its_own() {
    let shape = RandomShape {
        depths: Some((1..=12).collect()),
        ..reads()
    };
    let order = |seed| {
        let device = |_| "sim:md1?time=100us".to_owned();
        let (_, steps) = measure(&shape, MIB, options(seed, 60), device);
        let cells: Vec<usize> = steps.iter().map(|step| step.cell).collect();
        cells
    };
    let found = order(7);
    assert_eq!(found.len(), 24, "constant times are precise at once");
    for round in found.chunks(12) {
        let mut sorted = round.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..12).collect::<Vec<_>>());
        assert_ne!(sorted, round, "in order");
    }
    assert_ne!(found[..12], found[12..]);
    assert_eq!(found, order(7));
    assert_ne!(found, order(8));
}

#[test]
fn a_device_that_changes_between_rounds_is_told() {
    let device = |round| format!("sim:mm1?mean={}us", if round % 2 == 1 { 100 } else { 150 });
    let (found, steps) = measure(&reads(), MIB, options(1, 60), device);
    let cell = &found.cells[0];
    assert!(!cell.rounds_agree);
    assert!(cell.service.mean.contains(1.25e5), "{cell:?}");
    // One at a time: the rate is the mean time upside down.
    let outstanding = cell.throughput.value * cell.service.mean.value / 1e9;
    assert!((outstanding - 1.0).abs() < 0.01, "{cell:?}");
    assert!(steps.len() > 4, "more rounds may show what is usual");
    let doubts = random_doubts(&found);
    let codes: Vec<&str> = doubts.iter().map(|doubt| doubt.code.as_str()).collect();
    assert_eq!(codes[0], "rounds-differ");
    assert!(
        doubts[0]
            .text()
            .contains("read 4 KiB within 1 MiB, depth 1"),
        "{}",
        doubts[0]
    );
}

/// Bug: of eight cells on storage that does not change, one or another was said to differ between
/// its rounds in 7 and 5 of 100 runs: the question was asked of every pair of rounds.
#[test]
#[ignore = "nightly: takes minutes"]
fn rounds_of_storage_that_does_not_change_are_seldom_said_to_differ() {
    let shape = RandomShape {
        blocks: Some([4, 16].map(|kib| Bytes(kib * KIB)).to_vec()),
        depths: Some(vec![1, 2, 4, 8]),
        is_crossed: true,
        ..reads()
    };
    for device in ["sim:mm1?mean=1ms", "sim:drive"] {
        let mut said = Vec::new();
        for seed in 1..=100 {
            let options = RandomOptions {
                rounds: 4,
                ..options(seed, 120)
            };
            let (found, _) = measure(&shape, 64 * MIB, options, |_| device.to_owned());
            assert_eq!(found.cells.len(), 8);
            if found.cells.iter().any(|cell| !cell.rounds_agree) {
                said.push(seed);
            }
        }
        assert!(said.len() <= 5, "{device}: {said:?}");
    }
}

/// Storage whose speed is drawn anew for each round, nearly normal around 1 ms: the interval covers
/// the mean of all that it may be, and not only that of the rounds there were.
#[test]
fn storage_that_changes_from_round_to_round_is_covered() {
    let mut coverage = Coverage::of("speeds that change");
    for seed in 1..=200 {
        let mut stream = Stream::new(seed, 0, Purpose::Device);
        let mut speed = || 600_000 + (0..4).map(|_| stream.below(200_001)).sum::<u64>();
        let speeds: Vec<u64> = (0..32).map(|_| speed()).collect();
        let options = RandomOptions {
            rounds: 4,
            precision: 0.5,
            ..options(seed, 4)
        };
        let device = |round: u32| format!("sim:md1?time={}ns", speeds[round as usize]);
        let (found, _) = measure(&reads(), MIB, options, device);
        coverage.add(&found.cells[0].service.mean, 1e6, seed);
    }
    coverage.check();
}

/// A disk makes a few dozen operations in a round: too few for an interval from within, and the
/// rounds as replications bound the mean.
#[test]
fn a_slow_device_is_bounded_by_its_rounds() {
    let mut coverage = Coverage::of("rounds of few operations");
    for seed in 1..=100 {
        let options = RandomOptions {
            rounds: 4,
            ..options(seed, 3)
        };
        let (found, _) = measure(&reads(), MIB, options, |_| "sim:mm1?mean=10ms".to_owned());
        let mean = found.cells[0].service.mean;
        assert!(mean.is_bounded(), "seed {seed}: {mean:?}");
        coverage.add(&mean, 1e7, seed);
    }
    coverage.check();
}

/// A slow device is given the time there is, cells that need it get more rounds, and what is still
/// not precise is said.
#[test]
fn time_that_is_left_goes_to_cells_that_need_it() {
    let shape = RandomShape {
        depths: Some(vec![1, 2]),
        ..reads()
    };
    let options = options(2, 40);
    let device = |_| "sim:mm1?mean=10ms".to_owned();
    let (found, steps) = measure(&shape, MIB, options, device);
    let spent: f64 = steps
        .iter()
        .map(|step| step.duration_max.as_secs_f64())
        .sum();
    assert!(steps.len() >= 4, "{}", steps.len());
    assert!(spent <= 40.0 * 1.1, "{spent}");
    for cell in &found.cells {
        assert!(
            cell.service.mean.contains(1e7 * f64::from(cell.depth)),
            "{cell:?}"
        );
    }
    let is_wide = found.cells.iter().any(|cell| !cell.is_precise);
    let doubts = random_doubts(&found);
    assert_eq!(
        is_wide,
        doubts
            .iter()
            .any(|doubt| doubt.code == WarningCode::NotConverged)
    );
}
