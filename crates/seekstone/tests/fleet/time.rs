//! Commands that several ranks run at once: the time of a run is that from the first start to the
//! last end, and each rank has a row.

use std::fs;
use std::path::Path;

use crate::support::ranks::{Library, MPICH, OPEN_MPI, json, process_of, ranks, with_shim};
use crate::support::tables::{figure, rows, word};
use crate::support::{Running, Scratch, finish};
use rustix::process::{Signal, kill_process};

/// What each rank runs: it notes that it did, and takes longer the higher its rank is.
const COMMAND: &str = "echo $SEEKSTONE_RANKS >> ran-$SEEKSTONE_RANK; sleep 0.$SEEKSTONE_RANK";

/// What was noted by a rank.
fn ran(scratch: &Scratch, rank: u32) -> String {
    fs::read_to_string(scratch.path(&format!("ran-{rank}"))).expect("a note")
}

#[track_caller]
fn check_rows(test: &str, library: &Library) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    let args = ["time", "--runs", "5", "--quiet", "--json", "run.json"];
    let args = [&args[..], &[COMMAND]].concat();
    let ended = finish(ranks(&scratch, library, 3, &args));
    ended.check(&args, 0, "Saved as run 1");
    let run = json(&scratch.path("run.json"));
    let hosts = rows(&run, "command-hosts");
    assert_eq!(hosts.len(), 3, "{hosts:?}");
    let command = rows(&run, "commands")[0];
    assert_eq!(command["replicates"].as_array().map(Vec::len), Some(5));
    for (rank, host) in (0..).zip(&hosts) {
        assert_eq!(host["levels"][1], rank.to_string());
        assert_eq!(figure(host, "runs"), 5.0);
        assert!(!word(host, "host").is_empty());
        assert!(figure(host, "elapsed") >= 0.1 * f64::from(rank), "{host}");
        // The warm-up, and what counts.
        assert_eq!(ran(&scratch, rank), "3\n".repeat(6));
    }
    // Whichever rank is last, it is waited for.
    let longest = hosts.iter().map(|it| figure(it, "elapsed"));
    let longest = longest.fold(0.0, f64::max);
    let mean = figure(command, "elapsed");
    assert!(mean >= longest - 1e-6, "{mean} s, {longest} s");
    let last: f64 = hosts.iter().map(|it| figure(it, "last-in")).sum();
    assert!(last >= 5.0, "{hosts:?}");
    let said = run["warnings"].to_string();
    assert!(said.contains("1 host, 3 ranks: "), "{said}");
    assert!(said.contains("apart on average"), "{said}");
}

#[test]
fn commands_of_three_ranks_are_one_time_under_mpich() {
    check_rows("commands_of_three_ranks_are_one_time_under_mpich", &MPICH);
}

#[test]
fn commands_of_three_ranks_are_one_time_under_open_mpi() {
    check_rows(
        "commands_of_three_ranks_are_one_time_under_open_mpi",
        &OPEN_MPI,
    );
}

/// One rank cannot: it is named, all stop, and no rank starts another round.
#[test]
fn a_command_that_fails_on_one_rank_is_named_with_it() {
    let test = "a_command_that_fails_on_one_rank_is_named_with_it";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let check = |command: &str, code, expected: &str| {
        let args = ["time", "--runs", "5", "--warm-ups", "0", "--quiet", command];
        let ended = finish(ranks(&scratch, &MPICH, 3, &args));
        ended.check(&args, code, expected);
        ended
    };
    let ended = check(
        "echo x >> ran-$SEEKSTONE_RANK; [ $SEEKSTONE_RANK != 1 ]",
        1,
        "rank 1 on ",
    );
    assert!(
        ended.error().contains("failed: exit status: 1"),
        "{ended:?}"
    );
    for rank in 0..3 {
        assert_eq!(ran(&scratch, rank), "x\n");
    }
    check("[ $SEEKSTONE_RANK != 0 ]", 1, "failed: exit status: 1");
}

/// A launcher kills ranks, and knows nothing of what they started: it went on.
#[test]
fn what_killed_ranks_ran_ends_with_them() {
    let test = "what_killed_ranks_ran_ends_with_them";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let command = "echo $$ > new-$SEEKSTONE_RANK; mv new-$SEEKSTONE_RANK pid-$SEEKSTONE_RANK; \
                   sleep 20; echo x > done-$SEEKSTONE_RANK";
    let args = ["time", "--runs", "1", "--warm-ups", "0", "--quiet", command];
    let running = Running::start(ranks(&scratch, &MPICH, 2, &args));
    let shells = [0, 1].map(|rank| {
        loop {
            if let Ok(number) = fs::read_to_string(scratch.path(&format!("pid-{rank}"))) {
                break number.trim().to_owned();
            }
            std::thread::yield_now();
        }
    });
    kill_process(process_of(&scratch, 1), Signal::KILL).expect("a signal");
    assert_ne!(running.end().code, Some(0));
    for (rank, shell) in (0..).zip(shells) {
        let status = Path::new("/proc").join(&shell).join("status");
        // Nobody may have asked yet how it ended.
        let runs = || fs::read_to_string(&status).is_ok_and(|it| !it.contains("State:\tZ"));
        while runs() {
            std::thread::yield_now();
        }
        assert!(!scratch.path(&format!("done-{rank}")).exists(), "{rank}");
    }
}
