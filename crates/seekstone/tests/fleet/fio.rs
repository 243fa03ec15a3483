//! fio's jobs on several ranks: each carries out all of them on files of its own, as servers of
//! `fio --client` do; rows of hosts, and their sums.

use std::fs;

use crate::support::ranks::{Library, MPICH, OPEN_MPI, json, ranks, rows, with_shim};
use crate::support::{Scratch, finish};
use serde_json::Value;

/// 256 writes, then 512 reads of two copies each.
const JOBS: &str = "[global]\ndirectory=target\nbs=4k\n\
                    [fill]\nrw=write\nsize=1m\n\
                    [look]\nstonewall\nrw=randread\nsize=2m\nnumjobs=2\ngroup_reporting\n";

fn jobs(scratch: &Scratch, library: &Library, count: u32, more: &[&str]) -> (Value, Value) {
    let target = scratch.target();
    fs::write(scratch.path("jobs.fio"), JOBS).expect("a job file");
    let args = [
        &[
            "fio",
            "jobs.fio",
            "--reserve",
            "0",
            "--seed",
            "7",
            "--no-save",
        ],
        &["--output-format", "json", "--output", "fio.json"][..],
        &["--json", "run.json"],
        more,
    ]
    .concat();
    let ended = finish(ranks(scratch, library, count, &args));
    ended.check(&args, 0, "");
    scratch.assert_clean(&target);
    (
        json(&scratch.path("fio.json")),
        json(&scratch.path("run.json")),
    )
}

fn count(row: &Value, direction: &str) -> u64 {
    row[direction]["total_ios"].as_u64().expect("a count")
}

fn bytes(row: &Value, direction: &str) -> u64 {
    row[direction]["io_bytes"].as_u64().expect("bytes")
}

#[track_caller]
fn check_clients(test: &str, library: &Library) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    let (one, _) = jobs(&scratch, library, 1, &[]);
    let alone = one["jobs"].as_array().expect("jobs of one host");
    assert_eq!(alone.len(), 2, "{one}");
    let (found, run) = jobs(&scratch, library, 3, &[]);
    assert!(found["jobs"].is_null());
    let clients = found["client_stats"].as_array().expect("rows");
    let names: Vec<&str> = clients
        .iter()
        .filter_map(|it| it["jobname"].as_str())
        .collect();
    let of_host = ["fill", "look"];
    let sums = ["All clients: fill", "All clients: look"];
    assert_eq!(names, [&of_host[..], &of_host, &of_host, &sums].concat());
    for (at, direction) in [(0, "write"), (1, "read")] {
        let each: Vec<&Value> = clients[..6].iter().skip(at).step_by(2).collect();
        let sum = &clients[6 + at];
        for (rank, row) in each.iter().enumerate() {
            assert_eq!(count(row, direction), count(&alone[at], direction));
            assert_eq!(row["seekstone"]["rank"], rank);
            assert!(row["hostname"].is_string(), "{row}");
        }
        let ios: u64 = each.iter().map(|it| count(it, direction)).sum();
        let moved: u64 = each.iter().map(|it| bytes(it, direction)).sum();
        assert_eq!((count(sum, direction), bytes(sum, direction)), (ios, moved));
        assert_eq!(moved, [3 << 20, 12 << 20][at]);
        let n = |row: &Value| row[direction]["clat_ns"]["N"].as_u64().expect("a count");
        assert_eq!(n(sum), ios);
        assert!(sum["hostname"].is_null());
    }
    let names: Vec<&str> = rows(&run)
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    let of_phase = |name: &str| -> Vec<String> {
        let ranks = (0..3).map(|rank| format!("{name}-rank-{rank}"));
        std::iter::once(name.to_owned()).chain(ranks).collect()
    };
    assert_eq!(names, [of_phase("fill"), of_phase("look")].concat());
    for rows in rows(&run).chunks(4) {
        let of = |row: &Value| row["completions_all"].as_u64().expect("a count");
        assert_eq!(of(&rows[0]), rows[1..].iter().map(of).sum::<u64>());
    }
}

#[test]
fn each_rank_carries_out_all_jobs_under_mpich() {
    check_clients("each_rank_carries_out_all_jobs_under_mpich", &MPICH);
}

#[test]
fn each_rank_carries_out_all_jobs_under_open_mpi() {
    check_clients("each_rank_carries_out_all_jobs_under_open_mpi", &OPEN_MPI);
}

#[test]
fn the_report_names_hosts_as_fio_does() {
    let test = "the_report_names_hosts_as_fio_does";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    scratch.target();
    let args = [
        "fio",
        "--name=a",
        "--directory=target",
        "--size=1m",
        "--rw=randrw",
        "--reserve",
        "0",
    ];
    let ended = finish(ranks(&scratch, &MPICH, 2, &args));
    ended.check(&args, 0, "");
    for part in [
        "<rank 0 on ",
        "<rank 1 on ",
        "All clients: (groupid=0, jobs=2): err= 0",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    assert_eq!(ended.stdout.matches("Run status group 0").count(), 1);
    let terse = [&args[..], &["--minimal"]].concat();
    let ended = finish(ranks(&scratch, &MPICH, 2, &terse));
    assert_eq!(
        ended
            .stdout
            .lines()
            .filter(|it| it.starts_with("3;fio-"))
            .count(),
        3
    );
    scratch.check(&["runs", "show", "1"], 0, "rank 1 on ");
}

/// Files that exist are one for all ranks of a machine, if that is said.
#[test]
fn an_existing_file_is_shared_where_that_is_asked_for() {
    let test = "an_existing_file_is_shared_where_that_is_asked_for";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    fs::write(scratch.path("data"), vec![1; 4 << 20]).expect("a file");
    let args = [
        "fio",
        "--name=a",
        "--filename=data",
        "--rw=randread",
        "--no-save",
    ];
    let ended = finish(ranks(&scratch, &MPICH, 2, &args));
    ended.check(&args, 2, "would use the same file or device");
    let shared = [&args[..], &["--shared"]].concat();
    let ended = finish(ranks(&scratch, &MPICH, 2, &shared));
    ended.check(&shared, 0, "All clients");
}

#[test]
fn what_ranks_cannot_do_with_jobs_is_one_sentence() {
    let test = "what_ranks_cannot_do_with_jobs_is_one_sentence";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let target = scratch.target();
    let cases: [(&[&str], &str); 6] = [
        (&["--verify=crc32c"], "verify reads back on one host"),
        (
            &["--write_bw_log=x"],
            "a log (write_..._log) follows what one host does",
        ),
        (
            &["--status-interval", "1"],
            "--status-interval follows what one host does",
        ),
        (&["--ioengine=null"], "which is on no host"),
        (&["--filename=sim:hdd"], "which is on no host"),
        (&["--size=1p"], "rank 0 on "),
    ];
    for (more, expected) in cases {
        let args = [
            &[
                "fio",
                "--name=a",
                "--rw=write",
                "--size=1m",
                "--directory=target",
            ],
            more,
        ];
        let args = args.concat();
        let ended = finish(ranks(&scratch, &MPICH, 2, &args));
        ended.check(&args, 2, expected);
        assert!(!ended.error().contains('\n'), "one sentence: {ended:?}");
        scratch.assert_clean(&target);
    }
}

/// The job file is read on each host, and one of them has another.
#[test]
fn other_jobs_on_one_host_are_named_with_it() {
    let test = "other_jobs_on_one_host_are_named_with_it";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let target = scratch.target();
    fs::write(
        scratch.path("jobs.fio"),
        "[a]\nrw=write\nsize=1${PMI_RANK}k\nbs=1k\ndirectory=target\n",
    )
    .expect("a job file");
    let args = ["fio", "jobs.fio", "--no-save"];
    let ended = finish(ranks(&scratch, &MPICH, 2, &args));
    ended.check(&args, 2, "its jobs come out otherwise than on rank 0 on ");
    scratch.assert_clean(&target);
}
