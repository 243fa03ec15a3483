//! Warnings about job files that measure something unexpected.

use units::{Duration, TargetName};

use crate::blocks::pair_of_sizes;
use crate::engines::EngineKind;
use crate::fault::JobFilePosition;
use crate::job::{Amount, Job};
use crate::number::{KbBase, size};
use crate::pattern::{Directions, Distribution};

/// Facts about the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineFacts {
    /// Memory in bytes, if known.
    pub memory: Option<u64>,
}

/// A warning, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// Place of the job or the option.
    pub place: JobFilePosition,
    /// What would happen, what it means, and what to write.
    pub text: String,
}

type Rule<'a> = &'a dyn Fn(&Job) -> Option<String>;

/// Warnings about jobs, in their order.
pub fn lints(jobs: &[Job], facts: &MachineFacts) -> Vec<Lint> {
    let rules: [Rule<'_>; 15] = [
        &no_range,
        &cut_sizes,
        &ended_early,
        &only_made,
        &several_names,
        &one_name_for_copies,
        &absolute_below_directory,
        &unlimited_by_time,
        &short,
        &no_ramp,
        &|job| buffered_reads(job, facts),
        &unsynced,
        &depth_in_vain,
        &submission_blocks,
        &rated,
    ];
    let of = |job: &Job| {
        let found = rules.iter().filter_map(|rule| rule(job));
        let lint = |text| Lint {
            place: job.place.clone(),
            text: format!("[{}] {text}", job.name),
        };
        found.map(lint).collect::<Vec<_>>()
    };
    let mut all: Vec<Lint> = jobs.iter().flat_map(of).collect();
    all.extend(jobs.iter().filter_map(device_written));
    all
}

const SHORT_SECONDS: f64 = 30.0;

fn unlimited_by_time(job: &Job) -> Option<String> {
    let is_cut = job.limits.runtime > Duration::ZERO && !job.limits.is_time_based;
    is_cut.then(|| {
        "runtime without time_based: the job ends when its size is done, however early. Add \
         time_based to run for the whole time"
            .into()
    })
}

fn short(job: &Job) -> Option<String> {
    let seconds = job.limits.runtime.as_secs_f64();
    (seconds > 0.0 && seconds <= SHORT_SECONDS).then(|| {
        format!(
            "runtime of {}: too short to see cleaning, throttling or a cache that fills. Use \
             runtime=2m or more",
            job.limits.runtime
        )
    })
}

fn one_name_for_copies(job: &Job) -> Option<String> {
    let is_one = job.files.names.is_empty() && !job.files.format.contains("$jobnum");
    (is_one && job.copies > 1).then(|| {
        format!(
            "filename_format without $jobnum: as in fio, the first of {} copies uses the \
             files, and the others do nothing. Add $jobnum for files of their own, or \
             filename to share them",
            job.copies
        )
    })
}

fn no_ramp(job: &Job) -> Option<String> {
    let is_timed = job.limits.is_time_based && job.limits.ramp == Duration::ZERO;
    is_timed.then(|| {
        "no ramp_time: the start counts as well, as in fio. Add ramp_time=5 to leave it out".into()
    })
}

/// Whether the page cache is used: not with the null engine, and not on a model.
fn is_cached(job: &Job) -> bool {
    let mut names = job.files.names.iter();
    let is_on_model = names.any(|name| TargetName::from(name.as_str()).is_model());
    let moves_bytes = !job.engine.kind.moves_nothing();
    !job.is_direct && moves_bytes && !is_on_model
}

fn buffered_reads(job: &Job, facts: &MachineFacts) -> Option<String> {
    if !is_cached(job) || !job.pattern.directions.reads() {
        return None;
    }
    let fits = match (job.size, facts.memory) {
        (Some(Amount::Bytes(size)), Some(memory)) => size < memory,
        _ => false,
    };
    Some(match fits {
        true => "buffered reads of less than memory holds: they measure the page cache. Add \
                 direct=1"
            .into(),
        false => "buffered reads: the page cache takes part. Add direct=1".into(),
    })
}

fn unsynced(job: &Job) -> Option<String> {
    let syncs = job.syncs.period() > 0 || job.syncs.at_end || job.syncs.each.is_some();
    let is_unsynced = is_cached(job) && job.pattern.directions.writes() && !syncs;
    is_unsynced.then(|| {
        "buffered writes that are never synced: they measure memory. Add direct=1 or end_fsync=1"
            .into()
    })
}

fn depth_in_vain(job: &Job) -> Option<String> {
    (job.engine.kind == EngineKind::Synchronous && job.depth > 1).then(|| {
        format!(
            "iodepth={} with the engine {}: it has one request at a time. Use ioengine=libaio or \
             io_uring",
            job.depth, job.engine.name
        )
    })
}

fn submission_blocks(job: &Job) -> Option<String> {
    (job.engine.name == "libaio" && is_cached(job)).then(|| {
        "libaio without direct=1: in fio submission blocks and the depth is not reached. Here the \
         depth is kept. Add direct=1"
            .into()
    })
}

fn rated(job: &Job) -> Option<String> {
    job.pace.rates.iter().any(Option::is_some).then(|| {
        "a rate: lat counts from when a request was sent, as in fio, and hides what a stall kept \
         waiting. The JSON has it in latency_from_due_ns"
            .into()
    })
}

/// `bs=4k-16k`.
fn no_range(job: &Job) -> Option<String> {
    let given = job.given.iter().rfind(|it| it.option.name == "bs")?;
    let text = given.value.as_deref()?;
    let (first, second) = pair_of_sizes(text)?;
    Some(format!(
        "bs={text} is no range: as in fio, reads have {first} and writes and trims {second}, and \
         nothing lies between. Write bsrange={text} for a range"
    ))
}

/// `bssplit=4k/50:10k/50`.
fn cut_sizes(job: &Job) -> Option<String> {
    let given = job.given.iter().rfind(|it| it.option.name == "bssplit")?;
    let text = given.value.as_deref()?;
    let bytes = |entry: &str| match entry.split_once('/') {
        Some((_, "0")) => None,
        Some((bytes, _)) => size(bytes.trim(), KbBase::default()).ok(),
        None => size(entry.trim(), KbBase::default()).ok(),
    };
    let cut = text.split(',').find_map(|part| {
        let sizes: Vec<u64> = part.split(':').filter_map(bytes).collect();
        let least = *sizes.iter().min()?;
        sizes.into_iter().find(|bytes| !bytes.is_multiple_of(least))
    })?;
    Some(format!(
        "no request of bssplit={text} has {cut} bytes. As in fio, sizes are cut to multiples of \
         the smallest. Use multiples, or add the smaller size to the list"
    ))
}

/// Random reads and writes of different sizes that should reach each block once.
fn ended_early(job: &Job) -> Option<String> {
    let is_mapped = job.pattern.is_random
        && !job.may_repeat
        && job.distribution == Distribution::Uniform
        && job.alignment == [None; 3];
    let is_mixed = job.pattern.directions == Directions::Mixed
        && (1..100).contains(&job.read_percent_effective())
        && job.blocks[0].least() != job.blocks[1].least();
    let are_apart = is_mixed || job.exceeds_map();
    (is_mapped && are_apart && !job.is_timed()).then(|| {
        "other block sizes for reads than for writes: as in fio the job ends early. Its map \
         of blocks has no place for the larger ones. Add norandommap to move all of size"
            .into()
    })
}

fn only_made(job: &Job) -> Option<String> {
    job.only_creates.then(|| {
        "create_only: no I/O is done, and files of ours are removed at the end. Add --keep-files, \
         or leave it out: a run lays out what it reads"
            .into()
    })
}

fn filenames(job: &Job) -> impl Iterator<Item = &str> {
    let given = job.given.iter();
    given
        .filter(|it| it.option.name == "filename")
        .filter_map(|it| it.value.as_deref())
}

/// `filename` in `[global]` and in the job, or twice in one of them.
fn several_names(job: &Job) -> Option<String> {
    let count = filenames(job).count();
    (count > 1).then(|| {
        format!(
            "filename is given {count} times, [global] included. As in fio the job uses all of \
             them, {}, and size is divided among them. Give it once",
            job.files.names.join(", ")
        )
    })
}

/// `directory=/data` and `filename=/dev/sda`.
fn absolute_below_directory(job: &Job) -> Option<String> {
    let is_moved = |name: &str| {
        let mut all = job.files.names.iter();
        name.starts_with('/') && all.any(|it| it.len() > name.len() && it.ends_with(name))
    };
    let name = filenames(job).find(|name| is_moved(name))?;
    Some(format!(
        "filename={name} with directory: as in fio the file is {}. Leave directory out",
        job.files.names.iter().find(|it| it.ends_with(name))?
    ))
}

fn device_written(job: &Job) -> Option<Lint> {
    let device = job
        .files
        .names
        .iter()
        .find(|name| name.starts_with("/dev/"))?;
    let changes = job.pattern.directions.writes() || job.pattern.directions.trims();
    changes.then(|| Lint {
        place: job.place.clone(),
        text: format!(
            "[{}] writes to {device}: everything on it is lost. It needs --overwrite",
            job.name
        ),
    })
}
