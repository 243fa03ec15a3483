//! How many replicates an open comparison would need.

use results::{StudyComparison, StudyScale, Unit};

/// What is added to the interval's own quantile for a power of four in five: 0.84 of a standard
/// error, where the quantile of several comparisons is 2.4 to 3.4 of them (Lachin, "Introduction to
/// sample size determination and power analysis for clinical trials", 1981, formula 1).
const POWER_PART: f64 = 0.35;
/// More than this nobody makes.
const MOST: f64 = 10_000.0;

/// How many replicates would show a difference that is as large as it looks, in four of five
/// studies, from a comparison over `rounds` of them. `None` where the difference does not look to
/// be of interest, or takes more than anybody would make.
///
/// An interval narrows with the square root of the number of replicates, and must end `margin`
/// before the value.
#[must_use]
pub fn replicates_needed(it: &StudyComparison, margin: f64, rounds: u32) -> Option<u32> {
    let on_scale = |value: f64| match it.scale {
        StudyScale::Ratio => value.ln(),
        StudyScale::Difference => value,
    };
    let margin = match (it.scale, it.unit) {
        (StudyScale::Ratio, _) => margin.ln_1p(),
        (StudyScale::Difference, Unit::Share) => margin,
        (StudyScale::Difference, _) => 0.0,
    };
    let value = on_scale(it.value.value);
    let half = (on_scale(it.value.high) - on_scale(it.value.low)) / 2.0;
    let beyond = value.abs() - margin;
    if !half.is_finite() || beyond <= 0.0 {
        return None;
    }
    let factor = ((1.0 + POWER_PART) * half / beyond).powi(2);
    let needed = f64::from(rounds) * factor.max(1.0);
    (needed <= MOST).then_some(needed.ceil() as u32)
}
