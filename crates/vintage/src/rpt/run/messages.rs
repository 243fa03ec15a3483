//! A control thread that sums its I/Os in messages and can be stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::rpt::{Sums, ThreadMessage};
use units::Instant;
use workload::{Agenda, Client, Completion, ControlThread, Errno, Event, Op};

/// Messages of control threads, in order.
pub(super) type Mailbox = Arc<Mutex<Vec<Posted>>>;

/// Level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Messages,
    /// Messages, and each I/O.
    EachIo,
}

/// A message of a control thread.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    /// Number of the thread among all ever started.
    pub launch: u64,
    pub at: Instant,
    pub report: ThreadReport,
}

/// Kinds of messages.
#[derive(Clone, Copy, Debug)]
pub enum ThreadReport {
    /// The I/Os of a message are done.
    Message(ThreadMessage),
    /// One I/O is done.
    Io(IoDetail),
    /// An I/O failed; the thread does no more.
    Failed {
        op: Op,
        /// The system's error.
        errno: Errno,
    },
    /// The data file ends within an I/O; the thread does no more.
    Short {
        op: Op,
        /// Bytes moved.
        moved: u32,
    },
}

/// One I/O in detail; times in seconds.
#[derive(Clone, Copy, Debug)]
pub struct IoDetail {
    pub op: Op,
    /// From due to submission.
    pub wait: f64,
    /// From ready to submission.
    pub seek: f64,
    /// Service time.
    pub xfer: f64,
}

/// A control thread with its message.
pub(super) struct MessageThread {
    inner: ControlThread,
    number: u32,
    launch: u64,
    detail: Detail,
    ios_per_message: u32,
    ios: u32,
    /// Sums of the incomplete message.
    sums: Sums,
    last: Instant,
    stop: Arc<AtomicBool>,
    mailbox: Mailbox,
}

impl MessageThread {
    pub(super) fn new(
        inner: ControlThread,
        (number, launch): (u32, u64),
        ios_per_message: u32,
        detail: Detail,
        stop: Arc<AtomicBool>,
        mailbox: Mailbox,
    ) -> Self {
        Self {
            inner,
            number,
            launch,
            detail,
            ios_per_message: ios_per_message.max(1),
            ios: 0,
            sums: Sums::default(),
            last: Instant::START,
            stop,
            mailbox,
        }
    }

    fn post(&self, at: Instant, report: ThreadReport) {
        let posted = Posted {
            launch: self.launch,
            at,
            report,
        };
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.push(posted);
    }

    /// Adds an I/O to the message. Returns whether the thread can continue.
    fn add(&mut self, completion: &Completion) -> bool {
        let (op, at) = (completion.request.op, completion.completed);
        match completion.result {
            Ok(moved) if moved == op.len() => {}
            Ok(moved) => {
                self.post(at, ThreadReport::Short { op, moved });
                return false;
            }
            Err(errno) => {
                self.post(at, ThreadReport::Failed { op, errno });
                return false;
            }
        }
        let seek = completion.lateness().as_secs_f64();
        let xfer = completion.service_time().as_secs_f64();
        if self.detail == Detail::EachIo {
            let wait = completion
                .issued
                .since(completion.request.due)
                .as_secs_f64();
            let detail = IoDetail {
                op,
                wait,
                seek,
                xfer,
            };
            self.post(at, ThreadReport::Io(detail));
        }
        self.sums.kbytes += f64::from(op.len()) / 1024.0;
        self.sums.nios += 1.0;
        self.sums.seek += seek;
        self.sums.xfer += xfer;
        self.sums.seek_sq += seek * seek;
        self.sums.xfer_sq += xfer * xfer;
        self.ios += 1;
        if self.ios == self.ios_per_message {
            let total = at.since(self.last).as_secs_f64();
            self.sums.total = total;
            self.sums.total_sq = total * total;
            let message = ThreadMessage::of(self.number, &std::mem::take(&mut self.sums));
            self.post(at, ThreadReport::Message(message));
            self.last = at;
            self.ios = 0;
        }
        true
    }
}

impl Client for MessageThread {
    #[inline]
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        match event {
            Event::Started { at } => self.last = at,
            Event::Completed(completion) => {
                if self.stop.load(Ordering::Relaxed) || !self.add(completion) {
                    return agenda.finish();
                }
            }
            Event::Due { .. } => {}
        }
        self.inner.on_event(event, agenda);
    }
}
