//! The measurement of studies: files of our own in a directory, or those that fill a model.

use std::os::unix::fs::FileExt as _;

use procedure::positioning_order;
use results::Reading;
use results::metric::{POSITIONING_LONGEST, POSITIONING_MEAN, POSITIONING_MEDIAN};
use units::Bytes;

use lab::bench::BenchError;
use lab::simulated::open_model;

use super::filled::FilledModel;
use crate::measure::form::ValueForm;
use crate::measure::kind::{Kind, Measuring, flag, made, settings};
use crate::measure::made::MadeFiles;
use crate::measure::place::{MeasureError, ReplicateContext, Result, go_on};
use crate::measure::records::{buffer, wrong_data};
use crate::measure::settings::{SettingFault, Settings};
use crate::measure::{Applies, Stop, TargetUse, Targets};

/// What studies know of it.
pub const KIND: Kind = Kind {
    name: "positioning",
    about: "files opened in a random order, each once, until their first record is read",
    settings: settings! {
        /// files that are made and opened
        files = FILES.or("91"),
        /// bytes of each. On a model all of them fill it
        size = SIZE.or("1MiB").applying(FILLED),
        /// bytes of the first record
        record = RECORD.or("4KiB"),
        /// whether the files are dropped from the page cache before. Names and inodes stay in
        /// memory
        cold = flag(true).applying(FILLED),
    },
    readings: &[POSITIONING_MEAN, POSITIONING_MEDIAN, POSITIONING_LONGEST],
    targets: Targets::and(TargetUse::Refused(
        "opens many files, which it makes in a directory",
    )),
    in_place: None,
    is_command: false,
    make: |settings| made(PositioningMeasurement::from_settings(settings)),
};

const FILLED: Applies = Applies::ToFiles("the files fill a model, which has no page cache");
const FILES: ValueForm = ValueForm::Count(1, 1_000_000);
const SIZE: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_gib(1 << 10));
const RECORD: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_mib(64));

/// Files opened in a random order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositioningMeasurement {
    files: u32,
    size: Bytes,
    record: Bytes,
    cold: bool,
}

impl PositioningMeasurement {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let (record, size) = settings.record_and_size()?;
        Ok(Self {
            files: settings.value::<u64>("files") as u32,
            size,
            record,
            cold: settings.value("cold"),
        })
    }

    fn on_model(&self, name: &str, seed: u64) -> Result<Vec<f64>> {
        let spec = open_model(name).map_err(BenchError::from)?;
        let model = FilledModel::of(spec, self.files, self.record, seed)?;
        let times = model
            .round(0)
            .map_err(|error| MeasureError::Failed(format!("{name}: {error}")))?;
        Ok(times.iter().map(|time| time.as_secs_f64()).collect())
    }

    fn on_files(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<f64>> {
        let files = u64::from(self.files);
        let wanted = files.saturating_mul(self.size.0);
        let directory = place.work_directory(KIND.name, wanted)?;
        let files = MadeFiles::make(&directory, files, self.size, place.seed, stop)?;
        if self.cold {
            files.cool()?;
        }
        let mut memory = buffer(self.record.0 as usize)?;
        let record = &mut memory.as_mut_slice()[..self.record.0 as usize];
        let mut seconds = Vec::new();
        for number in positioning_order(self.files, place.seed, 0) {
            go_on(stop)?;
            let number = u64::from(number);
            let begun = std::time::Instant::now();
            let file = files.open(number)?;
            let path = files.path(number);
            let read = file.read_exact_at(record, 0);
            read.map_err(MeasureError::io("read", &path))?;
            seconds.push(begun.elapsed().as_secs_f64());
            if !files.holds(number, 0, record) {
                return Err(wrong_data(&path, 0));
            }
        }
        directory.remove()?;
        Ok(seconds)
    }
}

impl Measuring for PositioningMeasurement {
    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let seconds = match place.target.model() {
            Some(name) => self.on_model(name, place.seed),
            None => self.on_files(place, stop),
        };
        Ok(readings(seconds?))
    }
}

/// What the times of all files, in seconds and in the order of the openings, amount to.
fn readings(seconds: Vec<f64>) -> Vec<Reading> {
    let mut sorted = seconds.clone();
    sorted.sort_by(f64::total_cmp);
    let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
    let middle = sorted.len() / 2;
    let median = match sorted.len() % 2 {
        0 if middle > 0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted.get(middle).copied().unwrap_or(f64::NAN),
    };
    let longest = sorted.last().copied().unwrap_or(f64::NAN);
    vec![
        POSITIONING_MEAN.reading(mean).of(seconds),
        POSITIONING_MEDIAN.reading(median),
        POSITIONING_LONGEST.reading(longest),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_amount_to_a_mean_a_median_and_a_longest() {
        let values = |seconds: &[f64]| -> Vec<f64> {
            readings(seconds.to_vec())
                .iter()
                .map(|it| it.value)
                .collect()
        };
        assert_eq!(values(&[3.0, 1.0, 2.0, 10.0]), [4.0, 2.5, 10.0]);
        assert_eq!(values(&[3.0, 1.0, 5.0]), [3.0, 3.0, 5.0]);
        assert_eq!(readings(vec![3.0, 1.0])[0].parts, [3.0, 1.0]);
    }
}
