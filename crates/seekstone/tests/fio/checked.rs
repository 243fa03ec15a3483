//! `seekstone fio --check` takes what a run takes, and refuses what it refuses.

use std::fs;
use std::process::Command;

use crate::support::{Scratch, finish, is_installed, skipped};

/// Options of a job, and why neither takes it. `old` is a file of the user.
const REFUSED: [(&str, &str); 11] = [
    (
        "--rw=randread --size=64k --ba=0",
        "an alignment has at least one byte",
    ),
    (
        "--rw=write --size=64k --filename=old",
        "old exists, and a job writes to it",
    ),
    ("--rw=read --size=1p", "has no space for 1 PiB"),
    (
        "--rw=read --size=64k --readonly --rw=write",
        "writes or trims, and --readonly",
    ),
    ("--rw=read --size=64k --filename=.", "is a directory"),
    (
        "--rw=write --size=64k --write_iolog=none/log",
        "write_iolog: there is nothing at `none`",
    ),
    (
        "--rw=write --size=64k --write_bw_log=taken",
        "taken_bw.1.log",
    ),
    (
        "--rw=read --size=64k --verify=crc32c",
        "does not exist and no job writes it",
    ),
    (
        "--rw=read --size=64k --verify-state=state",
        "--verify-state records",
    ),
    (
        "--rw=write --fill_device=1 --filename=old",
        "old holds 65536 bytes, and the job wants",
    ),
    (
        "--rw=read --size=64k --goal=b.p99<=1ms",
        "this command gives no b.latency-p99",
    ),
];

/// The check left out some of what a run looks at: jobs passed and did not run. `ba=0` ended both
/// with a panic.
#[test]
fn check_and_run_refuse_the_same() {
    let scratch = Scratch::new();
    let content = vec![b'u'; 64 << 10];
    for name in ["old", "taken_bw.1.log"] {
        fs::write(scratch.path(name), &content).expect("a file");
    }
    for (job, why) in REFUSED {
        let words = || {
            ["fio", "--no-save", "--name=a"]
                .into_iter()
                .chain(job.split(' '))
        };
        let checked = finish(scratch.seekstone(words().chain(["--check"]).collect::<Vec<_>>()));
        let said = format!("{}{}", checked.stdout, checked.stderr);
        assert_eq!(checked.code, Some(2), "{job}: {checked:?}");
        assert!(said.contains(why), "{job}: {said}");
        let ran = finish(scratch.seekstone(words().collect::<Vec<_>>()));
        assert!(matches!(ran.code, Some(1 | 2)), "{job}: {ran:?}");
        assert!(ran.stderr.contains(why), "{job}: {ran:?}");
    }
    assert!(fs::read(scratch.path("old")).expect("a file") == content);
}

/// Jobs on a file of 1 MiB, and on a new one.
const SHARES: [&str; 5] = [
    "--filename=big --offset=50%",
    "--filename=big --offset=33% --bs=8k",
    "--filename=big --offset_increment=25% --numjobs=2",
    "--offset=50%",
    "--filename=new --filesize=1m --offset=50%",
];

/// A share was one of `size`, and not of what the file holds: jobs read another part of it.
#[test]
fn an_offset_in_percent_is_of_what_the_file_holds_as_in_fio() {
    if !is_installed("fio") {
        return skipped("an_offset_in_percent", "fio is missing");
    }
    let first_and_last = |mut program: Command, scratch: &Scratch, job: &str| {
        scratch.settle(&mut program);
        fs::write(scratch.path("big"), vec![0; 1 << 20]).expect("a file");
        program.args([
            "--name=a",
            "--rw=read",
            "--size=64k",
            "--bs=4k",
            "--output=out",
        ]);
        program
            .args(job.split(' '))
            .args(["--write_bw_log=log", "--log_offset=1"]);
        finish(program).check(&[job], 0, "");
        let copies = if job.contains("numjobs") { 2 } else { 1 };
        let log = |copy| {
            let path = scratch.path(&format!("log_bw.{copy}.log"));
            let text = fs::read_to_string(path).expect("a log");
            let offset = |line: &str| line.split(", ").nth(4).expect("an offset").to_owned();
            let mut offsets = text.lines().map(offset);
            (offsets.next(), offsets.next_back())
        };
        (1..=copies).map(log).collect::<Vec<_>>()
    };
    for job in SHARES {
        let [ours, theirs] = [Scratch::new(), Scratch::new()];
        let program = ours.seekstone(["fio", "--no-save", "--quiet"]);
        let here = first_and_last(program, &ours, job);
        let there = first_and_last(Command::new("fio"), &theirs, job);
        assert_eq!(here, there, "{job}");
    }
}
