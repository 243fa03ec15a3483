//! A client that issues a mix of reads, writes and flushes, paced by completions or by a schedule.

use random::{GapProcess, Purpose, Stream};
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use crate::address::{AddressError, AddressSpec, Addresses};
use crate::client::{Agenda, Client, Event};
use crate::op::{Durability, Op, TargetId};

pub use random::GapShape;

/// A distribution of the time between two events, with its mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// Constant, uniform or exponential.
    pub shape: GapShape,
    /// Mean in nanoseconds; fractions count in the long run.
    pub mean_ns: f64,
}

impl Gap {
    /// No time at all.
    pub const NONE: Self = Self {
        shape: GapShape::Constant,
        mean_ns: 0.0,
    };

    /// A gap of that shape and mean.
    pub fn new(shape: GapShape, mean: Duration) -> Self {
        Self {
            shape,
            mean_ns: mean.as_nanos() as f64,
        }
    }
}

/// What triggers a client's next operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Pacing {
    /// The next operation is due a think time after the previous completion.
    Closed {
        /// Time between completion and the next due instant.
        think: Gap,
    },
    /// Operations are due on their own schedule, however long earlier ones take.
    Open {
        /// Time between due instants.
        gap: Gap,
    },
}

/// Relative weights of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mix {
    /// Weight of reads.
    pub read: u32,
    /// Weight of writes.
    pub write: u32,
    /// Weight of flushes.
    pub flush: u32,
}

impl Mix {
    /// Reads only.
    pub const READ: Self = Self {
        read: 1,
        write: 0,
        flush: 0,
    };
    /// Writes only.
    pub const WRITE: Self = Self {
        read: 0,
        write: 1,
        flush: 0,
    };
}

/// An operation size with its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationSize {
    /// Bytes.
    pub len: u32,
    /// Relative weight.
    pub weight: u32,
}

/// Parameters of a group of clients with mixed operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixSpec {
    /// Where operations go.
    pub addresses: AddressSpec,
    /// Operation types.
    pub mix: Mix,
    /// Their sizes, at least one entry.
    pub sizes: Vec<OperationSize>,
    /// Durability of a completed write.
    pub durability: Durability,
    /// When they are due.
    pub pacing: Pacing,
    /// Number of operations after which the client finishes; `None` for no end.
    pub operations: Option<u64>,
    /// More files like that of the region, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<FileSet>,
}

/// Files of equal size, assigned to clients in turn: client `c` uses file `c` modulo their number,
/// shared with the other clients of that file. The region's own file is number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSet {
    /// Target of file number 1, followed by the others.
    pub others: TargetId,
    /// Number of files, including the region's own; at least two.
    pub files: u32,
}

impl MixSpec {
    /// Endless operations of one block, each requested when the previous one completes.
    pub fn closed(addresses: AddressSpec, mix: Mix) -> Self {
        let len = addresses.region.block as u32;
        Self {
            addresses,
            mix,
            sizes: vec![OperationSize { len, weight: 1 }],
            durability: Durability::Volatile,
            pacing: Pacing::Closed { think: Gap::NONE },
            operations: None,
            spread: None,
        }
    }

    /// The file of client `client` of `clients`, and its number among the clients of that file.
    fn assigned_file(&self, client: u32, clients: u32) -> (TargetId, (u32, u32)) {
        let own = self.addresses.region.target;
        let Some(FileSet { others, files }) = self.spread else {
            return (own, (client, clients));
        };
        let file = client % files;
        let target = match file {
            0 => own,
            _ => TargetId(others.0 + file - 1),
        };
        (target, (client / files, (clients - file).div_ceil(files)))
    }
}

/// One client of a [`MixSpec`].
#[derive(Clone, Debug)]
pub struct MixClient {
    addresses: Addresses,
    target: TargetId,
    choice: Stream,
    size_choice: Stream,
    mix: Mix,
    sizes: Sizes,
    durability: Durability,
    pace: RequestPacing,
    schedule: Schedule,
    operations_left: u64,
}

#[derive(Clone, Debug)]
struct RequestPacing {
    shape: GapShape,
    gaps: Option<GapProcess>,
    stream: Stream,
}

impl RequestPacing {
    #[inline]
    fn next(&mut self) -> Duration {
        match &mut self.gaps {
            Some(gaps) => Duration::from_nanos(gaps.next_gap_ns(&mut self.stream)),
            None => Duration::ZERO,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Schedule {
    AfterCompletion,
    OfItsOwn,
}

#[derive(Clone, Debug)]
enum Sizes {
    Fixed(u32),
    Weighted {
        sizes: Box<[OperationSize]>,
        total: u64,
    },
}

impl MixClient {
    /// Client `client` of `clients`.
    ///
    /// # Errors
    /// If the client's share of the region would be empty.
    pub fn new(spec: &MixSpec, seed: u64, client: u32, clients: u32) -> Result<Self, AddressError> {
        assert!(!spec.sizes.is_empty(), "a mix needs at least one size");
        let number = u64::from(client);
        let (target, share) = spec.assigned_file(client, clients);
        let (gap, schedule, purpose) = match spec.pacing {
            Pacing::Closed { think } => (think, Schedule::AfterCompletion, Purpose::Think),
            Pacing::Open { gap } => (gap, Schedule::OfItsOwn, Purpose::Arrival),
        };
        Ok(Self {
            addresses: Addresses::of_share(&spec.addresses, seed, client, share)?,
            target,
            choice: Stream::new(seed, number, Purpose::Mix),
            size_choice: Stream::new(seed, number, Purpose::Size),
            mix: spec.mix,
            sizes: Sizes::new(&spec.sizes),
            durability: spec.durability,
            pace: RequestPacing {
                shape: gap.shape,
                gaps: GapProcess::unless_none(gap.shape, gap.mean_ns)?,
                stream: Stream::new(seed, number, purpose),
            },
            schedule,
            operations_left: spec.operations.unwrap_or(u64::MAX),
        })
    }

    #[inline]
    fn next_op(&mut self) -> Op {
        let offset = self.addresses.next_offset();
        let len = self.sizes.draw(&mut self.size_choice);
        let target = self.target;
        let Mix { read, write, flush } = self.mix;
        if write == 0 && flush == 0 {
            return Op::Read {
                target,
                offset,
                len,
            };
        }
        let all = u64::from(read) + u64::from(write) + u64::from(flush);
        let drawn = if read == 0 && flush == 0 {
            0
        } else {
            self.choice.below(all)
        };
        if drawn < u64::from(write) {
            Op::Write {
                target,
                offset,
                len,
                durability: self.durability,
            }
        } else if drawn < u64::from(write) + u64::from(read) {
            Op::Read {
                target,
                offset,
                len,
            }
        } else {
            Op::Flush {
                target,
                data_only: false,
            }
        }
    }

    #[inline]
    fn issue_next(&mut self, due: Instant, agenda: &mut Agenda) {
        if self.operations_left == 0 {
            agenda.finish();
            return;
        }
        self.operations_left -= 1;
        let op = self.next_op();
        agenda.issue(due, op);
    }

    fn first_due(&mut self, at: Instant) -> Instant {
        // A random fraction of a gap spreads clients with constant gaps over their period.
        let phase = self.pace.next();
        match self.pace.shape {
            GapShape::Exponential => at + phase,
            GapShape::Constant | GapShape::Uniform => at + phase.mul_f64(self.pace.stream.unit()),
        }
    }
}

impl Client for MixClient {
    #[inline]
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        match (event, self.schedule) {
            (Event::Completed(completion), Schedule::AfterCompletion) => {
                let think = self.pace.next();
                self.issue_next(completion.completed + think, agenda);
            }
            (Event::Completed(_), Schedule::OfItsOwn) => {
                if self.operations_left == 0 {
                    agenda.finish();
                }
            }
            (Event::Started { at }, Schedule::AfterCompletion) => {
                let due = self.first_due(at);
                self.issue_next(due, agenda);
            }
            (Event::Started { at }, Schedule::OfItsOwn) => {
                let due = self.first_due(at);
                agenda.wake_at(due);
            }
            (Event::Due { at }, _) => {
                self.issue_next(at, agenda);
                if self.operations_left > 0 {
                    agenda.wake_at(at + self.pace.next());
                }
            }
        }
    }
}

impl Sizes {
    fn new(sizes: &[OperationSize]) -> Self {
        match sizes {
            [only] => Self::Fixed(only.len),
            many => Self::Weighted {
                total: many.iter().map(|size| u64::from(size.weight)).sum(),
                sizes: many.into(),
            },
        }
    }

    #[inline]
    fn draw(&self, choice: &mut Stream) -> u32 {
        match self {
            Self::Fixed(len) => *len,
            Self::Weighted { sizes, total } => {
                let mut left = choice.below((*total).max(1));
                for size in sizes {
                    if left < u64::from(size.weight) {
                        return size.len;
                    }
                    left -= u64::from(size.weight);
                }
                sizes[0].len
            }
        }
    }
}
