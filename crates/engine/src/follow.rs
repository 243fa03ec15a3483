//! Passes each completed operation on to an observer of the trial.

use std::fmt;
use std::sync::Arc;

use units::Instant;
use workload::Completion;

/// Operations that are handed over together, at most.
const TOGETHER: usize = 4096;

/// Takes what clients' successes say, in the order in which each client's were done.
pub trait Follower: fmt::Debug + Send + Sync {
    /// Take them out of the list. `start` is when the trial began. Where time is real this must
    /// not wait: it is on the measuring path.
    fn take(&self, start: Instant, done: &mut Vec<Completion>);
}

/// What was not handed over yet.
#[derive(Debug)]
pub(crate) struct Followed {
    follower: Arc<dyn Follower>,
    start: Instant,
    done: Vec<Completion>,
}

impl Followed {
    pub(crate) fn new(follower: Arc<dyn Follower>, start: Instant) -> Self {
        Self {
            follower,
            start,
            done: Vec::with_capacity(TOGETHER),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, done: &Completion) {
        self.done.push(*done);
        if self.done.len() == TOGETHER {
            self.hand_over();
        }
    }

    pub(crate) fn hand_over(&mut self) {
        if !self.done.is_empty() {
            self.follower.take(self.start, &mut self.done);
            self.done.clear();
        }
    }
}
