//! How much fio's jobs do before they end, beside the real fio: requests and bytes of each.

use std::process::Command;

use crate::support::{Scratch, finish, is_installed, skipped};
use serde_json::Value;

/// Jobs of the null engine. Found by comparing some hundred generated job files with fio 3.33.
const JOBS: [&str; 26] = [
    "--rw=read --bs=4k --size=64k --filesize=300k",
    "--rw=read --bs=4k --size=300k --filesize=64k",
    "--rw=randread --bs=4k --size=64k --filesize=300k",
    "--rw=read --bs=4k --size=300k --filesize=100k --nrfiles=4",
    "--rw=read --bs=4k --size=1050624",
    "--rw=randwrite --bs=4k --size=1050624",
    "--rw=randread --bs=4k --size=1050624 --norandommap",
    "--rw=read --bs=4k --size=1m --io_size=3m --number_ios=300",
    "--rw=read --bs=4k --size=1m --io_size=3m",
    "--rw=read --bs=4k --size=1m --io_size=50%",
    "--rw=read --bs=4k --size=1m --io_size=3m --loops=3",
    "--rw=write --bs=4k --size=1m --io_size=1536k --loops=2",
    "--rw=read --bs=4k --size=1m --io_size=512k --loops=3",
    "--rw=randread --bs=4k --size=1m --io_size=512k --loops=3",
    "--rw=read --bs=3000 --size=1m --loops=2",
    "--rw=read --bs=4k --size=1m --offset=50%",
    "--rw=read:4k --bs=4k --size=1m",
    "--rw=read:4k --bs=4k --size=1m --io_size=2m",
    "--rw=read:4k --bs=4k --size=1050624",
    "--rw=read:4k --bs=4k --size=300k",
    "--rw=read:4k --bs=8k --size=300k",
    "--rw=read:4k --bs=4k --size=7m --offset=10%",
    "--rw=write:8k --bs=4k --size=1m",
    "--rw=write:8k --bs=8k --size=2m",
    "--rw=write:8k --bs=8k --size=20m --filesize=2m",
    "--rw=read --bs=4k --size=1m --offset=64k --numjobs=2 --offset_increment=128k",
];

/// Requests and bytes of reads and writes, for each copy.
fn done(scratch: &Scratch, mut program: Command, job: &str) -> Vec<[u64; 4]> {
    scratch.settle(&mut program);
    program.args(["--name=a", "--ioengine=null", "--filename=f"]);
    program.args(["--output-format=json"]);
    program.args(job.split(' '));
    let ended = finish(program);
    assert_eq!(ended.code, Some(0), "{job}: {ended:?}");
    let found: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let count = |of: &Value, key: &str| of[key].as_u64().unwrap_or(0);
    let copy = |it: &Value| {
        let [reads, writes] = [&it["read"], &it["write"]];
        let both = [reads, writes].map(|it| [count(it, "total_ios"), count(it, "io_bytes")]);
        [both[0][0], both[0][1], both[1][0], both[1][1]]
    };
    let copies = found["jobs"].as_array().expect("jobs").iter();
    copies.map(copy).collect()
}

#[test]
fn jobs_do_as_much_as_in_fio() {
    if !is_installed("fio") {
        return skipped("jobs_do_as_much_as_in_fio", "fio is missing");
    }
    let scratch = Scratch::new();
    for job in JOBS {
        let ours = scratch.seekstone(["fio", "--no-save", "--quiet"]);
        let ours = done(&scratch, ours, job);
        assert_eq!(ours, done(&scratch, Command::new("fio"), job), "{job}");
    }
}

#[test]
fn what_fio_counts_anew_in_each_loop_is_refused() {
    let scratch = Scratch::new();
    let refused = |job: &str, why: &str| {
        let words = ["fio", "--name=a", "--ioengine=null", "--filename=f"];
        let words: Vec<&str> = words.into_iter().chain(job.split(' ')).collect();
        finish(scratch.seekstone(&words)).check(&words, 2, why);
    };
    refused(
        "--rw=read --size=1m --number_ios=100 --loops=3",
        "fio counts number_ios anew in each loop",
    );
    refused(
        "--rw=read:4k --size=1m --loops=2",
        "fio leaves a file where a step of rw=...:N meets its end",
    );
}
