//! Which block of a job's files follows which.

use fio::{Directions, Distribution, Job};
use workload::{AccessZone, JobPattern, ZoneSpan};

use super::job_values::second_of;

/// What fio's `rw`, `norandommap`, `random_distribution` and block sizes say together.
pub(super) fn pattern_of(job: &Job) -> JobPattern {
    if !job.pattern.is_random {
        let skip = job.pattern.modifier.unwrap_or(0);
        return JobPattern::Sequential { skip };
    }
    let one_size = match job.pattern.directions {
        Directions::Read => !job.blocks[0].vary(),
        Directions::Mixed => !job.blocks[0].vary() && job.blocks[0].sizes == job.blocks[1].sizes,
        Directions::Write | Directions::Trim | Directions::TrimWrite => {
            !job.blocks[second_of(job)].vary()
        }
    };
    // Blocks of an alignment of their own are no map of what requests reach; nor are those of reads
    // and writes of different sizes, which fio leaves whole where a job goes on by time.
    let is_whole = one_size || job.alignment_effective().is_none();
    let is_apart = has_sizes_apart(job) && job.is_timed();
    match &job.distribution {
        Distribution::Uniform if is_whole && !is_apart && !job.may_repeat => JobPattern::Once,
        Distribution::Uniform => JobPattern::Uniform,
        &Distribution::Zipf(theta) => JobPattern::Zipf { theta },
        &Distribution::Pareto(share) => JobPattern::Pareto { share },
        &Distribution::Normal(percent) => JobPattern::Normal { percent },
        Distribution::Zoned(zones) => JobPattern::Zoned {
            zones: [0, second_of(job)].map(|direction| zones[direction].iter().map(zone).collect()),
        },
    }
}

/// Whether fio's random map counts blocks of different sizes: for reads and for writes, or for
/// those of the only direction and its own, which are the smallest of both.
pub(super) fn counts_apart(job: &Job, pattern: &JobPattern) -> bool {
    *pattern == JobPattern::Once && (has_sizes_apart(job) || job.exceeds_map())
}

/// The block of such a map, of a job that is done with it.
pub(super) fn map_block(job: &Job, pattern: &JobPattern) -> Option<u64> {
    let [reads, writes, _] = &job.blocks;
    let is_apart = counts_apart(job, pattern) && !job.is_timed();
    is_apart.then(|| reads.least().min(writes.least()))
}

fn has_sizes_apart(job: &Job) -> bool {
    let is_mixed = job.pattern.directions == Directions::Mixed
        && (1..100).contains(&job.read_percent_effective());
    is_mixed && job.blocks[0].least() != job.blocks[1].least()
}

fn zone(zone: &fio::ZoneShare) -> AccessZone {
    let span = match zone.span {
        fio::ZoneLength::Percent(percent) => ZoneSpan::Percent(percent),
        fio::ZoneLength::Bytes(bytes) => ZoneSpan::Bytes(bytes),
    };
    let percent = zone.percent;
    AccessZone { percent, span }
}
