//! How much fio's jobs do before they end, beside the real fio: requests and bytes of each.

use std::process::Command;

use crate::support::{Scratch, finish, is_installed, skipped};
use serde_json::Value;

/// Jobs of the null engine. Found by comparing some hundred generated job files with fio 3.33.
const JOBS: [&str; 40] = [
    "--rw=read --bs=4k --size=1m --offset=512k --filesize=1m",
    "--rw=randread --bs=4k --size=2m --offset=512k --filesize=1m",
    "--rw=read --bs=4k --size=50% --offset=640k --filesize=1m",
    "--rw=read --bs=4k --size=1m --offset=25% --filesize=1m",
    "--rw=read --bs=4k --size=1m --offset=250k --filesize=1m --loops=2",
    "--rw=read --bs=4k --size=1m --offset=64k --filesize=1m --numjobs=2 --offset_increment=256k",
    "--rw=read --bs=4k --size=4m --io_size=4m --offset=128k --filesize=1m",
    "--rw=write --bs=4k --size=1m --create_only=1",
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
    "--rw=read --bs=4k --size=64k --io_size=66000",
    "--rw=randread --bs=4k --size=64k --io_size=70000",
    "--rw=read --bs=12k --size=64k --io_size=128k",
    "--rw=randwrite --bs=4k --size=64k --io_size=200000 --loops=2",
    "--rw=write --bs=4k --size=1m --io_size=1536k --loops=2",
    "--rw=read --bs=4k --size=1m --io_size=512k --loops=3",
    "--rw=randread --bs=4k --size=1m --io_size=512k --loops=3",
    "--rw=read --bs=3000 --size=1m --loops=2",
    "--rw=read --bs=4k --size=1m --offset=50%",
    "--rw=randread --bs=12k --size=1m --offset=33% --filesize=1m",
    "--rw=read --bs=4k --size=1m --filesize=1m --numjobs=2 --offset_increment=13%",
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

/// Jobs whose sizes are drawn.
const DRAWN: [&str; 12] = [
    "--rw=write --bsrange=3k-10k --size=1m",
    "--rw=randread --bssplit=4k/50:16k/50 --size=1m --norandommap --loops=3",
    "--rw=randread --bssplit=4k/50:16k/50 --size=1m --io_size=500k",
    "--rw=randread --bssplit=4k/50:64k/50 --size=1m --random_distribution=zipf:1.2",
    "--rw=randread --bssplit=4k/50:10k/50 --size=1m --loops=3",
    "--rw=randwrite --bsrange=3k-10k --size=1m",
    "--rw=randrw --bs=,16k --size=1m",
    "--rw=randwrite --bs=4k,8k --size=256k",
    "--rw=randread --bs=16k,4k --size=1m",
    "--rw=randrw --bssplit=4k/50:16k/50,8k/100 --size=1m",
    "--rw=randrw --bs=4k,16k --size=1m --nrfiles=2",
    "--rw=rw --bs=4k,16k --size=1m --loops=2",
];

/// How often they are drawn, here and by fio.
const SEEDS: u32 = 8;

/// Requests and bytes of reads and writes, for each copy.
type Done = Vec<[u64; 4]>;

/// What each of these jobs does, beside each other in one run.
fn done(scratch: &Scratch, mut program: Command, jobs: &[String]) -> Vec<Done> {
    scratch.settle(&mut program);
    program.arg("--output-format=json");
    for (number, job) in jobs.iter().enumerate() {
        program.args([
            &format!("--name=job{number}"),
            "--ioengine=null",
            &format!("--filename=f{number}"),
        ]);
        program.args(job.split(' '));
    }
    let ended = finish(program);
    ended.check(&[], 0, "");
    let found: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let count = |of: &Value, key: &str| of[key].as_u64().unwrap_or(0);
    let copy = |it: &Value| {
        let [reads, writes] = [&it["read"], &it["write"]];
        let both = [reads, writes].map(|it| [count(it, "total_ios"), count(it, "io_bytes")]);
        [both[0][0], both[0][1], both[1][0], both[1][1]]
    };
    let copies = found["jobs"].as_array().expect("jobs");
    let of = |number| {
        let name = format!("job{number}");
        let its = copies.iter().filter(|it| it["jobname"] == *name);
        its.map(copy).collect()
    };
    (0..jobs.len()).map(of).collect()
}

fn fio() -> Command {
    let mut fio = Command::new("fio");
    fio.arg("--thread");
    fio
}

#[test]
fn jobs_do_as_much_as_in_fio() {
    if !is_installed("fio") {
        return skipped("jobs_do_as_much_as_in_fio", "fio is missing");
    }
    let scratch = Scratch::new();
    let jobs = JOBS.map(str::to_owned);
    let ours = scratch.seekstone(["fio", "--no-save", "--quiet"]);
    let ours = done(&scratch, ours, &jobs);
    let theirs = done(&scratch, fio(), &jobs);
    for ((job, ours), theirs) in jobs.iter().zip(ours).zip(theirs) {
        assert!(!theirs.is_empty(), "{job}");
        assert_eq!(ours, theirs, "{job}");
    }
}

/// Mean and its squared standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    (mean, squares / (count - 1.0) / count)
}

/// Several block sizes: fio cut sizes to multiples of the smallest, went beyond the last byte, and
/// ended where its map had no place for the larger ones; nothing of that was done here.
#[test]
fn jobs_of_several_sizes_do_as_much_as_in_fio_on_average() {
    if !is_installed("fio") {
        return skipped("jobs_of_several_sizes_do_as_much", "fio is missing");
    }
    let scratch = Scratch::new();
    let seeded =
        |job: &str, seed: u32| format!("{job} --allrandrepeat=0 --randseed={}", 1000 + seed * 7919);
    let jobs = |seed| DRAWN.map(|job| seeded(job, seed)).to_vec();
    let ours: Vec<Done> = (0..SEEDS)
        .flat_map(|seed| {
            let option = format!("--seed={seed}");
            let program = scratch.seekstone(["fio", "--no-save", "--quiet", &option]);
            done(&scratch, program, &jobs(seed))
        })
        .collect();
    let theirs = done(
        &scratch,
        fio(),
        &(0..SEEDS).flat_map(jobs).collect::<Vec<_>>(),
    );
    for (number, job) in DRAWN.iter().enumerate() {
        for column in 0..4 {
            let [ours, theirs] = [&ours, &theirs].map(|all| {
                let seeds = all.iter().skip(number).step_by(DRAWN.len());
                let values: Vec<f64> = seeds.map(|it| it[0][column] as f64).collect();
                assert_eq!(values.len(), SEEDS as usize);
                mean(&values)
            });
            let apart = (ours.0 - theirs.0).abs();
            let error = (ours.1 + theirs.1).sqrt();
            assert!(
                apart <= 4.0 * error,
                "{job}, {column}: {ours:?}, fio {theirs:?}"
            );
        }
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
        "--rw=randrw --bs=4k,16k --size=1m --loops=2",
        "fio ends each pass early",
    );
    refused(
        "--rw=randwrite --bs=4k,16k --size=1m --io_size=2m",
        "fio ends each pass early",
    );
    refused(
        "--rw=read --size=1m --filesize=1m --offset=1m",
        "nothing lies behind it",
    );
    refused(
        "--rw=read:4k --size=1m --loops=2",
        "fio leaves a file where a step of rw=...:N meets its end",
    );
}
