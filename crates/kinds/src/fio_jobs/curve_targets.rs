//! A load curve over several targets or workloads at once, that says which target saturates first.

use host::interrupt::Interrupt;
use lab::bench::Bench;
use lab::laboratory::Outcome;
use procedure::{CurveOptions, LoadCurve, Plan as _, PointPlan, Trial};
use results::{Measurement, Run, Setup, Status};
use stats::Estimate;
use units::{Duration, format_count, format_counted};

use super::load_shares::LoadShares;
use super::opened::{OpenedJobs, open_jobs};
use super::plan::FioPlan;
use super::run::{FioRequest, JobTimes, Recall, TrialShape, lay_out, measure, trial};
use super::saturation::{TargetAt, TargetLoads};
use super::targets::{names_of, row_of, specs_of};
use crate::session::{MeasurementPlan, Result, Session};
use crate::single_load::resolve_levels;
use crate::stage::{RunPlan, Show};

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
) -> Result<Run> {
    let OpenedJobs { plan, mut opened } = open_jobs(request)?;
    opened.description.given = names_of(request).join(", ");
    Session::new(opened, &request.bench, interrupt, show).carry_out(CurveMeasurer {
        request,
        asked,
        plan,
        procedure: LoadCurve::new(asked.options.clone()),
        loads: TargetLoads::default(),
        most: None,
        idle: Vec::new(),
    })
}

struct CurveMeasurer<'a> {
    request: &'a FioRequest,
    plan: FioPlan,
    asked: &'a CurveOfTargets,
    procedure: LoadCurve,
    loads: TargetLoads,
    /// Clients of the highest load that was kept up with, and the rows there.
    most: Option<(u32, Vec<Measurement>)>,
    /// Rows where nobody waits for another.
    idle: Vec<(usize, Measurement)>,
}

impl MeasurementPlan for CurveMeasurer<'_> {
    type Outcome = Run;

    fn plan(&self, _: &Session<'_>) -> RunPlan {
        RunPlan {
            phases: vec![("lay out", None), ("measure", self.asked.options.budget)],
            budget: None,
        }
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        lay_out(session, &self.plan)?;
        let recall = match self.plan.writes_blank_files() {
            true => Recall::Never,
            false => Recall::WhereKept,
        };
        while let Some(point) = self.procedure.next_step() {
            let trial = self.trial(&point, &session.bench);
            let begun = session.now();
            let outcome = measure(session, &trial, recall, &mut |_| true)?;
            let elapsed = session.now().since(begun);
            if point.is_scout {
                // Cut short it shows no way.
                session.go_on(&trial, None)?;
            }
            self.record(&point, &outcome, elapsed);
            session.go_on(&trial, None)?;
        }
        Ok(())
    }

    fn is_empty(&self, _: &Session<'_>) -> bool {
        self.procedure.found("").is_none()
    }

    fn resolve(&self, setup: &mut Setup, status: &Status) {
        resolve_levels(setup, status, self.procedure.found("").as_ref());
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

impl CurveMeasurer<'_> {
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

    fn trial(&self, point: &PointPlan, bench: &Bench) -> Trial {
        let driver = self.request.bench.storage.driver;
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
        trial(&phase, bench, (point.salt, Some(&shape)))
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
