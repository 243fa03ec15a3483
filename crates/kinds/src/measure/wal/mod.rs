//! `wal`: a write-ahead log, as databases keep one: records are appended by many sessions, and none
//! is committed before it is durable.
//!
//! The log is written once before it is measured, as databases use their segments again: an append
//! does not lengthen the file. `copy` and `files` measure what a growing file costs.

pub(crate) mod log;

use std::sync::Arc;

use drivers::{Caching, DriverKind};
use engine::OnError;
use lab::bench::{Bench, BenchError, BenchRequest, OpenedBench, default_settings, open_bench};
use lab::laboratory::Outcome;
use lab::storage::StorageSettings;
use lab::test_file::{fill_test_file, stop_of, stopped, write_over};
use procedure::{MAIN_DIRECT, Trial};
use results::metric::{
    COMMITS, DEVICE_BYTES_PER_BYTE, LATENCY, LATENCY_P50, LATENCY_P95, LATENCY_P99,
    RECORDS_PER_APPEND,
};
use results::{Access, KnownMetric, Measurement, Reading, Setup};
use stats::Estimate;
use units::{Bytes, Duration};
use workload::{ClientSpec, Durability, Gap, GapShape, OwnCounts, OwnSpec};

use super::Stop;
use super::form::ValueForm;
use super::kind::{Kind, Measured, Measuring, Setting, made};
use super::models::{open_part, refuse_larger, refuse_read_only};
use super::place::{MeasureError, ReplicateContext};
use super::settings::{SettingFault, Settings};
use super::targets::{ERRORS, TargetUse, Targets, on_error};
use log::LogSpec;

pub const KIND: Kind = Kind {
    name: "wal",
    about: "a write-ahead log: records that sessions append and wait for until they are durable",
    settings: &[
        Setting::or("record", RECORD, "4KiB", "bytes of a record"),
        Setting::or(
            "writers",
            WRITERS,
            "1",
            "sessions that write, each one record at a time",
        ),
        Setting::or(
            "group",
            WRITERS,
            "64",
            "most records made durable together (group commit)",
        ),
        Setting::or(
            "sync",
            ValueForm::Words(&["fdatasync", "fsync", "dsync", "linked"]),
            "fdatasync",
            "how an append is made durable: a call after the write, a write as with O_DSYNC, or an \
             fsync that io_uring links to the write",
        ),
        Setting::optional(
            "think",
            THINK,
            "mean time from a commit to the session's next record, negative exponential (default: \
             none)",
        ),
        Setting::or(
            "size",
            SIZE,
            "64MiB",
            "bytes of the log, which is used again and again",
        ),
        Setting::flag(
            "direct",
            false,
            "whether the page cache is bypassed. Appends are then whole blocks of 4 KiB",
        ),
        Setting::or("time", TIME, "2s", "how long each replicate takes"),
        ERRORS,
    ],
    readings: &[
        COMMITS,
        LATENCY,
        LATENCY_P50,
        LATENCY_P95,
        LATENCY_P99,
        RECORDS_PER_APPEND,
        DEVICE_BYTES_PER_BYTE,
    ],
    targets: Targets::and(TargetUse::Overwritten),
    in_place: None,
    is_command: true,
    make: |settings| made(Wal::from_settings(settings)),
};

const RECORD: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_mib(16));
const WRITERS: ValueForm = ValueForm::Count(1, 100_000);
const SIZE: ValueForm = ValueForm::Size(Bytes::from_mib(4), Bytes::from_gib(1 << 10));
const APPEND_MAX: u64 = 1 << 30;
const TIME: ValueForm = ValueForm::Time(Duration::from_millis(100), Duration::from_secs(3600));
const THINK: ValueForm = ValueForm::Time(Duration::from_nanos(1), Duration::from_secs(3600));
/// Direct I/O moves whole blocks.
const DIRECT_UNIT: u32 = drivers::BLOCK_BYTES as u32;
/// Percentiles that are given.
const PERCENTILES: [(f64, KnownMetric); 3] =
    [(0.5, LATENCY_P50), (0.95, LATENCY_P95), (0.99, LATENCY_P99)];

/// A write-ahead log.
#[derive(Clone, Debug)]
pub struct Wal {
    spec: LogSpec,
    driver: DriverKind,
    caching: Caching,
    time: Duration,
    on_error: OnError,
    typed: Vec<(String, String)>,
}

impl Wal {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let (driver, durability) = settings.choice(
            "sync",
            &[
                ("fdatasync", (DriverKind::Threads, Durability::DataSynced)),
                ("fsync", (DriverKind::Threads, Durability::Synced)),
                ("dsync", (DriverKind::Threads, Durability::Through)),
                ("linked", (DriverKind::Uring, Durability::Synced)),
            ],
        );
        let caching = settings.caching();
        let think = settings.optional("think").unwrap_or_default();
        let spec = LogSpec {
            target: MAIN_DIRECT,
            offset: 0,
            len: settings.value::<Bytes>("size").0,
            record: settings.value::<Bytes>("record").0 as u32,
            unit: match caching {
                Caching::Direct => DIRECT_UNIT,
                Caching::Buffered => 1,
            },
            writers: settings.value::<u64>("writers") as u32,
            group: settings.value::<u64>("group") as u32,
            durability,
            think: Gap::new(GapShape::Exponential, think),
        };
        let append = spec.append_max();
        if append > spec.len.min(APPEND_MAX) {
            let why = format!(
                "group = {}: an append of {} is more than the log (size = {}) or 1 GiB",
                spec.group,
                Bytes(append),
                Bytes(spec.len)
            );
            return Err(SettingFault::at("group", why));
        }
        Ok(Self {
            spec,
            driver,
            caching,
            time: settings.value("time"),
            on_error: on_error(settings),
            typed: settings.all_typed(),
        })
    }

    fn request(&self, place: &ReplicateContext) -> BenchRequest {
        BenchRequest {
            ranks: None,
            target: place.target.clone(),
            purpose: KIND.name.into(),
            size: Some(Bytes(self.spec.len)),
            reserve: place.shared_reserve(),
            overwrite: place.permission.overwrite,
            confirmed: place.permission.confirmed.clone(),
            storage: StorageSettings {
                driver: self.driver,
                workers: 1,
                caching: self.caching,
                on_error: self.on_error,
                ..default_settings(place.seed)
            },
            setup: Setup::new(KIND.name, place.seed),
            cells: lab::cells::Cells::default(),
        }
    }

    fn trial(&self, size: Bytes, access: Access) -> Trial {
        let spec = LogSpec {
            len: size.0 / u64::from(self.spec.unit) * u64::from(self.spec.unit),
            ..self.spec.clone()
        };
        let clients = OwnSpec {
            kind: KIND.name.into(),
            settings: self.typed.clone(),
            target: spec.target,
            len: spec.len,
            unit: spec.unit,
            len_max: spec.append_max() as u32,
            reads: false,
            writes: true,
            is_durable: true,
            counts: OwnCounts::Units,
            maker: Some(Arc::new(spec)),
        };
        Trial {
            duration_max: self.time,
            ..Trial::new(KIND.name, ClientSpec::Own(clients), access)
        }
    }

    /// Make the log, and append to it.
    fn append(&self, opened: &mut OpenedBench, stop: &Stop) -> Result<Outcome, BenchError> {
        let (bench, facts) = (&mut opened.bench, &opened.facts);
        let mut size = Bytes(self.spec.len);
        if facts.makes_files {
            let made = fill_test_file(bench, size, facts.access, None, stop, &mut |_, _| {});
            size = made?.size;
        }
        if let Bench::Real(real) = bench {
            if !facts.makes_files {
                size = write_over(&mut ***real, size, facts.access, stop)?;
            }
            real.settle_main()?;
        }
        let trial = self.trial(size, facts.access);
        let measured = bench
            .laboratory()
            .measure(&trial, &mut |_| stop.is_raised().is_none());
        let outcome = measured.map_err(|error| stopped(stop).unwrap_or(error.into()))?;
        match outcome.failure {
            None if stop.is_raised().is_none() => Ok(outcome),
            failure => Err(stop_of(&trial.title, failure, stop)),
        }
    }

    fn readings(&self, found: &Measurement) -> Vec<Reading> {
        let committed = (found.completions_all * u64::from(self.spec.record)) as f64;
        let seconds = |metric: KnownMetric, ns: Estimate| {
            metric.reading(ns.value / 1e9).within(ns.scale(1e-9))
        };
        let mut readings = vec![
            COMMITS
                .reading(found.throughput.value)
                .within(found.throughput),
            seconds(LATENCY, found.response.mean),
        ];
        readings.extend(PERCENTILES.iter().filter_map(|(p, metric)| {
            let mut percentiles = found.response.percentiles.iter();
            let ns = percentiles.find(|it| it.p == *p)?.estimate?;
            Some(seconds(*metric, ns))
        }));
        let appends = found.kinds.iter().find(|it| it.kind == "write");
        if let Some(appends) = appends.filter(|it| it.count > 0) {
            let each = found.completions_all as f64 / appends.count as f64;
            readings.push(RECORDS_PER_APPEND.reading(each));
        }
        let device = found.counters.as_ref().and_then(|it| it.device.as_ref());
        if let Some(device) = device.filter(|_| committed > 0.0) {
            let each = device.written_bytes as f64 / committed;
            readings.push(DEVICE_BYTES_PER_BYTE.reading(each));
        }
        readings
    }
}

impl Measuring for Wal {
    fn check(&self, place: &ReplicateContext) -> Result<(), MeasureError> {
        match place.target.model() {
            Some(name) => {
                let spec = open_part(name)?;
                refuse_read_only(&spec)?;
                refuse_larger("the log", self.spec.len, &spec)
            }
            None if place.is_named() => place.refuse_unpermitted(KIND.name),
            None => Ok(()),
        }
    }

    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        Ok(self.measured(place, stop)?.readings)
    }

    fn measured(&self, place: &ReplicateContext, stop: &Stop) -> Result<Measured, MeasureError> {
        self.check(place)?;
        let mut opened = open_bench(&self.request(place))?;
        let outcome = match self.append(&mut opened, stop) {
            Ok(outcome) => outcome,
            Err(error) => return Err(opened.bench.abandon(error).into()),
        };
        let mut warnings = outcome.measurement.warnings.clone();
        if place.is_named() {
            warnings.extend(opened.bench.warnings(&[]));
        }
        warnings.extend(opened.bench.clean_up());
        Ok(Measured {
            readings: self.readings(&outcome.measurement),
            warnings,
        })
    }
}
