//! What is printed is true where the truth is known: a device throttled to a known rate, and a
//! program that was stopped in the middle of a run.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::support::group::Group;
use crate::support::pressure::Pressure;
use crate::support::storage::{FileSystem, Loop};
use crate::support::tables::{figure, row};
use crate::support::{Running, Scratch, finish, skipped};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

/// 1000 reads per second, and nothing else, is what a device throttled to that carries. The kernel
/// lets a little more or less through at times: the median of three devices, side by side, counts.
#[test]
fn a_throttled_device_saturates_at_its_limit() {
    let test = "a_throttled_device_saturates_at_its_limit";
    let pressure = Pressure::new();
    let devices = thread::scope(|scope| {
        let seeds = ["7", "8", "9"];
        let devices = seeds.map(|seed| scope.spawn(move || saturation(test, seed)));
        devices.map(|device| device.join().expect("a load"))
    });
    let mut loads: Vec<Value> = devices.into_iter().flatten().collect();
    if loads.len() < 3 {
        return;
    }
    if pressure.is_high() && loads.iter().any(|load| load["value"].is_null()) {
        return skipped(test, "processors were short: a curve was invalid");
    }
    loads.sort_by(|one, other| number(&one["value"]).total_cmp(&number(&other["value"])));
    let load = &loads[1];
    let found = format!("{test}: {loads:?}");
    pressure.assert_rate(&found, number(&load["value"]), LIMIT, 0.02);
    let is_covered = number(&load["low"]) <= LIMIT && LIMIT <= number(&load["high"]);
    assert!(
        is_covered || pressure.is_high(),
        "{load} does not hold {LIMIT}: {loads:?}"
    );
}

/// Reads per second that a throttled device lets through.
const LIMIT: f64 = 1000.0;

/// Size of a throttled device. It lies in memory: a busy disk must not be slower than the throttle.
const DEVICE_MIB: usize = 64;

/// The load at which a throttled device saturates; `None` where nothing can be throttled.
fn saturation(test: &str, seed: &str) -> Option<Value> {
    let scratch = Scratch::new();
    let memory = FileSystem::tmpfs(test, &scratch, 2 * DEVICE_MIB)?;
    let device = Loop::within(test, &memory, DEVICE_MIB)?;
    let group = Group::new(&format!("{test}-{seed}"), "blkio")?;
    let number_path = format!("/sys/block/{}/dev", device.name());
    let numbers = fs::read_to_string(number_path).expect("a device's numbers");
    let rule = format!("{} {LIMIT}", numbers.trim());
    if !group.set("blkio.throttle.read_iops_device", &rule) {
        skipped(test, "the control group does not limit reads");
        return None;
    }
    let load = ["curve", device.path(), "--clients-max", "2"];
    let args = [
        &load[..],
        // Few and long points: the kernel lets requests through in slices of up to 100 ms.
        &["--budget", "40s", "--seed", seed],
        &["--json", "-", "--no-save", "--quiet"],
    ]
    .concat();
    let document = finish(group.command(&scratch, &args)).json();
    Some(document["curves"][0]["saturation"]["load"].clone())
}

/// 100 reads per second, of which each transaction takes five. The loads are measured side by side,
/// each on a device of its own.
#[test]
fn a_throttled_device_carries_its_limit_by_the_ios_of_a_transaction() {
    let test = "a_throttled_device_carries_its_limit_by_the_ios_of_a_transaction";
    thread::scope(|scope| {
        for users in ["1", "2", "4", "8"] {
            scope.spawn(move || check_five_reads_a_transaction(test, users));
        }
    });
}

fn check_five_reads_a_transaction(test: &str, users: &str) {
    let scratch = Scratch::new();
    let Some(memory) = FileSystem::tmpfs(test, &scratch, 2 * DEVICE_MIB) else {
        return;
    };
    let Some(device) = Loop::within(test, &memory, DEVICE_MIB) else {
        return;
    };
    let Some(group) = Group::new(&format!("{test}-{users}"), "blkio") else {
        return;
    };
    let number_path = format!("/sys/block/{}/dev", device.name());
    let numbers = fs::read_to_string(number_path).expect("a device's numbers");
    if !group.set(
        "blkio.throttle.read_iops_device",
        &format!("{} 100", numbers.trim()),
    ) {
        return skipped(test, "the control group does not limit reads");
    }
    let args = [
        "transactions",
        device.path(),
        "--users",
        users,
        "--ios",
        "5",
        "--think",
        "0",
        "--duration",
        "10s",
        "--json",
        "-",
        "--no-save",
        "--quiet",
        "--seed",
        "7",
    ];
    let rate = || {
        let run = finish(group.command(&scratch, &args)).json();
        figure(row(&run, "transactions", &[users, "all"]), "tps")
    };
    // The machine may stall once in ten seconds: then a run is too slow, never too fast.
    let is_right = |rate: f64| {
        assert!(
            rate <= 20.4,
            "{users} users, seed 7: {rate} is above the limit"
        );
        rate >= 19.6
    };
    let pressure = Pressure::new();
    assert!(
        (0..3).any(|_| is_right(rate())) || pressure.is_high(),
        "{users} users, seed 7: not 20 per second in three runs"
    );
}

/// Response time counts from when a request was due: one second in which this program did not run
/// shows in the 99th percentile and as our own lateness, and not as the storage's service time.
#[test]
fn a_program_that_was_stopped_says_so() {
    let test = "a_program_that_was_stopped_says_so";
    let scratch = Scratch::new();
    let Some(group) = Group::new(test, "freezer") else {
        return;
    };
    let target = scratch.path("data");
    fs::write(&target, vec![7; 8 << 20]).expect("a file");
    let target = target.display().to_string();
    let title = "random read 4 KiB";
    let json = scratch.path("out.json").display().to_string();
    let args = [
        "trial",
        &target,
        "--rate",
        "500/s",
        "--duration",
        "5s",
        "--buffered",
    ];
    let args = [&args[..], &["--json", &json, "--no-save", "--seed", "7"]].concat();
    let mut running = Running::start(group.command(&scratch, &args));
    running.wait_for(title);
    assert!(
        group.set("freezer.state", "FROZEN"),
        "the control group freezes its processes"
    );
    // The stop itself is what is tested; nothing is waited for.
    thread::sleep(Duration::from_secs(1));
    assert!(
        group.set("freezer.state", "THAWED"),
        "the control group thaws its processes"
    );
    let ended = running.end();
    let text = fs::read_to_string(&json).unwrap_or_else(|_| panic!("no result: {}", ended.error()));
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let measurement = &document["measurements"][0];
    let reads = &measurement["kinds"][0];
    let p99 = number(&reads["response_p99_ns"]);
    assert!(p99 > 0.5e9, "seed 7: a p99 of {p99} ns hides the stop");
    let late = number(&measurement["lateness"]["p99_ns"]);
    assert!(
        late > 0.5e9,
        "seed 7: a p99 lateness of {late} ns hides the stop"
    );
    let service = number(&reads["service_p99_ns"]);
    assert!(
        service < 0.5e9,
        "seed 7: the storage is blamed with {service} ns"
    );
    let warnings = measurement["warnings"].to_string();
    assert!(warnings.contains("late-generator"), "seed 7: {warnings}");
}
