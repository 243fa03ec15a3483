//! Copies, backups, full media and streams on models, whose answers are known.

use host::interrupt::Interrupt;
use kinds::measure::MeasureError;
use results::Reading;

use crate::support::{measured, model, names, parsed, place, reading, try_measured};

/// A tape of 64 MB in one pass, 1 MB/s, that takes a second from end to end; `{}` is for more.
const TAPE: &str = "sim:dlt2000?passes=1&capacity=64MB&rate=1MB/s&search=1s&bus=100MB/s&buffer=1MB";
/// Takes 10 ms for a command of any size.
const SLOW: &str = "sim:md1?time=10ms&size=64MB";

fn close(readings: &[Reading], name: &str, expected: f64) {
    let found = reading(readings, name);
    assert!(
        (found - expected).abs() <= 1e-6 * expected,
        "{name}: {found} and not {expected}"
    );
}

fn refusal(kind: &str, settings: &str, target: &str) -> String {
    let error = try_measured(kind, settings, &model(target)).expect_err("a mistake");
    assert!(matches!(error, MeasureError::Usage(_)), "{error:?}");
    error.to_string()
}

/// A hundred records of 10 ms to read, and as long to write; one is written while the next is read.
#[test]
fn a_copy_takes_the_longer_of_reading_and_writing() {
    let copy = |more: &str| {
        let settings =
            format!("source = \"{SLOW}\"\nsize = 1000000\nrecord = 10000\nsynced = \"no\"\n{more}");
        measured("copy", &settings, &model(SLOW))
    };
    let plain = copy("");
    assert_eq!(
        names(&plain),
        ["copy time", "copy rate", "calls", "allocations"]
    );
    close(&plain, "copy time", 1.01);
    close(&plain, "copy rate", 1e6 / 1.01);
    close(&plain, "calls", 200.0);
    // Fifty reads of 20,000 bytes, and the two writes of the last of them.
    close(&copy("source-record = 20000"), "copy time", 1.01);
    // Room for ten records takes 50 ms, and comes before the first record, too; one buffer is full
    // meanwhile.
    for extent in ["extent", "default-extent"] {
        let found = copy(&format!("{extent} = 100000\nextend-time = \"50ms\""));
        close(&found, "allocations", 10.0);
        close(&found, "copy time", 1.51);
    }
    let both = "extent = 1000000\ndefault-extent = 100000\nextend-time = \"50ms\"";
    close(&copy(both), "copy time", 1.06);
}

#[test]
fn a_copy_from_tape_counts_its_stops() {
    let copy = |more: &str| {
        let settings =
            format!("source = \"{TAPE}\"\nsize = \"16MB\"\nrecord = 20000\nbuffers = 4\n{more}");
        measured("copy", &settings, &model(SLOW))
    };
    // 2 MB/s can be written: the tape streams.
    let fast = copy("");
    close(&fast, "tape stops", 0.0);
    let rate = reading(&fast, "copy rate");
    assert!((0.98e6..1e6).contains(&rate), "{rate}");
    let slow = copy("default-extent = 20000\nextend-time = \"20ms\"");
    assert!(reading(&slow, "tape stops") > 3.0, "{slow:?}");
    assert!(reading(&slow, "copy rate") < 0.67e6, "{slow:?}");
}

#[test]
fn a_tape_is_filled_to_its_last_byte() {
    let fill = |target: &str| {
        let settings = format!(
            "target = \"{target}\"\nfill = \"to the last byte\"\nrecord = \"64KiB\"\n\
             file = \"10MB\""
        );
        measured("fill", &settings, &model("sim:dlt2000"))
    };
    let found = fill(TAPE);
    let expected = ["capacity", "fill time", "fill rate", "files", "tape stops"];
    assert_eq!(names(&found), expected);
    close(&found, "capacity", 64e6);
    close(&found, "files", 7.0);
    // Each file is on the tape before the next begins, which stops it.
    close(&found, "tape stops", 7.0);
    // Streaming takes 64 s, and each of six stops 3 s; after one the buffer fills meanwhile.
    let time = reading(&found, "fill time");
    assert!((82.0..82.1).contains(&time), "{time}");
    // Parts of ten records, the first that are a hundredth or more.
    assert_eq!(found[2].parts.len(), 97);
    let compressed = fill(&format!("{TAPE}&compression=2"));
    close(&compressed, "capacity", 128e6);
    close(&compressed, "files", 13.0);
    // Anything that stores can be filled.
    close(&fill("sim:md1?time=1ms&size=2000000"), "capacity", 2e6);
}

#[test]
fn streams_on_drives_of_their_own_do_not_share_them() {
    let streams = |count: u32, apart: &str| {
        let target = format!("{TAPE}&raid=0&disks=2&unit=64MB");
        let settings =
            format!("streams = {count}\nsize = \"8MB\"\nrecord = 32000\napart = \"{apart}\"");
        measured("streams", &settings, &model(&target))
    };
    let one = streams(1, "64MB");
    let expected = ["total rate", "stream rate", "fairness", "tape stops"];
    assert_eq!(names(&one), expected);
    let two = streams(2, "64MB");
    for rate in &two[1].parts {
        assert!((rate / 1e6 - 1.0).abs() < 0.01, "{rate}");
    }
    close(&two, "total rate", 2.0 * reading(&one, "total rate"));
    close(&two, "fairness", 1.0);
    // On one drive each record of the other is searched for.
    assert!(reading(&streams(2, "8MB"), "total rate") < 0.5e6);
}

/// Files of 1 MB, so many of them, in blocks of 10,000 bytes.
fn backup(source: &str, tape: &str, more: &str) -> Vec<Reading> {
    let settings = format!(
        "source = \"{source}\"\nfiles = 10\nsize = 1000000\nblock = 10040\nbuffers = 4\n\
         {more}"
    );
    measured("backup", &settings, &model(tape))
}

#[test]
fn a_backup_takes_what_disk_processor_or_tape_takes() {
    let fast = "sim:md1?time=1us&size=64MB";
    let saved = backup(fast, TAPE, "verify = false");
    let expected = [
        "save rate",
        "backup rate",
        "processor busy",
        "stream size",
        "overhead",
        "tape stops",
    ];
    assert_eq!(names(&saved), expected);
    // 1000 blocks of data, 100 of redundancy, the first and the last.
    close(&saved, "stream size", 1102.0 * 10040.0);
    let rate = 10e6 / (1102.0 * 10040.0 / 1e6);
    let found = reading(&saved, "save rate");
    assert!((found / rate - 1.0).abs() < 0.01, "{found} and not {rate}");
    let plain = reading(
        &backup(fast, TAPE, "verify = false\ngroup = 0"),
        "save rate",
    );
    assert!((plain / 0.994e6 - 1.0).abs() < 0.01, "{plain}");

    // Two seconds of processor time for a MiB, half of it for the CRC: 19.1 s. Then the tape writes
    // what its buffer still has, a second's worth at most.
    let work = "verify = false\nprocessor = \"1s\"\ncrc-processor = \"1s\"";
    let quick = &format!("{TAPE}&reposition=100ms");
    let slow = backup(fast, quick, work);
    let seconds = 10e6 / reading(&slow, "save rate");
    let working = 2.0 * 10e6 / 1_048_576.0;
    assert!((working..working + 1.05).contains(&seconds), "{seconds}");
    let busy = reading(&slow, "processor busy");
    assert!((busy - working / seconds).abs() < 1e-6, "{busy}");
    let unchecked = backup(fast, quick, &format!("{work}\ncrc = false"));
    // Without it the tape is the slower one, once its buffer is full.
    let seconds = 10e6 / reading(&unchecked, "save rate");
    let streaming = 1102.0 * 10040.0 / 1e6;
    assert!(
        (streaming..streaming + 1.05).contains(&seconds),
        "{seconds}"
    );

    // The source takes 10 ms for each of 1000 pieces, and for four others of each file.
    let from_slow = backup(SLOW, fast, "verify = false\nreads-per-file = 4");
    // Whole sectors are read: 103 reads of 9728 bytes make a file.
    let expected = 10e6 / (10.0 * (103.0 + 4.0) * 0.01);
    let found = reading(&from_slow, "save rate");
    assert!((found / expected - 1.0).abs() < 0.01, "{found}");
}

#[test]
fn verifying_reads_stream_and_source_again() {
    let fast = "sim:md1?time=1us&size=64MB";
    let found = backup(fast, TAPE, "");
    let [save, verify, both] =
        ["save rate", "verify rate", "backup rate"].map(|name| reading(&found, name));
    // The tape stops, goes back, and streams again: 3 s more.
    let longer = 10e6 / verify - 10e6 / save;
    assert!((2.9..3.3).contains(&longer), "{longer}");
    close(&found, "backup rate", 1.0 / (1.0 / save + 1.0 / verify));
    assert!(both < 0.5 * save);
    // A slow source slows both passes.
    let quick = format!("{TAPE}&reposition=100ms");
    let slow = backup("sim:md1?time=20ms&size=64MB", &quick, "");
    for name in ["save rate", "verify rate"] {
        let rate = reading(&slow, name);
        assert!((0.4e6..0.5e6).contains(&rate), "{name}: {rate}");
    }
}

/// Disks have sectors, and a host has pages; files have neither.
#[test]
fn any_sizes_will_do() {
    for (source, target) in [
        ("sim:st15150n", "sim:rz26"),
        ("sim:cdrom8", "sim:ppro"),
        ("sim:rz28?raid=5&disks=5", "sim:nvme"),
    ] {
        let settings = format!(
            "source = \"{source}\"\nsize = 100001\nrecord = 777\nsource-record = 1001\nbuffers = 3"
        );
        let found = measured("copy", &settings, &model(target));
        close(&found, "calls", 100.0 + 129.0);
        let settings = format!(
            "source = \"{source}\"\nfiles = 7\nsize = 10001\nblock = 777\nreads-per-file = 1"
        );
        let found = measured("backup", &settings, &model(target));
        assert!(reading(&found, "verify rate") > 0.0, "{found:?}");
    }
}

#[test]
fn a_signal_ends_what_is_done_on_a_model() {
    let fill = format!("fill = \"to the last byte\"\ntarget = \"{TAPE}\"");
    let source = format!("source = \"{SLOW}\"");
    for (kind, settings) in [
        ("copy", format!("{source}\nsize = \"1MB\"").as_str()),
        ("backup", &source),
        ("fill", &fill),
        ("streams", "size = \"1MB\""),
    ] {
        let stop = Interrupt::never();
        stop.raise();
        let measured = parsed(kind, settings).measure(&model(TAPE), &stop);
        let error = measured.expect_err(kind);
        assert!(
            matches!(error, MeasureError::Interrupted { .. }),
            "{kind}: {error:?}"
        );
    }
}

#[test]
fn what_models_cannot_do_is_refused() {
    let check = |kind: &str, settings: &str, target: &str, expected: &str| {
        let told = refusal(kind, settings, target);
        assert!(told.contains(expected), "{kind}: {told}");
    };
    check(
        "copy",
        "",
        SLOW,
        "a model gets its copy from a model. Name it",
    );
    check(
        "copy",
        "source = \"/etc/hosts\"",
        SLOW,
        "from a model. Name it",
    );
    let from_tape = format!("source = \"{TAPE}\"");
    check(
        "copy",
        &format!("{from_tape}\ncold = true"),
        SLOW,
        "Leave cold out",
    );
    check(
        "copy",
        &format!("{from_tape}\nsize = \"65MB\""),
        SLOW,
        "holds 64 MB, and the file has 65 MB",
    );
    check("copy", &from_tape, "sim:cdrom8", "cannot be written");
    check("copy", &from_tape, "sim:mm1?error=EIO@5", "faults are not");
    check("backup", "", TAPE, "is saved from a model. Name it");
    check(
        "backup",
        &format!("source = \"{SLOW}\"\nrestore = true"),
        TAPE,
        "Leave restore out",
    );
    check(
        "backup",
        &format!("source = \"{SLOW}\"\nfiles = 1\nsize = \"60MB\""),
        TAPE,
        "and the stream has 66.",
    );
    let fill = format!("fill = \"to the last byte\"\ntarget = \"{TAPE}\"\ncompressible = \"9%\"");
    check("fill", &fill, SLOW, "Leave compressible out");
    check("streams", "apart = 5", SLOW, "would lie over each other");
    check("streams", "size = \"20MB\"", SLOW, "and all streams has 80");
    // And what real storage cannot.
    let (_directory, place) = place();
    for (kind, settings, expected) in [
        ("copy", "buffers = 3", "buffers is for models"),
        (
            "copy",
            "source = \"sim:mm1\"",
            "a model is copied to a model",
        ),
        ("backup", "processor = \"1s\"", "processor is for models"),
        (
            "backup",
            "source = \"sim:mm1\"",
            "a model is saved to a model",
        ),
        ("streams", "apart = \"1GB\"", "apart is for parts of"),
    ] {
        let told = try_measured(kind, settings, &place).expect_err(settings);
        assert!(told.to_string().contains(expected), "{told}");
    }
}
