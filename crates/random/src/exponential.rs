//! The exponential distribution: the time to the next of many unrelated events.

use crate::arithmetic::ln;
use crate::stream::Stream;

/// The exponential distribution with a given mean, in any unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    /// The mean, which is also the standard deviation.
    pub mean: f64,
}

impl Exponential {
    /// A value above or equal to zero, in the unit of the mean, by inversion: -mean ln U.
    #[must_use]
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        self.mean * -ln(stream.open_unit())
    }
}
