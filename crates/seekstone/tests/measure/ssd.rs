//! `seekstone ssd`: the steady rate of a model is its law's, the standard's rule is fooled where it
//! is said to be, and devices and files are written only as they may be.

use std::fs;

use crate::support::storage::Loop;
use crate::support::tables::{estimate, figure, row, rows, word};
use crate::support::{Belongings, Scratch, finish};
use serde_json::Value;

/// Flash of 109 MiB that cleans its oldest block first, so that its steady rate has a law; 4 MiB of
/// writes may wait, so that all dies are at work.
const FLASH: &str = "sim:nvme?cleaning=fifo&blocks=128&pages-per-block=64&channels=2&dies=2&\
                     page=4 KiB&write-buffer=4 MiB";
/// As long as a round of the model must be to hold many cleanings.
const ROUNDS: [&str; 5] = ["--quick", "--precision", "1%", "--budget", "1h"];

#[track_caller]
fn run(scratch: &Scratch, target: &str, args: &[&str]) -> Value {
    let always = ["--seed", "7", "-q", "--no-save", "--json", "-"];
    let args = [&["ssd", target], args, &always].concat();
    let ended = finish(scratch.seekstone(&args));
    ended.check(&args, 0, "");
    ended.json()
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let number = value.as_f64();
    number.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

fn codes(run: &Value) -> Vec<&str> {
    let all = [&run["warnings"], &run["row_warnings"]];
    let all = all.into_iter().filter_map(Value::as_array).flatten();
    all.filter_map(|it| it["code"].as_str()).collect()
}

#[test]
fn the_steady_rate_of_flash_is_that_of_the_law() {
    let scratch = Scratch::new();
    for spare in ["15%", "28%"] {
        let target = format!("{FLASH}&spare={spare}");
        let args = [&ROUNDS[..], &["--round", "10s", "--depth", "64"]].concat();
        let found = run(&scratch, &target, &args);
        let test = row(&found, "ssd", &["wsat"]);
        let rounds = rows(&found, "ssd-rounds");
        let last = rounds.last().expect("a round");
        assert_eq!(word(last, "state"), "steady", "{spare}: {last}");
        let number_of_last = figure(test, "steady-round").to_string();
        assert_eq!(last["levels"][1], number_of_last, "{spare}");
        let mean = figure(test, "iops");
        let law = figure(test, "iops-by-law");
        assert!(
            (mean / law - 1.0).abs() < 0.03,
            "{spare}: {mean} and not {law}"
        );
        assert!(figure(last, "written") >= 2.0 * figure(test, "size"));
        assert!(figure(last, "capacities") >= 2.0);
        let finding = found["findings"][0].as_str().expect("a finding");
        assert!(finding.starts_with("wsat: steady, IOPS "), "{finding}");
        // One row for each round, and one for the test that a script reads.
        let rows = &found["summary"]["rows"];
        assert_eq!(number(&rows["wsat"]["iops"]), mean, "{rows}");
    }
}

/// Before its spare blocks are used up, a purged SSD is as fast and as even as can be. The letter
/// of the standard is met there at once, at several times the steady rate.
#[test]
fn a_fresh_ssd_fools_the_standard_and_not_the_trend() {
    let scratch = Scratch::new();
    let target = format!("{FLASH}&spare=15%&content=fresh");
    let early = [&ROUNDS[..], &["--round", "500ms", "--rounds", "12"]].concat();
    let found = run(&scratch, &target, &early);
    let test = row(&found, "ssd", &["wsat"]);
    // The first round fills the buffer.
    let met = figure(test, "pts-round");
    assert!(met <= 6.0, "{test}");
    assert_eq!(word(test, "state"), "undecided");
    assert!(estimate(test, "steady-round").is_none());
    assert!(codes(&found).contains(&"pts-too-early"), "{found}");
    assert!(codes(&found).contains(&"ssd-undecided"));
    let of_met = row(&found, "ssd-rounds", &["wsat", &met.to_string()]);
    assert_eq!(word(of_met, "pts"), "met");
    let plateau = figure(test, "pts-iops");
    let late = [&ROUNDS[..], &["--round", "10s", "--depth", "64"]].concat();
    let found = run(&scratch, &target, &late);
    let test = row(&found, "ssd", &["wsat"]);
    assert_eq!(word(test, "state"), "steady", "{test}");
    let steady = figure(test, "iops");
    assert!(plateau > 3.0 * steady, "{plateau} and {steady}");
}

#[test]
fn every_test_of_the_standard_is_done() {
    let scratch = Scratch::new();
    // So small a buffer is empty soon: no read meets the writes of the cell before.
    let flash = FLASH.replace("4 MiB", "64 KiB");
    let target = format!("{flash}&spare=15%");
    let args = ["--test", "iops,lat,tp", "--quick", "--round", "200ms"];
    let args = [&args[..], &["--rounds", "1", "--depth", "8"]].concat();
    let found = run(&scratch, &target, &args);
    let loads = rows(&found, "ssd-loads");
    let expected = [("iops", 56), ("lat", 9), ("tp-128k", 2), ("tp-1m", 2)];
    for (test, count) in expected {
        let own = loads.iter().filter(|it| it["levels"][0] == test);
        assert_eq!(own.count(), count, "{test}");
        let found = row(&found, "ssd", &[test]);
        // Twice all of it, and what the round wrote.
        let precondition = figure(found, "precondition");
        assert_eq!(precondition, 2.0 * figure(found, "size"), "{test}");
        assert!(figure(found, "written") > precondition, "{test}");
    }
    assert_eq!(rows(&found, "ssd").len(), expected.len());
    let mut lat = loads.iter().filter(|it| it["levels"][0] == "lat");
    assert!(lat.all(|it| it["levels"][4] == "1"));
    // A read of a model takes what its parts take: 10 us, 75 us, and the transfer.
    let read = row(&found, "ssd-loads", &["lat", "random", "4 KiB", "100 %"]);
    let mean = figure(read, "latency");
    assert!((97e-6..98e-6).contains(&mean), "{mean}");
}

/// A cache of one-bit cells that is emptied while nobody writes: after a wait so much of the burst
/// is written at its rate, and the rest at that of the other cells.
#[test]
fn bursts_after_a_wait_are_as_fast_as_what_was_emptied_meanwhile() {
    let scratch = Scratch::new();
    let target = "sim:qvo870?volume-size=64 MiB&slc-cache=20 MB&slc-rate=53 MB/s\
                  &slc-past=16 MB/s&slc-emptying=4 MB/s&slc-idle=100 ms";
    // A tenth of the times of the standard.
    let args = [
        "--test", "hir", "--quick", "--round", "6s", "--budget", "200s",
    ];
    let found = run(&scratch, target, &args);
    let (burst, fast, slow) = (0.5, 53e6, 16e6);
    for wait in [5.0, 10.0, 15.0, 25.0, 50.0] {
        let emptied = (wait / 10.0 - 0.1) * 4e6;
        let law = (emptied + (burst - emptied / fast) * slow) / burst;
        let waiting = row(&found, "ssd-segments", &["hir", &format!("wait {wait} s")]);
        let rate = figure(waiting, "throughput");
        assert!(
            (rate / law - 1.0).abs() < 0.02,
            "{wait} s: {rate} and not {law}"
        );
        let over = figure(waiting, "over-steady");
        assert!((over / (law / slow) - 1.0).abs() < 0.02, "{wait} s: {over}");
        let back = row(
            &found,
            "ssd-segments",
            &["hir", &format!("return from {wait} s")],
        );
        let rate = figure(back, "throughput");
        assert!(
            (rate / slow - 1.0).abs() < 0.01,
            "{wait} s: {rate} and not {slow}"
        );
    }
    assert!(codes(&found).contains(&"ssd-scaled-down"), "{found}");
}

/// A device without a memory of what was written, but for its cache at the start, recovers at once.
#[test]
fn each_stimulus_has_its_rate_where_nothing_is_left_of_the_last() {
    let scratch = Scratch::new();
    let target = "sim:qvo870?volume-size=64 MiB&slc-cache=20 MB&slc-rate=53 MB/s\
                  &slc-past=16 MB/s&slc-emptying=4 MB/s&slc-idle=100 ms";
    let args = [
        "--test", "xsr", "--quick", "--round", "1s", "--budget", "60s", "--depth", "1",
    ];
    let found = run(&scratch, target, &args);
    let first = 20e6 + (1.0 - 20.0 / 53.0) * 16e6;
    let of_bursts = rows(&found, "ssd-bursts");
    let rates = of_bursts.iter().map(|it| figure(it, "throughput"));
    for (burst, rate) in rates.enumerate() {
        let law = if burst == 0 { first } else { 16e6 };
        // A block of 1 MiB is a fifteenth of a burst.
        assert!(
            (rate / law - 1.0).abs() < 0.07,
            "burst {burst}: {rate} and not {law}"
        );
    }
    let segments = rows(&found, "ssd-segments").into_iter();
    let bursts: f64 = segments.map(|it| figure(it, "bursts")).sum();
    assert_eq!(of_bursts.len() as f64, bursts);
    assert!(rows(&found, "ssd-rounds").is_empty());
    let finding = found["findings"][0].as_str().expect("a finding");
    assert!(finding.starts_with("xsr: sequential 1"), "{finding}");
}

/// Random writes leave blocks that are half valid, which sequential writes have to clean first.
#[test]
fn sequential_writes_are_slow_at_first_after_random_ones() {
    let scratch = Scratch::new();
    let target = format!("{FLASH}&spare=15%");
    let args = [
        "--test", "xsr", "--quick", "--round", "5s", "--budget", "300s", "--depth", "2",
    ];
    let found = run(&scratch, &target, &args);
    let of = |segment: &str| row(&found, "ssd-segments", &["xsr", segment]);
    // The law of random writes is 1,450 pages a second.
    let last = figure(of("random"), "last");
    assert!((last / (1450.0 * 4096.0) - 1.0).abs() < 0.03, "{last}");
    let bursts = rows(&found, "ssd-bursts").into_iter();
    let again = bursts.filter(|it| it["levels"][1] == "sequential again");
    let again: Vec<f64> = again.map(|it| figure(it, "throughput")).collect();
    let (begin, end) = again.split_at(again.len() / 2);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    assert!(mean(&begin[..5]) < 0.7 * mean(end), "{again:?}");
}

/// With a fixed delay each depth has its IOPS, and each operation its time.
#[test]
fn demand_rises_with_what_is_outstanding() {
    let scratch = Scratch::new();
    let args = [
        "--test",
        "cbw,dirth",
        "--quick",
        "--round",
        "200ms",
        "--depth",
        "4",
    ];
    let args = [&args[..], &["--size", "128MiB"]].concat();
    let found = run(&scratch, "sim:delay?time=1ms", &args);
    for (test, block) in [("cbw", "mixed"), ("dirth", "8 KiB")] {
        for (segment, depth) in [
            ("least load", 1.0),
            ("middle load", 8.0),
            ("most load", 16.0),
        ] {
            let found = row(&found, "ssd-segments", &[test, segment]);
            let iops = figure(found, "iops");
            assert!(
                (iops / (depth * 1000.0) - 1.0).abs() < 0.01,
                "{segment}: {iops}"
            );
            let p99 = figure(found, "latency-p99");
            assert!((p99 / 1e-3 - 1.0).abs() < 0.01, "{segment}: {p99}");
        }
        let loads = rows(&found, "ssd-loads").into_iter();
        let own: Vec<&Value> = loads.filter(|it| it["levels"][0] == test).collect();
        assert!(own.iter().all(|it| it["levels"][2] == block), "{own:?}");
        let depths: Vec<&str> = own
            .iter()
            .filter_map(|it| it["levels"][4].as_str())
            .collect();
        assert_eq!(depths, ["16", "16", "12", "8", "6", "4", "2", "1"]);
    }
    let most = row(&found, "ssd-segments", &["cbw", "most load"]);
    let bytes = figure(most, "throughput") / figure(most, "iops");
    assert!((bytes - 7818.24).abs() < 0.01, "{bytes}");
}

/// Nothing is steady before all was written twice: the rounds end before that for no other reason.
#[test]
fn rounds_end_at_so_many_capacities() {
    let scratch = Scratch::new();
    let target = format!("{FLASH}&spare=15%");
    let args = [
        "--quick",
        "--round",
        "2s",
        "--capacities",
        "1",
        "--depth",
        "64",
    ];
    let found = run(&scratch, &target, &args);
    let rounds = rows(&found, "ssd-rounds");
    let written: Vec<f64> = rounds.iter().map(|it| figure(it, "capacities")).collect();
    let (last, others) = written.split_last().expect("a round");
    assert!(
        *last >= 1.0 && others.iter().all(|it| *it < 1.0),
        "{written:?}"
    );
}

/// Bug: the clock of progress began anew with each round.
#[test]
fn progress_counts_the_time_of_all_rounds() {
    let target = format!("{FLASH}&spare=15%");
    let args = [
        "ssd",
        &target,
        "--quick",
        "--round",
        "2s",
        "--capacities",
        "1",
    ];
    let ended = finish(Scratch::new().seekstone(args.iter().chain(&["--no-save"])));
    let second = |line: &str| {
        line.strip_prefix('[')?
            .split_once(" s]")?
            .0
            .trim()
            .parse()
            .ok()
    };
    let seconds: Vec<u64> = ended.stderr.lines().filter_map(second).collect();
    assert!(
        seconds.is_sorted() && seconds.last() >= Some(&2),
        "{ended:?}"
    );
}

#[test]
fn a_loop_device_has_the_demand_test_and_keeps_its_cache() {
    let test = "a_loop_device_has_the_demand_test_and_keeps_its_cache";
    let scratch = Scratch::new();
    let Some(device) = Loop::new(test, &scratch, 16) else {
        return;
    };
    let args = [
        "--test", "dirth", "--quick", "--round", "100ms", "--depth", "2",
    ];
    let args = [
        &args[..],
        &["--repeat", "2", "--overwrite", "--confirm", device.name()],
    ]
    .concat();
    let found = run(&scratch, device.path(), &args);
    assert_eq!(rows(&found, "ssd-segments").len(), 3);
    let tables = found["tables"].as_array().expect("tables");
    let table = tables.iter().find(|it| it["name"] == "ssd");
    let notes = table.expect("a table")["notes"].to_string();
    assert!(notes.contains("Write cache of the drive: "), "{notes}");
    let refused = [
        &["ssd", device.path(), "--write-cache", "off", "-q"],
        &args[..],
    ]
    .concat();
    scratch.check(&refused, 2, "the kernel has no switch for its cache");
    let model = ["ssd", "sim:nvme", "--write-cache", "off", "-q"];
    scratch.check(&model, 2, "sim:nvme is no drive");
}

#[test]
fn a_directory_gets_a_file_that_is_removed_again() {
    let Some(scratch) = Scratch::on_disk("a_directory_gets_a_file_that_is_removed_again") else {
        return;
    };
    let directory = scratch.target();
    let args = [
        "--size",
        "8MiB",
        "--reserve",
        "0",
        "--quick",
        "--round",
        "100ms",
    ];
    let args = [
        &args[..],
        &["--rounds", "3", "--depth", "4", "--test", "wsat,tp"],
    ]
    .concat();
    let found = run(&scratch, &directory.display().to_string(), &args);
    let tests = rows(&found, "ssd").into_iter();
    let filled = tests.map(|it| figure(it, "precondition") / f64::from(8 << 20));
    let filled: Vec<f64> = filled.collect();
    // The fill is the first pass of the first test.
    assert_eq!(filled, [1.0, 2.0, 2.0]);
    assert!(codes(&found).contains(&"ssd-through-file-system"));
    assert!(codes(&found).contains(&"ssd-quick"));
    scratch.assert_clean(&directory);
}

/// All samples of what was purged are zeroes.
#[track_caller]
fn check_purge(run: &Value, method: &str) {
    let test = row(run, "ssd", &["wsat"]);
    let counts = ["purge-sampled", "purge-zero"].map(|it| figure(test, it));
    assert_eq!(counts, [64.0, 64.0]);
    let tables = run["tables"].as_array().expect("tables");
    let table = tables.iter().find(|it| it["name"] == "ssd");
    let notes = table.expect("a table")["notes"].to_string();
    let said = format!("Purge before wsat: {method} in ");
    assert!(notes.contains(&said), "{notes}");
}

#[test]
fn a_file_is_punched_out_and_written_again() {
    let scratch = Scratch::new();
    let file = scratch.path("file");
    fs::write(&file, vec![7; 8 << 20]).expect("a file");
    let path = file.display().to_string();
    let args = [
        "--overwrite",
        "--purge",
        "punch",
        "--quick",
        "--round",
        "100ms",
    ];
    let args = [&args[..], &["--rounds", "2", "--depth", "4"]].concat();
    let found = run(&scratch, &path, &args);
    check_purge(&found, "punch");
    let test = row(&found, "ssd", &["wsat"]);
    assert_eq!(figure(test, "precondition"), f64::from(8 << 20));
    assert_eq!(fs::metadata(&file).expect("the file").len(), 8 << 20);
    let content = fs::read(&file).expect("its content");
    assert!(content.chunks(4096).all(|block| block != [7; 4096]));
}

#[test]
fn a_device_is_discarded_and_read_back() {
    let test = "a_device_is_discarded_and_read_back";
    let scratch = Scratch::new();
    let Some(device) = Loop::new(test, &scratch, 16) else {
        return;
    };
    let args = [
        "--quick", "--round", "100ms", "--rounds", "2", "--depth", "4",
    ];
    let refused = [
        &[
            "ssd",
            device.path(),
            "--purge",
            "discard",
            "--no-save",
            "-q",
        ],
        &args[..],
    ];
    scratch.check(&refused.concat(), 2, "Give --overwrite");
    let before = device.content();
    assert!(before.iter().any(|&it| it != 0));
    let known = [
        "--overwrite",
        "--confirm",
        device.name(),
        "--purge",
        "discard",
    ];
    let found = run(&scratch, device.path(), &[&known[..], &args].concat());
    check_purge(&found, "discard");
    assert!(!codes(&found).contains(&"ssd-not-purged"));
    // Without a purge the run says so.
    let known = ["--overwrite", "--confirm", device.name()];
    let found = run(&scratch, device.path(), &[&known[..], &args].concat());
    assert!(codes(&found).contains(&"ssd-not-purged"));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let scratch = Scratch::new();
    let file = scratch.path("file");
    fs::write(&file, vec![7; 2 << 20]).expect("a file");
    let belongings = Belongings::of(&file);
    let path = file.display().to_string();
    let directory = scratch.target().display().to_string();
    let check = |args: &[&str], expected: &str| {
        let args = [&["ssd"], args, &["--no-save", "-q"]].concat();
        scratch.check(&args, 2, expected);
    };
    check(&[&path], "every test of an SSD writes all of it");
    check(
        &[&path, "--overwrite", "--purge", "discard"],
        "Use --purge punch",
    );
    check(&[&directory, "--purge", "punch"], "a new one each time");
    check(&["sim:nvme", "--purge", "punch"], "?content=fresh");
    check(&["null:"], "null: has no blocks");
    check(&[&path, "--overwrite", "--purge", "format"], "nvme format");
    check(
        &[&path, "--overwrite", "--purge", "sanitize"],
        "nvme sanitize",
    );
    check(
        &[&path, "--overwrite", "--test", "iops"],
        "are too small for 32 outstanding",
    );
    check(&["sim:nvme", "--test", "wsat,wsat"], "wsat is given twice");
    check(&["sim:nvme", "--round", "10ms"], "needs at least 100 ms");
    check(&["sim:nvme", "--precision", "1%"], "--quick");
    check(
        &["sim:nvme", "--test", "hir", "--budget", "10min"],
        "one burst of each segment of hir takes",
    );
    belongings.assert_untouched();
}

#[test]
fn two_runs_are_compared_by_tests_and_loads() {
    let scratch = Scratch::new();
    let args = [
        "--quick", "--round", "1s", "--rounds", "9", "--seed", "7", "-q",
    ];
    for spare in ["15%", "28%"] {
        let target = format!("{FLASH}&spare={spare}");
        let args = [&["ssd", &target], &args[..]].concat();
        assert_eq!(finish(scratch.seekstone(&args)).code, Some(0));
    }
    let compared = scratch.check(&["compare", "1", "2"], 0, "wsat");
    assert!(!compared.stdout.contains("round=3"), "{}", compared.stdout);
}
