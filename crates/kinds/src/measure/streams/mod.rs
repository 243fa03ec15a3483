//! `streams`: several files written or read at once; each of them asks for its next record when it
//! has had the last.

mod lanes;

use std::iter::once;

use drivers::{AccessMode, Caching, Target};
use results::metric::{FAIRNESS, STREAM_RATE, STREAMS_CPU, TAPE_STOPS, TOTAL_RATE};
use results::{Reading, TransferKind};
use sim::SimSpec;
use units::{Bytes, Duration};

use super::Stop;
use super::applies::{Applies, NO_CONTENT};
use super::form::{TextOrList, ValueForm};
use super::kind::{Kind, Measured, Measuring, flag, made, settings};
use super::models::{open_part, refuse_larger, refuse_read_only};
use super::place::{MeasureError, ReplicateContext, Result};
use super::settings::{SettingFault, Settings};
use super::steps::{IoAction, IoStep, IoSteps, sequence};
use super::targets::{TargetUse, Targets};
use lanes::{FileLanes, Lanes, ModelLanes};

pub const KIND: Kind = Kind {
    name: "streams",
    about: "several files written or read at once: each, all together, and how fairly",
    settings: settings! {
        /// files at once
        streams = STREAMS.or("4"),
        /// what is done to them. Written files are synced at their end, within the time
        operation = ValueForm::Words(&["read", "write"]).or("read"),
        /// bytes of one write or read
        record = RECORD.or("64KiB"),
        /// bytes of each file
        size = SIZE.or("16MiB"),
        /// where the files lie, dealt out in turn (default: the target)
        directories = ValueForm::Paths.optional().applying(NO_CONTENT),
        /// whether the files are dropped from the page cache before they are read
        cold = flag(true).applying(NO_CONTENT),
        /// on a model, file or device, bytes from the start of one stream to the next (default:
        /// size)
        apart = SIZE.optional().applying(Applies::ToParts),
    },
    readings: &[TOTAL_RATE, STREAM_RATE, FAIRNESS, STREAMS_CPU, TAPE_STOPS],
    targets: Targets::and(TargetUse::ReadOrOverwritten),
    in_place: Some("directories"),
    is_command: true,
    make: |settings| made(StreamsMeasurement::from_settings(settings)),
};

const STREAMS: ValueForm = ValueForm::Count(1, 256);
const RECORD: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_mib(64));
const SIZE: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_gib(1 << 20));

/// Several files at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamsMeasurement {
    streams: u64,
    operation: TransferKind,
    record: Bytes,
    size: Bytes,
    directories: Vec<String>,
    cold: bool,
    /// On a model: from one stream to the next.
    apart: Option<Bytes>,
}

impl StreamsMeasurement {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let (record, size) = settings.record_and_size()?;
        let operations = [("read", TransferKind::Read), ("write", TransferKind::Write)];
        let directories: Option<TextOrList> = settings.optional("directories");
        Ok(Self {
            streams: settings.value("streams"),
            operation: settings.choice("operation", &operations),
            record,
            size,
            directories: directories.map(TextOrList::all).unwrap_or_default(),
            cold: settings.value("cold"),
            apart: settings.optional("apart"),
        })
    }

    /// What a stream asks for: its records, and that those written are forced to the storage.
    fn steps(&self) -> IoSteps {
        let (size, record) = (self.size, self.record);
        match self.operation {
            TransferKind::Read => Box::new(sequence(IoAction::Read, size, record)),
            TransferKind::Write => {
                let sync = IoStep::new(IoAction::Sync, size.0, 0);
                Box::new(sequence(IoAction::Write, size, record).chain(once(sync)))
            }
        }
    }

    fn places(&self, place: &ReplicateContext) -> Vec<ReplicateContext> {
        if self.directories.is_empty() {
            return vec![place.clone()];
        }
        let named = self.directories.iter().map(|target| ReplicateContext {
            target: target.as_str().into(),
            ..place.clone()
        });
        named.collect()
    }

    /// The model, if the streams fit on it.
    fn model(&self, name: &str) -> Result<SimSpec> {
        let spec = open_part(name)?;
        if self.operation == TransferKind::Write {
            refuse_read_only(&spec)?;
        }
        refuse_larger("all streams", self.span()?.0, &spec)?;
        Ok(spec)
    }

    /// Bytes from the beginning of the first stream to the end of the last, on one target.
    fn span(&self) -> Result<Bytes> {
        let apart = self.apart();
        if apart < self.size {
            return Err(MeasureError::Usage(format!(
                "apart = {apart}: streams of {} would lie over each other",
                self.size
            )));
        }
        let last = (self.streams - 1).saturating_mul(apart.0);
        Ok(Bytes(last.saturating_add(self.size.0)))
    }

    /// The file or device that the user named, whose parts are the streams.
    fn named(&self, place: &ReplicateContext) -> Result<Target> {
        let access = match self.operation {
            TransferKind::Write => AccessMode::Overwrite,
            TransferKind::Read if place.permission.overwrite => {
                return Err(MeasureError::Usage(
                    "--overwrite applies to --operation write. Leave it out".into(),
                ));
            }
            TransferKind::Read => AccessMode::ReadOnly,
        };
        place.open_named(KIND.name, (access, Caching::Buffered), self.span()?)
    }

    fn is_named(&self, place: &ReplicateContext) -> bool {
        self.directories.is_empty() && place.is_named()
    }

    fn apart(&self) -> Bytes {
        self.apart.unwrap_or(self.size)
    }

    fn lanes(&self, place: &ReplicateContext, stop: &Stop) -> Result<Box<dyn Lanes>> {
        if let Some(name) = place.target.model() {
            let spec = self.model(name)?;
            return Ok(Box::new(ModelLanes::new(&spec, self.apart(), place.seed)));
        }
        if self.is_named(place) {
            let target = self.named(place)?;
            return Ok(Box::new(FileLanes::within(self, &target, place.seed)?));
        }
        let places = self.places(place);
        let each = self.streams.div_ceil(places.len() as u64) * self.size.0;
        let directories = places.iter().map(|it| it.work_directory(KIND.name, each));
        let directories = directories.collect::<Result<_, _>>()?;
        Ok(Box::new(FileLanes::make(
            self,
            directories,
            place.seed,
            stop,
        )?))
    }
}

impl Measuring for StreamsMeasurement {
    fn check(&self, place: &ReplicateContext) -> Result<()> {
        match place.target.model() {
            Some(name) => self.model(name).map(drop),
            None if self.is_named(place) => self.named(place).map(drop),
            None => self
                .places(place)
                .iter()
                .try_for_each(|it| it.directory(KIND.name).map(drop)),
        }
    }

    fn measured(&self, place: &ReplicateContext, stop: &Stop) -> Result<Measured> {
        self.check(place)?;
        let lanes = self.lanes(place, stop)?;
        let steps = (0..self.streams).map(|_| self.steps());
        let streamed = lanes.run(steps.collect(), stop)?;
        let rate = |bytes: u64, elapsed: Duration| bytes as f64 / elapsed.as_secs_f64().max(1e-9);
        let longest = streamed.elapsed.iter().copied().max().unwrap_or_default();
        let each = streamed.elapsed.iter().map(|&it| rate(self.size.0, it));
        let mut readings = readings(rate(self.streams * self.size.0, longest), each.collect());
        readings.extend(streamed.others);
        Ok(Measured {
            readings,
            warnings: streamed.warnings,
        })
    }
}

fn readings(total: f64, rates: Vec<f64>) -> Vec<Reading> {
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let fairness = fairness(&rates);
    vec![
        TOTAL_RATE.reading(total),
        STREAM_RATE.reading(mean).of(rates),
        FAIRNESS.reading(fairness),
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
