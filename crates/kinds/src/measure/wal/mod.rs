//! `wal`: a write-ahead log, as databases keep one: records are appended by many sessions, and none
//! is committed before it is durable.
//!
//! The log is written once before it is measured, as databases use their segments again: an append
//! does not lengthen the file. `copy` and `files` measure what a growing file costs.

pub(crate) mod log;

use std::sync::Arc;

use drivers::DriverKind;
use procedure::MAIN_DIRECT;
use results::metric::{
    COMMITS, DEVICE_BYTES_PER_BYTE, LATENCY, LATENCY_P50, LATENCY_P95, LATENCY_P99,
    RECORDS_PER_APPEND,
};
use results::{KnownMetric, Measurement, Reading};
use units::{Bytes, Duration};
use workload::{Durability, Gap, GapShape, OwnSpec};

use super::client_load::{ClientLoad, LoadRules};
use super::form::ValueForm;
use super::kind::{Kind, flag, made, settings};
use super::settings::{SettingFault, Settings};
use super::targets::{ERRORS, TargetUse, Targets};
use log::LogSpec;

pub const KIND: Kind = Kind {
    name: "wal",
    about: "a write-ahead log: records that sessions append and wait for until they are durable",
    settings: settings! {
        /// bytes of a record
        record = RECORD.or("4KiB"),
        /// sessions that write, each one record at a time
        writers = WRITERS.or("1"),
        /// most records made durable together (group commit)
        group = WRITERS.or("64"),
        /// how an append is made durable: a call after the write, O_DSYNC, or an fsync linked in
        /// io_uring
        sync = ValueForm::Words(&["fdatasync", "fsync", "dsync", "linked"]).or("fdatasync"),
        /// mean time from a commit to the session's next record, negative exponential (default:
        /// none)
        think = THINK.optional(),
        /// bytes of the log, which is used again and again
        size = SIZE.or("64MiB"),
        /// whether the page cache is bypassed. Appends are then whole blocks of 4 KiB
        direct = flag(false),
        /// how long each repeat takes
        time = TIME.or("2s"),
        errors = ERRORS,
    },
    readings: &[
        COMMITS,
        LATENCY,
        LATENCY_P50,
        LATENCY_P95,
        LATENCY_P99,
        RECORDS_PER_APPEND,
        DEVICE_BYTES_PER_BYTE,
    ],
    targets: Targets::and(TargetUse::Overwritten).on_hosts(),
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
/// A write-ahead log.
#[derive(Clone, Debug)]
pub struct Wal {
    spec: LogSpec,
    rules: LoadRules,
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
        let rules = LoadRules::of(settings, driver);
        let think = settings.optional("think").unwrap_or_default();
        let spec = LogSpec {
            target: MAIN_DIRECT,
            offset: 0,
            len: rules.len,
            record: settings.value::<Bytes>("record").0 as u32,
            unit: rules.unit(),
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
        Ok(Self { spec, rules })
    }
}

impl ClientLoad for Wal {
    fn rules(&self) -> &LoadRules {
        &self.rules
    }

    fn what(&self) -> &'static str {
        "the log"
    }

    fn clients(&self, len: u64) -> OwnSpec {
        let spec = LogSpec {
            len,
            ..self.spec.clone()
        };
        OwnSpec {
            maker: Some(Arc::new(spec)),
            ..self.rules.clients(len, self.spec.append_max())
        }
    }

    fn rate(&self) -> KnownMetric {
        COMMITS
    }

    fn others(&self, found: &Measurement) -> Vec<Reading> {
        let committed = (found.completions_all * u64::from(self.spec.record)) as f64;
        let appends = found.kinds.iter().find(|it| it.kind == "write");
        let appends = appends.filter(|it| it.count > 0);
        let each = appends.map(|it| found.completions_all as f64 / it.count as f64);
        let device = found.counters.as_ref().and_then(|it| it.device.as_ref());
        let device = device.filter(|_| committed > 0.0);
        let written = device.map(|it| it.written_bytes as f64 / committed);
        let readings = [
            each.map(|it| RECORDS_PER_APPEND.reading(it)),
            written.map(|it| DEVICE_BYTES_PER_BYTE.reading(it)),
        ];
        readings.into_iter().flatten().collect()
    }
}
