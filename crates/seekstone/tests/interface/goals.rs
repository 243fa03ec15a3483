//! Goals: met, missed, undecided, told in every place, and in the exit code.

use crate::support::{Ended, Scratch};

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
    trial(&["mean <= 1.1ms"], 0, "PASS mean <= 1.1ms: 1");
    trial(&["p99 <= 5ms"], 0, "PASS p99 <= 5ms");
    trial(&["p99 <= 4ms"], 4, "FAIL p99 <= 4ms");
    trial(&["mean <= 1ms"], 5, "UNDECIDED mean <= 1ms");
    trial(
        &["iops >= 900/s", "iops >= 1100/s"],
        4,
        "FAIL iops >= 1100/s",
    );
    trial(&["bandwidth >= 1MB/s"], 0, "PASS bandwidth >= 1MB/s: ");
    trial(&["trial.p99 <= 5ms"], 0, "PASS trial.p99 <= 5ms");
}

/// Bugs: the saturated were told to measure longer, and a p99.9 without an interval was undecided
/// beside a p99 that surely exceeded the same limit.
#[test]
fn what_cannot_be_met_any_more_is_missed() {
    let scratch = Scratch::new();
    let check = |rate: &str, goal: &str, why: &str| {
        let args = ["trial", "sim:mm1?mean=1ms", "--rate", rate, "--seed", "1"];
        let more = ["--duration", "20s", "-q", "--no-save", "--goal", goal];
        scratch.check(&[&args[..], &more].concat(), 4, why);
    };
    let saturated = "The storage cannot sustain the offered load";
    check("2000/s", "mean <= 1ms", saturated);
    check("2000/s", "iops >= 1900/s", saturated);
    check("500/s", "p99.9 <= 5ms", "Even p9");
}

#[test]
fn a_goal_that_makes_no_sense_is_refused_at_once() {
    trial(&["p99 <= 10/s"], 2, "latency-p99 is a time, such as 2ms");
    trial(&["soon"], 2, "is not a goal. Write a figure");
    trial(
        &["random-read.p99 <= 5ms"],
        2,
        "this command gives no random-read.latency-p99",
    );
    trial(
        &["read.p99 <= 5ms"],
        2,
        "no read.latency-p99. It gives iops, throughput, latency,",
    );
    trial(&["p98 <= 5ms"], 2, "this command gives no p98");
    let check = |args: &[&str], expected: &str| {
        let ended = Scratch::new().check(args, 2, expected);
        assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    };
    let model = "sim:mm1?mean=1ms";
    check(
        &["run", model, "--goal", "files-create.iops >= 1k/s"],
        "no files-create.iops",
    );
    check(
        &["run", model, "--goal", "p99 <= 1ms"],
        "name the row, as in sequential-write.p99",
    );
    check(
        &["run", model, "--goal", "durable-write.p99 <= 1ms @ 9k/s"],
        "for random-read only",
    );
    check(
        &["curve", model, "--goal", "p99 <= 1ms"],
        "It gives iops, iops-open,",
    );
    check(
        &["transfer", ".", "--goal", "p99 <= 1ms"],
        "name the row, as in write.p99. Rows with it are write",
    );
    check(
        &["random", model, "--goal", "service-time <= 1ms @ 9k/s"],
        "measure at a rate",
    );
}

/// For so long that the tail of a busy queue has an interval.
fn long_trial(duration: &str, more: &[&str], code: i32, expected: &str) -> Ended {
    let args = [
        "trial",
        "sim:mm1?mean=1ms",
        "--seed",
        "1",
        "--duration",
        duration,
        "-q",
    ];
    Scratch::new().check(&[&args[..], more].concat(), code, expected)
}

/// M/M/1 at a load of 80 % answers in 5 ms on average, and 99 % within 23.03 ms (5 ln 100).
#[test]
fn a_goal_at_a_load_has_a_trial_of_its_own() {
    let too_much = ["--goal", "p99 <= 1s @ 2k/s"];
    long_trial("20s", &too_much, 4, "completed, so the storage cannot");
    // Without a load it is the one client's, who waits for nobody.
    let goals = ["p99 <= 5ms", "p99 <= 28ms @ 800/s", "p99 <= 20ms @ 800/s"];
    let goals = goals.map(|goal| ["--goal", goal]);
    let found = "PASS p99 <= 5ms: 4.6";
    let ended = long_trial("900s", goals.as_flattened(), 4, found);
    for loaded in ["PASS p99 <= 28ms @ 800/s: 2", "FAIL p99 <= 20ms @ 800/s"] {
        assert!(ended.stdout.contains(loaded), "{}", ended.stdout);
    }
}

/// Bug: a goal without a row was accepted, and undecided after the trial.
#[test]
fn a_goal_on_several_targets_is_on_their_sum() {
    let args = ["trial", "sim:md1?time=1ms", "sim:md1?time=2ms", "-q"];
    let goals = ["--goal", "iops >= 1k/s", "--goal", "mean <= 3ms"];
    let args = [&args[..], &goals, &["--duration", "20s"]].concat();
    let ended = Scratch::new().check(&args, 0, "PASS mean <= 3ms: 1.");
    assert!(ended.stdout.contains("PASS iops >= 1k/s"), "{ended:?}");
}

/// Bug: with few samples beyond a percentile a goal fourteen times as high was undecided, and with
/// fewer of them the longest time says as little as before.
#[test]
fn a_percentile_of_few_samples_is_met_where_the_longest_time_meets_it() {
    let trial = |duration: &str, goal: &str, code: i32, expected: &str| {
        let args = ["trial", "sim:md1?time=1ms", "-q", "--seed", "1"];
        let more = ["--duration", duration, "--goal", goal];
        Scratch::new().check(&[&args[..], &more].concat(), code, expected);
    };
    let expected = "PASS p99 <= 10ms: 1.00 ms";
    trial("1s", "p99 <= 10ms", 0, expected);
    trial("100ms", "p99 <= 10ms", 5, "UNDECIDED p99 <= 10ms");
    trial("1s", "p99.9 <= 10ms", 5, "UNDECIDED p99.9 <= 10ms");
}

#[test]
fn reads_and_writes_of_a_mix_have_goals_of_their_own() {
    let goals = ["--goal", "read.p99 <= 5.2ms", "--goal", "write.p99 <= 4ms"];
    let mix = ["--writes", "30%"];
    let ended = long_trial(
        "200s",
        &[&mix[..], &goals].concat(),
        4,
        "PASS read.p99 <= 5.2ms: 4.6",
    );
    assert!(
        ended.stdout.contains("FAIL write.p99 <= 4ms"),
        "{}",
        ended.stdout
    );
    let rated = ["--goal", "read.p99 <= 34ms @ 800/s"];
    let expected = "PASS read.p99 <= 34ms @ 800/s: 2";
    long_trial("2000s", &[&mix[..], &rated].concat(), 0, expected);
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
        "PASS random_read.mean <= 1s: ",
    );
    scratch.check(&["runs", "show"], 0, "PASS random_read.mean <= 1s");
    scratch.check(
        &["runs", "export", "1", "--form", "markdown"],
        0,
        "| PASS | random",
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
    assert!(
        page.contains("The result is unstable. Run longer"),
        "{page}"
    );
}

/// Bug: a level that not even one client keeps was undecided, as if the figure did not exist.
#[test]
fn a_level_that_no_load_keeps_fails_its_goal() {
    let scratch = Scratch::new();
    let curve = |level: &str, goal: &str, code: i32, expected: &str| {
        let args = [
            "curve",
            "sim:mm1?mean=1ms",
            "--budget",
            "20s",
            "--no-save",
            "-q",
        ];
        let more = ["--seed", "1", "--level", level, "--goal", goal];
        scratch.check(&[&args[..], &more].concat(), code, expected);
    };
    let why = "no load meets the level, the lowest latency is 1.0";
    curve("500us", "500us.iops >= 100/s", 4, why);
    curve("2ms", "2ms.iops >= 100/s", 0, "PASS 2ms.iops >= 100/s");
    // A level that was not asked for is no figure of the run.
    curve("500us", "700us.iops >= 100/s", 2, "");
}
