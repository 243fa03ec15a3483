//! Distributions of a position among `n` that fio has besides Zipf's, by its `random_distribution`.

use crate::law::{LawError, checked};
use crate::stream::Stream;

/// A share `1 - share` of the draws goes to the first `share` of the positions, recursively: fio's
/// `pareto`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfSimilar {
    power: f64,
}

impl SelfSimilar {
    /// The law with this share.
    ///
    /// # Errors
    /// When it does not lie between 0 and 1.
    pub fn new(share: f64) -> Result<Self, LawError> {
        let bounds = "above 0 and below 1";
        let share = checked("share", share, bounds, |it| it > 0.0 && it < 1.0)?;
        Ok(Self {
            power: share.ln() / (1.0 - share).ln(),
        })
    }

    /// A place in `0..n`.
    pub fn sample(&self, n: u64, stream: &mut Stream) -> u64 {
        let at = stream.unit().powf(self.power) * n as f64;
        (at as u64).min(n.saturating_sub(1))
    }
}

/// A normal distribution around the middle position: fio's `normal`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AroundMiddle {
    deviation: f64,
}

impl AroundMiddle {
    /// The law with this standard deviation, in percent of the places.
    ///
    /// # Errors
    /// When it is not above 0 and at most 100.
    pub fn new(percent: f64) -> Result<Self, LawError> {
        let bounds = "above 0 and at most 100";
        let percent = checked("percent", percent, bounds, |it| it > 0.0 && it <= 100.0)?;
        Ok(Self { deviation: percent })
    }

    /// A place in `0..n`.
    pub fn sample(&self, n: u64, stream: &mut Stream) -> u64 {
        // The sum of twelve uniform numbers has variance 1.
        let normal: f64 = (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
        let at = n as f64 * (0.5 + normal * self.deviation / 100.0);
        at.clamp(0.0, n.saturating_sub(1) as f64) as u64
    }
}
