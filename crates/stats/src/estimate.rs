//! A number that knows how sure it is.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The confidence of every interval of this crate.
pub const CONFIDENCE: f64 = 0.95;

/// What a time, a load or a count can be.
pub const NOT_NEGATIVE: RangeInclusive<f64> = 0.0..=f64::INFINITY;
/// What a share can be.
pub const SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// A value with its two-sided confidence interval, in whatever unit the owner states.
///
/// `high` may be infinite: the sample then bounds the value only from below. It is written as
/// null, which JSON can hold, and read back as infinity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The point estimate.
    #[serde(with = "undefined")]
    pub value: f64,
    /// Lower end of the interval.
    #[serde(with = "undefined")]
    pub low: f64,
    /// Upper end of the interval; infinite when the sample gives no bound.
    #[serde(with = "unbounded")]
    pub high: f64,
    /// Nominal probability that the interval contains the truth, 0 to 1.
    pub confidence: f64,
    /// Number of independent observations that would give an interval of this width.
    #[serde(with = "undefined")]
    pub samples: f64,
}

impl Estimate {
    /// A value known exactly, such as the mean of a constant series.
    pub fn exact(value: f64, samples: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
            confidence: CONFIDENCE,
            samples,
        }
    }

    /// The value alone, where nothing is known of its error.
    pub fn without_interval(&self) -> Self {
        Self {
            low: 0.0,
            high: f64::INFINITY,
            ..*self
        }
    }

    /// What of it is possible: an interval around a value knows no bounds by itself.
    pub fn within(&self, possible: &RangeInclusive<f64>) -> Self {
        let nearest = |x: f64| x.clamp(*possible.start(), *possible.end());
        Self {
            value: nearest(self.value),
            low: nearest(self.low),
            high: nearest(self.high),
            ..*self
        }
    }

    /// Half the width of the interval over the value's magnitude; infinite without a bound.
    pub fn relative_half_width(&self) -> f64 {
        let half_width = (self.high - self.low) / 2.0;
        if half_width == 0.0 {
            0.0
        } else if self.value == 0.0 {
            f64::INFINITY
        } else {
            half_width / self.value.abs()
        }
    }

    /// Whether the two intervals share a point. Overlap does not prove equality.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether `x` lies inside the interval, ends included.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// Whether both ends of the interval are finite.
    pub fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// The same estimate in a unit `factor` times smaller: ns to s is `scale(1e-9)`.
    pub fn scale(&self, factor: f64) -> Self {
        let (a, b) = (self.low * factor, self.high * factor);
        let (low, high) = if factor < 0.0 { (b, a) } else { (a, b) };
        Self {
            value: self.value * factor,
            low,
            high,
            ..*self
        }
    }

    /// This over `other`, of two positive quantities that were estimated apart from each other. The
    /// interval combines both on the scale of logarithms: G. Y. Zou and A. Donner, "Construction of
    /// confidence limits about effect measures", Statistics in Medicine 27 (2008), 1693-1702.
    pub fn over(&self, other: &Self) -> Self {
        let value = self.value / other.value;
        let below = (self.value / self.low)
            .ln()
            .hypot((other.high / other.value).ln());
        let above = (self.high / self.value)
            .ln()
            .hypot((other.value / other.low).ln());
        let is_positive = self.low >= 0.0 && other.low >= 0.0 && other.value > 0.0;
        let end = |end: f64, unknown: f64| if is_positive { end } else { unknown };
        Self {
            value,
            low: end(value * (-below).exp(), 0.0),
            high: end(value * above.exp(), f64::INFINITY),
            confidence: self.confidence.min(other.confidence),
            samples: self.samples.min(other.samples),
        }
    }
}

/// Infinity as an absent number: JSON has no other place for it.
pub mod unbounded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "the signature is serde's"
    )]
    /// Null for what is not finite.
    ///
    /// # Errors
    /// Those of the format.
    pub fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(to)
    }

    /// Null is infinity.
    ///
    /// # Errors
    /// Those of the format.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}

/// What is not a number as an absent one, for values that need not be defined.
pub mod undefined {
    use serde::{Deserialize, Deserializer};

    pub use super::unbounded::serialize;

    /// Null is no number.
    ///
    /// # Errors
    /// Those of the format.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, F64Deserializer, UnitDeserializer};

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            value,
            low,
            high,
            confidence: CONFIDENCE,
            samples: 10.0,
        }
    }

    #[test]
    fn half_width_is_relative_to_the_value() {
        assert!((estimate(10.0, 9.0, 11.0).relative_half_width() - 0.1).abs() < 1e-12);
        assert_eq!(estimate(0.0, 0.0, 0.0).relative_half_width(), 0.0);
        assert_eq!(
            estimate(0.0, -1.0, 1.0).relative_half_width(),
            f64::INFINITY
        );
        assert_eq!(
            estimate(1.0, 0.5, f64::INFINITY).relative_half_width(),
            f64::INFINITY
        );
    }

    #[test]
    fn what_is_impossible_is_cut_off() {
        let rare = estimate(0.01, -0.02, 0.04);
        assert_eq!(rare.within(&SHARE), estimate(0.01, 0.0, 0.04));
        assert_eq!(estimate(0.99, 0.9, 1.1).within(&SHARE).high, 1.0);
        assert_eq!(
            estimate(1.0, 0.5, f64::INFINITY).within(&NOT_NEGATIVE).high,
            f64::INFINITY
        );
        assert!(estimate(f64::NAN, 0.0, 1.0).within(&SHARE).value.is_nan());
    }

    #[test]
    fn intervals_overlap_when_they_touch() {
        assert!(estimate(1.0, 0.0, 2.0).overlaps(&estimate(3.0, 2.0, 4.0)));
        assert!(!estimate(1.0, 0.0, 2.0).overlaps(&estimate(3.0, 2.1, 4.0)));
    }

    #[test]
    fn scaling_by_a_negative_factor_keeps_the_ends_in_order() {
        let scaled = estimate(2.0, 1.0, 4.0).scale(-2.0);
        assert_eq!((scaled.low, scaled.value, scaled.high), (-8.0, -4.0, -2.0));
    }

    #[test]
    fn a_ratio_is_as_uncertain_as_both_of_its_parts() {
        let ratio = estimate(6.0, 5.0, 8.0).over(&estimate(2.0, 2.0, 2.0));
        assert!((ratio.value - 3.0).abs() < 1e-12);
        assert!((ratio.low - 2.5).abs() < 1e-12 && (ratio.high - 4.0).abs() < 1e-12);
        let wider = estimate(6.0, 5.0, 8.0).over(&estimate(2.0, 1.5, 2.5));
        assert!(wider.low < ratio.low && wider.high > ratio.high);
        let open = estimate(6.0, 0.0, f64::INFINITY).over(&estimate(2.0, 1.0, 3.0));
        assert_eq!((open.low, open.high), (0.0, f64::INFINITY));
        let by_nothing = estimate(6.0, 5.0, 7.0).over(&estimate(0.0, 0.0, 1.0));
        assert_eq!((by_nothing.low, by_nothing.high), (0.0, f64::INFINITY));
    }

    #[test]
    fn an_absent_upper_end_is_read_as_unbounded() {
        let absent: UnitDeserializer<Error> = ().into_deserializer();
        assert_eq!(unbounded::deserialize(absent), Ok(f64::INFINITY));
        // A bare f64 deserializer has no notion of "some": the error shows that null is special.
        let bare: F64Deserializer<Error> = 1.0.into_deserializer();
        assert!(unbounded::deserialize(bare).is_err());
    }
}
