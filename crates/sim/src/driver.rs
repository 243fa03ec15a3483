//! The driver in virtual time: no clock is read, and nobody waits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use engine::{Activity, Clock, Driver, DriverError};
use units::{Duration, Instant};
use workload::{Completion, Errno, Op, Request};

use crate::processor::Processors;
use crate::station::Station;

/// A fault that the model injects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The operations, counted from one, from which on the fault strikes.
    pub after: u64,
    /// What strikes.
    pub kind: FaultKind,
}

/// What can go wrong in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Every operation fails with this error number.
    Error(Errno),
    /// The device answers nothing for this long, once.
    Stall(Duration),
}

/// A station behind the driver seam.
#[derive(Debug)]
pub struct SimDriver {
    now: Instant,
    station: Station,
    capacity: usize,
    sequence: u64,
    accepted: u64,
    pending: BinaryHeap<Reverse<Pending>>,
    fault: Option<Fault>,
    /// What works beside the storage, on requests and the moments they came.
    processors: Processors<(Request, Instant)>,
    /// What was done until `now`.
    done: Done,
}

/// Sums over virtual time.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    passed_ns: u64,
    cpu_busy_ns: u64,
    device_busy_ns: u64,
    device_queue_ns: u64,
    reads: u64,
    writes: u64,
    bytes: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Pending {
    at: Instant,
    sequence: u64,
    request: Request,
    issued: Instant,
    result: Result<u32, Errno>,
}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl SimDriver {
    /// A driver that starts at `start` and takes `capacity` requests at once.
    #[must_use]
    pub fn new(station: Station, capacity: usize, start: Instant) -> Self {
        Self {
            now: start,
            station,
            capacity,
            sequence: 0,
            accepted: 0,
            pending: BinaryHeap::new(),
            fault: None,
            processors: Processors::new(1),
            done: Done::default(),
        }
    }

    /// The same driver with a fault.
    #[must_use]
    pub fn with_fault(mut self, fault: Option<Fault>) -> Self {
        self.fault = fault;
        self
    }

    /// The same driver with so many processors for work that is not the storage's.
    #[must_use]
    pub fn with_processors(mut self, count: usize) -> Self {
        self.processors = Processors::new(count);
        self
    }

    /// Let time pass in which nothing comes and nothing ends.
    fn advance(&mut self, until: Instant) {
        let passed = until.since(self.now).as_nanos();
        let waiting = self.pending.len() as u64;
        self.done.passed_ns += passed;
        self.done.cpu_busy_ns += passed * self.processors.busy() as u64;
        self.done.device_busy_ns += passed * waiting.min(1);
        self.done.device_queue_ns += passed * waiting;
        self.now = self.now.max(until);
    }

    fn note(&mut self, pending: &Pending) {
        match pending.request.op {
            Op::Read { .. } => self.done.reads += 1,
            Op::Write { .. } => self.done.writes += 1,
            _ => {}
        }
        self.done.bytes += u64::from(pending.result.unwrap_or(0));
    }

    /// Hand over what processors have done by now.
    fn take_computed(&mut self, done: &mut Vec<Completion>) {
        while let Some(completed) = self.processors.next_done().filter(|&at| at <= self.now) {
            if let Some((request, issued)) = self.processors.take_done(completed) {
                done.push(Completion {
                    request,
                    issued,
                    completed,
                    result: Ok(0),
                });
            }
        }
    }

    fn strike(&mut self, mut end: Instant, op: &Op) -> (Instant, Result<u32, Errno>) {
        let fine = Ok(op.len());
        let Some(fault) = self.fault else {
            return (end, fine);
        };
        if self.accepted < fault.after {
            return (end, fine);
        }
        match fault.kind {
            FaultKind::Error(errno) => (end, Err(errno)),
            FaultKind::Stall(span) => {
                self.fault = None;
                self.station.hold(end + span);
                end += span;
                (end, fine)
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
        if let Op::Compute { work_ns, .. } = request.op {
            self.processors
                .begin(self.now, work_ns, (request, self.now));
            return Ok(());
        }
        assert!(
            self.pending.len() < self.capacity,
            "more requests than the driver's capacity"
        );
        self.accepted += 1;
        let end = self.station.accept(self.now, &request.op);
        let (at, result) = self.strike(end, &request.op);
        let sequence = self.sequence;
        self.sequence += 1;
        self.pending.push(Reverse(Pending {
            at,
            sequence,
            request,
            issued: self.now,
            result,
        }));
        Ok(())
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        let stored = self.pending.peek().map(|Reverse(pending)| pending.at);
        let computed = self.processors.next_done();
        let next = stored.into_iter().chain(computed).min();
        let until = match (next, deadline) {
            (None, None) => return Err(DriverError::Idle),
            (Some(at), None) => at,
            (None, Some(deadline)) => deadline,
            (Some(at), Some(deadline)) => at.min(deadline),
        };
        self.advance(until);
        self.take_computed(done);
        while let Some(Reverse(pending)) = self.pending.peek() {
            if pending.at > self.now {
                break;
            }
            let Some(Reverse(pending)) = self.pending.pop() else {
                break;
            };
            self.note(&pending);
            done.push(Completion {
                request: pending.request,
                issued: pending.issued,
                completed: pending.at,
                result: pending.result,
            });
        }
        Ok(())
    }

    fn activity(&self) -> Option<Activity> {
        let Done {
            passed_ns,
            cpu_busy_ns,
            device_busy_ns,
            device_queue_ns,
            reads,
            writes,
            bytes,
        } = self.done;
        Some(Activity {
            cpu_busy_ns: Some(cpu_busy_ns),
            cpu_there_ns: Some(passed_ns.saturating_mul(self.processors.count() as u64)),
            device_busy_ns: Some(device_busy_ns),
            device_queue_ns: Some(device_queue_ns),
            device_reads: Some(reads),
            device_writes: Some(writes),
            device_bytes: Some(bytes),
            ..Activity::default()
        })
    }
}
