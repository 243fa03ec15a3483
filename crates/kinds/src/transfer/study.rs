//! The measurement of studies: one file, written and read record by record.
//!
//! On a model the passes of `seekstone transfer` are run; on real storage a plain loop, which is
//! what the programs do whose rates are wanted (dd, FORTRAN input and output).

use std::path::Path;

use drivers::{AccessMode, Caching, Target, TargetFileType, TargetOptions};
use procedure::RoundsRule;
use results::metric::{FROM_PAGE_CACHE, READ_CPU, READ_RATE, WRITE_CPU, WRITE_RATE};
use results::{Reading, Setup, TransferMode};
use sys::drop_cached;
use units::{Bytes, Duration};

use super::run::{Sharing, TransferRequest, measure_transfer};
use crate::measure::form::ValueForm;
use crate::measure::kind::{Kind, Measuring, flag, made, settings};
use crate::measure::place::{MeasureError, ReplicateContext, Result};
use crate::measure::records::{
    Named, RecordPattern, SYNCED, Synced, make_room, read_records, synced, write_records,
};
use crate::measure::settings::{SettingFault, Settings};
use crate::measure::{Applies, Stop, TargetUse, Targets};
use host::counters::{Counters, page_cache_share};
use host::inspect::FetchAccount;
use lab::bench::BenchRequest;

/// What studies know of it.
pub const KIND: Kind = Kind {
    name: "transfer",
    about: "one file written and read from its first byte to its last",
    settings: settings! {
        /// bytes of one write or read
        record = RECORD.or("64KiB"),
        /// bytes of the file
        size = SIZE.or("64MiB"),
        /// whether space for the whole file is allocated before it is written
        preallocated = flag(false).applying(NO_CACHE),
        /// whether the page cache is bypassed
        direct = flag(false).applying(NO_CACHE),
        /// whether written data are forced to the storage: never, once at the end, or with each
        /// record. The time includes that
        synced = SYNCED.or("end").applying(NO_CACHE),
        /// whether the file is dropped from the page cache before it is read
        cold = flag(true).applying(NO_CACHE),
    },
    readings: &[WRITE_RATE, WRITE_CPU, READ_RATE, READ_CPU, FROM_PAGE_CACHE],
    targets: Targets::and(TargetUse::Read),
    in_place: None,
    is_command: false,
    make: |settings| made(TransferMeasurement::from_settings(settings)),
};

const NO_CACHE: Applies = Applies::ToFiles("a model has no page cache and no file system");
const RECORD: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_gib(1));
const SIZE: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_gib(1 << 20));

/// A file written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferMeasurement {
    record: Bytes,
    size: Bytes,
    preallocated: bool,
    caching: Caching,
    synced: Synced,
    cold: bool,
}

impl TransferMeasurement {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let (record, size) = settings.record_and_size()?;
        Ok(Self {
            record,
            size,
            preallocated: settings.value("preallocated"),
            caching: settings.caching(),
            synced: synced(settings),
            cold: settings.value("cold"),
        })
    }

    fn in_directory(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let directory = place.work_directory(KIND.name, self.size.0)?;
        let file = directory.create_file("data")?;
        if self.preallocated {
            let path = directory.path().join("data");
            make_room(Named::new(&file, &path), 0, self.size.0)?;
        }
        drop(file);
        let target = directory.open_target("data", self.caching)?;
        self.refuse_misfit(&target)?;
        let mut pattern = RecordPattern::new(self.record, place.seed)?;
        let to = Named::new(target.file(), target.path());
        let written = write_records(to, &mut pattern, 0, self.size, self.synced, stop)?;
        let mut readings = written
            .readings([WRITE_RATE, WRITE_CPU])
            .collect::<Vec<_>>();
        readings.extend(self.read(&target, Some(&pattern), stop)?);
        drop(target);
        directory.remove()?;
        Ok(readings)
    }

    fn open_existing(&self, path: &Path) -> Result<Target> {
        let options = TargetOptions {
            access: AccessMode::ReadOnly,
            caching: self.caching,
            signature_confirmed: None,
        };
        let target = Target::open(path, &options)?;
        self.refuse_misfit(&target)?;
        if target.size() < self.size.0 {
            return Err(MeasureError::Usage(format!(
                "{} holds {}, and size = {}: set a smaller size",
                path.display(),
                Bytes(target.size()),
                self.size
            )));
        }
        Ok(target)
    }

    /// Direct I/O moves whole blocks only.
    fn refuse_misfit(&self, target: &Target) -> Result<()> {
        let unit = Bytes(u64::from(target.alignment().offset));
        let fits = |size: Bytes| size.is_multiple_of(unit);
        if fits(self.record) && fits(self.size) {
            return Ok(());
        }
        Err(MeasureError::Usage(format!(
            "record = {} and size = {}: with direct = true, {} asks for multiples of {unit}",
            self.record,
            self.size,
            target.path().display()
        )))
    }

    fn read(
        &self,
        target: &Target,
        written: Option<&RecordPattern>,
        stop: &Stop,
    ) -> Result<Vec<Reading>> {
        let from = Named::new(target.file(), target.path());
        let is_device = target.kind() == TargetFileType::Device;
        if self.cold && !is_device {
            let dropped = drop_cached(from.file);
            dropped.map_err(MeasureError::io("drop from the page cache", from.path))?;
        }
        let before = Counters::take(None);
        let read = read_records(from, self.record, self.size, written, stop)?;
        let done = before.delta(&Counters::take(None));
        let mut readings = read.readings([READ_RATE, READ_CPU]).collect::<Vec<_>>();
        let account = FetchAccount::of(target.path());
        if let Some(share) = page_cache_share(read.bytes, &done, &account) {
            readings.push(FROM_PAGE_CACHE.reading(share));
        }
        Ok(readings)
    }

    fn on_model(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let run = measure_transfer(&self.one_pass(place), stop, &mut |_| {})?;
        // The first table has a row for each operation.
        let rows = run.tables.first().map_or(&[][..], |it| &it.rows);
        let readings = rows.iter().filter_map(|row| {
            let metric = match row.levels[0].as_str() {
                "write" => WRITE_RATE,
                _ => READ_RATE,
            };
            Some(metric.reading(row.headline()?.value.value))
        });
        Ok(readings.collect())
    }

    /// Passes over a model as `seekstone transfer` runs them, one of each kind.
    fn one_pass(&self, place: &ReplicateContext) -> TransferRequest {
        let setup = Setup::new(KIND.name, place.seed);
        TransferRequest {
            bench: BenchRequest {
                size: Some(self.size),
                ..BenchRequest::new(place.target.clone(), KIND.name, setup)
            },
            beside: None,
            mode: TransferMode::Simulated,
            blocks: vec![self.record.0 as u32],
            streams: 1,
            sharing: Sharing::OwnFiles,
            alone: false,
            rule: RoundsRule {
                rounds: Some(1),
                precision: 1.0,
                rounds_min: 1,
                rounds_max: 1,
                budget: Duration::from_secs(3600),
            },
            check: None,
        }
    }
}

impl Measuring for TransferMeasurement {
    fn check(&self, place: &ReplicateContext) -> Result<()> {
        if place.target.is_model() {
            return Ok(());
        }
        let path = Path::new(&place.target);
        let found = path.metadata().map_err(MeasureError::io("look at", path))?;
        if found.is_dir() {
            return Ok(());
        }
        self.open_existing(path).map(drop)
    }

    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        self.check(place)?;
        let path = Path::new(&place.target);
        if place.target.is_model() {
            self.on_model(place, stop)
        } else if path.is_dir() {
            self.in_directory(place, stop)
        } else {
            self.read(&self.open_existing(path)?, None, stop)
        }
    }
}
