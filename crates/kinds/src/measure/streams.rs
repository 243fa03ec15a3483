//! `streams`: several files written or read at once, each by a thread of its own.

use std::path::Path;
use std::time::Instant;

use drivers::{Caching, WorkDirectory};
use results::{Better, Reading, TransferKind, Unit};
use units::{Bytes, Duration};

use super::Stop;
use super::copy::cool;
use super::kind::{Kind, Measuring, Setting, made};
use super::place::{MeasureError, Place};
use super::records::{Flow, Gauge, Named, Pattern, Synced, Who, read_records, write_records};
use super::settings::{SettingFault, Settings};
use super::simulated::{TAPE_STOPS, refuse_for_files, refuse_for_models};
use super::streams_simulated::ModelStreams;
use host::together::{no_thread, together};

/// The kind.
pub const KIND: Kind = Kind {
    name: "streams",
    about: "several files written or read at once: each, all together, and how fairly",
    settings: &[
        Setting::or("streams", "NUMBER", "4", "files at once"),
        Setting::or(
            "operation",
            "\"read\" or \"write\"",
            "read",
            "what is done to them; written files are synced at their end, within the time",
        ),
        Setting::or("record", "SIZE", "64KiB", "bytes of one write or read"),
        Setting::or("size", "SIZE", "16MiB", "bytes of each file"),
        Setting::optional(
            "directories",
            "LIST of PATHs",
            "where the files lie, dealt out in turn; the target of the study when not given",
        ),
        Setting::or(
            "cold",
            "true or false",
            "true",
            "whether the files are dropped from the page cache before they are read",
        ),
        Setting::optional(
            "apart",
            "SIZE",
            "on a model: bytes from the beginning of a stream to that of the next, such as those \
             of a drive; size when not given",
        ),
    ],
    readings: &[
        (
            "total rate",
            "bytes of all streams over the time until the last one is done",
        ),
        (
            "stream rate",
            "the mean of the streams' own rates; with each of them",
        ),
        (
            "fairness",
            "1 when all streams are equally fast, 1/N when one of N has all (R. Jain, 1984)",
        ),
        ("streams CPU", "processor time for a MiB, of all streams"),
        TAPE_STOPS,
    ],
    in_place: Some("directories"),
    is_command: true,
    make: |settings| made(Streams::from_settings(settings)),
};

const STREAMS_MAX: u64 = 256;
const RECORD_MAX: Bytes = Bytes::from_mib(64);
const SIZE_MAX: Bytes = Bytes::from_gib(1 << 20);

/// Several files at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    streams: u64,
    operation: TransferKind,
    record: Bytes,
    size: Bytes,
    directories: Vec<String>,
    cold: bool,
    /// On a model: from one stream to the next.
    apart: Option<Bytes>,
    /// A setting that was given and says nothing on a model.
    for_files: Option<&'static str>,
}

impl Streams {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let size = settings
            .size("size", Bytes(1)..=SIZE_MAX)?
            .unwrap_or_default();
        let record = settings
            .size("record", Bytes(1)..=RECORD_MAX)?
            .unwrap_or_default();
        if record > size {
            let why = format!("record = {record} is more than a whole file of {size}");
            return Err(SettingFault::at("record", why));
        }
        let operations = [("read", TransferKind::Read), ("write", TransferKind::Write)];
        let directories = settings.text_or_list("directories")?;
        let mut for_files = ["directories", "cold"].into_iter();
        Ok(Self {
            streams: settings.count("streams", 1..=STREAMS_MAX)?.unwrap_or(1),
            operation: settings.choice("operation", &operations)?,
            record,
            size,
            directories: directories
                .map(super::settings::TextOrList::all)
                .unwrap_or_default(),
            cold: settings.flag("cold")?,
            apart: settings.size("apart", Bytes(1)..=SIZE_MAX)?,
            for_files: for_files.find(|name| settings.is_given(name)),
        })
    }

    fn places(&self, place: &Place) -> Vec<Place> {
        if self.directories.is_empty() {
            return vec![place.clone()];
        }
        let named = self.directories.iter().map(|target| Place {
            target: target.clone(),
            ..place.clone()
        });
        named.collect()
    }

    fn lane(
        &self,
        directory: &WorkDirectory,
        number: u64,
        seed: u64,
        stop: &Stop,
    ) -> Result<Lane, MeasureError> {
        let name = format!("stream{number:03}");
        let file = directory.create_file(&name)?;
        let path = directory.path().join(&name);
        let mut pattern = Pattern::new(self.record, seed ^ number.rotate_left(48))?;
        if self.operation == TransferKind::Read {
            let to = Named {
                file: &file,
                path: &path,
            };
            write_records(to, &mut pattern, 0, self.size, Synced::AtEnd, stop)?;
            if self.cold {
                cool(to)?;
            }
        }
        drop(file);
        let target = directory.open_target(&name, Caching::Buffered)?;
        Ok(Lane { target, pattern })
    }

    /// All streams at once; each tells how long it took from the common beginning.
    fn together(&self, lanes: &mut [Lane], stop: &Stop) -> Result<Vec<Flow>, MeasureError> {
        let work = lanes.iter_mut().map(|lane| || self.one(lane, stop));
        let ((), ends) =
            together(work, || ()).map_err(|error| MeasureError::Failed(no_thread(&error)))?;
        let died = || MeasureError::Failed("a stream's thread has died: our mistake".into());
        let ends = ends.into_iter().map(|end| end.map_err(|_| died())?);
        ends.collect()
    }

    fn one(&self, lane: &mut Lane, stop: &Stop) -> Result<Flow, MeasureError> {
        let path: &Path = lane.target.path();
        let named = Named {
            file: lane.target.file(),
            path,
        };
        let begun = Instant::now();
        let flow = match self.operation {
            TransferKind::Write => {
                write_records(named, &mut lane.pattern, 0, self.size, Synced::AtEnd, stop)
            }
            TransferKind::Read => {
                read_records(named, self.record, self.size, Some(&lane.pattern), stop)
            }
        }?;
        let elapsed = Duration::from(begun.elapsed());
        Ok(Flow { elapsed, ..flow })
    }

    fn on_model(&self) -> ModelStreams {
        ModelStreams {
            streams: self.streams,
            operation: self.operation,
            record: self.record,
            size: self.size,
            apart: self.apart.unwrap_or(self.size),
        }
    }

    fn measure_model(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        let streamed = self.on_model().measure(place, stop)?;
        let rate = |bytes: u64, elapsed: Duration| bytes as f64 / elapsed.as_secs_f64().max(1e-9);
        let longest = streamed.elapsed.iter().copied().max().unwrap_or_default();
        let each = streamed.elapsed.iter().map(|&it| rate(self.size.0, it));
        let mut readings = readings(rate(self.streams * self.size.0, longest), each.collect());
        readings.extend(streamed.stops);
        Ok(readings)
    }
}

impl Measuring for Streams {
    fn check(&self, place: &Place) -> Result<(), MeasureError> {
        if place.is_simulated() {
            refuse_for_files(self.for_files, &place.target)?;
            return self.on_model().check(place).map(drop);
        }
        refuse_for_models(self.apart.map(|_| "apart"), &place.target)?;
        self.places(place)
            .iter()
            .try_for_each(|it| it.directory(KIND.name).map(drop))
    }

    fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        self.check(place)?;
        if place.is_simulated() {
            return self.measure_model(place, stop);
        }
        let places = self.places(place);
        let each = self.streams.div_ceil(places.len() as u64) * self.size.0;
        let directories = places.iter().map(|it| it.work_directory(KIND.name, each));
        let directories = directories.collect::<Result<Vec<_>, _>>()?;
        let mut lanes = Vec::new();
        for (number, directory) in (0..self.streams).zip(directories.iter().cycle()) {
            lanes.push(self.lane(directory, number, place.seed, stop)?);
        }
        let before = Gauge::start(Who::Process);
        let flows = self.together(&mut lanes, stop)?;
        let all = before.flow(self.streams * self.size.0);
        drop(lanes);
        for directory in directories {
            directory.remove()?;
        }
        let elapsed = flows
            .iter()
            .map(|flow| flow.elapsed)
            .max()
            .unwrap_or_default();
        let rates = flows.iter().map(Flow::rate).collect();
        let [_, cpu] = all.readings("streams");
        let mut readings = readings(Flow { elapsed, ..all }.rate(), rates);
        readings.push(cpu);
        Ok(readings)
    }
}

/// One stream's file.
struct Lane {
    target: drivers::Target,
    pattern: Pattern,
}

fn readings(total: f64, rates: Vec<f64>) -> Vec<Reading> {
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let fairness = fairness(&rates);
    let rate =
        |name: &str, value: f64| Reading::new(name, Unit::BytesPerSecond, value, Better::Higher);
    vec![
        rate("total rate", total),
        rate("stream rate", mean).of(rates),
        Reading::new("fairness", Unit::Share, fairness, Better::Higher),
    ]
}

/// Jain's index: the square of the sum over the sum of the squares and their number.
fn fairness(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    // Rounding may lead beyond one.
    (sum * sum / (rates.len() as f64 * squares)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_for_equals_and_a_share_for_a_single_winner() {
        let check = |rates: &[f64], expected: f64| {
            assert!((fairness(rates) - expected).abs() < 1e-12, "{rates:?}");
        };
        check(&[3.0, 3.0, 3.0], 1.0);
        check(&[1.0, 0.0, 0.0, 0.0], 0.25);
        check(&[1.0, 2.0], 0.9);
        check(&[7.0], 1.0);
    }
}
