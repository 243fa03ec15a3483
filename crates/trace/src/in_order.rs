//! Records in the order of their instants, where what is recorded comes as it is done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::record::{TraceOp, TraceRecord};

/// Records that wait for earlier ones, which may come after them.
const REORDERED_MAX: usize = 1 << 16;

/// What a line of an I/O log says: what was done, at which offset, and how many bytes.
pub type IologEntry = (TraceOp, u64, u64);

/// Records in the order of their instants, whatever the order in which they came.
#[derive(Debug, Default)]
pub struct InOrder {
    /// By the instant, then as they came: number and entry.
    waiting: BinaryHeap<Reverse<(u64, u64, u32, IologEntry)>>,
    number: u64,
}

impl InOrder {
    /// Take one of a file; the first of all once so many wait that no earlier one will come.
    #[must_use]
    pub fn add(&mut self, at_ns: u64, file: u32, entry: IologEntry) -> Option<TraceRecord> {
        self.waiting
            .push(Reverse((at_ns, self.number, file, entry)));
        self.number += 1;
        (self.waiting.len() > REORDERED_MAX).then(|| self.first())?
    }

    /// The first of those that wait.
    #[must_use]
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
