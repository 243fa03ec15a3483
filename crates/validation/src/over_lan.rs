//! DISKMBPS over 10 Mbit/s Ethernet, its appendix 4: rates, and how busy both hosts were.
//!
//! The bars were fixed before the first look: 8 % for reading large files, 15 % for reading what
//! the server has in memory and for processors, 20 % for writing and for two clients.

use results::{Bar, ValidationRow};
use vintage::run::{HostPlace, TogetherFigures, TogetherRow};

use super::together::{percent, run};
use super::{Rows, Runs, ValidationError};
use host::interrupt::Interrupt;

pub(super) const RUNS: Runs = &[
    ("pentium_pro_as_client", pentium_pro_as_client),
    ("pentium_100_as_client", pentium_100_as_client),
    ("two_clients", two_clients),
];

/// What a program moved, and how busy it kept both hosts.
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

    /// How busy both were while it wrote: the rest was reading, as in another run.
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

/// The bars of the rows that missed them.
const PROCESSORS: Bar = Bar::Tolerance { tolerance: 0.15 };
const SLOW: Bar = Bar::Tolerance { tolerance: 0.2 };

const SENDING: &str = "what a server computes for each MiB that it sends or takes, \
                       0.65 s by section 8, is not in the model";
const WRITING: &str = "the model's server is done once it has a write";
const SHARED: &str = "the document's two clients get together what one \
                      gets alone. Each has a wire of its own here; one wire for both would leave \
                      1.1 MB/s, so that this is not the reason";
const FROM_DISK: &str = "start DiskNT95 0 6 N J.tmp\n";
const FROM_MEMORY: &str = "DiskNT95 0 1 N J.tmp\nstart DiskNT95 0 9 N J.tmp\n";

fn rate(name: &str, published: f64, found: f64) -> ValidationRow {
    ValidationRow::new(name, "MiB/s", published).simulated(found)
}

fn busy(name: &str, published: f64, found: f64) -> ValidationRow {
    ValidationRow::new(format!("{name}, processor"), "%", published).simulated(found)
}

fn pentium_pro_as_client(interrupt: &Interrupt) -> Rows {
    let compressed = "not judged: the file lay on a compressed drive of the Pentium 100";
    let computed = "the client's time for a MiB is computed from this row";
    let target = "sim:lan-ppro";
    let large = alone(target, 40, FROM_DISK, interrupt)?;
    let written = alone(target, 0, "start DiskNT95 40 1 N\n", interrupt)?;
    let writing = written.busy_writing(40.0, &large);
    let cached = "sim:lan-ppro?server-system=6MiB&server-file-cache=9MiB";
    let small = alone(cached, 8, FROM_MEMORY, interrupt)?;
    let written_small = alone(cached, 0, "start DiskNT95 8 1 N\n", interrupt)?;
    Ok(vec![
        rate("Pentium Pro reads from the Pentium 100", 0.65, large.read).within(0.08),
        busy("reading: Pentium Pro", 45.0, large.busy[0]).within(0.15),
        busy("reading: Pentium 100", 85.0, large.busy[1]).missed(PROCESSORS, SENDING),
        rate("writing 40 MB", 0.32, written.written).noted(compressed),
        busy("writing: Pentium Pro", 20.0, writing[0]).noted(compressed),
        busy("writing: Pentium 100", 75.0, writing[1]).noted(compressed),
        rate("8 MB from the server's memory", 0.94, small.read).within(0.15),
        busy("8 MB: Pentium Pro", 65.0, small.busy[0]).noted(computed),
        busy("8 MB: Pentium 100", 75.0, small.busy[1]).missed(PROCESSORS, SENDING),
        rate("writing 8 MB", 0.41, written_small.written).noted(compressed),
    ])
}

fn pentium_100_as_client(interrupt: &Interrupt) -> Rows {
    let computed = "the link's round trip is computed from this rate";
    let target = "sim:lan-p100";
    let large = alone(target, 40, FROM_DISK, interrupt)?;
    let written = alone(target, 0, "start DiskNT95 40 1 L\n", interrupt)?;
    let writing = written.busy_writing(40.0, &large);
    let cached = "sim:lan-p100?server-file-cache=20MiB&server-file-cache-max=20MiB";
    let small = alone(cached, 16, FROM_MEMORY, interrupt)?;
    let written_small = alone(cached, 0, "start DiskNT95 16 1 S\n", interrupt)?;
    Ok(vec![
        rate("Pentium 100 reads from the Pentium Pro", 0.67, large.read).within(0.08),
        busy("reading: Pentium Pro", 55.0, large.busy[1]).missed(PROCESSORS, SENDING),
        busy("reading: Pentium 100", 100.0, large.busy[0]).within(0.15),
        rate("writing 40 MB", 0.63, written.written).missed(SLOW, WRITING),
        busy("writing: Pentium Pro", 50.0, writing[1]).missed(PROCESSORS, SENDING),
        busy("writing: Pentium 100", 100.0, writing[0]).within(0.2),
        rate("16 MB from the server's memory", 0.84, small.read).noted(computed),
        busy("16 MB: Pentium Pro", 55.0, small.busy[1]).missed(PROCESSORS, SENDING),
        busy("16 MB: Pentium 100", 100.0, small.busy[0]).within(0.15),
        rate("writing 16 MB", 0.69, written_small.written).within(0.2),
    ])
}

/// Both clients at work, the first client's figures first.
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

fn two_clients(interrupt: &Interrupt) -> Rows {
    let slower = "no bar: the 486 is slower than the Pentium 100 that stands for it";
    let reading = both(
        [
            "start DiskNT95 0 6 L J1.tmp\n",
            "start DiskNT95 0 6 X J2.tmp\n",
        ],
        interrupt,
    )?;
    let mixed = both(
        ["start DiskNT95 40 1 L\n", "start DiskNT95 0 1 X J2.tmp\n"],
        interrupt,
    )?;
    Ok(vec![
        rate("both read, all", 0.60, reading[0].read + reading[1].read).missed(SLOW, SHARED),
        rate("both read, Pentium 100", 0.32, reading[0].read).missed(SLOW, SHARED),
        rate("both read, 486", 0.28, reading[1].read).noted(slower),
        busy("both read: Pentium Pro", 60.0, reading[0].busy[1]).missed(PROCESSORS, SENDING),
        rate(
            "Pentium 100 writes, 486 reads: written",
            0.46,
            mixed[0].written,
        )
        .missed(SLOW, SHARED),
        rate("Pentium 100 writes, 486 reads: read", 0.42, mixed[1].read).noted(slower),
        busy("Pentium 100 writes: Pentium Pro", 75.0, mixed[0].busy[1]).missed(PROCESSORS, SENDING),
        ValidationRow::new("486 writes alone", "MiB/s", 0.69).noted(
            "the writing of a Pentium 100 alone stands above; a site has clients of one kind",
        ),
        ValidationRow::new("486 writes alone: Pentium Pro, processor", "%", 50.0)
            .noted("as above: 50 % for the Pentium 100, too"),
    ])
}
