//! Which files are open during a run, and how many: all of them, or as many as `openfiles` says.

use fio::Job;
use host::limits::{LimitError, check_budget};
use workload::JobSpec;

use super::fill::OPEN_AT_ONCE;
use super::plan::{FioPlan, JobPhase, JobStorage};

/// Descriptors that a file takes which stays open: past the page cache, and through it.
const DESCRIPTORS_OF_FILE: u64 = 2;

/// Say which files are open only while they are used: those of which every job opens fewer at once
/// than it has.
pub(super) fn limit(jobs: &[Job], plan: &mut FioPlan) {
    let mut stay_open = vec![false; plan.files.len()];
    for phase in &plan.phases {
        for (job, workload) in of_phase(jobs, phase) {
            let is_limited = opens_fewer(job, workload);
            // Files that calls create and remove are none of the plan's.
            for region in &workload.files {
                let number = (region.target.0 / 2) as usize;
                let Some(file) = plan.files.get_mut(number) else {
                    continue;
                };
                stay_open[number] |= !is_limited;
                file.is_on_demand |= is_limited;
            }
        }
    }
    for (file, stays_open) in plan.files.iter_mut().zip(stay_open) {
        file.is_on_demand &= !stays_open;
    }
    let at_once = |phase: &JobPhase| -> u64 {
        let limited = of_phase(jobs, phase).filter(|(job, workload)| opens_fewer(job, workload));
        limited.map(|(job, _)| u64::from(job.files.open)).sum()
    };
    plan.open_files = plan.phases.iter().map(at_once).max().unwrap_or(0);
}

fn of_phase<'a>(
    jobs: &'a [Job],
    phase: &'a JobPhase,
) -> impl Iterator<Item = (&'a Job, &'a JobSpec)> {
    let numbered = phase.jobs.iter().zip(&phase.workloads);
    numbered.map(|(number, workload)| (&jobs[*number], workload))
}

fn opens_fewer(job: &Job, workload: &JobSpec) -> bool {
    (1..workload.files.len()).contains(&(job.files.open as usize))
}

/// Whether this process may have so many files open, after raising its limit as far as it may.
///
/// # Errors
/// How many are needed, and how many are allowed.
pub(super) fn check(plan: &FioPlan) -> Result<(), LimitError> {
    match plan.storage {
        JobStorage::Files => check_budget(needed(plan), 0),
        JobStorage::Null | JobStorage::Simulated => Ok(()),
    }
}

fn needed(plan: &FioPlan) -> u64 {
    let on_demand = plan.files.iter().filter(|file| file.is_on_demand).count();
    let held = (plan.files.len() - on_demand) as u64 * DESCRIPTORS_OF_FILE;
    if on_demand == 0 {
        return held;
    }
    // A request under way keeps its file open.
    let depth = |phase: &JobPhase| phase.workloads.iter().map(|job| u64::from(job.depth)).sum();
    let under_way = plan.phases.iter().map(depth).max().unwrap_or(0);
    held + plan.open_files + under_way.max(OPEN_AT_ONCE).min(on_demand as u64)
}
