//! A rank dies in a comparison or a study. Where the launcher lets the others go on it is named,
//! and the replicates that were measured before are kept; what was left is found.

use std::fs;
use std::time::{Duration, Instant};

use drivers::MARKER_NAME;

use crate::support::ranks::{
    Library, MPICH, OPEN_MPI, assert_given_up, json, launcher, process_of, ranks, with_shim,
};
use crate::support::tables::in_turn;
use crate::support::{Ended, PROGRAM, Running, Scratch, finish, leftovers};
use rustix::process::{Signal, kill_process};

/// Ranks that measure.
const RANKS: usize = 3;
/// Within which a dead rank is named.
const NAMED_WITHIN: Duration = Duration::from_secs(10);
/// What it takes beside that until the launcher has ended, on a busy machine.
const LEEWAY: Duration = Duration::from_secs(10);
/// A study of two levels, each replicate of which takes some seconds.
const STUDY: &str = "title = \"Clients\"\ntarget = \"one\"\n\
                     [measurement]\nkind = \"trial\"\nduration = \"2s\"\nsize = \"4MiB\"\n\
                     [[factor]]\nname = \"clients\"\nsetting = \"clients\"\nlevels = [3, 6]\n";
const TARGETS: [&str; 2] = ["one", "other"];
const LOAD: [[&str; 2]; 3] = [
    ["--set", "clients=3"],
    ["--set", "size=4MiB"],
    ["--set", "duration=2s"],
];

/// A scratch with two directories, and a study of one.
fn with_targets(test: &str, library: &Library) -> Option<Scratch> {
    let scratch = with_shim(test, library)?;
    for name in TARGETS {
        fs::create_dir(scratch.path(name)).expect("a directory");
    }
    fs::write(scratch.path("study.toml"), STUDY).expect("a study");
    Some(scratch)
}

/// Work directories of ranks that can be told to be theirs.
fn work_directories(scratch: &Scratch) -> usize {
    let all = TARGETS.iter().flat_map(|target| {
        let names = leftovers(&scratch.path(target)).into_iter();
        names.map(move |name| scratch.path(target).join(name))
    });
    all.filter(|it| it.join(MARKER_NAME).exists()).count()
}

/// Ranks that measure, of which rank 1 is killed in the third replicate or a later one.
fn killed(scratch: &Scratch, library: &Library, options: &[&str], args: &[&str]) -> Ended {
    let count = RANKS.to_string();
    let options = [options, &["-n", &count, PROGRAM]].concat();
    let mut command = launcher(scratch, library, &options);
    command
        .args(args)
        .args(["--reserve", "0", "--json", "run.json"]);
    let mut running = Running::start(command);
    running.wait_for("repeat 3 of ");
    while work_directories(scratch) < RANKS {
        assert!(running.is_running(), "it ended by itself");
    }
    let began = Instant::now();
    kill_process(process_of(scratch, 1), Signal::KILL).expect("a signal");
    let ended = running.end();
    let took = began.elapsed();
    assert!(took < NAMED_WITHIN + LEEWAY, "{took:?}: {ended:?}");
    ended
}

/// What so many ranks left is removed.
#[track_caller]
fn check_cleaned(scratch: &Scratch, count: usize) {
    assert_eq!(work_directories(scratch), count);
    for name in TARGETS {
        let cleaned = scratch.check(&["clean", name, "--yes"], 0, "");
        let left = leftovers(&scratch.path(name));
        assert!(left.is_empty(), "{left:?}: {cleaned:?}");
    }
}

/// Open MPI's launcher lets the others go on where it is asked to recover: the rank is named, and
/// the replicates before are a partial run.
#[track_caller]
fn check_kept(scratch: &Scratch, args: &[&str]) {
    let ended = killed(scratch, &OPEN_MPI, &["--enable-recovery"], args);
    assert!(ended.error().contains("rank 1 on "), "{ended:?}");
    assert_given_up(ended.error());
    assert!(ended.stdout.contains("PARTIAL"), "{ended:?}");
    assert!(ended.stdout.contains("Saved as run 1"), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let replicates = in_turn(&run);
    assert!((2..10).contains(&replicates.len()), "{replicates:?}");
    check_cleaned(scratch, 1);
}

/// MPICH's launcher ends all ranks with the one that was killed: nothing is kept, and what all of
/// them left is found.
#[track_caller]
fn check_ended(scratch: &Scratch, args: &[&str]) {
    let ended = killed(scratch, &MPICH, &[], args);
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.stdout.contains("Saved as run"), "{ended:?}");
    assert!(!scratch.path("run.json").exists());
    check_cleaned(scratch, RANKS);
}

fn compare_args() -> Vec<&'static str> {
    [
        &["compare", "one", "other", "--rounds", "5"],
        LOAD.as_flattened(),
    ]
    .concat()
}

#[test]
fn a_rank_killed_in_a_comparison_is_named_and_what_was_measured_is_kept() {
    let test = "a_rank_killed_in_a_comparison_is_named_and_what_was_measured_is_kept";
    let Some(scratch) = with_targets(test, &OPEN_MPI) else {
        return;
    };
    check_kept(&scratch, &compare_args());
    // The next comparison is whole.
    let again = ["compare", "one", "other", "--rounds", "1", "--quiet"];
    let args = [&again[..], LOAD.as_flattened(), &["--reserve", "0"]].concat();
    let ended = finish(ranks(&scratch, &OPEN_MPI, 2, &args));
    ended.check(&args, 0, "Saved as run 2");
}

#[test]
fn a_rank_killed_in_a_study_is_named_and_what_was_measured_is_kept() {
    let test = "a_rank_killed_in_a_study_is_named_and_what_was_measured_is_kept";
    let Some(scratch) = with_targets(test, &OPEN_MPI) else {
        return;
    };
    check_kept(&scratch, &["study", "study.toml"]);
}

#[test]
fn what_a_killed_comparison_left_on_all_ranks_is_cleaned() {
    let test = "what_a_killed_comparison_left_on_all_ranks_is_cleaned";
    let Some(scratch) = with_targets(test, &MPICH) else {
        return;
    };
    check_ended(&scratch, &compare_args());
}

#[test]
fn what_a_killed_study_left_on_all_ranks_is_cleaned() {
    let test = "what_a_killed_study_left_on_all_ranks_is_cleaned";
    let Some(scratch) = with_targets(test, &MPICH) else {
        return;
    };
    check_ended(&scratch, &["study", "study.toml"]);
}
