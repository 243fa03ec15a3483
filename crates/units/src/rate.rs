//! Rates of operations, and percentages.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Quantity, Typed, UnitError};
use crate::number::Number;
use crate::print::format_count;

/// Larger numbers are typing errors.
const NUMBER_MAX: f64 = 1e18;

/// Operations per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub f64);

impl Rate {
    /// Operations per second.
    pub const fn per_second(self) -> f64 {
        self.0
    }

    /// Mean time between operations, nanoseconds; infinite for a zero rate.
    pub fn mean_gap_ns(self) -> f64 {
        1e9 / self.0
    }

    /// The exact rate, such as `2500/s`, for files that are read again.
    pub fn to_exact_string(self) -> String {
        format!("{}/s", self.0)
    }
}

/// The exact percentage of a share, such as `2.5%`, for files that are read again.
pub fn exact_percent(share: f64) -> String {
    let percent = share * 100.0;
    let mut texts = (0..=17).map(|digits| format!("{percent:.digits$}%"));
    let is_exact = |text: &String| parse_percent(text).is_ok_and(|read| read == share);
    texts.find(is_exact).unwrap_or(format!("{percent}%"))
}

/// Three significant digits per second, such as `18,400/s`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/s", format_count(self.0)))
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_rate(text)
    }
}

/// Parses operations per second: `1000`, `10k/s`, `50k iops`, `600/min`.
///
/// Operations are counted, not addressed, so `k`, `m` and `g` are powers of 1000 here.
///
/// # Errors
///
/// Says what was typed, what is wrong, and which forms are accepted.
// fuzzed: units
pub fn parse_rate(text: &str) -> Result<Rate, UnitError> {
    let (typed, text) = Typed::trimmed(text, Quantity::Rate)?;
    let (number, unit) = Number::scan(typed, text)?;
    let factor = rate_factor(unit).ok_or_else(|| typed.unknown_unit(unit))?;
    let rate = number.to_f64() * factor;
    if rate > NUMBER_MAX {
        return Err(typed.too_large());
    }
    Ok(Rate(rate))
}

fn rate_factor(unit: &str) -> Option<f64> {
    let unit = unit.trim().to_ascii_lowercase();
    let (counted, period) = unit.split_once('/').unwrap_or((&unit, "s"));
    let seconds = match period.trim() {
        "s" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hour" => 3_600.0,
        _ => return None,
    };
    let counted = counted.trim();
    let noun = ["iops", "ops", "ios", "op", "io"]
        .iter()
        .find_map(|n| counted.strip_suffix(n));
    let scale = match noun.unwrap_or(counted).trim() {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        _ => return None,
    };
    Some(scale / seconds)
}

/// Parses a percentage such as `3%` or `3 %` as a share: 0.03.
///
/// A number without the sign is refused: `0.03` may be a share or a percentage.
///
/// # Errors
///
/// Says what was typed, what is wrong, and which form is accepted.
// fuzzed: units
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    let (typed, text) = Typed::trimmed(text, Quantity::Percent)?;
    let (number, unit) = Number::scan(typed, text)?;
    match unit.trim() {
        "%" => {}
        "" => return Err(typed.missing_unit()),
        unknown => return Err(typed.unknown_unit(unknown)),
    }
    if number.to_f64() > NUMBER_MAX {
        return Err(typed.too_large());
    }
    Ok(number.to_f64() / 100.0)
}
