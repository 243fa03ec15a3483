//! `--keep-files`: what a job makes stays, under fio's names, and a later run takes it up as long
//! as nobody else has written it.

use std::fs;
use std::io::Write as _;

use crate::support::{Ended, Scratch, finish, leftovers};

const WRITE: [&str; 5] = [
    "--name=a",
    "--rw=write",
    "--bs=64k",
    "--size=1m",
    "--keep-files",
];

fn fio(scratch: &Scratch, words: &[&str]) -> Ended {
    let fixed = ["fio", "--no-save", "--quiet", "--output-format=json"];
    finish(scratch.seekstone(fixed.iter().chain(words)))
}

/// A benchmark that writes its files in one call of fio and reads them in the next one measured
/// files that were laid out anew: a run removed what it had made.
#[test]
fn one_run_reads_and_verifies_what_another_wrote() {
    let scratch = Scratch::new();
    let written = [&WRITE[..], &["--verify=crc32c", "--do_verify=0"]].concat();
    fio(&scratch, &written).check(&[], 0, "");
    let found = fs::metadata(scratch.path("a.0.0")).expect("the file of the job");
    assert_eq!(found.len(), 1 << 20);
    assert_eq!(leftovers(&scratch.path("")), Vec::<String>::new());

    let verified = ["--name=a", "--rw=read", "--bs=64k", "--verify=crc32c"];
    let ended = fio(&scratch, &verified);
    ended.check(&[], 0, "");
    assert_eq!(ended.json()["jobs"][0]["read"]["total_ios"], 16);

    let mut file = fs::File::options()
        .write(true)
        .open(scratch.path("a.0.0"))
        .expect("the file");
    file.write_all(&[0; 4096]).expect("written");
    fio(&scratch, &verified).check(&[], 1, "a.0.0: lost at offset 0");
}

#[test]
fn a_later_run_writes_what_an_earlier_one_kept_and_nobody_else_wrote() {
    let scratch = Scratch::new();
    let path = scratch.path("a.0.0");
    fio(&scratch, &WRITE).check(&[], 0, "");
    for _ in 0..2 {
        fio(&scratch, &WRITE).check(&[], 0, "");
    }
    let without = &WRITE[..4];
    fio(&scratch, without).check(&[], 2, "Here that needs --overwrite, and");

    let content = vec![7; 1 << 20];
    let copy = scratch.path("copy");
    fs::rename(&path, &copy).expect("renamed");
    fs::write(&path, &content).expect("a file of the user");
    let said = "that needs --overwrite, as no run kept it that way";
    fio(&scratch, &WRITE).check(&[], 2, said);
    assert!(fs::read(&path).expect("the user's file") == content);

    fs::remove_file(&path).expect("removed");
    fs::rename(&copy, &path).expect("as it was kept");
    fio(&scratch, &WRITE).check(&[], 0, "");
    fs::write(&path, &content).expect("the user writes into it");
    fio(&scratch, &WRITE).check(&[], 2, said);
    assert!(fs::read(&path).expect("the user's file") == content);
}

#[test]
fn files_are_kept_and_removed_as_jobs_say() {
    let scratch = Scratch::new();
    let jobs = "[global]\nbs=4k\nsize=64k\n[made]\nrw=read\ncreate_only=1\n\
                [read]\nrw=randread\nnrfiles=2\n[gone]\nrw=write\nunlink=1\n";
    fs::write(scratch.path("jobs.fio"), jobs).expect("a job file");
    let ended = fio(&scratch, &["jobs.fio", "--keep-files"]);
    ended.check(&[], 0, "");
    let size = |name: &str| fs::metadata(scratch.path(name)).map(|it| it.len()).ok();
    assert_eq!(size("made.0.0"), Some(64 << 10));
    assert_eq!(size("read.0.0"), Some(32 << 10));
    assert_eq!(size("read.0.1"), Some(32 << 10));
    assert_eq!(size("gone.0.0"), None);

    let made = fs::read(scratch.path("made.0.0")).expect("what create_only made");
    assert!(made.iter().any(|byte| *byte != 0), "it was laid out whole");
    let lint = ["fio", "jobs.fio", "--check"];
    scratch.check(&lint, 0, "unlink=1");
}

/// Something that comes to lie under the name of a file while it is measured stays as it is.
#[test]
fn nothing_is_replaced() {
    let scratch = Scratch::new();
    let words = [
        "fio",
        "--no-save",
        "--name=a",
        "--rw=write",
        "--size=1m",
        "--runtime=2",
        "--time_based",
        "--keep-files",
        "--eta=always",
    ];
    let mut running = crate::support::Running::start(scratch.seekstone(words));
    let made = running.runs_until(|| !leftovers(&scratch.path("")).is_empty());
    assert!(made, "it makes its files");
    fs::write(scratch.path("a.0.0"), "of the user").expect("a file");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("a.0.0: File exists"), "{ended:?}");
    let content = fs::read_to_string(scratch.path("a.0.0")).expect("the user's file");
    assert_eq!(content, "of the user");
    scratch.assert_clean(&scratch.path(""));
}
