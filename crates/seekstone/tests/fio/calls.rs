//! The engines filecreate, filestat and filedelete, beside the real fio.

use std::fs;
use std::process::Command;

use crate::support::{Scratch, finish, is_installed, leftovers, skipped};
use serde_json::Value;

const JOBS: &str = "[global]\nfilesize=4k\nnrfiles=40\nfilename_format=f.$jobnum.$filenum\n\
                    create_on_open=1\nopenfiles=1\nfallocate=none\nnumjobs=2\nstonewall\n\
                    [make]\nioengine=filecreate\nrw=write\n\
                    [look]\nioengine=filestat\nstat_type=statx\n\
                    [remove]\nioengine=filedelete\nrw=write\nunlink=0\n";

/// Of each row its name, and of reads and writes the requests, bytes, and times that were taken.
fn rows(ended: &crate::support::Ended) -> Vec<(String, Vec<u64>)> {
    let found = ended.json();
    let jobs = found["jobs"].as_array().expect("jobs").iter();
    let row = |job: &Value| {
        let counts = ["read", "write"].into_iter().flat_map(|direction| {
            let of = &job[direction];
            [
                &of["total_ios"],
                &of["io_bytes"],
                &of["clat_ns"]["N"],
                &of["lat_ns"]["N"],
                &of["slat_ns"]["N"],
            ]
            .map(|it| it.as_u64().unwrap_or(0))
        });
        let name = job["jobname"].as_str().unwrap_or_default().to_owned();
        (name, counts.collect())
    };
    jobs.map(row).collect()
}

/// Skipped by name where fio is not installed.
#[test]
fn calls_count_as_in_fio() {
    if !is_installed("fio") {
        return skipped("calls_count_as_in_fio", "fio is missing");
    }
    let scratch = Scratch::new();
    fs::write(scratch.path("jobs.fio"), JOBS).expect("a job file");
    let ours = scratch.seekstone(["fio", "--no-save", "--output-format=json", "jobs.fio"]);
    let ours = finish(ours);
    ours.check(&[], 0, "");
    assert_eq!(leftovers(&scratch.path("")), Vec::<String>::new());
    let mut theirs = Command::new("fio");
    scratch.settle(&mut theirs);
    theirs.args(["--output-format=json", "jobs.fio"]);
    let theirs = rows(&finish(theirs));
    assert_eq!(rows(&ours), theirs);
    assert_eq!(theirs.len(), 6, "{theirs:?}");
    assert_eq!(theirs[0].1[5..8], [40, 40 << 12, 40], "{theirs:?}");
}

/// What is looked at or removed, and not made by an earlier job, is made before; other files are
/// left alone.
#[test]
fn only_files_of_this_run_are_called() {
    let scratch = Scratch::new();
    let fixed = ["fio", "--no-save", "--quiet", "--name=a", "--nrfiles=3"];
    let run = |words: &[&str]| finish(scratch.seekstone(fixed.iter().chain(words)));
    for engine in ["--ioengine=filestat", "--ioengine=filedelete"] {
        let ended = run(&[engine, "--filesize=5000"]);
        ended.check(&[], 0, "total=3,0,0,0");
    }
    run(&["--ioengine=filestat"]).check(&[], 2, "give filesize= in bytes");
    run(&[
        "--ioengine=filestat",
        "--filesize=1k",
        "--time_based",
        "--runtime=2",
    ])
    .check(&[], 2, "filestat calls each file once, and does no I/O");
    fs::write(scratch.path("a.0.1"), "of the user").expect("a file");
    let ended = run(&["--ioengine=filedelete", "--filesize=4k"]);
    ended.check(
        &[],
        2,
        "a.0.1 exists, and filedelete calls files that this run makes",
    );
    let content = fs::read_to_string(scratch.path("a.0.1")).expect("the user's file");
    assert_eq!(content, "of the user");
}

#[test]
fn calls_of_jobs_follow_each_other() {
    let scratch = Scratch::new();
    let head = "[global]\nfilesize=4k\nfilename_format=f.$filenum\nstonewall\n";
    let check = |jobs: &str, said: &str| {
        fs::write(scratch.path("jobs.fio"), format!("{head}{jobs}")).expect("a job file");
        scratch.check(&["fio", "--no-save", "--quiet", "jobs.fio"], 2, said);
        let checked = finish(scratch.seekstone(["fio", "--check", "jobs.fio"]));
        assert_eq!(checked.code, Some(2), "{checked:?}");
        assert!(checked.stdout.contains(said), "{checked:?}");
    };
    let (make, remove) = ("ioengine=filecreate\n", "ioengine=filedelete\n");
    check(
        &format!("[a]\n{make}[b]\n{make}"),
        "[b] f.0 is there already: an earlier job makes it",
    );
    check(
        &format!("[a]\n{remove}[b]\nioengine=filestat\n"),
        "[b] f.0 is gone: an earlier job removes it",
    );
    check(
        &format!("[a]\n{make}[b]\nstonewall=0\n{remove}"),
        "[b] f.0 is called by jobs that run at the same time. Put stonewall between them",
    );
    check(
        &format!("[a]\n{make}[b]\nrw=read\nsize=4k\n"),
        "other jobs read or write f.0",
    );
}
