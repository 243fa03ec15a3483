//! A backup from one model to another: what is read, worked on and written, and when.
//!
//! The files lie one after the other. Of each, its directory entry and what else belongs to it is
//! read first, at places drawn from the seed. All that is read passes a processor, and goes to the
//! stream in blocks, with redundancy as in [`super::format`]. Verifying reads the stream from its
//! beginning, and reads the files again. File headers are not part of the stream here.

use std::iter::once;

use random::{Purpose, Stream};
use results::Reading;
use units::{Bytes, Duration};

use super::passes::{Passes, Saved};
use crate::measure::Stop;
use crate::measure::models::{
    ModelPair, ModelTarget, open_part, refuse_larger, refuse_read_only, spent_until,
};
use crate::measure::place::Result;
use crate::measure::records::Flow;
use crate::measure::steps::{IoAction, IoStep, IoSteps, Passage};
use backup_stream::StreamLayout;

/// What is read of a disk is whole sectors.
const SECTOR: u64 = 512;

/// What only models must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelWork {
    /// Blocks that are read before they are written.
    pub buffers: u64,
    /// Processor time for a MiB.
    pub processor: Duration,
    /// What a CRC adds to it.
    pub crc_processor: Duration,
    /// Reads at random places before each file.
    pub reads_per_file: u64,
}

/// What is saved, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSource {
    /// What only models must be given.
    pub work: ModelWork,
    /// Number of files, and bytes of each.
    pub files: (u64, Bytes),
    /// The stream's.
    pub layout: StreamLayout,
    /// What is random.
    pub seed: u64,
}

/// The passes of one backup between models.
pub struct ModelPasses {
    of: ModelSource,
    /// Where the files are, and where the stream is; absent during a pass.
    pair: Option<ModelPair>,
    /// Processor time so far.
    work: Duration,
}

impl ModelPasses {
    /// The models at rest, from `source` to `stream`, if all fits on them.
    ///
    /// # Errors
    /// When it does not, or there is no such model.
    pub fn open(of: ModelSource, source: &str, stream: &str) -> Result<Self> {
        let (source, stream) = (open_part(source)?, open_part(stream)?);
        refuse_read_only(&stream)?;
        let (files, size) = of.files;
        let bytes = files.saturating_mul(whole_sectors(size.0));
        refuse_larger("the source", bytes, &source)?;
        refuse_larger("the stream", of.stream_bytes(), &stream)?;
        let (source, stream) = (
            ModelTarget::new(&source, of.seed),
            ModelTarget::new(&stream, of.seed),
        );
        Ok(Self {
            of,
            pair: Some(ModelPair::new(source, stream)),
            work: Duration::ZERO,
        })
    }

    fn pass(
        &mut self,
        way: StreamWay,
        steps: impl FnOnce(&ModelSource, u64) -> [IoSteps; 2],
        stop: &Stop,
    ) -> Result<Flow> {
        let pair = self.pair.take().expect("no pass is under way");
        let begun = spent_until(pair.now);
        let [source, sink] = steps(&self.of, pair.source.size);
        let passage = Passage {
            source,
            sink,
            reads_at_once: 1,
            window: self.of.work.buffers * u64::from(self.of.layout.block),
            work_byte: self.of.work_byte(),
        };
        let (pair, passed) = match way {
            StreamWay::ToStream => pair.pass(passage, stop)?,
            StreamWay::FromStream => {
                let (back, passed) = pair.turned().pass(passage, stop)?;
                (back.turned(), passed)
            }
        };
        let flow = spent_until(pair.now).flow(begun, self.of.bytes());
        self.pair = Some(pair);
        self.work += passed.work;
        Ok(flow)
    }
}

/// From where to where a pass goes.
#[derive(Clone, Copy)]
enum StreamWay {
    ToStream,
    FromStream,
}

impl Passes for ModelPasses {
    fn bytes(&self) -> u64 {
        self.of.bytes()
    }

    fn save(&mut self, stop: &Stop) -> Result<Flow> {
        let steps = |of: &ModelSource, size| [of.reads(size), of.writes()];
        self.pass(StreamWay::ToStream, steps, stop)
    }

    fn verify(&mut self, stop: &Stop) -> Result<Flow> {
        let steps = |of: &ModelSource, size| [of.blocks_read(), of.reads(size)];
        self.pass(StreamWay::FromStream, steps, stop)
    }

    /// A model has no content to be restored.
    fn restore(&mut self, _: &Stop) -> Result<Vec<Reading>> {
        Ok(Vec::new())
    }

    fn processor_time(&self) -> Option<Duration> {
        Some(self.work)
    }

    fn finish(self: Box<Self>) -> Result<Saved> {
        let stops = self.pair.as_ref().and_then(ModelPair::tape_stops);
        Ok(Saved {
            stream_bytes: self.of.stream_bytes(),
            others: stops.into_iter().collect(),
        })
    }
}

impl ModelSource {
    fn bytes(&self) -> u64 {
        self.files.0 * self.files.1.0
    }

    /// Processor time for each byte, nanoseconds.
    fn work_byte(&self) -> f64 {
        let crc = if self.layout.is_checked {
            self.work.crc_processor
        } else {
            Duration::ZERO
        };
        let work_mib = self.work.processor + crc;
        work_mib.as_nanos() as f64 / f64::from(1 << 20)
    }

    /// Reads of a source of `target` bytes: for each file what belongs to it, then the file.
    fn reads(&self, target: u64) -> IoSteps {
        let (files, size) = (self.files.0, self.files.1.0);
        let piece = (u64::from(self.layout.block) / SECTOR * SECTOR).max(SECTOR);
        let reads_per_file = self.work.reads_per_file;
        let mut places = Stream::new(self.seed, 0, Purpose::Address);
        let read = |offset, len, bytes| IoStep {
            bytes,
            ..IoStep::new(IoAction::Read, offset, len)
        };
        let of_file = move |file: u64| {
            let at = file * whole_sectors(size);
            let sectors = target / SECTOR;
            let heads: Vec<IoStep> = (0..reads_per_file)
                .map(|_| read(places.below(sectors) * SECTOR, SECTOR, 0))
                .collect();
            let data = (0..size.div_ceil(piece)).map(move |number| {
                let bytes = piece.min(size - number * piece);
                read(at + number * piece, whole_sectors(bytes), bytes)
            });
            heads.into_iter().chain(data)
        };
        Box::new((0..files).flat_map(of_file))
    }

    /// Bytes of the source in each block of the stream, those of redundancy with none.
    fn blocks(&self) -> impl Iterator<Item = u64> + Send + use<> {
        let (payload, group) = (self.layout.payload() as u64, u64::from(self.layout.group));
        let bytes = self.bytes();
        let count = bytes.div_ceil(payload);
        let of_block = move |number: u64| {
            let data = payload.min(bytes - number * payload);
            let ends_group =
                group > 0 && ((number + 1).is_multiple_of(group) || number + 1 == count);
            once(data).chain(ends_group.then_some(0))
        };
        // The first block describes the stream, the last one says how much there was.
        let data = (0..count).flat_map(of_block);
        once(0).chain(data).chain(once(0))
    }

    fn stream_bytes(&self) -> u64 {
        let payload = self.layout.payload() as u64;
        let data = (self.files.0.saturating_mul(self.files.1.0)).div_ceil(payload);
        let redundancy = match u64::from(self.layout.group) {
            0 => 0,
            group => data.div_ceil(group),
        };
        (data + redundancy + 2).saturating_mul(u64::from(self.layout.block))
    }

    /// Every block of the stream from the first on.
    fn blocks_moved(&self, action: IoAction) -> impl Iterator<Item = IoStep> + Send + use<> {
        let block = u64::from(self.layout.block);
        (0..).zip(self.blocks()).map(move |(number, bytes)| IoStep {
            bytes,
            ..IoStep::new(action, number * block, block)
        })
    }

    fn writes(&self) -> IoSteps {
        let sync = IoStep::new(IoAction::Sync, 0, 0);
        Box::new(self.blocks_moved(IoAction::Write).chain(once(sync)))
    }

    fn blocks_read(&self) -> IoSteps {
        Box::new(self.blocks_moved(IoAction::Read))
    }
}

const fn whole_sectors(bytes: u64) -> u64 {
    bytes.div_ceil(SECTOR) * SECTOR
}
