//! What options mean together, once all of a job, or of jobs that run side by side, are known.

use crate::blocks::{BlockSizes, MOVED_MAX};
use crate::fault::Fault;
use crate::job::Job;
use crate::pattern::Distribution;
use crate::reader::Given;
use units::Duration;

/// What cannot be done of one job.
pub(crate) fn conflicts(job: &Job) -> Vec<Fault> {
    [
        misaligned(job),
        overlapping(job),
        trimmed_otherwise(job),
        too_long(job),
        removed_each_loop(job),
        ending_later_phases(job),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The last one of an option that is switched on.
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

/// Reads and writes of a mix share one alignment.
fn misaligned(job: &Job) -> Option<Fault> {
    let given = last(job, "ba")?;
    let [reads, writes, _] = job.alignment;
    let is_mixed = job.pattern.directions == crate::pattern::Directions::Mixed;
    let differ = is_mixed && writes.is_some() && reads != writes;
    if differ || job.alignment.contains(&Some(0)) {
        return Some(refused(
            given,
            "one alignment above 0 for reads and writes is done",
        ));
    }
    None
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
        let why = "requests of this job may overlap, and none waits for another here; leave out \
                   what repeats blocks, such as norandommap";
        refused(given, why)
    })
}

/// Reads and writes take memory, trims do not.
fn too_long(job: &Job) -> Option<Fault> {
    let sizes = match job.pattern.directions {
        crate::pattern::Directions::Trim => return None,
        _ => &job.blocks[..2],
    };
    let most = sizes.iter().map(BlockSizes::most).max();
    most.filter(|most| *most > MOVED_MAX)?;
    let mut given = job.given.iter();
    let given = given.rfind(|it| ["bs", "bsrange", "bssplit"].contains(&it.option.name))?;
    Some(refused(given, "a read or write has 1g at most"))
}

/// What is trimmed is what is written next.
fn trimmed_otherwise(job: &Job) -> Option<Fault> {
    let given = last(job, "rw")?;
    let [_, writes, trims] = &job.blocks;
    let is_pair = job.pattern.directions == crate::pattern::Directions::TrimWrite;
    let differ = writes != trims || job.pace.rates[1] != job.pace.rates[2];
    (is_pair && differ).then(|| refused(given, "one bs and one rate for trims and writes is done"))
}

fn removed_each_loop(job: &Job) -> Option<Fault> {
    let given = last(job, "unlink_each_loop")?;
    let repeats = job.limits.loops > 1 || job.limits.is_time_based;
    repeats.then(|| {
        refused(
            given,
            "files stay open until size is done for the last time",
        )
    })
}

fn ending_later_phases(job: &Job) -> Option<Fault> {
    let given = job.given.iter().rfind(|it| it.option.name == "exit_what")?;
    let is_all = given.value.as_deref() == Some("all");
    is_all.then(|| {
        refused(
            given,
            "later jobs run all the same; write group or stonewall",
        )
    })
}

/// Work out what holds for several jobs, and what cannot be done of it.
pub(crate) fn settle(jobs: &mut [Job]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for job in &mut *jobs {
        refill(job);
        faults.extend(sizes_by_order(job));
    }
    for phase in jobs.chunk_by_mut(|_, next| !next.is_behind_wall) {
        faults.extend(end_together(phase));
        faults.extend(steady_apart(phase));
    }
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

/// Steady is what runs together and is one row of the report.
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
        let why = "of jobs side by side it is done where all have the same, and group_reporting; \
                   put stonewall into the others";
        refused(given, why)
    })
}

/// With `bs_is_seq_rand` the first size is that of requests in order, the second that of others.
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
    let sizes = job.blocks[usize::from(job.pattern.is_random)].clone();
    job.blocks = [sizes.clone(), sizes.clone(), sizes];
    None
}

/// So many completions at once leave as many fewer outstanding before the depth is filled again.
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

/// With `exitall` jobs side by side end with the first of them, which is known beforehand where
/// each ends by time.
fn end_together(phase: &mut [Job]) -> Option<Fault> {
    let given = phase.iter().find(|job| job.ends_all)?;
    let given = given
        .given
        .iter()
        .rfind(|it| it.option.name == "exitall")?
        .clone();
    let ends_by_time = |job: &Job| job.limits.is_time_based && job.limits.runtime > Duration::ZERO;
    if phase.len() > 1 && !phase.iter().all(ends_by_time) {
        let why = "which job ends first is not known beforehand; give each runtime and time_based";
        return Some(refused(&given, why));
    }
    let before = |job: &Job| job.limits.delay + job.limits.ramp;
    let end = phase
        .iter()
        .map(|job| before(job) + job.limits.runtime)
        .min()?;
    for job in phase {
        let left = end.saturating_sub(before(job));
        job.limits.runtime = left.max(Duration::from_nanos(1)).min(job.limits.runtime);
    }
    None
}
