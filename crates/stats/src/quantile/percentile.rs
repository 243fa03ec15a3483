//! A percentile as a trial states it.

use serde::{Deserialize, Serialize};

use super::EVIDENCE_FIRM;
use crate::estimate::Estimate;

/// Effective completions beyond a percentile from which an interval is published.
const EVIDENCE_MIN: f64 = 10.0;
/// The rarest percentile that is of use to all, as the sample has it.
const USUAL_MAX: f64 = 0.999;

/// One percentile, with as much as the sample supports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PercentileEstimate {
    /// The share of completions at or below, 0 to 1.
    pub p: f64,
    /// The time, ns. Its interval is unbounded when the evidence is below 10: the value is that of
    /// the sample alone. `None` when nothing was measured.
    pub estimate: Option<Estimate>,
    /// Whether the evidence is below 50: the interval then covers less evenly.
    pub is_indicative: bool,
    /// Effective number of independent completions beyond the percentile: (1 - p) times those of
    /// the percentile, or of the mean where these are fewer.
    #[serde(with = "crate::undefined")]
    pub evidence: f64,
}

impl PercentileEstimate {
    /// The percentile `p` with as much of `estimate` as `evidence` bears.
    pub fn judged(p: f64, estimate: Estimate, evidence: f64) -> Self {
        let estimate = if evidence >= EVIDENCE_MIN {
            estimate
        } else {
            estimate.without_interval()
        };
        Self {
            p,
            estimate: Some(estimate),
            is_indicative: evidence < EVIDENCE_FIRM,
            evidence,
        }
    }

    /// Whether only those who ask for everything want to see it: so rare, and without an interval.
    pub fn is_detail(&self) -> bool {
        self.p > USUAL_MAX && !self.has_interval()
    }

    /// Whether the sample bears an interval.
    pub fn has_interval(&self) -> bool {
        self.estimate.is_some() && self.evidence >= EVIDENCE_MIN
    }
}
