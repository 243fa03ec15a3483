//! When there are enough repeats of a measurement: the one rule for all that repeat.
//!
//! Precision is looked at after 10, 13, 17 ... repeats only, since looking often enough always
//! finds a lucky moment, and the next look must confirm it. It ends on precision, never on a
//! verdict: who stops as soon as a difference shows always finds one. The interval that is looked
//! at is that of [`stats::repeats_mean`].

use stats::{REPEATS_LOOKED_AT, RepeatsEnd};
use units::Duration;

/// Repeats before the first look at the precision.
const FIRST_LOOK: u32 = REPEATS_LOOKED_AT as u32;
/// From one look to the next the number of repeats grows by this.
const LOOK_FACTOR: f64 = 1.25;

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

impl RoundsRule {
    /// How the number of repeats is decided.
    #[must_use]
    pub const fn end(&self) -> RepeatsEnd {
        match self.rounds {
            Some(_) => RepeatsEnd::Fixed,
            None => RepeatsEnd::LookedAt,
        }
    }
}

/// A budget that is exceeded by no more than a tenth, or by 3 s, is kept.
const OVERRUN_SHARE: f64 = 0.1;
const OVERRUN_MIN: Duration = Duration::from_secs(3);

/// Whether one more round, as long as the mean of the `done` ones that took `elapsed`, keeps the
/// budget.
#[must_use]
pub fn fits_another(budget: Duration, done: u32, elapsed: Duration) -> bool {
    // Half of what is allowed: rounds differ, and cleaning up comes after the last.
    let most = budget + allowed_overrun(budget) / 2;
    elapsed < budget && elapsed + elapsed / u64::from(done.max(1)) <= most
}

/// What `least` rounds take altogether, where that is sure to exceed the budget after `done` rounds
/// in `elapsed`: even if the others took half as long.
#[must_use]
pub fn time_needed(
    budget: Duration,
    (done, elapsed): (f64, Duration),
    least: u32,
) -> Option<Duration> {
    let left = (f64::from(least) - done).max(0.0);
    let each = elapsed.mul_f64(1.0 / done.max(1e-9));
    let surely = elapsed + each.mul_f64(left / 2.0);
    (surely > most_within(budget)).then(|| elapsed + each.mul_f64(left))
}

/// When a budget is surely not kept any more.
#[must_use]
pub fn most_within(budget: Duration) -> Duration {
    budget + allowed_overrun(budget)
}

fn allowed_overrun(budget: Duration) -> Duration {
    budget.mul_f64(OVERRUN_SHARE).max(OVERRUN_MIN)
}

units::words! {
    /// Why it is over.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RoundsEnd {
        /// The repeats that were asked for, or the most, are done.
        Rounds = "rounds",
        /// The figures are as precise as wanted.
        Precise = "precise",
        /// Time is up.
        Budget = "budget",
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
