//! Hands operations from workers, which never wait where time is real, to a thread that looks at
//! each of them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use engine::Follower;
use host::limits::ProcessLimits;
use units::Instant;
use workload::Completion;

/// Operations that may wait to be looked at, whatever memory there is: 100 MB of them.
const WAITING_LEAST: u64 = 1 << 20;
/// The part of the available memory that more of them may take.
const MEMORY_PART: u64 = 8;

/// What happens to an operation when as many others wait as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenFull {
    /// They wait: time is virtual, and nothing is measured meanwhile.
    Wait,
    /// They are left out, and counted.
    LeaveOut,
}

/// Where workers leave what was done.
#[derive(Debug)]
pub(crate) struct CompletionFeed {
    when_full: WhenFull,
    waiting_max: usize,
    queue: Mutex<Queue>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    lists: VecDeque<(Instant, Vec<Completion>)>,
    /// Lists that were emptied, for the next.
    spare: Vec<Vec<Completion>>,
    waiting: usize,
    left_out: u64,
    is_closed: bool,
}

impl CompletionFeed {
    pub(crate) fn new(when_full: WhenFull) -> Self {
        let available = ProcessLimits::capture().memory_available_bytes;
        Self::within(when_full, available.unwrap_or(0))
    }

    /// The same with that much memory available, in bytes.
    pub(crate) fn within(when_full: WhenFull, available: u64) -> Self {
        let bytes = available / MEMORY_PART;
        let waiting_max = (bytes / size_of::<Completion>() as u64).max(WAITING_LEAST);
        Self {
            when_full,
            waiting_max: waiting_max as usize,
            queue: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing more comes; says how many operations were left out.
    pub(crate) fn close(&self) -> u64 {
        let mut queue = self.lock();
        queue.is_closed = true;
        self.filled.notify_all();
        queue.left_out
    }

    /// Wait until all that was handed over was looked at.
    pub(crate) fn settle(&self) {
        let mut queue = self.lock();
        while queue.waiting > 0 {
            queue = self.wait(&self.emptied, queue);
        }
    }

    fn wait<'a>(&self, on: &Condvar, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        on.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }

    /// Give each list to `look` until the feed is closed and empty.
    pub(crate) fn drain(&self, mut look: impl FnMut(Instant, &[Completion])) {
        let mut queue = self.lock();
        loop {
            if let Some((start, mut list)) = queue.lists.pop_front() {
                drop(queue);
                look(start, &list);
                queue = self.lock();
                queue.waiting -= list.len();
                list.clear();
                queue.spare.push(list);
                self.emptied.notify_all();
            } else if queue.is_closed {
                return;
            } else {
                queue = self.wait(&self.filled, queue);
            }
        }
    }
}

impl Follower for CompletionFeed {
    fn take(&self, start: Instant, done: &mut Vec<Completion>) {
        let mut queue = self.lock();
        while queue.waiting + done.len() > self.waiting_max {
            if self.when_full == WhenFull::LeaveOut {
                queue.left_out += done.len() as u64;
                return;
            }
            queue = self.wait(&self.emptied, queue);
        }
        let spare = queue.spare.pop().unwrap_or_default();
        queue.waiting += done.len();
        queue
            .lists
            .push_back((start, std::mem::replace(done, spare)));
        self.filled.notify_one();
    }
}
