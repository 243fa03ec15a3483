//! `seekstone transactions` on storage whose truth is known, and what it refuses.

use std::fs;

use crate::support::tables::{estimate, figure, row, rows};
use crate::support::{Running, Scratch};
use rustix::process::Signal;
use serde_json::{Value, json};

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
        let load = row(&run, "transactions", &[users, "all"]);
        assert_near(figure(load, "tps"), 20.0, 0.02);
        let mean = figure(load, "latency");
        let by_law = row(&run, "transactions-machine", &[users, "by law"]);
        let users: f64 = users.parse().expect("a number");
        assert_near(mean, users * 0.05, 0.03);
        assert_near(figure(by_law, "users"), users, 0.03);
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
    let run = measure(&scratch, &args);
    let load = row(&run, "transactions", &["4", "all"]);
    assert_eq!(figure(load, "transactions"), 80.0);
    let whole = row(&run, "transactions-machine", &["4", "whole run"]);
    assert_near(figure(whole, "tps"), 80.0 / figure(whole, "elapsed"), 1e-6);
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
    let run = measure(&scratch, &args);
    let found = row(&run, "users-found", &["95 % within 105 ms"]);
    let ends = ["meets", "misses"].map(|it| figure(found, it));
    assert_eq!(ends, [10.0, 11.0], "{found}");
    assert_eq!(
        estimate(found, "users").map(|it| &it["high"]),
        Some(&10.0.into())
    );
}

#[test]
fn profiles_come_from_a_file() {
    let scratch = Scratch::new();
    let file = scratch.path("users.toml");
    let example = include_str!("../../../workload/src/definition/example_profiles.toml");
    fs::write(&file, example).expect("a file");
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
    let run = measure(&scratch, &args);
    let found = rows(&run, "transactions").into_iter();
    let found = found.map(|it| (&it["levels"], figure(it, "users")));
    let expected = [("all", 32.0), ("light", 30.0), ("heavy", 2.0)];
    let expected = expected.map(|(name, users)| (json!(["32", name]), users));
    let expected = expected.iter().map(|(levels, users)| (levels, *users));
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

/// One unit is what --cpu-unit says, in a file of profiles too.
#[test]
fn profiles_count_in_the_unit_that_is_given() {
    let scratch = Scratch::new();
    let file = scratch.path("users.toml");
    fs::write(&file, "[[profile]]\nios = 1\ncpu = \"2units\"\n").expect("a file");
    let file = file.to_str().expect("a plain path");
    let args = [
        "sim:delay?time=1ms",
        "--profiles",
        file,
        "--cpu-unit",
        "50ms",
    ];
    let args = [&args[..], &["--duration", "10s", "--seed", "1"]].concat();
    let run = measure(&scratch, &args);
    let whole = row(&run, "transactions-machine", &["1", "whole run"]);
    assert_eq!(figure(whole, "cpu-asked"), 0.1);
    let load = row(&run, "transactions", &["1", "all"]);
    assert_near(figure(load, "latency"), 0.101, 0.001);
}

/// A disk of 10 ms under one user who asks for five I/Os and 50 ms of work: both are busy half of
/// the time, in each interval, and the rates of the intervals add up to the whole.
#[test]
fn what_the_machine_did_is_listed_by_intervals() {
    let scratch = Scratch::new();
    let args = [
        "transactions",
        DISK,
        "--cpu",
        "50ms",
        "--think",
        "0",
        "--duration",
        "20s",
        "--interval",
        "500ms",
        "--archive",
        "runs.db",
        "--json",
        "-",
    ];
    let run = scratch.check(&args, 0, "\"series\"").json();
    let load = row(&run, "transactions", &["1", "all"]);
    let series = &run["measurements"][0]["series"];
    assert_eq!(series["interval_ns"], 500_000_000);
    let samples = series["samples"].as_array().expect("intervals");
    assert_eq!(samples.len(), 40);
    for sample in samples {
        let share = |name: &str| number(&sample[name]);
        assert!((share("device_busy_share") - 0.5).abs() < 0.03, "{sample}");
        assert!((share("cpu_share") - 0.5).abs() < 0.03, "{sample}");
        assert!(
            (share("device_reads_per_second") - 50.0).abs() < 3.0,
            "{sample}"
        );
        assert!(sample["page_cache_misses_per_second"].is_null(), "{sample}");
    }
    let counts = samples.iter().map(|sample| number(&sample["transactions"]));
    let all: f64 = counts.sum();
    assert_eq!(all, figure(load, "transactions"));
    let export = ["runs", "export", "1", "--archive", "runs.db", "--form"];
    let with = |form| [&export[..], &[form]].concat();
    let csv = scratch
        .check(&with("intervals"), 0, "device_busy_share")
        .stdout;
    assert_eq!(csv.lines().count(), 1 + samples.len());
    scratch.check(&with("passes"), 2, "run 1 has no repetitions");
    scratch.check(
        &["runs", "show", "1", "--archive", "runs.db"],
        0,
        "until  transactions",
    );
}

/// On real storage the kernel counts, all on one time base.
#[test]
fn the_kernels_counters_are_sampled() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let args = [
        "target",
        "--size",
        "4MiB",
        "--users",
        "2",
        "--think",
        "10ms",
        "--duration",
        "1s",
        "--buffered",
        "--reserve",
        "0",
    ];
    let run = measure(&scratch, &args);
    let load = row(&run, "transactions", &["2", "all"]);
    let series = &run["measurements"][0]["series"];
    let samples = series["samples"].as_array().expect("intervals");
    // Who samples may wait for a processor: then an interval is longer, and none is lost.
    assert!((1..=12).contains(&samples.len()), "{samples:?}");
    let mut end = 0.0;
    for sample in samples {
        end += number(&sample["length_ns"]);
        assert_eq!(number(&sample["end_ns"]), end, "without gaps: {sample}");
        number(&sample["minor_faults_per_second"]);
        number(&sample["page_cache_misses_per_second"]);
        assert!(number(&sample["cpu_own_share"]) <= 1.0, "{sample}");
    }
    let counts = samples.iter().map(|sample| number(&sample["transactions"]));
    let all: f64 = counts.sum();
    assert_near(all, figure(load, "transactions"), 0.05);
    scratch.assert_clean(&target);
}

#[test]
fn users_wait_for_the_instant_that_they_share() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let common = [
        "--size",
        "4MiB",
        "--transactions",
        "2",
        "--think",
        "0",
        "--reserve",
        "0",
    ];
    let args = |when| {
        let head = ["transactions", "target", when, "--no-save"];
        [&head[..], &common[..]].concat()
    };
    let ended = scratch.check(&args("--synchronise=300ms"), 0, "waiting 300 ms for ");
    assert!(ended.stderr.contains("1 user"), "{}", ended.stderr);
    scratch.check(
        &args("--synchronise=2001-05-01T14:30:00Z"),
        2,
        "is in the past",
    );
    scratch.check(&args("--synchronise=14.30"), 2, "a time of day (14:30:00)");
    scratch.assert_clean(&target);
    // A signal ends the wait.
    let args = args("--synchronise=20h");
    let mut running = Running::start(scratch.seekstone(&args));
    running.wait_for("waiting 20 h for ");
    running.signal(Signal::INT);
    running
        .end()
        .check(&args, 1, "stopped by SIGINT before anything was measured");
    scratch.assert_clean(&target);
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
        ended.stdout.contains("PPro      4         76  5.26"),
        "{}",
        ended.stdout
    );
}

/// All of them, with as many cells as columns, one row for each load and profile.
#[test]
fn every_standard_test_runs_on_a_model() {
    let scratch = Scratch::new();
    let tests = [
        ("9.2", 3, "CP sec/tran"),
        ("9.3", 3, "95%"),
        ("9.4", 3, "95%"),
        ("9.5", 6, "MB"),
        ("10.1", 9, "Tasks"),
        ("10.2", 2, "Transactions"),
        ("10.3", 3, "PPro Ut"),
    ];
    for (section, expected, column) in tests {
        let args = [
            "sim:mm1?mean=14ms",
            "--standard",
            section,
            "--transactions",
            "4",
        ];
        let args = [&args[..], &["--cpu-unit", "100ms", "--seed", "1"]].concat();
        let run = measure(&scratch, &args);
        let tables = run["tables"].as_array().expect("tables").iter();
        let mut tables = tables.filter(|it| it["name"] == "standard-test");
        let table = tables.next().expect("a standard test");
        let found = rows(&run, "standard-test");
        let mut columns = vec!["PC"];
        columns.extend(table["factors"][1].as_str());
        let named = found[0]["words"].as_array().expect("cells").iter();
        columns.extend(named.filter_map(|it| it[0].as_str()));
        assert!(columns.contains(&column), "{section}: {columns:?}");
        for row in &found {
            let cells = row["words"].as_array().expect("cells");
            assert_eq!(cells.len() + 2, columns.len(), "{section}: {row}");
        }
        let ours = found.iter().filter(|row| row["levels"][0] == "here");
        assert_eq!(ours.count(), expected, "{section}");
        let loads = rows(&run, "transactions-machine").into_iter();
        for load in loads.filter(|it| it["levels"][1] == "whole run") {
            let busy = figure(load, "device-busy");
            assert!(busy > 0.0 && busy <= 1.0, "{section}: {busy}");
        }
    }
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
        "is not a think-time distribution: use constant, uniform (zero",
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
        "cannot read none.toml",
    );
    refuse(&[DISK, "--standard", "9.1"], 2, "9.2");
    refuse(&[DISK, "--synchronise=1h"], 2, "a model's time is virtual");
    refuse(
        &[DISK, "--standard", "9.4", "--synchronise"],
        2,
        "cannot be used with",
    );
    refuse(&[DISK, "--interval", "1ms"], 2, "must be at least 50 ms");
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
    scratch.check(&args, 1, "of memory (--memory), and only");
    scratch.assert_clean(&target);
}

#[test]
fn an_existing_file_is_not_written_to() {
    let scratch = Scratch::new();
    let file = scratch.path("precious");
    fs::write(&file, vec![7; 2 << 20]).expect("a file");
    let args = ["transactions", "precious", "--writes", "50%", "--no-save"];
    scratch.check(
        &args,
        2,
        "precious exists and is only written to with --overwrite",
    );
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

/// The think law of the document's logs, from zero to twice the mean, was in standard tests only.
#[test]
fn users_think_as_the_document_has_them() {
    let scratch = Scratch::new();
    let args = [
        "sim:delay?time=1ms",
        "--users",
        "200",
        "--think",
        "2s:uniform",
    ];
    let args = [
        &args[..],
        &["--ios", "1", "--duration", "200s", "--seed", "1"],
    ]
    .concat();
    let run = measure(&scratch, &args);
    let whole = row(&run, "transactions-machine", &["200", "whole run"]);
    assert_near(figure(whole, "think-time"), 2.0, 1e-9);
    assert_near(figure(whole, "tps"), 200.0 / 2.001, 0.02);
    // The memory of users is no matter of depth and block size.
    let args = ["transactions", ".", "--users", "100", "--memory", "100GiB"];
    let ended = scratch.check(&args, 1, "use less memory, or fewer users");
    assert!(!ended.stderr.contains("queue depth"), "{}", ended.stderr);
}
