//! Conflicts between options, once all options of a job, or of concurrent jobs, are known.

use crate::blocks::{BlockSizes, MOVED_MAX};
use crate::fault::Fault;
use crate::job::{Job, RateLimit};
use crate::pattern::{Directions, Distribution};
use crate::reader::Given;
use crate::table_engines::engines_of;
use units::{Duration, TargetName};

/// What is not supported in one job.
pub(crate) fn conflicts(job: &Job) -> Vec<Fault> {
    [
        misaligned(job),
        overlapping(job),
        trimmed_otherwise(job),
        too_long(job),
        removed_each_loop(job),
        filled_otherwise(job),
        zoned_otherwise(job),
        slower_than_least(job),
        two_rates(job),
        two_syncs(job),
        urgent_otherwise(job),
        of_other_engine(job),
        called_otherwise(job),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The last enabled one of an option.
fn last<'a>(job: &'a Job, name: &str) -> Option<&'a Given> {
    let given = job.given.iter().rfind(|it| it.option.name == name)?;
    let is_off = matches!(given.value.as_deref(), Some("0" | "false"));
    (!is_off).then_some(given)
}

fn refused(given: &Given, why: &str) -> Fault {
    let name = given.option.name;
    let shown = given
        .value
        .as_ref()
        .map_or_else(|| name.into(), |text| format!("{name}={text}"));
    Fault::new(&given.place, format!("{shown} is refused: {why}"))
}

/// Reads and writes of a mix have the same alignment.
fn misaligned(job: &Job) -> Option<Fault> {
    let given = last(job, "ba")?;
    let [reads, writes, _] = job.alignment;
    let is_mixed = job.pattern.directions == Directions::Mixed;
    let differ = is_mixed && writes.is_some() && reads != writes;
    differ.then(|| refused(given, "use one alignment for reads and writes"))
}

/// Requests of jobs that reach each block once never overlap.
fn overlapping(job: &Job) -> Option<Fault> {
    let given = last(job, "serialize_overlap")?;
    let may_repeat = job.pattern.is_random
        && (job.may_repeat
            || job.distribution != Distribution::Uniform
            || job.random_percent != [100; 3]
            || job.pattern.modifier.is_some()
            || last(job, "ba").is_some());
    may_repeat.then(|| {
        let why = "requests of this job may overlap, and none waits for another here. Leave out \
                   what repeats blocks, such as norandommap";
        refused(given, why)
    })
}

/// Reads and writes need memory, trims do not.
fn too_long(job: &Job) -> Option<Fault> {
    let sizes = match job.pattern.directions {
        Directions::Trim => return None,
        _ => &job.blocks[..2],
    };
    let most = sizes.iter().map(BlockSizes::most).max();
    most.filter(|most| *most > MOVED_MAX)?;
    let mut given = job.given.iter();
    let given = given.rfind(|it| ["bs", "bsrange", "bssplit"].contains(&it.option.name))?;
    Some(refused(given, "a read or write has 1g at most"))
}

/// Each trim is followed by a write of the same range.
fn trimmed_otherwise(job: &Job) -> Option<Fault> {
    let given = last(job, "rw")?;
    let [_, writes, trims] = &job.blocks;
    let is_pair = job.pattern.directions == Directions::TrimWrite;
    // With random offsets, a write is as long as the trim before it. With a map, longer ones end
    // the job early.
    let fits = writes == trims
        || job.pattern.is_random && (job.may_repeat || trims.most() <= writes.least());
    let differ = !fits || job.pace.rates[1] != job.pace.rates[2];
    (is_pair && differ).then(|| refused(given, "trims and writes share one bs and one rate"))
}

/// A write after a trim has the same length.
fn write_what_was_trimmed(job: &mut Job) {
    if job.pattern.directions == Directions::TrimWrite {
        job.blocks[1] = job.blocks[2].clone();
    }
}

/// Zones require blocks of one size that fit into them, sequential or each once.
fn zoned_otherwise(job: &Job) -> Option<Fault> {
    let mode = job.given.iter().rfind(|it| it.option.name == "zonemode");
    let Some(mode) = mode.filter(|_| job.zones.are_strided) else {
        let given = last(job, "zonesize").filter(|_| mode.is_none())?;
        return Some(refused(given, "as in fio it needs zonemode=strided"));
    };
    if job.zones.bytes == 0 {
        return Some(refused(mode, "as in fio it needs zonesize"));
    }
    let zones = job.zones_effective()?;
    if job.files.names.len() > 1 || (job.files.names.is_empty() && job.files.count > 1) {
        return Some(refused(mode, "zones need a single file"));
    }
    let sizes = match job.pattern.directions {
        Directions::Read => &job.blocks[..1],
        Directions::Write => &job.blocks[1..2],
        Directions::Mixed => &job.blocks[..2],
        Directions::Trim | Directions::TrimWrite => &job.blocks[2..],
    };
    let block = sizes[0].least();
    let vary = sizes.iter().any(|it| it.vary() || it.least() != block);
    if vary || !zones.range.is_multiple_of(block) {
        let why = "zones of whole blocks of one size are done. Make zonerange a multiple of bs";
        return Some(refused(mode, why));
    }
    let is_plain = job.pattern.modifier.is_none()
        && job.distribution == Distribution::Uniform
        && job.alignment == [None; 3]
        && !job.verify.is_on;
    (!is_plain).then(|| {
        let why = "in zones all blocks are read or written in order, or each once. Leave out \
                   verify, ba, random_distribution and the modifier of rw";
        refused(mode, why)
    })
}

/// As in fio, a rate is either in bytes or in requests.
fn two_rates(job: &Job) -> Option<Fault> {
    last(job, "rate")?;
    let given = last(job, "rate_iops")?;
    Some(refused(
        given,
        "as in fio rate and rate_iops exclude each other",
    ))
}

/// When both are due, fio issues an fsync; here writes are counted for only one of them.
fn two_syncs(job: &Job) -> Option<Fault> {
    let (every, data_every) = (job.syncs.every, job.syncs.data_every);
    if job.syncs.range_every > 0 && (every > 0 || data_every > 0) {
        let given = last(job, "sync_file_range")?;
        return Some(refused(given, "use sync_file_range, or fsync or fdatasync"));
    }
    let given = last(job, "fdatasync")?;
    let is_other = every > 0 && !data_every.is_multiple_of(every);
    is_other.then(|| refused(given, "use fsync or fdatasync, not both"))
}

/// Requests have a priority that is set by one of two options.
fn urgent_otherwise(job: &Job) -> Option<Fault> {
    let split = last(job, "cmdprio_bssplit");
    let given = last(job, "cmdprio_percentage").or(split)?;
    let are_both = split.is_some() && last(job, "cmdprio_percentage").is_some();
    (job.priorities.are_any() && are_both).then(|| {
        let why = "as in fio cmdprio_percentage and cmdprio_bssplit exclude each other";
        refused(given, why)
    })
}

/// As in fio, an option of an engine is an error in a job without that engine.
fn of_other_engine(job: &Job) -> Option<Fault> {
    let named = |given: &&Given| given.option.name == "ioengine";
    let named = job.given.iter().filter(named);
    let named = named.filter_map(|it| it.value.as_deref());
    let used: Vec<&str> = named
        .chain([job.engine.name])
        .map(|name| if name == "linuxaio" { "libaio" } else { name })
        .collect();
    job.given.iter().find_map(|given| {
        let engines = engines_of(given.option.name)?;
        let mut fitting = engines.split_whitespace();
        let fits = fitting.any(|engine| used.contains(&engine));
        let any = engines.replace(' ', " or ");
        (!fits).then(|| refused(given, &format!("as in fio it goes with ioengine={any}")))
    })
}

/// As in fio, the minimum rate must not exceed the rate.
fn slower_than_least(job: &Job) -> Option<Fault> {
    let is_below =
        |direction: usize| match (job.pace.rates[direction], job.pace.least.of(direction)) {
            (Some(RateLimit::Bytes(rate)), Some(RateLimit::Bytes(least)))
            | (Some(RateLimit::Requests(rate)), Some(RateLimit::Requests(least))) => rate < least,
            _ => false,
        };
    let given = last(job, "rate_min").or_else(|| last(job, "rate_iops_min"))?;
    (0..3)
        .any(is_below)
        .then(|| refused(given, "it is above the rate that the job keeps to"))
}

/// Options about I/O, or about more than one round.
const NOT_OF_CALLS: &str = "
    verify time_based rate rate_iops rate_min rate_iops_min thinktime number_ios io_size
    read_iolog write_iolog write_bw_log write_iops_log write_lat_log write_hist_log steadystate
    flow pre_read fill_device zonesize fsync fdatasync sync_file_range sync end_fsync
";

/// Such an engine only makes one call per file.
fn called_otherwise(job: &Job) -> Option<Fault> {
    job.engine.call()?;
    let given = NOT_OF_CALLS
        .split_whitespace()
        .find_map(|name| last(job, name));
    let given = given.or_else(|| last(job, "loops").filter(|_| job.limits.loops > 1))?;
    let name = job.engine.name;
    Some(refused(
        given,
        &format!("{name} calls each file once, and does no I/O. Leave it out"),
    ))
}

fn removed_each_loop(job: &Job) -> Option<Fault> {
    let given = last(job, "unlink_each_loop")?;
    // A job with time_based is one loop, in fio, too.
    (job.limits.loops > 1).then(|| {
        refused(
            given,
            "files stay open until size is done for the last time",
        )
    })
}

/// Free space is determined for files that are only written; a device is written to its end, or to
/// its size, anyway.
fn filled_otherwise(job: &Job) -> Option<Fault> {
    let given = last(job, "fill_device")?;
    let is_written = job.pattern.directions == Directions::Write && !job.pattern.is_random;
    let is_device = job.files.names.iter().any(|name| is_no_file(name));
    (!is_written && !is_device).then(|| {
        refused(
            given,
            "a file system is filled by rw=write alone: give size",
        )
    })
}

/// Whether it is a device or a model, by name.
fn is_no_file(name: &str) -> bool {
    let is_in_memory = name.starts_with("/dev/shm/");
    name.starts_with("/dev/") && !is_in_memory || TargetName::from(name).is_model()
}

/// Only file systems are filled.
fn fill(job: &mut Job) {
    let is_on_devices = job.files.names.iter().any(|name| is_no_file(name));
    job.files.fill &= !is_on_devices && !job.engine.kind.moves_nothing();
}

/// Jobs of later phases still run.
fn ending_later_phases(phases: &[Job]) -> Option<Fault> {
    let all = phases.chunk_by(|_, next| !next.begins_phase());
    let count = all.clone().count();
    let mut before_last = all.take(count.saturating_sub(1)).flatten();
    let given = before_last.find_map(|job| {
        let given = last(job, "exit_what")?;
        let is_all = given.value.as_deref() == Some("all");
        (is_all && last(job, "exitall").is_some()).then_some(given)
    })?;
    let why = "later jobs run all the same. Write group or stonewall";
    Some(refused(given, why))
}

/// Resolves options that concern several jobs, and returns what is not supported.
pub(crate) fn settle(jobs: &mut [Job]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for job in &mut *jobs {
        refill(job);
        count_anew(job);
        only_create(job);
        draw_once(job);
        fill(job);
        write_what_was_trimmed(job);
        job.reports.logs.has_submission = job.has_submission();
        job.reports.logs.has_rate = job.has_rate();
        faults.extend(sizes_by_order(job));
    }
    faults.extend(waits(jobs));
    for phase in jobs.chunk_by_mut(|_, next| !next.begins_phase()) {
        faults.extend(ended_at_once(phase));
        end_together(phase);
        faults.extend(steady_apart(phase));
        faults.extend(ended_by_one(phase));
    }
    faults.extend(ending_later_phases(jobs));
    faults.extend(flows_apart(jobs));
    faults.extend(logs_apart(jobs));
    let goes_on = jobs.iter().filter(|job| job.outlives_errors).count();
    if let Some(job) = jobs.iter().find(|job| job.outlives_errors)
        && goes_on < jobs.len()
    {
        let given = job
            .given
            .iter()
            .rfind(|it| it.option.name == "continue_on_error");
        faults.extend(given.map(|it| refused(it, "it is done for all jobs or for none")));
    }
    faults
}

/// Starts a phase with each job that waits for another, if fio starts it then.
fn waits(jobs: &mut [Job]) -> Vec<Fault> {
    let mut faults = Vec::new();
    // Starts of the previous phase and this one.
    let (mut before, mut begin) = (0, 0);
    for at in 0..jobs.len() {
        match begins(&jobs[..at], (before, begin), &jobs[at]) {
            Ok(false) => {}
            Ok(true) => {
                (before, begin) = (begin, at);
                jobs[at].waits = !jobs[at].is_behind_wall;
            }
            Err(why) => faults.push(match last(&jobs[at], "wait_for") {
                Some(given) => refused(given, why),
                None => Fault::new(&jobs[at].place, format!("[{}]: {why}", jobs[at].name)),
            }),
        }
    }
    faults
}

/// Whether a job after these starts a phase, given the starts of the last two phases.
fn begins(before: &[Job], (last, begin): (usize, usize), job: &Job) -> Result<bool, &'static str> {
    let beside = &before[begin..];
    let is_in_wait = beside.first().is_some_and(|it| it.waits);
    let has = |jobs: &[Job], name: &str| jobs.iter().any(|it| it.name == name);
    if job
        .waits_for
        .as_ref()
        .is_some_and(|name| !has(before, name))
    {
        return Err("as in fio, that job must stand before this one");
    }
    if job.is_behind_wall {
        return Ok(true);
    }
    let Some(name) = &job.waits_for else {
        return match is_in_wait {
            true => Err("in fio it starts before the job above it, which waits. Put it first"),
            false => Ok(false),
        };
    };
    if has(beside, name) {
        return match beside.iter().all(|it| it.name == *name) {
            false => Err("other jobs run with that one, and stonewall waits for all of them"),
            true if job.reports.is_grouped && !job.begins_group => {
                Err("in fio group_reporting makes one row of both. Add new_group here")
            }
            true => Ok(true),
        };
    }
    match is_in_wait && !has(&before[last..begin], name) {
        true => Err("in fio it starts before the job above it, which waits. Put it first"),
        false => Ok(false),
    }
}

/// A job that ends below its minimum rate ends no other, unless all end with it in any case.
fn ended_by_one(phase: &[Job]) -> Option<Fault> {
    let has_least = phase.iter().any(|job| job.pace.least.is_any());
    let given = phase.iter().find_map(|job| last(job, "exitall_on_error"))?;
    (has_least && phase.len() > 1).then(|| {
        let why = "with rate_min each job ends for itself. Write exitall, or put stonewall between \
                   the jobs";
        refused(given, why)
    })
}

/// A job that only makes files ends at once, and `exitall` then ends those that run with it.
fn ended_at_once(phase: &[Job]) -> Option<Fault> {
    let mut making = phase.iter().filter(|job| job.only_creates);
    let given = making.find_map(|job| last(job, "create_only"))?;
    let is_any = phase.iter().any(|job| job.ends_all);
    let ends_others = is_any && phase.iter().any(|job| !job.only_creates);
    ends_others.then(|| {
        let why = "it ends at once, and with exitall all jobs do. Put stonewall between them";
        refused(given, why)
    })
}

/// In fio, a job waits for tokens of jobs that start after it has ended.
fn flows_apart(jobs: &[Job]) -> Option<Fault> {
    let mut before: Vec<u32> = Vec::new();
    for phase in jobs.chunk_by(|_, next| !next.begins_phase()) {
        let in_flow = |job: &&Job| job.flow.weight > 0;
        let again = phase
            .iter()
            .filter(in_flow)
            .find(|it| before.contains(&it.flow.id));
        if let Some(given) = again.and_then(|job| last(job, "flow")) {
            let why = "jobs before stonewall have the same flow_id, and in fio would be held back \
                       until this one takes its tokens. Give each phase a flow_id of its own";
            return Some(refused(given, why));
        }
        before.extend(phase.iter().filter(in_flow).map(|job| job.flow.id));
    }
    None
}

/// Lines of several jobs in one log of requests would be read as those of one job.
fn logs_apart(jobs: &[Job]) -> Option<Fault> {
    let name = |job: &Job| job.reports.logs.requests.clone();
    let is_shared = |(number, job): &(usize, &Job)| {
        let is_taken = jobs[..*number]
            .iter()
            .any(|before| name(before) == name(job));
        name(job).is_some() && (job.copies > 1 || is_taken)
    };
    let (_, job) = jobs.iter().enumerate().find(is_shared)?;
    let given = last(job, "write_iolog")?;
    Some(refused(
        given,
        "each job needs a log of its own, and numjobs=1",
    ))
}

/// Steady state is determined for concurrent jobs that are one row of the report.
fn steady_apart(phase: &[Job]) -> Option<Fault> {
    let job = phase.iter().find(|job| job.steady.is_on())?;
    let mut options = job.given.iter();
    let given = options.rfind(|it| it.option.name.starts_with("steadystate"))?;
    if let Some(fault) = job.steady.fault() {
        return Some(refused(given, fault));
    }
    let is_one = phase.len() == 1 && job.copies == 1;
    let is_group = |(number, it): (usize, &Job)| {
        it.reports.is_grouped && it.steady == job.steady && (number == 0 || !it.begins_group)
    };
    let is_done = is_one || phase.iter().enumerate().all(is_group);
    (!is_done).then(|| {
        let why = "of jobs side by side it is done where all have the same, and group_reporting. \
                   Put stonewall into the others";
        refused(given, why)
    })
}

/// With `bs_is_seq_rand`, the first size is for sequential requests, the second for random ones.
fn sizes_by_order(job: &mut Job) -> Option<Fault> {
    if !job.sizes_by_order {
        return None;
    }
    let is_even = job.random_percent == [100; 3] && job.pattern.modifier.is_none();
    if job.pattern.is_random && !is_even {
        let given = last(job, "bs_is_seq_rand")?;
        return Some(refused(
            given,
            "some requests of this job are in order, and others are not",
        ));
    }
    let is_apart = job.blocks[0].sizes != job.blocks[1].sizes;
    if job.pattern.is_random && is_apart && !job.may_repeat && !job.is_timed() {
        let given = last(job, "bs_is_seq_rand")?;
        let why = "fio's random jobs of such sizes end early: add norandommap, or give one size";
        return Some(refused(given, why));
    }
    let sizes = job.blocks[usize::from(job.pattern.is_random)].clone();
    job.blocks = [sizes.clone(), sizes.clone(), sizes];
    None
}

/// With `time_based`, fio starts again after `number_ios` requests, until time is up.
fn count_anew(job: &mut Job) {
    if job.is_timed() {
        job.limits.requests = None;
    }
}

/// With `lfsr`, blocks of one size are reached once, with or without a map.
fn draw_once(job: &mut Job) {
    let is_plain = job.distribution == Distribution::Uniform && job.alignment == [None; 3];
    if job.draws_once && is_plain && !job.blocks.iter().any(BlockSizes::vary) {
        job.may_repeat = false;
    }
}

/// Without I/O nothing is verified.
fn only_create(job: &mut Job) {
    if job.only_creates {
        job.verify.is_on = false;
        job.is_read_before = false;
    }
}

/// Reaping this many completions at once leaves fewer outstanding before the depth is refilled.
fn refill(job: &mut Job) {
    let given = last(job, "iodepth_batch_complete_min");
    let least: Option<u32> = given.and_then(|it| it.value.as_deref()?.parse().ok());
    let least = least
        .filter(|least| *least > 1)
        .map(|least| least.min(job.depth));
    if let Some(least) = least {
        let left = job.depth - least;
        job.refill_at = Some(job.refill_at.map_or(left, |low| low.min(left)));
    }
}

/// With `exitall` in one of them, concurrent jobs end with the first of all. If each ends by time,
/// and none below its minimum rate, that end is known in advance.
fn end_together(phase: &mut [Job]) {
    let ends_by_time = |job: &Job| {
        let limits = &job.limits;
        limits.is_time_based && limits.runtime > Duration::ZERO && !job.pace.least.is_any()
    };
    if !phase.iter().any(|job| job.ends_all) {
        return;
    }
    if !phase.iter().all(ends_by_time) {
        phase.iter_mut().for_each(|job| job.ends_all = true);
        return;
    }
    let before = |job: &Job| job.limits.delay + job.limits.ramp;
    let ends = phase.iter().map(|job| before(job) + job.limits.runtime);
    let Some(end) = ends.min() else { return };
    for job in phase {
        let left = end.saturating_sub(before(job));
        job.limits.runtime = left.max(Duration::from_nanos(1)).min(job.limits.runtime);
        job.ends_all = false;
    }
}
