//! A command asks for the room and the bytes that it needs, and no more.

mod support;

use std::fs;

use support::Scratch;
use support::storage::FileSystem;

/// A trial made a second file that it did not use, and twice the room of its one file was asked
/// for.
#[test]
fn only_what_is_made_must_fit() {
    let test = "only_what_is_made_must_fit";
    let sized = ["--size", "32MiB", "--reserve", "0", "--no-save", "--quiet"];
    // Each has a file system of its own: ext4 gives room back some time after a file is removed.
    for (command, end, code, expected) in [
        ("trial", ["--duration", "100ms"], 0, "random read"),
        ("transfer", ["--passes", "1"], 0, "read 32 MiB"),
        (
            "run",
            ["--budget", "1s"],
            1,
            "has no room for 64 MiB (the test file, and as much",
        ),
        ("trial", ["--size", "70MiB"], 1, "has no room for 70 MiB: "),
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
    let expected =
        "--size 4.88 KiB: at least 1 MiB is needed to measure anything, and big holds 4 MiB";
    scratch.check(&part, 2, expected);
    let whole = ["trial", "small", "--no-save"];
    scratch.check(
        &whole,
        2,
        "small holds 4.88 KiB, and at least 1 MiB is needed",
    );
}
