//! Files up to a stonewall on one host: what is said of it, and what is refused.

use crate::support::tables::{figure, readings, rows};
use crate::support::{Scratch, finish, skipped};

const METADATA: [&str; 10] = [
    "files",
    "target",
    "--workload",
    "metadata",
    "--layout",
    "easy",
    "--state",
    "as-is",
    "--reserve",
    "0",
];

#[test]
fn the_part_before_the_wall_has_rates_of_its_own() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let args = ["--stonewall", "40ms", "--files", "400000", "--clients", "2"];
    let args = [&METADATA[..], &args, &["--passes", "2"]].concat();
    let ended = finish(scratch.seekstone(&args));
    if ended.error().contains("free inodes allow") {
        let test = "the_part_before_the_wall_has_rates_of_its_own";
        return skipped(test, "the file system has fewer than 400,000 free inodes");
    }
    ended.check(&args, 0, "Saved as run 1");
    scratch.assert_clean(&target);
    let shown = ["runs", "show", "1"];
    scratch.check(&shown, 0, "Done when clients stopped");
}

/// What does not fill a transfer is not written.
#[test]
fn large_files_are_whole_transfers() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let args = [
        "files",
        "target",
        "--workload",
        "bandwidth",
        "--file-size",
        "5MiB",
    ];
    let more = [
        "--state",
        "as-is",
        "--memory",
        "none",
        "--passes",
        "2",
        "--reserve",
        "0",
    ];
    let args = [&args[..], &more, &["--json", "run.json"]].concat();
    scratch.check(
        &args,
        0,
        "Each client 5 MiB in transfers of 2 MiB to a file of its own",
    );
    scratch.assert_clean(&target);
    let text = std::fs::read_to_string(scratch.path("run.json")).expect("JSON");
    let run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for test in rows(&run, "files") {
        assert_eq!(figure(test, "items"), 2.0, "{test}");
        assert_eq!(readings(test, "bytes")[0], f64::from(4 << 20), "{test}");
    }
}

/// Ten files are made long before a second is over, which the figures must not hide.
#[test]
fn a_wall_that_nobody_reaches_is_a_doubt() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let args = ["--stonewall", "10s", "--files", "10", "--passes", "1"];
    let args = [&METADATA[..], &args].concat();
    scratch.check(
        &args,
        0,
        "a client had made all of its 10 files before the stonewall",
    );
    scratch.assert_clean(&target);
}

#[test]
fn what_no_stonewall_can_do_is_one_sentence() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let check = |args: &[&str], expected: &str| {
        scratch.check(&[&METADATA[..], args].concat(), 2, expected);
        scratch.assert_clean(&target);
    };
    check(
        &["--stonewall", "1s", "--memory", "/dev/shm"],
        "--memory: with --stonewall, a memory disk would create different",
    );
    check(&["--stonewall", "1ms"], "must be at least 10 ms");
    scratch.check(
        &["files", "target", "--stonewall", "1s"],
        2,
        "--workload <WORKLOAD>",
    );
}
