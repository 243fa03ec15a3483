//! The load curve: finds the load at which the response time crosses each level, and saturation.
//!
//! Clients are doubled until the load stops growing and the levels are passed. Then each level is
//! bracketed by two numbers of clients about 10 % apart. Then both ends are measured afresh, until
//! the interpolated *load at the level* is as precise as requested. Data that chose a bracket are
//! never used in the result. Method: section 6 of the statistics notes, which
//! `docs/reference/statistics.md` sums up.

mod bracketing;
mod finals;
mod interpolation;
mod mark;
mod multiples;
mod options;
mod order;
mod outcome;
mod visit;

use crate::failures::{FAILED_OPERATIONS, Failures};
use crate::own_limits::BUSY_WORKER;
use crate::plan::Plan;
use results::{
    Arrivals, Curve, CurveLevel, CurvePoint, Measurement, Resolution, Severity, Warning,
    WarningCode,
};
use stats::{Channel, Estimate, Goal};
use units::Duration;
use workload::ClientSpec;

pub use options::{CurveOptions, Levels, POINTS_MIN, level_grid};
pub use outcome::warm_up_left_out;
use visit::Visit;

/// The next point to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct PointPlan {
    /// Number of clients, or of multiples of [`CurveOptions::clients_each`].
    pub clients: u32,
    /// When the point is precise enough.
    pub goal: Goal,
    /// Time limit, warm-up included.
    pub duration_max: Duration,
    /// Fixed warm-up to cut off; detected automatically if absent.
    pub warm_up: Option<Duration>,
    /// Which time the goal refers to.
    pub channel: Channel,
    /// Seeds the draws of this point.
    pub salt: u64,
    /// Set if each client is a source of random arrivals; `None` if clients follow the workload.
    pub sources: Option<Sources>,
    /// Whether the point only guides the search.
    pub is_scout: bool,
}

/// Sources of open-loop random arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sources {
    /// Arrivals per second from each.
    pub rate_each: f64,
    /// Mean response time at depth 1, nanoseconds, used to detect a queue that grows without bound.
    pub idle_ns: f64,
}

/// The load-curve procedure.
#[derive(Clone, Debug)]
pub struct LoadCurve {
    options: CurveOptions,
    visits: Vec<Visit>,
    searches: Option<Vec<CurveSearch>>,
    spent: Duration,
    /// Number of search points that doubled the clients. Later ones only narrow brackets.
    outward: usize,
    is_scouted: bool,
    is_saturated: bool,
    /// Arrival rate per source, once known.
    sources: Option<Sources>,
    /// Warnings of points that apply to the curve.
    kept: Vec<Warning>,
    /// Operations that failed at any point.
    failures: Failures,
    /// A load at which every operation failed. It has no response time and ends the search.
    failed: Option<Box<Measurement>>,
    /// What each client did at the first point.
    workload: Option<ClientSpec>,
}

/// The search for one level.
#[derive(Clone, Debug)]
struct CurveSearch {
    level: Duration,
    bracket: Bracket,
    tries: u32,
    /// How many times it moved to another bracket.
    moves: u32,
    is_closed: bool,
}

impl CurveSearch {
    /// Continues in another bracket. The tries before it do not count against its precision for the
    /// first `moves_max` moves, so that the search always ends.
    fn moved(&mut self, bracket: Bracket, moves_max: u32) {
        self.bracket = bracket;
        if self.moves < moves_max {
            self.moves += 1;
            self.tries = self.tries.saturating_sub(TRIES_OF_MOVE).max(1);
        }
    }
}

/// Position of a level as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    /// Below the response time of one client.
    Exceeded,
    /// Above the response time at the maximum number of clients.
    NotReached,
    /// Between two numbers of clients.
    Between { low: u32, high: u32 },
}

/// If doubling the clients raises the load by less than this factor, it has stopped growing.
const GROWTH_MIN: f64 = 1.05;
/// Minimum number of independent operations beyond a percentile, even for a search point.
const BEYOND_MIN: f64 = 10.0;
/// Warnings that may affect search points, which are never quoted: random arrivals beyond the
/// sustainable load fill all slots, and background I/O is large relative to a few operations.
const MAY_MISLEAD_ESTIMATES: [WarningCode; 2] = [WarningCode::OwnLimit, WarningCode::BackgroundIo];
/// Warnings of quoted points that apply to the whole curve: a busy worker, background I/O, and
/// whatever makes load and time depend on when they were measured.
const KEPT_DOUBTS: [WarningCode; 6] = [
    BUSY_WORKER,
    WarningCode::BackgroundIo,
    WarningCode::HeavyTail,
    WarningCode::Stall,
    WarningCode::Swing,
    WarningCode::WarmUp,
];
/// Tries to detect that a level lies outside a bracket, and to measure the new end.
const TRIES_OF_MOVE: u32 = 2;
/// Levels between the time of one client and the highest.
const THIRDS: usize = 3;
/// Number of sources that offer the load of one closed-loop client without think time: few enough
/// for a nearly empty queue, enough for steps of 10 % at half utilisation.
const SOURCES_PER_CLIENT: f64 = 32.0;

/// Warnings of a point that apply to the whole curve. A curve holds only numbers, so an invalid one
/// must be marked.
pub(crate) fn kept_of<'a>(
    plan: &PointPlan,
    measurement: &'a Measurement,
) -> impl Iterator<Item = &'a Warning> {
    let is_scout = plan.is_scout;
    let has = |code| measurement.warnings.iter().any(|it| it.code == code);
    let has_stall = has(WarningCode::Stall);
    measurement.warnings.iter().filter(move |warning| {
        let is_about_load = is_scout && MAY_MISLEAD_ESTIMATES.contains(&warning.code);
        // Failures are judged over all points.
        let is_of_all = warning.code == FAILED_OPERATIONS;
        // A stall makes its point slower for a while; one warning is enough.
        let is_twice = warning.code == WarningCode::Swing && has_stall;
        // A stall in one point would also occur in others that were too short to meet it.
        let counts = !is_scout || warning.code == WarningCode::Stall;
        let is_cited = KEPT_DOUBTS.contains(&warning.code) && counts && !is_twice;
        let is_void = warning.severity == Severity::Invalid && !is_about_load && !is_of_all;
        is_void || is_cited
    })
}

impl Plan for LoadCurve {
    type Step = PointPlan;

    fn next_step(&mut self) -> Option<PointPlan> {
        if self.failed.is_some() {
            return None;
        }
        if self.is_open() && self.sources.is_none() {
            return Some(self.scout(1));
        }
        if self.searches.is_none() {
            if !self.is_scouted {
                if let Some(clients) = self.next_scout_outwards() {
                    return Some(self.scout(clients));
                }
                self.outward = self.visits.len();
                self.is_scouted = true;
            }
            if let Some(plan) = self.no_load_point() {
                return Some(plan);
            }
            self.searches = Some(self.begin_searches());
        }
        let mut searches = self.searches.take()?;
        let plan = self.continue_searches(&mut searches);
        self.searches = Some(searches);
        plan
    }

    fn record(&mut self, plan: &PointPlan, measurement: &Measurement, elapsed: Duration) {
        self.spent += elapsed;
        if measurement.is_all_failed() {
            self.count_failures(measurement);
            self.failed = Some(Box::new(measurement.clone()));
            return;
        }
        if self.is_open() && self.sources.is_none() {
            self.sources = Some(Sources {
                rate_each: measurement.throughput.value / SOURCES_PER_CLIENT,
                idle_ns: measurement.response.mean.value,
            });
            return;
        }
        if self.workload.is_none() {
            self.workload.clone_from(&measurement.workload);
        }
        for warning in kept_of(plan, measurement) {
            self.keep(warning);
        }
        self.count_failures(measurement);
        self.visits
            .push(Visit::new(plan, self.options.channel, measurement, elapsed));
    }
}

impl LoadCurve {
    /// A procedure without measurements.
    pub fn new(options: CurveOptions) -> Self {
        Self {
            options,
            visits: Vec::new(),
            searches: None,
            spent: Duration::ZERO,
            outward: 0,
            is_scouted: false,
            is_saturated: false,
            sources: None,
            kept: Vec::new(),
            failures: Failures::default(),
            failed: None,
            workload: None,
        }
    }

    /// A procedure for other levels or another time that reuses the points of this one.
    pub fn continued(&self, options: CurveOptions) -> Self {
        let mut visits = self.visits.clone();
        for visit in &mut visits {
            visit.about(options.channel);
        }
        Self {
            options,
            visits,
            searches: None,
            spent: Duration::ZERO,
            ..self.clone()
        }
    }

    /// The levels, nanoseconds, once known.
    pub fn levels_ns(&self) -> Vec<u64> {
        let searches = self.searches.iter().flatten();
        searches.map(|search| search.level.as_nanos()).collect()
    }

    /// Records the measurement of `plan`, which took `elapsed` in total, and may have fallen behind
    /// its arrivals.
    pub fn record_behind(&mut self, plan: &PointPlan, measurement: &Measurement, took: Duration) {
        let known = self.visits.len();
        self.record(plan, measurement, took);
        for visit in &mut self.visits[known..] {
            visit.is_overloaded = true;
        }
    }

    /// The load that ended the search because every operation failed.
    pub fn failed(&self) -> Option<&Measurement> {
        self.failed.as_deref()
    }

    /// Keeps a warning of a point; of two with the same code, the more severe.
    fn keep(&mut self, warning: &Warning) {
        let mut kept = self.kept.iter_mut();
        match kept.find(|known| known.code == warning.code) {
            None => self.kept.push(warning.clone()),
            Some(known) if known.severity < warning.severity => known.clone_from(warning),
            Some(_) => {}
        }
    }

    /// Counts failures of a measurement that may belong to another curve of the same load.
    pub fn count_failures(&mut self, measurement: &Measurement) {
        self.failures.add(measurement);
    }

    /// Estimated progress for a screen, which never decreases.
    pub fn progress(&self) -> f64 {
        self.options.budget.map_or(0.0, |budget| {
            (self.spent.as_secs_f64() / budget.as_secs_f64()).min(1.0)
        })
    }

    /// The curve; `None` before its first point, or if the first load already failed.
    pub fn found(&self, title: &str) -> Option<Curve> {
        (!self.visits.is_empty()).then(|| self.curve(title))
    }

    /// The curve so far.
    pub fn curve(&self, title: &str) -> Curve {
        let mut points: Vec<CurvePoint> = self
            .visits
            .iter()
            .map(|visit| visit.point.clone())
            .collect();
        points.sort_by_key(|point| (point.clients, !point.is_scout));
        let (levels, disorder) = self.levels();
        let mut warnings = self.kept.clone();
        warnings.extend(self.failures.warning("load curve"));
        warnings.extend(disorder);
        warnings.extend(self.warnings(&levels));
        self.in_clients(Curve {
            title: title.into(),
            workload: self.workload.clone(),
            channel: self.options.channel,
            arrivals: self.options.arrivals,
            percentile: self.options.percentile,
            points,
            levels,
            saturation: self.saturation(),
            resolution: self.resolution(),
            errors: self.failures.errors().to_vec(),
            warnings,
        })
    }

    /// The result for each level, made consistent with the others, or a warning if they contradict
    /// each other.
    fn levels(&self) -> (Vec<CurveLevel>, Option<Warning>) {
        let searches = self.searches.iter().flatten();
        let level = |search: &CurveSearch| {
            Some(CurveLevel {
                open: None,
                level_ns: search.level.as_nanos(),
                outcome: self.outcome(search)?,
            })
        };
        let mut levels: Vec<CurveLevel> = searches.filter_map(level).collect();
        let disorder = order::in_order(&mut levels);
        (levels, disorder)
    }

    /// What every quoted point was long enough to detect.
    fn resolution(&self) -> Option<Resolution> {
        let cited = self.visits.iter().filter(|visit| !visit.point.is_scout);
        let seen = cited.filter_map(|visit| visit.resolution);
        seen.reduce(Resolution::both)
    }

    /// Distance between the ends of a bracket. A wider one is less sensitive to noise, a narrower
    /// one to curvature.
    fn gap(&self, low: u32) -> u32 {
        let part = if self.options.is_load_enough { 8 } else { 10 };
        (low / part).max(1)
    }

    // --- scouting -------------------------------------------------------------------------------

    fn next_scout_outwards(&mut self) -> Option<u32> {
        let Some(last) = self.visits.last() else {
            return Some(1);
        };
        let flat = self.flat_steps();
        let are_levels_passed = match &self.options.levels {
            Levels::Grid { .. } | Levels::Chosen(_) => !self.is_open(),
            Levels::Explicit(levels) => levels
                .iter()
                .max()
                .is_none_or(|level| last.time().value >= level.as_nanos() as f64),
            Levels::Thirds { max, .. } => last.time().value >= max.as_nanos() as f64,
        };
        self.is_saturated = if self.is_open() {
            last.is_overloaded
        } else {
            flat >= 2
        };
        let is_at_end = last.point.clients >= self.options.clients_max;
        // Open arrivals must not exceed what the storage can sustain.
        let is_enough = match self.options.arrivals {
            Arrivals::Closed => self.is_saturated && are_levels_passed,
            Arrivals::Open => self.is_saturated || are_levels_passed,
        };
        if is_at_end || is_enough || self.is_out_of_time() {
            return None;
        }
        Some(
            last.point
                .clients
                .saturating_mul(2)
                .min(self.options.clients_max),
        )
    }

    /// Counted time plus warm-up.
    fn with_warm_up(&self, counted: Duration) -> Duration {
        counted + self.options.warm_up.unwrap_or(Duration::ZERO)
    }

    /// Adds the requirement of a percentile: enough independent samples beyond it.
    fn about_percentile(&self, goal: &mut Goal) {
        goal.percentile = self.options.percentile;
        if let Some(p) = self.options.percentile {
            goal.samples_min = goal.samples_min.max(BEYOND_MIN / (1.0 - p));
        }
    }

    fn is_open(&self) -> bool {
        self.options.arrivals == Arrivals::Open
    }

    /// Number of final doublings with almost no gain.
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

    fn scout(&self, clients: u32) -> PointPlan {
        let mut goal = Goal::scout();
        goal.duration_min_ns = self.with_warm_up(self.options.scout_min).as_nanos();
        self.about_percentile(&mut goal);
        PointPlan {
            clients,
            goal,
            duration_max: self.with_warm_up(self.options.scout_max),
            warm_up: self.options.warm_up,
            channel: self.options.channel,
            salt: self.visits.len() as u64,
            sources: self.sources,
            is_scout: true,
        }
    }

    fn begin_searches(&self) -> Vec<CurveSearch> {
        let levels = match &self.options.levels {
            Levels::Explicit(levels) | Levels::Chosen(levels) => levels.clone(),
            Levels::Grid { count } => self.levels_of_grid(*count),
            Levels::Thirds { min, max } => self.levels_of_thirds(*min, *max),
        };
        let mut searches: Vec<CurveSearch> = levels
            .into_iter()
            .map(|level| CurveSearch {
                level,
                bracket: self.bracket(level),
                tries: 0,
                moves: 0,
                is_closed: false,
            })
            .collect();
        searches.sort_by_key(|search| search.level);
        searches.dedup_by_key(|search| search.level);
        searches
    }

    /// A single client, measured for the result before levels are derived from its time.
    fn no_load_point(&self) -> Option<PointPlan> {
        let no_load_max = self.options.no_load_max?;
        self.finals(1).is_none().then(|| PointPlan {
            duration_max: self.with_warm_up(no_load_max),
            ..self.final_point(1, self.options.precision)
        })
    }

    fn levels_of_thirds(&self, min: Duration, max: Duration) -> Vec<Duration> {
        let one = self.best(1).map_or(0.0, |visit| visit.time().value);
        let thirds = thirds(one, min, max);
        let below_max = |_: &f64| one.max(min.as_nanos() as f64) < max.as_nanos() as f64;
        let thirds = thirds.into_iter().filter(below_max);
        thirds
            .map(|level| Duration::from_nanos(level.round() as u64))
            .collect()
    }

    /// A level (nanoseconds) derived from the time of one client, with the interval from the
    /// interval of that time. `None` for a requested level.
    pub fn level_estimate(&self, level_ns: u64) -> Option<Estimate> {
        let Levels::Thirds { min, max } = self.options.levels else {
            return None;
        };
        let place = self.levels_ns().iter().position(|it| *it == level_ns)?;
        let one = self.finals(1)?.time();
        let at = |one: f64| thirds(one, min, max)[place];
        (place + 1 < THIRDS).then(|| Estimate {
            low: at(one.low),
            high: at(one.high.min(max.as_nanos() as f64)),
            ..Estimate::exact(level_ns as f64, one.samples)
        })
    }

    /// The first levels of the fixed grid clearly above the response time of one client and below
    /// that of the most clients.
    fn levels_of_grid(&self, count: usize) -> Vec<Duration> {
        let responses = || self.visits.iter().map(|visit| visit.time().value);
        let low = responses().fold(f64::INFINITY, f64::min) * 1.2;
        let high = responses().fold(0.0, f64::max);
        level_grid()
            .filter(|level| (low..high).contains(&(level.as_nanos() as f64)))
            .take(count)
            .collect()
    }
}

/// Levels (nanoseconds) at one third, two thirds and all of the way from the time of one client, or
/// `min` if larger, to `max`.
fn thirds(one: f64, min: Duration, max: Duration) -> [f64; THIRDS] {
    let no_load = one.max(min.as_nanos() as f64);
    let way = max.as_nanos() as f64 - no_load;
    std::array::from_fn(|place| no_load + (place + 1) as f64 * way / THIRDS as f64)
}
