//! A backup of files to a file: the stream is written, read and restored by the format's own code,
//! in one thread.

use std::fs::File;
use std::path::{Path, PathBuf};

use drivers::WorkDirectory;
use results::Reading;
use results::metric::{REPAIRED, RESTORE_CPU, RESTORE_RATE};
use units::Duration;

use super::passes::{Passes, Saved};
use super::source::{BackupItem, find_items};
use super::{Backup, KIND, stream};
use crate::measure::Stop;
use crate::measure::copy::cool;
use crate::measure::made::MadeFiles;
use crate::measure::place::{MeasureError, ReplicateContext, Result};
use crate::measure::records::{Flow, Named};
use backup_stream::StreamLayout;

/// The name of the stream in its work directory.
const STREAM: &str = "stream";

/// What is saved, and the file that it goes to.
pub struct FilePasses {
    items: Vec<BackupItem>,
    layout: StreamLayout,
    file: File,
    path: PathBuf,
    directory: WorkDirectory,
    /// Files that were made to be saved.
    made: Option<WorkDirectory>,
    /// Whether all is dropped from the page cache before each pass.
    is_cold: bool,
    /// Where it is restored to.
    place: ReplicateContext,
}

impl FilePasses {
    /// Find what is to be saved, or make it, and a stream that is empty.
    ///
    /// # Errors
    /// When there is nothing to save, the storage fails, or somebody stopped it.
    pub fn open(backup: &Backup, place: &ReplicateContext, stop: &Stop) -> Result<Self> {
        let (items, made) = match &backup.source {
            Some(source) => (found(Path::new(source), stop)?, None),
            None => {
                let (items, directory) = make(backup, place, stop)?;
                (items, Some(directory))
            }
        };
        let layout = backup.layout(place.seed);
        let wanted = stream::expected_bytes(&items, &layout);
        let directory = backup
            .stream_place(place)
            .work_directory(KIND.name, wanted)?;
        Ok(Self {
            items,
            layout,
            file: directory.create_copy(STREAM)?,
            path: directory.path().join(STREAM),
            directory,
            made,
            is_cold: backup.cold,
            place: place.clone(),
        })
    }

    fn stream(&self) -> Named<'_> {
        Named::new(&self.file, &self.path)
    }

    fn cool(&self) -> Result<()> {
        if !self.is_cold {
            return Ok(());
        }
        for item in self.items.iter().filter(|item| item.has_bytes()) {
            let file = item.open()?;
            cool(Named::new(&file, &item.path))?;
        }
        cool(self.stream())
    }
}

impl Passes for FilePasses {
    fn bytes(&self) -> u64 {
        self.items.iter().map(|item| item.entry.size).sum()
    }

    fn save(&mut self, stop: &Stop) -> Result<Flow> {
        self.cool()?;
        stream::save(&self.items, &self.layout, self.stream(), stop)
    }

    fn verify(&mut self, stop: &Stop) -> Result<Flow> {
        self.cool()?;
        stream::verify(&self.items, self.stream(), stop)
    }

    fn restore(&mut self, stop: &Stop) -> Result<Vec<Reading>> {
        self.cool()?;
        let target = self.place.work_directory(KIND.name, self.bytes())?;
        let restored = stream::restore(self.stream(), &target, stop)?;
        restored.compare(&self.items, stop)?;
        target.remove()?;
        let repaired = REPAIRED.reading(restored.repaired as f64);
        let flow = restored.flow.readings([RESTORE_RATE, RESTORE_CPU]);
        Ok(flow.chain([repaired]).collect())
    }

    fn processor_time(&self) -> Option<Duration> {
        None
    }

    fn finish(self: Box<Self>) -> Result<Saved> {
        let this = *self;
        let found = this.file.metadata();
        let stream_bytes = found
            .map_err(MeasureError::io("look at", &this.path))?
            .len();
        drop(this.file);
        this.directory.remove()?;
        if let Some(made) = this.made {
            made.remove()?;
        }
        Ok(Saved {
            stream_bytes,
            others: Vec::new(),
        })
    }
}

fn make(
    backup: &Backup,
    place: &ReplicateContext,
    stop: &Stop,
) -> Result<(Vec<BackupItem>, WorkDirectory)> {
    let wanted = backup.files.saturating_mul(backup.size.0);
    let directory = place.work_directory(KIND.name, wanted)?;
    let made = MadeFiles::make(&directory, backup.files, backup.size, place.seed, stop)?;
    let item = |number| BackupItem::made(made.name(number), made.path(number), made.size().0);
    let items = (0..made.count()).map(item).collect();
    Ok((items, directory))
}

fn found(source: &Path, stop: &Stop) -> Result<Vec<BackupItem>> {
    let items = find_items(source, stop)?;
    if items.iter().any(|item| item.entry.size > 0) {
        return Ok(items);
    }
    Err(MeasureError::Usage(format!(
        "{}: nothing to save, so no rate. Name a directory with \
         files in it, or a file that is not empty",
        source.display()
    )))
}
