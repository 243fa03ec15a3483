//! Gaps between arrivals in whole nanoseconds whose long-run rate is exactly the requested one.
//!
//! Rounding each gap separately would shift the rate: truncation makes a million arrivals per
//! second too many by one part in two thousand, and whole microseconds nearly triple 600,000. Here
//! the remainder of one gap is carried over to the next.

use crate::exponential::standard_exponential;
use crate::law::{LawError, positive};
use crate::stream::Stream;
use serde::{Deserialize, Serialize};

/// Distribution of gaps around their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapShape {
    /// All gaps are equal.
    Constant,
    /// Gaps uniform from zero to twice the mean.
    Uniform,
    /// Gaps of a Poisson process: the arrivals of many independent users.
    Exponential,
}

/// An arrival process: draws the gap from each arrival to the next.
#[derive(Clone, Debug)]
pub struct GapProcess {
    shape: GapShape,
    mean_ns: f64,
    /// Remainder of a nanosecond for the next gap, in [0, 1).
    remainder_ns: f64,
}

impl GapProcess {
    /// Gaps with this mean in nanoseconds, which need not be whole.
    ///
    /// # Errors
    /// If it is not finite and above zero.
    pub fn new(shape: GapShape, mean_ns: f64) -> Result<Self, LawError> {
        Ok(Self {
            shape,
            mean_ns: positive("mean gap in nanoseconds", mean_ns)?,
            remainder_ns: 0.0,
        })
    }

    /// The same; `None` for a mean of zero.
    ///
    /// # Errors
    /// If it is not finite, or below zero.
    pub fn unless_none(shape: GapShape, mean_ns: f64) -> Result<Option<Self>, LawError> {
        if mean_ns == 0.0 {
            return Ok(None);
        }
        Self::new(shape, mean_ns).map(Some)
    }

    /// Gaps of a process with this many arrivals per second.
    ///
    /// # Errors
    /// If it is not finite and above zero.
    pub fn per_second(shape: GapShape, rate: f64) -> Result<Self, LawError> {
        Self::new(shape, 1e9 / positive("rate per second", rate)?)
    }

    /// The gap to the next arrival in nanoseconds; the sum of all gaps so far is the sum of the
    /// unrounded gaps, rounded down.
    pub fn next_gap_ns(&mut self, stream: &mut Stream) -> u64 {
        let drawn = match self.shape {
            GapShape::Constant => self.mean_ns,
            GapShape::Uniform => 2.0 * self.mean_ns * stream.unit(),
            GapShape::Exponential => self.mean_ns * standard_exponential(stream),
        };
        let owed = drawn + self.remainder_ns;
        let whole = owed.floor();
        self.remainder_ns = owed - whole;
        whole as u64
    }
}
