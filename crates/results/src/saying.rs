//! Statements about rows, from which verdicts are composed.

use serde::{Deserialize, Serialize};
use stats::Estimate;
use units::{format_count, format_interval_count};

use crate::reading::Unit;
use crate::show::is_false;

/// Relative half-width of an interval up to which its value is quoted.
pub const KNOWN: f64 = 0.25;
/// Changes from this ratio on are stated as a multiple, not in percent.
const TIMES_FROM: f64 = 3.0;
/// Decimals of a change in percent at most.
const DECIMALS_MAX: usize = 2;

/// A statement about a row, made by the kind of measurement that found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saying {
    /// Text without a full stop, and without a capital letter that only starts the sentence.
    pub text: String,
    /// Whether it also holds for an unstable row, because it quotes none of its figures.
    #[serde(default, skip_serializing_if = "is_false")]
    pub holds_if_unstable: bool,
    /// Whether it starts with a name, which keeps its lower case.
    #[serde(default, skip_serializing_if = "is_false")]
    pub begins_with_name: bool,
}

impl Saying {
    /// A statement that quotes figures of its row.
    pub fn quoting(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            holds_if_unstable: false,
            begins_with_name: false,
        }
    }

    /// Also holds for an unstable row.
    #[must_use]
    pub fn if_unstable(mut self) -> Self {
        self.holds_if_unstable = true;
        self
    }

    /// Starts with a name.
    #[must_use]
    pub fn of_name(mut self) -> Self {
        self.begins_with_name = true;
        self
    }
}

/// The text for use after a colon; abbreviations and our name keep their capitals.
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

/// A value with its interval, if that has a width. If it is wide, only its ends.
pub fn known(unit: Unit, it: Estimate) -> String {
    let named = if unit == Unit::PerSecond { "/s" } else { "" };
    with_unit(unit, it, named)
}

/// The same, with `named` after a number that has no unit of its own.
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

/// The name that engineers use for a figure: `IOPS`, `p99`, `mean latency`.
pub fn spoken(name: &str) -> String {
    let begins_with_letter = |text: &str| text.starts_with(|it: char| it.is_ascii_alphabetic());
    // The dot of `latency-p99.9` is not a separator.
    let (row, last) = name
        .rmatch_indices('.')
        .map(|(at, _)| (&name[..at], &name[at + 1..]))
        .find(|(_, last)| begins_with_letter(last))
        .unwrap_or(("", name));
    let said = match last {
        "iops" => "IOPS",
        "latency" => "mean latency",
        _ => last.strip_prefix("latency-").unwrap_or(last),
    };
    match row {
        "" => said.to_owned(),
        row => format!("{said} of {row}"),
    }
}

/// The change of a figure by a ratio: `39 % more IOPS (38 to 40 %)`, `p99 20 % lower (19 to 21 %)`,
/// `12 times the IOPS (11 to 13)`; without an interval if the ratio has none.
pub fn change_in_words(figure: &str, ratio: Estimate) -> String {
    let name = spoken(figure);
    let is_count = name.starts_with("IOPS");
    let within = |[low, high]: [&str; 2], unit: &str| match ratio.is_bounded() && low != high {
        true => format!(" ({low} to {high}{unit})"),
        false => String::new(),
    };
    if ratio.value >= TIMES_FROM {
        let (times, ends) = format_interval_count(ratio.value, ratio.low, ratio.high);
        let (low, high) = ends.split_once(" .. ").unwrap_or_default();
        let interval = within([low, high], "");
        return match is_count {
            true => format!("{times} times the {name}{interval}"),
            false => format!("{name} {times} times as high{interval}"),
        };
    }
    let is_higher = ratio.value >= 1.0;
    let [share, low, high] = in_percent(match is_higher {
        true => [ratio.value - 1.0, ratio.low - 1.0, ratio.high - 1.0],
        false => [1.0 - ratio.value, 1.0 - ratio.high, 1.0 - ratio.low],
    });
    let interval = within([&low, &high], " %");
    match (is_count, is_higher) {
        (true, true) => format!("{share} % more {name}{interval}"),
        (true, false) => format!("{share} % fewer {name}{interval}"),
        (false, true) => format!("{name} {share} % higher{interval}"),
        (false, false) => format!("{name} {share} % lower{interval}"),
    }
}

/// A share and the ends of its interval in percent, with enough decimals to tell the ends apart,
/// and an end below zero from zero.
fn in_percent([share, low, high]: [f64; 3]) -> [String; 3] {
    let least = match (high - low) * 100.0 {
        width if width < 0.1 => 2,
        width if width < 1.0 => 1,
        _ => 0,
    };
    let text = |decimals| [share, low, high].map(|it| format!("{:.decimals$}", it * 100.0));
    let is_minus_zero =
        |it: &String| it.starts_with('-') && it.parse().is_ok_and(|it: f64| it == 0.0);
    let decimals = (least..=DECIMALS_MAX).find(|it| !text(*it).iter().any(is_minus_zero));
    text(decimals.unwrap_or(least)).map(|it| match is_minus_zero(&it) {
        true => it[1..].to_owned(),
        false => it,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `latency-p99.9` was read as the reading `9` of a row `latency-p99`.
    #[test]
    fn figures_have_the_names_that_engineers_use() {
        let check = |name: &str, expected: &str| assert_eq!(spoken(name), expected);
        check("iops", "IOPS");
        check("latency", "mean latency");
        check("latency-p99.9", "p99.9");
        check("random-read.iops", "IOPS of random-read");
        check("random-read.latency-p99.9", "p99.9 of random-read");
    }

    #[test]
    fn changes_are_told_in_percent_and_large_ones_as_multiples() {
        let check = |name: &str, [value, low, high]: [f64; 3], expected: &str| {
            let ratio = Estimate {
                low,
                high,
                ..Estimate::exact(value, 8.0)
            };
            assert_eq!(change_in_words(name, ratio), expected);
        };
        check("iops", [1.39, 1.38, 1.40], "39 % more IOPS (38 to 40 %)");
        check("iops", [0.83, 0.81, 0.85], "17 % fewer IOPS (15 to 19 %)");
        check(
            "latency-p99",
            [0.8, 0.79, 0.81],
            "p99 20 % lower (19 to 21 %)",
        );
        check(
            "latency",
            [1.2, 1.05, 1.4],
            "mean latency 20 % higher (5 to 40 %)",
        );
        check(
            "latency",
            [1.006, 0.9971, 1.015],
            "mean latency 0.6 % higher (-0.3 to 1.5 %)",
        );
        check(
            "latency",
            [1.006, 0.999_999, 1.012],
            "mean latency 1 % higher (0 to 1 %)",
        );
        check(
            "iops",
            [12.0, 11.0, 13.0],
            "12.0 times the IOPS (11.0 to 13.0)",
        );
        check(
            "latency-p99",
            [150.0, 140.0, 161.0],
            "p99 150 times as high (140 to 161)",
        );
        let alone = Estimate::exact(1.5, 1.0).without_interval();
        assert_eq!(
            change_in_words("throughput", alone),
            "throughput 50 % higher"
        );
    }
}
