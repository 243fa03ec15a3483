//! The log itself: a client that stands for all writers, as a database has one log for all of its
//! sessions.
//!
//! A writer's record is due when the writer has it ready. While an append is under way the records
//! that come wait; the next append takes them together, up to the group's size, in their order.
//! When it is durable, each of its records is a commit, whose time counts from when it was due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use random::{GapProcess, Purpose, Stream};
use units::{Duration, Instant};
use workload::{
    AddressError, Agenda, Client, Completion, Durability, Event, Gap, MakeClient, Op, TargetId,
    UnitOfWork,
};

/// What a log does.
#[derive(Clone, Debug)]
pub(crate) struct LogSpec {
    /// File or device.
    pub target: TargetId,
    /// First byte of the log.
    pub offset: u64,
    /// Bytes of the log, a multiple of `unit`; after its end it begins anew.
    pub len: u64,
    /// Bytes of a record.
    pub record: u32,
    /// The length of an append is a multiple of this, bytes.
    pub unit: u32,
    /// Sessions that write.
    pub writers: u32,
    /// Records that one append takes at most.
    pub group: u32,
    /// How an append is made durable.
    pub durability: Durability,
    /// From a writer's commit to its next record.
    pub think: Gap,
}

impl LogSpec {
    /// The most bytes of an append.
    pub fn append_max(&self) -> u64 {
        let records = u64::from(self.group.min(self.writers));
        (records * u64::from(self.record)).next_multiple_of(u64::from(self.unit))
    }
}

impl MakeClient for LogSpec {
    fn client(&self, seed: u64, client: u32, _: u32) -> Result<Box<dyn Client>, AddressError> {
        let think = GapProcess::unless_none(self.think.shape, self.think.mean_ns)?;
        Ok(Box::new(WriteAheadLog {
            spec: self.clone(),
            think,
            gaps: Stream::new(seed, u64::from(client), Purpose::Think),
            at: 0,
            coming: BinaryHeap::new(),
            waiting: VecDeque::new(),
            under_way: Vec::new(),
        }))
    }
}

/// A log with its writers.
struct WriteAheadLog {
    spec: LogSpec,
    think: Option<GapProcess>,
    /// The n-th record to be committed draws the n-th think time, whoever wrote it.
    gaps: Stream,
    /// Where in the log the next append goes.
    at: u64,
    /// When the records are due of writers that think.
    coming: BinaryHeap<Reverse<Instant>>,
    /// Due instants of records that wait for the log.
    waiting: VecDeque<Instant>,
    /// Those of the append under way; empty when there is none.
    under_way: Vec<Instant>,
}

impl Client for WriteAheadLog {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        let now = match event {
            Event::Started { at } => {
                for _ in 0..self.spec.writers {
                    self.think_from(at);
                }
                at
            }
            Event::Due { at } => at,
            Event::Completed(completion) => {
                self.commit(completion, agenda);
                completion.completed
            }
        };
        self.append(now, agenda);
    }
}

impl WriteAheadLog {
    /// A writer has its next record ready a think time later.
    fn think_from(&mut self, at: Instant) {
        let gap = match &mut self.think {
            Some(think) => Duration::from_nanos(think.next_gap_ns(&mut self.gaps)),
            None => Duration::ZERO,
        };
        self.coming.push(Reverse(at + gap));
    }

    fn commit(&mut self, append: &Completion, agenda: &mut Agenda) {
        let dues = std::mem::take(&mut self.under_way);
        for due in dues {
            if append.result.is_ok() {
                agenda.unit_done(UnitOfWork {
                    kind: 0,
                    due,
                    started: append.issued,
                    completed: append.completed,
                    lateness: append.lateness(),
                    bytes: u64::from(self.spec.record),
                });
            }
            self.think_from(append.completed);
        }
    }

    /// Begin an append, if there are records and none is under way.
    fn append(&mut self, now: Instant, agenda: &mut Agenda) {
        if !self.under_way.is_empty() {
            return;
        }
        while let Some(Reverse(due)) = self.coming.peek().copied().filter(|due| due.0 <= now) {
            self.coming.pop();
            self.waiting.push_back(due);
        }
        let count = self.waiting.len().min(self.spec.group as usize);
        if count == 0 {
            if let Some(Reverse(next)) = self.coming.peek() {
                agenda.wake_at(*next);
            }
            return;
        }
        self.under_way.extend(self.waiting.drain(..count));
        let bytes = count as u64 * u64::from(self.spec.record);
        let len = bytes.next_multiple_of(u64::from(self.spec.unit));
        if self.at + len > self.spec.len {
            self.at = 0;
        }
        let op = Op::Write {
            target: self.spec.target,
            offset: self.spec.offset + self.at,
            len: len as u32,
            durability: self.spec.durability,
        };
        self.at += len;
        agenda.issue(now, op);
    }
}
