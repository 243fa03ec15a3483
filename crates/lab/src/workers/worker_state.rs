//! State that a worker leaves for its watcher in case it never returns: its own system call may
//! hang.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivers::DriverKind;
use engine::{EventLoop, Outstanding, OwnWork, Record};
use units::{Duration, Instant};

use super::{Brought, WorkerCpuUse};

/// A worker copies its record this often, and at the start whenever it has grown by this part. That
/// much is lost if the worker itself hangs. If only driver threads or a ring have outstanding
/// requests, it returns with everything.
const COPY_EVERY: Duration = Duration::from_millis(250);
const GROWN_PART: u64 = 4;
/// A copy takes at most this part of the time.
const COPY_PART: u64 = 200;
/// A worker not seen for this long has at least one operation outstanding.
const UNSEEN: Duration = Duration::from_secs(1);

/// A worker's state as visible to the watcher.
#[derive(Default)]
pub(super) struct WorkerState {
    operations: AtomicU64,
    answered: AtomicU64,
    /// When the worker was last seen, nanoseconds from the start of the trial.
    seen_ns: AtomicU64,
    left: Mutex<Left>,
    home: Mutex<Option<Brought>>,
}

/// Known state of a worker that is away.
#[derive(Default)]
struct Left {
    record: Record,
    driver: DriverKind,
    obstacle: Option<String>,
    notes: Vec<String>,
}

impl WorkerState {
    /// The worker opened this driver.
    pub(super) fn open(&self, driver: DriverKind, obstacle: Option<&str>, notes: &[String]) {
        let mut left = self.left();
        left.driver = driver;
        left.obstacle = obstacle.map(str::to_owned);
        left.notes = notes.to_vec();
    }

    /// The worker is alive, with these outstanding requests.
    pub(super) fn note(&self, elapsed: Duration, outstanding: Outstanding) {
        self.operations
            .store(outstanding.operations, Ordering::Relaxed);
        self.answered.store(outstanding.answered, Ordering::Relaxed);
        self.seen_ns.store(elapsed.as_nanos(), Ordering::Relaxed);
    }

    /// Outstanding requests as far as the watcher knows.
    pub(super) fn outstanding(&self, elapsed: Duration) -> Outstanding {
        let operations = self.operations.load(Ordering::Relaxed);
        let is_away = elapsed.saturating_sub(self.seen()) >= UNSEEN;
        Outstanding {
            operations: operations.max(u64::from(is_away)),
            answered: self.answered.load(Ordering::Relaxed),
        }
    }

    /// The worker has ended. Called before its thread ends, which the kernel may delay.
    pub(super) fn bring(&self, brought: Brought) {
        *self.home.lock().unwrap_or_else(PoisonError::into_inner) = Some(brought);
    }

    /// The worker's results, if available.
    pub(super) fn brought(&self) -> Option<Brought> {
        let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        home.take()
    }

    /// The record of a worker that does not return: its outstanding request has taken until
    /// `given_up` at least. The trial ended at `end`.
    pub(super) fn left_behind(&self, end: Duration, given_up: Duration) -> Brought {
        let Left {
            mut record,
            driver,
            obstacle,
            notes,
        } = std::mem::take(&mut *self.left());
        let waited = |until: Duration| until.saturating_sub(self.seen()).as_nanos();
        let count = self.outstanding(Duration(u64::MAX)).operations;
        let unfinished = &mut record.unfinished;
        unfinished.with_storage += count;
        unfinished.with_storage_ns += waited(end).saturating_mul(count);
        unfinished.times.record_n(waited(given_up), count);
        Brought {
            record,
            driver,
            obstacle,
            notes,
            kernel_entries: 0,
            own_work: OwnWork::default(),
            day: WorkerCpuUse::default(),
            around_ns: 0,
        }
    }

    fn seen(&self) -> Duration {
        Duration(self.seen_ns.load(Ordering::Relaxed))
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Copies a worker's record to its watcher from time to time.
pub(super) struct Copier {
    start: Instant,
    next: Instant,
}

impl Copier {
    pub(super) fn from(start: Instant) -> Self {
        Self { start, next: start }
    }

    pub(super) fn copy_if_due(
        &mut self,
        engine: &mut dyn EventLoop,
        now: Instant,
        own: &WorkerState,
    ) {
        if now < self.next {
            return;
        }
        own.left().record = engine.recorder_mut().to_record();
        let done = engine.now();
        let grown = Duration(done.since(self.start).as_nanos() / GROWN_PART);
        self.next = done + grown.min(COPY_EVERY).max(done.since(now) * COPY_PART);
    }
}
