//! Values of a job as a workload has them.

use fio::{Direction, Directions, EachWrite, EngineKind, FileHint, FileOrder, Job, PrioritySplit};
use workload::{
    Content, Durability, Fill, Freshness, IoPriority, NextFile, OperationSize, PriorityShare,
    ReadOrderHint, Trims, WriteOut,
};

use super::plan::JobStorage;

pub(super) fn depth_of(job: &Job, storage: &JobStorage) -> u32 {
    let is_trim = job.pattern.directions == Directions::Trim;
    match job.engine.kind {
        EngineKind::Synchronous if !job.is_offloaded => 1,
        EngineKind::Calls(_) => 1,
        // The kernel trims while it is asked: what would wait for that is no queue of a device.
        _ if is_trim && *storage == JobStorage::Files => 1,
        _ => job.depth,
    }
}

pub(super) const fn durability_of(job: &Job) -> Durability {
    match job.syncs.each {
        Some(EachWrite::Sync) => Durability::Synced,
        Some(EachWrite::DataSync) => Durability::Through,
        None => Durability::Volatile,
    }
}

/// What follows writes instead of a flush.
pub(super) fn writes_out_of(job: &Job) -> Option<WriteOut> {
    let steps = job.syncs.range()?;
    Some(WriteOut {
        waits_before: steps.waits_before,
        writes: steps.writes,
        waits_after: steps.waits_after,
    })
}

/// The access pattern to announce to the kernel for the files of a job.
pub(super) const fn hint_of(job: &Job) -> Option<ReadOrderHint> {
    match (job.hint, job.pattern.is_random) {
        (FileHint::None, _) => None,
        (FileHint::Random, _) | (FileHint::AsRequested, true) => Some(ReadOrderHint::Random),
        (FileHint::Sequential, _) | (FileHint::AsRequested, false) => {
            Some(ReadOrderHint::Sequential)
        }
    }
}

pub(super) const fn order_of(job: &Job) -> NextFile {
    match job.files.order {
        FileOrder::RoundRobin => NextFile::RoundRobin,
        FileOrder::Random => NextFile::Random,
        FileOrder::Sequential => NextFile::Sequential,
    }
}

/// Requests in order after each that is drawn.
pub(super) const fn run_of(job: &Job) -> u32 {
    match job.pattern.modifier {
        Some(run) if job.pattern.is_random => run as u32,
        _ => 1,
    }
}

pub(super) fn sizes_of(job: &Job, direction: usize) -> Vec<OperationSize> {
    let sizes = job.blocks[direction].sizes.iter();
    let size = |size: &fio::SizeShare| OperationSize {
        len: size.bytes as u32,
        weight: size.weight as u32,
    };
    sizes.map(size).collect()
}

/// Shares of reads, and of writes or trims, that are more or less urgent.
pub(super) fn priorities_of(job: &Job) -> [Vec<PriorityShare>; 2] {
    job.priorities.0.each_ref().map(|own| {
        let of_all = PriorityShare {
            len: None,
            percent: own.percent,
            priority: IoPriority::new(own.class, own.level),
        };
        let of_size = |it: &PrioritySplit| PriorityShare {
            len: Some(it.bytes as u32),
            percent: it.percent,
            priority: it.priority.map_or(of_all.priority, |(class, level)| {
                IoPriority::new(class, level)
            }),
        };
        let shares = own.split.iter().map(of_size);
        let shares = shares.chain(own.split.is_empty().then_some(of_all));
        shares.filter(|it| it.percent > 0).collect()
    })
}

/// What a job writes. As in fio, a pattern goes before zeroes.
pub(super) fn content_of(job: &Job) -> Content {
    let buffers = &job.buffers;
    let verified = job.verify.pattern.as_ref().filter(|_| job.verify.is_on);
    if let Some(pattern) = verified {
        return Content {
            fill: Fill::Pattern(pattern.clone()),
            ..Content::default()
        };
    }
    Content {
        fill: match (&buffers.pattern, buffers.are_zeroes) {
            (Some(pattern), _) => Fill::Pattern(pattern.clone()),
            (None, true) => Fill::Zeroes,
            (None, false) => Fill::Noise,
        },
        freshness: match (buffers.are_refilled, buffers.are_scrambled) {
            (true, _) => Freshness::Drawn,
            (false, true) => Freshness::Marked,
            (false, false) => Freshness::Repeated,
        },
        compressible_percent: buffers.compress_percent,
        chunk_bytes: buffers.compress_chunk,
        duplicate_percent: buffers.dedupe_percent,
    }
    .settled()
}

/// Which value of triplets holds for what is not read.
pub(super) fn second_of(job: &Job) -> usize {
    match trims_of(job) {
        Trims::Only => Direction::Trim as usize,
        Trims::None | Trims::BeforeWrites => Direction::Write as usize,
    }
}

pub(super) const fn trims_of(job: &Job) -> Trims {
    match job.pattern.directions {
        Directions::Trim => Trims::Only,
        Directions::TrimWrite => Trims::BeforeWrites,
        Directions::Read | Directions::Write | Directions::Mixed => Trims::None,
    }
}
