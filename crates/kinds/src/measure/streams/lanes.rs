//! Streams that go on at once: files by a thread each, or parts of a model in one virtual time.
//! Each asks for its next record when it has had the last.

use std::path::Path;
use std::time::Instant;

use drivers::{AlignedBuffer, Caching, Target, WorkDirectory};
use host::together::{no_thread, together};
use results::metric::STREAMS_CPU;
use results::{Reading, TransferKind, Warning};
use sim::{Answer, SimSpec};
use units::{Bytes, Duration};

use super::StreamsMeasurement;
use crate::measure::Stop;
use crate::measure::copy::cool;
use crate::measure::models::{ModelTarget, command, device_action, failed, settle, tape_stops};
use crate::measure::place::{MeasureError, Result, go_on};
use crate::measure::records::{
    Gauge, Named, RecordPattern, Synced, Who, buffer, read_record, sync, write_record,
    write_records,
};
use crate::measure::steps::{IoAction, IoStep, IoSteps};
use crate::measure::targets::unseen_uses;

/// What streams came to.
pub struct Streamed {
    /// How long each took from its beginning.
    pub elapsed: Vec<Duration>,
    /// What else this storage tells.
    pub others: Vec<Reading>,
    /// What a reader of the figures must know.
    pub warnings: Vec<Warning>,
}

/// Storage on which several streams go on at once.
pub trait Lanes {
    /// Carry out the steps of all streams, and leave nothing behind.
    ///
    /// # Errors
    /// When the storage fails, or somebody stopped it.
    fn run(self: Box<Self>, streams: Vec<IoSteps>, stop: &Stop) -> Result<Streamed>;
}

/// A file for each stream, or a part of one that the user named.
pub struct FileLanes {
    directories: Vec<WorkDirectory>,
    warnings: Vec<Warning>,
    lanes: Vec<FileLane>,
    /// Bytes of all of them.
    bytes: u64,
}

struct FileLane {
    target: Target,
    /// Its first byte in the target.
    start: u64,
    pattern: RecordPattern,
    /// Whether what is read is what was written there.
    is_known: bool,
    memory: AlignedBuffer,
}

impl FileLanes {
    /// Make the files, dealt out to the directories in turn; what is to be read is written.
    ///
    /// # Errors
    /// When the storage fails, or somebody stopped it.
    pub fn make(
        streams: &StreamsMeasurement,
        directories: Vec<WorkDirectory>,
        seed: u64,
        stop: &Stop,
    ) -> Result<Self> {
        let numbers = 0..streams.streams;
        let lanes = numbers
            .zip(directories.iter().cycle())
            .map(|(number, directory)| FileLane::make(streams, directory, number, seed, stop));
        let lanes = lanes.collect::<Result<_, _>>()?;
        Ok(Self {
            directories,
            warnings: Vec::new(),
            lanes,
            bytes: streams.streams * streams.size.0,
        })
    }

    /// Parts of what the user named, which is read, or written over.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn within(streams: &StreamsMeasurement, named: &Target, seed: u64) -> Result<Self> {
        if streams.operation == TransferKind::Read && streams.cold {
            cool(Named::new(named.file(), named.path()))?;
        }
        let lanes = (0..streams.streams).map(|number| {
            Ok::<_, MeasureError>(FileLane {
                target: named.open_again(Caching::Buffered)?,
                start: number * streams.apart().0,
                pattern: pattern_of(streams, number, seed)?,
                is_known: false,
                memory: buffer(streams.record.0 as usize)?,
            })
        });
        let lanes = lanes.collect::<Result<_, _>>()?;
        Ok(Self {
            directories: Vec::new(),
            warnings: unseen_uses(named),
            lanes,
            bytes: streams.streams * streams.size.0,
        })
    }
}

/// No two streams write the same.
fn pattern_of(streams: &StreamsMeasurement, number: u64, seed: u64) -> Result<RecordPattern> {
    RecordPattern::new(streams.record, seed ^ number.rotate_left(48))
}

impl Lanes for FileLanes {
    fn run(self: Box<Self>, streams: Vec<IoSteps>, stop: &Stop) -> Result<Streamed> {
        let mut this = *self;
        let all = Gauge::start(Who::Process);
        let lanes = this.lanes.iter_mut().zip(streams);
        let work = lanes.map(|(lane, steps)| || lane.run(steps, stop));
        let ((), ends) =
            together(work, || ()).map_err(|error| MeasureError::Failed(no_thread(&error)))?;
        let died = || MeasureError::Failed("a stream's thread has died: our mistake".into());
        let ends = ends.into_iter().map(|end| end.map_err(|_| died())?);
        let elapsed = ends.collect::<Result<_, _>>()?;
        let others = all.flow(this.bytes).cpu_reading(STREAMS_CPU);
        drop(this.lanes);
        for directory in this.directories {
            directory.remove()?;
        }
        Ok(Streamed {
            elapsed,
            others: others.into_iter().collect(),
            warnings: this.warnings,
        })
    }
}

impl FileLane {
    fn make(
        streams: &StreamsMeasurement,
        directory: &WorkDirectory,
        number: u64,
        seed: u64,
        stop: &Stop,
    ) -> Result<Self> {
        let name = format!("stream{number:03}");
        let file = directory.create_file(&name)?;
        let path = directory.path().join(&name);
        let mut pattern = pattern_of(streams, number, seed)?;
        if streams.operation == TransferKind::Read {
            let to = Named::new(&file, &path);
            write_records(to, &mut pattern, 0, streams.size, Synced::AtEnd, stop)?;
            if streams.cold {
                cool(to)?;
            }
        }
        drop(file);
        let target = directory.open_target(&name, Caching::Buffered)?;
        Ok(Self {
            target,
            start: 0,
            pattern,
            is_known: true,
            memory: buffer(streams.record.0 as usize)?,
        })
    }

    /// Carry the steps out; how long that took.
    fn run(&mut self, steps: IoSteps, stop: &Stop) -> Result<Duration> {
        let path: &Path = self.target.path();
        let named = Named::new(self.target.file(), path);
        let begun = Instant::now();
        for step in steps {
            go_on(stop)?;
            let step = IoStep {
                offset: self.start + step.offset,
                ..step
            };
            match step.action {
                IoAction::Read => {
                    let record = &mut self.memory.as_mut_slice()[..step.len as usize];
                    let written = self.is_known.then_some(&self.pattern);
                    read_record(named, record, written, step)?;
                }
                IoAction::Write | IoAction::WriteSynced => {
                    write_record(named, &mut self.pattern, 0, step)?;
                }
                IoAction::Sync => sync(named)?,
                IoAction::Cut => unreachable!("the files of streams have no space beyond them"),
            }
        }
        Ok(begun.elapsed().into())
    }
}

/// Parts of a model: all streams share what it has of processors, links and drives.
pub struct ModelLanes {
    part: ModelTarget,
    /// From the beginning of one stream to that of the next.
    apart: Bytes,
}

impl ModelLanes {
    /// The model at rest.
    pub fn new(spec: &SimSpec, apart: Bytes, seed: u64) -> Self {
        Self {
            part: ModelTarget::new(spec, seed),
            apart,
        }
    }

    fn command(&self, number: u64, step: IoStep) -> Option<sim::Command> {
        let start = self.part.start + number * self.apart.0;
        let action = device_action(step.action)?;
        Some(command(number, action, start + step.offset, step.len))
    }
}

impl Lanes for ModelLanes {
    fn run(self: Box<Self>, mut streams: Vec<IoSteps>, stop: &Stop) -> Result<Streamed> {
        let mut this = *self;
        let mut elapsed = vec![None; streams.len()];
        let mut now = units::Instant::START;
        let mut answers: Vec<Answer> = Vec::new();
        let mut asking: Vec<u64> = (0..streams.len() as u64).collect();
        loop {
            go_on(stop)?;
            for number in asking.drain(..) {
                let steps = &mut streams[number as usize];
                match steps.find_map(|step| this.command(number, step)) {
                    Some(command) => this.part.device.begin(now, command),
                    None => {
                        elapsed[number as usize] = Some(now.since(units::Instant::START));
                    }
                }
            }
            if elapsed.iter().all(Option::is_some) {
                break;
            }
            now = now.max(this.part.device.next().expect("a command is under way"));
            settle(&mut *this.part.device, now, &mut answers);
            for answer in answers.drain(..) {
                answer.result.map_err(failed)?;
                asking.push(answer.tag);
            }
        }
        Ok(Streamed {
            elapsed: elapsed.into_iter().flatten().collect(),
            others: tape_stops(&[&*this.part.device]).into_iter().collect(),
            warnings: Vec::new(),
        })
    }
}
