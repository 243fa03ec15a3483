//! The search for the largest number of users that meet a limit, within a budget of time.

use procedure::{Preparation, SearchOptions, SearchPlan, TimeLimit, Trial, UserSearch};
use results::{UserSearchOutcome, UserSearchResult, Warning, WarningCode};
use stats::{Estimate, Goal};
use units::{Duration, format_count};
use workload::UserProfile;

use super::run::{UserLoad, UsersPlan, measure};
use crate::session::{Result, Session};
use lab::laboratory::Outcome;

/// Share of the budget that one scout may take, and all of them together.
const SCOUT_SHARE: f64 = 0.03;
const SCOUTS_SHARE: f64 = 0.35;
/// An end of the answer that is open may take this part of its share of the time that is left: a
/// trial that leaves doubt is followed by another.
const TRIES: f64 = 2.0;
/// But no less than this share of the budget: many short trials leave more doubt than a long one.
const FINAL_SHARE_MIN: f64 = 0.12;
/// How sure it must be that the limit is met or missed before a fresh trial is ended for it. It is
/// asked at each look, and the first of twenty looks to say so counts: more than of a result.
const CLEAR: f64 = 0.999;
/// The same of a scout, which only shows the way.
const CLEAR_SCOUT: f64 = 0.9;
/// Think times that a trial must last at least to have seen its users at work.
const THINKS_MIN: f64 = 3.0;
/// Independent transactions wanted beyond the percentile that is searched for.
const EVIDENCE: f64 = 25.0;

impl UsersPlan<'_> {
    pub(super) fn search(
        &mut self,
        session: &mut Session<'_>,
        profiles: &[UserProfile],
        options: SearchOptions,
        precision: f64,
    ) -> Result<()> {
        let budget = self.request.budget;
        let think = profiles.iter().map(|profile| profile.think.mean_ns);
        let pace = TrialLengths {
            budget,
            precision,
            share: options.share,
            thinks: Duration::from_nanos((think.fold(0.0, f64::max) * THINKS_MIN) as u64),
            warm_up: self.request.warm_up.unwrap_or(Duration::ZERO),
        };
        let mut search = UserSearch::new(options);
        while let Some(plan) = search.next_step() {
            if !plan.is_final && session.spent >= budget.mul_f64(SCOUTS_SHARE) {
                search.end_scouting();
                continue;
            }
            let left = budget.saturating_sub(session.spent);
            let Some((goal, duration_max)) = pace.trial(&plan, left) else {
                break;
            };
            let load = UserLoad {
                name: format!("transactions-{}", plan.users),
                users: plan.users,
                profiles: profiles.to_vec(),
                goal: Some(goal),
                duration_max,
                preparation: Preparation::None,
                before: None,
            };
            let limit = TimeLimit {
                share: options.share,
                limit_ns: options.limit_ns,
                clear: if plan.is_final { CLEAR } else { CLEAR_SCOUT },
            };
            let trial = Trial {
                limit: Some(limit),
                ..self.trial(session, &load, plan.salt)?
            };
            let mut outcome = measure(session, &trial)?;
            if outcome.measurement.is_all_failed() {
                self.keep(session, &trial, &mut outcome);
                break;
            }
            let percentile = match outcome.within {
                Some(within) => within.percentile,
                None => rough(&outcome, options.share),
            };
            search.record(&plan, percentile, outcome.within.map(|it| it.share));
            if plan.is_final {
                self.keep(session, &trial, &mut outcome);
            }
            session.go_on(&trial, outcome.failure)?;
            self.found.search = Some(search.result());
        }
        let result = search.result();
        let doubt = open_ends(&result, &options, budget);
        session.warnings.extend(doubt);
        self.found.search = Some(result);
        Ok(())
    }
}

/// How long trials of a search take.
struct TrialLengths {
    budget: Duration,
    precision: f64,
    share: f64,
    /// What a trial must last to have seen users think.
    thinks: Duration,
    /// What is left out before.
    warm_up: Duration,
}

impl TrialLengths {
    /// When a trial may end, and when it must; `None` when there is no time for it.
    fn trial(&self, plan: &SearchPlan, left: Duration) -> Option<(Goal, Duration)> {
        let mut goal = if plan.is_final {
            let mut goal = Goal::result(self.precision);
            goal.samples_min = goal.samples_min.max(EVIDENCE / (1.0 - self.share));
            goal
        } else {
            Goal::scout()
        };
        goal.duration_min_ns = goal.duration_min_ns.max(self.thinks.as_nanos());
        goal.duration_min_ns += self.warm_up.as_nanos();
        let least = Duration::from_nanos(goal.duration_min_ns);
        if !plan.is_final {
            let usual = self.budget.mul_f64(SCOUT_SHARE).max(least * 2);
            return Some((goal, usual));
        }
        let ends = f64::from(plan.ends_open.max(1));
        let tries = if plan.is_repeated { 1.0 } else { TRIES };
        let usual = left.mul_f64(1.0 / (ends * tries));
        let usual = usual.max(self.budget.mul_f64(FINAL_SHARE_MIN)).max(least);
        let usual = usual.min(left);
        (left >= least).then_some((goal, usual))
    }
}

/// What stays open, and what to do about it.
fn open_ends(
    found: &UserSearchResult,
    options: &SearchOptions,
    budget: Duration,
) -> Option<Warning> {
    let tried = found.steps.iter().map(|step| step.users).max()?;
    let unclear = |what: &str, users: Option<u32>| match users {
        Some(users) => format!(
            "{} tried and left unclear",
            match users {
                1 => "1 user was".to_owned(),
                users => format!("{} users were", format_count(users.into())),
            }
        ),
        None => format!("no trial of full length was made for the {what} end"),
    };
    let finals = || {
        let steps = found.steps.iter().filter(|step| step.is_final);
        steps.filter(|step| step.outcome == UserSearchOutcome::Unclear)
    };
    let advice =
        format!("Allow more time than {budget} with --budget, or begin nearer with --users.");
    if found.misses.is_none() && tried >= options.users_max {
        return Some(
            Warning::warn(
                WarningCode::SearchNotFinished,
                format!(
                    "No number of users up to --users-max {} clearly misses the limit, so the \
                     maximum is not known.",
                    options.users_max
                ),
            )
            .advise("Raise --users-max or the load of a user."),
        );
    }
    if found.misses.is_none() {
        let highest = finals().map(|step| step.users).max();
        let what = unclear("upper", highest);
        let text = format!("How many users are too many remains open: {what}. {advice}");
        return Some(Warning::warn(WarningCode::SearchNotFinished, text));
    }
    let lowest = finals().map(|step| step.users).min();
    // Where one user misses the limit already, there is nothing below to find.
    let is_open = found.meets == 0 && found.misses.is_none_or(|misses| misses > 1);
    is_open.then(|| {
        let what = unclear("lower", lowest);
        let text = format!(
            "How many users are sure to meet the limit remains open: {what}. \
            {advice}"
        );
        Warning::warn(WarningCode::SearchNotFinished, text)
    })
}

/// A percentile of so few response times that no interval can be given.
fn rough(outcome: &Outcome, share: f64) -> Estimate {
    let mut whole = stats::Histogram::new();
    let units = outcome.units.values();
    units.for_each(|unit| whole.merge(&unit.response));
    let value = whole.quantile(share).unwrap_or(whole.max());
    Estimate {
        // Without a single response, nobody knows.
        value: if whole.is_empty() {
            f64::INFINITY
        } else {
            value as f64
        },
        low: 0.0,
        high: f64::INFINITY,
        confidence: stats::CONFIDENCE,
        samples: 0.0,
    }
}
