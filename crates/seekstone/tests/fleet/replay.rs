//! A trace that several ranks replay: all together they ask for what it has, each request once and
//! at its time, whatever their number.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::support::ranks::{
    Library, MPICH, OPEN_MPI, assert_given_up, json, launcher, process_of, ranks, rows, with_shim,
};
use crate::support::tables::{self, figure, row};
use crate::support::{PROGRAM, Running, Scratch, finish, leftovers};
use rustix::process::{Signal, kill_process};
use serde_json::Value;

const BLOCK: u64 = 4096;
/// Blocks of a target of 4 MiB.
const BLOCKS: u64 = 1024;
/// Requests of the trace below: one each half millisecond.
const REQUESTS: u64 = 240;

/// A trace that writes every third block of a file and reads others, dealt to so many devices.
fn write_trace(scratch: &Scratch, devices: u64) {
    let mut text = String::new();
    for at in 0..REQUESTS {
        let (op, block) = match at % 2 {
            0 => ("W", at * 3 / 2),
            _ => ("R", BLOCKS - at),
        };
        let offset = block * BLOCK;
        writeln!(text, "{},{op},{offset},{BLOCK},{}", at % devices, at * 500).expect("a text");
    }
    fs::write(scratch.path("trace"), text).expect("a file");
}

/// The run of so many ranks.
#[track_caller]
fn replay(scratch: &Scratch, library: &Library, count: u32, args: &[&str]) -> Value {
    let always = ["--quiet", "--no-save", "--seed", "7", "--json", "run.json"];
    let args = [&["replay", "trace"], args, &always].concat();
    let ended = finish(ranks(scratch, library, count, &args));
    assert!(ended.error().is_empty(), "{count} ranks: {ended:?}");
    json(&scratch.path("run.json"))
}

fn count(value: &Value) -> u64 {
    let count = value.as_u64();
    count.unwrap_or_else(|| panic!("a count was expected, not {value}"))
}

/// Counts of a run that must not depend on the number of ranks.
fn counts(run: &Value) -> Vec<u64> {
    let found = row(run, "replay", &[]);
    let keys = ["recorded", "requests", "bytes", "moved", "left-out"];
    let mut counts: Vec<u64> = keys.iter().map(|key| figure(found, key) as u64).collect();
    counts.push((figure(found, "trace-length") * 1e9).round() as u64);
    for kind in ["read", "write"] {
        let kinds = rows(run)[0]["kinds"].as_array().expect("kinds");
        let of_kind = kinds.iter().find(|it| it["kind"] == kind).expect(kind);
        counts.extend(["count", "bytes"].map(|key| count(&of_kind[key])));
    }
    counts
}

/// What hosts did adds up to the whole.
#[track_caller]
fn check_hosts(run: &Value, ranks: u64, dealt: &str) {
    let found = row(run, "replay", &[]);
    let tables = run["tables"].to_string();
    let said = format!("{dealt} of the trace were dealt to ranks in turn.");
    assert!(tables.contains(&said), "{tables}");
    let hosts = tables::rows(run, "replay-hosts");
    let numbers: Vec<String> = (0..ranks).map(|it| it.to_string()).collect();
    assert!(hosts.iter().map(|it| &it["levels"][0]).eq(&numbers));
    for key in ["requests", "bytes"] {
        let sum: f64 = hosts.iter().map(|it| figure(it, key)).sum();
        assert_eq!(sum, figure(found, key), "{key}");
    }
    let longest = hosts.iter().map(|it| figure(it, "behind-longest"));
    assert_eq!(longest.fold(0.0, f64::max), figure(found, "behind-longest"));
    let names: Vec<&str> = rows(run)
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    let of_ranks = (0..ranks).map(|rank| format!("replay-rank-{rank}"));
    let expected: Vec<String> = std::iter::once("replay".to_owned())
        .chain(of_ranks)
        .collect();
    assert_eq!(names, expected);
}

/// On one file that is shared the very blocks are written that the trace has.
#[track_caller]
fn check_same_operations(test: &str, library: &Library) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    write_trace(&scratch, 1);
    let args = ["data", "--shared", "--overwrite", "--buffered"];
    let mut found = Vec::new();
    for ranks in [1, 2, 4] {
        fs::write(scratch.path("data"), vec![0; (BLOCKS * BLOCK) as usize]).expect("a file");
        let run = replay(&scratch, library, ranks, &args);
        let content = fs::read(scratch.path("data")).expect("the file");
        let blocks = (0..).zip(content.chunks(BLOCK as usize));
        let written = blocks.filter(|(_, block)| block.iter().any(|byte| *byte != 0));
        let written: Vec<u64> = written.map(|(at, _)| at).collect();
        let expected: Vec<u64> = (0..REQUESTS / 2).map(|at| at * 3).collect();
        assert_eq!(written, expected, "{ranks} ranks");
        // From the first due time to the last.
        let length = figure(row(&run, "replay", &[]), "trace-length") * 1e9;
        assert_eq!(length.round() as u64, (REQUESTS - 1) * 500_000);
        if ranks > 1 {
            check_hosts(&run, ranks.into(), "Requests");
        }
        found.push(counts(&run));
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn all_ranks_together_ask_for_what_the_trace_has_under_mpich() {
    let test = "all_ranks_together_ask_for_what_the_trace_has_under_mpich";
    check_same_operations(test, &MPICH);
}

#[test]
fn all_ranks_together_ask_for_what_the_trace_has_under_open_mpi() {
    let test = "all_ranks_together_ask_for_what_the_trace_has_under_open_mpi";
    check_same_operations(test, &OPEN_MPI);
}

/// Five devices for two and four ranks: each has all requests of its own, in a test file that has
/// space for no others.
#[track_caller]
fn check_files(test: &str, library: &Library) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    let target = scratch.target();
    write_trace(&scratch, 5);
    let args = ["target", "--reserve", "0"];
    let alone = counts(&replay(&scratch, library, 1, &args));
    for (ranks, devices) in [(2, [3, 2, 0, 0]), (4, [2, 1, 1, 1])] {
        let run = replay(&scratch, library, ranks, &args);
        check_hosts(&run, ranks.into(), "Files");
        assert_eq!(counts(&run), alone, "{ranks} ranks");
        for (host, devices) in tables::rows(&run, "replay-hosts").into_iter().zip(devices) {
            let requests = (devices * REQUESTS / 5) as f64;
            assert_eq!(figure(host, "requests"), requests, "{host}");
        }
        scratch.assert_clean(&target);
    }
    let fast = [
        "target",
        "--reserve",
        "0",
        "--as-fast-as-possible",
        "--depth",
        "6",
    ];
    let run = replay(&scratch, library, 4, &fast);
    assert_eq!(
        figure(row(&run, "replay", &[]), "requests"),
        REQUESTS as f64
    );
    let first = row(&run, "replay-hosts", &["0"]);
    assert!(tables::estimate(first, "behind").is_none(), "{first}");
}

#[test]
fn files_of_a_trace_are_dealt_to_ranks_under_mpich() {
    check_files("files_of_a_trace_are_dealt_to_ranks_under_mpich", &MPICH);
}

#[test]
fn files_of_a_trace_are_dealt_to_ranks_under_open_mpi() {
    check_files(
        "files_of_a_trace_are_dealt_to_ranks_under_open_mpi",
        &OPEN_MPI,
    );
}

#[test]
fn what_ranks_cannot_replay_is_one_sentence() {
    let test = "what_ranks_cannot_replay_is_one_sentence";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let target = scratch.target();
    write_trace(&scratch, 2);
    fs::write(scratch.path("data"), vec![0; 4 << 20]).expect("a file");
    fs::write(scratch.path("short"), "1,W,0,4096,0\n").expect("a trace");
    let check = |args: &[&str], expected: &str| {
        let ended = finish(ranks(&scratch, &MPICH, 3, &[&["replay"], args].concat()));
        ended.check(args, 2, expected);
        assert!(!ended.error().contains('\n'), "one sentence: {ended:?}");
        scratch.assert_clean(&target);
    };
    check(
        &["trace", "target", "--as-fast-as-possible"],
        "3 ranks would have to share the requests of 2 files. Start at most 2 ranks",
    );
    check(
        &["trace", "target", "--depth", "2"],
        "--depth 2: each of 3 ranks needs at least one request",
    );
    check(
        &["short", "target"],
        "the trace has 1 request for 3 ranks: start at most as many ranks",
    );
    check(&["gone", "target"], "cannot read gone: No such file");
    check(
        &["trace", "data", "--overwrite"],
        "would use the same file or device. Add --shared",
    );
    check(
        &["trace", "data", "--shared"],
        "data is not written to without --overwrite",
    );
    check(
        &["trace", "data", "--shared", "--overwrite", "--size", "1MiB"],
        "the trace reaches to byte",
    );
    check(&["trace", "sim:nvme"], "sim:nvme is simulated");
}

/// Each rank reads its own file, and one of them has another request in it.
#[test]
fn another_trace_on_one_host_is_named_with_it() {
    let test = "another_trace_on_one_host_is_named_with_it";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let target = scratch.target();
    for (rank, last) in [(0, 4096), (1, 8192)] {
        let directory = scratch.path(&format!("host-{rank}"));
        fs::create_dir(&directory).expect("a directory");
        let text = format!("1,R,0,4096,0\n1,R,4096,4096,5\n1,R,{last},4096,9\n");
        fs::write(directory.join("trace"), text).expect("a trace");
    }
    let script = "cd host-$PMI_RANK && exec \"$0\" \"$@\"";
    let mut command = launcher(&scratch, &MPICH, &["-n", "2", "sh", "-c", script, PROGRAM]);
    command.args(["replay", "trace", "../target", "--no-save"]);
    let ended = finish(command);
    ended.check(&["two traces"], 2, "rank 1 on ");
    let expected = "the trace differs from that on rank 0 on ";
    assert!(ended.error().contains(expected), "{ended:?}");
    scratch.assert_clean(&target);
}

/// What the others replayed is a result, and who is missing is named.
#[test]
fn a_rank_killed_in_a_replay_is_named_and_what_was_measured_is_kept() {
    let test = "a_rank_killed_in_a_replay_is_named_and_what_was_measured_is_kept";
    let Some(scratch) = with_shim(test, &OPEN_MPI) else {
        return;
    };
    let target = scratch.target();
    let requests = (0..6000).map(|at| format!("1,R,{},4096,{}\n", at % 512 * 4096, at * 10_000));
    fs::write(scratch.path("trace"), requests.collect::<String>()).expect("a trace");
    let options = ["--enable-recovery", "-n", "3", PROGRAM];
    let mut command: Command = launcher(&scratch, &OPEN_MPI, &options);
    let args = [
        "replay",
        "trace",
        "target",
        "--reserve",
        "0",
        "--json",
        "run.json",
    ];
    command.args(args);
    let mut running = Running::start(command);
    // Not its plan, which says the word before.
    running.wait_for("] replay");
    kill_process(process_of(&scratch, 1), Signal::KILL).expect("a signal");
    let ended = running.end();
    assert!(ended.error().contains("rank 1 on "), "{ended:?}");
    assert_given_up(ended.error());
    assert!(ended.stdout.contains("PARTIAL"), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let hosts = tables::rows(&run, "replay-hosts").into_iter();
    assert!(hosts.map(|it| &it["levels"][0]).eq(["0", "2"]));
    assert_eq!(leftovers(&target).len(), 1);
    scratch.check(&["clean", "target", "--yes"], 0, "Removed ");
    scratch.assert_clean(&target);
}
