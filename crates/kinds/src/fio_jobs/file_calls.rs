//! Jobs of the engines filecreate, filestat and filedelete: one call on each file, and no I/O. The
//! files are ours, in a directory of ours, whatever their names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fio::{Amount, FileCall, Job};
use units::Duration;
use workload::{Content, Durability, JobScript, JobSpec, Op, Region, TargetId};

use super::file_names::{paths, shares_files, size_between};
use super::fill::{FILL_BLOCK, filling};
use super::plan::{FioPlan, JobStorage, Planner, Result, refused};

/// The files of all such jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalledFiles {
    /// Where they would be.
    pub directory: PathBuf,
    pub count: u32,
    /// Those that are made before any job starts, by number, and the bytes of each.
    pub laid_out: Vec<(u32, u64)>,
}

/// What becomes of one of them.
struct CalledFile {
    number: u32,
    is_there: bool,
    /// The last phase that calls it, and whether that makes or removes it.
    phase: usize,
    is_changed: bool,
}

/// A workload that makes calls: its phase, its place there, and the numbers of its files.
struct Calls {
    phase: usize,
    workload: usize,
    call: FileCall,
    files: Vec<u32>,
}

/// What is planned of calls so far.
#[derive(Default)]
pub(super) struct CallPlanner {
    files: BTreeMap<PathBuf, CalledFile>,
    laid_out: Vec<(u32, u64)>,
    calls: Vec<Calls>,
}

impl CallPlanner {
    /// Take a call on a file of that size (bytes) in a phase.
    fn take(
        &mut self,
        (job, call): (&Job, FileCall),
        (path, bytes): (&Path, u64),
        phase: usize,
    ) -> Result<u32> {
        let shown = path.display();
        let first = self.files.keys().next().and_then(|it| it.parent());
        if first.is_some_and(|first| Some(first) != path.parent()) {
            let why = "files of filecreate, filestat and filedelete lie in one directory";
            return refused(job, why);
        }
        if path.symlink_metadata().is_ok() {
            let name = job.engine.name;
            return refused(
                job,
                format!(
                    "{shown} exists, and {name} calls files that this run makes. Give another \
                     directory or name"
                ),
            );
        }
        let number = self.files.len() as u32;
        let file = self.files.entry(path.to_owned()).or_insert_with(|| {
            let is_there = call != FileCall::Create;
            if is_there {
                self.laid_out.push((number, bytes));
            }
            CalledFile {
                number,
                is_there,
                phase: usize::MAX,
                is_changed: false,
            }
        });
        let is_change = call != FileCall::Stat;
        let why = match (file.is_there, call) {
            _ if file.phase == phase && (file.is_changed || is_change) => {
                "is called by jobs that run at the same time. Put stonewall between them"
            }
            (true, FileCall::Create) => "is there already: an earlier job makes it",
            (false, FileCall::Stat | FileCall::Delete) => "is gone: an earlier job removes it",
            _ => "",
        };
        if !why.is_empty() {
            return refused(job, format!("{shown} {why}"));
        }
        file.is_there = call != FileCall::Delete;
        (file.phase, file.is_changed) = (phase, is_change);
        Ok(file.number)
    }
}

impl Planner<'_> {
    /// The workload of a copy of a job that calls its files.
    pub(super) fn call(
        &mut self,
        (job, call): (&Job, FileCall),
        copy: u32,
        row: u32,
    ) -> Result<JobSpec> {
        if self.plan.storage != JobStorage::Files {
            let name = job.engine.name;
            return refused(
                job,
                format!("{name} calls files of a directory, not models"),
            );
        }
        let paths = match shares_files(job, copy) {
            true => Vec::new(),
            false => paths(job, copy),
        };
        let count = paths.len() as u64;
        let phase = self.plan.phases.len() - 1;
        let mut files = Vec::with_capacity(paths.len());
        for path in &paths {
            let bytes = match (job.files.each, job.size) {
                (Some(sizes), _) => size_between(sizes, path, 1),
                (None, Some(Amount::Bytes(size))) => size / count,
                (None, _) => 0,
            };
            if bytes == 0 {
                return refused(job, "give filesize= in bytes, as for fio");
            }
            files.push(self.calls.take((job, call), (path, bytes), phase)?);
        }
        self.calls.calls.push(Calls {
            phase,
            workload: self.plan.phases[phase].workloads.len(),
            call,
            files,
        });
        let limits = &job.limits;
        Ok(JobSpec {
            row,
            depth: 1,
            read_percent: if call == FileCall::Stat { 100 } else { 0 },
            bytes: None,
            delay: limits.delay,
            ramp: limits.ramp,
            runtime: (limits.runtime > Duration::ZERO).then_some(limits.runtime),
            flushes_at_end: false,
            ..filling(vec![NO_REGION], Content::default())
        })
    }
}

impl CallPlanner {
    /// Put the calls into the plan, all of whose other files are known now.
    ///
    /// # Errors
    /// When another job reads or writes one of the files.
    pub(super) fn finish(self, jobs: &[Job], plan: &mut FioPlan) -> Result<()> {
        let mut shared = plan.files.iter();
        if let Some(file) = shared.find(|it| self.files.contains_key(&it.path)) {
            let at = jobs.iter().find(|job| job.engine.call().is_some());
            let shown = file.path.display();
            let why = format!("other jobs read or write {shown}. Give its files other names");
            return at.map_or(Ok(()), |job| refused(job, why));
        }
        let Some(first) = self.files.keys().next() else {
            return Ok(());
        };
        let directory = first.parent().map(Path::to_owned).unwrap_or_default();
        let begin = plan.files.len() as u32 * 2;
        for calls in self.calls {
            let ops = calls.files.iter().flat_map(|number| {
                let target = TargetId(begin + number);
                match calls.call {
                    FileCall::Create => vec![Op::Create { target }, Op::Close { target }],
                    FileCall::Stat => vec![Op::Stat { target }],
                    FileCall::Delete => vec![Op::Remove { target }],
                }
            });
            let spec = &mut plan.phases[calls.phase].workloads[calls.workload];
            put(spec, ops);
        }
        plan.called = Some(CalledFiles {
            directory,
            count: self.files.len() as u32,
            laid_out: self.laid_out,
        });
        Ok(())
    }
}

/// What a job has that reads and writes nothing.
const NO_REGION: Region = Region {
    target: TargetId::NONE,
    offset: 0,
    len: 1,
    block: 1,
};

fn put(spec: &mut JobSpec, ops: impl Iterator<Item = Op>) {
    let listed: Vec<_> = ops.map(|op| (Duration::ZERO, op)).collect();
    spec.requests = Some(listed.len() as u64 + 1);
    spec.script = Some(JobScript(Arc::from(listed)));
}

/// The workload that makes the files that are there before any job starts.
pub(super) fn laying_out(plan: &FioPlan) -> Option<JobSpec> {
    let called = plan.called.as_ref()?;
    let most = called.laid_out.iter().map(|(_, bytes)| *bytes).max()?;
    let block = most.min(FILL_BLOCK);
    let ops = called.laid_out.iter().flat_map(|&(number, bytes)| {
        let target = TargetId(plan.files.len() as u32 * 2 + number);
        let write = move |at: u64| Op::Write {
            target,
            offset: at,
            len: (bytes - at).min(block) as u32,
            durability: Durability::Volatile,
        };
        let writes = (0..bytes).step_by(block as usize).map(write);
        let ends = [Op::Create { target }, Op::Close { target }];
        [ends[0]].into_iter().chain(writes).chain([ends[1]])
    });
    let region = Region { block, ..NO_REGION };
    let mut spec = JobSpec {
        depth: 1,
        bytes: None,
        flushes_at_end: false,
        ..filling(vec![region], Content::default())
    };
    put(&mut spec, ops);
    Some(spec)
}
