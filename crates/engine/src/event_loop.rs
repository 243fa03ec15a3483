//! A running engine, whatever its driver and clients are.
//!
//! What follows a trial needs no more of an engine than this. The loop itself is compiled where the
//! driver stands, in crates that are optimised for measuring: a function there hands the engine out
//! as an [`EventLoop`], and its callers compile none of the loop again.

use units::{Duration, Instant};
use workload::Client;

use crate::driver::{Activity, Driver, DriverError};
use crate::engine::{Engine, EngineState, Outstanding};
use crate::recorder::Recorder;

/// An engine as those see it who start, watch and stop it.
pub trait EventLoop {
    /// As [`Engine::run_until`].
    ///
    /// # Errors
    /// When the driver is broken.
    fn run_until(&mut self, end: Instant) -> Result<EngineState, DriverError>;

    /// As [`Engine::drain`].
    ///
    /// # Errors
    /// When the driver is broken.
    fn drain(
        &mut self,
        end: Instant,
        look_every: Duration,
        goes_on: &mut dyn FnMut(Instant, Outstanding) -> bool,
    ) -> Result<(), DriverError>;

    /// As [`Engine::note_unfinished`].
    fn note_unfinished(&mut self, end: Instant);

    /// Whether an operation failed that ends the trial.
    fn has_failed(&self) -> bool;

    /// What the storage has to do.
    fn outstanding(&self) -> Outstanding;

    /// The recorder, for its slots.
    fn recorder_mut(&mut self) -> &mut Recorder;

    /// The present instant on the driver's clock.
    fn now(&self) -> Instant;

    /// What the driver's device has done so far, where the driver knows.
    fn activity(&self) -> Option<Activity>;
}

impl<D: Driver, C: Client> EventLoop for Engine<D, C> {
    fn run_until(&mut self, end: Instant) -> Result<EngineState, DriverError> {
        Self::run_until(self, end)
    }

    fn drain(
        &mut self,
        end: Instant,
        look_every: Duration,
        goes_on: &mut dyn FnMut(Instant, Outstanding) -> bool,
    ) -> Result<(), DriverError> {
        Self::drain(self, end, look_every, goes_on)
    }

    fn note_unfinished(&mut self, end: Instant) {
        Self::note_unfinished(self, end);
    }

    fn has_failed(&self) -> bool {
        Self::has_failed(self)
    }

    fn outstanding(&self) -> Outstanding {
        Self::outstanding(self)
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        Self::recorder_mut(self)
    }

    fn now(&self) -> Instant {
        Self::now(self)
    }

    fn activity(&self) -> Option<Activity> {
        self.driver().activity()
    }
}
