//! The client: a state machine that is told what happened and writes what it wants next.

use units::Instant;

use crate::op::{Completion, Op};

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

/// What a client wants next. Emptied by the engine after each event.
#[derive(Debug, Default)]
pub struct Agenda {
    /// Operations wanted, each with its due instant (now, past, or future).
    pub issues: Vec<(Instant, Op)>,
    /// When the client wants a [`Event::Due`].
    pub wake: Option<Instant>,
    /// The client wants nothing more once its outstanding requests are done.
    pub finished: bool,
}

impl Agenda {
    /// Ask for `op`; its response time counts from `due`, which may lie in the future.
    #[inline]
    pub fn issue(&mut self, due: Instant, op: Op) {
        self.issues.push((due, op));
    }

    /// Ask to be told when `at` comes. A second call in the same event replaces the first.
    #[inline]
    pub fn wake_at(&mut self, at: Instant) {
        self.wake = Some(at);
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
