//! The client: a state machine that is told what happened and writes what it wants next.

use units::{Duration, Instant};

use crate::job_floor::RateMiss;
use crate::op::{Completion, IoPriority, Op, Wanted};

/// What a client is told.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The trial begins.
    Started {
        /// The trial's first instant.
        at: Instant,
    },
    /// The instant asked for with [`Agenda::wake_at`] has come.
    Due {
        /// The instant asked for, not the one at which it was noticed.
        at: Instant,
    },
    /// One of the client's requests is done.
    Completed(&'a Completion),
}

/// Several operations that count as one: a transaction, which the client reports when the last of
/// its operations is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitOfWork {
    /// Which kind of unit, as the client's specification numbers them.
    pub kind: u32,
    pub due: Instant,
    /// When its first operation was issued.
    pub started: Instant,
    /// When its last operation was done.
    pub completed: Instant,
    /// The generator's own lateness at the first operation.
    pub lateness: Duration,
    /// Bytes moved.
    pub bytes: u64,
}

impl UnitOfWork {
    /// From due to completed.
    #[must_use]
    pub fn response_time(&self) -> Duration {
        self.completed.since(self.due)
    }

    /// From the first operation's issue to completed.
    #[must_use]
    pub fn service_time(&self) -> Duration {
        self.completed.since(self.started)
    }
}

/// What a client wants next. Emptied by the engine after each event.
#[derive(Debug, Default)]
pub struct Agenda {
    /// Operations wanted.
    pub issues: Vec<Wanted>,
    /// When the client wants a [`Event::Due`].
    pub wake: Option<Instant>,
    /// Units of work that are done. Only trials that count them take notice.
    pub units: Vec<UnitOfWork>,
    /// The client wants nothing more once its outstanding requests are done.
    pub finished: bool,
    /// The rate below which it was, where that made it finish.
    pub missed: Option<RateMiss>,
}

impl Agenda {
    /// Ask for `op`; its response time counts from `due`, which may lie in the future.
    #[inline]
    pub fn issue(&mut self, due: Instant, op: Op) {
        self.issue_with(IoPriority::default(), due, op);
    }

    /// The same of an operation of that priority.
    #[inline]
    pub fn issue_with(&mut self, priority: IoPriority, due: Instant, op: Op) {
        self.issues.push(Wanted { due, op, priority });
    }

    /// Ask to be told when `at` comes. A second call in the same event replaces the first.
    #[inline]
    pub fn wake_at(&mut self, at: Instant) {
        self.wake = Some(at);
    }

    /// Report that several operations together are done.
    #[inline]
    pub fn unit_done(&mut self, unit: UnitOfWork) {
        self.units.push(unit);
    }

    /// Say that no further operation will follow.
    #[inline]
    pub fn finish(&mut self) {
        self.finished = true;
    }
}

/// A virtual client. It never sees a clock, a file or a thread: the same code runs on real storage
/// and in virtual time.
pub trait Client: Send {
    /// Take note of `event` and write what is wanted next.
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda);
}

impl<C: Client + ?Sized> Client for Box<C> {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        (**self).on_event(event, agenda);
    }
}
