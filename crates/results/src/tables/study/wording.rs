//! Wording of comparisons: times take as long, rates are as fast, shares differ by percentage
//! points. Ends of intervals are rounded outwards.

use stats::Estimate;
use units::format_count;

use super::comparison::Meaning;
use crate::reading::{Better, Unit};
use crate::saying::KNOWN;
use crate::study::{StudyComparison, StudyScale};

/// Numbers from here on have thousands separators.
const LARGE: f64 = 1000.0;

/// Maximum decimals of a ratio and of percentage points.
const DECIMALS: f64 = 6.0;
const POINT_DECIMALS: f64 = 2.0;

/// Determines the wording for a reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct StudyWording {
    pub scale: StudyScale,
    pub unit: Unit,
    pub better: Better,
}

impl StudyWording {
    /// The verb between a level and its comparison: times take, rates are.
    pub fn verb(&self, by: Estimate) -> &'static str {
        match (self.scale, self.unit) {
            (StudyScale::Ratio, Unit::Seconds) if by.value >= 1.0 => "takes",
            (StudyScale::Ratio, unit) if !is_of_speed(unit) => "has",
            _ => "is",
        }
    }

    /// The noun for its ratios.
    const fn times(&self) -> &'static str {
        match self.unit {
            Unit::Seconds => "times as long",
            unit if is_of_speed(unit) => "times as fast",
            _ => "times as much",
        }
    }

    /// `2.01 (2.00 .. 2.02) times as fast as RZ26`.
    pub fn size(&self, by: Estimate, against: &str, ratio: Option<Estimate>) -> String {
        match (self.scale, self.unit) {
            (StudyScale::Ratio, Unit::Seconds) if by.value < 1.0 => {
                format!("{} times as fast as {against}", within(inverse(by)))
            }
            (StudyScale::Ratio, _) => format!("{} as {against}", self.bare(by)),
            (StudyScale::Difference, _) => {
                format!("{} than {against}{}", self.bare(by), as_ratio(ratio))
            }
        }
    }

    /// The difference of a level from the other, without its direction.
    pub fn bare(&self, by: Estimate) -> String {
        if self.scale == StudyScale::Ratio {
            return format!("{} {}", within(by), self.times());
        }
        let (away, word) = match by.value >= 0.0 {
            true => (by, "higher"),
            false => (negative(by), "lower"),
        };
        match self.unit {
            Unit::Share => {
                let points = with_ends(away.scale(100.0), POINT_DECIMALS);
                format!("{points} percentage points {word}")
            }
            unit => {
                let (value, interval) = unit.format_interval(away);
                format!("{value} ({interval}) {word}")
            }
        }
    }

    /// The unit of a list of numbers: `times as fast as 8KiB`.
    pub fn as_what(&self, against: &str) -> String {
        match self.scale {
            StudyScale::Ratio => format!("{} as {against}", self.times()),
            StudyScale::Difference => format!("against {against}"),
        }
    }

    /// A number of a list, marked if it shows no difference.
    pub fn item(&self, it: &StudyComparison) -> String {
        let meaning = Meaning::of(it, self.better);
        let by_rule = format!("{} by Holm's rule alone", self.word(meaning));
        let mark = match meaning {
            Meaning::TooFew => return format!("(too few rounds: {})", it.rounds()),
            Meaning::Same | Meaning::NotShown => meaning.word(),
            _ if it.value.contains(zero(it)) => &by_rule,
            Meaning::Better | Meaning::Worse => "",
        };
        let size = match self.scale {
            StudyScale::Ratio => within(it.value),
            StudyScale::Difference => self.bare(it.value),
        };
        match (mark, size.strip_suffix(')')) {
            ("", _) => size + &as_ratio(it.ratio),
            (mark, Some(size)) => format!("{size}, {mark})"),
            (mark, None) => format!("{size} ({mark})"),
        }
    }

    /// The word for better or worse.
    pub fn word(&self, meaning: Meaning) -> &'static str {
        let is_better = meaning == Meaning::Better;
        match (
            is_of_speed(self.unit),
            is_better == (self.better == Better::Higher),
        ) {
            (true, _) if is_better => "faster",
            (true, _) => "slower",
            (false, true) => "higher",
            (false, false) => "lower",
        }
    }
}

/// Whether the figure is a speed.
const fn is_of_speed(unit: Unit) -> bool {
    matches!(unit, Unit::Seconds | Unit::BytesPerSecond | Unit::PerSecond)
}

pub(super) fn zero(it: &StudyComparison) -> f64 {
    match it.scale {
        StudyScale::Ratio => 1.0,
        StudyScale::Difference => 0.0,
    }
}

/// The ratio behind a difference, if there is one.
fn as_ratio(ratio: Option<Estimate>) -> String {
    ratio.map_or_else(String::new, |it| format!(", {} times as much", within(it)))
}

fn negative(by: Estimate) -> Estimate {
    Estimate {
        value: -by.value,
        low: -by.high,
        high: -by.low,
        ..by
    }
}

fn inverse(by: Estimate) -> Estimate {
    Estimate {
        value: 1.0 / by.value,
        low: 1.0 / by.high,
        high: 1.0 / by.low,
        ..by
    }
}

/// `2.01 (2.00 .. 2.02)`, or `2 to 76` if wide. Ends are rounded outwards, with two digits of their
/// difference.
fn within(it: Estimate) -> String {
    with_ends(it, DECIMALS)
}

fn with_ends(it: Estimate, decimals_max: f64) -> String {
    let magnitude = |value: f64| value.abs().log10().floor();
    // A number that begins with 1 gets another digit.
    let usual = 2.0 - magnitude(0.5 * it.value);
    let telling = 1.0 - magnitude(it.high - it.low);
    let decimals = telling.min(usual).clamp(0.0, decimals_max) as i32;
    let shown = |value: f64, rounded: fn(f64) -> f64| {
        let step = 10_f64.powi(decimals);
        // Values this close to a step are on it. The sum turns negative zero into positive zero.
        let nearest = (value * step).round();
        let steps = match (value * step - nearest).abs() < 1e-4 {
            true => nearest,
            false => rounded(value * step),
        };
        match steps / step + 0.0 {
            large if large.abs() >= LARGE => format_count(large),
            value => format!("{value:.*}", decimals as usize),
        }
    };
    let [low, high] = [shown(it.low, f64::floor), shown(it.high, f64::ceil)];
    let value = shown(it.value, f64::round);
    match low == high {
        true => value,
        // As in all sentences, an imprecise value is not quoted.
        false if it.relative_half_width() > KNOWN => format!("{low} to {high}"),
        false => format!("{value} ({low} .. {high})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_rounded_outwards_with_the_digits_that_tell_them_apart() {
        let check = |[value, low, high]: [f64; 3], expected: &str| {
            let estimate = Estimate {
                low,
                high,
                ..Estimate::exact(value, 8.0)
            };
            assert_eq!(within(estimate), expected);
        };
        check([1.9053, 1.8961, 1.9161], "1.905 (1.896 .. 1.917)");
        check([5.1, 4.21, 6.48], "5.1 (4.2 .. 6.5)");
        check([0.31, 0.2901, 0.3299], "0.310 (0.290 .. 0.330)");
        check([289.0, 8.2, 1289.4], "8 to 1,290");
        check([0.1744, 0.1724, 0.1764], "0.1744 (0.1724 .. 0.1764)");
        check([2.0, 2.0, 2.0], "2.00");
        check([30.2, -0.01, 60.0], "-1 to 60");
    }
}
