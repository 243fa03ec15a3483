//! What a program asks of storage, step by step, and who carries it out: plain calls on files in
//! the thread that asks, or devices of models in one virtual time.

use results::{Reading, Warning};
use units::Bytes;

use super::Stop;
use super::place::Result;
use super::records::{Spent, Synced};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoAction {
    /// Read bytes.
    Read,
    /// Write bytes.
    Write,
    /// Write bytes, and force them to the storage.
    WriteSynced,
    /// Force all that was written to the storage.
    Sync,
    /// Give up space beyond `offset` that was allocated and not used; no model has a time for it.
    Cut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoStep {
    /// What is asked.
    pub action: IoAction,
    /// First byte in the file, or of the target.
    pub offset: u64,
    /// Bytes that the storage moves.
    pub len: u64,
    /// Bytes of the stream that it brings, or takes.
    pub bytes: u64,
    /// Bytes of space that are allocated for the file before.
    pub space: u64,
}

/// Steps, one after the other.
pub type IoSteps = Box<dyn Iterator<Item = IoStep> + Send>;

impl IoStep {
    /// A step that moves bytes of the stream alone.
    pub const fn new(action: IoAction, offset: u64, len: u64) -> Self {
        Self {
            action,
            offset,
            len,
            bytes: len,
            space: 0,
        }
    }
}

/// A file from its first byte to its last, record by record.
pub fn sequence(
    action: IoAction,
    size: Bytes,
    record: Bytes,
) -> impl Iterator<Item = IoStep> + Send {
    let (size, record) = (size.0, record.0);
    (0..size.div_ceil(record)).map(move |number| {
        let offset = number * record;
        IoStep::new(action, offset, record.min(size - offset))
    })
}

/// How each record of a file is written.
pub const fn write_action(synced: Synced) -> IoAction {
    match synced {
        Synced::EachRecord => IoAction::WriteSynced,
        Synced::No | Synced::AtEnd => IoAction::Write,
    }
}

/// A program that brings bytes from a source to a sink.
pub struct Passage {
    /// What the source is asked.
    pub source: IoSteps,
    /// What the sink is asked, as soon as its bytes have come.
    pub sink: IoSteps,
    /// Reads of the source that are under way at once, where it can have several.
    pub reads_at_once: u64,
    /// Reading goes on while less than this has been asked for and not handed on. No step of the
    /// sink takes more.
    pub window: u64,
    /// Processor time for each byte of the source, nanoseconds, where the processor is a model's.
    pub work_byte: f64,
}

/// What a passage came to.
pub struct Carried {
    /// What it took.
    pub spent: Spent,
    /// Reads and writes that were asked for.
    pub calls: u64,
    /// What else this storage tells.
    pub others: Vec<Reading>,
    /// What a reader of the figures must know.
    pub warnings: Vec<Warning>,
}

/// Two places, and the way from one to the other.
pub trait Carrier {
    /// Carry all of it out, see that it is right, and leave nothing behind.
    ///
    /// # Errors
    /// When the storage fails, or somebody stopped it.
    fn carry(self: Box<Self>, passage: Passage, stop: &Stop) -> Result<Carried>;
}
