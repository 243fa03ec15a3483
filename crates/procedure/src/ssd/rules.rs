//! Two rules for steady state: the letter of SNIA SSS PTS 2.0.2, and a trend with its error.
//!
//! The standard examines five rounds: their range may be 20 % of their mean, and the least-squares
//! line may change by 10 %. It ignores errors, so the result depends on chance if rounds are noisy,
//! and it misses slow changes outside its window. docs/ssd.md has the rates.
//!
//! The trend is that of the last half of all rounds: a growing window shows slow changes that five
//! rounds hide. Its error is the scatter of the rounds around the line, widened for correlation
//! between neighbours, so it does not rely on the error estimates of single rounds.

use results::{PtsWindow, RoundTrend};
use stats::{DriftVerdict, repeats_mean, student_t};

/// Number of rounds in a window of the standard.
pub(super) const WINDOW: u32 = 5;
/// Minimum number of rounds for a trend: five cannot distinguish a decay of 2 % per round from
/// noise of 2 %.
const TREND_MIN: usize = 8;
/// Largest range that passes, divided by the mean.
const RANGE_MAX: f64 = 0.20;
/// Largest change of a window's line, divided by the mean.
const EXCURSION_MAX: f64 = 0.10;
/// Smaller changes are irrelevant, however significant: as in `stats::Drift`.
const RELEVANT: f64 = 0.02;
/// A change is significant at the two-sided 1 % level ...
const CERTAIN: f64 = 0.995;
/// ... and excluded at the one-sided 5 % level.
const EXCLUDED: f64 = 0.95;
/// A correlation above this is a trend, which the line accounts for.
const CORRELATION_MAX: f64 = 0.9;
/// Minimum degrees of freedom, however strong the correlation of neighbours.
const FREEDOM_MIN: f64 = 3.0;

/// The window of the standard over the last five of `values` spaced `stride` rounds apart; `None`
/// if there are too few.
pub fn pts_window(values: &[f64], stride: u32) -> Option<PtsWindow> {
    let stride = stride.max(1) as usize;
    let mut taken: Vec<f64> = values
        .iter()
        .rev()
        .step_by(stride)
        .take(5)
        .copied()
        .collect();
    if taken.len() < WINDOW as usize {
        return None;
    }
    taken.reverse();
    let mean = taken.iter().sum::<f64>() / taken.len() as f64;
    let largest = taken.iter().copied().fold(f64::MIN, f64::max);
    let smallest = taken.iter().copied().fold(f64::MAX, f64::min);
    let line = RoundLine::through(&taken);
    let (range, excursion) = ((largest - smallest) / mean, line.change() / mean);
    let last_round = values.len() as u32;
    Some(PtsWindow {
        first_round: last_round - (WINDOW - 1) * stride as u32,
        last_round,
        mean,
        range,
        excursion,
        is_met: range <= RANGE_MAX && excursion.abs() <= EXCURSION_MAX,
    })
}

/// The trend over the last half of the rounds, at least eight; `None` if there are too few. Steady
/// means that a change of more than `limit` of the mean is excluded.
pub fn round_trend(rounds: &[f64], limit: f64) -> Option<RoundTrend> {
    let len = (rounds.len() / 2).max(TREND_MIN);
    let window = &rounds[rounds.len().checked_sub(len)?..];
    let line = RoundLine::through(window);
    let mean = repeats_mean(window).filter(|mean| mean.value > 0.0)?;
    let (scatter, freedom) = line.scatter(window);
    let standard_error = scatter / mean.value;
    let total = line.change() / mean.value;
    let bound = total.abs() + student_t(EXCLUDED, freedom) * standard_error;
    let is_certain = total.abs() > student_t(CERTAIN, freedom) * standard_error;
    let verdict = if is_certain && total.abs() > RELEVANT {
        DriftVerdict::Drifting
    } else if bound <= limit {
        DriftVerdict::Steady
    } else {
        DriftVerdict::Undecided
    };
    Some(RoundTrend {
        first_round: (rounds.len() - len + 1) as u32,
        mean,
        total,
        standard_error,
        bound,
        verdict,
    })
}

/// A least-squares line through equally spaced values.
struct RoundLine {
    centre: f64,
    mean: f64,
    /// Slope per step.
    slope: f64,
    /// Sum of squared distances from the middle.
    spread: f64,
    steps: f64,
}

impl RoundLine {
    fn through(values: &[f64]) -> Self {
        let len = values.len() as f64;
        let centre = (len - 1.0) / 2.0;
        let mean = values.iter().sum::<f64>() / len;
        let at = |place: usize| place as f64 - centre;
        let places = values.iter().enumerate();
        let products: f64 = places.map(|(place, it)| at(place) * (it - mean)).sum();
        let spread: f64 = (0..values.len()).map(|place| at(place).powi(2)).sum();
        Self {
            centre,
            mean,
            slope: products / spread,
            spread,
            steps: len - 1.0,
        }
    }

    /// Change from the first value to the last.
    fn change(&self) -> f64 {
        self.slope * self.steps
    }

    /// Standard error of the change from the residuals, and its degrees of freedom. Correlation
    /// between neighbours is treated as in an autoregressive series; its estimate from residuals of
    /// a line is too low by about `(2 + 4 r) / n`.
    fn scatter(&self, values: &[f64]) -> (f64, f64) {
        let on_line = |place: usize| self.mean + self.slope * (place as f64 - self.centre);
        let off = values.iter().enumerate();
        let off: Vec<f64> = off.map(|(place, it)| it - on_line(place)).collect();
        let squares: f64 = off.iter().map(|it| it * it).sum();
        let freedom = values.len() as f64 - 2.0;
        let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let found = if squares > 0.0 {
            products / squares
        } else {
            0.0
        };
        let most = found + (2.0 + 4.0 * found.max(0.0)) / off.len() as f64;
        let correlation = most.clamp(0.0, CORRELATION_MAX);
        let dependence = (1.0 + correlation) / (1.0 - correlation);
        let error = (squares / freedom * dependence / self.spread).sqrt() * self.steps;
        (error, (freedom / dependence).max(FREEDOM_MIN))
    }
}
