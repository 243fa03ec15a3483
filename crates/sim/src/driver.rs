//! The driver in virtual time: it reads no clock and never blocks.

use std::collections::VecDeque;

use engine::{Activity, Clock, Driver, DriverError};
use random::{Purpose, Stream};
use units::{Duration, Instant};
use workload::{Completion, Errno, Op, Request};

use crate::device::{Action, Answer, CacheReads, Calendar, Command, Device, Slab, first};
use crate::done::Done;
use crate::faults::{Faults, Trigger};
use crate::processor::Processors;
use crate::station::Served;

/// The errno of a file operation, which models do not support: EOPNOTSUPP.
const UNSUPPORTED: Errno = Errno(95);

/// A simulated device behind the driver interface.
#[derive(Debug)]
pub struct SimDriver {
    now: Instant,
    device: Box<dyn Device>,
    capacity: usize,
    pending: Slab<Pending>,
    /// Outstanding requests, without CPU work.
    outstanding: usize,
    computing: usize,
    faults: Faults,
    stream: Stream,
    begun: u64,
    gate: StallGate,
    /// When the next periodic stall is due.
    due: Option<Instant>,
    /// Requests that fail before they reach the device.
    refused: Calendar<u64>,
    answers: Vec<Answer>,
    shape: TargetShape,
    /// Processors for CPU work beside a storage without a host.
    processors: Processors<u64>,
    /// Work done until `now`, if there is no host to count it.
    done: Done,
}

/// The part of the device that is the target.
#[derive(Clone, Copy, Debug)]
enum TargetShape {
    /// A queue, which treats all operations alike.
    Queue,
    /// A range of a machine.
    Machine {
        start: u64,
        size: u64,
        has_host: bool,
    },
}

/// Holds back new requests while a device stalls.
#[derive(Debug, Default)]
enum StallGate {
    #[default]
    Open,
    /// Until the request that met the stall completes, and for the stall's duration after that.
    Struck {
        number: u64,
        span: Duration,
        held: VecDeque<u64>,
    },
    /// Until this time.
    Until {
        at: Instant,
        answer: Answer,
        held: VecDeque<u64>,
    },
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    request: Request,
    issued: Instant,
    command: Command,
    /// Bytes moved by earlier parts of a short transfer.
    moved: u64,
    error: Option<Errno>,
}

impl SimDriver {
    /// A driver that starts at `start` and takes up to `capacity` requests.
    pub fn new(device: Box<dyn Device>, capacity: usize, start: Instant) -> Self {
        Self {
            now: start,
            device,
            capacity,
            pending: Slab::default(),
            outstanding: 0,
            computing: 0,
            faults: Faults::default(),
            stream: Stream::new(0, 0, Purpose::Fault),
            begun: 0,
            gate: StallGate::Open,
            due: None,
            refused: Calendar::default(),
            answers: Vec::new(),
            shape: TargetShape::Queue,
            processors: Processors::new(1),
            done: Done::new(1, start),
        }
    }

    /// Adds faults, with random draws from `seed`.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults, seed: u64) -> Self {
        self.faults = faults;
        self.stream = Stream::new(seed, 0, Purpose::Fault);
        self
    }

    /// Sets the number of processors for CPU work outside the storage.
    #[must_use]
    pub fn with_processors(mut self, count: usize) -> Self {
        self.processors = Processors::new(count);
        self.done = Done::new(count, self.now);
        self
    }

    /// Makes the target `size` bytes of a machine from `start` on. Its host, if any, does the CPU
    /// work.
    #[must_use]
    pub fn as_machine(mut self, start: u64, size: u64, has_host: bool) -> Self {
        self.shape = TargetShape::Machine {
            start,
            size,
            has_host,
        };
        self
    }

    /// Service times of the device without queueing, if it is a queue.
    pub fn served(&self) -> Option<Served> {
        self.device.served()
    }

    /// Reads of the file cache in front of the device, if there is one.
    pub fn cache_reads(&self) -> Option<CacheReads> {
        self.device.cache_reads()
    }

    /// Work of processors and storage of each host so far, the server first.
    pub fn activity_of_hosts(&self) -> Vec<Activity> {
        if let TargetShape::Machine { has_host: true, .. } = self.shape {
            let hosts = self.device.done_of_hosts(self.now).into_iter();
            return hosts.map(|done| done.activity(true)).collect();
        }
        vec![self.done.activity(false)]
    }

    /// Completes everything outstanding. Returns the device and the time.
    pub fn into_device(mut self) -> (Box<dyn Device>, Instant) {
        let mut done = Vec::new();
        while !self.is_idle() {
            if self.wait(None, &mut done).is_err() {
                break;
            }
        }
        (self.device, self.now)
    }

    fn command(&self, request: &Request) -> Result<Command, Errno> {
        let action = match request.op {
            Op::Read { .. } => Action::Read,
            Op::Write { durability, .. } => Action::Write(durability),
            Op::Compute { work_ns, touched } => Action::Compute { work_ns, touched },
            _ => Action::Flush,
        };
        let offset = match request.op {
            Op::Read { offset, .. } | Op::Write { offset, .. } => offset,
            _ => 0,
        };
        let len = u64::from(request.op.len());
        let command = Command {
            tag: 0,
            action,
            client: Some(request.client),
            offset,
            len,
        };
        let TargetShape::Machine { start, size, .. } = self.shape else {
            return Ok(command);
        };
        let has_files = matches!(
            request.op,
            Op::Trim { .. }
                | Op::Create { .. }
                | Op::Open { .. }
                | Op::Close { .. }
                | Op::Remove { .. }
                | Op::Stat { .. }
        );
        if has_files {
            return Err(UNSUPPORTED);
        }
        let offset = offset.min(size);
        Ok(Command {
            offset: start + offset,
            len: len.min(size - offset),
            ..command
        })
    }

    /// Passes a request, or the rest of one, to the device, or holds it back during a stall.
    fn begin(&mut self, number: u64) {
        if let StallGate::Struck { held, .. } | StallGate::Until { held, .. } = &mut self.gate {
            held.push_back(number);
            return;
        }
        let command = self.pending.at(number).command;
        self.begun += 1;
        self.strike(number, &command);
        let mut part = command;
        if command.len > 1 && self.faults.short > 0.0 && self.stream.unit() < self.faults.short {
            part.len /= 2;
        }
        self.device.begin(self.now, part);
    }

    fn strike(&mut self, number: u64, command: &Command) {
        if let Some((errno, trigger)) = self.faults.error.clone()
            && self.is_hit(&trigger, command)
        {
            self.pending.at(number).error = Some(errno);
            return;
        }
        if let Some((span, trigger)) = self.faults.stall.clone()
            && self.is_hit(&trigger, command)
        {
            if matches!(trigger, Trigger::After(_)) {
                self.faults.stall = None;
            }
            self.gate = StallGate::Struck {
                number,
                span,
                held: VecDeque::new(),
            };
        }
    }

    fn is_hit(&mut self, trigger: &Trigger, command: &Command) -> bool {
        match trigger {
            Trigger::After(count) => self.begun >= *count,
            Trigger::Chance(share) => self.stream.unit() < *share,
            Trigger::Every(period) => self.is_due(*period),
            Trigger::Place(bytes) => {
                let start = match self.shape {
                    TargetShape::Queue => 0,
                    TargetShape::Machine { start, .. } => start,
                };
                let offset = command.offset - start;
                command.len > 0 && offset < bytes.end && bytes.start < offset + command.len
            }
        }
    }

    /// Whether a periodic event is due since the last operation.
    fn is_due(&mut self, period: Duration) -> bool {
        let due = *self.due.get_or_insert(self.now + period);
        let is_due = self.now >= due;
        if is_due {
            let missed = self.now.since(due).as_nanos() / period.as_nanos();
            self.due = Some(due + period * (missed + 1));
        }
        is_due
    }

    /// The device completed a request, or the first part of a short transfer.
    fn answered(&mut self, answer: &Answer, done: &mut Vec<Completion>) {
        if let StallGate::Struck { number, span, held } = &mut self.gate
            && *number == answer.tag
        {
            self.gate = StallGate::Until {
                at: self.now + *span,
                answer: *answer,
                held: std::mem::take(held),
            };
            return;
        }
        let pending = self.pending.at(answer.tag);
        let result = match (pending.error, answer.result) {
            (Some(errno), _) | (None, Err(errno)) => Err(errno),
            (None, Ok(bytes)) if bytes < pending.command.len => {
                pending.moved += bytes;
                pending.command.offset += bytes;
                pending.command.len -= bytes;
                self.begin(answer.tag);
                return;
            }
            (None, Ok(bytes)) => Ok((pending.moved + bytes) as u32),
        };
        self.complete(answer.tag, result, done);
    }

    fn complete(&mut self, number: u64, result: Result<u32, Errno>, done: &mut Vec<Completion>) {
        let Pending {
            request, issued, ..
        } = self.pending.remove(number);
        if request.op.is_compute() {
            self.computing -= 1;
        } else {
            self.outstanding -= 1;
            self.note(&request.op, u64::from(result.unwrap_or(0)));
        }
        done.push(Completion {
            request,
            issued,
            completed: self.now,
            result,
        });
    }

    /// Whether nothing is outstanding.
    pub(crate) const fn is_idle(&self) -> bool {
        self.outstanding + self.computing == 0
    }

    /// Advances idle time, without arrivals or completions.
    pub(crate) fn advance(&mut self, until: Instant) {
        self.done
            .pass(until, self.processors.busy(), self.outstanding);
        self.now = self.now.max(until);
    }

    fn note(&mut self, op: &Op, bytes: u64) {
        match op {
            Op::Read { .. } => self.done.read(bytes),
            Op::Write { .. } => self.done.wrote(bytes),
            _ => {}
        }
    }

    /// Time of the next internal event.
    pub(crate) fn next(&self) -> Option<Instant> {
        let gate = match self.gate {
            StallGate::Until { at, .. } => Some(at),
            _ => None,
        };
        let inner = first(self.device.next(), self.processors.next_done());
        let next = first(first(inner, gate), self.refused.next())?;
        Some(next.max(self.now))
    }

    /// Processes all events at this instant.
    pub(crate) fn step(&mut self, done: &mut Vec<Completion>) {
        while self.next().is_some_and(|at| at <= self.now) {
            while let Some(number) = self.processors.take_done(self.now) {
                self.complete(number, Ok(0), done);
            }
            while let Some(number) = self.refused.take(self.now) {
                self.complete(number, Err(UNSUPPORTED), done);
            }
            if self.device.next().is_some_and(|at| at <= self.now) {
                let mut answers = std::mem::take(&mut self.answers);
                self.device.step(self.now, &mut answers);
                for answer in answers.drain(..) {
                    self.answered(&answer, done);
                }
                self.answers = answers;
            }
            self.open_gate(done);
        }
    }

    fn open_gate(&mut self, done: &mut Vec<Completion>) {
        if !matches!(self.gate, StallGate::Until { at, .. } if at <= self.now) {
            return;
        }
        if let StallGate::Until { answer, held, .. } = std::mem::take(&mut self.gate) {
            self.answered(&answer, done);
            for number in held {
                self.begin(number);
            }
        }
    }
}

impl Clock for SimDriver {
    fn now(&self) -> Instant {
        self.now
    }
}

impl Driver for SimDriver {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        let is_compute = request.op.is_compute();
        assert!(
            is_compute || self.outstanding < self.capacity,
            "more requests than the driver's capacity"
        );
        let command = self.command(&request);
        let pending = Pending {
            request,
            issued: self.now,
            command: command.unwrap_or(Command {
                tag: 0,
                action: Action::Flush,
                client: None,
                offset: 0,
                len: 0,
            }),
            moved: 0,
            error: None,
        };
        let number = self.pending.insert(pending);
        self.pending.at(number).command.tag = number;
        if let Op::Compute { work_ns, .. } = request.op {
            self.computing += 1;
            if let TargetShape::Machine { has_host: true, .. } = self.shape {
                let command = self.pending.at(number).command;
                self.device.begin(self.now, command);
            } else {
                self.processors.begin(self.now, work_ns, number);
            }
            return Ok(());
        }
        self.outstanding += 1;
        match command {
            Ok(_) => self.begin(number),
            Err(_) => self.refused.plan(self.now, number),
        }
        Ok(())
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        if deadline.is_none() && self.is_idle() {
            return Err(DriverError::Idle);
        }
        let before = done.len();
        loop {
            let next = self.next();
            let until = match (next, deadline) {
                (None, None) => return Err(DriverError::Idle),
                (Some(at), None) => at,
                (None, Some(deadline)) => deadline,
                (Some(at), Some(deadline)) => at.min(deadline),
            };
            let is_over = next.is_none_or(|at| deadline.is_some_and(|end| at > end));
            self.advance(until);
            if !is_over || next.is_some_and(|at| at <= self.now) {
                self.step(done);
            }
            if is_over || done.len() > before {
                return Ok(());
            }
        }
    }

    /// A host with a file cache hides the work of its device and processors, and reports it itself.
    fn activity(&self) -> Option<Activity> {
        if let TargetShape::Machine { has_host: true, .. } = self.shape {
            let done = self.device.done(self.now)?;
            return Some(done.activity(true));
        }
        Some(self.done.activity(false))
    }
}
