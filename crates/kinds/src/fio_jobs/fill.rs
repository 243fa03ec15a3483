//! Files that jobs read are written before, and those of `pre_read` read.

use std::collections::{BTreeMap, HashSet};

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

/// Workloads that lay files out, or read them before, at once: each has a few requests under way,
/// and so many files open.
pub(super) const AT_ONCE: usize = 64;
/// Files that are open at once meanwhile, at most.
pub(super) const OPEN_AT_ONCE: u64 = AT_ONCE as u64 * FILL_DEPTH as u64;

/// The workloads that write all of each file that was made and is read, or is there before a job
/// calls it.
pub(super) fn fill(plan: &FioPlan) -> JobPhase {
    let mut regions = Vec::new();
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
                regions.push((region, file.content.clone().unwrap_or_default()));
            }
        }
    }
    JobPhase {
        name: "fill".into(),
        names: vec!["laying out files".into()],
        workloads: dealt(regions).into_iter().chain(laying_out(plan)).collect(),
        ..JobPhase::default()
    }
}

/// Workloads that write regions. Those that are alike but for their files are dealt to as many as
/// work at once: there may be thousands.
fn dealt(regions: Vec<(Region, Content)>) -> Vec<JobSpec> {
    let mut alike: BTreeMap<_, Vec<(Content, Vec<Region>)>> = BTreeMap::new();
    for (region, content) in regions {
        let of_size = alike.entry((region.len, region.block)).or_default();
        match of_size.iter_mut().find(|it| it.0 == content) {
            Some((_, regions)) => regions.push(region),
            None => of_size.push((content, vec![region])),
        }
    }
    let alike = alike.into_values().flatten();
    alike
        .flat_map(|(content, regions)| {
            let each = regions.len().div_ceil(AT_ONCE);
            let files = regions.chunks(each).map(<[Region]>::to_vec);
            files
                .map(|files| filling(files, content.clone()))
                .collect::<Vec<JobSpec>>()
        })
        .collect()
}

/// The workloads that read what jobs of a phase want in the page cache, where there is any.
pub(super) fn reading(phase: &JobPhase) -> JobPhase {
    let mut known = HashSet::new();
    let regions = phase.read_before.iter();
    let regions = regions.filter(|it| known.insert((it.target, it.offset, it.len, it.block)));
    let regions: Vec<_> = regions.map(|it| (*it, Content::default())).collect();
    let reading = |filling: JobSpec| JobSpec {
        read_percent: 100,
        flushes_at_end: false,
        ..filling
    };
    JobPhase {
        name: format!("{} pre_read", phase.name),
        names: vec!["reading files".into()],
        workloads: dealt(regions).into_iter().map(reading).collect(),
        ..JobPhase::default()
    }
}

/// Write files one after the other, in their blocks, which are of one size.
pub(super) fn filling(files: Vec<Region>, content: Content) -> JobSpec {
    let size = vec![OperationSize {
        len: files[0].block as u32,
        weight: 1,
    }];
    JobSpec {
        script: None,
        row: 0,
        depth: FILL_DEPTH,
        refill_at: None,
        bytes: Some(files.iter().map(|region| region.len).sum()),
        files,
        order: NextFile::Sequential,
        hint: None,
        pattern: JobPattern::Sequential { skip: 0 },
        random_percent: [0; 2],
        run: 1,
        sizes: [size.clone(), size],
        read_percent: 0,
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
