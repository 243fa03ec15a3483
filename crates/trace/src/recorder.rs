//! Converts pages of the kernel's trace to a recording.

use std::collections::BTreeMap;

use stats::Histogram;

use crate::block_event::{BlockEvent, PageLayout};
use crate::matching::{RecordedIo, RequestMatcher};
use crate::record::TraceOp;
use crate::recording::{RecordingEncoder, RecordingEnd};

const SECTOR_BYTES: u64 = 512;
/// How long the owner of a thread is cached, nanoseconds.
const FRESH_NS: u64 = 1_000_000_000;
/// Maximum number of cached threads.
const THREADS_MAX: usize = 1 << 16;

/// A recorded part of a device. Offsets count from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedPart {
    /// The kernel's device number.
    pub device: u32,
    /// First sector of 512 bytes, and number of sectors.
    pub sectors: (u64, u64),
}

/// The owner of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadOwner {
    /// A recorded process, by number and name. The name may be omitted.
    Recorded(u32, String),
    /// Another process.
    Other,
    /// The thread has ended.
    Gone,
}

/// Statistics of the recorded requests.
#[derive(Debug, Default)]
pub struct RecorderCounts {
    pub requests: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Times of requests, nanoseconds.
    pub took: Histogram,
    /// Requests without a completion.
    pub open: u64,
}

/// A recording in progress.
#[derive(Debug)]
pub struct TraceRecorder {
    layout: PageLayout,
    matcher: RequestMatcher,
    encoder: RecordingEncoder,
    /// Recorded parts; all devices if empty.
    parts: Vec<RecordedPart>,
    /// Events that may be preceded by some of another processor.
    early: Vec<BlockEvent>,
    over: Vec<RecordedIo>,
    owners: Owners,
    /// The kernel's device numbers and the file's.
    devices: BTreeMap<u32, u32>,
    pub counts: RecorderCounts,
}

impl TraceRecorder {
    /// Starts a recording at a time of the events' clock.
    pub fn new(
        layout: PageLayout,
        (begin_ns, has_starts): (u64, bool),
        parts: Vec<RecordedPart>,
    ) -> Self {
        Self {
            layout,
            matcher: RequestMatcher::new(begin_ns, has_starts),
            encoder: RecordingEncoder::default(),
            owners: Owners {
                takes_gone: !parts.is_empty(),
                ..Owners::default()
            },
            parts,
            early: Vec::new(),
            over: Vec::new(),
            devices: BTreeMap::new(),
            counts: RecorderCounts::default(),
        }
    }

    /// Adds a page of a processor.
    ///
    /// # Errors
    /// If the page violates the format.
    pub fn page(&mut self, page: &[u8]) -> Result<(), String> {
        self.layout.events(page, &mut self.early).map(drop)
    }

    /// Processes the events up to `until_ns`, all of which have been added. `who` returns the owner
    /// of a thread.
    pub fn advance(&mut self, until_ns: u64, who: &mut dyn FnMut(u32) -> ThreadOwner) {
        self.early.sort_by_key(|it| it.time_ns);
        let whole = self.early.partition_point(|it| it.time_ns <= until_ns);
        let (owners, encoder) = (&mut self.owners, &mut self.encoder);
        for event in self.early.drain(..whole) {
            self.matcher.take(&event, &mut |event| {
                owners.process(event.thread, event.time_ns, (&mut *who, &mut *encoder))
            });
        }
        self.matcher.hand_out(until_ns, &mut self.over);
        self.encode();
    }

    /// Encodes finished requests.
    fn encode(&mut self) {
        for mut io in self.over.drain(..) {
            if !self.parts.is_empty() && !self.parts.iter().any(|it| it.holds(&mut io)) {
                continue;
            }
            let next = self.devices.len() as u32;
            let device = *self.devices.entry(io.device).or_insert_with(|| {
                let (major, minor) = (io.device >> 20, io.device & 0xf_ffff);
                self.encoder.add_device(format!("{major},{minor}"));
                next
            });
            self.encoder.add(&RecordedIo { device, ..io });
            self.counts.requests += 1;
            if matches!(io.op, TraceOp::Read | TraceOp::Write) {
                self.counts.bytes += io.length;
            }
            match io.took {
                Some(took) => self.counts.took.record(took),
                None => self.counts.open += 1,
            }
        }
    }

    /// Takes the encoded bytes.
    pub fn take(&mut self) -> Vec<u8> {
        self.encoder.take()
    }

    /// Records requests still in flight without completion.
    pub fn end_requests(&mut self) {
        self.matcher.finish(&mut self.over);
        self.encode();
    }

    /// Writes the end of the file.
    pub fn finish(&mut self, end: RecordingEnd) {
        self.encoder.finish(end);
    }
}

impl RecordedPart {
    /// Whether a request is in this part, and makes its offset relative to it.
    fn holds(&self, io: &mut RecordedIo) -> bool {
        if self.device != io.device || !io.op.has_extent() {
            return self.device == io.device;
        }
        let first = self.sectors.0.saturating_mul(SECTOR_BYTES);
        let length = self.sectors.1.saturating_mul(SECTOR_BYTES);
        let within = io.offset.checked_sub(first).filter(|it| *it < length);
        io.offset = within.unwrap_or(io.offset);
        within.is_some()
    }
}

/// Threads and processes seen so far.
#[derive(Debug, Default)]
struct Owners {
    /// Whether to record threads that ended before they were examined.
    takes_gone: bool,
    /// By thread: when it was examined, and the file's number of the process, if recorded.
    known: BTreeMap<u32, (u64, Option<u32>)>,
    /// The system's process numbers and the file's.
    processes: BTreeMap<u32, u32>,
}

impl Owners {
    fn process(
        &mut self,
        thread: u32,
        now_ns: u64,
        (who, encoder): (&mut dyn FnMut(u32) -> ThreadOwner, &mut RecordingEncoder),
    ) -> Option<u32> {
        let known = self.known.get(&thread).copied();
        if let Some((seen, process)) = known
            && now_ns.saturating_sub(seen) < FRESH_NS
        {
            return process;
        }
        let next = self.processes.len() as u32;
        let mut number = |process: u32, name: String| {
            *self.processes.entry(process).or_insert_with(|| {
                encoder.add_process(name);
                next
            })
        };
        let process = match (who(thread), known) {
            (ThreadOwner::Recorded(process, name), _) => Some(number(process, name)),
            (ThreadOwner::Other, _) => None,
            // Unchanged.
            (ThreadOwner::Gone, Some((_, process))) => process,
            (ThreadOwner::Gone, None) => self.takes_gone.then(|| number(thread, String::new())),
        };
        if self.known.len() >= THREADS_MAX {
            self.known.clear();
        }
        self.known.insert(thread, (now_ns, process));
        process
    }
}
