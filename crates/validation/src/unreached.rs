//! Published rows that no model here reaches, and why.

use results::ValidationRow;

use super::{Experiment, Rows};
use host::interrupt::Interrupt;

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment::of_document(
    "Rows that are out of reach",
    &["ppro", "p100", "rz28", "fddi", "ethernet10"],
    "nothing is simulated; each row says why",
    |_: &Interrupt| -> Rows { Ok(unreached()) },
)];

/// What, unit, one figure of it, and why not.
const ROWS: [(&str, &str, f64, &str); 8] = [
    (
        "DISKRAND 10.1, Pentium Pro, 48 tasks",
        "/s",
        3.85,
        "the document says that memory did not suffice: paging again",
    ),
    (
        "DISKMBPS 9, Pentium Pro under Windows NT",
        "MiB/s",
        3.6,
        "set by the system's read-ahead, whose size is not documented",
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
