//! `seekstone transactions` on storage whose truth is known, and what it refuses.

mod support;

use std::fs;

use rustix::process::Signal;
use serde_json::Value;
use support::{Running, Scratch};

/// One processor that is never asked, and one server of exactly 10 ms: 100 I/Os per second.
const DISK: &str = "sim:md1?time=10ms";

#[track_caller]
fn measure(scratch: &Scratch, args: &[&str]) -> Value {
    let common = ["--no-save", "--json", "-", "--quiet"];
    let args = [&["transactions"], args, &common].concat();
    scratch.check(&args, 0, "\"transactions\"").json()
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let found = value.as_f64();
    found.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

#[track_caller]
fn assert_near(found: f64, expected: f64, off: f64) {
    let ratio = found / expected;
    assert!((ratio - 1.0).abs() <= off, "{found} instead of {expected}");
}

#[test]
fn users_share_a_disk_of_known_speed() {
    let scratch = Scratch::new();
    for users in ["1", "2", "8"] {
        let args = [
            DISK,
            "--users",
            users,
            "--ios",
            "5",
            "--think",
            "0",
            "--duration",
            "100s",
            "--seed",
            "1",
        ];
        let run = measure(&scratch, &args);
        let load = &run["transactions"]["loads"][0];
        assert_near(number(&load["per_second_steady"]["value"]), 20.0, 0.02);
        let mean = number(&load["all"]["from_due"]["mean"]["value"]);
        let users: f64 = users.parse().expect("a number");
        assert_near(mean, users * 50e6, 0.03);
        assert_near(number(&load["users_by_law"]["value"]), users, 0.03);
        assert_eq!(run["measurements"][0]["lateness"]["max_ns"], 0);
    }
}

/// Whole transactions over elapsed time: the last user runs alone, and the figure says less than
/// the system carries.
#[test]
fn users_leave_after_their_transactions() {
    let scratch = Scratch::new();
    let args = [
        DISK,
        "--users",
        "4",
        "--ios",
        "10",
        "--think",
        "1s",
        "--transactions",
        "20",
        "--seed",
        "3",
    ];
    let load = &measure(&scratch, &args)["transactions"]["loads"][0];
    assert_eq!(load["all"]["transactions"], 80);
    let whole = number(&load["per_second_whole"]);
    assert_near(whole, 80e9 / number(&load["elapsed_ns"]), 1e-6);
}

#[test]
fn the_number_of_users_that_fit_is_found() {
    let scratch = Scratch::new();
    // One user more is 10 ms more: ten of them take 100 ms.
    let args = [
        DISK,
        "--users",
        "1",
        "--ios",
        "1",
        "--think",
        "0",
        "--find-users",
        "--percentile",
        "95",
        "--limit",
        "105ms",
        "--seed",
        "1",
        "--users-max",
        "1000",
    ];
    let search = &measure(&scratch, &args)["transactions"]["search"];
    assert_eq!(
        (&search["meets"], &search["misses"]),
        (&10.into(), &11.into()),
        "{search}"
    );
}

#[test]
fn profiles_come_from_a_file() {
    let scratch = Scratch::new();
    let file = scratch.path("users.toml");
    fs::write(&file, workload::example_profiles()).expect("a file");
    let file = file.to_str().expect("a plain path");
    let args = [
        "sim:delay?time=10ms&cpus=4",
        "--profiles",
        file,
        "--duration",
        "300s",
        "--seed",
        "1",
    ];
    let load = &measure(&scratch, &args)["transactions"]["loads"][0];
    assert_eq!(load["users"], 32);
    let names: Vec<&Value> = (0..2)
        .map(|index| &load["profiles"][index]["name"])
        .collect();
    assert_eq!(names, ["light", "heavy"]);
    assert_eq!(load["profiles"][1]["users"], 2);
}

#[test]
fn a_standard_test_prints_the_table_of_the_document() {
    let scratch = Scratch::new();
    let args = [
        "transactions",
        "sim:mm1?mean=14ms",
        "--standard",
        "9.4",
        "--cpu-unit",
        "100ms",
        "--seed",
        "1",
        "--no-save",
        "--quiet",
    ];
    let ended = scratch.check(&args, 0, "as published: its 95 % value (3.35) lies below");
    let ours = ended
        .stdout
        .lines()
        .filter(|line| line.trim_start().starts_with("here "));
    assert_eq!(ours.count(), 3, "{}", ended.stdout);
    assert!(
        ended.stdout.contains("PPro      4    76  5.26"),
        "{}",
        ended.stdout
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let scratch = Scratch::new();
    let refuse = |args: &[&str], code: i32, expected: &str| {
        let args = [&["transactions"], args, &["--no-save"]].concat();
        scratch.check(&args, code, expected);
    };
    refuse(&[DISK, "--users", "0"], 2, "0 is not in 1..=100000");
    refuse(
        &[DISK, "--users", "100001"],
        2,
        "100001 is not in 1..=100000",
    );
    refuse(&[DISK, "--ios", "0"], 2, "0 is not in 1..=1000000");
    refuse(&[DISK, "--io", "0"], 2, "above zero");
    refuse(
        &[DISK, "--io", "2GiB"],
        2,
        "the I/O size 2 GiB must lie between",
    );
    refuse(
        &[DISK, "--think", "5s:poisson"],
        2,
        "is no law of think times",
    );
    refuse(&[DISK, "--cpu", "many units"], 2, "as in 0.5units");
    refuse(&[DISK, "--limit", "5ms"], 2, "--find-users");
    refuse(&[DISK, "--find-users"], 2, "--limit");
    refuse(
        &[DISK, "--percentile", "42", "--find-users", "--limit", "1s"],
        2,
        "50, 90, 95",
    );
    refuse(
        &[DISK, "--profiles", "none.toml"],
        1,
        "none.toml cannot be read",
    );
    refuse(&[DISK, "--standard", "9.1"], 2, "9.2");
    refuse(&["null:", "--users", "2"], 2, "null: has no users");
    let wrong = scratch.path("wrong.toml");
    fs::write(&wrong, "[[profile]]\nios = 5\nusres = 3\n").expect("a file");
    let wrong = wrong.to_str().expect("a plain path");
    refuse(
        &[DISK, "--profiles", wrong],
        2,
        "wrong.toml:3: unknown key \"usres\"",
    );
}

/// Before any file is made.
#[test]
fn memory_beyond_what_there_is_is_refused() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let args = [
        "transactions",
        "target",
        "--users",
        "1000",
        "--memory",
        "100GiB",
        "--no-save",
    ];
    scratch.check(&args, 1, "of memory are wanted, but only");
    scratch.assert_clean(&target);
}

#[test]
fn an_existing_file_is_not_written_to() {
    let scratch = Scratch::new();
    let file = scratch.path("precious");
    fs::write(&file, vec![7; 2 << 20]).expect("a file");
    let args = ["transactions", "precious", "--writes", "50%", "--no-save"];
    scratch.check(&args, 2, "is not written to unless you say --overwrite");
}

/// Nothing is due for a day, and the program still ends when it is told to.
#[test]
fn a_day_of_think_time_ends_with_a_signal() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let args = [
        "transactions",
        "target",
        "--size",
        "16MiB",
        "--think",
        "1d:constant",
        "--duration",
        "1d",
        "--no-save",
    ];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("1 user, 5 I/Os");
    running.signal(Signal::INT);
    let ended = running.end();
    ended.check(&args, 1, "stopped by SIGINT before anything was measured");
    scratch.assert_clean(&target);
}
