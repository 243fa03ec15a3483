//! Writes and reads files record by record, as a plain program does: one thread, one record at a
//! time.
//!
//! Records do not compress, and each of their blocks begins with a stamp, so that a record in the
//! wrong place, or of another replicate, is noticed when it is read, and a file is known as ours.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use drivers::{AlignedBuffer, BLOCK_BYTES, STAMP_BYTES, Seal, fill_incompressible, stamp};
use results::{KnownMetric, Reading};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use units::{Bytes, Duration};

use super::Stop;
use super::form::ValueForm;
use super::place::{MeasureError, Result, go_on};
use super::settings::Settings;
use super::steps::{IoAction, IoStep, sequence, write_action};
use host::counters::{process_cpu_ns, thread_cpu_ns};

/// Different records in memory, of this many bytes at least: a storage that finds equal blocks
/// must not find one.
const VARIETY_BYTES: usize = 4 << 20;
/// Signals are looked at after this many bytes.
const LOOK_BYTES: u64 = 1 << 20;
/// Bytes at the beginning of a stamp that are the same in all.
const SHARED_BYTES: usize = 4;
const MIB: f64 = 1_048_576.0;

/// The content of a file: records that anybody with the same seed makes again.
#[derive(Debug)]
pub struct RecordPattern {
    memory: AlignedBuffer,
    len: usize,
    count: u64,
    seed: u64,
}

impl RecordPattern {
    /// Records of `len` bytes.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn new(len: Bytes, seed: u64) -> Result<Self> {
        let len = usize::try_from(len.0).unwrap_or(usize::MAX).max(1);
        let count = VARIETY_BYTES.div_ceil(len);
        let mut memory = buffer(len.saturating_mul(count))?;
        fill_incompressible(memory.as_mut_slice(), seed);
        Ok(Self {
            memory,
            len,
            count: count as u64,
            seed,
        })
    }

    /// Record `number`, with its stamps.
    pub fn record(&mut self, number: u64) -> &[u8] {
        let start = self.start(number);
        let (len, seed) = (self.len, self.seed);
        let record = &mut self.memory.as_mut_slice()[start..start + len];
        for (block, at) in record
            .chunks_mut(BLOCK_BYTES)
            .zip((0..).step_by(BLOCK_BYTES))
        {
            let stamp = stamp_of(seed, number, at);
            let head = head_of(&stamp, block.len());
            block[..head.len()].copy_from_slice(head);
        }
        record
    }

    /// Whether `bytes` begin as record `number` does.
    pub fn begins(&self, number: u64, bytes: &[u8]) -> bool {
        let stamp = stamp_of(self.seed, number, 0);
        let head = head_of(&stamp, self.len);
        let len = head.len().min(bytes.len());
        head[..len] == bytes[..len]
    }

    /// Refuse what does not begin as record `number` of a file does.
    ///
    /// # Errors
    /// When it is not what was written.
    pub fn refuse_other(&self, path: &Path, number: u64, bytes: &[u8]) -> Result<()> {
        if self.begins(number, bytes) {
            return Ok(());
        }
        Err(wrong_data(path, number * self.len as u64))
    }

    pub const fn record_len(&self) -> Bytes {
        Bytes(self.len as u64)
    }

    /// Whether `bytes` are those at `offset` of a file that begins with record `first`.
    pub fn matches(&self, first: u64, offset: u64, mut bytes: &[u8]) -> bool {
        let len = self.len as u64;
        let mut at = offset;
        while !bytes.is_empty() {
            let (number, inside) = (first + at / len, (at % len) as usize);
            let block = inside / BLOCK_BYTES * BLOCK_BYTES;
            let block_end = self.len.min(block + BLOCK_BYTES);
            let (piece, rest) = bytes.split_at(bytes.len().min(block_end - inside));
            let known = &self.memory.as_slice()[self.start(number)..][..self.len];
            let stamp = stamp_of(self.seed, number, block);
            let stamped = head_of(&stamp, block_end - block);
            let skipped = inside - block;
            let split = stamped.len().saturating_sub(skipped).min(piece.len());
            let (head, body) = piece.split_at(split);
            if !head.is_empty() && *head != stamped[skipped..skipped + head.len()]
                || *body != known[inside + head.len()..][..body.len()]
            {
                return false;
            }
            at += piece.len() as u64;
            bytes = rest;
        }
        true
    }

    /// Put those at `offset` of a file that begins with record `first` into `bytes`.
    pub fn fill(&self, first: u64, offset: u64, bytes: &mut [u8]) {
        let len = self.len as u64;
        let mut rest = bytes;
        let mut at = offset;
        while !rest.is_empty() {
            let (number, inside) = (first + at / len, (at % len) as usize);
            let block = inside / BLOCK_BYTES * BLOCK_BYTES;
            let block_end = self.len.min(block + BLOCK_BYTES);
            let count = rest.len().min(block_end - inside);
            let (piece, behind) = rest.split_at_mut(count);
            let known = &self.memory.as_slice()[self.start(number)..][..self.len];
            piece.copy_from_slice(&known[inside..][..count]);
            let stamp = stamp_of(self.seed, number, block);
            let stamped = head_of(&stamp, block_end - block);
            let stamped = stamped.get(inside - block..).unwrap_or_default();
            let head = stamped.len().min(count);
            piece[..head].copy_from_slice(&stamped[..head]);
            at += count as u64;
            rest = behind;
        }
    }

    fn start(&self, number: u64) -> usize {
        (number % self.count) as usize * self.len
    }
}

/// The stamp at byte `at` of record `number`: with the seal of this run, and no two alike.
fn stamp_of(seed: u64, number: u64, at: usize) -> [u8; STAMP_BYTES] {
    let place = seed.rotate_left(32) ^ number.rotate_left(32) ^ number;
    stamp(Seal::of_this_run().number(), at as u32, place)
}

/// How a block of `len` bytes begins. One that is shorter than a stamp has no space for the part
/// that all stamps share.
fn head_of(stamp: &[u8; STAMP_BYTES], len: usize) -> &[u8] {
    let len = len.min(STAMP_BYTES);
    let start = SHARED_BYTES.min(STAMP_BYTES - len);
    &stamp[start..start + len]
}

/// Aligned memory.
///
/// # Errors
/// When there is none.
pub fn buffer(len: usize) -> Result<AlignedBuffer> {
    AlignedBuffer::zeroed(len).map_err(|error| MeasureError::Failed(error.to_string()))
}

/// When written data are forced to the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synced {
    /// Never: what is measured is the way into the page cache.
    No,
    /// Once, at the end of the file, within the time.
    AtEnd,
    /// After each record.
    EachRecord,
}

/// What moving bytes took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Bytes moved.
    pub bytes: u64,
    /// From the first to the last.
    pub elapsed: Duration,
    /// Processor time, where there is a processor.
    pub cpu: Option<Duration>,
}

impl Flow {
    /// Bytes per second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Processor time for a MiB of it, if it is known.
    pub fn cpu_reading(&self, metric: KnownMetric) -> Option<Reading> {
        let per_mib = self.cpu?.as_secs_f64() / (self.bytes as f64 / MIB).max(1e-9);
        Some(metric.reading(per_mib))
    }

    /// Its rate, and that.
    pub fn readings(&self, [rate, cpu]: [KnownMetric; 2]) -> impl Iterator<Item = Reading> {
        std::iter::once(rate.reading(self.rate())).chain(self.cpu_reading(cpu))
    }
}

/// Time that passed, on the clock of the storage that was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// From the beginning.
    pub elapsed: Duration,
    /// Processor time, where there is a processor.
    pub cpu: Option<Duration>,
}

impl Spent {
    /// What moved `bytes` since `earlier`.
    pub fn flow(&self, earlier: Self, bytes: u64) -> Flow {
        Flow {
            bytes,
            elapsed: self.elapsed.saturating_sub(earlier.elapsed),
            cpu: self
                .cpu
                .map(|cpu| cpu.saturating_sub(earlier.cpu.unwrap_or_default())),
        }
    }
}

/// Measures a stretch of work.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    begun: Instant,
    cpu_ns: u64,
    who: Who,
}

/// Whose processor time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The calling thread's.
    Thread,
    /// That of all threads of this process.
    Process,
}

impl Who {
    fn cpu_ns(self) -> u64 {
        match self {
            Self::Thread => thread_cpu_ns(),
            Self::Process => process_cpu_ns(),
        }
    }
}

impl Gauge {
    /// Begin now.
    pub fn start(who: Who) -> Self {
        let cpu_ns = who.cpu_ns();
        Self {
            begun: Instant::now(),
            cpu_ns,
            who,
        }
    }

    /// What passed until now.
    pub fn spent(&self) -> Spent {
        let elapsed = self.begun.elapsed().into();
        let cpu_ns = self.who.cpu_ns().saturating_sub(self.cpu_ns);
        Spent {
            elapsed,
            cpu: Some(Duration::from_nanos(cpu_ns)),
        }
    }

    /// What it took until now to move `bytes`.
    pub fn flow(&self, bytes: u64) -> Flow {
        self.spent().flow(Spent::default(), bytes)
    }
}

/// A file, and where it is, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The open file.
    pub file: &'a File,
    pub path: &'a Path,
}

impl<'a> Named<'a> {
    pub const fn new(file: &'a File, path: &'a Path) -> Self {
        Self { file, path }
    }
}

/// Write the records of `pattern` from number `first` on, `size` bytes in all.
///
/// # Errors
/// When the storage fails, or somebody stopped it.
pub fn write_records(
    to: Named<'_>,
    pattern: &mut RecordPattern,
    first: u64,
    size: Bytes,
    synced: Synced,
    stop: &Stop,
) -> Result<Flow> {
    let gauge = Gauge::start(Who::Thread);
    for step in sequence(write_action(synced), size, pattern.record_len()) {
        look(step, stop)?;
        write_record(to, pattern, first, step)?;
    }
    if synced == Synced::AtEnd {
        sync(to)?;
    }
    Ok(gauge.flow(size.0))
}

/// Read `size` bytes from the first on in records of `len`, and check the beginning of each if it
/// is known what was `written`.
///
/// # Errors
/// When the storage fails, gives wrong data, or somebody stopped it.
pub fn read_records(
    from: Named<'_>,
    len: Bytes,
    size: Bytes,
    written: Option<&RecordPattern>,
    stop: &Stop,
) -> Result<Flow> {
    let mut memory = buffer(len.0 as usize)?;
    let gauge = Gauge::start(Who::Thread);
    for step in sequence(IoAction::Read, size, len) {
        look(step, stop)?;
        let record = &mut memory.as_mut_slice()[..step.len as usize];
        read_record(from, record, written, step)?;
    }
    Ok(gauge.flow(size.0))
}

/// Read a record as the step says, and check its beginning if it is known what was `written`.
///
/// # Errors
/// When the storage fails, or gives wrong data.
pub fn read_record(
    from: Named<'_>,
    record: &mut [u8],
    written: Option<&RecordPattern>,
    step: IoStep,
) -> Result<()> {
    let read = from.file.read_exact_at(record, step.offset);
    read.map_err(MeasureError::io("read", from.path))?;
    written.map_or(Ok(()), |pattern| {
        let number = step.offset / pattern.record_len().0;
        pattern.refuse_other(from.path, number, record)
    })
}

/// Write the record of a file that begins with record `first`, as the step says.
///
/// # Errors
/// When the storage fails.
pub fn write_record(
    to: Named<'_>,
    pattern: &mut RecordPattern,
    first: u64,
    step: IoStep,
) -> Result<()> {
    let number = first + step.offset / pattern.record_len().0;
    let record = &pattern.record(number)[..step.len as usize];
    let written = to.file.write_all_at(record, step.offset);
    written.map_err(MeasureError::io("write", to.path))?;
    if step.action == IoAction::WriteSynced {
        sync(to)?;
    }
    Ok(())
}

/// What was read is not what was written.
pub fn wrong_data(path: &Path, offset: u64) -> MeasureError {
    MeasureError::Failed(format!(
        "{} returned other data at byte {offset} than was written there. Do not trust this storage",
        path.display()
    ))
}

/// Force what was written to the storage.
///
/// # Errors
/// When it does not take it.
pub fn sync(to: Named<'_>) -> Result<()> {
    to.file
        .sync_data()
        .map_err(MeasureError::io("sync", to.path))
}

fn look(step: IoStep, stop: &Stop) -> Result<()> {
    if step.offset % LOOK_BYTES < step.len {
        go_on(stop)?;
    }
    Ok(())
}

/// The form of the setting `synced` of kinds that write.
pub const SYNCED: ValueForm = ValueForm::Words(&["no", "end", "each"]);

/// What the setting `synced` asks for.
pub fn synced(settings: &Settings<'_>) -> Synced {
    let choices = [
        ("no", Synced::No),
        ("end", Synced::AtEnd),
        ("each", Synced::EachRecord),
    ];
    settings.choice("synced", &choices)
}

/// Make room for `len` bytes of a file from `start` on, which lengthens it.
///
/// # Errors
/// When there is none, or the file system cannot do it.
pub fn make_room(file: Named<'_>, start: u64, len: u64) -> Result<()> {
    match fallocate(file.file, FallocateFlags::empty(), start, len) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Err(MeasureError::Usage(format!(
            "the file system of {} cannot allocate space beforehand: leave preallocation out",
            file.path.display()
        ))),
        Err(error) => Err(MeasureError::io("allocate space in", file.path)(
            error.into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_known_wherever_they_are_looked_at() {
        for len in [1, 7, 16, 100, 4096] {
            let mut pattern = RecordPattern::new(Bytes(len), 3).unwrap();
            let first = 1 << 32;
            let mut file = Vec::new();
            while file.len() < 9000 {
                let number = first + file.len() as u64 / len;
                file.extend_from_slice(pattern.record(number));
            }
            for (offset, end) in [
                (0, 9000),
                (1, 2),
                (15, 17),
                (99, 8000),
                (4095, 4097),
                (5, 5),
            ] {
                let piece = &file[offset..end];
                assert!(
                    pattern.matches(first, offset as u64, piece),
                    "{len}: {offset}"
                );
                assert!(piece.len() < 20 || !pattern.matches(first, offset as u64 + 1, piece));
                assert!(piece.len() < 20 || !pattern.matches(first + 1, offset as u64, piece));
            }
            // Each byte in a piece around it, and some of them in the whole file.
            for byte in 0..9000 {
                file[byte] ^= 1;
                let begin = byte.saturating_sub(50);
                let piece = &file[begin..(byte + 50).min(9000)];
                let is_whole = pattern.matches(first, begin as u64, piece);
                assert!(!is_whole, "{len}: byte {byte}");
                let is_looked_at = byte % 61 == 0 || byte == 8999;
                assert!(
                    !is_looked_at || !pattern.matches(first, 0, &file),
                    "{len}: byte {byte}"
                );
                file[byte] ^= 1;
            }
        }
    }
}
