//! Ranks that freeze, die, or cannot do what the others can.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use known_storage::{Arrival, Behaviour, KnownStorage, KnownSubmission};

use crate::support::ranks::{
    Library, MPICH, OPEN_MPI, assert_given_up, json, launcher, process_of, ranks, rows, with_shim,
};
use crate::support::tables;
use crate::support::{Ended, PROGRAM, Running, Scratch, finish, leftovers, skipped};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// For how long a rank is frozen: no wait for anything, but the fault itself.
const FREEZE: Duration = Duration::from_secs(2);

/// Wait until every thread of a process stands still: on a busy machine some go on for a while
/// after the signal.
fn await_stop(process: Pid) {
    let threads = format!("/proc/{}/task", process.as_raw_nonzero());
    let stands = |thread: &Path| {
        let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
        status.contains("State:\tT")
    };
    loop {
        let all = fs::read_dir(&threads).expect("threads");
        let mut all = all.filter_map(|entry| Some(entry.ok()?.path()));
        if all.all(|it| stands(&it)) {
            return;
        }
        std::thread::yield_now();
    }
}

/// A trial that something else ends, and that leaves the processors to others.
const LONG: [&str; 4] = ["--duration", "100s", "--think", "10ms"];

fn start(scratch: &Scratch, mut command: Command, load: &[&str]) -> Running {
    scratch.target();
    command.args(["trial", "target", "--size", "4MiB", "--clients", "6"]);
    command.args(["--reserve", "0", "--json", "run.json"]);
    command.args(load);
    let mut running = Running::start(command);
    running.wait_for("random read 4 KiB");
    running
}

/// The freeze is that host's latency and no one else's, its own program is blamed for it, and the
/// run is whole.
#[test]
fn a_frozen_rank_shows_in_its_row() {
    let test = "a_frozen_rank_shows_in_its_row";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let command = launcher(&scratch, &MPICH, &["-n", "3", PROGRAM]);
    let running = start(&scratch, command, &["--duration", "5s"]);
    let rank = process_of(&scratch, 1);
    // It has begun when its first operation is done, which takes less than this.
    std::thread::sleep(FREEZE / 2);
    kill_process(rank, Signal::STOP).expect("a signal");
    await_stop(rank);
    std::thread::sleep(FREEZE);
    kill_process(rank, Signal::CONT).expect("a signal");
    let ended = running.end();
    ended.check(&["a frozen rank"], 3, "Saved as run 1");
    assert!(!ended.stdout.contains("PARTIAL"), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let longest: Vec<u64> = rows(&run)
        .iter()
        .map(|row| row["response"]["max_ns"].as_u64().expect("a time"))
        .collect();
    let [all, first, frozen, last] = longest[..] else {
        panic!("{longest:?}");
    };
    assert!(u128::from(frozen) >= FREEZE.as_nanos(), "{longest:?}");
    assert!(
        all == frozen && first < frozen && last < frozen,
        "{longest:?}"
    );
    // The sum has that time in it, too.
    let of_sum = rows(&run)[0]["warnings"].to_string();
    assert!(of_sum.contains("invalid on 1 of 3 ranks"), "{of_sum}");
    let said = rows(&run)[2]["warnings"].to_string();
    let still = said.split_once("was paused for ");
    let still = still.and_then(|(_, rest)| rest.split_once(" s")?.0.parse::<f64>().ok());
    // The thread that watches looks every few milliseconds, and is late on a busy machine.
    let frozen = FREEZE.as_secs_f64();
    assert!(
        said.contains("rank 1 on ") && still.is_some_and(|still| still > 0.9 * frozen),
        "{said}"
    );
    scratch.assert_clean(&scratch.path("target"));
}

/// Bug: a rank for which the storage had done nothing by the end of a short trial ended the trial
/// of all ranks with an error.
#[test]
fn a_rank_that_completes_nothing_is_a_row_of_the_result() {
    const TAKES: Duration = Duration::from_secs(2);
    let test = "a_rank_that_completes_nothing_is_a_row_of_the_result";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let mounted_on = scratch.path("known");
    fs::create_dir(&mounted_on).expect("a directory");
    // One operation at a time: whoever comes second waits until the trial is over.
    let mut free_at = Duration::ZERO;
    let law = move |it: &Arrival| {
        free_at = free_at.max(it.at) + TAKES;
        free_at - it.at
    };
    let behaviour = Behaviour {
        size: 64 << 20,
        submission: KnownSubmission::Returns,
        law: Box::new(law),
    };
    let storage = match KnownStorage::mount(&mounted_on, behaviour) {
        Ok(storage) => storage,
        Err(error) => return skipped(test, &format!("FUSE cannot be used here ({error})")),
    };
    let file = storage.file().to_str().expect("a plain path");
    let args = ["trial", file, "--shared", "--clients", "2", "--duration"];
    let more = ["3s", "--quiet", "--no-save", "--json", "run.json"];
    let ended = finish(ranks(&scratch, &MPICH, 2, &[&args[..], &more].concat()));
    assert!(ended.error().is_empty(), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let [sum, ranks @ ..] = rows(&run) else {
        panic!("{run}");
    };
    let done = |row: &Value| row["completions_all"].as_u64().expect("a count");
    assert_eq!((ranks.len(), done(sum)), (2, 1), "{run}");
    let silent: Vec<&Value> = ranks.iter().filter(|row| done(row) == 0).collect();
    let severity = |row: &Value| {
        let warnings = row["warnings"].as_array().expect("warnings").iter();
        let mut of_silence = warnings.filter(|it| it["code"] == "no-operation");
        Some(of_silence.next()?["severity"].clone())
    };
    assert_eq!(severity(silent[0]), Some("invalid".into()), "{run}");
    assert_eq!(severity(sum), Some("warning".into()), "{run}");
}

/// Open MPI's launcher lets the others go on where it is asked to recover.
#[test]
fn a_killed_rank_is_named_and_what_was_measured_is_kept() {
    let test = "a_killed_rank_is_named_and_what_was_measured_is_kept";
    let Some(scratch) = with_shim(test, &OPEN_MPI) else {
        return;
    };
    let options = ["--enable-recovery", "-n", "3", PROGRAM];
    let command = launcher(&scratch, &OPEN_MPI, &options);
    let running = start(&scratch, command, &LONG);
    kill_process(process_of(&scratch, 1), Signal::KILL).expect("a signal");
    let ended = running.end();
    let silent = "rank 1 on ";
    assert!(ended.error().contains(silent), "{ended:?}");
    assert_given_up(ended.error());
    assert!(ended.stdout.contains("PARTIAL"), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let names: Vec<&str> = rows(&run)
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, ["trial", "rank-0", "rank-2"]);
    check_cleaned(&scratch, 1);
}

/// The others waited for the start for ever, as they heard only that rank 0 was alive, and rank 0
/// waited for them to part.
#[track_caller]
fn check_stopped_before_the_start(test: &str, library: &Library) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    scratch.target();
    let mut command = launcher(&scratch, library, &["-n", "3", PROGRAM]);
    command.args(["trial", "target", "--size", "64MiB", "--clients", "3"]);
    command.args(["--reserve", "0", "--duration", "100s"]);
    let mut running = Running::start(command);
    // Before the trial test files are written.
    running.wait_for("writing");
    kill_process(process_of(&scratch, 1), Signal::STOP).expect("a signal");
    let ended = running.end();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.error().contains("rank 1 on "), "{ended:?}");
    assert_given_up(ended.error());
}

#[test]
fn a_rank_that_stops_before_the_start_ends_all_under_mpich() {
    let test = "a_rank_that_stops_before_the_start_ends_all_under_mpich";
    check_stopped_before_the_start(test, &MPICH);
}

#[test]
fn a_rank_that_stops_before_the_start_ends_all_under_open_mpi() {
    let test = "a_rank_that_stops_before_the_start_ends_all_under_open_mpi";
    check_stopped_before_the_start(test, &OPEN_MPI);
}

/// MPICH's launcher ends all ranks with the one that was killed.
#[test]
fn what_killed_ranks_left_is_cleaned() {
    let test = "what_killed_ranks_left_is_cleaned";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let command = launcher(&scratch, &MPICH, &["-n", "3", PROGRAM]);
    let running = start(&scratch, command, &LONG);
    kill_process(process_of(&scratch, 2), Signal::KILL).expect("a signal");
    let ended = running.end();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    check_cleaned(&scratch, 3);
}

/// What so many ranks left is named and removed.
#[track_caller]
fn check_cleaned(scratch: &Scratch, count: usize) {
    let target = scratch.path("target");
    assert_eq!(leftovers(&target).len(), count);
    let clean = ["clean", "target", "--yes"];
    let cleaned = scratch.check(&clean, 0, "A killed run (process ");
    assert!(cleaned.stdout.contains("Removed ") || cleaned.stderr.contains("Removed "));
    scratch.assert_clean(&target);
}

#[track_caller]
fn check_interrupted(test: &str, library: &Library, by: &str) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    let mut command = launcher(&scratch, library, &["-n", "3", PROGRAM]);
    // Open MPI kills ranks a second after Ctrl-C, in which a busy machine does not end them in
    // order (docs/fleet.md, "When a rank dies"). It waits that long each time, twice.
    command.env("OMPI_MCA_odls_base_sigkill_timeout", "5");
    let running = start(&scratch, command, &LONG);
    running.signal(Signal::INT);
    let ended = running.end();
    check_code(library, &ended);
    // On a busy machine a rank may have had no answer yet when the signal came.
    let nothing = format!("error: stopped by {by} before anything was measured. Nothing was saved");
    if ended.error() != nothing {
        // Open MPI's launcher loses what ranks say last where it is slow itself.
        let expected = format!("error: stopped by {by}. What was measured before is above");
        assert!([&expected, ""].contains(&ended.error()), "{ended:?}");
        let told = format!("stopped by {by}.");
        assert!(ended.stdout.contains(&told), "{ended:?}");
    }
    scratch.assert_clean(&scratch.path("target"));
}

/// Every rank ends with 1. After Ctrl-C MPICH's launcher ends with 0 in half of the runs.
#[track_caller]
fn check_code(library: &Library, ended: &Ended) {
    let codes = match library.mpirun == MPICH.mpirun {
        true => &[Some(1), Some(0)][..],
        false => &[Some(1)],
    };
    assert!(codes.contains(&ended.code), "{ended:?}");
}

#[test]
fn ctrl_c_ends_all_ranks_in_order_under_mpich() {
    let test = "ctrl_c_ends_all_ranks_in_order_under_mpich";
    check_interrupted(test, &MPICH, "SIGINT");
}

/// Open MPI's launcher passes another signal on.
#[test]
fn ctrl_c_ends_all_ranks_in_order_under_open_mpi() {
    let test = "ctrl_c_ends_all_ranks_in_order_under_open_mpi";
    check_interrupted(test, &OPEN_MPI, "SIGTERM");
}

/// The signal was once that of "rank 0 on" its host, as nowhere else.
#[test]
fn ctrl_c_in_file_tests_names_no_rank() {
    let Some(scratch) = with_shim("ctrl_c_in_file_tests_names_no_rank", &MPICH) else {
        return;
    };
    scratch.target();
    let args = [
        "files",
        "target",
        "--workload",
        "metadata",
        "--clients",
        "2",
        "--files",
        "200",
    ];
    let args = [&args[..], &["--budget", "100s", "--reserve", "0"]].concat();
    let mut running = Running::start(ranks(&scratch, &MPICH, 2, &args));
    running.wait_for("round 2 of the tests");
    running.signal(Signal::INT);
    let ended = running.end();
    let expected = "error: stopped by SIGINT. What was measured before is above";
    assert_eq!(ended.error(), expected, "{ended:?}");
    assert!(
        ended.stdout.contains("PARTIAL stopped by SIGINT."),
        "{ended:?}"
    );
    check_code(&MPICH, &ended);
    scratch.assert_clean(&scratch.path("target"));
}

/// The target of rank 1 is a file system of 4 MiB, that of rank 0 one of 64 MiB.
#[test]
fn a_host_whose_disk_is_full_is_named() {
    let test = "a_host_whose_disk_is_full_is_named";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let target = scratch.target();
    let mount = "unshare -m mount -t tmpfs none target";
    let can_mount = finish({
        let mut command = Command::new("sh");
        command.args(["-c", mount]);
        scratch.settle(&mut command);
        command
    });
    if can_mount.code != Some(0) {
        skipped(test, "no mount namespace can be made");
        return;
    }
    let script = "[ $PMI_RANK = 1 ] && size=4M || size=64M\n\
                  exec unshare -m sh -c 'mount -t tmpfs -o size='$size' none target && \
                  exec \"$0\" \"$@\"' \"$0\" \"$@\"";
    let command = |more: &[&str]| {
        let mut command = launcher(&scratch, &MPICH, &["-n", "2", "sh", "-c", script, PROGRAM]);
        let args = ["trial", "target", "--clients", "2", "--duration", "1s"];
        command.args(args).args(more);
        finish(command)
    };
    let ended: Ended = command(&["--size", "16MiB", "--reserve", "1MiB"]);
    ended.check(&["a full disk"], 2, "rank 1 on ");
    let expected = "target has no space for 16 MiB: 4 MiB are free";
    assert!(ended.error().contains(expected), "{ended:?}");
    scratch.assert_clean(&target);
}

/// Ranks with different files have different command lines; one would be shown for both.
#[test]
fn ranks_with_different_files_are_named() {
    let test = "ranks_with_different_files_are_named";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    for name in ["one", "other"] {
        fs::write(scratch.path(name), vec![1; 4 << 20]).expect("a file");
    }
    let mut command = ranks(&scratch, &MPICH, 1, &["trial", "one", "--clients", "2"]);
    command.args([":", "-n", "1", PROGRAM, "trial", "other", "--clients", "2"]);
    let ended = finish(command);
    let expected = "rank 1: the command line is `trial other --clients 2` here, and `trial one";
    ended.check(&["two files"], 2, expected);
}

/// Files up to a wall, in rounds: what was measured in the first is a result.
const WALLED: [&str; 18] = [
    "files",
    "target",
    "--workload",
    "metadata",
    "--layout",
    "easy",
    "--state",
    "as-is",
    "--memory",
    "none",
    "--reserve",
    "0",
    "--stonewall",
    "200ms",
    "--passes",
    "500",
    "--json",
    "run.json",
];

/// A run of files up to a wall that is in its second round.
fn walled(scratch: &Scratch, mut command: Command) -> Running {
    scratch.target();
    command.args(WALLED);
    command.args(["--clients", "3", "--files", "300000"]);
    let mut running = Running::start(command);
    running.wait_for("round 2 of the tests");
    running
}

/// What the first round found is kept, and the rank is named.
#[track_caller]
fn check_partial_files(scratch: &Scratch, ended: &Ended, expected: &str) {
    assert!(ended.error().contains("rank 1 on "), "{ended:?}");
    assert!(ended.error().contains(expected), "{ended:?}");
    assert!(ended.stdout.contains("PARTIAL"), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let tests = tables::rows(&run, "files");
    let passes = |test: &Value| test["replicates"].as_array().map_or(0, Vec::len);
    assert!(tests.into_iter().any(|test| passes(test) > 0), "{run}");
}

/// Of what several hosts measure nothing goes on: what they left is removed, and a new run is
/// whole.
#[test]
fn a_walled_run_that_was_killed_is_cleaned_and_begun_anew() {
    let test = "a_walled_run_that_was_killed_is_cleaned_and_begun_anew";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let command = launcher(&scratch, &MPICH, &["-n", "3", PROGRAM]);
    let running = walled(&scratch, command);
    kill_process(process_of(&scratch, 0), Signal::KILL).expect("a signal");
    let ended = running.end();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    check_cleaned(&scratch, 3);
    let resumed = scratch.check(&["runs", "resume", "--list"], 0, "");
    assert!(!resumed.stdout.contains("files target"), "{resumed:?}");
    let again = [
        &WALLED[..14],
        &["--clients", "3", "--files", "300000", "--passes", "1"],
    ]
    .concat();
    let ended = finish(ranks(&scratch, &MPICH, 3, &again));
    ended.check(&again, 0, "At the stonewall");
    scratch.assert_clean(&scratch.path("target"));
}

/// The file system of rank 1 is filled by somebody else in the second round. Each rank has one of
/// its own, and lists in the end what it left there.
#[test]
fn a_rank_out_of_space_before_the_wall_is_named_and_what_was_measured_is_kept() {
    let test = "a_rank_out_of_space_before_the_wall_is_named_and_what_was_measured_is_kept";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    scratch.target();
    let mut can_mount = Command::new("sh");
    can_mount.args(["-c", "unshare -m mount -t tmpfs none target"]);
    scratch.settle(&mut can_mount);
    if finish(can_mount).code != Some(0) {
        skipped(test, "no mount namespace can be made");
        return;
    }
    // The one that fills waits until files of the first round have come and gone.
    let script = "exec unshare -m sh -c '
        mount -t tmpfs -o size=256M none target
        count() { find target -type f | wc -l; }
        [ $PMI_RANK = 0 ] || {
            until [ $(count) -gt 20 ]; do :; done
            until [ $(count) -lt 20 ]; do :; done
            cat /dev/zero > target/ballast 2> /dev/null
        } &
        \"$0\" \"$@\"; code=$?
        wait
        find target -mindepth 1 ! -name ballast > left-$PMI_RANK
        exit $code' \"$0\" \"$@\"";
    let mut command = launcher(&scratch, &MPICH, &["-n", "2", "sh", "-c", script, PROGRAM]);
    command.args(WALLED);
    command.args(["--clients", "2", "--files", "6000", "--file-size", "16KiB"]);
    let ended = finish(command);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    check_partial_files(&scratch, &ended, "No space left on device");
    for rank in 0..2 {
        let left = fs::read_to_string(scratch.path(&format!("left-{rank}")));
        assert_eq!(left.expect("a list"), "", "rank {rank}: {ended:?}");
    }
}

/// Rank 2 lives and is waiting for the others when rank 1 is gone.
#[test]
fn a_rank_killed_before_the_wall_is_named_and_what_was_measured_is_kept() {
    let test = "a_rank_killed_before_the_wall_is_named_and_what_was_measured_is_kept";
    let Some(scratch) = with_shim(test, &OPEN_MPI) else {
        return;
    };
    let options = ["--enable-recovery", "-n", "3", PROGRAM];
    let running = walled(&scratch, launcher(&scratch, &OPEN_MPI, &options));
    kill_process(process_of(&scratch, 1), Signal::KILL).expect("a signal");
    let ended = running.end();
    check_partial_files(&scratch, &ended, "has been silent for ");
    check_cleaned(&scratch, 1);
}

/// Jobs of fio have rows of the hosts that are left.
#[test]
fn a_rank_killed_in_jobs_is_named_and_what_was_measured_is_kept() {
    let test = "a_rank_killed_in_jobs_is_named_and_what_was_measured_is_kept";
    let Some(scratch) = with_shim(test, &OPEN_MPI) else {
        return;
    };
    scratch.target();
    let options = ["--enable-recovery", "-n", "3", PROGRAM];
    let mut command = launcher(&scratch, &OPEN_MPI, &options);
    command.args([
        "fio",
        "--name=look",
        "--rw=randread",
        "--size=4m",
        "--directory=target",
    ]);
    command.args([
        "--time_based",
        "--runtime=60",
        "--rate_iops=100",
        "--eta=always",
        "--reserve",
        "0",
        "--json",
        "run.json",
    ]);
    let mut running = Running::start(command);
    running.wait_for("look");
    kill_process(process_of(&scratch, 1), Signal::KILL).expect("a signal");
    let ended = running.end();
    assert!(ended.error().contains("rank 1 on "), "{ended:?}");
    assert_given_up(ended.error());
    assert!(ended.stdout.contains("<rank 2 on "), "{ended:?}");
    assert!(!ended.stdout.contains("<rank 1 on "), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let names: Vec<&str> = rows(&run)
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, ["look", "look-rank-0", "look-rank-2"]);
    check_cleaned(&scratch, 1);
}
