//! File tests on several ranks: files of each rank's own, passes of all together, one run.

use crate::support::ranks::{Library, MPICH, OPEN_MPI, json, ranks, with_shim, with_shim_in};
use crate::support::tables::{figure, notes, readings, row, rows};
use crate::support::{Scratch, finish};
use serde_json::Value;

const METADATA: [&str; 12] = [
    "files",
    "target",
    "--workload",
    "metadata",
    "--files",
    "240",
    "--passes",
    "2",
    "--state",
    "as-is",
    "--clients",
    "6",
];

fn metadata(scratch: &Scratch, library: &Library, count: u32) -> Value {
    let target = scratch.target();
    let options = [
        "--memory",
        "none",
        "--reserve",
        "0",
        "--quiet",
        "--no-save",
        "--json",
        "run.json",
    ];
    let args = [&METADATA[..], &options].concat();
    let ended = finish(ranks(scratch, library, count, &args));
    assert!(ended.error().is_empty(), "{count} ranks: {ended:?}");
    scratch.assert_clean(&target);
    json(&scratch.path("run.json"))
}

/// Phase, and the calls and bytes of each pass.
fn work(run: &Value) -> Vec<(String, Vec<(u64, u64)>)> {
    let tests = rows(run, "files").into_iter();
    let row = |row: &Value| {
        let passes = readings(row, "calls")
            .into_iter()
            .zip(readings(row, "bytes"));
        let passes = passes.map(|(calls, bytes)| (calls as u64, bytes as u64));
        (row["levels"][0].to_string(), passes.collect())
    };
    tests.map(row).collect()
}

/// How many of the two states were measured: a file system in memory has none that is cold.
fn states(run: &Value) -> usize {
    let warnings = run["warnings"].to_string();
    2 - usize::from(warnings.contains("States left out: cold"))
}

fn check_same_work(test: &str, library: &Library) {
    let Some(scratch) = with_shim_in(test, library, Scratch::in_memory) else {
        return;
    };
    let alone = metadata(&scratch, library, 1);
    let together = metadata(&scratch, library, 3);
    assert_eq!(work(&alone), work(&together));
    assert!(work(&alone).len() >= 9, "{alone}");
    assert_eq!(figure(rows(&together, "files")[0], "clients"), 6.0);
    let said = together["warnings"].to_string();
    assert!(said.contains("1 host, 3 ranks: rank "), "{said}");
    assert!(!alone["warnings"].to_string().contains("ranks"));
}

#[test]
fn three_ranks_make_the_files_that_one_would_under_mpich() {
    check_same_work(
        "three_ranks_make_the_files_that_one_would_under_mpich",
        &MPICH,
    );
}

#[test]
fn three_ranks_make_the_files_that_one_would_under_open_mpi() {
    let test = "three_ranks_make_the_files_that_one_would_under_open_mpi";
    check_same_work(test, &OPEN_MPI);
}

/// In one directory of all ranks, and in directories of their own, each reads what a client of
/// another rank made; whatever is read is compared with what that one must have written.
fn check_files_of_others(test: &str, library: &Library, layouts: &[(&str, usize)]) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    let target = scratch.target();
    for &(layout, phases) in layouts {
        let args = [
            "files",
            "target",
            "--workload",
            "metadata",
            "--layout",
            layout,
            "--reorder",
            "--files",
            "120",
            "--clients",
            "6",
            "--passes",
            "2",
            "--state",
            "as-is,cold",
            "--reserve",
            "0",
            "--quiet",
            "--no-save",
            "--json",
            "run.json",
        ];
        let ended = finish(ranks(&scratch, library, 3, &args));
        assert!(ended.error().is_empty(), "{layout}: {ended:?}");
        scratch.assert_clean(&target);
        let run = json(&scratch.path("run.json"));
        assert_eq!(work(&run).len(), states(&run) * phases, "{layout}: {run}");
        let others = "read by another client than their maker";
        assert!(notes(&run, "files").contains(others), "{layout}");
        let hosts = rows(&run, "files-hosts");
        let of_hosts: f64 = hosts.iter().map(|row| figure(row, "calls")).sum();
        let tests = rows(&run, "files").into_iter();
        let passes: f64 = tests.flat_map(|row| readings(row, "calls")).sum();
        assert_eq!((hosts.len(), of_hosts), (3, passes), "{layout}");
    }
}

#[test]
fn ranks_read_each_others_files_under_mpich() {
    let layouts = [("hard", 7), ("easy", 6)];
    check_files_of_others("ranks_read_each_others_files_under_mpich", &MPICH, &layouts);
}

#[test]
fn ranks_read_each_others_files_under_open_mpi() {
    let test = "ranks_read_each_others_files_under_open_mpi";
    check_files_of_others(test, &OPEN_MPI, &[("tree", 9)]);
}

#[test]
fn decus_tests_are_one_run_of_two_ranks() {
    let test = "decus_tests_are_one_run_of_two_ranks";
    let Some(scratch) = with_shim_in(test, &MPICH, Scratch::in_memory) else {
        return;
    };
    let target = scratch.target();
    let args = [
        "files",
        "target",
        "--tests",
        "1,4",
        "--passes",
        "2",
        "--clients",
        "2",
    ];
    let args = [&args[..], &["--reserve", "0", "--quiet"]].concat();
    let ended = finish(ranks(&scratch, &MPICH, 2, &args));
    ended.check(&args, 0, "Saved as run 1");
    scratch.assert_clean(&target);
}

/// What cannot be done is said before any file is made, once, and by rank 0.
#[test]
fn what_ranks_cannot_do_with_files_is_one_sentence() {
    let test = "what_ranks_cannot_do_with_files_is_one_sentence";
    let Some(scratch) = with_shim_in(test, &MPICH, Scratch::in_memory) else {
        return;
    };
    let target = scratch.target();
    std::fs::write(scratch.path("data"), vec![1; 4 << 20]).expect("a file");
    let check = |args: &[&str], expected: &str| {
        let ended = finish(ranks(&scratch, &MPICH, 2, args));
        ended.check(args, 2, expected);
        scratch.assert_clean(&target);
    };
    check(
        &["files", "target", "--clients", "1"],
        "--clients 1: each of 2 ranks needs at least one client",
    );
    let two = ["--clients", "2"];
    check(
        &[&["files", "data", "--tests", "11"], &two[..]].concat(),
        "is no directory: on several hosts files are made",
    );
    let memory = ["files", "target", "--memory", "/dev/shm"];
    check(
        &[&memory, &two[..]].concat(),
        "--memory compares one host with its memory",
    );
    let device = ["files", "target", "--device", "data"];
    check(
        &[&device, &two[..]].concat(),
        "--device works on one host. Leave it out, or start one rank",
    );
    let uneven = [
        "files",
        "target",
        "--workload",
        "metadata",
        "--reorder",
        "--clients",
        "3",
    ];
    check(
        &uneven,
        "with --reorder all 2 ranks have the same number of clients",
    );
    let sim = ["files", "sim:rt11"];
    check(&[&sim[..], &two].concat(), "sim:rt11 is simulated");
}

/// All six clients caught up with the furthest after 60 ms.
#[track_caller]
fn check_walled(create: &Value) {
    let of = |name: &str| readings(create, name);
    let [most, least] = ["stonewall-most", "stonewall-least"].map(of);
    let caught_up: Vec<f64> = most.iter().map(|most| 6.0 * most).collect();
    assert_eq!(of("items"), caught_up, "all caught up with the furthest");
    let mut ends = least.iter().zip(&most);
    assert!(ends.all(|(least, most)| least <= most && *most > 0.0));
    let items = of("stonewall-items");
    assert!(
        items
            .iter()
            .zip(&caught_up)
            .all(|(items, all)| items <= all)
    );
    let [wall, whole] = ["stonewall-elapsed", "elapsed"].map(of);
    let mut times = wall.iter().zip(&whole);
    assert!(times.all(|(wall, whole)| (0.06..=*whole).contains(wall)));
    assert_eq!([most.len(), items.len(), wall.len()], [whole.len(); 3]);
    assert!(figure(create, "stonewall-files-per-second") > 0.0);
}

/// Every client makes files for 60 ms, then all of all ranks go on to as many as the furthest made;
/// what comes after finds exactly those.
fn check_stonewall(test: &str, library: &Library, layout: &str) {
    let Some(scratch) = with_shim_in(test, library, Scratch::in_memory) else {
        return;
    };
    let target = scratch.target();
    let args = [
        "files",
        "target",
        "--workload",
        "metadata",
        "--layout",
        layout,
        "--reorder",
        "--stonewall",
        "60ms",
        "--files",
        "600000",
        "--clients",
        "6",
        "--passes",
        "2",
        "--state",
        "as-is",
        "--reserve",
        "0",
        "--quiet",
        "--no-save",
        "--json",
        "run.json",
    ];
    let ended = finish(ranks(&scratch, library, 3, &args));
    assert!(ended.error().is_empty(), "{layout}: {ended:?}");
    scratch.assert_clean(&target);
    let run = json(&scratch.path("run.json"));
    let wall = notes(&run, "files-stonewall");
    assert!(
        wall.contains("when clients stopped after 60.0 ms"),
        "{wall}"
    );
    let create = row(&run, "files", &["create"]);
    check_walled(create);
    for name in ["stat", "open", "rename", "remove"] {
        let row = row(&run, "files", &[name]);
        let items = readings(row, "items");
        let made = readings(create, "items");
        assert_eq!(items, made, "{layout}: {name} covers what exists");
    }
}

#[test]
fn ranks_go_on_to_what_the_furthest_made_under_mpich() {
    let test = "ranks_go_on_to_what_the_furthest_made_under_mpich";
    check_stonewall(test, &MPICH, "easy");
}

#[test]
fn ranks_go_on_to_what_the_furthest_made_under_open_mpi() {
    let test = "ranks_go_on_to_what_the_furthest_made_under_open_mpi";
    check_stonewall(test, &OPEN_MPI, "hard");
}

/// What each rank wrote, to files of its own or to one of all, another rank reads, and every byte
/// is compared; with a stonewall all write as much as the furthest.
fn check_bandwidth(test: &str, library: &Library, (layout, transfer): (&str, u64)) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    let target = scratch.target();
    for wall in [None, Some("30ms")] {
        let args = [
            "files",
            "target",
            "--workload",
            "bandwidth",
            "--layout",
            layout,
            "--reorder",
            "--clients",
            "6",
            "--passes",
            "2",
            "--state",
            "as-is,cold",
            "--reserve",
            "0",
            "--quiet",
            "--no-save",
            "--json",
            "run.json",
        ];
        let size = [
            "--file-size",
            if wall.is_some() { "256MiB" } else { "4MiB" },
        ];
        let wall: Vec<&str> = wall.iter().flat_map(|wall| ["--stonewall", wall]).collect();
        let args = [&args[..], &size, &wall].concat();
        let ended = finish(ranks(&scratch, library, 3, &args));
        assert!(ended.error().is_empty(), "{layout}: {ended:?}");
        scratch.assert_clean(&target);
        let run = json(&scratch.path("run.json"));
        let moved = work(&run);
        let names: Vec<&str> = moved.iter().map(|(name, _)| name.as_str()).collect();
        let expected = ["\"write\"", "\"read\""].repeat(states(&run));
        assert_eq!(names, expected, "{layout}");
        for pair in moved.chunks(2) {
            let (written, read) = (&pair[0].1, &pair[1].1);
            assert_eq!(written.len(), read.len());
            for ((_, written), (_, read)) in written.iter().zip(read) {
                assert_eq!(written, read, "{layout}: all that was written is read");
                assert_eq!(written % (6 * transfer), 0, "{layout}: by each as much");
                let whole = (4_u64 << 20) / transfer * 6 * transfer;
                assert!(!wall.is_empty() || *written == whole, "{layout}: {written}");
            }
        }
    }
}

#[test]
fn ranks_read_back_each_others_transfers_under_mpich() {
    let test = "ranks_read_back_each_others_transfers_under_mpich";
    check_bandwidth(test, &MPICH, ("easy", 2 << 20));
}

#[test]
fn ranks_read_back_each_others_transfers_under_open_mpi() {
    let test = "ranks_read_back_each_others_transfers_under_open_mpi";
    check_bandwidth(test, &OPEN_MPI, ("hard", 47_008));
}
