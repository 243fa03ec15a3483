//! Memory that serves as a disk: nothing moves, and all places are alike.

use units::Instant;

use crate::device::{Action, Answer, Command, SerialDevice, SerialMechanism, transfer_ns};

/// Everything that fixes such a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySpec {
    /// Bytes.
    pub size: u64,
    /// What a command takes before data move, nanoseconds.
    pub access: u64,
    /// Bytes per second.
    pub rate: f64,
}

/// A memory disk at work: one command at a time.
pub type MemoryDevice = SerialDevice<MemorySpec>;

impl MemoryDevice {
    /// At rest.
    #[must_use]
    pub const fn new(spec: MemorySpec) -> Self {
        Self::of(spec)
    }
}

impl SerialMechanism for MemorySpec {
    fn size(&self) -> u64 {
        self.size
    }

    fn carry_out(&mut self, now: Instant, command: &Command) -> (Instant, Answer) {
        let moving = match command.action {
            Action::Read | Action::Write(_) => transfer_ns(command.len, self.rate),
            Action::Flush | Action::Compute { .. } => 0,
        };
        (Instant(now.0 + self.access + moving), command.done())
    }
}
