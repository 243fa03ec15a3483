//! Transfers of several ranks: streams dealt in turn, passes of all together, exact sums.

use std::fs;

use crate::support::ranks::{Library, MPICH, OPEN_MPI, json, ranks, with_shim};
use crate::support::tables::{figure, readings, rows, word};
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
    ended.check(&args, 0, "");
    scratch.assert_clean(&target);
    json(&scratch.path("run.json"))
}

/// Of each series its levels, and what all and each of several streams moved in each pass.
fn work(run: &Value) -> Vec<(String, Vec<Vec<f64>>)> {
    let of_series = |row: &&Value| {
        let streams = row["levels"][4].as_str().expect("streams");
        let numbers: Vec<&str> = match streams.split_once("streams ") {
            Some((_, all)) => all.split('+').collect(),
            None => Vec::new(),
        };
        let of_streams = numbers.iter();
        let of_streams = of_streams.map(|it| readings(row, &format!("bytes-stream-{it}")));
        let of_streams: Vec<Vec<f64>> = of_streams.collect();
        for (pass, bytes) in readings(row, "bytes").into_iter().enumerate() {
            let sum: f64 = of_streams.iter().map(|it| it[pass]).sum();
            assert!(numbers.is_empty() || sum == bytes, "{row}");
        }
        let all = std::iter::once(readings(row, "bytes")).chain(of_streams);
        let [operation, block, size] = [0, 2, 3].map(|it| row["levels"][it].as_str());
        let title = [operation, block, size, Some(streams)].map(|it| it.expect("a level"));
        (title.join(", "), all.collect())
    };
    rows(run, "transfer").iter().map(of_series).collect()
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
    let hosts = rows(&together, "transfer-hosts");
    assert_eq!(hosts.len(), 3, "{hosts:?}");
    let read: Vec<f64> = hosts.iter().map(|it| figure(it, "bytes")).collect();
    // Rank 0 has streams 1 and 4, in two passes each.
    assert_eq!(read, [16, 8, 8].map(|mib| f64::from(mib << 20)));
    for metric in ["first-in", "last-in"] {
        let sum: f64 = hosts.iter().map(|it| figure(it, metric)).sum();
        assert!(sum >= 2.0, "{metric}: {hosts:?}");
    }
    // Of the one that writes, and of all together.
    let streams = rows(&together, "transfer-streams").into_iter();
    let of_rank: Vec<&str> = streams.map(|it| &word(it, "host")[..6]).collect();
    let dealt = ["rank 0", "rank 1", "rank 2", "rank 0"];
    assert_eq!(of_rank, [dealt, dealt].concat());
    assert_eq!(rows(&together, "transfer-together").len(), 5);
    let said = together["warnings"].to_string();
    assert!(said.contains("1 host, 3 ranks: rank "), "{said}");
    assert_eq!(rows(&alone, "transfer").len(), 6);
    assert!(rows(&alone, "transfer-hosts").is_empty());
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
    for part in ["first in", "rank 1 on ", "Passes that read all streams"] {
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
            "read, 64 KiB, 4 MiB, streams 1+2".to_owned(),
            [8, 4, 4].map(|mib| vec![f64::from(mib << 20)]).to_vec()
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
            "--streams 1: each of 2 ranks needs at least one stream. Use --streams 2 or more",
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
