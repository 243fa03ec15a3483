//! Carries fio's jobs out, prints what fio prints, and archives the run.

use std::collections::BTreeMap;

use anyhow::Context as _;
use engine::{RowRecord, WINDOW};
use fio::output::{Document, JobReport, Transfers};
use fio::{Given, Job, JobFile};
use host::interrupt::{Interrupt, Wait};
use kinds::fio_jobs::{FioRequest, FioRun, JobTimes, run_jobs};
use results::{Measurement, Run, Setup};
use serde_json::{Value, json};
use workload::OpKind;

use crate::args::{FioArgs, FormatChoice};
use crate::commands::clean::offer_removal;
use crate::commands::setup::{open_archive, reached};
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::progress::Progress;

/// Percentiles of latency from due that stand under our own key.
const OWN_PERCENTILES: [f64; 5] = [50.0, 95.0, 99.0, 99.9, 99.99];
/// What every job has in `job options`, though nobody wrote it, with fio's default.
const SHOWN: [(&str, &str); 4] = [
    ("rw", "read"),
    ("bs", "4096"),
    ("iodepth", "1"),
    ("numjobs", "1"),
];

/// Carry jobs out.
///
/// # Errors
/// When they cannot be, or nothing was measured, or the output cannot be written.
pub fn carry_out(
    args: &FioArgs,
    files: &[JobFile],
    jobs: Vec<Job>,
    mut setup: Setup,
) -> anyhow::Result<Exit> {
    if jobs.is_empty() {
        return Err(UsageError("there is no job to carry out".into()).into());
    }
    let storage = reached(&args.reach, &args.common, &mut setup)?;
    let archive = open_archive(&args.common)?;
    let directories = jobs.iter().flat_map(|job| &job.files.directories);
    for directory in directories {
        offer_removal(directory.as_ref(), args.common.yes)?;
    }
    let request = FioRequest {
        jobs,
        storage,
        overwrite: args.reach.overwrite,
        confirmed: args.reach.confirm.clone(),
        reserve: args.reach.reserve,
        setup,
    };
    let interrupt = Interrupt::install().context("signals cannot be caught")?;
    let mut progress = Progress::new(args.common.quiet);
    let done = run_jobs(&request, &interrupt, &mut |stage| progress.show(stage));
    progress.finish();
    let FioRun {
        mut run,
        rows,
        found,
    } = done?;
    Wait::begin().to_the_end();
    let reports = reports(files, &request.jobs, &rows, &run);
    let text = text(args.format(), files, &reports, &run);
    match &args.output {
        Some(file) => file.write(&text)?,
        None => output::print(text.trim_end()).map(drop)?,
    }
    if let Some(mut archive) = archive {
        let id = archive
            .save(&mut run)
            .context("the run could not be archived")?;
        if !args.common.quiet {
            output::complain(&format!("Saved as run {id}: seekstone runs show {id}"));
        }
    }
    for ((_, form), file) in args.common.outputs.asked() {
        file.write(&form(&run))?;
    }
    for line in &found {
        output::complain(line);
    }
    if let results::Status::Partial { reason } = &run.status {
        output::complain(&format!(
            "error: {reason}; what was measured before is above"
        ));
    }
    Ok(Exit::of_run(&run))
}

fn text(format: FormatChoice, files: &[JobFile], reports: &[JobReport], run: &Run) -> String {
    match format {
        FormatChoice::Normal => fio::output::normal(reports, &run.environment.started_at),
        FormatChoice::Terse => fio::output::terse(reports),
        FormatChoice::Json | FormatChoice::JsonPlus => {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
            let own = serde_json::from_str(&results::json(run)).unwrap_or(Value::Null);
            let document = Document {
                timestamp_ms: now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000,
                time: run.environment.started_at.clone(),
                global: global(files),
                has_bins: format == FormatChoice::JsonPlus,
                own,
            };
            fio::output::json(&document, reports)
        }
    }
}

fn global(files: &[JobFile]) -> Vec<(String, String)> {
    let sections = files.iter().flat_map(|file| &file.sections);
    let given = sections.filter(|section| section.is_global);
    pairs(given.flat_map(|section| &section.given))
}

fn pairs<'a>(given: impl Iterator<Item = &'a Given>) -> Vec<(String, String)> {
    let pair = |it: &Given| {
        let value = it.value.clone().unwrap_or_else(|| "1".into());
        (it.option.name.to_owned(), value)
    };
    given.map(pair).collect()
}

/// The last value of an option of a job.
fn value_of<'a>(job: &'a Job, name: &str) -> Option<&'a str> {
    let last = job.given.iter().rfind(|it| it.option.name == name);
    last.and_then(|it| it.value.as_deref())
}

fn reports(files: &[JobFile], jobs: &[Job], rows: &[JobTimes], run: &Run) -> Vec<JobReport> {
    let report = |times: &JobTimes| {
        let job = &jobs[times.row.job];
        let phase = times.phase.and_then(|at| run.measurements.get(at));
        let cpu = phase.and_then(|it| it.cpu.as_ref());
        JobReport {
            name: job.name.clone(),
            group: times.row.group,
            copies: times.row.copies,
            rw: value_of(job, "rw").unwrap_or("read").to_owned(),
            engine: job.engine.name.to_owned(),
            depth: job.depth,
            options: own_options(files, job),
            error: match times.is_wrong {
                true => drivers::MISMATCH.0,
                false => phase.map_or(0, first_error),
            },
            transfers: [OpKind::Read, OpKind::Write].map(|kind| transfers(&times.records, kind)),
            flushes: transfers(&times.records, OpKind::Flush),
            percentiles: job.reports.percentiles.clone(),
            cpu_percent: cpu.map_or(0.0, |cpu| cpu.cores_busy * 100.0),
            own: Some(own(&times.records)),
        }
    };
    rows.iter().map(report).collect()
}

/// The error number that ended a phase, as far as it is known, or 0.
fn first_error(phase: &Measurement) -> i32 {
    phase.errors.first().map_or(0, |error| error.errno)
}

/// The options of a job's own section, and those that readers expect in any case.
fn own_options(files: &[JobFile], job: &Job) -> Vec<(String, String)> {
    let sections = files.iter().flat_map(|file| &file.sections);
    let mut own = sections.filter(|section| !section.is_global && section.place == job.place);
    let section = own.find(|section| job.place.line > 0 || section.name == job.name);
    let mut options = pairs(section.into_iter().flat_map(|section| &section.given));
    if !options.iter().any(|(name, _)| name == "name") {
        options.insert(0, ("name".into(), job.name.clone()));
    }
    for (name, default) in SHOWN {
        if !options.iter().any(|(it, _)| it == name) {
            let value = value_of(job, name).unwrap_or(default);
            options.push((name.into(), value.to_owned()));
        }
    }
    options
}

fn transfers(records: &BTreeMap<OpKind, RowRecord>, kind: OpKind) -> Transfers {
    let Some(record) = records.get(&kind) else {
        return Transfers::default();
    };
    Transfers {
        response: record.response.clone(),
        service: record.service.clone(),
        submission: record.submission.clone(),
        bytes: record.bytes,
        elapsed: record.elapsed,
        windows: record.windows.clone(),
        window: WINDOW,
    }
}

/// Latency from when requests were due, by direction.
fn own(records: &BTreeMap<OpKind, RowRecord>) -> Value {
    let of = |(kind, record): (&OpKind, &RowRecord)| {
        let percentiles = OWN_PERCENTILES.iter().map(|percent| {
            let value = record.response.quantile(percent / 100.0);
            (
                format!("{percent:.6}"),
                value.map_or(Value::Null, Value::from),
            )
        });
        let times = json!({
            "min": record.response.min(),
            "max": record.response.max(),
            "mean": record.response.mean(),
            "N": record.response.len(),
            "percentile": Value::Object(percentiles.collect()),
        });
        (kind.name().to_owned(), times)
    };
    json!({ "latency_from_due_ns": Value::Object(records.iter().map(of).collect()) })
}
