//! Reading and writing in order: DISKMBPS with the document's commands, and the KP3 disks.

use results::ValidationRow;
use vintage::diskmbps::{PassKind, typed};

use super::hand::{Direction, Hand};
use super::{Experiment, Rows, ValidationError};
use host::interrupt::Interrupt;
use vintage::run::passes_on_model;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment::of_document(
        "DISKMBPS 9 and appendix 1: the Pentium Pro under DOS",
        &["ppro-dos", "fireball"],
        "diskmbps 40 6 Z sim:ppro-dos; diskmbps 0 4 Z sim:ppro-dos?start=0&size=4M",
        pentium_pro,
    ),
    Experiment::of_document(
        "DISKMBPS 9: the other machines under DOS",
        &["p100", "st5850a", "i486", "st3250a"],
        "diskmbps 20 6 Z on sim:p100 and sim:i486 without file cache",
        other_machines,
    ),
    Experiment::of_document(
        "DISKMBPS 9: CD-ROM, one reader",
        &["cdrom8", "cdrom4"],
        "diskmbps 0 4 N sim:cdrom8?size=30M",
        compact_discs,
    ),
    Experiment::of_document(
        "DISKMBPS 9 and appendix 4: a disk behind 10 Mbit/s Ethernet",
        &[
            "lan-ppro",
            "lan-p100",
            "ethernet10",
            "ethernet10-p100",
            "st5850a",
            "fireball",
        ],
        "diskmbps 40 6 N sim:lan-ppro and sim:lan-p100",
        over_ethernet,
    ),
    Experiment::of_document(
        "KP3, April 1995: disks of a DEC 3000 Model 400, 16 MB in I/Os of 48 KiB",
        &["axp612", "st15150n", "rz26"],
        "in order on sim:axp612?bus=5MB/s, and with disk=rz26",
        dec_3000,
    ),
    Experiment::of_document(
        "KP3, April 1998: writing a floppy",
        &["floppy"],
        "in order on sim:floppy, a cylinder at a time",
        floppy,
    ),
];

/// MB per second of a program's writing and of its reading, means over passes.
fn rates(words: &[&str], interrupt: &Interrupt) -> Result<(f64, f64), ValidationError> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let arguments = typed(&words).map_err(ValidationError::Nothing)?;
    let passes = passes_on_model(&arguments, interrupt)?;
    let rate = |is_write: bool| {
        let those = || {
            let passes = passes.iter();
            passes.filter(move |pass| (pass.kind == PassKind::Write) == is_write)
        };
        let bytes: u64 = those().map(|pass| pass.bytes).sum();
        let seconds: f64 = those().map(|pass| pass.seconds).sum();
        bytes as f64 / f64::from(1 << 20) / seconds
    };
    Ok((rate(true), rate(false)))
}

fn pentium_pro(interrupt: &Interrupt) -> Rows {
    let (writing, reading) = rates(&["40", "6", "Z", "sim:ppro-dos"], interrupt)?;
    let outside = ["0", "4", "Z", "sim:ppro-dos?start=0&size=4MiB"];
    let (_, outside) = rates(&outside, interrupt)?;
    let middle = ValidationRow::new("reading 40 MB, middle of the disk", "MiB/s", 5.2);
    let first = ValidationRow::new("reading 4 MB, the first tracks", "MiB/s", 6.0);
    let written = ValidationRow::new("writing 40 MB", "MiB/s", 4.92);
    Ok(vec![
        middle.simulated(reading).within(0.15),
        first.simulated(outside).noted(
            "when the drive reads on after its buffer was full, and where the file lies, is not \
             documented",
        ),
        written.simulated(writing).noted(
            "the drive's handling of writes is not documented; the model loses a turn with each",
        ),
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
            1.64,
            copied,
        ),
        ("486", "sim:i486?file-cache=0&writes=through", 1.07, slow),
    ] {
        let (_, reading) = rates(&["20", "6", "Z", target], interrupt)?;
        let row = ValidationRow::new(format!("{name}, reading 20 MB"), "MiB/s", published);
        rows.push(row.simulated(reading).noted(note));
    }
    Ok(rows)
}

fn compact_discs(interrupt: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    for (name, target, published) in [
        ("8-fold speed", "sim:cdrom8?size=30MiB", 1.16),
        ("4-fold speed", "sim:cdrom4?size=30MiB", 0.58),
    ] {
        let (_, reading) = rates(&["0", "4", "N", target], interrupt)?;
        let row = ValidationRow::new(name, "MiB/s", published);
        rows.push(row.simulated(reading).within(0.05));
    }
    Ok(rows)
}

fn over_ethernet(interrupt: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    for (name, target, published) in [
        (
            "Pentium Pro reads from the Pentium 100",
            "sim:lan-ppro",
            0.65,
        ),
        (
            "Pentium 100 reads from the Pentium Pro",
            "sim:lan-p100",
            0.67,
        ),
    ] {
        let (_, reading) = rates(&["40", "6", "N", target], interrupt)?;
        let row = ValidationRow::new(name, "MiB/s", published);
        rows.push(row.simulated(reading).within(0.08));
    }
    Ok(rows)
}

fn dec_3000(_: &Interrupt) -> Rows {
    use Direction::{Reading, Writing};
    let mut rows = Vec::new();
    let seagate = "sim:axp612?bus=5MB/s";
    let digital = "sim:axp612?bus=5MB/s&disk=rz26";
    for (name, target, direction, published) in [
        ("ST15150N, reading", seagate, Reading, 3.62),
        ("ST15150N, writing", seagate, Writing, 3.01),
        ("RZ26, reading", digital, Reading, 2.24),
        ("RZ26, writing", digital, Writing, 1.46),
    ] {
        let rate = Hand::on(target)?.in_order(16 << 20, 48 << 10, direction)?;
        let row = ValidationRow::new(name, "MiB/s", published).simulated(rate / 1024.0);
        let row = if target == seagate && direction == Reading {
            row.noted(
                "the processor's time for a MiB is that of COPY, after each I/O; at the \
                 same time, the rate would be that of the bus, 4.5 MiB/s",
            )
        } else {
            row
        };
        rows.push(row.within(0.12));
    }
    let (fddi, ethernet) = (
        "sim:axp612?bus=5MB/s&link=fddi",
        "sim:axp612?bus=5MB/s&link=ethernet10",
    );
    for (name, target, direction, published) in [
        ("ST15150N, reading over FDDI", fddi, Reading, 2.90),
        ("ST15150N, writing over FDDI", fddi, Writing, 2.35),
        ("ST15150N, reading over Ethernet", ethernet, Reading, 0.82),
        ("ST15150N, writing over Ethernet", ethernet, Writing, 0.94),
    ] {
        let rate = Hand::on(target)?.in_order(16 << 20, 48 << 10, direction)?;
        let row = ValidationRow::new(name, "MiB/s", published).simulated(rate / 1024.0);
        rows.push(row.noted(
            "not judged: seen before a bar was fixed; the clients' own work is not modelled",
        ));
    }
    Ok(rows)
}

fn floppy(_: &Interrupt) -> Rows {
    let cylinder = 36 * 512;
    let rate = Hand::on("sim:floppy")?.in_order(60 * cylinder, cylinder, Direction::Writing)?;
    let row = ValidationRow::new("writing", "KiB/s", 28.0);
    Ok(vec![row.simulated(rate).within(0.15)])
}
