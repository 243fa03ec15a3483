//! One workload of the RAID Performance Test, measured in minutes: its next step, and its RABmarks.
//!
//! A transaction workload is a load curve whose levels refer to the service time, which the RPT
//! manual calls response time; the loads at which the response time from due crosses the same
//! levels are also found. A batch workload is one load, repeated at several sets of places
//! (`rab_batch`). The manual's own procedure, step for step, is in `vintage::rpt`.

use results::{
    Arrivals, Curve, CurveLevel, LevelOutcome, Measurement, Mode, RabGroup, RabLevel, RabWorkload,
    Rabmark, Severity, Warning, WarningCode,
};
use stats::Channel;
use units::{Duration, format_duration_ns};

use crate::curve::{CurveOptions, Levels, LoadCurve, PointPlan, kept_of, warm_up_left_out};
use crate::plan::Plan;
use crate::rab_batch::BatchSets;
use crate::replications::CITABLE_SAMPLES;

/// Options of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct RabOptions {
    /// Levels; thirds of the way to `response_max` if empty.
    pub levels: Vec<Duration>,
    /// The percentile that they refer to, 0 to 1; `None` for the mean.
    pub percentile: Option<f64>,
    /// Minimum for the time without load.
    pub response_min: Duration,
    /// The highest level.
    pub response_max: Duration,
    /// Requested relative half-width.
    pub precision: f64,
    /// Maximum number of clients of a transaction workload.
    pub clients_max: u32,
    /// Fixed warm-up of every point and of a batch workload; detected automatically if absent.
    pub warm_up: Option<Duration>,
    /// Time for one workload.
    pub budget: Duration,
}

/// Share of a transaction workload's time for its levels of service time.
const SERVICE_SHARE: f64 = 0.8;
/// Share of a workload's time for the single client.
const NO_LOAD_SHARE: f64 = 0.15;
/// Share of the time that any point may take, search points included.
const LONG_POINT: f64 = 0.05;
const LONG_SCOUT: f64 = 0.002;

/// Identity of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct RabSubject {
    /// Number of the cycle through all workloads, from 1.
    pub run: u32,
    /// Number of the workload in the set, from 1.
    pub number: u32,
    /// Its name, in kebab case.
    pub name: String,
    /// Description.
    pub title: String,
    /// The fixed number of clients of a batch workload; `None` for a transaction workload.
    pub clients: Option<u32>,
    /// The mode in which it is measured.
    pub mode: Mode,
    /// Start, from the start of the run.
    pub begun: Duration,
}

impl RabSubject {
    /// Its group.
    pub const fn group(&self) -> RabGroup {
        match self.clients {
            None => RabGroup::Transaction,
            Some(_) => RabGroup::Batch,
        }
    }
}

/// The procedure of one workload.
#[derive(Clone, Debug)]
pub struct RabProcedure {
    subject: RabSubject,
    options: RabOptions,
    stage: RabStage,
    operations: u64,
    spent: Duration,
    warnings: Vec<Warning>,
    is_finished: bool,
}

#[derive(Clone, Debug)]
enum RabStage {
    Batch(Box<BatchSets>),
    Service(Box<LoadCurve>),
    Response {
        service: Box<LoadCurve>,
        response: Box<LoadCurve>,
    },
}

impl Plan for RabProcedure {
    type Step = PointPlan;

    fn next_step(&mut self) -> Option<PointPlan> {
        let step = match &mut self.stage {
            RabStage::Batch(sets) => sets.next_point(),
            RabStage::Service(curve) => curve.next_step().or_else(|| self.begin_response()),
            RabStage::Response { response, .. } => response.next_step(),
        };
        self.is_finished |= step.is_none();
        step
    }

    fn record(&mut self, plan: &PointPlan, measurement: &Measurement, elapsed: Duration) {
        self.operations += measurement.completions_all;
        self.spent += elapsed;
        match &mut self.stage {
            RabStage::Batch(sets) => sets.record(measurement, self.spent),
            RabStage::Service(curve) => curve.record(plan, measurement, elapsed),
            RabStage::Response { service, response } => {
                response.record(plan, measurement, elapsed);
                service.count_failures(measurement);
            }
        }
        if let RabStage::Response { .. } = self.stage {
            // Only the levels of this curve are kept.
            kept_of(plan, measurement).for_each(|warning| self.warn(warning.clone()));
        }
    }
}

impl RabProcedure {
    /// A procedure without measurements.
    pub fn new(subject: RabSubject, options: RabOptions) -> Self {
        let stage = match subject.group() {
            RabGroup::Batch => {
                let clients = subject.clients.unwrap_or(1);
                RabStage::Batch(Box::new(BatchSets::new(&options, clients)))
            }
            RabGroup::Transaction => {
                RabStage::Service(Box::new(LoadCurve::new(curve_options(&options))))
            }
        };
        Self {
            subject,
            options,
            stage,
            operations: 0,
            spent: Duration::ZERO,
            warnings: Vec::new(),
            is_finished: false,
        }
    }

    /// The workload.
    pub const fn subject(&self) -> &RabSubject {
        &self.subject
    }

    /// Records a trial of `elapsed` without operations. Returns the remaining time.
    pub fn after_silence(&mut self, elapsed: Duration) -> Duration {
        self.spent += elapsed;
        self.options.budget.saturating_sub(self.spent)
    }

    /// Adds a warning about the whole workload, once per code.
    pub fn warn(&mut self, warning: Warning) {
        if self.warnings.iter().all(|known| known.code != warning.code) {
            self.warnings.push(warning);
        }
    }

    /// Estimated progress, which never decreases.
    pub fn progress(&self) -> f64 {
        if self.is_finished {
            return 1.0;
        }
        (self.spent.as_secs_f64() / self.options.budget.as_secs_f64()).min(1.0)
    }

    /// The curve of service time so far.
    pub fn curve(&self) -> Option<Curve> {
        let title = &self.subject.title;
        let mut curve = self.service()?.found(title)?;
        // Warnings of several workloads share one list.
        for warning in &mut curve.warnings {
            warning.cause = format!("{title}: {}", warning.cause);
        }
        Some(curve)
    }

    /// The load of a batch workload; of a transaction workload, the load at which every operation
    /// failed.
    fn measurement(&self) -> Option<Measurement> {
        match &self.stage {
            RabStage::Batch(sets) => sets.measurement(),
            RabStage::Service(curve) => curve.failed().cloned(),
            RabStage::Response { service, response } => {
                service.failed().or(response.failed()).cloned()
            }
        }
    }

    /// Whether a batch workload has enough sets of places for RABmarks.
    fn has_enough_sets(&self) -> bool {
        matches!(&self.stage, RabStage::Batch(sets) if sets.are_replications())
    }

    /// Number of sets of places of a batch workload.
    fn place_sets(&self) -> Option<u32> {
        match &self.stage {
            RabStage::Batch(sets) => Some(sets.count()),
            RabStage::Service(_) | RabStage::Response { .. } => None,
        }
    }

    /// The results so far.
    pub fn workload(&self) -> RabWorkload {
        let measurement = self.measurement();
        let (rabmark_r, rabmark_s) = match (&measurement, self.service()) {
            (_, Some(curve)) if curve.failed().is_none() => (curve.rabmark_r(), curve.rabmark_s()),
            (Some(load), None) if self.has_enough_sets() => batch_marks(load),
            _ => (None, None),
        };
        RabWorkload {
            run: self.subject.run,
            number: self.subject.number,
            name: self.subject.name.clone(),
            title: self.subject.title.clone(),
            group: self.subject.group(),
            mode: self.subject.mode,
            begun_ns: self.subject.begun.as_nanos(),
            elapsed_ns: self.spent.as_nanos(),
            operations: self.operations,
            is_complete: self.is_finished,
            no_load: self.service().and_then(LoadCurve::no_load),
            levels: self.levels(),
            curve: self.curve(),
            place_sets: self.place_sets(),
            measurement,
            rabmark_r,
            rabmark_s,
            warnings: self.warnings(),
        }
    }

    /// Warnings of the workload. A curve reports the warm-up of its points itself.
    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.warnings.clone();
        if let (RabGroup::Batch, Some(warm_up)) = (self.subject.group(), self.options.warm_up) {
            warnings.push(warm_up_left_out(warm_up, "batch workload"));
        }
        warnings.extend(self.no_load_unsure());
        warnings
    }

    /// Warns if the time of one client is less precise than the levels derived from it should be.
    fn no_load_unsure(&self) -> Option<Warning> {
        let service = self.service().filter(|_| self.options.levels.is_empty())?;
        let alone = service.no_load()?.service;
        let half = alone.relative_half_width();
        let severity = match alone.samples < CITABLE_SAMPLES {
            true => Severity::Warning,
            false => Severity::Info,
        };
        (half > self.options.precision).then(|| {
            Warning::new(
                severity,
                WarningCode::NotConverged,
                format!(
                    "{}: the service time of one client is known to +- {:.1} %, from {:.0} \
                     independent operations. The levels made from it are as unsure, and RABmark[r] \
                     has that in its interval.",
                    self.subject.title,
                    100.0 * half,
                    alone.samples,
                ),
            )
            .advise("Allow more time with --budget.")
        })
    }

    fn service(&self) -> Option<&LoadCurve> {
        match &self.stage {
            RabStage::Batch(_) => None,
            RabStage::Service(curve) => Some(curve),
            RabStage::Response { service, .. } => Some(service),
        }
    }

    /// Starts the search for the same levels of the response time from due.
    fn begin_response(&mut self) -> Option<PointPlan> {
        let RabStage::Service(service) = &self.stage else {
            return None;
        };
        let levels = service.levels_ns().into_iter().map(Duration::from_nanos);
        let options = CurveOptions {
            channel: Channel::Response,
            levels: Levels::Explicit(levels.collect()),
            budget: Some(self.options.budget.saturating_sub(self.spent)),
            tries_max: 6,
            ..curve_options(&self.options)
        };
        let mut response = Box::new(service.continued(options));
        let step = response.next_step();
        self.stage = RabStage::Response {
            service: service.clone(),
            response,
        };
        step
    }

    fn levels(&self) -> Vec<RabLevel> {
        let Some(curve) = self.curve() else {
            return Vec::new();
        };
        let by_response = match &self.stage {
            RabStage::Response { response, .. } => response.curve("").levels,
            _ => Vec::new(),
        };
        let outcome = |level: &CurveLevel| -> Option<LevelOutcome> {
            let same = by_response.iter().find(|it| it.level_ns == level.level_ns);
            same.map(|level| level.outcome)
        };
        let levels = curve.levels.iter().enumerate();
        levels
            .map(|(index, level)| RabLevel {
                label: self.label(index, level.level_ns),
                level_ns: level.level_ns,
                level_estimate: self
                    .service()
                    .and_then(|service| service.level_estimate(level.level_ns)),
                by_service: level.outcome,
                by_response: outcome(level),
            })
            .collect()
    }

    fn label(&self, index: usize, level_ns: u64) -> String {
        const THIRDS: [&str; 3] = ["1/3", "2/3", "max"];
        match THIRDS.get(index) {
            Some(label) if self.options.levels.is_empty() => (*label).into(),
            _ => format_duration_ns(level_ns as f64),
        }
    }
}

/// Limits of the points, as shares of a workload's time.
fn curve_options(options: &RabOptions) -> CurveOptions {
    let time = options.budget.mul_f64(SERVICE_SHARE);
    let share = |part: f64, low: u64, high: u64| {
        time.mul_f64(part)
            .max(Duration::from_millis(low))
            .min(Duration::from_millis(high))
    };
    // A budget of hours should be used where the result needs it: in virtual time, or for storage
    // whose mean converges slowly.
    let long = |part: f64, low: u64, high: u64, large: f64| {
        share(part, low, high).max(time.mul_f64(large))
    };
    CurveOptions {
        channel: Channel::Service,
        percentile: options.percentile,
        arrivals: Arrivals::Closed,
        levels: match options.levels.as_slice() {
            [] => Levels::Thirds {
                min: options.response_min,
                max: options.response_max,
            },
            levels => Levels::Explicit(levels.to_vec()),
        },
        clients_max: options.clients_max,
        clients_each: 1,
        precision: options.precision,
        warm_up: options.warm_up,
        scout_min: share(0.005, 200, 1_000),
        scout_max: long(0.02, 300, 10_000, LONG_SCOUT),
        final_min: share(0.04, 300, 5_000),
        final_max: long(0.25, 1_000, 60_000, LONG_POINT),
        no_load_max: Some(share(NO_LOAD_SHARE, 1_000, u64::MAX / 2_000_000)),
        is_load_enough: true,
        tries_max: 12,
        budget: Some(time),
    }
}

/// Load over response time, and throughput, of one load.
fn batch_marks(load: &Measurement) -> (Option<Rabmark>, Option<Rabmark>) {
    let rate = load.throughput;
    let time = load.service.mean;
    // With clients that never wait, time = clients / rate, so that rate over time is proportional
    // to rate^2, and its relative half-width is twice that of the rate.
    let value = rate.value / time.value * 1e6;
    let half_width = 2.0 * rate.relative_half_width() * value;
    let ratio = stats::Estimate {
        low: (value - half_width).max(0.0),
        high: value + half_width,
        ..stats::Estimate::exact(value, rate.samples)
    };
    let mark = |value| Rabmark {
        value,
        is_whole: true,
    };
    let bandwidth = load
        .bandwidth
        .map(|bandwidth| bandwidth.scale(1.0 / f64::from(1 << 20)));
    (Some(mark(ratio)), bandwidth.map(mark))
}
