//! `seekstone run --profile`: measures what applications do with their storage, one step of each
//! after the other, and says whether the storage is fast enough.

mod clients;

use host::interrupt::Interrupt;
use lab::bench::{BenchError, BenchRequest, HostReach, open_bench};
use lab::laboratory::Outcome;
use procedure::{
    ApplicationProfile, OfferedFigures, OfferedRow, ProfileStep, Requirement, Trial, applications,
};
use results::{Access, Run, Warning, WarningCode};
use stats::{Aim, Goal};
use units::{Bytes, Duration};

use crate::session::{self, MeasurementPlan, Result, Session};
use crate::stage::{RunPlan, Show};
use clients::{StepPlace, clients_in, clients_of, is_cached};

/// Share of memory that the test file has where nobody said its size ...
const MEMORY_SHARE: f64 = 0.5;
/// ... within these bounds.
const SIZES: (Bytes, Bytes) = (Bytes::from_gib(1), Bytes::from_gib(8));
/// What is smaller has no room for a log beside its data.
const SIZE_LEAST: Bytes = Bytes::from_mib(16);
/// A step is long enough when what its limit is about is this precise.
const PRECISION: f64 = 0.05;
/// No step is shorter.
const STEP_LEAST: Duration = Duration::from_secs(1);

/// What applications ask of a target.
#[derive(Clone, Debug)]
pub struct ApplicationRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// Time for everything.
    pub budget: Duration,
    pub profiles: Vec<ApplicationProfile>,
    /// Cores that the loads are sized for.
    pub cores: u32,
    /// What is required beside the limits of the profiles.
    pub goals: Vec<Requirement>,
}

/// Measure the steps of all profiles.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_applications(
    request: &ApplicationRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run> {
    let bench = &request.bench;
    if bench.ranks.is_some() {
        let text = "--profile measures on one host. Leave it out, or run it on each host by itself";
        return Err(BenchError::Usage(text.into()));
    }
    let offer = request.offer();
    offer.check(&request.goals).map_err(BenchError::Usage)?;
    session::run_on(open_bench(bench)?, (bench, interrupt, show), |session| {
        if request.profiles.iter().any(ApplicationProfile::writes) {
            session.refuse_writes()?;
        }
        if bench.size.is_none() && session.facts.makes_files {
            let wanted = Bytes((session.facts.memory.0 as f64 * MEMORY_SHARE) as u64);
            session.size = wanted.clamp(SIZES.0, SIZES.1).min(session.facts.room);
        }
        if session.size < SIZE_LEAST {
            return Err(BenchError::Usage(format!(
                "{} has {}, and --profile needs at least {SIZE_LEAST}",
                bench.target, session.size
            )));
        }
        Ok(ApplicationPlan { request })
    })
}

impl ApplicationRequest {
    fn steps(&self) -> impl Iterator<Item = (&ApplicationProfile, &ProfileStep)> {
        let profiles = self.profiles.iter();
        profiles.flat_map(|profile| profile.steps.iter().map(move |step| (profile, step)))
    }

    fn offer(&self) -> OfferedFigures {
        self.steps()
            .fold(OfferedFigures::default(), |offer, (profile, step)| {
                offer.and(OfferedRow::Named(profile.measurement(step)), "trial")
            })
    }
}

struct ApplicationPlan<'a> {
    request: &'a ApplicationRequest,
}

impl MeasurementPlan for ApplicationPlan<'_> {
    type Outcome = Run;

    fn plan(&self, session: &Session<'_>) -> RunPlan {
        let budget = Some(self.request.budget);
        session.filled_plan(budget, ("measure", budget))
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        session.fill(Some(self.request.budget))?;
        session.settle()?;
        let count = self.request.steps().count() as u64;
        for (number, (profile, step)) in (0..).zip(self.request.steps()) {
            let left = self.request.budget.saturating_sub(session.spent);
            let time = Duration::from_nanos(left.as_nanos() / (count - number)).max(STEP_LEAST);
            let place = StepPlace::of(session, self.request.cores);
            let trial = trial(profile, step, &place, (number, time))?;
            let clients = clients_in(&step.load, self.request.cores);
            let done = number as f64 / count as f64;
            let outcome =
                session.measure_among(&trial, HostReach::Each, done, self.request.budget)?;
            keep(session, &trial, clients, outcome)?;
        }
        Ok(())
    }

    fn complete(self, mut run: Run) -> Run {
        run.tables.push(applications(&self.request.profiles, &run));
        run
    }
}

fn trial(
    profile: &ApplicationProfile,
    step: &ProfileStep,
    place: &StepPlace,
    (number, time): (u64, Duration),
) -> Result<Trial> {
    let (spec, clients, depth) = clients_of(profile, step, place)?;
    let access = match place.access {
        Access::Direct if is_cached(&step.load) => Access::Buffered,
        access => access,
    };
    Ok(Trial {
        title: step.title.clone(),
        clients,
        depth,
        goal: Some(Goal {
            aim: aim(profile, step),
            ..Goal::result(PRECISION)
        }),
        duration_max: time,
        salt: number + 1,
        ..Trial::new(profile.measurement(step), spec, access)
    })
}

/// What the limits of a step are about.
fn aim(profile: &ApplicationProfile, step: &ProfileStep) -> Aim {
    let requirements = profile.requirements_of(step);
    let percentiles = requirements.iter().filter_map(Requirement::percentile);
    percentiles
        .max_by(f64::total_cmp)
        .map_or(Aim::TimeAndLoad, Aim::Percentile)
}

/// Keep what a step of an application with that number of clients gave.
fn keep(session: &mut Session<'_>, trial: &Trial, clients: u32, outcome: Outcome) -> Result<()> {
    session.spent += outcome.elapsed;
    let mut measurement = outcome.measurement;
    measurement.intervals = outcome.intervals;
    measurement.clients = clients;
    let bytes: u64 = outcome.units.values().map(|it| it.bytes).sum();
    let each = bytes as f64 / measurement.completions_all.max(1) as f64;
    measurement.bandwidth = (bytes > 0).then(|| measurement.throughput.scale(each));
    // Those beside the measured clients report nothing, and a log stands for all of its writers.
    let is_of_all = |it: &Warning| it.code == WarningCode::TimeUnaccounted;
    measurement.warnings.retain(|it| !is_of_all(it));
    session.measurements.push(measurement);
    session.go_on(trial, outcome.failure)
}
