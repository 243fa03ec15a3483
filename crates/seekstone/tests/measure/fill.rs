//! `fill` writes a file system of its own full to the last byte, tells how much fitted, and frees
//! it again; any other is refused.

use std::fs;
use std::path::Path;

use crate::support::storage::FileSystem;
use crate::support::{Scratch, leftovers};
use host::interrupt::Interrupt;
use kinds::measure::{MeasureError, ReplicateContext, measuring};
use results::Reading;

fn fill(target: &Path, more: &str, stop: &Interrupt) -> Result<Vec<Reading>, MeasureError> {
    let text = format!(
        "target = {:?}\nfill = \"to the last byte\"\n{more}",
        target.display()
    );
    let table = text.parse().expect("TOML");
    let measurement = measuring("fill", &table).expect("settings");
    measurement.measure(&ReplicateContext::new("/", 3), stop)
}

fn reading<'a>(readings: &'a [Reading], name: &str) -> &'a Reading {
    let found = readings.iter().find(|reading| reading.name == name);
    found.expect(name)
}

/// What is told of a file system that could take `available` bytes before.
fn check(made: &FileSystem, available: u64, readings: &[Reading]) {
    let capacity = reading(readings, "capacity").value;
    // Names and maps of blocks take a little.
    let share = capacity / available as f64;
    assert!((0.97..=1.0).contains(&share), "{share} of {available}");
    assert!(reading(readings, "left").value < 4096.0, "{readings:?}");
    let rates = &reading(readings, "fill rate").parts;
    assert!((15..=101).contains(&rates.len()), "{} parts", rates.len());
    assert!(rates.iter().all(|rate| *rate > 0.0));
    assert!(leftovers(&made.root).is_empty());
}

/// Tries before room counts as lost.
const FREED_TRIES: usize = 100_000;

/// All room but `slack` bytes is free again. A child that another test starts holds our files, too,
/// from its fork until it runs its program.
#[track_caller]
fn assert_freed(made: &FileSystem, available: u64, slack: u64) {
    let missing = || available.saturating_sub(made.available());
    for _ in 0..FREED_TRIES {
        if missing() <= slack {
            return;
        }
        std::thread::yield_now();
    }
    assert!(missing() <= slack, "{} bytes are missing", missing());
}

#[test]
fn a_file_system_is_filled_to_the_last_byte_and_freed() {
    let test = "a_file_system_is_filled_to_the_last_byte_and_freed";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::ext4(test, &scratch, 64, &["-m", "0"]) else {
        return;
    };
    let available = made.available();
    for (more, files) in [
        ("file = \"16MiB\"", 4),
        (
            "compressible = \"50%\"\nrecord = \"64KiB\"\nfile = \"1GiB\"",
            1,
        ),
    ] {
        let readings = fill(&made.root, more, &Interrupt::never()).expect("a full file system");
        check(&made, available, &readings);
        let written = reading(&readings, "files").value;
        assert!(
            (written - f64::from(files)).abs() < 1e-9,
            "{more}: {written}"
        );
        assert_freed(&made, available, 65_536);
    }
}

#[test]
fn memory_is_filled_and_freed_too() {
    let test = "memory_is_filled_and_freed_too";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::tmpfs(test, &scratch, 16) else {
        return;
    };
    let available = made.available();
    let readings = fill(&made.root, "", &Interrupt::never()).expect("a full file system");
    check(&made, available, &readings);
    assert_freed(&made, available, 0);
}

/// Fill it, and raise a signal once some of it is written.
fn interrupted(made: &FileSystem, available: u64) -> Result<Vec<Reading>, MeasureError> {
    let stop = Interrupt::never();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while made.available() > available - (8 << 20) && stop.is_raised().is_none() {
                std::thread::yield_now();
            }
            stop.raise();
        });
        let ended = fill(&made.root, "record = \"4KiB\"", &stop);
        stop.raise();
        ended
    })
}

/// Tries in which memory may be full before the one who raises the signal gets a processor.
const SIGNAL_TRIES: usize = 20;

#[test]
fn a_signal_ends_it_and_frees_the_room() {
    let test = "a_signal_ends_it_and_frees_the_room";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::tmpfs(test, &scratch, 256) else {
        return;
    };
    let available = made.available();
    let ended = (0..SIGNAL_TRIES).find_map(|_| interrupted(&made, available).err());
    let error = ended.expect("a signal that came in time");
    assert!(
        matches!(error, MeasureError::Interrupted { .. }),
        "{error:?}"
    );
    assert!(leftovers(&made.root).is_empty());
    assert_freed(&made, available, 0);
}

#[test]
fn whatever_somebody_would_miss_is_not_filled() {
    let test = "whatever_somebody_would_miss_is_not_filled";
    let scratch = Scratch::new();
    let refused = |target: &Path, expected: &str| {
        let error = fill(target, "", &Interrupt::never()).expect_err("a refusal");
        assert!(matches!(error, MeasureError::Usage(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(expected), "{text}");
    };
    refused(Path::new("/"), "its file system holds /");
    let target = scratch.target();
    refused(&target, "it is no mount point");
    let Some(made) = FileSystem::ext4(test, &scratch, 16, &[]) else {
        return;
    };
    fs::write(made.root.join("precious"), "x").expect("a file");
    refused(&made.root, "it is not empty (precious)");
    assert_eq!(fs::read(made.root.join("precious")).expect("a file"), b"x");
    fs::remove_file(made.root.join("precious")).expect("a file");
    let found = made.root.join("lost+found/#12");
    fs::write(&found, "x").expect("a file");
    refused(&made.root, "it is not empty (lost+found/#12)");
    assert_eq!(fs::read(&found).expect("a file"), b"x");
    fs::remove_file(&found).expect("a file");
    let inside = made.root.join("lost+found");
    fs::remove_dir(&inside).expect("the directory");
    fs::write(&inside, "x").expect("a file");
    refused(&made.root, "it is not empty (lost+found)");
    fs::remove_file(&inside).expect("a file");
    made.remount("ro");
    refused(&made.root, "it is mounted read-only");
}

#[test]
fn consent_is_asked_for_in_words() {
    let check = |text: &str, expected: &str| {
        let table = text.parse().expect("TOML");
        let fault = measuring("fill", &table).expect_err("no consent");
        assert!(fault.message.contains(expected), "{}", fault.message);
    };
    check("target = \"/x\"", "fill needs fill = \"to the last byte\"");
    check(
        "target = \"/x\"\nfill = true",
        "it is one of \"to the last byte\"",
    );
    check("fill = \"to the last byte\"", "fill needs target = PATH");
}
