//! Random access: service times against file size, block size and depth.

use serde::{Deserialize, Serialize};
use stats::Estimate;

use crate::measurement::Times;
use crate::warning::Warning;

units::words! {
    /// The operation of a cell.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RandomKind {
        Read = "read",
        /// Writes.
        Write = "write",
    }
}

/// One kind of operation with fixed settings, over all its rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomCell {
    /// What the operations do.
    pub kind: RandomKind,
    /// Bytes from the start of the file over which they are spread.
    pub span_bytes: u64,
    /// Bytes of one operation.
    pub block_bytes: u64,
    /// Operations outstanding all the time.
    pub depth: u32,
    /// Time from issue to completion. Percentiles are means over the rounds.
    pub service: Times,
    /// Operations per second; every round has the same number of operations.
    pub throughput: Estimate,
    /// Share of the bytes served from the page cache, as counted by the kernel.
    pub page_cache_share: Option<f64>,
    /// CPU time for one operation, nanoseconds.
    pub cpu_per_operation_ns: Option<f64>,
    /// Operations in all rounds.
    pub operations: u64,
    /// Failed operations in all rounds.
    pub errors: u64,
    /// Mean service time of each round, nanoseconds.
    pub rounds: Vec<Estimate>,
    /// Whether all rounds agree within their noise, at a significance level of one in a thousand.
    pub rounds_agree: bool,
    /// Whether the mean service time is as precise as requested.
    pub is_precise: bool,
    /// Whether the number can be quoted: enough independent operations, and a stable mean.
    pub is_citable: bool,
    /// Warnings about this cell.
    pub warnings: Vec<Warning>,
}

impl RandomCell {
    /// Whether there were operations and all of them failed.
    pub fn is_all_failed(&self) -> bool {
        self.operations == 0 && self.errors > 0
    }
}

/// Result of `seekstone random`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomAccess {
    /// Span of the base cell, which all sweeps share.
    pub span_bytes: u64,
    /// Its block size.
    pub block_bytes: u64,
    pub depth: u32,
    /// Bytes of the file, or of the used part of the target.
    pub size_bytes: u64,
    /// Whether every span was measured with every block size and depth.
    pub is_crossed: bool,
    /// Rounds planned for every cell.
    pub rounds: u32,
    /// Requested relative half-width of the mean service time.
    pub precision: f64,
    /// Whether every write is followed by an fsync, included in its time.
    pub durable: bool,
    /// How reads are verified: `record` (stamp, number and text of every 4 KiB) or `none`.
    pub check: String,
    /// Rotation time of the disk, nanoseconds, if known: that of a model.
    pub turn_ns: Option<u64>,
    /// Rate of the sequential fill of the file, bytes per second.
    pub fill_rate: Option<Estimate>,
    /// The cells: reads before writes, ascending.
    pub cells: Vec<RandomCell>,
}

impl RandomAccess {
    /// The cell with these settings, if it was measured.
    pub fn cell(&self, kind: RandomKind, span: u64, block: u64, depth: u32) -> Option<&RandomCell> {
        self.cells.iter().find(|cell| {
            (cell.kind, cell.span_bytes, cell.block_bytes, cell.depth) == (kind, span, block, depth)
        })
    }

    /// The base cell of that kind, which all sweeps share.
    pub fn base(&self, kind: RandomKind) -> Option<&RandomCell> {
        self.cell(kind, self.span_bytes, self.block_bytes, self.depth)
    }

    /// Cells of that kind over growing spans, with the block size and depth of the base cell.
    pub fn over_spans(&self, kind: RandomKind) -> Vec<&RandomCell> {
        self.sweep(kind, |cell| {
            (cell.block_bytes, cell.depth) == (self.block_bytes, self.depth)
        })
    }

    /// Cells of that kind with growing blocks, with the span and depth of the base cell.
    pub fn over_blocks(&self, kind: RandomKind) -> Vec<&RandomCell> {
        self.sweep(kind, |cell| {
            (cell.span_bytes, cell.depth) == (self.span_bytes, self.depth)
        })
    }

    /// Cells of that kind at growing depths, with the span and block size of the base cell.
    pub fn over_depths(&self, kind: RandomKind) -> Vec<&RandomCell> {
        self.sweep(kind, |cell| {
            (cell.span_bytes, cell.block_bytes) == (self.span_bytes, self.block_bytes)
        })
    }

    fn sweep(&self, kind: RandomKind, belongs: impl Fn(&RandomCell) -> bool) -> Vec<&RandomCell> {
        let cells = self.cells.iter();
        cells
            .filter(|cell| cell.kind == kind && belongs(cell))
            .collect()
    }
}
