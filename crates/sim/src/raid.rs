//! An array of devices: RAID 0, 1 and 5, complete, degraded, and rebuilding.
//!
//! A small write on RAID-5 reads old data and old parity, then writes both: four operations. With a
//! lost disk, a read of its data reads all others; a write to it reads the other data and writes
//! the parity. A full-stripe write reads nothing. Source: D. Patterson, G. Gibson and R. Katz, "A
//! Case for Redundant Arrays of Inexpensive Disks", SIGMOD 1988.

mod layout;

use std::collections::BTreeMap;

use units::Instant;
use workload::{Durability, Errno};

pub use layout::{ArrayLayout, RaidLevel};

use layout::StripeSegment;

use crate::device::{Action, Answer, Command, Device, Slab, first, transfer_ns};

/// The errno of a lost device: EIO.
const LOST: Errno = Errno(5);

/// State of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrayMode {
    /// All disks work.
    Normal,
    /// One disk is lost.
    Reduced,
    /// One disk was replaced and is being rebuilt beside the load.
    Rebuild {
        /// Stripes rebuilt concurrently.
        at_a_time: u32,
        /// Maximum rate of the new disk, bytes per second; none for no limit.
        rate_max: Option<f64>,
        /// The share of the disk, in 0..1, at which the rebuild is held: the 1 % after it is
        /// rebuilt over and over, so that the state lasts for the whole measurement.
        held_at: Option<f64>,
    },
}

/// Parts of a disk, of which a held rebuild repeats one.
const HELD_PARTS: u64 = 100;

/// Current state of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrayState {
    /// RAID level.
    pub level: RaidLevel,
    /// Disks of the complete array.
    pub disks: usize,
    /// Background activity.
    pub activity: ArrayActivity,
}

/// Background activity of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrayActivity {
    /// None: all disks are present.
    Whole,
    /// None: a disk is missing.
    Reduced,
    /// A disk is being rebuilt, with this progress.
    Rebuilding {
        /// In 0..=1.
        share: f64,
    },
}

/// Parameters of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArraySpec {
    /// Disks and RAID level.
    pub layout: ArrayLayout,
    /// Initial state.
    pub mode: ArrayMode,
    /// A disk that is lost later, and when.
    pub lost: Option<(usize, Instant)>,
}

/// Number of operations of each disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    pub reads: u64,
    pub writes: u64,
}

/// A running array.
#[derive(Debug)]
pub struct Array {
    layout: ArrayLayout,
    disks: Vec<Box<dyn Device>>,
    /// The disk that is missing or not rebuilt yet.
    missing: Option<usize>,
    rebuild: Option<Rebuild>,
    lost: Option<(usize, Instant)>,
    jobs: Slab<RaidJob>,
    /// For each mirror, which of its disks reads next.
    turns: Vec<usize>,
    operations: Vec<Operations>,
    answers: Vec<Answer>,
}

#[derive(Debug)]
struct RaidJob {
    owner: OperationOwner,
    outstanding: u32,
    /// Writes that follow once everything outstanding is done.
    then: Vec<RaidStep>,
    error: Option<Errno>,
}

#[derive(Clone, Copy, Debug)]
enum OperationOwner {
    Command(Command),
    Stripe,
}

/// An operation on one disk.
#[derive(Clone, Copy, Debug)]
struct RaidStep {
    disk: usize,
    action: Action,
    offset: u64,
    len: u64,
}

#[derive(Clone, Copy, Debug)]
struct Rebuild {
    /// The next stripe to start.
    next: u64,
    /// The stripe after the last.
    end: u64,
    /// The stripe at which it restarts, if it is held.
    again: Option<u64>,
    stripes: u64,
    under_way: u32,
    at_a_time: u32,
    /// Minimum time between the starts of two stripes, nanoseconds.
    gap: u64,
    earliest: Instant,
}

impl Rebuild {
    /// Holds it at a share of the disk, if one is given.
    fn held(mut self, at: Option<f64>) -> Self {
        if let Some(share) = at {
            let first = (self.stripes as f64 * share) as u64;
            self.next = first;
            self.end = (first + (self.stripes / HELD_PARTS).max(1)).min(self.stripes);
            self.again = Some(first);
        }
        self
    }
}

impl Array {
    /// An array of these disks. If it is degraded or rebuilding, the last disk is affected.
    pub fn new(spec: &ArraySpec, disks: Vec<Box<dyn Device>>) -> Self {
        let layout = spec.layout;
        assert_eq!(disks.len(), layout.disks, "an array has all its disks");
        let last = disks.len() - 1;
        let smallest = disks.iter().map(|disk| disk.size()).min().unwrap_or(0);
        let rebuild = match spec.mode {
            ArrayMode::Rebuild {
                at_a_time,
                rate_max,
                held_at,
            } => Some(
                Rebuild {
                    next: 0,
                    end: smallest / layout.unit,
                    again: None,
                    stripes: smallest / layout.unit,
                    under_way: 0,
                    at_a_time,
                    gap: rate_max.map_or(0, |rate| transfer_ns(layout.unit, rate)),
                    earliest: Instant::START,
                }
                .held(held_at),
            ),
            _ => None,
        };
        Self {
            layout,
            missing: (spec.mode != ArrayMode::Normal).then_some(last),
            rebuild,
            lost: spec.lost,
            jobs: Slab::default(),
            turns: vec![0; disks.len()],
            operations: vec![Operations::default(); disks.len()],
            answers: Vec::new(),
            disks,
        }
    }

    /// Number of operations of each disk.
    pub fn operations(&self) -> &[Operations] {
        &self.operations
    }

    /// Whether a disk has a valid stripe.
    fn holds(&self, disk: usize, stripe: u64) -> bool {
        self.missing != Some(disk)
            || self
                .rebuild
                .is_some_and(|rebuild| stripe + u64::from(rebuild.under_way) < rebuild.next)
    }

    fn issue(&mut self, now: Instant, job: u64, step: RaidStep) {
        let operations = &mut self.operations[step.disk];
        match step.action {
            Action::Read => operations.reads += 1,
            Action::Write(_) => operations.writes += 1,
            _ => {}
        }
        let asking = self.jobs.at(job);
        asking.outstanding += 1;
        let client = match asking.owner {
            OperationOwner::Command(command) => command.client,
            OperationOwner::Stripe => None,
        };
        self.disks[step.disk].begin(
            now,
            Command {
                tag: job,
                action: step.action,
                client,
                offset: step.offset,
                len: step.len,
            },
        );
    }

    /// Starts a job with its first steps; without any, its later ones.
    fn launch(&mut self, now: Instant, owner: OperationOwner, plan: DiskOperations) {
        let error = plan.is_lost.then_some(LOST);
        let job = self.jobs.insert(RaidJob {
            owner,
            outstanding: 0,
            then: plan.then,
            error,
        });
        for step in plan.now {
            self.issue(now, job, step);
        }
        if self.jobs.at(job).outstanding == 0 {
            self.proceed(now, job);
        }
    }

    /// Everything outstanding of a job is done.
    fn proceed(&mut self, now: Instant, number: u64) {
        let job = self.jobs.at(number);
        let then = std::mem::take(&mut job.then);
        if job.error.is_none() && !then.is_empty() {
            for step in then {
                self.issue(now, number, step);
            }
            return;
        }
        let job = self.jobs.remove(number);
        match job.owner {
            OperationOwner::Command(command) => self.answers.push(match job.error {
                Some(errno) => command.failed(errno),
                None => command.done(),
            }),
            OperationOwner::Stripe => {
                if let Some(rebuild) = &mut self.rebuild {
                    rebuild.under_way -= 1;
                    if rebuild.under_way == 0 && rebuild.next == rebuild.end {
                        if let Some(first) = rebuild.again {
                            rebuild.next = first;
                        } else {
                            self.rebuild = None;
                            self.missing = None;
                        }
                    }
                }
            }
        }
    }

    fn next_stripe(&self) -> Option<Instant> {
        let rebuild = self.rebuild?;
        let has_room = rebuild.under_way < rebuild.at_a_time && rebuild.next < rebuild.end;
        has_room.then_some(rebuild.earliest)
    }

    fn rebuild_stripe(&mut self, now: Instant) {
        let (Some(rebuild), Some(missing)) = (&mut self.rebuild, self.missing) else {
            return;
        };
        let stripe = rebuild.next;
        rebuild.next += 1;
        rebuild.under_way += 1;
        rebuild.earliest = now + units::Duration(rebuild.gap);
        let unit = self.layout.unit;
        let step = |disk, action| RaidStep {
            disk,
            action,
            offset: stripe * unit,
            len: unit,
        };
        let sources: Vec<usize> = match self.layout.level {
            RaidLevel::Raid0 => Vec::new(),
            RaidLevel::Raid1 => vec![missing ^ 1],
            RaidLevel::Raid5 => (0..self.disks.len())
                .filter(|&disk| disk != missing)
                .collect(),
        };
        let plan = DiskOperations {
            now: sources
                .into_iter()
                .map(|disk| step(disk, Action::Read))
                .collect(),
            then: vec![step(missing, Action::Write(Durability::Volatile))],
            is_lost: false,
        };
        self.launch(now, OperationOwner::Stripe, plan);
    }

    fn plan(&mut self, command: &Command) -> DiskOperations {
        let mut plan = DiskOperations::default();
        match command.action {
            Action::Read => {
                for piece in self.layout.pieces(command.offset, command.len) {
                    self.plan_read(&mut plan, &piece);
                }
            }
            Action::Write(_) => self.plan_write(&mut plan, command),
            Action::Flush | Action::Compute { .. } => {
                let there = (0..self.disks.len())
                    .filter(|&disk| self.missing != Some(disk) || self.rebuild.is_some());
                plan.now.extend(there.map(|disk| RaidStep {
                    disk,
                    action: Action::Flush,
                    offset: 0,
                    len: 0,
                }));
            }
        }
        plan
    }

    fn plan_read(&mut self, plan: &mut DiskOperations, piece: &StripeSegment) {
        let read = |disk| piece.on(disk, Action::Read);
        match self.layout.level {
            RaidLevel::Raid0 if self.holds(piece.disk, piece.stripe) => {
                plan.now.push(read(piece.disk));
            }
            RaidLevel::Raid0 => plan.is_lost = true,
            RaidLevel::Raid1 => {
                let turn = &mut self.turns[piece.disk];
                *turn ^= 1;
                let preferred = piece.disk + *turn;
                let disk = if self.holds(preferred, piece.stripe) {
                    preferred
                } else {
                    preferred ^ 1
                };
                plan.now.push(read(disk));
            }
            RaidLevel::Raid5 if self.holds(piece.disk, piece.stripe) => {
                plan.now.push(read(piece.disk));
            }
            RaidLevel::Raid5 => {
                let others = (0..self.disks.len()).filter(|&disk| disk != piece.disk);
                plan.now.extend(others.map(read));
            }
        }
    }

    fn plan_write(&self, plan: &mut DiskOperations, command: &Command) {
        let pieces = self.layout.pieces(command.offset, command.len);
        if self.layout.level == RaidLevel::Raid5 {
            let mut stripes: BTreeMap<u64, Vec<StripeSegment>> = BTreeMap::new();
            for piece in pieces {
                stripes.entry(piece.stripe).or_default().push(piece);
            }
            for pieces in stripes.values() {
                self.plan_stripe(plan, pieces, command.action);
            }
            return;
        }
        for piece in pieces {
            let mut disks = vec![piece.disk];
            if piece.other != piece.disk {
                disks.push(piece.other);
            }
            disks.retain(|&disk| self.holds(disk, piece.stripe));
            plan.is_lost |= disks.is_empty();
            plan.then
                .extend(disks.into_iter().map(|disk| piece.on(disk, command.action)));
        }
    }

    /// A write to one stripe of RAID-5.
    fn plan_stripe(&self, plan: &mut DiskOperations, pieces: &[StripeSegment], action: Action) {
        let StripeSegment {
            other: parity,
            stripe,
            ..
        } = pieces[0];
        let is_there = |disk| self.holds(disk, stripe);
        // The parity of all bytes that change in any unit.
        let start = pieces.iter().map(|piece| piece.offset).min().unwrap_or(0);
        let end = pieces
            .iter()
            .map(|piece| piece.offset + piece.len)
            .max()
            .unwrap_or(0);
        let range = StripeSegment {
            offset: start,
            len: end - start,
            ..pieces[0]
        };
        let is_whole = pieces.iter().all(|piece| piece.len == self.layout.unit)
            && pieces.len() == self.layout.data_units();
        let lost_piece = pieces.iter().find(|piece| !is_there(piece.disk));
        if !is_whole && is_there(parity) {
            if lost_piece.is_some() {
                // The new parity is computed from the present disks.
                let written = |disk| {
                    pieces
                        .iter()
                        .any(|piece| piece.disk == disk && piece.len == range.len)
                };
                let others = (0..self.disks.len())
                    .filter(|&disk| disk != parity && is_there(disk) && !written(disk));
                plan.now
                    .extend(others.map(|disk| range.on(disk, Action::Read)));
            } else {
                plan.now.extend(
                    pieces
                        .iter()
                        .map(|piece| piece.on(piece.disk, Action::Read)),
                );
                plan.now.push(range.on(parity, Action::Read));
            }
        }
        let there = pieces.iter().filter(|piece| is_there(piece.disk));
        plan.then
            .extend(there.map(|piece| piece.on(piece.disk, action)));
        if is_there(parity) {
            plan.then.push(range.on(parity, action));
        }
    }
}

/// Disk operations of a command: reads first, then writes.
#[derive(Clone, Debug, Default)]
struct DiskOperations {
    now: Vec<RaidStep>,
    then: Vec<RaidStep>,
    is_lost: bool,
}

impl StripeSegment {
    const fn on(&self, disk: usize, action: Action) -> RaidStep {
        RaidStep {
            disk,
            action,
            offset: self.offset,
            len: self.len,
        }
    }
}

impl Device for Array {
    fn size(&self) -> u64 {
        let smallest = self.disks.iter().map(|disk| disk.size()).min();
        self.layout.size(smallest.unwrap_or(0))
    }

    fn begin(&mut self, now: Instant, command: Command) {
        let plan = self.plan(&command);
        self.launch(now, OperationOwner::Command(command), plan);
    }

    fn next(&self) -> Option<Instant> {
        let disks = self.disks.iter().filter_map(|disk| disk.next()).min();
        let own = first(self.next_stripe(), self.lost.map(|(_, at)| at));
        let waiting = (!self.answers.is_empty()).then_some(Instant::START);
        first(first(disks, own), waiting)
    }

    fn array_state(&self) -> Option<ArrayState> {
        let activity = match (self.missing, &self.rebuild) {
            (None, _) => ArrayActivity::Whole,
            (Some(_), None) => ArrayActivity::Reduced,
            (Some(_), Some(rebuild)) => ArrayActivity::Rebuilding {
                share: rebuild.next as f64 / rebuild.stripes.max(1) as f64,
            },
        };
        Some(ArrayState {
            level: self.layout.level,
            disks: self.disks.len(),
            activity,
        })
    }

    fn tape_stops(&self) -> Option<u64> {
        let stops = self.disks.iter().filter_map(|disk| disk.tape_stops());
        stops.reduce(|sum, stops| sum + stops)
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        if let Some((disk, _)) = self.lost.take_if(|(_, at)| *at <= now) {
            self.missing = Some(disk);
            self.rebuild = None;
        }
        let mut done = Vec::new();
        loop {
            if self.next_stripe().is_some_and(|at| at <= now) {
                self.rebuild_stripe(now);
                continue;
            }
            let due = |disk: &&mut Box<dyn Device>| disk.next().is_some_and(|at| at <= now);
            let Some(disk) = self.disks.iter_mut().find(due) else {
                break;
            };
            disk.step(now, &mut done);
            for answer in done.drain(..) {
                let job = self.jobs.at(answer.tag);
                job.outstanding -= 1;
                if let Err(errno) = answer.result {
                    job.error = Some(errno);
                }
                if job.outstanding == 0 {
                    self.proceed(now, answer.tag);
                }
            }
        }
        answers.append(&mut self.answers);
    }
}
