//! A linear axis from zero, and its round values.

use units::format_count;

/// About so many ticks are wanted.
const TICKS: f64 = 6.0;

/// Values on one side, pixels on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The largest value.
    pub end: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Values from zero to `end` at pixels `from` to `to`; `end` is rounded up to a tick.
    pub fn new(end: f64, from: f64, to: f64) -> Self {
        let exact = Self::exactly(end, from, to);
        let step = round_step(exact.end);
        Self {
            end: (exact.end / step - 1e-9).ceil() * step,
            ..exact
        }
    }

    /// The same with its end as it is, tick or not.
    pub fn exactly(end: f64, from: f64, to: f64) -> Self {
        let end = if end.is_finite() && end > 0.0 {
            end
        } else {
            1.0
        };
        Self { end, from, to }
    }

    /// The pixel of a value; those beyond the axis are drawn at its end.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value / self.end).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Round values from zero to the end.
    pub fn ticks(&self) -> Vec<f64> {
        let step = round_step(self.end);
        let count = (self.end / step + 1e-9).floor() as u32;
        (0..=count).map(|tick| f64::from(tick) * step).collect()
    }

    /// A tick in words.
    pub fn label(&self, tick: f64) -> String {
        if round_step(self.end) < 1.0 {
            format!("{tick:.1}")
        } else {
            format_count(tick)
        }
    }
}

/// 1, 2 or 5 times a power of ten.
fn round_step(end: f64) -> f64 {
    let wanted = end / TICKS;
    let power = 10_f64.powf(wanted.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter();
    let mut fitting = digit
        .map(|digit| digit * power)
        .filter(|step| *step >= wanted);
    fitting.next().unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_a_round_value_and_have_few_ticks() {
        let check = |end: f64, expected: &[f64]| {
            assert_eq!(Scale::new(end, 0.0, 1.0).ticks(), expected, "{end}");
        };
        check(42.0, &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        check(92.0, &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        check(60.0, &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        check(f64::NAN, &[0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
    }

    #[test]
    fn what_lies_beyond_is_drawn_at_the_end() {
        let scale = Scale::new(50.0, 100.0, 0.0);
        assert_eq!(
            (scale.at(25.0), scale.at(80.0), scale.at(-1.0)),
            (50.0, 0.0, 100.0)
        );
    }
}
