//! What a ring needs to be woken by the threads that compute: an event that the ring polls.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use engine::DriverError;
use io_uring::{opcode, squeue, types};
use rustix::event::{EventfdFlags, eventfd};
use workload::{Completion, Request};

use crate::compute::{ComputePool, ComputeSettings};
use sys::MonotonicClock;

/// Threads that compute for a ring.
pub(crate) struct RingCompute {
    // Dropped first: its threads use the rest.
    pool: ComputePool,
    queue: Arc<ComputeQueue>,
    /// Work that is not yet collected.
    outstanding: usize,
    /// Whether the ring polls the event.
    is_polled: bool,
}

/// Where the threads put what is done.
struct ComputeQueue {
    event: OwnedFd,
    done: Mutex<Vec<Completion>>,
}

impl RingCompute {
    pub(crate) fn new(
        settings: &ComputeSettings,
        clock: MonotonicClock,
    ) -> Result<Option<Self>, DriverError> {
        if settings.threads == 0 {
            return Ok(None);
        }
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
        let event = event.map_err(|error| DriverError::System {
            operation: "eventfd",
            reason: std::io::Error::from(error).to_string(),
        })?;
        let queue = Arc::new(ComputeQueue {
            event,
            done: Mutex::default(),
        });
        let theirs = Arc::clone(&queue);
        let deliver = Arc::new(move |completion| theirs.put(completion));
        let pool = ComputePool::new(settings, clock, deliver)?;
        Ok(pool.map(|pool| Self {
            pool,
            queue,
            outstanding: 0,
            is_polled: false,
        }))
    }

    pub(crate) fn submit(&mut self, request: Request) {
        self.outstanding += 1;
        self.pool.submit(request);
    }

    pub(crate) const fn is_busy(&self) -> bool {
        self.outstanding > 0
    }

    /// The entry that makes the ring poll the event, where it does not yet and there is something
    /// to wait for.
    pub(crate) fn poll_entry(&mut self, mark: u64) -> Option<squeue::Entry> {
        if self.is_polled || self.outstanding == 0 {
            return None;
        }
        self.is_polled = true;
        let event = types::Fd(self.queue.event.as_raw_fd());
        let entry = opcode::PollAdd::new(event, libc::POLLIN as u32).build();
        Some(entry.user_data(mark))
    }

    /// The ring has seen the event.
    pub(crate) fn note_event(&mut self) {
        self.is_polled = false;
        // Emptied before the completions are taken: one that comes in between raises it again.
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.queue.event, &mut count);
    }

    /// Hand over what is done.
    pub(crate) fn take(&mut self, done: &mut Vec<Completion>) {
        let mut theirs = self
            .queue
            .done
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.outstanding -= theirs.len();
        done.append(&mut theirs);
    }
}

impl ComputeQueue {
    fn put(&self, completion: Completion) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push(completion);
        drop(done);
        // Full would mean 2^64 completions that nobody collected.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}
