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
        "use --purge punch",
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
