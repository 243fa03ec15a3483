//! Budgets are kept: a run takes no longer than was asked for, or it says what would be enough.

use std::fs;

use crate::support::group::Group;
use crate::support::pressure::Pressure;
use crate::support::storage::{FileSystem, Loop};
use crate::support::{Ended, Scratch, finish, side_by_side, skipped};

/// A budget that is exceeded by no more than a tenth, or 3 s, is kept.
pub fn most(budget: f64) -> f64 {
    (budget * 1.1).max(budget + 3.0)
}

/// The command and its budget in seconds.
pub type Case = (&'static str, u32);

pub fn measured(target: &str, (command, budget): Case) -> Vec<String> {
    let words = command.split(' ').map(|word| match word {
        "TARGET" => target.to_owned(),
        word => word.to_owned(),
    });
    let budget = format!("{budget}s");
    let common = [
        "--budget",
        &budget,
        "--seed",
        "1",
        "--no-save",
        "--json",
        "-",
    ];
    words.chain(common.map(String::from)).collect()
}

/// How long it took by the clock of its target. What does not fit ends with status 2 and says what
/// would.
pub fn elapsed(ended: &Ended, case: Case) -> Option<f64> {
    if ended.code == Some(2) {
        let text = &ended.stderr;
        assert!(
            text.contains("--budget") && text.contains("se "),
            "{case:?}: {text}"
        );
        return None;
    }
    ended.check(&[case.0], 0, "");
    Some(seconds(ended))
}

fn seconds(ended: &Ended) -> f64 {
    ended.json()["elapsed_ns"].as_f64().expect("a time") / 1e9
}

/// How long the plan says that all of it takes, and whether it may take less.
fn planned(ended: &Ended) -> Option<(f64, bool)> {
    let line = ended.stderr.lines().find(|it| it.contains("] Plan: "))?;
    let (_, all) = line.split_once("] Plan: ")?;
    let (time, _) = all.split_once(" in all (")?;
    let (words, is_most) = match time.strip_prefix("at most ") {
        Some(words) => (words, true),
        None => (time.strip_prefix("about ")?, false),
    };
    let words: Vec<&str> = words.split(' ').collect();
    let seconds = words.chunks(2).map(|it| {
        let number: f64 = it[0].parse().expect("a number");
        number
            * match it[1] {
                "s" => 1.0,
                "min" => 60.0,
                unit => panic!("{unit}"),
            }
    });
    Some((seconds.sum(), is_most))
}

/// A disk of 1996: no kind takes longer than its budget in virtual time, and each takes as long as
/// its plan says before it starts.
#[test]
fn a_slow_model_keeps_every_budget_and_plan() {
    let cases: [Case; 12] = [
        ("run TARGET", 40),
        ("trial TARGET --precision 1%", 20),
        ("curve TARGET", 30),
        ("random TARGET --rounds 2 --spans 16MiB", 60),
        ("rab TARGET", 60),
        ("transactions TARGET --users 4", 20),
        ("transactions TARGET --find-users --limit 200ms", 30),
        ("transfer TARGET --size 8MiB", 60),
        ("transfer TARGET", 20),
        ("ssd TARGET --test iops --quick", 40),
        ("files sim:rt11 --tests 1,6", 400),
        ("positioning sim:dlt2000 --files 9", 2000),
    ];
    side_by_side(&cases, |case| {
        let scratch = Scratch::new();
        let args = measured("sim:rz26", *case);
        let ended = finish(scratch.seekstone(&args));
        if let Some(seconds) = elapsed(&ended, *case) {
            assert!(seconds <= most(case.1.into()), "{case:?} took {seconds} s");
            if let Some((planned, is_most)) = planned(&ended) {
                let is_kept = seconds <= most(planned) && (is_most || planned <= most(seconds));
                assert!(is_kept, "{case:?} took {seconds} s of {planned} s");
            }
        }
    });
}

/// What two cases above are refused with.
#[test]
fn what_cannot_fit_says_what_would() {
    let scratch = Scratch::new();
    let check = |command: &str, expected: &str| {
        let args: Vec<&str> = command.split(' ').collect();
        scratch.check(&args, 2, expected);
    };
    check(
        "ssd sim:rz26 --test iops --quick --budget 40s",
        "--budget 40.0 s: writing 1.98 GiB before the first round takes",
    );
    check(
        "transfer sim:rz26 --budget 20s",
        "were moved in 23.0 s. Use a longer --budget, or a smaller --size",
    );
    check(
        "time --budget 1s -- sleep 3",
        "--budget 1.00 s: 5 rounds need about 1",
    );
}

/// Bug: `random --budget 120s` of a tape took 23 hours of its time, as if there were no budget.
#[test]
fn cells_of_slow_storage_end_at_the_budget_with_what_was_measured() {
    let scratch = Scratch::new();
    let tape = [
        "random",
        "sim:dlt2000",
        "--budget",
        "120s",
        "--seed",
        "1",
        "-q",
    ];
    let ended = scratch.check(&tape, 1, "PARTIAL --budget 2 min");
    assert!(ended.stderr.contains("Use --budget"), "{ended:?}");
}

/// The time of each phase, and of all of them, is told before anything is measured.
#[test]
fn a_plan_is_told_before_it_starts() {
    let scratch = Scratch::new();
    let check = |command: &str, expected: &str| {
        let args: Vec<&str> = command.split(' ').collect();
        let ended = finish(scratch.seekstone([&args[..], &["--no-save"]].concat()));
        let first = ended.stderr.lines().next().unwrap_or_default();
        assert_eq!(first, format!("[   0 s] Plan: {expected}"), "{command}");
    };
    check(
        "run sim:rz26 --budget 40s",
        "about 40.0 s in all (fill 5.93 s, rows 15.4 s, load curve 18.6 s)",
    );
    check(
        "trial . --budget 3s --size 16MiB --reserve 0",
        "at most 3.00 s in all (fill up to 1.20 s, measure 1.80 s)",
    );
    let file = "transfer sim:md1?size=4MiB&time=1ms --budget 20s";
    check(file, "at most 20.0 s in all (write, read)");
}

/// Size of the slow device. It lies in memory: no disk must be slower than the throttle.
const DEVICE_MIB: usize = 192;
/// What it moves in a second at most.
const BYTES_PER_SECOND: u32 = 8 << 20;

/// Bug: a test file of 1 GiB was written before anything was measured, however slow the storage
/// was: `trial --budget 20s` took two minutes.
#[test]
fn writing_the_test_file_is_part_of_the_budget_of_a_slow_device() {
    let test = "writing_the_test_file_is_part_of_the_budget_of_a_slow_device";
    let cases: [Case; 3] = [
        ("trial TARGET --precision 1%", 12),
        ("curve TARGET --clients-max 4", 15),
        ("transfer TARGET", 15),
    ];
    let pressure = Pressure::new();
    side_by_side(&cases, |case| {
        let scratch = Scratch::new();
        let Some(memory) = FileSystem::tmpfs(test, &scratch, DEVICE_MIB + 16) else {
            return;
        };
        let Some(device) = Loop::within(test, &memory, DEVICE_MIB) else {
            return;
        };
        let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name()));
        let rule = format!("{} {BYTES_PER_SECOND}", number.expect("a device").trim());
        let place = Scratch::new();
        let Some(files) = FileSystem::enduring(test, &place, device) else {
            return;
        };
        let name = case.0.split(' ').next().expect("a command");
        let Some(group) = Group::new(&format!("{test}-{name}"), "blkio") else {
            return;
        };
        let names = ["read_bps_device", "write_bps_device"];
        if !names
            .iter()
            .all(|name| group.set(&format!("blkio.throttle.{name}"), &rule))
        {
            return skipped(test, "the control group does not limit devices");
        }
        let target = files.path().to_owned();
        let args = measured(&target, *case);
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        args.extend(["--reserve", "0"]);
        let ended = finish(group.command(&scratch, &args));
        // Its time may be up first where it lets the throttle's share of a moment pass.
        let is_short = ended.code == Some(1) && ended.error().contains("Use a longer --budget");
        if is_short {
            let took = format!("took {} s: {}", seconds(&ended), ended.error());
            return pressure.assert(test, false, &took);
        }
        let seconds = elapsed(&ended, *case);
        let is_kept = seconds.is_some_and(|it| it <= most(case.1.into()));
        let took = seconds.map_or_else(|| "was refused".to_owned(), |it| format!("took {it} s"));
        pressure.assert(test, is_kept, &format!("{case:?} {took}"));
    });
}
