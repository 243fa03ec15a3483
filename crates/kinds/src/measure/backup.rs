//! `backup`: a tree, or an image, saved to one stream, verified, and restored.
//!
//! The stream's format is in `format`. Restored files lie flat in a work directory. They are
//! compared with what was saved, outside of the time. Between models it is a backup in virtual
//! time, by [`super::backup_simulated`].

pub mod format;
mod source;
mod stream;

use std::path::PathBuf;

use crate::measure::backup::format::{BLOCK_BYTES_MAX, BLOCK_BYTES_MIN, GROUP_MAX, Layout};
use results::{Better, Reading, Unit};
use units::Bytes;

pub use source::{Item, find_items};
pub use stream::{Restored, restore, save, verify};

use super::Stop;
use super::backup_simulated::{ModelBackup, ModelSave, PROCESSOR_BUSY, for_models};
use super::copy::cool;
use super::kind::{Kind, Measuring, Setting, made};
use super::made::MadeFiles;
use super::place::{MeasureError, Place};
use super::records::Named;
use super::settings::{SettingFault, Settings};
use super::simulated::{TAPE_STOPS, is_model, rate, refuse_for_files, refuse_for_models};

/// The kind.
pub const KIND: Kind = Kind {
    name: "backup",
    about: "a tree or an image saved to one stream, verified and restored",
    settings: &[
        Setting::optional(
            "source",
            "PATH or sim:NAME",
            "a directory, or an image (a file or block device), that is saved; it is only read. \
             When not given, files are made. Where the stream goes to a model, the model that the \
             files are on",
        ),
        Setting::or(
            "files",
            "NUMBER",
            "100",
            "files that are made, or are on a model",
        ),
        Setting::or("size", "SIZE", "64KiB", "bytes of each"),
        Setting::optional(
            "to",
            "PATH or sim:NAME",
            "the directory, or model, that gets the stream; the target of the study when not given",
        ),
        Setting::or("block", "SIZE", "32KiB", "bytes of a block of the stream"),
        Setting::or(
            "crc",
            "true or false",
            "true",
            "whether each block carries a CRC",
        ),
        Setting::or(
            "group",
            "NUMBER",
            "10",
            "blocks that one block of redundancy follows; 0 for none",
        ),
        Setting::or(
            "verify",
            "true or false",
            "true",
            "whether the stream is read, checked, and compared with the source afterwards",
        ),
        Setting::or(
            "restore",
            "true or false",
            "true",
            "whether it is restored afterwards; between models it is not",
        ),
        Setting::or(
            "cold",
            "true or false",
            "true",
            "whether source and stream are dropped from the page cache before each pass",
        ),
        Setting::optional(
            "buffers",
            "NUMBER",
            "between models: blocks that are read before they are written; 2 when not given",
        ),
        Setting::optional(
            "processor",
            "TIME",
            "between models: processor time for a MiB, saved or verified; none when not given",
        ),
        Setting::optional(
            "crc-processor",
            "TIME",
            "between models: processor time for a MiB that crc = true adds; none when not given",
        ),
        Setting::optional(
            "reads-per-file",
            "NUMBER",
            "between models: reads at random places before each file; none when not given",
        ),
    ],
    readings: &[
        (
            "save rate",
            "bytes of the source saved per second, until the stream is synced",
        ),
        ("save CPU", "processor time for a MiB saved"),
        ("verify rate", "bytes of the source verified per second"),
        ("verify CPU", "processor time for a MiB verified"),
        (
            "restore rate",
            "bytes restored per second, until the files are synced",
        ),
        ("restore CPU", "processor time for a MiB restored"),
        (
            "backup rate",
            "bytes of the source per second of saving and, if that is asked for, verifying",
        ),
        PROCESSOR_BUSY,
        ("repaired", "blocks that redundancy made up for"),
        ("stream size", "bytes of the stream"),
        (
            "overhead",
            "what the stream has beyond the source, as a share of the source",
        ),
        TAPE_STOPS,
    ],
    in_place: None,
    is_command: true,
    make: |settings| made(Backup::from_settings(settings)),
};

const FILES_MAX: u64 = 1_000_000;
const SIZE_MAX: Bytes = Bytes::from_gib(1 << 10);
/// The name of the stream in its work directory.
const STREAM: &str = "stream";

/// A tree or an image that is saved and restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    source: Option<PathBuf>,
    files: u64,
    size: Bytes,
    to: Option<String>,
    block: Bytes,
    is_checked: bool,
    group: u16,
    verify: bool,
    restore: bool,
    cold: bool,
    /// Between models.
    model: ModelBackup,
    /// A setting that was given and says nothing on real storage.
    for_models: Option<&'static str>,
    /// A setting that was given and says nothing on a model.
    for_files: Option<&'static str>,
}

impl Backup {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let made = ["files", "size"]
            .into_iter()
            .find(|name| settings.is_given(name));
        let source = settings.text("source")?;
        let is_path = source.as_deref().is_some_and(|source| !is_model(source));
        if let Some(name) = made.filter(|_| is_path) {
            let why = format!("{name} applies to files that are made: leave it out with source");
            return Err(SettingFault::at(name, why));
        }
        let blocks = Bytes(u64::from(BLOCK_BYTES_MIN))..=Bytes(u64::from(BLOCK_BYTES_MAX));
        let group = settings.count("group", 0..=u64::from(GROUP_MAX))?;
        let restore = settings.flag("restore")?;
        let asks_restore = restore && settings.is_given("restore");
        let for_files = asks_restore.then_some("restore");
        Ok(Self {
            source: source.map(PathBuf::from),
            files: settings.count("files", 1..=FILES_MAX)?.unwrap_or(1),
            size: settings
                .size("size", Bytes(1)..=SIZE_MAX)?
                .unwrap_or_default(),
            to: settings.text("to")?,
            block: settings.size("block", blocks)?.unwrap_or_default(),
            is_checked: settings.flag("crc")?,
            group: group.unwrap_or(0) as u16,
            verify: settings.flag("verify")?,
            restore,
            cold: settings.flag("cold")?,
            model: ModelBackup::from_settings(settings)?,
            for_models: for_models(settings),
            for_files: for_files.or(settings.is_given("cold").then_some("cold")),
        })
    }

    fn source_model(&self, to: &str) -> Result<String, MeasureError> {
        let source = self.source.as_ref().map(|path| path.display().to_string());
        source.filter(|source| is_model(source)).ok_or_else(|| {
            MeasureError::Usage(format!(
                "{to}: what a model gets is saved from a model: name it, as in source = \
                 \"sim:st15150n\""
            ))
        })
    }

    fn on_models<'a>(&self, places: [&'a str; 2], seed: u64) -> ModelSave<'a> {
        ModelSave {
            model: self.model,
            places,
            files: (self.files, self.size),
            layout: self.layout(seed),
            verify: self.verify,
            seed,
        }
    }

    fn stream_place(&self, place: &Place) -> Place {
        Place {
            target: self.to.clone().unwrap_or_else(|| place.target.clone()),
            ..place.clone()
        }
    }

    fn layout(&self, seed: u64) -> Layout {
        Layout {
            block: self.block.0 as u32,
            group: self.group,
            is_checked: self.is_checked,
            id: seed,
        }
    }

    fn all_passes(
        &self,
        items: &[Item],
        place: &Place,
        stop: &Stop,
    ) -> Result<Vec<Reading>, MeasureError> {
        let layout = self.layout(place.seed);
        let bytes = items.iter().map(|item| item.entry.size).sum();
        let wanted = stream::expected_bytes(items, &layout);
        let directory = self.stream_place(place).work_directory(KIND.name, wanted)?;
        let file = directory.create_copy(STREAM)?;
        let path = directory.path().join(STREAM);
        let stream = Named {
            file: &file,
            path: &path,
        };
        let cool_all = || {
            if self.cold {
                self.cool(items, stream)
            } else {
                Ok(())
            }
        };
        cool_all()?;
        let saved = save(items, &layout, stream, stop)?;
        let mut readings = saved.readings("save").to_vec();
        let mut elapsed = saved.elapsed;
        if self.verify {
            cool_all()?;
            let verified = verify(items, stream, stop)?;
            readings.extend(verified.readings("verify"));
            elapsed += verified.elapsed;
        }
        readings.push(rate("backup rate", bytes, elapsed.as_secs_f64()));
        if self.restore {
            cool_all()?;
            let target = place.work_directory(KIND.name, bytes)?;
            let restored = restore(stream, &target, stop)?;
            restored.compare(items, stop)?;
            target.remove()?;
            readings.extend(restored.flow.readings("restore"));
            let repaired = restored.repaired as f64;
            readings.push(Reading::new(
                "repaired",
                Unit::Count,
                repaired,
                Better::Lower,
            ));
        }
        let len = file
            .metadata()
            .map_err(MeasureError::io("look at", &path))?
            .len();
        let overhead = len as f64 / (bytes as f64).max(1.0) - 1.0;
        readings.extend([
            Reading::new("stream size", Unit::Bytes, len as f64, Better::Lower),
            Reading::new("overhead", Unit::Share, overhead, Better::Lower),
        ]);
        drop(file);
        directory.remove()?;
        Ok(readings)
    }

    fn cool(&self, items: &[Item], stream: Named<'_>) -> Result<(), MeasureError> {
        for item in items.iter().filter(|item| item.has_bytes()) {
            let file = item.open()?;
            cool(Named {
                file: &file,
                path: &item.path,
            })?;
        }
        cool(stream)
    }
}

impl Measuring for Backup {
    fn check(&self, place: &Place) -> Result<(), MeasureError> {
        let to = self.stream_place(place).target;
        if is_model(&to) {
            refuse_for_files(self.for_files, &to)?;
            let source = self.source_model(&to)?;
            return self.on_models([&source, &to], place.seed).check();
        }
        refuse_for_models(self.for_models, &to)?;
        if let Some(source) = self
            .source
            .as_ref()
            .filter(|it| is_model(&it.to_string_lossy()))
        {
            return Err(MeasureError::Usage(format!(
                "source = {:?}: a model is saved to a model: name one as the target, too",
                source.display().to_string()
            )));
        }
        place.directory(KIND.name)?;
        self.stream_place(place).directory(KIND.name)?;
        match &self.source {
            Some(path) => path
                .metadata()
                .map(drop)
                .map_err(MeasureError::io("look at", path)),
            None => Ok(()),
        }
    }

    fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        self.check(place)?;
        let to = self.stream_place(place).target;
        if is_model(&to) {
            let source = self.source_model(&to)?;
            return self.on_models([&source, &to], place.seed).measure(stop);
        }
        let Some(source) = &self.source else {
            let wanted = self.files.saturating_mul(self.size.0);
            let directory = place.work_directory(KIND.name, wanted)?;
            let made = MadeFiles::make(&directory, self.files, self.size, place.seed, stop)?;
            let items = (0..made.count())
                .map(|number| Item::made(made.name(number), made.path(number), made.size().0));
            let readings = self.all_passes(&items.collect::<Vec<_>>(), place, stop)?;
            directory.remove()?;
            return Ok(readings);
        };
        let items = find_items(source, stop)?;
        if items.iter().all(|item| item.entry.size == 0) {
            return Err(MeasureError::Usage(format!(
                "{}: there is not one byte to be saved, and so no rate: name a directory with \
                 files in it, or a file that is not empty",
                source.display()
            )));
        }
        self.all_passes(&items, place, stop)
    }
}
