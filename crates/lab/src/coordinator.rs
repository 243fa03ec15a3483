//! Who works on a trial besides the workers of this process: nobody, or other hosts.

use engine::{Clock as _, DriverError};
use fleet::ClientShare;
use procedure::{Ending, Monitor};
use stats::Slot;
use sys::MonotonicClock;
use units::{Duration, Instant};

/// From "all ready" to the first request.
const START_DELAY: Duration = Duration::from_micros(200);

/// What coordinates a trial with other hosts, for the thread that watches workers. Nothing here is
/// called by a worker.
pub trait TrialCoordinator {
    /// Which of the trial's clients are carried out here.
    fn share(&self) -> ClientShare;

    /// Whether no other host works on it.
    fn is_alone(&self) -> bool {
        false
    }

    /// All `workers` workers are ready: when the trial starts, on the laboratory's clock.
    ///
    /// # Errors
    /// When others cannot start.
    fn start(&mut self, clock: MonotonicClock, workers: usize) -> Result<Instant, DriverError>;

    /// A worker closed slots; none of its later ones begins before `elapsed`.
    fn add_slots(&mut self, worker: usize, slots: &[Slot], elapsed: Duration);

    /// Called every time the watching thread looks up, at least every 50 ms, to the end.
    fn attend(&mut self);

    /// Whether the trial should stop; `own` has the slots of this host.
    fn decide(&mut self, own: &mut Monitor, elapsed: Duration) -> Option<Ending>;

    /// What a screen is shown.
    fn shown<'a>(&'a self, own: &'a Monitor) -> &'a Monitor;
}

/// All of the trial is here.
pub struct Alone;

impl TrialCoordinator for Alone {
    fn share(&self) -> ClientShare {
        ClientShare::WHOLE
    }

    fn is_alone(&self) -> bool {
        true
    }

    fn start(&mut self, clock: MonotonicClock, _workers: usize) -> Result<Instant, DriverError> {
        Ok(clock.now() + START_DELAY)
    }

    fn add_slots(&mut self, _worker: usize, _slots: &[Slot], _elapsed: Duration) {}

    fn attend(&mut self) {}

    fn decide(&mut self, own: &mut Monitor, elapsed: Duration) -> Option<Ending> {
        own.decide(elapsed)
    }

    fn shown<'a>(&'a self, own: &'a Monitor) -> &'a Monitor {
        own
    }
}
