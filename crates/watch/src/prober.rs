//! Probes a driver gently with 4 KiB operations at random times, few at once.
//!
//! If the maximum is outstanding when a probe falls due, it is not issued: it waits, and ends when
//! one completes. Thus a stall is seen by all probes that fall due in it, without a burst at its
//! end.

use std::collections::VecDeque;

use engine::{Driver, DriverError};
use random::{GapProcess, GapShape, Purpose, Stream};
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};
use workload::{ClientId, Completion, Durability, Errno, Op, Request, TargetId};

/// Size of a probe, bytes.
pub const PROBE_BYTES: u32 = 4096;
/// Maximum outstanding probes of a kind.
const OUTSTANDING_MAX: usize = 2;
/// Slots that a driver needs for probes.
pub const PROBES_AT_ONCE: usize = OUTSTANDING_MAX * ProbeKind::ALL.len();
/// Maximum number of waiting probes. Later ones are only counted.
const WAITING_MAX: usize = 100_000;
/// One in this many probes is issued while the device's queue is long.
const HELD_BACK: u64 = 10;

units::words! {
    /// What a probe does.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
    )]
    #[serde(rename_all = "kebab-case")]
    pub enum ProbeKind {
        /// Reads a block.
        Read = "read",
        /// Writes a block of its own file, with `fdatasync`.
        Sync = "sync",
    }
}

/// A finished probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    pub kind: ProbeKind,
    /// When it was due.
    pub due: Instant,
    /// When it completed, or when an earlier one made space.
    pub completed: Instant,
    /// How late this program issued it.
    pub lateness: Duration,
    /// Its result; a probe that was never issued succeeded.
    pub result: Result<(), Errno>,
}

impl Probe {
    /// Time that the storage took: from due to completed, without this program's lateness.
    pub fn time(&self) -> Duration {
        self.completed.since(self.due).saturating_sub(self.lateness)
    }
}

/// What to probe, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbePlan {
    /// Mean interval between probes of a kind, above zero.
    pub every: Duration,
    /// Size of the part of the target to read, and for `Sync` to write: at least a block.
    pub size: u64,
    /// Whether to write blocks with `fdatasync`, only to a file of our own.
    pub syncs: bool,
    pub seed: u64,
}

/// Offsets of the probes of a kind.
#[derive(Debug)]
pub struct ProbePlaces {
    kind: ProbeKind,
    blocks: u64,
    addresses: Stream,
}

impl ProbePlaces {
    /// Blocks of a target of that size, at least one.
    pub fn new(kind: ProbeKind, size: u64, seed: u64) -> Self {
        Self {
            kind,
            blocks: (size / u64::from(PROBE_BYTES)).max(1),
            addresses: Stream::new(seed, kind as u64, Purpose::Address),
        }
    }

    /// The next probe, due at `due`.
    pub fn next(&mut self, due: Instant) -> Request {
        let len = PROBE_BYTES;
        let offset = u64::from(len) * self.addresses.below(self.blocks);
        let target = TargetId(0);
        let op = match self.kind {
            ProbeKind::Read => Op::Read {
                target,
                offset,
                len,
            },
            ProbeKind::Sync => Op::Write {
                target,
                offset,
                len,
                durability: Durability::DataSynced,
            },
        };
        Request::new(ClientId(self.kind as u32), due, op)
    }
}

/// Arrivals of one kind of probe.
#[derive(Debug)]
struct ProbeArrivals {
    kind: ProbeKind,
    gaps: GapProcess,
    arrivals: Stream,
    places: ProbePlaces,
    due: Instant,
    arrived: u64,
    /// Due times of outstanding probes.
    under_way: Vec<Instant>,
    waiting: VecDeque<Instant>,
}

impl ProbeArrivals {
    fn new(kind: ProbeKind, plan: &ProbePlan, start: Instant) -> Self {
        let mean_ns = plan.every.as_nanos() as f64;
        let mut gaps = GapProcess::new(GapShape::Exponential, mean_ns).expect("above zero");
        let mut arrivals = Stream::new(plan.seed, kind as u64, Purpose::Arrival);
        let first = Duration::from_nanos(gaps.next_gap_ns(&mut arrivals));
        Self {
            kind,
            gaps,
            arrivals,
            places: ProbePlaces::new(kind, plan.size, plan.seed),
            due: start + first,
            arrived: 0,
            under_way: Vec::with_capacity(OUTSTANDING_MAX),
            waiting: VecDeque::new(),
        }
    }

    /// Takes the next arrival, and schedules another.
    fn next(&mut self) -> Instant {
        let due = self.due;
        let gap = self.gaps.next_gap_ns(&mut self.arrivals);
        self.due = due + Duration::from_nanos(gap);
        self.arrived += 1;
        due
    }
}

/// Issues probes to a driver.
#[derive(Debug)]
pub struct Prober {
    kinds: Vec<ProbeArrivals>,
    is_held_back: bool,
    withheld: u64,
    done: Vec<Completion>,
}

impl Prober {
    /// A prober that starts at `start`.
    ///
    /// # Panics
    /// If the mean interval is zero.
    pub fn new(plan: &ProbePlan, start: Instant) -> Self {
        let kinds = match plan.syncs {
            true => &ProbeKind::ALL[..],
            false => &[ProbeKind::Read],
        };
        let kinds = kinds
            .iter()
            .map(|&kind| ProbeArrivals::new(kind, plan, start));
        Self {
            kinds: kinds.collect(),
            is_held_back: false,
            withheld: 0,
            done: Vec::new(),
        }
    }

    /// Issues one probe in ten from now on, or all.
    pub fn hold_back(&mut self, is_held_back: bool) {
        self.is_held_back = is_held_back;
    }

    /// Probes left out since the last call.
    pub fn take_withheld(&mut self) -> u64 {
        std::mem::take(&mut self.withheld)
    }

    /// Due time of the oldest unanswered probe of a kind.
    pub fn oldest_due(&self, kind: ProbeKind) -> Option<Instant> {
        let mut kinds = self.kinds.iter();
        let of = kinds.find(|it| it.kind == kind)?;
        of.under_way.iter().chain(&of.waiting).min().copied()
    }

    /// Issues probes due until `end`, and appends finished ones to `probes`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn run_until(
        &mut self,
        driver: &mut dyn Driver,
        end: Instant,
        probes: &mut Vec<Probe>,
    ) -> Result<(), DriverError> {
        loop {
            let now = driver.now();
            self.issue(driver, now)?;
            if now >= end {
                return Ok(());
            }
            let due = self.kinds.iter().map(|it| it.due).min();
            let deadline = due.map_or(end, |due| due.min(end));
            let mut done = std::mem::take(&mut self.done);
            driver.wait(Some(deadline), &mut done)?;
            for completion in done.drain(..) {
                self.take(&completion, probes);
            }
            self.done = done;
        }
    }

    fn issue(&mut self, driver: &mut dyn Driver, now: Instant) -> Result<(), DriverError> {
        let blocked_until = driver.blocked_until();
        for kind in &mut self.kinds {
            while kind.due <= now {
                let due = kind.next();
                if self.is_held_back && !kind.arrived.is_multiple_of(HELD_BACK) {
                    self.withheld += 1;
                } else if kind.under_way.len() < OUTSTANDING_MAX {
                    let mut request = kind.places.next(due);
                    request.ready = due.max(blocked_until);
                    kind.under_way.push(due);
                    driver.submit(request)?;
                } else if kind.waiting.len() < WAITING_MAX {
                    kind.waiting.push_back(due);
                } else {
                    self.withheld += 1;
                }
            }
        }
        Ok(())
    }

    /// Handles a completion, which also ends probes that waited for a slot.
    fn take(&mut self, completion: &Completion, probes: &mut Vec<Probe>) {
        let asks = |it: &&mut ProbeArrivals| it.kind as u32 == completion.request.client.0;
        let Some(kind) = self.kinds.iter_mut().find(asks) else {
            return;
        };
        let due = completion.request.due;
        if let Some(at) = kind.under_way.iter().position(|it| *it == due) {
            kind.under_way.swap_remove(at);
        }
        probes.push(Probe {
            kind: kind.kind,
            due,
            completed: completion.completed,
            lateness: completion.lateness(),
            result: completion.result.map(|_| ()),
        });
        let before = |due: &Instant| *due <= completion.completed;
        while let Some(due) = kind.waiting.pop_front_if(|it| before(it)) {
            probes.push(Probe {
                kind: kind.kind,
                due,
                completed: completion.completed,
                lateness: Duration::ZERO,
                result: Ok(()),
            });
        }
    }
}
