//! Sorts records by time, when they arrive in order of completion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::record::{TraceOp, TraceRecord};

/// Maximum number of records that wait for earlier ones.
const REORDERED_MAX: usize = 1 << 16;

/// An entry of an I/O log: operation, offset, and number of bytes.
pub type IologEntry = (TraceOp, u64, u64);

/// Sorts records by time.
#[derive(Debug, Default)]
pub struct InOrder {
    /// By time, then by arrival: number and entry.
    waiting: BinaryHeap<Reverse<(u64, u64, u32, IologEntry)>>,
    number: u64,
}

impl InOrder {
    /// Adds an entry of a file. Returns the earliest once so many wait that no earlier one will
    /// arrive.
    pub fn add(&mut self, at_ns: u64, file: u32, entry: IologEntry) -> Option<TraceRecord> {
        self.waiting
            .push(Reverse((at_ns, self.number, file, entry)));
        self.number += 1;
        (self.waiting.len() > REORDERED_MAX).then(|| self.first())?
    }

    /// Removes the earliest waiting record.
    pub fn first(&mut self) -> Option<TraceRecord> {
        let Reverse((at, _, file, (op, offset, length))) = self.waiting.pop()?;
        Some(TraceRecord {
            at,
            op,
            offset,
            length,
            file,
        })
    }
}
