//! `backup` from one model to another in virtual time: saved, and verified if asked for.
//!
//! The files lie one after the other. Of each, its directory entry and what else belongs to it is
//! read first, at places drawn from the seed. All that is read passes a processor, and goes to the
//! stream in blocks, with redundancy as in [`super::backup::format`]. Verifying reads the stream
//! from its beginning, and reads the files again. File headers are not part of the stream here.

use random::{Purpose, Stream};
use results::{Better, Reading, Unit};
use sim::{Action, Between, Device, Side, Step, Steps, Transport};
use units::{Bytes, Duration, Instant};
use workload::Durability;

use super::Stop;
use super::place::MeasureError;
use super::settings::{SettingFault, Settings};
use super::simulated::{
    Part, Watch, failed, given, open_part, rate, refuse_larger, refuse_read_only, tape_stops,
};
use crate::measure::backup::format::Layout;

/// Settings that say something about models only.
const FOR_MODELS: [&str; 4] = ["buffers", "processor", "crc-processor", "reads-per-file"];
const BUFFERS_MAX: u64 = 1 << 20;
const READS_MAX: u64 = 1000;
/// What is read of a disk is whole sectors.
const SECTOR: u64 = 512;

/// The processor's share of the time.
pub const PROCESSOR_BUSY: (&str, &str) = (
    "processor busy",
    "between models: share of the time in which the processor worked",
);

/// What only models must be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelBackup {
    buffers: u64,
    processor: Duration,
    crc_processor: Duration,
    reads_per_file: u64,
}

/// One backup between models.
pub struct ModelSave<'a> {
    /// What only models must be told.
    pub model: ModelBackup,
    /// Models of the files' storage, and of the stream's.
    pub places: [&'a str; 2],
    /// Number of files, and bytes of each.
    pub files: (u64, Bytes),
    /// The stream's.
    pub layout: Layout,
    /// Whether the stream is verified.
    pub verify: bool,
    /// What is random.
    pub seed: u64,
}

/// Which setting was given that real storage has no use for.
pub fn for_models(settings: &Settings<'_>) -> Option<&'static str> {
    given(settings, &FOR_MODELS)
}

impl ModelBackup {
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let reads_per_file = settings.count("reads-per-file", 0..=READS_MAX)?;
        Ok(Self {
            buffers: settings.count("buffers", 1..=BUFFERS_MAX)?.unwrap_or(2),
            processor: settings.time("processor")?.unwrap_or_default(),
            crc_processor: settings.time("crc-processor")?.unwrap_or_default(),
            reads_per_file: reads_per_file.unwrap_or(0),
        })
    }
}

impl ModelSave<'_> {
    /// Say whether it can be measured.
    pub fn check(&self) -> Result<(), MeasureError> {
        let [source, stream] = self.places.map(open_part);
        let (source, stream) = (source?, stream?);
        refuse_read_only(&stream)?;
        let (files, size) = self.files;
        let bytes = files.saturating_mul(whole_sectors(size.0));
        refuse_larger("the source", bytes, &source)?;
        refuse_larger("the stream", self.stream_bytes(), &stream)
    }

    /// Save, and verify.
    pub fn measure(&self, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        self.check()?;
        let [source, stream] = self.places.map(open_part);
        let source = Part::new(&source?, self.seed);
        let stream = Part::new(&stream?, self.seed);
        let (source_start, stream_start) = (source.start, stream.start);
        let reads = || self.reads(source_start, source.size);
        let mut watch = Watch::default();
        let save = [
            side(source.device, reads()),
            side(stream.device, self.writes(stream_start)),
        ];
        let begun = Instant::START;
        let saved = self.run(save, begun, &mut watch, stop)?;
        let bytes = self.files.0 * self.files.1.0;
        let seconds = |from: Instant, to: Instant| to.since(from).as_secs_f64();
        let mut readings = vec![rate("save rate", bytes, seconds(begun, saved.end))];
        let Pass {
            mut devices,
            mut end,
            mut work,
        } = saved;
        if self.verify {
            let [source, stream] = devices;
            let verify = [
                side(stream, self.blocks_read(stream_start)),
                side(source, reads()),
            ];
            let verified = self.run(verify, end, &mut watch, stop)?;
            readings.push(rate("verify rate", bytes, seconds(end, verified.end)));
            devices = verified.devices;
            end = verified.end;
            work += verified.work;
        }
        let elapsed = seconds(begun, end);
        let busy = work.as_secs_f64() / elapsed.max(1e-9);
        let stream_bytes = self.stream_bytes() as f64;
        let overhead = stream_bytes / bytes as f64 - 1.0;
        readings.extend([
            rate("backup rate", bytes, elapsed),
            Reading::new(PROCESSOR_BUSY.0, Unit::Share, busy, Better::Lower),
            Reading::new("stream size", Unit::Bytes, stream_bytes, Better::Lower),
            Reading::new("overhead", Unit::Share, overhead, Better::Lower),
        ]);
        readings.extend(tape_stops(&[&*devices[0], &*devices[1]]));
        Ok(readings)
    }

    /// One pass from a source to a sink.
    fn run(
        &self,
        [source, sink]: [Side; 2],
        begun: Instant,
        watch: &mut Watch,
        stop: &Stop,
    ) -> Result<Pass, MeasureError> {
        let crc = if self.layout.is_checked {
            self.model.crc_processor
        } else {
            Duration::ZERO
        };
        let work_mib = self.model.processor + crc;
        let between = Between {
            window: self.model.buffers * u64::from(self.layout.block),
            work_byte: work_mib.as_nanos() as f64 / f64::from(1 << 20),
        };
        let mut transport = Transport::new(between, source, sink, begun);
        while transport.step().map_err(failed)? {
            watch.go_on(stop)?;
        }
        Ok(Pass {
            end: transport.now(),
            work: transport.done().work,
            devices: transport.into_devices(),
        })
    }

    /// Reads of the source: for each file what belongs to it, then the file.
    fn reads(&self, start: u64, target: u64) -> Steps {
        let (files, size) = (self.files.0, self.files.1.0);
        let piece = (u64::from(self.layout.block) / SECTOR * SECTOR).max(SECTOR);
        let reads_per_file = self.model.reads_per_file;
        let mut places = Stream::new(self.seed, 0, Purpose::Address);
        let read = |offset, len, bytes| Step {
            action: Action::Read,
            offset,
            len,
            bytes,
            before: Duration::ZERO,
        };
        let of_file = move |file: u64| {
            let at = start + file * whole_sectors(size);
            let sectors = target / SECTOR;
            let heads: Vec<Step> = (0..reads_per_file)
                .map(|_| read(start + places.below(sectors) * SECTOR, SECTOR, 0))
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
        let bytes = self.files.0 * self.files.1.0;
        let count = bytes.div_ceil(payload);
        let of_block = move |number: u64| {
            let data = payload.min(bytes - number * payload);
            let ends_group =
                group > 0 && ((number + 1).is_multiple_of(group) || number + 1 == count);
            std::iter::once(data).chain(ends_group.then_some(0))
        };
        // The first block describes the stream, the last one says how much there was.
        let data = (0..count).flat_map(of_block);
        std::iter::once(0).chain(data).chain(std::iter::once(0))
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

    fn writes(&self, start: u64) -> Steps {
        let block = u64::from(self.layout.block);
        let write = move |(number, bytes): (u64, u64)| Step {
            action: Action::Write(Durability::Volatile),
            offset: start + number * block,
            len: block,
            bytes,
            before: Duration::ZERO,
        };
        let flush = Step {
            action: Action::Flush,
            offset: start,
            len: 0,
            bytes: 0,
            before: Duration::ZERO,
        };
        let writes = (0..).zip(self.blocks()).map(write);
        Box::new(writes.chain(std::iter::once(flush)))
    }

    fn blocks_read(&self, start: u64) -> Steps {
        let block = u64::from(self.layout.block);
        let read = move |(number, bytes): (u64, u64)| Step {
            action: Action::Read,
            offset: start + number * block,
            len: block,
            bytes,
            before: Duration::ZERO,
        };
        Box::new((0..).zip(self.blocks()).map(read))
    }
}

/// One pass, when it is over.
struct Pass {
    /// Source and sink, as they were left.
    devices: [Box<dyn Device>; 2],
    end: Instant,
    /// The processor's.
    work: Duration,
}

const fn whole_sectors(bytes: u64) -> u64 {
    bytes.div_ceil(SECTOR) * SECTOR
}

fn side(device: Box<dyn Device>, steps: Steps) -> Side {
    Side {
        device,
        steps,
        at_once: 1,
    }
}
