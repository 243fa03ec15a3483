//! A command asks for the room and the bytes that it needs, and no more.

mod support;

use std::fs;

use support::storage::FileSystem;
use support::{Scratch, leftovers};

/// A trial made a second file that it did not use, and twice the room of its one file was asked for.
#[test]
fn only_what_is_made_must_fit() {
    let test = "only_what_is_made_must_fit";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::ext4(test, &scratch, 64, &[]) else {
        return;
    };
    let path = made.path();
    let sized = ["--size", "32MiB", "--reserve", "0", "--no-save", "--quiet"];
    assert!(made.available() < 64 << 20, "the file would fit twice");
    let trial = [&["trial", path, "--duration", "100ms"][..], &sized].concat();
    scratch.check(&trial, 0, "random read");
    let transfer = [&["transfer", path, "--passes", "1"][..], &sized].concat();
    scratch.check(&transfer, 0, "read 32 MiB");
    let check_up = [&["run", path, "--budget", "1s"][..], &sized].concat();
    scratch.check(
        &check_up,
        1,
        "has no room for 64 MiB (the test file, and as much for the other",
    );
    let large = [
        &["trial", path, "--size", "70MiB", "--reserve", "0"][..],
        &["--no-save"],
    ]
    .concat();
    scratch.check(&large, 1, "has no room for 70 MiB: ");
    assert_eq!(leftovers(&made.root), Vec::<String>::new());
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
