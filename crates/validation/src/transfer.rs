//! Sequential reading and writing: DISKMBPS with the document's commands, and the KP3 disks.

use vintage::diskmbps::{rates_mb_s, typed};
use vintage::run::{DiskMbps, JobStart, ProgramRun, run_diskmbps};

use super::ValidationError;
use super::experiment::{Figures, Fillers, ones};
use super::hand::{DataDirection, SteppedMachine};
use super::together::{here, with_both_read_sizes};
use host::interrupt::Interrupt;

pub(super) const FIGURES: Fillers<Figures> = &[
    ("pentium_pro", pentium_pro),
    ("other_machines", other_machines),
    ("compact_discs", compact_discs),
    ("through_caches", through_caches),
    ("dec_3000", dec_3000),
    ("floppy", floppy),
];

/// MB per second of a program's writing and reading, averaged over passes.
fn rates(words: &[&str], interrupt: &Interrupt) -> Result<(f64, f64), ValidationError> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let arguments = typed(&words).map_err(ValidationError::Nothing)?;
    let console = &mut |_: &str| {};
    let mut run = ProgramRun::new(interrupt, console).unlogged();
    let passes = run_diskmbps(&DiskMbps::new(arguments, JobStart::default()), &mut run)?;
    let [written, read] = rates_mb_s(&passes).map(|rate| rate.unwrap_or(f64::NAN));
    Ok((written, read))
}

fn pentium_pro(interrupt: &Interrupt) -> Figures {
    let (writing, reading) = rates(&["40", "6", "Z", "sim:ppro-dos"], interrupt)?;
    let outside = ["0", "4", "Z", "sim:ppro-dos?start=0&size=4MiB"];
    let (_, outside) = rates(&outside, interrupt)?;
    let (small, read_small) = rates(&["8", "8", "Z", "sim:ppro-dos"], interrupt)?;
    // The document lists the small file twice.
    let small = [read_small, small, read_small, small];
    Ok(ones([reading, outside, writing].into_iter().chain(small)))
}

fn other_machines(interrupt: &Interrupt) -> Figures {
    let mut found = Vec::new();
    for target in [
        "sim:p100?file-cache=0&writes=through",
        "sim:i486?file-cache=0&writes=through",
    ] {
        let (writing, reading) = rates(&["20", "6", "Z", target], interrupt)?;
        found.extend([reading, writing]);
    }
    Ok(ones(found))
}

fn compact_discs(interrupt: &Interrupt) -> Figures {
    let mut found = Vec::new();
    for target in ["sim:cdrom8?size=30MiB", "sim:cdrom4?size=30MiB"] {
        let (_, reading) = rates(&["0", "4", "N", target], interrupt)?;
        // The DOS version has its own row.
        found.extend([reading, reading]);
    }
    Ok(ones(found))
}

/// A file of `megabytes` MB, read again by a program that finds it in memory.
fn again(target: &str, megabytes: u64, interrupt: &Interrupt) -> Result<f64, ValidationError> {
    let files = [("J.tmp", megabytes << 20)];
    let lines = "DiskNT95 0 1 N J.tmp\nstart DiskNT95 0 9 N J.tmp\n";
    let [rate, _] = here(target, &files, lines, interrupt)?;
    Ok(rate)
}

/// Machines of the document with MB of a small and a large file. On all except the first, part of
/// the large one was in memory.
const CACHED: [(&str, u64, u64); 3] = [
    ("sim:ppro", 10, 40),
    ("sim:p100", 6, 20),
    ("sim:i486?file-cache=9MiB", 8, 25),
];

fn through_caches(interrupt: &Interrupt) -> Figures {
    let (files, lines) = ([("J.tmp", 40 << 20)], "start DiskNT95 0 6 N J.tmp\n");
    let mut found = with_both_read_sizes(&files, lines, interrupt)?.to_vec();
    for (place, (target, small, large)) in CACHED.into_iter().enumerate() {
        let mut rates_of = vec![again(target, small, interrupt)?];
        for megabytes in [small, large] {
            let (writing, _) = rates(&[&megabytes.to_string(), "1", "Z", target], interrupt)?;
            rates_of.push(writing);
        }
        if place > 0 {
            let (_, reading) = rates(&[&large.to_string(), "6", "Z", target], interrupt)?;
            rates_of.push(reading);
        }
        found.extend(ones(rates_of));
    }
    Ok(found)
}

fn dec_3000(_: &Interrupt) -> Figures {
    let mut found = Vec::new();
    for parameters in ["", "&disk=rz26", "&link=fddi", "&link=ethernet10"] {
        let target = format!("sim:axp612?bus=5MB/s{parameters}");
        for direction in [DataDirection::Reading, DataDirection::Writing] {
            let rate = SteppedMachine::on(&target)?.in_order(16 << 20, 48 << 10, direction)?;
            found.push(rate / 1024.0);
        }
    }
    Ok(ones(found))
}

fn floppy(_: &Interrupt) -> Figures {
    let cylinder = 36 * 512;
    let rate = SteppedMachine::on("sim:floppy")?.in_order(
        60 * cylinder,
        cylinder,
        DataDirection::Writing,
    )?;
    Ok(ones([rate]))
}
