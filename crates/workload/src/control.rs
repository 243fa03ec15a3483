//! Control threads of the RAID Performance Test: a client that walks its share of the file, keeps a
//! program clock, and has one operation outstanding.
//!
//! Source: the RPT manual of 1995, "Workload Definition", "Address space partitioning" and "Access
//! modes and distributions". The program clock advances by a random gap per operation. An early
//! thread waits for its clock; a late one issues at once, and its clock keeps the lag. The
//! operation is due by the clock, so the response time includes the lag; the manual's response time
//! is the service time here.

use random::{GapProcess, Purpose, Stream};
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use crate::address::{
    AddressError, AddressWalk, Partition, Pattern, Region, RegionShare, WalkStart,
};
use crate::client::{Agenda, Client, Event};
use crate::content::Content;
use crate::mix::Gap;
use crate::op::{Durability, Op, TargetId};

/// Position of operations in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// As many as fit, one after the other: `block / io_size` positions per block.
    Packed,
    /// One per block, this many bytes from its start.
    Offset(u64),
}

/// One type of control thread, resolved and checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadType {
    /// Its name.
    pub name: String,
    /// Threads of this type created in a row before the next type's turn (`LThreads`).
    pub count: u32,
    /// How threads share the file.
    pub partition: Partition,
    /// Bytes of a block.
    pub block: u64,
    /// Shares into which the file is divided (maximum possible control threads).
    pub shares: u32,
    /// Bytes of an operation.
    pub io_size: u32,
    /// Position of operations in a block.
    pub placement: Placement,
    /// Relative number of reads.
    pub reads: u32,
    /// Relative number of writes.
    pub writes: u32,
    /// Order of positions; steps count positions.
    pub pattern: Pattern,
    /// Gaps of the program clock; `None` issues each operation when the previous one completes
    /// ("constant queuing").
    pub clock: Option<Gap>,
    /// Operations summed in one message (classic programs only).
    pub ios_per_message: u32,
}

impl ThreadType {
    /// Positions for operations in one block.
    pub fn places_in_block(&self) -> u64 {
        match self.placement {
            Placement::Packed => self.block / u64::from(self.io_size).max(1),
            Placement::Offset(_) => 1,
        }
    }

    /// Whether the thread is never idle, so that any number of them saturates the storage.
    pub const fn is_batch(&self) -> bool {
        self.clock.is_none()
    }
}

/// Parameters of a set of control threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlSpec {
    /// File or device.
    pub target: TargetId,
    /// Bytes used of it; the rest beyond a whole number of shares is ignored.
    pub len: u64,
    /// The types in order of creation, repeated for more threads; at least one.
    pub types: Vec<ThreadType>,
    /// Content of writes.
    #[serde(default, skip_serializing_if = "Content::is_default")]
    pub content: Content,
}

impl ControlSpec {
    /// The type of thread `number`, counted from zero.
    pub fn type_of(&self, number: u32) -> &ThreadType {
        let cycle: u64 = self.types.iter().map(|kind| u64::from(kind.count)).sum();
        let mut left = u64::from(number) % cycle.max(1);
        for kind in &self.types {
            if left < u64::from(kind.count) {
                return kind;
            }
            left -= u64::from(kind.count);
        }
        unreachable!("a position within the cycle belongs to a type");
    }

    /// Operations per second offered by `threads` threads; `None` if one never waits.
    pub fn offered(&self, threads: u32) -> Option<f64> {
        let cycle: u32 = self.types.iter().map(|kind| kind.count).sum();
        let (rounds, rest) = (threads / cycle.max(1), threads % cycle.max(1));
        let mut rate = 0.0;
        let mut left = rest;
        for kind in &self.types {
            let here = kind.count.min(left);
            left -= here;
            let count = u64::from(rounds) * u64::from(kind.count) + u64::from(here);
            if count > 0 {
                rate += count as f64 * 1e9 / kind.clock?.mean_ns;
            }
        }
        Some(rate)
    }
}

#[derive(Clone, Debug)]
pub struct ControlThread {
    target: TargetId,
    share: RegionShare,
    places: AddressWalk,
    in_block: u64,
    io_size: u32,
    offset: u64,
    choice: Stream,
    reads: u32,
    writes: u32,
    pace: Option<(GapProcess, Stream)>,
    /// The program clock.
    clock: Instant,
}

impl ControlThread {
    /// Thread `number`. Beyond the number of shares, threads start again with the first share,
    /// elsewhere in it.
    ///
    /// # Errors
    /// If a share has no block, or a parameter is out of range.
    pub fn new(spec: &ControlSpec, seed: u64, number: u32) -> Result<Self, AddressError> {
        let kind = spec.type_of(number);
        let shares = kind.shares.max(1);
        let region = Region {
            target: spec.target,
            offset: 0,
            len: spec.len,
            block: kind.block,
        };
        let share = RegionShare::new(region, kind.partition, number % shares, shares)?;
        let in_block = kind.places_in_block().max(1);
        let places = AddressWalk::new(
            kind.pattern,
            WalkStart::Random,
            share.blocks * in_block,
            seed,
            number,
        )?;
        let stream = |purpose| Stream::new(seed, u64::from(number), purpose);
        let pace = match kind.clock {
            None => None,
            Some(gap) => {
                let gaps = GapProcess::new(gap.shape, gap.mean_ns)?;
                Some((gaps, stream(Purpose::Arrival)))
            }
        };
        Ok(Self {
            target: spec.target,
            share,
            places,
            in_block,
            io_size: kind.io_size,
            offset: match kind.placement {
                Placement::Packed => 0,
                Placement::Offset(offset) => offset,
            },
            choice: stream(Purpose::Mix),
            reads: kind.reads,
            writes: kind.writes,
            pace,
            clock: Instant::START,
        })
    }

    /// Positions that the thread walks over.
    pub const fn places(&self) -> u64 {
        self.share.blocks * self.in_block
    }

    fn next_op(&mut self) -> Op {
        let place = self.places.next_place();
        let at = self.share.offset(place / self.in_block);
        let offset = at + self.offset + place % self.in_block * u64::from(self.io_size);
        let (target, len) = (self.target, self.io_size);
        let all = u64::from(self.reads) + u64::from(self.writes);
        let is_read = match (self.reads, self.writes) {
            (_, 0) => true,
            (0, _) => false,
            _ => self.choice.below(all) < u64::from(self.reads),
        };
        if is_read {
            return Op::Read {
                target,
                offset,
                len,
            };
        }
        Op::Write {
            target,
            offset,
            len,
            durability: Durability::Volatile,
        }
    }

    /// When the next operation is due; `free` is when the thread can issue it.
    fn next_due(&mut self, free: Instant) -> Instant {
        match &mut self.pace {
            Some((gaps, stream)) => {
                self.clock += Duration::from_nanos(gaps.next_gap_ns(stream));
                self.clock
            }
            None => free,
        }
    }
}

impl Client for ControlThread {
    #[inline]
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        let free = match event {
            Event::Started { at } => {
                self.clock = at;
                at
            }
            Event::Completed(completion) => completion.completed,
            Event::Due { .. } => return,
        };
        let due = self.next_due(free);
        let op = self.next_op();
        agenda.issue(due, op);
    }
}
