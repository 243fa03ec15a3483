//! What `seekstone diskrand` refuses, and how it ends when something goes wrong.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::data_files::{read, write};
use crate::support::storage::{FileSystem, fill};
use crate::support::{self, Belongings, PROGRAM, Running, Scratch, finish, skipped};
use rustix::process::Signal;

/// A user who has made no transaction by then hangs.
const HANGING: Duration = Duration::from_secs(180);

#[test]
fn only_files_of_this_program_are_overwritten_or_erased() {
    let scratch = Scratch::new();
    let target = scratch.target();
    write(&scratch, "RandData.txt");
    std::os::unix::fs::symlink(scratch.path("RandData.txt"), scratch.path("link")).expect("a link");
    fs::write(scratch.path("zeros"), vec![0; 8192]).expect("a file");
    fs::write(scratch.path("empty"), "").expect("a file");
    let belongings = [".", "target"].map(|name| Belongings::of(&scratch.path(name)));
    for (file, expected) in [
        ("zeros", "does not hold the records"),
        ("empty", "does not hold the records"),
        ("target/main", "does not hold the records"),
        ("target", "not a regular file"),
        ("link", "symbolic link"),
        ("/dev/null", "not a regular file"),
    ] {
        scratch.check(&["diskrand", "Erase", file], 2, expected);
        let args = [
            "diskrand",
            "Write",
            file,
            "1",
            "15",
            "New.txt",
            "--reserve",
            "0",
        ];
        scratch.check(&args, 2, expected);
    }
    assert!(!scratch.path("New.txt").exists(), "a log was made");
    for belongings in belongings {
        belongings.assert_untouched();
    }
    drop(target);
    write(&scratch, "RandData.txt");
    scratch.check(
        &["diskrand", "E", "RandData.txt"],
        0,
        "RandData.txt is erased, 1 MiB",
    );
    assert!(!scratch.path("RandData.txt").exists());
    scratch.check(
        &["diskrand", "Erase", "RandData.txt"],
        1,
        "cannot examine RandData.txt",
    );
}

/// Each command line must end so, say so, and alter nothing.
#[track_caller]
fn check_mistakes(mistakes: &[(&str, i32, &str)]) {
    let scratch = Scratch::new();
    write(&scratch, "D");
    fs::write(scratch.path("notes.txt"), "notes of mine\n").expect("a file");
    let belongings = Belongings::of(&scratch.path("."));
    for &(args, code, expected) in mistakes {
        let words: Vec<&str> = ["diskrand"].into_iter().chain(args.split(' ')).collect();
        scratch.check(&words, code, expected);
    }
    belongings.assert_untouched();
    for name in ["E", "L"] {
        assert!(!scratch.path(name).exists(), "{name} is there");
    }
}

#[test]
fn mistakes_of_write_and_erase_touch_nothing() {
    check_mistakes(&[
        (
            "Write E 40MB 15 L",
            2,
            "MB \"40MB\" is no number of megabytes",
        ),
        ("Write E 0 15 L", 2, "MB \"0\""),
        ("Write E 4 14 L", 2, "three passes of five seconds take 15"),
        ("Write E 99999999 15 L", 2, "there is no space for"),
        ("Write E 99999999999999 15 L", 2, "must lie between"),
        ("Write E 4 15", 2, "LF is missing"),
        ("Write missing/E 4 15 L", 1, "missing"),
        (
            "Write E 1 15 missing/L --reserve 0",
            1,
            "cannot open the log missing/L",
        ),
        (
            "Write E 1 15 notes.txt --reserve 0",
            2,
            "is no log of diskrand",
        ),
        ("Write D 1 15 D --reserve 0", 2, "is no log of diskrand"),
        ("Write E 1 15 E --reserve 0", 2, "E is the data file"),
        ("Write sim:nonsense 1 15 L", 2, "nonsense"),
        (
            "Write E 1 15 L --cpu-unit 1ms",
            2,
            "--cpu-unit means nothing with Write",
        ),
        ("Erase sim:mm1", 2, "is a model"),
        ("Delete D", 2, "is no command"),
    ]);
}

#[test]
fn mistakes_of_read_touch_nothing() {
    check_mistakes(&[
        ("Read missing 1 1 L 1 0", 1, "cannot open missing"),
        ("Read notes.txt 1 1 L 1 0", 2, "not one record of 4096"),
        ("Read . 1 1 L 1 0", 1, "is a directory"),
        ("Read /dev/zero 1 1 L 1 0", 1, "character device"),
        (
            "Read D 1 1 missing/L 1 0",
            1,
            "cannot open the log missing/L",
        ),
        ("Read D 1 1 notes.txt 1 0", 2, "is no log of diskrand"),
        ("Read D 1 1 D 1 0", 2, "is no log of diskrand"),
        ("Read D 1 1 . 1 0", 2, "is not a regular file"),
        ("Read D 1 1 L 0 0", 2, "one record at least"),
        ("Read D 1 0 L 1 0", 2, "NT \"0\""),
        (
            "Read D 1 1 L 1 0 9999999999 1",
            2,
            "KM 9999999999 asks for 9.31 TiB of memory",
        ),
        ("Read D 1 1 L 1 0 99999999999999999999 1", 2, "KM"),
        ("Read D 1 1 L 1 0 10", 2, "CP is missing"),
        ("Read D one 1 L 1 0", 2, "UN \"one\""),
        ("Read D 1 1 L 1 5s", 2, "without a unit"),
        (
            "Read D 1 1 L 1 0 --short",
            2,
            "--short means nothing with Read",
        ),
        (
            "Read D 1 1 L 1 0 --reserve 0",
            2,
            "--reserve means nothing with Read",
        ),
        (
            "Read sim:mm1 1 1 L 1 0 --direct",
            2,
            "a model has no page cache",
        ),
    ]);
}

#[test]
fn a_user_number_at_work_is_refused() {
    let scratch = Scratch::new();
    write(&scratch, "D");
    let args = ["diskrand", "Read", "D", "101", "9", "Log.txt", "1", "86400"];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("thinking before transaction");
    let again = ["diskrand", "Read", "D", "101", "1", "Log.txt", "1", "0"];
    scratch.check(
        &again,
        2,
        "user 101 is at work already with the log Log.txt",
    );
    scratch.check(
        &["diskrand", "Erase", "D"],
        2,
        "another diskrand is at work with it",
    );
    let other = ["diskrand", "Read", "D", "102", "1", "Log.txt", "1", "0"];
    scratch.check(&other, 0, "User 102: 1 transactions");
    running.signal(Signal::INT);
    running.end().check(&args, 1, "stopped by SIGINT");
}

#[test]
fn a_signal_while_thinking_ends_at_once() {
    let scratch = Scratch::new();
    write(&scratch, "D");
    for (signal, name) in [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM")] {
        let log = format!("{name}.txt");
        // Drawn from two days: no user of these two thinks for less than some hours.
        let args = ["diskrand", "Read", "D", "7", "20", &log, "5", "86400"];
        let mut running = Running::start(scratch.seekstone(args));
        running.wait_for("thinking before transaction 1");
        running.signal(signal);
        let ended = running.end();
        ended.check(&args, 1, &format!("stopped by {name}"));
        assert!(
            ended.stdout.contains("User 7: no transaction was done"),
            "{}",
            ended.stdout
        );
        let text = read(&scratch, &log);
        let last = text.lines().last().expect("lines");
        let expected = format!("User 7 stopped after 0 transactions: {name}");
        assert!(last.starts_with(&expected), "{text}");
    }
}

#[test]
fn what_was_done_before_a_signal_is_kept() {
    let scratch = Scratch::new();
    write(&scratch, "D");
    let args = [
        "diskrand",
        "Read",
        "D",
        "7",
        "1000000000",
        "Log.txt",
        "1",
        "0",
        "1",
        "1",
        "--cpu-unit",
        "10ms",
    ];
    let running = Running::start(scratch.seekstone(args));
    let begun = Instant::now();
    while !fs::read_to_string(scratch.path("Log.txt")).is_ok_and(|log| log.contains("response")) {
        assert!(begun.elapsed() < HANGING, "no transaction is logged");
        std::thread::yield_now();
    }
    running.signal(Signal::INT);
    let ended = running.end();
    ended.check(&args, 1, "stopped by SIGINT");
    assert!(
        ended.stdout.contains("of 1000000000 transactions"),
        "{}",
        ended.stdout
    );
    let imported = scratch.check(&["runs", "import", "Log.txt"], 0, "imported");
    assert!(
        !imported.stderr.contains("mean nothing"),
        "{}",
        imported.stderr
    );
    scratch.check(&["runs", "list"], 0, "partial");
}

#[test]
fn a_signal_while_writing_leaves_nothing() {
    let scratch = Scratch::new();
    let args = [
        "diskrand",
        "Write",
        "D",
        "3000",
        "15",
        "Log.txt",
        "--reserve",
        "0",
    ];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("writing the data file");
    running.signal(Signal::INT);
    let ended = running.end();
    // On a machine that writes at once, the passes have begun.
    if ended.stderr.contains("reading, pass") {
        ended.check(&args, 1, "the data file is whole and stays");
        scratch.check(&["diskrand", "Erase", "D"], 0, "is erased");
    } else {
        ended.check(&args, 1, "the unfinished data file was removed");
    }
    assert!(!scratch.path("D").exists());
}

#[test]
fn a_full_disk_ends_in_one_sentence_and_is_given_back() {
    let test = "a_full_disk_ends_in_one_sentence_and_is_given_back";
    let scratch = Scratch::new();
    write(&scratch, "D");
    let Some(small) = FileSystem::tmpfs(test, &scratch, 4) else {
        return;
    };
    let data = format!("{}/D", small.path());
    let log = format!("{}/Log.txt", small.path());
    // A quarter stays free.
    let args = ["diskrand", "Write", &data, "4", "15", "L.txt"];
    scratch.check(&args, 2, "there is no space for 4 MiB");
    let args = [
        "diskrand",
        "Write",
        &data,
        "64",
        "15",
        "L.txt",
        "--reserve",
        "0",
    ];
    scratch.check(&args, 2, "there is no space for 64 MiB");
    fs::write(&log, "").expect("a file");
    fill(&small.root);
    let args = ["diskrand", "Read", "D", "1", "5", &log, "5", "0"];
    let ended = scratch.check(&args, 1, "cannot write the log");
    assert!(
        ended.error().contains("No space left on device"),
        "{}",
        ended.error()
    );
    assert_eq!(fs::metadata(&log).expect("the log").len(), 0, "no cut line");
    assert!(!Path::new(&data).exists());
}

#[test]
fn a_write_that_fails_leaves_nothing() {
    let scratch = Scratch::new();
    let mut command = Command::new("bash");
    let line = "ulimit -f 1024; exec \"$0\" diskrand Write D 4 15 Log.txt --reserve 0 -q";
    command.args(["-c", line, PROGRAM]);
    scratch.settle(&mut command);
    finish(command).check(&["diskrand"], 1, "cannot write D: File too large");
    assert!(!scratch.path("D").exists());
}

#[test]
fn no_permission_is_one_sentence() {
    let test = "no_permission_is_one_sentence";
    if rustix::process::geteuid().is_root() && !support::is_installed("setpriv") {
        return skipped(test, "root may do everything, and setpriv is missing");
    }
    let scratch = Scratch::new();
    write(&scratch, "D");
    fs::create_dir(scratch.path("locked")).expect("a directory");
    let lock = "chmod 000 D; chmod 500 locked; chmod 755 .";
    let done = Command::new("sh")
        .args(["-c", lock])
        .current_dir(scratch.path("."))
        .status();
    assert!(done.is_ok_and(|status| status.success()));
    let run = |words: &str| {
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM]);
            command
        } else {
            Command::new(PROGRAM)
        };
        command.arg("diskrand").args(words.split(' '));
        scratch.settle(&mut command);
        finish(command)
    };
    let probe = run("--help");
    if probe.code != Some(0) {
        return skipped(test, "another user cannot reach the program");
    }
    for words in [
        "Read D 1 1 locked/L 1 0",
        "Erase D",
        "Write locked/E 1 15 locked/L --reserve 0",
        "Write D 1 15 locked/L --reserve 0",
    ] {
        run(words).check(&[words], 1, "Permission denied");
    }
    assert!(scratch.path("D").exists());
}
