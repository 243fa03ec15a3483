//! How many repeats an undecided comparison would need.

use results::{StudyComparison, StudyScale, Unit};
use stats::student_t;

/// The standard normal quantile of .8, for 80 % power.
const POWER: f64 = 0.842;
/// Maximum probability that any interval of a study misses the true value.
const MISSED: f64 = 0.05;
/// Maximum probability of a false claim per family of comparisons: a study with several factors has
/// three families.
const CLAIMED: f64 = 0.05 / 3.0;
/// Larger numbers of repeats are impractical.
const MOST: u32 = 10_000;

/// How many repeats would show a difference of the observed size with 80 % power or more, from a
/// comparison over `rounds` of them that is one of `comparisons`. `None` if the difference seems
/// irrelevant, or would take too many.
///
/// With `n` repeats a mean of standard deviation `s` is shown to be beyond a margin when it is `t s
/// / sqrt(n)` beyond it, `t` being Student's quantile for all comparisons together (Bonferroni); in
/// four of five studies the mean lies at most .842 standard errors short of the true one.
pub fn replicates_needed(
    it: &StudyComparison,
    margin: f64,
    (rounds, comparisons): (u32, usize),
) -> Option<u32> {
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
    if !half.is_finite() || beyond <= 0.0 || rounds < 2 {
        return None;
    }
    let quantile = |level: f64, replicates: u32| {
        let share = 1.0 - level / (2.0 * comparisons.max(1) as f64);
        student_t(share, f64::from(replicates - 1))
    };
    let deviation = half * f64::from(rounds).sqrt() / quantile(MISSED, rounds);
    let shows = |replicates: u32| {
        let error = deviation / f64::from(replicates).sqrt();
        (quantile(CLAIMED, replicates) + POWER) * error <= beyond
    };
    if !shows(MOST) {
        return None;
    }
    let (mut few, mut enough) = (rounds, MOST);
    while enough - few > 1 {
        let middle = few.midpoint(enough);
        match shows(middle) {
            true => enough = middle,
            false => few = middle,
        }
    }
    Some(enough)
}
