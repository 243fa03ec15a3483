//! The check-up: which trials to run, in which order, and how much time each gets.
//!
//! Time that one phase does not need goes to later ones. Knows nothing about files: the caller
//! states how much room there is, and the check-up says how large a test file it wants.

mod arrivals;
mod change;
mod findings;
mod phases;

use results::{Access, Curve, Measurement, Warning, WarningCode};
use serde::{Deserialize, Serialize};
use stats::RESOLVABLE;
use units::{Bytes, Duration, format_duration_ns};

use crate::curve::{CurveOptions, Levels, LoadCurve, PointPlan};
use crate::offer::{OfferedFigures, OfferedRow};
use crate::plan::Plan;
use crate::trial::Trial;

use change::{LevelChanges, LookedAt, RowLook, is_comparable};
use findings::findings;
pub(crate) use findings::{carried_at, load_carried};
use phases::CheckUpPhase;
pub use phases::{
    CACHE_FILE, FIRST_SMALL_FILE, MAIN_BUFFERED, MAIN_DIRECT, SMALL_FILES_MAX, cached_part, deals,
    fill_trial, is_second_look,
};

/// Properties of the target, known before the check-up starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckUpFacts {
    /// Whether Seekstone may create its own files. Otherwise an existing target is read.
    pub makes_files: bool,
    /// Whether an existing target may be written.
    pub may_overwrite: bool,
    /// Size of an existing target.
    pub existing: Option<Bytes>,
    /// Maximum size of the test file.
    pub room: Bytes,
    /// Memory that the page cache could use.
    pub memory: Bytes,
    /// How the target is accessed.
    pub access: Access,
    /// Whether the target is behind a page cache.
    pub has_page_cache: bool,
}

/// Options of a check-up.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckUpOptions {
    /// Total time.
    pub budget: Duration,
    /// Size of the test file; chosen automatically if absent.
    pub size: Option<Bytes>,
    /// Levels of the load curve.
    pub levels: Levels,
    /// The percentile that the levels refer to, 0 to 1; `None` for the mean.
    pub percentile: Option<f64>,
    /// Maximum number of clients in the load curve.
    pub clients_max: u32,
    /// Rates, operations per second, at which goals require the random read.
    pub rates: Vec<f64>,
    /// Properties of the target.
    pub facts: CheckUpFacts,
}

/// A trial, with its preparation.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckUpStep {
    pub trial: Trial,
    /// Extend the test file to this size first, with any content. The trial then writes all of it.
    pub lays_out: Option<Bytes>,
}

/// Results of a check-up.
#[derive(Clone, Debug)]
pub struct CheckUpOutcome {
    /// The rows, in order of measurement.
    pub measurements: Vec<Measurement>,
    /// The load curve so far.
    pub curve: Option<Curve>,
    /// Findings from rows and curve, the most important first.
    pub findings: Vec<String>,
}

/// The check-up procedure.
#[derive(Clone, Debug)]
pub struct CheckUp {
    options: CheckUpOptions,
    phases: Vec<CheckUpPhase>,
    position: usize,
    spent: Duration,
    size: Bytes,
    laid_out: u32,
    /// Whether the test file has been written completely.
    is_written: bool,
    files_made: u32,
    curve: Option<LoadCurve>,
    point: Option<PointPlan>,
    finished_curve: Option<Curve>,
    /// Number of curve levels that were tried under random arrivals or need not be.
    tried_open: usize,
    measurements: Vec<Measurement>,
    /// All readings of rows of reads.
    looks: Vec<RowLook>,
    /// Second measurements of rows, by the names of the first ones.
    again: Vec<(String, Measurement)>,
    /// Rows skipped for lack of time.
    left_out: Vec<&'static str>,
}

/// Minimum useful size of the test file.
pub const SIZE_MIN: Bytes = Bytes::from_mib(16);

/// Sizes of the first two layouts, which measure the write speed.
const TRIAL_LAYOUTS: [Bytes; 2] = [Bytes::from_mib(8), Bytes::from_mib(128)];
/// A test file of this size exceeds every known device cache.
const SIZE_ENOUGH: Bytes = Bytes::from_gib(8);
/// The test file takes this part of the room by default.
const ROOM_PART: u64 = 4;
/// Minimum length of a row, which shows events that occur once in 3 s ...
const ROW_LEAST: Duration = Duration::from_secs(10);
/// ... or this part of the budget, if that is below the default.
const ROW_PART: f64 = 1.0 / 11.0;
/// Weight that corresponds to a row of that length.
const WEIGHT_OF_ROW: f64 = 10.0;
/// If the test file was written in less than this part of a row, it is written again for a whole
/// row.
const BRIEF: f64 = 0.5;

impl Plan for CheckUp {
    type Step = CheckUpStep;

    fn next_step(&mut self) -> Option<CheckUpStep> {
        let measured = |trial| CheckUpStep {
            trial,
            lays_out: None,
        };
        loop {
            let &phase = self.phases.get(self.position)?;
            let time = match phase.repeats() {
                // Time is reserved for it. Time that it does not need stays available.
                Some(_) => self.row_least().mul_f64(phase.weight() / WEIGHT_OF_ROW),
                None if phase.is_short() => self.time_for(phase),
                None => self.time_for(phase).max(self.row_least()),
            };
            let step = match phase {
                CheckUpPhase::SequentialWrite => self.layout_step(time),
                CheckUpPhase::Curve => self.curve_trial(time).map(measured),
                CheckUpPhase::Arrivals => self.arrivals_trial(time).map(measured),
                CheckUpPhase::Rated => self.rated_trial(time).map(measured),
                CheckUpPhase::FilesRead | CheckUpPhase::FilesRemove if self.files_made == 0 => None,
                _ if self.is_left_out(phase) => None,
                simple => self.row(simple, time).map(measured),
            };
            match step {
                Some(step) => return Some(step),
                None => self.position += 1,
            }
        }
    }

    fn record(&mut self, _: &CheckUpStep, measurement: &Measurement, elapsed: Duration) {
        let begun = self.spent;
        self.spent += elapsed;
        let Some(&phase) = self.phases.get(self.position) else {
            return;
        };
        self.look(phase, measurement, begun);
        match phase {
            CheckUpPhase::SequentialWrite => self.record_layout(measurement.clone()),
            CheckUpPhase::Curve => {
                if let (Some(curve), Some(point)) = (&mut self.curve, self.point.take()) {
                    curve.record(&point, measurement, elapsed);
                }
            }
            CheckUpPhase::Arrivals => self.record_arrivals(measurement),
            CheckUpPhase::Rated => self.keep(Measurement {
                is_for_goal: true,
                ..measurement.clone()
            }),
            CheckUpPhase::FilesMake => {
                self.files_made = u32::try_from(measurement.completions_all).unwrap_or(u32::MAX);
                self.keep(measurement.clone());
            }
            CheckUpPhase::SequentialAgain | CheckUpPhase::RandomAgain => {
                let name = phase.repeats().and_then(CheckUpPhase::row_name);
                self.again
                    .extend(name.map(|name| (name.to_owned(), measurement.clone())));
                self.position += 1;
            }
            _ => self.keep(measurement.clone()),
        }
    }
}

impl CheckUp {
    /// A check-up without measurements.
    pub fn new(options: CheckUpOptions) -> Self {
        let phases = phases::of(&options.facts, options.rates.len());
        let size = options.facts.existing.unwrap_or(Bytes(0));
        Self {
            phases,
            position: 0,
            spent: Duration::ZERO,
            size,
            laid_out: 0,
            is_written: false,
            files_made: 0,
            curve: None,
            point: None,
            finished_curve: None,
            tried_open: 0,
            measurements: Vec::new(),
            looks: Vec::new(),
            again: Vec::new(),
            left_out: Vec::new(),
            options,
        }
    }

    /// The plan, with the share of the time of each kind of row.
    pub fn planned(&self) -> Vec<(&'static str, Duration)> {
        let weights: f64 = self.phases.iter().map(|it| it.weight()).sum();
        let mut planned: Vec<(&'static str, Duration)> = Vec::new();
        for phase in &self.phases {
            let time = self.options.budget.mul_f64(phase.weight() / weights);
            match planned.iter_mut().find(|(name, _)| *name == phase.sort()) {
                Some((_, all)) => *all += time,
                None => planned.push((phase.sort(), time)),
            }
        }
        planned
    }

    /// Records the speed of a row of reads, wherever it is measured.
    fn look(&mut self, phase: CheckUpPhase, measurement: &Measurement, begun: Duration) {
        let one_client = self.point.as_ref().is_some_and(|it| it.clients == 1);
        let (row, place) = match phase {
            CheckUpPhase::SequentialRead | CheckUpPhase::RandomRead => (phase, LookedAt::Row),
            CheckUpPhase::Curve if one_client => (CheckUpPhase::RandomRead, LookedAt::Curve),
            CheckUpPhase::SequentialAgain | CheckUpPhase::RandomAgain => match phase.repeats() {
                Some(row) => (row, LookedAt::End),
                None => return,
            },
            _ => return,
        };
        // Through the page cache, later readings would hit more.
        if self.options.facts.access == Access::Buffered || !is_comparable(measurement) {
            return;
        }
        let name = row.row_name().unwrap_or_default();
        let times = (begun, self.spent);
        self.looks
            .push(RowLook::new(name, place, measurement, times));
    }

    /// Whether nothing has been measured.
    pub const fn is_empty(&self) -> bool {
        self.measurements.is_empty()
    }

    /// Results so far.
    pub fn outcome(&self) -> CheckUpOutcome {
        let mut measurements = self.measurements.clone();
        let curve = self.finished_curve.clone();
        let mut curve = curve.or_else(|| self.curve.as_ref()?.found(phases::CURVE_TITLE));
        let changes = LevelChanges::of(&self.looks);
        changes.mark(&mut measurements, &self.again, curve.as_mut());
        if let Some(curve) = &mut curve {
            curve.warnings.extend(unmet_stall(&measurements, curve));
        }
        let mut findings = findings(&measurements, curve.as_ref());
        findings.splice(0..0, changes.headline());
        CheckUpOutcome {
            measurements,
            curve,
            findings,
        }
    }

    /// Size of the test file.
    pub const fn size(&self) -> Bytes {
        self.size
    }

    /// Progress, 0 to 1.
    pub fn progress(&self) -> f64 {
        let weight =
            |phases: &[CheckUpPhase]| phases.iter().map(|phase| phase.weight()).sum::<f64>();
        let all = weight(&self.phases).max(1e-9);
        let part = match (self.phases.get(self.position), &self.curve) {
            (Some(phase @ CheckUpPhase::Curve), Some(curve)) => phase.weight() * curve.progress(),
            _ => 0.0,
        };
        ((weight(&self.phases[..self.position.min(self.phases.len())]) + part) / all).min(1.0)
    }

    /// Minimum length of a row. Fewer rows are better than shorter ones, which would all miss rare
    /// events.
    fn row_least(&self) -> Duration {
        self.options.budget.mul_f64(ROW_PART).min(ROW_LEAST)
    }

    /// Whether an optional phase is skipped because there is no time for a whole row.
    fn is_left_out(&mut self, phase: CheckUpPhase) -> bool {
        let left = self.options.budget.saturating_sub(self.spent);
        let left_out = phase.left_out_as().filter(|_| left < self.row_least());
        self.left_out.extend(left_out);
        left_out.is_some()
    }

    fn row(&self, phase: CheckUpPhase, time: Duration) -> Option<Trial> {
        phases::trial(phase, &self.scene(), time, self.row_least())
    }

    /// A warning about skipped rows, if there are any.
    pub fn doubts(&self) -> Option<Warning> {
        (!self.left_out.is_empty()).then(|| {
            Warning::info(
                WarningCode::RowsLeftOut,
                format!(
                    "not measured for lack of time: {}.",
                    self.left_out.join(", ")
                ),
            )
            .advise("Allow more time with --budget.")
        })
    }

    fn keep(&mut self, measurement: Measurement) {
        self.measurements.push(measurement);
        self.position += 1;
    }

    /// The figures that a check-up of such a target offers, with the load curve at these levels.
    pub fn offer(facts: &CheckUpFacts, levels: Option<Vec<(u64, Option<f64>)>>) -> OfferedFigures {
        let rows = phases::of(facts, 0)
            .into_iter()
            .filter_map(CheckUpPhase::row_name);
        let offer = rows.fold(OfferedFigures::default(), |offer, name| {
            offer.and(OfferedRow::Named(name.into()), "trial")
        });
        offer.and_curve(levels).and_rated(phases::RANDOM_READ)
    }

    /// The trial for the next rate of a goal.
    fn rated_trial(&self, time: Duration) -> Option<Trial> {
        let earlier = self.phases[..self.position].iter();
        let at = earlier.filter(|it| **it == CheckUpPhase::Rated).count();
        let rate = *self.options.rates.get(at)?;
        let trial = phases::rated(&self.scene(), rate, time, self.row_least());
        Some(Trial {
            salt: phases::salt(CheckUpPhase::Rated, at as u64),
            ..trial
        })
    }

    /// The phase's share of the remaining time.
    fn time_for(&self, phase: CheckUpPhase) -> Duration {
        let left = self.options.budget.saturating_sub(self.spent);
        let weights: f64 = self.phases[self.position..]
            .iter()
            .map(|later| later.weight())
            .sum();
        let least = Duration::from_millis(200);
        left.mul_f64(phase.weight() / weights.max(phase.weight()))
            .max(least)
    }

    fn scene(&self) -> phases::CheckUpTarget<'_> {
        phases::CheckUpTarget {
            facts: &self.options.facts,
            size: self.size,
            files_made: self.files_made,
        }
    }

    // --- layout ---------------------------------------------------------------------------------

    fn layout_step(&mut self, time: Duration) -> Option<CheckUpStep> {
        if !self.options.facts.makes_files || self.is_written {
            // An already written file is rewritten for as long as time allows.
            let time = match self.is_written {
                true => self.row_least(),
                false => time,
            };
            let trial = self.row(CheckUpPhase::SequentialWrite, time)?;
            return Some(CheckUpStep {
                trial,
                lays_out: None,
            });
        }
        let most = self.size_most();
        let size = match self.options.size {
            Some(size) => size.min(self.options.facts.room),
            None => match TRIAL_LAYOUTS.get(self.laid_out as usize) {
                Some(&first) if self.laid_out == 0 && first < most => first,
                Some(&next) if next < most => next.min(self.affordable_size(time)),
                _ => self.affordable_size(time).min(most),
            },
        };
        self.size = round_down(size.max(SIZE_MIN.min(most)));
        // The whole file must be written, since reads of holes would be invalid. The pass ends when
        // it is complete.
        let trial = phases::layout(&self.scene(), time * 3)?;
        Some(CheckUpStep {
            trial: Trial {
                salt: phases::salt(CheckUpPhase::SequentialWrite, self.laid_out.into()),
                ..trial
            },
            lays_out: Some(self.size),
        })
    }

    fn size_most(&self) -> Bytes {
        let facts = &self.options.facts;
        Bytes(facts.room.0 / ROOM_PART)
            .max(SIZE_MIN)
            .min(facts.room)
            .min(SIZE_ENOUGH)
    }

    /// The size that can be written in `time` at the speed of the last layout.
    fn affordable_size(&self, time: Duration) -> Bytes {
        let speed = self
            .measurements
            .last()
            .and_then(|last| last.bandwidth)
            .map_or(0.0, |bandwidth| bandwidth.value);
        // The rest of the time allows write caches of the device to fill up.
        Bytes((speed * time.as_secs_f64() * 0.7) as u64).max(TRIAL_LAYOUTS[0])
    }

    fn record_layout(&mut self, measurement: Measurement) {
        let most = self.size_most();
        let is_last = !self.options.facts.makes_files
            || self.options.size.is_some()
            || self.size >= round_down(most)
            || self.laid_out as usize >= TRIAL_LAYOUTS.len()
            // A slow target: the first layouts used up the time.
            || self.spent >= self.options.budget.mul_f64(0.1);
        self.laid_out += 1;
        let lasted = Duration::from_nanos(measurement.warmup_ns + measurement.duration_ns);
        let is_brief = self.options.facts.makes_files && lasted < self.row_least().mul_f64(BRIEF);
        self.measurements
            .retain(|earlier| earlier.name != measurement.name);
        self.measurements.push(measurement);
        if is_last && is_brief && !self.is_written {
            self.is_written = true;
        } else if is_last || self.is_written {
            self.position += 1;
        }
    }

    // --- curve ----------------------------------------------------------------------------------

    fn curve_trial(&mut self, time: Duration) -> Option<Trial> {
        if self.curve.is_none() {
            self.curve = Some(LoadCurve::new(self.curve_options(time)));
        }
        let curve = self.curve.as_mut()?;
        let Some(plan) = curve.next_step() else {
            self.finished_curve = curve.found(phases::CURVE_TITLE);
            self.measurements.extend(curve.failed().cloned());
            self.curve = None;
            return None;
        };
        let trial = phases::curve_point(&self.scene(), &plan);
        self.point = Some(plan);
        Some(trial)
    }

    /// Minimum and maximum times of the curve's points, as shares of its time.
    fn curve_options(&self, time: Duration) -> CurveOptions {
        let share = |part: f64, least: u64| time.mul_f64(part).max(Duration::from_millis(least));
        CurveOptions {
            levels: self.options.levels.clone(),
            percentile: self.options.percentile,
            clients_max: self.options.clients_max,
            precision: 0.05,
            scout_min: share(0.01, 100).min(Duration::from_secs(1)),
            scout_max: share(0.08, 300),
            final_min: share(0.04, 300).min(Duration::from_secs(5)),
            final_max: share(0.15, 1_000),
            tries_max: 6,
            budget: Some(time),
            ..CurveOptions::default()
        }
    }
}

/// The warning about a curve whose points were too short to meet a stall that the row of the same
/// reads met.
fn unmet_stall(rows: &[Measurement], curve: &Curve) -> Option<Warning> {
    let has_stall = |warnings: &[Warning]| warnings.iter().any(|it| it.code == WarningCode::Stall);
    let mut rows = rows.iter().filter(|it| it.name == phases::RANDOM_READ);
    let row = rows.find(|it| has_stall(&it.warnings))?;
    let shortest_ns = curve.resolution?.slowest_change_ns * RESOLVABLE;
    let cause = format!(
        "load curve: no point stalled within {}, and {} did. Loads do not include such stalls.",
        format_duration_ns(shortest_ns as f64),
        row.title
    );
    let doubt = Warning::warn(WarningCode::Stall, cause);
    let doubt = doubt.advise("Run `seekstone curve`, whose points are longer.");
    (!has_stall(&curve.warnings)).then_some(doubt)
}

fn round_down(size: Bytes) -> Bytes {
    Bytes(size.0 / phases::SEQUENTIAL_UNIT * phases::SEQUENTIAL_UNIT)
}
