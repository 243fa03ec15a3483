//! `mail`: the spool of a mail server. Sessions deliver messages, each durable with its entry in
//! the index before the sender is told, read recent ones and delete old ones.
//!
//! Of five operations two deliver, two read and one deletes, as in filebench's `varmail`. Sizes are
//! log-normal, with a median of 4 KiB and a deviation of the logarithms of 1.75: a fit to the
//! shares of a mail server that were published on freebsd-net in October 2002 (24 % of the
//! messages below 2 KiB, 49 % below 4 KiB, 68 % below 8 KiB, 80 % below 16 KiB, 90 % below 64 KiB,
//! 96 % below 256 KiB). The law has 35, 50, 65, 79, 94 and 99 %, and a mean of 18.9 kB, near the
//! 16 KiB of varmail.
//!
//! A spool is one file, as Dovecot's mdbox has few: messages are appended behind each other, and
//! the index is a log before them. What it costs to make and remove a file for each message is
//! what `files --workload metadata` measures.

mod spool;

use std::sync::Arc;

use drivers::DriverKind;
use procedure::MAIN_DIRECT;
use results::metric::{
    DELIVERIES, LATENCY, LATENCY_P50, LATENCY_P95, LATENCY_P99, MESSAGE_READ, MESSAGE_SIZE,
    MESSAGES_READ,
};
use results::{KnownMetric, Measurement, Reading};
use units::{Bytes, Duration};
use workload::{Durability, Gap, GapShape, OwnSpec};

use super::client_load::{ClientLoad, LoadRules};
use super::form::ValueForm;
use super::kind::{Kind, flag, made, settings};
use super::settings::{SettingFault, Settings};
use super::targets::{ERRORS, TargetUse, Targets};
use spool::SpoolSpec;

pub const KIND: Kind = Kind {
    name: "mail",
    about: "a mail spool: durable deliveries, reads of recent messages, and deletions",
    settings: settings! {
        /// sessions that deliver, read and delete, each one message at a time
        sessions = SESSIONS.or("8"),
        /// size that half of the messages are below. Sizes are log-normal
        median = MEDIAN.or("4KiB"),
        /// larger messages are cut
        largest = LARGEST.or("1MiB"),
        /// mean age of a message that is read, in messages, negative exponential
        recent = RECENT.or("100"),
        /// how a delivery is made durable: a call after the write, or a write as with O_DSYNC
        sync = ValueForm::Words(&["fdatasync", "fsync", "dsync"]).or("fsync"),
        /// mean time from an operation to the session's next, negative exponential (default: none)
        think = THINK.optional(),
        /// bytes of the spool, which is used again and again
        size = SIZE.or("256MiB"),
        /// whether the page cache is bypassed. Messages are then whole blocks of 4 KiB
        direct = flag(false),
        /// how long each repeat takes
        time = TIME.or("2s"),
        errors = ERRORS,
    },
    readings: &[
        DELIVERIES,
        LATENCY,
        LATENCY_P50,
        LATENCY_P95,
        LATENCY_P99,
        MESSAGE_SIZE,
        MESSAGES_READ,
        MESSAGE_READ,
    ],
    targets: Targets::and(TargetUse::Overwritten).on_hosts(),
    in_place: None,
    is_command: true,
    make: |settings| made(Mail::from_settings(settings)),
};

const SESSIONS: ValueForm = ValueForm::Count(1, 100_000);
const MEDIAN: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_mib(16));
const LARGEST: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_mib(64));
const RECENT: ValueForm = ValueForm::Count(1, 1_000_000);
const SIZE: ValueForm = ValueForm::Size(Bytes::from_mib(4), Bytes::from_gib(1 << 10));
const TIME: ValueForm = ValueForm::Time(Duration::from_millis(100), Duration::from_secs(3600));
const THINK: ValueForm = ValueForm::Time(Duration::from_nanos(1), Duration::from_secs(3600));
/// Messages of the largest size that a spool has room for at least: those under way, and some.
const LARGEST_PART: u64 = 4;

/// A mail spool.
#[derive(Clone, Debug)]
pub struct Mail {
    spec: SpoolSpec,
    rules: LoadRules,
}

impl Mail {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let durability = settings.choice(
            "sync",
            &[
                ("fdatasync", Durability::DataSynced),
                ("fsync", Durability::Synced),
                ("dsync", Durability::Through),
            ],
        );
        let rules = LoadRules::of(settings, DriverKind::Threads);
        let think = settings.optional("think").unwrap_or_default();
        let spec = SpoolSpec {
            target: MAIN_DIRECT,
            len: rules.len,
            unit: rules.unit(),
            sessions: settings.value::<u64>("sessions") as u32,
            median: settings.value::<Bytes>("median").0,
            largest: settings.value::<Bytes>("largest").0,
            recent: settings.value::<u64>("recent") as f64,
            durability,
            think: Gap::new(GapShape::Exponential, think),
        };
        let largest = spec.longest();
        let sessions = u64::from(spec.sessions).max(LARGEST_PART);
        if largest.saturating_mul(sessions) > spec.len - spec.index() {
            let why = format!(
                "largest = {}: {sessions} messages of it do not fit the spool (size = {})",
                Bytes(spec.largest),
                Bytes(spec.len)
            );
            return Err(SettingFault::at("largest", why));
        }
        Ok(Self { spec, rules })
    }
}

impl ClientLoad for Mail {
    fn rules(&self) -> &LoadRules {
        &self.rules
    }

    fn what(&self) -> &'static str {
        "the spool"
    }

    fn depth(&self) -> u32 {
        self.spec.sessions
    }

    fn clients(&self, len: u64) -> OwnSpec {
        let spec = SpoolSpec {
            len,
            ..self.spec.clone()
        };
        OwnSpec {
            reads: true,
            maker: Some(Arc::new(spec)),
            ..self.rules.clients(len, self.spec.longest())
        }
    }

    fn rate(&self) -> KnownMetric {
        DELIVERIES
    }

    fn others(&self, found: &Measurement) -> Vec<Reading> {
        let delivered = found.completions_all;
        let written = found.kinds.iter().find(|it| it.kind == "write");
        // A delivery writes a message and an entry, a deletion an entry.
        let each = written.filter(|_| delivered > 0).map(|it| {
            let entries = (it.count - delivered) * self.spec.entry();
            (it.bytes - entries) as f64 / delivered as f64
        });
        let read = found.kinds.iter().find(|it| it.kind == "read");
        let read = read.filter(|it| it.count > 0 && delivered > 0);
        let for_each = |count: u64| count as f64 / delivered as f64;
        let readings = [
            each.map(|it| MESSAGE_SIZE.reading(it)),
            read.map(|it| MESSAGES_READ.reading(for_each(it.count) * found.throughput.value)),
            read.map(|it| MESSAGE_READ.reading(it.response_mean_ns / 1e9)),
        ];
        readings.into_iter().flatten().collect()
    }
}
