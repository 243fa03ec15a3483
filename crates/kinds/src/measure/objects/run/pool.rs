//! A driver whose threads ask an object store, a client each.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use engine::{Clock, Driver, DriverError, WRONG_DATA};
use network::FailureCounts;
use stats::Histogram;
use sys::{MonotonicClock, want_punctual_timers};
use units::{Duration, Instant};
use workload::{Completion, Errno, Op, Request};

use crate::measure::objects::load::object_of;
use crate::measure::records::RecordPattern;
use crate::measure::s3::{PutCondition, S3Client, S3Fault};

/// After so many failures in a row the store is down.
const DOWN_AFTER: u32 = 1000;
/// What a failed request is to the engine; what failed is told by the tally.
const FAILED: Errno = Errno(5);

/// Asks for what the load wants.
pub(super) struct Requester {
    pub client: Arc<S3Client>,
    pub prefix: String,
    pub pattern: RecordPattern,
    /// Keys of a page.
    pub page: u16,
    pub is_ranged: bool,
    /// Whether new objects are put only where there is none.
    pub is_conditional: bool,
    pub verifies: bool,
}

/// What a thread saw.
#[derive(Debug, Default)]
pub(super) struct PoolTally {
    /// From the beginning of a get to the first byte of its answer, nanoseconds.
    pub first_byte: Histogram,
    pub failures: FailureCounts,
    pub first: Option<S3Fault>,
    /// What came back otherwise than it was put.
    pub wrong: Option<String>,
    /// Whether all ended since nothing succeeded any more.
    pub is_down: bool,
}

/// The content of an object, from its first byte on.
struct ObjectContent<'a> {
    pattern: &'a RecordPattern,
    number: u32,
    len: u64,
    at: u64,
}

/// No two objects have a record in common.
const fn first_record(number: u32) -> u64 {
    (number as u64) << 32
}

impl Read for ObjectContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len - self.at).unwrap_or(usize::MAX);
        let count = left.min(buffer.len());
        let first = first_record(self.number);
        self.pattern.fill(first, self.at, &mut buffer[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for ObjectContent<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(at) if at <= self.len => self.at = at,
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
        Ok(self.at)
    }
}

/// Why a request gave nothing.
enum AskFailure {
    Asked(S3Fault),
    Wrong(String),
}

impl From<S3Fault> for AskFailure {
    fn from(fault: S3Fault) -> Self {
        Self::Asked(fault)
    }
}

impl Requester {
    fn key(&self, number: u32) -> String {
        format!("{}{number:08x}", self.prefix)
    }

    /// Put an object.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn put(&self, number: u32, len: u32) -> Result<(), S3Fault> {
        self.put_if(number, len, PutCondition::Always)
    }

    fn put_if(&self, number: u32, len: u32, condition: PutCondition) -> Result<(), S3Fault> {
        let mut content = ObjectContent {
            pattern: &self.pattern,
            number,
            len: len.into(),
            at: 0,
        };
        let key = self.key(number);
        self.client.put(&key, len.into(), &mut content, condition)
    }

    fn get(&self, offset: u64, len: u32, tally: &mut PoolTally) -> Result<(), AskFailure> {
        let (number, first) = object_of(offset);
        let key = self.key(number);
        let range = self.is_ranged.then_some((first, u64::from(len)));
        let (mut at, mut wrong_at) = (first, None);
        let begun = std::time::Instant::now();
        let answered = self.client.get(&key, range, &mut |piece| {
            let is_right = !self.verifies || self.pattern.matches(first_record(number), at, piece);
            if !is_right && wrong_at.is_none() {
                wrong_at = Some(at);
            }
            at += piece.len() as u64;
            Ok(())
        })?;
        let waited = answered.saturating_duration_since(begun);
        tally.first_byte.record(waited.as_nanos() as u64);
        if at - first != u64::from(len) {
            let came = at - first;
            let why = format!("{key} came back with {came} of {len} bytes");
            return Err(AskFailure::Wrong(why));
        }
        wrong_at.map_or(Ok(()), |at| {
            Err(AskFailure::Wrong(format!(
                "{key} came back with other bytes than were put, from {at} on: do not trust this \
                 store"
            )))
        })
    }

    fn list(&self) -> Result<(), S3Fault> {
        let page = Some(self.page);
        self.client.list(&self.prefix, page, false, &mut |_| Ok(()))
    }

    fn ask(&self, op: &Op, is_new: bool, tally: &mut PoolTally) -> Result<(), AskFailure> {
        match *op {
            Op::Read { offset, len, .. } => self.get(offset, len, tally)?,
            Op::Write { offset, len, .. } => {
                let condition = match is_new && self.is_conditional {
                    true => PutCondition::IfAbsent,
                    false => PutCondition::Always,
                };
                self.put_if(object_of(offset).0, len, condition)?;
            }
            Op::Open { target } => self.client.head(&self.key(target.0)).map(drop)?,
            Op::Remove { target } => self.client.delete(&self.key(target.0))?,
            _ => self.list()?,
        }
        Ok(())
    }
}

/// Carries operations out, each on a thread that has none.
pub(super) struct PoolDriver {
    clock: MonotonicClock,
    threads: Vec<PoolThread>,
    /// Threads that have nothing to do.
    idle: Vec<usize>,
    done: Receiver<(usize, Completion)>,
    is_down: Arc<AtomicBool>,
    /// The first number that was not put yet: a put of it or a later one is of a new object.
    next_new: u32,
}

struct PoolThread {
    work: SyncSender<(Request, bool)>,
    thread: JoinHandle<PoolTally>,
}

impl PoolDriver {
    /// With `count` threads.
    ///
    /// # Errors
    /// When the system gives no more threads.
    pub fn new(requester: &Arc<Requester>, count: usize) -> io::Result<Self> {
        want_punctual_timers();
        let clock = MonotonicClock::start();
        let (sender, done) = channel();
        let failed_in_a_row = Arc::new(AtomicU32::new(0));
        let is_down = Arc::new(AtomicBool::new(false));
        let thread = |number| {
            let (work, taken) = sync_channel(1);
            let worker = PoolWorker {
                requester: Arc::clone(requester),
                clock,
                number,
                taken,
                done: Sender::clone(&sender),
                failed_in_a_row: Arc::clone(&failed_in_a_row),
                is_down: Arc::clone(&is_down),
            };
            let thread = std::thread::Builder::new()
                .name(format!("client-{number}"))
                .spawn(move || worker.serve())?;
            Ok(PoolThread { work, thread })
        };
        let threads = (0..count).map(thread).collect::<io::Result<_>>()?;
        Ok(Self {
            clock,
            threads,
            idle: (0..count).rev().collect(),
            done,
            is_down,
            next_new: 0,
        })
    }

    /// Raised when nothing succeeds any more.
    pub fn is_down(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_down)
    }

    /// Wait for what is under way; what all threads saw.
    pub fn finish(self) -> PoolTally {
        let mut sum = PoolTally {
            is_down: self.is_down.load(Ordering::Relaxed),
            ..PoolTally::default()
        };
        let (work, threads): (Vec<_>, Vec<_>) = self
            .threads
            .into_iter()
            .map(|it| (it.work, it.thread))
            .unzip();
        drop(work);
        for thread in threads {
            let tally = thread.join().expect("no panic");
            sum.first_byte.merge(&tally.first_byte);
            sum.failures.merge(&tally.failures);
            sum.first = sum.first.or(tally.first);
            sum.wrong = sum.wrong.or(tally.wrong);
        }
        sum
    }
}

impl Clock for PoolDriver {
    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl Driver for PoolDriver {
    fn capacity(&self) -> usize {
        self.threads.len()
    }

    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        let thread = self
            .idle
            .pop()
            .expect("more requests than the driver takes");
        let is_new = match request.op {
            Op::Write { offset, .. } => self.is_new(object_of(offset).0),
            _ => false,
        };
        let handed = self.threads[thread].work.send((request, is_new));
        handed.map_err(|_| broken())
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        let is_idle = self.idle.len() == self.threads.len();
        let first = match deadline {
            None if is_idle => return Err(DriverError::Idle),
            Some(deadline) if is_idle => {
                self.clock.wait_until(deadline, Duration::ZERO);
                return Ok(());
            }
            None => self.done.recv().map_err(|_| broken())?,
            Some(deadline) => {
                let left = deadline.since(self.clock.now());
                match self.done.recv_timeout(left.to_std()) {
                    Ok(first) => first,
                    Err(RecvTimeoutError::Timeout) => return Ok(()),
                    Err(RecvTimeoutError::Disconnected) => return Err(broken()),
                }
            }
        };
        for (thread, completion) in std::iter::once(first).chain(self.done.try_iter()) {
            self.idle.push(thread);
            done.push(completion);
        }
        Ok(())
    }
}

impl PoolDriver {
    fn is_new(&mut self, number: u32) -> bool {
        let is_new = number >= self.next_new;
        self.next_new = self.next_new.max(number + 1);
        is_new
    }
}

fn broken() -> DriverError {
    DriverError::System {
        operation: "handing a request to a thread",
        reason: "it has died".into(),
    }
}

/// One thread.
struct PoolWorker {
    requester: Arc<Requester>,
    clock: MonotonicClock,
    number: usize,
    taken: Receiver<(Request, bool)>,
    done: Sender<(usize, Completion)>,
    failed_in_a_row: Arc<AtomicU32>,
    is_down: Arc<AtomicBool>,
}

impl PoolWorker {
    fn serve(self) -> PoolTally {
        let mut tally = PoolTally::default();
        for (request, is_new) in &self.taken {
            let issued = self.clock.now();
            let asked = self.requester.ask(&request.op, is_new, &mut tally);
            let completed = self.clock.now();
            let result = match asked {
                Ok(()) => {
                    self.failed_in_a_row.store(0, Ordering::Relaxed);
                    Ok(request.op.len())
                }
                Err(failure) => Err(self.note(failure, &mut tally)),
            };
            let completion = Completion {
                request,
                issued,
                completed,
                result,
            };
            if self.done.send((self.number, completion)).is_err() {
                break;
            }
        }
        tally
    }

    fn note(&self, failure: AskFailure, tally: &mut PoolTally) -> Errno {
        let in_a_row = self.failed_in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
        if in_a_row >= DOWN_AFTER {
            self.is_down.store(true, Ordering::Relaxed);
        }
        match failure {
            AskFailure::Asked(fault) => {
                tally.failures.count(fault.class());
                tally.first.get_or_insert(fault);
                FAILED
            }
            AskFailure::Wrong(why) => {
                tally.wrong.get_or_insert(why);
                WRONG_DATA
            }
        }
    }
}
