//! Several targets, or several workloads, at once: a trial with a row for each of them, and a load
//! curve over targets that says which of them saturates first.

use host::interrupt::Interrupt;
use host::{environment, inspect};
use lab::bench::BenchError;
use procedure::{
    CurveOptions, CurveStep, LoadCurve, PointPlan, RowOutline, Trial, row_measurement,
};
use results::{Measurement, Run, Status, Warning};
use units::{Duration, format_count};
use workload::{JobRate, JobSpec, OpKind};

use super::opened::{Bench, OpenedJobs, open_jobs};
use super::plan::{FioPlan, Phase};
use super::reporting::{PhaseReporter, Reporting};
use super::run::{FioRequest, FioRun, JobTimes, Recall, Session, TrialShape, run_jobs, trial};
use crate::check_up::Show;
use crate::single_load::resolve_levels;

/// A row that does less than this part of what it is offered is saturated.
const KEPT_UP: f64 = 0.98;
/// A target whose load grows by less than this factor when its clients double is saturated.
const GROWTH_MIN: f64 = 1.05;

/// Measure the workloads of a request as one trial: its own row, then one for each workload.
///
/// # Errors
/// When one cannot be carried out, or nothing was measured.
pub fn trial_of_targets(
    request: &FioRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run, BenchError> {
    let done = run_jobs(request, interrupt, Reporting::default(), show)?;
    let FioRun { mut run, rows, .. } = done;
    let Some(whole) = run.measurements.first().cloned() else {
        return Ok(run);
    };
    let specs = specs_of(&whole);
    let row = |(number, times): (usize, &JobTimes)| row_of(&whole, &specs, number, times, request);
    let measured: Vec<Measurement> = rows.iter().enumerate().map(row).collect();
    run.findings.extend(who_carried(&measured));
    run.findings.extend(measured.iter().filter_map(saturated));
    run.measurements.extend(measured);
    run.target.given = names_of(request).join(", ");
    Ok(run)
}

fn names_of(request: &FioRequest) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for job in &request.jobs {
        let of_job = job.files.names.iter().chain(&job.files.directories);
        for name in of_job {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

fn specs_of(whole: &Measurement) -> Vec<JobSpec> {
    match &whole.workload {
        Some(workload::ClientSpec::Jobs(jobs)) => jobs.jobs.clone(),
        _ => Vec::new(),
    }
}

fn row_of(
    whole: &Measurement,
    specs: &[JobSpec],
    number: usize,
    times: &JobTimes,
    request: &FioRequest,
) -> Measurement {
    let own: Vec<&JobSpec> = specs
        .iter()
        .filter(|it| it.row as usize == number)
        .collect();
    let job = &request.jobs[times.row.job];
    let records: Vec<(OpKind, engine::RowRecord)> = times
        .records
        .iter()
        .map(|(kind, it)| (*kind, it.clone()))
        .collect();
    let outline = RowOutline {
        name: job.name.clone(),
        title: job.name.clone(),
        clients: match offered(&own) {
            // Its depth is what may pile up.
            Some(_) => own.len() as u32,
            None => own.iter().map(|it| it.depth).sum(),
        },
        offered: offered(&own),
        from: own.first().map_or(Duration::ZERO, |it| it.recorded_from()),
        has_own_end: own.iter().any(|it| has_own_end(it, request.shape.as_ref())),
    };
    let jobs = own.into_iter().cloned().collect();
    Measurement {
        workload: Some(workload::ClientSpec::Jobs(workload::JobsSpec { jobs })),
        ..row_measurement(whole, outline, &records)
    }
}

/// Whether a workload ends before its trial does.
fn has_own_end(spec: &JobSpec, shape: Option<&TrialShape>) -> bool {
    let end = spec.runtime.map(|it| spec.recorded_from() + it);
    let is_early = |shape: &TrialShape| end.is_some_and(|end| end < shape.duration_max);
    spec.bytes.or(spec.requests).is_some() || shape.is_some_and(is_early)
}

/// Operations per second that workloads offer, where all of them have a rate of operations.
fn offered(specs: &[&JobSpec]) -> Option<f64> {
    let mut sum = 0.0;
    for spec in specs {
        let used = [spec.read_percent > 0, spec.read_percent < 100];
        for (rate, _) in spec.rates.iter().zip(used).filter(|(_, is_used)| *is_used) {
            match rate {
                JobRate::Requests { per_second } => sum += *per_second as f64,
                JobRate::Free | JobRate::Bytes { .. } => return None,
            }
        }
    }
    (sum > 0.0).then_some(sum)
}

/// What each row did of the whole.
fn who_carried(rows: &[Measurement]) -> Option<String> {
    let all: f64 = rows.iter().map(|it| it.throughput.value).sum();
    if rows.len() < 2 || all <= 0.0 {
        return None;
    }
    let part = |it: &Measurement| {
        let rate = it.throughput.value;
        format!(
            "{} {} ({:.0} %)",
            it.name,
            format_count(rate),
            rate / all * 100.0
        )
    };
    let parts: Vec<String> = rows.iter().map(part).collect();
    Some(format!("IOPS by row: {}.", parts.join(", ")))
}

fn saturated(row: &Measurement) -> Option<String> {
    let offered = row.offered?;
    let done = row.throughput.value;
    (done < offered * KEPT_UP).then(|| {
        format!(
            "{} is saturated: it does {} of the {} IOPS offered.",
            row.name,
            format_count(done),
            format_count(offered)
        )
    })
}

/// Measure the load curve of targets that are loaded at once; clients are dealt to them in turn.
///
/// # Errors
/// When nothing could be measured.
pub fn curve_of_targets(
    request: &FioRequest,
    options: CurveOptions,
    title: &str,
    (interrupt, show): (&Interrupt, Show<'_>),
) -> Result<Run, BenchError> {
    let OpenedJobs {
        plan,
        mut bench,
        found: files,
    } = open_jobs(request)?;
    let mut description = files.description;
    description.given = names_of(request).join(", ");
    let begun = bench.laboratory().now();
    let environment = environment::capture();
    let mut asker = CurveAsker {
        request,
        plan: &plan,
        title,
        session: Session::new(&plan, PhaseReporter::default(), interrupt, show),
        procedure: LoadCurve::new(options),
        points: vec![Vec::new(); plan.rows.len()],
    };
    let asked = asker.ask(&mut bench);
    let curve = asker.procedure.found(title);
    let status = match asked {
        Ok(()) => Status::Complete,
        Err(stop) if curve.is_none() => return Err(bench.abandon(stop)),
        Err(stop) => Status::Partial {
            reason: stop.reason(),
        },
    };
    let elapsed = bench.laboratory().now().since(begun);
    let mut warnings: Vec<Warning> = inspect::warnings(&files.cautions);
    warnings.extend(bench.warnings());
    let mut setup = request.setup.clone();
    resolve_levels(&mut setup, &status, curve.as_ref());
    let mut measurements = asker.at_most();
    measurements.extend(asker.procedure.failed().cloned());
    Ok(Run {
        status,
        elapsed_ns: elapsed.as_nanos(),
        findings: asker.findings(),
        measurements,
        curve,
        warnings,
        ..Run::empty(setup, environment, description)
    })
}

struct CurveAsker<'a, 'b> {
    request: &'a FioRequest,
    plan: &'a FioPlan,
    title: &'a str,
    session: Session<'a, 'b>,
    procedure: LoadCurve,
    /// Of each target, at each number of clients that it had.
    points: Vec<Vec<Measurement>>,
}

impl CurveAsker<'_, '_> {
    fn ask(&mut self, bench: &mut Bench) -> Result<(), BenchError> {
        self.session.lay_out(self.plan, bench)?;
        let recall = match self.plan.writes_blank_files() {
            true => Recall::Never,
            false => Recall::WhereKept,
        };
        while let CurveStep::Measure(point) = self.procedure.next_step() {
            let trial = self.trial(&point, bench);
            let begun = bench.laboratory().now();
            let outcome = self.session.measure(&trial, bench, recall, &mut |_| true)?;
            let elapsed = bench.laboratory().now().since(begun);
            self.procedure.record(&point, &outcome.measurement, elapsed);
            let specs = specs_of(&outcome.measurement);
            for (number, row) in self.plan.rows.iter().enumerate() {
                let mut times = JobTimes::of(row.clone());
                let own = outcome
                    .rows
                    .iter()
                    .filter(|((it, _), _)| *it as usize == number);
                times.records = own.map(|((_, kind), it)| (*kind, it.clone())).collect();
                if !times.records.is_empty() {
                    let whole = &outcome.measurement;
                    let row = row_of(whole, &specs, number, &times, self.request);
                    self.points[number].push(row);
                }
            }
            self.session.go_on()?;
        }
        Ok(())
    }

    fn trial(&self, point: &PointPlan, bench: &Bench) -> Trial {
        let phase = dealt(&self.plan.phases[0], point.clients);
        let shape = TrialShape {
            title: format!("{}, {} clients", self.title, point.clients),
            goal: Some(point.goal),
            duration_max: point.duration_max,
            sample_every: None,
            warm_up: point.warm_up,
        };
        trial(&phase, bench, (point.salt, Some(&shape)))
    }

    /// Each target where it had most clients.
    fn at_most(&self) -> Vec<Measurement> {
        let most = self
            .points
            .iter()
            .filter_map(|points| points.iter().max_by_key(|it| it.clients));
        most.cloned().collect()
    }

    /// Where each target stops to grow, in the order in which they do.
    fn findings(&self) -> Vec<String> {
        let mut ends: Vec<(u32, String)> = Vec::new();
        let mut growing: Vec<String> = Vec::new();
        for points in &self.points {
            let Some(name) = points.first().map(|it| it.name.clone()) else {
                continue;
            };
            match saturation(&loads_of(points)) {
                Some((clients, load)) => {
                    let load = format_count(load);
                    ends.push((
                        clients,
                        format!("{name} at {clients} clients of its own ({load} IOPS)"),
                    ));
                }
                None => growing.push(name),
            }
        }
        ends.sort();
        let mut said = Vec::new();
        if let Some((_, first)) = ends.first() {
            said.push(format!("Saturates first: {first}"));
        }
        if ends.len() > 1 {
            let then: Vec<&str> = ends[1..].iter().map(|it| it.1.as_str()).collect();
            said.push(format!("then {}", then.join(", ")));
        }
        if !growing.is_empty() {
            said.push(format!("Not saturated: {}", growing.join(", ")));
        }
        match said.is_empty() {
            true => Vec::new(),
            false => vec![format!("{}.", said.join("; "))],
        }
    }
}

/// The load of a target by its clients; of several points with the same number, the longest.
fn loads_of(points: &[Measurement]) -> Vec<(u32, f64)> {
    let mut points: Vec<&Measurement> = points.iter().collect();
    points.sort_by_key(|it| (it.clients, std::cmp::Reverse(it.completions)));
    points.dedup_by_key(|it| it.clients);
    points
        .iter()
        .map(|it| (it.clients, it.throughput.value))
        .collect()
}

/// The least clients from which twice as many, or more, carry hardly more, and the load there.
fn saturation(loads: &[(u32, f64)]) -> Option<(u32, f64)> {
    let holds = |(clients, load): &&(u32, f64)| {
        let mut beyond = loads.iter().filter(|it| it.0 >= clients * 2).peekable();
        beyond.peek().is_some() && beyond.all(|it| it.1 < load * GROWTH_MIN)
    };
    loads.iter().find(holds).copied()
}

/// The phase with so many clients: each target has its share, as requests outstanding, or as copies
/// of one request where clients think.
fn dealt(phase: &Phase, clients: u32) -> Phase {
    let count = phase.workloads.len() as u32;
    let mut workloads = Vec::new();
    for (number, spec) in (0..).zip(&phase.workloads) {
        let own = clients / count + u32::from(number < clients % count);
        match spec.think {
            _ if own == 0 => {}
            Duration::ZERO => workloads.push(JobSpec {
                depth: own,
                ..spec.clone()
            }),
            _ => workloads.extend((0..own).map(|_| spec.clone())),
        }
    }
    Phase {
        workloads,
        ..phase.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_saturated_where_more_clients_carry_no_more() {
        let check = |loads: &[(u32, f64)], expected| {
            assert_eq!(saturation(loads), expected, "{loads:?}");
        };
        check(
            &[(1, 100.0), (2, 200.0), (4, 205.0), (8, 204.0)],
            Some((2, 200.0)),
        );
        check(&[(1, 100.0), (2, 200.0), (4, 400.0)], None);
        check(&[(1, 100.0)], None);
        // A dip on the way is no end.
        check(
            &[(1, 100.0), (2, 101.0), (4, 200.0), (8, 201.0)],
            Some((4, 200.0)),
        );
    }
}
