//! A driver that completes at once: what remains is the cost of the engine itself.

use units::Instant;
use workload::{Completion, Request};

use crate::driver::{Clock, Driver, DriverError};

/// Completes every request at once, successfully and whole.
#[derive(Debug)]
pub struct NullDriver<C> {
    clock: C,
    capacity: usize,
    pending: Vec<(Request, Instant)>,
    /// Those of them that take room.
    outstanding: usize,
}

impl<C: Clock> NullDriver<C> {
    /// A null driver on `clock` that takes `capacity` requests.
    pub fn new(clock: C, capacity: usize) -> Self {
        Self {
            clock,
            capacity,
            pending: Vec::with_capacity(capacity),
            outstanding: 0,
        }
    }
}

impl<C: Clock> Clock for NullDriver<C> {
    #[inline]
    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl<C: Clock> Driver for NullDriver<C> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline]
    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        if !request.op.is_compute() {
            assert!(
                self.outstanding < self.capacity,
                "more requests than the driver's capacity"
            );
            self.outstanding += 1;
        }
        self.pending.push((request, self.clock.now()));
        Ok(())
    }

    #[inline]
    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        let mut completed = self.clock.now();
        if self.pending.is_empty() {
            let Some(deadline) = deadline else {
                return Err(DriverError::Idle);
            };
            while completed < deadline {
                std::hint::spin_loop();
                completed = self.clock.now();
            }
            return Ok(());
        }
        self.outstanding = 0;
        done.extend(self.pending.drain(..).map(|(request, issued)| Completion {
            request,
            issued,
            completed,
            result: Ok(request.op.len()),
        }));
        Ok(())
    }
}
