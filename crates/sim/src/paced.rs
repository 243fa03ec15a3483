//! A device whose commands are delayed: by credits, the SLC cache of a consumer SSD, or its
//! temperature.

use std::fmt::Debug;

use units::Instant;

use crate::device::{Answer, Calendar, Command, Device, first};

/// Determines when a command may start. Times are nanoseconds with fractions, since rates would be
/// slightly off otherwise.
pub trait Pacer: Debug + Send {
    /// When a command that arrives now may start; it counts as started then. Commands arrive in
    /// order of time.
    fn begin(&mut self, now: f64, command: &Command) -> f64;
}

/// A device behind a pacer, first come, first served.
#[derive(Debug)]
pub struct PacedDevice<P> {
    pacer: P,
    device: Box<dyn Device>,
    /// Commands that may not start yet.
    waiting: Calendar<Command>,
}

impl<P: Pacer> PacedDevice<P> {
    pub fn new(pacer: P, device: Box<dyn Device>) -> Self {
        Self {
            pacer,
            device,
            waiting: Calendar::default(),
        }
    }
}

impl<P: Pacer> Device for PacedDevice<P> {
    fn size(&self) -> u64 {
        self.device.size()
    }

    fn begin(&mut self, now: Instant, command: Command) {
        let begin = self.pacer.begin(now.0 as f64, &command).ceil() as u64;
        if begin > now.0 {
            self.waiting.plan(Instant(begin), command);
        } else {
            self.device.begin(now, command);
        }
    }

    fn next(&self) -> Option<Instant> {
        first(self.waiting.next(), self.device.next())
    }

    fn tape_stops(&self) -> Option<u64> {
        self.device.tape_stops()
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        loop {
            if self.device.next().is_some_and(|at| at <= now) {
                self.device.step(now, answers);
            } else if let Some(command) = self.waiting.take(now) {
                self.device.begin(now, command);
            } else {
                return;
            }
        }
    }
}
