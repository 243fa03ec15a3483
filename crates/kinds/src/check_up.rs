//! Runs the check-up: from a target's name to a [`Run`].

use procedure::{
    CheckUp, CheckUpFacts, CheckUpOptions, CheckUpOutcome, CheckUpStep, Ending, Levels,
    Requirement, SIZE_MIN, Trial, deals, is_second_look,
};
use results::{Caution, Measurement, Run, Status, TargetDescription};
use units::{Bytes, Duration};

use crate::single_load::resolve_levels;
use crate::stage::{Show, Stage};
use host::environment;
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError, BenchRequest, Opened, open_check_up};
use lab::laboratory::{Glimpse, LaboratoryError, Outcome, with_causes};

/// What a check-up is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct CheckUpRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// Time for everything.
    pub budget: Duration,
    /// Levels of the load curve.
    pub levels: Levels,
    /// The percentile that they are about, 0 to 1; `None` for the mean.
    pub percentile: Option<f64>,
    /// The most clients of the load curve.
    pub clients_max: u32,
    /// What figures are required to be.
    pub goals: Vec<Requirement>,
}

/// Run a check-up.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn check_up(
    request: &CheckUpRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run, BenchError> {
    let Opened {
        mut bench,
        description,
        cautions,
        facts,
    } = open_check_up(&request.bench)?;
    bench.serve(interrupt)?;
    let allowed = refuse_small(request.bench.size, &facts);
    let offer = CheckUp::offer(&facts, request.levels.given(request.percentile));
    let allowed = allowed.and_then(|()| offer.check(&request.goals).map_err(BenchError::Usage));
    if let Err(error) = allowed {
        return Err(bench.abandon(error));
    }
    Session {
        request,
        interrupt,
        show,
        laboratory: bench,
        description,
        hosts: Vec::new(),
    }
    .run(facts, &cautions)
}

/// The loads at which goals want a figure, per second, each once.
pub(crate) fn rates(goals: &[Requirement]) -> Vec<f64> {
    let mut rates: Vec<f64> = goals.iter().filter_map(Requirement::rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates
}

/// A test file that is smaller than what can be measured would silently be made larger.
fn refuse_small(size: Option<Bytes>, facts: &CheckUpFacts) -> Result<(), BenchError> {
    match size {
        Some(size) if facts.makes_files && size < SIZE_MIN => Err(BenchError::Usage(format!(
            "--size {size} is too small for a check-up: use at least {SIZE_MIN}, or \
             `seekstone trial`"
        ))),
        _ => Ok(()),
    }
}

/// One check-up under way.
struct Session<'a> {
    request: &'a CheckUpRequest,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    laboratory: Bench,
    description: TargetDescription,
    /// What each of several hosts measured.
    hosts: Vec<Measurement>,
}

impl Session<'_> {
    fn run(mut self, facts: CheckUpFacts, cautions: &[Caution]) -> Result<Run, BenchError> {
        let environment = environment::capture();
        let memory = facts.memory;
        let mut procedure = CheckUp::new(CheckUpOptions {
            budget: self.request.budget,
            size: self.request.bench.size,
            levels: self.request.levels.clone(),
            percentile: self.request.percentile,
            clients_max: self.request.clients_max,
            rates: rates(&self.request.goals),
            facts,
        });
        let begun = self.laboratory.laboratory().now();
        let measured = self.measure_all(&mut procedure, memory);
        let elapsed = self.laboratory.laboratory().now().since(begun);
        let status = match measured {
            Ok(()) => Status::Complete,
            Err(stop) if procedure.is_empty() => {
                return Err(self.laboratory.abandon(stop.into_error()));
            }
            Err(stop) => Status::Partial {
                reason: with_causes(&stop),
            },
        };
        let mut warnings = self.laboratory.warnings(cautions);
        warnings.extend(procedure.doubts());
        warnings.extend(self.laboratory.clean_up());
        let CheckUpOutcome {
            mut measurements,
            curve,
            findings,
        } = procedure.outcome();
        measurements.append(&mut self.hosts);
        let mut setup = self.request.bench.resolved(procedure.size());
        resolve_levels(&mut setup, &status, curve.as_ref());
        Ok(Run {
            status,
            elapsed_ns: elapsed.as_nanos(),
            findings,
            measurements,
            curves: Vec::from_iter(curve),
            warnings,
            ..Run::empty(setup, environment, self.description)
        })
    }

    fn measure_all(&mut self, procedure: &mut CheckUp, memory: Bytes) -> Result<(), Stop> {
        let begun = self.laboratory.laboratory().now();
        loop {
            let step_begun = self.laboratory.laboratory().now();
            let (trial, is_layout) = match procedure.next_step() {
                CheckUpStep::Finish => return Ok(()),
                CheckUpStep::Measure(trial) => (trial, false),
                CheckUpStep::LayOut { size, trial } => {
                    self.laboratory.lay_out_both(size, memory)?;
                    (trial, true)
                }
            };
            let spent = step_begun.since(begun);
            let measured = self.measure(&trial, is_layout, procedure.progress(), spent);
            // A trial that was cut off before its first operation has nothing to say.
            let outcome = measured.map_err(|error| match self.interrupt.is_raised() {
                Some(signal) => Stop::Interrupted(signal.name),
                None => Stop::Failed(error),
            })?;
            let elapsed = self.laboratory.laboratory().now().since(step_begun);
            let Outcome {
                mut measurement,
                ending,
                failure,
                intervals,
                ..
            } = outcome;
            measurement.intervals = intervals;
            procedure.record(measurement, elapsed);
            // Points of a curve are many, and none is a row of the report; no second look is one.
            let rows = self.laboratory.take_rows().into_iter();
            self.hosts
                .extend(rows.filter(|_| !is_layout && !deals(&trial) && !is_second_look(&trial)));
            if is_layout && ending == Ending::Finished {
                self.laboratory.verify_from_now();
            }
            if let Some(error) = failure {
                return Err(Stop::Failed(LaboratoryError::Trial {
                    title: trial.title,
                    error,
                }));
            }
            if let Some(signal) = self.interrupt.is_raised() {
                return Err(Stop::Interrupted(signal.name));
            }
            if is_layout && ending != Ending::Finished {
                return Err(Stop::TooSlow);
            }
        }
    }

    fn measure(
        &mut self,
        trial: &Trial,
        is_layout: bool,
        done: f64,
        spent: Duration,
    ) -> Result<Outcome, LaboratoryError> {
        let Self {
            request,
            interrupt,
            show,
            laboratory,
            ..
        } = self;
        let mut watch = |glimpse: &Glimpse| {
            let elapsed = spent + glimpse.elapsed;
            show(&Stage {
                title: &trial.title,
                done,
                elapsed,
                left: request.budget.saturating_sub(elapsed),
                glimpse: Some(glimpse),
            });
            interrupt.is_raised().is_none()
        };
        let mut place = match (is_layout, deals(trial)) {
            (true, _) => laboratory.laboratory_that_leaves(),
            (false, false) => laboratory.laboratory_of_each(),
            (false, true) => return laboratory.laboratory().measure(trial, &mut watch),
        };
        place.measure(trial, &mut watch)
    }
}

/// Why a check-up stopped early.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error("stopped by {0}")]
    Interrupted(&'static str),
    #[error(transparent)]
    Failed(#[from] LaboratoryError),
    #[error(
        "the test file could not be written in the time allowed; use a smaller --size or a \
         larger --budget"
    )]
    TooSlow,
}

impl Stop {
    fn into_error(self) -> BenchError {
        match self {
            Self::Interrupted(signal) => BenchError::Interrupted {
                signal: signal.into(),
            },
            Self::Failed(error) => error.into(),
            Self::TooSlow => BenchError::Usage(self.to_string()),
        }
    }
}
