//! Runs `random`: from a target's name to a [`Run`] with service times of random access.

use std::collections::BTreeSet;

use procedure::{
    CellPlan, RandomOptions, RandomProcedure, RandomShape, RandomStep, SweepCells, Trial,
    TrialError, most_within, random_doubts, random_findings, warm_up_left_out,
};
use results::{Measurement, RandomAccess, RandomKind, Run, Setup, Status, Warning, WarningCode};
use stats::Estimate;
use units::{Bytes, Duration, format_counted};

use crate::session::{self, MeasurementPlan, Result, Session, TrialProgress};
use crate::stage::{RunPlan, Show};
use host::interrupt::Interrupt;
use host::limits::check_budget;
use lab::bench::{Bench, BenchError, BenchRequest, HostReach};
use lab::laboratory::{LaboratoryError, Outcome};
use lab::simulated::turn_of_disk;
use lab::test_file::whole_size;

/// Open files of a run.
const FILES_NEEDED: u64 = 16;

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct RandomRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// Which cells there are.
    pub shape: RandomShape,
    /// Whether writes were asked for by name, and are no default that may be left out.
    pub writes_are_asked: bool,
    /// How cells are measured.
    pub options: RandomOptions,
}

/// Measure random access.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_random(
    request: &RandomRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run> {
    let target = &request.bench.target;
    if target.is_null() {
        let text = format!("{target} has no blocks. Name a directory, a file or a model");
        return Err(BenchError::Usage(text));
    }
    session::run(&request.bench, interrupt, show, |session| {
        let plan = RandomPlan::new(request, session)?;
        session.bench.write_records()?;
        Ok(plan)
    })
}

struct RandomPlan<'a> {
    request: &'a RandomRequest,
    /// What of it may be measured here.
    shape: RandomShape,
    cells: SweepCells,
    procedure: RandomProcedure,
    makes_files: bool,
    turn_ns: Option<u64>,
    fill_rate: Option<Estimate>,
}

impl MeasurementPlan for RandomPlan<'_> {
    type Outcome = Run;

    fn plan(&self, session: &Session<'_>) -> RunPlan {
        let budget = Some(self.request.options.budget);
        session.filled_plan(budget, ("measure", budget))
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        // The file holds all that fits; what is measured is whole blocks.
        let RandomOptions { budget, .. } = self.request.options;
        let rest = least_time(&self.request.options, &self.cells);
        if let Some(writing) = session.fill_shown(Some(budget), rest, None)? {
            self.fill_rate = writing.bandwidth;
            session.settle()?;
            let options = RandomOptions {
                budget: budget.saturating_sub(session.spent),
                ..self.request.options
            };
            self.cells = cells_of(&self.shape, session.size)?;
            self.procedure = RandomProcedure::new(options, &self.cells.plans);
        }
        session.size = Bytes(self.cells.size);
        let Self {
            request, procedure, ..
        } = self;
        session.follow(procedure, |session, procedure, step| {
            request.keep_budget(session, procedure)?;
            let (trial, outcome) = request.measure_step(session, procedure, step)?;
            if outcome.failure.is_none() {
                // Cut short, it would pass for a round.
                session.go_on(&trial, None)?;
            }
            if step.plan.kind == RandomKind::Write {
                session.settle()?;
            }
            // What rounds give rise to is judged over all rounds of their cell.
            session.measurements.push(Measurement {
                warnings: Vec::new(),
                ..outcome.measurement.clone()
            });
            Ok((trial, outcome))
        })
    }

    fn resolve(&self, setup: &mut Setup, _: &Status) {
        let plans = &self.cells.plans;
        let bytes = |of: fn(&CellPlan) -> u64| {
            let all: BTreeSet<u64> = plans.iter().map(of).collect();
            all.into_iter().map(|it| Bytes(it).to_exact_string())
        };
        setup.resolve("spans", bytes(|plan| plan.span));
        setup.resolve("blocks", bytes(|plan| plan.block));
        let depths: BTreeSet<u32> = plans.iter().map(|plan| plan.depth).collect();
        setup.resolve("depths", depths.iter().map(u32::to_string));
    }

    fn complete(self, mut run: Run) -> Run {
        let found = self.found();
        run.warnings.splice(0..0, random_doubts(&found));
        Run {
            findings: random_findings(&found),
            tables: found.tables(),
            row_warnings: found.row_warnings(),
            ..run
        }
    }
}

impl<'a> RandomPlan<'a> {
    /// Everything that can be refused is refused here, before anything is written.
    fn new(request: &'a RandomRequest, session: &mut Session<'a>) -> Result<Self> {
        let shape = allowed_shape(request, session)?;
        let size = match session.facts.existing {
            Some(existing) => existing,
            None => whole_size(session.size)?,
        };
        let cells = cells_of(&shape, size)?;
        let blocks = cells.plans.iter().map(|plan| plan.block);
        session.bench.refuse_misaligned(blocks)?;
        refuse_too_much(&session.bench, &cells)?;
        refuse_short_time(&request.options, &cells)?;
        if cells.size < size.0 && session.facts.existing.is_some() {
            let text = format!(
                "The last {} bytes are not a whole block and were left out.",
                size.0 - cells.size
            );
            let note = Warning::info(WarningCode::PartLeftOut, text);
            session.warnings.push(note);
        }
        let left_out = |warm_up| warm_up_left_out(warm_up, "round of a cell");
        session
            .warnings
            .extend(request.options.warm_up.map(left_out));
        Ok(Self {
            request,
            shape,
            procedure: RandomProcedure::new(request.options, &cells.plans),
            cells,
            makes_files: session.facts.makes_files,
            turn_ns: turn_of_disk(&request.bench.target, &request.bench.setup),
            fill_rate: None,
        })
    }

    fn found(&self) -> RandomAccess {
        let (span_bytes, block_bytes, depth) = self.cells.base;
        let options = &self.request.options;
        let check = if self.makes_files { "record" } else { "none" };
        RandomAccess {
            span_bytes,
            block_bytes,
            depth,
            size_bytes: self.cells.size,
            is_crossed: self.request.shape.is_crossed,
            rounds: options.rounds,
            precision: options.precision,
            durable: options.durability.is_durable(),
            check: check.into(),
            turn_ns: self.turn_ns,
            fill_rate: self.fill_rate,
            cells: self.procedure.cells(),
        }
    }
}

impl RandomRequest {
    /// Cells of slow storage take longer than their share of the budget: one that was given ends
    /// the run, which has what was measured.
    fn keep_budget(&self, session: &Session<'_>, procedure: &RandomProcedure) -> Result<()> {
        let RandomOptions { budget, rounds, .. } = self.options;
        let (done, left) = (procedure.done(), procedure.trials_left());
        let spent = session.spent;
        let is_given = self.bench.setup.is_given("budget");
        if !is_given || done == 0 || spent <= most_within(budget) {
            return Ok(());
        }
        let all = (done + left) as f64 / done as f64;
        Err(BenchError::Usage(format!(
            "--budget {budget}: {done} of {} cells in {} took {spent}. Use --budget {:.0}s, or ask \
             for fewer values",
            done + left,
            format_counted(rounds.into(), "round"),
            (spent.as_secs_f64() * all).ceil()
        )))
    }

    /// Measure a step, again and for longer where not one operation was done.
    fn measure_step(
        &self,
        session: &mut Session<'_>,
        procedure: &RandomProcedure,
        step: &RandomStep,
    ) -> Result<(Trial, Outcome)> {
        let mut step = *step;
        loop {
            let trial = procedure.trial(&step, session.facts.access);
            let error = match self.measure(session, procedure, &step, &trial) {
                Ok(outcome) => return Ok((trial, outcome)),
                Err(error) => error,
            };
            if !is_silence(&error) || step.duration_max >= self.options.trial_max {
                return Err(error);
            }
            let text = format!(
                "{}: not one operation was done in {} of round {}. It was measured again, and its \
                 times do not hold that stall.",
                trial.title, step.duration_max, step.round
            );
            let doubt = Warning::warn(WarningCode::NoAnswer, text);
            session.warnings.push(doubt);
            step.duration_max = (step.duration_max * 4).min(self.options.trial_max);
        }
    }

    fn measure(
        &self,
        session: &mut Session<'_>,
        procedure: &RandomProcedure,
        step: &RandomStep,
        trial: &Trial,
    ) -> Result<Outcome> {
        let (done, spent) = (procedure.done(), session.spent);
        let all = done + procedure.trials_left();
        let title = format!(
            "{} of {all}: {}, round {}",
            done + 1,
            trial.title,
            step.round
        );
        let budget = self.options.budget;
        session.measure(trial, &title, HostReach::Each, |glimpse| {
            let part = glimpse.elapsed.as_secs_f64() / trial.duration_max.as_secs_f64();
            TrialProgress {
                done: (done as f64 + part.min(1.0)) / all as f64,
                elapsed: spent + glimpse.elapsed,
                left: Some(budget.saturating_sub(spent + glimpse.elapsed)),
            }
        })
    }
}

/// Without leave to write, an existing target is only read.
fn allowed_shape(request: &RandomRequest, session: &mut Session<'_>) -> Result<RandomShape> {
    let mut shape = request.shape.clone();
    if session.may_write() || !shape.kinds.contains(&RandomKind::Write) {
        return Ok(shape);
    }
    if request.writes_are_asked {
        session.refuse_writes()?;
    }
    shape.kinds.retain(|kind| *kind == RandomKind::Read);
    let text = format!(
        "{} exists and was only read: writes need --overwrite, with which everything in it may be \
         lost.",
        request.bench.target
    );
    let note = Warning::info(WarningCode::WritesLeftOut, text);
    session.warnings.push(note);
    Ok(shape)
}

/// Whether a trial ended without a single completion.
pub(crate) fn is_silence(error: &BenchError) -> bool {
    matches!(
        error,
        BenchError::Laboratory(LaboratoryError::Trial {
            error: TrialError::Nothing { .. },
            ..
        })
    )
}

/// What the buffers of the largest cell take of memory is known before anything is made.
fn refuse_too_much(bench: &Bench, cells: &SweepCells) -> Result<()> {
    if let Bench::Simulated(_) | Bench::Replayed(..) = bench {
        return Ok(());
    }
    let buffers = cells
        .plans
        .iter()
        .map(|plan| plan.block.max(4096) * u64::from(plan.depth));
    let memory = buffers.max().unwrap_or(0);
    Ok(check_budget(FILES_NEEDED, memory).map_err(LaboratoryError::from)?)
}

/// The cells of a file of that size.
///
/// # Errors
/// When it holds none of a kind.
fn cells_of(shape: &RandomShape, size: Bytes) -> Result<SweepCells> {
    let cells = shape.cells(size);
    cells.map_err(|error| BenchError::Usage(error.to_string()))
}

/// What all cells take, each as short as it may be.
fn least_time(options: &RandomOptions, cells: &SweepCells) -> Duration {
    options.trial_min() * cells.plans.len() as u64 * u64::from(options.rounds)
}

fn refuse_short_time(options: &RandomOptions, cells: &SweepCells) -> Result<()> {
    let trials = cells.plans.len() as u64 * u64::from(options.rounds);
    let each = Duration::from_nanos(options.budget.as_nanos() / trials.max(1));
    let least = options.trial_min();
    if each >= least {
        return Ok(());
    }
    let needed = least_time(options, cells).as_secs_f64().ceil();
    let warm_up = match options.warm_up {
        Some(warm_up) => format!(" with --warm-up {warm_up}"),
        None => String::new(),
    };
    Err(BenchError::Usage(format!(
        "--budget {}: {} in {} leave {each} for each, and {least} are needed{warm_up}. \
         Use --budget {needed}s, or ask for fewer values",
        options.budget,
        format_counted(cells.plans.len() as u64, "cell"),
        format_counted(options.rounds.into(), "round")
    )))
}
