//! Carries planned jobs out: opens or makes their files, writes those that are read, and runs the
//! phases one after the other.

use std::collections::BTreeMap;

use engine::RowRecord;
use fio::{Job, SteadyReport};
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, OpenedBench};
use lab::cells::Cells;
use lab::hosts::Ranks;
use lab::laboratory::{Laboratory as _, Outcome};
use lab::storage::StorageSettings;
use lab::test_file::{stop_of, stopped};
use procedure::{Preparation, Trial};
use results::{Access, Measurement, Run, Setup, Status, TargetDescription, Warning, WarningCode};
use stats::Goal;
use units::{Bytes, Duration, Instant};
use workload::{ClientSpec, JobRate, JobsSpec, OpKind, RateMiss};

use super::checks::lines_of;
use super::fill::{AT_ONCE, fill, reading};
use super::hosts::{CollectedTimes, HostTimes};
use super::opened::{OpenedJobs, access_of, is_real, keep_files, open_jobs, reach_of, verify};
use super::plan::{FioPlan, JobPhase, JobStorage, OutputRow};
use super::reporting::{Look, PhaseReporter, Reporting};
use crate::session::{self, MeasurementSession};
use crate::single_load::TRIAL;
use crate::stage::{Show, Stage};

/// A job without a runtime ends by what it does; it is given up after this long.
const ENDLESS: Duration = Duration::from_secs(30 * 86_400);
/// What a job with a runtime may take longer: requests that are under way.
const LEEWAY: Duration = Duration::from_secs(600);

/// Jobs that were read, and what may be done.
#[derive(Clone, Debug)]
pub struct FioRequest {
    /// In the order of their file.
    pub jobs: Vec<Job>,
    /// What all workers are told.
    pub storage: StorageSettings,
    /// Whether existing files and devices may be written.
    pub overwrite: bool,
    /// Whether files that are made stay, and those that an earlier run kept may be written.
    pub keeps_files: bool,
    /// The name of the device whose known content may be lost.
    pub confirmed: Option<String>,
    /// Room that stays free.
    pub reserve: Option<Bytes>,
    /// What the run records of all this.
    pub setup: Setup,
    /// How its one phase is measured, where it is a trial; as its jobs say otherwise.
    pub shape: Option<TrialShape>,
    /// Where what is measured is kept, against a kill.
    pub cells: Cells,
    /// The hosts that carry them out together, each all of them, where there are several.
    pub ranks: Option<Ranks>,
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
) -> Result<FioRun, BenchError> {
    let OpenedJobs { plan, mut opened } = open_jobs(request)?;
    let bench = &mut opened.bench;
    bench.serve_listed(&trials(&plan, bench, request.shape.as_ref()), interrupt)?;
    if let Err(error) = verify(bench, &plan) {
        return Err(bench.abandon(error));
    }
    let reporter = PhaseReporter::new(reporting, &request.jobs, &plan);
    session::carry_out(JobsSession {
        session: FioSession::new(&plan, reporter, interrupt, show),
        request,
        plan,
        opened,
        found: Vec::new(),
        unmarked: Vec::new(),
    })
}

/// A session on the files of jobs.
struct JobsSession<'a, 'b> {
    request: &'a FioRequest,
    session: FioSession<'a, 'b>,
    plan: FioPlan,
    opened: OpenedBench,
    /// What verification found, and which jobs ended below their least rate, a line each.
    found: Vec<String>,
    /// Which files a later run will not be able to write again, a sentence each.
    unmarked: Vec<String>,
}

impl MeasurementSession for JobsSession<'_, '_> {
    type Outcome = FioRun;

    fn now(&mut self) -> Instant {
        self.opened.bench.laboratory().now()
    }

    fn show(&mut self, stage: &Stage<'_>) {
        (self.session.show)(stage);
    }

    fn measure(&mut self) -> Result<(), BenchError> {
        let (shape, bench) = (self.request.shape.as_ref(), &mut self.opened.bench);
        let done = self.session.carry_out(&self.plan, shape, bench);
        let done = done.and_then(|()| {
            let kept = keep_files(&self.plan, self.request, bench);
            kept.map(|unmarked| self.unmarked = unmarked)
        });
        let findings = bench.findings();
        self.found = lines_of(&findings, &self.plan);
        let is_right = self.found.is_empty();
        let missed = misses(&self.session.rows, &self.request.jobs);
        self.found.extend(missed.iter().cloned());
        done?;
        match missed.is_empty() {
            _ if !is_right => Err(BenchError::WrongData(findings)),
            true => Ok(()),
            false => Err(BenchError::Refused(missed.join("; "))),
        }
    }

    fn is_empty(&self) -> bool {
        self.session.measurements.is_empty() && self.found.is_empty()
    }

    fn leave(&mut self) -> Result<Vec<Warning>, BenchError> {
        let mut warnings = self.opened.leave();
        warnings.extend(self.session.reporter.warning());
        let unmarked = std::mem::take(&mut self.unmarked).into_iter();
        warnings.extend(unmarked.map(|text| {
            Warning::warn(WarningCode::FileUnmarked, text)
                .advise("A later run needs --overwrite to write it.")
        }));
        Ok(warnings)
    }

    fn abandon(&mut self, error: BenchError) -> BenchError {
        self.opened.bench.abandon(error)
    }

    fn recorded(&self, _: &Status) -> (Setup, TargetDescription) {
        let mut setup = self.request.setup.clone();
        setup.resolve("workers", [self.request.storage.workers.to_string()]);
        (setup, self.opened.description.clone())
    }

    fn complete(self, run: Run) -> FioRun {
        let session = self.session;
        FioRun {
            direct: self.opened.facts.access,
            log_error: session.reporter.log_error(),
            rows: session.rows,
            hosts: session.hosts.0,
            found: self.found,
            run: Run {
                measurements: session.measurements,
                ..run
            },
        }
    }
}

/// A moment as fio writes it, in the time zone of the system: `Sat Nov 28 04:46:40 2026`.
#[must_use]
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
    /// Whether a job of it ended because it was below its least rate.
    #[must_use]
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

pub(super) struct FioSession<'a, 'b> {
    pub(super) interrupt: &'a Interrupt,
    pub(super) show: Show<'a>,
    reporter: PhaseReporter<'b>,
    pub(super) measurements: Vec<Measurement>,
    pub(super) rows: Vec<JobTimes>,
    hosts: CollectedTimes,
    pub(super) spent: Duration,
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

impl<'a, 'b> FioSession<'a, 'b> {
    pub(super) fn new(
        plan: &FioPlan,
        reporter: PhaseReporter<'b>,
        interrupt: &'a Interrupt,
        show: Show<'a>,
    ) -> Self {
        Self {
            interrupt,
            show,
            reporter,
            measurements: Vec::new(),
            rows: plan.rows.iter().cloned().map(JobTimes::of).collect(),
            hosts: CollectedTimes::default(),
            spent: Duration::ZERO,
        }
    }

    /// Write the files that are made and read.
    pub(super) fn lay_out(&mut self, plan: &FioPlan, bench: &mut Bench) -> Result<(), BenchError> {
        let trials = fill_trials(plan, bench);
        self.before(&trials, bench)
    }

    /// Read what jobs of a phase want in the page cache.
    fn read_before(
        &mut self,
        plan: &FioPlan,
        phase: &JobPhase,
        bench: &mut Bench,
    ) -> Result<(), BenchError> {
        let trials = reading_trials(plan, phase, bench);
        self.before(&trials, bench)
    }

    /// What comes before a phase, and is no result.
    fn before(&mut self, trials: &[Trial], bench: &mut Bench) -> Result<(), BenchError> {
        for trial in trials {
            self.measure(trial, bench, Recall::Fill, &mut |_| true)?;
            self.go_on()?;
        }
        Ok(())
    }

    fn carry_out(
        &mut self,
        plan: &FioPlan,
        shape: Option<&TrialShape>,
        bench: &mut Bench,
    ) -> Result<(), BenchError> {
        self.lay_out(plan, bench)?;
        let recall = self.recall(plan);
        for (number, phase) in plan.phases.iter().enumerate() {
            if phase.moves_nothing() {
                continue;
            }
            self.read_before(plan, phase, bench)?;
            let trial = trial(phase, bench, (number as u64 + 1, shape));
            let before = bench.findings().total();
            // A trial of ours counts what it measured, not how that was checked.
            let since = match bench {
                Bench::Real(real) if shape.is_none() => real.last_write(),
                _ => u64::MAX,
            };
            let mut done = self.carry_out_phase((phase, recall), &trial, bench);
            if let Some(verify) = plan.verify.as_ref().filter(|_| done.is_ok()) {
                done = self.read_back((&verify.phases[number], since), bench);
            }
            let findings = bench.findings();
            if let Some(verify) = plan.verify.as_ref().filter(|_| findings.total() > before) {
                self.report_wrong(&verify.phases[number], &findings);
            }
            done?;
            self.go_on()?;
        }
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

    fn carry_out_phase(
        &mut self,
        phase: (&JobPhase, Recall),
        trial: &Trial,
        bench: &mut Bench,
    ) -> Result<(), BenchError> {
        let begun = self.spent;
        let (mut outcome, steady) = self.measure_phase(phase, trial, bench)?;
        if let Some(job) = phase.0.workloads.first().filter(|_| steady.is_some()) {
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
            times.phase = Some(self.measurements.len());
        }
        self.measurements.push(outcome.measurement);
        if let Bench::Fleet(fleet) = bench {
            self.hosts
                .take(fleet, (&self.rows, begun), &mut self.measurements);
        }
        match outcome.failure {
            Some(failure) => Err(stop_of(&trial.title, Some(failure), self.interrupt)),
            None => Ok(()),
        }
    }

    /// Go on unless a signal came.
    pub(super) fn go_on(&self) -> Result<(), BenchError> {
        stopped(self.interrupt).map_or(Ok(()), Err)
    }

    /// Measure a phase, and write meanwhile what is asked for.
    fn measure_phase(
        &mut self,
        (phase, recall): (&JobPhase, Recall),
        trial: &Trial,
        bench: &mut Bench,
    ) -> Result<(Outcome, Option<SteadyReport>), BenchError> {
        let mut reporter = std::mem::take(&mut self.reporter);
        let before = self.rows.clone();
        let measured = reporter.run(phase, &before, bench, |bench, look| {
            self.measure(trial, bench, recall, look)
        });
        self.reporter = reporter;
        measured
    }

    /// `look` ends it.
    pub(super) fn measure(
        &mut self,
        trial: &Trial,
        bench: &mut Bench,
        recall: Recall,
        look: Look<'_>,
    ) -> Result<Outcome, BenchError> {
        let Self {
            interrupt,
            show,
            spent,
            ..
        } = self;
        let interrupt: &Interrupt = interrupt;
        let expected = expected(trial);
        let reach = reach_of(bench, recall);
        let measured = bench.measure(trial, reach, &mut |glimpse| {
            let goes_on = look(glimpse.elapsed);
            show(&Stage {
                title: &trial.title,
                done: (glimpse.elapsed.as_secs_f64() / expected.as_secs_f64()).min(1.0),
                elapsed: *spent + glimpse.elapsed,
                left: Some(expected.saturating_sub(glimpse.elapsed)),
                glimpse: Some(glimpse),
                ..Stage::default()
            });
            goes_on && interrupt.is_raised().is_none()
        });
        let outcome = measured.map_err(|error| stopped(interrupt).unwrap_or(error.into()))?;
        self.spent += outcome.elapsed;
        Ok(outcome)
    }
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
