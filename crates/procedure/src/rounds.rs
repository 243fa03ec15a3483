//! When a measurement has enough repeats: the common rule.
//!
//! Precision is checked only after 10, 13, 17 ... repeats, because checking often always finds a
//! lucky moment, and the next check must confirm it. It stops on precision, never on a verdict:
//! stopping as soon as a difference shows would always find one. The interval is that of
//! [`stats::repeats_mean`].

use stats::{REPEATS_LOOKED_AT, RepeatsEnd};
use units::Duration;

/// Repeats before the first check of precision.
const FIRST_LOOK: u32 = REPEATS_LOOKED_AT as u32;
/// Growth of the number of repeats from one check to the next.
const LOOK_FACTOR: f64 = 1.25;

/// When there are enough repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundsRule {
    /// Exact number; until precise if absent.
    pub rounds: Option<u32>,
    /// Minimum number, whatever time it takes.
    pub rounds_min: u32,
    /// Maximum number.
    pub rounds_max: u32,
    /// Requested relative half-width.
    pub precision: f64,
    /// No repeat starts after this time, except for the minimum number.
    pub budget: Duration,
}

impl RoundsRule {
    /// How the number of repeats is determined.
    pub const fn end(&self) -> RepeatsEnd {
        match self.rounds {
            Some(_) => RepeatsEnd::Fixed,
            None => RepeatsEnd::LookedAt,
        }
    }
}

/// A budget exceeded by at most 10 %, or by 3 s, counts as kept.
const OVERRUN_SHARE: f64 = 0.1;
const OVERRUN_MIN: Duration = Duration::from_secs(3);

/// Whether one more round, with the mean length of the `done` ones in `elapsed`, keeps the budget.
pub fn fits_another(budget: Duration, done: u32, elapsed: Duration) -> bool {
    // Half of the allowed overrun: rounds vary, and cleaning up follows the last.
    let most = budget + allowed_overrun(budget) / 2;
    elapsed < budget && elapsed + elapsed / u64::from(done.max(1)) <= most
}

/// Total time of `least` rounds, if that is certain to exceed the budget after `done` rounds in
/// `elapsed`, even if the others took half as long.
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

/// The time after which a budget is certainly exceeded.
pub fn most_within(budget: Duration) -> Duration {
    budget + allowed_overrun(budget)
}

fn allowed_overrun(budget: Duration) -> Duration {
    budget.mul_f64(OVERRUN_SHARE).max(OVERRUN_MIN)
}

units::words! {
    /// Why repeats ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RoundsEnd {
        /// The requested or maximum number is reached.
        Rounds = "rounds",
        /// The figures are as precise as requested.
        Precise = "precise",
        /// Time is up.
        Budget = "budget",
    }
}

/// The schedule of precision checks.
#[derive(Clone, Debug)]
pub struct Rounds {
    rule: RoundsRule,
    next_look: u32,
    /// Whether the last check found it precise.
    was_precise: bool,
}

impl Rounds {
    /// A schedule before the first repeat.
    pub fn new(rule: RoundsRule) -> Self {
        Self {
            rule,
            next_look: FIRST_LOOK.max(rule.rounds_min),
            was_precise: false,
        }
    }

    /// The rule.
    pub const fn rule(&self) -> &RoundsRule {
        &self.rule
    }

    /// The number of repeats at the next precision check, or at the end if known.
    pub fn next_look(&self) -> u32 {
        self.rule.rounds.unwrap_or(self.next_look).max(1)
    }

    /// Whether to stop after `done` repeats in `elapsed`. `is_precise` is called only at a check.
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
