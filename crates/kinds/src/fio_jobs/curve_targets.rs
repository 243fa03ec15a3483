//! A load curve over several targets or workloads at once, that says which target saturates first.

use host::interrupt::Interrupt;
use lab::bench::{BenchError, OpenedBench};
use lab::laboratory::{Laboratory as _, Outcome};
use procedure::{CurveOptions, LoadCurve, Plan as _, PointPlan, Trial};
use results::{Measurement, Run, Setup, Status, TargetDescription, Warning};
use stats::Estimate;
use units::{Duration, Instant, format_count, format_counted};

use super::load_shares::LoadShares;
use super::opened::{OpenedJobs, open_jobs};
use super::plan::FioPlan;
use super::reporting::PhaseReporter;
use super::run::{FioRequest, FioSession, JobTimes, Recall, TrialShape, trial};
use super::saturation::{TargetAt, TargetLoads};
use super::targets::{names_of, row_of, specs_of};
use crate::session::{self, MeasurementSession};
use crate::single_load::resolve_levels;
use crate::stage::{RunPlan, Show, Stage};

/// What a curve over several targets or workloads is asked for.
#[derive(Clone, Debug)]
pub struct CurveOfTargets {
    /// The curve of all of them together.
    pub options: CurveOptions,
    /// Whose part of a load is how large.
    pub shares: LoadShares,
    /// What is done, in words.
    pub title: String,
}

/// Measure the load curve of targets that are loaded at once.
///
/// # Errors
/// When nothing could be measured.
pub fn curve_of_targets(
    request: &FioRequest,
    asked: &CurveOfTargets,
    (interrupt, show): (&Interrupt, Show<'_>),
) -> Result<Run, BenchError> {
    let OpenedJobs { plan, mut opened } = open_jobs(request)?;
    opened.description.given = names_of(request).join(", ");
    session::carry_out(CurveMeasurer {
        request,
        asked,
        session: FioSession::new(&plan, PhaseReporter::default(), interrupt, show),
        plan,
        opened,
        procedure: LoadCurve::new(asked.options.clone()),
        loads: TargetLoads::default(),
        most: None,
        idle: Vec::new(),
    })
}

struct CurveMeasurer<'a, 'b> {
    request: &'a FioRequest,
    plan: FioPlan,
    opened: OpenedBench,
    asked: &'a CurveOfTargets,
    session: FioSession<'a, 'b>,
    procedure: LoadCurve,
    loads: TargetLoads,
    /// Clients of the highest load that was kept up with, and the rows there.
    most: Option<(u32, Vec<Measurement>)>,
    /// Rows where nobody waits for another.
    idle: Vec<(usize, Measurement)>,
}

impl MeasurementSession for CurveMeasurer<'_, '_> {
    type Outcome = Run;

    fn now(&mut self) -> Instant {
        self.opened.bench.laboratory().now()
    }

    fn plan(&self) -> RunPlan {
        let options = &self.asked.options;
        RunPlan {
            phases: vec![("lay out", None), ("measure", options.budget)],
            budget: None,
        }
    }

    fn show(&mut self, stage: &Stage<'_>) {
        (self.session.show)(stage);
    }

    fn measure(&mut self) -> Result<(), BenchError> {
        let bench = &mut self.opened.bench;
        self.session.lay_out(&self.plan, bench)?;
        let recall = match self.plan.writes_blank_files() {
            true => Recall::Never,
            false => Recall::WhereKept,
        };
        while let Some(point) = self.procedure.next_step() {
            let trial = self.trial(&point);
            let bench = &mut self.opened.bench;
            let begun = bench.laboratory().now();
            let outcome = self.session.measure(&trial, bench, recall, &mut |_| true)?;
            let elapsed = bench.laboratory().now().since(begun);
            self.record(&point, &outcome, elapsed);
            self.session.go_on()?;
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.procedure.found("").is_none()
    }

    fn leave(&mut self) -> Result<Vec<Warning>, BenchError> {
        Ok(self.opened.leave())
    }

    fn abandon(&mut self, error: BenchError) -> BenchError {
        self.opened.bench.abandon(error)
    }

    fn recorded(&self, status: &Status) -> (Setup, TargetDescription) {
        let mut setup = self.request.setup.clone();
        let curve = self.procedure.found(&self.asked.title);
        resolve_levels(&mut setup, status, curve.as_ref());
        (setup, self.opened.description.clone())
    }

    fn complete(self, run: Run) -> Run {
        let mut measurements = self.most.map_or(Vec::new(), |it| it.1);
        measurements.extend(self.procedure.failed().cloned());
        Run {
            findings: self.loads.finding().into_iter().collect(),
            measurements,
            curves: Vec::from_iter(self.procedure.found(&self.asked.title)),
            ..run
        }
    }
}

impl CurveMeasurer<'_, '_> {
    fn record(&mut self, point: &PointPlan, outcome: &Outcome, elapsed: Duration) {
        let whole = &outcome.measurement;
        let rows = self.rows_of(outcome);
        if let (LoadShares::Arrivals(parts), None) = (&self.asked.shares, point.sources) {
            let idle = as_of_slowest(whole, parts, &rows);
            self.procedure.record(point, &idle, elapsed);
            self.idle = rows;
            return;
        }
        let of_all = point.clients * self.asked.options.clients_each;
        let at = |(number, row): &(usize, Measurement)| {
            let idle = self.idle.iter().find(|(it, _)| it == number);
            let idle_ns = idle.map(|(_, it)| it.response.mean.value);
            (self.target(*number), TargetAt::new(of_all, row, idle_ns))
        };
        let points: Vec<(String, TargetAt)> = rows.iter().map(at).collect();
        match self.loads.add(points.into_iter()) {
            true => self.procedure.record_behind(point, whole, elapsed),
            false => {
                self.procedure.record(point, whole, elapsed);
                let is_more = |(most, _): &(u32, Vec<_>)| *most <= of_all;
                if self.most.as_ref().is_none_or(is_more) {
                    let load = match point.sources {
                        Some(_) => "at the highest load".to_owned(),
                        None => format!("{} in all", format_counted(of_all.into(), "client")),
                    };
                    let titled = rows.into_iter().map(|(_, row)| Measurement {
                        title: format!("{}, {load}", row.title),
                        ..row
                    });
                    self.most = Some((of_all, titled.collect()));
                }
            }
        }
    }

    /// What the workload of a row works on.
    fn target(&self, row: usize) -> String {
        let files = &self.request.jobs[self.plan.rows[row].job].files;
        let names: Vec<&str> = files
            .names
            .iter()
            .chain(&files.directories)
            .map(String::as_str)
            .collect();
        names.join(", ")
    }

    fn rows_of(&self, outcome: &Outcome) -> Vec<(usize, Measurement)> {
        let whole = &outcome.measurement;
        let specs = specs_of(whole);
        let mut rows = Vec::new();
        for (number, row) in self.plan.rows.iter().enumerate() {
            let mut times = JobTimes::of(row.clone());
            let own = outcome
                .rows
                .iter()
                .filter(|((it, _), _)| *it as usize == number);
            times.records = own.map(|((_, kind), it)| (*kind, it.clone())).collect();
            if !times.records.is_empty() {
                rows.push((number, row_of(whole, &specs, number, &times, self.request)));
            }
        }
        rows
    }

    fn trial(&self, point: &PointPlan) -> Trial {
        let driver = self.request.storage.driver;
        let phase = self.asked.shares.dealt(&self.plan.phases[0], point, driver);
        let load = match point.sources {
            Some(sources) => {
                let rate = sources.rate_each * f64::from(point.clients);
                format!("{}/s", format_count(rate))
            }
            None => {
                let clients = point.clients * self.asked.options.clients_each;
                format_counted(clients.into(), "client")
            }
        };
        let shape = TrialShape {
            title: format!("{}, {load}", self.asked.title),
            goal: Some(point.goal),
            duration_max: point.duration_max,
            sample_every: None,
            warm_up: point.warm_up,
        };
        trial(&phase, &self.opened.bench, (point.salt, Some(&shape)))
    }
}

/// The whole with the load and the time that the first arrivals are chosen by: such that the
/// target that is slowest for its part of them keeps up, and with each time in that proportion.
fn as_of_slowest(whole: &Measurement, parts: &[f64], rows: &[(usize, Measurement)]) -> Measurement {
    let loads = rows
        .iter()
        .map(|(number, row)| row.throughput.value / parts[*number]);
    let load = loads.fold(f64::INFINITY, f64::min);
    let times = rows
        .iter()
        .map(|(number, row)| row.response.mean.value * parts[*number]);
    let mut idle = whole.clone();
    idle.throughput = Estimate::exact(load, 0.0);
    idle.response.mean = Estimate::exact(times.sum(), 0.0);
    idle
}
