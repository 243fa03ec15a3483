//! A command asks for the room and the bytes that it needs, and no more.

use std::fs;

use crate::support::storage::FileSystem;
use crate::support::{Running, Scratch};
use rustix::fs::{FallocateFlags, fallocate};

/// A trial made a second file that it did not use, and twice the room of its one file was asked
/// for.
#[test]
fn only_what_is_made_must_fit() {
    let test = "only_what_is_made_must_fit";
    let sized = ["--size", "32MiB", "--reserve", "0", "--no-save", "--quiet"];
    // Each has a file system of its own: ext4 gives room back some time after a file is removed.
    for (command, end, code, expected) in [
        ("trial", ["--duration", "100ms"], 0, "random read"),
        ("transfer", ["--passes", "1"], 0, "32 MiB by 64 KiB"),
        (
            "run",
            ["--budget", "1s"],
            1,
            "has no space for 64 MiB (the test file, and as much",
        ),
        ("trial", ["--size", "70MiB"], 1, "has no space for 70 MiB: "),
    ] {
        let scratch = Scratch::new();
        let Some(made) = FileSystem::ext4(test, &scratch, 64, &[]) else {
            return;
        };
        assert!(made.available() < 64 << 20, "the file would fit twice");
        let sized = if end[0] == "--size" {
            &sized[2..]
        } else {
            &sized
        };
        let args = [&[command, made.path()][..], &end, sized].concat();
        scratch.check(&args, code, expected);
        scratch.assert_clean(&made.root);
    }
}

/// `big holds 4.88 KiB` was said of a file of 4 MiB.
#[test]
fn a_part_that_is_too_small_is_told_from_a_file_that_is() {
    let scratch = Scratch::new();
    fs::write(scratch.path("big"), vec![7; 4 << 20]).expect("a file");
    fs::write(scratch.path("small"), vec![7; 5000]).expect("a file");
    let part = ["trial", "big", "--size", "5000", "--no-save"];
    let expected = "--size 4.88 KiB: a measurement needs at least 1 MiB, and big holds 4 MiB";
    scratch.check(&part, 2, expected);
    let whole = ["trial", "small", "--no-save"];
    let expected = "small holds 4.88 KiB, and a measurement needs at least 1 MiB";
    scratch.check(&whole, 2, expected);
}

/// Rewritten blocks of btrfs keep their old places for a while: a file of 100 MiB took 200 MiB, and
/// of 2 GiB that should have stayed free 1.87 GiB were left.
#[test]
fn a_file_that_is_copied_on_write_must_fit_twice() {
    let test = "a_file_that_is_copied_on_write_must_fit_twice";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::btrfs(test, &scratch, 1024) else {
        return;
    };
    let half = (made.available() >> 20) / 2;
    for (mib, code, expected) in [
        (half + 1, 1, "(twice the test file: a copy-on-write file"),
        (16, 0, "random write"),
    ] {
        let size = format!("{mib}MiB");
        let args = ["trial", made.path(), "--writes", "100%", "--size", &size];
        let end = ["--reserve", "0", "--duration", "200ms", "--no-save", "-q"];
        scratch.check(&[&args[..], &end].concat(), code, expected);
        scratch.assert_clean(&made.root);
    }
}

/// Others took the space that a rewriting trial needed.
#[test]
fn a_rewriting_trial_ends_before_the_reserve_is_entered() {
    let test = "a_rewriting_trial_ends_before_the_reserve_is_entered";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::btrfs(test, &scratch, 1024) else {
        return;
    };
    let (json, reserve) = (scratch.path("run.json"), 200 << 20);
    let mut args = vec!["trial", made.path(), "--writes", "100%", "--size", "64MiB"];
    args.extend(["--reserve", "200MiB", "--duration", "10min", "--no-save"]);
    args.extend(["--json", json.to_str().expect("a plain path")]);
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("random write");
    let others = fs::File::create_new(made.root.join("others")).expect("a file");
    let taken = made.available() - reserve - (8 << 20);
    fallocate(others, FallocateFlags::empty(), 0, taken).expect("space");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let expected = "200 MiB must stay free, and the file system is copy-on-write";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    let run = fs::read_to_string(&json).expect("what was measured");
    assert!(run.contains("must stay free"), "{run}");
    fs::remove_file(made.root.join("others")).expect("the file");
    scratch.assert_clean(&made.root);
}
