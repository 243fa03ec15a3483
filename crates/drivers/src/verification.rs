//! What is done with a request before and after the kernel has it: writes are filled, and those to
//! verified targets get headers; what is read is held against the ledger.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use verify::{Findings, Ledger, VerifyMismatch, WriteOutcome};
use workload::{Durability, Errno, Op, Request, TargetId};

use crate::payload::{MISMATCH, Payload};

/// A ledger, what was found, and how much was looked at. Shared by all workers.
#[derive(Debug)]
pub struct Verification {
    ledger: Ledger,
    /// Targets in which blocks that this run did not write carry headers of an earlier one.
    inherited: Vec<u32>,
    findings: Mutex<Findings>,
}

/// What is kept of a request until it is done.
#[derive(Debug, Default)]
pub(crate) enum Ticket {
    /// Nothing: its target is not verified.
    #[default]
    None,
    Write,
    /// When the flush began.
    Flush(u64),
    /// The oldest write that each block may hold.
    Read(Vec<u64>),
}

/// The present time, as headers have it: nanoseconds since 1970.
pub(crate) fn time_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |it| it.as_nanos() as u64)
}

impl Verification {
    /// Verification by that ledger; in blocks of `inherited` targets that it does not know, headers
    /// of an earlier run are expected.
    pub fn new(ledger: Ledger, inherited: Vec<u32>) -> Self {
        Self {
            ledger,
            inherited,
            findings: Mutex::default(),
        }
    }

    /// What was written.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What was found so far.
    pub fn findings(&self) -> Findings {
        let findings = self.findings.lock();
        findings.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Add what a read found.
    pub fn note(&self, found: &[VerifyMismatch]) {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in found {
            findings.note(*finding);
        }
    }

    /// A request to `target` is about to be handed over; a write's `bytes` get their headers.
    pub(crate) fn begin(&self, op: Op, target: u32, bytes: &mut [u8]) -> Ticket {
        if !self.ledger.holds(target) {
            return Ticket::None;
        }
        match op {
            Op::Write { offset, .. } => {
                self.ledger.begin_write((target, offset), bytes, time_ns());
                Ticket::Write
            }
            Op::Read { offset, len, .. } => {
                Ticket::Read(self.ledger.begin_read(target, offset, len.into()))
            }
            Op::Flush { .. } => Ticket::Flush(self.ledger.begin_flush()),
            _ => Ticket::None,
        }
    }

    /// A request is done; the result of a read that brought wrong data is [`MISMATCH`].
    pub(crate) fn end(
        &self,
        op: Op,
        target: u32,
        ticket: Ticket,
        (result, bytes): (Result<u32, Errno>, &[u8]),
    ) -> Result<u32, Errno> {
        match (ticket, op) {
            (
                Ticket::Write,
                Op::Write {
                    offset,
                    len,
                    durability,
                    ..
                },
            ) => {
                let outcome = match (result, durability) {
                    (Ok(moved), _) if moved < len => WriteOutcome::Failed,
                    (Ok(_), Durability::Volatile) => WriteOutcome::Done,
                    (Ok(_), _) => WriteOutcome::Durable,
                    (Err(_), _) => WriteOutcome::Failed,
                };
                self.ledger.end_write(target, offset, len.into(), outcome);
            }
            (Ticket::Flush(began), _) if result.is_ok() => self.ledger.end_flush(target, began),
            (Ticket::Read(floors), Op::Read { offset, .. }) if result.is_ok() => {
                return self.judge((target, offset), bytes, &floors, result);
            }
            _ => {}
        }
        result
    }

    fn judge(
        &self,
        (target, offset): (u32, u64),
        bytes: &[u8],
        floors: &[u64],
        result: Result<u32, Errno>,
    ) -> Result<u32, Errno> {
        let found = match self.inherited.contains(&target) {
            true => self
                .ledger
                .end_read_of_others(target, offset, bytes, floors),
            false => self.ledger.end_read(target, offset, bytes, floors),
        };
        self.note(&found);
        match found.is_empty() {
            true => result,
            false => Err(MISMATCH),
        }
    }
}

impl Payload {
    /// A request to `target` is about to be handed over; a write's `bytes` are filled.
    #[inline]
    pub(crate) fn begin(&self, request: &Request, target: TargetId, bytes: &mut [u8]) -> Ticket {
        match request.op {
            Op::Read { .. } if self.headers.is_none() => Ticket::None,
            _ => self.prepare(request, target, bytes),
        }
    }

    fn prepare(&self, request: &Request, target: TargetId, bytes: &mut [u8]) -> Ticket {
        if let Op::Write { offset, .. } = request.op {
            match self.contents.get(request.client.0 as usize) {
                Some(Some(source)) => source.fill(bytes),
                _ => self.stamp(bytes, target, offset),
            }
        }
        match &self.headers {
            Some(headers) => headers.begin(request.op, target.0, bytes),
            None => Ticket::None,
        }
    }

    /// A request is done; `bytes` are what a read brought.
    #[inline]
    pub(crate) fn end(
        &self,
        request: &Request,
        target: TargetId,
        ticket: Ticket,
        (result, bytes): (Result<u32, Errno>, &[u8]),
    ) -> Result<u32, Errno> {
        if let (Some(headers), false) = (&self.headers, matches!(ticket, Ticket::None)) {
            return headers.end(request.op, target.0, ticket, (result, bytes));
        }
        match request.op {
            Op::Read { offset, .. } => self.judge(result, bytes, target, offset),
            _ => result,
        }
    }

    /// Whether anything is done with requests that are done.
    #[inline]
    pub(crate) const fn looks_at_ends(&self) -> bool {
        self.verification.is_some() || self.headers.is_some()
    }
}
