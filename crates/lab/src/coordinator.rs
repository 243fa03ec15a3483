//! Coordination of a trial with other hosts, if there are any.

use engine::{Clock as _, DriverError};
use fleet::ClientShare;
use procedure::{Ending, Monitor};
use stats::Slot;
use sys::MonotonicClock;
use units::{Duration, Instant};

/// Time from "all ready" to the first request.
const START_DELAY: Duration = Duration::from_micros(200);

/// Coordinates a trial with other hosts, on behalf of the thread that watches workers. Workers
/// never call it.
pub trait TrialCoordinator {
    /// The trial's clients that run here.
    fn share(&self) -> ClientShare;

    /// Whether no other host takes part.
    fn is_alone(&self) -> bool {
        false
    }

    /// Called when all `workers` workers are ready. Returns the start of the trial on the
    /// laboratory's clock.
    ///
    /// # Errors
    /// If others cannot start.
    fn start(&mut self, clock: MonotonicClock, workers: usize) -> Result<Instant, DriverError>;

    /// A worker closed slots. Its later ones all start at or after `elapsed`.
    fn add_slots(&mut self, worker: usize, slots: &[Slot], elapsed: Duration);

    /// Called every time the watching thread wakes up, at least every 50 ms, to the end.
    fn attend(&mut self);

    /// Whether the trial should stop; `own` has this host's slots.
    fn decide(&mut self, own: &mut Monitor, elapsed: Duration) -> Option<Ending>;

    /// The monitor to show on a screen.
    fn shown<'a>(&'a self, own: &'a Monitor) -> &'a Monitor;
}

/// A trial on this host only.
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
