//! What studies leave when they are killed or cannot be archived, where they say they measured, and
//! what they lack.

use std::fs;

use crate::support::tables::in_turn;
use crate::support::{Running, Scratch, finish, leftovers, skipped};
use rustix::process::Signal;
use serde_json::Value;

/// A study whose set-ups write down what they do, and whose replicates last as long as there is a
/// file `hold`, and nobody kills it.
const STUDY: &str = r#"
title = "Set up and killed"
replicates = 1000
setup = 'echo "up $SEEKSTONE_SCRATCH" >> log; echo full > "$SEEKSTONE_SCRATCH/file"'
teardown = 'echo "down $SEEKSTONE_SCRATCH" >> log'
[measurement]
kind = "command"
command = "while test -e hold && kill -0 $PPID 2>/dev/null; do sleep 0.01; done"
[[factor]]
name = "a b"
[[factor.level]]
name = "it's"
setup = "true"
teardown = 'echo "$SEEKSTONE_A_B" >> log'
"#;

fn log(scratch: &Scratch) -> Vec<String> {
    let text = fs::read_to_string(scratch.path("log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Its scratch directory was named by nothing, and its tear-down never run, if nothing was kept.
#[test]
fn a_killed_study_that_kept_nothing_is_taken_down_when_it_begins_anew() {
    let scratch = Scratch::new();
    fs::write(scratch.path("study.toml"), STUDY).expect("a file");
    let target = scratch.target().display().to_string();
    let hold = scratch.target().join("hold");
    fs::write(&hold, "").expect("a file");
    let args = ["study", "study.toml", "--target", &target, "--no-save"];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("repeat 1 of");
    // While it runs, it is none of a dead study.
    let clean = ["clean", &target, "--yes"];
    scratch.check(&clean, 0, "nothing left here by killed runs");
    running.signal(Signal::KILL);
    running.end();
    fs::remove_file(hold).expect("removed");
    let left = leftovers(&scratch.target());
    let [left] = left
        .iter()
        .filter(|it| it.contains("-study-"))
        .collect::<Vec<_>>()[..]
    else {
        panic!("{left:?}");
    };
    // Without consent it is named only.
    let ended = scratch.check(&["clean", &target], 0, "The killed study study.toml");
    for part in [
        " in 1 file.",
        "Not run: the tear-down of a b it's (study.toml:14). The study runs it when started",
        "Not run: the tear-down of the study (study.toml:5).",
        "Kept.",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    // The lines run the tear-downs as they stand.
    for line in ended.stderr.lines().filter(|line| line.starts_with("env ")) {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]);
        scratch.settle(&mut shell);
        assert_eq!(finish(shell).code, Some(0), "{line}");
    }
    let down = format!("down {target}/{left}");
    assert_eq!(log(&scratch)[log(&scratch).len() - 2..], ["it's", &down]);
    // Another study leaves it alone, the same takes it down.
    let args = [&args[..], &["--replicates", "1", "--reserve", "0", "-q"]].concat();
    let other = [&args[..], &["--set", "warm=true"]].concat();
    scratch.check(&other, 0, "Results");
    assert!(leftovers(&scratch.target()).contains(left));
    scratch.check(&args, 0, "Results");
    assert!(!leftovers(&scratch.target()).contains(left));
    assert_eq!(log(&scratch).iter().filter(|it| **it == down).count(), 2);
}

#[test]
fn clean_removes_what_a_killed_study_left() {
    let scratch = Scratch::new();
    fs::write(scratch.path("study.toml"), STUDY).expect("a file");
    let target = scratch.target().display().to_string();
    let hold = scratch.target().join("hold");
    fs::write(&hold, "").expect("a file");
    let args = ["study", "study.toml", "--target", &target, "--no-save"];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("repeat 1 of");
    running.signal(Signal::KILL);
    running.end();
    fs::remove_file(hold).expect("removed");
    let clean = ["clean", &target, "--yes"];
    scratch.check(&clean, 0, "Removed");
    scratch.assert_clean(&scratch.target());
    scratch.check(&clean, 0, "nothing left here by killed runs");
}

/// The warning was lost with the run.
#[test]
fn what_could_not_be_undone_is_told_with_the_error() {
    let scratch = Scratch::new();
    let text = STUDY.replace("'echo \"down", "'exit 4; echo \"down");
    let text = text.replace("setup = \"true\"", "setup = \"exit 3\"");
    fs::write(scratch.path("study.toml"), text).expect("a file");
    let target = scratch.target().display().to_string();
    let args = ["study", "study.toml", "--target", &target, "-q"];
    let ended = scratch.check(
        &args,
        1,
        "the set-up of a b it's failed with exit status: 3",
    );
    let left = "something may be left: study.toml:5: the tear-down of the study failed with exit \
                status: 4";
    assert!(ended.error().contains(left), "{}", ended.stderr);
}

/// The journal was removed before the archive had the run.
#[test]
fn a_run_that_cannot_be_archived_is_kept_in_the_journal() {
    let scratch = Scratch::new();
    let garbage = "x".repeat(5000);
    let text = STUDY.replace(
        "'echo \"down $SEEKSTONE_SCRATCH\" >> log'",
        &format!("'echo {garbage} > archive.db'"),
    );
    fs::write(scratch.path("study.toml"), text).expect("a file");
    let target = scratch.target().display().to_string();
    let args = ["study", "study.toml", "--target", &target, "--reserve", "0"];
    let args = [&args[..], &["--replicates", "2", "-q"]].concat();
    let ended = scratch.check(&args, 1, "the run could not be archived");
    assert!(ended.stderr.contains("--resume"), "{}", ended.stderr);
    for name in ["archive.db", "archive.db-wal", "archive.db-shm"] {
        let _ = fs::remove_file(scratch.path(name));
    }
    let text = fs::read_to_string(scratch.path("study.toml")).expect("a file");
    let resume = [&args[..], &["--resume", "--json", "run.json"]].concat();
    finish(scratch.seekstone(&resume));
    assert!(text.contains(&garbage));
    let json = fs::read_to_string(scratch.path("run.json")).expect("a file");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let begun = json["note"]["begun_at"].as_array().expect("moments");
    assert_eq!(begun.len(), 2);
    assert_eq!(in_turn(&json).len(), 2);
}

/// The environment named the file system of the study's target, whatever was measured.
#[test]
fn every_place_that_is_measured_is_described() {
    let Some(scratch) = Scratch::on_disk("every_place_that_is_measured_is_described") else {
        return;
    };
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return skipped("every_place_that_is_measured_is_described", "no /dev/shm");
    };
    let path = memory.path().display().to_string();
    let target = scratch.target().display().to_string();
    let json = |measurement: &str| {
        let text = format!("title = \"x\"\nreplicates = 1\n[measurement]\n{measurement}");
        fs::write(scratch.path("study.toml"), text).expect("a file");
        let args = ["study", "study.toml", "--target", &target, "--reserve", "0"];
        let args = [&args[..], &["--no-save", "-q", "--json", "-"]].concat();
        scratch.check(&args, 0, "").json()
    };
    let given = |json: &Value| {
        let others = json["other_targets"].as_array().into_iter().flatten();
        let places = std::iter::once(&json["target"]).chain(others);
        let given = places.map(|it| it["given"].as_str().expect("a path"));
        given.map(str::to_owned).collect::<Vec<String>>()
    };
    let warns = |json: &Value, start: &str| {
        let warnings = json["warnings"].as_array().expect("warnings");
        let of_memory = warnings.iter().filter(|it| it["code"] == "memory-backed");
        let texts: Vec<&str> = of_memory.filter_map(|it| it["text"].as_str()).collect();
        texts.len() == 1 && texts[0].starts_with(start)
    };
    // In place of the target.
    let found = json(&format!(
        "kind = \"command\"\ncommand = \"true\"\ndirectory = \"{path}\"\n"
    ));
    assert_eq!(found["target"]["given"], path);
    assert_eq!(given(&found), [path.as_str()]);
    assert!(warns(&found, ""), "{}", found["warnings"]);
    // Besides it.
    let found = json(&format!(
        "kind = \"archive\"\nfiles = 1\nsize = \"4KiB\"\nstore = \"{path}\"\n"
    ));
    assert_eq!(found["target"]["given"], target);
    assert_eq!(given(&found), [target.clone(), path.clone()]);
    assert!(warns(&found, &format!("{path}: ")), "{}", found["warnings"]);
    // Levels.
    let found = json(&format!(
        "kind = \"transfer\"\nsize = \"64KiB\"\n[[factor]]\nname = \"where\"\n[[factor.level]]\n\
         name = \"memory\"\ntarget = \"{path}\"\n[[factor.level]]\nname = \"disk\"\n\
         [[factor.level]]\nname = \"again\"\ntarget = \"{{place}}\"\n"
    ));
    assert_eq!(given(&found), [target.clone(), path.clone()]);
    let args = [
        "study",
        "study.toml",
        "--target",
        &target,
        "--no-save",
        "-q",
    ];
    let args = [&args[..], &["--reserve", "0"]].concat();
    let ended = scratch.check(&args, 0, "Measured on");
    let words = ended
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        words.contains(&format!("Measured on {path}: tmpfs")),
        "{words}"
    );
}

#[test]
fn a_check_counts_and_tells_what_is_missing() {
    let scratch = Scratch::new();
    let text = "title = \"x\"\nreplicates = 1\nneeds = [\"sh\", \"no-such-program\"]\n\
                [measurement]\nkind = \"transfer\"\n";
    fs::write(scratch.path("study.toml"), text).expect("a file");
    let check = |expected: &str| {
        let ended = scratch.check(&["study", "check", "study.toml"], 0, "");
        assert_eq!(ended.stdout, expected);
    };
    let missing = "It cannot run here yet: it needs the program no-such-program, which is not \
                   installed\n";
    check(&format!("x: transfer of ., at least 1 repeat\n{missing}"));
    let factor = "[[factor]]\nname = \"host\"\nlevels = [\"linux1\"]\n";
    fs::write(scratch.path("study.toml"), format!("{text}{factor}")).expect("a file");
    check(&format!(
        "x: transfer of ., 1 combination, at least 1 repeat each\n  host linux1\n{missing}"
    ));
}
