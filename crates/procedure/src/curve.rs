//! The load curve: finds the load at which the response time crosses each level, and saturation.
//!
//! Clients are doubled until the load grows no more and the levels are passed; then each level is
//! bracketed by two numbers of clients at most a tenth apart; then both ends are measured afresh,
//! tightened until the *load at the level* is as precise as was asked for, and interpolated. Data
//! that chose a bracket never enter the answer. Method: section 6 of the statistics notes, which
//! `docs/statistics.md` sums up.

mod interpolation;
mod options;
mod outcome;

use results::{Curve, CurvePoint, Level, Measurement};
use stats::{DriftVerdict, Estimate, Goal, Window};
use units::Duration;

use interpolation::{Interpolation, SHARE_MAX, SHARE_MIN, Term, interpolate};
pub use options::{CurveOptions, Levels, level_grid};

/// What to measure for the next point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointPlan {
    /// Number of clients.
    pub clients: u32,
    /// When the point is good enough.
    pub goal: Goal,
    /// When to stop in any case.
    pub duration_max: Duration,
    /// Makes every point draw afresh.
    pub salt: u64,
    /// Whether the point only shows the way.
    pub is_scout: bool,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum CurveStep {
    /// Measure a point, and report it with [`LoadCurve::record`].
    Measure(PointPlan),
    /// Nothing more is wanted.
    Finish,
}

/// The load-curve procedure.
#[derive(Clone, Debug)]
pub struct LoadCurve {
    options: CurveOptions,
    visits: Vec<Visit>,
    searches: Option<Vec<Search>>,
    spent: Duration,
    /// Scouts that doubled the clients; those after them only narrow brackets.
    outward: usize,
    is_saturated: bool,
}

/// A point that was measured.
#[derive(Clone, Debug)]
struct Visit {
    point: CurvePoint,
    window: Option<Window>,
    precision: f64,
    elapsed: Duration,
    is_drifting: bool,
}

/// The search for one level.
#[derive(Clone, Debug)]
struct Search {
    level: Duration,
    bracket: Bracket,
    tries: u32,
    is_closed: bool,
}

/// Where a level lies, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    /// Above what one client sees.
    Exceeded,
    /// Above what the most clients see.
    NotReached,
    /// Between two numbers of clients.
    Between { low: u32, high: u32 },
}

/// A load that grows by less than this factor when the clients double has stopped growing.
const GROWTH_MIN: f64 = 1.05;
/// A final point starts with this relative half-width.
const FINAL_PRECISION: f64 = 0.05;
/// A final point is not measured again for less of a gain than this.
const FACTOR_MAX: f64 = 0.85;

/// How far apart the ends of a bracket should be.
fn gap(low: u32) -> u32 {
    (low / 10).max(1)
}

impl LoadCurve {
    /// A procedure that has measured nothing yet.
    #[must_use]
    pub fn new(options: CurveOptions) -> Self {
        Self {
            options,
            visits: Vec::new(),
            searches: None,
            spent: Duration::ZERO,
            outward: 0,
            is_saturated: false,
        }
    }

    /// What to do next.
    pub fn next_step(&mut self) -> CurveStep {
        if self.searches.is_none() {
            if let Some(clients) = self.next_scout_outwards() {
                return self.scout(clients);
            }
            self.outward = self.visits.len();
            self.searches = Some(self.begin_searches());
        }
        let Some(mut searches) = self.searches.take() else {
            return CurveStep::Finish;
        };
        let step = self.continue_searches(&mut searches);
        self.searches = Some(searches);
        step
    }

    /// Take in the measurement of `plan`, which took `elapsed` altogether.
    pub fn record(&mut self, plan: &PointPlan, measurement: &Measurement, elapsed: Duration) {
        self.spent += elapsed;
        self.visits.push(Visit {
            point: CurvePoint {
                clients: plan.clients,
                load: measurement.throughput,
                response: measurement.response.mean,
                response_p99: measurement.response.percentile(0.99),
                lateness_ns: measurement.lateness.mean_ns,
                cores_busy: measurement.cpu.map(|cpu| cpu.cores_busy),
                is_scout: plan.is_scout,
                is_converged: measurement.is_converged(),
            },
            window: measurement.window.clone(),
            precision: plan.goal.precision,
            elapsed,
            is_drifting: measurement.drift.verdict == DriftVerdict::Drifting,
        });
    }

    /// Share of the work done so far, for a screen: a guess that never falls.
    #[must_use]
    pub fn progress(&self) -> f64 {
        self.options.budget.map_or(0.0, |budget| {
            (self.spent.as_secs_f64() / budget.as_secs_f64()).min(1.0)
        })
    }

    /// What has been found.
    #[must_use]
    pub fn curve(&self, title: &str) -> Curve {
        let mut points: Vec<CurvePoint> = self.visits.iter().map(|visit| visit.point).collect();
        points.sort_by_key(|point| (point.clients, !point.is_scout));
        let levels: Vec<Level> = self
            .searches
            .iter()
            .flatten()
            .filter_map(|search| Some((search, self.outcome(search)?)))
            .map(|(search, outcome)| Level {
                level_ns: search.level.as_nanos(),
                outcome,
            })
            .collect();
        let warnings = self.warnings(&levels);
        Curve {
            title: title.into(),
            points,
            levels,
            saturation: self.saturation(),
            warnings,
        }
    }

    // --- scouting -------------------------------------------------------------------------------

    fn next_scout_outwards(&mut self) -> Option<u32> {
        let Some(last) = self.visits.last() else {
            return Some(1);
        };
        let flat = self.flat_steps();
        let are_levels_passed = match &self.options.levels {
            Levels::Grid { .. } => true,
            Levels::Explicit(levels) => levels
                .iter()
                .max()
                .is_none_or(|level| last.point.response.value >= level.as_nanos() as f64),
        };
        self.is_saturated = flat >= 2;
        let is_at_end = last.point.clients >= self.options.clients_max;
        if is_at_end || (self.is_saturated && are_levels_passed) || self.is_out_of_time() {
            return None;
        }
        Some(
            last.point
                .clients
                .saturating_mul(2)
                .min(self.options.clients_max),
        )
    }

    /// How many of the last doublings brought next to nothing.
    fn flat_steps(&self) -> usize {
        let mut best = 0.0_f64;
        let mut flat = 0;
        for visit in self.visits.iter().filter(|visit| visit.point.is_scout) {
            let load = visit.point.load.value;
            flat = if load < best * GROWTH_MIN {
                flat + 1
            } else {
                0
            };
            best = best.max(load);
        }
        flat
    }

    fn scout(&self, clients: u32) -> CurveStep {
        let mut goal = Goal::scout();
        goal.duration_min_ns = self.options.scout_min.as_nanos();
        CurveStep::Measure(PointPlan {
            clients,
            goal,
            duration_max: self.options.scout_max,
            salt: self.visits.len() as u64,
            is_scout: true,
        })
    }

    fn begin_searches(&self) -> Vec<Search> {
        let levels = match &self.options.levels {
            Levels::Explicit(levels) => levels.clone(),
            Levels::Grid { count } => self.levels_of_grid(*count),
        };
        let mut searches: Vec<Search> = levels
            .into_iter()
            .map(|level| Search {
                level,
                bracket: self.bracket(level),
                tries: 0,
                is_closed: false,
            })
            .collect();
        searches.sort_by_key(|search| search.level);
        searches.dedup_by_key(|search| search.level);
        searches
    }

    /// The first levels of the fixed grid that lie clearly above the response time of one client
    /// and below that of the most clients.
    fn levels_of_grid(&self, count: usize) -> Vec<Duration> {
        let responses = || self.visits.iter().map(|visit| visit.point.response.value);
        let low = responses().fold(f64::INFINITY, f64::min) * 1.2;
        let high = responses().fold(0.0, f64::max);
        level_grid()
            .filter(|level| (low..high).contains(&(level.as_nanos() as f64)))
            .take(count)
            .collect()
    }

    // --- bracketing -----------------------------------------------------------------------------

    /// The best that is known of `clients`: the last final point, or else the last scout.
    fn best(&self, clients: u32) -> Option<&Visit> {
        self.finals(clients).or_else(|| {
            self.visits
                .iter()
                .rev()
                .find(|visit| visit.point.clients == clients)
        })
    }

    fn finals(&self, clients: u32) -> Option<&Visit> {
        self.visits
            .iter()
            .rev()
            .find(|visit| visit.point.clients == clients && !visit.point.is_scout)
    }

    fn visited(&self) -> Vec<u32> {
        let mut clients: Vec<u32> = self
            .visits
            .iter()
            .map(|visit| visit.point.clients)
            .collect();
        clients.sort_unstable();
        clients.dedup();
        clients
    }

    fn bracket(&self, level: Duration) -> Bracket {
        let visited = self.visited();
        let is_above = |clients: &u32| {
            self.best(*clients)
                .is_some_and(|visit| visit.point.response.value >= level.as_nanos() as f64)
        };
        match visited.iter().position(is_above) {
            None => Bracket::NotReached,
            Some(0) => Bracket::Exceeded,
            Some(index) => Bracket::Between {
                low: visited[index - 1],
                high: visited[index],
            },
        }
    }

    fn continue_searches(&self, searches: &mut [Search]) -> CurveStep {
        // First, because it is the one number that every curve must have.
        if let Some(step) = self.saturation_step() {
            return step;
        }
        if !self.is_out_of_time() {
            for search in searches.iter_mut() {
                if let Some(step) = self.narrow(search) {
                    return step;
                }
            }
        }
        // The levels take turns: when time runs out, none is left without its two ends.
        let mut order: Vec<usize> = (0..searches.len()).collect();
        order.sort_by_key(|&index| searches[index].tries);
        for index in order {
            let search = &mut searches[index];
            if search.is_closed {
                continue;
            }
            if self.is_out_of_time() {
                break;
            }
            if let Some(step) = self.settle(search) {
                return step;
            }
            search.is_closed = true;
        }
        CurveStep::Finish
    }

    /// Brings the ends of a bracket to within a tenth of each other, by guarded regula falsi.
    fn narrow(&self, search: &mut Search) -> Option<CurveStep> {
        if search.tries > 0 || search.is_closed {
            return None;
        }
        search.bracket = self.bracket(search.level);
        let Bracket::Between { low, high } = search.bracket else {
            return None;
        };
        if high - low <= gap(low) {
            return None;
        }
        let share = self.share_between(search.level, low, high)?;
        let jump = f64::from(high - low) * (0.25 + 0.5 * share);
        let middle = (f64::from(low) + jump).round() as u32;
        Some(self.scout(middle.clamp(low + 1, high - 1)))
    }

    /// How far `level` lies from the response time of `low` clients (0) to that of `high` (1).
    fn share_between(&self, level: Duration, low: u32, high: u32) -> Option<f64> {
        let below = self.best(low)?.point.response.value;
        let above = self.best(high)?.point.response.value;
        let share = (level.as_nanos() as f64 - below) / (above - below).max(1e-9);
        Some(share.clamp(0.0, 1.0))
    }

    /// The bracket to measure afresh: a tenth wide. A narrower one would be worse, because the
    /// difference between its ends drowns in their noise.
    fn placed(&self, level: Duration) -> Bracket {
        let bracket = self.bracket(level);
        let Bracket::Between { low, high } = bracket else {
            return bracket;
        };
        let Some(share) = self.share_between(level, low, high) else {
            return bracket;
        };
        if high - low >= gap(low) {
            return bracket;
        }
        let middle = f64::from(low) + share * f64::from(high - low);
        let low = (middle - 0.5 * f64::from(gap(low))).round().max(1.0) as u32;
        Bracket::Between {
            low,
            high: (low + gap(low)).min(self.options.clients_max),
        }
    }

    // --- final points ---------------------------------------------------------------------------

    /// The next final point that a level needs, or `None` when it is done or cannot be bettered.
    fn settle(&self, search: &mut Search) -> Option<CurveStep> {
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
                return None;
            };
            for clients in [low, high] {
                if self.finals(clients).is_none() {
                    return Some(self.final_point(clients, FINAL_PRECISION));
                }
            }
            let (below, above) = (self.finals(low)?, self.finals(high)?);
            let found = interpolate(&below.end(), &above.end(), search.level.as_nanos() as f64);
            if let Some(shifted) = self.shifted(search.level, below, above, &found) {
                search.bracket = shifted;
                continue;
            }
            if found.is_sound && self.excess(&found, below, above) <= 1.0 {
                return None;
            }
            return self.tighten(below, above, &found);
        }
        None
    }

    /// How many times the interval of a load is wider than was asked for. Bending counts, and what
    /// it leaves is for the noise; where it leaves next to nothing, more measuring would not help.
    fn excess(&self, found: &Interpolation, below: &Visit, above: &Visit) -> f64 {
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
    fn outermost(&self, bracket: Bracket) -> Option<u32> {
        match bracket {
            Bracket::Exceeded => Some(1),
            Bracket::NotReached => self.visited().last().copied(),
            Bracket::Between { .. } => None,
        }
    }

    /// Where to look instead, if the level clearly lies outside of the bracket.
    fn shifted(
        &self,
        level: Duration,
        below: &Visit,
        above: &Visit,
        found: &Interpolation,
    ) -> Option<Bracket> {
        let level = level.as_nanos() as f64;
        let sigma = joint_sigma(below, above);
        let (low, high) = (below.point.clients, above.point.clients);
        let rise = above.point.response.value - below.point.response.value;
        let is_clear = rise > 2.0 * sigma;
        let is_too_high = below.point.response.value > level + 2.0 * sigma;
        let is_too_low = above.point.response.value < level - 2.0 * sigma;
        if is_too_high || (is_clear && found.share < SHARE_MIN) {
            return match low {
                1 => is_too_high.then_some(Bracket::Exceeded),
                _ => Some(Bracket::Between {
                    low: (low - gap(low)).max(1),
                    high: low,
                }),
            };
        }
        if is_too_low || (is_clear && found.share > SHARE_MAX) {
            if high >= self.options.clients_max {
                return is_too_low.then_some(Bracket::NotReached);
            }
            let further = (high + gap(high)).min(self.options.clients_max);
            return Some(Bracket::Between {
                low: high,
                high: further,
            });
        }
        None
    }

    /// Measure the end that contributes more to the error again, more precisely.
    fn tighten(&self, below: &Visit, above: &Visit, found: &Interpolation) -> Option<CurveStep> {
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
            // The time goes with the inverse square of the precision.
            let share = visit.elapsed.as_secs_f64() / self.options.final_max.as_secs_f64();
            let factor = factor.max(share.sqrt());
            let precision = visit.precision * factor;
            let is_possible = visit.point.is_converged && factor < FACTOR_MAX && precision > 1e-4;
            is_possible.then(|| self.final_point(visit.point.clients, precision))
        })
    }

    fn final_point(&self, clients: u32, precision: f64) -> CurveStep {
        let mut goal = Goal::result(precision);
        goal.duration_min_ns = self.options.final_min.as_nanos();
        let left = self
            .options
            .budget
            .map_or(self.options.final_max, |budget| {
                budget
                    .saturating_sub(self.spent)
                    .max(self.options.final_min)
            });
        CurveStep::Measure(PointPlan {
            clients,
            goal,
            duration_max: self.options.final_max.min(left),
            salt: self.visits.len() as u64,
            is_scout: false,
        })
    }

    fn saturation_step(&self) -> Option<CurveStep> {
        let clients = self.clients_of_most_load()?;
        if self.finals(clients).is_some() {
            return None;
        }
        // Only the load is of interest here. Where clients think, the response time is less precise
        // than the load, and need not be as precise as the load should be.
        let scout = &self.best(clients)?.point;
        let ratio = scout.response.relative_half_width() / scout.load.relative_half_width();
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

    fn is_out_of_time(&self) -> bool {
        self.options
            .budget
            .is_some_and(|budget| self.spent >= budget)
    }
}

/// One end of a bracket, as interpolation needs it.
#[derive(Clone, Copy, Debug)]
struct End<'a> {
    load: Estimate,
    response: Estimate,
    window: Option<&'a Window>,
}

impl Visit {
    fn end(&self) -> End<'_> {
        End {
            load: self.point.load,
            response: self.point.response,
            window: self.window.as_ref(),
        }
    }
}

fn joint_sigma(below: &Visit, above: &Visit) -> f64 {
    interpolation::sigma(&below.point.response).hypot(interpolation::sigma(&above.point.response))
}
