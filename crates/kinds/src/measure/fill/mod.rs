//! `fill`: a file system written full, to the last byte, and emptied again.
//!
//! A full file system makes programs fail that have nothing to do with the measurement. So the user
//! names the mount point and says what is to happen, and is still refused unless the file system is
//! one of its own: mounted whole, from a local device, empty, and not the one that holds the
//! system's, the user's or this program's directories.

mod vessel;

use std::path::Path;

use results::Reading;
use results::metric::{CAPACITY, FILES_WRITTEN, FILL_CPU, FILL_RATE, FILL_TIME, LEFT, TAPE_STOPS};
use sim::SimSpec;
use units::{Bytes, TargetName};

use super::Stop;
use super::applies::NO_CONTENT;
use super::form::ValueForm;
use super::kind::{Kind, Measuring, made, settings};
use super::models::{open_part, refuse_read_only};
use super::mount_guard::refuse_mount;
use super::place::{ReplicateContext, Result, go_on};
use super::records::{Flow, Spent};
use super::settings::{SettingFault, Settings};
use super::targets::{TargetUse, Targets};
use vessel::{FileVessel, FillRecords, ModelVessel, Vessel};

pub const KIND: Kind = Kind {
    name: "fill",
    about: "a file system of its own written full, to the last byte, and emptied again",
    settings: settings! {
        /// the mount point of an empty file system on a local device. It holds no directory of the
        /// system's or yours. Or a model
        target = ValueForm::Path("PATH or sim:NAME").required(),
        /// your consent, in these words
        fill = ValueForm::Words(&["to the last byte"]).required(),
        /// bytes of one write
        record = RECORD.or("1MiB"),
        /// bytes of a file. Files are written until no byte fits, and each is synced at its end
        file = ValueForm::Size(RECORD_MIN, Bytes::from_gib(1 << 10)).or("128MiB"),
        /// share of every 4 KiB written that is zero, the rest being random. What a model
        /// compresses is in its name, as in sim:dlt2000?compression=1.2
        compressible = ValueForm::Percent.or("0%").applying(NO_CONTENT),
    },
    readings: &[
        CAPACITY,
        FILL_TIME,
        FILL_RATE,
        FILL_CPU,
        FILES_WRITTEN,
        LEFT,
        TAPE_STOPS,
    ],
    targets: Targets::and(TargetUse::Refused(
        "fills a file system, which is mounted at a directory",
    )),
    in_place: Some("target"),
    is_command: false,
    make: |settings| made(FillMeasurement::from_settings(settings)),
};

const RECORD_MIN: Bytes = Bytes::from_kib(4);
const RECORD: ValueForm = ValueForm::Size(RECORD_MIN, Bytes::from_mib(64));
/// The rate is told for each of so many parts of the free space.
const PARTS: u64 = 100;

/// A file system written full.
#[derive(Clone, Debug, PartialEq)]
pub struct FillMeasurement {
    target: TargetName,
    record: Bytes,
    file: Bytes,
    compressible: f64,
}

impl FillMeasurement {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let (record, file): (Bytes, Bytes) = (settings.value("record"), settings.value("file"));
        if !record.is_multiple_of(RECORD_MIN) {
            let why = format!("record = {record}: it is a multiple of {RECORD_MIN}");
            return Err(SettingFault::at("record", why));
        }
        if record > file {
            let why = format!("file = {file}: it is no smaller than record = {record}");
            return Err(SettingFault::at("file", why));
        }
        Ok(Self {
            target: settings.value("target"),
            record,
            file,
            compressible: settings.value("compressible"),
        })
    }

    /// What is to be written full, if it may be.
    fn medium(&self) -> Result<Fillable<'_>> {
        match self.target.model() {
            Some(name) => {
                let spec = open_part(name)?;
                refuse_read_only(&spec)?;
                Ok(Fillable::Model(Box::new(spec)))
            }
            None => {
                let path = Path::new(&self.target);
                refuse_mount(path)?;
                Ok(Fillable::MountPoint(path))
            }
        }
    }

    fn vessel(&self, seed: u64) -> Result<Box<dyn Vessel>> {
        Ok(match self.medium()? {
            Fillable::Model(spec) => Box::new(ModelVessel::new(&spec, seed)),
            Fillable::MountPoint(path) => {
                let content = FillRecords::new(self.record, self.compressible, seed)?;
                Box::new(FileVessel::open(path, content)?)
            }
        })
    }

    /// Write the present file; whether the storage is full.
    fn write(
        &self,
        vessel: &mut dyn Vessel,
        filling: &mut FillProgress,
        stop: &Stop,
    ) -> Result<bool> {
        let (mut at, mut wanted) = (0, self.record.0);
        while at < self.file.0 {
            go_on(stop)?;
            let len = wanted.min(self.file.0 - at);
            match vessel.write(at, len)? {
                // Less may still fit: the last byte is looked for.
                0 if len > 1 => wanted = len / 2,
                0 => return Ok(true),
                written => {
                    at += written;
                    filling.count(written, vessel);
                }
            }
        }
        Ok(false)
    }
}

/// What may be written full.
enum Fillable<'a> {
    Model(Box<SimSpec>),
    MountPoint(&'a Path),
}

impl Measuring for FillMeasurement {
    fn target(&self, _: &ReplicateContext) -> TargetName {
        self.target.clone()
    }

    fn check(&self, _: &ReplicateContext) -> Result<()> {
        self.medium().map(drop)
    }

    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let mut vessel = self.vessel(place.seed)?;
        let part_bytes = (vessel.free()? / PARTS).max(1);
        let begun = vessel.spent();
        let mut filling = FillProgress {
            part_bytes,
            part_begun: begun,
            ..FillProgress::default()
        };
        let mut files = 0;
        while vessel.next_file()? {
            files += 1;
            let is_full = self.write(&mut *vessel, &mut filling, stop)?;
            vessel.sync()?;
            if is_full {
                break;
            }
        }
        let flow = vessel.spent().flow(begun, filling.bytes);
        let mut readings = readings(&flow, filling.rates, files);
        readings.extend(vessel.finish()?);
        Ok(readings)
    }
}

/// What is written so far.
#[derive(Default)]
struct FillProgress {
    bytes: u64,
    part_bytes: u64,
    /// Bytes of the present part, and when it was begun.
    in_part: u64,
    part_begun: Spent,
    rates: Vec<f64>,
}

impl FillProgress {
    fn count(&mut self, written: u64, vessel: &dyn Vessel) {
        self.bytes += written;
        self.in_part += written;
        if self.in_part >= self.part_bytes {
            let spent = vessel.spent();
            self.rates
                .push(spent.flow(self.part_begun, self.in_part).rate());
            (self.part_begun, self.in_part) = (spent, 0);
        }
    }
}

fn readings(flow: &Flow, rates: Vec<f64>, files: u64) -> Vec<Reading> {
    let seconds = flow.elapsed.as_secs_f64();
    let mut readings = vec![
        CAPACITY.reading(flow.bytes as f64),
        FILL_TIME.reading(seconds),
        FILL_RATE.reading(flow.rate()).of(rates),
    ];
    readings.extend(flow.cpu_reading(FILL_CPU));
    readings.push(FILES_WRITTEN.reading(files as f64));
    readings
}
