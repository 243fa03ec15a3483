//! `backup`: a tree, or an image, saved to one stream, verified, and restored.
//!
//! The stream's format is in `backup_stream`. Restored files lie flat in a work directory. They are
//! compared with what was saved, outside of the time.

mod files;
mod models;
mod passes;
mod source;
mod stream;

use std::path::Path;

use results::Reading;
use results::metric::{
    BACKUP_RATE, OVERHEAD, PROCESSOR_BUSY, REPAIRED, RESTORE_CPU, RESTORE_RATE, SAVE_CPU,
    SAVE_RATE, STREAM_SIZE, TAPE_STOPS, VERIFY_CPU, VERIFY_RATE,
};
use units::{Bytes, TargetName};

use super::Stop;
use super::applies::{Applies, NO_CONTENT, NO_CONTENT_WHY};
use super::form::{ANY_TIME, ValueForm};
use super::kind::{Kind, Measuring, flag, made, settings};
use super::place::{MeasureError, ReplicateContext, Result};
use super::records::Flow;
use super::settings::{SettingFault, Settings};
use super::targets::{TargetUse, Targets};
use backup_stream::{BLOCK_BYTES_MAX, BLOCK_BYTES_MIN, GROUP_MAX, StreamLayout};
use files::FilePasses;
use models::{ModelPasses, ModelSource, ModelWork};
use passes::Passes;
pub use source::{BackupItem, find_items};
pub use stream::{Restored, restore, save, verify};

pub const KIND: Kind = Kind {
    name: "backup",
    about: "a tree or an image saved to one stream, verified and restored",
    settings: settings! {
        /// a directory, or an image (a file or block device), that is saved. It is only read. When
        /// not given, files are made. Where the stream goes to a model, the model that the files
        /// are on
        source = ValueForm::Path("PATH or sim:NAME").optional(),
        /// files that are made, or are on a model
        files = ValueForm::Count(1, 1_000_000).or("100"),
        /// bytes of each
        size = SIZE.or("64KiB"),
        /// the directory, or model, that gets the stream (default: the target)
        to = ValueForm::Path("PATH or sim:NAME").optional(),
        /// bytes of a block of the stream
        block = BLOCK.or("32KiB"),
        /// whether each block carries a CRC
        crc = flag(true),
        /// blocks that one block of redundancy follows. 0 for none
        group = ValueForm::Count(0, GROUP_MAX as u64).or("10"),
        /// whether the stream is read, checked, and compared with the source afterwards
        verify = flag(true),
        /// whether it is restored afterwards. Between models it is not
        restore = flag(true).applying(NO_RESTORE),
        /// whether source and stream are dropped from the page cache before each pass
        cold = flag(true).applying(NO_CONTENT),
        /// between models: blocks that are read before they are written. 2 when not given
        buffers = ValueForm::Count(1, 1 << 20).optional().applying(Applies::ToModels),
        /// between models, processor time for a MiB, saved or verified (default: none)
        processor = ANY_TIME.optional().applying(Applies::ToModels),
        /// between models, processor time for a MiB that crc = true adds (default: none)
        crc_processor = ANY_TIME.optional().applying(Applies::ToModels),
        /// between models, reads at random places before each file (default: none)
        reads_per_file = ValueForm::Count(0, 1000).optional().applying(Applies::ToModels),
    },
    readings: &[
        SAVE_RATE,
        SAVE_CPU,
        VERIFY_RATE,
        VERIFY_CPU,
        RESTORE_RATE,
        RESTORE_CPU,
        BACKUP_RATE,
        PROCESSOR_BUSY,
        REPAIRED,
        STREAM_SIZE,
        OVERHEAD,
        TAPE_STOPS,
    ],
    targets: Targets::and(TargetUse::Refused(
        "writes its stream to a file of its own in a directory",
    )),
    in_place: None,
    is_command: true,
    make: |settings| made(Backup::from_settings(settings)),
};

const NO_RESTORE: Applies = Applies::ToFilesWhenOn(NO_CONTENT_WHY);
const SIZE: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_gib(1 << 10));
const BLOCK: ValueForm =
    ValueForm::Size(Bytes(BLOCK_BYTES_MIN as u64), Bytes(BLOCK_BYTES_MAX as u64));

/// A tree or an image that is saved and restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    source: Option<TargetName>,
    files: u64,
    size: Bytes,
    to: Option<TargetName>,
    block: Bytes,
    is_checked: bool,
    group: u16,
    verify: bool,
    restore: bool,
    cold: bool,
    work: ModelWork,
}

impl Backup {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let made = ["files", "size"]
            .into_iter()
            .find(|name| settings.is_given(name));
        let source: Option<TargetName> = settings.optional("source");
        let is_path = source.as_ref().is_some_and(|it| !it.is_model());
        if let Some(name) = made.filter(|_| is_path) {
            let why = format!("{name} applies to files that are made. Leave it out with source");
            return Err(SettingFault::at(name, why));
        }
        Ok(Self {
            source,
            files: settings.value("files"),
            size: settings.value("size"),
            to: settings.optional("to"),
            block: settings.value("block"),
            is_checked: settings.value("crc"),
            group: settings.value::<u64>("group") as u16,
            verify: settings.value("verify"),
            restore: settings.value("restore"),
            cold: settings.value("cold"),
            work: work(settings),
        })
    }

    fn stream_place(&self, place: &ReplicateContext) -> ReplicateContext {
        ReplicateContext {
            target: self.to.clone().unwrap_or_else(|| place.target.clone()),
            ..place.clone()
        }
    }

    fn layout(&self, seed: u64) -> StreamLayout {
        StreamLayout {
            block: self.block.0 as u32,
            group: self.group,
            is_checked: self.is_checked,
            id: seed,
        }
    }

    /// The models of a backup to this one, if all fits on them.
    fn models(&self, to: &str, seed: u64) -> Result<ModelPasses> {
        let Some(source) = self.source.as_ref().and_then(TargetName::model) else {
            return Err(MeasureError::Usage(format!(
                "{to}: what a model gets is saved from a model. Name it, as in source = \
                 \"sim:st15150n\""
            )));
        };
        let of = ModelSource {
            work: self.work,
            files: (self.files, self.size),
            layout: self.layout(seed),
            seed,
        };
        ModelPasses::open(of, source, to)
    }

    fn check_files(&self, place: &ReplicateContext) -> Result<()> {
        let source = self.source.as_ref();
        if let Some(name) = source.and_then(TargetName::model) {
            return Err(MeasureError::Usage(format!(
                "source = {name:?}: a model is saved to a model. Name one as the target, too"
            )));
        }
        place.directory(KIND.name)?;
        self.stream_place(place).directory(KIND.name)?;
        let Some(source) = source else { return Ok(()) };
        let path = Path::new(source);
        let found = path.metadata();
        found.map(drop).map_err(MeasureError::io("look at", path))
    }

    fn passes(&self, place: &ReplicateContext, stop: &Stop) -> Result<Box<dyn Passes>> {
        Ok(match self.target(place).model() {
            Some(to) => Box::new(self.models(to, place.seed)?),
            None => {
                self.check_files(place)?;
                Box::new(FilePasses::open(self, place, stop)?)
            }
        })
    }
}

fn work(settings: &Settings<'_>) -> ModelWork {
    ModelWork {
        buffers: settings.optional("buffers").unwrap_or(2),
        processor: settings.optional("processor").unwrap_or_default(),
        crc_processor: settings.optional("crc-processor").unwrap_or_default(),
        reads_per_file: settings.optional("reads-per-file").unwrap_or(0),
    }
}

impl Measuring for Backup {
    fn target(&self, place: &ReplicateContext) -> TargetName {
        self.stream_place(place).target
    }

    fn check(&self, place: &ReplicateContext) -> Result<()> {
        match self.target(place).model() {
            Some(to) => self.models(to, place.seed).map(drop),
            None => self.check_files(place),
        }
    }

    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let mut passes = self.passes(place, stop)?;
        let saved = passes.save(stop)?;
        let mut elapsed = saved.elapsed;
        let mut readings: Vec<Reading> = saved.readings([SAVE_RATE, SAVE_CPU]).collect();
        if self.verify {
            let verified = passes.verify(stop)?;
            readings.extend(verified.readings([VERIFY_RATE, VERIFY_CPU]));
            elapsed += verified.elapsed;
        }
        let bytes = passes.bytes();
        let backup = Flow {
            bytes,
            elapsed,
            cpu: None,
        };
        readings.push(BACKUP_RATE.reading(backup.rate()));
        readings.extend(passes.processor_time().map(|work| {
            let busy = work.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
            PROCESSOR_BUSY.reading(busy)
        }));
        if self.restore {
            readings.extend(passes.restore(stop)?);
        }
        let saved = passes.finish()?;
        let stream_bytes = saved.stream_bytes as f64;
        let overhead = stream_bytes / (bytes as f64).max(1.0) - 1.0;
        readings.extend([
            STREAM_SIZE.reading(stream_bytes),
            OVERHEAD.reading(overhead),
        ]);
        readings.extend(saved.others);
        Ok(readings)
    }
}
