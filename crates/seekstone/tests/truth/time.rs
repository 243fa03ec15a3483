//! `seekstone time`: in which order commands run, what is counted, and how it ends.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::tables::{estimate, figure, readings, row, rows, word};
use crate::support::{Running, Scratch, finish};
use rustix::process::Signal;
use serde_json::Value;

/// Nothing that was told to end takes so long.
const HANGING: Duration = Duration::from_secs(60);
const BRIEF: [&str; 4] = ["--no-save", "--quiet", "--json", "-"];

/// A run that must end well.
#[track_caller]
fn time(scratch: &Scratch, args: &[&str]) -> Value {
    let args = [&["time"], &BRIEF[..], args].concat();
    let ended = finish(scratch.seekstone(&args));
    assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    ended.json()
}

/// Whether there is such a process, and it has not ended.
fn is_running(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat"));
    state.is_ok_and(|state| !state.contains(") Z ") && !state.contains(") X "))
}

fn log(scratch: &Scratch) -> String {
    let text = fs::read_to_string(scratch.path("log")).expect("the commands wrote it");
    text.split_whitespace().collect()
}

#[test]
fn rounds_go_there_and_back_after_the_warm_ups() {
    let scratch = Scratch::new();
    let commands = ["echo a >> log", "echo b >> log", "echo c >> log"];
    let found = time(
        &scratch,
        &[&["--runs", "4", "--seed", "5"], &commands[..]].concat(),
    );
    let log = log(&scratch);
    let (warm_ups, rounds) = log.split_at(3);
    assert_eq!(warm_ups, "abc");
    let rounds: Vec<&str> = (0..4).map(|at| &rounds[3 * at..3 * at + 3]).collect();
    for pair in rounds.chunks(2) {
        let back: String = pair[0].chars().rev().collect();
        assert_eq!(pair[1], back, "{rounds:?}");
    }
    for (command, typed) in rows(&found, "commands").into_iter().zip(commands) {
        assert_eq!(command["levels"][0], typed);
        assert_eq!(readings(command, "elapsed").len(), 4);
        assert!(figure(command, "elapsed") > 0.0);
    }
    let comparisons = rows(&found, "command-comparisons");
    assert_eq!(comparisons.len(), 2);
    // Fewer than five pairs claim nothing, whatever they look like.
    assert_eq!(word(comparisons[0], "verdict"), "too few rounds");
}

#[test]
fn what_goes_before_and_after_is_run_each_time_and_not_counted() {
    let scratch = Scratch::new();
    let beside = ["--prepare", "echo p >> log", "--conclude", "echo q >> log"];
    let args = [
        &["--runs", "2", "--warm-ups", "1"],
        &beside[..],
        &["echo a >> log"],
    ]
    .concat();
    let found = time(&scratch, &args);
    assert_eq!(log(&scratch), "paqpaqpaq");
    assert_eq!(readings(rows(&found, "commands")[0], "elapsed").len(), 2);
}

#[test]
fn a_longer_wait_is_told_from_a_shorter_one() {
    let scratch = Scratch::new();
    let args = ["--runs", "6", "--name", "long", "--name", "short"];
    let found = time(
        &scratch,
        &[&args[..], &["sleep 0.2", "sleep 0.01"]].concat(),
    );
    let sentence = found["findings"][0].as_str().expect("a finding");
    assert!(sentence.starts_with("short is ") && sentence.ends_with("times as fast as long."));
    let found = row(&found, "command-comparisons", &["short", "long"]);
    assert_eq!(word(found, "verdict"), "faster", "{found}");
    assert_eq!(figure(found, "pairs"), 6.0);
}

#[test]
fn processor_time_of_a_program_and_its_children_is_counted() {
    let scratch = Scratch::new();
    // Until it has used a tenth of a second by the kernel's account, however fast the processor is.
    let busy = "until read -r a b c d e f g h i j k l m user rest < /proc/$$/stat && \
                [ $user -ge 10 ]; do :; done";
    let child = format!("sh -c '{busy}'; true");
    let found = time(&scratch, &["--runs", "2", &child]);
    let command = rows(&found, "commands")[0];
    let [real, user] = ["elapsed", "cpu-user"].map(|it| readings(command, it)[0]);
    assert!(user > 0.09, "{command}");
    assert!(real >= 0.9 * user, "one thread at a time: {command}");
}

#[test]
fn a_program_runs_without_a_shell_where_it_is_told_to_and_reads_what_it_is_given() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("there")).unwrap();
    fs::write(scratch.path("text"), "words\n").unwrap();
    let place = ["--runs", "1", "--warm-ups", "0", "--directory", "there"];
    let text = scratch.path("text");
    let input = ["--input", text.to_str().unwrap()];
    let program = ["--", "cp", "/dev/stdin", "$HOME"];
    let found = time(&scratch, &[&place[..], &input, &program].concat());
    let copied = fs::read_to_string(scratch.path("there").join("$HOME"));
    assert_eq!(copied.expect("no shell replaces the name"), "words\n");
    assert!(estimate(rows(&found, "commands")[0], "shell").is_none());
}

/// Bug: `1` was taken for a second command, and the first failed for want of it.
#[test]
fn an_argument_is_no_command() {
    let expected = "quote a command with its arguments, as in seekstone time 'sleep 1'";
    Scratch::new().check(&["time", "sleep", "1"], 2, expected);
}

#[test]
fn failures_end_it_unless_they_are_to_count() {
    let scratch = Scratch::new();
    let says = "echo why it failed >&2; exit 3";
    let args = ["time", "--runs", "3", says];
    let ended = scratch.check(&args, 1, "exit status: 3. It said: why it failed");
    assert!(
        ended.stderr.contains("--ignore-failure"),
        "{}",
        ended.stderr
    );
    let found = time(&scratch, &["--runs", "3", "--ignore-failure", says]);
    let command = rows(&found, "commands")[0];
    assert_eq!(readings(command, "exit-status")[2], 3.0);
    assert_eq!(command["warnings"][0], "failed-runs");
    assert_eq!(found["row_warnings"][0]["code"], "failed-runs");
    scratch.check(
        &["time", "--prepare", "exit 4", "true"],
        1,
        "`exit 4` failed: exit status: 4",
    );
}

#[test]
fn what_was_measured_before_a_failure_is_kept() {
    let scratch = Scratch::new();
    let thrice = "echo x >> log; test $(wc -l < log) -lt 4";
    let args = ["time", "--runs", "10", "--warm-ups", "1", thrice];
    let ended = scratch.check(&args, 1, "What was measured before is above");
    assert!(ended.stdout.contains("Saved as run 1"), "{}", ended.stdout);
    let shown = scratch.check(
        &["runs", "export", "1", "--form", "replicates"],
        0,
        "replicate,counts",
    );
    assert_eq!(shown.stdout.matches(",elapsed,").count(), 2);
}

#[test]
fn a_signal_ends_the_command_with_all_that_it_started() {
    let scratch = Scratch::new();
    let mut running = Running::start(scratch.seekstone([
        "time",
        "--warm-ups",
        "0",
        "--runs",
        "2",
        "sh -c 'echo $$ > pid; echo ready >&2; exec sleep 600'",
        "--show-output",
    ]));
    running.wait_for("ready");
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let expected = "error: stopped by SIGINT before anything was measured. Nothing was saved";
    assert_eq!(ended.error(), expected);
    let pid = fs::read_to_string(scratch.path("pid")).unwrap();
    // It was told to end, and does so when it is its turn to run.
    let asked = Instant::now();
    while is_running(pid.trim()) {
        assert!(asked.elapsed() < HANGING, "{pid} still runs");
        std::thread::yield_now();
    }
}

#[test]
fn a_run_that_takes_too_long_is_ended() {
    let scratch = Scratch::new();
    let args = ["time", "--time-limit", "100ms", "sleep 600"];
    scratch.check(
        &args,
        1,
        "`sleep 600` took longer than 100 ms, and was killed",
    );
}

#[test]
fn wrong_usage_is_told_before_anything_runs() {
    let scratch = Scratch::new();
    for (args, said) in [
        (&["time"][..], "required"),
        (&["time", "a", "--", "b"], "cannot be used with"),
        (&["time", "touch made", " "], "command 2 is empty"),
        (
            &["time", "--name", "x", "touch made", "true"],
            "--name is given 1 time for 2 commands",
        ),
        (&["time", "--runs", "0", "touch made"], "0 is not in"),
        (&["time", "--precision", "2s", "touch made"], "--precision"),
        (
            &["time", "--cold", "--warm-ups", "1", "touch made"],
            "cannot be used with",
        ),
        (&["time", "--directory", "none", "touch made"], "none"),
    ] {
        scratch.check(args, 2, said);
    }
    for (args, said) in [
        (
            &["time", "--input", "none", "touch made"][..],
            "cannot read its standard input from none",
        ),
        (
            &["time", "--", "no-such-program-here"],
            "Is it installed, and in a directory of PATH?",
        ),
    ] {
        scratch.check(args, 1, said);
    }
    assert!(!scratch.path("made").exists());
}

#[test]
fn names_that_are_alike_are_told_apart() {
    let scratch = Scratch::new();
    let found = time(&scratch, &["--runs", "1", "true", "true"]);
    let names = rows(&found, "commands").into_iter();
    let names: Vec<&Value> = names.map(|it| &it["levels"][0]).collect();
    assert_eq!(names, ["true [1]", "true [2]"]);
}

/// An argument with a space in it looked like two.
#[test]
fn arguments_are_shown_as_they_would_be_typed() {
    let scratch = Scratch::new();
    let run = time(
        &scratch,
        &["-r", "2", "--", "sh", "-c", "test 'a  b' = \"$0\"", "a  b"],
    );
    let notes = run["tables"][0]["notes"].as_array().expect("notes").iter();
    let mut notes = notes.filter_map(|it| it.as_str()?.split_once("...: "));
    let (_, command) = notes.next().expect("the whole of a shortened name");
    let mut shell = std::process::Command::new("sh");
    let ended = shell.args(["-c", command]).status().expect("a shell");
    assert!(ended.success(), "{command}");
    let args = [
        "time",
        "-r",
        "2",
        "--no-save",
        "-q",
        "--",
        "sh",
        "-c",
        "echo hi",
    ];
    scratch.check(&args, 0, "sh -c 'echo hi'");
    // Of several, each doubt names its own; and no name acts on the terminal.
    let args = [
        "time",
        "-r",
        "2",
        "--no-save",
        "-q",
        "--all",
        "-n",
        "a\u{1b}[31m",
        "true",
    ];
    let ended = scratch.check(&args, 0, "a?[31m: ");
    assert!(!ended.stdout.contains('\u{1b}'), "{}", ended.stdout);
    let gone = scratch.path("gone").display().to_string();
    fs::create_dir(&gone).expect("a directory");
    let args = [
        "time",
        "-r",
        "2",
        "--no-save",
        "-q",
        "--directory",
        &gone,
        "rmdir ../gone",
    ];
    scratch.check(&args, 1, "there is no such directory");
    let args = ["time", "--no-save", "-q", "--", "sh", "-c", "exit 3"];
    scratch.check(&args, 1, "`sh -c 'exit 3'` failed");
}
