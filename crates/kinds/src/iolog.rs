//! Writes what a trial asks for as fio's I/O log, in a thread of its own.
//!
//! A line stands for an operation that succeeded, at the instant when it was due: what arrives, and
//! not what the storage made of it.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

use engine::Follower;
use trace::{InOrder, IologEntry, IologWriter, TraceOp as Recorded, TraceRecord};
use units::Instant;
use workload::{Completion, Op};

use crate::feed::{CompletionFeed, WhenFull};

/// A log under way.
pub struct TrialLog<W> {
    feed: Arc<CompletionFeed>,
    writing: JoinHandle<io::Result<W>>,
}

impl<W: Write + Send + 'static> TrialLog<W> {
    /// Begin a log of the target of that name. Where time is virtual none of it is left out.
    ///
    /// # Errors
    /// When the format cannot hold the name, or the output refuses.
    pub fn begin(output: W, target: &str, is_virtual: bool) -> io::Result<Self> {
        let feed = Arc::new(CompletionFeed::new(match is_virtual {
            true => WhenFull::Wait,
            false => WhenFull::LeaveOut,
        }));
        let mut log = IologOutput {
            writer: IologWriter::begin(output, &[target.to_owned()])?,
            order: InOrder::default(),
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

struct IologOutput<W> {
    writer: IologWriter<W>,
    order: InOrder,
    failed: Option<io::Error>,
}

/// What a line says of an operation, if it has one: what it is, its offset and its length.
pub(crate) const fn entry_of(op: &Op) -> Option<IologEntry> {
    Some(match *op {
        Op::Read { offset, len, .. } => (Recorded::Read, offset, len as u64),
        Op::Write { offset, len, .. } => (Recorded::Write, offset, len as u64),
        Op::Trim { offset, len, .. } => (Recorded::Trim, offset, len as u64),
        Op::Flush { .. } => (Recorded::Sync, 0, 0),
        _ => return None,
    })
}

impl<W: Write> IologOutput<W> {
    fn add(&mut self, start: Instant, done: &[Completion]) {
        for completion in done {
            let Some(entry) = entry_of(&completion.request.op) else {
                continue;
            };
            let at_ns = completion.request.due.since(start).as_nanos();
            if let Some(first) = self.order.add(at_ns, 0, entry) {
                self.write(&first);
            }
        }
    }

    /// After the first failure all else is taken and dropped, so that nobody waits for it.
    fn write(&mut self, record: &TraceRecord) {
        if self.failed.is_none() {
            self.failed = self.writer.write(record).err();
        }
    }

    fn finish(mut self) -> io::Result<W> {
        while let Some(next) = self.order.first() {
            self.write(&next);
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }
}
