//! What a change over a trial looks like: a line, or a step from one level to another.
//!
//! Looks at the whole trial, warm-up included. A step down is a warm-up that has ended, or a cache
//! that is full at last; a step up while writing is what a spare area or a cache does that is used
//! up. Single slots far off are kept from deciding: a stall is no change of level.

use crate::variance::{LongRun, long_run_variance, mean, student_t};

/// Fewest slots in which a change is looked for.
const SLOTS_MIN: usize = 32;
/// A level lasts at least one part in this many of the trial, and three slots.
const PART_MIN: usize = 50;
const LEVEL_MIN: usize = 3;
/// Slots farther than this many standard deviations from the median are taken as that far off.
pub(crate) const FAR: f64 = 5.0;
/// A normal distribution's standard deviation over its median absolute deviation.
const DEVIATIONS: f64 = 1.4826;
/// Two-sided 0.1 % of a line.
const LINE: f64 = 0.9995;
/// 4.5 standard errors: the largest of all steps that noise shows exceeds it once in 2000.
const STEP: f64 = 1.0 - 3.4e-6;
/// A step is distinguished from a line when it takes away this much more, in variances: its place
/// was chosen among many, which alone takes away about six.
const CHOICE: f64 = 16.0;
/// ... and when it goes down within the first third, this much: times that fall at first and then
/// stay are a warm-up, and neither a line nor quite a step.
const CHOICE_EARLY: f64 = 6.0;
const EARLY_PART: usize = 3;
/// Smaller changes are of no practical interest, however significant.
const RELEVANT_LINE: f64 = 0.02;
pub(crate) const RELEVANT_STEP: f64 = 0.05;

/// How a level changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SeriesChange {
    /// In a straight line.
    Line {
        /// From the first slot to the last, relative to the mean.
        total: f64,
        /// Its standard error.
        error: f64,
    },
    /// At once.
    Step {
        /// Slots before it.
        at: usize,
    },
}

/// The change in a series of slot means, if there is one.
pub(crate) fn change(series: &[f64]) -> Option<SeriesChange> {
    if series.len() < SLOTS_MIN {
        return None;
    }
    let clipped = clipped(series);
    let centre = mean(&clipped);
    if centre <= 0.0 {
        return None;
    }
    let (line, step) = (
        FittedLine::of(&clipped, centre),
        LevelStep::of(&clipped, centre)?,
    );
    let (before, after) = clipped.split_at(step.at);
    let (before, after) = (mean(before), mean(after));
    let of_line = residuals(&clipped, |i| centre + line.slope * line.place(i));
    let of_step = residuals(&clipped, |i| if i < step.at { before } else { after });
    let is_change =
        of_line.is_exceeded(line.explained, LINE) || of_step.is_exceeded(step.explained, STEP);
    if !is_change {
        return None;
    }
    let is_start = after < before && step.at <= clipped.len() / EARLY_PART;
    let choice = if is_start { CHOICE_EARLY } else { CHOICE };
    if step.explained - choice * of_step.variance > line.explained {
        let is_relevant = (after - before).abs() > RELEVANT_STEP * before.min(after);
        return is_relevant.then_some(SeriesChange::Step { at: step.at });
    }
    let total = line.slope / centre;
    let error = (of_line.variance / line.spread).sqrt() / centre;
    (total.abs() > RELEVANT_LINE).then_some(SeriesChange::Line { total, error })
}

/// The variance of what a model leaves.
struct Residuals {
    variance: f64,
    freedom: f64,
}

impl Residuals {
    fn is_exceeded(&self, explained: f64, p: f64) -> bool {
        explained.sqrt() > student_t(p, self.freedom) * self.variance.sqrt()
    }
}

fn residuals(series: &[f64], model: impl Fn(usize) -> f64) -> Residuals {
    let left: Vec<f64> = (0..series.len()).map(|i| series[i] - model(i)).collect();
    let LongRun {
        variance_of_mean,
        degrees_of_freedom,
        ..
    } = long_run_variance(&left);
    Residuals {
        variance: variance_of_mean * series.len() as f64,
        freedom: degrees_of_freedom,
    }
}

/// A straight line by least squares.
struct FittedLine {
    len: f64,
    slope: f64,
    spread: f64,
    /// Sum of squares that it takes away.
    explained: f64,
}

impl FittedLine {
    fn of(series: &[f64], centre: f64) -> Self {
        let mut line = Self {
            len: series.len() as f64,
            slope: 0.0,
            spread: 0.0,
            explained: 0.0,
        };
        let places = || (0..series.len()).map(|i| line.place(i));
        let spread: f64 = places().map(|place| place * place).sum();
        let products = places().zip(series).map(|(place, x)| place * (x - centre));
        let slope = products.sum::<f64>() / spread;
        line.explained = slope * slope * spread;
        (line.slope, line.spread) = (slope, spread);
        line
    }

    /// From -1/2 at the start to 1/2 at the end.
    fn place(&self, slot: usize) -> f64 {
        (slot as f64 + 0.5) / self.len - 0.5
    }
}

/// The step that takes away most.
struct LevelStep {
    at: usize,
    explained: f64,
}

impl LevelStep {
    fn of(series: &[f64], centre: f64) -> Option<Self> {
        let len = series.len();
        let least = (len / PART_MIN).max(LEVEL_MIN);
        let mut sum = 0.0;
        let steps = series.iter().enumerate().map(|(i, x)| {
            sum += x - centre;
            let at = i + 1;
            let weight = len as f64 / (at as f64 * (len - at).max(1) as f64);
            let explained = sum * sum * weight;
            Self { at, explained }
        });
        steps
            .filter(|step| (least..=len - least).contains(&step.at))
            .max_by(|a, b| a.explained.total_cmp(&b.explained))
    }
}

/// The series, of which single slots far off are taken as less far.
pub(crate) fn clipped(series: &[f64]) -> Vec<f64> {
    let median = median_of(series.to_vec());
    let far = FAR * robust_deviation(series, median);
    if far <= 0.0 {
        return series.to_vec();
    }
    let nearest = |x: &f64| x.clamp(median - far, median + far);
    series.iter().map(nearest).collect()
}

/// The standard deviation, as most of the series tells it.
pub(crate) fn robust_deviation(series: &[f64], median: f64) -> f64 {
    DEVIATIONS * median_of(series.iter().map(|x| (x - median).abs()).collect())
}

fn median_of(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(level: impl Fn(f64) -> f64) -> Option<SeriesChange> {
        let noise = |i: usize| f64::from((i as u32).wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
        let series: Vec<f64> = (0..300)
            .map(|i| level(i as f64 / 300.0) * (0.9 + 0.2 * noise(i)))
            .collect();
        change(&series)
    }

    fn step_at(level: impl Fn(f64) -> f64) -> usize {
        match found(level) {
            Some(SeriesChange::Step { at }) => at,
            other => panic!("a step was expected: {other:?}"),
        }
    }

    #[test]
    fn lines_are_told_from_steps_and_both_from_levels() {
        assert_eq!(found(|_| 1.0), None);
        assert_eq!(found(|u| 1.0 + 0.005 * u), None);
        let line = found(|u| 1.0 + 0.3 * u);
        assert!(
            matches!(line, Some(SeriesChange::Line { total, .. })
            if (0.2..0.3).contains(&total)),
            "{line:?}"
        );
        let line = found(|u| 1.0 - 0.1 * u);
        assert!(matches!(line, Some(SeriesChange::Line { total, .. }) if total < -0.05));
        assert_eq!(step_at(|u| if u < 0.5 { 1.0 } else { 2.0 }), 150);
        assert_eq!(step_at(|u| if u < 0.1 { 3.0 } else { 1.0 }), 30);
        assert_eq!(step_at(|u| if u < 0.9 { 1.0 } else { 1.3 }), 270);
    }

    #[test]
    fn a_decay_is_a_step_and_a_stall_is_nothing() {
        let at = step_at(|u| 1.0 + 2.0 * (-u / 0.05).exp());
        assert!((10..60).contains(&at), "{at}");
        assert_eq!(
            found(|u| if (0.3..0.304).contains(&u) { 50.0 } else { 1.0 }),
            None
        );
    }

    #[test]
    fn constants_and_zeros_do_not_change() {
        assert_eq!(change(&[1.0 / 3.0; 100]), None);
        assert_eq!(change(&[0.0; 100]), None);
        assert_eq!(change(&[1.0; 10]), None);
    }
}
