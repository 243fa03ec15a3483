//! A copy between files: one thread reads a record and writes it. The copy is read again and
//! compared, outside of the time.

use std::fs::File;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};

use drivers::{AccessMode, Caching, Target, TargetOptions, WorkDirectory};
use host::counters::{Counters, CountersDelta};
use results::metric::{COPY_DEVICE_READS, COPY_DEVICE_WRITES, EXTENTS};
use results::{Reading, Warning};
use sys::{count_extents, drop_cached};
use units::{Bytes, TargetName};

use super::{Copy, KIND};
use crate::measure::Stop;
use crate::measure::place::{MeasureError, ReplicateContext, Result, go_on};
use crate::measure::records::{
    Gauge, Named, RecordPattern, Spent, Synced, Who, buffer, make_room, sync, write_records,
};
use crate::measure::steps::{Carried, Carrier, IoAction, Passage};
use crate::measure::targets::unseen_uses;

/// How often the page cache is told to forget a file, some pages of which are just in use ...
const COOL_TRIES: u32 = 100;
/// ... and the pause before it is told again.
const COOL_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);
const SOURCE: &str = "source";
const COPY: &str = "copy";

/// A file or device, and where it is copied to.
pub struct FileCarrier {
    source: File,
    source_path: PathBuf,
    size: Bytes,
    copy: File,
    copy_path: PathBuf,
    /// Where the copy is made and removed; nothing where it goes over what the user named.
    directory: Option<WorkDirectory>,
    warnings: Vec<Warning>,
}

impl FileCarrier {
    /// Open the user's file, or make one, and a copy that is empty.
    ///
    /// # Errors
    /// When the storage fails, or somebody stopped it.
    pub fn open(copy: &Copy, place: &ReplicateContext, stop: &Stop) -> Result<Self> {
        if place.is_named() {
            return Self::over(copy, place);
        }
        let named = copy.source.as_ref().map(|it| open_source(copy, it));
        let named = named.transpose()?;
        let size = named.as_ref().map_or(copy.size, |(_, size)| *size);
        let files = if named.is_some() { 1 } else { 2 };
        let extent = copy.extent.unwrap_or_default();
        let directory = place.work_directory(KIND.name, files * size.0 + extent.0)?;
        let made = directory.path().join(SOURCE);
        let (source, source_path) = match (named, &copy.source) {
            (Some((file, _)), Some(path)) => (file, PathBuf::from(path)),
            _ => (make_source(&directory, size, place.seed, stop)?, made),
        };
        let this = Self {
            source,
            source_path,
            size,
            copy: directory.create_copy(COPY)?,
            copy_path: directory.path().join(COPY),
            directory: Some(directory),
            warnings: Vec::new(),
        };
        this.cooled(copy)
    }

    /// Open what the user named, to be copied over what the user named.
    ///
    /// # Errors
    /// When there is no source, either must not be used that way, or the system refuses.
    pub fn over(copy: &Copy, place: &ReplicateContext) -> Result<Self> {
        let wrong = |why: &str| MeasureError::Usage(format!("{}: {why}", place.target));
        let missing = "a file or device gets its copy from another: name it with source";
        let path = copy.source.as_ref().ok_or_else(|| wrong(missing))?;
        if copy.extent.is_some() {
            return Err(wrong(
                "extent is of copies that are made in a directory. Leave it out",
            ));
        }
        let (source, size) = open_source(copy, path)?;
        let how = (AccessMode::Overwrite, Caching::Buffered);
        let target = place.open_named(KIND.name, how, size)?;
        let opened = target.file().try_clone();
        let this = Self {
            source,
            source_path: path.into(),
            size,
            copy: opened.map_err(MeasureError::io("open", target.path()))?,
            copy_path: target.path().into(),
            directory: None,
            warnings: unseen_uses(&target),
        };
        this.cooled(copy)
    }

    fn cooled(self, copy: &Copy) -> Result<Self> {
        if copy.cold {
            cool(self.from())?;
        }
        Ok(self)
    }

    /// Bytes that are copied.
    pub const fn size(&self) -> Bytes {
        self.size
    }

    fn from(&self) -> Named<'_> {
        Named::new(&self.source, &self.source_path)
    }

    fn to(&self) -> Named<'_> {
        Named::new(&self.copy, &self.copy_path)
    }

    /// Each step of the sink, once what it takes was read: what that took, and the reads and
    /// writes that were asked for.
    fn pass(&self, mut passage: Passage, stop: &Stop) -> Result<(Spent, u64)> {
        let (from, to) = (self.from(), self.to());
        // What is left over of a read, and the next one, are less than twice the window.
        let mut memory = buffer(2 * passage.window as usize)?;
        let memory = memory.as_mut_slice();
        let (mut held, mut space, mut calls) = (0, 0, 0);
        let gauge = Gauge::start(Who::Thread);
        for step in passage.sink {
            go_on(stop)?;
            let bytes = step.bytes as usize;
            while held < bytes {
                let read = passage.source.next().expect("the source has all of it");
                let record = &mut memory[held..held + read.len as usize];
                let found = from.file.read_exact_at(record, read.offset);
                found.map_err(MeasureError::io("read", from.path))?;
                held += record.len();
                calls += 1;
            }
            if step.space > 0 {
                make_room(to, space, step.space)?;
                space += step.space;
            }
            match step.action {
                IoAction::Write | IoAction::WriteSynced => {
                    let written = to.file.write_all_at(&memory[..bytes], step.offset);
                    written.map_err(MeasureError::io("write", to.path))?;
                    calls += 1;
                    if step.action == IoAction::WriteSynced {
                        sync(to)?;
                    }
                    memory.copy_within(bytes..held, 0);
                    held -= bytes;
                }
                IoAction::Sync => sync(to)?,
                IoAction::Cut if space > step.offset => {
                    let cut = to.file.set_len(step.offset);
                    cut.map_err(MeasureError::io("cut off the unused space of", to.path))?;
                }
                IoAction::Cut => {}
                IoAction::Read => unreachable!("a copy is written"),
            }
        }
        Ok((gauge.spent(), calls))
    }
}

impl Carrier for FileCarrier {
    fn carry(self: Box<Self>, passage: Passage, stop: &Stop) -> Result<Carried> {
        let device = ReplicateContext::device(&self.copy_path);
        let before = Counters::take(device.as_deref());
        let (spent, calls) = self.pass(passage, stop)?;
        let done = before.delta(&Counters::take(device.as_deref()));
        compare(self.from(), self.to(), self.size, stop)?;
        let this = *self;
        let mut extents = None;
        if let Some(directory) = this.directory {
            let path = &this.copy_path;
            let counted = count_extents(&this.copy);
            extents = counted.map_err(MeasureError::io("count the extents of", path))?;
            refuse_length(&this.copy, path, this.size)?;
            drop(this.copy);
            directory.remove()?;
        }
        Ok(Carried {
            spent,
            calls,
            others: others(extents, &done),
            warnings: this.warnings,
        })
    }
}

fn others(extents: Option<u64>, done: &CountersDelta) -> Vec<Reading> {
    let extents = extents.map(|extents| EXTENTS.reading(extents as f64));
    let mut others: Vec<Reading> = extents.into_iter().collect();
    if let Some(device) = &done.device {
        others.push(COPY_DEVICE_READS.reading(device.reads as f64));
        others.push(COPY_DEVICE_WRITES.reading(device.writes as f64));
    }
    others
}

fn make_source(directory: &WorkDirectory, size: Bytes, seed: u64, stop: &Stop) -> Result<File> {
    let file = directory.create_file(SOURCE)?;
    let path = directory.path().join(SOURCE);
    let mut pattern = RecordPattern::new(Bytes::from_kib(64), seed)?;
    let to = Named::new(&file, &path);
    write_records(to, &mut pattern, 0, size, Synced::AtEnd, stop)?;
    Ok(file)
}

/// What of the user's is copied, and how many bytes of it.
pub fn open_source(copy: &Copy, source: &TargetName) -> Result<(File, Bytes)> {
    let name = source.as_str();
    if source.is_model() {
        return Err(MeasureError::Usage(format!(
            "source = {name:?}: a model is copied to a model. Name one as the target, too"
        )));
    }
    let path = Path::new(source);
    // Looked at before it is opened: a pipe would wait for its writer.
    let found = path.metadata().map_err(MeasureError::io("open", path))?;
    if !found.file_type().is_block_device() && (!found.is_file() || found.len() == 0) {
        return Err(MeasureError::Usage(format!(
            "source = {name:?}: name a device, or a file that is not empty"
        )));
    }
    let options = TargetOptions {
        caching: Caching::Buffered,
        ..TargetOptions::default()
    };
    let target = Target::open(path, &options)?;
    let file = target.file().try_clone();
    let file = file.map_err(MeasureError::io("open", path))?;
    Ok((file, copy.bytes_of(source, Bytes(target.size()))?))
}

/// Read both again, the copy from the storage, and compare.
fn compare(from: Named<'_>, to: Named<'_>, size: Bytes, stop: &Stop) -> Result<()> {
    const PIECE: u64 = 1 << 20;
    cool(to)?;
    let (mut first, mut second) = (vec![0; PIECE as usize], vec![0; PIECE as usize]);
    let mut at = 0;
    while at < size.0 {
        go_on(stop)?;
        let len = PIECE.min(size.0 - at) as usize;
        for (named, piece) in [(from, &mut first), (to, &mut second)] {
            let read = named.file.read_exact_at(&mut piece[..len], at);
            read.map_err(MeasureError::io("read", named.path))?;
        }
        if first[..len] != second[..len] {
            break;
        }
        at += len as u64;
    }
    if at >= size.0 {
        return Ok(());
    }
    Err(MeasureError::Failed(format!(
        "the copy {} differs from {} from byte {at} on. Do not trust this storage, unless the \
         file changed meanwhile",
        to.path.display(),
        from.path.display()
    )))
}

/// A copy that was made is as long as what was copied.
fn refuse_length(copy: &File, path: &Path, size: Bytes) -> Result<()> {
    let found = copy.metadata();
    let found = found.map_err(MeasureError::io("look at", path))?.len();
    if found == size.0 {
        return Ok(());
    }
    Err(MeasureError::Failed(format!(
        "the copy {} has {found} bytes, not {}. Do not trust this storage",
        path.display(),
        size.0
    )))
}

/// Drop a file from the page cache.
pub(in crate::measure) fn cool(named: Named<'_>) -> Result<()> {
    for _ in 0..COOL_TRIES {
        let stayed = drop_cached(named.file);
        let stayed = stayed.map_err(MeasureError::io("drop from the page cache", named.path))?;
        // All of it stays on a file system in memory.
        if stayed <= 0.0 || stayed >= 1.0 {
            break;
        }
        std::thread::sleep(COOL_PAUSE);
    }
    Ok(())
}
