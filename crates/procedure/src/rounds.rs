//! When there are enough repeats of a measurement, and the interval of their mean.
//!
//! Repeats that follow each other resemble each other (heat, caches, cleaning): their lag-1
//! correlation widens the interval, as that of an autoregressive series would. A few repeats hardly
//! show how far they resemble each other, so that the upper limit of the correlation counts.
//!
//! Precision is looked at after 10, 13, 17 ... repeats only, since looking often enough always
//! finds a lucky moment, and the next look must confirm it. It ends on precision, never on a
//! verdict: who stops as soon as a difference shows always finds one.

use stats::{CONFIDENCE, Estimate, student_t};
use units::Duration;

/// Repeats before the first look at the precision.
const FIRST_LOOK: u32 = 10;
/// From so many repeats on their number may have been chosen by a look.
pub const ROUNDS_LOOKED_AT: usize = FIRST_LOOK as usize;
/// From one look to the next the number of repeats grows by this.
const LOOK_FACTOR: f64 = 1.25;
/// A correlation above this is a drift, which is told by itself.
const CORRELATION_MAX: f64 = 0.9;
/// Fewer repeats say nothing of a correlation.
const CORRELATED_MIN: usize = 5;
/// Standard errors by which a correlation may be larger than it was found, at its one-sided 90 %
/// limit: a look picks the series in which it came out small ...
const CAUTION: f64 = 1.28;
/// ... and a number of repeats that was fixed before does not.
const CAUTION_FIXED: f64 = 0.5;

/// When there are enough repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundsRule {
    /// Exactly so many; until precise when absent.
    pub rounds: Option<u32>,
    /// The fewest, whatever they take.
    pub rounds_min: u32,
    /// The most.
    pub rounds_max: u32,
    /// Relative half-width wanted.
    pub precision: f64,
    /// None begins after it, once the fewest are done.
    pub budget: Duration,
}

/// Why it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundsEnd {
    /// The repeats that were asked for, or the most, are done.
    Rounds,
    /// The figures are as precise as wanted.
    Precise,
    /// Time is up.
    Budget,
}

impl RoundsEnd {
    /// As in the JSON form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Precise => "precise",
            Self::Budget => "budget",
        }
    }
}

/// The schedule of looks.
#[derive(Clone, Debug)]
pub struct Rounds {
    rule: RoundsRule,
    next_look: u32,
    /// Whether the last look found it precise.
    was_precise: bool,
}

impl Rounds {
    /// Nothing is done yet.
    #[must_use]
    pub fn new(rule: RoundsRule) -> Self {
        Self {
            rule,
            next_look: FIRST_LOOK.max(rule.rounds_min),
            was_precise: false,
        }
    }

    /// What was asked for.
    #[must_use]
    pub const fn rule(&self) -> &RoundsRule {
        &self.rule
    }

    /// When precision is looked at next, or the end if it is known.
    #[must_use]
    pub fn next_look(&self) -> u32 {
        self.rule.rounds.unwrap_or(self.next_look).max(1)
    }

    /// Whether it is over after `done` repeats in `elapsed`; `is_precise` is asked at a look.
    pub fn end(
        &mut self,
        done: u32,
        elapsed: Duration,
        is_precise: impl FnOnce() -> bool,
    ) -> Option<RoundsEnd> {
        if done >= self.rule.rounds.unwrap_or(self.rule.rounds_max).max(1) {
            return Some(RoundsEnd::Rounds);
        }
        if self.rule.rounds.is_some() || done < self.rule.rounds_min {
            return None;
        }
        if done >= self.next_look {
            self.next_look = ((f64::from(done) * LOOK_FACTOR).ceil() as u32).max(done + 2);
            let is_precise = is_precise();
            if is_precise && self.was_precise {
                return Some(RoundsEnd::Precise);
            }
            self.was_precise = is_precise;
        }
        (elapsed >= self.rule.budget).then_some(RoundsEnd::Budget)
    }
}

/// The mean of repeats that may resemble each other; `None` for fewer than two, or for a value that
/// is not finite.
#[must_use]
pub fn rounds_mean(values: &[f64]) -> Option<Estimate> {
    if values.len() < 2 || !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    let correlation = lag_one(values, mean, squares);
    let dependence = (1.0 + correlation) / (1.0 - correlation);
    let error = (squares / (count - 1.0) / count * dependence).sqrt();
    let freedom = ((count - 1.0) / dependence).max(1.0);
    let half = student_t(0.5 + CONFIDENCE / 2.0, freedom) * error;
    Some(Estimate {
        low: mean - half,
        high: mean + half,
        ..Estimate::exact(mean, count)
    })
}

/// The lag-1 correlation that repeats may have, when it is positive. Its estimate is too low by
/// about `(1 + 3 r) / n` (Kendall 1954) and has a standard error of about `1 / sqrt(n)`.
fn lag_one(values: &[f64], mean: f64, squares: f64) -> f64 {
    if values.len() < CORRELATED_MIN || squares <= 0.0 {
        return 0.0;
    }
    let count = values.len() as f64;
    let pairs = values.windows(2);
    let products: f64 = pairs.map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let found = products / squares;
    let caution = if values.len() < FIRST_LOOK as usize {
        CAUTION_FIXED
    } else {
        CAUTION
    };
    let most = found + (1.0 + 3.0 * found.max(0.0)) / count + caution / count.sqrt();
    most.clamp(0.0, CORRELATION_MAX)
}
