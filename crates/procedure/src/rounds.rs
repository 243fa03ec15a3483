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
