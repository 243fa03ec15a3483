//! What a worker leaves where its watcher finds it, should it never come back: a call of its own
//! may hang.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivers::DriverKind;
use engine::{EventLoop, Outstanding, OwnWork, Record};
use units::{Duration, Instant};

use super::{Brought, WorkerCpuUse};

/// A worker copies its record so often, and at the start each time that it has grown by this part:
/// so much of it is lost where the worker hangs itself. Where requests are outstanding with threads
/// or with a ring, it comes back with all of it.
const COPY_EVERY: Duration = Duration::from_millis(250);
const GROWN_PART: u64 = 4;
/// A copy takes at most this part of the time.
const COPY_PART: u64 = 200;
/// A worker that has not been seen for so long has one operation under way at least.
const UNSEEN: Duration = Duration::from_secs(1);

/// What a watcher can know of a worker.
#[derive(Default)]
pub(super) struct WorkerState {
    operations: AtomicU64,
    answered: AtomicU64,
    /// When the worker was last seen, nanoseconds since the start of the trial.
    seen_ns: AtomicU64,
    left: Mutex<Left>,
    home: Mutex<Option<Brought>>,
}

/// What is known of a worker that is away.
#[derive(Default)]
struct Left {
    record: Record,
    driver: DriverKind,
    obstacle: Option<String>,
    notes: Vec<String>,
}

impl WorkerState {
    /// The worker has this driver.
    pub(super) fn open(&self, driver: DriverKind, obstacle: Option<&str>, notes: &[String]) {
        let mut left = self.left();
        left.driver = driver;
        left.obstacle = obstacle.map(str::to_owned);
        left.notes = notes.to_vec();
    }

    /// The worker is there, and this is outstanding.
    pub(super) fn note(&self, elapsed: Duration, outstanding: Outstanding) {
        self.operations
            .store(outstanding.operations, Ordering::Relaxed);
        self.answered.store(outstanding.answered, Ordering::Relaxed);
        self.seen_ns.store(elapsed.as_nanos(), Ordering::Relaxed);
    }

    /// What is outstanding as far as the watcher can know.
    pub(super) fn outstanding(&self, elapsed: Duration) -> Outstanding {
        let operations = self.operations.load(Ordering::Relaxed);
        let is_away = elapsed.saturating_sub(self.seen()) >= UNSEEN;
        Outstanding {
            operations: operations.max(u64::from(is_away)),
            answered: self.answered.load(Ordering::Relaxed),
        }
    }

    /// The worker has ended. It brings this before its thread does: the kernel may hold that back.
    pub(super) fn bring(&self, brought: Brought) {
        *self.home.lock().unwrap_or_else(PoisonError::into_inner) = Some(brought);
    }

    /// What the worker brought, if it did.
    pub(super) fn brought(&self) -> Option<Brought> {
        let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        home.take()
    }

    /// What a worker recorded that does not come back: what it has under way has taken until
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
        }
    }

    fn seen(&self) -> Duration {
        Duration(self.seen_ns.load(Ordering::Relaxed))
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Copies a worker's record to where its watcher finds it now and then.
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
