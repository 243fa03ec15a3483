//! `backup`: a tree, or an image, saved to one stream, verified, and restored.
//!
//! The stream's format is `classic::backup`'s. Restored files lie flat in a work directory and are
//! compared with what was saved, outside of the time.

mod source;
mod stream;

use std::path::PathBuf;

use classic::backup::{BLOCK_BYTES_MAX, BLOCK_BYTES_MIN, GROUP_MAX, Layout};
use results::{Better, Reading, Unit};
use units::Bytes;

pub use source::{Item, find_items};
pub use stream::{Restored, restore, save, verify};

use super::Stop;
use super::copy::cool;
use super::kind::{Kind, Setting};
use super::made::MadeFiles;
use super::place::{MeasureError, Place};
use super::records::Named;
use super::settings::{SettingFault, Settings};

/// The kind.
pub const KIND: Kind = Kind {
    name: "backup",
    about: "a tree or an image saved to one stream, verified and restored",
    settings: &[
        Setting::optional(
            "source",
            "PATH",
            "a directory, or an image (a file or block device), that is saved; it is only read. \
             When not given, files are made",
        ),
        Setting::or("files", "NUMBER", "100", "files that are made"),
        Setting::or("size", "SIZE", "64KiB", "bytes of each"),
        Setting::optional(
            "to",
            "PATH",
            "the directory that gets the stream; the target of the study when not given",
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
            "whether it is restored afterwards",
        ),
        Setting::or(
            "cold",
            "true or false",
            "true",
            "whether source and stream are dropped from the page cache before each pass",
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
        ("repaired", "blocks that redundancy made up for"),
        ("stream size", "bytes of the stream"),
        (
            "overhead",
            "what the stream has beyond the source, as a share of the source",
        ),
    ],
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
}

impl Backup {
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let made = ["files", "size"]
            .into_iter()
            .find(|name| settings.is_given(name));
        if let Some(name) = made.filter(|_| settings.is_given("source")) {
            let why = format!("{name} is about files that are made: leave it out beside source");
            return Err(SettingFault::at(name, why));
        }
        let blocks = Bytes(u64::from(BLOCK_BYTES_MIN))..=Bytes(u64::from(BLOCK_BYTES_MAX));
        let group = settings.count("group", 0..=u64::from(GROUP_MAX))?;
        Ok(Self {
            source: settings.text("source")?.map(PathBuf::from),
            files: settings.count("files", 1..=FILES_MAX)?.unwrap_or(1),
            size: settings
                .size("size", Bytes(1)..=SIZE_MAX)?
                .unwrap_or_default(),
            to: settings.text("to")?,
            block: settings.size("block", blocks)?.unwrap_or_default(),
            is_checked: settings.flag("crc")?,
            group: group.unwrap_or(0) as u16,
            verify: settings.flag("verify")?,
            restore: settings.flag("restore")?,
            cold: settings.flag("cold")?,
        })
    }

    pub(super) fn check(&self, place: &Place) -> Result<(), MeasureError> {
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

    pub(super) fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
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
        let file = directory.create_file(STREAM)?;
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
        let mut readings = save(items, &layout, stream, stop)?
            .readings("save")
            .to_vec();
        if self.verify {
            cool_all()?;
            readings.extend(verify(items, stream, stop)?.readings("verify"));
        }
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
