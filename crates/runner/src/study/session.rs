//! A study under way: set-ups, replicates in their order, tear-downs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use procedure::study::{
    Group, Level, Script, StudyPlan, StudyShape, analyse, filled, level_variable, rounds_needed,
};
use results::{Environment, Reading, StudyReplicate, Warning};
use sim::SIM_PREFIX;
use units::{Duration, format_counted};

use crate::environment;
use crate::interrupt::Interrupt;
use crate::laboratory::{trial_seed, with_causes};
use crate::measure::{MeasureError, Measurement, Place};
use crate::study::journal::{Journal, JournalHead, Recorded, Undo};
use crate::study::scratch::Scratch;
use crate::study::script::{ScriptError, Shell};
use crate::study::{Beginning, ShowStudy, StudyRequest, StudyRunError, StudyStage};

/// Stands in settings for the scratch directory.
const SCRATCH: &str = "scratch";
/// Stands in settings for the study's target.
const PLACE: &str = "place";

/// A study under way.
pub(super) struct Session<'a> {
    request: &'a StudyRequest,
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
    begun: Instant,
    /// Replicates that an earlier process measured.
    inherited: usize,
    rounds: u32,
}

/// What is left of a session.
pub(super) struct Ended {
    pub replicates: Vec<StudyReplicate>,
    pub begun_at: Vec<String>,
    pub seed: u64,
    pub journal: Option<Journal>,
    pub warnings: Vec<Warning>,
    pub elapsed: Duration,
}

impl<'a> Session<'a> {
    /// Open the journal and see what it holds.
    pub fn open(
        request: &'a StudyRequest,
        environment: &Environment,
        interrupt: &'a Interrupt,
        show: ShowStudy<'a>,
    ) -> Result<Self, StudyRunError> {
        let definition = &request.definition;
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
            begun: Instant::now(),
            inherited: 0,
            rounds: definition.rounds_min,
        };
        let recorded = match &request.journal {
            None => Recorded::default(),
            Some(path) => {
                let (journal, recorded) = Journal::open(path)?;
                session.journal = Some(journal);
                recorded
            }
        };
        let is_blank = recorded == Recorded::default();
        session.undo_left(&recorded)?;
        if let Err(error) = session.go_on(recorded, machine) {
            // What was refused leaves nothing.
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

    /// Undo what a killed program had set up. What fails was undone already, or never done.
    fn undo_left(&mut self, recorded: &Recorded) -> Result<(), StudyRunError> {
        for undo in recorded.undo.iter().rev() {
            let shell = Shell {
                variables: undo.variables.clone(),
                limit: self.request.definition.time_limit,
            };
            let _ = shell.run(&undo.script(), &undo.what, None);
        }
        let left = recorded.scratch.as_deref().and_then(Scratch::left_at);
        if let Some(Err(error)) = left.map(Scratch::remove) {
            self.warn_left(&error);
        }
        match &mut self.journal {
            Some(journal) if !recorded.undo.is_empty() => Ok(journal.undo(&[])?),
            _ => Ok(()),
        }
    }

    fn warn_left(&mut self, error: &std::io::Error) {
        let text = format!("a directory for set-ups was not removed: {error}");
        self.warnings.push(Warning::doubt("left-behind", text));
    }

    /// Take over what an interrupted study measured, if that is wanted.
    fn go_on(&mut self, recorded: Recorded, machine: String) -> Result<(), StudyRunError> {
        let Some(journal) = &mut self.journal else {
            return match self.request.beginning {
                Beginning::Resume => Err(StudyRunError::Usage(
                    "--resume goes on with a study whose replicates were kept: leave --no-save out"
                        .into(),
                )),
                _ => Ok(()),
            };
        };
        let head = JournalHead::new(self.request.definition.meaning(), self.seed, machine);
        let count = recorded.replicates.len();
        let known = recorded.head.filter(|_| count > 0);
        let fits = known
            .as_ref()
            .is_some_and(|known| known.meaning == head.meaning);
        match (self.request.beginning, known) {
            (Beginning::New, Some(_)) => Err(StudyRunError::Usage(format!(
                "this study was interrupted after {}: go on with --resume, or throw away with \
                 --restart what was measured",
                format_counted(count as u64, "replicate")
            ))),
            (Beginning::Resume, Some(known)) if fits => {
                if known.machine != head.machine {
                    let first = match count {
                        1 => "replicate was".to_owned(),
                        _ => format!("{count} replicates were"),
                    };
                    let text = format!(
                        "The first {first} measured on {}, the others on {}: differences between \
                         machines are in the intervals.",
                        known.machine, head.machine
                    );
                    self.warnings.push(Warning::doubt("study-machines", text));
                }
                self.seed = known.seed;
                self.inherited = count;
                self.replicates = recorded.replicates;
                self.begun_at = recorded.begun_at;
                Ok(())
            }
            (Beginning::Resume, _) => Err(StudyRunError::Usage(
                "there is nothing to resume: no interrupted study has the same target, \
                 measurement, factors and commands. Leave --resume out"
                    .into(),
            )),
            (Beginning::New | Beginning::Restart, _) => {
                journal.restart()?;
                Ok(journal.head(&head)?)
            }
        }
    }

    /// Set-ups, rehearsal, rounds.
    pub fn measure_all(&mut self) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        self.check_cells(false)?;
        if self.needs_scratch() {
            self.make_scratch()?;
        }
        if definition.setup.is_some() || definition.teardown.is_some() {
            let (setup, teardown) = (definition.setup.clone(), definition.teardown.clone());
            self.tell("set-up of the study");
            self.set_up("the study", setup.as_ref(), teardown.as_ref(), Vec::new())?;
        }
        self.check_cells(true)?;
        if definition.rehearse && self.replicates.is_empty() {
            self.rehearse()?;
        }
        let mut round = 1;
        loop {
            while round <= self.rounds {
                self.refuse_late(round)?;
                if self.is_out_of_time() {
                    return Ok(());
                }
                self.round(round)?;
                round += 1;
            }
            match self.more_rounds() {
                Some(rounds) => self.rounds = rounds,
                None => return Ok(()),
            }
        }
    }

    /// Tell what cannot be measured before anything is: at first what needs no set-up to be seen.
    fn check_cells(&self, is_set_up: bool) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        for cell in self.plan.cells() {
            let is_made_later = definition.levels(cell).any(Level::has_scripts);
            let needs_set_up = definition.setup.is_some()
                || mentions_scratch(&definition.target_of(cell))
                || mentions_scratch(&definition.settings_of(cell).to_string());
            if !is_made_later && (is_set_up || !needs_set_up) {
                self.check(cell)?;
            }
        }
        Ok(())
    }

    fn check(&self, cell: &[usize]) -> Result<(), StudyRunError> {
        let place = self.place(cell, 0);
        let measurement = self.measurement(cell)?;
        measurement
            .check(&place)
            .map_err(|error| self.failed(cell, error))
    }

    /// Each set-up and tear-down once, so that one that fails is known before the first replicate.
    fn rehearse(&mut self) -> Result<(), StudyRunError> {
        for group in self.plan.rehearsal() {
            self.tell("trying the set-ups");
            let base = self.undo.len();
            let tried = self.set_up_group(&group).and_then(|()| {
                let mut cells = group.cells.iter();
                cells.try_for_each(|&cell| self.check(&self.plan.cells()[cell]))
            });
            let undone = self.undo_to(base);
            tried?;
            undone?;
        }
        Ok(())
    }

    fn refuse_late(&self, round: u32) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        if self.is_out_of_time() && round <= definition.rounds_min {
            return Err(StudyRunError::OutOfTime {
                done: round - 1,
                wanted: definition.rounds_min,
            });
        }
        Ok(())
    }

    fn is_out_of_time(&self) -> bool {
        let budget = self.request.definition.budget;
        budget.is_some_and(|budget| self.begun.elapsed() >= budget.to_std())
    }

    /// How many rounds the goal of precision asks for, if there is one that is not reached.
    fn more_rounds(&self) -> Option<u32> {
        let definition = &self.request.definition;
        let precision = definition.precision?;
        let found = analyse(&StudyShape::of(definition), &self.replicates);
        let wanted = rounds_needed(&found.cells, self.rounds, precision)?;
        (self.rounds < definition.rounds_max).then(|| wanted.min(definition.rounds_max))
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
        self.tell(&format!(
            "replicate {number} of {}{separator}{words}",
            cells * self.rounds as usize
        ));
        let measurement = self.measurement(&cell)?;
        let salt = u64::from(round) << 32 | position as u64;
        let mut variables = self.level_variables(&cell);
        variables.push(("SEEKSTONE_ROUND".into(), round.to_string()));
        let place = Place {
            variables: [self.variables(), variables.clone()].concat(),
            ..self.place(&cell, trial_seed(self.seed, salt))
        };
        let base = self.undo.len();
        let (before, after) = (definition.before.clone(), definition.after.clone());
        self.set_up("a replicate", before.as_ref(), after.as_ref(), variables)?;
        let started_at = environment::capture().started_at;
        let begun = Instant::now();
        let measured = measurement.measure(&place, self.interrupt);
        let elapsed_ns = Duration::from(begun.elapsed()).as_nanos();
        let undone = self.undo_to(base);
        let readings = measured.map_err(|error| self.failed(&cell, error))?;
        undone?;
        self.refuse_unwanted(&cell, &readings)?;
        let replicate = StudyReplicate {
            number: number as u32,
            round,
            levels: definition.names(&cell),
            started_at,
            elapsed_ns,
            readings,
        };
        if let Some(journal) = &mut self.journal {
            journal.replicate(&replicate)?;
        }
        self.replicates.push(replicate);
        Ok(())
    }

    /// Some readings depend on settings: a replicate without any that the study names is in no
    /// table.
    fn refuse_unwanted(&self, cell: &[usize], readings: &[Reading]) -> Result<(), StudyRunError> {
        let definition = &self.request.definition;
        let wanted = &definition.readings;
        if wanted.is_empty() || readings.iter().any(|it| wanted.contains(&it.name)) {
            return Ok(());
        }
        Err(StudyRunError::NoReading {
            cell: self.in_words(cell),
            kind: definition.measurement.clone(),
            wanted: wanted.clone(),
            given: readings.iter().map(|it| it.name.clone()).collect(),
        })
    }

    fn failed(&self, cell: &[usize], source: MeasureError) -> StudyRunError {
        if let Some(signal) = self.interrupt.is_raised() {
            return StudyRunError::Interrupted(signal.name);
        }
        let cell = self.in_words(cell);
        StudyRunError::Measure { cell, source }
    }

    fn in_words(&self, cell: &[usize]) -> String {
        match self.request.definition.describe(cell) {
            words if words.is_empty() => "the measurement".to_owned(),
            words => words,
        }
    }

    fn set_up_group(&mut self, group: &Group) -> Result<(), StudyRunError> {
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

    /// Run a set-up. What undoes it is noted first: it is run even if the set-up fails midway.
    fn set_up(
        &mut self,
        what: &str,
        setup: Option<&Script>,
        teardown: Option<&Script>,
        variables: Vec<(String, String)>,
    ) -> Result<(), StudyRunError> {
        if let Some(signal) = self.interrupt.is_raised() {
            return Err(StudyRunError::Interrupted(signal.name));
        }
        let variables = [self.variables(), variables].concat();
        if let Some(teardown) = teardown {
            self.undo.push(Undo {
                place: teardown.place.clone(),
                what: format!("the tear-down of {what}"),
                text: teardown.text.clone(),
                variables: variables.clone(),
            });
            self.note_undo()?;
        }
        let Some(setup) = setup else {
            return Ok(());
        };
        let shell = Shell {
            variables,
            limit: self.request.definition.time_limit,
        };
        let name = format!("the set-up of {what}");
        match shell.run(setup, &name, Some(self.interrupt)) {
            Ok(()) => Ok(()),
            Err(ScriptError::Interrupted(signal)) => Err(StudyRunError::Interrupted(signal)),
            Err(error) => Err(error.into()),
        }
    }

    fn note_undo(&mut self) -> Result<(), StudyRunError> {
        match &mut self.journal {
            Some(journal) => Ok(journal.undo(&self.undo)?),
            None => Ok(()),
        }
    }

    /// Undo everything above `base`, even if one of it fails.
    fn undo_to(&mut self, base: usize) -> Result<(), StudyRunError> {
        let mut failed = None;
        if self.undo.len() == base {
            return Ok(());
        }
        while self.undo.len() > base {
            let Some(undo) = self.undo.pop() else { break };
            let shell = Shell {
                variables: undo.variables.clone(),
                limit: self.request.definition.time_limit,
            };
            let undone = shell.run(&undo.script(), &undo.what, None);
            failed = failed.or(undone.err());
        }
        self.note_undo()?;
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Undo everything, remove the scratch directory, and give back what was measured.
    pub fn close(mut self) -> Ended {
        if let Err(error) = self.undo_to(0) {
            let text = format!("A tear-down failed, and something may be left: {error}");
            self.warnings.push(Warning::doubt("left-behind", text));
        }
        if let Some(Err(error)) = self.scratch.take().map(Scratch::remove) {
            self.warn_left(&error);
        } else if let Some(Err(error)) = self.journal.as_mut().map(|it| it.scratch(None)) {
            let text = with_causes(&error);
            self.warnings.push(Warning::doubt("study-journal", text));
        }
        let earlier = self.replicates[..self.inherited].iter();
        let earlier: u64 = earlier.map(|replicate| replicate.elapsed_ns).sum();
        let own = Duration::from(self.begun.elapsed());
        Ended {
            replicates: self.replicates,
            begun_at: self.begun_at,
            seed: self.seed,
            journal: self.journal,
            warnings: self.warnings,
            elapsed: own + Duration::from_nanos(earlier),
        }
    }

    /// Whether anything in the study names the scratch directory.
    fn needs_scratch(&self) -> bool {
        mentions_scratch(&self.request.definition.meaning())
    }

    fn make_scratch(&mut self) -> Result<(), StudyRunError> {
        let target = Path::new(&self.request.definition.target);
        let is_usable = target.is_dir();
        let parent = if is_usable { target } else { Path::new(".") };
        let made = Scratch::create(parent).map_err(|source| StudyRunError::Scratch {
            path: parent.to_owned(),
            source,
        })?;
        if let Some(journal) = &mut self.journal {
            journal.scratch(Some(made.path()))?;
        }
        self.scratch = Some(made);
        Ok(())
    }

    /// The measurement of a cell.
    fn measurement(&self, cell: &[usize]) -> Result<Measurement, StudyRunError> {
        let definition = &self.request.definition;
        let mut settings = definition.settings_of(cell);
        for (_, value) in &mut settings {
            if let toml::Value::String(text) = value {
                *text = self.filled(text);
            }
        }
        let made = Measurement::from_table(&definition.measurement, &settings);
        made.map_err(|fault| StudyRunError::Usage(fault.message))
    }

    fn place(&self, cell: &[usize], seed: u64) -> Place {
        Place {
            target: self.filled(&self.request.definition.target_of(cell)),
            seed,
            reserve: self.request.reserve,
            variables: Vec::new(),
        }
    }

    fn filled(&self, text: &str) -> String {
        let scratch = self.scratch_path();
        filled(text, &[(SCRATCH, &scratch), (PLACE, &self.target_path())])
    }

    fn scratch_path(&self) -> String {
        let path = self.scratch.as_ref().map(Scratch::path);
        path.map_or_else(String::new, |path| path.display().to_string())
    }

    /// The target as scripts see it, wherever they go.
    fn target_path(&self) -> String {
        let target = &self.request.definition.target;
        if target.starts_with(SIM_PREFIX) {
            return target.clone();
        }
        let path = std::fs::canonicalize(target).unwrap_or_else(|_| PathBuf::from(target));
        path.display().to_string()
    }

    fn variables(&self) -> Vec<(String, String)> {
        let directory = self.request.directory.display().to_string();
        let program = std::env::current_exe().unwrap_or_else(|_| "seekstone".into());
        [
            ("SEEKSTONE", program.display().to_string()),
            ("SEEKSTONE_PLACE", self.target_path()),
            ("SEEKSTONE_STUDY_DIR", directory),
            ("SEEKSTONE_SCRATCH", self.scratch_path()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn level_variables(&self, cell: &[usize]) -> Vec<(String, String)> {
        let definition = &self.request.definition;
        let names = definition.factors.iter().zip(definition.names(cell));
        names
            .map(|(factor, level)| (level_variable(&factor.name), level))
            .collect()
    }

    fn tell(&mut self, title: &str) {
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

fn mentions_scratch(text: &str) -> bool {
    text.contains("{scratch}") || text.contains("SEEKSTONE_SCRATCH")
}
