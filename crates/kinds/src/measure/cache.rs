//! `cache`: which share of reads is answered from memory, by a buffer of the program's own and by
//! the system's page cache.
//!
//! Before every read the page cache is looked into, so each read is known to be a hit or a miss. On
//! a model the file cache of its host takes the page cache's place, and tells what it answered.

mod buffer;

use std::os::unix::fs::FileExt as _;

use drivers::Caching;
use engine::{Clock as _, Driver as _};
use random::{Permutation, Purpose, Stream, Zipf};
use results::{Better, Reading, Unit};
use rustix::fs::Advice;
use sim::SimDriver;
use sys::resident_share;
use units::{Bytes, Instant};
use workload::{ClientId, Op, Request, TargetId};

use super::Stop;
use super::copy::cool;
use super::kind::{Kind, Measuring, Setting, made};
use super::place::{MeasureError, Place, go_on};
use super::records::{self, Named, Pattern, Synced, write_records, wrong_data};
use super::settings::{SettingFault, Settings};
use buffer::Buffer;
use lab::bench::BenchError;
use lab::simulated::open_model;

/// The kind.
pub const KIND: Kind = Kind {
    name: "cache",
    about: "which share of reads is answered from memory, against the size of a buffer",
    settings: &[
        Setting::or(
            "working-set",
            "SIZE",
            "16MiB",
            "bytes of the file that is read",
        ),
        Setting::or(
            "buffer",
            "SIZE",
            "0",
            "memory of the program's own, in which the records read last are kept",
        ),
        Setting::or("record", "SIZE", "4KiB", "bytes of one read"),
        Setting::or("reads", "NUMBER", "10000", "reads that are counted"),
        Setting::or("warm-up", "NUMBER", "0", "reads before them that are not"),
        Setting::or(
            "popularity",
            "\"uniform\" or \"zipf:THETA\"",
            "uniform",
            "how often which record is read",
        ),
        Setting::or(
            "direct",
            "true or false",
            "false",
            "whether the page cache is passed by, so that only the buffer answers",
        ),
    ],
    readings: &[
        ("hits", "share of the reads answered from memory"),
        ("buffer hits", "share answered by the program's own buffer"),
        (
            "page cache hits",
            "share answered by the system's page cache",
        ),
        (
            "read time",
            "mean time of a read, those from memory included",
        ),
        (
            "read rate",
            "reads per second; without bound where all come from the buffer of a model",
        ),
    ],
    in_place: None,
    is_command: true,
    make: |settings| made(Cache::from_settings(settings)),
};

const SIZE_MAX: Bytes = Bytes::from_gib(1 << 10);
const RECORD_MAX: Bytes = Bytes::from_mib(64);
const READS_MAX: u64 = 1 << 40;
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
    /// Whether `direct` was given, which says nothing on a model.
    names_direct: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Popularity {
    Uniform,
    Zipf { theta: f64 },
}

impl Cache {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let record = settings
            .size("record", Bytes(1)..=RECORD_MAX)?
            .unwrap_or_default();
        let working_set = settings
            .size("working-set", Bytes(1)..=SIZE_MAX)?
            .unwrap_or_default();
        if record > working_set {
            let why = format!("record = {record} is more than the working set of {working_set}");
            return Err(SettingFault::at("record", why));
        }
        let direct = settings.flag("direct")?;
        Ok(Self {
            working_set: record * (working_set / record),
            buffer: settings
                .size("buffer", Bytes(0)..=SIZE_MAX)?
                .unwrap_or_default(),
            record,
            reads: settings.count("reads", 1..=READS_MAX)?.unwrap_or(1),
            warm_up: settings.count("warm-up", 0..=READS_MAX)?.unwrap_or(0),
            popularity: popularity(settings)?,
            names_direct: settings.is_given("direct"),
            caching: if direct {
                Caching::Direct
            } else {
                Caching::Buffered
            },
        })
    }

    /// One read after the other in virtual time; the buffer answers in no time.
    fn on_model(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        let spec = open_model(&place.target).map_err(BenchError::from)?;
        if self.working_set > spec.size {
            return Err(MeasureError::Usage(format!(
                "{} holds {}, and working-set = {}: set a smaller one",
                place.target, spec.size, self.working_set
            )));
        }
        let mut driver = spec.driver(place.seed, 1, Instant::START);
        let mut buffer = Buffer::new(self.buffer / self.record, self.record)?;
        let mut record = vec![0; self.record.0 as usize];
        let mut numbers = self.numbers(place.seed);
        let mut read = |driver: &mut SimDriver, count: u64| -> Result<Counts, MeasureError> {
            let mut counts = Counts::default();
            let before = driver.cache_reads().unwrap_or_default();
            for _ in 0..count {
                go_on(stop)?;
                let number = numbers();
                if buffer.take(number, &mut record) {
                    counts.buffer += 1;
                    continue;
                }
                read_model(driver, number * self.record.0, self.record.0 as u32)
                    .map_err(|why| MeasureError::Failed(format!("{}: {why}", place.target)))?;
                buffer.keep(number, &record);
            }
            let after = driver.cache_reads().unwrap_or_default();
            counts.page_cache = after.answered - before.answered;
            Ok(counts)
        };
        read(&mut driver, self.warm_up)?;
        let begun = driver.now();
        let counts = read(&mut driver, self.reads)?;
        let elapsed = driver.now().since(begun).as_secs_f64();
        Ok(self.readings(counts, elapsed))
    }

    /// Which record is read next.
    fn numbers(&self, seed: u64) -> impl FnMut() -> u64 + use<> {
        let records = self.working_set / self.record;
        let mut stream = Stream::new(seed, 0, Purpose::Address);
        let scatter = Permutation::new(records, &mut Stream::new(seed, 0, Purpose::Scatter));
        let law = match self.popularity {
            Popularity::Uniform => None,
            Popularity::Zipf { theta } => Some(Zipf::new(records, theta)),
        };
        move || match &law {
            None => stream.below(records),
            Some(law) => scatter.apply(law.sample(&mut stream)),
        }
    }

    fn readings(&self, counts: Counts, elapsed: f64) -> Vec<Reading> {
        let share = |name: &str, count: u64| {
            Reading::new(
                name,
                Unit::Share,
                count as f64 / self.reads as f64,
                Better::Higher,
            )
        };
        let each = elapsed / self.reads as f64;
        vec![
            share("hits", counts.buffer + counts.page_cache),
            share("buffer hits", counts.buffer),
            share("page cache hits", counts.page_cache),
            Reading::new("read time", Unit::Seconds, each, Better::Lower),
            Reading::new("read rate", Unit::PerSecond, 1.0 / each, Better::Higher),
        ]
    }
}

impl Measuring for Cache {
    fn check(&self, place: &Place) -> Result<(), MeasureError> {
        if !place.is_simulated() {
            place.directory(KIND.name)?;
        } else if self.names_direct {
            return Err(MeasureError::Usage(format!(
                "{}: whether a model has a file cache is in its definition: leave direct out",
                place.target
            )));
        }
        let needed = self.buffer.0.min(self.working_set.0);
        let fits = host::limits::check_budget(0, needed);
        fits.map_err(|error| MeasureError::Usage(format!("buffer = {}: {error}", self.buffer)))
    }

    fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        self.check(place)?;
        if place.is_simulated() {
            return self.on_model(place, stop);
        }
        let directory = place.work_directory(KIND.name, self.working_set.0)?;
        let file = directory.create_file("set")?;
        let path = directory.path().join("set");
        let named = Named {
            file: &file,
            path: &path,
        };
        let mut pattern = Pattern::new(self.record, place.seed)?;
        write_records(
            named,
            &mut pattern,
            0,
            self.working_set,
            Synced::AtEnd,
            stop,
        )?;
        cool(named)?;
        let target = directory.open_target("set", self.caching)?;
        let unit = Bytes(u64::from(target.alignment().offset));
        if !self.record.is_multiple_of(unit) {
            return Err(MeasureError::Usage(format!(
                "record = {}: with direct = true, {} asks for multiples of {unit}",
                self.record,
                path.display()
            )));
        }
        // What nobody asked for must not come into memory.
        rustix::fs::fadvise(target.file(), 0, None, Advice::Random)
            .map_err(|error| MeasureError::io("advise", &path)(error.into()))?;
        let mut reader = Reader {
            named: Named {
                file: target.file(),
                path: &path,
            },
            caching: self.caching,
            pattern: &pattern,
            record: self.record.0,
            buffer: Buffer::new(self.buffer / self.record, self.record)?,
            memory: records::buffer(self.record.0 as usize)?,
            counts: Counts::default(),
        };
        let mut numbers = self.numbers(place.seed);
        let mut read = |count: u64| -> Result<Counts, MeasureError> {
            reader.counts = Counts::default();
            for _ in 0..count {
                go_on(stop)?;
                reader.read(numbers())?;
            }
            Ok(reader.counts)
        };
        read(self.warm_up)?;
        let begun = std::time::Instant::now();
        let counts = read(self.reads)?;
        let elapsed = begun.elapsed().as_secs_f64();
        drop(reader);
        drop(target);
        directory.remove()?;
        Ok(self.readings(counts, elapsed))
    }
}

fn read_model(driver: &mut SimDriver, offset: u64, len: u32) -> Result<(), String> {
    let target = TargetId(0);
    let op = Op::Read {
        target,
        offset,
        len,
    };
    let mut done = Vec::new();
    let request = Request::new(ClientId(0), driver.now(), op);
    driver.submit(request).map_err(|error| error.to_string())?;
    while done.is_empty() {
        driver
            .wait(None, &mut done)
            .map_err(|error| error.to_string())?;
    }
    match done[0].result {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("a read failed with error number {}", error.0)),
    }
}

fn popularity(settings: &Settings<'_>) -> Result<Popularity, SettingFault> {
    let typed = settings.text("popularity")?.unwrap_or_default();
    if typed == "uniform" {
        return Ok(Popularity::Uniform);
    }
    let theta = typed
        .strip_prefix("zipf:")
        .and_then(|theta| theta.parse::<f64>().ok());
    let theta = theta.filter(|theta| *theta > 0.0 && *theta <= THETA_MAX);
    let theta = theta.ok_or_else(|| {
        let why = format!(
            "popularity = {typed:?}: it is \"uniform\", or \"zipf:THETA\" with THETA above 0 and \
             up to {THETA_MAX}, such as \"zipf:0.9\""
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

struct Reader<'a> {
    named: Named<'a>,
    caching: Caching,
    pattern: &'a Pattern,
    record: u64,
    buffer: Buffer,
    memory: drivers::AlignedBuffer,
    counts: Counts,
}

impl Reader<'_> {
    fn read(&mut self, number: u64) -> Result<(), MeasureError> {
        let len = self.record as usize;
        let found = &mut self.memory.as_mut_slice()[..len];
        if self.buffer.take(number, found) {
            self.counts.buffer += 1;
        } else {
            let at = number * self.record;
            if self.caching == Caching::Buffered {
                let is_hit = was_in_page_cache(self.named, found, at)?;
                self.counts.page_cache += u64::from(is_hit);
            } else {
                let read = self.named.file.read_exact_at(found, at);
                read.map_err(MeasureError::io("read", self.named.path))?;
            }
            self.buffer.keep(number, found);
        }
        if self.pattern.begins(number, found) {
            return Ok(());
        }
        Err(wrong_data(self.named.path, number * self.record))
    }
}

/// Read, and say whether all of it was in the page cache before. A read that must not wait
/// (`RWF_NOWAIT`) would not tell: it starts the device, and finds what a fast one has brought.
fn was_in_page_cache(named: Named<'_>, bytes: &mut [u8], at: u64) -> Result<bool, MeasureError> {
    let share = resident_share(named.file, at, bytes.len() as u64);
    let share = share.map_err(MeasureError::io("look into the page cache for", named.path))?;
    let read = named.file.read_exact_at(bytes, at);
    read.map_err(MeasureError::io("read", named.path))?;
    Ok(share >= 1.0)
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
        let mut numbers = cache.numbers(5);
        let mut counts = BTreeMap::new();
        for _ in 0..10_000 {
            *counts.entry(numbers()).or_insert(0) += 1;
        }
        // 4,096 records: the most popular one has one in H(4096) = 8.9 reads.
        let most = counts.values().max().copied().unwrap_or(0);
        assert!((900..1400).contains(&most), "{most}");
    }
}
