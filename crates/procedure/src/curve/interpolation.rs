//! The load between two measured points, with its interval.
//!
//! The chord is drawn in the reciprocal U = 1/R of the response time: that of one server with
//! random arrivals falls in a straight line with the load, R = S / (1 - X S), and other queues bend
//! little. In R itself they bend so much near saturation that a chord is off by more than the
//! noise.
//!
//! With X and U the load and reciprocal time of the ends, the load at level L on the chord is
//! X_lo + s (1/L - U_lo), s = (X_hi - X_lo) / (U_hi - U_lo), w = (1/L - U_lo) / (U_hi - U_lo). Its
//! variance is that of the influence series (1-w)((x - X_lo) - s(u - U_lo)) and
//! w((x - X_hi) - s(u - U_hi)), where u - U = -(y - R) / R^2, so that the covariance of load and
//! response time within a point is counted; the two points are independent.

use stats::{Estimate, NOT_NEGATIVE, long_run_variance, student_t};

use super::visit::BracketEnd;

/// The chord is valid up to this far beyond its ends.
pub const SHARE_MIN: f64 = -0.5;
/// As `SHARE_MIN`, at the upper end.
pub const SHARE_MAX: f64 = 1.5;

/// The end that contributes more to the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The end below the level.
    Below,
    /// The end above the level.
    Above,
}

/// The load at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interpolation {
    /// Operations per second.
    pub load: Estimate,
    /// Position of the level between the lower (0) and the upper (1) end.
    pub share: f64,
    /// The end to measure more precisely.
    pub larger: Term,
    /// Whether the ends differ by more than their noise and the level lies between them.
    pub is_sound: bool,
}

impl Interpolation {
    /// Widens the interval by `by` operations per second on both sides, but not beyond `ends`: a
    /// curve that bends still lies between its points.
    pub fn widen(&mut self, by: f64, ends: std::ops::RangeInclusive<f64>) {
        let Estimate { low, high, .. } = self.load;
        self.load.low = (low - by).max(ends.start().min(low));
        self.load.high = (high + by).min(ends.end().max(high));
    }
}

/// The standard error of an estimate, from its interval.
pub fn sigma(estimate: &Estimate) -> f64 {
    let half_width = 0.5 * (estimate.high - estimate.low);
    if half_width.is_finite() {
        half_width / 1.96
    } else {
        f64::INFINITY
    }
}

/// The chord between two ends, load over reciprocal time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chord {
    /// Slope of the load over the reciprocal time, in operations per second times nanoseconds.
    slope: f64,
    /// Position of the level between the lower (0) and the upper (1) end.
    pub share: f64,
}

impl Chord {
    /// The chord from `below` to `above`, and the position of `level` (nanoseconds) on it.
    pub fn new(below: &BracketEnd<'_>, above: &BracketEnd<'_>, level: f64) -> Self {
        let reciprocal = |end: &BracketEnd<'_>| 1.0 / end.time.value;
        let rise = reciprocal(above) - reciprocal(below);
        Self {
            slope: (above.load.value - below.load.value) / rise,
            share: (1.0 / level - reciprocal(below)) / rise,
        }
    }

    /// Derivative of the load with respect to the level (nanoseconds), along the chord.
    pub fn of_level(&self, level: f64) -> f64 {
        -self.slope / level.powi(2)
    }

    /// Derivative of the load at the level with respect to the time of an end, by its weight in the
    /// chord.
    pub fn of_time(&self, end: &BracketEnd<'_>, weight: f64) -> f64 {
        weight * self.slope / end.time.value.powi(2)
    }
}

/// The load at `level` (nanoseconds) on the chord from `below` to `above`.
pub fn interpolate(below: &BracketEnd<'_>, above: &BracketEnd<'_>, level: f64) -> Interpolation {
    let noise_of = |end: &BracketEnd<'_>| sigma(&end.time) / end.time.value.powi(2);
    let noise = noise_of(below).hypot(noise_of(above));
    let fall = 1.0 / below.time.value - 1.0 / above.time.value;
    let chord = Chord::new(below, above, level);
    let share = chord.share;
    let value = below.load.value + share * (above.load.value - below.load.value);
    let is_sound = !below.is_load_alone
        && !above.is_load_alone
        && fall > 2.0 * noise
        && (SHARE_MIN..=SHARE_MAX).contains(&share)
        && value.is_finite();
    let (of_below, freedom_below) = variance(below, 1.0 - share, &chord);
    let (of_above, freedom_above) = variance(above, share, &chord);
    let freedom = welch((of_below, freedom_below), (of_above, freedom_above));
    let half_width = student_t(0.975, freedom) * (of_below + of_above).sqrt();
    let larger = if of_below >= of_above {
        Term::Below
    } else {
        Term::Above
    };
    let samples = below.time.samples.min(above.time.samples);
    let load = Estimate {
        low: value - half_width,
        high: value + half_width,
        ..Estimate::exact(value, samples)
    }
    .within(&NOT_NEGATIVE);
    Interpolation {
        load,
        share,
        larger,
        is_sound: is_sound && half_width.is_finite(),
    }
}

fn variance(end: &BracketEnd<'_>, weight: f64, chord: &Chord) -> (f64, f64) {
    let Some(window) = end.window else {
        return (f64::INFINITY, 1.0);
    };
    let of_time = chord.of_time(end, weight);
    let series: Vec<f64> = window
        .throughput
        .iter()
        .zip(&window.response_influence)
        .map(|(x, y)| weight * (x - end.load.value) + of_time * (y - end.time.value))
        .collect();
    let run = long_run_variance(&series);
    (run.variance_of_mean, run.degrees_of_freedom)
}

/// Degrees of freedom of the sum of two independent variances, each with its own (B. L. Welch, "The
/// generalization of Student's problem when several different population variances are involved",
/// Biometrika 34 (1947), 28-35). The smaller of the two would be right if that variance were the
/// whole sum.
fn welch((first, freedom_first): (f64, f64), (second, freedom_second): (f64, f64)) -> f64 {
    let least = freedom_first.min(freedom_second);
    let whole = (first + second).powi(2);
    let freedom = whole / (first.powi(2) / freedom_first + second.powi(2) / freedom_second);
    if freedom.is_finite() {
        freedom.max(least)
    } else {
        least
    }
}

/// Distance between the chord and a parabola through the three points, in the middle of the chord:
/// the second divided difference of X(1/R) times the square of the chord's fall, divided by four.
pub fn curvature(below: &BracketEnd<'_>, above: &BracketEnd<'_>, third: &BracketEnd<'_>) -> f64 {
    let point = |end: &BracketEnd<'_>| (1.0 / end.time.value, end.load.value);
    let ((u1, x1), (u2, x2), (u3, x3)) = (point(below), point(above), point(third));
    let second = ((x3 - x2) / (u3 - u2) - (x2 - x1) / (u2 - u1)) / (u3 - u1);
    let bend = second.abs() * (u2 - u1).powi(2) / 4.0;
    if bend.is_finite() { bend } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::welch;

    #[test]
    fn two_equal_variances_have_the_freedom_of_both_and_one_alone_its_own() {
        assert!((welch((2.0, 8.0), (2.0, 8.0)) - 16.0).abs() < 1e-9);
        assert!((welch((2.0, 8.0), (0.0, 100.0)) - 8.0).abs() < 1e-9);
        assert!((welch((0.0, 8.0), (0.0, 9.0)) - 8.0).abs() < 1e-9);
        assert!((welch((f64::INFINITY, 1.0), (1.0, 9.0)) - 1.0).abs() < 1e-9);
    }
}
