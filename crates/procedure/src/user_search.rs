//! Searches for the number of users that meets a limit on the response time.
//!
//! Short search trials multiply the number of users until the limit is missed, by four far below it
//! and by two near it, and then halve the gap. Their results are not quoted. Fresh full-length
//! trials confirm both ends: downwards from the search's answer until one reliably meets the limit,
//! and upwards until one reliably misses it. An undecided trial determines how far away the next
//! must be: its interval must clear the limit, given how steeply the percentile rises with users.
//! Remaining time is spent on the gap between both ends.

use results::{UserSearchOutcome, UserSearchResult, UserSearchStep};
use stats::Estimate;

/// The search stops when the gap is this share of the users.
const SCOUT_GAP: f64 = 0.25;
/// Minimum distance of fresh trials as a share of the users. After two undecided trials in a row
/// the distance doubles, and so on.
const GAP: f64 = 0.10;
/// A gap narrower than this share of the users is not divided.
const NEAR: f64 = 0.10;
/// A search trial whose percentile is below this share of the limit is far from it.
const FAR: f64 = 0.3;
/// Maximum number of fresh trials.
const FINALS_MAX: usize = 12;
/// A trial is well within the limit if at most this part of the allowed misses occurs.
const WELL_WITHIN: f64 = 0.25;
/// Range of the percentile's relative rise per relative rise of the users. Estimates from noisy
/// data may lie outside.
const STEEPNESS: (f64, f64) = (0.5, 6.0);
/// Relative width of an unbounded interval.
const WIDTH_UNKNOWN: f64 = 0.5;
/// Maximum factor between fresh trials.
const STRIDE_MAX: f64 = 2.0;

/// Options of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// The percentile, 0 to 1.
    pub share: f64,
    /// Its limit, nanoseconds.
    pub limit_ns: u64,
    /// Initial number of users.
    pub users_first: u32,
    /// Maximum number of users.
    pub users_max: u32,
}

/// The next trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchPlan {
    pub users: u32,
    /// Whether it is a fresh full-length trial.
    pub is_final: bool,
    /// Salt of its draws.
    pub salt: u64,
    /// Number of open ends of the answer, which share the remaining time.
    pub ends_open: u32,
    /// Whether a trial is repeated because it had too few transactions.
    pub is_repeated: bool,
}

/// The search as a state machine fed with measurements.
#[derive(Clone, Debug)]
pub struct UserSearch {
    options: SearchOptions,
    steps: Vec<UserSearchStep>,
    /// The most users with which a search trial met the limit, and the fewest with which one missed
    /// it.
    low: u32,
    high: Option<u32>,
    /// The same for fresh trials.
    meets: u32,
    misses: Option<u32>,
    /// Whether there is no time for more search trials.
    is_scouted: bool,
}

impl UserSearch {
    /// A search before the first trial.
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
            is_scouted: false,
        }
    }

    /// Ends the search phase. The remaining time is for trials that count.
    pub fn end_scouting(&mut self) {
        self.is_scouted = true;
    }

    /// The next trial; `None` when the answer is as good as possible.
    pub fn next_step(&self) -> Option<SearchPlan> {
        let scout = self.next_scout().filter(|_| !self.is_scouted);
        let is_final = scout.is_none();
        let users = scout.or_else(|| self.next_final())?;
        Some(SearchPlan {
            users,
            is_final,
            salt: self.steps.len() as u64 + 1,
            ends_open: u32::from(self.meets == 0) + u32::from(self.misses.is_none()),
            is_repeated: is_final && self.finals().any(|step| step.users == users),
        })
    }

    /// Records a trial: its percentile, nanoseconds, and the share of its response times within the
    /// limit, both with intervals.
    pub fn record(&mut self, plan: &SearchPlan, percentile: Estimate, within: Option<Estimate>) {
        let limit = self.options.limit_ns as f64;
        let wanted = self.options.share;
        let outcome = match within {
            Some(within) if within.low >= wanted => UserSearchOutcome::Meets,
            Some(within) if within.high < wanted => UserSearchOutcome::Misses,
            _ => UserSearchOutcome::Unclear,
        };
        self.steps.push(UserSearchStep {
            users: plan.users,
            is_final: plan.is_final,
            percentile,
            within,
            outcome,
        });
        if plan.is_final {
            match outcome {
                UserSearchOutcome::Meets => self.meets = self.meets.max(plan.users),
                UserSearchOutcome::Misses => {
                    let known = self.misses.unwrap_or(u32::MAX);
                    self.misses = Some(known.min(plan.users));
                }
                UserSearchOutcome::Unclear => {}
            }
            return;
        }
        // A stall among a few transactions must not end the growth: undecided trials near the limit
        // are skipped until more users reliably miss it.
        let is_far_above = within.is_none() && percentile.value > limit / FAR;
        if percentile.value <= limit {
            self.low = self.low.max(plan.users);
        } else if self.high.is_some() || outcome == UserSearchOutcome::Misses || is_far_above {
            self.high = Some(self.high.unwrap_or(u32::MAX).min(plan.users));
        }
    }

    /// The result so far.
    pub fn result(&self) -> UserSearchResult {
        // By chance, more users may meet the limit than others miss it with. The conservative
        // number counts.
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
        let met = self
            .finals()
            .filter(|step| step.outcome == UserSearchOutcome::Meets);
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
        let most = self.steps.iter().map(|step| step.users).max();
        match self.high {
            None => match most {
                None => Some(users_first),
                Some(most) if most >= users_max => None,
                Some(most) => Some(most.saturating_mul(self.stride()).min(users_max)),
            },
            // A reversal by chance is left to the fresh trials.
            Some(high) if high <= self.low => None,
            Some(high) => {
                let gap = high - self.low;
                let fine = (f64::from(self.low) * SCOUT_GAP).max(1.0);
                (f64::from(gap) > fine).then_some(self.low + gap / 2)
            }
        }
    }

    /// Factor to the users of the next search trial.
    fn stride(&self) -> u32 {
        let limit = self.options.limit_ns as f64;
        let last = self.steps.last();
        if last.is_some_and(|step| step.percentile.value < FAR * limit) {
            4
        } else {
            2
        }
    }

    /// The next fresh trial, alternating downwards from the search's answer until one meets the
    /// limit and upwards until one misses it, then between the two.
    fn next_final(&self) -> Option<u32> {
        if self.finals().count() >= FINALS_MAX {
            return None;
        }
        let is_below = self.meets == 0 && self.low > 0;
        let below = is_below.then(|| self.next_below()).flatten();
        let is_above = self.misses.is_none();
        let above = is_above.then(|| self.next_above()).flatten();
        let was_below = |step: &&UserSearchStep| step.users <= self.low;
        let tried_below = self.finals().filter(was_below).count();
        let tried_above = self.finals().count() - tried_below;
        match (below, above) {
            (Some(_), Some(above)) if tried_above < tried_below => Some(above),
            (Some(users), _) | (None, Some(users)) => Some(users),
            (None, None) => self.next_between(self.misses?),
        }
    }

    fn next_below(&self) -> Option<u32> {
        let Some(lowest) = self.finals().min_by_key(|step| step.users) else {
            return Some(self.low);
        };
        if self.is_worth_repeating(lowest) {
            return Some(lowest.users);
        }
        // Nothing below one user is left: no number reliably meets the limit.
        Some(self.below(lowest)).filter(|&users| users > 0)
    }

    /// Whether an undecided trial had too few transactions rather than too many users: with fewer
    /// users there would be even fewer.
    fn is_worth_repeating(&self, step: &UserSearchStep) -> bool {
        let enough = 1.0 - (1.0 - self.options.share) * WELL_WITHIN;
        let again = self.finals().filter(|other| other.users == step.users);
        step.outcome == UserSearchOutcome::Unclear
            && step.within.is_some_and(|within| within.value >= enough)
            && again.count() == 1
    }

    fn next_above(&self) -> Option<u32> {
        let highest = self.finals().max_by_key(|step| step.users);
        let beyond = highest.map_or(0, |step| self.above(step));
        let scouted = self.high.unwrap_or(self.low).max(self.low);
        let is_beyond = |users: u32| highest.is_none_or(|step| users > step.users);
        let wanted = if is_beyond(scouted) { scouted } else { beyond };
        let users = wanted.max(1).min(self.options.users_max);
        is_beyond(users).then_some(users)
    }

    /// The middle of the widest part of the gap, which undecided trials divide. `None` if it is
    /// narrow, since the answer is close enough.
    fn next_between(&self, misses: u32) -> Option<u32> {
        let meets = self.result().meets;
        if meets == 0 {
            return None;
        }
        let inside = self.finals().map(|step| step.users);
        let mut marks: Vec<u32> = inside
            .filter(|users| (meets + 1..misses).contains(users))
            .chain([meets, misses])
            .collect();
        marks.sort_unstable();
        let widest = marks.windows(2).max_by_key(|pair| pair[1] - pair[0])?;
        let gap = widest[1] - widest[0];
        let near = (f64::from(meets) * NEAR).max(1.0);
        (f64::from(gap) > near).then_some(widest[0] + gap / 2)
    }

    /// The number of users that should reliably meet the limit, based on a trial that did not.
    fn below(&self, step: &UserSearchStep) -> u32 {
        let limit = self.options.limit_ns as f64;
        let high = if step.percentile.high.is_finite() {
            step.percentile.high
        } else {
            step.percentile.value * (1.0 + WIDTH_UNKNOWN)
        };
        let shrink = (limit / high).powf(1.0 / self.steepness(step.users));
        // An infinite value is an unknown percentile: halve the users.
        let shrink = if shrink.is_finite() { shrink } else { 0.0 };
        let users = f64::from(step.users);
        let wanted = users * shrink.clamp(1.0 / STRIDE_MAX, 1.0);
        let gap = (users * self.gap()).max(1.0);
        wanted.min(users - gap).floor() as u32
    }

    /// The number of users that should reliably miss the limit, based on a trial that did not.
    fn above(&self, step: &UserSearchStep) -> u32 {
        let limit = self.options.limit_ns as f64;
        let growth = (limit / step.percentile.low).powf(1.0 / self.steepness(step.users));
        let growth = if growth.is_finite() {
            growth
        } else {
            STRIDE_MAX
        };
        let users = f64::from(step.users);
        let wanted = users * growth.clamp(1.0, STRIDE_MAX);
        let gap = (users * self.gap()).max(1.0);
        wanted.max(users + gap).ceil() as u32
    }

    /// Minimum distance of the next fresh trial as a share of the users, which grows with each
    /// undecided trial in a row.
    fn gap(&self) -> f64 {
        let last = self.steps.iter().rev();
        let doubts =
            last.take_while(|step| step.is_final && step.outcome == UserSearchOutcome::Unclear);
        GAP * f64::from(1 << doubts.count().saturating_sub(1).min(2))
    }

    /// Relative rise of the percentile per relative rise of the users, from the next trials on both
    /// sides.
    fn steepness(&self, users: u32) -> f64 {
        let known = || {
            let steps = self.steps.iter();
            steps.filter(|step| step.percentile.value.is_finite() && step.percentile.value > 0.0)
        };
        let under = known().filter(|step| step.users < users);
        let under = under.max_by_key(|step| step.users);
        let over = known().filter(|step| step.users >= users);
        let over = over.min_by_key(|step| step.users);
        let (Some(under), Some(over)) = (under, over) else {
            return 1.0;
        };
        let rise = (over.percentile.value / under.percentile.value).ln();
        let steepness = rise / (f64::from(over.users) / f64::from(under.users)).ln();
        steepness.clamp(STEEPNESS.0, STEEPNESS.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact_with(value: f64, half: f64) -> Estimate {
        Estimate {
            low: value - half,
            high: value + half,
            ..Estimate::exact(value, 1000.0)
        }
    }

    /// The share within the limit, if the percentile has that interval, on the same side of the
    /// limit.
    fn within(share: f64, limit_ns: u64, percentile: Estimate) -> Option<Estimate> {
        let limit = limit_ns as f64;
        let (low, high) = if percentile.high <= limit {
            (share, 1.0)
        } else if percentile.low > limit {
            (0.0, share - 1e-9)
        } else {
            (0.0, 1.0)
        };
        Some(Estimate {
            low,
            high,
            ..Estimate::exact(share, 1000.0)
        })
    }

    /// Searches where the percentile is `per_user` nanoseconds per user, with the relative error
    /// `half`.
    fn search(limit_ns: u64, users_max: u32, half: f64) -> UserSearchResult {
        let mut search = UserSearch::new(SearchOptions {
            share: 0.95,
            limit_ns,
            users_first: 1,
            users_max,
        });
        let mut trials = 0;
        while let Some(plan) = search.next_step() {
            let value = f64::from(plan.users) * 10.0;
            let found = exact_with(value, half * value);
            search.record(&plan, found, within(0.95, limit_ns, found));
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
                let message = format!("{truth} users, {half}: {found:?}");
                assert!(found.meets <= truth && truth < misses, "{message}");
                let gap = f64::from(misses - found.meets);
                assert!(
                    gap <= 2.0 + f64::from(truth) * (0.22 + 4.0 * half),
                    "{message}"
                );
            }
        }
    }

    /// Wide intervals: one more step away suffices, since the first determines how far.
    #[test]
    fn a_trial_that_leaves_doubt_says_how_far_the_next_is() {
        let found = search(7_775, 100_000, 0.25);
        let finals = || found.steps.iter().filter(|step| step.is_final);
        let first = |outcome| finals().position(|step| step.outcome == outcome);
        let (met, missed) = (
            first(UserSearchOutcome::Meets),
            first(UserSearchOutcome::Misses),
        );
        assert!(met <= Some(2) && missed <= Some(5), "{found:?}");
        assert!(found.meets > 0 && found.misses.is_some(), "{found:?}");
    }

    /// Percentiles with errors as large as their intervals claim: the answer must include the true
    /// value in 95 % of searches, and have both ends.
    #[test]
    fn the_answer_holds_the_truth_as_often_as_it_claims() {
        let truth = 240_u32;
        let limit_ns = 1_000_000;
        let (searches, mut held, mut closed) = (2000, 0, 0);
        for seed in 0..searches {
            let mut stream = random::Stream::new(seed, 0, random::Purpose::Load);
            let mut search = UserSearch::new(SearchOptions {
                share: 0.95,
                limit_ns,
                users_first: 1,
                users_max: 100_000,
            });
            while let Some(plan) = search.next_step() {
                let relative = if plan.is_final { 0.05 } else { 0.15 };
                // Flat first, steep towards the limit, as queues are; the true value is 240.5.
                let load = f64::from(plan.users) / (f64::from(truth) + 0.5);
                let exact = limit_ns as f64 * (0.1 + 0.9 * load.powi(3));
                // The sum of twelve uniform numbers is nearly normal.
                let sum: f64 = (0..12).map(|_| stream.unit()).sum();
                let seen = exact * (1.0 + relative * (sum - 6.0));
                let half = 1.96 * relative * exact;
                let found = exact_with(seen, half);
                search.record(&plan, found, within(0.95, limit_ns, found));
            }
            let found = search.result();
            closed += u32::from(found.misses.is_some() && found.meets > 0);
            let is_below = found.misses.is_none_or(|misses| truth < misses);
            held += u32::from(found.meets <= truth && is_below);
        }
        assert!(held >= 1900, "{held} of {searches} answers hold the truth");
        assert!(
            closed >= 1960,
            "{closed} of {searches} answers have both ends"
        );
    }

    /// Bug: one search trial met a stall. The search found no number that misses the limit, and
    /// measured around it until time was up.
    #[test]
    fn one_unlucky_scout_does_not_mislead() {
        let mut search = UserSearch::new(SearchOptions {
            share: 0.95,
            limit_ns: 1000,
            users_first: 1,
            users_max: 100_000,
        });
        let mut scouts = 0;
        while let Some(plan) = search.next_step() {
            let mut found = exact_with(f64::from(plan.users) * 10.0, 0.0);
            if !plan.is_final && plan.users == 4 {
                found = exact_with(1100.0, 1000.0);
            }
            scouts += u32::from(!plan.is_final);
            search.record(&plan, found, within(0.95, 1000, found));
        }
        let found = search.result();
        assert!(found.meets >= 90 && found.misses <= Some(115), "{found:?}");
        assert!(scouts <= 10, "{found:?}");
    }

    #[test]
    fn a_limit_that_nobody_meets_or_everybody_does() {
        let found = search(3, 100, 0.01);
        assert_eq!((found.meets, found.misses), (0, Some(1)));
        let found = search(1_000_000, 100, 0.01);
        assert_eq!((found.meets, found.misses), (100, None));
    }
}
