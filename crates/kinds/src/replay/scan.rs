//! The first pass over a trace: what it asks for, so that everything that can be refused is refused
//! before anything is written.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::session::Result;
use host::interrupt::Interrupt;
use lab::bench::BenchError;
use lab::test_file::stopped;
use trace::{Notes, TraceOp, TraceReader, TraceRecord};
use units::Bytes;

use super::file::{TraceFile, mistake};

/// Bytes of a request, at most.
const LENGTH_MAX: u64 = 1 << 30;
/// Parts of the target for files of a trace begin at multiples of this.
const PART_UNIT: u64 = 1 << 20;
/// Alignments above this are of no interest.
const UNIT_MAX: u64 = 4096;
/// Records between two looks at whether somebody wants to stop.
const RECORDS_TOGETHER: u64 = 1 << 16;

/// What a trace asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    pub reads: u64,
    pub writes: u64,
    pub syncs: u64,
    pub trims: u64,
    /// From the first record to the last that is replayed, nanoseconds.
    pub span_ns: u64,
    /// The longest read or write, bytes.
    pub length_max: u64,
    /// All offsets and lengths are multiples of this, at most [`UNIT_MAX`].
    pub unit: u64,
    /// The byte behind the last that is asked for of each file.
    pub ends: Vec<u64>,
    /// Requests of each file that are replayed.
    pub requests_of: Vec<u64>,
    /// Files that have some, in the order of their first.
    pub order: Vec<u32>,
    /// All files side by side.
    pub places: TraceLayout,
    pub notes: Notes,
    /// The same for the same records.
    pub digest: u64,
}

/// Where files of a trace lie in the target.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceLayout {
    /// Where the part of each begins.
    pub bases: Vec<u64>,
    /// Where the last one ends.
    pub extent: u64,
}

impl Scan {
    /// Read a trace to its end.
    pub fn of(file: &TraceFile, interrupt: &Interrupt) -> Result<Self> {
        let mut reader = file.read()?;
        let mut scan = Self::default();
        let mut hasher = DefaultHasher::new();
        let mut count = 0_u64;
        while let Some(record) = reader.next_record().map_err(|error| mistake(&error))? {
            let TraceRecord { at, op, .. } = record;
            (at, op as u8, record.offset, record.length, record.file).hash(&mut hasher);
            scan.add(&record)
                .map_err(|text| BenchError::Usage(format!("{}: {text}", file.name())))?;
            count += 1;
            if count.is_multiple_of(RECORDS_TOGETHER) {
                stopped(interrupt).map_or(Ok(()), Err)?;
            }
        }
        scan.digest = hasher.finish();
        scan.finish(file, reader.as_ref())
    }

    fn add(&mut self, record: &TraceRecord) -> Result<(), String> {
        match record.op {
            TraceOp::Read => self.reads += 1,
            TraceOp::Write => self.writes += 1,
            TraceOp::Sync => self.syncs += 1,
            TraceOp::Trim => {
                self.trims += 1;
                return Ok(());
            }
        }
        self.span_ns = record.at;
        let file = record.file as usize;
        if self.requests_of.len() <= file {
            self.requests_of.resize(file + 1, 0);
        }
        if self.requests_of[file] == 0 {
            self.order.push(record.file);
        }
        self.requests_of[file] += 1;
        if record.op == TraceOp::Sync {
            return Ok(());
        }
        if record.length > LENGTH_MAX {
            return Err(format!(
                "a {} of {} at offset {} is larger than 1 GiB, the largest request",
                record.op.name(),
                Bytes(record.length),
                record.offset
            ));
        }
        self.length_max = self.length_max.max(record.length);
        let zeroes = (record.offset | record.length | UNIT_MAX).trailing_zeros();
        let unit = 1 << zeroes;
        self.unit = if self.unit == 0 {
            unit
        } else {
            self.unit.min(unit)
        };
        if self.ends.len() <= file {
            self.ends.resize(file + 1, 0);
        }
        self.ends[file] = self.ends[file].max(record.end());
        Ok(())
    }

    fn finish(mut self, file: &TraceFile, reader: &dyn TraceReader) -> Result<Self> {
        if self.reads + self.writes == 0 {
            let which = match file.devices.as_slice() {
                [] => String::new(),
                names => format!(" of {}", names.join(", ")),
            };
            let text = format!("{}: there is no read or write{which} in it", file.name());
            return Err(BenchError::Usage(text));
        }
        self.places = self.places_of(|_| true).ok_or_else(|| {
            let text = "its files side by side do not fit into 64 bits. Choose with --device";
            BenchError::Usage(format!("{}: {text}", file.name()))
        })?;
        self.notes = reader.notes().clone();
        Ok(self)
    }

    /// Those files side by side, without the others.
    ///
    /// # Panics
    /// Never once the trace was read: all files together fit.
    pub fn part_of(&self, has_file: impl Fn(u32) -> bool) -> TraceLayout {
        let places = self.places_of(has_file);
        places.expect("some of the files fit where all do")
    }

    /// The same; `None` where it is beyond 64 bits.
    fn places_of(&self, has_file: impl Fn(u32) -> bool) -> Option<TraceLayout> {
        let mut places = TraceLayout::default();
        for (file, end) in (0..).zip(&self.ends) {
            places.bases.push(places.extent);
            if has_file(file) {
                let next = end.checked_next_multiple_of(PART_UNIT)?;
                places.extent = places.extent.checked_add(next)?;
            }
        }
        // A single file needs no whole part.
        if let [end] = self.ends[..] {
            places.extent = end;
        }
        Some(places)
    }

    /// Requests that are replayed, where all fit.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes + self.syncs
    }

    /// Whether the target is changed.
    pub fn writes(&self) -> bool {
        self.writes + self.syncs > 0
    }
}
