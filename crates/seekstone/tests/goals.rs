//! Goals: met, missed, undecided, told in every place, and in the exit code.

mod support;

use support::{Ended, Scratch};

fn trial(goals: &[&str], code: i32, expected: &str) -> Ended {
    let args = [
        "trial",
        "sim:mm1?mean=1ms",
        "--seed",
        "1",
        "--duration",
        "60s",
        "-q",
    ];
    let goals = goals.iter().flat_map(|goal| ["--goal", goal]);
    let goals: Vec<&str> = goals.collect();
    Scratch::new().check(&[&args[..], &goals].concat(), code, expected)
}

/// One client on M/M/1 waits 1 ms on average, and 4.605 ms in the worst of a hundred cases.
#[test]
fn a_goal_is_met_missed_or_undecided() {
    trial(&["mean <= 1.1ms"], 0, "PASS mean <= 1.1ms: latency is 1");
    trial(&["p99 <= 5ms"], 0, "PASS p99 <= 5ms");
    trial(&["p99 <= 4ms"], 4, "FAIL p99 <= 4ms");
    trial(&["mean <= 1ms"], 5, "UNDECIDED mean <= 1ms");
    trial(
        &["iops >= 900/s", "iops >= 1100/s"],
        4,
        "FAIL iops >= 1100/s",
    );
    trial(
        &["bandwidth >= 1MB/s"],
        0,
        "PASS bandwidth >= 1MB/s: throughput is",
    );
    trial(
        &["random-read.p99 <= 5ms"],
        5,
        "the run has no such figure; of that unit it has latency",
    );
}

#[test]
fn a_goal_that_makes_no_sense_is_refused_at_once() {
    trial(&["p99 <= 10/s"], 2, "latency-p99 is a time, such as 2ms");
    trial(&["soon"], 2, "is no goal: write a figure");
}

#[test]
fn a_row_of_a_check_up_has_a_goal_of_its_own() {
    let args = [
        "run",
        "sim:mm1?mean=1ms",
        "--seed",
        "1",
        "--budget",
        "10min",
        "-q",
    ];
    let goal = ["--goal", "random_read.mean <= 1s"];
    let scratch = Scratch::new();
    scratch.check(
        &[&args[..], &goal].concat(),
        0,
        "PASS random_read.mean <= 1s: random-read.latency",
    );
    scratch.check(&["runs", "show"], 0, "PASS random_read.mean <= 1s");
    scratch.check(
        &["runs", "export", "1", "--form", "markdown"],
        0,
        "- PASS random",
    );
    scratch.check(
        &["runs", "repeat", "1", "-q"],
        0,
        "PASS random_read.mean <= 1s",
    );
}

/// A figure that must not be quoted meets no goal, whatever its interval.
#[test]
fn a_trial_that_is_too_short_decides_nothing() {
    let args = [
        "transactions",
        "sim:mm1?mean=1ms",
        "--users",
        "3",
        "--think",
        "10ms",
    ];
    let more = [
        "--duration",
        "200ms",
        "--seed",
        "1",
        "-q",
        "--goal",
        "mean <= 1h",
    ];
    let ended = Scratch::new().check(&[&args[..], &more].concat(), 5, "UNDECIDED mean <= 1h");
    let page = ended
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(page.contains("the figure must not be used"), "{page}");
}
