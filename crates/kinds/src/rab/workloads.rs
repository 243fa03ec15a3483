//! Workload after workload, with the commands of whoever looks on.

use std::time::Duration as StdDuration;

use procedure::{MAIN_DIRECT, Plan as _, PointPlan, RabOptions, RabProcedure, RabSubject, Trial};
use results::live::{LiveCommand, LiveState, Verbosity};
use results::{Measurement, ModeChange, RabWorkload, Warning, WarningCode};
use units::{Duration, Instant};
use workload::{ClientSpec, WorkloadDefinition};

use super::live::RabDisplay;
use super::modes::ModeKeeper;
use super::run::{RabRequest, RabScreen};
use crate::random_access::is_silence;
use crate::session::{Result, Session};
use crate::stage::Stage;
use host::interrupt::{Interrupt, give_up};
use lab::bench::BenchError;
use lab::hosts::Ranks;
use lab::laboratory::{Glimpse, LaboratoryError, Outcome};
use lab::test_file::stopped;

/// The most requests outstanding; more clients wait their turn.
const DEPTH_MAX: u32 = drivers::DEPTH_MAX as u32;
/// From this share of the outstanding requests on, the others must wait.
const DEPTH_FULL: f64 = 0.95;
/// Results that are kept with all their details.
const WHOLE_MAX: usize = 200;
/// What the buffers of all requests may take together.
const BUFFERS_MAX: u64 = 256 << 20;
/// How often commands are looked for while nothing is measured.
const PAUSE: StdDuration = StdDuration::from_millis(50);
/// The least time for the last workload of a run without an end.
const BUDGET_MIN: Duration = Duration::from_millis(1_000);
/// How much longer a trial takes after one in which nothing was done.
const SILENCE_GROWTH: u64 = 4;
/// What a transaction workload takes of the time, beside one part for a batch workload.
const TRANSACTION_PARTS: f64 = 5.0;

/// How the measuring of one workload ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkloadEnd {
    Done,
    /// Not one operation was done for as long as the workload may take.
    Silent,
    Restart,
    NextWorkload,
    OtherMode,
    Quit,
}

/// Workloads that are being measured.
pub struct RabRun<'a> {
    request: &'a RabRequest,
    interrupt: &'a Interrupt,
    screen: &'a mut dyn RabScreen,
    begun: Instant,
    modes: ModeKeeper,
    done: Vec<RabWorkload>,
    picture: RabDisplay,
}

impl<'a> RabRun<'a> {
    /// Nothing is measured yet.
    pub(super) fn new(
        request: &'a RabRequest,
        session: &Session<'_>,
        interrupt: &'a Interrupt,
        screen: &'a mut dyn RabScreen,
    ) -> Self {
        let raid = session.bench.raid_of_model();
        let begun = session.begun;
        Self {
            request,
            interrupt,
            screen,
            begun,
            modes: ModeKeeper::new(&request.bench.target, request.mode, begun, raid),
            done: Vec::new(),
            picture: RabDisplay::new(request, session.size),
        }
    }

    /// What was measured, and in which modes.
    pub fn into_parts(self) -> (Vec<RabWorkload>, Vec<ModeChange>) {
        (self.done, self.modes.into_changes())
    }

    /// Measure all workloads as often as asked for.
    pub(super) fn run_all(&mut self, session: &mut Session<'_>) -> Result<()> {
        for run in 1.. {
            if run > self.request.runs && !self.modes.is_endless() {
                break;
            }
            // The test file was written in the time of the first.
            let used = if run == 1 {
                session.spent
            } else {
                Duration::ZERO
            };
            let mut left = self.request.budget.saturating_sub(used);
            for index in 0..self.request.workloads.len() {
                let begun = session.now();
                let budget = left.mul_f64(self.share_from(index));
                let budget = budget.min(self.time_left(begun));
                match self.measure_workload(session, run, index, budget) {
                    Ok(WorkloadEnd::Quit) => return self.quit(),
                    Ok(_) => {}
                    Err(error) => return Err(error),
                }
                let now = session.now();
                left = left.saturating_sub(now.since(begun));
                if self.is_over(now) {
                    return Ok(());
                }
            }
        }
        self.picture.state = LiveState::Finished;
        self.picture.set_progress(1.0);
        let elapsed = session.now().since(self.begun);
        self.show("finished", None, elapsed);
        Ok(())
    }

    /// Whether a run without an end has gone on for as long as it should.
    fn is_over(&self, now: Instant) -> bool {
        self.request
            .duration
            .is_some_and(|duration| now.since(self.begun) >= duration)
    }

    /// What a run without an end may still take, but never too little to measure anything.
    fn time_left(&self, now: Instant) -> Duration {
        let endless = Duration::from_nanos(u64::MAX);
        let duration = self.request.duration.unwrap_or(endless);
        duration
            .saturating_sub(now.since(self.begun))
            .max(BUDGET_MIN)
    }

    /// Quitting is the natural end of what has none; else it cuts the run short.
    fn quit(&self) -> Result<()> {
        if let Some(stop) = stopped(self.interrupt) {
            return Err(stop);
        }
        if self.modes.is_endless() {
            return Ok(());
        }
        Err(BenchError::Interrupted {
            signal: "the user".into(),
        })
    }

    /// The share of the time that is left that workload `index` may take.
    fn share_from(&self, index: usize) -> f64 {
        let left = self.request.workloads[index..].iter();
        let all: f64 = left.map(|(_, definition)| parts(definition)).sum();
        parts(&self.request.workloads[index].1) / all
    }

    /// Measure one workload; again from its beginning when the mode changes or a key asks for it.
    fn measure_workload(
        &mut self,
        session: &mut Session<'_>,
        run: u32,
        index: usize,
        budget: Duration,
    ) -> Result<WorkloadEnd> {
        let (number, definition) = &self.request.workloads[index];
        self.picture.begin_workload(run, index);
        loop {
            let now = session.now();
            let subject = RabSubject {
                run,
                number: *number,
                name: definition.name.clone(),
                title: definition.title.clone(),
                clients: definition.threads,
                mode: self.modes.mode(),
                begun: now.since(self.begun),
            };
            let options = RabOptions {
                budget,
                ..self.request.options.clone()
            };
            let mut procedure = RabProcedure::new(subject, options);
            let ended = self.measure(session, definition, &mut procedure);
            let found = procedure.workload();
            // What was interrupted before it had a RABmark says nothing.
            let is_kept = !matches!(ended, Ok(WorkloadEnd::Restart))
                && (found.is_complete
                    || found.rabmark_r.is_some()
                    || matches!(ended, Ok(WorkloadEnd::Silent)));
            if is_kept {
                self.picture.note_workload(index, &found);
                self.keep(found);
            }
            match ended? {
                WorkloadEnd::Restart | WorkloadEnd::OtherMode => {}
                end => return Ok(end),
            }
        }
    }

    /// Keep a result. A run without an end would fill the memory: of the oldest results only
    /// levels and RABmarks stay.
    fn keep(&mut self, found: RabWorkload) {
        self.done.push(found);
        if let Some(old) = self.done.len().checked_sub(WHOLE_MAX + 1) {
            self.done[old].curve = None;
            self.done[old].measurement = None;
        }
    }

    /// One workload. Keys, pauses and a change of mode end or repeat a point, so that its steps
    /// have a loop of their own.
    fn measure(
        &mut self,
        session: &mut Session<'_>,
        definition: &WorkloadDefinition,
        procedure: &mut RabProcedure,
    ) -> Result<WorkloadEnd> {
        let mut pending: Option<PointPlan> = None;
        loop {
            let now = session.now();
            if let Some(end) = self.obey(procedure, now) {
                return Ok(end);
            }
            let Some(plan) = pending.take().or_else(|| procedure.next_step()) else {
                return Ok(WorkloadEnd::Done);
            };
            let trial = self.trial(session, definition, &plan, procedure.subject())?;
            self.picture.begin_trial(procedure, &plan);
            let tried = self.run_trial(session, &trial, procedure, now);
            let elapsed = session.now().since(now);
            let outcome = match tried {
                Err(error) if is_silence(&error) => {
                    let Some(longer) = after_silence(procedure, &trial, &plan, elapsed) else {
                        return Ok(WorkloadEnd::Silent);
                    };
                    pending = Some(longer);
                    continue;
                }
                tried => tried?,
            };
            if let Some(failure) = outcome.failure {
                let title = trial.title;
                return Err(LaboratoryError::Trial {
                    title,
                    error: failure,
                }
                .into());
            }
            if let Some(stop) = stopped(self.interrupt) {
                return Err(stop);
            }
            let ended = session.now();
            if self.modes.see(session.bench.raid_of_model(), ended) {
                // Part of the trial was in another mode.
                self.picture.wish = Some(Wish::OtherMode);
            }
            if self.picture.wish.is_some() {
                // The trial was cut short; it is done again when measuring goes on.
                pending = Some(plan);
                continue;
            }
            procedure.record(&plan, &outcome.measurement, elapsed);
            if let Some(warning) = own_limit(&trial, &outcome.measurement) {
                procedure.warn(warning);
            }
            self.picture.note_point(&plan, &outcome.measurement);
        }
    }

    fn run_trial(
        &mut self,
        session: &mut Session<'_>,
        trial: &Trial,
        procedure: &RabProcedure,
        begun: Instant,
    ) -> Result<Outcome> {
        let title = trial.title.clone();
        let mut watch = |glimpse: &Glimpse| {
            let now = begun + glimpse.elapsed;
            while self.picture.wish.is_none()
                && let Some(command) = self.screen.command()
            {
                self.take(command, now);
            }
            let is_stopping = glimpse.unanswered.is_some_and(|it| it.is_stopping);
            if is_stopping && self.screen.command() == Some(LiveCommand::Quit) {
                // On a full screen Ctrl-C is a key, and no signal.
                give_up();
            }
            if self.modes.watch(now) && self.picture.wish.is_none() {
                self.picture.wish = Some(Wish::OtherMode);
            }
            self.picture.note_glimpse(glimpse);
            let spent = now.since(self.begun);
            self.picture.set_progress(self.progress(procedure));
            self.show(&title, Some(glimpse), spent);
            self.picture.wish.is_none() && self.interrupt.is_raised().is_none()
        };
        let measured = session.bench.laboratory().measure(trial, &mut watch);
        // A trial that was cut off before its first operation has nothing to say.
        measured.map_err(|error| stopped(self.interrupt).unwrap_or(error.into()))
    }

    /// Do what keys asked for between trials; waits while measuring is stopped.
    fn obey(&mut self, procedure: &RabProcedure, now: Instant) -> Option<WorkloadEnd> {
        loop {
            match self.picture.wish.take() {
                Some(Wish::Quit) => return Some(WorkloadEnd::Quit),
                Some(Wish::Restart) => return Some(WorkloadEnd::Restart),
                Some(Wish::NextWorkload) => return Some(WorkloadEnd::NextWorkload),
                Some(Wish::OtherMode) => return Some(WorkloadEnd::OtherMode),
                Some(Wish::Pause) | None => {}
            }
            if self.modes.watch(now) || self.modes.mode() != procedure.subject().mode {
                return Some(WorkloadEnd::OtherMode);
            }
            if self.interrupt.is_raised().is_some() {
                return Some(WorkloadEnd::Quit);
            }
            match self.screen.command() {
                Some(command) => self.take(command, now),
                None if self.picture.state == LiveState::Stopped => {
                    self.show("stopped", None, now.since(self.begun));
                    self.request.bench.ranks.iter().for_each(Ranks::beat);
                    std::thread::sleep(PAUSE);
                }
                None => return None,
            }
        }
    }

    fn take(&mut self, command: LiveCommand, now: Instant) {
        match command {
            LiveCommand::NextMode => {
                self.modes.next(now);
                self.picture.wish = Some(Wish::OtherMode);
            }
            LiveCommand::Quit => self.picture.wish = Some(Wish::Quit),
            LiveCommand::Restart => self.picture.wish = Some(Wish::Restart),
            LiveCommand::NextWorkload => self.picture.wish = Some(Wish::NextWorkload),
            LiveCommand::NextVerbosity => self.picture.verbosity = self.picture.verbosity.next(),
            LiveCommand::StartStop => {
                if self.picture.state == LiveState::Stopped {
                    self.picture.state = LiveState::Execute;
                } else {
                    self.picture.state = LiveState::Stopped;
                    self.picture.wish = Some(Wish::Pause);
                }
            }
        }
    }

    fn show(&mut self, title: &str, glimpse: Option<&Glimpse>, elapsed: Duration) {
        let Self {
            screen,
            picture,
            modes,
            request,
            ..
        } = self;
        let all = request.budget * u64::from(request.runs);
        let stage = Stage {
            title,
            done: picture.progress,
            elapsed,
            left: Some(all.saturating_sub(elapsed)),
            glimpse,
            ..Stage::default()
        };
        screen.show(&stage, &mut || {
            picture.live(&stage.activity(), modes, elapsed)
        });
    }

    /// Share of all the work that is done, by the time that workloads may take.
    fn progress(&self, procedure: &RabProcedure) -> f64 {
        let parts = |index: usize| parts(&self.request.workloads[index].1);
        let count = self.request.workloads.len();
        let all: f64 = (0..count).map(parts).sum();
        let (run, index) = (self.picture.run, self.picture.workload);
        let before: f64 = (0..index).map(parts).sum();
        let now = before + procedure.progress() * parts(index);
        (f64::from(run - 1) + now / all) / f64::from(self.request.runs.max(run))
    }

    fn trial(
        &self,
        session: &Session<'_>,
        definition: &WorkloadDefinition,
        plan: &PointPlan,
        subject: &RabSubject,
    ) -> Result<Trial> {
        let rate = self.request.iops_per_client;
        let spec = definition
            .spec(MAIN_DIRECT, session.size.0, rate)
            .map_err(|errors| {
                let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                BenchError::Usage(format!(
                    "workload {}: {}",
                    definition.name,
                    texts.join("; ")
                ))
            })?;
        let spec = ClientSpec::Control(spec);
        let room = (BUFFERS_MAX / u64::from(spec.len_max().max(1))).max(64) as u32;
        let clients = plan.clients;
        let plural = if clients == 1 { "client" } else { "clients" };
        Ok(Trial {
            title: format!("{}, {clients} {plural}", definition.title),
            clients,
            depth: clients.min(DEPTH_MAX).min(room),
            goal: Some(plan.goal),
            channel: plan.channel,
            duration_max: plan.duration_max,
            // Every workload of every run draws afresh.
            salt: plan.salt | u64::from(subject.number) << 32 | u64::from(subject.run) << 40,
            warm_up: plan.warm_up,
            ..Trial::new(definition.name.as_str(), spec, session.facts.access)
        })
    }
}

/// How much of the time a workload may take, against the others.
pub(super) fn parts(definition: &WorkloadDefinition) -> f64 {
    match definition.threads {
        None => TRANSACTION_PARTS,
        Some(_) => 1.0,
    }
}

/// The same point once more, for longer; `None` when the workload's time is used up: a workload
/// that nothing answers takes no time from those after it.
fn after_silence(
    procedure: &mut RabProcedure,
    trial: &Trial,
    plan: &PointPlan,
    elapsed: Duration,
) -> Option<PointPlan> {
    let left = procedure.after_silence(elapsed);
    let (title, length) = (&trial.title, trial.duration_max);
    let duration_max = (plan.duration_max * SILENCE_GROWTH).min(left);
    if duration_max <= plan.duration_max {
        procedure.warn(Warning::invalid(
            WarningCode::NoOperation,
            format!(
                "{title}: not one operation was done in {length}, and no time is left for a longer \
                 trial. The workload ends without it."
            ),
        ).advise("Raise --iops-per-client or --budget if its clients ask for less than that. \
             Otherwise the storage does not answer."));
        return None;
    }
    procedure.warn(Warning::warn(
        WarningCode::NoAnswer,
        format!(
            "{title}: not one operation was done in {length}. It was measured again for longer, \
             and its times do not hold that pause."
        ),
    ));
    Some(PointPlan {
        duration_max,
        ..plan.clone()
    })
}

/// Clients beyond what may be outstanding wait in this program, where no service time sees them.
fn own_limit(trial: &Trial, measurement: &Measurement) -> Option<Warning> {
    let is_full = measurement.effective_depth >= DEPTH_FULL * f64::from(trial.depth);
    (trial.clients > trial.depth && is_full).then(|| {
        Warning::warn(
            WarningCode::OwnLimit,
            format!(
                "{}: all of the {} requests that this program lets be outstanding were, and the \
                 rest waited here. The highest load may be this program's and not the storage's. \
                 The service time cannot grow to levels beyond.",
                measurement.title, trial.depth
            ),
        )
        .advise("Choose lower ones with --response-max.")
    })
}

/// What a key or a change of mode asks for, once the trial under way has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// End the program.
    Quit,
    /// Begin the workload again.
    Restart,
    /// Go on with the next workload.
    NextWorkload,
    /// Begin the workload again, for results of the new mode.
    OtherMode,
    /// Measure nothing until told to go on.
    Pause,
}

impl RabDisplay {
    /// How much the verbose window says, to begin with.
    pub(super) const VERBOSITY: Verbosity = Verbosity::Summary;
}
