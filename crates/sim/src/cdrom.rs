//! A CD-ROM that turns at constant linear velocity: the rate is the same everywhere, and a turn
//! takes longer towards the outer edge.
//!
//! With x the share of the spiral from the inside, the radius is r(x) = sqrt(r0^2 + (r1^2 - r0^2)
//! x), and a turn takes T(x) = T0 r(x) / r0. The angle of a block is not modelled: after each
//! movement of the head the block is half a turn away.

use units::Instant;
use workload::Errno;

use crate::device::{Action, Answer, Command, SerialDevice, SerialMechanism, transfer_ns};

/// The error number of a write to what can only be read: EROFS.
const READ_ONLY: Errno = Errno(30);
/// Bytes of a block.
const BLOCK: u64 = 2048;

/// Everything that fixes a CD-ROM drive. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct CdSpec {
    /// Bytes per second, at any radius.
    pub rate: f64,
    /// Blocks on the medium.
    pub blocks: u64,
    /// A turn at the inner edge.
    pub turn_inner: u64,
    /// A turn at the outer edge.
    pub turn_outer: u64,
    /// The shortest seek.
    pub seek_short: u64,
    /// What a seek over all of the medium takes beyond the shortest.
    pub seek_full: u64,
    /// Blocks within which no seek is needed.
    pub near: u64,
    /// Bytes that are read ahead.
    pub buffer: u64,
    /// What the controller needs for a command.
    pub overhead: u64,
}

impl CdSpec {
    /// Nanoseconds of a turn at a block.
    #[must_use]
    pub fn turn(&self, block: u64) -> u64 {
        let (inner, outer) = (self.turn_inner as f64, self.turn_outer as f64);
        let share = block as f64 / self.blocks as f64;
        (inner * inner + (outer * outer - inner * inner) * share)
            .sqrt()
            .round() as u64
    }

    /// Nanoseconds from one block to another that does not follow it.
    #[must_use]
    pub fn access(&self, from: u64, to: u64) -> u64 {
        let distance = from.abs_diff(to);
        let half_turn = self.turn(to) / 2;
        if distance < self.near {
            return half_turn;
        }
        let far = (self.blocks - self.near).max(1) as f64;
        let linear = self.seek_full as f64 * (distance - self.near) as f64 / far;
        self.seek_short + linear.round() as u64 + half_turn
    }
}

/// A CD-ROM drive at work.
pub type Cd = SerialDevice<CdDrive>;

/// Its head and its buffer.
#[derive(Clone, Debug)]
pub struct CdDrive {
    spec: CdSpec,
    /// The first byte in the buffer.
    start: u64,
    /// The next byte under the head, at `clock` ns.
    next: u64,
    clock: u64,
    /// Where reading ahead stops.
    limit: u64,
}

impl Cd {
    /// A drive at rest at the inner edge, with an empty buffer.
    #[must_use]
    pub const fn new(spec: CdSpec) -> Self {
        Self::of(CdDrive {
            spec,
            start: 0,
            next: 0,
            clock: 0,
            limit: 0,
        })
    }
}

impl CdDrive {
    fn read(&mut self, now: u64, ready: u64, command: &Command) -> u64 {
        self.catch_up(now);
        let size = self.spec.blocks * BLOCK;
        let (from, to) = (command.offset, command.end());
        let limit = (to + self.spec.buffer).min(size).max(to);
        if from < self.start || from > self.limit.max(self.next) || self.limit == 0 {
            let access = self.spec.access(self.next / BLOCK, from / BLOCK);
            // Nothing that was to be read ahead elsewhere is.
            (self.start, self.next, self.limit) = (from, from, 0);
            self.clock = ready + access;
        } else if self.next == self.limit {
            // It had stopped, and the block has to come round again.
            self.clock = ready + self.spec.turn(self.next / BLOCK) / 2;
        }
        self.limit = self.limit.max(limit);
        if self.next >= to {
            return ready;
        }
        self.clock += transfer_ns(to - self.next, self.spec.rate);
        self.next = to;
        self.start = self.start.max(to.saturating_sub(self.spec.buffer));
        self.clock.max(ready)
    }

    /// What was read ahead until `now`.
    fn catch_up(&mut self, now: u64) {
        let span = now.saturating_sub(self.clock);
        let bytes = (span as f64 * self.spec.rate / 1e9) as u64;
        let passed = bytes.min(self.limit.saturating_sub(self.next));
        self.next += passed;
        self.clock += transfer_ns(passed, self.spec.rate);
        self.start = self
            .start
            .max(self.next.saturating_sub(2 * self.spec.buffer));
    }
}

impl SerialMechanism for CdDrive {
    fn size(&self) -> u64 {
        self.spec.blocks * BLOCK
    }

    fn carry_out(&mut self, now: Instant, command: &Command) -> (Instant, Answer) {
        let ready = now.0 + self.spec.overhead;
        let (end, answer) = match command.action {
            Action::Read => (self.read(now.0, ready, command), command.done()),
            Action::Write(_) => (ready, command.failed(READ_ONLY)),
            Action::Flush | Action::Compute { .. } => (ready, command.done()),
        };
        (Instant(end), answer)
    }
}
