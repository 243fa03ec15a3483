//! Storage that breaks while it is measured ends the run in order: one sentence, the numbers that
//! were there before, and nothing left behind that a later start does not know.

// A file system is shut down with a control call of ext4 that no crate wraps.
#![allow(unsafe_code)]

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;

use crate::support::storage::{FileSystem, Loop};
use crate::support::{
    PROGRAM, Running, SHORT_UNSAVED, Scratch, finish, is_installed, leftovers, skipped,
    with_enough_time,
};

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

fn in_directory<'a>(path: &'a str, budget: &'a str) -> [&'a str; 8] {
    let size = "16MiB";
    [
        "run",
        "--budget",
        budget,
        "--size",
        size,
        "--reserve",
        "0",
        path,
    ]
}

/// A run there that has come to its random reads.
fn at_random_reads(scratch: &Scratch, path: &str) -> Running {
    with_enough_time(|budget| {
        let running = Running::start(scratch.seekstone(in_directory(path, budget)));
        running.in_time_for("random read 4 KiB")
    })
}

/// The marker of a work directory was not written through to the disk. After a power cut it was
/// empty, and nobody knew any more whose the files beside it were.
#[test]
fn a_file_system_that_fails_ends_the_run_and_is_cleaned_later() {
    let test = "a_file_system_that_fails_ends_the_run_and_is_cleaned_later";
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::ext4(test, &scratch, 96, &[]) else {
        return;
    };
    let args = in_directory(made.path(), "4s");
    let running = at_random_reads(&scratch, made.path());
    // What another program has written through is on the disk with all that was made before.
    let user = File::create(made.root.join("of the user")).expect("a file");
    user.sync_all().expect("a file on disk");
    drop(user);
    if !shut_down(&made.root) {
        return skipped(test, "ext4 does not allow to be shut down");
    }
    let ended = running.end();
    // On a slow disk the random read may be over by then.
    ended.check(&args, 1, "failed: Input/output error");
    assert!(
        ended
            .error()
            .contains("What was measured before is above. Cannot")
    );
    assert!(
        ended
            .error()
            .contains("`seekstone clean` there removes what is left")
    );
    assert!(
        ended.stdout.contains("sequential read 1 MiB"),
        "{}",
        ended.stdout
    );
    scratch.check(&["runs", "list"], 0, "partial");

    made.unmount();
    made.repair();
    assert!(made.mount(test, "rw"), "a repaired file system");
    assert_eq!(leftovers(&made.root).len(), 1);
    scratch.check(&["clean", made.path()], 0, "A killed run (process ");
    scratch.check(&["clean", "--yes", made.path()], 0, "Removed ");
    scratch.assert_clean(&made.root);
    assert!(made.root.join("of the user").exists());
}

#[test]
fn a_file_system_that_turns_read_only_ends_the_run() {
    let test = "a_file_system_that_turns_read_only_ends_the_run";
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::ext4(test, &scratch, 96, &[]) else {
        return;
    };
    made.remount("errors=remount-ro");
    let device = made.device.as_ref().expect("a device").name();
    let trigger = format!("/sys/fs/ext4/{device}/trigger_fs_error");
    if !Path::new(&trigger).exists() {
        return skipped(test, "this kernel has no trigger_fs_error");
    }
    let args = in_directory(made.path(), "4s");
    let running = at_random_reads(&scratch, made.path());
    fs::write(&trigger, "1").expect("a trigger");
    let ended = running.end();
    ended.check(&args, 1, "write failed: Read-only file system");
    assert!(
        ended.error().contains(". Cannot remove "),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stdout.contains("random read 4 KiB"),
        "{}",
        ended.stdout
    );
    let refused = "cannot make a directory in";
    scratch.check(&args, 1, refused);
}

#[test]
fn a_device_that_loses_its_blocks_ends_the_run() {
    let test = "a_device_that_loses_its_blocks_ends_the_run";
    let scratch = Scratch::in_memory();
    let Some(device) = Loop::new(test, &scratch, 32) else {
        return;
    };
    let args = ["run", "--budget", "2s", device.path()];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("random read 4 KiB");
    let image = OpenOptions::new().write(true).open(&device.image);
    image
        .expect("the image")
        .set_len(1 << 20)
        .expect("a shorter image");
    let ended = running.end();
    ended.check(&args, 1, "read failed: Input/output error");
    assert!(ended.stdout.contains("PARTIAL "), "{}", ended.stdout);
    scratch.check(&["runs", "show"], 0, "read failed: Input/output error");
}

#[test]
fn a_named_file_that_shrinks_ends_the_run() {
    let scratch = Scratch::in_memory();
    let named = scratch.path("named");
    fs::write(&named, vec![7; 8 << 20]).expect("a file");
    let args = ["run", "--budget", "2s", "named"];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("random read 4 KiB");
    let file = OpenOptions::new().write(true).open(&named);
    file.expect("the file")
        .set_len(1 << 20)
        .expect("a shorter file");
    let ended = running.end();
    let is_told = ended.code == Some(1) && ended.error().contains("read failed");
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    let is_void = ended.code == Some(3) && words.join(" ").contains("the target shrank");
    assert!(is_told || is_void, "{ended:?}");
}

/// Runs the program with a system call refused. `None`, with a message, without strace.
fn under_strace(test: &str, scratch: &Scratch, inject: &str, args: &[&str]) -> Option<Command> {
    if !is_installed("strace") {
        skipped(test, "strace is not installed");
        return None;
    }
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e"]);
    command.arg(format!("inject={inject}"));
    command.arg(PROGRAM).args(args);
    scratch.settle(&mut command);
    Some(command)
}

#[test]
fn threads_stand_in_where_io_uring_is_refused() {
    let test = "threads_stand_in_where_io_uring_is_refused";
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let common = [
        "trial",
        "--duration",
        "1s",
        "--size",
        "4MiB",
        "--no-save",
        "target",
    ];
    let inject = "io_uring_setup:error=EPERM";
    let refused = "a sandbox forbids the system call";

    let with = |options: &[&'static str]| [&common[..], options].concat();
    let args = with(&["--json", "-"]);
    let Some(command) = under_strace(test, &scratch, inject, &args) else {
        return;
    };
    let ended = finish(command);
    ended.check(
        &args,
        0,
        &format!("measured by blocking threads, since io_uring is refused here ({refused})"),
    );
    assert_eq!(ended.json()["measurements"][0]["driver"], "threads");

    let args = with(&["--driver", "uring"]);
    let Some(command) = under_strace(test, &scratch, inject, &args) else {
        return;
    };
    finish(command).check(&args, 1, &format!("io_uring_setup failed: {refused}"));
    scratch.assert_clean(&target);

    let args = with(&["--driver", "threads", "--json", "-"]);
    let ended = finish(scratch.seekstone(&args));
    ended.check(&args, 0, "complete");
    assert_eq!(ended.json()["measurements"][0]["driver"], "threads");
}

#[test]
fn system_calls_that_fail_end_the_run_in_order() {
    let test = "system_calls_that_fail_end_the_run_in_order";
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    for (inject, expected) in [
        (
            "mkdirat:error=EDQUOT",
            "cannot make a directory in target: Disk quota exceeded",
        ),
        ("fallocate:error=ENOSPC", "/main: No space left on device"),
        // Counted for each thread: the first of the main thread writes the marker.
        ("fdatasync,fsync:error=EIO:when=2+", "Input/output error"),
        (
            "clone3,clone:error=EAGAIN:when=2+",
            "starting a worker thread",
        ),
    ] {
        let mut args = SHORT_UNSAVED.to_vec();
        args.extend(["--driver", "threads", "target"]);
        let Some(command) = under_strace(test, &scratch, inject, &args) else {
            return;
        };
        finish(command).check(&[inject], 1, expected);
        scratch.assert_clean(&target);
    }
}

/// Bug: without /proc a file that is there was said not to be.
#[test]
fn a_target_without_proc_is_refused_by_its_cause() {
    let test = "a_target_without_proc_is_refused_by_its_cause";
    let scratch = Scratch::in_memory();
    fs::write(scratch.path("file"), vec![7; 1 << 20]).expect("a file");
    let hidden = |then: &[&str]| {
        let mut command = Command::new("unshare");
        let hide = "mount -t tmpfs none /proc && exec \"$@\"";
        command.args(["-m", "sh", "-c", hide, "sh"]).args(then);
        scratch.settle(&mut command);
        command
    };
    if !hidden(&["true"]).status().is_ok_and(|it| it.success()) {
        skipped(test, "unshare is missing, or may not hide /proc");
        return;
    }
    let args = [PROGRAM, "trial", "file", "--duration", "1s", "--no-save"];
    finish(hidden(&args)).check(&args, 1, "cannot open file: /proc is not mounted. Mount it");
}
