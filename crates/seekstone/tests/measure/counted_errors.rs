//! With `--errors count` a failed operation ends nothing: it is listed by kind and error, with
//! times of its own, and is in no other figure.

use std::fs::OpenOptions;
use std::io::Write;

use crate::support::storage::{FileSystem, Loop, fill};
use crate::support::tables::{self, figure, row, rows};
use crate::support::{Scratch, finish};
use serde_json::Value;

#[track_caller]
fn counted(expected: i32, args: &[&str]) -> Value {
    let common = [
        "--errors",
        "count",
        "--seed",
        "1",
        "--no-save",
        "--quiet",
        "--json",
        "-",
    ];
    let ended = finish(Scratch::new().seekstone([args, &common].concat()));
    assert_eq!(ended.code, Some(expected), "{args:?}: {}", ended.stderr);
    let run = ended.json();
    assert_eq!(run["status"]["state"], "complete", "{args:?}");
    let settings = run["setup"]["settings"].as_array().expect("settings");
    let errors = settings.iter().find(|it| it["name"] == "errors");
    assert_eq!(errors.expect("it is recorded")["values"][0], "count");
    run
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let found = value.as_f64();
    found.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

/// Operations of 5 ms, all of which fail.
const BROKEN: &str = "sim:delay?time=5ms&error=EIO@100%";

/// None was seen to be done, and so many may have been to be expected.
#[track_caller]
fn assert_none_done(throughput: &Value) {
    assert_eq!(number(&throughput["value"]), 0.0, "{throughput}");
    assert_eq!(number(&throughput["low"]), 0.0, "{throughput}");
    assert!(number(&throughput["high"]) > 0.0, "{throughput}");
}

/// The severity of the warning that names failed operations.
#[track_caller]
fn severity(warnings: &Value) -> &str {
    let mut all = warnings.as_array().expect("warnings").iter();
    let found = all.find(|it| it["code"] == "failed-operations");
    let found = found.unwrap_or_else(|| panic!("no such warning in {warnings}"));
    found["severity"].as_str().expect("a severity")
}

/// `share` of `all` operations, within four standard deviations.
#[track_caller]
fn assert_share(errors: &Value, share: f64, all: f64) {
    let count: f64 = errors
        .as_array()
        .expect("errors")
        .iter()
        .map(|it| number(&it["count"]))
        .sum();
    let expected = share * all;
    assert!(
        (count - expected).abs() < 4.0 * expected.sqrt(),
        "{count} and not {expected}"
    );
}

/// Operations of 5 ms, one after the other, of which one in 200 fails.
#[test]
fn a_trial_goes_on_and_keeps_failures_apart() {
    let run = counted(
        0,
        &[
            "trial",
            "sim:delay?time=5ms&error=EIO@0.5%",
            "--duration",
            "100s",
        ],
    );
    let trial = &run["measurements"][0];
    assert_share(&trial["errors"], 0.005, 20_000.0);
    let error = &trial["errors"][0];
    assert_eq!(
        (&error["kind"], &error["class"]),
        (&"read".into(), &"io".into())
    );
    assert_eq!(number(&error["errno"]), 5.0);
    assert_eq!(number(&error["response_mean_ns"]), 5e6);
    assert_eq!(number(&error["service_max_ns"]), 5e6);
    let (done, failed) = (number(&trial["completions_all"]), number(&error["count"]));
    assert_eq!(done + failed, 20_000.0);
    assert_eq!(number(&trial["kinds"][0]["count"]), done);
    assert_eq!(number(&trial["response"]["mean"]["value"]), 5e6);
    assert_eq!(severity(&trial["warnings"]), "warning");
}

#[test]
fn a_trial_of_which_more_than_1_percent_fails_is_void() {
    let run = counted(
        3,
        &[
            "trial",
            "sim:delay?time=5ms&error=ENOSPC@2%",
            "--duration",
            "100s",
        ],
    );
    let trial = &run["measurements"][0];
    assert_share(&trial["errors"], 0.02, 20_000.0);
    assert_eq!(trial["errors"][0]["class"], "space");
    assert_eq!(severity(&trial["warnings"]), "invalid");
}

/// Operations of 5 ms, one after the other, all of which fail: none was seen to be done, so by the
/// rule of three at most 3 in the 2 s, 1.5 per second, were to be expected.
#[test]
fn a_trial_in_which_everything_fails_is_a_void_measurement() {
    let target = "sim:delay?time=5ms&error=EIO@100%";
    let run = counted(3, &["trial", target, "--duration", "2s"]);
    assert_eq!(number(&run["elapsed_ns"]), 2e9);
    let trial = &run["measurements"][0];
    assert_eq!(number(&trial["completions_all"]), 0.0);
    assert_eq!(number(&trial["throughput"]["value"]), 0.0);
    assert_eq!(number(&trial["throughput"]["low"]), 0.0);
    assert_eq!(number(&trial["throughput"]["high"]), 1.498);
    assert!(trial["response"]["mean"]["value"].is_null());
    assert!((number(&trial["effective_depth"]) - 1.0).abs() < 0.01);
    let errors = trial["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["class"], "io");
    assert!((number(&errors[0]["count"]) - 400.0).abs() <= 1.0);
    assert_eq!(number(&errors[0]["response_mean_ns"]), 5e6);
    let warnings = trial["warnings"].as_array().expect("warnings");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(severity(&trial["warnings"]), "invalid");
}

/// It is printed, archived and shown again as any other measurement.
#[test]
fn a_trial_in_which_everything_fails_is_archived() {
    let scratch = Scratch::new();
    let target = "sim:delay?time=5ms&error=EIO@100%";
    let args = ["trial", target, "--duration", "2s", "--errors", "count"];
    let ended = finish(scratch.seekstone(args));
    let words = "INVALID every operation failed";
    ended.check(&args, 3, words);
    assert!(
        ended.stdout.contains("operations failed: 4"),
        "{}",
        ended.stdout
    );
    assert!(!ended.stdout.contains("NaN"), "{}", ended.stdout);
    let again = ["runs", "show", "1", "--all"];
    let shown = finish(scratch.seekstone(again));
    shown.check(&again, 0, words);
}

#[test]
fn a_curve_in_which_everything_fails_keeps_its_first_load() {
    let target = "sim:delay?time=5ms&error=EIO@100%";
    let run = counted(3, &["curve", target, "--budget", "20s"]);
    assert_eq!(severity(&run["measurements"][0]["warnings"]), "invalid");
    assert!(run["curves"][0].is_null(), "{}", run["curves"][0]);
}

/// Every row is there, void, and nothing is counted as a point of the curve.
#[test]
fn a_check_up_in_which_everything_fails_is_a_run_of_void_rows() {
    let run = counted(3, &["run", BROKEN, "--budget", "20s"]);
    let rows = run["measurements"].as_array().expect("measurements");
    let names: Vec<&str> = rows.iter().filter_map(|it| it["name"].as_str()).collect();
    let expected = [
        "sequential-write",
        "sequential-read",
        "random-read",
        "random-read-curve",
        "durable-write",
    ];
    assert_eq!(names, expected);
    for row in rows {
        assert_none_done(&row["throughput"]);
        assert_eq!(row["errors"][0]["class"], "io", "{row}");
        assert_eq!(severity(&row["warnings"]), "invalid");
    }
    assert!(run["curves"][0].is_null(), "{}", run["curves"][0]);
}

#[test]
fn random_access_in_which_everything_fails_has_void_cells() {
    let small = [
        "--spans=1MiB,all",
        "--blocks=4KiB",
        "--depths=1",
        "--rounds=2",
    ];
    let args = [&["random", BROKEN, "--budget", "4s"], &small[..]].concat();
    let run = counted(3, &args);
    let cells = rows(&run, "random");
    assert_eq!(cells.len(), 4, "{cells:?}");
    for cell in cells {
        assert_eq!(figure(cell, "operations"), 0.0);
        assert!(figure(cell, "errors") > 100.0, "{cell}");
        assert_none_done(tables::estimate(cell, "iops").expect("a rate"));
        assert!(tables::estimate(cell, "service-time").is_none(), "{cell}");
        assert_eq!(cell["trust"], "invalid");
        assert_eq!(tables::word(cell, "state"), "all failed");
    }
    for cell in ["read 4 KiB within 1 MiB", "write 4 KiB within 1 MiB"] {
        assert_eq!(tables::severity(&run, cell, "failed-operations"), "invalid");
    }
    let rounds = run["measurements"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 8, "two rounds of each, and none beyond");
    assert_eq!(number(&rounds[0]["errors"][0]["response_mean_ns"]), 5e6);
}

/// The first 64 KiB are lost: all of the smaller span, one in 1024 blocks of the other.
#[test]
fn random_access_of_which_some_cells_fail_keeps_the_others() {
    let target = "sim:delay?time=1ms&error=EIO@0+64KiB";
    let small = [
        "--reads",
        "--size=64MiB",
        "--spans=64KiB,all",
        "--blocks=4KiB",
        "--depths=1",
    ];
    let run = counted(
        3,
        &[&["random", target, "--budget", "40s"], &small[..]].concat(),
    );
    let [lost, rest] = rows(&run, "random")[..] else {
        panic!("two cells were expected: {}", run["tables"]);
    };
    assert_eq!(figure(rest, "service-time"), 1e-3);
    assert_share(
        &serde_json::json!([{"count": figure(rest, "errors")}]),
        1.0 / 1024.0,
        figure(rest, "operations"),
    );
    let severity = |cell| tables::severity(&run, cell, "failed-operations");
    assert_eq!(severity("read 4 KiB within 64 MiB"), "warning");
    assert_eq!(figure(lost, "operations"), 0.0);
    assert_none_done(tables::estimate(lost, "iops").expect("a rate"));
    assert_eq!(severity("read 4 KiB within 64 KiB"), "invalid");
    let findings = run["findings"].as_array().expect("findings");
    assert!(findings.is_empty(), "nothing to compare: {findings:?}");
}

#[test]
fn transactions_in_which_everything_fails_are_a_void_load() {
    let users = ["--users=2", "--think=100ms", "--budget=10s"];
    let run = counted(3, &[&["transactions", BROKEN], &users[..]].concat());
    let trial = &run["measurements"][0];
    assert_none_done(&trial["throughput"]);
    assert_eq!(number(&trial["errors"][0]["response_mean_ns"]), 5e6);
    assert_eq!(severity(&trial["warnings"]), "invalid");
    let load = row(&run, "transactions", &["2", "all"]);
    assert_eq!(figure(load, "transactions"), 0.0);
    assert_eq!(
        trial["warnings"].as_array().map(Vec::len),
        Some(1),
        "{trial}"
    );
}

/// Of 5000 reads one in 100 fails, so that no transaction gets through, though most reads do.
#[test]
fn transactions_of_which_none_is_whole_are_not_called_failed_operations_alone() {
    let target = "sim:delay?time=1ms&error=EIO@1%";
    let users = ["--users=1", "--ios=5000", "--think=0", "--duration=100s"];
    let run = counted(3, &[&["transactions", target], &users[..]].concat());
    let trial = &run["measurements"][0];
    assert_none_done(&trial["throughput"]);
    assert_share(&trial["errors"], 0.01, 100_000.0);
    let text = trial["warnings"][0]["text"].as_str().expect("a text");
    assert!(
        text.contains("No transaction or file was completed, so there is no latency."),
        "{text}"
    );
}

#[test]
fn a_search_for_users_ends_where_everything_fails() {
    let search = [
        "--find-users",
        "--limit=100ms",
        "--think=100ms",
        "--budget=20s",
    ];
    let run = counted(3, &[&["transactions", BROKEN], &search[..]].concat());
    let loads = rows(&run, "transactions");
    assert_eq!(loads.len(), 1, "{loads:?}");
    assert_eq!(severity(&run["measurements"][0]["warnings"]), "invalid");
}

/// All seven are there, the batch ones and those with a curve.
#[test]
fn rab_in_which_everything_fails_is_a_run_of_void_workloads() {
    let run = counted(3, &["rab", BROKEN, "--budget", "60s"]);
    let workloads = rows(&run, "rab-workloads");
    assert_eq!(workloads.len(), 7);
    for workload in workloads {
        assert_eq!(tables::word(workload, "state"), "all failed");
        assert!(tables::estimate(workload, "rabmark-r").is_none());
    }
    assert_eq!(run["curves"], serde_json::json!([]));
    let loads = run["measurements"].as_array().expect("loads");
    assert_eq!(loads.len(), 7);
    for load in loads {
        assert_none_done(&load["throughput"]);
        assert_eq!(load["errors"][0]["class"], "io", "{load}");
        assert_eq!(severity(&load["warnings"]), "invalid");
    }
}

/// The first 64 KiB are lost: all that the one workload reads, and one in 1024 blocks of the other.
#[test]
fn rab_of_which_some_workloads_fail_keeps_the_others() {
    let scratch = Scratch::new();
    let workload = |name: &str, shares: u32| {
        let text = format!(
            "name = \"{name}\"\ngroup = \"batch\"\nthreads-fixed = 1\nblock = \"4KiB\"\n\
             shares = {shares}\n\n[[threads]]\nio = \"4KiB\"\nmix = \"1:0\"\n\
             space = \"uniform\"\ntime = \"constant\"\n"
        );
        let path = scratch.path(&format!("{name}.toml"));
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let list = [workload("lost", 1024), workload("rest", 1)].join(",");
    let target = "sim:delay?time=1ms&error=EIO@0+64KiB";
    let args = [
        "rab",
        target,
        "--size=64MiB",
        "--workload",
        &list,
        "--budget=20s",
    ];
    let run = counted(3, &args);
    let [lost, rest] = rows(&run, "rab-workloads")[..] else {
        panic!("two workloads were expected: {}", run["tables"]);
    };
    let load = |at: usize| &run["measurements"][at];
    assert_eq!(figure(lost, "operations"), 0.0);
    assert_none_done(&load(0)["throughput"]);
    assert_eq!(severity(&load(0)["warnings"]), "invalid");
    assert!(figure(rest, "operations") > 1000.0, "{rest}");
    assert!(figure(rest, "rabmark-r") > 0.0, "{rest}");
    assert_eq!(severity(&load(1)["warnings"]), "warning");
}

/// What is archived of each kind is shown again, and nothing is printed as a number that is none.
#[test]
fn what_failed_altogether_is_archived_of_each_kind() {
    let kinds = [
        vec!["run", BROKEN, "--budget=20s"],
        vec![
            "random",
            BROKEN,
            "--budget=4s",
            "--spans=all",
            "--blocks=4KiB",
            "--depths=1",
        ],
        vec![
            "rab",
            BROKEN,
            "--workload=transaction,batch",
            "--budget=20s",
            "--no-screen",
        ],
        vec![
            "transactions",
            BROKEN,
            "--users=1",
            "--think=0",
            "--budget=5s",
        ],
    ];
    for mut args in kinds {
        let scratch = Scratch::new();
        args.extend([
            "--errors",
            "count",
            "--csv",
            "figures.csv",
            "--html",
            "page.html",
        ]);
        let ended = finish(scratch.seekstone(&args));
        ended.check(&args, 3, "operations failed");
        assert!(!ended.stdout.contains("NaN"), "{}", ended.stdout);
        let again = ["runs", "show", "1", "--all"];
        let shown = finish(scratch.seekstone(again));
        shown.check(&again, 0, "operations failed");
        assert!(!shown.stdout.contains("NaN"), "{}", shown.stdout);
    }
}

/// The scouts' failures count, too, and the level is found: eight servers carry 8000/s.
#[test]
fn a_curve_goes_on_and_lists_what_failed_at_any_point() {
    let target = "sim:mmc?mean=1ms&servers=8&error=EIO@0.1%";
    let run = counted(0, &["curve", target, "--level", "1500us"]);
    let curve = &run["curves"][0];
    let failed = number(&curve["errors"][0]["count"]);
    assert!(failed > 100.0, "{failed}");
    assert_eq!(severity(&curve["warnings"]), "warning");
    assert_eq!(
        curve["levels"][0]["outcome"], "reached",
        "{}",
        curve["levels"]
    );
}

/// Of transactions of five I/Os each, .99^5 lose none.
#[test]
fn a_transaction_with_a_counted_error_is_not_completed() {
    let user = ["--users=1", "--ios=5", "--think=0", "--duration=1000s"];
    let args = [
        &["transactions", "sim:md1?time=10ms&error=EIO@1%"],
        &user[..],
    ]
    .concat();
    let run = counted(0, &args);
    assert_share(&run["measurements"][0]["errors"], 0.01, 100_000.0);
    let done = figure(row(&run, "transactions", &["1", "all"]), "transactions");
    let expected = 20_000.0 * 0.99_f64.powi(5);
    let deviation = (expected * (1.0 - 0.99_f64.powi(5))).sqrt();
    assert!(
        (done - expected).abs() < 4.0 * deviation,
        "{done} and not {expected}"
    );
}

#[test]
fn workloads_of_rab_go_on() {
    let run = counted(
        0,
        &["rab", "sim:mm1?mean=1ms&error=EIO@0.2%", "--budget", "60s"],
    );
    for workload in rows(&run, "rab-workloads") {
        assert_ne!(tables::word(workload, "state"), "unfinished");
    }
    let curves = run["curves"].as_array().expect("curves");
    let loads = run["measurements"].as_array().expect("loads");
    assert_eq!((curves.len(), loads.len()), (3, 4));
    for of_either in curves.iter().chain(loads) {
        let warnings = &of_either["warnings"];
        assert_eq!(severity(warnings), "warning", "{}", of_either["title"]);
    }
}

/// A device of 32 MiB that has lost its last 64 KiB answers the rest: 1 read in 512 fails.
#[test]
fn a_device_that_lost_some_blocks_is_measured() {
    let test = "a_device_that_lost_some_blocks_is_measured";
    let scratch = Scratch::new();
    let Some(device) = Loop::new(test, &scratch, 32) else {
        return;
    };
    let image = OpenOptions::new().write(true).open(&device.image);
    let left = (32 << 20) - (64 << 10);
    image
        .expect("the image")
        .set_len(left)
        .expect("a shorter image");
    let trial = |duration: &str| {
        let load = ["--clients", "4", "--duration", duration];
        counted(0, &[&["trial", device.path()], &load[..]].concat())["measurements"][0].take()
    };
    let brief = trial("2s");
    // Of so many reads some fail for certain; a slow disk needs more time for them.
    let is_enough = number(&brief["completions_all"]) > 5000.0;
    let trial = if is_enough { brief } else { trial("20s") };
    let errors = &trial["errors"];
    assert_eq!(errors.as_array().map(Vec::len), Some(1), "{errors}");
    assert_eq!(
        (&errors[0]["class"], &errors[0]["errno"]),
        (&"io".into(), &5.into())
    );
    let done = number(&trial["completions_all"]);
    assert_share(errors, 1.0 / 512.0, done + number(&errors[0]["count"]));
    assert_eq!(severity(&trial["warnings"]), "warning");
}

/// A device of 16 MiB whose last 2 MiB have no space beneath them: reads find zeros there, and one
/// write in 8 fails.
#[test]
fn writes_that_a_device_has_no_space_for_are_counted() {
    let test = "writes_that_a_device_has_no_space_for_are_counted";
    let scratch = Scratch::new();
    let Some(memory) = FileSystem::tmpfs(test, &scratch, 20) else {
        return;
    };
    let Some(device) = Loop::thin(test, &memory, 16) else {
        return;
    };
    let image = OpenOptions::new().write(true).open(&device.image);
    let mut image = image.expect("the image");
    image.write_all(&vec![0; 14 << 20]).expect("14 MiB");
    fill(&memory.root);
    let load = ["--overwrite", "--writes=50%", "--duration=2s"];
    let run = counted(3, &[&["trial", device.path()], &load[..]].concat());
    let trial = &run["measurements"][0];
    let errors = trial["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["kind"], "write");
    assert!(
        ["space", "io"]
            .map(Value::from)
            .contains(&errors[0]["class"])
    );
    let kinds = trial["kinds"].as_array().expect("kinds");
    let writes = kinds.iter().find(|it| it["kind"] == "write");
    let done = number(&writes.expect("writes")["count"]);
    let failed = number(&errors[0]["count"]);
    assert_share(&trial["errors"], 1.0 / 8.0, done + failed);
    assert_eq!(severity(&trial["warnings"]), "invalid");
}

/// The test file of 32 MiB lies on a device that has space for 20: its hole can be measured
/// no more, but what was seen until then is a run that is printed and archived.
#[test]
fn a_test_file_that_cannot_be_written_costs_no_measurement() {
    let test = "a_test_file_that_cannot_be_written_costs_no_measurement";
    let scratch = Scratch::new();
    let Some(memory) = FileSystem::tmpfs(test, &scratch, 20) else {
        return;
    };
    let device = Loop::thin(test, &memory, 96);
    let Some(storage) = device.and_then(|it| FileSystem::enduring(test, &scratch, it)) else {
        return;
    };
    let small = ["--size=32MiB", "--reserve=1MiB", "--budget=12s"];
    let common = ["--errors=count", "--json=-"];
    let args = [&["run", storage.path()], &small[..], &common].concat();
    let ended = finish(scratch.seekstone(&args));
    ended.check(&args, 1, "What was measured before is above");
    let run = ended.json();
    assert_eq!(run["status"]["state"], "partial", "{}", run["status"]);
    let row = &run["measurements"][0];
    assert_eq!(row["name"], "sequential-write");
    assert_eq!(row["errors"][0]["kind"], "write", "{row}");
    assert!(number(&row["completions_all"]) > 0.0, "{row}");
    let again = ["runs", "show", "1"];
    finish(scratch.seekstone(again)).check(&again, 0, "sequential write 1 MiB");
}
