//! Kinds of measurement as commands: settings are options, several values are levels.

use crate::support::{Scratch, finish};
use serde_json::Value;

fn json(scratch: &Scratch, args: &[&str]) -> Value {
    let common = ["--seed", "1", "-q", "--no-save", "--json", "-"];
    let args = [args, &common[..]].concat();
    finish(scratch.seekstone(args)).json()
}

#[test]
fn several_values_of_an_option_are_rows() {
    let scratch = Scratch::new();
    let args = ["streams", "sim:rz26", "--size", "1MiB", "--streams", "1,2"];
    let found = json(&scratch, &args);
    let rows = found["summary"]["rows"].as_object().expect("rows");
    let names: Vec<&String> = rows.keys().collect();
    assert_eq!(names, ["streams_1", "streams_2"]);
    assert_eq!(found["tables"][0]["name"], "streams");
}

#[test]
fn a_wrong_value_names_its_option() {
    let scratch = Scratch::new();
    let check = |args: &[&str], expected| scratch.check(args, 2, expected);
    check(
        &["copy", ".", "--record", "x"],
        "error: --record: \"x\" is not a size",
    );
    check(
        &["copy", ".", "--record", "4KiB,0"],
        "error: --record = \"0\": it is a size",
    );
    check(
        &["copy", ".", "--synced", "often"],
        "error: --synced = \"often\": it is one of",
    );
    check(&["copy", ".", "--recrd", "4KiB"], "--record");
}

#[test]
fn a_bucket_is_measured_by_objects_alone() {
    let scratch = Scratch::new();
    let bucket = "s3://127.0.0.1:1/bucket";
    for command in [
        "run", "trial", "curve", "files", "transfer", "inspect", "ping",
    ] {
        scratch.check(&[command, bucket], 2, "measure it with `seekstone objects`");
    }
    let wal = ["wal", bucket];
    scratch.check(
        &wal,
        2,
        "wal does not measure object stores, which `objects` does",
    );
    let only = "objects measures object stores. Name `s3:https://HOST/BUCKET`";
    scratch.check(&["objects", "."], 2, only);
    scratch.check(&["objects", "sim:rz26"], 2, only);
    let mix = ["objects", bucket, "--mix", "read"];
    scratch.check(
        &mix,
        2,
        "error: --mix = \"read\": \"read\" is none of get, put",
    );
    scratch.check(
        &["clean", ".", "--ca", "x"],
        2,
        "--ca is for the server of a bucket",
    );
}

#[test]
fn a_run_of_it_is_archived_and_repeats_to_the_last_digit() {
    let scratch = Scratch::new();
    let args = [
        "streams",
        "sim:rz26",
        "--size",
        "1MiB",
        "--streams",
        "2",
        "-q",
    ];
    finish(scratch.seekstone(args)).check(&args, 0, "Saved as run 1");
    let again = ["runs", "repeat", "1", "-q"];
    finish(scratch.seekstone(again)).check(&again, 0, "Saved as run 2");
    let rates = |id: &str| {
        let shown = finish(scratch.seekstone(["runs", "export", id, "--form", "json"])).json();
        shown["tables"][0]["rows"][0]["figures"].clone()
    };
    assert!(rates("1").as_array().is_some_and(|it| !it.is_empty()));
    assert_eq!(rates("1"), rates("2"));
}

#[test]
fn goals_are_on_the_figures_of_the_kind() {
    let scratch = Scratch::new();
    let check = |goal, code, expected| {
        let args = [
            "wal",
            "sim:rz26",
            "--replicates",
            "2",
            "--seed",
            "1",
            "-q",
            "--no-save",
            "--goal",
            goal,
        ];
        finish(scratch.seekstone(args)).check(&args, code, expected);
    };
    check("commits >= 50/s", 0, "PASS commits >= 50/s: 77.0/s");
    check("p99 <= 1ms", 4, "FAIL p99 <= 1ms: 14.2 ms");
    check(
        "iops >= 3",
        2,
        "this command gives no iops. It gives latency, latency-p50, ",
    );
    check("commits >= 5ms", 2, "this command gives no commits");
}
