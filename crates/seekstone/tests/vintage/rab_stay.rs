//! `rab --stay` on a terminal, which `script` of util-linux provides.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

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

/// Bug: the screen numbered workloads by their place in the run, and R, S and T at the end did
/// nothing and said nothing.
#[test]
fn a_finished_screen_has_the_numbers_of_the_report_and_answers_keys() {
    if !is_installed("script") || !is_installed("timeout") {
        skipped(
            "a_finished_screen_has_the_numbers_of_the_report_and_answers_keys",
            "script and timeout",
        );
        return;
    }
    let scratch = Scratch::new();
    let rest = "--workload batch,archive --budget 1s --seed 1";
    let mut terminal = Terminal::open(&scratch, rest, "sim:mm1");
    let before = terminal.read_until("Finished");
    for shown in ["WL4", "WL6", "6 Archive save"] {
        assert!(before.contains(shown), "{shown}: {before}");
    }
    for (key, answer) in [(b"r", "restart;"), (b"s", "start;"), (b"t", "workload")] {
        terminal.keys.write_all(key).expect("a key");
        let said = terminal.read_until(answer);
        assert!(said.contains(answer), "{answer}: {said}");
    }
    terminal.keys.write_all(b"q").expect("a key");
    let (code, after) = terminal.end();
    assert_eq!(code, Some(0), "{after}");
}

/// Once the screen shows `shown`, Q is typed; the program ends with `code` and says `said`.
fn check(rest: &str, target: &str, shown: &str, code: i32, said: &str) {
    let scratch = Scratch::new();
    let mut terminal = Terminal::open(&scratch, rest, target);
    let before = terminal.read_until(shown);
    assert!(before.contains(shown), "{target}: {before}");
    terminal.keys.write_all(b"q").expect("a key");
    let (ended, after) = terminal.end();
    assert_eq!(ended, Some(code), "{target}: {after}");
    assert!(after.contains(said), "{target}: {after}");
}

/// A `rab --stay` on a terminal of 24 rows and 100 columns.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
}

impl Terminal {
    fn open(scratch: &Scratch, rest: &str, target: &str) -> Self {
        let line = format!("stty rows 24 cols 100; {PROGRAM} rab {target} {rest} --stay --no-save");
        // One that does not end is ended.
        let mut command = Command::new("timeout");
        command.args(["120", "script", "-qefc", &line, "/dev/null"]);
        scratch.settle(&mut command);
        command.current_dir(scratch.target()).env("TERM", "xterm");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("script");
        Self {
            keys: child.stdin.take().expect("a pipe"),
            screen: child.stdout.take().expect("a pipe"),
            child,
        }
    }

    fn read_until(&mut self, shown: &str) -> String {
        let mut text = String::new();
        let mut bytes = [0; 4096];
        while !text.contains(shown) {
            match self.screen.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(count) => text.push_str(&String::from_utf8_lossy(&bytes[..count])),
            }
        }
        text
    }

    /// The exit code, and the rest of what was written.
    fn end(mut self) -> (Option<i32>, String) {
        let mut after = Vec::new();
        self.screen.read_to_end(&mut after).expect("the rest");
        let ended = self.child.wait().expect("an end");
        (ended.code(), String::from_utf8_lossy(&after).into_owned())
    }
}
