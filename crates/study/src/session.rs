//! A running study: set-ups, repeats in order, tear-downs.

mod places;
mod undo;

use std::time::Instant;

use procedure::study::{
    CellGroup, EnvironmentLine, FactorLevel, PAIRS_MIN, StudyPlan, StudyShape, analyse, is_precise,
};
use procedure::{Rounds, fits_another, time_needed};
use results::{Environment, Reading, StudyReplicate, Warning, WarningCode};
use units::{Duration, format_counted};

use crate::hosts::agreed;
use crate::journal::{Journal, JournalHead, RecordedStudy, StudyAsked, Undo};
use crate::measures::is_void;
use crate::scratch::Scratch;
use crate::script::Shell;
use crate::seen::SeenPlaces;
use crate::{Beginning, ShowStudy, StudyRequest, StudyRunError, StudyStage};
use host::environment;
use host::interrupt::Interrupt;
use kinds::measure::{MeasureError, ReplicateContext};
use lab::cells::Killed;
use lab::laboratory::{trial_seed, with_causes};
use lab::run_journal::RunHead;

/// Minimum number of rounds for a conclusion.
const ROUNDS_LEAST: u32 = PAIRS_MIN as u32;

/// Factor of the time needed so far at which a longer budget is advised.
const NEEDED_MARGIN: f64 = 1.5;

/// Warns that this many repeats are from another machine.
fn of_machines(count: usize, first: &JournalHead, now: &JournalHead) -> Warning {
    let which = match count {
        1 => "repeat was".to_owned(),
        _ => format!("{count} repeats were"),
    };
    let text = format!(
        "The first {which} measured on {}, the others on {}: differences between machines are in \
         the intervals.",
        first.machine, now.machine
    );
    Warning::warn(WarningCode::StudyMachines, text)
}

/// A running study.
pub(super) struct StudySession<'a> {
    request: &'a StudyRequest<'a>,
    interrupt: &'a Interrupt,
    show: ShowStudy<'a>,
    plan: StudyPlan,
    seed: u64,
    journal: Option<Journal>,
    replicates: Vec<StudyReplicate>,
    begun_at: Vec<String>,
    scratch: Option<Scratch>,
    /// What must be undone, the last first.
    undo: Vec<Undo>,
    warnings: Vec<Warning>,
    /// The environment as recorded in the note.
    environment: Vec<String>,
    places: SeenPlaces,
    begun: Instant,
    /// Repeats measured by an earlier process.
    inherited: usize,
    /// Rounds until the next check of the precision.
    rounds: u32,
    rule: Rounds,
}

/// Result of a session.
pub(super) struct FinishedSession {
    pub replicates: Vec<StudyReplicate>,
    pub begun_at: Vec<String>,
    pub seed: u64,
    pub journal: Option<Journal>,
    pub warnings: Vec<Warning>,
    pub environment: Vec<String>,
    pub places: SeenPlaces,
    pub elapsed: Duration,
}

impl<'a> StudySession<'a> {
    /// Opens the journal and reads it.
    pub fn open(
        request: &'a StudyRequest<'a>,
        environment: &Environment,
        interrupt: &'a Interrupt,
        show: ShowStudy<'a>,
    ) -> Result<Self, StudyRunError> {
        let definition = &request.definition;
        let rule = Rounds::new(definition.rule());
        let machine = format!("{}, {}", environment.host_name, environment.kernel);
        let mut session = Self {
            request,
            interrupt,
            show,
            plan: StudyPlan::new(definition),
            seed: request.seed,
            journal: None,
            replicates: Vec::new(),
            begun_at: Vec::new(),
            scratch: None,
            undo: Vec::new(),
            warnings: Vec::new(),
            environment: Vec::new(),
            places: SeenPlaces::new(definition.target.as_str(), Vec::new()),
            begun: Instant::now(),
            inherited: 0,
            rounds: rule.next_look().min(rule.rule().rounds_max),
            rule,
        };
        let recorded = match &request.journal {
            None => RecordedStudy::default(),
            Some(path) => {
                let (journal, recorded) = Journal::open(path)?;
                session.journal = Some(journal);
                recorded
            }
        };
        let is_blank = recorded == RecordedStudy::default();
        session.undo_left(&recorded)?;
        let asked = StudyAsked {
            head: RunHead::new(request.setup.clone(), environment.clone()),
            directory: std::env::current_dir().unwrap_or_default(),
        };
        if let Err(error) = session.go_on(recorded, machine, &asked) {
            // A refused study leaves nothing behind.
            let made = session.journal.take().filter(|_| is_blank);
            made.map_or(Ok(()), Journal::remove)?;
            return Err(error);
        }
        session.begun_at.push(environment.started_at.clone());
        if let Some(journal) = &mut session.journal {
            journal.begun(&environment.started_at)?;
        }
        Ok(session)
    }

    /// Takes over the repeats of an interrupted study, if requested.
    fn go_on(
        &mut self,
        recorded: RecordedStudy,
        machine: String,
        asked: &StudyAsked,
    ) -> Result<(), StudyRunError> {
        let Some(journal) = &mut self.journal else {
            return match self.request.beginning {
                Beginning::Resume | Beginning::Keep => Err(StudyRunError::Usage(
                    "--resume goes on with a study whose repeats were kept: leave --no-save out"
                        .into(),
                )),
                _ => Ok(()),
            };
        };
        let head = JournalHead::new(self.request.definition.meaning(), self.seed, machine);
        let count = recorded.replicates.len();
        let is_begun = recorded.head.as_ref();
        let is_begun = is_begun.filter(|it| count == 0 && it.meaning == head.meaning);
        if let (Beginning::Resume, Some(begun)) = (self.request.beginning, is_begun) {
            // Killed in its first repeat: only the order exists.
            self.seed = begun.seed;
            let seed = begun.seed;
            journal.restart()?;
            return Ok(journal.head(&JournalHead { seed, ..head }, asked)?);
        }
        let is_dear = recorded.is_dear();
        let known = recorded.head.filter(|_| count > 0);
        let fits = known
            .as_ref()
            .is_some_and(|known| known.meaning == head.meaning);
        match (self.request.beginning, known) {
            (Beginning::New, Some(_)) if is_dear => Err(StudyRunError::Usage(format!(
                "an earlier run left {}: continue with --resume, or start over with --restart",
                format_counted(count as u64, "repeat")
            ))),
            (Beginning::Resume | Beginning::Keep, Some(known)) if fits => {
                let is_elsewhere = known.machine != head.machine;
                self.warnings
                    .extend(is_elsewhere.then(|| of_machines(count, &known, &head)));
                self.seed = known.seed;
                self.inherited = count;
                self.replicates = recorded.replicates;
                self.begun_at = recorded.begun_at;
                let target = self.request.definition.target.as_str();
                self.places = SeenPlaces::new(target, recorded.places);
                Ok(())
            }
            (Beginning::Resume | Beginning::Keep, _) => Err(StudyRunError::Usage(
                "there is nothing to resume: no interrupted study has the same target, \
                 measurement, factors and commands. Leave --resume out"
                    .into(),
            )),
            (Beginning::New | Beginning::Restart, _) => {
                journal.restart()?;
                Ok(journal.head(&head, asked)?)
            }
        }
    }

    /// Set-ups, rehearsal, rounds.
    pub fn measure_all(&mut self) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        if self.request.beginning == Beginning::Keep {
            return Err(Killed.into());
        }
        self.check_cells(false)?;
        self.make_scratch()?;
        if definition.setup.is_some() || definition.teardown.is_some() {
            let (setup, teardown) = (definition.setup.clone(), definition.teardown.clone());
            self.report("set-up of the study");
            self.set_up("the study", setup.as_ref(), teardown.as_ref(), Vec::new())?;
        }
        self.describe_environment()?;
        self.check_cells(true)?;
        if definition.rehearse && self.replicates.is_empty() {
            self.rehearse()?;
        }
        let mut round = 1;
        loop {
            while round <= self.rounds {
                if !self.has_time_for(round)? {
                    return Ok(());
                }
                self.round(round)?;
                if round == 1 {
                    self.refuse_missing()?;
                }
                round += 1;
            }
            if self.is_enough()? {
                return Ok(());
            }
        }
    }

    /// The environment of the note, including output of commands.
    fn describe_environment(&mut self) -> Result<(), StudyRunError> {
        let shell = Shell {
            variables: self.variables(),
            limit: self.request.definition.time_limit,
        };
        for line in &self.request.definition.environment {
            let line = match line {
                EnvironmentLine::Text(text) => text.clone(),
                EnvironmentLine::Command(script) => {
                    let what = "a command of the environment";
                    let lines = shell.lines(script, what, self.interrupt)?;
                    format!("{}: {}", script.text.trim(), lines.join("; "))
                }
            };
            self.environment.push(line);
        }
        Ok(())
    }

    /// Reports what cannot be measured before anything is, starting with what needs no set-up.
    fn check_cells(&self, is_set_up: bool) -> Result<(), StudyRunError> {
        let checked = self.check_own_cells(is_set_up);
        agreed(self.request.ranks.as_ref(), checked)
    }

    /// The same on this host.
    fn check_own_cells(&self, is_set_up: bool) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        for cell in self.plan.cells() {
            let is_made_later = definition.levels(cell).any(FactorLevel::has_scripts);
            let needs_set_up = definition.setup.is_some()
                || mentions_scratch(definition.target_of(cell).as_str())
                || mentions_scratch(&definition.settings_of(cell).to_string());
            if !is_made_later && (is_set_up || !needs_set_up) {
                self.check(cell)?;
            }
        }
        Ok(())
    }

    fn check(&self, cell: &[usize]) -> Result<(), StudyRunError> {
        let place = self.place(cell, 0);
        let (kind, settings) = (&self.request.definition.measurement, self.settings(cell));
        let measures = self.request.measures;
        let checked = measures.check(kind, &settings);
        checked.map_err(|mistake| StudyRunError::Usage(mistake.message))?;
        let checked = measures.check_at(kind, &settings, &place);
        checked.map_err(|error| self.failed(cell, error))
    }

    /// Opens the measurement of a cell whose set-ups are done.
    fn open_cell(&self, position: usize) -> Result<(), StudyRunError> {
        let cell = &self.plan.cells()[position];
        self.check(cell)?;
        let (kind, settings) = (&self.request.definition.measurement, self.settings(cell));
        let tried = self
            .request
            .measures
            .try_at(kind, &settings, &self.place(cell, 0));
        tried.map_err(|error| self.failed(cell, error))
    }

    /// Runs each set-up and tear-down, and opens each measurement in between, to detect errors
    /// before the first repeat.
    fn rehearse(&mut self) -> Result<(), StudyRunError> {
        for group in self.plan.groups() {
            self.report("trying the set-ups");
            let base = self.undo.len();
            let tried = self.set_up_group(&group).and_then(|()| {
                let mut cells = group.cells.iter();
                cells.try_for_each(|&cell| self.open_cell(cell))
            });
            let undone = self.undo_to(base);
            tried?;
            undone?;
        }
        Ok(())
    }

    /// Whether another round keeps the budget. An error if there are too few rounds for a
    /// conclusion.
    fn has_time_for(&mut self, round: u32) -> Result<bool, StudyRunError> {
        let definition = &self.request.definition;
        let Some(budget) = definition.budget else {
            return Ok(true);
        };
        let (done, elapsed) = (round - 1, self.elapsed()?);
        // Rounds before an interruption did not use this time.
        let inherited = self.inherited / self.plan.cells().len().max(1);
        let own = done.saturating_sub(inherited as u32);
        let wanted = definition.rounds_min;
        let least = wanted.min(ROUNDS_LEAST);
        let others = least.saturating_sub(done);
        let needed = time_needed(budget, (own.into(), elapsed), own + others);
        let needed = needed.filter(|_| own > 0 && others > 0);
        if needed.is_none() && fits_another(budget, own, elapsed) {
            return Ok(true);
        }
        if others > 0 {
            let each = elapsed / u64::from(own.max(1));
            let needed = needed.unwrap_or(elapsed + each * u64::from(others));
            // Repeats that share a longer budget take longer themselves.
            let needed = needed.mul_f64(NEEDED_MARGIN);
            return Err(StudyRunError::OutOfTime {
                done,
                wanted,
                budget,
                needed,
            });
        }
        if done < wanted {
            let text = format!("{done} of {wanted} rounds were measured in --budget {budget}.");
            self.warnings
                .push(Warning::info(WarningCode::StudyRoundsLeftOut, text));
        }
        Ok(false)
    }

    /// Time so far, by rank 0's clock on all hosts.
    fn elapsed(&self) -> Result<Duration, StudyRunError> {
        let own = Duration::from(self.begun.elapsed());
        match &self.request.ranks {
            Some(ranks) => Ok(Duration(ranks.from_leader(&own.as_nanos())?)),
            None => Ok(own),
        }
    }

    /// Whether there are enough rounds, now that all before the next check are done.
    fn is_enough(&mut self) -> Result<bool, StudyRunError> {
        let definition = &self.request.definition;
        let rule = *self.rule.rule();
        let (replicates, elapsed) = (&self.replicates, self.elapsed()?);
        let end = self.rule.end(self.rounds, elapsed, || {
            let found = analyse(&StudyShape::of(definition), replicates);
            is_precise(&found.cells, rule.precision)
        });
        self.rounds = self.rule.next_look().min(rule.rounds_max);
        Ok(end.is_some())
    }

    fn round(&mut self, round: u32) -> Result<(), StudyRunError> {
        for mut group in self.plan.round(self.seed, round) {
            group.cells.retain(|&cell| !self.is_done(round, cell));
            if group.cells.is_empty() {
                continue;
            }
            let base = self.undo.len();
            let measured = self.set_up_group(&group).and_then(|()| {
                let mut cells = group.cells.iter();
                cells.try_for_each(|&cell| self.replicate(round, cell))
            });
            let undone = self.undo_to(base);
            measured?;
            undone?;
        }
        Ok(())
    }

    fn is_done(&self, round: u32, cell: usize) -> bool {
        let levels = self.request.definition.names(&self.plan.cells()[cell]);
        let mut done = self.replicates.iter();
        done.any(|it| it.round == round && it.levels == levels)
    }

    fn replicate(&mut self, round: u32, position: usize) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        let cell = self.plan.cells()[position].clone();
        let words = definition.describe(&cell);
        let (number, cells) = (self.replicates.len() + 1, self.plan.cells().len());
        let separator = if words.is_empty() { "" } else { ": " };
        self.report(&format!(
            "repeat {number} of {}{separator}{words}",
            cells * self.rounds as usize
        ));
        let settings = self.settings(&cell);
        let salt = u64::from(round) << 32 | position as u64;
        let mut variables = self.level_variables(&cell);
        variables.push(("SEEKSTONE_ROUND".into(), round.to_string()));
        let place = ReplicateContext {
            variables: [self.variables(), variables.clone()].concat(),
            ..self.place(&cell, trial_seed(self.seed, salt))
        };
        let base = self.undo.len();
        let (before, after) = (definition.before.clone(), definition.after.clone());
        let is_ready = self.set_up("a repeat", before.as_ref(), after.as_ref(), variables);
        let is_ready = is_ready.and_then(|()| self.look_at(position));
        agreed(self.request.ranks.as_ref(), is_ready)?;
        let started_at = environment::capture().started_at;
        let begun = Instant::now();
        let (kind, measures) = (&definition.measurement, self.request.measures);
        let measured = measures.measure(kind, &settings, &place, self.interrupt);
        let elapsed_ns = Duration::from(begun.elapsed()).as_nanos();
        let undone = self.undo_to(base);
        let mut measured = measured.map_err(|error| self.failed(&cell, error))?;
        for warning in &mut measured.warnings {
            warning.cause = self.with_settings(&warning.cause);
            warning.advice = self.with_settings(&warning.advice);
        }
        undone?;
        // An invalid repeat has no readings, and does not show which ones others will have.
        if !is_void(&measured.warnings) {
            self.refuse_unwanted(&cell, &measured.readings)?;
        }
        let replicate = StudyReplicate {
            number: number as u32,
            round,
            levels: definition.names(&cell),
            started_at,
            elapsed_ns,
            readings: measured.readings,
            warnings: measured.warnings,
        };
        if let Some(journal) = &mut self.journal {
            journal.replicate(&replicate)?;
        }
        self.replicates.push(replicate);
        Ok(())
    }

    /// Some readings depend on settings: a repeat without any of the requested ones is in no table.
    fn refuse_unwanted(&self, cell: &[usize], readings: &[Reading]) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        let limited = self.request.limits.iter().map(|limit| &limit.reading);
        let has = |name: &String| readings.iter().any(|it| it.name == *name);
        // A later one may lack readings that need more operations than it had.
        let is_first = self.replicates.iter().all(|it| it.readings.is_empty());
        let missing = limited.filter(|name| is_first && !has(name));
        let mut missing: Vec<String> = missing.cloned().collect();
        if !definition.readings.is_empty() && !definition.readings.iter().any(has) {
            missing.clone_from(&definition.readings);
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(StudyRunError::NoReading {
            cell: self.in_words(cell),
            kind: definition.measurement.clone(),
            wanted: missing,
            given: readings.iter().map(|it| it.name.clone()).collect(),
        })
    }

    /// A reading that no repeat of the first round has will be in no table.
    fn refuse_missing(&self) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        let mut given: Vec<String> = Vec::new();
        for reading in self.replicates.iter().flat_map(|it| &it.readings) {
            if !given.contains(&reading.name) {
                given.push(reading.name.clone());
            }
        }
        let wanted = definition.readings.iter();
        let missing: Vec<String> = wanted.filter(|it| !given.contains(it)).cloned().collect();
        if missing.is_empty() || given.is_empty() {
            return Ok(());
        }
        Err(StudyRunError::NoReading {
            cell: "the first round: ".to_owned(),
            kind: definition.measurement.clone(),
            wanted: missing,
            given,
        })
    }

    fn failed(&self, cell: &[usize], error: MeasureError) -> StudyRunError {
        if let Some(signal) = self.interrupt.is_raised() {
            return StudyRunError::Interrupted(signal.name);
        }
        let cell = self.in_words(cell);
        let is_usage = match &error {
            MeasureError::Usage(_) => true,
            MeasureError::Bench(error) => error.is_usage(),
            _ => false,
        };
        let why = with_causes(&error);
        let error = match self.with_settings(&why) {
            said if said == why => error,
            said if is_usage => MeasureError::Usage(said),
            said => MeasureError::Failed(said),
        };
        StudyRunError::Measure { cell, error }
    }

    fn with_settings(&self, text: &str) -> String {
        let kind = &self.request.definition.measurement;
        self.request.measures.with_settings(kind, text)
    }

    fn in_words(&self, cell: &[usize]) -> String {
        match self.request.definition.describe(cell) {
            words if words.is_empty() => words,
            words => format!("{words}: "),
        }
    }

    fn set_up_group(&mut self, group: &CellGroup) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        let cell = self.plan.cells()[group.cells[0]].clone();
        for (factor, level) in group.setup.iter().enumerate() {
            let Some(level) = *level else { continue };
            let factor = &definition.factors[factor];
            let level = factor.levels[level].clone();
            let what = format!("{} {}", factor.name, level.name);
            let variables = self.level_variables(&cell);
            self.set_up(
                &what,
                level.setup.as_ref(),
                level.teardown.as_ref(),
                variables,
            )?;
        }
        Ok(())
    }

    fn report(&mut self, title: &str) {
        let done = self.replicates.len();
        let all = self.plan.cells().len() * self.rounds as usize;
        let elapsed = Duration::from(self.begun.elapsed());
        let own = done - self.inherited.min(done);
        let left = (own > 0).then(|| {
            let each = elapsed.as_secs_f64() / own as f64;
            Duration::from_secs_f64(each * all.saturating_sub(done) as f64)
        });
        (self.show)(&StudyStage {
            title: title.to_owned(),
            done: done as f64 / all.max(1) as f64,
            elapsed,
            left,
        });
    }
}

/// Whether a text of the study uses its scratch directory.
pub fn mentions_scratch(text: &str) -> bool {
    text.contains("{scratch}") || text.contains("SEEKSTONE_SCRATCH")
}
