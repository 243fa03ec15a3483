//! Parses and writes the short notations in a definition: mixes, walks and clocks.

use std::fmt;

use units::{UnitError, parse_rate};

use crate::address::Pattern;
use crate::mix::{Gap, GapShape};

/// Why a notation is invalid.
pub(super) enum NotationError {
    /// Not one of the allowed forms.
    Form,
    /// Invalid rate.
    Unit(UnitError),
}

/// Parses reads and writes, such as `2:1`.
pub(super) fn parse_mix(text: &str) -> Result<(i64, i64), NotationError> {
    let number = |text: &str| text.trim().parse().map_err(|_| NotationError::Form);
    let (reads, writes) = text.split_once(':').ok_or(NotationError::Form)?;
    Ok((number(reads)?, number(writes)?))
}

/// A walk, such as `hyperbolic:0.5`.
pub(super) fn parse_pattern(text: &str) -> Result<Pattern, NotationError> {
    let (law, parameter) = split(text);
    Ok(match (law, parameter) {
        ("sequential", None) => Pattern::Sequential { step: 1 },
        ("sequential", Some(step)) => Pattern::Sequential {
            step: step.parse().map_err(|_| NotationError::Form)?,
        },
        ("uniform", None) => Pattern::Uniform,
        ("hyperbolic", Some(alpha)) => Pattern::Hyperbolic {
            alpha: plain_number(alpha)?,
        },
        ("exponential", Some(mean)) => Pattern::ExponentialSteps {
            mean: plain_number(mean)?,
        },
        ("zipf", Some(theta)) => Pattern::Zipf {
            theta: plain_number(theta)?,
        },
        _ => return Err(NotationError::Form),
    })
}

/// The notation that a workload file parses to the same.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential { step: 1 } => f.write_str("sequential"),
            Self::Sequential { step } => write!(f, "sequential:{step}"),
            Self::Uniform => f.write_str("uniform"),
            Self::Hyperbolic { alpha } => write!(f, "hyperbolic:{alpha}"),
            Self::ExponentialSteps { mean } => write!(f, "exponential:{mean}"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
            Self::Zoned { .. } => f.write_str("zoned"),
        }
    }
}

/// Parses a clock, such as `exponential:20/s`; `None` for one that never waits.
pub(super) fn parse_clock(text: &str) -> Result<Option<Gap>, NotationError> {
    let (law, rate) = split(text);
    let shape = match (law, rate) {
        ("constant", None) => return Ok(None),
        ("uniform", Some(_)) => GapShape::Uniform,
        ("exponential" | "poisson", Some(_)) => GapShape::Exponential,
        ("regular", Some(_)) => GapShape::Constant,
        _ => return Err(NotationError::Form),
    };
    let rate = parse_rate(rate.unwrap_or_default()).map_err(NotationError::Unit)?;
    Ok(Some(Gap {
        shape,
        mean_ns: rate.mean_gap_ns(),
    }))
}

/// The notation that [`parse_clock`] parses to the same.
pub(super) fn clock_text(clock: Option<Gap>) -> String {
    let Some(gap) = clock else {
        return "constant".to_owned();
    };
    let law = match gap.shape {
        GapShape::Uniform => "uniform",
        GapShape::Exponential => "exponential",
        GapShape::Constant => "regular",
    };
    format!("{law}:{}", rate_text(gap.mean_ns))
}

/// Units in which a rate may have been typed, with their I/Os per second.
const RATE_UNITS: [(&str, f64); 6] = [
    ("/s", 1.0),
    ("k/s", 1e3),
    ("/min", 1.0 / 60.0),
    ("/h", 1.0 / 3_600.0),
    ("k/min", 1e3 / 60.0),
    ("k/h", 1e3 / 3_600.0),
];

/// The shortest rate that parses to exactly this mean gap. Rounding both ways may require the typed
/// unit, the neighbour of the quotient, or all digits.
fn rate_text(mean_ns: f64) -> String {
    const DIGITS_MAX: usize = 18;
    let rate = 1e9 / mean_ns;
    let reads_back = |text: &String| {
        parse_rate(text).is_ok_and(|read| read.mean_gap_ns().to_bits() == mean_ns.to_bits())
    };
    for (unit, factor) in RATE_UNITS {
        let number = rate / factor;
        for digits in 0..=DIGITS_MAX {
            let near = [number, number.next_up(), number.next_down()];
            let mut texts = near.iter().map(|near| format!("{near:.digits$}{unit}"));
            if let Some(text) = texts.find(reads_back) {
                return text;
            }
        }
    }
    format!("{rate}/s")
}

fn split(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((law, parameter)) => (law.trim(), Some(parameter.trim())),
        None => (text.trim(), None),
    }
}

/// A number without exponent, infinity or the like.
fn plain_number(text: &str) -> Result<f64, NotationError> {
    let is_plain = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    match text.parse() {
        Ok(number) if text.chars().all(is_plain) => Ok(number),
        _ => Err(NotationError::Form),
    }
}
