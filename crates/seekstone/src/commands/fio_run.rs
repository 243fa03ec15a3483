//! Carries fio's jobs out, prints what fio prints, and archives the run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use engine::{PriorityRecord, RowRecord, WINDOW};
use fio::output::{
    DiskUse, Document, Idleness, JobReport, PriorityTimes, TerseVersion, Transfers, Usage,
    share_in_groups,
};
use fio::{Amount, Directions, FileCall, Given, Job, JobFile};
use host::environment;
use kinds::fio_jobs::{
    FioRequest, FioRun, HostTimes, JobTimes, Reporting, StatusReports, as_fio_date, phase_names,
    run_jobs,
};
use lab::hosts::Ranks;
use procedure::OnError;
use results::{Measurement, Run, Setup, Severity, WarningCode};
use serde_json::{Value, json};
use stats::Histogram;
use units::{Duration, TargetName, TimeSpan};
use workload::{IoPriority, OpKind};

use crate::args::{EtaChoice, FioArgs, FormatChoice};
use crate::commands::drive::{Onlooking, Ready};
use crate::commands::finish::Delivery;
use crate::commands::fio_disks::Disks;
use crate::commands::fio_hosts::{check_hosts, client_reports};
use crate::commands::fio_idleness::IdlenessWatch;
use crate::commands::fio_logs::LogFiles;
use crate::commands::offers::check_fio;
use crate::exit::{Exit, UsageError};
use crate::output::{self, Filling, Output};
use crate::progress::Progress;

/// Percentiles of latency from due that stand under our own key.
const OWN_PERCENTILES: [f64; 5] = [50.0, 95.0, 99.0, 99.9, 99.99];
/// fio's error of a job that ended below its least rate.
const EIO: i32 = 5;
/// What every job has in `job options`, though nobody wrote it, with fio's default.
const SHOWN: [(&str, &str); 4] = [
    ("rw", "read"),
    ("bs", "4096"),
    ("iodepth", "1"),
    ("numjobs", "1"),
];

/// What is said on standard error even where nothing else is.
const SHOWN_ALWAYS: [WarningCode; 2] = [WarningCode::PriorityIgnored, WarningCode::FileUnmarked];

/// Nothing to run, and what a job would be.
pub fn no_job(files: &[PathBuf]) -> UsageError {
    let names: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
    let place = match &names[..] {
        [] => "the command line".to_owned(),
        names => names.join(", "),
    };
    UsageError(format!(
        "{place}: no job to run. A job file needs a section other than [global], such as \
         [random-read]. On the command line a job begins with --name"
    ))
}

/// What is asked of jobs that were read well.
///
/// # Errors
/// When there are none, or options do not go with them.
pub fn request_for(args: &FioArgs, jobs: Vec<Job>, setup: Setup) -> anyhow::Result<FioRequest> {
    if jobs.is_empty() {
        return Err(no_job(&args.files).into());
    }
    check_fio(phase_names(&jobs), &args.common.goals)?;
    if args.common.ranks.is_some() {
        check_hosts(args, &jobs)?;
    }
    if args.verify_state.is_some() && !jobs.iter().any(|job| job.verify.is_on) {
        refuse!("--verify-state records what verified jobs write, and no job has verify=");
    }
    // Jobs name what is measured.
    let mut bench = args
        .reach
        .bench(&TargetName::from("."), "fio", &args.common, setup)?;
    bench.storage.verify_state.clone_from(&args.verify_state);
    if jobs.iter().all(|job| job.outlives_errors) {
        bench.storage.on_error = OnError::Count;
    }
    Ok(FioRequest {
        bench,
        jobs,
        keeps_files: args.keep_files,
        shape: None,
    })
}

/// Jobs that were checked, ready to be carried out.
pub fn ready_for(args: &FioArgs, files: Vec<JobFile>, request: FioRequest) -> Ready<'_> {
    let bench = request.bench.clone();
    let directories = request.jobs.iter().flat_map(|job| &job.files.directories);
    let places = directories.map(PathBuf::from).collect();
    Ready {
        places,
        ..Ready::on(&args.common, &bench, move |looking| {
            measure(args, files, &request, looking)
        })
    }
}

/// Carry them out; what fio would print is printed in the end.
fn measure<'a>(
    args: &'a FioArgs,
    files: Vec<JobFile>,
    request: &FioRequest,
    looking: &Onlooking<'_>,
) -> anyhow::Result<(Run, Delivery<'a>)> {
    let mut logs = LogFiles::open(args, &request.jobs)?;
    let mut watcher = looking.watcher(progress(args));
    let mut printer = Printer::new(args, files, request.jobs.clone())?;
    let mut report = |rows: &[JobTimes]| printer.print_status(rows);
    let reporting = Reporting {
        logs: logs.logs.clone(),
        writers: logs.writers(),
        status: args.status_interval.map(|every| StatusReports {
            every,
            report: &mut report,
        }),
    };
    let done = run_jobs(request, looking.interrupt, reporting, &mut |stage| {
        watcher.show(stage);
    });
    watcher.finish();
    let FioRun {
        run,
        rows,
        hosts,
        found,
        log_error,
        ..
    } = done?;
    logs.write_aggregates(&rows)?;
    let not_applied = not_applied(&request.jobs);
    let delivery = Delivery {
        show: Box::new(move |run, is_free| printer.print_last((&rows, &hosts), run, is_free)),
        is_for_programs: true,
        after: Box::new(move |run| {
            // Standard output is fio's.
            let unreported = unreported(run, args.common.quiet);
            let found = found.iter().cloned().chain(unreported);
            let found = found.chain(not_applied);
            for line in found.chain(report::goal_lines(run)) {
                output::complain(&line);
            }
            logs.finish(log_error.as_ref(), args.common.quiet)
        }),
        exit: match args.strict {
            true => Exit::of_run,
            false => Exit::of_run_as_fio,
        },
    };
    Ok((run, delivery))
}

/// What fio's forms have no place for: why figures must not be used, or are of another engine.
fn unreported(run: &Run, quiet: bool) -> Vec<String> {
    let all = run.scoped_warnings().map(|(_, warning)| warning);
    let lines = all.filter_map(|it| match it.severity {
        Severity::Invalid => Some(format!("invalid: {}", it.text())),
        _ if SHOWN_ALWAYS.contains(&it.code) => Some(format!("warning: {}", it.text())),
        _ if it.code == WarningCode::EngineFallback && !quiet => {
            Some(format!("note: {}", it.text()))
        }
        _ => None,
    });
    let lines: BTreeSet<String> = lines.collect();
    lines.into_iter().collect()
}

/// Which jobs would have a priority of their own in fio, a line each: workers have that of the
/// program.
fn not_applied(jobs: &[Job]) -> Vec<String> {
    let line = |job: &Job| {
        let mut given = job.given.iter();
        let given = given.find(|it| ["prio", "prioclass"].contains(&it.option.name))?;
        let (name, option) = (&job.name, given.option.name);
        Some(format!(
            "warning: [{name}] {option} is not applied. Start the program with ionice, or use \
             cmdprio"
        ))
    };
    jobs.iter().filter_map(line).collect()
}

fn progress(args: &FioArgs) -> Progress {
    let is_terminal = std::io::stderr().is_terminal();
    match (args.eta, args.eta_newline) {
        (EtaChoice::Never, _) => Progress::new(true),
        (_, Some(every)) => Progress::lines(Some(every)),
        (EtaChoice::Always, None) if !is_terminal => Progress::lines(Some(Duration::from_secs(1))),
        _ => Progress::new(args.common.quiet),
    }
}

/// Prints reports, or writes them into the file that was asked for.
struct Printer {
    formats: Vec<FormatChoice>,
    terse: TerseVersion,
    files: Vec<JobFile>,
    jobs: Vec<Job>,
    begun: String,
    disks: Disks,
    processors: Option<IdlenessWatch>,
    stream: Option<Filling>,
}

impl Printer {
    fn new(args: &FioArgs, files: Vec<JobFile>, jobs: Vec<Job>) -> anyhow::Result<Self> {
        let leads = args.common.ranks.as_ref().is_none_or(Ranks::leads);
        let output = args.output.as_ref().filter(|_| leads);
        Ok(Self {
            formats: args.formats(),
            terse: args.terse_version,
            begun: environment::capture().started_at,
            disks: Disks::look(&jobs),
            processors: args.idle_prof.map(IdlenessWatch::look),
            files,
            jobs,
            // Rank 0 alone writes files.
            stream: output.map(Output::begin).transpose()?,
        })
    }

    fn idleness(&self) -> Option<Idleness> {
        self.processors.as_ref()?.idleness()
    }

    /// What was done so far. Nobody can be told if that fails; the last report tells it.
    fn print_status(&mut self, rows: &[JobTimes]) {
        let reports = reports(&self.files, &self.jobs, rows, &[]);
        let around = ReportContext {
            started_at: &self.begun,
            disks: self.disks.done(),
            idleness: self.idleness(),
            terse: self.terse,
            own: Value::Null,
        };
        let text = texts(&self.formats, &self.files, &reports, &around);
        let _ = self.show(&text);
    }

    /// The last report: into its file, or to standard output if that is free.
    fn print_last(
        mut self,
        (rows, hosts): (&[JobTimes], &[HostTimes]),
        run: &Run,
        is_free: bool,
    ) -> anyhow::Result<()> {
        if self.stream.is_none() && !is_free {
            return Ok(());
        }
        let of = |rows: &[JobTimes]| reports(&self.files, &self.jobs, rows, &run.measurements);
        let (reports, disks, idleness) = match hosts {
            [] => (of(rows), self.disks.done(), self.idleness()),
            // The disks and processors are those of this host alone.
            hosts => (client_reports(rows, hosts, of), Vec::new(), None),
        };
        let around = ReportContext {
            started_at: &run.environment.started_at,
            disks,
            idleness,
            terse: self.terse,
            // not fuzzed: this run, written by this program
            own: serde_json::from_str(&results::json(run)).unwrap_or(Value::Null),
        };
        let text = texts(&self.formats, &self.files, &reports, &around);
        self.show(&text)?;
        self.stream.map_or(Ok(()), Filling::finish)
    }

    fn show(&mut self, text: &str) -> anyhow::Result<()> {
        match &mut self.stream {
            Some(stream) => stream
                .write_all(text.as_bytes())
                .context("the output cannot be written"),
            None => output::print(text.trim_end()).map(drop),
        }
    }
}

/// What stands around the reports.
struct ReportContext<'a> {
    started_at: &'a str,
    disks: Vec<DiskUse>,
    idleness: Option<Idleness>,
    terse: TerseVersion,
    /// What stands under our own key.
    own: Value,
}

/// The reports in the forms that were asked for.
fn texts(
    formats: &[FormatChoice],
    files: &[JobFile],
    reports: &[JobReport],
    around: &ReportContext<'_>,
) -> String {
    let each = formats.iter();
    each.map(|format| text(*format, files, reports, around))
        .collect()
}

fn text(
    format: FormatChoice,
    files: &[JobFile],
    reports: &[JobReport],
    around: &ReportContext<'_>,
) -> String {
    match format {
        FormatChoice::Normal => {
            let begun = as_fio_date(around.started_at);
            let text = fio::output::normal(reports, (std::process::id(), &begun), &around.disks);
            text + &around
                .idleness
                .as_ref()
                .map(Idleness::text)
                .unwrap_or_default()
        }
        FormatChoice::Terse => fio::output::terse(reports, &around.disks, around.terse),
        FormatChoice::Json | FormatChoice::JsonPlus => {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
            let document = Document {
                timestamp_ms: now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000,
                time: as_fio_date(around.started_at),
                disks: around.disks.clone(),
                idleness: around.idleness.clone(),
                global: global(files),
                has_bins: format == FormatChoice::JsonPlus,
                own: around.own.clone(),
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

fn reports(
    files: &[JobFile],
    jobs: &[Job],
    rows: &[JobTimes],
    phases: &[Measurement],
) -> Vec<JobReport> {
    let seconds_in_all = seconds_of(rows);
    let report = |times: &JobTimes| {
        let job = &jobs[times.row.job];
        let phase = times.phase.and_then(|at| phases.get(at));
        JobReport {
            name: job.name_of_copy(times.row.copy).to_owned(),
            client: None,
            group: times.row.group,
            copies: times.row.copies,
            rw: value_of(job, "rw").unwrap_or("read").to_owned(),
            engine: job.engine.name.to_owned(),
            depth: job.depth,
            in_flight: times.in_flight(job),
            options: own_options(files, job),
            error: match () {
                () if times.is_wrong => drivers::MISMATCH.0,
                () if times.is_below() => EIO,
                () => phase.map_or(0, first_error),
            },
            transfers: [OpKind::Read, OpKind::Write, OpKind::Trim]
                .map(|kind| of_direction(job, &times.records, kind)),
            together: match job.engine.call() {
                Some(call) => calls(job, &times.records, call),
                None => as_in_fio(job, together(&times.records)),
            },
            flushes: transfers(&times.records, OpKind::Flush),
            percentiles: job.reports.percentiles.clone(),
            percentiles_of: job.reports.percentiles_of,
            directions: job.reports.directions,
            sizes: [0, 1, 2].map(|at| (job.blocks[at].least(), job.blocks[at].most())),
            seconds_in_all,
            usage: phase.map_or_else(Usage::default, |phase| usage(times, rows, phase)),
            steady: times.steady.clone(),
            own: Some(own(&times.records)),
        }
    };
    let mut reports: Vec<JobReport> = rows.iter().map(report).collect();
    share_in_groups(&mut reports);
    reports
}

/// Seconds from the beginning to the end of all jobs.
fn seconds_of(rows: &[JobTimes]) -> u64 {
    let spans = rows.iter().flat_map(|row| row.records.values());
    let all = spans.fold(TimeSpan::default(), |all, it| all.with(it.span));
    all.ended().as_secs_f64() as u64
}

/// A row's part of what the system counted of its phase: by its part of the phase's operations.
fn usage(times: &JobTimes, rows: &[JobTimes], phase: &Measurement) -> Usage {
    let count = |it: &JobTimes| it.records.values().map(|it| it.service.len()).sum::<u64>();
    let of_phase = rows.iter().filter(|it| it.phase == times.phase);
    let all: u64 = of_phase.map(count).sum();
    let part = count(times) as f64 / all.max(1) as f64;
    let spans = times.records.values().map(|it| it.span);
    let elapsed = spans.fold(TimeSpan::default(), TimeSpan::with).length();
    let elapsed = elapsed.as_secs_f64() * f64::from(times.row.copies.max(1));
    let counters = phase.counters.as_ref();
    let user = counters.and_then(|it| it.cpu_user_ns).unwrap_or(0);
    let system = counters.and_then(|it| it.cpu_system_ns).unwrap_or(0);
    let in_kernel = system as f64 / (user + system).max(1) as f64;
    let busy = phase.cpu.as_ref().map_or(0.0, |cpu| {
        cpu.per_operation_ns * phase.completions_all as f64 / 1e9
    });
    let percent = busy * part * 100.0 / elapsed.max(1e-9);
    let faults = |count: Option<u64>| (count.unwrap_or(0) as f64 * part).round() as u64;
    Usage {
        user_percent: percent * (1.0 - in_kernel),
        system_percent: percent * in_kernel,
        major_faults: faults(counters.and_then(|it| it.major_faults)),
        minor_faults: faults(counters.and_then(|it| it.minor_faults)),
    }
}

/// The error number that ended a phase, as far as it is known, or 0.
fn first_error(phase: &Measurement) -> i32 {
    phase.errors.first().map_or(0, |error| error.errno)
}

/// The options of a job's own section, and those that readers expect in any case.
fn own_options(files: &[JobFile], job: &Job) -> Vec<(String, String)> {
    let sections = files.iter().flat_map(|file| &file.sections);
    let mut own = sections.filter(|section| !section.is_global && section.place == job.place);
    let section = own.find(|section| job.place.line > 0 || section.name == job.section);
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

/// What a job moved in one direction. As in fio, calls on files count in that of `rw`.
fn of_direction(job: &Job, records: &BTreeMap<OpKind, RowRecord>, kind: OpKind) -> Transfers {
    let Some(call) = job.engine.call() else {
        return as_in_fio(job, transfers(records, kind));
    };
    let counted = match job.pattern.directions {
        Directions::Read | Directions::Mixed => OpKind::Read,
        Directions::Write => OpKind::Write,
        Directions::Trim | Directions::TrimWrite => OpKind::Trim,
    };
    match kind == counted {
        true => calls(job, records, call),
        false => Transfers::default(),
    }
}

/// Calls on files, each with the bytes that its file has, or would have.
fn calls(job: &Job, records: &BTreeMap<OpKind, RowRecord>, call: FileCall) -> Transfers {
    let done = transfers(
        records,
        match call {
            FileCall::Create => OpKind::Create,
            FileCall::Stat => OpKind::Stat,
            FileCall::Delete => OpKind::Remove,
        },
    );
    let files = match job.files.names.len() {
        0 => u64::from(job.files.count.max(1)),
        named => named as u64,
    };
    let each = match (job.files.each, job.size) {
        (Some((least, _)), _) => least,
        (None, Some(Amount::Bytes(size))) => size / files,
        (None, _) => 0,
    };
    let windows = done.windows.iter().map(|(count, _)| (*count, count * each));
    Transfers {
        bytes: done.count() * each,
        windows: windows.collect(),
        whole: Histogram::default(),
        submission: Histogram::default(),
        ..done
    }
}

fn transfers(records: &BTreeMap<OpKind, RowRecord>, kind: OpKind) -> Transfers {
    records.get(&kind).map(moved).unwrap_or_default()
}

/// fio counts from when a request of a rate is sent, not from when it was due, and synchronous
/// engines have no submission of their own. Of a rate the times from ready to completed are not
/// known, and those from sent to completed stand for them: none waits before it is sent.
fn as_in_fio(job: &Job, moved: Transfers) -> Transfers {
    let has_rate = job.has_rate();
    if !has_rate && job.has_submission() {
        return moved;
    }
    let mut submission = Histogram::default();
    if job.has_submission() {
        submission.record_n(0, moved.count());
    }
    Transfers {
        whole: match has_rate {
            true => moved.service.clone(),
            false => moved.whole,
        },
        submission,
        ..moved
    }
}

/// Reads, writes and trims as one.
fn together(records: &BTreeMap<OpKind, RowRecord>) -> Transfers {
    let mut sum = RowRecord::default();
    let moving = records.iter().filter(|(kind, _)| **kind != OpKind::Flush);
    moving.for_each(|(_, record)| sum.merge(record));
    moved(&sum)
}

fn moved(record: &RowRecord) -> Transfers {
    Transfers {
        whole: record.response.clone(),
        service: record.service.clone(),
        submission: record.submission.clone(),
        bytes: record.bytes,
        span: record.span,
        windows: record.windows.clone(),
        window: WINDOW,
        group_rate: 0.0,
        priorities: record.by_priority.iter().map(of_priority).collect(),
    }
}

fn of_priority((priority, times): (&IoPriority, &PriorityRecord)) -> PriorityTimes {
    PriorityTimes {
        class: priority.class(),
        level: priority.level(),
        whole: times.response.clone(),
        service: times.service.clone(),
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
