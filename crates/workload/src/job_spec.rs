//! Specification of one of several workloads: its files, sizes, pattern, pace, start and end.

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

/// One of several workloads, run by one client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// Listed requests instead of random ones. Not recorded in a run: the file with the list is
    /// part of the record.
    #[serde(skip)]
    pub script: Option<JobScript>,
    /// The row for its times; several may share one.
    pub row: u32,
    /// Requests outstanding.
    pub depth: u32,
    /// Number of outstanding requests at which the depth is refilled; `None` refills at each
    /// completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refill_at: Option<u32>,
    /// Its files; `block` of each is the alignment of offsets.
    pub files: Vec<Region>,
    pub order: NextFile,
    /// Access pattern announced to the kernel for its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<ReadOrderHint>,
    /// Requests to a file before the next one is chosen; one if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_run: Option<u32>,
    /// Order of blocks.
    pub pattern: JobPattern,
    /// End of its only file for sequential steps that reach it; `None` starts again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_end: Option<FileEnd>,
    /// Zones of its only file, used one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<StridedZones>,
    /// Percentage of reads and of writes with a random address; the others are sequential.
    pub random_percent: [u32; 2],
    /// Sequential requests after each random address.
    pub run: u32,
    /// Sizes of reads and of writes, or trims.
    pub sizes: [Vec<OperationSize>; 2],
    /// Which requests are trims.
    #[serde(default, skip_serializing_if = "Trims::is_none")]
    pub trims: Trims,
    pub read_percent: u32,
    /// Bytes after which it ends.
    pub bytes: Option<u64>,
    /// Requests after which it ends.
    pub requests: Option<u64>,
    /// Delay from the trial's start to its own.
    pub delay: Duration,
    /// Unrecorded time at its start.
    pub ramp: Duration,
    /// Time after the ramp at which it ends.
    pub runtime: Option<Duration>,
    /// Number of writes between flushes; zero for none.
    pub flush_every: u64,
    /// Whether it is `fdatasync` rather than `fsync`.
    #[serde(default)]
    pub flushes_data_only: bool,
    /// `sync_file_range` instead, over what was written since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_out: Option<WriteOut>,
    /// Whether each file is flushed at the end.
    pub flushes_at_end: bool,
    /// Durability of a completed write.
    pub durability: Durability,
    /// Content of its writes.
    #[serde(default, skip_serializing_if = "Content::is_default")]
    pub content: Content,
    /// Rates of reads and of writes.
    pub rates: [JobRate; 2],
    /// Whether gaps of a rate are exponential rather than equal.
    pub is_poisson: bool,
    /// A pause ...
    pub think: Duration,
    /// ... after this many requests.
    pub think_after: u32,
    /// Whether these are counted when issued rather than when completed.
    #[serde(default)]
    pub think_counts_issued: bool,
    /// Whether rates stand still during pauses; otherwise the backlog is caught up.
    #[serde(default)]
    pub think_stops_rates: bool,
    /// Shares of reads, and of writes or trims, with a priority.
    #[serde(default, skip_serializing_if = "have_none")]
    pub priorities: [Vec<PriorityShare>; 2],
    /// Minimum rates below which it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floors: Option<FloorSpec>,
    /// Its part in a flow of several jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowSpec>,
    /// Whether it ends when every block has been reached. As in fio, reads and writes then count
    /// blocks separately in their own smallest size, and a file is finished when either finds none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_pass: bool,
    /// Whether its end ends all jobs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_others: bool,
}

/// Whether all requests have the same priority.
fn have_none(priorities: &[Vec<PriorityShare>; 2]) -> bool {
    priorities.iter().all(Vec::is_empty)
}

impl JobSpec {
    /// Whether anything is written.
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Sizes of its requests, bytes.
    pub fn lengths(&self) -> impl Iterator<Item = u64> + '_ {
        let used = [self.read_percent > 0, self.writes()];
        let sizes = self.sizes.iter().zip(used).filter(|(_, is_used)| *is_used);
        let sizes = sizes.flat_map(|(sizes, _)| sizes);
        sizes.map(|size| u64::from(size.len))
    }

    /// Whether some requests have a priority.
    pub fn has_priorities(&self) -> bool {
        !have_none(&self.priorities)
    }

    /// Maximum size of requests that need memory.
    pub fn len_max(&self) -> u32 {
        let moved = match self.trims {
            Trims::Only => &self.sizes[..1],
            Trims::None | Trims::BeforeWrites => &self.sizes,
        };
        let sizes = moved.iter().flatten().map(|size| size.len);
        sizes.max().unwrap_or(0)
    }

    /// Whether each block is reached once by requests of several sizes, or of one size that is
    /// larger than that of the other direction.
    pub(crate) fn is_mapped(&self) -> bool {
        let [reads, writes] = &self.sizes;
        let least = |sizes: &[OperationSize]| sizes.iter().map(|it| it.len).min();
        let vary = match self.read_percent {
            100 => reads.len() > 1 || least(reads) > least(writes),
            0 => writes.len() > 1 || least(writes) > least(reads),
            _ => reads.len() > 1 || reads != writes,
        };
        self.pattern == JobPattern::Once && vary
    }

    /// From the trial's start to the start of recording.
    pub fn recorded_from(&self) -> Duration {
        self.delay + self.ramp
    }

    /// From the trial's start to its time limit, if it has one.
    pub fn ends_after(&self) -> Option<Duration> {
        Some(self.recorded_from() + self.runtime?)
    }
}
