//! Studies as a user runs them: mistakes, set-ups, interruption, resumption, notes.

use std::fs;
use std::path::Path;

use crate::support::tables::{in_turn, rows, word};
use crate::support::{Belongings, Ended, Running, Scratch, is_installed, skipped};
use rustix::process::Signal;
use serde_json::Value;

/// A study of two record sizes with a set-up for each of two places.
const STUDY: &str = r#"
title = "Record sizes in two places"
environment = ["cables: short"]
replicates = 2
readings = ["write rate", "read rate"]
setup = "echo begun >> log"
teardown = "echo ended >> log"

[measurement]
kind = "transfer"
size = "256KiB"

[[factor]]
name = "record"
levels = ["4KiB", "64KiB"]

[[factor]]
name = "where"
[[factor.level]]
name = "one"
target = "{scratch}/one"
setup = 'echo "up $SEEKSTONE_PLACE_KIND" >> log; mkdir "$SEEKSTONE_SCRATCH/one"'
teardown = 'echo down >> log; rmdir "$SEEKSTONE_SCRATCH/one"'
[[factor.level]]
name = "two"
"#;

/// Write the study, changed as wanted.
fn study(scratch: &Scratch, changes: &[(&str, &str)]) -> String {
    let mut text = STUDY.replace("$SEEKSTONE_PLACE_KIND", "one");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let path = scratch.path("study.toml");
    fs::write(&path, text).expect("a file");
    path.display().to_string()
}

fn run(scratch: &Scratch, study: &str, more: &[&str], code: i32, expected: &str) -> Ended {
    let target = scratch.target().display().to_string();
    let args = ["study", study, "--target", &target, "--reserve", "0", "-q"];
    scratch.check(&[&args[..], more].concat(), code, expected)
}

fn log(scratch: &Scratch) -> Vec<String> {
    let text = fs::read_to_string(scratch.path("log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// What lies beside the archive: journals of studies that are not done.
fn journals(scratch: &Scratch) -> usize {
    let entries = fs::read_dir(scratch.path(".")).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    names
        .filter(|name| name.to_string_lossy().contains(".study-"))
        .count()
}

#[test]
fn a_study_is_run_kept_and_noted() {
    let scratch = Scratch::new();
    let study = study(&scratch, &[]);
    let ended = run(&scratch, &study, &[], 0, "Saved as run 1");
    for part in [
        "Record sizes in two places",
        "Test environment",
        "cables: short",
        "8 repeats, 2 of each combination",
        "allow no conclusion: it takes at least 5",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    // Set-ups: once for the study, once to try, once for each round.
    let expected = [
        "begun", "up one", "down", "up one", "down", "up one", "down", "ended",
    ];
    assert_eq!(log(&scratch), expected);
    assert_eq!(journals(&scratch), 0);
    scratch.assert_clean(&scratch.target());
    let export = |form: &str| {
        let args = ["runs", "export", "1", "--form", form];
        scratch.check(&args, 0, "").stdout
    };
    let markdown = export("markdown");
    assert!(
        markdown.starts_with("# Record sizes in two places\n"),
        "{markdown}"
    );
    assert!(markdown.contains("| 64KiB | two | "), "{markdown}");
    let figures = export("csv");
    // Two readings of four combinations.
    let results = figures.lines().filter(|it| it.contains(",transfer,"));
    assert_eq!(results.count(), 4 * 2, "{figures}");
    let replicates = export("replicates");
    assert!(replicates.lines().count() > 8 * 2, "{replicates}");
    assert!(export("text").contains("Test environment"));
    let json: Value = serde_json::from_str(&export("json")).expect("JSON");
    assert_eq!(in_turn(&json).len(), 8);
    let cell = rows(&json, "transfer")[0];
    assert_eq!(cell["replicates"].as_array().map(Vec::len), Some(2));
    let environment = json["note"]["environment"].to_string();
    assert!(environment.contains("transfer: size "), "{environment}");
    scratch.check(&["runs", "show", "1"], 0, "Test environment");
    scratch.check(&["runs", "list"], 0, "Record sizes in two places");
}

#[test]
fn mistakes_of_a_study_are_told_with_lines_before_anything_is_done() {
    let scratch = Scratch::new();
    let changes = [
        ("kind = \"transfer\"", "kind = \"transfre\""),
        ("levels = [\"4KiB\", \"64KiB\"]", "levels = []"),
        ("replicates = 2", "replicats = 2"),
    ];
    let study = study(&scratch, &changes);
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let path = target.display().to_string();
    let args = ["study", &study, "--target", &path];
    let ended = scratch.check(&args, 2, "study.toml:4: unknown key \"replicats\", did you");
    for expected in [
        "study.toml:13: the factor \"record\" has no levels",
        "transfre",
    ] {
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    let change = ("\"write rate\", \"read rate\"", "\"write rat\"");
    let path = self::study(&scratch, &[change]);
    let args = ["study", &path, "--target", &target.display().to_string()];
    scratch.check(
        &args,
        2,
        "study.toml:5: transfer gives no reading \"write rat\"",
    );
    scratch.check(
        &["study", "nothing"],
        2,
        "there is no file or study \"nothing\"",
    );
    scratch.check(&["study", "none.toml"], 1, "the study none.toml: No such");
    let both = ["study", "paw", "--markdown", "-", "--json", "-"];
    scratch.check(&both, 2, "- both mean standard output. Name a file for one");
    for endless in ["/dev/zero", ".", "/dev/null"] {
        scratch.check(
            &["study", endless],
            2,
            "is not a regular file. Name a study file, or -",
        );
        scratch.check(&["study", "check", endless], 2, "is not a regular file");
    }
    fs::write(scratch.path("long.toml"), vec![b'\xff'; 300 << 10]).expect("a file");
    scratch.check(
        &["study", "long.toml"],
        2,
        "long.toml: it is longer than the 262144 bytes",
    );
    fs::write(scratch.path("bytes.toml"), b"title = \"\xff\"").expect("a file");
    scratch.check(
        &["study", "bytes.toml"],
        1,
        "study bytes.toml: invalid utf-8",
    );
    // Standard input ends at once here.
    scratch.check(
        &["study", "-"],
        2,
        "standard input:1: the key \"title\" is missing",
    );
    scratch.check(
        &["study", "show", "nothing"],
        2,
        "there is no file or study",
    );
    assert_eq!(log(&scratch), Vec::<String>::new());
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

/// Versions stood in no note: lines of the environment were printed as they were.
#[test]
fn commands_of_the_environment_are_run_and_their_output_is_in_the_note() {
    let scratch = Scratch::new();
    let line = (
        "\"cables: short\"",
        "\"cables: short\", { run = \"echo version 7; echo 8\" }",
    );
    let path = study(&scratch, &[line]);
    let ended = run(
        &scratch,
        &path,
        &[],
        0,
        "echo version 7; echo 8: version 7; 8",
    );
    assert!(ended.stdout.contains("- Processor "), "{}", ended.stdout);
    let set_up = "Set-up of where one: echo";
    assert!(ended.stdout.contains(set_up), "{}", ended.stdout);
    let failing = ("\"cables: short\"", "{ run = \"exit 4\" }");
    let path = study(
        &scratch,
        &[failing, ("record\"", "record\"\nsetting = \"record\"")],
    );
    let told = "study.toml:3: a command of the environment failed with exit status: 4";
    run(&scratch, &path, &[], 1, told);
    let wrong = study(&scratch, &[("\"cables: short\"", "{ ruin = \"cc\" }, 7")]);
    let ended = run(
        &scratch,
        &wrong,
        &[],
        2,
        "study.toml:3: unknown key \"ruin\"",
    );
    assert!(
        ended.stderr.contains("environment has 7"),
        "{}",
        ended.stderr
    );
}

/// A file system refused the state of its files at its turn, after minutes of the others.
#[test]
fn what_a_combination_refuses_is_found_before_the_first_replicate() {
    let Some(scratch) =
        Scratch::on_disk("what_a_combination_refuses_is_found_before_the_first_replicate")
    else {
        return;
    };
    let text = r#"
title = "Files that are durable"
[measurement]
kind = "files"
tests = "8"
state = "durable"
passes = 1
[[factor]]
name = "where"
[[factor.level]]
name = "disk"
[[factor.level]]
name = "memory"
setup = "echo >> tried"
target = "/dev/shm"
"#;
    fs::write(scratch.path("durable.toml"), text).expect("a file");
    let ended = run(
        &scratch,
        "durable.toml",
        &[],
        2,
        "nothing makes them durable",
    );
    assert!(ended.stderr.contains("where memory"), "{}", ended.stderr);
    assert!(!ended.stdout.contains("Results"), "{}", ended.stdout);
    let tried = fs::read_to_string(scratch.path("tried")).expect("a file");
    assert_eq!(tried.lines().count(), 1);
    scratch.assert_clean(&scratch.target());
    // A mistyped column was dropped in silence beside a right one.
    let trial = "title = \"t\"\nreadings = [\"iops\", \"latency-mean\", \"p99\"]\n\
                 [measurement]\nkind = \"trial\"\n";
    fs::write(scratch.path("trial.toml"), trial).expect("a file");
    let told = "trial gives no reading \"latency-mean\". It gives columns such as iops, ";
    let args = ["study", "check", "trial.toml"];
    let ended = scratch.check(&args, 2, told);
    assert!(!ended.stderr.contains("\"p99\""), "{}", ended.stderr);
}

#[test]
fn a_set_up_that_fails_is_told_with_its_line_before_the_first_replicate() {
    let scratch = Scratch::new();
    // The last of the set-ups that are tried; what the earlier ones made is taken down.
    let change = (
        "name = \"two\"",
        "name = \"two\"\nsetup = 'echo no disk >&2; exit 3'",
    );
    let study = study(&scratch, &[change]);
    let ended = run(
        &scratch,
        &study,
        &[],
        1,
        "study.toml:26: the set-up of where two failed",
    );
    assert!(
        ended.stderr.contains("exit status: 3. It said: no disk"),
        "{}",
        ended.stderr
    );
    assert_eq!(log(&scratch), ["begun", "up one", "down", "ended"]);
    assert_eq!(journals(&scratch), 0);
    scratch.assert_clean(&scratch.target());
}

#[test]
fn a_set_up_that_hangs_is_ended() {
    let scratch = Scratch::new();
    let change = (
        "name = \"two\"",
        "name = \"two\"\nsetup = 'sleep 1000 & wait'",
    );
    let study = study(
        &scratch,
        &[change, ("replicates = 2", "time-limit = \"300ms\"")],
    );
    run(
        &scratch,
        &study,
        &[],
        1,
        "was ended after 300 ms, its time-limit",
    );
    scratch.assert_clean(&scratch.target());
}

#[test]
fn what_a_study_needs_is_looked_for_first() {
    let scratch = Scratch::new();
    let study = study(
        &scratch,
        &[("replicates = 2", "needs = [\"no-such-program\"]")],
    );
    run(
        &scratch,
        &study,
        &[],
        1,
        "the study needs the program no-such-program",
    );
    assert_eq!(log(&scratch), Vec::<String>::new());
}

/// What is measured finds the levels, as scripts do; it once found nothing, and all levels measured
/// the same.
#[test]
fn a_measured_command_finds_what_scripts_find() {
    let scratch = Scratch::new();
    let text = r#"
title = "What a command finds"
replicates = 2
before = 'echo "$SEEKSTONE_OPT|$SEEKSTONE_ROUND|$SEEKSTONE_PLACE|$SEEKSTONE_SCRATCH" >> before'
[measurement]
kind = "command"
warm = true
command = '''
echo "$SEEKSTONE_OPT|$SEEKSTONE_ROUND|$SEEKSTONE_PLACE|$SEEKSTONE_SCRATCH" >> found
test "$SEEKSTONE_STUDY_DIR" && "$SEEKSTONE" --version
'''
[[factor]]
name = "opt"
levels = ["-O0", "-O2"]
"#;
    let path = scratch.path("study.toml");
    fs::write(&path, text).expect("a file");
    run(&scratch, &path.display().to_string(), &[], 0, "Results");
    let lines = |path: &Path| {
        let text = fs::read_to_string(path).expect("lines");
        text.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let before = lines(&scratch.path("before"));
    assert_eq!(before.len(), 4);
    let place = scratch.target().display().to_string();
    assert!(before.iter().all(|it| it.contains(&place)), "{before:?}");
    assert!(
        before[0].starts_with("-O") && before[0].contains("|1|"),
        "{before:?}"
    );
    // The run that warms the caches and the one that counts find the same.
    let twice: Vec<String> = before
        .iter()
        .flat_map(|it| [it.clone(), it.clone()])
        .collect();
    assert_eq!(lines(&scratch.target().join("found")), twice);
}

/// "X: X", said the error of a replicate.
#[test]
fn why_a_replicate_failed_is_said_once() {
    let scratch = Scratch::new();
    let text = "title = \"x\"\n[measurement]\nkind = \"command\"\n\
                command = \"echo no such luck >&2; exit 3\"\n\
                [[factor]]\nname = \"a\"\nlevels = [1]\n";
    fs::write(scratch.path("study.toml"), text).expect("a file");
    let ended = scratch.check(&["study", "study.toml", "-q"], 1, "");
    assert_eq!(
        ended.error(),
        "error: a 1: `echo no such luck >&2; exit 3` failed: exit status: 3. It said: no such luck"
    );
}

/// A model has no processor whose time is told.
#[test]
fn a_reading_that_these_settings_do_not_give_ends_a_study_at_once() {
    let scratch = Scratch::new();
    let text = "title = \"x\"\ntarget = \"sim:drive\"\nreadings = [\"write CPU\"]\n\
                [measurement]\nkind = \"transfer\"\nsize = \"1MiB\"\n";
    fs::write(scratch.path("study.toml"), text).expect("a file");
    let expected = "error: with these settings transfer gives none of the readings \
                    wanted (write CPU). It gives write rate, read rate";
    scratch.check(&["study", "study.toml", "-q"], 2, expected);
    assert_eq!(journals(&scratch), 0);
}

/// A replicate of every combination, and then the power fails.
fn start_and_stop(scratch: &Scratch, study: &str, signal: Signal) -> Ended {
    let target = scratch.target().display().to_string();
    let args = [
        "study",
        study,
        "--target",
        &target,
        "--reserve",
        "0",
        "--replicates",
        "500",
    ];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("repeat 6 of");
    running.signal(signal);
    running.end()
}

#[test]
fn a_signal_keeps_what_was_measured_and_the_study_goes_on() {
    let scratch = Scratch::new();
    let study = study(&scratch, &[]);
    let ended = start_and_stop(&scratch, &study, Signal::INT);
    ended.check(&["study"], 1, "stopped by SIGINT");
    assert!(ended.stderr.contains("--resume"), "{}", ended.stderr);
    assert!(ended.stdout.contains("Saved as run 1"), "{}", ended.stdout);
    assert_eq!(log(&scratch).last().map(String::as_str), Some("ended"));
    assert_eq!(journals(&scratch), 1);
    scratch.assert_clean(&scratch.target());
    let ended = run(&scratch, &study, &["--resume", "--json", "-"], 0, "");
    check_whole(&ended.json());
    assert_eq!(journals(&scratch), 0);
    run(
        &scratch,
        &study,
        &["--resume"],
        2,
        "there is nothing to resume",
    );
    // It once left a journal with nothing in it.
    assert_eq!(journals(&scratch), 0);
}

/// Killed in its first replicate, a study was told that it never was.
#[test]
fn a_study_that_was_killed_at_once_goes_on_in_its_order() {
    let scratch = Scratch::new();
    let text = "title = \"Once\"\nreplicates = 2\n[measurement]\nkind = \"command\"\n\
                command = \"until test -e again; do sleep 0.02; done\"\n\
                [[factor]]\nname = \"a\"\nlevels = [\"1\"]\n";
    fs::write(scratch.path("once.toml"), text).expect("a file");
    let args = ["study", "once.toml", "--reserve", "0"];
    let begun = [&args[..], &["--seed", "7"]].concat();
    let mut running = Running::start(scratch.seekstone(begun));
    running.wait_for("repeat 1 of");
    running.signal(Signal::KILL);
    running.end();
    fs::write(scratch.path("again"), "").expect("a file");
    let args = [&args[..], &["--resume", "--yes", "--json", "-"]].concat();
    let json = scratch.check(&args, 0, "").json();
    assert_eq!(in_turn(&json).len(), 2, "{json}");
    let seed = json["setup"]["seed"].to_string();
    assert_eq!(seed.trim_matches('"'), "7");
}

/// Killed, a study loses one replicate at most, and what it had set up is taken down.
#[test]
fn a_killed_study_goes_on_where_it_was() {
    let scratch = Scratch::new();
    let study = study(&scratch, &[]);
    let ended = start_and_stop(&scratch, &study, Signal::KILL);
    assert_eq!(ended.signal, Some(9));
    assert_ne!(log(&scratch).last().map(String::as_str), Some("ended"));
    // Nothing else has what it measured.
    run(&scratch, &study, &[], 2, "an earlier run left");
    let ended = run(
        &scratch,
        &study,
        &["--resume", "--yes", "--json", "-"],
        0,
        "",
    );
    let json = ended.json();
    check_whole(&json);
    let begun = json["note"]["begun_at"].as_array().expect("moments");
    assert_eq!(begun.len(), 2);
    assert_eq!(
        log(&scratch).iter().filter(|line| *line == "ended").count(),
        2
    );
    scratch.assert_clean(&scratch.target());
}

/// Two rounds, each combination once in each; at least five of the replicates are from before.
#[track_caller]
fn check_whole(json: &Value) {
    let replicates = in_turn(json);
    let mut seen: Vec<String> = replicates
        .iter()
        .filter(|(_, it)| it["number"].as_u64().expect("a round") <= 2)
        .map(|(row, it)| format!("{} {}", it["number"], row["levels"]))
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 8, "{seen:?}");
    let numbers = replicates
        .iter()
        .map(|(_, it)| it["turn"]["place"].as_u64());
    assert!(numbers.eq((1..=replicates.len() as u64).map(Some)));
}

#[test]
fn a_restart_begins_anew_and_another_meaning_is_another_study() {
    let scratch = Scratch::new();
    let study = study(&scratch, &[]);
    start_and_stop(&scratch, &study, Signal::INT);
    run(
        &scratch,
        &study,
        &["--set", "size=128KiB"],
        0,
        "Saved as run 2",
    );
    run(&scratch, &study, &["--restart"], 0, "Saved as run 3");
    assert_eq!(journals(&scratch), 0);
    // What was stopped within minutes needs no option, since its results are archived.
    start_and_stop(&scratch, &study, Signal::INT);
    run(&scratch, &study, &[], 0, "Saved as run 5");
}

/// Writes that are forced to the storage one by one are faster in large records, on any machine.
/// Other work on the disk may hide it from a study of seconds, but not from three of them.
#[test]
fn a_known_effect_is_found() {
    let scratch = Scratch::new();
    if !is_installed("sh") {
        return skipped("a_known_effect_is_found", "there is no shell");
    }
    let text = "title = \"Synced records\"\nreplicates = 6\nreadings = [\"write rate\"]\n\
                [measurement]\nkind = \"transfer\"\nsize = \"64KiB\"\nsynced = \"each\"\n\
                [[factor]]\nname = \"record\"\nlevels = [\"1KiB\", \"64KiB\"]\n\
                against = \"64KiB\"\n";
    let path = scratch.path("effect.toml");
    fs::write(&path, text).expect("a file");
    let path = path.display().to_string();
    let is_found = |_| {
        let json = run(&scratch, &path, &["--restart", "--json", "-"], 0, "").json();
        let compared = rows(&json, "comparisons")[0];
        let shown = word(compared, "shown");
        assert_ne!(shown, "better", "{compared}");
        shown == "worse"
    };
    assert!((0..3).any(is_found), "not shown in three studies");
}
