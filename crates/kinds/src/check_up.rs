//! Runs the check-up: from a target's name to a [`Run`].

use procedure::{
    CheckUp, CheckUpFacts, CheckUpOptions, CheckUpOutcome, CheckUpStep, Ending, Levels,
    Requirement, SIZE_MIN, deals, is_second_look,
};
use results::{Run, Setup, Status};
use units::{Bytes, Duration};

use crate::session::{self, MeasurementPlan, Result, Session};
use crate::single_load::resolve_levels;
use crate::stage::{RunPlan, Show};
use host::interrupt::Interrupt;
use lab::bench::{BenchError, BenchRequest, HostReach, open_check_up};
use lab::laboratory::Outcome;

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
pub fn check_up(request: &CheckUpRequest, interrupt: &Interrupt, show: Show<'_>) -> Result<Run> {
    let opened = open_check_up(&request.bench)?;
    session::run_on(opened, (&request.bench, interrupt, show), |session| {
        refuse_small(request.bench.size, &session.facts)?;
        let levels = request.levels.given(request.percentile);
        let offer = CheckUp::offer(&session.facts, levels);
        offer.check(&request.goals).map_err(BenchError::Usage)?;
        Ok(CheckUpPlan {
            request,
            procedure: CheckUp::new(CheckUpOptions {
                budget: request.budget,
                size: request.bench.size,
                levels: request.levels.clone(),
                percentile: request.percentile,
                clients_max: request.clients_max,
                rates: rates(&request.goals),
                facts: session.facts.clone(),
            }),
        })
    })
}

/// The loads at which goals want a figure, per second, each once.
pub(crate) fn rates(goals: &[Requirement]) -> Vec<f64> {
    let mut rates: Vec<f64> = goals.iter().filter_map(Requirement::rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates
}

/// A test file that is smaller than what can be measured would silently be made larger.
fn refuse_small(size: Option<Bytes>, facts: &CheckUpFacts) -> Result<()> {
    match size {
        Some(size) if facts.makes_files && size < SIZE_MIN => Err(BenchError::Usage(format!(
            "--size {size} is too small for a check-up: use at least {SIZE_MIN}, or \
             `seekstone trial`"
        ))),
        _ => Ok(()),
    }
}

struct CheckUpPlan<'a> {
    request: &'a CheckUpRequest,
    procedure: CheckUp,
}

impl MeasurementPlan for CheckUpPlan<'_> {
    type Outcome = Run;

    fn plan(&self, _: &Session<'_>) -> RunPlan {
        let phases = self.procedure.planned().into_iter();
        RunPlan {
            phases: phases.map(|(name, time)| (name, Some(time))).collect(),
            budget: None,
        }
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        let Self { request, procedure } = self;
        let mut refused = None;
        let measured = session.follow(procedure, |session, procedure, step| {
            if let Some(error) = refused.take() {
                return Err(error);
            }
            let begun = session.now();
            if let Some(size) = step.lays_out {
                session.bench.lay_out_both(size, session.facts.memory)?;
            }
            let outcome = request.measure(session, procedure, step)?;
            let rows = session.bench.take_rows();
            match (step.lays_out, &outcome.ending) {
                (Some(_), Ending::Finished) => session.bench.verify_from_now(),
                (Some(size), _) => {
                    let elapsed = session.now().since(begun);
                    refused = Some(request.not_laid_out(size, elapsed));
                }
                // Points of a curve are many, and none is a row of the report; no second look is.
                (None, _) if deals(&step.trial) || is_second_look(&step.trial) => {}
                (None, _) => session.measurements.extend(rows),
            }
            Ok((step.trial.clone(), outcome))
        });
        session.warnings.extend(self.procedure.doubts());
        session.size = self.procedure.size();
        measured
    }

    fn is_empty(&self, _: &Session<'_>) -> bool {
        self.procedure.is_empty()
    }

    fn resolve(&self, setup: &mut Setup, status: &Status) {
        resolve_levels(setup, status, self.procedure.outcome().curve.as_ref());
    }

    fn complete(self, run: Run) -> Run {
        let CheckUpOutcome {
            mut measurements,
            curve,
            findings,
        } = self.procedure.outcome();
        // What each of several hosts measured.
        measurements.extend(run.measurements);
        Run {
            findings,
            measurements,
            curves: Vec::from_iter(curve),
            ..run
        }
    }
}

impl CheckUpRequest {
    fn measure(
        &self,
        session: &mut Session<'_>,
        procedure: &CheckUp,
        CheckUpStep { trial, lays_out }: &CheckUpStep,
    ) -> Result<Outcome> {
        let reach = match (lays_out, deals(trial)) {
            (Some(_), _) => HostReach::Leaving,
            (None, true) => HostReach::Shared,
            (None, false) => HostReach::Each,
        };
        let done = procedure.progress();
        let mut outcome = session.measure_among(trial, reach, done, self.budget)?;
        outcome.measurement.intervals = std::mem::take(&mut outcome.intervals);
        Ok(outcome)
    }

    fn not_laid_out(&self, size: Bytes, elapsed: Duration) -> BenchError {
        BenchError::Usage(format!(
            "--budget {}: the test file of {size} was not written in {elapsed}. Use a smaller \
             --size or a larger --budget",
            self.budget
        ))
    }
}
