//! Carries planned jobs out: opens or makes their files, writes those that are read, and runs the
//! phases one after the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drivers::{AccessMode, Caching, Owner, Target, TargetOptions, free_space};
use engine::RowRecord;
use fio::Job;
use host::interrupt::Interrupt;
use host::{environment, inspect};
use lab::bench::BenchError;
use lab::laboratory::{Laboratory, LaboratoryError, NullLaboratory, Outcome, SimLaboratory};
use lab::simulated::open_recorded_model;
use lab::storage::{StorageLaboratory, StorageSettings, WantedFile};
use lab::test_file::{stop_of, stopped};
use procedure::{Preparation, Trial};
use results::{
    Access, Caution, Measurement, Run, Setup, Severity, Status, TargetDescription, Warning,
    WarningCode,
};
use stats::{Channel, Goal};
use units::{Bytes, Duration};
use verify::Findings;
use workload::{ClientSpec, JobsSpec, OpKind, TargetId};

use super::beside::{Beside, Besides};
use super::checks::lines_of;
use super::fill::fill;
use super::plan::{FioPlan, Phase, PlannedFile, Row, Storage, plan_jobs};
use crate::check_up::{Show, Stage};
use crate::single_load::{TRIAL, null_description};

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
    /// The name of the device whose known content may be lost.
    pub confirmed: Option<String>,
    /// Room that stays free.
    pub reserve: Option<Bytes>,
    /// What the run records of all this.
    pub setup: Setup,
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
    pub row: Row,
    /// Times by kind of operation.
    pub records: BTreeMap<OpKind, RowRecord>,
    /// The measurement of its phase, where there is one.
    pub phase: Option<usize>,
    /// Whether verification found something wrong in its phase.
    pub is_wrong: bool,
}

/// What jobs gave.
#[derive(Debug)]
pub struct FioRun {
    /// The run: one measurement for each phase.
    pub run: Run,
    /// Times of jobs, in the order of their file.
    pub rows: Vec<JobTimes>,
    /// What verification found, a line each.
    pub found: Vec<String>,
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
    beside: Beside<'_>,
    show: Show<'_>,
) -> Result<FioRun, BenchError> {
    let size_of = |path: &Path| size_of(path, &request.setup);
    let plan = plan_jobs(&request.jobs, &size_of);
    let plan = plan.map_err(|error| BenchError::Usage(error.to_string()))?;
    refuse_unwanted_writes(&plan, request)?;
    let (description, cautions) = describe(&plan)?;
    let mut place = open(&plan, request)?;
    if let Err(error) = place.verify(&plan) {
        return Err(place.abandon(error));
    }
    let begun = place.laboratory().now();
    let beside = Besides::new(beside, &request.jobs);
    let mut session = Session::new(&plan, beside, interrupt, show);
    let done = session.carry_out(&plan, request.shape.as_ref(), &mut place);
    let elapsed = place.laboratory().now().since(begun);
    let findings = place.findings();
    let found = lines_of(&findings, &plan);
    let status = match done {
        Ok(()) if found.is_empty() => Status::Complete,
        Ok(()) => Status::Partial {
            reason: format!("verification found {findings}"),
        },
        Err(stop) if session.measurements.is_empty() && found.is_empty() => {
            return Err(place.abandon(stop));
        }
        Err(stop) => Status::Partial {
            reason: stop.reason(),
        },
    };
    let mut warnings = inspect::warnings(&cautions);
    warnings.extend(place.warnings());
    warnings.extend(session.beside.warning());
    let mut setup = request.setup.clone();
    setup.resolve("workers", [request.storage.workers.to_string()]);
    let run = Run {
        status,
        elapsed_ns: elapsed.as_nanos(),
        measurements: session.measurements,
        warnings,
        ..Run::empty(setup, environment::capture(), description)
    };
    let log_error = session.beside.log_error();
    let rows = session.rows;
    Ok(FioRun {
        run,
        rows,
        found,
        log_error,
    })
}

impl JobTimes {
    pub(super) const fn of(row: Row) -> Self {
        Self {
            row,
            records: BTreeMap::new(),
            phase: None,
            is_wrong: false,
        }
    }
}

/// Bytes of a file, device or model that exists.
pub(super) fn size_of(path: &Path, setup: &Setup) -> Option<u64> {
    if let Some(model) = path.to_str().filter(|name| name.starts_with("sim:")) {
        return open_recorded_model(model, setup)
            .ok()
            .map(|spec| spec.size.0);
    }
    let options = TargetOptions {
        access: AccessMode::ReadOnly,
        caching: Caching::Buffered,
        signature_confirmed: None,
    };
    // What exists and cannot be opened is no file to be made: it is refused when it is opened.
    match Target::open(path, &options) {
        Ok(target) => Some(target.size()),
        Err(_) => path.symlink_metadata().ok().map(|_| u64::MAX),
    }
}

/// fio writes into whatever its job names; here that takes a word.
pub(super) fn refuse_unwanted_writes(
    plan: &FioPlan,
    request: &FioRequest,
) -> Result<(), BenchError> {
    if plan.storage != Storage::Files || request.overwrite {
        return Ok(());
    }
    let mut files = plan.files.iter();
    let Some(file) = files.find(|file| file.is_written && file.exists.is_some()) else {
        return Ok(());
    };
    Err(BenchError::Usage(format!(
        "{0} exists, and a job writes to it: fio would overwrite filename={0} at once; here that \
         needs --overwrite, and everything in it may be lost",
        file.path.display()
    )))
}

pub(super) fn describe(plan: &FioPlan) -> Result<(TargetDescription, Vec<Caution>), BenchError> {
    let first = plan.files.first();
    match (&plan.storage, first) {
        (Storage::Null, _) | (_, None) => Ok((null_description(Bytes(0)), Vec::new())),
        (Storage::Simulated(name), Some(file)) => {
            let size = file.exists;
            Ok((TargetDescription::simulated(name, name, size), Vec::new()))
        }
        (Storage::Files, Some(file)) => {
            let path = match file.exists {
                Some(_) => file.path.clone(),
                None => directory_of(&file.path),
            };
            Ok(inspect::inspect(&path)?)
        }
    }
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Where jobs are carried out.
pub(super) enum Bench {
    Null(NullLaboratory),
    Simulated(SimLaboratory),
    Real(StorageLaboratory),
}

pub(super) fn open(plan: &FioPlan, request: &FioRequest) -> Result<Bench, BenchError> {
    let settings = &request.storage;
    match &plan.storage {
        Storage::Null => Ok(Bench::Null(NullLaboratory::new(settings.seed))),
        Storage::Simulated(name) => {
            let spec = open_recorded_model(name, &request.setup)?;
            let laboratory = SimLaboratory::new(spec, settings.seed);
            Ok(Bench::Simulated(laboratory.with_errors(settings.on_error)))
        }
        Storage::Files => {
            let owner = Owner {
                program: format!("seekstone {}", env!("CARGO_PKG_VERSION")),
                started: environment::capture().started_at,
                purpose: "fio".into(),
            };
            let wanted: Vec<WantedFile> = plan.files.iter().map(wanted_file).collect();
            let mut settings = settings.clone();
            settings.reserve = reserve(plan, request)?;
            let confirmed = request.confirmed.as_deref();
            let laboratory = StorageLaboratory::on_several(&wanted, &owner, confirmed, settings)?;
            Ok(Bench::Real(laboratory))
        }
    }
}

fn wanted_file(file: &PlannedFile) -> WantedFile {
    WantedFile {
        path: file.path.clone(),
        make: file.exists.is_none().then_some(file.needs),
        access: match file.is_written {
            true => AccessMode::Overwrite,
            false => AccessMode::ReadOnly,
        },
    }
}

fn reserve(plan: &FioPlan, request: &FioRequest) -> Result<u64, BenchError> {
    if let Some(reserve) = request.reserve {
        return Ok(reserve.0);
    }
    let made = plan.files.iter().find(|file| file.exists.is_none());
    match made {
        Some(file) => {
            let space = free_space(&directory_of(&file.path));
            Ok(space.map_err(LaboratoryError::from)?.reserve)
        }
        None => Ok(0),
    }
}

impl Bench {
    pub(super) fn laboratory(&mut self) -> &mut dyn Laboratory {
        match self {
            Self::Null(null) => null,
            Self::Simulated(simulated) => simulated,
            Self::Real(real) => real,
        }
    }

    /// Verify what the plan says.
    pub(super) fn verify(&mut self, plan: &FioPlan) -> Result<(), BenchError> {
        let (Self::Real(real), Some(verify)) = (self, &plan.verify) else {
            return Ok(());
        };
        let targets = |files: &[usize]| -> Vec<TargetId> {
            files
                .iter()
                .map(|file| TargetId(*file as u32 * 2))
                .collect()
        };
        let inherited = targets(&verify.inherited);
        Ok(real.verify_targets(&targets(&verify.files), &inherited, verify.unit)?)
    }

    /// What verification found so far.
    pub(super) fn findings(&self) -> Findings {
        match self {
            Self::Real(real) => real.findings(),
            Self::Null(_) | Self::Simulated(_) => Findings::default(),
        }
    }

    /// Whether time stands still while nothing is measured.
    pub(super) const fn is_virtual(&self) -> bool {
        matches!(self, Self::Simulated(_))
    }

    fn access(&self, is_direct: bool) -> Access {
        match self {
            Self::Null(_) => Access::Null,
            Self::Simulated(_) => Access::Simulated,
            Self::Real(real) if is_direct => real.access(),
            Self::Real(_) => Access::Buffered,
        }
    }

    /// What opening found, and what could not be removed.
    pub(super) fn warnings(&mut self) -> Vec<Warning> {
        match self {
            Self::Null(_) => vec![Warning::note(
                WarningCode::NullTarget,
                "Nothing was read or written: the figures are what this program itself costs.",
            )],
            Self::Simulated(_) => Vec::new(),
            Self::Real(real) => {
                let notes = real.notes().iter();
                let notes = notes
                    .map(|note| Warning::new(Severity::Doubt, WarningCode::Access, note.clone()));
                let mut all: Vec<Warning> = notes.collect();
                let left = real.clean_up().err();
                all.extend(
                    left.map(|error| Warning::doubt(WarningCode::LeftBehind, error.to_string())),
                );
                all
            }
        }
    }

    pub(super) fn abandon(&mut self, error: BenchError) -> BenchError {
        let left = self.warnings().into_iter();
        let mut left = left.filter(|warning| warning.code == WarningCode::LeftBehind);
        match left.next() {
            None => error,
            Some(warning) => BenchError::LeftBehind {
                error: Box::new(error),
                left: warning.text(),
            },
        }
    }
}

pub(super) struct Session<'a, 'b> {
    pub(super) interrupt: &'a Interrupt,
    pub(super) show: Show<'a>,
    beside: Besides<'b>,
    pub(super) measurements: Vec<Measurement>,
    pub(super) rows: Vec<JobTimes>,
    pub(super) spent: Duration,
}

impl<'a, 'b> Session<'a, 'b> {
    pub(super) fn new(
        plan: &FioPlan,
        beside: Besides<'b>,
        interrupt: &'a Interrupt,
        show: Show<'a>,
    ) -> Self {
        Self {
            interrupt,
            show,
            beside,
            measurements: Vec::new(),
            rows: plan.rows.iter().cloned().map(JobTimes::of).collect(),
            spent: Duration::ZERO,
        }
    }

    /// Write the files that are made and read.
    pub(super) fn lay_out(&mut self, plan: &FioPlan, bench: &mut Bench) -> Result<(), BenchError> {
        let fill = fill(&plan.files);
        if plan.storage != Storage::Files || fill.workloads.is_empty() {
            return Ok(());
        }
        let trial = trial(&fill, bench, (0, None));
        self.measure(&trial, bench, &mut |_| {})?;
        self.go_on()
    }

    fn carry_out(
        &mut self,
        plan: &FioPlan,
        shape: Option<&TrialShape>,
        bench: &mut Bench,
    ) -> Result<(), BenchError> {
        self.lay_out(plan, bench)?;
        for (number, phase) in plan.phases.iter().enumerate() {
            let trial = trial(phase, bench, (number as u64 + 1, shape));
            let before = bench.findings().total();
            let mut done = self.carry_out_phase(phase, &trial, bench);
            if let Some(verify) = plan.verify.as_ref().filter(|_| done.is_ok()) {
                done = self.read_back(&verify.phases[number], bench);
            }
            let findings = bench.findings();
            if let Some(verify) = plan.verify.as_ref().filter(|_| findings.total() > before) {
                self.tell_wrong(&verify.phases[number], &findings);
            }
            done?;
            self.go_on()?;
        }
        Ok(())
    }

    fn carry_out_phase(
        &mut self,
        phase: &Phase,
        trial: &Trial,
        bench: &mut Bench,
    ) -> Result<(), BenchError> {
        let mut outcome = self.measure_phase(phase, trial, bench)?;
        if trial.sample_every.is_some() {
            outcome.measurement.series = outcome.series.take();
        }
        for ((row, kind), record) in outcome.rows {
            let times = &mut self.rows[row as usize];
            times.records.entry(kind).or_default().merge(&record);
            times.phase = Some(self.measurements.len());
        }
        self.measurements.push(outcome.measurement);
        match outcome.failure {
            Some(failure) => Err(stop_of(&trial.title, Some(failure), self.interrupt)),
            None => Ok(()),
        }
    }

    /// Go on unless a signal came.
    pub(super) fn go_on(&self) -> Result<(), BenchError> {
        stopped(self.interrupt).map_or(Ok(()), Err)
    }

    /// Measure a phase, with what is done beside it.
    fn measure_phase(
        &mut self,
        phase: &Phase,
        trial: &Trial,
        bench: &mut Bench,
    ) -> Result<Outcome, BenchError> {
        let mut beside = std::mem::take(&mut self.beside);
        let before = self.rows.clone();
        let measured = beside.run(phase, &before, bench, |bench, look| {
            self.measure(trial, bench, look)
        });
        self.beside = beside;
        measured
    }

    /// `look` is told of the time since the trial's start, now and then.
    pub(super) fn measure(
        &mut self,
        trial: &Trial,
        bench: &mut Bench,
        look: &mut dyn FnMut(Duration),
    ) -> Result<Outcome, BenchError> {
        let Self {
            interrupt,
            show,
            spent,
            ..
        } = self;
        let interrupt: &Interrupt = interrupt;
        let expected = expected(trial);
        let measured = bench.laboratory().measure(trial, &mut |glimpse| {
            look(glimpse.elapsed);
            show(&Stage {
                title: &trial.title,
                done: (glimpse.elapsed.as_secs_f64() / expected.as_secs_f64()).min(1.0),
                elapsed: *spent + glimpse.elapsed,
                left: expected.saturating_sub(glimpse.elapsed),
                glimpse: Some(glimpse),
            });
            interrupt.is_raised().is_none()
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

/// The trial of a phase, the number of which makes it draw afresh.
pub(super) fn trial(
    phase: &Phase,
    bench: &Bench,
    (number, shape): (u64, Option<&TrialShape>),
) -> Trial {
    let jobs = phase.workloads.clone();
    let last = jobs.iter().map(|job| match job.runtime {
        Some(runtime) => job.recorded_from() + runtime,
        None => ENDLESS,
    });
    let duration_max = last.max().unwrap_or(ENDLESS) + LEEWAY;
    let is_direct = jobs
        .iter()
        .all(|job| job.files.iter().all(|file| file.target.0 % 2 == 0));
    let depth = jobs.iter().map(|job| job.depth).sum();
    let trial = Trial {
        name: phase.name.clone(),
        title: phase.names.join(", "),
        clients: jobs.len() as u32,
        depth,
        spec: ClientSpec::Jobs(JobsSpec { jobs }),
        access: bench.access(is_direct),
        preparation: match phase.drops_cache && matches!(bench, Bench::Real(_)) {
            true => Preparation::DropCache,
            false => Preparation::None,
        },
        goal: None,
        channel: Channel::Response,
        duration_max,
        salt: number,
        sample_every: None,
        limit: None,
        warm_up: None,
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
