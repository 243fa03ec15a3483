//! Several targets, or several workloads, at once: a trial with a row for each of them.

use host::interrupt::Interrupt;
use procedure::{RowOutline, row_measurement};
use results::{Measurement, Run};
use units::{Duration, format_count};
use workload::{JobSpec, OpKind};

use super::laws::law_of_row;
use super::reporting::Reporting;
use super::run::{FioRequest, FioRun, JobTimes, TrialShape, run_jobs};
use crate::session::Result;
use crate::stage::Show;

/// A row that does less than this part of what it is offered is saturated.
const KEPT_UP: f64 = 0.98;

/// Measure the workloads of a request as one trial: its own row, then one for each workload.
///
/// # Errors
/// When one cannot be carried out, or nothing was measured.
pub fn trial_of_targets(
    request: &FioRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run> {
    let done = run_jobs(request, interrupt, Reporting::default(), show)?;
    let FioRun {
        mut run,
        rows,
        direct,
        ..
    } = done;
    let Some(whole) = run.measurements.first().cloned() else {
        return Ok(run);
    };
    let specs = specs_of(&whole);
    let row = |(number, times): (usize, &JobTimes)| row_of(&whole, &specs, number, times, request);
    let mut measured: Vec<Measurement> = rows.iter().enumerate().map(row).collect();
    for (row, times) in measured.iter_mut().zip(&rows) {
        let job = &request.jobs[times.row.job];
        row.law = law_of_row(row, job, &specs, &request.bench.setup);
        // The whole is buffered where one workload is.
        if job.is_direct {
            row.access = direct;
        }
    }
    run.findings.extend(who_carried(&measured));
    run.findings.extend(measured.iter().filter_map(saturated));
    run.measurements.extend(measured);
    run.target.given = names_of(request).join(", ");
    Ok(run)
}

pub(super) fn names_of(request: &FioRequest) -> Vec<String> {
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

pub(super) fn specs_of(whole: &Measurement) -> Vec<JobSpec> {
    match &whole.workload {
        Some(workload::ClientSpec::Jobs(jobs)) => jobs.jobs.clone(),
        _ => Vec::new(),
    }
}

pub(super) fn row_of(
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
    let sum: Option<f64> = specs.iter().map(|spec| spec.offered()).sum();
    sum.filter(|sum| *sum > 0.0)
}

/// What each row did of the whole.
fn who_carried(rows: &[Measurement]) -> Option<String> {
    let all: u64 = rows.iter().map(|it| it.completions_all).sum();
    if rows.len() < 2 || all == 0 {
        return None;
    }
    let part = |it: &Measurement| {
        let share = it.completions_all as f64 / all as f64 * 100.0;
        let rate = format_count(it.throughput.value);
        format!("{} {rate} ({share:.0} %)", it.name)
    };
    let parts: Vec<String> = rows.iter().map(part).collect();
    Some(format!(
        "IOPS by row (share of all operations): {}.",
        parts.join(", ")
    ))
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
