//! Reading and writing in order: DISKMBPS with the document's commands, and the KP3 disks.

use results::{Bar, ValidationRow};
use vintage::diskmbps::{rates_mb_s, typed};
use vintage::run::{DiskMbps, JobStart, ProgramRun, run_diskmbps};

use super::hand::{Direction, Hand};
use super::together::{PER_MIB, here, with_both_read_aheads};
use super::{Rows, Runs, ValidationError};
use host::interrupt::Interrupt;

pub(super) const RUNS: Runs = &[
    ("pentium_pro", pentium_pro),
    ("other_machines", other_machines),
    ("compact_discs", compact_discs),
    ("through_caches", through_caches),
    ("dec_3000", dec_3000),
    ("floppy", floppy),
];

/// MB per second of a program's writing and of its reading, means over passes.
fn rates(words: &[&str], interrupt: &Interrupt) -> Result<(f64, f64), ValidationError> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let arguments = typed(&words).map_err(ValidationError::Nothing)?;
    let console = &mut |_: &str| {};
    let mut run = ProgramRun::new(interrupt, console).unlogged();
    let passes = run_diskmbps(&DiskMbps::new(arguments, JobStart::default()), &mut run)?;
    let [written, read] = rates_mb_s(&passes).map(|rate| rate.unwrap_or(f64::NAN));
    Ok((written, read))
}

fn pentium_pro(interrupt: &Interrupt) -> Rows {
    let (writing, reading) = rates(&["40", "6", "Z", "sim:ppro-dos"], interrupt)?;
    let outside = ["0", "4", "Z", "sim:ppro-dos?start=0&size=4MiB"];
    let (_, outside) = rates(&outside, interrupt)?;
    let middle = ValidationRow::new("reading 40 MB, middle of the disk", "MiB/s", 5.2);
    let first = ValidationRow::new("reading 4 MB, the first tracks", "MiB/s", 6.0);
    let written = ValidationRow::new("writing 40 MB", "MiB/s", 4.92);
    let small = |published, name: &str| ValidationRow::new(name, "MiB/s", published);
    let (writing_small, reading_small) = rates(&["8", "8", "Z", "sim:ppro-dos"], interrupt)?;
    let placed = "where the file lay, and in how many pieces, is not documented";
    let policy =
        "the drive's handling of writes is not documented; the model loses a turn with each";
    Ok(vec![
        middle.simulated(reading).within(0.15),
        first.simulated(outside).noted(
            "when the drive reads on after its buffer was full, and where the file lies, is not \
             documented",
        ),
        written.simulated(writing).noted(policy),
        small(5.19, "reading 8 MB, behind 30 MB")
            .simulated(reading_small)
            .within(0.15),
        small(4.88, "writing 8 MB, behind 30 MB")
            .simulated(writing_small)
            .noted(policy),
        small(4.20, "reading 8 MB, \"not as fast as could be\"")
            .simulated(reading_small)
            .noted(placed),
        small(4.06, "writing 8 MB, \"not as fast as could be\"")
            .simulated(writing_small)
            .noted(policy),
    ])
}

fn other_machines(interrupt: &Interrupt) -> Rows {
    let copied = "the definition's rate is that of CoreTest on the same drive: a copy of one \
                  figure, and no prediction";
    let slow = "a slow bus, or turns that are missed: the cause is not documented";
    let mut rows = Vec::new();
    for (name, target, published, note) in [
        (
            "Pentium 100",
            "sim:p100?file-cache=0&writes=through",
            [1.64, 1.71],
            copied,
        ),
        (
            "486",
            "sim:i486?file-cache=0&writes=through",
            [1.07, 0.39],
            slow,
        ),
    ] {
        let (writing, reading) = rates(&["20", "6", "Z", target], interrupt)?;
        let row = ValidationRow::new(format!("{name}, reading 20 MB"), "MiB/s", published[0]);
        rows.push(row.simulated(reading).noted(note));
        let row = ValidationRow::new(format!("{name}, writing 20 MB"), "MiB/s", published[1]);
        rows.push(row.simulated(writing).noted(
            "the drives' handling of writes is not documented; the model loses a turn with each",
        ));
    }
    Ok(rows)
}

fn compact_discs(interrupt: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    for (name, target, published, under_dos) in [
        ("8-fold speed", "sim:cdrom8?size=30MiB", 1.16, 1.17),
        ("4-fold speed", "sim:cdrom4?size=30MiB", 0.58, 0.58),
    ] {
        let (_, reading) = rates(&["0", "4", "N", target], interrupt)?;
        let row = ValidationRow::new(name, "MiB/s", published);
        rows.push(row.simulated(reading).within(0.05));
        let row = ValidationRow::new(format!("{name}, DOS version"), "MiB/s", under_dos);
        let note = "not judged: the model was held against the row before it";
        rows.push(row.simulated(reading).noted(note));
    }
    Ok(rows)
}

/// A file of so many MB, read again by a program that finds it in memory.
fn again(target: &str, megabytes: u64, interrupt: &Interrupt) -> Result<f64, ValidationError> {
    let files = [("J.tmp", megabytes << 20)];
    let lines = "DiskNT95 0 1 N J.tmp\nstart DiskNT95 0 9 N J.tmp\n";
    let [rate, _] = here(target, &files, lines, interrupt)?;
    Ok(rate)
}

/// A machine of the document with what it published of files through its cache, rates in MiB/s.
struct Cached {
    name: &'static str,
    target: &'static str,
    /// MB of the small file, what writing it gave, and what reading it from memory.
    small: (u64, f64, f64),
    /// MB of the large one, and what writing it gave.
    large: (u64, f64),
    /// What reading the large one gave, where part of it came from memory.
    partly: Option<f64>,
}

const CACHED: [Cached; 3] = [
    Cached {
        name: "PPro",
        target: "sim:ppro",
        small: (10, 6.17, 76.92),
        large: (40, 4.81),
        partly: None,
    },
    Cached {
        name: "P100",
        target: "sim:p100",
        small: (6, 1.76, 16.67),
        large: (20, 1.62),
        partly: Some(1.98),
    },
    Cached {
        name: "486",
        target: "sim:i486?file-cache=9MiB",
        small: (8, 4.21, 6.11),
        large: (25, 0.76),
        partly: Some(1.13),
    },
];

fn mib(name: impl Into<String>, published: f64) -> ValidationRow {
    ValidationRow::new(name, "MiB/s", published)
}

fn through_caches(interrupt: &Interrupt) -> Rows {
    let policy = "how Windows writes its cache out is not documented";
    let cached = "not judged: worked out before a bar was fixed. The time of a read of 64 KiB from \
                  memory is taken for that of 4 KiB, DISKRAND's";
    let partly = "not judged: \"the memory based disk cache does not appear to be completely \
                  overwritten\", and how large it was is not said";
    let mut rows = read_ahead(interrupt)?;
    for Cached {
        name,
        target,
        small: (small, small_written, small_read),
        large: (large, large_written),
        partly: read,
    } in CACHED
    {
        let found = again(target, small, interrupt)?;
        let row = mib(format!("{name}, {small} MB from memory"), small_read);
        rows.push(row.simulated(found).noted(cached));
        for (megabytes, published) in [(small, small_written), (large, large_written)] {
            let (found, _) = rates(&[&megabytes.to_string(), "1", "Z", target], interrupt)?;
            let row = mib(format!("{name}, writing {megabytes} MB"), published);
            rows.push(row.simulated(found).noted(policy));
        }
        if let Some(published) = read {
            let (_, found) = rates(&[&large.to_string(), "6", "Z", target], interrupt)?;
            let row = mib(format!("{name}, reading {large} MB"), published);
            rows.push(row.simulated(found).noted(partly));
        }
    }
    Ok(rows)
}

/// The Pentium Pro reads a large file, with a read-ahead of 32 and of 64 KiB.
fn read_ahead(interrupt: &Interrupt) -> Rows {
    let rows = [
        mib("PPro, reading 40 MB", 3.6),
        ValidationRow::new("PPro, reading 40 MB, processor", "%", 90.0),
    ];
    let (files, lines) = ([("J.tmp", 40 << 20)], "start DiskNT95 0 6 N J.tmp\n");
    let [rate, busy] = with_both_read_aheads(&files, lines, rows, interrupt)?;
    Ok(vec![
        rate.missed(Bar::Bracket, "by 1 %: both are above it"),
        busy.missed(Bar::Bracket, PER_MIB),
    ])
}

fn dec_3000(_: &Interrupt) -> Rows {
    use Direction::{Reading, Writing};
    let with_copy = "the processor's time for a MiB is that of COPY, after each I/O; at the same \
                     time, the rate would be that of the bus, 4.5 MiB/s";
    let not_judged =
        "not judged: seen before a bar was fixed; the clients' own work is not modelled";
    let mut rows = Vec::new();
    for (drive, over, parameters, published) in [
        ("ST15150N", "", "", [3.62, 3.01]),
        ("RZ26", "", "&disk=rz26", [2.24, 1.46]),
        ("ST15150N", " over FDDI", "&link=fddi", [2.90, 2.35]),
        (
            "ST15150N",
            " over Ethernet",
            "&link=ethernet10",
            [0.82, 0.94],
        ),
    ] {
        let target = format!("sim:axp612?bus=5MB/s{parameters}");
        let directions = [("reading", Reading), ("writing", Writing)];
        for ((what, direction), published) in directions.into_iter().zip(published) {
            let rate = Hand::on(&target)?.in_order(16 << 20, 48 << 10, direction)?;
            let row = mib(format!("{drive}, {what}{over}"), published).simulated(rate / 1024.0);
            rows.push(match (parameters, direction) {
                _ if !over.is_empty() => row.noted(not_judged),
                ("", Reading) => row.noted(with_copy).within(0.12),
                _ => row.within(0.12),
            });
        }
    }
    Ok(rows)
}

fn floppy(_: &Interrupt) -> Rows {
    let cylinder = 36 * 512;
    let rate = Hand::on("sim:floppy")?.in_order(60 * cylinder, cylinder, Direction::Writing)?;
    let row = ValidationRow::new("writing", "KiB/s", 28.0);
    Ok(vec![row.simulated(rate).within(0.15)])
}
