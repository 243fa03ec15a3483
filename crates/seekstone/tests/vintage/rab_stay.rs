//! `rab --stay` on a terminal, which `script` of util-linux provides.

use std::io::{Read as _, Write as _};
use std::process::{ChildStdout, Command, Stdio};

use crate::support::{PROGRAM, Scratch, is_installed, skipped};

/// Bug: Q in mid-run stopped the work and left the screen, its clock frozen, until it was typed
/// again. Each key is typed once here.
#[test]
fn q_ends_a_run_that_is_to_stay_and_a_finished_one() {
    if !is_installed("script") || !is_installed("timeout") {
        skipped(
            "q_ends_a_run_that_is_to_stay_and_a_finished_one",
            "script and timeout",
        );
        return;
    }
    // In mid-run, of ten minutes.
    let rest = "--size 16MiB --reserve 0 --workload batch,archive --budget 10min";
    check(
        rest,
        ". ",
        "Execute",
        1,
        "stopped by the user before anything was measured",
    );
    // All is measured, and the screen stays.
    let rest = "--workload archive --budget 1s --seed 1";
    check(rest, "sim:mm1", "Finished", 0, "  archive ");
}

/// Once the screen shows `shown`, Q is typed; the program ends with `code` and says `said`.
fn check(rest: &str, target: &str, shown: &str, code: i32, said: &str) {
    let scratch = Scratch::new();
    let line = format!("stty rows 24 cols 100; {PROGRAM} rab {target} {rest} --stay --no-save");
    // One that does not end is ended.
    let mut command = Command::new("timeout");
    command.args(["120", "script", "-qefc", &line, "/dev/null"]);
    scratch.settle(&mut command);
    command.current_dir(scratch.target()).env("TERM", "xterm");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("script");
    let mut keys = child.stdin.take().expect("a pipe");
    let mut screen = child.stdout.take().expect("a pipe");
    let before = read_until(&mut screen, shown);
    assert!(before.contains(shown), "{target}: {before}");
    keys.write_all(b"q").expect("a key");
    let mut after = Vec::new();
    screen.read_to_end(&mut after).expect("the rest");
    let after = String::from_utf8_lossy(&after);
    let ended = child.wait().expect("an end");
    assert_eq!(ended.code(), Some(code), "{target}: {after}");
    assert!(after.contains(said), "{target}: {after}");
}

fn read_until(screen: &mut ChildStdout, shown: &str) -> String {
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while !text.contains(shown) {
        match screen.read(&mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(count) => text.push_str(&String::from_utf8_lossy(&bytes[..count])),
        }
    }
    text
}
