//! What is filled: a file system by files of our own, or a model from its first byte to its last.
//!
//! How much fits on a tape follows from its `compression`: a model has no content to compress.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use drivers::{
    AlignedBuffer, BLOCK_BYTES, STAMP_BYTES, Seal, TargetError, WorkDirectory, fill_incompressible,
    free_space, stamp,
};
use results::Reading;
use results::metric::LEFT;
use sim::SimSpec;
use units::{Bytes, Instant};

use crate::measure::models::{
    ModelTarget, command, device_action, perform, spent_until, tape_stops,
};
use crate::measure::place::{MeasureError, Result, owner};
use crate::measure::records::{Gauge, Spent, Who, buffer};
use crate::measure::steps::IoAction;

/// Content is compressible in pieces of this size, the smallest that file systems compress.
const PIECE_BYTES: usize = 4096;
/// Different content in memory.
const VARIETY_BYTES: u64 = 8 << 20;

/// Storage that takes bytes until it is full.
pub trait Vessel {
    /// Bytes that it says it has left.
    ///
    /// # Errors
    /// When the system does not tell.
    fn free(&self) -> Result<u64>;

    /// Begin the next file; false when not even an empty one fits.
    ///
    /// # Errors
    /// When the system refuses it for another reason.
    fn next_file(&mut self) -> Result<bool>;

    /// Write to the present file; how many of these bytes were taken, none when so many do not fit.
    ///
    /// # Errors
    /// When the storage fails.
    fn write(&mut self, at: u64, len: u64) -> Result<u64>;

    /// Force the present file to the storage.
    ///
    /// # Errors
    /// When it does not take what it was given.
    fn sync(&mut self) -> Result<()>;

    /// What passed since it was opened.
    fn spent(&self) -> Spent;

    /// Empty it; what else it tells.
    ///
    /// # Errors
    /// When the system refuses.
    fn finish(self: Box<Self>) -> Result<Vec<Reading>>;
}

/// Files of our own in a file system.
pub struct FileVessel {
    target: PathBuf,
    directory: WorkDirectory,
    content: FillRecords,
    files: u64,
    present: Option<(File, PathBuf)>,
    written: u64,
    gauge: Gauge,
}

impl FileVessel {
    /// A directory for the files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(target: &Path, content: FillRecords) -> Result<Self> {
        Ok(Self {
            target: target.to_owned(),
            directory: WorkDirectory::create(target, &owner(super::KIND.name))?,
            content,
            files: 0,
            present: None,
            written: 0,
            gauge: Gauge::start(Who::Thread),
        })
    }
}

impl Vessel for FileVessel {
    fn free(&self) -> Result<u64> {
        Ok(free_space(&self.target)?.available)
    }

    fn next_file(&mut self) -> Result<bool> {
        let name = format!("fill{:06}", self.files);
        // Zeroes tell nobody whose they are: the file itself must.
        let file = match self.directory.create_copy(&name) {
            Ok(file) => file,
            Err(TargetError::Io { source, .. }) if is_full(&source) => return Ok(false),
            Err(other) => return Err(other.into()),
        };
        self.files += 1;
        self.present = Some((file, self.directory.path().join(name)));
        Ok(true)
    }

    fn write(&mut self, at: u64, len: u64) -> Result<u64> {
        let record = &self.content.next(self.written)[..len as usize];
        let (file, path) = self.present.as_ref().expect("a file was begun");
        loop {
            match file.write_at(record, at) {
                Ok(written) => {
                    self.written += written as u64;
                    return Ok(written as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_full(&error) => return Ok(0),
                Err(error) => return Err(MeasureError::io("write", path)(error)),
            }
        }
    }

    fn sync(&mut self) -> Result<()> {
        let (file, path) = self.present.as_ref().expect("a file was begun");
        file.sync_all().map_err(|error| lost(path, error))
    }

    fn spent(&self) -> Spent {
        self.gauge.spent()
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<Reading>> {
        self.present = None;
        let left = self.free()? as f64;
        self.directory.remove()?;
        Ok(vec![LEFT.reading(left)])
    }
}

/// A model in virtual time, on which the files lie one after the other.
pub struct ModelVessel {
    part: ModelTarget,
    /// Bytes that it has taken, and where the present file begins.
    written: u64,
    file_start: u64,
    now: Instant,
}

impl ModelVessel {
    /// The model at rest.
    pub fn new(spec: &SimSpec, seed: u64) -> Self {
        Self {
            part: ModelTarget::new(spec, seed),
            written: 0,
            file_start: 0,
            now: Instant::START,
        }
    }

    fn perform(&mut self, action: IoAction, offset: u64, len: u64) -> Result<()> {
        let Some(action) = device_action(action) else {
            return Ok(());
        };
        let command = command(0, action, self.part.start + offset, len);
        self.now = perform(&mut *self.part.device, self.now, command)?;
        Ok(())
    }
}

impl Vessel for ModelVessel {
    fn free(&self) -> Result<u64> {
        Ok(self.part.size - self.written)
    }

    fn next_file(&mut self) -> Result<bool> {
        self.file_start = self.written;
        Ok(self.written < self.part.size)
    }

    fn write(&mut self, at: u64, len: u64) -> Result<u64> {
        let offset = self.file_start + at;
        let len = len.min(self.part.size - offset);
        if len > 0 {
            self.perform(IoAction::Write, offset, len)?;
            self.written += len;
        }
        Ok(len)
    }

    fn sync(&mut self) -> Result<()> {
        self.perform(IoAction::Sync, 0, 0)
    }

    fn spent(&self) -> Spent {
        spent_until(self.now)
    }

    fn finish(self: Box<Self>) -> Result<Vec<Reading>> {
        Ok(tape_stops(&[&*self.part.device]).into_iter().collect())
    }
}

/// Records to be written, one after the other.
pub struct FillRecords {
    memory: AlignedBuffer,
    record: usize,
    next: usize,
    is_all_zero: bool,
}

impl FillRecords {
    /// Records of which the share `compressible` is zero.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn new(record: Bytes, compressible: f64, seed: u64) -> Result<Self> {
        let count = VARIETY_BYTES.div_ceil(record.0);
        let mut memory = buffer((count * record.0) as usize)?;
        fill_incompressible(memory.as_mut_slice(), seed);
        let zeroes = (PIECE_BYTES as f64 * compressible).round() as usize;
        for piece in memory.as_mut_slice().chunks_mut(PIECE_BYTES) {
            let start = piece.len() - zeroes.min(piece.len());
            piece[start..].fill(0);
        }
        Ok(Self {
            memory,
            record: record.0 as usize,
            next: 0,
            is_all_zero: zeroes == PIECE_BYTES,
        })
    }

    /// The next record; each of its blocks begins with a stamp of the number of the byte that it is
    /// written to, unless all is to be zero, so that no two are the same.
    fn next(&mut self, number: u64) -> &[u8] {
        let count = self.memory.len() / self.record;
        let start = self.next % count * self.record;
        self.next += 1;
        let record = &mut self.memory.as_mut_slice()[start..start + self.record];
        if !self.is_all_zero {
            for (block, at) in record
                .chunks_mut(BLOCK_BYTES)
                .zip((0_u32..).step_by(BLOCK_BYTES))
            {
                block[..STAMP_BYTES].copy_from_slice(&stamp(
                    Seal::of_this_run().number(),
                    at,
                    number,
                ));
            }
        }
        record
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::StorageFull
}

/// A file system that takes more than it can keep gives no capacity.
fn lost(path: &Path, error: io::Error) -> MeasureError {
    if is_full(&error) {
        return MeasureError::Failed(format!(
            "{} was taken and could not be kept. The file system, or the storage below it, \
             promises more space than it has",
            path.display()
        ));
    }
    MeasureError::io("sync", path)(error)
}
