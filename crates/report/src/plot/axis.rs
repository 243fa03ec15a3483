//! Axes: linear from zero, or logarithmic where values span factors. An ink says how long they are.

use results::Unit;
use units::format_count;

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
const LINEAR_SPAN_MAX: f64 = 4.0;
/// Values that are nearer to each other than this factor look as near as they are.
const FACTORS_MIN: f64 = 3.0;

/// Which axis suits the values of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisScale {
    /// From zero to the greatest value.
    FromZero,
    /// Logarithmic where values span factors, else from zero to a round value.
    Fitting,
    /// Logarithmic, and small differences look small.
    Factors,
}

/// From one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Axis {
    /// The axis of this scale that holds these values.
    pub fn over(scale: AxisScale, values: impl Iterator<Item = f64>) -> Self {
        let values = values.filter(|value| scale != AxisScale::Factors || *value > 0.0);
        let (low, high) = ends(values);
        match scale {
            AxisScale::FromZero => Self::until(high),
            AxisScale::Fitting if low > 0.0 && high > low * LINEAR_SPAN_MAX => Self::log(low, high),
            AxisScale::Fitting => {
                let step = round_step(Self::until(high).high);
                Self::until((Self::until(high).high / step - 1e-9).ceil() * step)
            }
            AxisScale::Factors => {
                let wider = (FACTORS_MIN * low / high).max(1.0).sqrt();
                Self::log(low / wider, high * wider)
            }
        }
    }

    fn until(high: f64) -> Self {
        let is_usable = high.is_finite() && high > 0.0;
        Self {
            low: 0.0,
            high: if is_usable { high } else { 1.0 },
            is_log: false,
        }
    }

    /// From `low` to `high`, with a little air at both ends.
    pub fn log(low: f64, high: f64) -> Self {
        let is_usable = low.is_finite() && high.is_finite() && low > 0.0 && high >= low;
        let (low, high) = if is_usable { (low, high) } else { (1.0, 10.0) };
        let air = (high / low).powf(0.06).clamp(1.05, 1e6);
        Self {
            low: (low / air).max(f64::MIN_POSITIVE),
            high: (high * air).min(f64::MAX),
            is_log: true,
        }
    }

    /// Where a value lies, from 0 to 1; those beyond the axis lie at its end, and no number has
    /// none.
    pub fn share(&self, value: f64) -> f64 {
        if value.is_nan() {
            return value;
        }
        let share = match self.is_log {
            true => (value.max(self.low).ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            false => value / self.high,
        };
        share.clamp(0.0, 1.0)
    }

    /// Round values on the axis.
    pub fn ticks(&self) -> Vec<f64> {
        if self.is_log {
            return log_ticks(self.low, self.high);
        }
        let step = round_step(self.high);
        let count = (self.high / step + 1e-9).floor() as u32;
        (0..=count).map(|tick| f64::from(tick) * step).collect()
    }

    pub const fn is_log(&self) -> bool {
        self.is_log
    }
}

/// 1, 2 or 5 times a power of ten.
fn round_step(end: f64) -> f64 {
    let wanted = end / TICKS_MAX as f64;
    let power = 10_f64.powf(wanted.log10().floor());
    let mut steps = [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter();
    let fitting = steps.find(|step| *step >= wanted);
    fitting.unwrap_or(10.0 * power)
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
    // Ticks are round: rounding removes only what sums of steps are off.
    let parts = if value.abs() < 1.0 { 1e6 } else { 100.0 };
    let shown = (value / divisor * parts).round() / parts;
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
        let axis = Axis {
            low: 1.0,
            high: 100.0,
            is_log: true,
        };
        let check = |value: f64, share: f64| {
            let found = axis.share(value);
            assert!((found - share).abs() < 1e-9, "{value}: {found}");
        };
        check(10.0, 0.5);
        check(0.0, 0.0);
        check(1e9, 1.0);
    }

    #[test]
    fn axes_end_at_a_round_value_and_have_few_ticks() {
        let check = |end: f64, expected: &[f64]| {
            let axis = Axis::over(AxisScale::Fitting, [0.0, end].into_iter());
            assert_eq!(axis.ticks(), expected, "{end}");
        };
        check(42.0, &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        check(92.0, &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        check(60.0, &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        check(f64::NAN, &[0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
    }

    #[test]
    fn what_lies_beyond_is_drawn_at_the_end() {
        let axis = Axis::over(AxisScale::FromZero, [50.0].into_iter());
        let shares = [25.0, 80.0, -1.0].map(|value| axis.share(value));
        assert_eq!(shares, [0.5, 1.0, 0.0]);
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
        for scale in [AxisScale::FromZero, AxisScale::Fitting, AxisScale::Factors] {
            let axis = Axis::over(scale, std::iter::empty());
            assert!(axis.share(1.0).is_finite(), "{scale:?}");
            assert!(!axis.ticks().is_empty(), "{scale:?}");
        }
        let values = [f64::MIN_POSITIVE, f64::MAX];
        let axis = Axis::over(AxisScale::Factors, values.into_iter());
        assert!(axis.ticks().len() < 20 && axis.share(1.0) < 1.0);
    }
}
