//! The common form of records of all formats.

use crate::error::TraceError;

units::words! {
    /// Operation of a record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum TraceOp {
        /// Reads bytes.
        Read = "read",
        /// Writes bytes.
        Write = "write",
        /// Discards blocks.
        Trim = "trim",
        /// Makes everything written so far durable.
        Sync = "sync",
    }
}

impl TraceOp {
    /// Whether offset and length are meaningful.
    pub const fn has_extent(self) -> bool {
        !matches!(self, Self::Sync)
    }
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Nanoseconds from the first record, never decreasing.
    pub at: u64,
    /// The operation.
    pub op: TraceOp,
    /// First byte.
    pub offset: u64,
    /// Bytes; the end fits in 64 bits.
    pub length: u64,
    /// Number of the file or device, in order of appearance in the trace.
    pub file: u32,
}

impl TraceRecord {
    /// The byte after the last.
    pub const fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// Additional data on a request in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordDetail {
    /// Number of the process that made it.
    pub process: u32,
    /// Nanoseconds until completion, if known.
    pub took: Option<u64>,
}

/// Observations of a reader besides records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Records with an earlier timestamp than the previous one, treated as simultaneous with it.
    pub reordered: u64,
    /// Lines or events that are not requests, by kind.
    pub skipped: Vec<(&'static str, u64)>,
    /// Whether timestamps are whole seconds, over which records were spread evenly.
    pub has_whole_seconds: bool,
}

impl Notes {
    pub(crate) fn skip(&mut self, what: &'static str) {
        match self.skipped.iter_mut().find(|(it, _)| *it == what) {
            Some((_, count)) => *count += 1,
            None => self.skipped.push((what, 1)),
        }
    }
}

/// A trace being read.
pub trait TraceReader: Send {
    /// The next record; `None` after the last.
    ///
    /// # Errors
    /// At the first error, with its position. Nothing is read after it.
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError>;

    /// Names of the files or devices seen so far, by number.
    fn files(&self) -> &[String];

    /// Observations so far.
    fn notes(&self) -> &Notes;

    /// Additional data on the last record, which only recordings have.
    fn detail(&self) -> Option<RecordDetail> {
        None
    }
}
