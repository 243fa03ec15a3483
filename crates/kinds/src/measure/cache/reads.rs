//! Where records are read: in a file whose pages the system keeps, or on a model with a file cache
//! of its host.

use std::os::unix::fs::FileExt as _;
use std::time::Instant;

use drivers::{AccessMode, Caching, Target, WorkDirectory};
use engine::{Clock as _, Driver as _};
use sim::{SimDriver, SimSpec};
use sys::{expect_random_reads, resident_share};
use units::{Bytes, Duration};
use workload::{ClientId, Op, Request, TargetId};

use super::{Cache, KIND};
use crate::measure::Stop;
use crate::measure::copy::cool;
use crate::measure::place::{MeasureError, ReplicateContext, Result};
use crate::measure::records::{Named, RecordPattern, Synced, write_records};

/// Records, and memory of others than the program that may hold them.
pub trait RecordReads {
    /// Read a record; whether it was in memory before.
    ///
    /// # Errors
    /// When the storage fails.
    fn read(&mut self, number: u64, record: &mut [u8]) -> Result<bool>;

    /// Refuse what is not that record, if records have a content.
    ///
    /// # Errors
    /// When it is not.
    fn refuse_other(&self, number: u64, record: &[u8]) -> Result<()>;

    /// What the clock of this storage says.
    fn elapsed(&self) -> Duration;

    /// Leave nothing behind.
    ///
    /// # Errors
    /// When the system refuses.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A file of our own, or what the user named.
pub struct FileReads {
    target: Target,
    /// What a file of our own lies in, and what was written to it.
    made: Option<(WorkDirectory, RecordPattern)>,
    record: Bytes,
    opened: Instant,
}

impl FileReads {
    /// Make the file, of which nothing is in memory.
    ///
    /// # Errors
    /// When the storage fails, records do not fit it, or somebody stopped it.
    pub fn make(cache: &Cache, place: &ReplicateContext, stop: &Stop) -> Result<Self> {
        let directory = place.work_directory(KIND.name, cache.working_set.0)?;
        let file = directory.create_file("set")?;
        let path = directory.path().join("set");
        let named = Named::new(&file, &path);
        let mut pattern = RecordPattern::new(cache.record, place.seed)?;
        let synced = Synced::AtEnd;
        write_records(named, &mut pattern, 0, cache.working_set, synced, stop)?;
        let target = directory.open_target("set", cache.caching)?;
        Self::cold(cache, target, Some((directory, pattern)))
    }

    /// What the user named, of which nothing is in memory.
    ///
    /// # Errors
    /// When it is too small, records do not fit it, or the system refuses.
    pub fn named(cache: &Cache, place: &ReplicateContext) -> Result<Self> {
        let how = (AccessMode::ReadOnly, cache.caching);
        let target = place.open_named(KIND.name, how, cache.working_set)?;
        Self::cold(cache, target, None)
    }

    fn cold(
        cache: &Cache,
        target: Target,
        made: Option<(WorkDirectory, RecordPattern)>,
    ) -> Result<Self> {
        let (file, path) = (target.file(), target.path());
        cool(Named::new(file, path))?;
        let unit = Bytes(u64::from(target.alignment().offset));
        if !cache.record.is_multiple_of(unit) {
            return Err(MeasureError::Usage(format!(
                "record = {}: with direct = true, {} asks for multiples of {unit}",
                cache.record,
                path.display()
            )));
        }
        // What nobody asked for must not come into memory.
        expect_random_reads(file).map_err(MeasureError::io("advise", path))?;
        Ok(Self {
            target,
            made,
            record: cache.record,
            opened: Instant::now(),
        })
    }
}

impl RecordReads for FileReads {
    /// The page cache is looked into before. A read that must not wait (`RWF_NOWAIT`) would not
    /// tell: it starts the device, and finds what a fast one has brought.
    fn read(&mut self, number: u64, record: &mut [u8]) -> Result<bool> {
        let (file, path) = (self.target.file(), self.target.path());
        let at = number * self.record.0;
        let share = match self.target.caching() {
            Caching::Buffered => resident_share(file, at, record.len() as u64)
                .map_err(MeasureError::io("look into the page cache for", path))?,
            Caching::Direct => 0.0,
        };
        let read = file.read_exact_at(record, at);
        read.map_err(MeasureError::io("read", path))?;
        Ok(share >= 1.0)
    }

    fn refuse_other(&self, number: u64, record: &[u8]) -> Result<()> {
        let path = self.target.path();
        let made = self.made.as_ref();
        made.map_or(Ok(()), |(_, pattern)| {
            pattern.refuse_other(path, number, record)
        })
    }

    fn elapsed(&self) -> Duration {
        self.opened.elapsed().into()
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let this = *self;
        drop(this.target);
        match this.made {
            Some((directory, _)) => Ok(directory.remove()?),
            None => Ok(()),
        }
    }
}

/// A model in virtual time, whose records have no content.
pub struct ModelReads {
    driver: SimDriver,
    name: String,
}

impl ModelReads {
    /// The model at rest, if the records fit on it.
    ///
    /// # Errors
    /// When they do not.
    pub fn new(cache: &Cache, spec: &SimSpec, place: &ReplicateContext) -> Result<Self> {
        if cache.working_set > spec.size {
            return Err(MeasureError::Usage(format!(
                "{} holds {}, and working-set = {}: set a smaller one",
                place.target, spec.size, cache.working_set
            )));
        }
        Ok(Self {
            driver: spec.driver(place.seed, 1, units::Instant::START),
            name: place.target.to_string(),
        })
    }

    /// Reads that the host's file cache has answered.
    fn answered(&self) -> u64 {
        self.driver.cache_reads().unwrap_or_default().answered
    }

    fn perform(&mut self, offset: u64, len: u32) -> Result<(), String> {
        let target = TargetId(0);
        let op = Op::Read {
            target,
            offset,
            len,
        };
        let mut done = Vec::new();
        let request = Request::new(ClientId(0), self.driver.now(), op);
        let submitted = self.driver.submit(request);
        submitted.map_err(|error| error.to_string())?;
        while done.is_empty() {
            let waited = self.driver.wait(None, &mut done);
            waited.map_err(|error| error.to_string())?;
        }
        match done[0].result {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("a read failed with error number {}", error.0)),
        }
    }
}

impl RecordReads for ModelReads {
    fn read(&mut self, number: u64, record: &mut [u8]) -> Result<bool> {
        let before = self.answered();
        let len = record.len() as u32;
        let done = self.perform(number * u64::from(len), len);
        done.map_err(|why| MeasureError::Failed(format!("{}: {why}", self.name)))?;
        Ok(self.answered() > before)
    }

    fn refuse_other(&self, _: u64, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.driver.now().since(units::Instant::START)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
