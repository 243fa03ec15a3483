//! Comparisons and studies of several ranks: each replicate is one run of all of them, and rank 0
//! has the result.

use std::fs::{self, DirEntry};
use std::path::Path;

use crate::support::ranks::{Library, MPICH, OPEN_MPI, json, ranks, with_shim};
use crate::support::tables::in_turn;
use crate::support::{Running, Scratch, finish};
use serde_json::Value;

/// Small trials that leave nothing behind.
const SMALL: [&str; 8] = [
    "--set",
    "size=8MiB",
    "--set",
    "duration=600ms",
    "--reserve",
    "0",
    "--quiet",
    "--seed",
];

/// A scratch with two directories to compare.
fn with_targets(test: &str, library: &Library) -> Option<Scratch> {
    let scratch = with_shim(test, library)?;
    for name in ["one", "other"] {
        fs::create_dir(scratch.path(name)).expect("a directory");
    }
    Some(scratch)
}

fn assert_clean(scratch: &Scratch) {
    for name in ["one", "other"] {
        scratch.assert_clean(&scratch.path(name));
    }
}

/// The levels of all replicates, in their order.
fn order(run: &Value) -> Vec<&str> {
    let replicates = in_turn(run).into_iter();
    let levels = replicates.map(|(row, _)| row["levels"][0].as_str());
    levels.map(|it| it.expect("a level")).collect()
}

#[track_caller]
fn check_compare(test: &str, library: &Library) {
    let Some(scratch) = with_targets(test, library) else {
        return;
    };
    let args = ["compare", "one", "other", "--rounds", "3"];
    let load = ["--set", "clients=3", "--fail", "iops < -99.9%"];
    let args = [&args[..], &load, &SMALL, &["7", "--json", "run.json"]].concat();
    let ended = finish(ranks(&scratch, library, 2, &args));
    assert!(ended.error().is_empty(), "{ended:?}");
    assert!(ended.stdout.contains("iops < -99.9%"), "{ended:?}");
    assert_eq!(ended.stdout.matches("Saved as run").count(), 1, "{ended:?}");
    assert_clean(&scratch);
    let run = json(&scratch.path("run.json"));
    assert_eq!(run["status"]["state"], "complete", "{}", run["status"]);
    let together = order(&run);
    assert_eq!(together.len(), 6, "{together:?}");
    let said = run["warnings"].to_string();
    assert!(said.contains("1 host, 2 ranks (rank 0 on "), "{said}");
    let replicates = format!("{:?}", in_turn(&run));
    assert!(!replicates.contains("rank-0."), "{replicates}");

    // One host measures in the same order.
    let args = ["compare", "one", "other", "--rounds", "3", "--no-save"];
    let args = [&args[..], &SMALL, &["7", "--json", "alone.json"]].concat();
    let alone = finish(scratch.seekstone(&args));
    assert!(alone.error().is_empty(), "{alone:?}");
    assert_eq!(order(&json(&scratch.path("alone.json"))), together);
}

#[test]
fn a_comparison_of_two_ranks_is_one_run_under_mpich() {
    check_compare("a_comparison_of_two_ranks_is_one_run_under_mpich", &MPICH);
}

#[test]
fn a_comparison_of_two_ranks_is_one_run_under_open_mpi() {
    let test = "a_comparison_of_two_ranks_is_one_run_under_open_mpi";
    check_compare(test, &OPEN_MPI);
}

/// Files of both targets are those of all ranks: figures of calls are the same as of one host.
#[test]
fn a_comparison_of_file_tests_makes_the_same_calls() {
    let test = "a_comparison_of_file_tests_makes_the_same_calls";
    let Some(scratch) = with_targets(test, &MPICH) else {
        return;
    };
    let args = ["compare", "one", "other", "--measure", "files"];
    let tests = ["workload=metadata", "clients=2", "files=64", "passes=1"];
    let tests = tests.iter().flat_map(|it| ["--set", it]);
    let tests: Vec<&str> = tests.collect();
    let more = ["--rounds", "1", "--reserve", "0", "--quiet", "--no-save"];
    let args = [&args[..], &tests, &more, &["--json", "run.json"]].concat();
    let ended = finish(ranks(&scratch, &MPICH, 2, &args));
    assert!(ended.error().is_empty(), "{ended:?}");
    assert_clean(&scratch);
    assert_eq!(order(&json(&scratch.path("run.json"))).len(), 2);
}

/// A factor's levels are settings of a command; the seed is that of the study's file.
#[test]
fn a_study_of_three_ranks_is_one_run() {
    let Some(scratch) = with_targets("a_study_of_three_ranks_is_one_run", &OPEN_MPI) else {
        return;
    };
    let study = "title = \"Clients\"\ntarget = \"one\"\nseed = 9\n\
                 [measurement]\nkind = \"trial\"\nduration = \"600ms\"\nsize = \"8MiB\"\n\
                 [[factor]]\nname = \"clients\"\nsetting = \"clients\"\nlevels = [3, 6]\n";
    fs::write(scratch.path("study.toml"), study).expect("a study");
    let args = ["study", "study.toml", "--replicates", "2", "--reserve", "0"];
    let args = [&args[..], &["--quiet", "--no-save", "--json", "run.json"]].concat();
    let ended = finish(ranks(&scratch, &OPEN_MPI, 3, &args));
    assert!(ended.error().is_empty(), "{ended:?}");
    assert_clean(&scratch);
    let run = json(&scratch.path("run.json"));
    assert_eq!(run["setup"]["seed"], "9", "{}", run["setup"]);
    let mut levels = order(&run);
    levels.sort_unstable();
    assert_eq!(levels, ["3", "3", "6", "6"]);
}

/// Each rank has a log of its own; the figures are those of both.
#[test]
fn a_log_on_two_ranks_is_two_logs() {
    let Some(scratch) = with_targets("a_log_on_two_ranks_is_two_logs", &OPEN_MPI) else {
        return;
    };
    let args = "wal one --size 4MiB --time 200ms --writers 3 --repeat 2 --reserve 0 --seed 5 \
                --quiet --no-save --json run.json";
    let args: Vec<&str> = args.split_whitespace().collect();
    let mut running = Running::start(ranks(&scratch, &OPEN_MPI, 2, &args));
    let are_two = running.runs_until(|| logs(&scratch.path("one")) == 2);
    let ended = running.end();
    assert!(are_two && ended.error().is_empty(), "{ended:?}");
    assert_clean(&scratch);
    let run = json(&scratch.path("run.json"));
    assert_eq!(run["status"]["state"], "complete", "{run}");
    let warnings = run["warnings"].to_string();
    assert!(
        warnings.contains("each repeat is one run of all ranks"),
        "{warnings}"
    );
    let replicates = run["tables"][0]["rows"][0]["replicates"].as_array();
    let replicates = replicates.expect("replicates");
    assert_eq!(replicates.len(), 2, "{run}");
    for replicate in replicates {
        let readings = replicate["readings"].as_array().expect("readings");
        if readings.is_empty() {
            // On a machine where others are at work there are two logs, and no figures.
            assert!(warnings.contains("invalid on"), "{warnings}");
            continue;
        }
        let of = |name: &str| {
            let mut found = readings.iter().filter(|it| it[0] == name);
            found
                .next()
                .and_then(|it| it[2].as_f64())
                .expect("a figure")
        };
        // Each of six sessions waits for its record: their number is rate times latency.
        let sessions = of("commits") * of("latency");
        assert!((4.0..8.0).contains(&sessions), "{sessions}: {readings:?}");
    }
}

/// Logs in the work directories of a directory.
fn logs(directory: &Path) -> usize {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let inside = entries(directory).flat_map(|it| entries(&it.path()));
    let is_log = |it: &DirEntry| it.file_name().to_string_lossy().starts_with("main");
    inside.filter(is_log).count()
}

#[test]
fn what_ranks_cannot_compare_is_one_sentence() {
    let test = "what_ranks_cannot_compare_is_one_sentence";
    let Some(scratch) = with_targets(test, &MPICH) else {
        return;
    };
    for name in ["data", "more"] {
        fs::write(scratch.path(name), vec![1; 4 << 20]).expect("a file");
    }
    let study = "title = \"Mounts\"\ntarget = \"one\"\nsetup = \"touch one/made\"\n\
                 [measurement]\nkind = \"trial\"\n";
    fs::write(scratch.path("study.toml"), study).expect("a study");
    let check = |args: &[&str], expected: &str| {
        let ended = finish(ranks(&scratch, &MPICH, 2, args));
        ended.check(args, 2, expected);
        assert!(!ended.error().contains('\n'), "one sentence: {ended:?}");
        assert_clean(&scratch);
        assert!(!scratch.path("one").join("made").exists());
    };
    check(
        &["compare", "one", "other", "--set", "clients=1"],
        "--clients 1: each of 2 ranks needs at least one client",
    );
    check(
        &["compare", "data", "more", "--set", "clients=2"],
        "would use the same file or device. Add --shared",
    );
    check(
        &["compare", "one", "sim:hdd"],
        "sim:hdd is simulated, and a launcher with PMI",
    );
    check(
        &["compare", "one", "other", "--measure", "copy"],
        "copy measures on one host: on several use run, trial,",
    );
    check(
        &["compare", "one", "other", "--resume"],
        "--resume goes on with what one host measured",
    );
    check(
        &["study", "study.toml"],
        "several ranks would each run them. Remove them",
    );
    check(
        &["study", "-"],
        "a launcher gives standard input to one rank only",
    );
}
