//! The client: a state machine that receives events and requests operations.

use units::{Duration, Instant};

use crate::job_floor::RateMiss;
use crate::op::{Completion, IoPriority, Op, Wanted};

/// An event for a client.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The trial starts.
    Started {
        /// Start of the trial.
        at: Instant,
    },
    /// The time requested with [`Agenda::wake_at`] has come.
    Due {
        /// The requested time, not when it was noticed.
        at: Instant,
    },
    /// One of the client's requests completed.
    Completed(&'a Completion),
}

/// Several operations that count as one: a transaction, reported by the client when its last
/// operation completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitOfWork {
    /// Kind of unit, as numbered by the client's specification.
    pub kind: u32,
    pub due: Instant,
    /// When its first operation was issued.
    pub started: Instant,
    /// When its last operation completed.
    pub completed: Instant,
    /// The generator's own lateness at the first operation.
    pub lateness: Duration,
    /// Bytes moved.
    pub bytes: u64,
}

impl UnitOfWork {
    /// From due to completed.
    pub fn response_time(&self) -> Duration {
        self.completed.since(self.due)
    }

    /// From the first operation's issue to completed.
    pub fn service_time(&self) -> Duration {
        self.completed.since(self.started)
    }
}

/// Requests of a client. Emptied by the engine after each event.
#[derive(Debug, Default)]
pub struct Agenda {
    /// Requested operations.
    pub issues: Vec<Wanted>,
    /// When the client wants an [`Event::Due`].
    pub wake: Option<Instant>,
    /// Finished units of work, used only by trials that count them.
    pub units: Vec<UnitOfWork>,
    /// Whether the client is finished once its outstanding requests complete.
    pub finished: bool,
    /// The minimum rate that was missed, if that made it finish.
    pub missed: Option<RateMiss>,
}

impl Agenda {
    /// Requests `op`; its response time counts from `due`, which may be in the future.
    #[inline]
    pub fn issue(&mut self, due: Instant, op: Op) {
        self.issue_with(IoPriority::default(), due, op);
    }

    /// The same for an operation with that priority.
    #[inline]
    pub fn issue_with(&mut self, priority: IoPriority, due: Instant, op: Op) {
        self.issues.push(Wanted { due, op, priority });
    }

    /// Requests a wake-up at `at`. A second call in the same event replaces the first.
    #[inline]
    pub fn wake_at(&mut self, at: Instant) {
        self.wake = Some(at);
    }

    /// Reports a finished unit of several operations.
    #[inline]
    pub fn unit_done(&mut self, unit: UnitOfWork) {
        self.units.push(unit);
    }

    /// Declares that no further operation will follow.
    #[inline]
    pub fn finish(&mut self) {
        self.finished = true;
    }
}

/// A virtual client. It uses no clock, file or thread: the same code runs on real storage and in
/// virtual time.
pub trait Client: Send {
    /// Handles `event` and writes the next requests.
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda);
}

impl<C: Client + ?Sized> Client for Box<C> {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        (**self).on_event(event, agenda);
    }
}
