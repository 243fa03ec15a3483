//! Writes what a trial asks for as fio's I/O log, in a thread of its own.
//!
//! A line stands for an operation that succeeded, at the instant when it was due: what arrives, and
//! not what the storage made of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

use engine::Follower;
use trace::{IologWriter, Op as Recorded, Record};
use units::Instant;
use workload::{Completion, Op};

use crate::feed::{Feed, WhenFull};

/// Operations that wait for earlier ones, which may be done after them.
const REORDERED_MAX: usize = 1 << 16;

/// A log under way.
pub struct TrialLog<W> {
    feed: Arc<Feed>,
    writing: JoinHandle<io::Result<W>>,
}

impl<W: Write + Send + 'static> TrialLog<W> {
    /// Begin a log of the target of that name. Where time is virtual none of it is left out.
    ///
    /// # Errors
    /// When the format cannot hold the name, or the output refuses.
    pub fn begin(output: W, target: &str, is_virtual: bool) -> io::Result<Self> {
        let feed = Arc::new(Feed::new(match is_virtual {
            true => WhenFull::Wait,
            false => WhenFull::LeaveOut,
        }));
        let mut log = Log {
            writer: IologWriter::begin(output, target)?,
            waiting: BinaryHeap::new(),
            number: 0,
            failed: None,
        };
        let taken = Arc::clone(&feed);
        let writing = std::thread::Builder::new().name("iolog".into());
        let writing = writing.spawn(move || {
            taken.drain(|start, done| log.add(start, done));
            log.finish()
        })?;
        Ok(Self { feed, writing })
    }

    /// What a trial is followed by.
    #[must_use]
    pub fn follower(&self) -> Arc<dyn Follower> {
        Arc::clone(&self.feed) as Arc<dyn Follower>
    }

    /// Write what is left; returns the output, and how many operations could not be written in
    /// time and are missing.
    ///
    /// # Errors
    /// When the output refused.
    pub fn finish(self) -> io::Result<(W, u64)> {
        let left_out = self.feed.close();
        match self.writing.join() {
            Ok(written) => Ok((written?, left_out)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

struct Log<W> {
    writer: IologWriter<W>,
    /// By the instant due, then in the order in which they were done.
    waiting: BinaryHeap<Reverse<(Instant, u64, Entry)>>,
    number: u64,
    failed: Option<io::Error>,
}

/// What a line says.
type Entry = (Recorded, u64, u64);

impl<W: Write> Log<W> {
    fn add(&mut self, start: Instant, done: &[Completion]) {
        for completion in done {
            let entry = match completion.request.op {
                Op::Read { offset, len, .. } => (Recorded::Read, offset, u64::from(len)),
                Op::Write { offset, len, .. } => (Recorded::Write, offset, u64::from(len)),
                Op::Flush { .. } => (Recorded::Sync, 0, 0),
                _ => continue,
            };
            let at = Instant(completion.request.due.since(start).as_nanos());
            self.waiting.push(Reverse((at, self.number, entry)));
            self.number += 1;
            if self.waiting.len() > REORDERED_MAX {
                self.write_first();
            }
        }
    }

    fn write_first(&mut self) {
        let Some(Reverse((at, _, (op, offset, length)))) = self.waiting.pop() else {
            return;
        };
        let record = Record {
            at: at.as_nanos(),
            op,
            offset,
            length,
            file: 0,
        };
        // After the first failure all else is taken and dropped, so that nobody waits for it.
        if self.failed.is_none() {
            self.failed = self.writer.write(&record).err();
        }
    }

    fn finish(mut self) -> io::Result<W> {
        while !self.waiting.is_empty() {
            self.write_first();
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }
}
