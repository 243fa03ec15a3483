//! `rab --stay` on a terminal, which `script` of util-linux provides.

use crate::support::{PROGRAM, Scratch, skipped};
use crate::terminal::Terminal;

/// Bug: Q in mid-run stopped the work and left the screen, its clock frozen, until it was typed
/// again. Each key is typed once here.
#[test]
fn q_ends_a_run_that_is_to_stay_and_a_finished_one() {
    if !Terminal::is_possible() {
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
    if !Terminal::is_possible() {
        skipped(
            "a_finished_screen_has_the_numbers_of_the_report_and_answers_keys",
            "script and timeout",
        );
        return;
    }
    let scratch = Scratch::new();
    let rest = "--workload batch,archive --budget 1s --seed 1";
    let mut terminal = open(&scratch, rest, "sim:mm1");
    let before = terminal.read_until("Finished");
    for shown in ["WL4", "WL6", "6 Archive save"] {
        assert!(before.contains(shown), "{shown}: {before}");
    }
    for (key, answer) in [("r", "restart."), ("s", "start."), ("t", "workload")] {
        terminal.press(key);
        let said = terminal.read_until(answer);
        assert!(said.contains(answer), "{answer}: {said}");
    }
    terminal.press("q");
    let (code, after) = terminal.end();
    assert_eq!(code, Some(0), "{after}");
}

fn open(scratch: &Scratch, rest: &str, target: &str) -> Terminal {
    let line = format!("{PROGRAM} rab {target} {rest} --stay --no-save");
    Terminal::open(scratch, &scratch.target(), &line)
}

/// Once the screen shows `shown`, Q is typed; the program ends with `code` and says `said`.
fn check(rest: &str, target: &str, shown: &str, code: i32, said: &str) {
    let scratch = Scratch::new();
    let mut terminal = open(&scratch, rest, target);
    let before = terminal.read_until(shown);
    assert!(before.contains(shown), "{target}: {before}");
    terminal.press("q");
    let (ended, after) = terminal.end();
    assert_eq!(ended, Some(code), "{target}: {after}");
    assert!(after.contains(said), "{target}: {after}");
}
