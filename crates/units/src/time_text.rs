//! Parsing and display of durations.

use std::fmt;
use std::str::FromStr;

use crate::error::{Quantity, Typed, UnitError};
use crate::number::Number;
use crate::print::format_duration_ns;
use crate::time::Duration;

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

const EXACT_UNITS: [(u64, &str); 7] = [
    (DAY, "d"),
    (HOUR, "h"),
    (MINUTE, "min"),
    (SECOND, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

impl Duration {
    /// The exact duration, such as `90s` or `1500us`, for files that are read again.
    pub fn to_exact_string(self) -> String {
        let nanos = self.as_nanos();
        if nanos == 0 {
            return "0s".to_owned();
        }
        let divides = |unit: &&(u64, &str)| nanos.is_multiple_of(unit.0);
        let (factor, name) = EXACT_UNITS.iter().find(divides).unwrap_or(&(1, "ns"));
        format!("{}{name}", nanos / factor)
    }
}

/// Three significant digits below a minute (`47.1 us`, `2.00 s`), then whole parts
/// (`1 min 30 s`); spans below a microsecond are whole nanoseconds (`47 ns`).
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_nanos() {
            nanos @ 1..1_000 => f.pad(&format!("{nanos} ns")),
            nanos => f.pad(&format_duration_ns(nanos as f64)),
        }
    }
}

/// Parses `10s`, `1.5 ms`, `1m30s`, `1 min 30 s`; case does not matter and `m` is a minute.
///
/// A number without a unit is refused, since its meaning differs between tools. Only `0` is the
/// same in all units.
impl FromStr for Duration {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (typed, text) = Typed::trimmed(text, Quantity::Duration)?;
        let mut rest = text;
        let mut nanos: u64 = 0;
        let mut factor_before = u64::MAX;
        while !rest.is_empty() {
            let (number, after) = Number::scan(typed, rest)?;
            let after = after.trim_start();
            let unit_len = after.find(|c: char| c.is_ascii_digit() || c.is_whitespace());
            let (unit, after) = after.split_at(unit_len.unwrap_or(after.len()));
            if unit.is_empty() {
                let is_bare_zero =
                    number.is_zero() && factor_before == u64::MAX && after.is_empty();
                return if is_bare_zero {
                    Ok(Self::ZERO)
                } else {
                    Err(typed.missing_unit())
                };
            }
            let factor = factor_of(unit).ok_or_else(|| typed.unknown_unit(unit))?;
            if factor >= factor_before {
                return Err(typed.unit_order());
            }
            let part = number.times(factor).ok_or_else(|| typed.too_large())?;
            nanos = nanos.checked_add(part).ok_or_else(|| typed.too_large())?;
            factor_before = factor;
            rest = after.trim_start();
        }
        Ok(Self::from_nanos(nanos))
    }
}

fn factor_of(unit: &str) -> Option<u64> {
    Some(match unit.to_lowercase().as_str() {
        "ns" | "nsec" => 1,
        // Keyboards have both the micro sign and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
        "h" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" => DAY,
        _ => return None,
    })
}
