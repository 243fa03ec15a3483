//! `seekstone transfer` on real files of a few megabytes, and on models whose rate is known.

use std::fs;

use crate::support::storage::{FileSystem, Loop};
use crate::support::tables::{estimate, figure, readings, row, rows, word};
use crate::support::{Belongings, Running, Scratch, finish};
use rustix::process::Signal;
use serde_json::Value;

const BRIEF: [&str; 4] = ["--no-save", "--quiet", "--json", "-"];

/// A run that must end well.
#[track_caller]
fn transfer(scratch: &Scratch, args: &[&str]) -> Value {
    let args = [&["transfer"], args, &BRIEF].concat();
    let ended = finish(scratch.seekstone(&args));
    ended.check(&args, 0, "");
    ended.json()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

/// The series of reads.
fn reads(run: &Value) -> Vec<&Value> {
    let series = rows(run, "transfer").into_iter();
    series.filter(|one| one["levels"][0] == "read").collect()
}

/// The passes of the reads.
fn read_passes(run: &Value) -> Vec<&Value> {
    let passes = rows(run, "transfer-passes").into_iter();
    let is_read = |it: &&Value| {
        it["levels"][1]
            .as_str()
            .is_some_and(|it| it.starts_with("read"))
    };
    passes.filter(is_read).collect()
}

/// The bytes of each pass of a series.
fn moved(series: &Value) -> Vec<f64> {
    readings(series, "bytes")
}

/// Whether that is the title of a series in which several streams read together.
fn is_read_by_all(title: &str) -> bool {
    title.starts_with("read") && title.ends_with(" streams")
}

/// What is said of how the run was measured.
fn how(run: &Value) -> &str {
    run["tables"][0]["notes"][0].as_str().expect("a note")
}

/// One block after the other, each in a millisecond: 65,536,000 bytes a second.
#[test]
fn a_models_rate_is_found() {
    let scratch = Scratch::new();
    let found = transfer(&scratch, &["sim:md1?time=1ms&size=64MiB", "--seed", "7"]);
    let read = reads(&found)[0];
    let rate = figure(read, "throughput");
    assert!((rate / 65_536_000.0 - 1.0).abs() < 1e-6, "seed 7: {rate}");
    // Ten, and three that confirm them.
    assert_eq!(read_passes(&found).len(), 13);
    assert_eq!(figure(read, "passes"), 13.0);
    // As precise as was asked for.
    assert_eq!(read["warnings"].as_array().map(Vec::len), Some(0));
    assert_eq!(word(read_passes(&found)[0], "ended"), "");
}

#[test]
fn a_random_models_rate_lies_in_its_interval() {
    let scratch = Scratch::new();
    let found = transfer(&scratch, &["sim:mm1?mean=1ms&size=64MiB", "--seed", "3"]);
    let rate = estimate(reads(&found)[0], "throughput").expect("a rate");
    let (low, high) = (number(&rate["low"]), number(&rate["high"]));
    assert!(
        low <= 65_536_000.0 && 65_536_000.0 <= high,
        "seed 3: {rate}"
    );
    assert!(
        (high - low) / 2.0 <= 0.02 * number(&rate["value"]),
        "seed 3: {rate}"
    );
}

/// Two streams of a device with one server: together as much as one alone.
#[test]
fn streams_of_a_model_share_its_server() {
    let scratch = Scratch::new();
    let target = "sim:md1?time=1ms&size=16MiB";
    let args = [target, "--streams", "2", "--compare-alone", "--passes", "3"];
    let found = transfer(&scratch, &args);
    let ratio = figure(row(&found, "transfer-together", &["all"]), "ratio");
    assert!((ratio - 0.5).abs() < 0.01, "{ratio}");
}

#[test]
fn direct_passes_the_page_cache_and_buffered_comes_from_it() {
    let Some(scratch) = Scratch::on_disk("direct_passes_the_page_cache_and_buffered_comes_from_it")
    else {
        return;
    };
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let path = target.display().to_string();
    let share = |mode: &str| -> Vec<f64> {
        let args = [
            path.as_str(),
            "--mode",
            mode,
            "--size",
            "16MiB",
            "--passes",
            "3",
            "--reserve",
            "0",
        ];
        let found = transfer(&scratch, &args);
        let passes = read_passes(&found).into_iter();
        passes.map(|it| figure(it, "page-cache-share")).collect()
    };
    for (mode, low, high) in [
        ("direct", 0.0, 0.01),
        ("cold", 0.0, 0.05),
        ("buffered", 0.99, 1.0),
    ] {
        for found in share(mode) {
            assert!((low..=high).contains(&found), "{mode}: {found}");
        }
    }
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn a_pass_tells_when_and_at_what_cost() {
    let scratch = Scratch::new();
    let path = scratch.target().display().to_string();
    let args = [&path, "--size", "8MiB", "--passes", "2", "--reserve", "0"];
    let found = transfer(&scratch, &args);
    assert!(how(&found).contains(", the end of each block is checked, host "));
    let host = found["environment"]["host_name"].as_str();
    assert!(host.is_some_and(|it| !it.is_empty() && how(&found).contains(it)));
    let passes = read_passes(&found);
    let at = |pass: &Value| word(pass, "monotonic s").parse::<f64>().expect("a number");
    assert!(at(passes[0]) < at(passes[1]));
    assert_eq!(moved(reads(&found)[0]), [f64::from(8 << 20); 2]);
    for pass in passes {
        assert!(figure(pass, "cpu") > 0.0, "{pass}");
        assert!(word(pass, "ended").ends_with('Z'), "{pass}");
    }
}

#[test]
fn blocks_are_swept_and_every_byte_can_be_checked() {
    let scratch = Scratch::new();
    let path = scratch.target().display().to_string();
    let args = [
        &path,
        "--size",
        "8MiB",
        "--passes",
        "1",
        "--block",
        "4KiB,64KiB",
        "--block",
        "1MiB",
        "--check",
        "block",
        "--reserve",
        "0",
    ];
    let found = transfer(&scratch, &args);
    assert!(how(&found).contains("every byte is checked"));
    let blocks = reads(&found).into_iter().map(|it| &it["levels"][2]);
    assert_eq!(blocks.collect::<Vec<_>>(), ["4 KiB", "64 KiB", "1 MiB"]);
}

#[test]
fn an_existing_file_is_read_and_not_altered() {
    let scratch = Scratch::new();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| number as u8).collect();
    fs::write(scratch.path("film.avi"), bytes).expect("a file");
    let belongings = Belongings::of(&scratch.path("film.avi"));
    for extra in [
        &["--mode", "direct"][..],
        &["--mode", "cold"],
        &["--streams", "3", "--same-file"],
    ] {
        let args = [&["film.avi", "--passes", "2"], extra].concat();
        let found = transfer(&scratch, &args);
        assert!(how(&found).contains("data are not checked"));
        assert_eq!(rows(&found, "transfer").len(), 1);
    }
    belongings.assert_untouched();
}

#[test]
fn a_device_is_read_and_not_altered() {
    let test = "a_device_is_read_and_not_altered";
    let scratch = Scratch::new();
    let Some(device) = Loop::new(test, &scratch, 4) else {
        return;
    };
    let before = device.content();
    transfer(&scratch, &[device.path(), "--passes", "2"]);
    let args = ["diskmbps", "0", "2", "D", device.path()];
    scratch.check(&args, 0, "4.0MB pass  2");
    assert!(before == device.content(), "the device was altered");
}

#[test]
fn streams_are_told_apart_alone_and_together() {
    // On btrfs direct I/O goes through the page cache, rightly called no rate of the device.
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let path = target.display().to_string();
    fs::write(scratch.path("other"), vec![7; 4 << 20]).expect("a file");
    for (extra, streams) in [
        (&["--streams", "3"][..], 3),
        (&["--streams", "2", "--same-file"], 2),
        (&["--beside", "other"], 2),
    ] {
        let args = [
            &[&path, "--size", "4MiB", "--passes", "2", "--reserve", "0"],
            extra,
            &["--compare-alone"],
        ]
        .concat();
        // The other target is no directory, and has no room to keep.
        let args: Vec<&str> = match extra[0] {
            "--beside" => args
                .iter()
                .copied()
                .filter(|it| *it != "--reserve" && *it != "0")
                .collect(),
            _ => args,
        };
        let found = transfer(&scratch, &args);
        let together = *reads(&found).last().expect("a series");
        let of_all = rows(&found, "transfer-streams").into_iter();
        let of_all = of_all.filter(|it| it["levels"][0].as_str().is_some_and(is_read_by_all));
        assert_eq!(of_all.clone().count(), streams, "{extra:?}");
        for (stream, number) in of_all.zip(1..) {
            assert_eq!(stream["levels"][1], number.to_string(), "{extra:?}");
            assert!(!word(stream, "target").is_empty(), "{extra:?}");
        }
        let compared = rows(&found, "transfer-together").len();
        assert_eq!(compared, streams + 1, "{extra:?}");
        let sum: f64 = (1..=streams)
            .map(|it| readings(together, &format!("bytes-stream-{it}"))[0])
            .sum();
        assert_eq!(sum, moved(together)[0], "{extra:?}");
    }
    scratch.assert_clean(&target);
}

#[test]
fn growing_files_tell_what_came_from_memory() {
    let scratch = Scratch::new();
    let path = scratch.target().display().to_string();
    let args = [
        &path,
        "--mode",
        "small-file",
        "--size",
        "8MiB",
        "--passes",
        "2",
        "--reserve",
        "0",
    ];
    let found = transfer(&scratch, &args);
    // Eight megabytes fit into the memory of every machine that builds this.
    let finding = "Files of up to 8 MiB came from memory when they were read again.";
    assert_eq!(found["findings"][0], finding);
    assert_eq!(reads(&found).len(), 2 * 4);
}

#[test]
fn mistakes_are_told_before_anything_is_made() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    let path = target.display().to_string();
    let file = target.join("main").display().to_string();
    for (args, code, expected) in [
        (&["--passes", "0"][..], 2, "0 is not in 1..=10000"),
        (
            &["--passes", "3", "--precision", "2%"],
            2,
            "cannot be used with",
        ),
        (&["--streams", "0"], 2, "0 is not in 1..=64"),
        (&["--block", "0"], 2, "must be above zero"),
        (&["--block", "2GiB"], 2, "at most 1 GiB"),
        (&["--block", "64k,64k"], 2, "twice"),
        (
            &["--same-file"],
            2,
            "--same-file applies to several streams: add --streams N",
        ),
        (&["--compare-alone"], 2, "add --streams N or --beside"),
        (&["--size", "9999999GiB"], 1, "has no space"),
        (&["/missing/place"], 2, "/missing/place"),
        (&[&file, "--streams", "2"], 2, "at least 1 MiB"),
        (
            &["sim:mm1", "--mode", "cold"],
            2,
            "a model takes no mode, but --mode buffered where it has a file cache",
        ),
        (
            &["sim:mm1", "--beside", &path],
            2,
            "nothing real can be measured with it",
        ),
        (
            &["--mode", "small-file", "--streams", "2"],
            2,
            "--mode small-file reads a single file: leave --streams and",
        ),
    ] {
        let is_named = args[0].starts_with(['/', 's']);
        let place = if is_named {
            vec![]
        } else {
            vec![path.as_str()]
        };
        let args = [&["transfer"], place.as_slice(), args, &["--no-save", "-q"]].concat();
        scratch.check(&args, code, expected);
    }
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn a_signal_keeps_the_passes_and_leaves_nothing() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let path = target.display().to_string();
    let args = [
        "transfer",
        &path,
        "--size",
        "8MiB",
        "--passes",
        "10000",
        "--reserve",
        "0",
        "--no-save",
    ];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("read 8 MiB");
    running.signal(Signal::INT);
    running.end().check(&args, 1, "stopped by SIGINT");
    scratch.assert_clean(&target);
}

#[test]
fn a_small_disk_is_not_filled() {
    let test = "a_small_disk_is_not_filled";
    let scratch = Scratch::new();
    let Some(small) = FileSystem::ext4(test, &scratch, 32, &[]) else {
        return;
    };
    let args = [
        "transfer",
        small.path(),
        "--size",
        "18MiB",
        "--no-save",
        "-q",
    ];
    scratch.check(&args, 1, "has no space");
    let args = [
        "transfer",
        small.path(),
        "--size",
        "64MiB",
        "--reserve",
        "0",
        "--no-save",
        "-q",
    ];
    scratch.check(&args, 1, "has no space");
    let args = [
        "transfer",
        small.path(),
        "--size",
        "8MiB",
        "--streams",
        "4",
        "--reserve",
        "0",
        "--no-save",
        "-q",
    ];
    scratch.check(&args, 2, "4 streams with files of 8 MiB take 32 MiB");
    scratch.assert_clean(&small.root);
}

/// Passes of a transfer and of the classic program stand in one table.
#[test]
fn archived_passes_are_merged_with_logs() {
    let scratch = Scratch::new();
    let path = scratch.target().display().to_string();
    let args = [
        "transfer",
        &path,
        "--size",
        "4MiB",
        "--passes",
        "2",
        "--reserve",
        "0",
        "-q",
    ];
    scratch.check(&args, 0, "Saved as run 1");
    scratch.check(
        &["diskmbps", "2", "3", "M", "--reserve", "0"],
        0,
        "End of program",
    );
    let entries = fs::read_dir(scratch.path(".")).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let log = names
        .filter_map(|name| name.into_string().ok())
        .find(|name| name.ends_with("M.TXT"))
        .expect("a log");
    let merged = scratch.check(&["runs", "merge", "1", &log], 0, "1 MB is 1048576 bytes");
    // One began when the other had ended.
    assert!(!merged.stdout.contains("reading"), "{}", merged.stdout);
    assert_eq!(
        merged.stdout.matches(" MB/s  ").count(),
        3 + 4,
        "{}",
        merged.stdout
    );
    assert!(
        merged.stdout.contains("monotonic clock of"),
        "{}",
        merged.stdout
    );
    scratch.check(&["runs", "show", "1", "--all"], 0, "read 4 MiB by 64 KiB");
}

/// Of a file of 3,000,000 bytes 30 % were not read.
#[test]
fn a_file_is_read_to_its_last_byte() {
    let scratch = Scratch::new();
    let file = scratch.path("odd");
    fs::write(&file, vec![7; 3_000_001]).expect("a file");
    let path = file.display().to_string();
    let read = |mode: &str, blocks: &[&str]| -> Vec<u64> {
        let mut args = vec!["transfer", &path, "--mode", mode, "--passes", "2"];
        args.extend(["--no-save", "-q", "--json", "-"]);
        args.extend(blocks.iter().flat_map(|block| ["--block", block]));
        let run = scratch.check(&args, 0, "").json();
        let series = rows(&run, "transfer").into_iter();
        series.flat_map(moved).map(|it| it as u64).collect()
    };
    assert_eq!(read("buffered", &["1MiB"]), [3_000_001; 2]);
    assert_eq!(read("buffered", &["64KiB", "192KiB"]), [3_000_001; 4]);
    // Past the page cache only whole blocks of 4 KiB can be read.
    let direct = read("direct", &["1MiB"]);
    assert_eq!(direct, [3_000_001 / 4096 * 4096; 2]);
    assert_eq!(fs::read(&file).expect("the file"), vec![7; 3_000_001]);
}

/// One row for each pass, and for each of its streams; of what several streams write, too, the page
/// cache has what no device got.
#[test]
fn passes_are_exported_as_comma_separated_values() {
    let scratch = Scratch::new();
    let path = scratch.target().display().to_string();
    let args = ["transfer", &path, "--size", "4MiB", "--passes", "2"];
    let more = [
        "--streams",
        "2",
        "--mode",
        "buffered",
        "--reserve",
        "0",
        "-q",
    ];
    scratch.check(&[&args[..], &more].concat(), 0, "Saved as run 1");
    let export = ["runs", "export", "1", "--form", "replicates"];
    let csv = scratch.check(&export, 0, "page-cache-share").stdout;
    let of = |metric: &str| {
        let found = csv
            .lines()
            .filter(|it| it.split(',').nth(7) == Some(metric));
        let values = found.filter_map(|it| it.rsplit(',').next()?.parse::<f64>().ok());
        values.collect::<Vec<_>>()
    };
    // One write pass and two read passes, each with two streams.
    assert_eq!(of("bytes"), [f64::from(8 << 20); 3], "{csv}");
    for stream in ["throughput-stream-1", "throughput-stream-2"] {
        assert!(
            of(stream).len() == 3 && of(stream).iter().all(|&it| it > 0.0),
            "{csv}"
        );
    }
    let shares = of("page-cache-share");
    assert!(shares.iter().all(|it| (0.0..=1.0).contains(it)), "{csv}");
    scratch.check(
        &["runs", "export", "1", "--form", "intervals"],
        2,
        "no intervals",
    );
}
