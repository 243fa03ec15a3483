//! Files that jobs read are written before, and those of `pre_read` read.

use units::Duration;
use workload::{
    Content, Durability, JobPattern, JobRate, JobSpec, NextFile, OperationSize, Region, TargetId,
    Trims,
};

use super::file_calls::laying_out;
use super::plan::{FioPlan, JobPhase};

/// Files that are read are written first, with blocks of this size at this queue depth.
pub(super) const FILL_BLOCK: u64 = 1 << 20;
const FILL_DEPTH: u32 = 4;

/// The workloads that write all of each file that was made and is read, or is there before a job
/// calls it.
pub(super) fn fill(plan: &FioPlan) -> JobPhase {
    let mut phase = JobPhase {
        name: "fill".into(),
        names: vec!["laying out files".into()],
        ..JobPhase::default()
    };
    for (number, file) in plan.files.iter().enumerate() {
        if file.exists.is_some() || !file.is_read {
            continue;
        }
        let target = TargetId(number as u32 * 2 + 1);
        let whole = file.needs / FILL_BLOCK * FILL_BLOCK;
        for (offset, len, block) in [
            (0, whole, FILL_BLOCK),
            (whole, file.needs - whole, file.needs - whole),
        ] {
            if len > 0 {
                let region = Region {
                    target,
                    offset,
                    len,
                    block,
                };
                let content = file.content.clone().unwrap_or_default();
                phase.workloads.push(filling(region, content));
            }
        }
    }
    phase.workloads.extend(laying_out(plan));
    phase
}

/// The workloads that read what jobs of a phase want in the page cache, where there is any.
pub(super) fn reading(phase: &JobPhase) -> Option<JobPhase> {
    let mut regions: Vec<Region> = Vec::new();
    for region in &phase.read_before {
        if !regions.contains(region) {
            regions.push(*region);
        }
    }
    let reading = |region: Region| JobSpec {
        read_percent: 100,
        flushes_at_end: false,
        ..filling(region, Content::default())
    };
    (!regions.is_empty()).then(|| JobPhase {
        name: format!("{} pre_read", phase.name),
        names: vec!["reading files".into()],
        workloads: regions.into_iter().map(reading).collect(),
        ..JobPhase::default()
    })
}

pub(super) fn filling(region: Region, content: Content) -> JobSpec {
    let size = vec![OperationSize {
        len: region.block as u32,
        weight: 1,
    }];
    JobSpec {
        script: None,
        row: 0,
        depth: FILL_DEPTH,
        refill_at: None,
        files: vec![region],
        order: NextFile::Sequential,
        pattern: JobPattern::Sequential { skip: 0 },
        random_percent: [0; 2],
        run: 1,
        sizes: [size.clone(), size],
        read_percent: 0,
        bytes: Some(region.len),
        requests: None,
        delay: Duration::ZERO,
        ramp: Duration::ZERO,
        runtime: None,
        flush_every: 0,
        flushes_data_only: false,
        writes_out: None,
        flushes_at_end: true,
        durability: Durability::Volatile,
        content,
        rates: [JobRate::Free; 2],
        is_poisson: false,
        think: Duration::ZERO,
        think_after: 1,
        think_counts_issued: false,
        think_stops_rates: false,
        zones: None,
        priorities: [Vec::new(), Vec::new()],
        floors: None,
        flow: None,
        ends_others: false,
        file_run: None,
        one_pass: false,
        file_end: None,
        trims: Trims::None,
    }
}
