//! Arguments that are no text, and limits that the program is started under.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use crate::support::{self, Scratch, finish};

/// A name in Latin-1, say.
fn odd(end: &str) -> OsString {
    OsStr::from_bytes(&[b"\xff", end.as_bytes()].concat()).to_owned()
}

/// `--json $'\xff.json'` was a panic after the measurement: the run was lost.
#[test]
fn files_whose_names_are_no_text_are_written() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let (json, archive) = (odd(".json"), odd(".db"));
    let trial = [
        "trial",
        "--size",
        "8MiB",
        "--reserve",
        "0",
        "--duration",
        "100ms",
        "-y",
    ];
    let sim = ["trial", "sim:mm1?mean=100us", "--duration", "50ms"];
    let time = ["time", "--runs", "2", "true"];
    let files = ["files", "sim:rt11?disk=st15150n", "--passes", "2"];
    for (args, target) in [
        (&trial[..], Some(target.as_os_str())),
        (&sim, None),
        (&time, None),
        (&files, None),
    ] {
        let mut command = scratch.seekstone(args);
        command.args(target);
        command.args([
            OsStr::new("--json"),
            &json,
            OsStr::new("--archive"),
            &archive,
        ]);
        command.arg("--force");
        if args == time {
            // What follows the program's name is the program's.
            command = scratch.seekstone(["time", "--runs", "2", "--force", "--json"]);
            command.args([
                &*json,
                OsStr::new("--archive"),
                &*archive,
                OsStr::new("true"),
            ]);
        }
        finish(command).check(args, 0, "Saved as run ");
        let text = fs::read_to_string(scratch.path("").join(&json)).expect("a file");
        let run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(run["setup"]["command"], args[0]);
    }
    let mut list = scratch.seekstone(["runs", "list", "--archive"]);
    list.arg(&archive);
    finish(list).check(&["runs"], 0, "\n  4  ");
}

#[test]
fn words_that_are_no_text_are_wrong_usage() {
    let scratch = Scratch::new();
    for args in [
        &["trial"][..],
        &["run"],
        &["study"],
        &["rab", "--workload"],
        &["runs", "show"],
        &["transact", "-f"],
        &["diskmbps"],
        &["diskrand"],
        &["trial", "sim:mm1?mean=100us", "--confirm"],
    ] {
        let mut command = scratch.seekstone(args);
        command.arg(odd(""));
        let ended = finish(command);
        ended.check(args, 2, "UTF-8");
    }
    let mut command = scratch.seekstone(["rpt", "-t"]);
    command.arg(odd(""));
    finish(command).check(&["rpt"], 2, "cannot read");
}

/// Under `ulimit -s 64` the program ended with a stack overflow before it did anything.
#[test]
fn a_small_stack_is_enough() {
    let scratch = Scratch::new();
    for kilobytes in [64, 128, 1024] {
        let script = format!(
            "ulimit -s {kilobytes} && \"$0\" trial 'sim:mm1?mean=100us' --duration 50ms --no-save"
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &script, support::PROGRAM]);
        scratch.settle(&mut shell);
        finish(shell).check(&["ulimit"], 0, "");
    }
}

/// The first processor that this process may use.
fn a_processor() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("of Linux");
    let listed = status.split("Cpus_allowed_list:").nth(1).expect("a list");
    let digits = |it: &char| it.is_ascii_digit();
    listed.trim_start().chars().take_while(digits).collect()
}

/// A table of what each measurement takes of the I/O engine's options; one whose programs or
/// clients are no workers knows none of them.
#[test]
fn engine_options_are_taken_where_there_is_an_engine() {
    let scratch = Scratch::new();
    let processor = a_processor();
    let unknown = "unexpected argument '--workers'";
    for (measurement, code, said) in [
        ("trial sim:mm1 --duration 50ms", 0, "Saved as run"),
        ("trial null: --duration 50ms", 0, "Saved as run"),
        (
            "transfer sim:mm1 --size 64KiB --repeat 1",
            0,
            "Saved as run",
        ),
        (
            "fio --name=a --filename=sim:mm1 --size=64k",
            0,
            "a: (groupid=0",
        ),
        (
            "transfer sim:mm1 --errors count",
            2,
            "a pass moves all of a file",
        ),
        (
            "files sim:rt11 --repeat 1",
            2,
            "unexpected argument '--batch'",
        ),
        ("time --repeat 1 true", 2, unknown),
        ("positioning --repeat 1", 2, unknown),
    ] {
        let options = ["--workers", "2", "--cpus", &processor, "--batch", "4"];
        let more = ["--driver", "threads", "--hang-limit", "5s"];
        let words = measurement
            .split_whitespace()
            .take(1)
            .chain(options)
            .chain(more);
        let words: Vec<&str> = words
            .chain(measurement.split_whitespace().skip(1))
            .collect();
        scratch.check(&words, code, said);
    }
}

/// Each client of `files` is a thread of its own: it has no engine, and may be pinned.
#[test]
fn clients_of_files_are_pinned() {
    let scratch = Scratch::new();
    let processor = a_processor();
    let files = |target: &str, more: &str, code, said: &str| {
        let words = format!("files {target} --state as-is --repeat 1 --no-save {more}");
        let words = words.replace("CPU", &processor);
        let words: Vec<&str> = words.split_whitespace().collect();
        scratch.check(&words, code, said);
    };
    let here = "--tests 1 --reserve 0 --memory none --clients 2 --workers 2 --cpus CPU";
    files(".", here, 0, "TEST1");
    files(
        ".",
        "--tests 1 --workers 2",
        2,
        "a thread of its own. Set --clients",
    );
    files(
        ".",
        "--tests 1 --errors count",
        2,
        "a pass makes all of its calls",
    );
    files(
        "sim:rt11",
        "--tests 1 --cpus CPU",
        2,
        "--cpus pins threads of this machine",
    );
}

/// The log of a trial on `null:` was empty: nobody followed it.
#[test]
fn a_trial_on_nothing_is_logged_too() {
    let scratch = Scratch::new();
    let args = ["trial", "null:", "--duration", "20ms", "--iolog", "ops.log"];
    scratch.check(&[&args[..], &["--no-save"]].concat(), 0, "null:");
    let log = fs::read_to_string(scratch.path("ops.log")).expect("a log");
    assert!(log.lines().count() > 10, "{log}");
}
