//! Axes of the curve: loads from zero in equal steps, response times in steps of 1, 2 and 5.

/// The axis of response times spans at least this factor.
const SPAN_MIN: f64 = 4.0;
/// More decades than this are drawn as so many.
const DECADES_MAX: i32 = 40;

/// A logarithmic axis upwards, cut into rows that are counted from below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseAxis {
    low: f64,
    high: f64,
    rows: u16,
}

impl ResponseAxis {
    /// An axis that shows all these values, if there are any, with round ends.
    pub(crate) fn over(values: impl Iterator<Item = f64>, rows: u16) -> Option<Self> {
        let drawable = values.filter(|value| is_drawable(*value));
        let (low, high) = drawable.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high || rows < 2 {
            return None;
        }
        let high = high.max(low * SPAN_MIN);
        let steps: Vec<f64> = steps(low, high).collect();
        let below = steps.iter().rev().find(|step| **step <= low * 0.97);
        let above = steps.iter().find(|step| **step >= high * 1.03);
        Some(Self {
            low: below.copied().unwrap_or(low / 2.0).log10(),
            high: above.copied().unwrap_or(high * 2.0).log10(),
            rows,
        })
    }

    /// The ends, as logarithms.
    pub(crate) fn bounds(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The row of a value, counted from below.
    pub(crate) fn row(&self, value: f64) -> Option<u16> {
        if !is_drawable(value) {
            return None;
        }
        let share = (value.log10() - self.low) / (self.high - self.low);
        // A round end may miss the axis by the last bit.
        (-1e-9..=1.0 + 1e-9)
            .contains(&share)
            .then(|| (share.clamp(0.0, 1.0) * f64::from(self.rows - 1)).round() as u16)
    }

    /// Values in steps of 1, 2 and 5, or powers of ten where those would be too close.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let inside = |value: &f64| self.row(*value).is_some();
        let all: Vec<f64> = steps(10_f64.powf(self.low), 10_f64.powf(self.high))
            .filter(inside)
            .collect();
        if all.len() * 2 <= usize::from(self.rows) {
            return all;
        }
        let is_power = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-9;
        let powers: Vec<f64> = all.iter().copied().filter(is_power).collect();
        let every = powers
            .len()
            .div_ceil((usize::from(self.rows) / 2).max(1))
            .max(1);
        powers.into_iter().step_by(every).collect()
    }
}

/// Steps of 1, 2 and 5 around a range, one beyond each end.
fn steps(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let first = low.log10().floor() as i32 - 1;
    let last = (high.log10().ceil() as i32 + 1).min(first + DECADES_MAX);
    (first..=last).flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| digit * power(exponent)))
}

/// Exact powers of ten as far as a floating-point number has them.
fn power(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::MAX)
}

/// A linear axis from zero, cut into columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadAxis {
    high: f64,
    columns: u16,
}

impl LoadAxis {
    /// An axis that shows all these values, if there are any.
    pub(crate) fn over(values: impl Iterator<Item = f64>, columns: u16) -> Option<Self> {
        let highest = values
            .filter(|value| is_drawable(*value))
            .fold(0.0, f64::max);
        if highest <= 0.0 || columns < 2 || highest > f64::MAX / 2.0 {
            return None;
        }
        Some(Self {
            high: highest * 1.04,
            columns,
        })
    }

    /// The highest load on the axis.
    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// The column of a load.
    pub(crate) fn column(&self, load: f64) -> Option<u16> {
        let share = load / self.high;
        (0.0..=1.0)
            .contains(&share)
            .then(|| (share * f64::from(self.columns - 1)).round() as u16)
    }

    /// The column of a load, or the nearest end.
    pub(crate) fn nearest(&self, load: f64) -> Option<u16> {
        if load.is_nan() {
            return None;
        }
        self.column(load.clamp(0.0, self.high))
    }

    /// Equal steps of 1, 2 or 5, no more than have room for names of so many columns.
    pub(crate) fn ticks(&self, name_columns: u16) -> Vec<f64> {
        let most = f64::from((self.columns / name_columns).max(1));
        let Some(step) = steps(self.high / most, self.high).find(|step| self.high / step <= most)
        else {
            return Vec::new();
        };
        (0..=(self.high / step) as u32)
            .map(|count| f64::from(count) * step)
            .collect()
    }
}

/// Whether a value has a place on a logarithmic axis. Those at the ends of the number range are
/// left out: nothing could be drawn beside them.
pub(crate) fn is_drawable(value: f64) -> bool {
    (1e-30..1e30).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_times_go_in_steps_of_one_two_and_five() {
        let axis = ResponseAxis::over([3.1e6, 9e7].into_iter(), 40).expect("an axis");
        assert_eq!(axis.ticks(), [2e6, 5e6, 1e7, 2e7, 5e7, 1e8]);
        assert_eq!((axis.row(2e6), axis.row(1e8)), (Some(0), Some(39)));
    }

    #[test]
    fn few_rows_have_powers_of_ten_alone() {
        let axis = ResponseAxis::over([3.1e6, 9e8].into_iter(), 6).expect("an axis");
        assert_eq!(axis.ticks(), [1e7, 1e8, 1e9]);
    }

    #[test]
    fn loads_go_in_equal_steps_from_zero() {
        let axis = LoadAxis::over([120.0, 4_700.0].into_iter(), 60).expect("an axis");
        let ticks: Vec<f64> = (0..=4).map(|count| f64::from(count) * 1_000.0).collect();
        assert_eq!(axis.ticks(10), ticks);
    }

    #[test]
    fn what_is_no_number_has_no_place() {
        let odd = [f64::NAN, f64::INFINITY, 0.0, -1.0];
        assert!(ResponseAxis::over(odd.into_iter(), 10).is_none());
        assert!(LoadAxis::over(odd.into_iter(), 10).is_none());
        let axis = LoadAxis::over([10.0].into_iter(), 10).expect("an axis");
        assert_eq!(axis.nearest(f64::INFINITY), Some(9));
        assert_eq!(axis.nearest(f64::NAN), None);
    }
}
