//! Runs the workloads of the RAID Performance Test: from a target's name to a [`Run`].

use std::collections::BTreeMap;

use procedure::{
    CheckUpFacts, POINTS_MIN, RabOptions, mode_comparisons, rab_averages, rab_over_runs,
};
use results::live::{Live, LiveCommand};
use results::{Mode, ModeChange, Rab, RabGroup, RabWorkload, Run, Warning};
use units::{Bytes, Duration, format_counted};
use workload::{Advice, WorkloadDefinition, advise, advise_on_durations};

use super::live;
use super::workloads::{RabRun, parts};
use crate::session::{self, MeasurementPlan, Result, Session};
use crate::stage::{RunPlan, Stage};
use host::interrupt::Interrupt;
use lab::bench::{BenchError, BenchRequest};
use lab::laboratory::Glimpse;

/// The largest test file that a directory gets when no size is given: large enough for the blocks
/// of 1 MiB of the batch workloads, and written in seconds by a fast disk.
const SIZE_MAX_DEFAULT: Bytes = Bytes::from_gib(4);

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct RabRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// Workloads with their numbers, in the order of measuring.
    pub workloads: Vec<(u32, WorkloadDefinition)>,
    /// What each is measured for; its budget is a share of [`RabRequest::budget`].
    pub options: RabOptions,
    /// Mean rate of each client that waits, operations per second.
    pub iops_per_client: Option<f64>,
    /// Time for one run through all workloads.
    pub budget: Duration,
    /// Runs through all workloads in normal mode.
    pub runs: u32,
    /// How long modes without an end go on; `None` until somebody stops them.
    pub duration: Option<Duration>,
    /// Mode set by the user.
    pub mode: Mode,
}

/// Who looks on: a screen with keys, or a line of progress.
pub trait RabScreen {
    /// Show how things stand. Called about twenty times a second while a trial runs.
    fn show(&mut self, stage: &Stage<'_>, live: &mut dyn FnMut() -> Live);

    /// The next key's command, if there is one. Never waits.
    fn command(&mut self) -> Option<LiveCommand>;
}

/// Measure the workloads.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_rab(
    request: &RabRequest,
    interrupt: &Interrupt,
    screen: &mut dyn RabScreen,
) -> Result<Run> {
    refuse_long_warm_up(request)?;
    session::run(&request.bench, interrupt, &mut |_| {}, |session| {
        session.size = size_wanted(request, &session.facts)?;
        Ok(RabPlan {
            request,
            screen,
            workloads: Vec::new(),
            modes: Vec::new(),
        })
    })
}

struct RabPlan<'a> {
    request: &'a RabRequest,
    screen: &'a mut dyn RabScreen,
    workloads: Vec<RabWorkload>,
    modes: Vec<ModeChange>,
}

impl MeasurementPlan for RabPlan<'_> {
    type Outcome = Run;

    fn plan(&self, session: &Session<'_>) -> RunPlan {
        let budget = self.request.budget;
        let all = budget * u64::from(self.request.runs);
        session.filled_plan(Some(budget), ("workloads", Some(all)))
    }

    fn show(&mut self, _: &mut Session<'_>, stage: &Stage<'_>) {
        let mut live = || live::filling(self.request, stage.title, &Glimpse::default());
        self.screen.show(stage, &mut live);
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        let request = self.request;
        make_file(request, session, self.screen)?;
        let size = session.size;
        let mut rab = RabRun::new(request, session, session.interrupt, self.screen);
        let measured = rab.run_all(session);
        (self.workloads, self.modes) = rab.into_parts();
        let cache = session.bench.cache_bytes();
        let advice = advice(request, size, cache, &self.workloads);
        session.warnings.extend(advice);
        measured
    }

    fn is_empty(&self, _: &Session<'_>) -> bool {
        self.workloads.is_empty()
    }

    fn complete(self, run: Run) -> Run {
        let found = summary(self.request, self.workloads, self.modes);
        Run {
            measurements: found.measurements(),
            curves: found.curves(),
            tables: found.tables(),
            row_warnings: found.row_warnings(),
            ..run
        }
    }
}

/// Every point of a curve has a warm-up, and so has a batch workload: what is left of its time has
/// to be enough for an answer.
fn refuse_long_warm_up(request: &RabRequest) -> Result<()> {
    let Some(warm_up) = request.options.warm_up else {
        return Ok(());
    };
    let all: f64 = request.workloads.iter().map(|(_, it)| parts(it)).sum();
    for (_, definition) in &request.workloads {
        let time = request.budget.mul_f64(parts(definition) / all);
        let points = match definition.threads {
            None => POINTS_MIN,
            Some(_) => 1,
        };
        if warm_up * points >= time {
            return Err(BenchError::Usage(format!(
                "--warm-up {warm_up}: workload {} has {time} of --budget {}. Nothing of it is left \
                 to count after {} of at least {}. Ask for a longer --budget, a shorter --warm-up, \
                 or fewer workloads",
                definition.name,
                request.budget,
                if points == 1 {
                    "the start"
                } else {
                    "the starts"
                },
                format_counted(points, "point"),
            )));
        }
    }
    Ok(())
}

/// The size of the file to measure. What does not fit is told before anything is written.
fn size_wanted(request: &RabRequest, facts: &CheckUpFacts) -> Result<Bytes> {
    let mut definitions = request.workloads.iter().map(|(_, definition)| definition);
    let writes = definitions.any(|it| it.types().iter().any(|kind| kind.writes > 0));
    if writes && !facts.makes_files && !facts.may_overwrite {
        return Err(BenchError::Usage(format!(
            "{} exists, and these workloads write. Add --overwrite if all data on it may be \
             lost, or choose reading ones with --workload",
            request.bench.target
        )));
    }
    let asked = request.bench.size.unwrap_or(SIZE_MAX_DEFAULT);
    let size = facts.existing.unwrap_or(asked.min(facts.room));
    check_sizes(request, size)?;
    Ok(size)
}

/// Make the test file where one is needed.
fn make_file(
    request: &RabRequest,
    session: &mut Session<'_>,
    screen: &mut dyn RabScreen,
) -> Result<()> {
    let mut show = |title: &str, glimpse: &Glimpse| {
        let stage = Stage::of_filling(title, glimpse);
        screen.show(&stage, &mut || live::filling(request, title, glimpse));
    };
    session.fill_shown(Some(request.budget), Duration::ZERO, Some(&mut show))?;
    Ok(())
}

fn summary(request: &RabRequest, workloads: Vec<RabWorkload>, modes: Vec<ModeChange>) -> Rab {
    let averages = rab_averages(&workloads, &groups(request));
    Rab {
        response_max_ns: request.options.response_max.as_nanos(),
        iops_per_client: request.iops_per_client,
        precision: request.options.precision,
        over_runs: rab_over_runs(&workloads, &averages),
        averages,
        comparisons: mode_comparisons(&workloads),
        workloads,
        modes,
    }
}

/// Each workload's number with its group.
fn groups(request: &RabRequest) -> BTreeMap<u32, RabGroup> {
    let group = |definition: &WorkloadDefinition| match definition.threads {
        None => RabGroup::Transaction,
        Some(_) => RabGroup::Batch,
    };
    let workloads = request.workloads.iter();
    workloads
        .map(|(number, definition)| (*number, group(definition)))
        .collect()
}

fn check_sizes(request: &RabRequest, size: Bytes) -> Result<()> {
    let mut problems = Vec::new();
    for (_, definition) in &request.workloads {
        let spec = definition.spec(procedure::MAIN_DIRECT, size.0, request.iops_per_client);
        let wrong = spec.err().unwrap_or_default();
        let wrong = wrong.iter();
        problems.extend(wrong.map(|error| format!("workload {}: {error}", definition.name)));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(BenchError::Usage(problems.join("\n")))
}

/// What the document warns of, computed for this file and what was run on it.
fn advice(
    request: &RabRequest,
    size: Bytes,
    cache: Option<u64>,
    done: &[RabWorkload],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let warning = |advice: Advice, text: String| match advice.is_doubt {
        true => Warning::warn(advice.code.into(), text),
        false => Warning::info(advice.code.into(), text),
    };
    for (number, definition) in &request.workloads {
        let definition = definition.at_rate(request.iops_per_client);
        let ran = done.iter().filter(|it| it.number == *number);
        let (clients, summed) = ran.fold((None, None), |(clients, summed), it| {
            (clients.max(clients_of(it)), summed.max(Some(it.operations)))
        });
        for advice in advise(&definition, size.0, cache, clients, summed) {
            let text = format!("{}: {}", definition.name, advice.text);
            warnings.push(warning(advice, text));
        }
    }
    let definitions = request.workloads.iter();
    let definitions: Vec<_> = definitions
        .map(|(_, definition)| definition.clone())
        .collect();
    if let Some(advice) = advise_on_durations(&definitions) {
        let text = advice.text.clone();
        warnings.push(warning(advice, text));
    }
    warnings
}

/// The most clients whose load a level rests on.
fn clients_of(done: &RabWorkload) -> Option<u32> {
    let points = done.curve.iter().flat_map(|curve| &curve.points);
    let cited = points
        .filter(|point| !point.is_scout)
        .map(|point| point.clients);
    cited.max()
}
