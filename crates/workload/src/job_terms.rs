//! Parts of a job: choice of the next file and block, and trims.

use random::Stream;
use serde::{Deserialize, Serialize};

use crate::access_zones::AccessZone;
use crate::mix::OperationSize;

/// Choice of the next file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextFile {
    /// In turn.
    RoundRobin,
    /// At random.
    Random,
    /// The next one when one is finished.
    Sequential,
}

/// Order of blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum JobPattern {
    /// Sequential, with this gap after each; backwards if negative.
    Sequential {
        /// Bytes.
        skip: i64,
    },
    /// Each block once before any is repeated. With varying sizes, a request is cut short at a
    /// block that was reached before.
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
    /// Zones have their shares of the requests; within a zone, every block is equally likely.
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

/// Which requests of a job are trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trims {
    /// Nothing.
    #[default]
    None,
    /// All except reads, instead of writes.
    Only,
    /// Each write is preceded by a trim of its range; limits of the job count both.
    BeforeWrites,
}

impl Trims {
    pub(crate) const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Where fio ends a job whose sequential requests leave gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEnd {
    /// Size from the start of its region, whether whole blocks or not.
    pub bytes: u64,
    /// Whether a step to that end or beyond goes back to the start: in a region that is the whole
    /// file.
    pub wraps: bool,
}

impl FileEnd {
    /// Whether `len` bytes at `at` are the last: they reach the end, or the next ones would exceed
    /// it.
    pub(crate) const fn is_met_by(self, at: u64, len: u64, skip: i64) -> bool {
        let last = at + len;
        let next = last.saturating_add_signed(skip);
        let goes_back = self.wraps && next >= self.bytes;
        last >= self.bytes || !goes_back && next + len > self.bytes
    }
}

/// Draws a size by weight.
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
