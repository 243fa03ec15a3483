//! The kernel's block trace, as blktrace writes it: binary records of 48 bytes, each with a payload
//! that follows, in one file for each processor.
//!
//! Only queue events are used: one per request of a program or file system, before merging. Source:
//! `include/uapi/linux/blktrace_api.h`, version 7, unchanged since 2.6.17.

use std::io::{self, BufRead, Read as _};

use crate::error::{TraceError, TracePosition};
use crate::record::{Notes, TraceOp, TraceReader, TraceRecord};
use crate::timeline::{Names, Timeline};

const RECORD_BYTES: usize = 48;
const SECTOR_BYTES: u64 = 512;
/// The upper three bytes of the first word.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

/// Bits of the upper half of an action.
const READ: u32 = 1;
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const COMMAND: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;
/// The lower half of an action that queues a request.
const QUEUE: u32 = 1;

/// Whether a file begins with a record.
pub(crate) fn is_blktrace(bytes: &[u8]) -> bool {
    let word = bytes.first_chunk::<4>();
    word.is_some_and(|it| order_of(*it).is_some())
}

/// Byte order of numbers.
#[derive(Clone, Copy)]
enum ByteOrder {
    Little,
    Big,
}

fn order_of(word: [u8; 4]) -> Option<ByteOrder> {
    let is_magic = |word: u32| word & 0xffff_ff00 == MAGIC;
    match () {
        () if is_magic(u32::from_le_bytes(word)) => Some(ByteOrder::Little),
        () if is_magic(u32::from_be_bytes(word)) => Some(ByteOrder::Big),
        () => None,
    }
}

/// An event, with the fields that are used.
#[derive(Clone, Copy)]
struct BlktraceEvent {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
}

/// The file of one processor.
struct ProcessorTrace<R> {
    name: String,
    input: R,
    at: u64,
    next: Option<BlktraceEvent>,
}

/// A reader of all processors' files.
pub(crate) struct BlktraceReader<R> {
    streams: Vec<ProcessorTrace<R>>,
    is_begun: bool,
    timeline: Timeline,
    names: Names,
    notes: Notes,
}

impl<R: BufRead> BlktraceReader<R> {
    pub fn new(inputs: Vec<(String, R)>) -> Self {
        let stream = |(name, input)| ProcessorTrace {
            name,
            input,
            at: 0,
            next: None,
        };
        Self {
            streams: inputs.into_iter().map(stream).collect(),
            is_begun: false,
            timeline: Timeline::default(),
            names: Names::default(),
            notes: Notes::default(),
        }
    }

    /// The earliest event of all files.
    fn next_event(&mut self) -> Result<Option<(usize, BlktraceEvent)>, TraceError> {
        if !self.is_begun {
            self.is_begun = true;
            for stream in &mut self.streams {
                stream.advance()?;
            }
        }
        let waiting = self.streams.iter().enumerate();
        let waiting = waiting.filter_map(|(number, it)| Some((it.next?.time_ns, number)));
        let Some((_, number)) = waiting.min() else {
            return Ok(None);
        };
        let stream = &mut self.streams[number];
        let event = stream.next.take();
        stream.advance()?;
        Ok(event.map(|event| (number, event)))
    }
}

impl<R: BufRead> ProcessorTrace<R> {
    /// Reads the next event and skips its payload.
    fn advance(&mut self) -> Result<(), TraceError> {
        let mut record = [0; RECORD_BYTES];
        let begin = self.at;
        let filled = fill(&mut self.input, &mut record)
            .map_err(|error| TraceError::new(&self.name, TracePosition::Byte(begin), error))?;
        let fault = |text: String| TraceError::new(&self.name, TracePosition::Byte(begin), text);
        if filled == 0 {
            return Ok(());
        }
        if filled < RECORD_BYTES {
            return Err(fault(format!(
                "the last record has {filled} of {RECORD_BYTES} bytes. Cut it off with \
                 `truncate --size={begin}`"
            )));
        }
        let word = [record[0], record[1], record[2], record[3]];
        let Some(order) = order_of(word) else {
            return Err(fault(
                "no record of blktrace begins here (its magic number is missing)".into(),
            ));
        };
        let number = |at: usize| {
            let bytes = [record[at], record[at + 1], record[at + 2], record[at + 3]];
            match order {
                ByteOrder::Little => u32::from_le_bytes(bytes),
                ByteOrder::Big => u32::from_be_bytes(bytes),
            }
        };
        let wide = |at: usize| {
            let (first, second) = (u64::from(number(at)), u64::from(number(at + 4)));
            match order {
                ByteOrder::Little => second << 32 | first,
                ByteOrder::Big => first << 32 | second,
            }
        };
        let version = number(0) & 0xff;
        if version != VERSION {
            let text = format!("blktrace version {version} is not known, only {VERSION} is");
            return Err(fault(text));
        }
        let payload = match order {
            ByteOrder::Little => u16::from_le_bytes([record[46], record[47]]),
            ByteOrder::Big => u16::from_be_bytes([record[46], record[47]]),
        };
        self.next = Some(BlktraceEvent {
            time_ns: wide(8),
            sector: wide(16),
            bytes: number(24),
            action: number(28),
            device: number(36),
        });
        let payload = u64::from(payload);
        let passed = io::copy(&mut (&mut self.input).take(payload), &mut io::sink());
        let passed = passed
            .map_err(|error| TraceError::new(&self.name, TracePosition::Byte(begin), error))?;
        if passed < payload {
            return Err(TraceError::new(
                &self.name,
                TracePosition::Byte(begin),
                format!(
                    "the payload of the last record has {passed} of {payload} bytes. Cut it off \
                     with `truncate --size={begin}`"
                ),
            ));
        }
        self.at += RECORD_BYTES as u64 + payload;
        Ok(())
    }
}

/// Fills a buffer as far as there is input.
fn fill(input: &mut impl BufRead, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl BlktraceEvent {
    /// The operation, or why the event is skipped.
    fn op(&self) -> Result<TraceOp, &'static str> {
        let (category, action) = (self.action >> 16, self.action & 0xffff);
        let has = |bits| category & bits != 0;
        match (action, self.bytes) {
            _ if has(NOTIFY) => Err("notes of blktrace"),
            _ if action != QUEUE => Err(skipped(action)),
            _ if has(COMMAND) => Err("commands that bypass the file system"),
            (_, 0) if has(FLUSH) => Ok(TraceOp::Sync),
            (_, 0) => Err("requests without bytes"),
            _ if has(DISCARD) => Ok(TraceOp::Trim),
            _ if has(WRITE) => Ok(TraceOp::Write),
            _ if has(READ) => Ok(TraceOp::Read),
            _ => Err("requests that neither read nor write"),
        }
    }
}

/// Name of an event that queues nothing.
const fn skipped(action: u32) -> &'static str {
    match action {
        2 | 3 => "merges",
        6 | 7 => "issues",
        8 => "completions",
        13 => "splits",
        15 => "remappings",
        _ => "other events",
    }
}

/// A device as `major,minor`.
fn device(number: u32) -> String {
    format!("{},{}", number >> 20, number & 0xf_ffff)
}

impl<R: BufRead + Send> TraceReader for BlktraceReader<R> {
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        while let Some((stream, event)) = self.next_event()? {
            let op = match event.op() {
                Ok(op) => op,
                Err(what) => {
                    self.notes.skip(what);
                    continue;
                }
            };
            let stream = &self.streams[stream];
            let fault = |text| TraceError::new(&stream.name, TracePosition::Byte(stream.at), text);
            let length = u64::from(event.bytes);
            let offset = event.sector.checked_mul(SECTOR_BYTES);
            let offset = offset.filter(|it| it.checked_add(length).is_some());
            // A flush has no offset.
            let offset = if op.has_extent() { offset } else { Some(0) };
            let offset = offset.ok_or_else(|| {
                fault(format!(
                    "an event before this has sector {}, which does not fit into 64 bits as bytes",
                    event.sector
                ))
            })?;
            let file = self.names.number(&device(event.device)).map_err(fault)?;
            return Ok(Some(TraceRecord {
                at: self.timeline.place(event.time_ns, &mut self.notes),
                op,
                offset,
                length,
                file,
            }));
        }
        Ok(None)
    }

    fn files(&self) -> &[String] {
        self.names.all()
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }
}
