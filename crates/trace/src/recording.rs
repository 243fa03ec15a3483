//! The file format of recordings, which `seekstone record` writes.
//!
//! The first line is text. Blocks follow: the length of the compressed bytes and their CRC-32, both
//! four bytes and little-endian, then a deflate stream. It begins with a [`BlockHead`] in
//! postcard's form; then come the requests. Each is a byte (kind, flags, whether device and process
//! are those of the one before, whether its end is known) and varints: the process and device where
//! they changed, nanoseconds since the request before, sectors from the end of the last request of
//! that device (zigzag), sectors, and nanoseconds until it was done. Each block can be read
//! independently, so that a truncated file loses only its last block.

use std::io::{BufRead, Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

use crate::block_event::IoFlags;
use crate::error::{TraceError, TracePosition};
use crate::matching::RecordedIo;
use crate::record::{Notes, RecordDetail, TraceOp, TraceReader, TraceRecord};
use crate::timeline::Timeline;

/// The first line.
pub(crate) const HEADER: &str = "seekstone trace 1";
const SECTOR_BYTES: u64 = 512;
/// Maximum number of requests per block.
const REQUESTS_MAX: usize = 8192;
/// Maximum compressed and uncompressed size of a block, bytes.
const COMPRESSED_MAX: u32 = 8 << 20;
const PLAIN_MAX: u64 = 16 << 20;
/// Maximum number of devices and processes in a recording.
const NAMES_MAX: usize = 1 << 20;
/// Layout of a request's first byte: two bits of kind, four of flags.
const FLAGS_SHIFT: u8 = 2;
const IS_SAME: u8 = 1 << 6;
const IS_DONE: u8 = 1 << 7;

/// Head of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct BlockHead {
    requests: u32,
    /// Names of new devices.
    devices: Vec<String>,
    /// Names of new processes, empty if omitted.
    processes: Vec<String>,
    end: Option<RecordingEnd>,
}

/// Data at the end of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingEnd {
    /// Length of the recording, nanoseconds.
    pub length_ns: u64,
    /// Events that the kernel dropped.
    pub lost: u64,
    /// Own CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// Whether times count from when requests were made, rather than issued.
    pub has_starts: bool,
}

/// Encodes a recording.
#[derive(Debug)]
pub struct RecordingEncoder {
    /// Encoded bytes.
    ready: Vec<u8>,
    head: BlockHead,
    body: Vec<u8>,
    last: BlockState,
}

/// State to which a request is relative.
#[derive(Debug, Default)]
struct BlockState {
    at: u64,
    device: u32,
    process: u32,
    /// By device: the sector after the last request.
    ends: Vec<u64>,
}

impl BlockState {
    fn end(&mut self, device: u32) -> &mut u64 {
        let device = device as usize;
        if self.ends.len() <= device {
            self.ends.resize(device + 1, 0);
        }
        &mut self.ends[device]
    }
}

impl Default for RecordingEncoder {
    fn default() -> Self {
        Self {
            ready: format!("{HEADER}\n").into_bytes(),
            head: BlockHead::default(),
            body: Vec::new(),
            last: BlockState::default(),
        }
    }
}

impl RecordingEncoder {
    /// Adds the next device.
    pub fn add_device(&mut self, name: String) {
        self.head.devices.push(name);
    }

    /// Adds the next process, possibly without a name.
    pub fn add_process(&mut self, name: String) {
        self.head.processes.push(name);
    }

    /// Adds a request, whose device and process were added before.
    ///
    /// # Panics
    /// Never: it writes to memory.
    pub fn add(&mut self, io: &RecordedIo) {
        let last = &mut self.last;
        let is_same = (io.device, io.process) == (last.device, last.process);
        let bits = [(is_same, IS_SAME), (io.took.is_some(), IS_DONE)];
        let bits = bits.iter().filter(|it| it.0).map(|it| it.1).sum::<u8>();
        self.body
            .push(io.op as u8 | (io.flags.0 & 0xf) << FLAGS_SHIFT | bits);
        if !is_same {
            put(&mut self.body, io.device.into());
            put(&mut self.body, io.process.into());
        }
        put(&mut self.body, io.at.saturating_sub(last.at));
        (last.device, last.process) = (io.device, io.process);
        last.at = last.at.max(io.at);
        if io.op.has_extent() {
            let (sector, sectors) = (io.offset / SECTOR_BYTES, io.length / SECTOR_BYTES);
            let end = last.end(io.device);
            put(&mut self.body, zigzag(sector.wrapping_sub(*end)));
            put(&mut self.body, sectors);
            *end = sector.wrapping_add(sectors);
        }
        if let Some(took) = io.took {
            put(&mut self.body, took);
        }
        self.head.requests += 1;
        if self.head.requests as usize == REQUESTS_MAX {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        const MEMORY: &str = "memory takes what is written";
        let head = std::mem::take(&mut self.head);
        let head = postcard::to_stdvec(&head).expect(MEMORY);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&head).expect(MEMORY);
        encoder.write_all(&self.body).expect(MEMORY);
        let bytes = encoder.finish().expect(MEMORY);
        self.body.clear();
        self.last = BlockState::default();
        self.ready.extend((bytes.len() as u32).to_le_bytes());
        self.ready.extend(crc32fast::hash(&bytes).to_le_bytes());
        self.ready.extend(bytes);
    }

    /// Takes the encoded bytes.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ready)
    }

    /// Ends the recording.
    pub fn finish(&mut self, end: RecordingEnd) {
        self.head.end = Some(end);
        self.end_block();
    }
}

/// Encodes an integer as a varint, seven bits per byte, the lowest first.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Zigzag encoding: small signed differences become small numbers.
const fn zigzag(difference: u64) -> u64 {
    difference << 1 ^ 0_u64.wrapping_sub(difference >> 63)
}

const fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ 0_u64.wrapping_sub(number & 1)
}

/// Reads a recording.
pub struct RecordingReader<R> {
    file: String,
    input: R,
    /// Bytes read.
    at: u64,
    block: Vec<u8>,
    /// Position in the block, and number of requests left in it.
    position: usize,
    left: u32,
    last: BlockState,
    devices: Vec<String>,
    processes: Vec<String>,
    end: Option<RecordingEnd>,
    timeline: Timeline,
    notes: Notes,
    /// The flush that follows a durable write.
    flush: Option<TraceRecord>,
    detail: Option<RecordDetail>,
}

impl<R: BufRead> RecordingReader<R> {
    pub fn new(file: &str, input: R) -> Self {
        Self {
            file: file.to_owned(),
            input,
            at: 0,
            block: Vec::new(),
            position: 0,
            left: 0,
            last: BlockState::default(),
            devices: Vec::new(),
            processes: Vec::new(),
            end: None,
            timeline: Timeline::default(),
            notes: Notes::default(),
            flush: None,
            detail: None,
        }
    }

    /// The next request with all its data.
    ///
    /// # Errors
    /// At the first error.
    pub fn next_io(&mut self) -> Result<Option<RecordedIo>, TraceError> {
        while self.left == 0 {
            if !self.next_block()? {
                return Ok(None);
            }
        }
        self.left -= 1;
        let mut bytes = &self.block[self.position..];
        let before = bytes.len();
        let io = self.last.request(&mut bytes);
        self.position += before - bytes.len();
        let io = io.filter(|io| {
            (io.device as usize) < self.devices.len()
                && (io.process as usize) < self.processes.len()
                && (io.length > 0 || !io.op.has_extent())
        });
        io.map(Some)
            .ok_or_else(|| self.fault("a request in the block before this is damaged"))
    }

    /// Data at the end, once read; `None` for a truncated recording.
    pub const fn end(&self) -> Option<&RecordingEnd> {
        self.end.as_ref()
    }

    /// Names of processes seen so far, empty if the recording has none.
    pub fn processes(&self) -> &[String] {
        &self.processes
    }

    fn fault(&self, text: impl Into<crate::error::TraceFault>) -> TraceError {
        TraceError::new(&self.file, TracePosition::Byte(self.at), text)
    }

    /// Reads the next block. Returns whether there was one.
    fn next_block(&mut self) -> Result<bool, TraceError> {
        if self.at == 0 {
            let mut line = Vec::new();
            let limit = HEADER.len() as u64 + 1;
            let read = (&mut self.input).take(limit).read_until(b'\n', &mut line);
            read.map_err(|error| self.fault(error))?;
            if line.strip_suffix(b"\n") != Some(HEADER.as_bytes()) {
                return Err(self.fault(format!("the first line is not \"{HEADER}\"")));
            }
            self.at = limit;
        }
        let Some(head) = self.exactly(8)? else {
            return Ok(false);
        };
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, check) = (number(0), number(4));
        if length > COMPRESSED_MAX {
            return Err(self.fault(format!("a block of {length} bytes is too long")));
        }
        let Some(bytes) = self.exactly(length.into())? else {
            return Ok(false);
        };
        if crc32fast::hash(&bytes) != check {
            return Err(self.fault("the block before this is damaged (its checksum differs)"));
        }
        self.block.clear();
        self.position = 0;
        let mut decoder = DeflateDecoder::new(&bytes[..]).take(PLAIN_MAX);
        let read = decoder.read_to_end(&mut self.block);
        read.map_err(|error| self.fault(error))?;
        let head = postcard::take_from_bytes(&self.block);
        let (head, rest): (BlockHead, &[u8]) =
            head.map_err(|_| self.fault("the block before this has no head that is known"))?;
        self.position = self.block.len() - rest.len();
        self.left = head.requests;
        self.last = BlockState::default();
        self.devices.extend(head.devices);
        self.processes.extend(head.processes);
        if self.devices.len() + self.processes.len() > NAMES_MAX {
            return Err(self.fault(format!("more than {NAMES_MAX} devices and processes")));
        }
        self.end = head.end.or(self.end.take());
        Ok(true)
    }

    /// Reads `length` bytes; `None` at the end of the file, which may be truncated.
    fn exactly(&mut self, length: u64) -> Result<Option<Vec<u8>>, TraceError> {
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(length).read_to_end(&mut bytes);
        read.map_err(|error| self.fault(error))?;
        self.at += bytes.len() as u64;
        if bytes.len() as u64 == length {
            return Ok(Some(bytes));
        }
        if !bytes.is_empty() {
            self.notes.skip("a block that was cut off at the end");
        }
        Ok(None)
    }

    fn record(&mut self, io: &RecordedIo) -> TraceRecord {
        TraceRecord {
            at: self.timeline.place(io.at, &mut self.notes),
            op: io.op,
            offset: io.offset,
            length: io.length,
            file: io.device,
        }
    }
}

impl BlockState {
    fn request(&mut self, bytes: &mut &[u8]) -> Option<RecordedIo> {
        let (&first, rest) = bytes.split_first()?;
        *bytes = rest;
        let op = [TraceOp::Read, TraceOp::Write, TraceOp::Trim, TraceOp::Sync][first as usize & 3];
        if first & IS_SAME == 0 {
            self.device = take(bytes)?
                .try_into()
                .ok()
                .filter(|&it| it < NAMES_MAX as u32)?;
            self.process = take(bytes)?.try_into().ok()?;
        }
        self.at = self.at.checked_add(take(bytes)?)?;
        let (mut offset, mut length) = (0, 0);
        if op.has_extent() {
            let device = self.device;
            let end = self.end(device);
            let sector = end.wrapping_add(unzigzag(take(bytes)?));
            offset = sector.checked_mul(SECTOR_BYTES)?;
            length = take(bytes)?.checked_mul(SECTOR_BYTES)?;
            *end = offset.checked_add(length)? / SECTOR_BYTES;
        }
        let took = match first & IS_DONE {
            0 => None,
            _ => Some(take(bytes)?),
        };
        Some(RecordedIo {
            at: self.at,
            op,
            flags: IoFlags(first >> FLAGS_SHIFT & 0xf),
            device: self.device,
            process: self.process,
            offset,
            length,
            took,
        })
    }
}

impl<R: BufRead + Send> TraceReader for RecordingReader<R> {
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        if let Some(flush) = self.flush.take() {
            // The time of the write lasts until it is durable.
            self.detail = None;
            return Ok(Some(flush));
        }
        let Some(io) = self.next_io()? else {
            if self.end.is_none() {
                self.notes
                    .skip("the end of the recording, which was cut off");
            }
            return Ok(None);
        };
        let record = self.record(&io);
        self.detail = Some(RecordDetail {
            process: io.process,
            took: io.took,
        });
        if io.op == TraceOp::Write && io.flags.has(IoFlags::FUA) {
            self.flush = Some(TraceRecord {
                op: TraceOp::Sync,
                offset: 0,
                length: 0,
                ..record
            });
        }
        Ok(Some(record))
    }

    fn files(&self) -> &[String] {
        &self.devices
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn detail(&self) -> Option<RecordDetail> {
        self.detail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_keep_their_sign() {
        for number in [0, 1, u64::MAX, 1 << 63, 4711, 0_u64.wrapping_sub(4711)] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
        assert_eq!(zigzag(0_u64.wrapping_sub(1)), 1);
    }
}
