//! Single trials from end to end: repeatable to the last bit, and exact where the answer is exact.

use crate::support::{Bench, poisson, thinking};
use procedure::{Ending, TrialError};
use stats::{Channel, Goal};
use units::Duration;
use workload::{ClientSpec, Gap, GapShape, Pacing};

fn as_json(bench: &Bench, seed: u64) -> String {
    serde_json::to_string(&bench.measure(seed)).expect("a measurement can be written")
}

#[test]
fn the_same_seed_gives_the_same_measurement_to_the_last_bit() {
    for (device, pacing) in [
        ("sim:mm1?mean=100us", poisson(600.0)),
        ("sim:mmc?mean=1ms", thinking(Duration::from_millis(2))),
        ("sim:cache", thinking(Duration::ZERO)),
        ("sim:mm1?stall=50ms@500", poisson(500.0)),
    ] {
        let bench = Bench::new(device, 5, pacing, 20.0);
        assert_eq!(as_json(&bench, 9), as_json(&bench, 9), "{device}");
        assert_ne!(as_json(&bench, 9), as_json(&bench, 10), "{device}");
    }
}

/// A salt stands for a repetition, and must draw afresh.
#[test]
fn another_salt_gives_another_measurement() {
    let bench = Bench::new("sim:mm1?mean=100us", 2, poisson(600.0), 20.0);
    let mut salted = bench.clone();
    salted.trial.salt = 1;
    assert_ne!(bench.measure(1).response, salted.measure(1).response);
}

/// Bug: the slot in which a trial ends counted as a whole one, with the few completions that came
/// before the end: a trial of 80 slots lost a percent of its throughput.
///
/// 400 a second of constant gaps on a constant delay put 25 completions into every slot of 62.5 ms,
/// whatever the phase, so nothing may be missing.
#[test]
fn the_slot_in_which_a_trial_ends_does_not_count_as_a_whole_one() {
    let pacing = Pacing::Open {
        gap: Gap::new(GapShape::Constant, Duration::from_micros(2_500)),
    };
    for operations in [1_500, 1_777, 2_001] {
        let mut bench = Bench::new("sim:delay?time=100us", 1, pacing, 60.0)
            .goal(None)
            .slots_of(Duration::from_micros(62_500));
        let ClientSpec::Mix(mix) = &mut bench.trial.spec else {
            panic!("a mix was asked for")
        };
        mix.operations = Some(operations);
        let outcome = bench.run(1);
        assert_eq!(outcome.ending, Ending::Finished);
        let throughput = outcome
            .measurement
            .expect("operations were done")
            .throughput;
        assert!(
            (throughput.value - 400.0).abs() < 1e-9,
            "{operations}: {throughput:?}"
        );
    }
}

#[test]
fn a_trial_without_a_goal_ends_with_its_time_or_its_clients() {
    let bench = Bench::new("sim:mm1", 3, thinking(Duration::from_millis(1)), 2.0).goal(None);
    let outcome = bench.run(1);
    assert_eq!(outcome.ending, Ending::Budget);
    let over = outcome.elapsed.saturating_sub(Duration::from_secs(2));
    assert!(
        over < Duration::from_millis(16),
        "a slice is 16 slots of 1 ms, not {over:?}"
    );
}

#[test]
fn a_goal_ends_a_trial_as_soon_as_it_is_reached() {
    for channel in [Channel::Response, Channel::Service] {
        let mut bench = Bench::new("sim:mm1?mean=100us", 1, poisson(3_000.0), 600.0)
            .goal(Some(Goal::result(0.05)))
            .depth(1);
        bench.trial.channel = channel;
        let outcome = bench.run(2);
        assert_eq!(outcome.ending, Ending::Goal, "{channel:?}");
        let measurement = outcome.measurement.expect("operations were done");
        let mean = match channel {
            Channel::Response => measurement.response.mean,
            Channel::Service => measurement.service.mean,
        };
        assert!(mean.relative_half_width() <= 0.05, "{channel:?}: {mean:?}");
        assert!(
            outcome.elapsed < Duration::from_secs(60),
            "{channel:?}: {:?}",
            outcome.elapsed
        );
    }
}

/// Little's law and its closed form N = X (R + Z), with the think time that clients really took.
#[test]
fn measured_clients_account_for_all_their_time() {
    let bench = Bench::new(
        "sim:mmc?mean=5ms",
        20,
        thinking(Duration::from_millis(50)),
        60.0,
    );
    let measurement = bench.measure(4);
    let codes: Vec<&str> = measurement
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    assert!(!codes.contains(&"time-unaccounted"), "{codes:?}");
    let offered = 20.0 / (measurement.response.mean.value / 1e9 + 0.05);
    // The think times drawn vary by 5 % each over n of them: 3.29 / sqrt n of 50 in 55 ms.
    let tolerance = 3.29 / (measurement.completions as f64).sqrt();
    let error = measurement.throughput.value / offered - 1.0;
    assert!(error.abs() < tolerance, "{error}, at most {tolerance}");
}

/// Bug: a scout of 304 ms into which no arrival of twenty a second fell ended the whole run with
/// "not one operation was done".
#[test]
fn a_scout_waits_for_its_first_answer_but_not_for_ever() {
    let scout = |device: &str, clients| Bench::new(device, clients, thinking(Duration::ZERO), 0.3);
    let slow = scout("sim:delay?time=2s", 1).run(1);
    assert_eq!(slow.ending, Ending::Budget);
    assert!(
        slow.elapsed < Duration::from_millis(2050),
        "{:?}",
        slow.elapsed
    );
    let measurement = slow.measurement.expect("one operation");
    assert_eq!(measurement.completions_all, 1);

    // 0.3 s and ten more, to the slice of 16 ms.
    let silent = scout("sim:delay?time=1h", 1).run(1);
    assert!(matches!(
        silent.measurement,
        Err(TrialError::Nothing { .. })
    ));
    let longest = Duration::from_millis(10_320);
    assert!(silent.elapsed < longest, "{:?}", silent.elapsed);

    // Of 20 arrivals a second, none in 304 ms comes to one seed in 440.
    let sparse = Bench::new("sim:delay?time=1ms", 1, poisson(1.0), 0.304);
    for seed in 1..=20 {
        sparse.measure(seed);
    }

    // What was to last exactly so long does.
    let timed = Bench::new("sim:delay?time=2s", 1, poisson(1.0), 0.3).goal(None);
    let ended = timed.run(1).elapsed;
    assert!(ended < Duration::from_millis(320), "{ended:?}");
}

/// Bug: a disk that answered nothing for 132 ms ended a comparison of trials of 100 ms. Such a
/// trial cannot end before its client is answered anyway.
#[test]
fn a_fixed_trial_of_waiting_clients_has_at_least_one_answer() {
    let stalled = Bench::new(
        "sim:mm1?mean=1ms&stall=132ms@1",
        1,
        thinking(Duration::ZERO),
        0.1,
    );
    let found = stalled.goal(None).run(1);
    assert_eq!(found.ending, Ending::Budget);
    // To the end of the slice of 16 ms in which it came.
    let elapsed = found.elapsed.as_nanos();
    assert!(
        (132_000_000..150_000_000).contains(&elapsed),
        "{elapsed} ns"
    );
    let measurement = found.measurement.expect("one operation");
    let total = measurement.response.mean.value * measurement.completions_all as f64;
    assert!(total > 132e6, "the late answer counts: {measurement:?}");
}
