//! Axes of charts and pictures: linear from zero, or logarithmic where values span factors.

use results::Unit;
use units::format_count;

use crate::picture::scale::Scale;

/// More ticks than this crowd a chart at 400 pixels.
const TICKS_MAX: usize = 6;
/// With so many, no finer steps are asked for.
const TICKS_ENOUGH: usize = 4;
/// Steps within a decade, the coarsest first.
const MANTISSAS: [&[f64]; 5] = [
    &[1.0],
    &[1.0, 3.0],
    &[1.0, 2.0, 5.0],
    &[1.0, 2.0, 3.0, 5.0, 7.0],
    &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
];
/// Seconds in a minute.
const MINUTE: f64 = 60.0;
/// Values that span no more than this factor are shown from zero.
pub(crate) const LINEAR_SPAN_MAX: f64 = 4.0;

/// Values on one side, pixels on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Axis {
    /// From zero.
    Linear(Scale),
    /// Equal factors are equal lengths.
    Log {
        low: f64,
        high: f64,
        from: f64,
        to: f64,
    },
}

impl Axis {
    /// From zero to a round value at or above `high`.
    pub fn linear(high: f64, from: f64, to: f64) -> Self {
        Self::Linear(Scale::new(high, from, to))
    }

    /// From `low` to `high`, with a little air at both ends.
    pub fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let is_usable = low.is_finite() && high.is_finite() && low > 0.0 && high >= low;
        let (low, high) = if is_usable { (low, high) } else { (1.0, 10.0) };
        let air = (high / low).powf(0.06).max(1.05);
        Self::Log {
            low: low / air,
            high: high * air,
            from,
            to,
        }
    }

    /// The one that suits these values.
    pub fn fitting(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = ends(values);
        if low > 0.0 && high > low * LINEAR_SPAN_MAX {
            Self::log(low, high, from, to)
        } else {
            Self::linear(high, from, to)
        }
    }

    /// The pixel of a value; those beyond the axis are drawn at its end, and no number has none.
    pub fn at(&self, value: f64) -> f64 {
        if value.is_nan() {
            return value;
        }
        match *self {
            Self::Linear(scale) => scale.at(value),
            Self::Log {
                low,
                high,
                from,
                to,
            } => {
                let share = (value.max(low) / low).ln() / (high / low).ln();
                from + share.clamp(0.0, 1.0) * (to - from)
            }
        }
    }

    /// Round values on the axis.
    pub fn ticks(&self) -> Vec<f64> {
        match *self {
            Self::Linear(scale) => scale.ticks(),
            Self::Log { low, high, .. } => log_ticks(low, high),
        }
    }

    /// A tick as a bare number.
    pub fn label(&self, tick: f64) -> String {
        match *self {
            Self::Linear(scale) => scale.label(tick),
            Self::Log { .. } if tick >= 1.0 => format_count(tick),
            Self::Log { .. } => format!("{}", (tick * 1e9).round() / 1e9),
        }
    }

    /// Whether a value lies on the axis.
    pub fn holds(&self, value: f64) -> bool {
        match *self {
            Self::Linear(scale) => value <= scale.end,
            Self::Log { low, high, .. } => (low..=high).contains(&value),
        }
    }

    pub const fn is_log(&self) -> bool {
        matches!(self, Self::Log { .. })
    }
}

/// The lowest and the highest of the finite values.
pub(crate) fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    values
        .filter(|value| value.is_finite())
        .fold(nothing, |(low, high), value| {
            (low.min(value), high.max(value))
        })
}

fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = || (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let of = |mantissas: &[f64]| -> Vec<f64> {
        let all = decades().flat_map(|decade| {
            let power = 10_f64.powi(decade);
            mantissas.iter().map(move |mantissa| mantissa * power)
        });
        let on_axis = |tick: &f64| (low..=high).contains(tick);
        all.filter(on_axis).collect()
    };
    let mut ticks = of(MANTISSAS[0]);
    while ticks.len() > TICKS_MAX {
        ticks = ticks.into_iter().step_by(2).collect();
    }
    for mantissas in &MANTISSAS[1..] {
        let finer = of(mantissas);
        if finer.len() <= TICKS_MAX && ticks.len() < TICKS_ENOUGH && finer.len() > ticks.len() {
            ticks = finer;
        }
    }
    ticks
}

/// A round value on an axis: `100 µs`, `20k`.
pub(crate) fn tick_label(unit: Unit, value: f64) -> String {
    match unit {
        Unit::PerSecond | Unit::Count | Unit::Ratio => compact(value),
        Unit::Share => format!("{} %", compact(value * 100.0)),
        // Parts, as in `1 min 40 s`, are too long for an axis.
        Unit::Seconds if value >= MINUTE => format!("{} s", format_count(value)),
        unit => {
            let text = unit.format(value).replace(" us", " µs");
            let (number, rest) = text.split_once(' ').unwrap_or((&text, ""));
            let number = match number.contains('.') {
                true => number.trim_end_matches('0').trim_end_matches('.'),
                false => number,
            };
            format!("{number} {rest}").trim_end().to_owned()
        }
    }
}

/// A number as axes show it: `500`, `20k`, `1.5M`.
fn compact(value: f64) -> String {
    let (divisor, letter) = match value.abs() {
        v if v >= 1e9 => (1e9, "G"),
        v if v >= 1e6 => (1e6, "M"),
        v if v >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let shown = (value / divisor * 100.0).round() / 100.0;
    format!("{shown}{letter}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let check = |low: f64, high: f64, expected: &[f64]| {
            let ticks = log_ticks(low, high);
            let off = ticks
                .iter()
                .zip(expected)
                .map(|(one, other)| (one / other - 1.0).abs());
            assert!(off.fold(0.0, f64::max) < 1e-9, "{low} .. {high}: {ticks:?}");
            assert_eq!(ticks.len(), expected.len(), "{low} .. {high}: {ticks:?}");
        };
        check(20_000.0, 75_000.0, &[2e4, 3e4, 5e4, 7e4]);
        check(3e-4, 1.2e-3, &[3e-4, 5e-4, 7e-4, 1e-3]);
        check(4e-5, 1.3e-3, &[5e-5, 1e-4, 2e-4, 5e-4, 1e-3]);
        check(1e-6, 1.0, &[1e-6, 1e-4, 1e-2, 1.0]);
        check(90.0, 5_000.0, &[100.0, 300.0, 1_000.0, 3_000.0]);
    }

    #[test]
    fn values_stand_where_their_factor_says() {
        let axis = Axis::Log {
            low: 1.0,
            high: 100.0,
            from: 0.0,
            to: 200.0,
        };
        let check = |value: f64, pixel: f64| {
            let found = axis.at(value);
            assert!((found - pixel).abs() < 1e-9, "{value}: {found}");
        };
        check(10.0, 100.0);
        check(0.0, 0.0);
        check(1e9, 200.0);
    }

    #[test]
    fn ticks_are_labelled_in_their_unit() {
        let check = |unit: Unit, value: f64, expected: &str| {
            assert_eq!(tick_label(unit, value), expected);
        };
        check(Unit::Seconds, 1e-3, "1 ms");
        check(Unit::Seconds, 5e-5, "50 µs");
        check(Unit::Seconds, 1.5e-3, "1.5 ms");
        check(Unit::Seconds, 2_000.0, "2,000 s");
        check(Unit::PerSecond, 20_000.0, "20k");
        check(Unit::PerSecond, 1_500_000.0, "1.5M");
        check(Unit::BytesPerSecond, 2e8, "200 MB/s");
        check(Unit::Share, 0.5, "50 %");
        check(Unit::Share, 0.0002, "0.02 %");
    }

    #[test]
    fn an_axis_without_values_is_still_one() {
        let axis = Axis::fitting(std::iter::empty(), 0.0, 100.0);
        assert!(axis.at(1.0).is_finite());
        assert!(!Axis::log(0.0, f64::NAN, 0.0, 1.0).ticks().is_empty());
    }
}
