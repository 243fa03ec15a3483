//! Readings: named figures with units from one repeat of a measurement.

use serde::{Deserialize, Deserializer, Serialize};
use stats::Estimate;
use units::{
    Bytes, Duration, format_count, format_counted, format_duration_ns, format_interval_count,
    format_interval_ns, format_interval_rate, parse_percent, parse_rate,
};

use crate::show::is_false;

units::words! {
    /// The unit of a reading.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Unit {
        Seconds = "seconds",
        BytesPerSecond = "bytes-per-second",
        /// Seconds of processor time for 1,048,576 bytes.
        SecondsPerMib = "seconds-per-mib",
        /// Operations per second.
        PerSecond = "per-second",
        Bytes = "bytes",
        /// A number of things.
        Count = "count",
        /// A part of a whole, 0 to 1.
        Share = "share",
        /// A number without a unit, such as a quotient.
        Ratio = "ratio",
    }
}

units::words! {
    /// Which direction of a reading is better.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Better {
        Higher = "higher",
        Lower = "lower",
        /// Neither: it only explains other readings.
        Neither = "neither",
    }
}

/// One figure of one repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Its name, such as `write rate`.
    pub name: String,
    pub unit: Unit,
    /// The value.
    #[serde(with = "stats::undefined")]
    pub value: f64,
    /// Which direction is better.
    pub better: Better,
    /// The samples behind the value, in the same unit, if worth plotting: the time of each file
    /// open, the rate per second.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "numbers"
    )]
    pub parts: Vec<f64>,
    /// Interval from the variation within the repeat, if the repeat is a single trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Estimate>,
    /// Whether something spoiled it, so that it must not be quoted. An unknown interval does not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_spoiled: bool,
}

/// Numbers; null is NaN.
fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let found = Vec::<Option<f64>>::deserialize(from)?;
    Ok(found.into_iter().map(|it| it.unwrap_or(f64::NAN)).collect())
}

impl Reading {
    /// A reading of `value`.
    pub fn new(name: impl Into<String>, unit: Unit, value: f64, better: Better) -> Self {
        Self {
            name: name.into(),
            unit,
            value,
            better,
            parts: Vec::new(),
            within: None,
            is_spoiled: false,
        }
    }

    /// Adds the interval within the repeat, if it is bounded on both sides.
    #[must_use]
    pub fn within(mut self, interval: Estimate) -> Self {
        self.within = interval.is_bounded().then_some(interval);
        self
    }

    /// Sets whether something spoiled it.
    #[must_use]
    pub fn spoiled(self, is_spoiled: bool) -> Self {
        Self { is_spoiled, ..self }
    }

    /// Adds the samples behind the value.
    #[must_use]
    pub fn of(mut self, parts: Vec<f64>) -> Self {
        self.parts = parts;
        self
    }
}

impl Unit {
    /// The value with its unit, such as `412 MB/s` or `1.30 s`.
    pub fn format(self, value: f64) -> String {
        if !value.is_finite() {
            return "?".into();
        }
        match self {
            Self::Seconds => format_duration_ns(value * 1e9),
            Self::BytesPerSecond => format!("{}/s", Bytes(value.round() as u64).decimal()),
            Self::SecondsPerMib => format!("{}/MiB", format_duration_ns(value * 1e9)),
            Self::PerSecond => format!("{}/s", format_count(value)),
            Self::Bytes => Bytes(value.round() as u64).to_string(),
            Self::Count | Self::Ratio => format_count(value),
            Self::Share => format!("{:.1} %", value * 100.0),
        }
    }

    /// A value in that unit with its interval; without an upper end, only the lower one is shown.
    pub fn format_interval(self, estimate: Estimate) -> (String, String) {
        let Estimate {
            value, low, high, ..
        } = estimate;
        if !estimate.is_bounded() {
            let interval = match low > 0.0 {
                true => format!("at least {}", self.format(low)),
                false => String::new(),
            };
            return (self.format(value), interval);
        }
        match self {
            Self::Seconds => format_interval_ns(value * 1e9, low * 1e9, high * 1e9),
            Self::SecondsPerMib => {
                let (value, interval) = format_interval_ns(value * 1e9, low * 1e9, high * 1e9);
                (format!("{value}/MiB"), interval)
            }
            Self::BytesPerSecond => format_interval_rate(value, low, high),
            Self::PerSecond => {
                let (value, interval) = format_interval_count(value, low, high);
                (format!("{value}/s"), interval)
            }
            Self::Share => {
                let (value, interval) =
                    format_interval_count(value * 100.0, low * 100.0, high * 100.0);
                (format!("{value} %"), interval)
            }
            // A rounded number would claim digits that were not counted.
            Self::Count if [value, low, high].iter().all(|it| it.fract() == 0.0) => {
                let [value, low, high] = [value, low, high].map(whole);
                (value, format!("{low} .. {high}"))
            }
            Self::Count | Self::Ratio => format_interval_count(value, low, high),
            Self::Bytes => (
                self.format(value),
                format!("{} .. {}", self.format(low.max(0.0)), self.format(high)),
            ),
        }
    }

    /// Parses a value with its unit, such as `2.5 MB/s` or `9.5 ms`.
    pub fn parse(self, text: &str) -> Option<f64> {
        let bytes = |text: &str| text.parse::<Bytes>().ok().map(|it| it.0 as f64);
        let seconds = |text: &str| text.parse::<Duration>().ok().map(Duration::as_secs_f64);
        match self {
            Self::Seconds => seconds(text),
            Self::BytesPerSecond => bytes(text.strip_suffix("/s")?.trim_end()),
            Self::SecondsPerMib => seconds(text.strip_suffix("/MiB")?.trim_end()),
            Self::PerSecond => parse_rate(text).ok().map(|it| it.0),
            Self::Bytes => bytes(text),
            Self::Count | Self::Ratio => text.parse().ok().filter(|it: &f64| it.is_finite()),
            Self::Share => parse_percent(text).ok(),
        }
    }
}

/// A count with all its digits.
pub(crate) fn whole(count: f64) -> String {
    let counted = format_counted(count as u64, "thing");
    counted.split(' ').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_printed_with_its_unit() {
        let check = |unit: Unit, value: f64, expected: &str| {
            assert_eq!(unit.format(value), expected, "{unit:?}");
        };
        check(Unit::Seconds, 35.9, "35.9 s");
        check(Unit::BytesPerSecond, 4_129_000.0, "4.13 MB/s");
        check(Unit::SecondsPerMib, 0.275, "275 ms/MiB");
        check(Unit::PerSecond, 18_400.0, "18,400/s");
        check(Unit::Bytes, 65_536.0, "64 KiB");
        check(Unit::Count, 91.0, "91");
        check(Unit::Share, 0.78, "78.0 %");
        check(Unit::Ratio, 1.64, "1.64");
        check(Unit::Ratio, f64::NAN, "?");
    }

    #[test]
    fn a_figure_is_read_as_it_is_printed() {
        let check = |unit: Unit, text: &str, expected: Option<f64>| {
            assert_eq!(unit.parse(text), expected, "{unit:?} {text:?}");
        };
        check(Unit::Seconds, "9.5 ms", Some(0.0095));
        check(Unit::BytesPerSecond, "2.5 MB/s", Some(2_500_000.0));
        check(Unit::BytesPerSecond, "2.5 MB", None);
        check(Unit::SecondsPerMib, "275 ms/MiB", Some(0.275));
        check(Unit::PerSecond, "18400/s", Some(18_400.0));
        check(Unit::Bytes, "64 KiB", Some(65_536.0));
        check(Unit::Share, "78 %", Some(0.78));
        check(Unit::Ratio, "1.64", Some(1.64));
        check(Unit::Count, "many", None);
    }
}
