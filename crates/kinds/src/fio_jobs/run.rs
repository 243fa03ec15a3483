//! Carries planned jobs out: opens or makes their files, writes those that are read, and runs the
//! phases one after the other.

use std::collections::BTreeMap;

use engine::RowRecord;
use fio::{Job, SteadyReport};
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, BenchRequest};
use lab::laboratory::{Glimpse, Outcome};
use lab::test_file::stop_of;
use procedure::{Preparation, Trial};
use results::{Access, Run, Warning, WarningCode};
use stats::Goal;
use units::{Bytes, Duration, TimeSpan};
use workload::{ClientSpec, JobRate, JobsSpec, OpKind, RateMiss};

use super::checks::lines_of;
use super::fill::{AT_ONCE, fill, reading};
use super::hosts::{CollectedTimes, HostTimes};
use super::job_values::depth_of;
use super::opened::{OpenedJobs, access_of, is_real, keep_files, open_jobs, reach_of, verify};
use super::plan::{FioPlan, JobPhase, JobStorage, OutputRow};
use super::reporting::{Look, PhaseReporter, Reporting};
use crate::session::{MeasurementPlan, Result, Session, TrialProgress};
use crate::single_load::TRIAL;
use crate::stage::Show;

/// A job without a runtime ends by what it does; it is given up after this long.
const ENDLESS: Duration = Duration::from_secs(30 * 86_400);
/// What a job with a runtime may take longer: requests that are under way.
const LEEWAY: Duration = Duration::from_secs(600);

/// Jobs that were read, and what may be done.
#[derive(Clone, Debug)]
pub struct FioRequest {
    /// What may be done; what is measured is in the jobs.
    pub bench: BenchRequest,
    /// In the order of their file.
    pub jobs: Vec<Job>,
    /// Whether files that are made stay, and those that an earlier run kept may be written.
    pub keeps_files: bool,
    /// How its one phase is measured, where it is a trial; as its jobs say otherwise.
    pub shape: Option<TrialShape>,
}

/// How a phase is measured that is a trial.
#[derive(Clone, Debug)]
pub struct TrialShape {
    /// What is done, in words.
    pub title: String,
    /// When the answer is good enough; `None` runs for `duration_max`.
    pub goal: Option<Goal>,
    /// When to stop in any case.
    pub duration_max: Duration,
    /// Length of the intervals that are listed, if any are.
    pub sample_every: Option<Duration>,
    /// What is left out at the start, whatever it looks like; a rule finds it when absent.
    pub warm_up: Option<Duration>,
}

/// What one row of the output holds.
#[derive(Clone, Debug)]
pub struct JobTimes {
    /// What it stands for.
    pub row: OutputRow,
    /// Times by kind of operation.
    pub records: BTreeMap<OpKind, RowRecord>,
    /// The measurement of its phase, where there is one.
    pub phase: Option<usize>,
    /// Whether verification found something wrong in its phase.
    pub is_wrong: bool,
    /// Whether it was steady, where that was asked.
    pub steady: Option<SteadyReport>,
}

/// What jobs gave.
#[derive(Debug)]
pub struct FioRun {
    /// The run: one measurement for each phase.
    pub run: Run,
    /// Times of jobs, in the order of their file.
    pub rows: Vec<JobTimes>,
    /// The same of each host, where there are several.
    pub hosts: Vec<HostTimes>,
    /// What verification found, and which jobs ended below their least rate, a line each.
    pub found: Vec<String>,
    /// How jobs reach their files that are not buffered.
    pub direct: Access,
    /// The writer of a log that failed, and why: what it has is not all.
    pub log_error: Option<(usize, String)>,
}

/// Carry jobs out.
///
/// # Errors
/// When one cannot be carried out, or nothing was measured.
pub fn run_jobs(
    request: &FioRequest,
    interrupt: &Interrupt,
    reporting: Reporting<'_>,
    show: Show<'_>,
) -> Result<FioRun> {
    let OpenedJobs { plan, opened } = open_jobs(request)?;
    let direct = opened.facts.access;
    let mut session = Session::new(opened, &request.bench, interrupt, show);
    let listed = trials(&plan, &session.bench, request.shape.as_ref());
    session.bench.serve_listed(&listed, interrupt)?;
    if let Err(error) = verify(&mut session.bench, &plan) {
        return Err(session.bench.abandon(error));
    }
    session.carry_out(JobsPlan {
        phases: PhaseRunner::new(&plan, PhaseReporter::new(reporting, &request.jobs, &plan)),
        request,
        plan,
        direct,
        found: Vec::new(),
    })
}

/// Jobs on their files.
struct JobsPlan<'a, 'b> {
    request: &'a FioRequest,
    phases: PhaseRunner<'b>,
    plan: FioPlan,
    direct: Access,
    /// What verification found, and which jobs ended below their least rate, a line each.
    found: Vec<String>,
}

impl MeasurementPlan for JobsPlan<'_, '_> {
    type Outcome = FioRun;

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        let done = self.phases.carry_out(session, &self.plan, self.request);
        let findings = session.bench.findings();
        self.found = lines_of(&findings, &self.plan);
        let is_right = self.found.is_empty();
        let missed = misses(&self.phases.rows, &self.request.jobs);
        self.found.extend(missed.iter().cloned());
        session.warnings.extend(self.phases.reporter.warning());
        done?;
        match missed.is_empty() {
            _ if !is_right => Err(BenchError::WrongData(findings)),
            true => Ok(()),
            false => Err(BenchError::Refused(missed.join("; "))),
        }
    }

    fn is_empty(&self, session: &Session<'_>) -> bool {
        session.measurements.is_empty() && self.found.is_empty()
    }

    fn complete(self, run: Run) -> FioRun {
        let phases = self.phases;
        FioRun {
            direct: self.direct,
            log_error: phases.reporter.log_error(),
            rows: phases.rows,
            hosts: phases.hosts.0,
            found: self.found,
            run,
        }
    }
}

/// A moment as fio writes it, in the time zone of the system: `Sat Nov 28 04:46:40 2026`.
pub fn as_fio_date(moment: &str) -> String {
    let read: Result<jiff::Timestamp, _> = moment.parse();
    let local = read.map(|it| it.to_zoned(jiff::tz::TimeZone::system()));
    local.map_or_else(
        |_| moment.to_owned(),
        |it| it.strftime("%a %b %e %H:%M:%S %Y").to_string(),
    )
}

/// The jobs that ended below their least rate, in words.
fn misses(rows: &[JobTimes], jobs: &[Job]) -> Vec<String> {
    let line = |(times, missed): (&JobTimes, RateMiss)| {
        let name = &jobs[times.row.job].name;
        let RateMiss {
            kind,
            wanted,
            found,
            within,
        } = missed;
        let (option, rates) = match wanted {
            JobRate::Bytes { per_second } => {
                ("rate_min", [found, per_second].map(bytes_per_second))
            }
            JobRate::Requests { per_second } => (
                "rate_iops_min",
                [found as f64, per_second].map(|it| format!("{it} IOPS")),
            ),
            JobRate::Free => return None,
        };
        let [found, wanted] = rates;
        let word = kind.name();
        Some(format!(
            "[{name}] ended: {word}s came to {found} in {within}, below {option} of {wanted}"
        ))
    };
    let of_row = |times| missed_of(times).map(|missed| (times, missed));
    rows.iter().filter_map(of_row).filter_map(line).collect()
}

fn bytes_per_second(bytes: u64) -> String {
    format!("{}/s", Bytes(bytes))
}

fn missed_of(times: &JobTimes) -> Option<RateMiss> {
    times.records.values().find_map(|record| record.missed)
}

impl JobTimes {
    /// Requests that a copy has under way at once: its depth, or, by Little's law, the mean where a
    /// rate or pauses keep it below that.
    pub fn in_flight(&self, job: &Job) -> u32 {
        let depth = depth_of(job, &JobStorage::Files).max(1);
        if !job.has_rate() && job.think.time == Duration::ZERO {
            return depth;
        }
        let records = self.records.values();
        let spans = records.clone().map(|it| it.span);
        let elapsed = spans.fold(TimeSpan::default(), TimeSpan::with).length();
        let elapsed = elapsed.as_nanos() as f64 * f64::from(self.row.copies.max(1));
        let waited = records.map(|it| it.service.mean() * it.service.len() as f64);
        let mean = waited.sum::<f64>() / elapsed.max(1.0);
        (mean.round() as u32).clamp(1, depth)
    }

    /// Whether a job of it ended because it was below its least rate.
    pub fn is_below(&self) -> bool {
        missed_of(self).is_some()
    }

    pub(super) const fn of(row: OutputRow) -> Self {
        Self {
            row,
            records: BTreeMap::new(),
            phase: None,
            is_wrong: false,
            steady: None,
        }
    }
}

/// Carries phases out, and gathers what their rows hold.
pub(super) struct PhaseRunner<'b> {
    reporter: PhaseReporter<'b>,
    pub(super) rows: Vec<JobTimes>,
    hosts: CollectedTimes,
}

/// Whether a trial may be told that was kept.
#[derive(Clone, Copy)]
pub(super) enum Recall {
    WhereKept,
    /// It leaves behind what later ones need, or each of its operations is looked at.
    Never,
    /// It writes what later ones read, and is no result.
    Fill,
}

impl<'b> PhaseRunner<'b> {
    pub(super) fn new(plan: &FioPlan, reporter: PhaseReporter<'b>) -> Self {
        Self {
            reporter,
            rows: plan.rows.iter().cloned().map(JobTimes::of).collect(),
            hosts: CollectedTimes::default(),
        }
    }

    fn carry_out(
        &mut self,
        session: &mut Session<'_>,
        plan: &FioPlan,
        request: &FioRequest,
    ) -> Result<()> {
        lay_out(session, plan)?;
        let (shape, recall) = (request.shape.as_ref(), self.recall(plan));
        for (number, phase) in plan.phases.iter().enumerate() {
            if phase.moves_nothing() {
                continue;
            }
            measure_before(session, &reading_trials(plan, phase, &session.bench))?;
            let trial = trial(phase, &session.bench, (number as u64 + 1, shape));
            let before = session.bench.findings().total();
            // A trial of ours counts what it measured, not how that was checked.
            let since = match &session.bench {
                Bench::Real(real) if shape.is_none() => real.last_write(),
                _ => u64::MAX,
            };
            let mut done = self.carry_out_phase(session, (phase, recall), &trial);
            if let Some(verify) = plan.verify.as_ref().filter(|_| done.is_ok()) {
                done = self.read_back(session, (&verify.phases[number], since));
            }
            let findings = session.bench.findings();
            if let Some(verify) = plan.verify.as_ref().filter(|_| findings.total() > before) {
                self.report_wrong(session, &verify.phases[number], &findings);
            }
            done?;
            session.go_on(&trial, None)?;
        }
        let unmarked = keep_files(plan, request, &session.bench)?.into_iter();
        session.warnings.extend(unmarked.map(|text| {
            Warning::warn(WarningCode::FileUnmarked, text)
                .advise("A later run needs --overwrite to write it.")
        }));
        Ok(())
    }

    /// Whether results of phases may be told that were kept.
    fn recall(&self, plan: &FioPlan) -> Recall {
        let leaves = plan.phases.len() > 1 && plan.writes_blank_files();
        let is_watched = plan.phases.iter().any(|phase| phase.steady.is_some());
        let leaves = leaves || plan.called.is_some();
        match self.reporter.has_logs() || is_watched || plan.verify.is_some() || leaves {
            true => Recall::Never,
            false => Recall::WhereKept,
        }
    }

    /// Measure a phase, and write meanwhile what is asked for.
    fn carry_out_phase(
        &mut self,
        session: &mut Session<'_>,
        (phase, recall): (&JobPhase, Recall),
        trial: &Trial,
    ) -> Result<()> {
        let begun = session.spent;
        let measured = self
            .reporter
            .run(phase, &self.rows, session, |session, look| {
                measure(session, trial, recall, look)
            });
        let (mut outcome, steady) = measured?;
        if let Some(job) = phase.workloads.first().filter(|_| steady.is_some()) {
            self.rows[job.row as usize].steady = steady;
        }
        if trial.sample_every.is_some() {
            outcome.measurement.series = outcome.series.take();
            outcome.measurement.intervals = std::mem::take(&mut outcome.intervals);
        }
        for ((row, kind), mut record) in outcome.rows {
            record.span = record.span.later_by(begun);
            let times = &mut self.rows[row as usize];
            times.records.entry(kind).or_default().merge(&record);
            times.phase = Some(session.measurements.len());
        }
        session.measurements.push(outcome.measurement);
        if let Bench::Fleet(fleet) = &mut session.bench {
            self.hosts
                .take(fleet, (&self.rows, begun), &mut session.measurements);
        }
        match outcome.failure {
            Some(failure) => Err(stop_of(&trial.title, Some(failure), session.interrupt)),
            None => Ok(()),
        }
    }
}

/// Write the files that are made and read.
pub(super) fn lay_out(session: &mut Session<'_>, plan: &FioPlan) -> Result<()> {
    measure_before(session, &fill_trials(plan, &session.bench))
}

/// What comes before a phase, and is no result.
fn measure_before(session: &mut Session<'_>, trials: &[Trial]) -> Result<()> {
    for trial in trials {
        measure(session, trial, Recall::Fill, &mut |_| true)?;
        session.go_on(trial, None)?;
    }
    Ok(())
}

/// `look` ends it.
pub(super) fn measure(
    session: &mut Session<'_>,
    trial: &Trial,
    recall: Recall,
    look: Look<'_>,
) -> Result<Outcome> {
    let (expected, spent) = (expected(trial), session.spent);
    let reach = reach_of(&session.bench, recall);
    let progress = |glimpse: &Glimpse| TrialProgress {
        done: (glimpse.elapsed.as_secs_f64() / expected.as_secs_f64()).min(1.0),
        elapsed: spent + glimpse.elapsed,
        left: Some(expected.saturating_sub(glimpse.elapsed)),
    };
    let outcome = session.measure_while(trial, &trial.title, reach, progress, look)?;
    session.spent += outcome.elapsed;
    Ok(outcome)
}

/// How long the jobs of a trial have to run at most.
fn expected(trial: &Trial) -> Duration {
    match trial.duration_max.saturating_sub(LEEWAY) {
        Duration::ZERO => trial.duration_max,
        left => left,
    }
}

/// The trials that write the files that are made and read, if there are any.
fn fill_trials(plan: &FioPlan, bench: &Bench) -> Vec<Trial> {
    bounded(&fill(plan), plan, bench)
}

/// The trials that read what jobs of a phase want in the page cache, if any do.
fn reading_trials(plan: &FioPlan, phase: &JobPhase, bench: &Bench) -> Vec<Trial> {
    bounded(&reading(phase), plan, bench)
}

/// The trials of a phase of files, each of as many workloads as work at once.
fn bounded(phase: &JobPhase, plan: &FioPlan, bench: &Bench) -> Vec<Trial> {
    if plan.storage != JobStorage::Files {
        return Vec::new();
    }
    let parts = phase.workloads.chunks(AT_ONCE).map(|workloads| JobPhase {
        workloads: workloads.to_vec(),
        ..phase.clone()
    });
    parts.map(|part| trial(&part, bench, (0, None))).collect()
}

/// All trials of a plan.
fn trials(plan: &FioPlan, bench: &Bench, shape: Option<&TrialShape>) -> Vec<Trial> {
    let phases = (1..).zip(&plan.phases);
    let phases = phases.flat_map(|(number, phase)| {
        let before = reading_trials(plan, phase, bench).into_iter();
        before.chain([trial(phase, bench, (number, shape))])
    });
    fill_trials(plan, bench).into_iter().chain(phases).collect()
}

/// The trial of a phase, the number of which makes it draw afresh.
pub(super) fn trial(
    phase: &JobPhase,
    bench: &Bench,
    (number, shape): (u64, Option<&TrialShape>),
) -> Trial {
    let jobs = phase.workloads.clone();
    let last = jobs.iter().map(|job| job.ends_after().unwrap_or(ENDLESS));
    let duration_max = last.max().unwrap_or(ENDLESS) + LEEWAY;
    let is_direct = jobs
        .iter()
        .all(|job| job.files.iter().all(|file| file.target.0 % 2 == 0));
    let depth = jobs.iter().map(|job| job.depth).sum();
    let trial = Trial {
        title: phase.names.join(", "),
        clients: jobs.len() as u32,
        depth,
        preparation: match phase.drops_cache && is_real(bench) {
            true => Preparation::DropCache,
            false => Preparation::None,
        },
        duration_max,
        salt: number,
        ..Trial::new(
            phase.name.as_str(),
            ClientSpec::Jobs(JobsSpec { jobs }),
            access_of(bench, is_direct),
        )
    };
    match shape {
        None => trial,
        Some(shape) => Trial {
            name: TRIAL.into(),
            title: shape.title.clone(),
            goal: shape.goal,
            duration_max: shape.duration_max,
            sample_every: shape.sample_every,
            warm_up: shape.warm_up,
            ..trial
        },
    }
}
