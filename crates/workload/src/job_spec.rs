//! What one of several workloads does: its files, sizes, pattern, pace, start and end.

use serde::{Deserialize, Serialize};
use units::Duration;

use crate::address::Region;
use crate::content::Content;
use crate::job_floor::FloorSpec;
use crate::job_flow::FlowSpec;
use crate::job_priority::PriorityShare;
use crate::job_rate::JobRate;
use crate::job_script::JobScript;
use crate::job_terms::{FileEnd, JobPattern, NextFile, ReadOrderHint, Trims};
use crate::job_zones::StridedZones;
use crate::mix::OperationSize;
use crate::op::{Durability, WriteOut};

/// One of several workloads, which one client carries out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// What it asks for in place of what it would draw. No record of a run has it: the file that
    /// lists it is part of the record.
    #[serde(skip)]
    pub script: Option<JobScript>,
    /// The row that its times are filed under; several may share one.
    pub row: u32,
    /// Requests outstanding.
    pub depth: u32,
    /// Requests left outstanding at which the depth is filled again; `None` fills it as each ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refill_at: Option<u32>,
    /// Its files; `block` of each is what offsets are multiples of.
    pub files: Vec<Region>,
    pub order: NextFile,
    /// The access pattern to announce to the kernel for its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<ReadOrderHint>,
    /// Requests to a file before the next one is chosen; one where it is `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_run: Option<u32>,
    /// Which block follows which.
    pub pattern: JobPattern,
    /// Where it ends whose steps in order meet the end of its only file; `None` begins there again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_end: Option<FileEnd>,
    /// The zones of its only file in which it works one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<StridedZones>,
    /// Percent of reads and of writes whose address is drawn; the others follow the one before.
    pub random_percent: [u32; 2],
    /// Requests in order after each address that is drawn.
    pub run: u32,
    /// Sizes of reads and of writes, or trims.
    pub sizes: [Vec<OperationSize>; 2],
    /// What is trimmed.
    #[serde(default, skip_serializing_if = "Trims::is_none")]
    pub trims: Trims,
    pub read_percent: u32,
    /// Bytes after which it ends.
    pub bytes: Option<u64>,
    /// Requests after which it ends.
    pub requests: Option<u64>,
    /// From the trial's start to its own.
    pub delay: Duration,
    /// Time at its start that is not recorded.
    pub ramp: Duration,
    /// Time after the ramp when it ends.
    pub runtime: Option<Duration>,
    /// A flush after so many writes; none where it is zero.
    pub flush_every: u64,
    /// Whether that is `fdatasync`, not `fsync`.
    #[serde(default)]
    pub flushes_data_only: bool,
    /// What `sync_file_range` does instead of either, over what was written since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_out: Option<WriteOut>,
    /// A flush of each file at its end.
    pub flushes_at_end: bool,
    /// What a completed write promises.
    pub durability: Durability,
    /// What its writes hold.
    #[serde(default, skip_serializing_if = "Content::is_default")]
    pub content: Content,
    /// Rates of reads and of writes.
    pub rates: [JobRate; 2],
    /// Whether gaps of a rate are exponential, and not equal.
    pub is_poisson: bool,
    /// A pause ...
    pub think: Duration,
    /// ... after so many requests.
    pub think_after: u32,
    /// Whether those are counted as they are issued, not as they complete.
    #[serde(default)]
    pub think_counts_issued: bool,
    /// Whether rates stand still meanwhile; else what falls due is made up for.
    #[serde(default)]
    pub think_stops_rates: bool,
    /// Shares of reads, and of writes or trims, that are more or less urgent.
    #[serde(default, skip_serializing_if = "have_none")]
    pub priorities: [Vec<PriorityShare>; 2],
    /// Rates below which it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floors: Option<FloorSpec>,
    /// Its part of what several jobs do together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowSpec>,
    /// Whether it ends when no block is left that was not reached. As in fio, reads and writes
    /// then count blocks each in their own smallest size, and a file is done when either finds
    /// none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_pass: bool,
    /// Whether all jobs end when this one does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_others: bool,
}

/// Whether all requests are alike.
fn have_none(priorities: &[Vec<PriorityShare>; 2]) -> bool {
    priorities.iter().all(Vec::is_empty)
}

impl JobSpec {
    /// Whether anything is written.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Bytes of each size that it asks for.
    pub fn lengths(&self) -> impl Iterator<Item = u64> + '_ {
        let used = [self.read_percent > 0, self.writes()];
        let sizes = self.sizes.iter().zip(used).filter(|(_, is_used)| *is_used);
        let sizes = sizes.flat_map(|(sizes, _)| sizes);
        sizes.map(|size| u64::from(size.len))
    }

    /// Whether some requests are more or less urgent than others.
    #[must_use]
    pub fn has_priorities(&self) -> bool {
        !have_none(&self.priorities)
    }

    /// The longest request that takes memory.
    #[must_use]
    pub fn len_max(&self) -> u32 {
        let moved = match self.trims {
            Trims::Only => &self.sizes[..1],
            Trims::None | Trims::BeforeWrites => &self.sizes,
        };
        let sizes = moved.iter().flatten().map(|size| size.len);
        sizes.max().unwrap_or(0)
    }

    /// Whether each block is reached once by requests of several sizes.
    pub(crate) fn is_mapped(&self) -> bool {
        let [reads, writes] = &self.sizes;
        let vary = match self.read_percent {
            100 => reads.len() > 1,
            0 => writes.len() > 1,
            _ => reads.len() > 1 || reads != writes,
        };
        self.pattern == JobPattern::Once && vary
    }

    /// From the trial's start to the first moment that is recorded.
    #[must_use]
    pub fn recorded_from(&self) -> Duration {
        self.delay + self.ramp
    }

    /// From the trial's start to the end of its time, if it has one.
    #[must_use]
    pub fn ends_after(&self) -> Option<Duration> {
        Some(self.recorded_from() + self.runtime?)
    }
}
