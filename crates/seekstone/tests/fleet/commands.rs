//! Commands whose trials several ranks run together: one report, counts that are sums of the
//! ranks'. In memory: no disk is too slow for their budgets.

use crate::support::ranks::{Library, MPICH, OPEN_MPI, json, ranks, with_shim_in};
use crate::support::tables::{self, figure};
use crate::support::{Scratch, finish};
use serde_json::Value;

/// The run of so many ranks of MPICH, which must leave nothing behind.
fn run_of(scratch: &Scratch, count: u32, args: &[&str]) -> Value {
    run_under(&MPICH, scratch, count, args)
}

fn run_under(library: &Library, scratch: &Scratch, count: u32, args: &[&str]) -> Value {
    let target = scratch.target();
    let options = [
        "--quiet",
        "--no-save",
        "--reserve",
        "0",
        "--json",
        "run.json",
    ];
    let args = [args, &options].concat();
    let ended = finish(ranks(scratch, library, count, &args));
    assert!(ended.error().is_empty(), "{count} ranks: {ended:?}");
    scratch.assert_clean(&target);
    json(&scratch.path("run.json"))
}

fn row<'a>(run: &'a Value, name: &str) -> &'a Value {
    let rows = run["measurements"].as_array().expect("measurements");
    let found = rows.iter().find(|row| row["name"] == name);
    found.unwrap_or_else(|| panic!("{name} in {run}"))
}

fn count(row: &Value, key: &str) -> u64 {
    row[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} in {row}"))
}

/// What a check-up of so many ranks wrote, each to a file of `size`. The pass that makes the files
/// is a row of all ranks together. Where it was over at once, all is written again for a whole row,
/// in which each rank has one of its own.
fn written(run: &Value, ranks: u64, size: u64) -> u64 {
    let rows = run["measurements"].as_array().expect("measurements");
    let is_of_rank = |row: &&Value| {
        let name = row["name"].as_str().expect("a name");
        name.starts_with("sequential-write-rank-")
    };
    let again: Vec<&Value> = rows.iter().filter(is_of_rank).collect();
    if again.is_empty() {
        return ranks * size;
    }
    again.iter().map(|row| count(row, "bytes_all")).sum()
}

/// Every phase is there: also those in which each rank makes, reads and removes as many files as it
/// can, so that their numbers differ.
#[test]
fn a_check_up_of_two_ranks_is_one_report() {
    let Some(scratch) = with_shim_in(
        "a_check_up_of_two_ranks_is_one_report",
        &MPICH,
        Scratch::in_memory,
    ) else {
        return;
    };
    let run = run_of(
        &scratch,
        2,
        &["run", "target", "--budget", "10s", "--size", "16MiB"],
    );
    assert_eq!(run["status"]["state"], "complete", "{}", run["status"]);
    for name in [
        "sequential-read",
        "random-read",
        "durable-write",
        "files-read",
        "files-remove",
    ] {
        let ranks = [0, 1].map(|rank| row(&run, &format!("{name}-rank-{rank}")));
        let sum: u64 = ranks.iter().map(|it| count(it, "completions_all")).sum();
        assert_eq!(count(row(&run, name), "completions_all"), sum, "{name}");
    }
    let clients = |name| count(row(&run, name), "clients");
    assert_eq!(clients("random-read"), 2);
    assert_eq!(clients("random-read-rank-1"), 1);
    assert_eq!(
        count(row(&run, "sequential-write"), "bytes_all"),
        written(&run, 2, 16 << 20)
    );
    assert!(
        run["curves"][0]["points"]
            .as_array()
            .is_some_and(|it| it.len() > 2)
    );
    let said = run["warnings"].to_string();
    assert!(said.contains("Queue depth is per rank"), "{said}");
}

/// Users leave after so many transactions: whoever is done first waits for the others.
#[test]
fn users_of_three_ranks_make_all_their_transactions() {
    let test = "users_of_three_ranks_make_all_their_transactions";
    let Some(scratch) = with_shim_in(test, &MPICH, Scratch::in_memory) else {
        return;
    };
    let args = [
        "transactions",
        "target",
        "--users",
        "7",
        "--transactions",
        "11",
    ];
    let args = [&args[..], &["--think", "2ms", "--size", "8MiB"]].concat();
    let run = run_of(&scratch, 3, &args);
    let load = tables::row(&run, "transactions", &["7", "all"]);
    assert_eq!(figure(load, "transactions"), 77.0, "{load}");
}

/// Cells of random access: depth is that of each rank.
#[test]
fn random_access_of_two_ranks_is_one_table() {
    let test = "random_access_of_two_ranks_is_one_table";
    let Some(scratch) = with_shim_in(test, &MPICH, Scratch::in_memory) else {
        return;
    };
    let args = [
        "random", "target", "--rounds", "2", "--budget", "4s", "--size", "8MiB",
    ];
    let args = [
        &args[..],
        &["--spans", "all", "--blocks", "4KiB", "--depths", "2"],
    ]
    .concat();
    let run = run_of(&scratch, 2, &args);
    let cells = tables::rows(&run, "random");
    assert_eq!(cells.len(), 2, "{cells:?}");
    let rows = run["measurements"].as_array().expect("measurements");
    assert!(
        rows.iter()
            .all(|it| it["clients"] == 4 && it["nominal_depth"] == 4)
    );
}

/// Rounds of an SSD's tests: each rank fills and writes a file of its own, and rates are sums. What
/// both wrote was once divided by the capacity of one, so that a plateau looked steady.
#[test]
fn steady_state_of_two_ranks_is_one_report() {
    let test = "steady_state_of_two_ranks_is_one_report";
    let Some(scratch) = with_shim_in(test, &MPICH, Scratch::in_memory) else {
        return;
    };
    let args = [
        "ssd", "target", "--quick", "--round", "300ms", "--rounds", "5",
    ];
    let args = [&args[..], &["--size", "16MiB", "--budget", "60s"]].concat();
    let run = run_of(&scratch, 2, &args);
    assert_eq!(tables::rows(&run, "ssd-rounds").len(), 5);
    // Each has filled its own 16 MiB.
    let test = tables::row(&run, "ssd", &["wsat"]);
    assert_eq!(figure(test, "size"), f64::from(32 << 20));
    assert_eq!(figure(test, "precondition"), f64::from(32 << 20));
    let first = tables::row(&run, "ssd-rounds", &["wsat", "1"]);
    assert!(figure(first, "written") > f64::from(32 << 20));
    let said = run["warnings"].to_string();
    assert!(said.contains("2 ranks, 5 trials: rank "), "{said}");
}

/// Workloads of the RAID Performance Test: the threads of batch workloads are those of the fleet,
/// also where there are fewer of them than ranks.
#[track_caller]
fn check_rab(test: &str, library: &Library) {
    let Some(scratch) = with_shim_in(test, library, Scratch::in_memory) else {
        return;
    };
    let args = ["rab", "target", "--size", "16MiB", "--budget", "3s"];
    let args = [&args[..], &["--workload", "archive,batch,transaction"]].concat();
    let run = run_under(library, &scratch, 2, &args);
    assert_eq!(run["status"]["state"], "complete", "{}", run["status"]);
    let clients = |name: &str| row(&run, name)["clients"].clone();
    assert_eq!([clients("archive"), clients("batch")], [1, 5]);
    let points = run["curves"][0]["points"].as_array();
    // A busy machine has no time for more.
    assert!(points.is_some_and(|it| it.len() >= 2), "{points:?}");
    let said = run["warnings"].to_string();
    assert!(said.contains("1 host, 2 ranks, "), "{said}");
}

#[test]
fn marks_of_two_ranks_are_those_of_one_system_under_mpich() {
    check_rab(
        "marks_of_two_ranks_are_those_of_one_system_under_mpich",
        &MPICH,
    );
}

#[test]
fn marks_of_two_ranks_are_those_of_one_system_under_open_mpi() {
    let test = "marks_of_two_ranks_are_those_of_one_system_under_open_mpi";
    check_rab(test, &OPEN_MPI);
}

/// A curve deals its clients, and has a row for each rank at its highest point.
#[test]
fn a_curve_of_three_ranks_names_its_hosts() {
    let test = "a_curve_of_three_ranks_names_its_hosts";
    let Some(scratch) = with_shim_in(test, &OPEN_MPI, Scratch::in_memory) else {
        return;
    };
    let target = scratch.target();
    let args = [
        "curve",
        "target",
        "--size",
        "16MiB",
        "--budget",
        "5s",
        "--quiet",
        "--no-save",
    ];
    let args = [&args[..], &["--reserve", "0", "--json", "run.json"]].concat();
    let ended = finish(ranks(&scratch, &OPEN_MPI, 3, &args));
    assert!(ended.error().is_empty(), "{ended:?}");
    scratch.assert_clean(&target);
    let run = json(&scratch.path("run.json"));
    let rows = run["measurements"].as_array().expect("measurements");
    let rows: Vec<&Value> = rows.iter().filter(|it| it["name"] != "trial").collect();
    let clients: u64 = rows.iter().map(|it| count(it, "clients")).sum();
    let title = rows[0]["title"].as_str().expect("a title");
    assert!(title.starts_with("rank 0 on "), "{title}");
    assert!(
        title.contains(&format!(" of {clients} client")),
        "{title}, {clients}"
    );
}
