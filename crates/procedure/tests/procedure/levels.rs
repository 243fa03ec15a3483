//! The load at a response time of random arrivals, and at a percentile: the load that is found lies
//! in its interval as often as it says, on queues whose answers are known exactly.

#![allow(
    clippy::print_stdout,
    reason = "the tables are a product of these tests"
)]

use std::ops::RangeInclusive;

use crate::support::curves::run_curve;
use crate::support::queues::{ClosedQueue, ConstantService, OpenQueue, load_where};
use crate::support::{Bench, Coverage, thinking};
use procedure::{CurveOptions, Levels};
use results::{Arrivals, LevelOutcome};
use units::Duration;
use workload::{Gap, Pacing};

/// One question with its answer.
struct Case {
    device: &'static str,
    arrivals: Arrivals,
    /// What clients that wait for each answer think.
    think: Duration,
    percentile: Option<f64>,
    level: Duration,
    /// Operations per second.
    truth: f64,
}

const P99: Option<f64> = Some(0.99);
const THINKERS: ClosedQueue = ClosedQueue {
    servers: 4,
    service_mean: 0.005,
    think_mean: 0.050,
};
const CLIENTS_MAX: u32 = 80;
const THINK: Duration = Duration::from_millis(50);

/// Four servers of 1 ms, one of 1 ms with exponential and with constant service.
fn open_cases() -> [Case; 6] {
    let queue = |servers: u32, load: f64| OpenQueue::at(servers, load, 1e-3);
    let mm = |servers: u32, device, percentile: Option<f64>, level_us: u64| {
        let level = level_us as f64 * 1e-6;
        let time = |load: f64| match percentile {
            None => queue(servers, load).response_mean(),
            Some(p) => queue(servers, load).response_quantile(p),
        };
        Case {
            device,
            arrivals: Arrivals::Open,
            think: Duration::ZERO,
            percentile,
            level: Duration::from_micros(level_us),
            truth: load_where(0.999, |load| time(load) > level) * f64::from(servers) * 1e3,
        }
    };
    let md1 = |percentile: Option<f64>, level_us: u64| {
        let level = level_us as f64 * 1e-3;
        let time = |load: f64| match percentile {
            None => ConstantService { load }.response_mean(),
            Some(p) => ConstantService { load }.response_quantile(p),
        };
        Case {
            device: "sim:md1?time=1ms",
            arrivals: Arrivals::Open,
            think: Duration::ZERO,
            percentile,
            level: Duration::from_micros(level_us),
            truth: load_where(0.95, |load| time(load) > level) * 1e3,
        }
    };
    [
        mm(1, "sim:mm1?mean=1ms", None, 2_000),
        mm(4, "sim:mmc?mean=1ms&servers=4", None, 1_500),
        md1(None, 1_500),
        mm(1, "sim:mm1?mean=1ms", P99, 12_000),
        mm(4, "sim:mmc?mean=1ms&servers=4", P99, 7_000),
        md1(P99, 5_000),
    ]
}

/// Clients that think, at a drive with an arm. No closed form is known: the truth is that of runs
/// of `seconds` with each number of clients, linear between neighbours as in [`ClosedQueue`].
fn drive_case(seconds: f64) -> Case {
    let device = "sim:drive";
    let level = Duration::from_millis(60);
    let at = |clients: u32| {
        let bench = Bench::new(device, clients, thinking(THINK), seconds).goal(None);
        let outcome = bench.run(9_000_000 + u64::from(clients));
        let reads = outcome.record.kinds.values().next().expect("reads");
        let share = reads.response.quantile(0.99).expect("many reads");
        let load = reads.response.len() as f64 / outcome.elapsed.as_secs_f64();
        (load, share as f64)
    };
    let level_ns = level.as_nanos() as f64;
    let mut low = at(1);
    let mut clients = 2;
    let truth = loop {
        let high = at(clients);
        if high.1 >= level_ns {
            println!("{device}: p99 {level} between {low:?} and {high:?} with {clients}");
            break low.0 + (level_ns - low.1) / (high.1 - low.1) * (high.0 - low.0);
        }
        (low, clients) = (high, clients + 1);
    };
    Case {
        device,
        arrivals: Arrivals::Closed,
        think: THINK,
        percentile: P99,
        level,
        truth,
    }
}

fn closed_case() -> Case {
    let level = Duration::from_millis(40);
    Case {
        device: "sim:mmc?servers=4&mean=5ms",
        arrivals: Arrivals::Closed,
        think: THINK,
        percentile: P99,
        level,
        truth: THINKERS.load_at_percentile(0.99, level.as_secs_f64(), CLIENTS_MAX),
    }
}

/// Curves of one case, without a limit of time.
fn coverage(case: &Case, seeds: RangeInclusive<u64>) -> (Coverage, Vec<String>) {
    let options = CurveOptions {
        final_max: Duration::from_secs(3_600),
        ..CurveOptions::default()
    };
    coverage_with(case, &options, seeds)
}

/// Curves of one case, and what was not found.
fn coverage_with(
    case: &Case,
    options: &CurveOptions,
    seeds: RangeInclusive<u64>,
) -> (Coverage, Vec<String>) {
    let name = match case.percentile {
        None => format!("{}, mean {}", case.device, case.level),
        Some(p) => format!("{}, p{} {}", case.device, p * 100.0, case.level),
    };
    let mut found = Coverage::of(name);
    let mut unsettled = Vec::new();
    for seed in seeds {
        let (pacing, clients_max) = match case.arrivals {
            Arrivals::Closed => (thinking(case.think), CLIENTS_MAX),
            Arrivals::Open => (Pacing::Closed { think: Gap::NONE }, 1 << 16),
        };
        let options = CurveOptions {
            levels: Levels::Explicit(vec![case.level]),
            percentile: case.percentile,
            arrivals: case.arrivals,
            clients_max,
            ..options.clone()
        };
        let run = run_curve(case.device, pacing, options, seed);
        match &run.curve.levels[0].outcome {
            LevelOutcome::Reached { load, .. } => found.add(load, case.truth, seed),
            other => unsettled.push(format!("seed {seed}: {other:?}")),
        }
    }
    println!("{} unsettled: {unsettled:?}", unsettled.len());
    (found, unsettled)
}

/// One server with hits of 100 us and misses of 4 ms, one in five, independent of each other:
/// Pollaczek and Khinchine.
fn skewed_case() -> Case {
    let (mean, square) = (0.88, 2.0 * (0.8 * 0.01 + 0.2 * 16.0));
    let time = |load: f64| mean + load / mean * square / (2.0 * (1.0 - load));
    Case {
        device: "sim:cache?hit=100us&miss=4ms&hits=80%&run=1",
        arrivals: Arrivals::Open,
        think: Duration::ZERO,
        percentile: None,
        level: Duration::from_millis(4),
        truth: load_where(0.999, |load| time(load) > 4.0) / mean * 1e3,
    }
}

/// Bug: of service times that vary so much half of the curves said "between 276 and 528 IOPS", with
/// points of 491 at 3.69 ms and of 526 at 4.06 ms in hand.
#[test]
fn a_level_beside_two_points_has_a_value() {
    check_within_ten_minutes(1..=4);
}

#[test]
#[ignore = "nightly: takes minutes"]
fn levels_beside_two_points_cover_in_many_curves() {
    check_within_ten_minutes(1001..=1060);
}

fn check_within_ten_minutes(seeds: RangeInclusive<u64>) {
    let case = skewed_case();
    // As `seekstone curve --budget 10min` asks.
    let options = CurveOptions {
        budget: Some(Duration::from_secs(600)),
        scout_max: Duration::from_secs(36),
        final_min: Duration::from_secs(30),
        final_max: Duration::from_secs(150),
        ..CurveOptions::default()
    };
    let (found, unsettled) = coverage_with(&case, &options, seeds);
    found.check();
    let unsettled_count = unsettled.len() as u64;
    let curves = found.replications() + unsettled_count;
    assert!(unsettled_count <= curves / 20, "{unsettled:?}");
}

/// A few seeds of the cheapest cases every day.
fn check_few(case: &Case) {
    let (found, unsettled) = coverage(case, 1..=3);
    assert!(unsettled.is_empty(), "{unsettled:?}");
    found.check();
}

#[test]
fn the_load_of_random_arrivals_lies_in_its_interval() {
    check_few(&open_cases()[1]);
}

#[test]
fn the_load_of_random_arrivals_at_a_percentile_lies_in_its_interval() {
    check_few(&open_cases()[5]);
}

#[test]
fn the_load_of_waiting_clients_at_a_percentile_lies_in_its_interval() {
    check_few(&closed_case());
}

#[test]
fn the_load_of_a_drive_at_a_percentile_lies_in_its_interval() {
    check_few(&drive_case(4_000.0));
}

/// Bug: of few operations the 99th percentile came out above the level by chance, the search
/// outwards ended there, and the level was "not reached" at a hundredth of the load that reaches
/// it.
#[test]
fn a_level_that_a_scout_passed_by_chance_is_looked_for_further_out() {
    let cases = open_cases();
    for (case, seed) in [(&cases[4], 1060), (&cases[3], 1360)] {
        let (found, unsettled) = coverage(case, seed..=seed);
        assert!(unsettled.is_empty(), "{unsettled:?}");
        found.check();
    }
}

/// Bug: a search that began too low went outwards step by step, used up its tries on the way, and
/// left the level open.
#[test]
fn a_search_that_begins_too_low_arrives() {
    let [.., p99_of_one, _, constant] = open_cases();
    for (case, seed) in [(p99_of_one, 1189), (constant, 1369)] {
        let (found, unsettled) = coverage(&case, seed..=seed);
        assert!(unsettled.is_empty(), "{unsettled:?}");
        found.check();
    }
}

#[test]
#[ignore = "nightly: takes minutes"]
fn loads_at_levels_cover_in_four_hundred_curves() {
    let [one, four, constant, p99_of_one, p99_of_four, _] = open_cases();
    check_many([one, four, constant, p99_of_one, p99_of_four]);
}

#[test]
#[ignore = "nightly: takes minutes"]
fn loads_at_a_percentile_of_constant_times_cover_in_four_hundred_curves() {
    let [.., constant] = open_cases();
    check_many([constant]);
}

#[test]
#[ignore = "nightly: takes minutes"]
fn loads_at_a_percentile_of_waiting_clients_cover_in_four_hundred_curves() {
    check_many([closed_case()]);
}

#[test]
#[ignore = "nightly: takes minutes"]
fn loads_at_a_percentile_of_a_drive_cover_in_four_hundred_curves() {
    check_many([drive_case(40_000.0)]);
}

/// Of shares of 400 curves one may leave the band by chance: that case is measured again with 1000
/// fresh seeds, which then count.
fn check_many<const N: usize>(cases: [Case; N]) {
    let mut outside = Vec::new();
    for case in cases {
        let is_within = |found: &Coverage| {
            let most = if case.percentile.is_some() {
                0.985
            } else {
                0.995
            };
            (0.93..=most).contains(&found.share())
        };
        let (mut found, mut unsettled) = coverage(&case, 1001..=1400);
        println!("{found}");
        if !is_within(&found) {
            (found, unsettled) = coverage(&case, 10_001..=11_000);
            println!("again: {found}");
        }
        if !unsettled.is_empty() || !is_within(&found) {
            outside.push(format!("{found}; unsettled {unsettled:?}"));
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
}
