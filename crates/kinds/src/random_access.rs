//! Runs `random`: from a target's name to a [`Run`] with service times of random access.

use std::collections::BTreeSet;

use procedure::{
    CellPlan, Cells, CheckUpFacts, RandomOptions, RandomProcedure, RandomShape, RandomStep, Trial,
    TrialError, random_doubts, random_findings, warm_up_left_out,
};
use results::{Measurement, RandomAccess, RandomKind, Run, Setup, Status, Warning, WarningCode};
use stats::Estimate;
use units::{Bytes, Duration, format_counted};

use crate::stage::{Show, Stage};
use host::environment;
use host::interrupt::Interrupt;
use host::limits::check_budget;
use lab::bench::{Bench, BenchError, BenchRequest, Opened, open_bench};
use lab::laboratory::{Glimpse, LaboratoryError, Outcome};
use lab::test_file::{SIZE_DEFAULT, fill_test_file, stop_of, stopped, whole_size};

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
) -> Result<Run, BenchError> {
    let target = &request.bench.target;
    if target.is_null() {
        let text = format!("{target} has no blocks: name a directory, a file or a model");
        return Err(BenchError::Usage(text));
    }
    let Opened {
        mut bench,
        description,
        cautions,
        facts,
    } = open_bench(&request.bench)?;
    bench.serve(interrupt)?;
    let mut session = match Session::new(request, interrupt, show, &bench, &facts) {
        Ok(session) => session,
        Err(error) => return Err(bench.abandon(error)),
    };
    if let Err(error) = bench.write_records() {
        return Err(bench.abandon(error.into()));
    }
    let environment = environment::capture();
    let begun = bench.laboratory().now();
    let filled = if facts.makes_files {
        session.fill(&mut bench)
    } else {
        Ok(())
    };
    let measured = filled.and_then(|()| session.measure_all(&mut bench));
    let elapsed = bench.laboratory().now().since(begun);
    let status = match measured {
        Ok(()) => Status::Complete,
        Err(stop) if session.measurements.is_empty() => return Err(bench.abandon(stop)),
        Err(stop) => Status::Partial {
            reason: stop.reason(),
        },
    };
    let mut warnings = bench.warnings(&cautions);
    warnings.extend(std::mem::take(&mut session.warnings));
    warnings.extend(bench.clean_up());
    let found = session.found();
    warnings.splice(0..0, random_doubts(&found));
    let setup = session.setup();
    Ok(Run {
        status,
        elapsed_ns: elapsed.as_nanos(),
        findings: random_findings(&found),
        measurements: session.measurements,
        tables: found.tables(),
        row_warnings: found.row_warnings(),
        warnings,
        ..Run::empty(setup, environment, description)
    })
}

struct Session<'a> {
    request: &'a RandomRequest,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    facts: &'a CheckUpFacts,
    cells: Cells,
    procedure: RandomProcedure,
    fill_rate: Option<Estimate>,
    measurements: Vec<Measurement>,
    warnings: Vec<Warning>,
}

impl<'a> Session<'a> {
    /// Everything that can be refused is refused here, before anything is written.
    fn new(
        request: &'a RandomRequest,
        interrupt: &'a Interrupt,
        show: Show<'a>,
        bench: &Bench,
        facts: &'a CheckUpFacts,
    ) -> Result<Self, BenchError> {
        let mut warnings = Vec::new();
        let shape = allowed_shape(request, facts, &mut warnings)?;
        let size = match facts.existing {
            Some(existing) => existing,
            None => {
                let asked = request.bench.size.unwrap_or(SIZE_DEFAULT);
                whole_size(asked.min(facts.room))?
            }
        };
        let cells = shape
            .cells(size)
            .map_err(|error| BenchError::Usage(error.to_string()))?;
        bench.refuse_misaligned(cells.plans.iter().map(|plan| plan.block))?;
        refuse_too_much(bench, &cells)?;
        refuse_short_time(&request.options, &cells)?;
        if cells.size < size.0 && facts.existing.is_some() {
            let text = format!(
                "The last {} bytes are not a whole block and were left out.",
                size.0 - cells.size
            );
            warnings.push(Warning::note(WarningCode::PartLeftOut, text));
        }
        let left_out = |warm_up| warm_up_left_out(warm_up, "round of a cell");
        warnings.extend(request.options.warm_up.map(left_out));
        Ok(Self {
            request,
            interrupt,
            show,
            facts,
            procedure: RandomProcedure::new(request.options, &cells.plans),
            cells,
            fill_rate: None,
            measurements: Vec::new(),
            warnings,
        })
    }

    /// Make the file and write it.
    fn fill(&mut self, bench: &mut Bench) -> Result<(), BenchError> {
        let show = &mut self.show;
        let mut told = |title: &str, glimpse: &Glimpse| {
            show(&Stage::of_filling(title, glimpse));
        };
        let asked = self.request.bench.size.unwrap_or(SIZE_DEFAULT);
        let filled = fill_test_file(
            bench,
            asked.min(self.facts.room),
            self.facts.access,
            self.interrupt,
            &mut told,
        )?;
        self.fill_rate = filled.writing.bandwidth;
        settle(bench)
    }

    fn measure_all(&mut self, bench: &mut Bench) -> Result<(), BenchError> {
        while let Some(step) = self.procedure.next_step() {
            let begun = bench.laboratory().now();
            let (trial, mut outcome) = self.measure_step(bench, &step)?;
            if self.interrupt.is_raised().is_some() && outcome.failure.is_none() {
                // Cut short, it would pass for a round.
                return Err(stop_of(&trial.title, None, self.interrupt));
            }
            if step.plan.kind == RandomKind::Write {
                settle(bench)?;
            }
            let elapsed = bench.laboratory().now().since(begun);
            self.procedure.record(&step, &outcome.measurement, elapsed);
            // What rounds give rise to is judged over all rounds of their cell.
            outcome.measurement.warnings.clear();
            self.measurements.push(outcome.measurement);
            if outcome.failure.is_some() {
                return Err(stop_of(&trial.title, outcome.failure, self.interrupt));
            }
        }
        Ok(())
    }

    /// Measure a step, again and for longer where not one operation was done.
    fn measure_step(
        &mut self,
        bench: &mut Bench,
        step: &RandomStep,
    ) -> Result<(Trial, Outcome), BenchError> {
        let mut step = *step;
        loop {
            let trial = self.procedure.trial(&step, self.facts.access);
            let error = match self.measure(bench, &step, &trial) {
                Ok(outcome) => return Ok((trial, outcome)),
                Err(error) => error,
            };
            if !is_silence(&error) || step.duration_max >= self.request.options.trial_max {
                return Err(error);
            }
            let text = format!(
                "{}: not one operation was done in {} of round {}. It was measured again, and its \
                 times do not hold that stall.",
                trial.title, step.duration_max, step.round
            );
            self.warnings
                .push(Warning::doubt(WarningCode::NoAnswer, text));
            step.duration_max = (step.duration_max * 4).min(self.request.options.trial_max);
        }
    }

    fn measure(
        &mut self,
        bench: &mut Bench,
        step: &RandomStep,
        trial: &Trial,
    ) -> Result<Outcome, BenchError> {
        let (procedure, interrupt) = (&self.procedure, self.interrupt);
        let (done, spent) = (procedure.done(), procedure.spent());
        let all = done + procedure.trials_left();
        let title = format!(
            "{} of {all}: {}, round {}",
            done + 1,
            trial.title,
            step.round
        );
        let budget = self.request.options.budget;
        let show = &mut self.show;
        let measured = bench.laboratory_of_each().measure(trial, &mut |glimpse| {
            let part = glimpse.elapsed.as_secs_f64() / trial.duration_max.as_secs_f64();
            show(&Stage {
                title: &title,
                done: (done as f64 + part.min(1.0)) / all as f64,
                elapsed: spent + glimpse.elapsed,
                left: budget.saturating_sub(spent + glimpse.elapsed),
                glimpse: Some(glimpse),
            });
            interrupt.is_raised().is_none()
        });
        measured.map_err(|error| stopped(interrupt).unwrap_or(error.into()))
    }

    fn found(&self) -> RandomAccess {
        let (span_bytes, block_bytes, depth) = self.cells.base;
        let options = &self.request.options;
        RandomAccess {
            span_bytes,
            block_bytes,
            depth,
            size_bytes: self.cells.size,
            is_crossed: self.request.shape.is_crossed,
            rounds: options.rounds,
            precision: options.precision,
            durable: options.durability.is_durable(),
            check: if self.facts.makes_files {
                "record"
            } else {
                "none"
            }
            .into(),
            fill_rate: self.fill_rate,
            cells: self.procedure.cells(),
        }
    }

    fn setup(&self) -> Setup {
        let Cells { size, plans, .. } = &self.cells;
        let mut setup = self.request.bench.resolved(Bytes(*size));
        let bytes = |of: fn(&CellPlan) -> u64| {
            let all: BTreeSet<u64> = plans.iter().map(of).collect();
            all.into_iter().map(|it| Bytes(it).to_exact_string())
        };
        setup.resolve("spans", bytes(|plan| plan.span));
        setup.resolve("blocks", bytes(|plan| plan.block));
        let depths: BTreeSet<u32> = plans.iter().map(|plan| plan.depth).collect();
        setup.resolve("depths", depths.iter().map(u32::to_string));
        setup
    }
}

/// Without leave to write, an existing target is only read.
fn allowed_shape(
    request: &RandomRequest,
    facts: &CheckUpFacts,
    warnings: &mut Vec<Warning>,
) -> Result<RandomShape, BenchError> {
    let mut shape = request.shape.clone();
    if facts.makes_files || facts.may_overwrite || !shape.kinds.contains(&RandomKind::Write) {
        return Ok(shape);
    }
    let target = &request.bench.target;
    if request.writes_are_asked {
        return Err(BenchError::Usage(format!(
            "{target} exists and is only written to with --overwrite; all data on it \
             may then be lost"
        )));
    }
    shape.kinds.retain(|kind| *kind == RandomKind::Read);
    let text = format!(
        "{target} exists and was only read: writes need --overwrite, with which everything in it \
         may be lost."
    );
    warnings.push(Warning::note(WarningCode::WritesLeftOut, text));
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
fn refuse_too_much(bench: &Bench, cells: &Cells) -> Result<(), BenchError> {
    if let Bench::Simulated(_) | Bench::Told(..) = bench {
        return Ok(());
    }
    let buffers = cells
        .plans
        .iter()
        .map(|plan| plan.block.max(4096) * u64::from(plan.depth));
    let memory = buffers.max().unwrap_or(0);
    Ok(check_budget(FILES_NEEDED, memory).map_err(LaboratoryError::from)?)
}

fn refuse_short_time(options: &RandomOptions, cells: &Cells) -> Result<(), BenchError> {
    let trials = cells.plans.len() as u64 * u64::from(options.rounds);
    let each = Duration::from_nanos(options.budget.as_nanos() / trials.max(1));
    let least = options.trial_min();
    if each >= least {
        return Ok(());
    }
    let needed = (least * trials).as_secs_f64().ceil();
    let warm_up = match options.warm_up {
        Some(warm_up) => format!(" with --warm-up {warm_up}"),
        None => String::new(),
    };
    Err(BenchError::Usage(format!(
        "--budget {}: {} in {} leave {each} for each, and {least} are needed{warm_up}: \
         allow at least {needed}s, or ask for fewer values",
        options.budget,
        format_counted(cells.plans.len() as u64, "cell"),
        format_counted(options.rounds.into(), "round")
    )))
}

/// Let the storage finish what was written, so that no later cell waits for it.
fn settle(bench: &mut Bench) -> Result<(), BenchError> {
    Ok(bench.settle()?)
}
