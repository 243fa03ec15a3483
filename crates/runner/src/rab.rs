//! Runs the workloads of the RAID Performance Test: from a target's name to a [`Run`].

mod live;
mod modes;
mod session;

use std::collections::BTreeMap;

use procedure::{RabOptions, mode_comparisons, rab_averages};
use results::live::{Command, Live};
use results::{Group, Mode, Rab, Run, SCHEMA_VERSION, Status, Warning};
use units::{Bytes, Duration};
use workload::{Definition, advise};

use crate::bench::{BenchError, BenchRequest, Opened, open_bench};
use crate::check_up::Stage;
use crate::environment;
use crate::interrupt::Interrupt;
use crate::test_file::make_test_file;
use session::Session;

/// The largest test file that a directory gets when no size is given: large enough for the blocks
/// of 1 MiB of the batch workloads, and written in seconds by a fast disk.
const SIZE_MAX_DEFAULT: Bytes = Bytes::from_gib(4);

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct RabRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// Workloads with their numbers, in the order of measuring.
    pub workloads: Vec<(u32, Definition)>,
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
pub trait Desk {
    /// Show how things stand. Called about twenty times a second while a trial runs.
    fn show(&mut self, stage: &Stage<'_>, live: &mut dyn FnMut() -> Live);

    /// The next key's command, if there is one. Never waits.
    fn command(&mut self) -> Option<Command>;
}

/// Measure the workloads.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_rab(
    request: &RabRequest,
    interrupt: &Interrupt,
    desk: &mut dyn Desk,
) -> Result<Run, BenchError> {
    let Opened {
        mut bench,
        description,
        cautions,
        facts,
    } = open_bench(&request.bench)?;
    let writes = request
        .workloads
        .iter()
        .any(|(_, definition)| definition.types().iter().any(|kind| kind.writes > 0));
    if writes && !facts.makes_files && !facts.may_overwrite {
        return Err(BenchError::Usage(format!(
            "{} exists, and these workloads write: say --overwrite if everything in it may be \
             lost, or choose reading ones with --workload",
            request.bench.target
        )));
    }
    let environment = environment::capture();
    let asked = facts.existing.unwrap_or_else(|| {
        request
            .bench
            .size
            .unwrap_or(facts.room.min(SIZE_MAX_DEFAULT))
    });
    // Before anything is written: a file too small for a workload is a mistake to be told of now.
    check_sizes(request, asked)?;
    let begun = bench.laboratory().now();
    let mut size = asked;
    if facts.makes_files {
        let made = make_test_file(
            &mut bench,
            asked,
            facts.access,
            facts.memory,
            interrupt,
            &mut |title, glimpse| {
                let stage = Stage {
                    title,
                    done: 0.0,
                    elapsed: glimpse.elapsed,
                    left: request.budget,
                    glimpse: Some(glimpse),
                };
                desk.show(&stage, &mut || live::filling(request, title, glimpse));
            },
        );
        size = match made {
            Ok(size) => size,
            Err(error) => return Err(bench.abandon(error)),
        };
    }
    let mut session = Session::new(request, interrupt, desk, size, begun);
    let measured = session.run_all(&mut bench, facts.access);
    let (workloads, modes) = session.into_parts();
    let elapsed = bench.laboratory().now().since(begun);
    let status = match measured {
        Ok(()) => Status::Complete,
        Err(stop) if workloads.is_empty() => return Err(bench.abandon(stop)),
        Err(stop) => Status::Partial {
            reason: stop.reason(),
        },
    };
    let mut warnings = bench.warnings(&cautions);
    warnings.extend(advice(request, size));
    warnings.extend(bench.clean_up());
    let groups = groups(request);
    let rab = Rab {
        response_max_ns: request.options.response_max.as_nanos(),
        iops_per_client: request.iops_per_client,
        precision: request.options.precision,
        averages: rab_averages(&workloads, &groups),
        comparisons: mode_comparisons(&workloads),
        workloads,
        modes,
    };
    let levels = request.options.levels.iter();
    Ok(Run {
        schema: SCHEMA_VERSION,
        id: None,
        status,
        settings: request.bench.settings(
            "rab",
            Some(request.budget),
            Some(size),
            levels.map(|level| level.as_nanos()).collect(),
        ),
        environment,
        target: description,
        elapsed_ns: elapsed.as_nanos(),
        measurements: Vec::new(),
        curve: None,
        findings: Vec::new(),
        warnings,
        rab: Some(rab),
    })
}

/// Each workload's number with its group.
fn groups(request: &RabRequest) -> BTreeMap<u32, Group> {
    let group = |definition: &Definition| match definition.threads {
        None => Group::Transaction,
        Some(_) => Group::Batch,
    };
    let workloads = request.workloads.iter();
    workloads
        .map(|(number, definition)| (*number, group(definition)))
        .collect()
}

fn check_sizes(request: &RabRequest, size: Bytes) -> Result<(), BenchError> {
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

/// What the document warns of, computed for this file.
fn advice(request: &RabRequest, size: Bytes) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (_, definition) in &request.workloads {
        for advice in advise(definition, size.0, None, None, None) {
            let text = format!("{}: {}", definition.name, advice.text);
            warnings.push(if advice.is_doubt {
                Warning::doubt(advice.code, text)
            } else {
                Warning::note(advice.code, text)
            });
        }
    }
    warnings
}
