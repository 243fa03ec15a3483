//! The seven workloads of `seekstone rab` on storage whose truth is known, and what is kept of
//! them.

use std::fs;

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
    let ended = scratch.check(&args, 0, "\"rab\"");
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

fn workloads(run: &Value) -> &[Value] {
    list(&run["rab"]["workloads"])
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
    let names = [
        "transaction",
        "multiuser",
        "database",
        "batch",
        "video",
        "archive",
        "scientific",
    ];
    assert_eq!(column(found, "name"), names);
    let (transaction, batch) = found.split_at(3);
    assert_eq!(column(transaction, "group"), ["transaction"; 3]);
    assert_eq!(column(batch, "group"), ["batch"; 4]);
    for (number_expected, workload) in (1_u64..).zip(found) {
        assert_eq!(workload["number"], number_expected);
        assert_eq!(workload["is_complete"], true);
        for mark in ["rabmark_r", "rabmark_s"] {
            assert!(number(&workload[mark]["value"]["value"]) > 0.0, "{mark}");
        }
    }
    for workload in transaction {
        let levels = list(&workload["levels"]);
        assert_eq!(column(levels, "label"), ["1/3", "2/3", "max"]);
        let times: Vec<f64> = levels.iter().map(|it| number(&it["level_ns"])).collect();
        assert!(times.is_sorted() && times[2] == 50e6, "{times:?}");
        assert!(!list(&workload["curve"]["points"]).is_empty());
    }
    let averages = list(&run["rab"]["averages"]);
    assert_eq!(column(averages, "group"), ["transaction", "batch"]);
    for (average, members) in averages.iter().zip([transaction, batch]) {
        assert_eq!(average["workloads"], members.len());
        for mark in ["rabmark_r", "rabmark_s"] {
            let values = members.iter().map(|it| number(&it[mark]["value"]["value"]));
            let mean = values.sum::<f64>() / members.len() as f64;
            assert_same(number(&average[mark]["value"]["value"]), mean);
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
    let found = workloads(&run);
    for (workload, clients, io_bytes) in [
        (&found[0], 1.0, 4096.0),
        (&found[1], 1.0, 32768.0),
        (&found[2], 2.0, f64::from(1 << 20)),
    ] {
        let measurement = &workload["measurement"];
        assert_eq!(number(&measurement["clients"]), clients);
        assert_holds(&measurement["throughput"], 200.0);
        assert_holds(&measurement["service"]["mean"], clients * 5e6);
        let mib = 200.0 * io_bytes / f64::from(1 << 20);
        assert_holds(&workload["rabmark_s"]["value"], mib);
        assert_holds(&workload["rabmark_r"]["value"], 200.0 / (5.0 * clients));
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
    let workload = &workloads(&run)[0];
    let no_load = &workload["no_load"];
    assert_holds(&no_load["load"], 20.0);
    let load_over_time = |load: f64, time_ns: f64| load / (time_ns / 1e6);
    let mut sum = load_over_time(
        number(&no_load["load"]["value"]),
        number(&no_load["service"]["value"]),
    );
    let mut highest = 0.0;
    for level in list(&workload["levels"]) {
        let outcome = &level["by_service"];
        assert_eq!(outcome["outcome"], "reached", "{outcome}");
        assert_holds(&outcome["load"], 10_000.0);
        highest = number(&outcome["load"]["value"]);
        sum += load_over_time(highest, number(&level["level_ns"]));
    }
    let of_load = number(&workload["rabmark_r"]["value"]["value"]);
    let of_bytes = number(&workload["rabmark_s"]["value"]["value"]);
    assert_same(of_load, sum);
    assert_same(of_bytes, highest * 4096.0 / f64::from(1 << 20));
}

/// A delay without a queue never takes longer, whatever is asked of it.
#[test]
fn levels_that_are_not_reached_are_said_to_be() {
    let scratch = Scratch::new();
    let args = ["rab", DELAY, "--workload=transaction", "--clients-max=64"];
    let args = [&args[..], &["--seed=1", "--no-save", "--quiet"]].concat();
    let ended = scratch.check(&args, 0, "levels not reached");
    assert!(ended.stdout.contains("at least "), "{}", ended.stdout);
    assert!(ended.stdout.contains("64 clients"), "{}", ended.stdout);
    let json = finish(scratch.seekstone([&args[..], &["--json", "-"]].concat()));
    let run = json.json();
    let workload = &workloads(&run)[0];
    for level in list(&workload["levels"]) {
        assert_eq!(level["by_service"]["outcome"], "not-reached", "{level}");
    }
    assert_eq!(workload["rabmark_r"]["is_whole"], false);
    assert_eq!(workload["rabmark_s"]["is_whole"], false);
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
        scratch.check(&args, 0, "levels not reached").stdout
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
        for mark in ["rabmark_r", "rabmark_s"] {
            let found = &workloads(&run)[0][mark];
            assert!(!found.is_null(), "seed {seed}: no {mark}");
        }
        assert_eq!(list(&run["rab"]["averages"]).len(), 1, "seed {seed}");
    }
}

/// Three workloads' warnings stood in one list, and none said whose it was.
#[test]
fn warnings_of_a_curve_name_their_workload() {
    let scratch = Scratch::new();
    let run = measure(&scratch, &[DELAY, "--workload=database", "--clients-max=4"]);
    let curve = &workloads(&run)[0]["curve"];
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
        let levels = list(&workloads(&run)[0]["levels"]).iter();
        let levels: Vec<u64> = levels.map(|it| number(&it["level_ns"]) as u64).collect();
        (levels, number(&run["rab"]["response_max_ns"]))
    };
    let (levels, highest) = levels_of(&["--level", "20ms", "--level=10ms", "--level=20ms"]);
    assert_eq!((levels, highest), (vec![10_000_000, 20_000_000], 20e6));
    let (levels, highest) = levels_of(&["--response-max", "30ms"]);
    assert_eq!((levels[2], highest), (30_000_000, 30e6));
    let (levels, _) = levels_of(&["--response-min", "20ms"]);
    assert_eq!(levels, [30_000_000, 40_000_000, 50_000_000]);
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
    let said = scratch.check(&args, 0, "levels").stdout;
    let words: Vec<&str> = said.split_whitespace().collect();
    let told = "so no level is below the highest, 8.00 ms: there is no load at any level. Raise \
                --response-max.";
    assert!(words.join(" ").contains(told), "{said}");
}

#[test]
fn the_load_of_a_client_is_the_users() {
    let scratch = Scratch::new();
    let common = ["sim:mm1", "--workload=transaction", "--seed=1"];
    for (rate, truth) in [("100", 100.0), ("600/min", 10.0), ("1k/s", 1000.0)] {
        let run = measure(
            &scratch,
            &[&common[..], &["--iops-per-client", rate]].concat(),
        );
        assert_same(number(&run["rab"]["iops_per_client"]), truth);
        assert_holds(&workloads(&run)[0]["no_load"]["load"], truth);
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
    assert_eq!(column(found, "name"), ["transaction", "batch"]);
    assert!(found.iter().all(|workload| workload["is_complete"] == true));
    let told = list(&found[0]["warnings"]);
    assert!(column(told, "code").contains(&"no-answer"), "{told:#?}");
}

#[test]
fn a_workload_that_nothing_answers_leaves_the_others_theirs() {
    let scratch = Scratch::new();
    let mut args = vec!["rab", "sim:mmc?mean=15ms", "-w", "transaction,batch"];
    args.extend(["--iops-per-client", "0.00001", "--seed", "1"]);
    args.extend(["--no-save", "--json", "-", "--quiet"]);
    let run = scratch.check(&args, 3, "\"rab\"").json();
    let found = workloads(&run);
    assert_eq!(column(found, "name"), ["transaction", "batch"]);
    let told = list(&found[0]["warnings"]);
    assert!(column(told, "code").contains(&"no-operation"), "{told:#?}");
    assert_eq!(
        (&found[0]["is_complete"], &found[1]["is_complete"]),
        (&Value::Bool(false), &Value::Bool(true))
    );
    assert!(number(&found[1]["rabmark_s"]["value"]["value"]) > 0.0);
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
            let mode = it["mode"].as_str().expect("a mode");
            (number(&it["run"]) as u64, mode.to_owned())
        };
        workloads(run).iter().map(stamp).collect()
    };
    let runs: Vec<u64> = stamps(&run).iter().map(|(run, _)| *run).collect();
    assert_eq!(runs, [1, 1, 2, 2]);
    assert_eq!(list(&run["rab"]["averages"]).len(), 2);
    let again = workloads(&run);
    assert!(again[0]["rabmark_s"] != again[2]["rabmark_s"], "same draws");

    let args = [
        &common[..],
        &["--mode", "rebuild", "--for", "3s", "--seed=1"],
    ];
    let run = measure(&scratch, &args.concat());
    assert!(
        stamps(&run).iter().all(|(_, mode)| mode == "rebuild"),
        "{run}"
    );
    assert_eq!(run["rab"]["modes"][0]["mode"], "rebuild");
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
    for expected in [
        "RABmark[r]",
        "RABmark[s]",
        "7 Scientific",
        "batch (4 workloads)",
        "1/3",
    ] {
        assert!(shown.stdout.contains(expected), "{expected}");
        assert!(ended.stdout.contains(expected), "{expected}");
    }
    let exported = scratch.check(&["runs", "export", "1", "--form", "json"], 0, "\"rab\"");
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
    assert!(quiet.stdout.contains("6 Archive save"), "{}", quiet.stdout);
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
        let is_told = |it: &&Value| it["code"] == code && it["severity"] == "doubt";
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
    assert!(text.contains("Loads from 1/s with"), "{text}");
}
