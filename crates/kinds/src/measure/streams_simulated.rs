//! `streams` on a model in virtual time: each stream asks for its next record when it has had the
//! last, and all share what the model has of processors, links and drives.

use results::TransferKind;
use sim::{Action, Answer, SimSpec};
use units::{Bytes, Duration, Instant};
use workload::Durability;

use super::Stop;
use super::place::{MeasureError, Place};
use super::simulated::{
    Part, Watch, command, failed, open_part, refuse_larger, refuse_read_only, settle, tape_stops,
};

/// Streams on a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelStreams {
    /// How many.
    pub streams: u64,
    /// What they do.
    pub operation: TransferKind,
    /// Bytes of one read or write.
    pub record: Bytes,
    /// Bytes of each stream.
    pub size: Bytes,
    /// From the beginning of one stream to that of the next.
    pub apart: Bytes,
}

/// What streams came to.
pub struct Streamed {
    /// How long each took.
    pub elapsed: Vec<Duration>,
    /// How often a tape stopped, if there is one.
    pub stops: Option<results::Reading>,
}

impl ModelStreams {
    /// Say whether it can be measured.
    pub fn check(&self, place: &Place) -> Result<SimSpec, MeasureError> {
        let spec = open_part(&place.target)?;
        if self.operation == TransferKind::Write {
            refuse_read_only(&spec)?;
        }
        if self.apart < self.size {
            return Err(MeasureError::Usage(format!(
                "apart = {}: streams of {} would lie over each other",
                self.apart, self.size
            )));
        }
        let last = (self.streams - 1).saturating_mul(self.apart.0);
        refuse_larger("all streams", last.saturating_add(self.size.0), &spec)?;
        Ok(spec)
    }

    /// Move all of them.
    pub fn measure(&self, place: &Place, stop: &Stop) -> Result<Streamed, MeasureError> {
        let spec = self.check(place)?;
        let Part {
            mut device, start, ..
        } = Part::new(&spec, place.seed);
        let mut lanes = vec![Lane::default(); self.streams as usize];
        let mut now = Instant::START;
        for number in 0..self.streams {
            let next = self.next(number, start, &mut lanes[number as usize]);
            device.begin(now, next.expect("a stream has a byte at least"));
        }
        let mut watch = Watch::default();
        let mut answers: Vec<Answer> = Vec::new();
        while lanes.iter().any(|lane| lane.elapsed.is_none()) {
            watch.go_on(stop)?;
            now = now.max(device.next().expect("a command is under way"));
            settle(&mut *device, now, &mut answers);
            for answer in std::mem::take(&mut answers) {
                answer.result.map_err(failed)?;
                let lane = &mut lanes[answer.tag as usize];
                match self.next(answer.tag, start, lane) {
                    Some(next) => device.begin(now, next),
                    None => lane.elapsed = Some(now.since(Instant::START)),
                }
            }
        }
        let elapsed = lanes.iter().filter_map(|lane| lane.elapsed);
        Ok(Streamed {
            elapsed: elapsed.collect(),
            stops: tape_stops(&[&*device]),
        })
    }

    /// What a stream asks for next: its records, and after its writes that they are forced to the
    /// medium.
    fn next(&self, number: u64, start: u64, lane: &mut Lane) -> Option<sim::Command> {
        let place = start + number * self.apart.0 + lane.at;
        let len = self.record.0.min(self.size.0 - lane.at);
        if len > 0 {
            lane.at += len;
            let action = match self.operation {
                TransferKind::Read => Action::Read,
                TransferKind::Write => Action::Write(Durability::Volatile),
            };
            return Some(command(number, action, place, len));
        }
        let flushes = self.operation == TransferKind::Write && !lane.is_flushed;
        lane.is_flushed = true;
        flushes.then(|| command(number, Action::Flush, place, 0))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    at: u64,
    is_flushed: bool,
    elapsed: Option<Duration>,
}
