//! Times to the first record of files that are opened in random order.

use serde::{Deserialize, Serialize};
use stats::Estimate;

/// What opening each file once, in random order, took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Positioning {
    /// What was measured.
    pub target: String,
    /// Seed of the orders.
    #[serde(with = "crate::seed")]
    pub seed: u64,
    /// Files; they lie one after the other, and are of one size.
    pub files: u32,
    pub file_bytes: u64,
    /// Bytes that were read of each.
    pub record_bytes: u32,
    /// How often all were opened, each time in another order.
    pub rounds: u32,
    /// Mean time to the first record, over all rounds, nanoseconds.
    pub mean: Estimate,
    /// Between which the mean of one round lies in 95 % of the rounds, nanoseconds. Absent where
    /// there are too few rounds to say so.
    pub one_round: Option<Estimate>,
    /// The longest time, nanoseconds.
    pub max_ns: u64,
    /// Width of a bin, nanoseconds.
    pub bin_ns: u64,
    /// Files of one round by their time: the mean over rounds, and between which the number lies
    /// in 95 % of the rounds. The first bin begins at zero.
    pub bins: Vec<Estimate>,
    /// What a document found.
    pub published: Option<PublishedPositioning>,
}

/// What a document found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedPositioning {
    /// Which document, in words.
    pub source: String,
    /// Mean time, nanoseconds.
    pub mean_ns: u64,
    /// Files by their time, in bins of the same width.
    pub bins: Vec<u32>,
}

impl Positioning {
    /// Ours over the published mean.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let published = self.published.as_ref()?;
        Some(self.mean.value / published.mean_ns as f64)
    }
}
