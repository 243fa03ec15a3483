//! Recorded traces of block I/O: readers of fio's I/O logs, blktrace and CSV, a writer of fio's
//! logs, statistics of a trace, and a job file fitted to them.
//!
//! A trace is read record by record, in memory that does not grow with it. Knows nothing about
//! targets, drivers or how a trace is replayed; opens no file itself.

mod blktrace;
mod csv;
mod devices;
mod error;
mod fit;
mod format;
mod heat;
mod iolog;
mod lines;
mod record;
mod summary;
mod timeline;
mod writer;

pub use devices::Chosen;
pub use error::{TraceError, TraceFault, TracePosition};
pub use fit::{FittedJob, fit};
pub use format::{Format, Recognised, open, recognise};
pub use heat::Heat;
pub use record::{Notes, TraceOp, TraceReader, TraceRecord};
pub use summary::{HotSpot, LengthCount, OpCount, TraceSummary, summarise};
pub use writer::IologWriter;
