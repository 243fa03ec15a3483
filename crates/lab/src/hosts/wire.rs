//! What ranks tell each other about trials, as bytes. Counts and sums travel exactly: what comes
//! out when records are added is what one host would have recorded.

use std::collections::BTreeMap;

use engine::{KindRecord, Record, RoomWaits, Unfinished};
use fleet::{FleetError, Share};
use procedure::{OwnWork, Preparation, Trial};
use results::{Access, Measurement};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stats::{Channel, Histogram, Slot};
use units::{Duration, Instant};
use workload::{ClientSpec, Errno, Gap, OpKind, Pacing};

use super::row_form::RowForm;

/// What rank 0 orders between trials.
#[derive(Serialize, Deserialize)]
pub enum Order {
    /// Carry out this rank's share of a trial.
    Measure(TrialForm, Scope),
    /// Carry out the trial with that salt of the list that every rank has made for itself.
    Listed(u64, Scope),
    /// Take a step that is no trial.
    Step(HostStep),
    /// Remove what was made, and part.
    Part,
}

/// What of a trial a host carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// Its share of the clients: the load is that of all hosts together.
    Dealt,
    /// All of them, as it would alone, on a test file of its own: the load is that of each host.
    Each,
}

impl Scope {
    /// Which of a trial's clients a rank with that share carries out.
    pub const fn share(self, share: Share) -> Share {
        match self {
            Self::Dealt => share,
            Self::Each => Share::WHOLE,
        }
    }

    /// The trial of all hosts together, of one that is ordered.
    pub fn whole(self, trial: &Trial, ranks: u32) -> Trial {
        let times = match self {
            Self::Dealt => 1,
            Self::Each => ranks,
        };
        Trial {
            clients: trial.clients.saturating_mul(times),
            depth: trial.depth.saturating_mul(times),
            ..trial.clone()
        }
    }
}

/// What a host does to its test files between trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostStep {
    /// Make them: bytes of each, and of the one for the page cache.
    LayOut { size: u64, cached: u64 },
    /// From now on every block that is read must be one that was written.
    VerifyFromNow,
    /// Write blocks as records, which can be checked.
    WriteRecords,
    /// Read blocks without a check.
    ReadUnchecked,
    /// Wait until what was written is with the storage.
    Settle,
}

/// What is said during a trial.
#[derive(Serialize, Deserialize)]
pub enum Note {
    /// Start at that instant of the receiver's clock.
    Go {
        start: Instant,
    },
    /// Do not start: another rank failed.
    CallOff,
    Stop,
    /// Slots that a rank closed; none of its later ones begins before `elapsed`.
    Slots {
        elapsed: Duration,
        slots: Vec<Slot>,
    },
    /// The rank has stopped by itself.
    Ended,
    /// Its clients have done all that they had to do.
    Finished,
}

/// Whether a rank is ready, or why it is not.
pub type Readiness = Result<(), String>;

/// What a rank found.
#[derive(Serialize, Deserialize)]
pub struct Report {
    /// From the start to the end of the trial there.
    pub elapsed: Duration,
    /// What was recorded.
    pub record: RecordForm,
    /// The rank's own measurement, as JSON: it is shown, and never added.
    pub row: Option<String>,
    /// What the rank can have caused on its device; `None` where that is not known.
    pub own: Option<OwnWork>,
    /// What clients that a kind brings itself saw, in the kind's own form.
    pub told: Vec<u8>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

impl Report {
    /// The rank's own measurement, if it has one that can be read.
    pub fn measurement(&self) -> Option<Measurement> {
        serde_json::from_str(self.row.as_ref()?).ok()
    }
}

/// A trial as it travels.
#[derive(Serialize, Deserialize)]
pub struct TrialForm {
    name: String,
    title: String,
    /// What a client does, as JSON ...
    spec: String,
    /// ... and its mean gap or think time in nanoseconds, which JSON may round.
    mean_ns: Option<f64>,
    clients: u32,
    depth: u32,
    access: Access,
    preparation: u8,
    duration_max: Duration,
    salt: u64,
    warm_up: Option<Duration>,
}

/// What is done to the page cache before a trial, by number.
const PREPARATIONS: [Preparation; 3] = [
    Preparation::None,
    Preparation::DropCache,
    Preparation::FillCache,
];

impl TrialForm {
    /// # Panics
    /// For trials that fleets do not run: of several workloads, or of a kind's own clients.
    pub fn of(trial: &Trial) -> Self {
        assert!(
            !matches!(trial.spec, ClientSpec::Jobs(_) | ClientSpec::Own(_)),
            "a fleet runs trials of a single workload that can be sent to other hosts"
        );
        let mut numbers = (0..).zip(PREPARATIONS);
        let preparation = numbers.find(|it| it.1 == trial.preparation);
        Self {
            name: trial.name.clone(),
            title: trial.title.clone(),
            spec: serde_json::to_string(&trial.spec).expect("a specification has no keys but text"),
            mean_ns: gap_of(&mut trial.spec.clone()).map(|gap| gap.mean_ns),
            clients: trial.clients,
            depth: trial.depth,
            access: trial.access,
            preparation: preparation.map_or(0, |it| it.0),
            duration_max: trial.duration_max,
            salt: trial.salt,
            warm_up: trial.warm_up,
        }
    }

    /// The trial; rank 0 alone knows when it is precise enough, or clear of its limit.
    pub fn trial(self) -> Result<Trial, serde_json::Error> {
        let mut spec: ClientSpec = serde_json::from_str(&self.spec)?;
        if let (Some(gap), Some(mean_ns)) = (gap_of(&mut spec), self.mean_ns) {
            gap.mean_ns = mean_ns;
        }
        Ok(Trial {
            name: self.name,
            title: self.title,
            spec,
            clients: self.clients,
            depth: self.depth,
            access: self.access,
            preparation: PREPARATIONS
                .get(usize::from(self.preparation))
                .copied()
                .unwrap_or(Preparation::None),
            goal: None,
            channel: Channel::Response,
            duration_max: self.duration_max,
            salt: self.salt,
            sample_every: None,
            limit: None,
            warm_up: self.warm_up,
        })
    }
}

fn gap_of(spec: &mut ClientSpec) -> Option<&mut Gap> {
    match spec {
        ClientSpec::Mix(mix) => match &mut mix.pacing {
            Pacing::Open { gap } | Pacing::Closed { think: gap } => Some(gap),
        },
        _ => None,
    }
}

/// Times of one kind of operation: two histograms as they write themselves, and bytes moved.
type KindForm = (Vec<u8>, Vec<u8>, u64);

/// A [`Record`] as it travels.
#[derive(Default, Serialize, Deserialize)]
pub struct RecordForm {
    kinds: Vec<(u8, KindForm)>,
    units: Vec<(u32, KindForm)>,
    errors: Vec<((u8, i32), KindForm)>,
    short: Vec<(u8, KindForm)>,
    lateness: Vec<u8>,
    rows: Vec<RowForm>,
    unfinished: ([u64; 6], Option<u64>, Vec<u8>),
    room: [u64; 5],
}

/// The histogram of `bytes`, of which an empty form has none.
fn perhaps_empty(bytes: &[u8]) -> Option<Histogram> {
    match bytes {
        [] => Some(Histogram::new()),
        bytes => Histogram::from_bytes(bytes).ok(),
    }
}

impl RecordForm {
    /// # Errors
    /// When a count is too large for the format of histograms.
    pub fn of(record: &Record) -> Result<Self, stats::HistogramError> {
        let form = |it: &KindRecord| -> Result<KindForm, stats::HistogramError> {
            Ok((it.response.to_bytes()?, it.service.to_bytes()?, it.bytes))
        };
        let by_kind = |all: &BTreeMap<OpKind, KindRecord>| -> Result<Vec<_>, _> {
            let each = all.iter();
            each.map(|(kind, it)| Ok((*kind as u8, form(it)?)))
                .collect()
        };
        let units = record.units.iter();
        let units = units.map(|(profile, it)| Ok((*profile, form(it)?)));
        let errors = record.errors.iter();
        let errors = errors.map(|((kind, errno), it)| Ok(((*kind as u8, errno.0), form(it)?)));
        let (unfinished, room) = (&record.unfinished, &record.room);
        Ok(Self {
            kinds: by_kind(&record.kinds)?,
            units: units.collect::<Result<_, _>>()?,
            errors: errors.collect::<Result<_, _>>()?,
            short: by_kind(&record.short)?,
            lateness: record.lateness.to_bytes()?,
            rows: record
                .rows
                .iter()
                .map(RowForm::of)
                .collect::<Result<_, _>>()?,
            unfinished: (
                [
                    unfinished.with_storage,
                    unfinished.with_storage_ns,
                    unfinished.backlog,
                    unfinished.backlog_ns,
                    unfinished.longest_service_ns,
                    unfinished.done,
                ],
                unfinished.silent_ns,
                unfinished.times.to_bytes()?,
            ),
            room: [
                room.waited,
                room.waited_ns,
                room.waited_service_ns,
                room.free,
                room.free_service_ns,
            ],
        })
    }

    /// The record; `None` where the bytes are none.
    pub fn record(&self) -> Option<Record> {
        let kind = |number: u8| OpKind::ALL.into_iter().find(|it| *it as u8 == number);
        let times = |(response, service, bytes): &KindForm| {
            Some(KindRecord {
                response: Histogram::from_bytes(response).ok()?,
                service: Histogram::from_bytes(service).ok()?,
                bytes: *bytes,
            })
        };
        let by_kind = |all: &[(u8, KindForm)]| -> Option<BTreeMap<OpKind, KindRecord>> {
            let each = all.iter();
            each.map(|(number, form)| Some((kind(*number)?, times(form)?)))
                .collect()
        };
        let units = self.units.iter();
        let units = units.map(|(profile, form)| Some((*profile, times(form)?)));
        let errors = self.errors.iter();
        let errors = errors
            .map(|((number, errno), form)| Some(((kind(*number)?, Errno(*errno)), times(form)?)));
        let (counts, silent_ns, times_left) = &self.unfinished;
        let [
            with_storage,
            with_storage_ns,
            backlog,
            backlog_ns,
            longest_service_ns,
            done,
        ] = *counts;
        let [waited, waited_ns, waited_service_ns, free, free_service_ns] = self.room;
        Some(Record {
            kinds: by_kind(&self.kinds)?,
            units: units.collect::<Option<_>>()?,
            errors: errors.collect::<Option<_>>()?,
            short: by_kind(&self.short)?,
            lateness: perhaps_empty(&self.lateness)?,
            unfinished: Unfinished {
                with_storage,
                with_storage_ns,
                backlog,
                backlog_ns,
                times: perhaps_empty(times_left)?,
                longest_service_ns,
                done,
                silent_ns: *silent_ns,
            },
            room: RoomWaits {
                waited,
                waited_ns,
                waited_service_ns,
                free,
                free_service_ns,
            },
            rows: self.rows.iter().map(RowForm::row).collect::<Option<_>>()?,
        })
    }
}

/// A value as bytes.
///
/// # Panics
/// Never for the values of this file: they are numbers, text and lists.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("numbers, text and lists can be written")
}

/// The value that a rank sent.
///
/// # Errors
/// When it sent something else.
// fuzzed: wire
pub fn from_bytes<T: DeserializeOwned>(rank: u32, bytes: &[u8]) -> Result<T, FleetError> {
    postcard::from_bytes(bytes).map_err(|error| FleetError::Unexpected {
        rank,
        what: format!("what this program does not send here ({error})"),
    })
}

#[cfg(test)]
mod tests {
    use engine::RowRecord;
    use random::{Purpose, Stream};
    use units::TimeSpan;
    use workload::{
        AddressSpec, Durability, GapShape, Mix, MixSpec, Partition, Pattern, Region, Size, Start,
        TargetId,
    };

    use super::*;

    /// A record of so many operations, whose times are drawn.
    fn record(seed: u64, operations: usize) -> Record {
        let mut stream = Stream::new(seed, 0, Purpose::Device);
        let mut record = Record::default();
        for _ in 0..operations {
            let time = 1 << stream.below(40);
            let (response, service) = (time + stream.below(time), time);
            let kind = [OpKind::Read, OpKind::Write][stream.below(2) as usize];
            let unit = record.units.entry(stream.below(3) as u32).or_default();
            unit.response.record(response);
            let all = match stream.below(50) {
                0 => record.errors.entry((kind, Errno(5))).or_default(),
                1 => record.short.entry(kind).or_default(),
                _ => record.kinds.entry(kind).or_default(),
            };
            all.response.record(response);
            all.service.record(service);
            all.bytes += 4096;
            record.lateness.record(response - service);
            let row = (stream.below(3) as u32, kind);
            let row: &mut RowRecord = record.rows.entry(row).or_default();
            row.submission.record(response - service);
            row.service.record(service);
            row.bytes += 512;
            row.span = row
                .span
                .with(TimeSpan::new(Duration(time / 2), Duration(time)));
            row.windows.resize(stream.below(9) as usize + 1, (seed, 1));
            record.room.free += 1;
            record.unfinished.backlog_ns += time;
            record.unfinished.times.record(time);
            record.unfinished.silent_ns = Some(time);
        }
        record
    }

    #[track_caller]
    fn check_equal(one: &Record, other: &Record) {
        let same = |one: &KindRecord, other: &KindRecord| {
            one.response == other.response
                && one.service == other.service
                && one.bytes == other.bytes
        };
        assert!(one.kinds.keys().eq(other.kinds.keys()));
        assert!(
            one.kinds
                .iter()
                .all(|(kind, it)| same(it, &other.kinds[kind]))
        );
        assert!(one.errors.keys().eq(other.errors.keys()));
        assert!(
            one.errors
                .iter()
                .all(|(key, it)| same(it, &other.errors[key]))
        );
        assert!(
            one.short
                .iter()
                .all(|(kind, it)| same(it, &other.short[kind]))
        );
        assert!(one.units.keys().eq(other.units.keys()));
        assert!(
            one.units
                .iter()
                .all(|(profile, it)| same(it, &other.units[profile]))
        );
        assert!(one.lateness == other.lateness);
        let is_same_row = |one: &RowRecord, other: &RowRecord| {
            let times = |it: &RowRecord| {
                let all = [&it.response, &it.service, &it.submission];
                all.map(Clone::clone)
            };
            times(one) == times(other)
                && (one.bytes, one.span, &one.windows) == (other.bytes, other.span, &other.windows)
        };
        assert!(one.rows.keys().eq(other.rows.keys()));
        let mut rows = one.rows.iter();
        assert!(rows.all(|(key, it)| is_same_row(it, &other.rows[key])));
        assert_eq!(one.room, other.room);
        assert_eq!(one.unfinished, other.unfinished);
    }

    /// What several hosts recorded, sent and added is what one would have recorded, to the count.
    #[test]
    fn records_that_travelled_add_up_exactly() {
        for seed in 0..20 {
            let hosts: Vec<Record> = (0..4).map(|host| record(seed * 4 + host, 2000)).collect();
            let (mut sent, mut all) = (Record::default(), Record::default());
            for host in &hosts {
                all.merge(host);
                let bytes = to_bytes(&RecordForm::of(host).expect("small counts"));
                let form: RecordForm = from_bytes(1, &bytes).expect("own bytes");
                sent.merge(&form.record().expect("own record"));
            }
            check_equal(&sent, &all);
        }
        check_equal(
            &RecordForm::default().record().expect("an empty record"),
            &Record::default(),
        );
    }

    #[test]
    fn a_trial_travels_to_the_last_bit() {
        for mean_ns in [0.0, 1e9 / 3.0, 123_456.789_012_345_67, f64::MIN_POSITIVE] {
            let gap = Gap {
                shape: GapShape::Exponential,
                mean_ns,
            };
            let mix = MixSpec {
                addresses: AddressSpec {
                    region: Region {
                        target: TargetId(0),
                        offset: 0,
                        len: 1 << 30,
                        block: 4096,
                    },
                    partition: Partition::Contending,
                    pattern: Pattern::Zipf { theta: 0.99 },
                    start: Start::Random,
                },
                mix: Mix::READ,
                sizes: vec![Size {
                    len: 4096,
                    weight: 1,
                }],
                durability: Durability::Volatile,
                pacing: Pacing::Open { gap },
                operations: None,
                spread: None,
            };
            let trial = Trial {
                name: "trial".into(),
                title: "random read".into(),
                spec: ClientSpec::Mix(mix),
                clients: 7,
                depth: 9,
                access: Access::Direct,
                preparation: Preparation::FillCache,
                goal: None,
                channel: Channel::Response,
                duration_max: Duration::from_millis(1234),
                salt: 99,
                sample_every: None,
                limit: None,
                warm_up: Some(Duration(5)),
            };
            let bytes = to_bytes(&TrialForm::of(&trial));
            let form: TrialForm = from_bytes(0, &bytes).expect("own bytes");
            assert_eq!(form.trial().expect("own trial"), trial);
        }
    }
}
