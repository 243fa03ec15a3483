//! `seekstone replay`, `inspect TRACE`, `trial --iolog`: a trace keeps its times, its requests and
//! its bytes, lateness shows, and nothing is written that may not be.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::tables::{estimate, figure, row};
use crate::support::{Scratch, finish, is_installed, skipped};
use serde_json::Value;

const HEADER: &str = "fio version 3 iolog\n0 /old add\n0 /old open\n";

/// A log of requests, each with its microsecond, what it does, its offset and its length.
fn write_log(path: &Path, requests: impl IntoIterator<Item = (u64, &'static str, u64, u64)>) {
    let mut text = HEADER.to_owned();
    for (at, op, offset, length) in requests {
        writeln!(text, "{at} /old {op} {offset} {length}").expect("a text");
    }
    fs::write(path, text).expect("a file");
}

/// Reads at random times, so many per second on average for so many seconds, and one at the end.
fn write_poisson(path: &Path, per_second: f64, seconds: u64) {
    let mut random = fastrand::Rng::with_seed(5);
    let mut requests = vec![(0, "read", 0, 4096)];
    let mut at = 0.0;
    loop {
        at += -1e6 / per_second * (1.0 - random.f64()).ln();
        if at >= seconds as f64 * 1e6 {
            break;
        }
        requests.push((at as u64, "read", random.u64(0..4096) * 4096, 4096));
    }
    requests.push((seconds * 1_000_000, "read", 0, 4096));
    write_log(path, requests);
}

#[track_caller]
fn replay(scratch: &Scratch, target: &str, args: &[&str]) -> Value {
    let always = ["--seed", "7", "-q", "--no-save", "--json", "-"];
    let args = [&["replay", "trace", target], args, &always].concat();
    let ended = finish(scratch.seekstone(&args));
    ended.check(&args, 0, "");
    ended.json()
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let number = value.as_f64();
    number.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

fn has_warning(run: &Value, code: &str) -> bool {
    let warnings = run["warnings"].as_array().expect("warnings");
    warnings.iter().any(|it| it["code"] == code)
}

#[test]
fn ten_minutes_are_ten_minutes_to_the_nanosecond() {
    let scratch = Scratch::new();
    write_poisson(&scratch.path("trace"), 50.0, 600);
    let check = |args: &[&str], nanoseconds: u64| {
        let run = replay(&scratch, "sim:delay?time=1ms", args);
        let found = row(&run, "replay", &[]);
        let seconds = nanoseconds as f64 / 1e9;
        assert_eq!(figure(found, "trace-length"), seconds, "{args:?}");
        assert_eq!(figure(found, "elapsed"), seconds, "{args:?}");
        assert_eq!(figure(found, "behind-longest"), 0.0, "{args:?}");
        let [recorded, requests] = ["recorded", "requests"].map(|it| figure(found, it));
        assert_eq!(recorded, requests, "{args:?}");
        assert!(!has_warning(&run, "replay-behind"), "{args:?}");
    };
    check(&[], 600_000_000_000);
    check(&["--scale", "2x"], 300_000_000_000);
    check(&["--scale", "0.5x"], 1_200_000_000_000);
}

#[test]
fn random_arrivals_wait_as_the_textbook_says() {
    let scratch = Scratch::new();
    write_poisson(&scratch.path("trace"), 99.5, 2000);
    let run = replay(&scratch, "sim:mm1?mean=5ms", &[]);
    let mean = number(&run["measurements"][0]["response"]["mean"]["value"]) / 1e9;
    // M/M/1: 1 / (mu - lambda).
    let theory = 1.0 / (200.0 - 99.5);
    assert!(
        (mean / theory - 1.0).abs() < 0.03,
        "{mean} s, not {theory} s"
    );
}

#[test]
fn a_replay_on_a_model_repeats_to_the_last_digit() {
    let scratch = Scratch::new();
    write_poisson(&scratch.path("trace"), 200.0, 20);
    let [one, other] = [(); 2].map(|()| replay(&scratch, "sim:nvme", &["--fit", "modulo"]));
    assert_eq!(one["tables"], other["tables"]);
    assert_eq!(one["measurements"], other["measurements"]);
}

#[test]
fn a_target_that_is_too_slow_falls_behind_and_that_shows() {
    let scratch = Scratch::new();
    let requests = (0..20_000).map(|it| (it * 1000, "read", it % 1000 * 4096, 4096));
    write_log(&scratch.path("trace"), requests);
    // 1,000 a second are asked for; it does 500.
    let run = replay(&scratch, "sim:md1?time=2ms", &["--depth", "4"]);
    let found = row(&run, "replay", &[]);
    let took = figure(found, "elapsed");
    assert!((took - 40.0).abs() < 0.1, "{took} s");
    let longest = figure(found, "behind-longest");
    assert!((longest - 20.0).abs() < 0.1, "{longest} s");
    // The last was due after 20 s and done after 40 s: half of that is the mean.
    let mean = number(&run["measurements"][0]["response"]["mean"]["value"]) / 1e9;
    assert!((mean - 10.0).abs() < 0.1, "{mean} s");
    assert_eq!(figure(found, "requests"), 20_000.0);
    assert!(has_warning(&run, "replay-behind"));
    let text = run["findings"][0].as_str().expect("a sentence");
    assert!(text.contains("the target did not keep up"), "{text}");
}

#[test]
fn as_fast_as_possible_keeps_the_depth_and_no_schedule() {
    let scratch = Scratch::new();
    let requests = (0..4000).map(|it| (it * 1_000_000, "read", it % 1000 * 4096, 4096));
    write_log(&scratch.path("trace"), requests);
    let args = ["--as-fast-as-possible", "--depth", "8"];
    let run = replay(&scratch, "sim:delay?time=1ms", &args);
    let found = row(&run, "replay", &["as fast as possible, QD8"]);
    let took = figure(found, "elapsed");
    // The last is issued when all before it but seven are done.
    assert!((took / (4000.0 / 8.0 * 1e-3) - 1.0).abs() < 0.1, "{took} s");
    assert!(estimate(found, "behind").is_none(), "{found}");
}

#[test]
fn what_a_trial_asks_for_is_what_a_replay_of_its_log_asks_for() {
    let scratch = Scratch::new();
    let always = ["--seed", "3", "-q", "--no-save", "--json", "-"];
    let load = [
        "trial",
        "sim:nvme",
        "--rate",
        "800/s",
        "--writes",
        "30%",
        "--block",
        "8k",
        "--duration",
        "5s",
        "--iolog",
        "trace",
    ];
    let ended = finish(scratch.seekstone([&load[..], &always].concat()));
    ended.check(&[], 0, "");
    let trial = &ended.json()["measurements"][0];
    let inspect = ["inspect", "trace", "--json", "-"];
    let inspected = scratch.check(&inspect, 0, "\"fio iolog v3\"").json();
    let replayed = &replay(&scratch, "sim:nvme", &[])["measurements"][0];
    assert_eq!(trial["completions_all"], replayed["completions_all"]);
    assert_eq!(trial["bytes_all"], replayed["bytes_all"]);
    assert_eq!(inspected["requests"], replayed["completions_all"]);
    for (place, kind) in ["read", "write"].into_iter().enumerate() {
        let kinds = replayed["kinds"].as_array().expect("kinds");
        let of_replay = kinds.iter().find(|it| it["kind"] == kind).expect(kind);
        assert_eq!(
            inspected["kinds"][place]["count"], of_replay["count"],
            "{kind}"
        );
        assert_eq!(
            inspected["kinds"][place]["bytes"], of_replay["bytes"],
            "{kind}"
        );
    }
    let variation = number(&inspected["gap_variation"]);
    assert!((variation - 1.0).abs() < 0.05, "{variation}");
}

#[test]
fn a_trace_goes_to_a_test_file_that_is_removed() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let requests = (0..50).map(|it| match it % 5 {
        4 => (it * 2000, "sync", 0, 0),
        0 => (it * 2000, "write", it * 65_536, 65_536),
        _ => (it * 2000, "read", it * 4096, 4096),
    });
    write_log(&scratch.path("trace"), requests);
    for args in [&[][..], &["--driver", "threads"], &["--buffered"]] {
        let run = replay(&scratch, target.to_str().expect("text"), args);
        let found = row(&run, "replay", &[]);
        assert_eq!(figure(found, "requests"), 50.0, "{args:?}");
        let bytes = f64::from(10 * 65_536 + 30 * 4096);
        assert_eq!(figure(found, "bytes"), bytes, "{args:?}");
        assert!(figure(found, "elapsed") >= 0.098, "{args:?}");
        scratch.assert_clean(&target);
    }
}

#[test]
fn requests_beyond_the_end_are_refused_moved_or_left_out() {
    let scratch = Scratch::new();
    fs::write(scratch.path("file"), vec![0; 2 << 20]).expect("a file");
    let requests = (0..4).map(|it| (it * 1000, "read", it << 20, 4096));
    write_log(&scratch.path("trace"), requests);
    let refused = ["replay", "trace", "file", "--no-save"];
    scratch.check(
        &refused,
        2,
        "the trace reaches to byte 3149824 (3.00 MiB), and file offers 2 MiB",
    );
    let check = |fit, moved, left_out, requests| {
        let run = replay(&scratch, "file", &["--fit", fit, "--buffered"]);
        let found = row(&run, "replay", &[]);
        let counts = ["moved", "left-out", "requests"].map(|it| figure(found, it));
        assert_eq!(counts, [moved, left_out, requests].map(f64::from), "{fit}");
        assert!(has_warning(&run, "replay-changed"), "{fit}");
    };
    check("modulo", 2, 0, 4);
    check("clip", 0, 2, 2);
}

#[test]
fn nothing_is_written_that_may_not_be_and_mistakes_are_one_sentence() {
    let scratch = Scratch::new();
    let content = vec![7; 1 << 20];
    fs::write(scratch.path("file"), &content).expect("a file");
    write_log(
        &scratch.path("trace"),
        [(0, "write", 0, 4096), (5, "sync", 0, 0)],
    );
    let check = |args: &[&str], expected: &str| {
        let args = [&["replay"], args, &["--no-save", "-q"]].concat();
        let ended = scratch.check(&args, 2, expected);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert_eq!(fs::read(scratch.path("file")).expect("a file"), content);
    };
    check(
        &["trace", "file"],
        "the trace has 1 write and 1 sync, and file is not written to without --overwrite",
    );
    fs::write(
        scratch.path("bad"),
        format!("{HEADER}5 /old read 0 4096\n6 /old read\n"),
    )
    .expect("a file");
    check(&["bad", "file"], "bad:5: read needs an offset and a length");
    fs::write(scratch.path("none"), "no trace\n").expect("a file");
    check(
        &["none", "file"],
        "none: the beginning is that of no trace that is known",
    );
    fs::write(scratch.path("blank"), "").expect("a file");
    check(&["blank", "file"], "blank is empty: it holds no trace");
    check(&["gone", "file"], "cannot read gone: No such file");
    fs::write(scratch.path("empty"), HEADER).expect("a file");
    check(&["empty", "file"], "empty: there is no read or write in it");
    fs::write(
        scratch.path("odd"),
        format!("{HEADER}0 /old read 100 100\n"),
    )
    .expect("a file");
    check(
        &["odd", "file"],
        "the trace has requests at multiples of 4 bytes, and direct I/O",
    );
    let both = [
        "replay",
        "trace",
        "file",
        "--scale",
        "2x",
        "--as-fast-as-possible",
    ];
    scratch.check(&both, 2, "cannot be used with");
}

#[test]
fn a_file_is_written_where_that_is_allowed() {
    let scratch = Scratch::new();
    fs::write(scratch.path("file"), vec![7; 1 << 20]).expect("a file");
    write_log(
        &scratch.path("trace"),
        [(0, "write", 8192, 4096), (500, "read", 0, 4096)],
    );
    let run = replay(&scratch, "file", &["--overwrite", "--buffered"]);
    assert_eq!(figure(row(&run, "replay", &[]), "requests"), 2.0);
    let content = fs::read(scratch.path("file")).expect("a file");
    let (kept, written) = (&content[..8192], &content[8192..12_288]);
    assert!(kept.iter().all(|it| *it == 7) && written.iter().any(|it| *it != 7));
    assert!(content[12_288..].iter().all(|it| *it == 7));
}

#[test]
fn devices_lie_side_by_side_or_are_chosen() {
    let scratch = Scratch::new();
    let lines = "1,R,0,4096,1000\n2,R,4096,4096,2000\n2,R,0,8192,3000\n";
    fs::write(scratch.path("trace"), lines).expect("a file");
    let all = replay(&scratch, "sim:nvme", &[]);
    let found = row(&all, "replay", &[]);
    assert_eq!(figure(found, "files"), 2.0);
    assert_eq!(figure(found, "extent"), f64::from(2 << 20));
    assert!(has_warning(&all, "replay-several-files"));
    let one = replay(&scratch, "sim:nvme", &["--device", "2"]);
    let found = row(&one, "replay", &[]);
    assert_eq!(figure(found, "requests"), 2.0);
    assert_eq!(figure(found, "trace-length"), 0.001);
    assert!(!has_warning(&one, "replay-several-files"));
    let args = ["replay", "trace", "sim:nvme", "--device", "9"];
    scratch.check(&args, 2, "trace: there is no read or write of 9 in it");
}

#[test]
fn times_that_go_back_or_are_whole_seconds_are_doubted() {
    let scratch = Scratch::new();
    write_log(
        &scratch.path("trace"),
        [
            (0, "read", 0, 4096),
            (90, "read", 0, 4096),
            (50, "read", 0, 4096),
        ],
    );
    assert!(has_warning(
        &replay(&scratch, "sim:nvme", &[]),
        "replay-reordered"
    ));
    fs::write(scratch.path("trace"), "7,0,8,0,1\n7,8,8,0,1\n8,0,8,0,1\n").expect("a file");
    let run = replay(&scratch, "sim:nvme", &[]);
    assert!(has_warning(&run, "replay-whole-seconds"));
    assert_eq!(figure(row(&run, "replay", &[]), "trace-length"), 1.0);
}

#[test]
fn a_replay_ends_when_its_time_is_up_and_is_repeated_as_it_was() {
    let scratch = Scratch::new();
    let requests = (0..1000).map(|it| (it * 100_000, "read", it * 4096, 4096));
    write_log(&scratch.path("trace"), requests);
    let args = [
        "replay",
        "trace",
        "sim:nvme",
        "--duration",
        "10s",
        "--seed",
        "1",
        "-q",
    ];
    scratch.check(&args, 1, "the 10.0 s of --duration ended before the trace");
    let args = [
        "replay", "trace", "sim:nvme", "--scale", "10x", "--seed", "1", "-q",
    ];
    scratch.check(&args, 0, "Replayed 1,000 requests in 9.99 s");
    scratch.check(
        &["runs", "repeat", "2", "-q"],
        0,
        "Replayed 1,000 requests in 9.99 s",
    );
}

/// What fio says of a job.
#[track_caller]
fn fio(scratch: &Scratch, args: &[&str]) -> Value {
    let mut command = Command::new("fio");
    scratch.settle(command.args(args).args(["--output-format=json"]));
    let ended = finish(command);
    ended.check(args, 0, "");
    ended.json()
}

#[test]
fn logs_that_fio_writes_are_replayed_whole_and_fio_reads_ours() {
    let test = "logs_that_fio_writes_are_replayed_whole_and_fio_reads_ours";
    if !is_installed("fio") {
        skipped(test, "fio is missing");
        return;
    }
    let scratch = Scratch::new();
    let job = [
        "--name=a",
        "--filename=data",
        "--size=4m",
        "--rw=randrw",
        "--bs=4k",
        "--ioengine=psync",
        "--number_ios=200",
        "--fsync=10",
        "--write_iolog=trace",
    ];
    let written = &fio(&scratch, &job)["jobs"][0];
    let total = |kind: &str| number(&written[kind]["total_ios"]);
    let run = replay(&scratch, "sim:nvme", &["--scale", "0.1x"]);
    let kinds = run["measurements"][0]["kinds"].as_array().expect("kinds");
    let count = |kind: &str| {
        kinds
            .iter()
            .find(|it| it["kind"] == kind)
            .map(|it| number(&it["count"]))
    };
    assert_eq!(count("read"), Some(total("read")));
    assert_eq!(count("write"), Some(total("write")));
    assert_eq!(count("flush"), Some(total("sync")));
    let trial = [
        "trial",
        "sim:nvme",
        "--rate",
        "2000/s",
        "--duration",
        "500ms",
        "--seed",
        "3",
        "-q",
        "--no-save",
        "--iolog",
        "ours",
        "--json",
        "run.json",
    ];
    scratch.check(&trial, 0, "");
    let run = fs::read_to_string(scratch.path("run.json")).expect("a file");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let read = [
        "--name=b",
        "--read_iolog=ours",
        "--ioengine=null",
        "--filename=sim",
        "--size=64g",
        "--replay_no_stall=1",
    ];
    let read = &fio(&scratch, &read)["jobs"][0];
    assert_eq!(
        read["read"]["total_ios"],
        run["measurements"][0]["completions_all"]
    );
}
