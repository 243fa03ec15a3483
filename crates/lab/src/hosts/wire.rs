//! Messages between ranks about trials, as bytes. Counts and sums travel exactly, so that adding
//! records gives what a single host would have recorded.

use std::fmt::Display;

use engine::Record;
use fleet::{ClientShare, FleetError};
use procedure::{OwnDeviceWork, Trial};
use results::Measurement;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stats::Slot;
use units::{Duration, Instant};

/// Orders from rank 0 between trials.
#[derive(Serialize, Deserialize)]
pub enum RankCommand {
    /// Run this rank's share of a trial.
    Measure(Box<Trial>, Scope),
    /// Run the trial with that salt from the list that every rank created itself.
    Listed(u64, Scope),
    /// Take a step other than a trial.
    Step(HostStep),
    /// Remove created files, and part.
    Part,
}

/// Which part of a trial a host runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// Its share of the clients: the load is that of all hosts together.
    Dealt,
    /// All clients, as it would alone, on a test file of its own: the load is that of each host.
    Each,
}

impl Scope {
    /// The clients of a trial that a rank with that share runs.
    pub const fn share(self, share: ClientShare) -> ClientShare {
        match self {
            Self::Dealt => share,
            Self::Each => ClientShare::WHOLE,
        }
    }

    /// The combined trial of all hosts for one that is ordered.
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

/// Operations on test files between trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostStep {
    /// Create them: bytes of each, and of the one for the page cache.
    LayOut { size: u64, cached: u64 },
    /// From now on, verify every block that is read.
    VerifyFromNow,
    /// Write blocks as verifiable records.
    WriteRecords,
    /// Read blocks without verification.
    ReadUnchecked,
    /// Wait until written data is on the storage.
    Settle,
}

/// Messages during a trial.
#[derive(Serialize, Deserialize)]
pub enum Note {
    /// Start at that time of the receiver's clock.
    Go {
        start: Instant,
    },
    /// Do not start: another rank failed.
    CallOff,
    Stop,
    /// Slots closed by a rank. Its later ones all start at or after `elapsed`.
    Slots {
        elapsed: Duration,
        slots: Vec<Slot>,
    },
    /// The rank has stopped on its own.
    Ended,
    /// Its clients have finished.
    Finished,
}

/// Slots are nearly all that ranks send, and none of their fields is ever left out: without names
/// they are a third as long, and read in a third of the time.
impl Note {
    /// The note as bytes.
    ///
    /// # Panics
    /// Never: it has only numbers and lists.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("numbers and lists can be written")
    }

    /// Decodes a note from a rank.
    ///
    /// # Errors
    /// If the bytes are not a note.
    // fuzzed: wire
    pub fn from_bytes(rank: u32, bytes: &[u8]) -> Result<Self, FleetError> {
        postcard::from_bytes(bytes).map_err(|error| unexpected(rank, &error))
    }
}

/// Whether a rank is ready, or why it is not.
pub type Readiness = Result<(), String>;

/// Results of a rank.
#[derive(Serialize, Deserialize)]
pub struct RankReport {
    /// Length of the trial there.
    pub elapsed: Duration,
    /// The record.
    pub record: Record,
    /// The rank's own measurement: shown, but never added.
    pub row: Option<Measurement>,
    /// Upper bound of the rank's I/O on its device; `None` if unknown.
    pub own: Option<OwnDeviceWork>,
    /// Report of clients that a kind provides, in the form of the kind.
    pub own_report: Vec<u8>,
    /// Why it failed, if so.
    pub failure: Option<String>,
}

/// Maximum nesting of messages, which ours never approach.
const DEPTH_MAX: usize = 64;

/// Encodes a value as MessagePack with field names, since fields may be omitted.
///
/// # Panics
/// Never for the values that ranks send: numbers, text, lists and tables.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    rmp_serde::to_vec_named(value).expect("numbers, text, lists and tables can be written")
}

/// Decodes a value from a rank.
///
/// # Errors
/// If the bytes are not such a value.
// fuzzed: wire
pub fn from_bytes<T: DeserializeOwned>(rank: u32, bytes: &[u8]) -> Result<T, FleetError> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(bytes);
    reader.set_max_depth(DEPTH_MAX);
    T::deserialize(&mut reader).map_err(|error| unexpected(rank, &error))
}

fn unexpected(rank: u32, error: &dyn Display) -> FleetError {
    FleetError::Unexpected {
        rank,
        what: format!("what this program does not send here ({error})"),
    }
}

#[cfg(test)]
mod tests {
    use engine::RowRecord;
    use procedure::Preparation;
    use random::{Purpose, Stream};
    use results::Access;
    use stats::Channel;
    use units::TimeSpan;
    use workload::{
        AddressSpec, ClientSpec, Durability, Errno, Gap, GapShape, JobRate, Mix, MixSpec, OpKind,
        OperationSize, Pacing, Partition, Pattern, RateMiss, Region, TargetId, WalkStart,
    };

    use super::*;

    /// A record of `operations` operations with random times.
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
            row.missed = Some(RateMiss {
                kind,
                wanted: JobRate::Requests {
                    per_second: 1e9 / 3.0,
                },
                found: seed,
                within: Duration(time),
            });
            record.room.free += 1;
            record.unfinished.backlog_ns += time;
            record.unfinished.times.record(time);
            record.unfinished.silent_ns = Some(time);
        }
        record
    }

    /// Adding the records of several hosts after transmission gives what one host would have
    /// recorded, to the count.
    #[test]
    fn records_that_travelled_add_up_exactly() {
        for seed in 0..20 {
            let hosts: Vec<Record> = (0..4).map(|host| record(seed * 4 + host, 2000)).collect();
            let (mut sent, mut all) = (Record::default(), Record::default());
            for host in &hosts {
                all.merge(host);
                let there: Record = from_bytes(1, &to_bytes(host)).expect("own bytes");
                sent.merge(&there);
            }
            assert_eq!(sent, all);
        }
        let empty = Record::default();
        assert_eq!(from_bytes::<Record>(1, &to_bytes(&empty)), Ok(empty));
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
                    start: WalkStart::Random,
                },
                mix: Mix::READ,
                sizes: vec![OperationSize {
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
            assert_eq!(from_bytes(0, &to_bytes(&trial)), Ok(trial));
        }
    }
}
