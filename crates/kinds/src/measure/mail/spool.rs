//! The spool itself: a client that stands for all sessions, as a server has one spool for them.
//!
//! A delivery writes the message behind the last one and then its entry at the end of the index,
//! each durably; it counts when both are done. A deletion writes an entry alone. After their ends
//! the index and the messages begin anew, and the oldest messages are gone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use random::{GapProcess, LogNormal, Purpose, Stream, standard_exponential};
use units::{Duration, Instant};
use workload::{
    AddressError, Agenda, Client, Completion, Durability, Event, Gap, MakeClient, Op, TargetId,
    UnitOfWork,
};

/// Deviation of the logarithms of sizes.
const SIGMA: f64 = 1.75;
/// Bytes of an entry of the index.
const ENTRY: u32 = 512;
/// The index is this part of the spool.
const INDEX_PART: u64 = 32;
/// Of so many operations ...
const MIX: u64 = 5;
/// ... so many deliver,
const DELIVER: u64 = 2;
/// ... and so many read; the others delete.
const READ: u64 = 2;

/// What a spool is.
#[derive(Clone, Debug)]
pub(super) struct SpoolSpec {
    /// File or device.
    pub target: TargetId,
    /// Bytes of it.
    pub len: u64,
    /// Offsets and lengths are multiples of this, bytes.
    pub unit: u32,
    pub sessions: u32,
    /// Bytes that half of the messages are below, and that none is above.
    pub median: u64,
    pub largest: u64,
    /// Mean age of what is read, in messages.
    pub recent: f64,
    /// How writes are made durable.
    pub durability: Durability,
    /// From an operation of a session to its next.
    pub think: Gap,
}

impl SpoolSpec {
    /// Bytes of the index.
    pub fn index(&self) -> u64 {
        (self.len / INDEX_PART).next_multiple_of(u64::from(self.unit.max(ENTRY)))
    }

    /// Bytes of an entry.
    pub fn entry(&self) -> u64 {
        self.whole(u64::from(ENTRY))
    }

    /// Bytes of the longest message, or of an entry.
    pub fn longest(&self) -> u64 {
        self.whole(self.largest).max(self.entry())
    }

    fn whole(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(u64::from(self.unit))
    }
}

impl MakeClient for SpoolSpec {
    fn client(&self, seed: u64, client: u32, _: u32) -> Result<Box<dyn Client>, AddressError> {
        let stream = |purpose| Stream::new(seed, u64::from(client), purpose);
        let mut spool = MailSpool {
            think: GapProcess::unless_none(self.think.shape, self.think.mean_ns)?,
            sizes: LogNormal::new(self.median as f64, SIGMA)?,
            spec: self.clone(),
            gaps: stream(Purpose::Think),
            lengths: stream(Purpose::Size),
            mix: stream(Purpose::Mix),
            ages: stream(Purpose::Address),
            at: self.index(),
            entry: 0,
            messages: VecDeque::new(),
            coming: BinaryHeap::new(),
            under_way: BTreeMap::new(),
        };
        // Half of the spool was delivered before.
        while spool.at < self.len / 2 {
            let message = spool.next_message();
            spool.messages.push_back(message);
        }
        Ok(Box::new(spool))
    }
}

/// Where a message lies: its first byte, and its bytes.
type Message = (u64, u32);

/// What of a delivery is being written.
#[derive(Clone, Copy, Debug)]
enum SpoolStep {
    Message {
        message: Message,
        due: Instant,
    },
    /// The entry of a message whose own write was issued then.
    Entry {
        message: Message,
        due: Instant,
        started: Instant,
        lateness: Duration,
    },
}

/// A spool with its sessions.
struct MailSpool {
    spec: SpoolSpec,
    think: Option<GapProcess>,
    sizes: LogNormal,
    gaps: Stream,
    lengths: Stream,
    mix: Stream,
    ages: Stream,
    /// Where the next message goes, and the next entry.
    at: u64,
    entry: u64,
    /// The oldest first.
    messages: VecDeque<Message>,
    /// When the operations of sessions are due.
    coming: BinaryHeap<Reverse<Instant>>,
    /// Parts of deliveries by their first byte.
    under_way: BTreeMap<u64, SpoolStep>,
}

impl Client for MailSpool {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        let now = match event {
            Event::Started { at } => {
                for _ in 0..self.spec.sessions {
                    self.think_from(at);
                }
                at
            }
            Event::Due { at } => at,
            Event::Completed(completion) => {
                self.go_on(completion, agenda);
                completion.completed
            }
        };
        while let Some(Reverse(due)) = self.coming.peek().copied().filter(|due| due.0 <= now) {
            self.coming.pop();
            self.begin(due, agenda);
        }
        if let Some(Reverse(next)) = self.coming.peek() {
            agenda.wake_at(*next);
        }
    }
}

impl MailSpool {
    /// A session has its next operation a think time later.
    fn think_from(&mut self, at: Instant) {
        let gap = match &mut self.think {
            Some(think) => Duration::from_nanos(think.next_gap_ns(&mut self.gaps)),
            None => Duration::ZERO,
        };
        self.coming.push(Reverse(at + gap));
    }

    /// A session delivers, reads or deletes.
    fn begin(&mut self, due: Instant, agenda: &mut Agenda) {
        let drawn = self.mix.below(MIX);
        match self.recent().filter(|_| drawn >= DELIVER) {
            None => {
                let message = self.next_message();
                self.under_way
                    .insert(message.0, SpoolStep::Message { message, due });
                self.write(message, due, agenda);
            }
            Some((offset, len)) if drawn < DELIVER + READ => {
                let target = self.spec.target;
                agenda.issue(
                    due,
                    Op::Read {
                        target,
                        offset,
                        len,
                    },
                );
            }
            Some(_) => {
                self.messages.pop_front();
                let entry = self.next_entry();
                self.write(entry, due, agenda);
            }
        }
    }

    /// After a message its entry; after an entry the session's next operation.
    fn go_on(&mut self, done: &Completion, agenda: &mut Agenda) {
        let written = match done.request.op {
            Op::Write { offset, .. } => self.under_way.remove(&offset),
            _ => None,
        };
        match written.filter(|_| done.result.is_ok()) {
            Some(SpoolStep::Message { message, due }) => {
                let entry = self.next_entry();
                let entered = SpoolStep::Entry {
                    message,
                    due,
                    started: done.issued,
                    lateness: done.lateness(),
                };
                self.under_way.insert(entry.0, entered);
                return self.write(entry, done.completed, agenda);
            }
            Some(SpoolStep::Entry {
                message,
                due,
                started,
                lateness,
            }) => {
                self.messages.push_back(message);
                agenda.unit_done(UnitOfWork {
                    kind: 0,
                    due,
                    started,
                    completed: done.completed,
                    lateness,
                    bytes: message.1.into(),
                });
            }
            None => {}
        }
        self.think_from(done.completed);
    }

    fn write(&self, (offset, len): Message, due: Instant, agenda: &mut Agenda) {
        let SpoolSpec {
            target, durability, ..
        } = self.spec;
        let op = Op::Write {
            target,
            offset,
            len,
            durability,
        };
        agenda.issue(due, op);
    }

    /// A message whose age is drawn, if there is one.
    fn recent(&mut self) -> Option<Message> {
        let age = (self.spec.recent * standard_exponential(&mut self.ages)) as usize;
        let newest = self.messages.len().checked_sub(1)?;
        self.messages.get(newest - age.min(newest)).copied()
    }

    /// Room for the next message; those that lay there are gone.
    fn next_message(&mut self) -> Message {
        let drawn = self.sizes.sample(&mut self.lengths);
        let bytes = (drawn.ceil().min(self.spec.largest as f64) as u64).max(1);
        let len = self.spec.whole(bytes);
        if self.at + len > self.spec.len {
            self.at = self.spec.index();
        }
        let offset = self.at;
        self.at += len;
        let is_under = |it: &Message| it.0 < offset + len && offset < it.0 + u64::from(it.1);
        while self.messages.front().is_some_and(is_under) {
            self.messages.pop_front();
        }
        (offset, len as u32)
    }

    fn next_entry(&mut self) -> Message {
        let len = self.spec.entry();
        if self.entry + len > self.spec.index() {
            self.entry = 0;
        }
        let offset = self.entry;
        self.entry += len;
        (offset, len as u32)
    }
}
