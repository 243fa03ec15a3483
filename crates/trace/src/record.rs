//! What every format comes down to.

use crate::error::TraceError;

units::words! {
    /// What a record asks for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum TraceOp {
        /// Bytes are read.
        Read = "read",
        /// Bytes are written.
        Write = "write",
        /// Blocks are given back.
        Trim = "trim",
        /// Everything written so far is to survive a power loss.
        Sync = "sync",
    }
}

impl TraceOp {
    /// Whether the offset and the length say anything.
    #[must_use]
    pub const fn has_extent(self) -> bool {
        !matches!(self, Self::Sync)
    }
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Nanoseconds since the first record; never less than that of the record before.
    pub at: u64,
    /// What is asked for.
    pub op: TraceOp,
    /// First byte.
    pub offset: u64,
    /// Bytes; the end lies within 64 bits.
    pub length: u64,
    /// The number of the file or device, in the order in which the trace names them.
    pub file: u32,
}

impl TraceRecord {
    /// The byte behind the last.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// What a recording knows of a request besides what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordDetail {
    /// The number of the process that asked.
    pub process: u32,
    /// Nanoseconds until it was done, where that is known.
    pub took: Option<u64>,
}

/// What a reader came across besides records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Records whose stamp was earlier than that of the record before; they were taken as
    /// simultaneous with it.
    pub reordered: u64,
    /// Lines or events that are no requests, by what they are.
    pub skipped: Vec<(&'static str, u64)>,
    /// Whether stamps are whole seconds, over which their records were spread evenly.
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

/// A trace under way.
pub trait TraceReader: Send {
    /// The next record; `None` behind the last.
    ///
    /// # Errors
    /// At the first mistake, with its place. Nothing is read after it.
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError>;

    /// Names of the files or devices that were met so far, by their numbers.
    fn files(&self) -> &[String];

    /// What was met so far besides records.
    fn notes(&self) -> &Notes;

    /// What more is known of the record that was handed out last: only recordings have that.
    fn detail(&self) -> Option<RecordDetail> {
        None
    }
}
