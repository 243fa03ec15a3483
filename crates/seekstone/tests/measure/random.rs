//! `seekstone random` on models whose times are known, and on real files of a few megabytes.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::support::storage::{FileSystem, Loop};
use crate::support::tables::figure;
use crate::support::{Belongings, Ended, Running, Scratch, finish, tables, with_enough_time};
use rustix::process::Signal;
use serde_json::Value;

const BRIEF: [&str; 6] = ["--no-save", "--quiet", "--json", "-", "--rounds", "2"];
/// A file of our own with few cells, of reads and writes.
const SMALL: [&str; 10] = [
    "--size",
    "4MiB",
    "--spans",
    "32KiB,all",
    "--blocks",
    "4KiB",
    "--depths",
    "1",
    "--reserve",
    "0",
];

/// The run of a command that must end well.
#[track_caller]
fn run(scratch: &Scratch, args: &[&str]) -> Value {
    let args = [&["random"], args, &BRIEF].concat();
    let ended = finish(scratch.seekstone(&args));
    ended.check(&args, 0, "");
    ended.json()
}

fn cells(run: &Value) -> Vec<&Value> {
    tables::rows(run, "random")
}

fn is_of(cell: &Value, operation: &str) -> bool {
    cell["levels"][0] == *operation
}

/// Whether the table says that of how it came about.
fn is_noted(run: &Value, text: &str) -> bool {
    tables::notes(run, "random").contains(text)
}

fn findings(run: &Value) -> Vec<&str> {
    let texts = run["findings"].as_array().expect("findings");
    texts.iter().filter_map(Value::as_str).collect()
}

/// One server: an operation waits for all that are before it, whatever its span and block size.
#[test]
fn a_models_times_are_found() {
    let scratch = Scratch::in_memory();
    let found = run(&scratch, &["sim:md1?time=1ms&size=64MiB", "--seed", "7"]);
    assert_eq!(cells(&found).len(), 2 * 15);
    for cell in cells(&found) {
        let depth = cell["levels"][3].as_str().expect("a depth");
        let truth = 1e-3 * depth.parse::<f64>().expect("a number");
        let mean = figure(cell, "service-time");
        assert!((mean / truth - 1.0).abs() < 1e-3, "seed 7: {cell}");
        assert!((figure(cell, "iops") / 1e3 - 1.0).abs() < 1e-2, "{cell}");
        assert_eq!(cell["replicates"].as_array().map(Vec::len), Some(2));
        assert_eq!(cell["trust"], "reliable");
        assert_eq!(tables::word(cell, "state"), "", "{cell}");
    }
    // Every cell is as precise as was asked for.
    let warnings = found["warnings"].to_string();
    assert!(!warnings.contains("not-converged"), "{warnings}");
    assert_eq!(found["measurements"].as_array().map(Vec::len), Some(60));
    let texts = findings(&found);
    assert!(texts[0].contains("no difference is shown"), "{texts:?}");
}

/// A device that stalls for longer than a round lasts ended the run.
#[test]
fn a_slow_answer_is_waited_for_and_a_silent_device_is_told() {
    let scratch = Scratch::in_memory();
    let slow = "sim:md1?time=700ms&size=1MiB";
    let args = [
        "--reads", "--spans", "all", "--blocks", "4KiB", "--depths", "1", "--budget", "1s",
    ];
    let found = run(&scratch, &[&[slow], &args[..]].concat());
    let mean = figure(cells(&found)[0], "service-time");
    assert!((mean / 0.7 - 1.0).abs() < 1e-6, "{mean}");
    let args = [
        &["random", "sim:md1?time=20s&size=1MiB"],
        &args[..],
        &["--max-time", "600ms", "--no-save", "-q"],
    ]
    .concat();
    scratch.check(&args, 1, "no operation completed in 10.6 s");
}

#[test]
fn a_drives_cache_is_found_and_the_same_seed_says_the_same() {
    let scratch = Scratch::in_memory();
    let target = "sim:drive?cache=512KiB&hit=50us&miss=500us&seek=100us&size=64MiB";
    let args = [target, "--depths", "1", "--blocks", "4KiB", "--seed", "3"];
    let found = run(&scratch, &args);
    let texts = findings(&found);
    let step = "probably holds between 512 KiB and 2 MiB.";
    let steps: Vec<&&str> = texts
        .iter()
        .filter(|text| text.contains("clearly"))
        .collect();
    assert_eq!(steps.len(), 1, "{texts:?}");
    assert!(
        steps[0].starts_with("Reads take 50.0 us within 512 KiB"),
        "{texts:?}"
    );
    assert!(steps[0].ends_with(step), "{texts:?}");
    assert_eq!(cells(&run(&scratch, &args)), cells(&found));
}

#[test]
fn a_file_is_made_checked_and_removed() {
    let Some(scratch) = Scratch::on_disk("a_file_is_made_checked_and_removed") else {
        return;
    };
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let path = target.display().to_string();
    let found = run(
        &scratch,
        &[&[path.as_str(), "--budget", "4s"], &SMALL[..]].concat(),
    );
    assert!(is_noted(&found, "text of each record were checked"));
    let filling = tables::row(&found, "random-fill", &["4 MiB"]);
    assert!(figure(filling, "throughput") > 0.0);
    assert_eq!(found["setup"]["command"], "random");
    let names = cells(&found).into_iter().map(|cell| {
        let level = |place: usize| cell["levels"][place].as_str().expect("a level");
        (level(0), level(1))
    });
    let expected = [
        ("read", "32 KiB"),
        ("read", "4 MiB"),
        ("write", "32 KiB"),
        ("write", "4 MiB"),
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    for cell in cells(&found) {
        assert_eq!(figure(cell, "errors"), 0.0, "{cell}");
        assert!(figure(cell, "operations") > 0.0, "{cell}");
        assert!(figure(cell, "service-time") > 0.0, "{cell}");
        assert!(figure(cell, "cpu-per-io") > 0.0, "{cell}");
        // Writes may be answered by a device that counts them later.
        if is_of(cell, "read") {
            assert!(figure(cell, "page-cache-share") < 0.01, "{cell}");
        }
    }
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn buffered_reads_come_from_memory_and_durable_writes_do_not() {
    let scratch = Scratch::in_memory();
    let path = scratch.target().display().to_string();
    let common = [&[path.as_str(), "--budget", "4s"], &SMALL[..]].concat();
    let found = run(
        &scratch,
        &[&common[..], &["--reads", "--buffered"]].concat(),
    );
    for cell in cells(&found) {
        assert!(figure(cell, "page-cache-share") > 0.99, "{cell}");
    }
    let found = run(
        &scratch,
        &[&common[..], &["--writes", "--durable"]].concat(),
    );
    assert!(is_noted(&found, "that of a write with its fsync"));
    assert!(cells(&found).iter().all(|cell| is_of(cell, "write")));
}

#[test]
fn an_existing_file_is_read_and_not_altered() {
    let scratch = Scratch::in_memory();
    // Not whole blocks: what remains is left out.
    let bytes: Vec<u8> = (0..3_000_001_u32).map(|number| number as u8).collect();
    fs::write(scratch.path("film.avi"), bytes).expect("a file");
    let belongings = Belongings::of(&scratch.path("film.avi"));
    for extra in [&[][..], &["--buffered"]] {
        let args = [
            &[
                "film.avi", "--budget", "3s", "--depths", "1", "--blocks", "4KiB",
            ],
            extra,
        ];
        let found = run(&scratch, &args.concat());
        assert!(is_noted(&found, "Data were not checked"));
        assert_eq!(tables::rows(&found, "random-fill").len(), 0);
        assert!(cells(&found).iter().all(|cell| is_of(cell, "read")));
        let texts = found["warnings"].to_string();
        assert!(
            texts.contains("was only read: writes need --overwrite"),
            "{texts}"
        );
        assert!(
            texts.contains("The last 1729 bytes are not a whole block"),
            "{texts}"
        );
    }
    let args = ["random", "film.avi", "--writes", "--no-save", "-q"];
    scratch.check(
        &args,
        2,
        "film.avi exists and is only written to with --overwrite",
    );
    belongings.assert_untouched();
}

#[test]
fn a_file_that_may_be_lost_is_written() {
    let scratch = Scratch::in_memory();
    fs::write(scratch.path("scratch.img"), vec![7; 2 << 20]).expect("a file");
    let args = [
        "scratch.img",
        "--overwrite",
        "--budget",
        "2s",
        "--spans",
        "32KiB,1MiB",
    ];
    let found = run(
        &scratch,
        &[&args[..], &["--depths", "1", "--blocks", "4KiB"]].concat(),
    );
    assert_eq!(cells(&found).len(), 4);
    let content = fs::read(scratch.path("scratch.img")).expect("the file");
    assert_eq!(content.len(), 2 << 20);
    assert!(
        content[..1 << 20].iter().any(|byte| *byte != 7),
        "nothing was written"
    );
    let text = b"\nrecord 0000000000000000: Seekstone random access test.\n";
    assert_eq!(content[32..][..text.len()], *text);
    assert!(
        content[1 << 20..].iter().all(|byte| *byte == 7),
        "beyond the largest span"
    );
}

#[test]
fn a_device_is_read_and_not_altered() {
    let scratch = Scratch::in_memory();
    let Some(device) = Loop::new("a_device_is_read_and_not_altered", &scratch, 4) else {
        return;
    };
    let before = device.content();
    let shape = ["--depths", "1", "--blocks", "4KiB"];
    let found = with_enough_time(|budget| {
        let args = ["random", device.path(), "--budget", budget];
        let ended = finish(scratch.seekstone([&args[..], &shape, &BRIEF].concat()));
        let lacks_time = ended.error().contains("--budget");
        // Where processors are short, a cell is invalid.
        assert!(lacks_time || matches!(ended.code, Some(0 | 3)), "{ended:?}");
        (!lacks_time).then(|| ended.json())
    });
    assert!(cells(&found).iter().all(|cell| is_of(cell, "read")));
    assert!(before == device.content(), "the device was altered");
}

/// Arguments, with which code they are refused, and what is said.
type Mistake<'a> = (&'a [&'a str], i32, &'a str);

/// Each is refused in one sentence, before anything is made.
#[track_caller]
fn check_mistakes(scratch: &Scratch, place: &[&str], mistakes: &[Mistake<'_>]) {
    let belongings = Belongings::of(&scratch.target());
    for (args, code, expected) in mistakes {
        let args = [&["random"], place, args, &["--no-save", "-q"]].concat();
        scratch.check(&args, *code, expected);
    }
    belongings.assert_untouched();
    scratch.assert_clean(&scratch.path("target"));
}

#[test]
fn mistakes_are_told_before_anything_is_made() {
    let scratch = Scratch::in_memory();
    let path = scratch.target().display().to_string();
    let mistakes: &[Mistake<'_>] = &[
        (&["--spans", "0"], 2, "must be above zero"),
        (&["--spans", "32x"], 2, "unknown unit \"x\""),
        (&["--spans", "half"], 2, "--spans"),
        (&["--spans", "-1k"], 2, "cannot be negative"),
        (
            &["--spans", "2GiB", "--size", "4MiB"],
            2,
            "only 4 MiB is in use",
        ),
        (
            &["--spans", "6000", "--size", "4MiB"],
            2,
            "is not a multiple of the block size, 4 KiB",
        ),
        (
            &["--spans", "64k,64KiB", "--size", "4MiB"],
            2,
            "--spans names 64 KiB twice",
        ),
        (&["--blocks", "0"], 2, "must be above zero"),
        (&["--blocks", "2GiB"], 2, "at most 1 GiB"),
        (
            &["--blocks", "1MiB", "--size", "4MiB"],
            2,
            "fewer than 8 blocks of 1 MiB",
        ),
        (
            &["--blocks", "100", "--size", "4MiB"],
            2,
            "direct I/O is not possible here with blocks of",
        ),
        (&["--depths", "0"], 2, "0 is not in 1..=4096"),
        (
            &["--depths", "1,1", "--size", "4MiB"],
            2,
            "--depths names 1 twice",
        ),
        (&["--rounds", "0"], 2, "0 is not in 1..=100"),
        (
            &["--size", "16KiB"],
            2,
            "is too small: use a --size of at least 4 MiB",
        ),
        (&["--size", "9999999GiB"], 1, "has no space"),
        (&["--budget", "1s", "--size", "4MiB"], 2, "Use --budget"),
        (&["--max-time", "1ms"], 2, "at least 250"),
        (&["--reads", "--writes"], 2, "cannot be used with"),
        (&["--reads", "--durable"], 2, "cannot be used with"),
        (
            &["--overwrite"],
            2,
            "--overwrite applies to an existing file or device",
        ),
    ];
    check_mistakes(&scratch, &[&path], mistakes);
}

#[test]
fn targets_that_cannot_be_measured_are_told() {
    let scratch = Scratch::in_memory();
    let file = scratch.target().join("main").display().to_string();
    let mistakes: &[Mistake<'_>] = &[
        (&["/missing/place"], 2, "/missing/place"),
        (&[&file], 2, "at least 1 MiB"),
        (&["null:"], 2, "has no blocks"),
        (
            &["sim:mm1", "--buffered"],
            2,
            "--buffered: this model has no file cache. Leave it out",
        ),
        (
            &["sim:mm1?size=1MiB", "--blocks", "256KiB"],
            2,
            "fewer than 8 blocks of 256 KiB",
        ),
        (&["sim:drive?cache=2GiB"], 2, "at most 1 GiB"),
    ];
    check_mistakes(&scratch, &[], mistakes);
}

/// Ends a run that has measured a cell, and returns what it says.
fn ended_after(scratch: &Scratch, path: &str, act: impl FnOnce(&Running)) -> Ended {
    let args = [
        &["random", path, "--budget", "10min", "--json", "-"],
        &SMALL[..],
    ]
    .concat();
    let mut running =
        Running::start(scratch.seekstone([&args[..], &["--max-time", "300ms"]].concat()));
    running.wait_for("] 3 of ");
    act(&running);
    running.end()
}

#[test]
fn a_signal_keeps_the_cells_and_leaves_nothing() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let ended = ended_after(&scratch, &target.display().to_string(), |running| {
        running.signal(Signal::INT);
    });
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.error().contains("stopped by SIGINT"),
        "{}",
        ended.stderr
    );
    let run = ended.json();
    assert_eq!(run["status"]["state"], "partial");
    let count = cells(&run).len();
    assert!((2..=4).contains(&count), "{count}");
    scratch.assert_clean(&target);
    scratch.check(&["runs", "list"], 0, "partial");
}

/// The file of a run that is under way in `target`.
fn main_file(target: &Path) -> PathBuf {
    let entries = fs::read_dir(target).expect("the target");
    let mains = entries.map(|entry| entry.expect("an entry").path().join("main"));
    mains
        .into_iter()
        .find(|path| path.is_file())
        .expect("the test file")
}

/// Damage to the text of records is seen, and the run ends.
#[test]
fn wrong_text_ends_the_run() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let place = target.clone();
    let args = [
        "--size", "4MiB", "--spans", "all", "--blocks", "4KiB", "--depths", "1,2",
    ];
    let path = target.display().to_string();
    let all = [
        &[
            "random",
            &path,
            "--reads",
            "--budget",
            "10min",
            "--reserve",
            "0",
            "--no-save",
        ],
        &args[..],
    ];
    let mut running = Running::start(scratch.seekstone(all.concat()));
    running.wait_for("] 1 of ");
    let file = fs::File::options()
        .write(true)
        .open(main_file(&place))
        .expect("the file");
    for record in 0..1024 {
        // The first digit of the number.
        file.write_all_at(b"9", record * 4096 + 32 + 8)
            .expect("a write");
    }
    drop(file);
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("storage returned different data from what was written"),
        "{}",
        ended.stderr
    );
    scratch.assert_clean(&target);
}

#[test]
fn a_small_disk_is_not_filled() {
    let scratch = Scratch::in_memory();
    let Some(small) = FileSystem::ext4("a_small_disk_is_not_filled", &scratch, 32, &[]) else {
        return;
    };
    // 23 MiB are free, of which 8 stay free.
    let args = ["random", small.path(), "--size", "18MiB", "--no-save", "-q"];
    scratch.check(&args, 1, "has no space");
    scratch.assert_clean(&small.root);
}

#[test]
fn archived_cells_are_shown_listed_and_exported() {
    let scratch = Scratch::in_memory();
    let target = "sim:md1?time=1ms&size=1MiB";
    let args = ["random", target, "--seed", "1", "-q", "--depths", "1,4"];
    scratch.check(&args, 0, "Saved as run 1: seekstone runs show 1");
    scratch.check(&["runs", "show", "1"], 0, "1 MiB    4 KiB       4  4.00 ms");
    scratch.check(
        &["runs", "show", "1", "--all"],
        0,
        "operations  errors  rounds",
    );
    scratch.check(&["runs", "list"], 0, "read 1 MiB 1.00 ms");
    let ended = scratch.check(
        &["runs", "export", "1", "--form", "csv"],
        0,
        "run,command,target,table,row",
    );
    // Spans of 32, 128, 512 KiB and all; blocks of 16 and 64 KiB; depth 4: read and written.
    let means = ended.stdout.lines();
    let means =
        means.filter(|it| it.contains(",random,\"operation=") && it.contains(",service-time,"));
    assert_eq!(means.count(), 2 * 7, "{}", ended.stdout);
    let ended = scratch.check(&["runs", "export", "1"], 0, "\"sums_up_trials\"");
    assert_eq!(cells(&ended.json()).len(), 14);
}

#[test]
fn all_combinations_are_measured_where_they_are_asked_for() {
    let scratch = Scratch::in_memory();
    let cross = [
        "--cross",
        "--spans",
        "32KiB,all",
        "--blocks",
        "4KiB,64KiB",
        "--depths",
        "1,2",
    ];
    let target = "sim:md1?time=1ms&size=1MiB";
    let found = run(&scratch, &[&[target, "--reads"], &cross[..]].concat());
    assert_eq!(cells(&found).len(), 2 + 2 * 2);
    let args = [
        &["random", target, "--reads", "--no-save", "-q"],
        &cross[..],
    ]
    .concat();
    scratch.check(&args, 0, "1 MiB   64 KiB      2");
}
