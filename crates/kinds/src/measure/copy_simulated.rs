//! `copy` from one model to another in virtual time.
//!
//! The file is read ahead into buffers and written one record after the other. When the copy is
//! full, room is made for it first, which takes a time of its own.

use results::{Better, Reading, Unit};
use sim::{Action, Between, Side, Step, Steps, Transport, Transported};
use units::{Bytes, Duration, Instant};
use workload::Durability;

use super::Stop;
use super::place::{MeasureError, Place};
use super::records::Synced;
use super::settings::{SettingFault, Settings};
use super::simulated::{
    Part, Watch, count, failed, given, open_part, rate, refuse_larger, refuse_read_only, tape_stops,
};

/// Settings that say something about models only.
const FOR_MODELS: [&str; 4] = ["source-record", "buffers", "default-extent", "extend-time"];
const RECORD_MAX: Bytes = Bytes::from_mib(256);
const BUFFERS_MAX: u64 = 1 << 20;
const EXTENT_MAX: Bytes = Bytes::from_gib(1 << 20);

/// A copy between models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCopy {
    /// Bytes of the file.
    pub size: Bytes,
    /// Bytes of one read.
    pub source_record: Bytes,
    /// Reads that are asked for before they are handed on.
    pub buffers: u64,
    /// Bytes of one write.
    pub record: Bytes,
    /// Room that is made at a time; all of it before the first write when absent, at no cost.
    pub extent: Option<Bytes>,
    /// What making room takes.
    pub extend_time: Duration,
    /// When the copy is forced to the storage.
    pub synced: Synced,
}

/// What a copy between models came to.
pub struct ModelCopied {
    /// How long it took.
    pub elapsed: Duration,
    /// How often a tape stopped, if one took part.
    pub stops: Option<u64>,
    done: Transported,
    stops_reading: Option<Reading>,
}

/// Which setting was given that real storage has no use for.
pub fn for_models(settings: &Settings<'_>) -> Option<&'static str> {
    given(settings, &FOR_MODELS)
}

impl ModelCopy {
    /// The settings, with those that files have as well.
    pub(super) fn from_settings(
        settings: &Settings<'_>,
        (size, record): (Bytes, Bytes),
        (extent, synced): (Option<Bytes>, Synced),
    ) -> Result<Self, SettingFault> {
        let source_record = settings.size("source-record", Bytes(1)..=RECORD_MAX)?;
        let default_extent = settings.size("default-extent", Bytes(1)..=EXTENT_MAX)?;
        Ok(Self {
            size,
            source_record: source_record.unwrap_or(record),
            buffers: settings.count("buffers", 1..=BUFFERS_MAX)?.unwrap_or(1),
            record,
            extent: extent.or(default_extent),
            extend_time: settings.time("extend-time")?.unwrap_or_default(),
            synced,
        })
    }

    /// Copy from one model to another.
    ///
    /// # Errors
    /// When a model does not exist or is too small, or somebody stopped it.
    pub fn run(
        &self,
        source: &str,
        target: &str,
        seed: u64,
        stop: &Stop,
    ) -> Result<ModelCopied, MeasureError> {
        let [source, target] = self.open(source, target)?;
        let (source, target) = (Part::new(&source, seed), Part::new(&target, seed));
        let window = (self.buffers * self.source_record.0).max(self.record.0);
        let between = Between {
            window,
            work_byte: 0.0,
        };
        let source = Side {
            steps: self.reads(source.start),
            device: source.device,
            at_once: self.buffers as usize,
        };
        let sink = Side {
            steps: self.writes(target.start),
            device: target.device,
            at_once: 1,
        };
        let mut transport = Transport::new(between, source, sink, Instant::START);
        let mut watch = Watch::default();
        while transport.step().map_err(failed)? {
            watch.go_on(stop)?;
        }
        let (now, done) = (transport.now(), transport.done());
        let [source, target] = transport.into_devices();
        let stops_reading = tape_stops(&[&*source, &*target]);
        Ok(ModelCopied {
            elapsed: now.since(Instant::START),
            stops: stops_reading.as_ref().map(|reading| reading.value as u64),
            done,
            stops_reading,
        })
    }

    /// Both models, if the file fits.
    pub(super) fn open(
        &self,
        source: &str,
        target: &str,
    ) -> Result<[sim::SimSpec; 2], MeasureError> {
        let (source, target) = (open_part(source)?, open_part(target)?);
        refuse_read_only(&target)?;
        for spec in [&source, &target] {
            refuse_larger("the file", self.size.0, spec)?;
        }
        Ok([source, target])
    }

    fn reads(&self, start: u64) -> Steps {
        let read = move |(offset, len)| Step {
            action: Action::Read,
            offset: start + offset,
            len,
            bytes: len,
            before: Duration::ZERO,
        };
        Box::new(pieces(self.size.0, self.source_record.0).map(read))
    }

    fn writes(&self, start: u64) -> Steps {
        let durability = match self.synced {
            Synced::EachRecord => Durability::Synced,
            Synced::No | Synced::AtEnd => Durability::Volatile,
        };
        let extend_time = self.extend_time;
        let write = move |(offset, len, makes_room)| Step {
            action: Action::Write(durability),
            offset: start + offset,
            len,
            bytes: len,
            before: if makes_room {
                extend_time
            } else {
                Duration::ZERO
            },
        };
        let flush = (self.synced == Synced::AtEnd).then_some(Step {
            action: Action::Flush,
            offset: start,
            len: 0,
            bytes: 0,
            before: Duration::ZERO,
        });
        Box::new(self.written().map(write).chain(flush))
    }

    /// What is written where, and whether room is made for it first.
    fn written(&self) -> impl Iterator<Item = (u64, u64, bool)> + use<> {
        let extent = self.extent;
        let mut room = 0;
        pieces(self.size.0, self.record.0).map(move |(offset, len)| {
            let missing = (offset + len).saturating_sub(room);
            let more = extent.filter(|_| missing > 0);
            room += more.map_or(0, |extent| extent.0.max(missing));
            (offset, len, more.is_some())
        })
    }

    pub(super) fn measure(
        &self,
        source: &str,
        place: &Place,
        stop: &Stop,
    ) -> Result<Vec<Reading>, MeasureError> {
        let copied = self.run(source, &place.target, place.seed, stop)?;
        let seconds = copied.elapsed.as_secs_f64();
        let calls = copied.done.source_commands + copied.done.sink_commands;
        let flushes = u64::from(self.synced == Synced::AtEnd);
        let room_made = self.written().filter(|&(.., makes_room)| makes_room);
        let mut readings = vec![
            Reading::new("copy time", Unit::Seconds, seconds, Better::Lower),
            rate("copy rate", self.size.0, seconds),
            count("calls", calls - flushes, Better::Lower),
            count("allocations", room_made.count() as u64, Better::Neither),
        ];
        readings.extend(copied.stops_reading);
        Ok(readings)
    }
}

/// Offsets and lengths of the pieces of a file.
fn pieces(size: u64, piece: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..size.div_ceil(piece)).map(move |number| {
        let offset = number * piece;
        (offset, piece.min(size - offset))
    })
}
