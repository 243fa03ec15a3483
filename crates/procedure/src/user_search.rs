//! How many users meet a limit of the response time?
//!
//! Scouts double the number of users, or take four times as many far from the limit, until it is
//! missed; then they halve the gap. What they find
//! is not cited: fresh trials of full length on both sides say how far up it surely holds, and
//! from where on it surely does not.

use results::{UserSearchResult, UserSearchStep};
use stats::Estimate;

/// Scouts stop when the gap is this share of the users.
const SCOUT_GAP: f64 = 0.10;
/// Fresh trials lie this share of the users apart, and further with each that leaves doubt.
const GAP: f64 = 0.05;
/// A scout whose percentile is below this share of the limit is far from it.
const FAR: f64 = 0.3;
/// The most fresh trials.
const FINALS_MAX: usize = 12;

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// Which percentile, 0 to 1.
    pub share: f64,
    /// What it must not exceed, nanoseconds.
    pub limit_ns: u64,
    /// How many users begin.
    pub users_first: u32,
    /// The most users that are tried.
    pub users_max: u32,
}

/// The next trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchPlan {
    /// How many users.
    pub users: u32,
    /// Whether it is a fresh trial of full length.
    pub is_final: bool,
    /// Draws it afresh.
    pub salt: u64,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// Measure this.
    Measure(SearchPlan),
    /// The answer is found, as well as it can be.
    Finish,
}

/// What a trial says about the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Meets,
    Misses,
    Unclear,
}

impl Outcome {
    const fn name(self) -> &'static str {
        match self {
            Self::Meets => "meets",
            Self::Misses => "misses",
            Self::Unclear => "unclear",
        }
    }
}

/// The search, as a state machine that is told what was measured.
#[derive(Clone, Debug)]
pub struct UserSearch {
    options: SearchOptions,
    steps: Vec<UserSearchStep>,
    /// The most users with which a scout met the limit, and the fewest with which one missed it.
    low: u32,
    high: Option<u32>,
    /// The same of fresh trials.
    meets: u32,
    misses: Option<u32>,
}

impl UserSearch {
    /// A search that has tried nothing.
    #[must_use]
    pub fn new(options: SearchOptions) -> Self {
        assert!(
            (1..=options.users_max).contains(&options.users_first),
            "a search begins with users, and no more than there may be"
        );
        Self {
            options,
            steps: Vec::new(),
            low: 0,
            high: None,
            meets: 0,
            misses: None,
        }
    }

    /// What to measure next.
    #[must_use]
    pub fn next_step(&self) -> SearchStep {
        let plan = |users, is_final| {
            SearchStep::Measure(SearchPlan {
                users,
                is_final,
                salt: self.steps.len() as u64 + 1,
            })
        };
        if let Some(users) = self.next_scout() {
            return plan(users, false);
        }
        match self.next_final() {
            Some(users) => plan(users, true),
            None => SearchStep::Finish,
        }
    }

    /// Take note of a trial: the percentile with its interval, nanoseconds.
    pub fn record(&mut self, plan: &SearchPlan, percentile: Estimate) {
        let limit = self.options.limit_ns as f64;
        let outcome = if percentile.high <= limit {
            Outcome::Meets
        } else if percentile.low > limit {
            Outcome::Misses
        } else {
            Outcome::Unclear
        };
        self.steps.push(UserSearchStep {
            users: plan.users,
            is_final: plan.is_final,
            percentile,
            outcome: outcome.name().into(),
        });
        if plan.is_final {
            match outcome {
                Outcome::Meets => self.meets = self.meets.max(plan.users),
                Outcome::Misses => {
                    let known = self.misses.unwrap_or(u32::MAX);
                    self.misses = Some(known.min(plan.users));
                }
                Outcome::Unclear => {}
            }
        } else if percentile.value <= limit {
            self.low = self.low.max(plan.users);
        } else {
            self.high = Some(self.high.unwrap_or(u32::MAX).min(plan.users));
        }
    }

    /// What was found so far.
    #[must_use]
    pub fn result(&self) -> UserSearchResult {
        // Chance may let more users meet the limit than others miss it with: the safe side counts.
        let meets = match self.misses {
            Some(misses) if misses <= self.meets => self.largest_below(misses),
            _ => self.meets,
        };
        UserSearchResult {
            share: self.options.share,
            limit_ns: self.options.limit_ns,
            meets,
            misses: self.misses,
            steps: self.steps.clone(),
        }
    }

    fn largest_below(&self, users: u32) -> u32 {
        let met = self.finals().filter(|step| step.outcome == "meets");
        let below = met.map(|step| step.users).filter(|&met| met < users);
        below.max().unwrap_or(0)
    }

    fn finals(&self) -> impl Iterator<Item = &UserSearchStep> {
        self.steps.iter().filter(|step| step.is_final)
    }

    fn next_scout(&self) -> Option<u32> {
        let SearchOptions {
            users_first,
            users_max,
            ..
        } = self.options;
        match self.high {
            None if self.low == 0 => Some(users_first),
            None if self.low >= users_max => None,
            None => Some(self.low.saturating_mul(self.stride()).min(users_max)),
            // What chance turned round is left to the fresh trials.
            Some(high) if high <= self.low => None,
            Some(high) => {
                let gap = high - self.low;
                let fine = (f64::from(self.low) * SCOUT_GAP).max(1.0);
                (f64::from(gap) > fine).then_some(self.low + gap / 2)
            }
        }
    }

    /// How many times more users the next scout has.
    fn stride(&self) -> u32 {
        let limit = self.options.limit_ns as f64;
        let last = self.steps.last();
        if last.is_some_and(|step| step.percentile.value < FAR * limit) {
            4
        } else {
            2
        }
    }

    /// The next fresh trial: downwards from the scouts' answer until one meets the limit, then
    /// upwards until one misses it.
    fn next_final(&self) -> Option<u32> {
        if self.finals().count() >= FINALS_MAX {
            return None;
        }
        let tried = |users: u32| self.finals().any(|step| step.users == users);
        let gap = (f64::from(self.low) * GAP).ceil().max(1.0) as u32;
        if self.meets == 0 && self.low > 0 {
            let steps = (0..FINALS_MAX as u32).map(|step| step * (step + 1) / 2 * gap);
            let mut down = steps.map(|below| self.low.saturating_sub(below));
            let users = down.find(|&users| !tried(users));
            if let Some(users) = users.filter(|&users| users > 0) {
                return Some(users);
            }
        }
        if self.misses.is_none() {
            let from = self.high?.max(self.low);
            let steps = (0..FINALS_MAX as u32).map(|step| step * (step + 1) / 2 * gap);
            let mut up = steps.map(|above| from.saturating_add(above));
            let users = up.find(|&users| !tried(users));
            return users.filter(|&users| users <= self.options.users_max);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(value: f64, half: f64) -> Estimate {
        Estimate {
            low: value - half,
            high: value + half,
            ..Estimate::exact(value, 1000.0)
        }
    }

    /// Search where the percentile is `per_user` for each user, in nanoseconds, known to `half`.
    fn search(limit_ns: u64, users_max: u32, half: f64) -> UserSearchResult {
        let mut search = UserSearch::new(SearchOptions {
            share: 0.95,
            limit_ns,
            users_first: 1,
            users_max,
        });
        let mut trials = 0;
        while let SearchStep::Measure(plan) = search.next_step() {
            let value = f64::from(plan.users) * 10.0;
            search.record(&plan, exact(value, half * value));
            trials += 1;
            assert!(trials < 60, "{:?}", search.result());
        }
        search.result()
    }

    #[test]
    fn the_answer_lies_between_what_meets_and_what_misses() {
        for truth in [1_u32, 2, 7, 100, 777, 12_345] {
            let limit = u64::from(truth) * 10 + 5;
            for half in [0.0, 0.01, 0.04] {
                let found = search(limit, 100_000, half);
                let misses = found.misses.expect("some number is too large");
                let told = format!("{truth} users, {half}: {found:?}");
                assert!(found.meets <= truth && truth < misses, "{told}");
                let gap = f64::from(misses - found.meets);
                assert!(
                    gap <= 2.0 + f64::from(truth) * (0.26 + 4.0 * half),
                    "{told}"
                );
            }
        }
    }

    #[test]
    fn a_limit_that_nobody_meets_or_everybody_does() {
        let found = search(3, 100, 0.01);
        assert_eq!((found.meets, found.misses), (0, Some(1)));
        let found = search(1_000_000, 100, 0.01);
        assert_eq!((found.meets, found.misses), (100, None));
    }
}
