//! What can be said of a row in words: what verdicts are made of.

use serde::{Deserialize, Serialize};
use stats::Estimate;
use units::{format_count, format_interval_count};

use crate::reading::Unit;
use crate::show::is_false;

/// Relative half-width of an interval up to which its value is said.
pub const KNOWN: f64 = 0.25;

/// A statement about a row, from the kind of measurement that found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saying {
    /// Without its full stop, and without a capital letter in front that only a sentence needs.
    pub text: String,
    /// Whether it also holds of a row that is not to be quoted, since it has none of its figures.
    #[serde(default, skip_serializing_if = "is_false")]
    pub holds_if_unstable: bool,
    /// Whether it begins with a name, which keeps its small letter.
    #[serde(default, skip_serializing_if = "is_false")]
    pub begins_with_name: bool,
}

impl Saying {
    /// One that quotes figures of its row.
    #[must_use]
    pub fn quoting(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            holds_if_unstable: false,
            begins_with_name: false,
        }
    }

    /// The same, which holds of a shaky row, too.
    #[must_use]
    pub fn if_shaky(self) -> Self {
        Self {
            holds_if_unstable: true,
            ..self
        }
    }

    /// The same, which begins with a name.
    #[must_use]
    pub fn of_name(self) -> Self {
        Self {
            begins_with_name: true,
            ..self
        }
    }
}

/// A sentence after a colon; abbreviations and our name keep their capitals.
#[must_use]
pub fn in_a_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let is_word = letters.clone().next().is_some_and(|it| it.is_lowercase());
    let is_word = is_word && !text.starts_with("Seekstone");
    match first {
        Some(first) if is_word => format!("{}{}", first.to_lowercase(), letters.as_str()),
        _ => text.to_owned(),
    }
}

/// A value with its interval, unless that has no width; where it is wide, its ends alone.
#[must_use]
pub fn known(unit: Unit, it: Estimate) -> String {
    let named = if unit == Unit::PerSecond { "/s" } else { "" };
    with_unit(unit, it, named)
}

/// The same, with `named` behind a number that has no unit of its own.
#[must_use]
pub fn with_unit(unit: Unit, it: Estimate, named: &str) -> String {
    let blank = match named.starts_with(char::is_alphabetic) {
        true => " ",
        false => "",
    };
    if it.relative_half_width() > KNOWN {
        let end = |end: f64| match unit {
            Unit::PerSecond => format_count(end),
            unit => unit.format(end),
        };
        return format!("{} to {}{blank}{named}", end(it.low.max(0.0)), end(it.high));
    }
    let (value, interval) = match unit {
        Unit::PerSecond => format_interval_count(it.value, it.low, it.high),
        unit => unit.format_interval(it),
    };
    match interval.split_once(" .. ") {
        Some((low, high)) if low == high => format!("{value}{blank}{named}"),
        _ => format!("{value}{blank}{named} ({interval})"),
    }
}
