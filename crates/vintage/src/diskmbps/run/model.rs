//! Passes over a model, in virtual time. One machine serves all of them: caches stay warm and the
//! arm stays where a pass left it.

use crate::diskmbps::{BLOCK_BYTES, DiskmbpsWork, Finished, PassKind};
use engine::Driver;
use units::{Bytes, Duration, Instant, TargetName};
use workload::{ClientId, Request};

use crate::run::shared::ProgramSlot;
use crate::run::{ClassicError, part_of_file};
use lab::laboratory::error_name;
use lab::simulated::open_model;

/// Seed of a model's device; the program itself draws nothing.
const SEED: u64 = 0;

/// A model for sequential passes.
pub(super) struct SequentialModel {
    driver: Box<dyn Driver>,
    pub(super) name: String,
    /// Bytes of each pass.
    pub(super) bytes: u64,
}

/// The model to measure, if it is one.
pub(super) fn named(work: &DiskmbpsWork) -> Option<&str> {
    let name = match work {
        DiskmbpsWork::Write { directory, .. } => directory.as_deref()?,
        DiskmbpsWork::Read { file } => file,
    };
    TargetName::from(name).is_model().then_some(name)
}

impl SequentialModel {
    pub(super) fn open(name: &str, work: &DiskmbpsWork) -> Result<Self, ClassicError> {
        let spec = open_model(name)?;
        let bytes = match work {
            DiskmbpsWork::Write { megabytes, .. } => *megabytes << 20,
            DiskmbpsWork::Read { .. } => spec.size.0,
        };
        if bytes > spec.size.0 {
            return Err(ClassicError::Usage(format!(
                "{} has {}, and {} do not fit it. Ask for fewer megabytes",
                spec.text,
                spec.size,
                Bytes(bytes)
            )));
        }
        if matches!(work, DiskmbpsWork::Write { .. }) && spec.is_read_only() {
            return Err(ClassicError::Usage(format!(
                "{} cannot be written: say 0 megabytes to read it",
                spec.text
            )));
        }
        Ok(Self {
            driver: Box::new(spec.driver(SEED, 1, Instant::START)),
            name: spec.text,
            bytes,
        })
    }

    /// A file of a machine shared with other programs: an existing one, or one that a job writes
    /// after them.
    pub(super) fn in_slot(
        slot: &ProgramSlot,
        work: &DiskmbpsWork,
        job: &str,
    ) -> Result<Self, ClassicError> {
        let name = match work {
            DiskmbpsWork::Read { file } => file.clone(),
            DiskmbpsWork::Write {
                megabytes,
                directory,
            } => {
                let name = match directory {
                    Some(directory) => format!("{directory}{job}.TMP"),
                    None => format!("{job}.TMP"),
                };
                slot.machine().write_file(&name, *megabytes << 20)?;
                name
            }
        };
        let file = slot.open(&name)?;
        Ok(Self {
            bytes: file.bytes(),
            driver: Box::new(file),
            name,
        })
    }

    /// Virtual time since it was opened.
    pub(super) fn elapsed(&self) -> Duration {
        self.driver.now().since(Instant::START)
    }

    /// One pass from the first byte to the last.
    pub(super) fn pass(
        &mut self,
        kind: PassKind,
        go_on: &dyn Fn() -> Result<(), ClassicError>,
    ) -> Result<Finished, ClassicError> {
        let begun = self.driver.now();
        let mut done = Vec::with_capacity(1);
        let mut at = 0;
        while at < self.bytes {
            go_on()?;
            let len = (self.bytes - at).min(BLOCK_BYTES as u64) as u32;
            let op = part_of_file(kind == PassKind::Write, at, len);
            let request = Request::new(ClientId(0), self.driver.now(), op);
            self.driver.submit(request)?;
            done.clear();
            self.driver.wait(None, &mut done)?;
            if let Some(Err(errno)) = done.first().map(|completion| completion.result) {
                return Err(ClassicError::Operation(format!(
                    "{}: the {} of {len} bytes at offset {at} failed: {}",
                    self.name,
                    op.kind(),
                    error_name(errno)
                )));
            }
            at += u64::from(len);
        }
        Ok(Finished {
            kind,
            bytes: self.bytes,
            seconds: self.driver.now().since(begun).as_secs_f64(),
        })
    }
}
