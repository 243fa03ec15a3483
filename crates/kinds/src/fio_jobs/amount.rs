//! How much a job does before it ends. Compared with fio 3.33 over generated job files, as it is in
//! no document.

use fio::{Amount, BlockSizes, Job};
use workload::{FileEnd, JobPattern, Region};

use super::pattern::counts_apart;
use super::plan::{Result, refused};

/// What a job's files hold of its regions.
#[derive(Default)]
pub(super) struct JobBytes {
    /// Bytes of all regions.
    pub bytes: u64,
    /// The same in whole blocks of each.
    pub blocks: u64,
    /// Bytes of the last file, where it exists.
    pub last: Option<u64>,
}

pub(super) struct JobEnd {
    /// After so many bytes; `None` where it ends by time.
    pub bytes: Option<u64>,
    /// After so many requests.
    pub requests: Option<u64>,
    /// When no block is left that was not reached.
    pub is_one_pass: bool,
    /// At the end of its file.
    pub file: Option<FileEnd>,
}

impl JobEnd {
    /// Of a job that does nothing.
    pub(super) const AT_ONCE: Self = Self {
        bytes: Some(0),
        requests: None,
        is_one_pass: false,
        file: None,
    };
}

/// When a job ends that uses these regions.
///
/// # Errors
/// When fio ends it in a way that is not done here.
pub(super) fn end_of(
    job: &Job,
    pattern: &JobPattern,
    regions: &[Region],
    asked: &JobBytes,
) -> Result<JobEnd> {
    if job.only_creates {
        return Ok(JobEnd::AT_ONCE);
    }
    let is_timed = job.is_timed();
    let has_gaps = matches!(*pattern, JobPattern::Sequential { skip } if skip > 0);
    let repeats = job.limits.loops > 1;
    if repeats && job.limits.requests.is_some() {
        return refused(
            job,
            "fio counts number_ios anew in each loop, which is not supported: leave one of loops \
             and number_ios out",
        );
    }
    let is_one_pass = !is_timed && !repeats && job.io_size.is_none();
    if counts_apart(job, pattern) && !is_timed && !is_one_pass {
        return refused(
            job,
            "with other block sizes for reads than for writes fio ends each pass early, which is \
             done for one pass. Leave out loops and io_size, or add norandommap",
        );
    }
    let has_end = has_gaps && job.io_size.is_none() && !is_timed;
    if has_end && (repeats || regions.len() > 1) {
        return refused(
            job,
            "fio leaves a file where a step of rw=...:N meets its end. Seekstone does so for one \
             file and one loop. Leave out loops and nrfiles, or give io_size or time_based",
        );
    }
    Ok(JobEnd {
        bytes: (!is_timed).then(|| match (pattern, regions) {
            // In order a file is done where the smallest block does not fit any more.
            (JobPattern::Sequential { skip: 0 }, [only]) if is_one_pass => {
                bytes_of(job, pattern, has_gaps, asked).min(asked.bytes - (only.block - 1))
            }
            _ => bytes_of(job, pattern, has_gaps, asked),
        }),
        requests: job.limits.requests,
        is_one_pass,
        file: has_end.then(|| FileEnd {
            bytes: asked.bytes,
            wraps: is_whole(job, &regions[0], asked),
        }),
    })
}

fn bytes_of(job: &Job, pattern: &JobPattern, has_gaps: bool, asked: &JobBytes) -> u64 {
    // Blocks that are drawn, or leave gaps, go on until all of size is done, and more.
    let is_exceeded = job.pattern.is_random && *pattern != JobPattern::Once || has_gaps;
    let mut once = if is_exceeded {
        asked.bytes
    } else {
        asked.blocks
    };
    if let (Some(Amount::Bytes(size)), Some(_)) = (job.size, job.files.each) {
        once = once.min(size);
    }
    let loops = job.limits.loops;
    match job.io_size.map(|amount| amount.of(asked.blocks)) {
        None => once.saturating_mul(loops),
        // A loop does size at most, and there are more of them until io_size is done, or what is
        // left is smaller than the largest block.
        Some(all) => {
            let largest = job.blocks.iter().map(BlockSizes::most).max().unwrap_or(1);
            let left = all.checked_rem(once).unwrap_or(0);
            let ends_before = all > once && left < largest;
            let all = if ends_before { all - left } else { all };
            all.min(once).saturating_mul(loops).max(all)
        }
    }
}

/// Whether the only region is all of its file.
fn is_whole(job: &Job, region: &Region, asked: &JobBytes) -> bool {
    let is_more = |size: Amount| matches!(size, Amount::Bytes(size) if size > asked.bytes);
    region.offset == 0
        && asked.last.unwrap_or(asked.bytes) == asked.bytes
        && !job.size.is_some_and(is_more)
}

/// Where the region of a copy of a job begins, in a file of `whole` bytes.
pub(super) fn begin_of(job: &Job, copy: u32, (whole, block): (u64, u64)) -> u64 {
    let step = job.offset_increment.of(whole).saturating_mul(copy.into());
    let begin = job.offset.of(whole).saturating_add(step);
    let is_share = |amount| matches!(amount, Amount::Percent(1..));
    // As in fio, a share begins at the next whole block.
    match is_share(job.offset) || is_share(job.offset_increment) {
        true => begin.checked_next_multiple_of(block).unwrap_or(begin),
        false => begin,
    }
}

/// fio does nothing of a size that holds no block.
pub(super) fn check_size(job: &Job, block: u64) -> Result<()> {
    match job.size {
        Some(Amount::Bytes(size)) if (1..block).contains(&size) => refused(
            job,
            format!("size={size} is less than a block of {block}: give size={block}"),
        ),
        _ => Ok(()),
    }
}
