//! Many files of our own, for the measurements that open, archive or save them.

use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::path::PathBuf;

use drivers::{Caching, WorkDirectory};
use units::Bytes;

use super::Stop;
use super::copy::cool;
use super::place::{MeasureError, Result};
use super::records::{Named, RecordPattern, Synced, write_records};

/// Bytes of the records that the files consist of.
const RECORD_BYTES: u64 = 4096;

/// Files that lie in a work directory, all of one size.
#[derive(Debug)]
pub struct MadeFiles<'a> {
    directory: &'a WorkDirectory,
    count: u64,
    size: Bytes,
    pattern: RecordPattern,
}

impl<'a> MadeFiles<'a> {
    /// Make `count` files of `size` bytes and see them to the storage.
    ///
    /// # Errors
    /// When the storage fails, or somebody stopped it.
    pub fn make(
        directory: &'a WorkDirectory,
        count: u64,
        size: Bytes,
        seed: u64,
        stop: &Stop,
    ) -> Result<Self> {
        let mut this = Self {
            directory,
            count,
            size,
            pattern: RecordPattern::new(Bytes(RECORD_BYTES), seed)?,
        };
        for number in 0..count {
            let file = directory.create_file(&this.name(number))?;
            let path = this.path(number);
            let to = Named::new(&file, &path);
            let first = first_record(number);
            write_records(to, &mut this.pattern, first, size, Synced::AtEnd, stop)?;
        }
        Ok(this)
    }

    /// Drop all of them from the page cache.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn cool(&self) -> Result<()> {
        for number in 0..self.count {
            let file = self.open(number)?;
            cool(Named::new(&file, &self.path(number)))?;
        }
        Ok(())
    }

    pub const fn count(&self) -> u64 {
        self.count
    }

    pub const fn size(&self) -> Bytes {
        self.size
    }

    /// The name of a file, from number 0.
    pub fn name(&self, number: u64) -> String {
        format!("file{number:06}")
    }

    pub fn path(&self, number: u64) -> PathBuf {
        self.directory.path().join(self.name(number))
    }

    /// Open it for reading.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open(&self, number: u64) -> Result<File> {
        open_made(self.directory, &self.name(number))
    }

    /// Whether `bytes` are what a file holds from `offset` on.
    pub fn holds(&self, number: u64, offset: u64, bytes: &[u8]) -> bool {
        self.pattern.matches(first_record(number), offset, bytes)
    }

    /// Something that takes the bytes of a file and compares them.
    pub const fn checker(&self, number: u64) -> Checker<'_> {
        Checker {
            files: self,
            number,
            at: 0,
            differs_at: None,
        }
    }
}

/// Open the file `name` of our own, at its beginning.
///
/// # Errors
/// When it was not made here, or the system refuses.
pub fn open_made(directory: &WorkDirectory, name: &str) -> Result<File> {
    let target = directory.open_target(name, Caching::Buffered)?;
    let mut file = target
        .file()
        .try_clone()
        .map_err(MeasureError::io("open", target.path()))?;
    // Its size was found out by going to its end.
    file.rewind()
        .map_err(MeasureError::io("rewind", target.path()))?;
    Ok(file)
}

/// No two files have a record in common.
const fn first_record(number: u64) -> u64 {
    number << 32
}

/// Takes what comes back of a file.
#[derive(Debug)]
pub struct Checker<'a> {
    files: &'a MadeFiles<'a>,
    number: u64,
    at: u64,
    differs_at: Option<u64>,
}

impl Checker<'_> {
    /// Whether all of the file came back as it was.
    ///
    /// # Errors
    /// When it did not.
    pub fn finish(&self) -> Result<()> {
        let name = self.files.name(self.number);
        match self.differs_at {
            Some(at) => Err(MeasureError::Failed(format!(
                "{name} came back with other bytes from {at} on than were put in. Do not trust \
                 this store"
            ))),
            None if self.at != self.files.size.0 => Err(MeasureError::Failed(format!(
                "{name} came back with {} of its {} bytes",
                self.at, self.files.size.0
            ))),
            None => Ok(()),
        }
    }
}

impl Write for Checker<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.differs_at.is_none() && !self.files.holds(self.number, self.at, bytes) {
            self.differs_at = Some(self.at);
        }
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
