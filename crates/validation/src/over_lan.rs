//! DISKMBPS over 10 Mbit/s Ethernet, its appendix 4: rates, and utilisation of both hosts.
//!
//! The criteria were fixed before the first comparison: 8 % for reading large files, 15 % for
//! reading what the server has in memory and for processors, 20 % for writing and for two clients.

use vintage::run::{HostPlace, TogetherFigures, TogetherRow};

use super::ValidationError;
use super::experiment::{Figures, Fillers, SimulatedFigure, ones};
use super::together::{percent, run};
use host::interrupt::Interrupt;

pub(super) const FIGURES: Fillers<Figures> = &[
    ("pentium_pro_as_client", pentium_pro_as_client),
    ("pentium_100_as_client", pentium_100_as_client),
    ("two_clients", two_clients),
];

/// Rate of a program, and utilisation of both hosts.
struct Moved {
    written: f64,
    read: f64,
    elapsed_s: f64,
    /// Percent of the client's processor, and of the server's.
    busy: [f64; 2],
}

impl Moved {
    fn of(row: &TogetherRow) -> Self {
        let (written, read) = match row.figures {
            TogetherFigures::Transfer { written, read } => (written, read),
            TogetherFigures::Users { .. } => (None, None),
        };
        Self {
            written: written.unwrap_or(f64::NAN),
            read: read.unwrap_or(f64::NAN),
            elapsed_s: row.elapsed_s,
            busy: [row.cpu_share, row.server_cpu_share].map(percent),
        }
    }

    /// Utilisation of both hosts while writing: the rest was reading, as in another run.
    fn busy_writing(&self, megabytes: f64, reading: &Self) -> [f64; 2] {
        let writing_s = megabytes / self.written;
        let rest_s = self.elapsed_s - writing_s;
        [0, 1].map(|host| {
            (self.busy[host] * self.elapsed_s - reading.busy[host] * rest_s) / writing_s
        })
    }
}

/// The file of a host that runs one program alone.
fn alone(
    target: &str,
    megabytes: u64,
    lines: &str,
    interrupt: &Interrupt,
) -> Result<Moved, ValidationError> {
    let files = [("J.tmp", megabytes << 20)];
    let batches = [("client", HostPlace::Client, lines)];
    let rows = run(target, &files, &batches, interrupt)?;
    let row = rows.first().map(Moved::of);
    row.ok_or_else(|| ValidationError::Nothing(format!("{target}: nothing was moved")))
}

const FROM_DISK: &str = "start DiskNT95 0 6 N J.tmp\n";
const FROM_MEMORY: &str = "DiskNT95 0 1 N J.tmp\nstart DiskNT95 0 9 N J.tmp\n";

/// Rate and both CPU utilisations, the first host of the pair first, of a client that reads a large
/// file, writes one, and reads and writes a small one in the server's memory of `cached`.
fn client(
    targets: [&str; 2],
    small: u64,
    writers: [&str; 2],
    hosts: [usize; 2],
    interrupt: &Interrupt,
) -> Figures {
    let [target, cached] = targets;
    let large = alone(target, 40, FROM_DISK, interrupt)?;
    let written = alone(target, 0, writers[0], interrupt)?;
    let writing = written.busy_writing(40.0, &large);
    let from_memory = alone(cached, small, FROM_MEMORY, interrupt)?;
    let written_small = alone(cached, 0, writers[1], interrupt)?;
    let [one, other] = hosts;
    Ok(ones([
        large.read,
        large.busy[one],
        large.busy[other],
        written.written,
        writing[one],
        writing[other],
        from_memory.read,
        from_memory.busy[one],
        from_memory.busy[other],
        written_small.written,
    ]))
}

fn pentium_pro_as_client(interrupt: &Interrupt) -> Figures {
    let cached = "sim:lan-ppro?server-system=6MiB&server-file-cache=9MiB";
    let writers = ["start DiskNT95 40 1 N\n", "start DiskNT95 8 1 N\n"];
    client(["sim:lan-ppro", cached], 8, writers, [0, 1], interrupt)
}

/// The Pentium Pro is the server here, and its rows come first there, too.
fn pentium_100_as_client(interrupt: &Interrupt) -> Figures {
    let cached = "sim:lan-p100?server-file-cache=20MiB&server-file-cache-max=20MiB";
    let writers = ["start DiskNT95 40 1 L\n", "start DiskNT95 16 1 S\n"];
    client(["sim:lan-p100", cached], 16, writers, [1, 0], interrupt)
}

/// Both clients running, the first client's figures first.
fn both(lines: [&str; 2], interrupt: &Interrupt) -> Result<[Moved; 2], ValidationError> {
    let files = [("J1.tmp", 40 << 20), ("J2.tmp", 40 << 20)];
    let hosts = ["p100", "486"];
    let batches = [0, 1].map(|n| (hosts[n], HostPlace::Client, lines[n]));
    let rows = run("sim:lan-p100", &files, &batches, interrupt)?;
    let of = |host: &str| {
        let row = rows.iter().find(|row| row.host == host).map(Moved::of);
        row.ok_or_else(|| ValidationError::Nothing(format!("{host} moved nothing")))
    };
    Ok([of("p100")?, of("486")?])
}

fn two_clients(interrupt: &Interrupt) -> Figures {
    let reader = "start DiskNT95 0 6 X J2.tmp\n";
    let reading = both(["start DiskNT95 0 6 L J1.tmp\n", reader], interrupt)?;
    let reader = "start DiskNT95 0 1 X J2.tmp\n";
    let mixed = both(["start DiskNT95 40 1 L\n", reader], interrupt)?;
    let mut found = ones([
        reading[0].read + reading[1].read,
        reading[0].read,
        reading[1].read,
        reading[0].busy[1],
        mixed[0].written,
        mixed[1].read,
        mixed[0].busy[1],
    ]);
    // A site has clients of one kind: the 486 does not write alone.
    found.extend([SimulatedFigure::Nothing; 2]);
    Ok(found)
}
