//! Published rows that no model here reaches, and why.

use results::ValidationRow;

use super::{Experiment, Rows};
use host::interrupt::Interrupt;

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment::of_document(
    "Rows that are out of reach",
    &["ppro", "p100", "cdrom8", "rz28", "fddi", "ethernet10"],
    "nothing is simulated; each row says why",
    |_: &Interrupt| -> Rows { Ok(unreached()) },
)];

/// What, unit, one figure of it, and why not.
const ROWS: [(&str, &str, f64, &str); 12] = [
    (
        "DISKRAND 10.1, Pentium Pro, 48 tasks",
        "/s",
        3.85,
        "the document says that memory did not suffice: paging again",
    ),
    (
        "DISKRAND 10.3, six users over the LAN with 30",
        "/s",
        0.86,
        "`seekstone together` runs both hosts, but the server has no CPU unit yet: not judged",
    ),
    (
        "DISKRAND 10.3, 30 users of the server with six over the LAN",
        "/s",
        4.49,
        "`seekstone together` runs both hosts, but the server has no CPU unit yet: not judged",
    ),
    (
        "DISKMBPS 9, Pentium Pro under Windows NT",
        "MiB/s",
        3.6,
        "set by the system's read-ahead, whose size is not documented",
    ),
    (
        "DISKMBPS 10, two to four programs on one disk",
        "MiB/s",
        2.05,
        "set by the system's read-ahead: blocks of 32 or 64 KiB are the author's guess",
    ),
    (
        "DISKMBPS 11, two programs on one CD-ROM",
        "MiB/s",
        0.36,
        "set by the system's read-ahead: the author asks which size it is",
    ),
    (
        "KP3, disks at DSSI (RF72)",
        "MiB/s",
        1.45,
        "a controller's limit without parameters",
    ),
    (
        "KP3, RZ28 at a VAX 4000-60",
        "MiB/s",
        2.02,
        "limits of processor and controller without parameters",
    ),
    (
        "KP3, FTP over FDDI, default window",
        "KiB/s",
        377.0,
        "the channel between the hosts is the bottleneck, and has no parameters",
    ),
    (
        "KP3, NFS writes of 1 KiB, Linux to AIX",
        "KiB/s",
        21.0,
        "the cost of a synchronous write differs fourteenfold among the servers",
    ),
    (
        "KP3, NFS reads by 64 KiB on Linux",
        "KiB/s",
        1200.0,
        "a mistake in the client",
    ),
    (
        "RPT, standard deviation of one thread's I/Os",
        "ms",
        26.8,
        "the drive is not named; so wide a spread needs bursts that the manual does not describe",
    ),
];

fn unreached() -> Vec<ValidationRow> {
    let rows = ROWS.into_iter();
    rows.map(|(row, unit, published, why)| ValidationRow::new(row, unit, published).noted(why))
        .collect()
}
