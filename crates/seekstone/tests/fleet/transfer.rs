//! Transfers of several ranks: streams dealt in turn, passes of all together, exact sums.

use std::fs;

use crate::support::ranks::{Library, MPICH, OPEN_MPI, json, ranks, with_shim};
use crate::support::{Scratch, finish};
use serde_json::Value;

const TRANSFER: [&str; 12] = [
    "transfer",
    "target",
    "--size",
    "4MiB",
    "--streams",
    "4",
    "--passes",
    "2",
    "--seed",
    "7",
    "--reserve",
    "0",
];
const RECORD: [&str; 4] = ["--quiet", "--no-save", "--json", "run.json"];

fn transfer(scratch: &Scratch, library: &Library, count: u32, more: &[&str]) -> Value {
    let target = scratch.target();
    let args = [&TRANSFER[..], &RECORD, more].concat();
    let ended = finish(ranks(scratch, library, count, &args));
    assert!(ended.error().is_empty(), "{count} ranks: {ended:?}");
    assert_eq!(ended.code, Some(0), "{count} ranks: {ended:?}");
    scratch.assert_clean(&target);
    json(&scratch.path("run.json"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let found = value[key].as_array();
    found.unwrap_or_else(|| panic!("{key} in {value}"))
}

fn number(value: &Value, key: &str) -> u64 {
    let found = value[key].as_u64();
    found.unwrap_or_else(|| panic!("{key} in {value}"))
}

/// The number of a stream, and the bytes that it moved in a pass.
type Moved = (u64, u64);

/// Title, and of each pass what each stream moved.
fn work(run: &Value) -> Vec<(String, Vec<Vec<Moved>>)> {
    let of_pass = |pass: &Value| -> Vec<Moved> {
        let streams = list(pass, "streams").iter();
        let streams: Vec<_> = streams
            .map(|it| (number(it, "stream"), number(it, "bytes")))
            .collect();
        let sum: u64 = streams.iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(number(pass, "bytes"), sum, "{pass}");
        streams
    };
    let series = list(&run["transfer"], "series").iter();
    series
        .map(|it| {
            let passes = list(it, "passes").iter().map(of_pass).collect();
            (it["title"].to_string(), passes)
        })
        .collect()
}

#[track_caller]
fn check_same_work(test: &str, library: &Library) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    let more = ["--compare-alone", "--check", "block"];
    let alone = transfer(&scratch, library, 1, &more);
    let together = transfer(&scratch, library, 3, &more);
    assert_eq!(work(&alone), work(&together));
    // One that writes, four alone, all together.
    assert_eq!(work(&together).len(), 6);
    let found = &together["transfer"];
    let hosts = list(found, "hosts");
    assert_eq!(hosts.len(), 3, "{found}");
    let read: Vec<u64> = hosts.iter().map(|it| number(it, "bytes")).collect();
    // Rank 0 has streams 1 and 4, in two passes each.
    assert_eq!(read, [16 << 20, 8 << 20, 8 << 20]);
    for key in ["first_in", "last_in"] {
        let sum: u64 = hosts.iter().map(|it| number(it, key)).sum();
        assert!(sum >= 2, "{key}: {found}");
    }
    let of_rank: Vec<&str> = list(found, "streams")
        .iter()
        .map(|it| it["host"].as_str().expect("a host"))
        .map(|host| &host[..6])
        .collect();
    assert_eq!(of_rank, ["rank 0", "rank 1", "rank 2", "rank 0"]);
    assert_eq!(list(found, "comparisons").len(), 5);
    let said = together["warnings"].to_string();
    assert!(said.contains("1 host, 3 ranks: rank "), "{said}");
    assert!(list(&alone["transfer"], "series").len() == 6);
    assert!(alone["transfer"]["hosts"].is_null());
}

#[test]
fn three_ranks_move_what_one_would_under_mpich() {
    check_same_work("three_ranks_move_what_one_would_under_mpich", &MPICH);
}

#[test]
fn three_ranks_move_what_one_would_under_open_mpi() {
    check_same_work("three_ranks_move_what_one_would_under_open_mpi", &OPEN_MPI);
}

#[test]
fn the_report_has_a_row_for_each_rank() {
    let test = "the_report_has_a_row_for_each_rank";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    scratch.target();
    let args = [&TRANSFER[..], &["--mode", "cold"]].concat();
    let ended = finish(ranks(&scratch, &MPICH, 2, &args));
    ended.check(&args, 0, "Saved as run 1");
    for part in ["first in", ", rank 1 on ", "Passes that read all streams"] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    scratch.check(&["runs", "show", "1"], 0, "Passes that read all streams");
}

/// Each reads a target that exists, if it was said that they may share it.
#[test]
fn an_existing_file_is_shared_where_that_is_asked_for() {
    let test = "an_existing_file_is_shared_where_that_is_asked_for";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    fs::write(scratch.path("data"), vec![1; 4 << 20]).expect("a file");
    let args = [
        &["transfer", "data", "--streams", "2", "--passes", "1"][..],
        &RECORD,
    ]
    .concat();
    let ended = finish(ranks(&scratch, &MPICH, 2, &args));
    ended.check(&args, 2, "would use the same file or device");
    let shared = [&args[..], &["--shared"]].concat();
    let ended = finish(ranks(&scratch, &MPICH, 2, &shared));
    ended.check(&shared, 0, "");
    let run = json(&scratch.path("run.json"));
    assert_eq!(
        work(&run),
        [(
            "\"read 4 MiB by 64 KiB, 2 streams\"".to_owned(),
            vec![vec![(1, 4 << 20), (2, 4 << 20)]]
        )]
    );
}

#[test]
fn what_ranks_cannot_transfer_together_is_one_sentence() {
    let test = "what_ranks_cannot_transfer_together_is_one_sentence";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let target = scratch.target();
    let cases: [(&[&str], &str); 5] = [
        (
            &["--streams", "1"],
            "--streams 1: 2 ranks have at least one stream each",
        ),
        (
            &["--streams", "2", "--beside", "."],
            "--beside compares two targets of one host",
        ),
        (
            &["--streams", "2", "--mode", "small-file"],
            "--mode small-file looks for one host's memory",
        ),
        (
            &["--streams", "2", "--same-file"],
            "--same-file: no rank makes a file for the others",
        ),
        (&["--streams", "2", "--size", "4PiB"], "rank 0 on "),
    ];
    for (more, expected) in cases {
        let args = [&["transfer", "target"], more].concat();
        let ended = finish(ranks(&scratch, &MPICH, 2, &args));
        ended.check(&args, 2, expected);
        assert!(!ended.error().contains('\n'), "one sentence: {ended:?}");
        scratch.assert_clean(&target);
    }
}
