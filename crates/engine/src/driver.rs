//! The seam between the pure core and the world: a clock, and a driver that carries requests out.

use units::Instant;
use workload::{Completion, Request};

/// A source of time: the machine's monotonic clock, or a virtual one.
pub trait Clock {
    /// The present instant.
    fn now(&self) -> Instant;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Instant {
        (**self).now()
    }
}

/// What makes a driver useless. A failed operation is not one of these: it is a [`Completion`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The kernel refused to go on.
    #[error("{operation} failed: {reason}")]
    System {
        /// Which call failed.
        operation: &'static str,
        /// What the system said.
        reason: String,
    },
    /// `wait` was called with nothing in flight and no deadline: it would never return.
    #[error("nothing is in flight and no deadline was set: the wait would never end")]
    Idle,
}

/// Carries requests out, on real storage or on a model of it.
///
/// # Contract, checked by the conformance suite
/// - At most [`Driver::capacity`] requests are outstanding; `submit` beyond that panics. Work of a
///   processor (`Op::Compute`) does not count, and delays no other request.
/// - `submit` may only queue. [`Driver::wait`] is the only place where time passes.
/// - `wait` returns when at least one request is done or the deadline has come, whichever is first;
///   with nothing in flight it waits for the deadline. It never loses or repeats a request.
/// - `issued` is stamped when the kernel or the model is entered, never before `submit`.
/// - Short reads and writes are carried on until they are whole, fail, or reach the end of file.
pub trait Driver: Clock {
    /// How many requests may be outstanding.
    fn capacity(&self) -> usize;

    /// Take a request.
    ///
    /// # Errors
    /// When the driver itself is broken; a failing request is reported by `wait`.
    fn submit(&mut self, request: Request) -> Result<(), DriverError>;

    /// Wait for completions until `deadline`, and append them to `done`.
    ///
    /// # Errors
    /// When the driver itself is broken, or would wait for ever.
    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError>;

    /// Until when the last `wait` was held up by a request that it carried out in place. A request
    /// that fell due in that time had no room: the generator did not miss it.
    fn blocked_until(&self) -> Instant {
        Instant::START
    }

    /// How often the kernel was entered to submit or reap, for the report. Zero where it has no
    /// meaning.
    fn kernel_entries(&self) -> u64 {
        0
    }
}

impl<D: Driver + ?Sized> Driver for Box<D> {
    fn capacity(&self) -> usize {
        (**self).capacity()
    }
    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        (**self).submit(request)
    }
    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        (**self).wait(deadline, done)
    }
    fn blocked_until(&self) -> Instant {
        (**self).blocked_until()
    }
    fn kernel_entries(&self) -> u64 {
        (**self).kernel_entries()
    }
}

impl<D: Clock + ?Sized> Clock for Box<D> {
    fn now(&self) -> Instant {
        (**self).now()
    }
}
