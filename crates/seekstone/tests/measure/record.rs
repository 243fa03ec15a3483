//! `record` of I/O that is known, on a loop device of the test's own, and what is made of it.

use std::fs::{self, File, OpenOptions};
use std::io::BufReader;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;
use trace::{
    IoFlags, RecordedIo, RecordingEncoder, RecordingEnd, RecordingReader, TraceOp, TraceReader as _,
};

use crate::support::storage::{FileSystem, Loop};
use crate::support::{Running, Scratch, finish, side_by_side, skipped};

const BLOCK: usize = 4096;
const INSTANCES: &str = "/sys/kernel/tracing/instances";

/// A device in memory; `None`, with a message, where there can be none or nothing can be traced.
fn traceable(test: &str, scratch: &Scratch) -> Option<(FileSystem, Loop)> {
    if !rustix::process::geteuid().is_root() || !Path::new(INSTANCES).is_dir() {
        skipped(test, "it takes root and tracefs at /sys/kernel/tracing");
        return None;
    }
    let memory = FileSystem::tmpfs(test, scratch, 64)?;
    let device = Loop::within(test, &memory, 16)?;
    Some((memory, device))
}

/// The recorder's instance, once it is there.
fn instance_of(pid: u32) -> Option<PathBuf> {
    let entries = fs::read_dir(INSTANCES).ok()?.flatten();
    let mut paths = entries.map(|it| it.path());
    let prefix = format!("{INSTANCES}/seekstone-{pid}-");
    paths.find(|it| it.to_string_lossy().starts_with(&prefix))
}

/// A recorder that traces already.
fn recorder(scratch: &Scratch, args: &[&str]) -> Running {
    let mut program = Running::start(scratch.seekstone(args));
    let pid = program.pid();
    let is_tracing = || {
        let last = "events/block/block_rq_complete/enable";
        let enabled = instance_of(pid).and_then(|it| fs::read_to_string(it.join(last)).ok());
        enabled.is_some_and(|it| it.trim() == "1")
    };
    assert!(program.runs_until(is_tracing), "{}", program.end().error());
    program
}

/// Memory for direct I/O.
fn aligned(bytes: &mut [u8], length: usize) -> &mut [u8] {
    let at = bytes.as_ptr().align_offset(BLOCK);
    &mut bytes[at..at + length]
}

fn shape(io: &RecordedIo) -> (TraceOp, u64, u64) {
    (io.op, io.offset, io.length)
}

/// The requests of a recording at one device.
fn recorded(path: &Path, device: &str) -> Vec<RecordedIo> {
    let input = BufReader::new(File::open(path).expect("a recording"));
    let mut reader = RecordingReader::new("t", input);
    let mut found = Vec::new();
    while let Some(io) = reader.next_io().expect("a whole recording") {
        if reader.files()[io.device as usize] == device {
            found.push(io);
        }
    }
    assert_eq!(reader.end().map(|it| it.lost), Some(0));
    found
}

/// What is made at the device, in this order: reads and writes at places of a fixed pattern, each
/// eighth write followed by a sync.
fn make_requests(device: &Path) -> Vec<(TraceOp, u64, u64)> {
    let flags = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(device);
    let file = file.expect("the device");
    let mut memory = vec![7; 5 * BLOCK];
    let mut made = Vec::new();
    for number in 0..200_u64 {
        let blocks = 1 + number % 4;
        let offset = number * 37 % 1000 * BLOCK as u64;
        let length = blocks as usize * BLOCK;
        let buffer = aligned(&mut memory, length);
        let op = match number % 3 {
            0 => {
                file.write_all_at(buffer, offset).expect("a write");
                TraceOp::Write
            }
            _ => {
                file.read_exact_at(buffer, offset).expect("a read");
                TraceOp::Read
            }
        };
        made.push((op, offset, length as u64));
        if number % 24 == 0 {
            file.sync_data().expect("a sync");
            made.push((TraceOp::Sync, 0, 0));
        }
    }
    made
}

fn device_number(device: &Loop) -> String {
    let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name()));
    number.expect("a device").trim().replace(':', ",")
}

#[test]
fn each_request_is_recorded_as_it_was_made() {
    let test = "each_request_is_recorded_as_it_was_made";
    let scratch = Scratch::new();
    let Some((_memory, device)) = traceable(test, &scratch) else {
        return;
    };
    let own = std::process::id().to_string();
    for target in [device.path(), &own] {
        let path = scratch.path("load.trace");
        let args = ["record", target, "-o", "load.trace", "--force", "--names"];
        let recorder = recorder(&scratch, &args);
        let pid = recorder.pid();
        let made = make_requests(&device.device);
        recorder.signal(Signal::INT);
        let ended = recorder.end();
        ended.check(&args, 0, "Lost events: 0.");
        assert_eq!(instance_of(pid), None);
        let found = recorded(&path, &device_number(&device));
        let shapes: Vec<_> = found.iter().map(shape).collect();
        assert_eq!(shapes, made, "{target}");
        assert!(found.iter().all(|it| it.took.is_some()), "{target}");
        assert!(found.is_sorted_by_key(|it| it.at));
        // Direct I/O is waited for, one request after the other.
        let moves: Vec<&RecordedIo> = found.iter().filter(|it| it.op.has_extent()).collect();
        assert!(moves.iter().all(|it| it.flags.has(IoFlags::SYNC)));
    }
}

#[test]
fn a_recorder_that_is_killed_leaves_no_tracing() {
    let test = "a_recorder_that_is_killed_leaves_no_tracing";
    let scratch = Scratch::new();
    let Some((_memory, device)) = traceable(test, &scratch) else {
        return;
    };
    let recorder = recorder(&scratch, &["record", device.path(), "-o", "load.trace"]);
    let pid = recorder.pid();
    recorder.signal(Signal::KILL);
    drop(recorder.end());
    // A shell removes it, which the next recorder would do too.
    let args = [
        "record",
        device.path(),
        "-o",
        "load.trace",
        "--for",
        "100ms",
    ];
    while instance_of(pid).is_some() {
        scratch.check(&args, 1, "nothing was recorded");
    }
    assert!(!scratch.path("load.trace").exists());
}

#[test]
fn what_cannot_be_recorded_is_one_sentence() {
    let scratch = Scratch::new();
    let check = |target: &str, expected: &str| {
        let args = ["record", target, "-o", "load.trace", "--for", "100ms"];
        scratch.check(&args, 2, expected);
    };
    check("nowhere", "nowhere");
    check("4294967294", "no process has the number 4294967294");
    check("/proc", "there are no requests to record");
    scratch.check(&["record", "1", "-o", "-"], 2, "name a file");
    let several = ["record", "1", "/", "-o", "load.trace"];
    scratch.check(&several, 2, "several devices, or one process");
}

#[test]
fn without_rights_it_says_what_it_takes() {
    let test = "without_rights_it_says_what_it_takes";
    if !rustix::process::geteuid().is_root() || !Path::new(INSTANCES).is_dir() {
        return skipped(test, "it takes root and tracefs at /sys/kernel/tracing");
    }
    let scratch = Scratch::new();
    let mut command = scratch.seekstone(["record", "1", "-o", "/dev/null"]);
    command.current_dir("/").uid(65_534);
    let ended = finish(command);
    if ended.error().contains("ermission denied") {
        return skipped(test, "nobody may not run the program where it was built");
    }
    ended.check(&["record", "1"], 1, "recording needs root");
}

/// A recording of 60 s: reads of 4 KiB at random, 400 in a second, which go to the first tenth of
/// 256 MiB nine times in ten, and 100 writes of 16 KiB in a second, with so many before each sync.
fn known_recording(path: &Path, writes_per_sync: u64) {
    let mut random = fastrand::Rng::with_seed(11);
    let mut encoder = RecordingEncoder::default();
    encoder.add_device("8,0".into());
    encoder.add_process("postgres".into());
    let (mut at, mut writes) = (0_u64, 0_u64);
    while at < 60_000_000_000 {
        at += (-2_000_000.0 * random.f64().max(1e-9).ln()) as u64;
        let is_write = random.f64() < 0.2;
        let is_hot = !is_write && random.f64() < 0.9;
        let length = if is_write { 16_384 } else { 4096 };
        let blocks = (256 << 20) / length;
        let block = random.u64(0..if is_hot { blocks / 10 } else { blocks });
        let io = RecordedIo {
            at,
            op: if is_write {
                TraceOp::Write
            } else {
                TraceOp::Read
            },
            flags: IoFlags::SYNC,
            device: 0,
            process: 0,
            offset: block * length,
            length,
            took: Some(500_000),
        };
        encoder.add(&io);
        writes += u64::from(is_write);
        if is_write && writes % writes_per_sync == 0 {
            encoder.add(&RecordedIo {
                op: TraceOp::Sync,
                offset: 0,
                length: 0,
                ..io
            });
        }
    }
    encoder.finish(RecordingEnd {
        length_ns: at,
        has_starts: true,
        ..RecordingEnd::default()
    });
    fs::write(path, encoder.take()).expect("a file");
}

#[test]
fn a_profile_says_what_the_load_is() {
    let scratch = Scratch::new();
    known_recording(&scratch.path("load.trace"), 10);
    let json = scratch
        .check(&["profile", "load.trace", "--json", "-"], 0, "")
        .stdout;
    let found: Value = serde_json::from_str(&json).expect("JSON");
    let near = |path: &str, expected: f64, within: f64| {
        let value = found.pointer(path).and_then(Value::as_f64).expect(path);
        assert!((value / expected - 1.0).abs() <= within, "{path}: {value}");
    };
    near("/ops/0/count", 24_000.0, 0.03);
    near("/ops/1/count", 6_000.0, 0.06);
    near("/syncs", 600.0, 0.06);
    near("/writes_per_sync_mean", 10.0, 0.01);
    near("/ops/0/p50_ns", 500_000.0, 0.01);
    // Little's law: 500 requests in a second of 0.5 ms each, and syncs.
    near("/depth/mean", 0.255, 0.05);
    near("/gap_variation", 1.0, 0.05);
    for window in 0..4 {
        near(&format!("/dispersion/{window}/index"), 1.0, 0.35);
    }
    let sheet = scratch.check(&["profile", "load.trace"], 0, "").stdout;
    for part in [
        "postgres",
        "4 KiB 100 %",
        "postgres 100.0 %",
        "By time",
        "10.0 writes before each sync",
    ] {
        assert!(sheet.contains(part), "{part}: {sheet}");
    }
}

/// Median and 99th percentile, microseconds: means of four runs, whose 99th percentiles are 4 %
/// apart.
fn latencies(scratch: &Scratch, args: &[&str]) -> [f64; 2] {
    let runs = ["1", "2", "3", "4"].map(|seed| {
        let more = ["--seed", seed, "--no-save", "--quiet", "--json", "-"];
        let run = scratch.check(&[args, &more].concat(), 0, "").json();
        run["summary"]["rows"][args[0]].clone()
    });
    ["p50_us", "p99_us"].map(|key| {
        let each = runs
            .iter()
            .map(|row| row[key].as_f64().expect("a percentile"));
        each.sum::<f64>() / runs.len() as f64
    })
}

/// Without syncs: a replay counts them as requests, and a trial does not.
///
/// Bug: each run drew a seed of its own, and one in twelve missed the tenth by chance.
#[test]
fn the_fitted_workload_takes_as_long_as_the_replay() {
    let scratch = Scratch::new();
    known_recording(&scratch.path("load.trace"), u64::MAX);
    scratch.check(&["profile", "load.trace", "-o", "load.toml"], 0, "requests");
    side_by_side(&["sim:nvme", "sim:mm1?mean=1ms", "sim:qvo870"], |model| {
        let replayed = latencies(&scratch, &["replay", "load.trace", model]);
        let fitted = ["trial", model, "--workload", "load.toml"];
        let fitted = latencies(&scratch, &fitted);
        for (one, other) in replayed.iter().zip(fitted) {
            let ratio = other / one;
            assert!(
                (0.9..=1.1).contains(&ratio),
                "{model}: {replayed:?} {fitted:?}"
            );
        }
    });
}

#[test]
fn a_recording_becomes_other_formats() {
    let scratch = Scratch::new();
    known_recording(&scratch.path("load.trace"), 10);
    let args = [
        "profile",
        "load.trace",
        "--iolog",
        "load.log",
        "--blkparse",
        "load.txt",
    ];
    scratch.check(&args, 0, "requests");
    let count = |args: &[&str]| {
        let json = scratch
            .check(&[args, &["--json", "-"]].concat(), 0, "")
            .stdout;
        let found: Value = serde_json::from_str(&json).expect("JSON");
        found["requests"].as_u64().expect("a count")
    };
    let requests = count(&["inspect", "load.trace"]);
    assert_eq!(count(&["inspect", "load.log"]), requests);
    let text = fs::read_to_string(scratch.path("load.txt")).expect("a text");
    let of = |action: &str| text.lines().filter(|it| it.contains(action)).count() as u64;
    assert_eq!((of("  D "), of("  C ")), (requests, requests));
}
