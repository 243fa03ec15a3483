//! What a fault of a simulated device does to the answer of each procedure is known beforehand.

mod support;

use serde_json::Value;
use support::{Scratch, finish};

fn run(scratch: &Scratch, args: &[&str]) -> (Option<i32>, Value) {
    let common = ["--seed", "1", "--no-save", "--quiet", "--json", "-"];
    let ended = finish(scratch.seekstone([args, &common].concat()));
    (ended.code, ended.json())
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let found = value.as_f64();
    found.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

#[track_caller]
fn assert_near(found: &Value, expected: f64, off: f64) {
    let ratio = number(found) / expected;
    assert!((ratio - 1.0).abs() <= off, "{found} instead of {expected}");
}

/// What failed is said, and what was measured before is kept.
#[track_caller]
fn assert_failed(run: &Value) {
    let status = run["status"].to_string();
    assert!(status.contains("failed: Input/output error"), "{status}");
}

/// One operation in a hundred holds all others up for 20 times its own time.
#[test]
fn a_curve_saturates_at_what_stalls_leave() {
    let scratch = Scratch::new();
    let stalling = "sim:md1?time=1ms&stall=20ms@1%";
    let (code, run) = run(&scratch, &["curve", stalling, "--clients-max", "16"]);
    assert_eq!(code, Some(0));
    assert_near(
        &run["curve"]["saturation"]["load"]["value"],
        1e3 / 1.2,
        0.05,
    );
}

#[test]
fn a_curve_ends_with_the_first_error() {
    let scratch = Scratch::new();
    let (code, run) = run(&scratch, &["curve", "sim:mm1?mean=1ms&error=EIO@0.01%"]);
    assert_eq!(code, Some(1));
    assert_failed(&run);
    assert!(
        !run["curve"]["points"]
            .as_array()
            .expect("points")
            .is_empty()
    );
}

/// With one of five disks lost, a fifth of the reads takes the other four: twice the work for each.
#[test]
fn an_array_that_lost_a_disk_carries_half_of_the_reads() {
    let scratch = Scratch::new();
    let workload = "name = \"reads\"\ngroup = \"batch\"\nthreads-fixed = 64\nblock = \"4KiB\"\n\
                    shares = 1\n\n[[threads]]\nio = \"4KiB\"\nspace = \"uniform\"\n\
                    time = \"constant\"\n";
    let path = scratch.path("reads.toml");
    std::fs::write(&path, workload).expect("a file");
    let selected = format!("--workload={}", path.display());
    let load = |mode: &str| {
        let array = format!("sim:rz26?raid=5&disks=5&mode={mode}");
        let (code, run) = run(&scratch, &["rab", &array, &selected]);
        assert_eq!(code, Some(0), "{mode}");
        number(&run["rab"]["workloads"][0]["measurement"]["throughput"]["value"])
    };
    let ratio = load("reduced") / load("normal");
    assert!((0.45..0.55).contains(&ratio), "{ratio}");
}

/// 1024 blocks of a millisecond each, and half a second more at one place.
#[test]
fn a_slow_stretch_is_part_of_the_rate() {
    let scratch = Scratch::new();
    let slow = "sim:md1?time=1ms&size=64MiB&stall=500ms@32MiB+64KiB";
    let (code, run) = run(&scratch, &["transfer", slow]);
    assert_eq!(code, Some(0));
    let series = run["transfer"]["series"].as_array().expect("series");
    let read = series.iter().find(|one| one["kind"] == "read");
    let read = read.expect("a series of reads");
    assert_near(&read["rate"]["value"], f64::from(64 << 20) / 1.524, 1e-3);
}

/// 499 I/Os succeed: 99 transactions of five, and a user who waits for the hundredth.
#[test]
fn transactions_end_with_the_first_error() {
    let scratch = Scratch::new();
    let args = ["transactions", "sim:md1?time=10ms&error=EIO@500"];
    let load = ["--users=1", "--ios=5", "--think=0", "--duration=100s"];
    let (code, run) = run(&scratch, &[&args[..], &load].concat());
    assert_eq!(code, Some(1));
    assert_failed(&run);
    assert_eq!(run["transactions"]["loads"][0]["all"]["transactions"], 99);
}

/// One I/O in a hundred takes a tenth of a second longer.
#[test]
fn transactions_take_the_stalls_of_their_ios() {
    let scratch = Scratch::new();
    let args = ["transactions", "sim:md1?time=10ms&stall=100ms@1%"];
    let load = ["--users=1", "--ios=5", "--think=0", "--duration=1000s"];
    let (code, run) = run(&scratch, &[&args[..], &load].concat());
    assert_eq!(code, Some(0));
    let mean = &run["transactions"]["loads"][0]["all"]["from_due"]["mean"]["value"];
    assert_near(mean, 5.0 * 11e6, 0.05);
}
