//! A run that is stopped keeps what was measured and removes what it made; one that is killed
//! leaves what the next start knows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::storage::Loop;
use crate::support::{Belongings, Ended, PROGRAM, Running, Scratch, leftovers, skipped};
use rustix::process::Signal;

/// Long enough to be stopped anywhere.
const LONG: [&str; 6] = ["run", "--budget", "10s", "--size", "32MiB", "target"];

/// Stop the program at a stage; what it made must be gone.
#[track_caller]
fn stop(scratch: &Scratch, args: &[&str], stage: &str, signal: Signal) -> Ended {
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for(stage);
    running.signal(signal);
    let ended = running.end();
    scratch.assert_clean(&target);
    belongings.assert_untouched();
    ended
}

/// A partial run must be printed and archived.
#[track_caller]
fn check_partial(args: &[&str], stage: &str, signal: Signal, name: &str) {
    let scratch = Scratch::in_memory();
    let ended = stop(&scratch, args, stage, signal);
    let expected = format!("error: stopped by {name}. What was measured before is above");
    ended.check(args, 1, &expected);
    assert_eq!(ended.error(), expected);
    let reason = format!("PARTIAL stopped by {name}.");
    assert!(ended.stdout.contains(&reason), "{}", ended.stdout);
    assert!(ended.stdout.contains("Saved as run 1"), "{}", ended.stdout);
    scratch.check(&["runs", "show", "1"], 0, &reason);
    let exported = scratch.check(&["runs", "export", "1"], 0, "partial");
    assert_eq!(
        exported.json()["status"]["reason"],
        format!("stopped by {name}")
    );
}

#[test]
fn a_signal_ends_a_check_up_in_order() {
    check_partial(&LONG, "random read 4 KiB", Signal::INT, "SIGINT");
    check_partial(&LONG, "QD2", Signal::TERM, "SIGTERM");
    // Under nohup a hang-up is ignored, by what it starts, too.
    if is_hang_up_ignored() {
        return skipped(
            "a_signal_ends_a_check_up_in_order",
            "SIGHUP is ignored here",
        );
    }
    check_partial(&LONG, "sequential read", Signal::HUP, "SIGHUP");
}

fn is_hang_up_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.expect("a mask of signals") & 1 != 0
}

/// The reason of a partial trial or curve was "stopped by SIGINT before anything was measured;
/// nothing was saved".
#[test]
fn a_signal_ends_trials_and_curves_in_order() {
    let trial = [
        "trial",
        "--size",
        "8MiB",
        "--budget",
        "10s",
        "--precision",
        "0.1%",
        "target",
    ];
    check_partial(&trial, "random read 4 KiB", Signal::INT, "SIGINT");
    let curve = ["curve", "--size", "8MiB", "--budget", "10s", "target"];
    check_partial(&curve, "4 clients", Signal::TERM, "SIGTERM");
}

/// A stopped trial of the null target was a complete run.
#[test]
fn a_signal_ends_a_trial_of_nothing_in_order() {
    let null = ["trial", "--budget", "10s", "--precision", "0.1%", "null:"];
    check_partial(&null, "random read 4 KiB", Signal::INT, "SIGINT");
}

#[test]
fn a_signal_before_anything_was_measured_leaves_nothing() {
    let check = |args: &[&str], stage: &str| {
        let scratch = Scratch::in_memory();
        let ended = stop(&scratch, args, stage, Signal::INT);
        let expected = "error: stopped by SIGINT before anything was measured. Nothing was saved";
        ended.check(args, 1, "");
        assert!(
            ended.stderr.ends_with(&format!("{expected}\n")),
            "{}",
            ended.stderr
        );
        assert_eq!(ended.stdout, "");
        scratch.check(&["runs", "list"], 0, "no runs are archived");
    };
    check(
        &["trial", "--size", "1GiB", "target"],
        "writing the test file",
    );
    // Bugs: "Nothing was measured", "What was measured before is above", and an empty run; and of a
    // comparison not a word of what became of it.
    check(
        &["curve", "--size", "8MiB", "target"],
        "random read 4 KiB, 1 client",
    );
    let compare = [
        "compare",
        "target",
        "target",
        "--set",
        "size=8MiB",
        "--set",
        "duration=60s",
    ];
    check(&compare, "repeat 1 of 16");
}

/// A limit on reads that a control group sets while it is measured. Taken away when dropped.
struct Stall {
    group: PathBuf,
    device: String,
}

impl Stall {
    fn new(test: &str, device: &Loop) -> Option<Self> {
        let group = Path::new("/sys/fs/cgroup/blkio");
        let group = group.join(format!("seekstone-{}", device.name()));
        let node = Path::new("/sys/block").join(device.name()).join("dev");
        let device = fs::read_to_string(node)
            .expect("a number")
            .trim()
            .to_owned();
        let is_made = fs::create_dir(&group).is_ok();
        let made = Self { group, device };
        if is_made && made.rule().exists() {
            return Some(made);
        }
        skipped(test, "there is no blkio control group of version 1");
        None
    }

    fn rule(&self) -> PathBuf {
        self.group.join("blkio.throttle.read_iops_device")
    }

    fn limit(&self, reads_per_second: u32) {
        fs::write(self.rule(), format!("{} {reads_per_second}", self.device)).expect("a rule");
    }

    /// The program as a member of the group.
    fn member(&self, scratch: &Scratch, args: &[&str]) -> Command {
        let tasks = self.group.join("cgroup.procs");
        let script = format!("echo $$ > {} && exec \"$0\" \"$@\"", tasks.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, PROGRAM]).args(args);
        scratch.settle(&mut shell);
        shell
    }
}

impl Drop for Stall {
    fn drop(&mut self) {
        // Zero takes the rule away, and lets go what waits.
        let _ = fs::write(self.rule(), format!("{} 0", self.device));
        let _ = fs::remove_dir(&self.group);
    }
}

#[test]
fn a_second_signal_keeps_what_a_stalled_run_measured() {
    let test = "a_second_signal_keeps_what_a_stalled_run_measured";
    let scratch = Scratch::in_memory();
    let Some(device) = Loop::new(test, &scratch, 32) else {
        return;
    };
    let Some(stall) = Stall::new(test, &device) else {
        return;
    };
    let args = ["run", "--budget", "10s", device.path()];
    let mut running = Running::start(stall.member(&scratch, &args));
    running.wait_for("QD2");
    // From now on every read takes a second, and those in flight are waited for.
    stall.limit(1);
    running.wait_for("QD4");
    running.signal(Signal::INT);
    running.wait_for("Ctrl-C again keeps what was measured.");
    running.signal(Signal::TERM);
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    scratch.check(&["runs", "show", "1"], 0, "PARTIAL stopped by SIG");
}

/// GNU `timeout` signals its child and then the group: the run ended at once and left its files.
#[test]
fn a_signal_that_comes_twice_at_once_ends_a_run_in_order() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let mut running = Running::start(scratch.seekstone(LONG));
    running.wait_for("random read 4 KiB");
    running.signal(Signal::TERM);
    running.signal(Signal::TERM);
    let ended = running.end();
    let expected = "error: stopped by SIGTERM. What was measured before is above";
    ended.check(&LONG, 1, expected);
    scratch.assert_clean(&target);
}

#[test]
fn a_killed_run_is_named_and_removed_by_the_next() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let kept = ["run", "--budget", "4s", "--size", "16MiB", "target"];
    scratch.check(&kept, 0, "Saved as run 1");
    let mut running = Running::start(scratch.seekstone(LONG));
    running.wait_for("random read 4 KiB");
    let pid = running.pid();
    running.signal(Signal::KILL);
    assert_eq!(running.end().signal, Some(9));
    let left = leftovers(&target);
    assert_eq!(left.len(), 1);
    scratch.check(&["runs", "show"], 0, "Quick benchmark of target");

    // Nobody answers: it is named, by whichever command comes first, and kept.
    let named = format!(
        "A killed run (process {pid}) left target/{} behind: ",
        left[0]
    );
    let advice = "Kept. `seekstone clean --yes` in that directory removes it.";
    let quiet = [
        "run", "--budget", "4s", "--size", "16MiB", "--quiet", "target",
    ];
    let trial = ["trial", "--duration", "1s", "--size", "4MiB", "target"];
    for args in [&["clean", "target"][..], &quiet, &trial] {
        let ended = scratch.check(args, 0, &named);
        assert!(ended.stderr.contains(advice), "{}", ended.stderr);
        assert_eq!(leftovers(&target), left);
    }
    let mut yes = kept.to_vec();
    yes.push("--yes");
    let ended = scratch.check(&yes, 0, &format!("Removed target/{}.", left[0]));
    assert!(ended.stdout.contains("Saved as run 4"), "{}", ended.stdout);
    scratch.check(
        &["clean", "target"],
        0,
        "target: nothing left here by killed runs",
    );
    scratch.assert_clean(&target);
    belongings.assert_untouched();
}

#[test]
fn two_check_ups_in_one_directory_do_not_disturb_each_other() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let args = [
        "run", "--budget", "6s", "--size", "16MiB", "--yes", "target",
    ];
    let mut first = Running::start(scratch.seekstone(args));
    first.wait_for("sequential write");
    let mut second = Running::start(scratch.seekstone(args));
    // On a slow disk the first would be over before the second has written its file.
    second.wait_for("sequential write");
    assert_eq!(leftovers(&target).len(), 2);
    scratch.check(
        &["clean", "--yes", "target"],
        0,
        "nothing left here by killed runs",
    );
    for ended in [first.end(), second.end()] {
        ended.check(&args, 0, "Saved as run ");
        assert!(!ended.stderr.contains("Removed"), "{}", ended.stderr);
        assert!(
            ended.stdout.contains("4 KiB files: remove"),
            "{}",
            ended.stdout
        );
    }
    let listed = scratch.check(&["runs", "list"], 0, "command");
    assert_eq!(listed.stdout.matches("Z  run  ").count(), 2);
    assert!(!listed.stdout.contains("PARTIAL"), "{}", listed.stdout);
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}
