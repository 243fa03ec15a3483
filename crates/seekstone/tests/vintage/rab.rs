//! The seven workloads of `seekstone rab` on storage whose truth is known, and what is kept of
//! them.

use std::fs;

use crate::support::tables::{self, estimate, figure};
use crate::support::{Ended, Scratch, finish};
use serde_json::Value;

/// Four servers of 5 ms each: 800 operations per second are the most.
const FOUR_SERVERS: &str = "sim:mmc?servers=4&mean=5ms";
/// One server of exactly 5 ms.
const ONE_SERVER: &str = "sim:md1?time=5ms";
/// Never more than 5 ms, whatever is asked of it.
const DELAY: &str = "sim:delay?time=5ms";

/// A batch workload of one client and small I/Os.
const ONE_CLIENT: &str = r#"
name = "one-client"
group = "batch"
threads-fixed = 1
block = "4KiB"
shares = 1

[[threads]]
io = "4KiB"
space = "uniform"
time = "constant"
"#;

/// A run that is not kept, and what it found.
#[track_caller]
fn measure(scratch: &Scratch, args: &[&str]) -> Value {
    let common = ["--no-save", "--json", "-", "--quiet"];
    let args = [&["rab"], args, &common].concat();
    let ended = scratch.check(&args, 0, "\"rab-workloads\"");
    assert_eq!(ended.stderr, "", "{args:?}");
    ended.json()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

fn list(value: &Value) -> &[Value] {
    let found = value.as_array();
    found.unwrap_or_else(|| panic!("a list was expected, not {value}"))
}

fn workloads(run: &Value) -> Vec<&Value> {
    tables::rows(run, "rab-workloads")
}

/// The names of the workloads, or the groups of averages.
fn names<'a>(rows: &[&'a Value]) -> Vec<&'a str> {
    let name = |row: &&'a Value| row["levels"][0].as_str().expect("a name");
    rows.iter().map(name).collect()
}

/// The levels of a workload, without that of one client.
fn levels<'a>(run: &'a Value, workload: &str) -> Vec<&'a Value> {
    let rows = tables::rows(run, "rab-levels").into_iter();
    let rows = rows.filter(|row| row["levels"][0] == *workload && row["levels"][3] != "no load");
    rows.collect()
}

/// The row of one client alone.
fn no_load(run: &Value) -> &Value {
    tables::row(
        run,
        "rab-levels",
        &["transaction", "normal", "1", "no load"],
    )
}

/// The load curve of that title.
fn curve<'a>(run: &'a Value, title: &str) -> Option<&'a Value> {
    list(&run["curves"]).iter().find(|it| it["title"] == title)
}

/// The load of a batch workload.
fn load<'a>(run: &'a Value, name: &str) -> &'a Value {
    let mut loads = list(&run["measurements"]).iter();
    loads.find(|it| it["name"] == name).expect("a load")
}

fn is_complete(workload: &Value) -> bool {
    tables::word(workload, "state") != "unfinished"
}

/// Codes and texts of the doubts about a workload.
fn told(run: &Value, workload: &str) -> Vec<Value> {
    let all = list(&run["row_warnings"]).iter();
    all.filter(|it| it["row"] == *workload).cloned().collect()
}

/// Each element's value under `key`.
fn column<'a>(elements: &'a [Value], key: &str) -> Vec<&'a str> {
    let text = |element: &'a Value| element[key].as_str().expect("a text");
    elements.iter().map(text).collect()
}

/// The truth lies within the interval, give or take one in a thousand for constant times.
#[track_caller]
fn assert_holds(estimate: &Value, truth: f64) {
    let (low, high) = (number(&estimate["low"]), number(&estimate["high"]));
    let holds = low <= truth * 1.001 && truth * 0.999 <= high;
    assert!(holds, "{estimate} does not hold {truth}");
}

/// Two numbers that are computed from the same measurement.
#[track_caller]
fn assert_same(found: f64, expected: f64) {
    let difference = (found / expected - 1.0).abs();
    assert!(difference < 1e-6, "{found} is not {expected}");
}

#[test]
fn seven_workloads_have_rabmarks_and_averages() {
    let scratch = Scratch::new();
    let run = measure(&scratch, &[FOUR_SERVERS, "--seed", "1", "--budget", "60s"]);
    let found = workloads(&run);
    let expected = [
        "transaction",
        "multiuser",
        "database",
        "batch",
        "video",
        "archive",
        "scientific",
    ];
    assert_eq!(names(&found), expected);
    let (transaction, batch) = found.split_at(3);
    for (number_expected, workload) in (1_u32..).zip(&found) {
        assert_eq!(figure(workload, "number"), f64::from(number_expected));
        assert!(is_complete(workload), "{workload}");
        for mark in ["rabmark-r", "rabmark-s"] {
            assert!(figure(workload, mark) > 0.0, "{mark}");
        }
    }
    let titles = ["Transaction", "Multiuser", "Database query"];
    for (name, title) in names(transaction).into_iter().zip(titles) {
        let levels = levels(&run, name);
        let labels: Vec<&Value> = levels.iter().map(|it| &it["levels"][3]).collect();
        assert_eq!(labels, ["1/3", "2/3", "max"]);
        let times: Vec<f64> = levels.iter().map(|it| figure(it, "service-time")).collect();
        assert!(times.is_sorted() && times[2] == 50e-3, "{times:?}");
        let curve = curve(&run, title).expect("a curve");
        assert!(!list(&curve["points"]).is_empty());
    }
    for name in names(batch) {
        assert!(levels(&run, name).is_empty(), "{name}");
        assert!(number(&load(&run, name)["clients"]) >= 1.0, "{name}");
    }
    let averages = tables::rows(&run, "rab-averages");
    assert_eq!(names(&averages), ["transaction", "batch"]);
    for (average, members) in averages.into_iter().zip([transaction, batch]) {
        assert_eq!(figure(average, "workloads"), members.len() as f64);
        for mark in ["rabmark-r", "rabmark-s"] {
            let values = members.iter().map(|it| figure(it, mark));
            let mean = values.sum::<f64>() / members.len() as f64;
            assert_same(figure(average, mark), mean);
        }
    }
}

#[test]
fn the_seed_decides_everything() {
    let scratch = Scratch::new();
    let of_seed = |seed: &str| {
        let mut run = measure(&scratch, &[FOUR_SERVERS, "--budget", "10s", "--seed", seed]);
        run["environment"] = Value::Null;
        run["setup"] = Value::Null;
        run
    };
    let first = of_seed("1");
    assert!(first == of_seed("1"), "the same seed found something else");
    let other = of_seed("2");
    assert!(workloads(&first) != workloads(&other), "another seed");
}

/// What is printed of a load must agree with itself, and with what the storage can do.
#[test]
fn a_batch_workload_finds_what_the_storage_can_do() {
    let scratch = Scratch::new();
    fs::write(scratch.path("one.toml"), ONE_CLIENT).expect("a file");
    let selected = "--workload=one.toml,archive,scientific";
    let run = measure(&scratch, &[ONE_SERVER, selected, "--seed", "3"]);
    for (name, clients, io_bytes) in [
        ("one-client", 1.0, 4096.0),
        ("archive", 1.0, 32768.0),
        ("scientific", 2.0, f64::from(1 << 20)),
    ] {
        let workload = tables::row(&run, "rab-workloads", &[name]);
        let measurement = load(&run, name);
        assert_eq!(number(&measurement["clients"]), clients);
        assert_holds(&measurement["throughput"], 200.0);
        assert_holds(&measurement["service"]["mean"], clients * 5e6);
        let mark = |name| estimate(workload, name).expect("a mark");
        assert_holds(mark("rabmark-s"), 200.0 * io_bytes);
        assert_holds(mark("rabmark-r"), 200.0 / (5.0 * clients));
        // Little's law: clients that never wait are always in service.
        let rate = number(&measurement["throughput"]["value"]);
        let service = number(&measurement["service"]["mean"]["value"]);
        let in_service = rate * service / 1e9;
        assert!((in_service / clients - 1.0).abs() < 0.01, "{in_service}");
    }
}

/// Load times I/O size is the throughput, and no more than the storage carries is claimed.
#[test]
fn the_marks_of_a_transaction_workload_follow_from_its_levels() {
    let scratch = Scratch::new();
    let args = ["sim:mm1", "--workload=transaction", "--seed", "5"];
    let run = measure(&scratch, &args);
    let no_load = no_load(&run);
    assert_holds(estimate(no_load, "iops").expect("a load"), 20.0);
    let load_over_time = |level: &Value| figure(level, "iops") / figure(level, "service-time");
    let mut sum = load_over_time(no_load) / 1e3;
    let mut highest = 0.0;
    for level in levels(&run, "transaction") {
        assert_eq!(tables::word(level, "outcome"), "", "{level}");
        assert_holds(estimate(level, "iops").expect("a load"), 10_000.0);
        highest = figure(level, "iops");
        sum += load_over_time(level) / 1e3;
    }
    let workload = workloads(&run)[0];
    assert_same(figure(workload, "rabmark-r"), sum);
    assert_same(figure(workload, "rabmark-s"), highest * 4096.0);
}

/// A delay without a queue never takes longer, whatever is asked of it.
#[test]
fn levels_that_are_not_reached_are_said_to_be() {
    let scratch = Scratch::new();
    let args = ["rab", DELAY, "--workload=transaction", "--clients-max=64"];
    let args = [&args[..], &["--seed=1", "--no-save", "--quiet"]].concat();
    let ended = scratch.check(&args, 0, "lower bound");
    assert!(ended.stdout.contains("at least "), "{}", ended.stdout);
    assert!(ended.stdout.contains("64 clients"), "{}", ended.stdout);
    let json = finish(scratch.seekstone([&args[..], &["--json", "-"]].concat()));
    let run = json.json();
    let levels = levels(&run, "transaction");
    assert_eq!(levels.len(), 3);
    for level in levels {
        let outcome = tables::word(level, "outcome");
        assert_eq!(outcome, "not reached with 64 clients");
    }
    let workload = workloads(&run)[0];
    for mark in ["rabmark-r", "rabmark-s"] {
        let mark = estimate(workload, mark).expect("a mark");
        assert!(mark["high"].is_null(), "{mark}");
    }
}

/// No more than 4096 requests are outstanding. What waited for them in this program was the highest
/// load of a storage that has none, and nothing said so.
#[test]
fn a_load_that_is_limited_by_this_program_is_said_to_be() {
    let scratch = Scratch::new();
    let slow = "sim:delay?time=100ms";
    let common = ["rab", slow, "--workload=transaction", "--no-save", "-q"];
    let with = |options: &[&'static str]| {
        let args = [
            &common[..],
            &["--budget=60s", "--seed=1", "--response-max=1s"],
            options,
        ]
        .concat();
        scratch.check(&args, 0, "lower bound").stdout
    };
    let limited = with(&["--clients-max=32768", "--iops-per-client=100"]);
    let expected = "all of the 16384 requests that this program lets be outstanding were";
    let words: Vec<&str> = limited.split_whitespace().collect();
    assert!(words.join(" ").contains(expected), "{limited}");
    let free = with(&["--clients-max=512"]);
    assert!(!free.contains("lets be outstanding"), "{free}");
}

/// Where time ran out before the end of the last bracket was measured, there was no `RABmark[s]`,
/// and the average of the group was left out without a word.
#[test]
fn every_transaction_workload_has_both_marks() {
    let scratch = Scratch::new();
    for seed in ["1", "2", "3", "4"] {
        let args = ["--workload=1", "--budget=3min", "--seed", seed];
        let run = measure(&scratch, &[&[FOUR_SERVERS], &args[..]].concat());
        for mark in ["rabmark-r", "rabmark-s"] {
            let found = estimate(workloads(&run)[0], mark);
            assert!(found.is_some(), "seed {seed}: no {mark}");
        }
        let averages = tables::rows(&run, "rab-averages");
        assert_eq!(averages.len(), 1, "seed {seed}");
    }
}

/// Three workloads' warnings stood in one list, and none said whose it was.
#[test]
fn warnings_of_a_curve_name_their_workload() {
    let scratch = Scratch::new();
    let run = measure(&scratch, &[DELAY, "--workload=database", "--clients-max=4"]);
    let curve = &run["curves"][0];
    let texts = column(list(&curve["warnings"]), "text");
    assert!(!texts.is_empty(), "{curve}");
    let is_named = |text: &&str| text.starts_with("Database query: ");
    assert!(texts.iter().all(is_named), "{texts:?}");
}

#[test]
fn levels_are_taken_as_given() {
    let scratch = Scratch::new();
    let common = [FOUR_SERVERS, "--workload=1", "--budget=20s", "--seed=1"];
    let levels_of = |options: &[&str]| {
        let run = measure(&scratch, &[&common[..], options].concat());
        let levels = levels(&run, "transaction").into_iter();
        let levels: Vec<u64> = levels
            .map(|it| (figure(it, "service-time") * 1e3).round() as u64)
            .collect();
        let highest = tables::notes(&run, "rab-workloads");
        (levels, highest)
    };
    let (levels, told) = levels_of(&["--level", "20ms", "--level=10ms", "--level=20ms"]);
    assert_eq!(levels, [10, 20]);
    assert!(told.contains("Levels up to 20.0 ms"), "{told}");
    let (levels, told) = levels_of(&["--response-max", "30ms"]);
    assert_eq!(levels[2], 30);
    assert!(told.contains("Levels up to 30.0 ms"), "{told}");
    let (levels, _) = levels_of(&["--response-min", "20ms"]);
    assert_eq!(levels, [30, 40, 50]);
    let (levels, _) = levels_of(&["--clients-max", "1"]);
    assert_eq!(levels.len(), 3);
}

/// One client already waits longer than the highest level.
#[test]
fn levels_below_the_time_of_one_client_are_told() {
    let scratch = Scratch::new();
    let args = [
        "rab",
        "sim:mmc?mean=15ms",
        "--workload=transaction",
        "--response-max=8ms",
        "--budget=60s",
        "--seed=1",
        "--no-screen",
        "--quiet",
    ];
    let said = scratch.check(&args, 0, "highest level").stdout;
    let words: Vec<&str> = said.split_whitespace().collect();
    let told = "more than the highest level of 8.00 ms. Raise --response-max.";
    assert!(words.join(" ").contains(told), "{said}");
}

#[test]
fn the_load_of_a_client_is_the_users() {
    let scratch = Scratch::new();
    let common = ["sim:mm1", "-w=transaction", "--seed=1", "--budget=60s"];
    for (rate, truth) in [("100", 100.0), ("600/min", 10.0), ("1k/s", 1000.0)] {
        let run = measure(
            &scratch,
            &[&common[..], &["--iops-per-client", rate]].concat(),
        );
        let told = tables::notes(&run, "rab-workloads");
        let rate = units::format_count(truth);
        let expected = format!(". {rate}/s for each client that waits");
        assert!(told.contains(&expected), "{told}");
        assert_holds(estimate(no_load(&run), "iops").expect("a load"), truth);
    }
}

/// A client that asks once in ten seconds asks for nothing in a short trial, one time in five. That
/// used to end the run, and no later workload was measured.
#[test]
fn a_silent_trial_is_measured_for_longer() {
    let scratch = Scratch::new();
    let one = "sim:mmc?mean=15ms";
    let mut args = vec!["-w", "transaction,batch", "--iops-per-client", "0.1"];
    args.extend([one, "--seed", "2", "--budget", "135min"]);
    let run = measure(&scratch, &args);
    let found = workloads(&run);
    assert_eq!(names(&found), ["transaction", "batch"]);
    assert!(found.iter().all(|workload| is_complete(workload)));
    let told = told(&run, "transaction");
    assert!(column(&told, "code").contains(&"no-answer"), "{told:#?}");
}

#[test]
fn a_workload_that_nothing_answers_leaves_the_others_theirs() {
    let scratch = Scratch::new();
    let mut args = vec!["rab", "sim:mmc?mean=15ms", "-w", "transaction,batch"];
    args.extend(["--iops-per-client", "0.00001", "--seed=1", "--budget=60s"]);
    args.extend(["--no-save", "--json", "-", "--quiet"]);
    let run = scratch.check(&args, 3, "\"rab-workloads\"").json();
    let found = workloads(&run);
    assert_eq!(names(&found), ["transaction", "batch"]);
    let told = told(&run, "transaction");
    assert!(column(&told, "code").contains(&"no-operation"), "{told:#?}");
    assert!(!is_complete(found[0]) && is_complete(found[1]));
    assert!(figure(found[1], "rabmark-s") > 0.0);
}

#[test]
fn runs_and_modes_stamp_their_results() {
    let scratch = Scratch::new();
    let common = ["sim:mm1", "--workload=archive,scientific", "--budget=4s"];
    let run = measure(
        &scratch,
        &[&common[..], &["--runs", "2", "--seed=1"]].concat(),
    );
    let stamps = |run: &Value| -> Vec<(u64, String)> {
        let stamp = |it: &Value| {
            let level = |place: usize| it["levels"][place].as_str().expect("a level");
            (level(2).parse().expect("a number"), level(1).to_owned())
        };
        workloads(run).into_iter().map(stamp).collect()
    };
    let runs: Vec<u64> = stamps(&run).iter().map(|(run, _)| *run).collect();
    assert_eq!(runs, [1, 1, 2, 2]);
    assert_eq!(tables::rows(&run, "rab-averages").len(), 2);
    let marks = workloads(&run)
        .into_iter()
        .map(|it| figure(it, "rabmark-s"));
    let marks: Vec<f64> = marks.collect();
    assert!(marks[0] != marks[2], "same draws");

    let args = [
        &common[..],
        &["--mode", "rebuild", "--for", "3s", "--seed=1"],
    ];
    let run = measure(&scratch, &args.concat());
    assert!(
        stamps(&run).iter().all(|(_, mode)| mode == "rebuild"),
        "{run}"
    );
    let modes = tables::rows(&run, "rab-modes");
    assert_eq!(modes[0]["levels"][0], "rebuild");
    assert!(number(&run["elapsed_ns"]) >= 3e9, "{}", run["elapsed_ns"]);
}

#[test]
fn a_run_is_archived_shown_and_exported() {
    let scratch = Scratch::new();
    let args = ["rab", FOUR_SERVERS, "--seed=1", "--budget=10s", "--quiet"];
    let ended = scratch.check(&args, 0, "Saved as run 1: seekstone runs show 1");
    scratch.check(&["runs", "list"], 0, "rab ");
    let shown = scratch.check(&["runs", "show", "1"], 0, "rab of sim:mmc");
    // Where several workloads have curves, a screen has no room for them.
    let whole = scratch.check(&["runs", "show", "1", "--all"], 0, "rab of sim:mmc");
    assert!(whole.stdout.contains("mean service time against IOPS"));
    for expected in ["RABmark r", "RABmark s", "scientific", "batch ", "1/3"] {
        assert!(shown.stdout.contains(expected), "{expected}");
        assert!(ended.stdout.contains(expected), "{expected}");
    }
    let exported = scratch.check(
        &["runs", "export", "1", "--form", "json"],
        0,
        "\"rab-levels\"",
    );
    let run = results::from_json(&exported.stdout).expect("a run");
    assert_eq!(results::json(&run).trim_end(), exported.stdout.trim_end());
    let table = scratch.check(&["runs", "export", "1", "--form", "csv"], 0, "scientific");
    assert!(table.stdout.contains(",rab-workloads,"), "{}", table.stdout);
}

#[test]
fn progress_goes_to_stderr_and_json_alone_to_stdout() {
    let scratch = Scratch::new();
    let common = ["rab", ONE_SERVER, "--workload=archive", "--no-save"];
    let with = |options: &[&str]| -> Ended {
        let args = [&common[..], options].concat();
        let ended = finish(scratch.seekstone(&args));
        ended.check(&args, 0, "");
        ended
    };
    let loud = with(&[]);
    assert!(
        loud.stderr.contains("Archive save, 1 client"),
        "{}",
        loud.stderr
    );
    assert!(!loud.stderr.contains('\x1b') && !loud.stdout.contains('\x1b'));
    assert_eq!(with(&["--quiet"]).stderr, "");
    let json = with(&["--json", "-"]);
    assert_eq!(workloads(&json.json()).len(), 1);
    let quiet = with(&["--json=run.json", "--quiet"]);
    assert!(quiet.stdout.contains("archive"), "{}", quiet.stdout);
    let text = fs::read_to_string(scratch.path("run.json")).expect("a file");
    serde_json::from_str::<Value>(&text).expect("JSON");
}

/// The last line of progress said "0 s", however long the run had taken.
#[test]
fn progress_ends_with_the_time_that_the_run_took() {
    let scratch = Scratch::new();
    let args = ["rab", ONE_SERVER, "--workload=archive", "--no-save"];
    let ended = scratch.check(&args, 0, "finished");
    assert!(!ended.stderr.contains("[   0 s] finished"), "{ended:?}");
}

/// What the manual warns of was computed by nobody: a cache of 64 MiB, steps of one place, and
/// messages of 5 and of 500 MiB went without a word.
#[test]
fn what_the_manual_warns_of_is_told() {
    let scratch = Scratch::new();
    let text = |name: &str| {
        scratch
            .check(&["rab", "--print-workload", name], 0, "")
            .stdout
    };
    let renamed = |text: &str, name: &str| {
        let lines = text.lines().map(|line| match line.starts_with("name") {
            true => format!("name = \"{name}\""),
            false => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let narrow = renamed(&text("transaction"), "narrow");
    let narrow = narrow
        .replace("ic:0.5", "ic:2.5")
        .replace("shares = 50", "shares = 4");
    let fat = renamed(&text("batch"), "fat").replace("message = 80", "message = 8000");
    fs::write(scratch.path("n.toml"), narrow).expect("a file");
    fs::write(scratch.path("f.toml"), fat).expect("a file");
    let args = [
        "sim:drive?cache=64MiB",
        "--size",
        "1GiB",
        "--workload",
        "n.toml,f.toml,archive",
    ];
    let run = measure(&scratch, &[&args[..], &["--seed", "1"]].concat());
    let warnings = list(&run["warnings"]);
    for code in ["cached-range", "random-walk", "durations-differ"] {
        let is_told = |it: &&Value| it["code"] == code && it["severity"] == "warning";
        assert!(
            warnings.iter().any(|it| is_told(&it)),
            "{code}: {warnings:?}"
        );
    }
    // The note of what can be asked for is that of the rate that was asked for.
    let args = [
        "sim:md1?time=5ms",
        "--workload",
        "transaction",
        "--iops-per-client",
        "1",
    ];
    let run = measure(&scratch, &[&args[..], &["--seed", "1"]].concat());
    let notes = list(&run["warnings"]).iter();
    let mut notes = notes.filter(|it| it["code"] == "load-range");
    let text = notes.next().expect("a note")["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains("Possible loads are 1/s with"), "{text}");
}
