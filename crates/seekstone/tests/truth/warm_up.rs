//! `--warm-up` leaves out what it names, of every kind that has a start: on a device that is three
//! times as slow for its first two seconds the answer is that of the rest.

use crate::support::{Scratch, finish, tables};
use serde_json::Value;

/// One operation of 1 ms at a time; 3 ms for two seconds from the start of each trial.
const DEVICE: &str = "sim:mm1?mean=1ms&warm-up=200%@2s";
const MEAN_NS: f64 = 1e6;

fn measured(args: &[&str]) -> Value {
    let common = ["--seed", "1", "--no-save", "--quiet", "--json", "-"];
    let ended = finish(Scratch::new().seekstone([args, &common].concat()));
    assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    ended.json()
}

/// That the interval of `estimate` holds `truth` and is not wider than 15 % to either side.
#[track_caller]
fn assert_covers(estimate: &Value, truth: f64) {
    let part = |name: &str| {
        let found = estimate[name].as_f64();
        found.unwrap_or_else(|| panic!("no {name} in {estimate}"))
    };
    let (low, high) = (part("low"), part("high"));
    assert!(
        low <= truth && truth <= high,
        "{truth} is not in {estimate}"
    );
    assert!(high - low < 0.3 * truth, "{estimate}");
}

#[track_caller]
fn assert_is_slow(estimate: &Value) {
    let low = estimate["low"].as_f64().unwrap_or(0.0);
    assert!(low > MEAN_NS, "the start is in it: {estimate}");
}

/// The interval of a time of a table, in nanoseconds.
fn in_ns(time: Option<&Value>) -> Value {
    let time = time.expect("a time");
    let ns = |part: &str| time[part].as_f64().map(|seconds| seconds * 1e9);
    serde_json::json!({"low": ns("low"), "high": ns("high")})
}

#[track_caller]
fn assert_named(warnings: &Value) {
    let mut all = warnings.as_array().expect("warnings").iter();
    assert!(all.any(|it| it["code"] == "warm-up-left-out"), "{warnings}");
}

const CELL: [&str; 7] = [
    "random",
    DEVICE,
    "--reads",
    "--spans=all",
    "--blocks=4KiB",
    "--depths=1",
    "--budget=60s",
];

#[test]
fn each_round_of_random_access_leaves_it_out() {
    let mean = |run: &Value| {
        let cell = tables::row(run, "random", &["read"]);
        in_ns(tables::estimate(cell, "service-time"))
    };
    assert_is_slow(&mean(&measured(&[&CELL[..], &["--max-time=5s"]].concat())));
    let cut = measured(&[&CELL[..], &["--warm-up=2s"]].concat());
    assert_covers(&mean(&cut), MEAN_NS);
    assert_named(&cut["warnings"]);
    let rounds = cut["measurements"].as_array().expect("rounds");
    assert!(
        rounds
            .iter()
            .all(|it| it["warmup_ns"].as_f64() >= Some(2e9))
    );
}

#[test]
fn each_point_of_rab_leaves_it_out() {
    let args = ["rab", DEVICE, "--workload=transaction,batch", "--level=5ms"];
    let run = measured(&[&args[..], &["--budget=10min", "--warm-up=2s"]].concat());
    let alone = ["transaction", "normal", "1", "no load"];
    let alone = tables::row(&run, "rab-levels", &alone);
    assert_covers(&in_ns(tables::estimate(alone, "service-time")), MEAN_NS);
    assert_named(&run["curves"][0]["warnings"]);
    assert_covers(&run["measurements"][0]["throughput"], 1e3);
    assert_named(&run["row_warnings"]);
}

#[test]
fn loads_of_users_leave_it_out() {
    let users = ["--users=1", "--ios=1", "--think=0"];
    let args = [&["transactions", DEVICE][..], &users].concat();
    let mean = |run: &Value| run["measurements"][0]["response"]["mean"].clone();
    let told = measured(&[&args[..], &["--duration=4s"]].concat());
    let verdict = |run: &Value| run["measurements"][0]["verdict"].clone();
    assert_eq!(verdict(&told), "not-stationary");
    let cut = measured(&[&args[..], &["--duration=10s", "--warm-up=2s"]].concat());
    assert_covers(&mean(&cut), MEAN_NS);
    assert_ne!(verdict(&cut), "not-stationary");
    assert_named(&cut["warnings"]);
}

/// The last of 20 users comes 4 s after the first, and what was before is no load of 20.
#[test]
fn a_warm_up_is_no_shorter_than_the_coming_of_users() {
    let users = [
        "--users=20",
        "--ramp=5/s",
        "--think=100ms",
        "--duration=60s",
    ];
    let args = [&["transactions", "sim:mmc?mean=1ms&servers=20"][..], &users].concat();
    let run = measured(&[&args[..], &["--ios=1", "--warm-up=1s"]].concat());
    let left_out = run["measurements"][0]["warmup_ns"].as_f64();
    assert!(left_out >= Some(3.8e9), "{left_out:?}");
}

#[test]
fn what_leaves_no_time_to_count_is_refused() {
    let check = |args: &[&str], said: &str| {
        let ended = finish(Scratch::new().seekstone(args.iter().chain(&["--no-save"])));
        ended.check(args, 2, said);
    };
    let long = "--warm-up=30s";
    check(&[&CELL[..], &[long]].concat(), "with --warm-up 30");
    let max = [&CELL[..], &["--budget=10min", "--max-time=20s", long]].concat();
    check(
        &max[..6]
            .iter()
            .chain(&max[7..])
            .copied()
            .collect::<Vec<_>>(),
        "--max-time 20",
    );
    check(
        &["rab", DEVICE, "--budget=60s", long],
        "Nothing of it is left to count",
    );
    check(
        &["rab", DEVICE, "--workload=batch", "--budget=20s", long],
        "Nothing of it is left to count",
    );
    let users = ["transactions", DEVICE, "--duration=30s", long];
    check(&users, "nothing would be left of --duration");
    let users = ["transactions", DEVICE, "--budget=20s", long];
    check(&users, "nothing would be left of --budget");
}
