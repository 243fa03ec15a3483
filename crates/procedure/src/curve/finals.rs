//! Points that are quoted: measured afresh, repeatedly until the load is precise enough.

use stats::{Aim, Goal};
use units::Duration;

use super::interpolation::{Interpolation, SHARE_MAX, SHARE_MIN, Term, interpolate};
use super::visit::{Visit, joint_sigma};
use super::{Bracket, CurveSearch, LoadCurve, PointPlan};

/// Initial relative half-width of a final point.
pub(super) const FINAL_PRECISION: f64 = 0.05;
/// Maximum initial relative half-width of the time, however little the load depends on it.
const TIME_PRECISION_MAX: f64 = 0.30;
/// Effective samples for a time that need not be precise, and the minimum length of the point in
/// correlation times: as for search points, which is enough for such an interval.
const TIME_SAMPLES: f64 = 60.0;
const TIME_LAG_FACTOR: u32 = 10;
/// A final point is repeated only if the half-width would shrink below this factor.
const FACTOR_MAX: f64 = 0.85;

/// Share of the precision for the noise of one end. Two ends at the middle of their bracket then
/// take two thirds of it, which leaves the rest for curvature.
const END_SHARE: f64 = 0.95;

impl LoadCurve {
    /// The next final point for a level, or `None` if it is done or cannot be improved.
    pub(super) fn settle(&self, search: &mut CurveSearch) -> Option<PointPlan> {
        if search.tries == 0 {
            search.bracket = self.placed(search.level);
        }
        while search.tries < self.options.tries_max {
            search.tries += 1;
            let Bracket::Between { low, high } = search.bracket else {
                let clients = self.outermost(search.bracket)?;
                if self.finals(clients).is_none() {
                    return Some(self.final_point(clients, FINAL_PRECISION));
                }
                search.bracket = self.placed(search.level);
                if matches!(search.bracket, Bracket::Between { .. }) {
                    continue;
                }
                return self.further_out(search, clients);
            };
            if self.is_unbounded(high) {
                return None;
            }
            for clients in [low, high] {
                if self.finals(clients).is_none() {
                    return Some(self.end_point(clients, low, high));
                }
            }
            let (below, above) = (self.finals(low)?, self.finals(high)?);
            let found = interpolate(&below.end(), &above.end(), search.level.as_nanos() as f64);
            if let Some(shifted) = self.shifted(search.level, below, above, &found) {
                search.moved(shifted, self.options.tries_max);
                continue;
            }
            if found.is_sound && self.excess(&found, below, above) <= 1.0 {
                return None;
            }
            if !found.is_sound && self.are_answer(search.level, below, above) {
                return None;
            }
            return self.tighten(below, above, &found);
        }
        None
    }

    /// If a search point was above the level by chance and the final point with as many clients is
    /// below, the search continues outwards from there.
    fn further_out(&self, search: &mut CurveSearch, clients: u32) -> Option<PointPlan> {
        let is_end = clients >= self.options.clients_max || self.is_unbounded(clients);
        if !matches!(search.bracket, Bracket::NotReached) || is_end {
            return None;
        }
        search.tries = 0;
        let further = clients.saturating_mul(2).min(self.options.clients_max);
        Some(self.scout(further))
    }

    /// How many times wider than requested the interval of a load is. Curvature is subtracted from
    /// the precision first. If almost nothing remains, more measurements would not help.
    pub(super) fn excess(&self, found: &Interpolation, below: &Visit, above: &Visit) -> f64 {
        let width = found.load.relative_half_width();
        let bend = self.bend(below, above, found.share) / found.load.value;
        let left = self.options.precision - bend;
        width
            / if left > 0.5 * self.options.precision {
                left
            } else {
                self.options.precision
            }
    }

    /// The number of clients that shows that a level is out of reach.
    pub(super) fn outermost(&self, bracket: Bracket) -> Option<u32> {
        match bracket {
            Bracket::Exceeded => Some(1),
            Bracket::NotReached => self.visited().last().copied(),
            Bracket::Between { .. } => None,
        }
    }

    /// The new bracket, if the level clearly lies outside this one.
    pub(super) fn shifted(
        &self,
        level: Duration,
        below: &Visit,
        above: &Visit,
        found: &Interpolation,
    ) -> Option<Bracket> {
        let level = level.as_nanos() as f64;
        let sigma = joint_sigma(below, above);
        let (low, high) = (below.point.clients, above.point.clients);
        let rise = above.time().value - below.time().value;
        let is_clear = rise > 2.0 * sigma;
        let is_too_high = below.time().value > level + 2.0 * sigma;
        let is_too_low = above.time().value < level - 2.0 * sigma;
        if is_too_high || (is_clear && found.share < SHARE_MIN) {
            return match low {
                1 => is_too_high.then_some(Bracket::Exceeded),
                _ => Some(Bracket::Between {
                    low: (low - self.gap(low)).max(1),
                    high: low,
                }),
            };
        }
        if is_too_low || (is_clear && found.share > SHARE_MAX) {
            if high >= self.options.clients_max {
                return is_too_low.then_some(Bracket::NotReached);
            }
            let further = (high + self.gap(high)).min(self.options.clients_max);
            return Some(Bracket::Between {
                low: high,
                high: further,
            });
        }
        None
    }

    /// Measures the end that contributes more to the error again, more precisely.
    pub(super) fn tighten(
        &self,
        below: &Visit,
        above: &Visit,
        found: &Interpolation,
    ) -> Option<PointPlan> {
        let excess = self.excess(found, below, above);
        let factor = if found.is_sound {
            (0.9 / excess).clamp(0.35, 0.7)
        } else {
            0.5
        };
        let order = match found.larger {
            Term::Below => [below, above],
            Term::Above => [above, below],
        };
        order.into_iter().find_map(|visit| {
            // Time grows with the inverse square of the precision.
            let share = visit.elapsed.as_secs_f64() / self.options.final_max.as_secs_f64();
            let factor = factor.max(share.sqrt());
            let precision = visit.precision * factor;
            let is_possible = visit.point.is_converged && factor < FACTOR_MAX && precision > 1e-4;
            is_possible.then(|| {
                if self.options.is_load_enough {
                    self.load_at_time_point(visit.point.clients, precision)
                } else {
                    self.final_point(visit.point.clients, precision)
                }
            })
        })
    }

    /// An end of a bracket, with its time as precise as the load at the level requires.
    fn end_point(&self, clients: u32, low: u32, high: u32) -> PointPlan {
        if !self.options.is_load_enough {
            let mut plan = self.final_point(clients, FINAL_PRECISION);
            if self.is_open() {
                let longest = self.time_of_end().map(|it| self.with_warm_up(it));
                plan.duration_max = plan.duration_max.max(longest.unwrap_or_default());
            }
            return plan;
        }
        let share = self.options.precision * END_SHARE;
        let elasticity = self.elasticity(low, high).unwrap_or(1.0);
        let of_time = (share / elasticity).clamp(FINAL_PRECISION, TIME_PRECISION_MAX);
        self.load_at_time_point(clients, of_time)
    }

    /// A final point that needs its load, and its time to `of_time`.
    fn load_at_time_point(&self, clients: u32, of_time: f64) -> PointPlan {
        let share = self.options.precision * END_SHARE;
        let mut plan = self.final_point(clients, share.min(of_time));
        plan.goal.aim = Aim::LoadAtTime(of_time);
        plan.goal.samples_min = TIME_SAMPLES;
        plan.goal.lag_factor = TIME_LAG_FACTOR;
        plan
    }

    /// A final point that needs only its load.
    fn load_point(&self, clients: u32, precision: f64) -> PointPlan {
        let mut plan = self.final_point(clients, precision);
        plan.goal.aim = Aim::Load;
        plan
    }

    pub(super) fn final_point(&self, clients: u32, precision: f64) -> PointPlan {
        let mut goal = Goal::result(precision);
        goal.duration_min_ns = self.with_warm_up(self.options.final_min).as_nanos();
        self.about_percentile(&mut goal);
        let left = self
            .options
            .budget
            .map_or(self.options.final_max, |budget| {
                budget
                    .saturating_sub(self.spent)
                    .max(self.options.final_min)
            });
        PointPlan {
            clients,
            goal,
            duration_max: self.with_warm_up(self.options.final_max.min(left)),
            warm_up: self.options.warm_up,
            channel: self.options.channel,
            salt: self.visits.len() as u64,
            sources: self.sources,
            is_scout: false,
        }
    }

    pub(super) fn saturation_point(&self) -> Option<PointPlan> {
        if self.is_open() {
            return None;
        }
        let clients = self.clients_of_most_load()?;
        if self.finals(clients).is_some() {
            return None;
        }
        if self.options.is_load_enough {
            return Some(self.load_point(clients, self.options.precision * END_SHARE));
        }
        // Only the load is needed here. With think time, the response time is less precise than the
        // load and need not be better.
        let scout = self.best(clients)?;
        let load = scout.point.load;
        let ratio = scout.time().relative_half_width() / load.relative_half_width();
        let ratio = if ratio.is_finite() {
            ratio.max(1.0)
        } else {
            1.0
        };
        Some(self.final_point(
            clients,
            (self.options.precision * ratio).min(FINAL_PRECISION),
        ))
    }

    /// The highest load once more with all the time that no level needs, if it is not precise yet
    /// and would become clearly more so.
    pub(super) fn saturation_again(&self) -> Option<PointPlan> {
        let known = self.finals(self.clients_of_most_load()?)?;
        let left = self.options.budget?.saturating_sub(self.spent);
        let factor = (known.elapsed.as_secs_f64() / left.as_secs_f64()).sqrt();
        (!self.is_open() && !known.point.is_converged && factor < FACTOR_MAX).then(|| PointPlan {
            duration_max: left,
            ..self.final_point(known.point.clients, self.options.precision)
        })
    }

    pub(super) fn is_out_of_time(&self) -> bool {
        self.options
            .budget
            .is_some_and(|budget| self.spent >= budget)
    }
}
