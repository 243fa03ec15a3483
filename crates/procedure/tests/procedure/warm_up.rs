//! What belongs to the answer and what does not: warm-ups, slow-downs, stalls, in whole trials.

use crate::support::{Bench, poisson, thinking};
use results::Measurement;
use stats::{Goal, Verdict};
use units::Duration;

/// What the warnings of a trial are called.
fn codes(measurement: &Measurement) -> Vec<&str> {
    let warnings = measurement.warnings.iter();
    warnings.map(|warning| warning.code.as_str()).collect()
}

/// One client that asks for one operation after the other.
fn alone(device: &str, seconds: f64) -> Bench {
    Bench::new(device, 1, thinking(Duration::ZERO), seconds)
}

fn told(bench: &Bench, names: &[&str], seeds: u64) -> u64 {
    let is_told = |seed: &u64| {
        let measurement = bench.measure(*seed);
        measurement.verdict == Verdict::NotStationary
            || codes(&measurement).iter().any(|code| names.contains(code))
    };
    (1..=seeds).filter(is_told).count() as u64
}

/// Bug: the gate cut a ramp off as warm-up, up to half of the trial, and of 60 trials of a device
/// that became 30 % slower within 20 s twenty ended without a word.
#[test]
fn a_device_that_slows_down_is_told() {
    check_slow_downs(8, 7);
}

#[test]
#[ignore = "nightly: takes a minute"]
fn a_device_that_slows_down_is_told_in_57_of_60_trials() {
    check_slow_downs(60, 57);
}

fn check_slow_downs(seeds: u64, least: u64) {
    let names = ["drift", "step", "warm-up-differs"];
    for drift in ["30%@5s", "30%@10s", "30%@20s", "50%@20s"] {
        let bench = alone(&format!("sim:mm1?mean=1ms&drift={drift}"), 600.0);
        let bench = bench.goal(Some(Goal::result(0.03)));
        let told = told(&bench, &names, seeds);
        assert!(told >= least, "{drift}: told in {told} of {seeds}");
    }
    let bench = alone("sim:mm1?mean=1ms", 600.0).goal(Some(Goal::result(0.03)));
    let told = told(&bench, &names, seeds);
    assert!(
        told <= seeds - least,
        "a steady device: told in {told} of {seeds}"
    );
}

/// Bug: the longest gap was compared with the eleventh: stalls of half a second, one in ten
/// seconds, were named in trials of a minute and in none of 200 s.
#[test]
fn stalls_are_named_at_every_length() {
    for (seconds, seeds) in [(60.0, 3), (120.0, 2), (300.0, 1), (1000.0, 1)] {
        let bench = alone("sim:mm1?mean=1ms&stall=500ms@0.01%", seconds).goal(None);
        let told = told(&bench, &["stall"], seeds);
        assert_eq!(told, seeds, "{seconds} s");
        let bench = alone("sim:mm1?mean=1ms", seconds).goal(None);
        assert_eq!(
            self::told(&bench, &["stall"], seeds),
            0,
            "{seconds} s, no stall"
        );
    }
}

/// Bug: a stall of one second of 20 was cut with the first 8 s, and the mean came to 126 us.
#[test]
fn an_open_load_counts_all_that_was_offered() {
    let stalled = "sim:mm1?mean=100us&stall=1s@5000";
    for seed in 1..=6 {
        let bench = Bench::new(stalled, 1, poisson(2000.0), 20.0).goal(None);
        let outcome = bench.run(seed);
        let measurement = outcome.measurement.expect("operations were done");
        let (found, all) = (&measurement.response.mean, &outcome.record.kinds);
        let all = all.values().map(|kind| kind.response.mean()).next();
        let off = found.value / all.expect("reads") - 1.0;
        assert!(off.abs() < 0.01, "seed {seed}: {found:?} of {all:?}");
        assert_eq!(measurement.warmup_ns, 0, "seed {seed}");
        let codes = codes(&measurement);
        assert!(codes.contains(&"stall"), "seed {seed}: {codes:?}");
    }
}

/// Bug: time began with the first completion: a disk that did not answer for 8 of 12 s had carried
/// 9,960 operations per second, of which a third was done.
#[test]
fn time_before_the_first_completion_counts() {
    for first in [1, 20] {
        let device = format!("sim:mm1?mean=100us&stall=8s@{first}");
        let outcome = alone(&device, 12.0).goal(None).run(1);
        let measurement = outcome.measurement.expect("operations were done");
        let plain = measurement.completions_all as f64 / outcome.elapsed.as_secs_f64();
        let off = measurement.throughput.value / plain - 1.0;
        assert!(off.abs() < 0.02, "{:?} of {plain}", measurement.throughput);
        let codes = codes(&measurement);
        assert!(codes.contains(&"stall"), "{codes:?}");
    }
}

/// Bug: clients that think were waited for until each had completed two operations, and the time in
/// which all of them think was called a stall.
#[test]
fn clients_that_think_are_no_warm_up_and_no_stall() {
    for (clients, think) in [(100, 10), (200, 1), (1000, 30)] {
        let pacing = thinking(Duration::from_secs(think));
        let bench = Bench::new("sim:mmc?mean=1ms&servers=4", clients, pacing, 60.0);
        let (mut moving, mut stalled) = (0, 0);
        for seed in 1..=20 {
            let measurement = bench.measure(seed);
            moving += u32::from(measurement.verdict == Verdict::NotStationary);
            stalled += u32::from(codes(&measurement).contains(&"stall"));
        }
        assert!(moving <= 1 && stalled == 0, "{clients}: {moving} {stalled}");
    }
}

/// One operation in 10,000 that takes as long as 900 others.
#[test]
fn one_operation_that_makes_the_mean_is_told() {
    let long = alone("sim:mm1?mean=100us&stall=90ms@5000", 5.0).goal(None);
    for seed in 1..=5 {
        let measurement = long.measure(seed);
        let codes = codes(&measurement);
        assert!(codes.contains(&"heavy-tail"), "seed {seed}: {codes:?}");
    }
    let plain = alone("sim:mm1?mean=100us", 5.0).goal(None);
    assert_eq!(told(&plain, &["heavy-tail"], 20), 0);
}
