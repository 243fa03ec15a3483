//! `seekstone ssd`: the steady rate of a model is its law's, the standard's rule is fooled where it
//! is said to be, and devices and files are written only as they may be.

use std::fs;

use crate::support::storage::Loop;
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
    assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    ended.json()
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let number = value.as_f64();
    number.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

fn codes(run: &Value) -> Vec<&str> {
    let phases = run["ssd"]["phases"].as_array().expect("phases");
    let all = phases.iter().map(|it| &it["warnings"]);
    let all = all.chain([&run["warnings"]]);
    let all = all.filter_map(Value::as_array).flatten();
    all.filter_map(|it| it["code"].as_str()).collect()
}

#[test]
fn the_steady_rate_of_flash_is_that_of_the_law() {
    let scratch = Scratch::new();
    for spare in ["15%", "28%"] {
        let target = format!("{FLASH}&spare={spare}");
        let args = [&ROUNDS[..], &["--round", "10s", "--depth", "64"]].concat();
        let found = run(&scratch, &target, &args);
        let phase = &found["ssd"]["phases"][0];
        let rounds = phase["rounds"].as_array().expect("rounds");
        let last = rounds.last().expect("a round");
        assert_eq!(last["trend"]["verdict"], "steady", "{spare}: {last}");
        assert_eq!(phase["steady_round"], last["number"], "{spare}");
        let mean = number(&last["trend"]["mean"]["value"]);
        let law = number(&phase["law"]["steady_per_second"]);
        assert!(
            (mean / law - 1.0).abs() < 0.03,
            "{spare}: {mean} and not {law}"
        );
        assert!(number(&last["written_bytes"]) >= 2.0 * number(&found["ssd"]["size_bytes"]));
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
    let phase = &found["ssd"]["phases"][0];
    // The first round fills the buffer.
    assert!(phase["pts_round"].as_u64() <= Some(6), "{phase}");
    assert_eq!(phase["steady_round"], Value::Null);
    assert!(codes(&found).contains(&"pts-too-early"), "{found}");
    assert!(codes(&found).contains(&"ssd-undecided"));
    let met = &phase["rounds"][phase["pts_round"].as_u64().expect("a round") as usize - 1];
    let plateau = number(&met["pts"]["mean"]);
    let late = [&ROUNDS[..], &["--round", "10s", "--depth", "64"]].concat();
    let found = run(&scratch, &target, &late);
    let rounds = found["ssd"]["phases"][0]["rounds"].as_array();
    let last = rounds.and_then(|it| it.last()).expect("a round");
    assert_eq!(last["trend"]["verdict"], "steady", "{last}");
    let steady = number(&last["trend"]["mean"]["value"]);
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
    let phases = found["ssd"]["phases"].as_array().expect("phases");
    let shape: Vec<(&str, usize)> = phases
        .iter()
        .map(|phase| {
            let cells = phase["cells"].as_array().expect("cells");
            (phase["name"].as_str().expect("a name"), cells.len())
        })
        .collect();
    let expected = [("iops", 56), ("lat", 9), ("tp-128k", 2), ("tp-1m", 2)];
    assert_eq!(shape, expected);
    let size = number(&found["ssd"]["size_bytes"]);
    for phase in phases {
        // Twice all of it, and what the round wrote.
        let precondition = number(&phase["precondition_bytes"]);
        assert_eq!(precondition, 2.0 * size);
        assert!(number(&phase["rounds"][0]["written_bytes"]) > precondition);
    }
    let lat = phases[1]["cells"].as_array().expect("cells");
    assert!(lat.iter().all(|cell| cell["load"]["depth"] == 1));
    // A read of a model takes what its parts take: 10 us, 75 us, and the transfer.
    let read = lat
        .iter()
        .find(|cell| cell["load"]["block_bytes"] == 4096 && cell["load"]["read_percent"] == 100);
    let mean = number(&read.expect("4 KiB reads")["latency_ns"]["value"]);
    assert!((97_000.0..98_000.0).contains(&mean), "{mean}");
}

#[test]
fn a_directory_gets_a_file_that_is_removed_again() {
    let scratch = Scratch::new();
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
    let phases = found["ssd"]["phases"].as_array().expect("phases");
    let filled: Vec<f64> = phases
        .iter()
        .map(|it| number(&it["precondition_bytes"]) / f64::from(8 << 20))
        .collect();
    // The fill is the first pass of the first test.
    assert_eq!(filled, [1.0, 2.0, 2.0]);
    assert!(codes(&found).contains(&"ssd-through-file-system"));
    assert!(codes(&found).contains(&"ssd-quick"));
    scratch.assert_clean(&directory);
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
    let phase = &found["ssd"]["phases"][0];
    let purge = &phase["purge"];
    assert_eq!(purge["method"], "punch");
    assert_eq!(
        (&purge["sampled"], &purge["zero"]),
        (&64.into(), &64.into())
    );
    assert_eq!(number(&phase["precondition_bytes"]), f64::from(8 << 20));
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
    scratch.check(&refused.concat(), 2, "give --overwrite");
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
    let purge = &found["ssd"]["phases"][0]["purge"];
    assert_eq!(purge["method"], "discard");
    assert_eq!(
        (&purge["sampled"], &purge["zero"]),
        (&64.into(), &64.into())
    );
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
