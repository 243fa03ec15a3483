//! Profiles of applications: each passes, fails and cannot tell, in words and in the exit code.

use crate::support::{Scratch, side_by_side};

/// 64 servers of 1 ms: p99 is 4.6 ms, and 64 operations of any size are done at once.
const FAST: &str = "sim:mmc?servers=64&mean=1ms";
/// One server of 40 ms: 25 operations a second.
const SLOW: &str = "sim:mm1?mean=40ms";
/// Its speed rises and falls with a period longer than a step.
const UNSTEADY: &str = "sim:mmc?servers=64&mean=1ms&wave=90%@40s";

const PROFILES: [(&str, &str); 12] = [
    ("postgres", "PostgreSQL"),
    ("mysql", "MySQL"),
    ("etcd", "etcd"),
    ("kafka", "Kafka"),
    ("redis", "Redis"),
    ("elasticsearch", "Elasticsearch"),
    ("rocksdb", "RocksDB"),
    ("video", "video"),
    ("vm", "virtual machines"),
    ("ci", "CI builds"),
    ("backup", "backups"),
    ("training", "AI training"),
];

fn check(profile: &str, target: &str, budget: &str, code: i32, answer: &str) {
    let args = ["run", target, "--profile", profile, "--budget", budget];
    let more = ["--seed", "1", "--no-save", "-q"];
    let scratch = Scratch::new();
    let ended = scratch.check(&[&args[..], &more].concat(), code, "Goals");
    // A line of the screen ends anywhere.
    let words = ended
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(words.contains(answer), "{answer}: {}", ended.stdout);
}

#[test]
fn each_profile_passes_fails_and_cannot_tell() {
    side_by_side(&PROFILES, |(name, title)| {
        let passed = format!("Fast enough for {title}:");
        check(name, FAST, "5min", 0, &passed);
        let failed = format!("Too slow for {title}:");
        check(name, SLOW, "5min", 4, &failed);
        let undecided = format!("Cannot tell for {title}:");
        check(name, UNSTEADY, "60s", 5, &undecided);
    });
}

#[test]
fn the_answer_says_how_much_is_supported_and_what_limits_it() {
    let supports = "Fast enough for etcd: supports about 980 log records/s at p99 4.66 ms. Closest \
                    limit is IOPS of fdatasync";
    check("etcd", FAST, "60s", 0, supports);
    let too_slow = "Too slow for CI builds: IOPS of source reads is";
    check("ci", SLOW, "60s", 4, too_slow);
}

#[test]
fn several_profiles_are_measured_in_one_run() {
    let args = ["run", FAST, "--profile", "etcd", "--profile", "training"];
    let more = ["--goal", "etcd_wal.p99.9 <= 50ms", "--seed", "1", "-q"];
    let ended = Scratch::new().check(&[&args[..], &more].concat(), 0, "Fast enough for etcd");
    assert!(ended.stdout.contains("AI training"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("PASS etcd_wal.p99.9"),
        "{}",
        ended.stdout
    );
}

#[test]
fn what_a_profile_cannot_have_is_refused() {
    let check = |args: &[&str], expected: &str| {
        Scratch::new().check(&[&["run"], args].concat(), 2, expected);
    };
    check(&["--profile", "oracle"], "postgres, mysql, etcd, kafka");
    let level = ["--profile", "etcd", "--level", "1ms"];
    check(&[&[FAST], &level[..]].concat(), "cannot be used with");
    let goal = ["--profile", "etcd", "--goal", "random_read.p99 <= 2ms"];
    check(&[&[FAST], &goal[..]].concat(), "no random-read.latency-p99");
    let scratch = Scratch::new();
    let file = scratch.path("file");
    std::fs::write(&file, vec![7; 32 << 20]).expect("a file");
    let args = ["run", &file.display().to_string(), "--profile", "etcd"];
    scratch.check(&args, 2, "only written to with --overwrite");
}
