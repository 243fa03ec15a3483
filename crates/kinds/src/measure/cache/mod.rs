//! `cache`: which share of reads is answered from memory, by a buffer of the program's own and by
//! the system's page cache.
//!
//! Before every read the page cache is looked into, so each read is known to be a hit or a miss. On
//! a model the file cache of its host takes the page cache's place, and tells what it answered.

mod buffer;
mod reads;

use drivers::Caching;
use random::{LawError, Permutation, Purpose, Stream, Zipf};
use results::metric::{BUFFER_HITS, HITS, PAGE_CACHE_HITS, READ_TIME, READS_PER_SECOND};
use results::{KnownMetric, Reading};
use units::Bytes;
use workload::THETA_MIN;

use super::Stop;
use super::applies::Applies;
use super::form::ValueForm;
use super::kind::{Kind, Measuring, flag, made, settings};
use super::place::{MeasureError, ReplicateContext, Result, go_on};
use super::records;
use super::settings::{SettingFault, Settings};
use super::targets::{TargetUse, Targets};
use buffer::RecordCache;
use lab::bench::BenchError;
use lab::simulated::open_model;
use reads::{FileReads, ModelReads, RecordReads};

pub const KIND: Kind = Kind {
    name: "cache",
    about: "the hit ratio of reads against the size of a buffer",
    settings: settings! {
        /// bytes that are read: of a file that is made, or the first of what is named
        working_set = ValueForm::Size(Bytes(1), SIZE_MAX).or("16MiB"),
        /// memory of the program's own, in which the records read last are kept
        buffer = ValueForm::Size(Bytes(0), SIZE_MAX).or("0"),
        /// bytes of one read
        record = RECORD.or("4KiB"),
        /// reads that are counted
        reads = READS.or("10000"),
        /// reads before them that are not
        warm_up = WARM_UP.or("0"),
        /// how reads are distributed over records
        popularity = ValueForm::Pattern(&["uniform", "zipf:THETA"]).or("uniform"),
        /// whether the page cache is bypassed, so that only the buffer answers
        direct = flag(false).applying(DEFINED),
    },
    readings: &[
        HITS,
        BUFFER_HITS,
        PAGE_CACHE_HITS,
        READ_TIME,
        READS_PER_SECOND,
    ],
    targets: Targets::and(TargetUse::Read),
    in_place: None,
    is_command: true,
    make: |settings| made(Cache::from_settings(settings)),
};

const SIZE_MAX: Bytes = Bytes::from_gib(1 << 10);
const DEFINED: Applies = Applies::ToFiles("whether a model has a file cache is in its definition");
const RECORD: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_mib(64));
const READS: ValueForm = ValueForm::Count(1, 1 << 40);
const WARM_UP: ValueForm = ValueForm::Count(0, 1 << 40);
/// The largest exponent of Zipf's law: above it, almost all reads go to one record.
const THETA_MAX: f64 = 10.0;

/// Reads of a working set.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    working_set: Bytes,
    buffer: Bytes,
    record: Bytes,
    reads: u64,
    warm_up: u64,
    popularity: Popularity,
    caching: Caching,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Popularity {
    Uniform,
    Zipf { theta: f64 },
}

impl Cache {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let (record, working_set): (Bytes, Bytes) =
            (settings.value("record"), settings.value("working-set"));
        if record > working_set {
            let why = format!("record = {record} is more than the working set of {working_set}");
            return Err(SettingFault::at("record", why));
        }
        Ok(Self {
            working_set: record * (working_set / record),
            buffer: settings.value("buffer"),
            record,
            reads: settings.value("reads"),
            warm_up: settings.value("warm-up"),
            popularity: popularity(settings)?,
            caching: settings.caching(),
        })
    }

    fn from(&self, place: &ReplicateContext, stop: &Stop) -> Result<Box<dyn RecordReads>> {
        Ok(match place.target.model() {
            Some(name) => {
                let spec = open_model(name).map_err(BenchError::from)?;
                Box::new(ModelReads::new(self, &spec, place)?)
            }
            None if place.is_named() => Box::new(FileReads::named(self, place)?),
            None => Box::new(FileReads::make(self, place, stop)?),
        })
    }

    /// Which record is read next.
    fn numbers(&self, seed: u64) -> Result<impl FnMut() -> u64 + use<>, LawError> {
        let records = self.working_set / self.record;
        let mut stream = Stream::new(seed, 0, Purpose::Address);
        let scatter = Permutation::new(records, &mut Stream::new(seed, 0, Purpose::Scatter))?;
        let law = match self.popularity {
            Popularity::Uniform => None,
            Popularity::Zipf { theta } => Some(Zipf::new(records, theta)?),
        };
        Ok(move || match &law {
            None => stream.below(records),
            Some(law) => scatter.apply(law.sample(&mut stream)),
        })
    }

    fn readings(&self, counts: Counts, elapsed: f64) -> Vec<Reading> {
        let share =
            |metric: KnownMetric, count: u64| metric.reading(count as f64 / self.reads as f64);
        let each = elapsed / self.reads as f64;
        vec![
            share(HITS, counts.buffer + counts.page_cache),
            share(BUFFER_HITS, counts.buffer),
            share(PAGE_CACHE_HITS, counts.page_cache),
            READ_TIME.reading(each),
            READS_PER_SECOND.reading(1.0 / each),
        ]
    }
}

impl Measuring for Cache {
    fn check(&self, place: &ReplicateContext) -> Result<()> {
        if place.is_named() {
            FileReads::named(self, place)?;
        }
        let needed = self.buffer.0.min(self.working_set.0);
        let fits = host::limits::check_budget(0, needed);
        fits.map_err(|error| MeasureError::Usage(format!("buffer = {}: {error}", self.buffer)))
    }

    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        self.check(place)?;
        let numbers = self.numbers(place.seed);
        let numbers = numbers.map_err(|error| MeasureError::Usage(error.to_string()))?;
        let mut reader = Reader {
            from: self.from(place, stop)?,
            numbers,
            buffer: RecordCache::new(self.buffer / self.record, self.record)?,
            memory: records::buffer(self.record.0 as usize)?,
            len: self.record.0 as usize,
        };
        reader.read(self.warm_up, stop)?;
        let begun = reader.from.elapsed();
        let counts = reader.read(self.reads, stop)?;
        let elapsed = reader.from.elapsed().saturating_sub(begun);
        reader.from.finish()?;
        Ok(self.readings(counts, elapsed.as_secs_f64()))
    }
}

fn popularity(settings: &Settings<'_>) -> Result<Popularity, SettingFault> {
    let typed: String = settings.value("popularity");
    if typed == "uniform" {
        return Ok(Popularity::Uniform);
    }
    let theta = typed
        .strip_prefix("zipf:")
        .and_then(|theta| theta.parse::<f64>().ok());
    let theta = theta.filter(|theta| (THETA_MIN..=THETA_MAX).contains(theta));
    let theta = theta.ok_or_else(|| {
        let why = format!(
            "popularity = {typed:?}: use \"uniform\", or \"zipf:THETA\" with THETA from \
             {THETA_MIN} to {THETA_MAX}, such as \"zipf:0.9\""
        );
        SettingFault::at("popularity", why)
    })?;
    Ok(Popularity::Zipf { theta })
}

/// Who answered.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    buffer: u64,
    page_cache: u64,
}

/// Reads records one after the other.
struct Reader<N> {
    from: Box<dyn RecordReads>,
    numbers: N,
    buffer: RecordCache,
    memory: drivers::AlignedBuffer,
    /// Bytes of a record.
    len: usize,
}

impl<N: FnMut() -> u64> Reader<N> {
    fn read(&mut self, count: u64, stop: &Stop) -> Result<Counts> {
        let mut counts = Counts::default();
        let record = &mut self.memory.as_mut_slice()[..self.len];
        for _ in 0..count {
            go_on(stop)?;
            let number = (self.numbers)();
            if self.buffer.take(number, record) {
                counts.buffer += 1;
            } else {
                counts.page_cache += u64::from(self.from.read(number, record)?);
                self.buffer.keep(number, record);
            }
            self.from.refuse_other(number, record)?;
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn popular_records_are_read_more_often() {
        let table: toml::Table = "popularity = \"zipf:1\"".parse().unwrap();
        let settings = Settings::of(&KIND, &table).unwrap();
        let cache = Cache::from_settings(&settings).unwrap();
        let mut numbers = cache.numbers(5).unwrap();
        let mut counts = BTreeMap::new();
        for _ in 0..10_000 {
            *counts.entry(numbers()).or_insert(0) += 1;
        }
        // 4,096 records: the most popular one has one in H(4096) = 8.9 reads.
        let most = counts.values().max().copied().unwrap_or(0);
        assert!((900..1400).contains(&most), "{most}");
    }
}
