//! Programs that use files: what is measured, kept, exported and compared, and what is refused.

use std::fs;

use crate::support::tables::{self, figure, notes, readings};
use crate::support::{self, Belongings, Scratch, finish};
use serde_json::Value;

/// One pass of each test, and nothing beside.
const ONCE: [&str; 7] = [
    "files",
    "--passes",
    "1",
    "--reserve",
    "0",
    "--memory",
    "none",
];

pub fn once<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&ONCE[..], more].concat()
}

/// Test, spacing and state of each row.
pub fn rows(run: &Value) -> Vec<(String, String, String)> {
    let word = |row: &Value, at: usize| row["levels"][at].as_str().expect("a word").to_owned();
    let tests = tables::rows(run, "files").into_iter();
    let row = |row: &Value| (word(row, 0), word(row, 3), word(row, 1));
    tests.map(row).collect()
}

#[test]
fn every_test_is_measured_and_nothing_is_left() {
    let Some(scratch) = Scratch::on_disk("every_test_is_measured_and_nothing_is_left") else {
        return;
    };
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let args = once(&["target", "--state", "as-is", "--space", "2", "--json", "-"]);
    let run = scratch.check(&args, 0, "").json();
    let rows = rows(&run);
    assert_eq!(rows.len(), 14 + 5, "{rows:?}");
    for row in tables::rows(&run, "files") {
        let passes = row["replicates"].as_array().expect("passes");
        let counts: Vec<bool> = passes
            .iter()
            .map(|pass| pass["counts"].as_bool().expect("a flag"))
            .collect();
        assert_eq!(counts, [false, true], "{row}");
        assert!(figure(row, "elapsed") > 0.0, "{row}");
        if row["levels"][0] == "4" {
            assert_eq!(readings(row, "bytes")[1], 307_200.0);
            assert_eq!(readings(row, "calls")[1], 1_800.0);
        }
    }
    let read = "TEST11 reads a file of 32000 blocks instead of a device";
    assert!(notes(&run, "files").contains(read));
    let args = once(&[
        "target",
        "--state",
        "cold,durable",
        "--tests",
        "2,7",
        "--json",
        "-",
    ]);
    let run = scratch.check(&args, 0, "").json();
    let found = self::rows(&run);
    let found: Vec<(&str, &str)> = found.iter().map(|row| (&*row.0, &*row.2)).collect();
    let expected = [
        ("2", "cold"),
        ("7", "cold"),
        ("2", "durable"),
        ("7", "durable"),
    ];
    assert_eq!(found, expected);
    scratch.assert_clean(&target);
    belongings.assert_untouched();
}

#[test]
fn a_run_is_kept_shown_exported_and_compared() {
    let scratch = Scratch::new();
    scratch.target();
    let args = once(&["target", "--tests", "2,6", "--state", "as-is", "--quiet"]);
    for number in ["1", "2"] {
        let ended = scratch.check(&args, 0, &format!("Saved as run {number}"));
        for expected in ["as-is: ", "  6 ", "TEST2: make one 150-block file"] {
            assert!(ended.stdout.contains(expected), "{}", ended.stdout);
        }
    }
    scratch.check(&["runs", "show", "1", "--all"], 0, "6     create");
    let csv = scratch.check(&["runs", "export", "2", "--form", "csv"], 0, "");
    let elapsed = csv.stdout.lines().filter(|it| it.contains(",elapsed,"));
    assert_eq!(elapsed.count(), 2, "{}", csv.stdout);
    let compare = [
        "runs",
        "compare",
        "--table",
        "files",
        "1",
        "2",
        "--against",
        "2",
    ];
    let table = scratch.check(&compare, 0, "ratio to system [2]");
    for expected in [
        "[1] ",
        "[2] ",
        "host ",
        "mounted ",
        "TEST2 as-is",
        "TEST6 as-is",
    ] {
        assert!(table.stdout.contains(expected), "{}", table.stdout);
    }
    let wrong = ["runs", "compare", "--table", "files", "1", "--against", "9"];
    scratch.check(&wrong, 2, "no such system. They are numbered");
}

#[test]
fn a_run_is_carried_to_another_site_and_replaces_nothing() {
    let scratch = Scratch::new();
    scratch.target();
    let simulated = ["run", "sim:delay", "--budget", "1s", "--quiet"];
    scratch.check(&simulated, 0, "Saved as run 1");
    let args = once(&["target", "--tests", "2", "--state", "as-is", "--quiet"]);
    scratch.check(&args, 0, "Saved as run 2");
    let exported = scratch.path("run.json");
    let file = exported.to_str().expect("a plain path");
    scratch.check(&["runs", "export", "2", "--output", file], 0, "");
    let elsewhere = scratch.path("other.db");
    let elsewhere = elsewhere.to_str().expect("a plain path");
    let import = ["runs", "import", file, "--archive", elsewhere];
    scratch.check(&import, 0, "run 1: files of target on ");
    scratch.check(&import, 2, "is already in the archive, as run 1");
    scratch.check(
        &["runs", "import", file],
        2,
        "is already in the archive, as run 2",
    );
    let show = ["runs", "show", "1", "--all", "--archive", elsewhere];
    scratch.check(&show, 0, "where it was run 2");
    let strange = scratch.path("strange.json");
    fs::write(&strange, "{}").expect("a file");
    let strange = strange.to_str().expect("a plain path");
    scratch.check(
        &["runs", "import", strange],
        2,
        "this is not the JSON form of a run",
    );
    let none = ["runs", "compare", "--table", "files", "1", "2"];
    scratch.check(&none, 2, "run 1 holds no file tests");
}

#[test]
fn clients_and_scales_multiply_the_counts() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let args = once(&["target", "--tests", "3", "--state", "as-is", "--json", "-"]);
    let args = [&args[..], &["--clients", "3", "--scale", "2"]].concat();
    let run = scratch.check(&args, 0, "").json();
    let tests = tables::rows(&run, "files");
    assert_eq!(tests.len(), 2, "a scale of 2 is compared with 1");
    for (row, scale) in tests.iter().zip([1, 2]) {
        assert_eq!(row["levels"][4], scale.to_string());
        let scale = f64::from(scale);
        assert_eq!(figure(row, "items"), 300.0 * scale);
        assert_eq!(readings(row, "bytes")[1], 3.0 * 153_600.0 * scale);
    }
    assert_eq!(tables::rows(&run, "files-growth").len(), 1);
    scratch.assert_clean(&target);
}

#[test]
fn phases_of_metadata_count_files_or_directories() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let tree = ["--workload", "metadata", "--files", "50", "--depth", "2"];
    let args = once(&[
        "target",
        "--fan-out",
        "3",
        "--clients",
        "2",
        "--state",
        "as-is",
    ]);
    let args = [&args[..], &tree[..], &["--json", "-"]].concat();
    let run = scratch.check(&args, 0, "").json();
    let names: Vec<String> = rows(&run).into_iter().map(|row| row.0).collect();
    let expected = [
        "mkdir", "create", "stat", "open", "read", "rename", "list", "remove", "rmdir",
    ];
    assert_eq!(names, expected);
    let items = tables::rows(&run, "files").into_iter();
    let items: Vec<f64> = items.map(|row| figure(row, "items")).collect();
    assert_eq!(items, [12.0, 25.0, 25.0, 25.0, 25.0, 25.0, 9.0, 25.0, 12.0]);
    scratch.assert_clean(&target);
}

/// In one directory each client reads what the next one made.
#[test]
fn clients_share_one_directory_and_read_each_others_files() {
    let Some(scratch) = Scratch::on_disk("clients_share_one_directory_and_read_each_others_files")
    else {
        return;
    };
    let target = scratch.target();
    let hard = [
        "--workload",
        "metadata",
        "--layout",
        "hard",
        "--reorder",
        "--files",
        "60",
    ];
    let args = once(&["target", "--clients", "3", "--state", "as-is,cold"]);
    let args = [&args[..], &hard, &["--json", "-"]].concat();
    let run = scratch.check(&args, 0, "").json();
    let names: Vec<String> = rows(&run).into_iter().map(|row| row.0).collect();
    let phases = ["create", "stat", "open", "read", "rename", "list", "remove"];
    assert_eq!(names, [phases, phases].concat());
    let tests = tables::rows(&run, "files").into_iter();
    let read = tests.filter(|row| row["levels"][0] == "read");
    let bytes = read.map(|row| readings(row, "bytes")[1]);
    assert_eq!(bytes.collect::<Vec<_>>(), [60.0 * 3901.0; 2]);
    let hosts = tables::rows(&run, "files-hosts");
    assert!(hosts.is_empty(), "one host has no rows of hosts");
    scratch.assert_clean(&target);
}

/// The advice named the disk that was there already, and the volume had the size of its drive.
#[test]
fn a_volume_that_is_too_small_gets_advice_that_helps() {
    let scratch = Scratch::new();
    for (target, more, expected) in [
        (
            "sim:rt11",
            &["--state", "cold"][..],
            "cold: the system has no cache. Give it one",
        ),
        (
            "sim:rt11?disk=rx01",
            &["--tests", "10"],
            "Name a larger disk, as in 'sim:rt11?disk=ra80'",
        ),
        (
            "sim:rt11?disk=ra80",
            &["--tests", "10", "--scale", "100"],
            "a volume of 32.0 MiB does not hold the files of TEST10. Give a smaller --scale",
        ),
        (
            "sim:rt11?disk=ra80&directory-segments=1",
            &["--tests", "3"],
            "Give it more directory-segments",
        ),
        (
            "sim:rt11?disk=nonsense",
            &[],
            "disk=nonsense: there is no device",
        ),
        ("sim:rt11?disk=rl02&disk=ra80", &[], "disk is given twice"),
    ] {
        scratch.check(&[&["files", target][..], more].concat(), 2, expected);
    }
}

/// Options that make no sense, and what is said of them.
const WRONG: &[(&[&str], &str)] = &[
    (
        &["--tests", "12", "target"],
        "is none of 1, 2, 3, 4, 4A, 4B",
    ),
    (&["--scale", "0", "target"], "0 is not in 1..=1000"),
    (
        &["--scale", "9", "target/main"],
        "--scale multiplies the counts of tests 1 to 10",
    ),
    (
        &["--tests", "11", "--scale", "9", "target"],
        "not of test 11",
    ),
    (
        &[
            "--tests",
            "11",
            "--state",
            "durable",
            "--device",
            "target/main",
            "target",
        ],
        "durable: TEST11 alone reads the device, and nothing is written",
    ),
    (&["--clients", "0", "target"], "0 is not in 1..=256"),
    (&["--space", "3", "target"], "[possible values: 2, 8]"),
    (
        &["--state", "warm", "target"],
        "[possible values: as-is, cold, durable]",
    ),
    (
        &["--space", "2", "--tests", "1", "target"],
        "--space applies to tests 4, 4A, 4B, 5 and 5A",
    ),
    (
        &["--tests", "1", "--device", "target/main", "target"],
        "--device applies to test 11",
    ),
    (
        &["--tests", "1", "target/main"],
        "on a file or device only test 11 can run",
    ),
    (&["--state", "durable", "target/main"], "nothing is written"),
    (
        &["--memory", "target", "target"],
        "not a directory on a memory file system",
    ),
    (
        &["--reserve", "0", "target/main"],
        "--reserve applies to a directory",
    ),
    (
        &["--drop-caches", "--state", "as-is", "target"],
        "--drop-caches applies to the cold state",
    ),
    (&["--files", "10", "target"], "--workload"),
    (
        &["--workload", "metadata", "--tests", "1", "target"],
        "cannot be used with",
    ),
    (
        &["--workload", "metadata", "target/main"],
        "--workload metadata needs a directory",
    ),
    (
        &[
            "--workload",
            "metadata",
            "--depth",
            "16",
            "--fan-out",
            "9",
            "target",
        ],
        "more than 1000000 directories",
    ),
    (
        &[
            "--workload",
            "metadata",
            "--files",
            "1",
            "--clients",
            "2",
            "target",
        ],
        "clients need at least one file each",
    ),
    (
        &[
            "--workload",
            "metadata",
            "--layout",
            "hard",
            "--depth",
            "1",
            "target",
        ],
        "with --layout hard all files are in one directory. Leave --depth out",
    ),
    (
        &["--workload", "metadata", "--reorder", "target"],
        "--reorder reads what another client created: use at least",
    ),
    (
        &["--workload", "metadata", "--file-size", "2GiB", "target"],
        "files of this workload have at most 1 GiB",
    ),
    (&["--layout", "easy", "target"], "--workload"),
];

/// What makes no sense is refused before anything is made.
#[test]
fn wrong_usage_is_told() {
    let scratch = Scratch::new();
    let target = scratch.target();
    for (args, expected) in WRONG {
        if args.contains(&"--memory") && scratch.is_in_memory() {
            support::skipped(
                "wrong_usage_is_told: --memory",
                "the files of tests are in memory",
            );
            continue;
        }
        let args = [&["files"][..], *args].concat();
        let ended = finish(scratch.seekstone(&args));
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(*expected),
            "{args:?}: {}",
            ended.stderr
        );
    }
    for more in [
        &[][..],
        &["--tests", "1"],
        &["--workload", "metadata"],
        &["--reserve", "0"],
    ] {
        // What is not there was said to be a file that only TEST11 reads.
        let args = [&["files", "nowhere"], more].concat();
        scratch.check(&args, 2, "nowhere");
    }
    let large = [
        "files",
        "--tests",
        "10",
        "--scale",
        "1000",
        "--clients",
        "256",
        "target",
    ];
    // Inodes are looked at first, where a file system has a number of them.
    let ended = finish(scratch.seekstone(large));
    assert!(matches!(ended.code, Some(1 | 2)), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("has no space for"),
        "{}",
        ended.stderr
    );
    scratch.assert_clean(&target);
}

/// What the paper asks of SPACE2 and SPACE8 is the time after over the time before; there were rows
/// and nothing else.
#[test]
fn the_effect_of_spacing_is_told() {
    let scratch = Scratch::new();
    let args = [
        "files",
        "sim:rt11?disk=ra80",
        "--tests",
        "4,5a",
        "--space",
        "2,8",
        "--seed",
        "1",
    ];
    let run = scratch
        .check(&[&args[..], &["--json", "-", "-q"]].concat(), 0, "")
        .json();
    let findings = run["findings"].to_string();
    for (name, first) in [("SPACE2", "TEST4 as-is 0.8"), ("SPACE8", "TEST4 as-is 0.8")] {
        let expected = format!("Time after {name} over the time before: {first}");
        assert!(findings.contains(&expected), "{findings}");
    }
}

/// The paper compares tests 8 and 9, and 4 with 4A and 4B. Its buffer of test 11 "has a measurable
/// effect", and could not be varied.
#[test]
fn the_symmetry_of_reads_and_writes_is_told_and_the_buffer_of_test_11_can_be_set() {
    let scratch = Scratch::new();
    let run = |tests: &str, more: &[&str]| {
        let target = "sim:rt11?disk=ra80";
        let args = [
            "files", target, "--tests", tests, "--seed", "1", "--json", "-", "-q",
        ];
        scratch.check(&[&args[..], more].concat(), 0, "").json()
    };
    let findings = run("4,4a,4b,8,9", &[])["findings"].to_string();
    for pair in [
        "TEST4A over TEST4 as-is 0.",
        "TEST4B over TEST4 as-is 0.",
        "TEST9 over TEST8",
    ] {
        assert!(findings.contains(pair), "{pair}: {findings}");
    }
    let rate = |more: &[&str]| {
        let run = run("11", more);
        let row = tables::rows(&run, "files")[0].clone();
        let figures = row["figures"].as_array().expect("figures").clone();
        let rate = figures.iter().find(|it| it["name"] == "throughput");
        rate.expect("a rate")["value"].as_f64().expect("a number")
    };
    let (paper, small) = (rate(&[]), rate(&["--transfer-size", "512"]));
    assert!(paper > 1.5 * small, "{paper} {small}");
    assert_eq!(paper, rate(&["--transfer-size", "16KiB"]));
    let args = [
        "files",
        "sim:rt11",
        "--tests",
        "8",
        "--transfer-size",
        "4KiB",
    ];
    scratch.check(&args, 2, "--transfer-size applies to test 11");
    let args = ["files", "sim:rt11", "--transfer-size", "1000"];
    scratch.check(&args, 2, "in whole blocks");
}
