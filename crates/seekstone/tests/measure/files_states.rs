//! Programs that use files: states of the caches, a memory disk beside, and TEST11, which reads.

use std::fs;

use crate::files::{once, rows};
use crate::support::tables::{self, estimate, notes, readings};
use crate::support::{self, Belongings, Scratch};
use serde_json::Value;

#[test]
fn test_11_reads_a_file_and_leaves_it_as_it_is() {
    let Some(scratch) = Scratch::on_disk("test_11_reads_a_file_and_leaves_it_as_it_is") else {
        return;
    };
    let target = scratch.target();
    let file = target.join("of the user");
    fs::write(&file, vec![9; 100_000]).expect("a file");
    let belongings = Belongings::of(&target);
    let path = file.to_str().expect("a plain path");
    let args = ["files", "--passes", "2", "--json", "-", path];
    let run = scratch.check(&args, 0, "").json();
    let found = rows(&run);
    let states: Vec<&str> = found.iter().map(|row| row.2.as_str()).collect();
    assert_eq!(states, ["as-is", "cold"], "durable means nothing here");
    let first = tables::row(&run, "files", &[]);
    assert_eq!(readings(first, "bytes")[0], 100_000.0);
    assert_eq!(readings(first, "calls")[0], 7.0);
    let args = once(&[
        "target", "--tests", "2,11", "--state", "as-is", "--json", "-",
    ]);
    let args = [&args[..], &["--device", path]].concat();
    let run = scratch.check(&args, 0, "").json();
    let read = format!("TEST11 reads {path}.");
    assert!(notes(&run, "files").contains(&read));
    let read = tables::row(&run, "files", &["11"]);
    assert_eq!(readings(read, "bytes")[0], 100_000.0);
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn a_memory_disk_runs_beside_where_there_is_one() {
    let scratch = Scratch::new();
    scratch.target();
    let args = [
        "files",
        "--passes",
        "2",
        "--reserve",
        "0",
        "--tests",
        "2",
        "--json",
        "-",
    ];
    let args = [&args[..], &["--state", "as-is", "target"]].concat();
    let run = scratch.check(&args, 0, "").json();
    let memory = &run["other_targets"][0];
    if memory.is_null() {
        return support::skipped(
            "a_memory_disk_runs_beside_where_there_is_one",
            "no tmpfs can be written",
        );
    }
    let tests = tables::rows(&run, "files").into_iter();
    let systems: Vec<&Value> = tests.map(|row| &row["levels"][2]).collect();
    assert_eq!(systems, ["target", "memory"]);
    let target = tables::row(&run, "files", &["2", "as-is", "target"]);
    assert!(estimate(target, "over-memory").is_some(), "{target}");
    let place = memory["path"].as_str().expect("a path");
    scratch.assert_clean(place.as_ref());
}

/// With durable or cold rows alone no memory disk ran, and nothing said why.
#[test]
fn the_memory_disk_stands_beside_any_state() {
    let Some(scratch) = Scratch::on_disk("the_memory_disk_stands_beside_any_state") else {
        return;
    };
    scratch.target();
    for state in ["durable", "cold"] {
        let args = ["files", "--passes", "1", "--reserve", "0B", "--tests", "2"];
        let args = [&args[..], &["--json", "-", "--state", state, "target"]].concat();
        let run = scratch.check(&args, 0, "").json();
        if run["other_targets"][0].is_null() {
            return support::skipped(
                "the_memory_disk_stands_beside_any_state",
                "no tmpfs can be written",
            );
        }
        let states: Vec<String> = rows(&run).into_iter().map(|row| row.2).collect();
        assert_eq!(states, [state, "as-is"]);
        let tests = tables::rows(&run, "files").into_iter();
        let over = tests.filter(|row| estimate(row, "over-memory").is_some());
        let over: Vec<&Value> = over.map(|row| &row["levels"][1]).collect();
        assert_eq!(over, [state]);
    }
}

/// TEST11 was measured again under "counts times 2", and durable where it only reads a device.
#[test]
fn test_11_is_measured_where_it_says_something() {
    let Some(scratch) = Scratch::on_disk("test_11_is_measured_where_it_says_something") else {
        return;
    };
    let target = scratch.target();
    let args = once(&["target", "--tests", "2,11", "--json", "-"]);
    let scaled = [&args[..], &["--scale", "2", "--state", "as-is"]].concat();
    let run = scratch.check(&scaled, 0, "").json();
    let found: Vec<String> = rows(&run).into_iter().map(|row| row.0).collect();
    assert_eq!(found, ["2", "11", "2"]);
    let device = ["--state", "as-is,durable", "--device", "target/main"];
    let run = scratch.check(&[&args[..], &device].concat(), 0, "").json();
    let found: Vec<(String, String)> = rows(&run).into_iter().map(|it| (it.0, it.2)).collect();
    let found: Vec<(&str, &str)> = found.iter().map(|it| (&*it.0, &*it.1)).collect();
    assert_eq!(found, [("2", "as-is"), ("11", "as-is"), ("2", "durable")]);
    let notes = run["warnings"].as_array().expect("notes").iter();
    let mut left = notes.filter(|note| note["code"] == "test-left-out");
    let text = left.next().expect("a note")["text"].as_str();
    let expected = "TEST11 durable is left out: target/main is only read";
    assert!(text.is_some_and(|text| text.contains(expected)), "{text:?}");
    scratch.assert_clean(&target);
}
