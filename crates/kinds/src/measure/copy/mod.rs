//! `copy`: a file copied record by record, with room made for it extent by extent or not at all.
//!
//! Reads may run ahead of the writes, as far as the buffers go: files have one.

mod files;

use results::metric::{
    COPY_ALLOCATIONS, COPY_CALLS, COPY_CPU, COPY_DEVICE_READS, COPY_DEVICE_WRITES, COPY_RATE,
    COPY_TIME, EXTENTS, TAPE_STOPS,
};
use sim::SimSpec;
use units::{Bytes, Duration, TargetName};

use super::Stop;
use super::applies::{Applies, NO_CONTENT};
use super::form::{ANY_TIME, ValueForm};
use super::kind::{Kind, Measured, Measuring, flag, made, settings};
use super::models::{ModelPair, ModelTarget, open_part, refuse_larger, refuse_read_only};
use super::place::{MeasureError, ReplicateContext, Result};
use super::records::{SYNCED, Spent, Synced, synced};
use super::settings::{SettingFault, Settings};
use super::steps::{Carrier, IoAction, IoStep, IoSteps, Passage, sequence, write_action};
use super::targets::{TargetUse, Targets};
pub(super) use files::cool;
use files::{FileCarrier, open_source};

pub const KIND: Kind = Kind {
    name: "copy",
    about: "one file copied, with space allocated extent by extent or not at all",
    settings: settings! {
        /// bytes read and written at a time. Between models, written
        record = RECORD.or("64KiB"),
        /// bytes to copy of a new file, or of the beginning of source (default: all of source)
        size = SIZE.or("64MiB"),
        /// a file or device of yours that is copied instead. It is only read. Where the target is a
        /// model, the model that is copied from
        source = ValueForm::Path("PATH or sim:NAME").optional(),
        /// space allocated for the copy whenever its extent is full. When not given, the file
        /// system decides
        extent = SIZE.optional(),
        /// when the copy is synced: never, once at the end, or with each record. The time includes
        /// that
        synced = SYNCED.or("end"),
        /// whether the file is dropped from the page cache before it is copied
        cold = flag(true).applying(NO_CONTENT),
        /// between models: bytes read at a time. Record when not given
        source_record = RECORD.optional().applying(Applies::ToModels),
        /// between models: reads that are asked for before they are written. 1 when not given
        buffers = ValueForm::Count(1, 1 << 20).optional().applying(Applies::ToModels),
        /// between models, space that the file system allocates at a time without extent (default:
        /// all at once, in no time)
        default_extent = SIZE.optional().applying(Applies::ToModels),
        /// between models, time of each allocation (default: none)
        extend_time = ANY_TIME.optional().applying(Applies::ToModels),
    },
    readings: &[
        COPY_TIME,
        COPY_RATE,
        COPY_CPU,
        COPY_CALLS,
        COPY_ALLOCATIONS,
        EXTENTS,
        COPY_DEVICE_READS,
        COPY_DEVICE_WRITES,
        TAPE_STOPS,
    ],
    targets: Targets::and(TargetUse::Overwritten),
    in_place: None,
    is_command: true,
    make: |settings| made(Copy::from_settings(settings)),
};

const RECORD: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_mib(256));
const SIZE: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_gib(1 << 20));

/// A file that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    size: Bytes,
    /// Whether all of a source of the user's is copied, whatever it holds.
    is_whole: bool,
    source: Option<TargetName>,
    /// Bytes of one read.
    source_record: Bytes,
    /// Reads that are asked for before they are handed on.
    buffers: u64,
    /// Bytes of one write.
    record: Bytes,
    /// Space that is allocated at a time; when absent, it comes as it is needed.
    extent: Option<Bytes>,
    /// What a model takes to allocate it.
    extend_time: Duration,
    synced: Synced,
    cold: bool,
}

impl Copy {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let record = settings.value("record");
        let extent = settings.optional("extent");
        Ok(Self {
            size: settings.value("size"),
            is_whole: !settings.is_given("size"),
            source: settings.optional("source"),
            source_record: settings.optional("source-record").unwrap_or(record),
            buffers: settings.optional("buffers").unwrap_or(1),
            record,
            extent: extent.or_else(|| settings.optional("default-extent")),
            extend_time: settings.optional("extend-time").unwrap_or_default(),
            synced: synced(settings),
            cold: settings.value("cold"),
        })
    }

    /// How much of a source of the user's is copied.
    fn bytes_of(&self, source: &TargetName, held: Bytes) -> Result<Bytes> {
        match self.is_whole {
            true => Ok(held),
            false if self.size <= held => Ok(self.size),
            false => Err(MeasureError::Usage(format!(
                "size = {}: {source} holds {held}",
                self.size
            ))),
        }
    }

    /// The models of a copy to this one, if the file fits on both.
    fn models(&self, target: &str) -> Result<[SimSpec; 2]> {
        let Some(source) = self.source.as_ref().and_then(TargetName::model) else {
            return Err(MeasureError::Usage(format!(
                "{target}: a model gets its copy from a model. Name it, as in source = \
                 \"sim:dlt2000\""
            )));
        };
        let (source, target) = (open_part(source)?, open_part(target)?);
        refuse_read_only(&target)?;
        for spec in [&source, &target] {
            refuse_larger("the file", self.size.0, spec)?;
        }
        Ok([source, target])
    }

    /// Source and copy, and how many bytes are copied.
    fn carrier(&self, place: &ReplicateContext, stop: &Stop) -> Result<(Bytes, Box<dyn Carrier>)> {
        match place.target.model() {
            Some(target) => {
                let models = self.models(target)?;
                let [source, target] = models.map(|spec| ModelTarget::new(&spec, place.seed));
                let mut pair = ModelPair::new(source, target);
                pair.space_time = self.extend_time;
                Ok((self.size, Box::new(pair)))
            }
            None => {
                let files = FileCarrier::open(self, place, stop)?;
                Ok((files.size(), Box::new(files)))
            }
        }
    }

    /// What is read, and what is written.
    fn passage(&self, size: Bytes) -> Passage {
        Passage {
            source: Box::new(sequence(IoAction::Read, size, self.source_record)),
            sink: self.writes(size),
            reads_at_once: self.buffers,
            window: (self.buffers * self.source_record.0).max(self.record.0),
            work_byte: 0.0,
        }
    }

    fn writes(&self, size: Bytes) -> IoSteps {
        let extent = self.extent;
        let mut space = 0;
        let with_space = move |step: IoStep| {
            let missing = (step.offset + step.len).saturating_sub(space);
            let more = extent.filter(|_| missing > 0);
            let more = more.map_or(0, |extent| extent.0.max(missing));
            space += more;
            IoStep {
                space: more,
                ..step
            }
        };
        let writes = sequence(write_action(self.synced), size, self.record).map(with_space);
        let cut = extent.map(|_| IoStep::new(IoAction::Cut, size.0, 0));
        let sync = (self.synced == Synced::AtEnd).then_some(IoStep::new(IoAction::Sync, 0, 0));
        Box::new(writes.chain(cut).chain(sync))
    }
}

impl Measuring for Copy {
    fn check(&self, place: &ReplicateContext) -> Result<()> {
        match place.target.model() {
            Some(target) => self.models(target).map(drop),
            None if place.is_named() => FileCarrier::over(self, place).map(drop),
            None => {
                let source = self.source.as_ref();
                source.map_or(Ok(()), |source| open_source(self, source).map(drop))
            }
        }
    }

    fn measured(&self, place: &ReplicateContext, stop: &Stop) -> Result<Measured> {
        self.check(place)?;
        let (size, carrier) = self.carrier(place, stop)?;
        let carried = carrier.carry(self.passage(size), stop)?;
        let flow = carried.spent.flow(Spent::default(), size.0);
        let allocations = self.writes(size).filter(|step| step.space > 0).count();
        let seconds = flow.elapsed.as_secs_f64();
        let mut readings = vec![COPY_TIME.reading(seconds)];
        readings.extend(flow.readings([COPY_RATE, COPY_CPU]));
        readings.push(COPY_CALLS.reading(carried.calls as f64));
        readings.push(COPY_ALLOCATIONS.reading(allocations as f64));
        readings.extend(carried.others);
        Ok(Measured {
            readings,
            warnings: carried.warnings,
        })
    }
}
