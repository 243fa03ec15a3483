//! Memory that serves as a disk: nothing moves, and all places are alike.

use std::collections::VecDeque;

use units::Instant;

use crate::device::{Action, Answer, Command, Device, transfer_ns};

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
#[derive(Clone, Debug)]
pub struct MemoryDevice {
    spec: MemorySpec,
    queue: VecDeque<Command>,
    busy: Option<(Instant, Answer)>,
}

impl MemoryDevice {
    /// At rest.
    #[must_use]
    pub const fn new(spec: MemorySpec) -> Self {
        Self {
            spec,
            queue: VecDeque::new(),
            busy: None,
        }
    }

    fn go_on(&mut self, now: Instant) {
        let Some(command) = self.queue.pop_front() else {
            return;
        };
        let moving = match command.action {
            Action::Read | Action::Write(_) => transfer_ns(command.len, self.spec.rate),
            Action::Flush | Action::Compute { .. } => 0,
        };
        let end = Instant(now.0 + self.spec.access + moving);
        self.busy = Some((end, command.done()));
    }
}

impl Device for MemoryDevice {
    fn size(&self) -> u64 {
        self.spec.size
    }

    fn begin(&mut self, now: Instant, command: Command) {
        self.queue.push_back(command);
        if self.busy.is_none() {
            self.go_on(now);
        }
    }

    fn next(&self) -> Option<Instant> {
        self.busy.map(|(until, _)| until)
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while let Some((until, answer)) = self.busy.take_if(|(until, _)| *until <= now) {
            answers.push(answer);
            self.go_on(until);
        }
    }
}
