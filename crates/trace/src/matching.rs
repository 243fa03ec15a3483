//! Matches block events to requests, from request to completion.
//!
//! Times count from where a program made the request (`Started`), so that they include the I/O
//! scheduler. If the kernel has no such event, they count from the issue to the device. A request
//! merged into another one counts as part of that.

use std::collections::{BTreeMap, VecDeque};

use crate::block_event::{BlockEvent, BlockEventKind, IoFlags};
use crate::record::TraceOp;

const SECTOR_BYTES: u64 = 512;
/// A request that takes longer is returned with unknown completion.
const WAIT_NS: u64 = 10_000_000_000;
/// Maximum number of requests in flight.
const SLOTS_MAX: usize = 1 << 18;

/// A recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedIo {
    /// Time of the request, nanoseconds from the start of the recording.
    pub at: u64,
    pub op: TraceOp,
    pub flags: IoFlags,
    /// The device: the kernel's number before it is written, then its number in the file.
    pub device: u32,
    /// Number of the process that made it.
    pub process: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes; zero for a flush.
    pub length: u64,
    /// Nanoseconds from `at` to completion; `None` if unknown.
    pub took: Option<u64>,
}

/// State of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestState {
    Asked,
    Issued,
    Over,
}

#[derive(Clone, Copy, Debug)]
struct RequestSlot {
    io: RecordedIo,
    state: RequestState,
    is_wanted: bool,
}

/// Tracks requests through their events.
#[derive(Debug, Default)]
pub struct RequestMatcher {
    /// Start of the recording, by the clock of the events.
    begin_ns: u64,
    /// Whether the kernel reports when a request is made.
    has_starts: bool,
    /// In order of time; the first has the number `first`.
    slots: VecDeque<RequestSlot>,
    first: u64,
    /// By device and sector: requests made but not issued.
    asked: BTreeMap<(u32, u64), u64>,
    /// By device: flushes made but not issued.
    flushes: BTreeMap<u32, Vec<u64>>,
    /// By device: who last requested a write that is followed by a flush.
    durable: BTreeMap<u32, (u32, bool)>,
    /// By device, first sector and whether it is a flush: requests at the device.
    issued: BTreeMap<(u32, u64, bool), u64>,
    /// Requests that are neither reads, writes, trims nor flushes.
    pub others: u64,
}

impl RequestMatcher {
    pub fn new(begin_ns: u64, has_starts: bool) -> Self {
        Self {
            begin_ns,
            has_starts,
            ..Self::default()
        }
    }

    /// Processes the next event. `who` numbers the process of its thread; `None` if it is not
    /// recorded.
    pub fn take(&mut self, event: &BlockEvent, who: &mut dyn FnMut(&BlockEvent) -> Option<u32>) {
        let Some(op) = event.op else {
            self.others += u64::from(event.kind == BlockEventKind::Issued);
            return;
        };
        let is_flush = op == TraceOp::Sync || event.bytes == 0;
        match event.kind {
            BlockEventKind::Started if is_flush => {
                let number = self.push(event, TraceOp::Sync, who(event));
                self.flushes.entry(event.device).or_default().push(number);
            }
            BlockEventKind::Started => {
                let process = who(event);
                if event.flags.has(IoFlags::FUA.and(IoFlags::PREFLUSH)) {
                    let who = (process.unwrap_or(0), process.is_some());
                    self.durable.insert(event.device, who);
                }
                let number = self.push(event, op, process);
                if let Some(old) = self.asked.insert((event.device, event.sector), number) {
                    self.end(old);
                }
            }
            BlockEventKind::Issued if is_flush => self.issue_flush(event, who),
            BlockEventKind::Issued => self.issue(event, op, who),
            // A write with a flush completes once more, without bytes.
            BlockEventKind::Completed if is_flush && op != TraceOp::Sync => {}
            BlockEventKind::Completed => self.complete(event, op),
        }
    }

    fn push(&mut self, event: &BlockEvent, op: TraceOp, process: Option<u32>) -> u64 {
        let (offset, length) = match op.has_extent() {
            true => (event.sector.saturating_mul(SECTOR_BYTES), event.bytes),
            false => (0, 0),
        };
        self.slots.push_back(RequestSlot {
            io: RecordedIo {
                at: event.time_ns.saturating_sub(self.begin_ns),
                op,
                flags: event.flags,
                device: event.device,
                process: process.unwrap_or(0),
                offset,
                length,
                took: None,
            },
            state: RequestState::Asked,
            is_wanted: process.is_some(),
        });
        self.first + self.slots.len() as u64 - 1
    }

    fn slot(&mut self, number: u64) -> Option<&mut RequestSlot> {
        let at = number.checked_sub(self.first)?;
        self.slots.get_mut(at as usize)
    }

    /// It was merged into another request.
    fn end(&mut self, number: u64) {
        if let Some(slot) = self.slot(number) {
            slot.state = RequestState::Over;
            slot.is_wanted = false;
        }
    }

    fn issue(
        &mut self,
        event: &BlockEvent,
        op: TraceOp,
        who: &mut dyn FnMut(&BlockEvent) -> Option<u32>,
    ) {
        let (device, sector) = (event.device, event.sector);
        let key = (device, sector, false);
        // Reissued after the device was full.
        if self.issued.get(&key).is_some_and(|it| *it >= self.first) {
            return;
        }
        let end = sector.saturating_add((event.bytes / SECTOR_BYTES).max(1));
        let merged = self.asked.range((device, sector)..(device, end));
        let merged: Vec<(u64, u64)> = merged.map(|(key, &number)| (key.1, number)).collect();
        let number = match merged.first() {
            Some(&(_, number)) => number,
            None => self.push(event, op, who(event)),
        };
        for (sector, other) in merged {
            self.asked.remove(&(device, sector));
            if other != number {
                self.end(other);
            }
        }
        if let Some(slot) = self.slot(number) {
            slot.state = RequestState::Issued;
            slot.io.op = op;
            slot.io.flags = event.flags;
            slot.io.offset = sector.saturating_mul(SECTOR_BYTES);
            slot.io.length = event.bytes;
        }
        self.issued.insert(key, number);
    }

    /// One device flush completes all flushes requested before it.
    fn issue_flush(&mut self, event: &BlockEvent, who: &mut dyn FnMut(&BlockEvent) -> Option<u32>) {
        let waiting = self.flushes.remove(&event.device).unwrap_or_default();
        let wanted = waiting.iter().position(|&number| {
            let slot = self.slot(number);
            slot.is_some_and(|it| it.is_wanted)
        });
        let number = match waiting.get(wanted.unwrap_or(0)) {
            Some(&number) => number,
            None => {
                let process = match self.durable.get(&event.device) {
                    Some(&(process, is_wanted)) => is_wanted.then_some(process),
                    None if self.has_starts => None,
                    None => who(event),
                };
                self.push(event, TraceOp::Sync, process)
            }
        };
        for other in waiting {
            if other != number {
                self.end(other);
            }
        }
        if let Some(slot) = self.slot(number) {
            slot.state = RequestState::Issued;
            slot.io.flags = event.flags;
        }
        self.issued.insert((event.device, 0, true), number);
    }

    fn complete(&mut self, event: &BlockEvent, op: TraceOp) {
        let key = match op {
            TraceOp::Sync => (event.device, 0, true),
            _ => (event.device, event.sector, false),
        };
        let Some(number) = self.issued.remove(&key) else {
            return;
        };
        let begin = self.begin_ns;
        if let Some(slot) = self.slot(number) {
            let at = event.time_ns.saturating_sub(begin);
            slot.io.took = Some(at.saturating_sub(slot.io.at));
            slot.state = RequestState::Over;
        }
    }

    /// Returns finished requests in order of time, up to the first unfinished one. Requests of more
    /// than ten seconds are returned without completion.
    pub fn hand_out(&mut self, now_ns: u64, over: &mut Vec<RecordedIo>) {
        let now = now_ns.saturating_sub(self.begin_ns);
        while let Some(slot) = self.slots.front() {
            let is_late = now.saturating_sub(slot.io.at) > WAIT_NS;
            if slot.state != RequestState::Over && !is_late && self.slots.len() <= SLOTS_MAX {
                return;
            }
            // Requests made but never issued had no effect, or were merged into others.
            if slot.is_wanted && slot.state != RequestState::Asked {
                over.push(slot.io);
            }
            self.slots.pop_front();
            self.first += 1;
        }
        self.forget();
    }

    /// Returns the rest at the end.
    pub fn finish(&mut self, over: &mut Vec<RecordedIo>) {
        let is_issued = |it: &RequestSlot| it.is_wanted && it.state != RequestState::Asked;
        let slots = self.slots.drain(..);
        over.extend(slots.filter(is_issued).map(|it| it.io));
    }

    /// Drops locations of requests whose slots are gone.
    fn forget(&mut self) {
        let first = self.first;
        if self.asked.len() + self.issued.len() > SLOTS_MAX {
            self.asked.retain(|_, number| *number >= first);
            self.issued.retain(|_, number| *number >= first);
        }
    }
}
