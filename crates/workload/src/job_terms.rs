//! What a job is made of: which file and block come next, and what is trimmed.

use random::Stream;
use serde::{Deserialize, Serialize};

use crate::access_zones::AccessZone;
use crate::mix::OperationSize;

/// Which file the next request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextFile {
    /// In turn.
    RoundRobin,
    /// Drawn.
    Random,
    /// The next when all of one was done.
    Sequential,
}

/// Which block follows which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum JobPattern {
    /// In order, with so many bytes left out after each; backwards where it is below zero.
    Sequential {
        /// Bytes.
        skip: i64,
    },
    /// Each block once before any comes again. Where sizes vary, a request is cut short where it
    /// meets a block that was reached before.
    Once,
    /// Every block is equally likely each time.
    Uniform,
    /// Popularity falls as this power of rank.
    Zipf {
        /// Exponent.
        theta: f64,
    },
    /// A share `1 - share` of requests goes to `share` of the blocks.
    Pareto {
        /// Between 0 and 1.
        share: f64,
    },
    /// Around the middle of the file.
    Normal {
        /// Standard deviation in percent of the file.
        percent: f64,
    },
    /// Zones have their shares of the requests; within a zone every block is equally likely.
    Zoned {
        /// Zones of reads and of writes, or trims.
        zones: [Vec<AccessZone>; 2],
    },
}

/// An access pattern as `posix_fadvise` announces it to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadOrderHint {
    /// No readahead.
    Random,
    /// More readahead than without a hint.
    Sequential,
}

/// What of a job are trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trims {
    /// Nothing.
    #[default]
    None,
    /// All that is not read, in the place of writes.
    Only,
    /// Before each write its bytes are trimmed; what bounds the job counts either.
    BeforeWrites,
}

impl Trims {
    pub(crate) const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Where fio ends a job whose requests in order leave gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEnd {
    /// Bytes from the beginning of its region on, whole blocks or not.
    pub bytes: u64,
    /// Whether a step to that end or beyond goes back to the beginning, which it does in a region
    /// that is the whole file.
    pub wraps: bool,
}

impl FileEnd {
    /// Whether nothing follows on `len` bytes at `at`: they reach the end, or the next as many
    /// would reach beyond it.
    pub(crate) const fn is_met_by(self, at: u64, len: u64, skip: i64) -> bool {
        let last = at + len;
        let next = last.saturating_add_signed(skip);
        let goes_back = self.wraps && next >= self.bytes;
        last >= self.bytes || !goes_back && next + len > self.bytes
    }
}

/// One of these sizes, by their weights.
pub(crate) fn drawn_size(sizes: &[OperationSize], choice: &mut Stream) -> u32 {
    if let [only] = sizes {
        return only.len;
    }
    let total: u64 = sizes.iter().map(|size| u64::from(size.weight)).sum();
    let mut left = choice.below(total.max(1));
    for size in sizes {
        if left < u64::from(size.weight) {
            return size.len;
        }
        left -= u64::from(size.weight);
    }
    sizes[0].len
}
