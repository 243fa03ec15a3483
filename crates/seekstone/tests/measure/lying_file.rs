//! Files that lie in each of five ways, at blocks that a seed chooses: `trial --verify`,
//! `fio --verify` and `files --verify` name the lie and end with code 1; honest ones are not
//! accused.
//!
//! It is a file system in Python (python3-fusepy), which goes wrong at each write to such a block.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::support::{Ended, Scratch, finish, skipped};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/lying_file.py");
const PYTHON: &str = "/usr/bin/python3";
const LIES: [&str; 5] = ["lost", "stale", "misplaced", "torn", "flipped"];
const SEEDS: [u32; 3] = [1, 2, 3];
/// For commands that check as a trial does, and are told apart by what they say.
const ONE_SEED: [u32; 1] = [1];

/// Unmounted when dropped, also by a panic.
struct LyingFile {
    mount: PathBuf,
    server: Child,
}

impl LyingFile {
    /// `None` where it cannot be mounted.
    fn new(scratch: &Scratch, lie: &str, seed: u32) -> Option<Self> {
        let mount = scratch.path("mount");
        std::fs::create_dir_all(&mount).expect("a directory");
        let server = Command::new(PYTHON)
            .args([SERVER.as_ref(), mount.as_os_str()])
            .args([lie, &seed.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut made = Self {
            mount,
            server: server.ok()?,
        };
        let mut said = String::new();
        let stdout = made.server.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut said).expect("text");
        (said == "ready\n").then_some(made)
    }
}

impl Drop for LyingFile {
    fn drop(&mut self) {
        let mount = Command::new("umount").arg("-l").arg(&self.mount).status();
        let _ = mount;
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Whether there can be such a file; says so where not.
fn can_lie(test: &str) -> bool {
    let imported = Command::new(PYTHON)
        .args(["-c", "import fusepy"])
        .stderr(Stdio::null())
        .status();
    if !imported.is_ok_and(|status| status.success()) {
        skipped(test, "python3-fusepy is missing");
        return false;
    }
    if LyingFile::new(&Scratch::new(), "honest", 0).is_none() {
        skipped(test, "FUSE is missing, or may not be mounted");
        return false;
    }
    true
}

/// Run `args` on a file of that lie: which lies it named, and how it ended.
fn run(
    args: &[&str],
    lie: &str,
    seed: u32,
    said: fn(&Ended) -> String,
) -> (Vec<&'static str>, Ended) {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("w.toml"), WORKLOAD).expect("a file of workloads");
    let file = LyingFile::new(&scratch, lie, seed).expect("a mount");
    let ended = finish(scratch.seekstone(args));
    drop(file);
    let said = said(&ended);
    let is_named = |lie: &&str| said.split_whitespace().any(|word| word == *lie);
    (LIES.into_iter().filter(is_named).collect(), ended)
}

/// Every lie is named, and the code is 1; without one nothing is, and the code is 0.
fn check(test: &str, args: &[&str], seeds: &[u32], said: fn(&Ended) -> String) {
    if !can_lie(test) {
        return;
    }
    for &seed in seeds {
        for lie in LIES {
            let (found, ended) = run(args, lie, seed, said);
            let told = format!("{lie}, seed {seed}: {found:?}: {}", ended.stderr);
            assert_eq!(ended.code, Some(1), "{told}");
            assert!(found.contains(&lie), "{told}");
            // Of a torn write a part is there, whatever else is under way.
            assert!(lie != "torn" || found == ["torn"], "{told}");
        }
        let (found, ended) = run(args, "honest", seed, said);
        ended.check(args, 0, "");
        assert_eq!(found, Vec::<&str>::new(), "{ended:?}");
    }
}

/// Every block is written some 25 times.
const WORKLOAD: &str = "[[workload]]\nclients = 4\nwrites = \"50%\"\noperations = 3200\n";

#[test]
fn a_trial_names_each_lie() {
    let args = [
        "trial",
        "mount/data",
        "--verify",
        "--overwrite",
        // The first wrong read would end it, and name one of several classes.
        "--errors=count",
        "--workload",
        "w.toml",
        "--no-save",
        "--quiet",
        "--seed=1",
    ];
    check("a_trial_names_each_lie", &args, &SEEDS, |ended| {
        let all = ended.stdout.split_whitespace().collect::<Vec<_>>();
        let all = all.join(" ").replace(',', "");
        // Such as "verification found 18 lost, 142 misplaced: ...".
        let summary = all.split_once("verification found ");
        let summary = summary.and_then(|(_, after)| after.split([':', '.']).next());
        summary.unwrap_or_default().to_owned()
    });
}

const FIO: [&str; 11] = [
    "fio",
    "--name=a",
    "--filename=mount/data",
    "--size=256k",
    "--bs=4k",
    "--rw=randwrite",
    "--verify=crc32c",
    "--overwrite",
    "--no-save",
    "--quiet",
    "--loops=2",
];

/// Each block is written twice, and read back when all is written.
#[test]
fn a_job_of_fio_names_each_lie() {
    check("a_job_of_fio_names_each_lie", &FIO, &ONE_SEED, |ended| {
        ended.stderr.clone()
    });
}

/// Each client's file is written four times, read back from the disk each time, and read.
#[test]
fn file_tests_name_each_lie() {
    for layout in ["--layout=easy", "--layout=hard"] {
        let args = [
            "files",
            "mount",
            "--workload=bandwidth",
            layout,
            "--verify",
            "--transfer-size=4KiB",
            "--file-size=120KiB",
            "--clients=2",
            "--state=as-is",
            "--memory=none",
            "--passes=1",
            "--no-save",
            "--quiet",
        ];
        check("file_tests_name_each_lie", &args, &ONE_SEED, |ended| {
            let all = ended.stdout.split_whitespace().collect::<Vec<_>>();
            let all = all.join(" ").replace(',', "");
            let summary = all.split_once("Verification found ");
            let summary = summary.and_then(|(_, after)| after.split(':').next());
            summary.unwrap_or_default().to_owned()
        });
    }
}

/// A first write that is lost is found if nothing was written over it.
#[test]
fn what_was_lost_and_written_over_leaves_no_trace() {
    if !can_lie("what_was_lost_and_written_over_leaves_no_trace") {
        return;
    }
    let once = [&FIO[..10], &["--loops=1"]].concat();
    for seed in SEEDS {
        let (found, ended) = run(&once, "first-lost", seed, |ended| ended.stderr.clone());
        assert_eq!((ended.code, found), (Some(1), vec!["lost"]), "{ended:?}");
        let (found, ended) = run(&FIO, "first-lost", seed, |ended| ended.stderr.clone());
        assert_eq!((ended.code, found), (Some(0), vec![]), "{ended:?}");
    }
}

/// FUSE counts no reads for the process: all of them, direct ones too, "came from the page cache,
/// not from the device" in the first line of a check-up.
#[test]
fn what_the_page_cache_answers_is_unknown_on_fuse() {
    if !can_lie("what_the_page_cache_answers_is_unknown_on_fuse") {
        return;
    }
    let scratch = Scratch::new();
    let _mounted = LyingFile::new(&scratch, "honest", 1).expect("a mount");
    std::fs::write(scratch.path("mount/large"), vec![7; 4 << 20]).expect("a file");
    for command in ["run --budget 2s", "trial --duration 300ms"] {
        let rest = ["mount/large", "--no-save", "--quiet", "--json=-"];
        let args = command.split(' ').chain(rest);
        let ended = finish(scratch.seekstone(args));
        let found = ended.json();
        let rows = found["measurements"].as_array().expect("measurements");
        assert!(!rows.is_empty(), "{command}: {found}");
        for row in rows {
            assert!(row["page_cache_share"].is_null(), "{command}: {row}");
        }
        let said = "the bytes came from the page cache";
        assert!(!ended.stdout.contains(said), "{command}: {found}");
        let note = "fuse is a FUSE file system: its CPU time and page cache hits are not counted";
        assert!(ended.stdout.contains(note), "{command}: {found}");
    }
}
