//! Reads a trace ahead of its replay, in a thread of its own and a bounded buffer.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;

use crate::session::Result;
use lab::bench::BenchError;
use trace::TraceReader;
use workload::Op;

use super::dealing::Dealing;
use super::fitting::{FittedRecord, Fitting};

/// Requests that are handed over together ...
const TOGETHER: usize = 1024;
/// ... and how many such lists wait at most.
const LISTS_MAX: usize = 256;
/// Of a trace that falls to other hosts, this many records are read at most before what was found
/// is handed over.
const READ_TOGETHER: usize = 1 << 20;

/// A request, with its instant in nanoseconds since the trace's first.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedRequest {
    pub at: u64,
    pub op: Op,
}

/// Some requests, and what became of those that did not fit.
#[derive(Debug, Default)]
pub(super) struct List {
    requests: Vec<TimedRequest>,
    pub moved: u64,
    pub left_out: u64,
}

impl List {
    fn add(&mut self, at: u64, fitted: FittedRecord) {
        let op = match fitted {
            FittedRecord::Kept(op) => op,
            FittedRecord::Moved(op) => {
                self.moved += 1;
                op
            }
            FittedRecord::LeftOut => {
                self.left_out += 1;
                return;
            }
        };
        self.requests.push(TimedRequest { at, op });
    }
}

/// Who waits when the buffer is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenEmpty {
    /// The client: no time passes meanwhile.
    Wait,
    /// Nobody: operations under way must be attended to.
    Never,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    Request(TimedRequest),
    /// The reader is behind.
    Starved,
    /// The trace is over.
    End,
}

/// The end of the buffer at which requests come out.
#[derive(Debug)]
pub(super) struct RequestSource {
    receiver: Receiver<Result<List>>,
    patience: WhenEmpty,
    list: std::vec::IntoIter<TimedRequest>,
    next: Option<TimedRequest>,
    pub moved: u64,
    pub left_out: u64,
    /// Why the trace could not be read to its end.
    pub broken: Option<BenchError>,
    is_over: bool,
}

impl RequestSource {
    /// Begin to read; returns when the first requests are there.
    pub fn begin(
        mut reader: Box<dyn TraceReader>,
        (fitting, dealing): (Fitting, Dealing),
        patience: WhenEmpty,
    ) -> Result<Self> {
        let (sender, receiver) = sync_channel(LISTS_MAX);
        // It ends with the trace, or when nobody listens any more.
        let begun = thread::Builder::new()
            .name("trace".into())
            .spawn(move || read_all(reader.as_mut(), (&fitting, dealing), &sender));
        if let Err(error) = begun {
            let text = format!("a thread that reads the trace cannot be started: {error}");
            return Err(BenchError::Refused(text));
        }
        let mut source = Self {
            receiver,
            patience: WhenEmpty::Wait,
            list: Vec::new().into_iter(),
            next: None,
            moved: 0,
            left_out: 0,
            broken: None,
            is_over: false,
        };
        source.peek();
        source.patience = patience;
        Ok(source)
    }

    /// What comes next, without taking it.
    pub fn peek(&mut self) -> Next {
        loop {
            if self.next.is_none() {
                self.next = self.list.next();
            }
            if let Some(next) = self.next {
                return Next::Request(next);
            }
            if self.is_over {
                return Next::End;
            }
            let received = match self.patience {
                WhenEmpty::Wait => self.receiver.recv().map_err(|_| TryRecvError::Disconnected),
                WhenEmpty::Never => self.receiver.try_recv(),
            };
            match received {
                Ok(Ok(list)) => {
                    self.moved += list.moved;
                    self.left_out += list.left_out;
                    self.list = list.requests.into_iter();
                }
                Ok(Err(error)) => {
                    self.broken = Some(error);
                    self.is_over = true;
                }
                Err(TryRecvError::Disconnected) => self.is_over = true,
                Err(TryRecvError::Empty) => return Next::Starved,
            }
        }
    }

    /// Take what [`RequestSource::peek`] returned.
    pub fn take(&mut self) {
        self.next = None;
    }
}

fn read_all(
    reader: &mut dyn TraceReader,
    (fitting, mut dealing): (&Fitting, Dealing),
    sender: &SyncSender<Result<List>>,
) {
    let mut list = List::default();
    let mut read = 0;
    loop {
        let record = match reader.next_record() {
            Ok(record) => record,
            Err(error) => {
                // Whoever listened no more was stopped.
                let _ = sender.send(Ok(list));
                let _ = sender.send(Err(super::file::mistake(&error)));
                return;
            }
        };
        let is_last = record.is_none();
        read += 1;
        if let Some(record) = record {
            let fitted = fitting.place(&record);
            if dealing.takes(record.file, fitted) {
                list.add(record.at, fitted);
            }
        }
        if is_last || list.requests.len() == TOGETHER || read == READ_TOGETHER {
            read = 0;
            let full = std::mem::take(&mut list);
            if sender.send(Ok(full)).is_err() || is_last {
                return;
            }
        }
    }
}
