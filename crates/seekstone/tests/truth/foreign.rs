//! I/O of others on the measured device is told from our own, on a file system of the test's own.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::pressure::Pressure;
use crate::support::storage::{FileSystem, Loop};
use crate::support::{Scratch, finish};
use serde_json::Value;

/// Little enough for any neighbour to do more.
const RATE: [&str; 4] = ["--rate", "200/s", "--duration", "1s"];
const LEN: usize = 1 << 20;

fn measure(scratch: &Scratch, target: &str, is_shared: bool) -> (Option<i32>, Value, String) {
    let json = scratch.path("run.json");
    let args = ["trial", target, "--no-save", "--force", "--json"];
    let mut command = scratch.seekstone(args.iter().chain(&[json.to_str().expect("a path")]));
    command.args(RATE);
    if !is_shared {
        command.env_remove("SEEKSTONE_SHARED");
    }
    let ended = finish(command);
    let run = fs::read_to_string(&json).expect("the run as JSON");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let measurement = run["measurements"][0].clone();
    let screen: Vec<&str> = ended.stdout.split_whitespace().collect();
    (ended.code, measurement, screen.join(" "))
}

fn share(measurement: &Value) -> f64 {
    let share = &measurement["counters"]["foreign"]["share"];
    share.as_f64().expect("a share")
}

/// Read `path` past the page cache until told to stop.
fn disturb(path: &std::path::Path, stop: &AtomicBool) {
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    let mut options = File::options();
    let file = options.read(true).custom_flags(direct).open(path);
    let file = file.expect("direct I/O");
    let mut memory = vec![0_u8; LEN + 4096];
    let start = memory.as_ptr().align_offset(4096);
    while !stop.load(Ordering::Relaxed) {
        let block = &mut memory[start..start + LEN];
        file.read_exact_at(block, 0).expect("a read");
    }
}

/// 94 % of the requests were others', which was a line at the end and no word at the number.
#[test]
fn a_neighbour_that_does_most_of_the_io_voids_the_number() {
    let test = "a_neighbour_that_does_most_of_the_io_voids_the_number";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::ext4(test, &scratch, 64, &["-E", "lazy_itable_init=0"]) else {
        return;
    };
    for name in ["mine", "others"] {
        let path = made.root.join(name);
        fs::write(&path, vec![7; 4 << 20]).expect("a file");
        File::open(&path)
            .and_then(|it| it.sync_all())
            .expect("a synced file");
    }
    let mine = made.root.join("mine");
    let mine = mine.to_str().expect("a plain path");
    let (code, quiet, _) = measure(&scratch, mine, false);
    assert!(share(&quiet) < 0.1, "{quiet}");
    assert_eq!(code, Some(0), "{quiet}");
    let stop = AtomicBool::new(false);
    let (voided, marked) = std::thread::scope(|scope| {
        scope.spawn(|| disturb(&made.root.join("others"), &stop));
        let voided = std::panic::catch_unwind(|| measure(&scratch, mine, false));
        let marked = std::panic::catch_unwind(|| measure(&scratch, mine, true));
        stop.store(true, Ordering::Relaxed);
        (voided.expect("a run"), marked.expect("a run"))
    });
    let (code, measurement, screen) = voided;
    assert!(share(&measurement) > 0.5, "{measurement}");
    assert_eq!(code, Some(3), "{screen}");
    assert!(screen.contains("% background I/O"), "{screen}");
    let (code, _, screen) = marked;
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains(" came from other processes ("), "{screen}");
}

/// Bug: a file system that writes all data to its journal first was taken for a neighbour, who did
/// 94 % of the I/O.
#[test]
fn writes_to_a_journal_are_our_own_and_a_neighbour_is_still_seen() {
    let test = "writes_to_a_journal_are_our_own_and_a_neighbour_is_still_seen";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::ext4(test, &scratch, 128, &["-E", "lazy_itable_init=0"]) else {
        return;
    };
    let device = &made.device.as_ref().expect("a device").device;
    let mount = |program: &str, args: &[&std::path::Path]| {
        let ended = std::process::Command::new(program).args(args).status();
        assert!(ended.expect(program).success(), "{program} {args:?}");
    };
    mount("umount", &[&made.root]);
    let journalled = std::path::Path::new("-odata=journal");
    mount("mount", &[journalled, device, &made.root]);
    let path = made.root.join("mine");
    fs::write(&path, vec![7; 16 << 20]).expect("a file");
    let target = path.to_str().expect("a plain path");
    let args = ["trial", target, "--overwrite", "--writes=100%"];
    let run = || {
        let rest = ["--duration=2s", "--no-save", "--quiet", "--json", "-"];
        finish(scratch.seekstone(args.iter().chain(&rest))).json()["measurements"][0].clone()
    };
    let quiet = run();
    assert!(share(&quiet) < 0.1, "{quiet}");
    let stop = AtomicBool::new(false);
    let disturbed = std::thread::scope(|scope| {
        scope.spawn(|| disturb(device, &stop));
        let disturbed = std::panic::catch_unwind(run);
        stop.store(true, Ordering::Relaxed);
        disturbed.expect("a run")
    });
    assert!(share(&disturbed) > 0.1, "{disturbed}");
}

/// What the device took is a part of what the kernel was entered for, and is told where its work
/// was ours.
#[test]
fn the_time_of_the_device_is_told_unless_others_use_it() {
    let test = "the_time_of_the_device_is_told_unless_others_use_it";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::ext4(test, &scratch, 64, &["-E", "lazy_itable_init=0"]) else {
        return;
    };
    let path = made.root.join("mine");
    let file = File::create_new(&path).expect("a file");
    file.write_all_at(&vec![7; 16 << 20], 0).expect("space");
    file.sync_all().expect("a synced file");
    let target = path.to_str().expect("a plain path");
    let args = ["trial", target, "--clients=4", "--duration=500ms"];
    let run = || {
        let rest = ["--no-save", "--quiet", "--json", "-"];
        finish(scratch.seekstone(args.iter().chain(&rest))).json()["measurements"][0].clone()
    };
    let pressure = Pressure::new();
    let quiet = run();
    let number = |path: &str| quiet.pointer(path).and_then(Value::as_f64);
    // Too few reads have none, and few are made where processors are short.
    let Some(time) = number("/counters/device_time/read_mean_ns") else {
        return pressure.assert(test, false, &format!("no time of the device: {quiet}"));
    };
    let in_device = number("/counters/device/reads").expect("a count") * time;
    // The device's time is that of all requests, also of those that came first or ended last, and
    // those may have waited for a busy disk.
    let of = |count: &str, mean: &str| number(count).zip(number(mean)).map(|(n, mean)| n * mean);
    let done = of("/kinds/0/count", "/kinds/0/service_mean_ns").expect("reads");
    let late = of("/unfinished/count", "/unfinished/response_mean_ns").unwrap_or(0.0);
    let service = done + late;
    assert!(
        in_device > 0.0 && in_device <= service * 1.05,
        "{in_device} of {service}: {quiet}"
    );
    assert_eq!(
        quiet["counters"]["device_time"]["write_mean_ns"],
        Value::Null
    );

    let stop = AtomicBool::new(false);
    let disturbed = std::thread::scope(|scope| {
        scope.spawn(|| disturb(&path, &stop));
        let disturbed = std::panic::catch_unwind(run);
        stop.store(true, Ordering::Relaxed);
        disturbed.expect("a run")
    });
    assert!(share(&disturbed) > 0.1, "{disturbed}");
    assert_eq!(disturbed["counters"]["device_time"], Value::Null);
}

/// A sparse file was read at 63 GB/s, with a note.
#[test]
fn what_is_read_from_holes_is_void() {
    let scratch = Scratch::new();
    let file = File::create_new(scratch.path("sparse")).expect("a file");
    file.set_len(16 << 20).expect("a size");
    let args = ["trial", "sparse", "--duration", "200ms", "--no-save", "-q"];
    scratch.check(&args, 3, "only 0 B of the file's 16 MiB are allocated");
    // Nor does a script, a goal or a comparison get its figures.
    let json = [&args[..], &["--json", "-"]].concat();
    let summary = scratch.check(&json, 3, "sparse-file").json()["summary"].take();
    assert_eq!(summary["trust"], "invalid", "{summary}");
    let goal = [&args[..], &["--goal", "iops >= 1"]].concat();
    scratch.check(&goal, 3, "UNDECIDED");
    // Without a hole it says nothing of the kind.
    file.write_all_at(&vec![7; 16 << 20], 0).expect("space");
    file.sync_all().expect("a synced file");
    let ended = scratch.check(&args, 0, "random read");
    assert!(
        !ended.stdout.contains("not-from-device"),
        "{}",
        ended.stdout
    );
}

/// Direct reads of a loop device that came from memory had 0 % from the page cache, and a note.
#[test]
fn what_the_page_cache_beneath_a_loop_device_answers_is_void() {
    let test = "what_the_page_cache_beneath_a_loop_device_answers_is_void";
    let scratch = Scratch::new();
    // On a file system of its own: reads of other tests would count as reads of its file.
    let Some(made) = FileSystem::ext4(test, &scratch, 64, &[]) else {
        return;
    };
    let Some(direct) = Loop::within(test, &made, 16) else {
        return;
    };
    let buffered = direct.buffered(test).expect("a second loop device");
    fs::read(&direct.image).expect("the image, which is in memory now");
    let run = |device: &Loop| {
        let rest = ["--duration=300ms", "--no-save", "--quiet", "--json=-"];
        let args = ["trial", device.path()];
        let ended = finish(scratch.seekstone(args.iter().chain(&rest)));
        (ended.code, ended.json()["measurements"][0].clone())
    };
    let says = |measurement: &Value| {
        let warnings = measurement["warnings"].as_array().expect("warnings");
        let of_cache = |it: &&Value| it["code"] == "not-from-device";
        warnings.iter().find(of_cache).cloned()
    };
    let share = |measurement: &Value| measurement["page_cache_share"].as_f64();
    let (code, measurement) = run(&buffered);
    assert_eq!(code, Some(3), "{measurement}");
    assert!(share(&measurement) > Some(0.5), "{measurement}");
    let warning = says(&measurement).expect("a warning");
    assert_eq!(warning["severity"], "invalid", "{warning}");
    let text = warning["text"].as_str().expect("a text");
    assert!(text.contains("the disk below the loop device"), "{text}");
    let (_, measurement) = run(&direct);
    assert_eq!(share(&measurement), Some(0.0), "{measurement}");
    assert_eq!(says(&measurement), None, "{measurement}");
}
