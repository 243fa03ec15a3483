//! What is verified of fio's jobs: which files get headers, and what is read back when.

use fio::Job;
use workload::{JobPattern, JobSpec, Trims};

use super::fill::FILL_BLOCK;
use super::plan::{FioPlan, JobStorage, Result, refused};

/// Bytes that carry one header.
const SECTOR: u64 = verify::SECTOR_BYTES as u64;

/// What is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyPlan {
    /// Bytes of a block: all sizes and offsets are multiples of it.
    pub unit: u64,
    /// Numbers of the files.
    pub files: Vec<usize>,
    /// Those in which an earlier run is expected to have written headers.
    pub inherited: Vec<usize>,
    /// What is done after each phase.
    pub phases: Vec<AfterPhase>,
}

/// What is done after a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AfterPhase {
    /// Files that are read back, and the row of the first job that wrote each.
    pub reads_back: Vec<(usize, u32)>,
    /// Whether that ends with the first finding.
    pub is_fatal: bool,
    /// Rows of jobs that verify.
    pub rows: Vec<u32>,
}

/// What jobs want verified; nothing where none does.
///
/// # Errors
/// When a job's data cannot be verified.
pub(super) fn verification_of(jobs: &[Job], plan: &mut FioPlan) -> Result<Option<VerifyPlan>> {
    let mut verify = VerifyPlan {
        unit: FILL_BLOCK,
        ..VerifyPlan::default()
    };
    for phase in &plan.phases {
        let mut after = AfterPhase::default();
        for (spec, number) in phase.workloads.iter().zip(&phase.jobs) {
            let job = &jobs[*number];
            if job.verify.is_on {
                check(job, &plan.storage)?;
                let unwritten = files_of(spec).map(|file| &plan.files[file]);
                let mut unwritten = unwritten.filter(|it| it.exists.is_none() && !it.is_written);
                if let Some(file) = unwritten.next() {
                    return refused(
                        job,
                        format!(
                            "{} does not exist and no job writes it, so there is nothing to \
                             verify. Keep what the job before wrote with --keep-files",
                            file.path.display()
                        ),
                    );
                }
                let exists = |file: usize| plan.files[file].exists.is_some();
                verify.take(job, spec, &exists, &mut after);
            }
        }
        verify.phases.push(after);
    }
    if verify.files.is_empty() {
        return Ok(None);
    }
    for (spec, number) in plan
        .phases
        .iter()
        .flat_map(|it| it.workloads.iter().zip(&it.jobs))
    {
        if files_of(spec).any(|file| verify.files.contains(&file)) {
            if spec.trims != Trims::None {
                let why = "what a trim leaves is not known, and other jobs verify this file: leave \
                           verify out";
                return refused(&jobs[*number], why);
            }
            verify.unit = lengths(spec).fold(verify.unit, greatest_common_divisor);
        }
        if !verify.unit.is_multiple_of(SECTOR) {
            let message = format!(
                "verify takes sizes and offsets that are whole sectors of {SECTOR} bytes: give \
                 such a bs"
            );
            return refused(&jobs[*number], message);
        }
    }
    for file in &verify.files {
        let file = &mut plan.files[*file];
        file.needs = file.needs.next_multiple_of(verify.unit);
    }
    Ok(Some(verify))
}

fn check(job: &Job, storage: &JobStorage) -> Result<()> {
    if *storage != JobStorage::Files {
        return refused(
            job,
            "verify needs a target that holds data, a file or a device: leave verify out",
        );
    }
    if job.buffers.dedupe_percent > 0 {
        return refused(
            job,
            "with verify each sector has a header of its own, and no write repeats another: leave \
             dedupe_percentage out",
        );
    }
    Ok(())
}

impl VerifyPlan {
    fn take(
        &mut self,
        job: &Job,
        spec: &JobSpec,
        exists: &dyn Fn(usize) -> bool,
        after: &mut AfterPhase,
    ) {
        for file in files_of(spec) {
            let is_new = !self.files.contains(&file);
            if is_new {
                self.files.push(file);
            }
            if is_new && exists(file) && !spec.writes() {
                self.inherited.push(file);
            }
            let is_read_back = after.reads_back.iter().any(|(it, _)| *it == file);
            if spec.writes() && job.verify.reads_back && !is_read_back {
                after.reads_back.push((file, spec.row));
            }
        }
        after.is_fatal |= job.verify.is_fatal;
        if !after.rows.contains(&spec.row) {
            after.rows.push(spec.row);
        }
    }
}

fn files_of(spec: &JobSpec) -> impl Iterator<Item = usize> + '_ {
    spec.files.iter().map(|region| region.target.0 as usize / 2)
}

/// What its offsets and lengths are sums of.
fn lengths(spec: &JobSpec) -> impl Iterator<Item = u64> + '_ {
    let sizes = spec.sizes.iter().flatten().map(|size| u64::from(size.len));
    let regions = spec
        .files
        .iter()
        .flat_map(|region| [region.offset, region.block]);
    let skip = match spec.pattern {
        JobPattern::Sequential { skip } => skip.unsigned_abs(),
        _ => 0,
    };
    sizes.chain(regions).chain([skip])
}

/// Euclid's; of zero and another, the other.
const fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_common_and_greatest() {
        for (one, other, expected) in [(12, 18, 6), (7, 0, 7), (0, 5, 5), (1 << 20, 1536, 512)] {
            assert_eq!(greatest_common_divisor(one, other), expected);
        }
    }
}
