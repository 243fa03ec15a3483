//! The exponential distribution: the time to the next of many unrelated events.

use crate::arithmetic::ln;
use crate::stream::Stream;

/// A value of the exponential distribution with mean 1, above or equal to zero, by inversion:
/// -ln U. Times a mean it has that mean, in any unit.
pub fn standard_exponential(stream: &mut Stream) -> f64 {
    -ln(stream.open_unit())
}
