//! `fill` of a model in virtual time: files one after the other until no byte is left, each on the
//! medium at its end.
//!
//! How much fits on a tape follows from its `compression`: a model has no content to compress.

use results::{Better, Reading, Unit};
use sim::Action;
use units::{Bytes, Instant};
use workload::Durability;

use super::Stop;
use super::place::MeasureError;
use super::simulated::{
    Part, Watch, command, count, open_part, perform, rate, refuse_read_only, tape_stops,
};

/// The rate is told for each of so many parts.
const PARTS: u64 = 100;

/// A model that is written full.
pub struct ModelFill<'a> {
    /// Its name.
    pub target: &'a str,
    /// Bytes of one write.
    pub record: Bytes,
    /// Bytes of a file.
    pub file: Bytes,
}

impl ModelFill<'_> {
    /// Say whether it can be filled.
    pub fn check(&self) -> Result<(), MeasureError> {
        refuse_read_only(&open_part(self.target)?)
    }

    /// Fill it.
    pub fn measure(&self, seed: u64, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        self.check()?;
        let Part {
            mut device,
            start,
            size,
        } = Part::new(&open_part(self.target)?, seed);
        let part = (size / PARTS).max(1);
        let (mut now, mut part_begun) = (Instant::START, Instant::START);
        let (mut at, mut files, mut in_part) = (0, 0, 0);
        let mut rates = Vec::new();
        let mut watch = Watch::default();
        while at < size {
            let file_end = size.min(at + self.file.0);
            files += 1;
            while at < file_end {
                watch.go_on(stop)?;
                let len = self.record.0.min(file_end - at);
                let write = command(0, Action::Write(Durability::Volatile), start + at, len);
                now = perform(&mut *device, now, write)?;
                at += len;
                in_part += len;
                if in_part >= part {
                    let seconds = now.since(part_begun).as_secs_f64();
                    rates.push(in_part as f64 / seconds.max(1e-9));
                    (part_begun, in_part) = (now, 0);
                }
            }
            now = perform(&mut *device, now, command(0, Action::Flush, start, 0))?;
        }
        let seconds = now.since(Instant::START).as_secs_f64();
        let mut readings = vec![
            Reading::new("capacity", Unit::Bytes, at as f64, Better::Higher),
            Reading::new("fill time", Unit::Seconds, seconds, Better::Neither),
            rate("fill rate", at, seconds).of(rates),
            count("files", files, Better::Neither),
        ];
        readings.extend(tape_stops(&[&*device]));
        Ok(readings)
    }
}
