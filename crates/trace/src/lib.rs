//! Recorded traces of block I/O: readers of fio's I/O logs, blktrace and CSV, a writer of fio's
//! logs, statistics of a trace, and a job file fitted to them. Converts the kernel's block events
//! into recordings, which have their own format.
//!
//! A trace is read record by record, in constant memory. Knows nothing about targets, drivers or
//! replay, and opens no files.

mod blkparse;
mod blktrace;
mod block_event;
mod csv;
mod devices;
mod error;
mod fit;
mod format;
mod heat;
mod in_order;
mod iolog;
mod lines;
mod matching;
mod profile;
mod record;
mod recorder;
mod recording;
mod summary;
mod timeline;
mod workload_text;
mod writer;

pub use blkparse::BlkparseWriter;
pub use block_event::{BlockEvent, BlockEventKind, IoFlags, PageLayout};
pub use devices::Chosen;
pub use error::{TraceError, TraceFault, TracePosition};
pub use fit::{FittedJob, fit};
pub use format::{Format, Recognised, open, recognise};
pub use heat::Heat;
pub use in_order::{InOrder, IologEntry};
pub use matching::{RecordedIo, RequestMatcher};
pub use profile::{
    LoadProfile, OpProfile, PeriodProfile, ProcessProfile, TraceDepth, WriteChains, profile,
};
pub use record::{Notes, RecordDetail, TraceOp, TraceReader, TraceRecord};
pub use recorder::{RecordedPart, RecorderCounts, ThreadOwner, TraceRecorder};
pub use recording::{RecordingEncoder, RecordingEnd, RecordingReader};
pub use summary::{HotSpot, LengthCount, OpCount, TraceSummary, summarise};
pub use workload_text::workload_text;
pub use writer::IologWriter;
