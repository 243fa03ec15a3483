//! From fio's jobs to files and workloads: what each of them reads and writes, and which run
//! together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fio::{Amount, BlockSizes, EngineKind, Job, JobFilePosition, SteadyState};
use units::{Duration, TargetName};
use workload::{Content, JobSpec, Region, StridedZones, TargetId, Trims};

use super::amount::{JobBytes, JobEnd, begin_of, check_size, end_of};
use super::file_calls::{CallPlanner, CalledFiles};
use super::file_names::{paths, shares_files, size_between};
use super::job_values::{
    content_of, depth_of, durability_of, hint_of, order_of, priorities_of, run_of, second_of,
    sizes_of, trims_of, writes_out_of,
};
use super::open_files;
use super::pace::{floors_of, flow_of, rate_of};
use super::pattern::{map_block, pattern_of};
use super::verify::{VerifyPlan, verification_of};

/// What cannot be carried out, with the place of the job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: [{job}] {message}")]
pub struct PlanError {
    /// Where the job begins.
    pub place: JobFilePosition,
    /// Its name.
    pub job: String,
    /// What is wrong, and what to write.
    pub message: String,
}

/// What jobs work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobStorage {
    /// Nothing: requests are done at once.
    Null,
    /// Models, in one virtual time.
    Simulated,
    /// Files and devices.
    Files,
}

/// A row of the output: a copy of a job, or the copies and jobs of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputRow {
    /// The first job of it, as a number among all jobs.
    pub job: usize,
    /// The first copy of that job in it.
    pub copy: u32,
    /// fio's group.
    pub group: u32,
    /// Copies of jobs that it holds.
    pub copies: u32,
}

/// Jobs that run side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobPhase {
    /// Of its measurement, as [`phase_names`] gives it.
    pub name: String,
    /// One for each copy of each job.
    pub workloads: Vec<JobSpec>,
    /// The job of each, as a number among all jobs.
    pub jobs: Vec<usize>,
    /// Names of its jobs.
    pub names: Vec<String>,
    /// Whether cached pages are dropped before.
    pub drops_cache: bool,
    /// What is read before, and does not count.
    pub read_before: Vec<Region>,
    /// When it ends because its jobs are steady.
    pub steady: Option<SteadyState>,
}

/// A file or device, and what is done with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Bytes that it has, where it exists.
    pub exists: Option<u64>,
    /// Bytes that it needs.
    pub needs: u64,
    /// Whether a job reads it: one that is made is then written before.
    pub is_read: bool,
    /// Whether a job writes it.
    pub is_written: bool,
    /// Whether it is removed at the end, where others are kept.
    pub is_removed: bool,
    /// What it holds where it is made: the content of the first job that reads it.
    pub content: Option<Content>,
    /// Whether it is open only while it is used.
    pub is_on_demand: bool,
}

/// What comes of planning, unless jobs cannot be carried out.
pub(super) type Result<T, E = PlanError> = std::result::Result<T, E>;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct FioPlan {
    pub storage: JobStorage,
    /// All files, in the order of their targets.
    pub files: Vec<PlannedFile>,
    /// Files that are created, looked at or removed, and nothing else.
    pub called: Option<CalledFiles>,
    /// One after the other.
    pub phases: Vec<JobPhase>,
    /// What the rows stand for.
    pub rows: Vec<OutputRow>,
    /// What is verified.
    pub verify: Option<VerifyPlan>,
    /// How many are open at once of those files that are open only while they are used.
    pub open_files: u64,
}

impl PlannedFile {
    /// Its path as logs have it.
    pub(super) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

impl JobPhase {
    /// Whether all its jobs only make files.
    pub(super) fn moves_nothing(&self) -> bool {
        self.workloads.iter().all(|job| job.bytes == Some(0))
    }
}

impl FioPlan {
    /// What requests past the page cache to the file of that number go to.
    pub(super) const fn target_of(number: u32) -> TargetId {
        TargetId(number * 2)
    }

    /// Whether a phase finds in a file what earlier ones wrote there first: it is made, and not
    /// filled, since nobody reads it.
    pub(super) fn writes_blank_files(&self) -> bool {
        let is_blank = |it: &PlannedFile| it.exists.is_none() && it.is_written && !it.is_read;
        self.storage == JobStorage::Files && self.files.iter().any(is_blank)
    }
}

/// Copies of all jobs of a run: each takes memory before it begins.
const COPIES_MAX: u64 = 1 << 17;

/// Plan jobs. `size_of` tells the bytes of a file, device or model that exists.
///
/// # Errors
/// When a job lacks a size, or asks for more than there is.
pub fn plan_jobs(jobs: &[Job], size_of: &dyn Fn(&Path) -> Option<u64>) -> Result<FioPlan> {
    let mut copies = 0;
    for job in jobs {
        copies += u64::from(job.copies);
        if copies > COPIES_MAX {
            return refused(
                job,
                format!("a run has {COPIES_MAX} clients or copies of jobs at most"),
            );
        }
    }
    let mut planner = Planner {
        size_of,
        numbers: BTreeMap::new(),
        plan: FioPlan {
            storage: storage_of(jobs)?,
            files: Vec::new(),
            called: None,
            phases: Vec::new(),
            rows: Vec::new(),
            verify: None,
            open_files: 0,
        },
        group: 0,
        grouped: BTreeMap::new(),
        calls: CallPlanner::default(),
    };
    for (number, job) in jobs.iter().enumerate() {
        planner.take(number, job)?;
    }
    let mut plan = planner.plan;
    planner.calls.finish(jobs, &mut plan)?;
    for (phase, name) in plan.phases.iter_mut().zip(phase_names(jobs)) {
        phase.name = name;
    }
    plan.verify = verification_of(jobs, &mut plan)?;
    open_files::limit(jobs, &mut plan);
    Ok(plan)
}

/// Names of the phases' measurements: those of their jobs, `a+b` where several run side by
/// side, and
/// with `-2` where an earlier phase has that name.
pub fn phase_names(jobs: &[Job]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for phase in jobs.chunk_by(|_, next| !next.begins_phase()) {
        let mut parts: Vec<&str> = phase.iter().map(|job| job.name.as_str()).collect();
        parts.dedup();
        let plain = parts.join("+");
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        let name = candidates.find(|name| !names.contains(name));
        names.extend(name);
    }
    names
}

pub(super) fn refused<T>(job: &Job, message: impl Into<String>) -> Result<T> {
    Err(PlanError {
        place: job.place.clone(),
        job: job.name.clone(),
        message: message.into(),
    })
}

fn storage_of(jobs: &[Job]) -> Result<JobStorage> {
    let of_name = |name: &String| match TargetName::from(name.as_str()) {
        TargetName::Null => JobStorage::Null,
        TargetName::Model(_) => JobStorage::Simulated,
        TargetName::Path(_) | TargetName::Bucket(_) => JobStorage::Files,
    };
    let of = |job: &Job| match job.files.names.first() {
        _ if job.engine.kind == EngineKind::Null => JobStorage::Null,
        Some(name) => of_name(name),
        None => JobStorage::Files,
    };
    let is_mixed = |job: &&Job| {
        let mut names = job.files.names.iter();
        job.engine.kind != EngineKind::Null && names.any(|name| of_name(name) != of(job))
    };
    if let Some(job) = jobs.iter().find(is_mixed) {
        let names = job.files.names.join(", ");
        return refused(job, format!("models and files do not go together: {names}"));
    }
    let mut all = jobs.iter();
    let Some(first) = all.next() else {
        return Ok(JobStorage::Files);
    };
    let storage = of(first);
    let mut cached = jobs.iter().filter(|job| job.syncs.range().is_some());
    if let (JobStorage::Simulated, Some(job)) = (&storage, cached.next()) {
        let why = "sync_file_range writes cached pages out, and a model has no page cache";
        return refused(job, why);
    }
    match all.find(|job| of(job) != storage) {
        Some(other) => refused(
            other,
            "works on another kind of target than the jobs before it: files, models, or nothing. \
             Put it into a file of its own",
        ),
        None => Ok(storage),
    }
}

pub(super) struct Planner<'a> {
    size_of: &'a dyn Fn(&Path) -> Option<u64>,
    numbers: BTreeMap<PathBuf, usize>,
    pub(super) plan: FioPlan,
    group: u32,
    /// The row of each group that is one row.
    grouped: BTreeMap<u32, u32>,
    pub(super) calls: CallPlanner,
}

impl Planner<'_> {
    fn take(&mut self, number: usize, job: &Job) -> Result<()> {
        if number > 0 && (job.is_behind_wall || job.begins_group) {
            self.group += 1;
        }
        if number == 0 || job.begins_phase() {
            self.plan.phases.push(JobPhase::default());
        }
        for copy in 0..job.copies {
            let row = self.row(number, job, copy);
            let workload = self.workload(job, copy, row)?;
            let phase = self.plan.phases.last_mut().expect("one was begun");
            phase.jobs.push(number);
            phase.drops_cache |= job.drops_cache && !job.is_read_before;
            if job.is_read_before {
                phase.read_before.extend(&workload.files);
            }
            phase.workloads.push(workload);
            phase.steady = Some(job.steady).filter(SteadyState::is_on);
            if copy == 0 {
                phase.names.push(job.name.clone());
            }
        }
        Ok(())
    }

    fn row(&mut self, job_number: usize, job: &Job, copy: u32) -> u32 {
        let next = self.plan.rows.len() as u32;
        let row = match job.reports.is_grouped {
            true => *self.grouped.entry(self.group).or_insert(next),
            false => next,
        };
        if row == next {
            self.plan.rows.push(OutputRow {
                job: job_number,
                copy,
                group: self.group,
                copies: 0,
            });
        }
        self.plan.rows[row as usize].copies += 1;
        row
    }

    fn workload(&mut self, job: &Job, copy: u32, row: u32) -> Result<JobSpec> {
        if let Some(call) = job.engine.call() {
            return self.call((job, call), copy, row);
        }
        if let Some(log) = &job.replay.log {
            return self.replay(job, log, row);
        }
        let reads = job.pattern.directions.reads() && job.read_percent_effective() > 0;
        let trims = trims_of(job);
        self.check_model(job)?;
        let directions = job.pattern.directions;
        let changes = directions.writes() || directions.trims();
        let writes = changes && job.read_percent_effective() < 100;
        let pattern = pattern_of(job);
        let own = block_of(job, (reads, writes));
        check_size(job, own)?;
        let block = map_block(job, &pattern).unwrap_or(own);
        let content = content_of(job);
        let (mut files, asked) = self.regions(job, copy, (block, reads, writes))?;
        let zones = self.zones(job, &mut files)?;
        self.check_log(job, &files)?;
        let end = match shares_files(job, copy) {
            true => JobEnd::AT_ONCE,
            false => end_of(job, &pattern, &files, &asked)?,
        };
        Ok(JobSpec {
            script: None,
            row,
            depth: depth_of(job, &self.plan.storage),
            refill_at: job.refill_at,
            files,
            order: order_of(job),
            hint: hint_of(job),
            file_run: (job.files.run > 1).then_some(job.files.run),
            pattern,
            file_end: end.file,
            zones,
            random_percent: [job.random_percent[0], job.random_percent[second_of(job)]],
            run: run_of(job),
            sizes: [sizes_of(job, 0), sizes_of(job, second_of(job))],
            trims,
            read_percent: job.read_percent_effective(),
            bytes: end.bytes,
            requests: end.requests,
            delay: job.limits.delay,
            ramp: job.limits.ramp,
            runtime: (job.limits.runtime > Duration::ZERO).then_some(job.limits.runtime),
            flush_every: job.syncs.period(),
            flushes_data_only: job.syncs.are_of_data(),
            writes_out: writes_out_of(job),
            flushes_at_end: job.syncs.at_end,
            durability: durability_of(job),
            content,
            rates: [0, second_of(job)].map(|at| rate_of(job.pace.rates[at])),
            is_poisson: job.pace.is_poisson,
            think: job.think.time,
            think_after: job.think.after,
            think_counts_issued: job.think.counts_issued,
            think_stops_rates: job.think.stops_rates,
            priorities: priorities_of(job),
            floors: floors_of(job),
            flow: flow_of(job),
            ends_others: job.ends_all,
            one_pass: end.is_one_pass,
        })
    }

    /// The parts of all files that a copy of a job uses, and what becomes of those files; whether
    /// it reads and writes them is known.
    fn regions(
        &mut self,
        job: &Job,
        copy: u32,
        (block, reads, writes): (u64, bool, bool),
    ) -> Result<(Vec<Region>, JobBytes)> {
        let paths = paths(job, copy);
        let trims = trims_of(job);
        let mut files = Vec::with_capacity(paths.len());
        let mut asked = JobBytes::default();
        for path in &paths {
            let (region, len) = self.region(job, copy, (path, paths.len() as u64), block)?;
            let file = &mut self.plan.files[(region.target.0 / 2) as usize];
            // What is trimmed has been written, too.
            let is_filled = reads || trims == Trims::Only;
            file.is_read |= is_filled;
            if is_filled && file.content.is_none() {
                file.content = Some(content_of(job));
            }
            file.is_written |= writes && !job.only_creates;
            file.is_removed |= job.files.are_removed;
            asked.bytes += len;
            asked.blocks += region.len;
            asked.last = file.exists;
            files.push(region);
        }
        Ok((files, asked))
    }

    /// The part of a file that a copy of a job uses, and its bytes before they were cut to whole
    /// blocks; `path` is one of `count` files.
    fn region(
        &mut self,
        job: &Job,
        copy: u32,
        (path, count): (&Path, u64),
        block: u64,
    ) -> Result<(Region, u64)> {
        let number = self.file(path);
        let PlannedFile { exists, needs, .. } = self.plan.files[number];
        self.check_made(job, number)?;
        // As in fio, shares of a file are of what it holds when the job comes to it.
        let is_null = self.plan.storage == JobStorage::Null;
        let held = (!is_null).then(|| exists.unwrap_or(needs));
        let shift = |size| begin_of(job, copy, (held.unwrap_or(size), block));
        let each = job.files.each.map(|sizes| size_between(sizes, path, block));
        let (begin, len) = match (job.size, each, exists) {
            (size, Some(each), _) => {
                let begin = shift(each);
                let left = each.saturating_sub(begin);
                if left == 0 {
                    return refused(
                        job,
                        format!("offset is {begin}, and filesize {each}: nothing lies behind it"),
                    );
                }
                let part = match size {
                    Some(Amount::Percent(percent)) => Amount::Percent(percent).of(each),
                    _ => left,
                };
                (begin, part.min(left))
            }
            (Some(Amount::Bytes(size)), None, _) => (shift(size / count), size / count),
            (size, None, Some(whole)) => {
                let begin = shift(whole);
                let left = whole.saturating_sub(begin);
                (begin, size.map_or(left, |size| size.of(whole).min(left)))
            }
            (_, None, None) => {
                let shown = path.display();
                return refused(job, format!("{shown} does not exist: give size= in bytes"));
            }
        };
        let end = begin.saturating_add(len);
        self.check_end(job, number, end)?;
        // In order the end of a file holds what fits, and not whole blocks of the smallest size.
        let varies = !job.pattern.is_random && job.blocks.iter().any(BlockSizes::vary);
        let blocks = if varies { len } else { len / block * block };
        if blocks < block {
            return refused(
                job,
                format!("size is smaller than one block of {block} bytes in each file"),
            );
        }
        let file = &mut self.plan.files[number];
        file.needs = file.needs.max(end);
        let is_direct = job.is_direct || self.plan.storage != JobStorage::Files;
        let region = Region {
            target: TargetId(number as u32 * 2 + u32::from(!is_direct)),
            offset: begin,
            len: blocks,
            block,
        };
        Ok((region, len))
    }

    /// Whether a file that is there reaches so far.
    fn check_end(&self, job: &Job, number: usize, end: u64) -> Result<()> {
        let file = &self.plan.files[number];
        let Some(whole) = file.exists.filter(|whole| *whole < end) else {
            return Ok(());
        };
        let shown = file.path.display();
        refused(
            job,
            format!("{shown} holds {whole} bytes, and the job wants {end}. Give a smaller size"),
        )
    }

    /// Whether a file is there, or may be made.
    pub(super) fn check_made(&self, job: &Job, number: usize) -> Result<()> {
        let file = &self.plan.files[number];
        let is_stored = self.plan.storage == JobStorage::Files;
        if !is_stored || file.exists.is_some() || job.files.may_be_made {
            return Ok(());
        }
        let shown = file.path.display();
        let why = format!("{shown} does not exist, and with allow_file_create=0 it is not made");
        refused(job, why)
    }

    /// The zones of a job's only file, whose region then reaches to the file's end: behind it comes
    /// the first zone again.
    fn zones(&mut self, job: &Job, files: &mut [Region]) -> Result<Option<StridedZones>> {
        let (Some(zones), [region]) = (job.zones_effective(), files) else {
            return Ok(None);
        };
        let file = &mut self.plan.files[(region.target.0 / 2) as usize];
        let end = file.exists.unwrap_or(region.offset + region.len);
        let spec = StridedZones {
            bytes: zones.bytes,
            range: zones.range,
            skip: zones.skip.of(end),
        };
        region.len = end.saturating_sub(region.offset) / region.block * region.block;
        if spec.end(region.len, region.block, job.pattern.is_random) > region.len {
            let shown = file.path.display();
            return refused(
                job,
                format!(
                    "the last zone reaches behind the end of {shown}, where fio ends the job. \
                     Give a size or zoneskip with which all zones fit"
                ),
            );
        }
        file.needs = file.needs.max(region.offset + region.len);
        Ok(Some(spec))
    }

    /// What models cannot do.
    fn check_model(&self, job: &Job) -> Result<()> {
        let why = match self.plan.storage {
            JobStorage::Simulated if trims_of(job) != Trims::None => {
                "models forget nothing: trims need a file, a device or null"
            }
            JobStorage::Simulated if job.priorities.are_any() => {
                "a model serves all requests alike: leave cmdprio_percentage out"
            }
            JobStorage::Simulated if job.is_read_before => {
                "pre_read fills the page cache, and a model has none"
            }
            _ => return Ok(()),
        };
        refused(job, why)
    }

    /// Whether fio's log can name a job's files.
    fn check_log(&self, job: &Job, files: &[Region]) -> Result<()> {
        if job.reports.logs.requests.is_none() {
            return Ok(());
        }
        let names = files
            .iter()
            .map(|it| &self.plan.files[(it.target.0 / 2) as usize]);
        let spaced = |it: &&PlannedFile| it.name().contains(|c: char| c.is_ascii_whitespace());
        match names.into_iter().find(spaced) {
            Some(file) => refused(
                job,
                format!(
                    "write_iolog: the log's format has no spaces in names, as in {:?}",
                    file.name()
                ),
            ),
            None => Ok(()),
        }
    }

    pub(super) fn file(&mut self, path: &Path) -> usize {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = self.plan.files.len();
        let exists = match self.plan.storage {
            JobStorage::Null => None,
            _ => (self.size_of)(path),
        };
        self.plan.files.push(PlannedFile {
            path: path.to_owned(),
            exists,
            ..PlannedFile::default()
        });
        self.numbers.insert(path.to_owned(), number);
        number
    }
}

/// What offsets are multiples of.
fn block_of(job: &Job, (reads, writes): (bool, bool)) -> u64 {
    let of = |index: usize| job.blocks[index].least();
    if let Some(aligned) = job.alignment_effective().filter(|_| job.pattern.is_random) {
        return aligned;
    }
    match (reads, writes) {
        (true, true) => of(0).min(of(1)),
        (_, true) => of(second_of(job)),
        _ => of(0),
    }
}
