//! A driver that completes at once: what remains is the cost of the engine itself.

use units::Instant;
use workload::{Completion, Request};

use crate::driver::{Clock, Driver, DriverError};

/// Completes every request at once, successfully and whole.
#[derive(Debug)]
pub struct NullDriver<C> {
    clock: C,
    capacity: usize,
    /// Each as it will be done; when is not known yet.
    pending: Vec<Completion>,
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
        let issued = self.clock.now();
        self.pending.push(Completion {
            request,
            issued,
            completed: issued,
            result: Ok(request.op.len()),
        });
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
        for completion in &mut self.pending {
            completion.completed = completed;
        }
        // Nothing is copied where the caller has taken what was done before.
        match done.is_empty() {
            true => std::mem::swap(done, &mut self.pending),
            false => done.append(&mut self.pending),
        }
        Ok(())
    }
}
