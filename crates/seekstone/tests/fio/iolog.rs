//! `write_iolog`: what fio's jobs ask for, in the log that fio writes.

use std::path::Path;
use std::process::Command;

use crate::support::tables::{figure, row};
use crate::support::{self, Scratch, finish, skipped};

/// File, action, offset and bytes of each line, without its stamp; stamps never go back.
fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a log");
    let mut all = text.lines();
    assert_eq!(all.next(), Some("fio version 3 iolog"), "{text}");
    let mut last = 0;
    let line = |line: &str| {
        let (stamp, rest) = line.split_once(' ').expect("a stamp");
        let stamp: u64 = stamp.parse().expect("microseconds");
        assert!(stamp >= last, "{line} after {last}");
        last = stamp;
        rest.to_owned()
    };
    all.map(line).collect()
}

/// Only what is asked of storage: where files are opened and closed differs.
fn requests(path: &Path) -> Vec<String> {
    let is_request = |line: &String| line.split(' ').count() == 4;
    lines(path).into_iter().filter(is_request).collect()
}

fn run(mut program: Command, scratch: &Scratch, options: &[&str]) {
    scratch.settle(&mut program);
    program.args(["--name=a", "--write_iolog=log", "--output=out"]);
    program.args(options);
    let ended = finish(program);
    ended.check(options, 0, "");
}

fn ours(scratch: &Scratch, options: &[&str]) {
    let always = ["fio", "--no-save", "--quiet", "--seed=1"];
    run(scratch.seekstone(always), scratch, options);
}

const JOBS: [&[&str]; 5] = [
    &["--ioengine=null", "--rw=read", "--bs=64k", "--size=4m"],
    &[
        "--rw=write",
        "--bs=16k",
        "--size=1m",
        "--nrfiles=2",
        "--end_fsync=1",
    ],
    &["--rw=read", "--bs=4k", "--size=1m", "--filename=one:two"],
    &[
        "--rw=write",
        "--bs=4k",
        "--size=256k",
        "--loops=2",
        "--fsync=16",
    ],
    &["--ioengine=null", "--rw=trim", "--bs=64k", "--size=4m"],
];

/// `write_iolog` was refused.
#[test]
fn a_log_has_the_lines_of_fio() {
    if !support::is_installed("fio") {
        return skipped("a_log_has_the_lines_of_fio", "fio is missing");
    }
    for options in JOBS {
        let (here, there) = (Scratch::new(), Scratch::new());
        ours(&here, options);
        run(Command::new("fio"), &there, options);
        let moved = |lines: Vec<String>| {
            let is_moved = |line: &String| !line.contains("sync");
            lines.into_iter().filter(is_moved).collect::<Vec<_>>()
        };
        let found = requests(&here.path("log"));
        let expected = requests(&there.path("log"));
        assert_eq!(moved(found.clone()), moved(expected.clone()), "{options:?}");
        // fio names what it flushes, too; the flush at the end it does not.
        if options.contains(&"--fsync=16") {
            let syncs = |all: &[String]| all.iter().filter(|it| it.contains("sync")).count();
            assert!(
                syncs(&found).abs_diff(syncs(&expected)) <= 1,
                "{found:?} {expected:?}"
            );
        }
    }
}

#[test]
fn a_log_is_carried_out_by_replay() {
    let scratch = Scratch::new();
    let options = [
        "--rw=randrw",
        "--bs=4k",
        "--size=1m",
        "--filename=data",
        "--rate_iops=2000",
        "--iodepth=8",
        "--ioengine=libaio",
    ];
    ours(&scratch, &options);
    let asked = requests(&scratch.path("log"));
    assert_eq!(asked.len(), 256);
    let args = [
        "replay",
        "log",
        "sim:delay?time=1ms&size=1MiB",
        "-q",
        "--no-save",
        "--json",
        "-",
    ];
    let ended = finish(scratch.seekstone(args));
    ended.check(&[], 0, "");
    let run = ended.json();
    assert_eq!(figure(row(&run, "replay", &[]), "requests"), 256.0);
}

#[test]
fn a_name_that_the_log_cannot_hold_is_refused() {
    let scratch = Scratch::new();
    let args = [
        "fio",
        "--no-save",
        "--name=a",
        "--rw=write",
        "--size=64k",
        "--filename=my file",
        "--write_iolog=log",
    ];
    scratch.check(&args, 2, "the log's format has no spaces in names");
    assert!(!scratch.path("log").exists());
}
