//! `copy`: a file copied record by record, with room made for it extent by extent or not at all.
//!
//! The copy is read again and compared, outside of the time. Between models it is a copy in virtual
//! time, by [`super::copy_simulated`].

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use drivers::WorkDirectory;
use results::{Better, Reading, Unit};
use sys::{count_extents, drop_cached};
use units::Bytes;

use super::Stop;
use super::copy_simulated::{ModelCopy, for_models};
use super::kind::{Kind, Measuring, Setting, made};
use super::place::{MeasureError, Place, go_on};
use super::records::{Flow, Gauge, Named, Pattern, Synced, Who, buffer, write_records};
use super::settings::{SettingFault, Settings};
use super::simulated::{TAPE_STOPS, is_model, refuse_for_files, refuse_for_models};
use super::transfer::{make_room, synced};
use host::counters::{Counters, CountersDelta};

/// The kind.
pub const KIND: Kind = Kind {
    name: "copy",
    about: "one file copied, with space allocated extent by extent or not at all",
    settings: &[
        Setting::or(
            "record",
            "SIZE",
            "64KiB",
            "bytes read and written at a time; between models, written",
        ),
        Setting::or(
            "size",
            "SIZE",
            "64MiB",
            "bytes of the file that is made to be copied",
        ),
        Setting::optional(
            "source",
            "PATH or sim:NAME",
            "a file of yours that is copied instead; it is only read. Where the target is a model, \
             the model that is copied from",
        ),
        Setting::optional(
            "extent",
            "SIZE",
            "space allocated for the copy whenever its extent is full; when not given, the file \
             system decides",
        ),
        Setting::or(
            "synced",
            "\"no\", \"end\" or \"each\"",
            "end",
            "whether the copy is forced to the storage: never, once at the end, or with each \
             record; within the time",
        ),
        Setting::or(
            "cold",
            "true or false",
            "true",
            "whether the file is dropped from the page cache before it is copied",
        ),
        Setting::optional(
            "source-record",
            "SIZE",
            "between models: bytes read at a time; record when not given",
        ),
        Setting::optional(
            "buffers",
            "NUMBER",
            "between models: reads that are asked for before they are written; 1 when not given",
        ),
        Setting::optional(
            "default-extent",
            "SIZE",
            "between models: space that the file system allocates at a time when extent is not \
             given; for all at once, and in no time, when neither is",
        ),
        Setting::optional(
            "extend-time",
            "TIME",
            "between models: what each allocation takes; nothing when not given",
        ),
    ],
    readings: &[
        (
            "copy time",
            "from the first read to the end of the last write, or sync",
        ),
        ("copy rate", "bytes copied per second"),
        ("copy CPU", "processor time for a MiB copied"),
        ("calls", "reads and writes that this program asked for"),
        ("allocations", "how often space was allocated for the copy"),
        (
            "extents",
            "pieces in which the copy lies, where the file system tells",
        ),
        (
            "device reads",
            "reads that the device completed meanwhile, whoever asked for them",
        ),
        (
            "device writes",
            "writes that the device completed meanwhile, whoever asked for them",
        ),
        TAPE_STOPS,
    ],
    in_place: None,
    is_command: true,
    make: |settings| made(Copy::from_settings(settings)),
};

/// How often the page cache is told to forget a file, some pages of which are just in use ...
const COOL_TRIES: u32 = 100;
/// ... and the pause before it is told again.
const COOL_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);
const RECORD_MAX: Bytes = Bytes::from_mib(256);
const SIZE_MAX: Bytes = Bytes::from_gib(1 << 20);
const SOURCE: &str = "source";
const COPY: &str = "copy";

/// A file that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    record: Bytes,
    size: Bytes,
    source: Option<PathBuf>,
    extent: Option<Bytes>,
    synced: Synced,
    cold: bool,
    /// Between models.
    model: ModelCopy,
    /// A setting that was given and says nothing on real storage.
    for_models: Option<&'static str>,
    /// A setting that was given and says nothing on a model.
    for_files: Option<&'static str>,
}

impl Copy {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let source = settings.text("source")?;
        let is_file = source.as_deref().is_some_and(|source| !is_model(source));
        if is_file && settings.is_given("size") {
            let why = "size is that of the file that is made: leave it out with source";
            return Err(SettingFault::at("size", why));
        }
        let record = settings.size("record", Bytes(1)..=RECORD_MAX)?;
        let size = settings.size("size", Bytes(1)..=SIZE_MAX)?;
        let (record, size) = (record.unwrap_or_default(), size.unwrap_or_default());
        let extent = settings.size("extent", Bytes(1)..=SIZE_MAX)?;
        let synced = synced(settings)?;
        Ok(Self {
            record,
            size,
            source: source.map(PathBuf::from),
            extent,
            synced,
            cold: settings.flag("cold")?,
            model: ModelCopy::from_settings(settings, (size, record), (extent, synced))?,
            for_models: for_models(settings),
            for_files: settings.is_given("cold").then_some("cold"),
        })
    }

    fn source_model(&self, place: &Place) -> Result<String, MeasureError> {
        let source = self.source.as_ref().map(|path| path.display().to_string());
        source.filter(|source| is_model(source)).ok_or_else(|| {
            MeasureError::Usage(format!(
                "{}: a model gets its copy from a model: name it, as in source = \"sim:dlt2000\"",
                place.target
            ))
        })
    }

    fn make_source(
        &self,
        directory: &WorkDirectory,
        seed: u64,
        stop: &Stop,
    ) -> Result<File, MeasureError> {
        let file = directory.create_file(SOURCE)?;
        let path = directory.path().join(SOURCE);
        let mut pattern = Pattern::new(Bytes::from_kib(64), seed)?;
        let to = Named {
            file: &file,
            path: &path,
        };
        write_records(to, &mut pattern, 0, self.size, Synced::AtEnd, stop)?;
        Ok(file)
    }

    /// Copy, and tell how often room was made.
    fn copy(
        &self,
        from: Named<'_>,
        to: Named<'_>,
        size: Bytes,
        stop: &Stop,
    ) -> Result<(Flow, u64), MeasureError> {
        let mut memory = buffer(self.record.0 as usize)?;
        let gauge = Gauge::start(Who::Thread);
        let (mut at, mut room, mut room_made) = (0, 0, 0);
        while at < size.0 {
            go_on(stop)?;
            let len = self.record.0.min(size.0 - at);
            let record = &mut memory.as_mut_slice()[..len as usize];
            let read = from.file.read_exact_at(record, at);
            read.map_err(MeasureError::io("read", from.path))?;
            if let Some(extent) = self.extent.filter(|_| at + len > room) {
                let more = extent.0.max(at + len - room);
                make_room(to, room, more)?;
                room += more;
                room_made += 1;
            }
            let written = to.file.write_all_at(record, at);
            written.map_err(MeasureError::io("write", to.path))?;
            if self.synced == Synced::EachRecord {
                sync(to)?;
            }
            at += len;
        }
        if room > size.0 {
            let cut = to.file.set_len(size.0);
            cut.map_err(MeasureError::io("cut off the unused space of", to.path))?;
        }
        if self.synced == Synced::AtEnd {
            sync(to)?;
        }
        Ok((gauge.flow(size.0), room_made))
    }
}

impl Measuring for Copy {
    fn check(&self, place: &Place) -> Result<(), MeasureError> {
        if place.is_simulated() {
            refuse_for_files(self.for_files, &place.target)?;
            let source = self.source_model(place)?;
            return self.model.open(&source, &place.target).map(drop);
        }
        place.directory(KIND.name)?;
        refuse_for_models(self.for_models, &place.target)?;
        self.source
            .as_deref()
            .map_or(Ok(()), |path| open_source(path).map(drop))
    }

    fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        self.check(place)?;
        if place.is_simulated() {
            let source = self.source_model(place)?;
            return self.model.measure(&source, place, stop);
        }
        let named = self.source.as_deref().map(open_source).transpose()?;
        let size = named.as_ref().map_or(self.size, |(_, size)| *size);
        let files = if named.is_some() { 1 } else { 2 };
        let extent = self.extent.unwrap_or_default();
        let wanted = files * size.0 + extent.0;
        let directory = place.work_directory(KIND.name, wanted)?;
        let made = directory.path().join(SOURCE);
        let (from, path) = match (named, &self.source) {
            (Some((file, _)), Some(path)) => (file, path.clone()),
            _ => (self.make_source(&directory, place.seed, stop)?, made),
        };
        let from = Named {
            file: &from,
            path: &path,
        };
        if self.cold {
            cool(from)?;
        }
        let copy = directory.create_copy(COPY)?;
        let path = directory.path().join(COPY);
        let to = Named {
            file: &copy,
            path: &path,
        };
        let device = Place::device(directory.path());
        let before = Counters::take(device.as_deref());
        let (flow, room_made) = self.copy(from, to, size, stop)?;
        let done = before.delta(&Counters::take(device.as_deref()));
        let extents =
            count_extents(&copy).map_err(MeasureError::io("count the extents of", &path))?;
        compare(from, to, size, stop)?;
        drop(copy);
        directory.remove()?;
        Ok(readings(&flow, room_made, extents, &done))
    }
}

fn readings(
    flow: &Flow,
    room_made: u64,
    extents: Option<u64>,
    done: &CountersDelta,
) -> Vec<Reading> {
    let count = |name: &str, value: u64, better: Better| {
        Reading::new(name, Unit::Count, value as f64, better)
    };
    let seconds = flow.elapsed.as_secs_f64();
    let mut readings = vec![Reading::new(
        "copy time",
        Unit::Seconds,
        seconds,
        Better::Lower,
    )];
    readings.extend(flow.readings("copy"));
    if let Some(io) = done.process_io {
        readings.push(count(
            "calls",
            io.read_calls + io.write_calls,
            Better::Lower,
        ));
    }
    readings.push(count("allocations", room_made, Better::Neither));
    readings.extend(extents.map(|extents| count("extents", extents, Better::Lower)));
    if let Some(device) = &done.device {
        readings.push(count("device reads", device.reads, Better::Neither));
        readings.push(count("device writes", device.writes, Better::Neither));
    }
    readings
}

fn open_source(path: &Path) -> Result<(File, Bytes), MeasureError> {
    if is_model(&path.to_string_lossy()) {
        return Err(MeasureError::Usage(format!(
            "source = {:?}: a model is copied to a model: name one as the target, too",
            path.display().to_string()
        )));
    }
    // Looked at before it is opened: a pipe would wait for its writer.
    let found = path.metadata().map_err(MeasureError::io("open", path))?;
    if found.is_file() && found.len() > 0 {
        let file = File::open(path).map_err(MeasureError::io("open", path))?;
        return Ok((file, Bytes(found.len())));
    }
    Err(MeasureError::Usage(format!(
        "source = {:?}: name a file that is not empty",
        path.display().to_string()
    )))
}

/// Read both again, the copy from the storage, and compare.
fn compare(from: Named<'_>, to: Named<'_>, size: Bytes, stop: &Stop) -> Result<(), MeasureError> {
    const PIECE: u64 = 1 << 20;
    cool(to)?;
    let found = to
        .file
        .metadata()
        .map_err(MeasureError::io("look at", to.path))?;
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
    if at >= size.0 && found.len() == size.0 {
        return Ok(());
    }
    Err(MeasureError::Failed(format!(
        "the copy {} differs from {} from byte {at} on: the storage is not to be trusted, or the \
         file was changed meanwhile",
        to.path.display(),
        from.path.display()
    )))
}

/// Drop a file from the page cache.
pub(super) fn cool(named: Named<'_>) -> Result<(), MeasureError> {
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

fn sync(to: Named<'_>) -> Result<(), MeasureError> {
    to.file
        .sync_data()
        .map_err(MeasureError::io("sync", to.path))
}
