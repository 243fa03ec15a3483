//! One session for every kind: it keeps what was measured when it stops early, cleans up, and puts
//! the run together. Of kinds whose trials run on one bench it also opens the target, and serves
//! where another host leads.

use host::environment;
use host::inspect::short_seeks;
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, BenchRequest, HostReach, OpenedBench};
use lab::laboratory::{Glimpse, Outcome};
use lab::test_file::{FillBudget, SIZE_DEFAULT, fill_test_file, stop_of, stopped};
use procedure::{CheckUpFacts, Plan, Trial, TrialError};
use results::{Caution, Measurement, Run, Setup, Status, TargetDescription, Warning, WarningCode};
use units::{Bytes, Duration, Instant};

use crate::stage::{RunPlan, Show, Stage};

/// What the size of the test file is kept as.
const SIZE_FOUND: &str = "size of the test file";

/// How often somebody who does nothing looks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Shows the title of what is measured or written, and its progress.
pub(crate) type ShowGlimpse<'a> = &'a mut dyn FnMut(&str, &Glimpse);

/// What comes of a step, unless it fails.
pub(crate) type Result<T, E = BenchError> = std::result::Result<T, E>;

/// A measurement from its first step to its run, on whatever it has opened.
pub(crate) trait MeasurementSession: Sized {
    /// The run, or the run and what is added to it later.
    type Outcome;

    /// The present instant on the clock of what is measured.
    fn now(&mut self) -> Instant;

    /// What it is about to do; nothing where that is not said.
    fn plan(&self) -> RunPlan {
        RunPlan::default()
    }

    /// Show a stage.
    fn show(&mut self, stage: &Stage<'_>);

    /// Do all of it. What was measured before an error stays.
    ///
    /// # Errors
    /// Why it did not come to its end.
    fn measure(&mut self) -> Result<()>;

    /// Whether nothing was measured that a partial run could hold.
    fn is_empty(&self) -> bool;

    /// What must be said of the run.
    fn warnings(&mut self) -> Vec<Warning>;

    /// Remove what was made, and part from other hosts; what could not be removed, a warning each.
    ///
    /// # Errors
    /// On other ranks than 0, which have no run.
    fn clean_up(&mut self) -> Result<Vec<Warning>>;

    /// The setup with what was left to the program, and what was measured.
    fn recorded(&self, status: &Status) -> (Setup, TargetDescription);

    /// The run with what was found; it has the rest already.
    fn complete(self, run: Run) -> Self::Outcome;
}

/// Carry a session out to its end, or as far as it comes.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub(crate) fn carry_out<S: MeasurementSession>(mut session: S) -> Result<S::Outcome> {
    let environment = environment::capture();
    let begun = session.now();
    if let Some(line) = session.plan().line() {
        session.show(&Stage {
            title: &line,
            is_plan: true,
            ..Stage::default()
        });
    }
    let measured = session.measure();
    let elapsed = session.now().since(begun);
    let status = match measured {
        Ok(()) => Status::Complete,
        Err(stop) if session.is_empty() || matches!(stop, BenchError::Served) => {
            return Err(abandon(&mut session, stop));
        }
        Err(stop) => Status::Partial {
            reason: stop.reason(),
        },
    };
    let mut warnings = session.warnings();
    warnings.extend(session.clean_up()?);
    let (setup, target) = session.recorded(&status);
    Ok(session.complete(Run {
        status,
        elapsed_ns: elapsed.as_nanos(),
        warnings,
        ..Run::empty(setup, environment, target)
    }))
}

/// Remove what was made, because of `error`, which then says what could not be removed.
pub(crate) fn abandon(session: &mut impl MeasurementSession, error: BenchError) -> BenchError {
    match session.clean_up() {
        Ok(left) => error.with_left(left),
        Err(error) => error,
    }
}

/// What a kind does on an open target, and what it makes of that.
pub(crate) trait MeasurementPlan: Sized {
    /// The run, or the run and what is added to it later.
    type Outcome;

    /// What it is about to do; nothing where that is not said.
    fn plan(&self, _session: &Session<'_>) -> RunPlan {
        RunPlan::default()
    }

    /// Show a stage.
    fn show(&mut self, session: &mut Session<'_>, stage: &Stage<'_>) {
        (session.show)(stage);
    }

    /// Do all of it. What was measured before an error stays.
    ///
    /// # Errors
    /// Why it did not come to its end.
    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()>;

    /// Whether it measured nothing that a partial run could hold.
    fn is_empty(&self, session: &Session<'_>) -> bool {
        session.measurements.is_empty()
    }

    /// Record what was left to the program, beside the size.
    fn resolve(&self, _setup: &mut Setup, _status: &Status) {}

    /// The run with what the kind found; it has the rest already.
    fn complete(self, run: Run) -> Self::Outcome;
}

/// A target that is open, and what was measured on it so far.
pub(crate) struct Session<'a> {
    pub request: &'a BenchRequest,
    pub interrupt: &'a Interrupt,
    pub show: Show<'a>,
    pub bench: Bench,
    pub target: TargetDescription,
    pub facts: CheckUpFacts,
    /// Bytes that are measured, once they are known.
    pub size: Bytes,
    /// When the session began.
    pub begun: Instant,
    /// Time of the budget that is used: of the trials that are over, and of the test file.
    pub spent: Duration,
    pub measurements: Vec<Measurement>,
    pub warnings: Vec<Warning>,
    cautions: Vec<Caution>,
}

/// How far a run is while a trial goes on.
#[derive(Clone, Copy)]
pub(crate) struct TrialProgress {
    /// Share of the work that is done, 0 to 1.
    pub done: f64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Time that is left, at most, where that is known.
    pub left: Option<Duration>,
}

/// Open a target, and carry out there what `make` plans. `make` refuses what cannot be, before
/// anything is written.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub(crate) fn run<'a, P: MeasurementPlan>(
    request: &'a BenchRequest,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    make: impl FnOnce(&mut Session<'a>) -> Result<P>,
) -> Result<P::Outcome> {
    run_on(
        lab::bench::open_bench(request)?,
        (request, interrupt, show),
        make,
    )
}

/// The same on a target that was opened.
///
/// # Errors
/// Those of [`run`].
pub(crate) fn run_on<'a, P: MeasurementPlan>(
    opened: OpenedBench,
    (request, interrupt, show): (&'a BenchRequest, &'a Interrupt, Show<'a>),
    make: impl FnOnce(&mut Session<'a>) -> Result<P>,
) -> Result<P::Outcome> {
    let mut session = Session::new(opened, request, interrupt, show);
    session.bench.serve(interrupt)?;
    match make(&mut session) {
        Ok(plan) => session.carry_out(plan),
        Err(error) => Err(session.bench.abandon(error)),
    }
}

/// A plan on its bench.
struct BenchSession<'a, P> {
    session: Session<'a>,
    plan: P,
}

impl<P: MeasurementPlan> MeasurementSession for BenchSession<'_, P> {
    type Outcome = P::Outcome;

    fn now(&mut self) -> Instant {
        self.session.now()
    }

    fn plan(&self) -> RunPlan {
        self.plan.plan(&self.session)
    }

    fn show(&mut self, stage: &Stage<'_>) {
        self.plan.show(&mut self.session, stage);
    }

    fn measure(&mut self) -> Result<()> {
        self.session.begun = self.session.now();
        self.plan.carry_out(&mut self.session)
    }

    fn is_empty(&self) -> bool {
        self.plan.is_empty(&self.session)
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let session = &mut self.session;
        let mut warnings = session.bench.warnings(&session.cautions);
        warnings.extend(short_seeks(&session.target, session.size.0));
        warnings.append(&mut session.warnings);
        warnings
    }

    fn clean_up(&mut self) -> Result<Vec<Warning>> {
        Ok(Vec::from_iter(self.session.bench.clean_up()))
    }

    fn recorded(&self, status: &Status) -> (Setup, TargetDescription) {
        let mut setup = self.session.request.resolved(self.session.size);
        self.plan.resolve(&mut setup, status);
        (setup, self.session.target.clone())
    }

    fn complete(self, run: Run) -> P::Outcome {
        self.plan.complete(Run {
            measurements: self.session.measurements,
            ..run
        })
    }
}

impl<'a> Session<'a> {
    /// Nothing was measured yet.
    pub fn new(
        opened: OpenedBench,
        request: &'a BenchRequest,
        interrupt: &'a Interrupt,
        show: Show<'a>,
    ) -> Self {
        let OpenedBench {
            mut bench,
            description,
            cautions,
            facts,
        } = opened;
        let asked = request.size.unwrap_or(SIZE_DEFAULT);
        Self {
            request,
            interrupt,
            show,
            size: facts.existing.unwrap_or(asked.min(facts.room)),
            begun: bench.laboratory().now(),
            bench,
            target: description,
            facts,
            spent: Duration::ZERO,
            measurements: Vec::new(),
            warnings: Vec::new(),
            cautions,
        }
    }

    /// Carry out what was planned, clean up, and put the run together.
    ///
    /// # Errors
    /// Those of [`run`].
    pub fn carry_out<P: MeasurementPlan>(self, plan: P) -> Result<P::Outcome> {
        carry_out(BenchSession {
            session: self,
            plan,
        })
    }

    pub fn now(&mut self) -> Instant {
        self.bench.laboratory().now()
    }

    pub fn elapsed(&mut self) -> Duration {
        self.now().since(self.begun)
    }

    /// What an existing target needs before it is written to; `Ok` where nothing is, or may be.
    ///
    /// # Errors
    /// When leave was not given.
    pub fn refuse_writes(&self) -> Result<()> {
        if self.may_write() {
            return Ok(());
        }
        Err(BenchError::Usage(format!(
            "{} exists and is only written to with --overwrite. All data on it may then be lost",
            self.request.target
        )))
    }

    pub const fn may_write(&self) -> bool {
        self.facts.makes_files || self.facts.may_overwrite
    }

    /// Time for the test file and all else, where the one takes a share of the other.
    fn shared(&self, budget: Option<Duration>, rest: Duration) -> Option<FillBudget> {
        let may_shrink = self.request.size.is_none();
        let budget = budget.filter(|_| may_shrink || self.request.setup.is_given("budget"));
        budget.map(|budget| FillBudget {
            budget,
            rest,
            may_shrink,
        })
    }

    /// The plan of a measurement of that name and time: in a directory a test file is filled
    /// before, within `budget`, if there is one.
    pub fn filled_plan(
        &self,
        budget: Option<Duration>,
        (name, time): (&'static str, Option<Duration>),
    ) -> RunPlan {
        let share = self.shared(budget, Duration::ZERO).map(FillBudget::share);
        let filled = share.map_or("fill", |_| "fill up to");
        let filling = self.facts.makes_files.then_some((filled, share));
        let spent = share
            .filter(|_| filling.is_some())
            .unwrap_or(Duration::ZERO);
        let rest = time.map(|time| time.saturating_sub(spent));
        RunPlan {
            phases: filling.into_iter().chain([(name, rest)]).collect(),
            budget: budget.and(time),
        }
    }

    /// Make the test file of a directory and write it; `None` on a target that was there before.
    /// It takes a share of `budget` and counts as spent, unless the user gave a size and no budget.
    ///
    /// # Errors
    /// When there is no room or no time, the storage fails, or somebody stopped it.
    pub fn fill(&mut self, budget: Option<Duration>) -> Result<Option<Measurement>> {
        self.fill_shown(budget, Duration::ZERO, None)
    }

    /// The same, with `rest` of the budget left in any case, and shown in another way.
    ///
    /// # Errors
    /// Those of [`Session::fill`].
    pub fn fill_shown(
        &mut self,
        budget: Option<Duration>,
        rest: Duration,
        screen: Option<ShowGlimpse<'_>>,
    ) -> Result<Option<Measurement>> {
        if !self.facts.makes_files {
            return Ok(None);
        }
        let begun = self.now();
        let budget = self.shared(budget, rest);
        // A run that goes on keeps the size that was found.
        let cells = self.request.cells.clone();
        let known: Option<u64> = cells.recalled(SIZE_FOUND);
        let asked = self.size;
        self.size = known.map_or(asked, Bytes);
        let share = budget.map(FillBudget::share);
        let budget = budget.filter(|_| known.is_none());
        let time = budget.map(|it| it.budget);
        let Self { show, bench, .. } = self;
        let mut fill = |show: &mut dyn FnMut(&str, &Glimpse)| {
            let (size, access) = (self.size, self.facts.access);
            fill_test_file(bench, size, access, budget, self.interrupt, show)
        };
        let filled = match screen {
            Some(screen) => fill(screen)?,
            None => fill(&mut |title, glimpse| {
                show(&Stage {
                    left: time.map(|time| time.saturating_sub(glimpse.elapsed)),
                    ..Stage::of_filling(title, glimpse)
                });
            })?,
        };
        self.size = filled.size;
        if filled.is_smaller || known.is_some() {
            cells.note(SIZE_FOUND, &filled.size.0);
            let size = self.size;
            let text = format!(
                "The test file has {size} instead of {asked}: writing a larger one takes too long."
            );
            let note = Warning::info(WarningCode::TestFileSmaller, text);
            self.warnings
                .push(note.advise("Allow more time with --budget."));
        }
        let took = self.now().since(begun);
        self.spent += share.map_or(Duration::ZERO, |share| took.min(share));
        Ok(Some(filled.writing))
    }

    /// Let the storage finish what was written, so that no later trial waits for it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn settle(&mut self) -> Result<()> {
        Ok(self.bench.settle()?)
    }

    /// Do nothing for so long, shown under that title with how far the run is at its start. A run
    /// that goes on after a kill does not wait once more for what was kept under `of`.
    ///
    /// # Errors
    /// When somebody stopped it.
    pub fn pause(
        &mut self,
        time: Duration,
        (title, progress): (&str, TrialProgress),
        of: &str,
    ) -> Result<()> {
        if let Bench::Simulated(model) = &mut self.bench {
            model.pass(time);
            return Ok(());
        }
        let (begun, interrupt) = (self.now(), self.interrupt);
        let cells = self.request.cells.clone();
        cells.result(of, || {
            loop {
                let elapsed = self.now().since(begun);
                let rest = time.saturating_sub(elapsed);
                if rest == Duration::ZERO {
                    return Ok(());
                }
                if let Some(stop) = stopped(interrupt) {
                    return Err(stop);
                }
                (self.show)(&Stage {
                    title,
                    done: progress.done,
                    elapsed: progress.elapsed + elapsed,
                    left: progress.left.map(|it| it.saturating_sub(elapsed)),
                    ..Stage::default()
                });
                std::thread::sleep(rest.min(LOOK_EVERY).to_std());
            }
        })
    }

    /// One trial, or what was kept of it, shown under that title; `progress` says how far the run
    /// then is.
    ///
    /// # Errors
    /// When it cannot be measured, or was stopped before its first operation.
    pub fn measure(
        &mut self,
        trial: &Trial,
        title: &str,
        reach: HostReach,
        progress: impl Fn(&Glimpse) -> TrialProgress,
    ) -> Result<Outcome> {
        self.measure_while(trial, title, reach, progress, &mut |_| true)
    }

    /// The same for as long as `goes_on` says so, which is asked with the time since its start.
    ///
    /// # Errors
    /// Those of [`Session::measure`].
    pub fn measure_while(
        &mut self,
        trial: &Trial,
        title: &str,
        reach: HostReach,
        progress: impl Fn(&Glimpse) -> TrialProgress,
        goes_on: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Outcome> {
        let (interrupt, show) = (self.interrupt, &mut self.show);
        let measured = self.bench.measure(trial, reach, &mut |glimpse| {
            let goes_on = goes_on(glimpse.elapsed);
            let TrialProgress {
                done,
                elapsed,
                left,
            } = progress(glimpse);
            show(&Stage {
                title,
                done,
                elapsed,
                left,
                glimpse: Some(glimpse),
                ..Stage::default()
            });
            goes_on && interrupt.is_raised().is_none()
        });
        measured.map_err(|error| stopped(interrupt).unwrap_or(error.into()))
    }

    /// One trial that is all there is to do, for as long as it may take.
    ///
    /// # Errors
    /// Those of [`Session::measure`].
    pub fn measure_alone(&mut self, trial: &Trial) -> Result<Outcome> {
        let spent = self.spent;
        self.measure(trial, &trial.title, HostReach::Shared, |glimpse| {
            TrialProgress {
                done: glimpse.elapsed.as_secs_f64() / trial.duration_max.as_secs_f64(),
                elapsed: spent + glimpse.elapsed,
                left: Some(trial.duration_max.saturating_sub(glimpse.elapsed)),
            }
        })
    }

    /// One trial of many, which take `time` at most; a share of that was `done` before.
    ///
    /// # Errors
    /// Those of [`Session::measure`].
    pub fn measure_among(
        &mut self,
        trial: &Trial,
        reach: HostReach,
        done: f64,
        time: Duration,
    ) -> Result<Outcome> {
        let spent = self.spent;
        self.measure(trial, &trial.title, reach, |glimpse| {
            let elapsed = spent + glimpse.elapsed;
            TrialProgress {
                done,
                elapsed,
                left: Some(time.saturating_sub(elapsed)),
            }
        })
    }

    /// Take the steps of a plan until it has enough; `measure` does what belongs to the time of a
    /// step.
    ///
    /// # Errors
    /// When a step cannot be measured, failed, or somebody stopped it.
    pub fn follow<P: Plan>(
        &mut self,
        plan: &mut P,
        mut measure: impl FnMut(&mut Self, &P, &P::Step) -> Result<(Trial, Outcome)>,
    ) -> Result<()> {
        while let Some(step) = plan.next_step() {
            let begun = self.now();
            let (trial, outcome) = measure(self, plan, &step)?;
            let took = self.now().since(begun);
            self.spent += took;
            plan.record(&step, &outcome.measurement, took);
            self.go_on(&trial, outcome.failure)?;
        }
        Ok(())
    }

    /// Whether to go on after a trial.
    ///
    /// # Errors
    /// When it failed, or somebody stopped it.
    pub fn go_on(&self, trial: &Trial, failure: Option<TrialError>) -> Result<()> {
        match failure.is_some() || self.interrupt.is_raised().is_some() {
            true => Err(stop_of(&trial.title, failure, self.interrupt)),
            false => Ok(()),
        }
    }
}
