//! A CD-ROM with constant linear velocity: the rate is the same everywhere, and a rotation takes
//! longer towards the outer edge.
//!
//! With x the share of the spiral from the inside, the radius is r(x) = sqrt(r0^2 + (r1^2 - r0^2)
//! x), and a rotation takes T(x) = T0 r(x) / r0. The angle of a block is not modelled: after each
//! head movement the block is half a rotation away.

use units::Instant;
use workload::Errno;

use crate::device::{Action, Answer, Command, SerialDevice, SerialMechanism, transfer_ns};

/// The errno of a write to a read-only medium: EROFS.
const READ_ONLY: Errno = Errno(30);
/// Block size, bytes.
const BLOCK: u64 = 2048;

/// Parameters of a CD-ROM drive. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct CdSpec {
    /// Bytes per second, at any radius.
    pub rate: f64,
    /// Blocks on the medium.
    pub blocks: u64,
    /// Rotation time at the inner edge.
    pub turn_inner: u64,
    /// Rotation time at the outer edge.
    pub turn_outer: u64,
    /// The shortest seek.
    pub seek_short: u64,
    /// Additional time of a seek over the whole medium.
    pub seek_full: u64,
    /// Distance in blocks that needs no seek.
    pub near: u64,
    /// Read-ahead, bytes.
    pub buffer: u64,
    /// Command overhead of the controller.
    pub overhead: u64,
}

impl CdSpec {
    /// Rotation time at a block, nanoseconds.
    pub fn turn(&self, block: u64) -> u64 {
        let (inner, outer) = (self.turn_inner as f64, self.turn_outer as f64);
        let share = block as f64 / self.blocks as f64;
        (inner * inner + (outer * outer - inner * inner) * share)
            .sqrt()
            .round() as u64
    }

    /// Time from one block to another that does not follow it, nanoseconds.
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

/// A running CD-ROM drive.
pub type Cd = SerialDevice<CdDrive>;

/// State of its head and buffer.
#[derive(Clone, Debug)]
pub struct CdDrive {
    spec: CdSpec,
    /// First byte in the buffer.
    start: u64,
    /// Next byte under the head, at `clock` ns.
    next: u64,
    clock: u64,
    /// Where read-ahead stops.
    limit: u64,
}

impl Cd {
    /// An idle drive at the inner edge, with an empty buffer.
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
            // Read-ahead elsewhere is discarded.
            (self.start, self.next, self.limit) = (from, from, 0);
            self.clock = ready + access;
        } else if self.next == self.limit {
            // It had stopped, so the block must come round again.
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

    /// Advances read-ahead until `now`.
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
