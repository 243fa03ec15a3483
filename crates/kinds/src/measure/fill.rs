//! `fill`: a file system written full, to the last byte, and emptied again.
//!
//! A full file system makes programs fail that have nothing to do with the measurement. So the user
//! names the mount point and says what is to happen, and is still refused unless the file system is
//! one of its own: mounted whole, from a local device, empty, and not the one that holds the
//! system's, the user's or this program's directories. A model is filled in virtual time, by
//! [`super::fill_simulated`].

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use drivers::{
    AlignedBuffer, BLOCK_BYTES, STAMP_BYTES, Seal, TargetError, WorkDirectory, fill_incompressible,
    free_space, stamp,
};
use results::{Better, Reading, Unit};
use units::Bytes;

use super::Stop;
use super::fill_simulated::ModelFill;
use super::kind::{Kind, Measuring, Setting, made};
use super::mount_guard::refuse_mount;
use super::place::{MeasureError, Place, go_on, owner};
use super::records::{Flow, Gauge, Who, buffer};
use super::settings::{SettingFault, Settings};
use super::simulated::{TAPE_STOPS, is_model, refuse_for_files};

/// The kind.
pub const KIND: Kind = Kind {
    name: "fill",
    about: "a file system of its own written full, to the last byte, and emptied again",
    settings: &[
        Setting::required(
            "target",
            "PATH or sim:NAME",
            "the mount point that is filled: an empty file system on a local device, which holds \
             no directory of the system's or yours. Or a model",
        ),
        Setting::required(
            "fill",
            "\"to the last byte\"",
            "your consent, in these words",
        ),
        Setting::or("record", "SIZE", "1MiB", "bytes of one write"),
        Setting::or(
            "file",
            "SIZE",
            "128MiB",
            "bytes of a file; files are written until no byte fits, and each is synced at its end",
        ),
        Setting::or(
            "compressible",
            "PERCENT",
            "0%",
            "share of every 4 KiB written that is zero, the rest being random; what a model \
             compresses is in its name, as in sim:dlt2000?compression=1.2",
        ),
    ],
    readings: &[
        ("capacity", "bytes that fitted into the files"),
        ("fill time", "from the first write to the last sync"),
        (
            "fill rate",
            "bytes written per second; with the rate of each hundredth of the free space, or of \
             each record if that is more",
        ),
        ("fill CPU", "processor time for a MiB written"),
        ("files", "files that were written, the last one cut short"),
        (
            "left",
            "bytes that the file system still called free when it was full",
        ),
        TAPE_STOPS,
    ],
    in_place: Some("target"),
    is_command: false,
    make: |settings| made(Fill::from_settings(settings)),
};

/// What the user types.
const CONSENT: &str = "to the last byte";
const RECORD_MIN: Bytes = Bytes::from_kib(4);
const RECORD_MAX: Bytes = Bytes::from_mib(64);
const FILE_MAX: Bytes = Bytes::from_gib(1 << 10);
/// The rate is told for each of so many parts of the free space.
const PARTS: u64 = 100;
/// Content is compressible in pieces of this size, the smallest that file systems compress.
const PIECE_BYTES: usize = 4096;
/// Different content in memory.
const VARIETY_BYTES: u64 = 8 << 20;

/// A file system written full.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    target: PathBuf,
    record: Bytes,
    file: Bytes,
    compressible: f64,
    /// A setting that was given and says nothing on a model.
    for_files: Option<&'static str>,
}

impl Fill {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        settings.choice("fill", &[(CONSENT, ())])?;
        let record = settings
            .size("record", RECORD_MIN..=RECORD_MAX)?
            .unwrap_or_default();
        if !record.is_multiple_of(RECORD_MIN) {
            let why = format!("record = {record}: it is a multiple of {RECORD_MIN}");
            return Err(SettingFault::at("record", why));
        }
        Ok(Self {
            target: settings
                .text("target")?
                .map(PathBuf::from)
                .unwrap_or_default(),
            record,
            file: settings
                .size("file", record..=FILE_MAX)?
                .unwrap_or_default(),
            compressible: settings.percent("compressible")?.unwrap_or_default(),
            for_files: settings.is_given("compressible").then_some("compressible"),
        })
    }

    const fn on_model<'a>(&self, target: &'a str) -> ModelFill<'a> {
        ModelFill {
            target,
            record: self.record,
            file: self.file,
        }
    }

    /// Write one file; whether the file system is full.
    fn write(
        &self,
        file: &File,
        path: &Path,
        content: &mut Content,
        filling: &mut FillProgress,
        part: &mut Gauge,
        stop: &Stop,
    ) -> Result<bool, MeasureError> {
        let mut at = 0;
        let mut wanted = self.record.0;
        while at < self.file.0 {
            go_on(stop)?;
            let len = wanted.min(self.file.0 - at) as usize;
            match file.write_at(&content.next(filling.bytes)[..len], at) {
                Ok(written) => {
                    at += written as u64;
                    filling.count(written as u64, part);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Less may still fit: the last byte is looked for.
                Err(error) if is_full(&error) && len > 1 => wanted = len as u64 / 2,
                Err(error) if is_full(&error) => return Ok(true),
                Err(error) => return Err(MeasureError::io("write", path)(error)),
            }
        }
        Ok(false)
    }

    fn content(&self, seed: u64) -> Result<Content, MeasureError> {
        let count = VARIETY_BYTES.div_ceil(self.record.0);
        let mut memory = buffer((count * self.record.0) as usize)?;
        fill_incompressible(memory.as_mut_slice(), seed);
        let zeroes = (PIECE_BYTES as f64 * self.compressible).round() as usize;
        for piece in memory.as_mut_slice().chunks_mut(PIECE_BYTES) {
            let start = piece.len() - zeroes.min(piece.len());
            piece[start..].fill(0);
        }
        Ok(Content {
            memory,
            record: self.record.0 as usize,
            next: 0,
            is_all_zero: zeroes == PIECE_BYTES,
        })
    }
}

impl Measuring for Fill {
    fn check(&self, _: &Place) -> Result<(), MeasureError> {
        let target = self.target.to_string_lossy();
        if is_model(&target) {
            refuse_for_files(self.for_files, &target)?;
            return self.on_model(&target).check();
        }
        refuse_mount(&self.target)
    }

    fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        self.check(place)?;
        let target = self.target.to_string_lossy();
        if is_model(&target) {
            return self.on_model(&target).measure(place.seed, stop);
        }
        let directory = WorkDirectory::create(&self.target, &owner(KIND.name))?;
        let free = free_space(&self.target)?.available;
        let mut content = self.content(place.seed)?;
        let mut filling = FillProgress {
            part_bytes: (free / PARTS).max(1),
            ..FillProgress::default()
        };
        let gauge = Gauge::start(Who::Thread);
        let mut part = gauge;
        let mut files = 0;
        while let Some(file) = create(&directory, files)? {
            files += 1;
            let path = directory.path().join(name(files - 1));
            let is_full = self.write(&file, &path, &mut content, &mut filling, &mut part, stop)?;
            file.sync_all().map_err(|error| lost(&path, error))?;
            if is_full {
                break;
            }
        }
        let flow = gauge.flow(filling.bytes);
        let left = free_space(&self.target)?.available;
        directory.remove()?;
        Ok(readings(&flow, filling.rates, files, left))
    }
}

/// Records to be written, one after the other.
struct Content {
    memory: AlignedBuffer,
    record: usize,
    next: usize,
    is_all_zero: bool,
}

impl Content {
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

/// What is written so far.
#[derive(Default)]
struct FillProgress {
    bytes: u64,
    part_bytes: u64,
    /// Bytes of the present part.
    in_part: u64,
    rates: Vec<f64>,
}

impl FillProgress {
    fn count(&mut self, written: u64, part: &mut Gauge) {
        self.bytes += written;
        self.in_part += written;
        if self.in_part >= self.part_bytes {
            self.rates.push(part.flow(self.in_part).rate());
            *part = Gauge::start(Who::Thread);
            self.in_part = 0;
        }
    }
}

fn readings(flow: &Flow, rates: Vec<f64>, files: u64, left: u64) -> Vec<Reading> {
    let [rate, cpu] = flow.readings("fill");
    let seconds = flow.elapsed.as_secs_f64();
    vec![
        Reading::new("capacity", Unit::Bytes, flow.bytes as f64, Better::Higher),
        Reading::new("fill time", Unit::Seconds, seconds, Better::Neither),
        rate.of(rates),
        cpu,
        Reading::new("files", Unit::Count, files as f64, Better::Neither),
        Reading::new("left", Unit::Bytes, left as f64, Better::Lower),
    ]
}

fn name(number: u64) -> String {
    format!("fill{number:06}")
}

/// The next file; `None` when not even an empty one fits.
fn create(directory: &WorkDirectory, number: u64) -> Result<Option<File>, MeasureError> {
    // Zeroes tell nobody whose they are: the file itself must.
    match directory.create_copy(&name(number)) {
        Ok(file) => Ok(Some(file)),
        Err(TargetError::Io { source, .. }) if is_full(&source) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::StorageFull
}

/// A file system that takes more than it can keep gives no capacity.
fn lost(path: &Path, error: io::Error) -> MeasureError {
    if is_full(&error) {
        return MeasureError::Failed(format!(
            "{} was taken and could not be kept: the file system, or what it stands \
             on, promises more space than it has",
            path.display()
        ));
    }
    MeasureError::io("sync", path)(error)
}
