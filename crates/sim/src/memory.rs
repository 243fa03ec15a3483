//! A memory disk: no mechanics, and all positions are alike.

use units::Instant;

use crate::device::{Action, Answer, Command, SerialDevice, SerialMechanism, transfer_ns};

/// Parameters of a memory disk.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySpec {
    /// Bytes.
    pub size: u64,
    /// Time before data transfer, nanoseconds.
    pub access: u64,
    /// Bytes per second.
    pub rate: f64,
}

/// A running memory disk: one command at a time.
pub type MemoryDevice = SerialDevice<MemorySpec>;

impl MemoryDevice {
    /// An idle memory disk.
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
