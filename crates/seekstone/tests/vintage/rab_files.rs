//! `seekstone rab` on files, directories and file systems of a test's own: nothing of the user's
//! is lost, nothing of ours stays, and what breaks is told in one sentence.

// A file system is shut down with a control call of ext4 that no crate wraps.
#![allow(unsafe_code)]

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::support::storage::{FileSystem, fill, succeed};
use crate::support::{Belongings, PROGRAM, Running, Scratch, finish, is_installed, skipped};
use rustix::process::Signal;

/// Small enough for the batch workloads, whose five shares have a block of 1 MiB at least.
/// Of random arrivals, with other seeds, none may fall into a third of a second.
const SMALL: [&str; 5] = [
    "rab",
    "--budget=4s",
    "--size=16MiB",
    "--reserve=0",
    "--seed=7",
];
/// A batch workload, then long ones to be stopped in.
const LONG: [&str; 5] = [
    "rab",
    "--budget=30s",
    "--size=16MiB",
    "--reserve=0",
    "--workload=archive,transaction",
];

/// Only reads.
const READER: &str = r#"
name = "reader"
threads-fixed = 2
block = "64KiB"
shares = 4

[[threads]]
io = "4KiB"
mix = "1:0"
space = "uniform"
"#;

fn with<'a>(common: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    [common, options].concat()
}

#[test]
fn a_directory_keeps_what_was_in_it() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let args = with(&SMALL, &["target"]);
    let ended = scratch.check(&args, 0, "\n  scientific ");
    assert!(
        ended.stderr.contains("writing the test file, 16 MiB"),
        "{ended:?}"
    );
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn a_named_file_is_written_only_when_that_is_said() {
    let scratch = Scratch::in_memory();
    let named = scratch.path("named");
    fs::write(&named, vec![7; 8 << 20]).expect("a file");
    fs::write(scratch.path("reader.toml"), READER).expect("a file");
    let belongings = Belongings::of(&named);
    let common = ["rab", "--budget=4s", "--no-save", "named"];
    let refused = "error: named exists, and these workloads write. Add --overwrite";
    for workload in ["transaction", "archive,batch", "scientific"] {
        let ended = scratch.check(&with(&common, &["--workload", workload]), 2, refused);
        assert_eq!(ended.stdout, "");
    }
    scratch.check(&common, 2, refused);
    for workload in ["archive", "reader.toml,6"] {
        let args = with(&common, &["--workload", workload]);
        finish(scratch.seekstone(&args)).check(&args, 0, "\n  archive ");
    }
    belongings.assert_untouched();
    let args = with(&common, &["--workload=batch", "--overwrite"]);
    finish(scratch.seekstone(&args)).check(&args, 0, "\n  batch ");
    let written = fs::read(&named).expect("content");
    assert!(written.len() == 8 << 20 && written.iter().any(|&byte| byte != 7));
}

#[test]
fn a_file_too_small_for_its_workloads_is_refused_with_both_sizes() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    fs::write(scratch.path("named"), vec![7; 2 << 20]).expect("a file");
    let named = Belongings::of(&scratch.path("named"));
    let of_video = "workload video: the file of 2097152 bytes is too small: 5 shares with one \
                    block of 1048576 bytes each need 5242880";
    for (options, expected) in [
        (&["named", "--overwrite"][..], of_video),
        (&["target", "--size=2MiB"], of_video),
        (
            &["target", "--size=1KiB"],
            "the file of 1024 bytes is too small: 50 shares",
        ),
        (&["sim:mm1", "--size=2MiB"], of_video),
        (
            &["named", "--size=4MiB"],
            "--size 4 MiB: named holds only 2 MiB",
        ),
        (&["sim:mm1", "--size=1PiB"], "sim:mm1 holds only 64 GiB"),
    ] {
        let ended = scratch.check(&with(&["rab", "--no-save"], options), 2, expected);
        assert_eq!(ended.stdout, "");
    }
    let huge = ["rab", "--no-save", "target", "--size=1PiB"];
    scratch.check(&huge, 1, "target has no space for ");
    belongings.assert_untouched();
    named.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn what_is_no_storage_is_refused() {
    let scratch = Scratch::in_memory();
    succeed(
        "mkfifo",
        &[scratch.path("fifo").to_str().expect("a plain path")],
    );
    for (target, code, expected) in [
        ("missing", 2, "error: there is nothing at `missing`"),
        (
            "fifo",
            1,
            "error: `fifo` is a pipe, which cannot be measured",
        ),
        ("/dev/null", 1, "error: `/dev/null` is a character device"),
    ] {
        let ended = scratch.check(&["rab", "--no-save", target], code, expected);
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn a_file_system_that_cannot_take_the_test_file_is_refused() {
    let test = "a_file_system_that_cannot_take_the_test_file_is_refused";
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::ext4(test, &scratch, 64, &[]) else {
        return;
    };
    let args = with(&SMALL, &[made.path()]);
    let measured = finish(scratch.seekstone(&args));
    measured.check(&args, 0, "\n  scientific ");
    scratch.assert_clean(&made.root);
    fill(&made.root);
    let filled = Belongings::of(&made.root.join("fill"));
    scratch.check(&args, 1, "has no space for ");
    filled.assert_untouched();
    scratch.assert_clean(&made.root);
    made.remount("ro");
    let read_only = "is mounted read-only: no test file can be created";
    scratch.check(&args, 2, read_only);
}

#[test]
fn a_disk_that_fills_while_the_test_file_is_written_ends_the_run() {
    let test = "a_disk_that_fills_while_the_test_file_is_written_ends_the_run";
    if !is_installed("strace") {
        return skipped(test, "strace is not installed");
    }
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    for inject in [
        "pwrite64:error=ENOSPC:when=4+",
        "fallocate:error=ENOSPC",
        "fdatasync,fsync:error=EIO",
    ] {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e"]);
        command.arg(format!("inject={inject}")).arg(PROGRAM);
        command.args(with(&SMALL, &["--driver=threads", "target"]));
        scratch.settle(&mut command);
        let ended = finish(command);
        ended.check(&[inject], 1, "error: ");
        assert_eq!(ended.stdout, "", "{inject}");
        scratch.check(&["runs", "list"], 0, "no runs are archived");
        scratch.assert_clean(&target);
    }
    belongings.assert_untouched();
}

#[test]
fn a_signal_keeps_what_was_measured() {
    thread::scope(|scope| {
        for (stage, signal, name) in [
            ("Transaction, 1 client", Signal::INT, "SIGINT"),
            ("Transaction, 2 clients", Signal::TERM, "SIGTERM"),
        ] {
            scope.spawn(move || check_signal(stage, signal, name));
        }
    });
}

fn check_signal(stage: &str, signal: Signal, name: &str) {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let args = with(&LONG, &["target"]);
    let mut running = Running::start(scratch.seekstone(&args));
    running.wait_for(stage);
    running.signal(signal);
    let ended = running.end();
    let expected = format!("error: stopped by {name}. What was measured before is above");
    ended.check(&args, 1, &expected);
    assert!(ended.stdout.contains("\n  archive "), "{ended:?}");
    let reason = format!("PARTIAL stopped by {name}.");
    assert!(ended.stdout.contains(&reason), "{ended:?}");
    scratch.check(&["runs", "show", "1"], 0, "\n  archive ");
    scratch.check(&["runs", "list"], 0, "partial");
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn a_signal_before_anything_was_measured_keeps_nothing() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let args = ["rab", "--size=1GiB", "--reserve=0", "target"];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("writing the test file");
    running.signal(Signal::INT);
    let ended = running.end();
    let expected = "error: stopped by SIGINT before anything was measured. Nothing was saved";
    ended.check(&args, 1, expected);
    assert_eq!(ended.stdout, "");
    scratch.check(&["runs", "list"], 0, "no runs are archived");
    scratch.assert_clean(&target);
}

/// The warnings of a curve's points were dropped: reads beyond the end of a file, which move
/// nothing, passed for 300,000 reads per second of a sound and complete run.
#[test]
fn a_named_file_that_shrinks_voids_the_run() {
    thread::scope(|scope| {
        for (selected, stage) in [
            ("--workload=reader.toml", "reader, 1 client"),
            ("--workload=archive", "Archive save, 1 client"),
        ] {
            scope.spawn(move || check_shrinking(selected, stage));
        }
    });
}

fn check_shrinking(selected: &str, stage: &str) {
    let scratch = Scratch::in_memory();
    let named = scratch.path("named");
    fs::write(&named, vec![7; 16 << 20]).expect("a file");
    let reader = READER.replace("threads-fixed = 2\n", "") + "time = \"exponential:500/s\"\n";
    fs::write(scratch.path("reader.toml"), reader).expect("a file");
    let common = ["rab", "--budget=5s", "--clients-max=8", "named"];
    let args = with(&common, &[selected]);
    let mut running = Running::start(scratch.seekstone(&args));
    running.wait_for(stage);
    let file = OpenOptions::new().write(true).open(&named);
    let file = file.expect("the file");
    file.set_len(1 << 20).expect("a shorter file");
    let ended = running.end();
    let is_told = ended.code == Some(1) && ended.error().contains("read failed");
    let is_void = ended.code == Some(3) && ended.stdout.contains("  invalid ");
    assert!(is_told || is_void, "{ended:?}");
}

/// `_IOR('X', 125, __u32)`: ext4 answers every later request with an error.
const EXT4_IOC_SHUTDOWN: libc::c_ulong = 0x8004_587d;
/// Nothing more is written, the journal neither: like a power cut.
const NO_LOG_FLUSH: u32 = 2;

/// `false` where the system refuses.
fn shut_down(root: &Path) -> bool {
    let directory = File::open(root).expect("the root of a file system");
    let how = NO_LOG_FLUSH;
    // SAFETY: the call reads one u32 behind the pointer, which outlives it.
    unsafe { libc::ioctl(directory.as_raw_fd(), EXT4_IOC_SHUTDOWN, &raw const how) == 0 }
}

#[test]
fn a_file_system_that_fails_ends_the_run() {
    let test = "a_file_system_that_fails_ends_the_run";
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::ext4(test, &scratch, 96, &[]) else {
        return;
    };
    let args = with(&LONG, &[made.path()]);
    let mut running = Running::start(scratch.seekstone(&args));
    running.wait_for("Transaction, 2 clients");
    if !shut_down(&made.root) {
        return skipped(test, "ext4 does not allow to be shut down");
    }
    let ended = running.end();
    ended.check(&args, 1, "failed: Input/output error");
    assert!(
        ended
            .error()
            .contains("What was measured before is above. Cannot"),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("\n  archive "), "{ended:?}");
    scratch.check(&["runs", "list"], 0, "partial");
}

#[test]
fn few_open_files_are_enough_or_asked_for() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    for (limit, code, expected) in [
        (
            "ulimit -n 16",
            1,
            "16 open files are needed on top of Seekstone",
        ),
        ("ulimit -f 64", 1, "File too large"),
        ("ulimit -n 256", 0, "\n  scientific "),
    ] {
        let mut shell = Command::new("sh");
        let script = format!("{limit}; exec \"$0\" \"$@\" target");
        shell
            .args(["-c", &script, PROGRAM])
            .args(with(&SMALL, &["--no-save"]));
        scratch.settle(&mut shell);
        finish(shell).check(&[limit], code, expected);
        scratch.assert_clean(&target);
    }
}

/// The advice was an option that the command does not have.
#[test]
fn sizes_that_direct_io_cannot_move_are_wrong_usage() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    fs::write(scratch.path("named"), vec![7; 4 << 20]).expect("a file");
    let odd = READER.replace("64KiB", "1000").replace("4KiB", "500");
    fs::write(scratch.path("odd.toml"), odd).expect("a file");
    let common = ["rab", "--no-save", "--workload=odd.toml"];
    for options in [&["named"][..], &["target", "--size=16MiB", "--reserve=0"]] {
        let args = with(&common, options);
        let ended = scratch.check(
            &args,
            2,
            "reader, 2 clients: direct I/O of 500 bytes is not possible",
        );
        let advice = "Make I/O size, block size and offset multiples of ";
        assert!(ended.error().contains(advice), "{ended:?}");
    }
    scratch.assert_clean(&target);
}

/// The storage was blamed for what nobody had asked of it.
#[test]
fn clients_that_ask_too_seldom_are_not_the_storages_fault() {
    let scratch = Scratch::in_memory();
    let args = [
        "rab",
        "sim:mm1",
        "--workload=1",
        "--iops-per-client=1/h",
        "--budget=40min",
        "--seed=28968",
    ];
    let expected = "clients ask for less than that. Otherwise the storage does not answer";
    scratch.check(&args, 3, expected);
}

/// A reader that has seen enough is no failure.
#[test]
fn a_pipe_that_is_closed_early_costs_nothing() {
    let scratch = Scratch::in_memory();
    let mut shell = Command::new("sh");
    let script = "\"$0\" rab sim:mm1 --workload=archive --quiet | head -1";
    shell.args(["-c", script, PROGRAM]);
    scratch.settle(&mut shell);
    let ended = finish(shell);
    ended.check(&["| head -1"], 0, "rab of sim:mm1");
    assert_eq!(
        (ended.stdout.lines().count(), ended.stderr.as_str()),
        (1, "")
    );
    scratch.check(&["runs", "list"], 0, "\n  1  ");
}
