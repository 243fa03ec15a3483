//! Runs `study`: from a definition to a [`Run`] with every repeat and the conclusions.

mod hosts;
mod in_use;
mod journal;
mod measures;
mod models;
mod preflight;
#[doc(hidden)]
pub mod readers;
mod scratch;
mod script;
mod seen;
mod session;

use std::path::PathBuf;

use procedure::study::{
    Limit, PAIRS_MIN, StudyDefinition, StudyShape, analyse, digest, is_precise, judge,
};
use results::{
    Caution, Run, Setup, Severity, Status, Study, StudyCell, StudyFactor, StudyReplicate,
    StudySetting, Warning, WarningCode,
};
use units::{Bytes, Duration, capitalised, format_counted};

use host::environment;
use host::interrupt::Interrupt;
use kinds::measure::{MeasureError, WritePermission};
use lab::bench::BenchError;
use lab::cells::Killed;
use lab::hosts::Ranks;
use lab::laboratory::with_causes;
use preflight::{describe, refuse_missing};
use seen::is_same_storage;
use session::StudySession;

/// With more combinations, only those with invalid repeats are named.
const CELLS_LISTED_MAX: usize = 6;

pub use journal::{Journal, JournalError, JournalHead, KilledStudy, StudyAsked};
pub use measures::{Measures, OwnMeasurements, study_kinds};
pub use preflight::missing;
pub use scratch::LeftScratch;
pub use script::ScriptError;
pub use session::mentions_scratch;

/// Whether to resume an interrupted study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Start; an error if there is a killed study, or one stopped after ten minutes of repeats.
    New,
    /// Resume where it was interrupted.
    Resume,
    /// Discard earlier measurements.
    Restart,
    /// Report earlier measurements without measuring more.
    Keep,
}

/// The request, as resolved from the command line.
#[derive(Clone)]
pub struct StudyRequest<'a> {
    /// Available measurements.
    pub measures: &'a dyn Measures,
    pub definition: StudyDefinition,
    /// The file, or the name of a built-in study.
    pub source: String,
    /// Directory of the file, for its scripts.
    pub directory: PathBuf,
    /// Seed of the order, unless a resumed study has another.
    pub seed: u64,
    /// Whether to resume.
    pub beginning: Beginning,
    /// Where each repeat is kept at once; none if absent.
    pub journal: Option<PathBuf>,
    /// Reserve of free space; chosen automatically if absent.
    pub reserve: Option<Bytes>,
    /// What may be done to files and devices: nothing, unless the user of a command allows it.
    pub permission: WritePermission,
    /// Limits on changes between levels of the first factor.
    pub limits: &'a [Limit],
    /// The setup recorded in the run.
    pub setup: Setup,
    /// The hosts that measure each repeat together, if there are several.
    pub ranks: Option<Ranks>,
}

/// Progress of a study.
#[derive(Clone, Debug)]
pub struct StudyStage {
    /// Current step, in words.
    pub title: String,
    /// Progress, 0 to 1.
    pub done: f64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Estimated time left, if known.
    pub left: Option<Duration>,
}

/// Receives the progress of a study.
pub type ShowStudy<'a> = &'a mut dyn FnMut(&StudyStage);

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum StudyRunError {
    /// The request is inconsistent, or conflicts with earlier measurements.
    #[error("{0}")]
    Usage(String),
    /// The machine lacks a requirement of the study.
    #[error("the study needs {0}")]
    Needs(String),
    /// The target cannot be used.
    #[error(transparent)]
    Target(#[from] BenchError),
    /// A set-up or tear-down failed.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Repeats cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The scratch directory cannot be created.
    #[error("no directory for set-ups can be made in {}", path.display())]
    Scratch {
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The script that undoes a set-up cannot be recorded.
    #[error("cannot note in {} what is to be undone", path.display())]
    Record {
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A repeat failed.
    #[error("{cell}{}", with_causes(error))]
    Measure {
        /// Its levels, in words, and a colon; empty if there is only one repeat.
        cell: String,
        /// The error.
        error: MeasureError,
    },
    /// A repeat lacks the requested readings.
    #[error("{cell}with these settings {kind} gives none of the readings wanted ({}). It gives \
             {}", wanted.join(", "), given.join(", "))]
    NoReading {
        /// Its levels, in words, and a colon; empty if there is only one repeat.
        cell: String,
        /// Kind of the measurement.
        kind: String,
        /// The readings that the study requests.
        wanted: Vec<String>,
        /// The available readings.
        given: Vec<String>,
    },
    /// It failed, and could not be undone either.
    #[error("{}. {}", with_causes(error), capitalised(left))]
    Left {
        /// Why it failed.
        error: Box<StudyRunError>,
        /// What may be left, in words.
        left: String,
    },
    /// A killed study that is not to be measured further.
    #[error(transparent)]
    Killed(#[from] Killed),
    /// A signal arrived.
    #[error("stopped by {0}")]
    Interrupted(&'static str),
    /// The budget ran out before the minimum number of rounds.
    #[error(
        "--budget {budget} is too short: {done} of {} of each combination were measured. Use \
         --budget {:.0}s",
        format_counted((*wanted).into(), "repeat"),
        needed.as_secs_f64().ceil()
    )]
    OutOfTime {
        /// Complete rounds.
        done: u32,
        /// Requested minimum.
        wanted: u32,
        budget: Duration,
        /// Budget sufficient for a conclusion.
        needed: Duration,
    },
}

impl StudyRunError {
    /// Whether it is a usage error and nothing was done.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_)
            | Self::NoReading { .. }
            | Self::Measure {
                error: MeasureError::Usage(_),
                ..
            } => true,
            Self::Target(error)
            | Self::Measure {
                error: MeasureError::Bench(error),
                ..
            } => error.is_usage(),
            Self::Left { error, .. } => error.is_usage(),
            _ => false,
        }
    }
}

/// Runs a study. Returns the journal with the run, to be removed once the run is archived. The
/// journal of a partial run stays, so that the study can be resumed, unless that is not wanted.
///
/// # Errors
/// If nothing could be measured. Measurements before an error are a partial run.
pub fn run_study(
    request: &StudyRequest<'_>,
    interrupt: &Interrupt,
    show: ShowStudy<'_>,
) -> Result<(Run, Option<Journal>), StudyRunError> {
    let ranks = request.ranks.as_ref();
    let looked = refuse_missing(&request.definition.needs);
    let looked = looked.and_then(|()| Ok(describe(&request.definition.target)?));
    let (target, cautions) = hosts::agreed(ranks, looked)?;
    hosts::agree_on_study(ranks, digest(&request.definition.meaning()))?;
    let environment = environment::capture();
    let mut session = StudySession::open(request, &environment, interrupt, show)?;
    let measured = session.measure_all();
    let ended = session.close();
    let status = match hosts::parted(ranks, measured)? {
        Ok(()) => Status::Complete,
        Err(error) if ended.replicates.is_empty() => {
            // There is nothing to resume.
            ended.journal.map_or(Ok(()), Journal::remove)?;
            return Err(with_what_is_left(before_all(error), &ended.warnings));
        }
        Err(error) => Status::Partial {
            reason: with_causes(&error),
        },
    };
    let is_done = status == Status::Complete || request.beginning == Beginning::Keep;
    let journal = ended.journal.filter(|_| is_done);
    let (mut study, unprecise) = study_of(request, ended.begun_at, ended.replicates);
    study.environment = [ended.environment, set_ups(&request.definition)].concat();
    // The study's target is not measured if settings and levels name others.
    let (places, mut warnings) = match ended.places.merged() {
        (places, _) if places.is_empty() => (vec![target], notes(&cautions)),
        // Measurements there may be named after a directory that no longer exists.
        (places, warnings) if places.len() == 1 && is_same_storage(&places[0], &target) => {
            (vec![target], warnings)
        }
        merged => merged,
    };
    warnings.extend(ended.warnings);
    warnings.extend(ranks.map(hosts::note));
    warnings.extend(unprecise);
    warnings.extend(of_replicates(&study));
    warnings.extend(without_figures(&study).or_else(|| void_replicates(&study)));
    warnings.extend(models::no_chance(
        &request.definition,
        &study.cells,
        &study.replicates,
    ));
    let target = places[0].clone();
    study.places = places;
    let setup = Setup {
        seed: ended.seed,
        ..request.setup.clone()
    };
    let mut run = Run {
        status,
        elapsed_ns: ended.elapsed.as_nanos(),
        warnings,
        ..Run::empty(setup, environment, target)
    };
    study.give_to(&mut run);
    Ok((run, journal))
}

/// The same of a study of which nothing was measured.
fn before_all(error: StudyRunError) -> StudyRunError {
    match error {
        StudyRunError::Interrupted(signal) => BenchError::Interrupted {
            signal: signal.into(),
        }
        .into(),
        error => error,
    }
}

/// How levels are set up, for the note: options of file systems and mounts are recorded nowhere
/// else.
fn set_ups(definition: &StudyDefinition) -> Vec<String> {
    let mut found: Vec<(String, &str)> = Vec::new();
    for factor in &definition.factors {
        for level in &factor.levels {
            let Some(setup) = &level.setup else { continue };
            match found.iter_mut().find(|(_, text)| *text == setup.text) {
                Some((names, _)) => names.push_str(&format!(", {}", level.name)),
                None => found.push((format!("{} {}", factor.name, level.name), &setup.text)),
            }
        }
    }
    let lines = found.into_iter().map(|(names, text)| {
        let commands = text.lines().map(str::trim).filter(|it| !it.is_empty());
        let commands = commands.collect::<Vec<&str>>().join("; ");
        format!("Set-up of {names}: {commands}")
    });
    lines.collect()
}

fn with_what_is_left(error: StudyRunError, warnings: &[Warning]) -> StudyRunError {
    let left: Vec<String> = warnings.iter().map(Warning::text).collect();
    if left.is_empty() {
        return error;
    }
    StudyRunError::Left {
        error: Box::new(error),
        left: left.join(" "),
    }
}

fn notes(cautions: &[Caution]) -> Vec<Warning> {
    let notes = cautions.iter().map(|it| it.as_warning(Severity::Info));
    notes.collect()
}

/// The study with its conclusions, and whether it is less precise than requested.
fn study_of(
    request: &StudyRequest<'_>,
    begun_at: Vec<String>,
    replicates: Vec<StudyReplicate>,
) -> (Study, Option<Warning>) {
    let definition = &request.definition;
    let shape = StudyShape::of(definition);
    let found = analyse(&shape, &replicates);
    let precision = definition.precision;
    let unprecise = precision.filter(|precision| !is_precise(&found.cells, *precision));
    let settings = definition.settings.iter().map(|(key, value)| StudySetting {
        key: key.clone(),
        value: value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
    });
    let factors = shape.factors.iter().zip(&shape.levels);
    let factors = factors.map(|(name, levels)| StudyFactor {
        name: name.clone(),
        levels: levels.clone(),
    });
    let study = Study {
        title: definition.title.clone(),
        environment: Vec::new(),
        measurement: definition.measurement.clone(),
        settings: settings.collect(),
        factors: factors.collect(),
        places: Vec::new(),
        margin: definition.margin,
        begun_at,
        limits: judge(request.limits, &shape, &replicates),
        replicates,
        cells: found.cells,
        comparisons: found.comparisons,
    };
    (study, unprecise.map(not_precise))
}

/// Combinations of levels without any figure, if others have some.
fn without_figures(study: &Study) -> Option<Warning> {
    let has_none = |cell: &&StudyCell| {
        let mut figures = cell.figures.iter();
        cell.replicates > 0 && !figures.any(|it| it.value.value.is_finite())
    };
    let empty = study.cells.iter().filter(has_none);
    let empty: Vec<String> = empty
        .map(|it| format!("every repeat{}", of_cell(study, it)))
        .collect();
    (!empty.is_empty()).then(|| {
        let text = format!(
            "{} failed or was invalid, so there is nothing to compare.",
            empty.join(" and ")
        );
        Warning::invalid(WarningCode::NoFigures, text)
    })
}

/// Whose repeats: `" of writers 16"`, or nothing where no factor varies.
fn of_cell(study: &Study, cell: &StudyCell) -> String {
    let levels = study.factors.iter().zip(&cell.levels);
    let levels: Vec<String> = levels
        .map(|(factor, level)| format!("{} {level}", factor.name))
        .collect();
    match levels.is_empty() {
        true => String::new(),
        false => format!(" of {}", levels.join(", ")),
    }
}

/// Remaining repeats of each combination of levels, if warnings make some invalid.
fn void_replicates(study: &Study) -> Option<Warning> {
    let of_each = || {
        let cells = study.cells.iter();
        cells.map(|it| (it, it.usable.unwrap_or(it.replicates)))
    };
    let is_affected = |(cell, usable): &(&StudyCell, u32)| *usable < cell.replicates;
    let listed: Vec<String> = of_each()
        .filter(|it| is_affected(it) || study.cells.len() <= CELLS_LISTED_MAX)
        .map(|(cell, usable)| {
            let of_cell = of_cell(study, cell);
            format!("{usable} of {} repeats{of_cell}", cell.replicates)
        })
        .collect();
    let needed = PAIRS_MIN as u32;
    let severity = match of_each().any(|(cell, usable)| usable < needed.min(cell.replicates)) {
        true => Severity::Invalid,
        false => Severity::Warning,
    };
    let text = format!(
        "{} are valid. A difference needs {needed} of each.",
        listed.join(" and ")
    );
    let advice = "See why they are invalid, then rerun with more rounds.";
    of_each().any(|it| is_affected(&it)).then(|| Warning {
        severity,
        ..Warning::warn(WarningCode::InvalidRepeats, text).advise(advice)
    })
}

/// Warnings of repeats, each code once. Too few operations in each matter only where there are too
/// few repeats as well.
fn of_replicates(study: &Study) -> Vec<Warning> {
    let replicates = &study.replicates;
    let usable = study.cells.iter().filter_map(|it| it.usable).min();
    let are_enough = usable.is_some_and(|it| it >= PAIRS_MIN as u32);
    let mut found: Vec<(&Warning, usize)> = Vec::new();
    for replicate in replicates {
        let mut codes: Vec<&WarningCode> = Vec::new();
        for warning in &replicate.warnings {
            let is_made_up = are_enough && warning.code == WarningCode::TooFewSamples;
            if is_made_up || codes.contains(&&warning.code) {
                continue;
            }
            codes.push(&warning.code);
            match found.iter_mut().find(|(it, _)| it.code == warning.code) {
                Some((worst, count)) => {
                    *count += 1;
                    if warning.severity > worst.severity {
                        *worst = warning;
                    }
                }
                None => found.push((warning, 1)),
            }
        }
    }
    let all = format_counted(replicates.len() as u64, "repeat");
    let listed = found.into_iter().map(|(warning, count)| {
        let named = match replicates.len() {
            1 => warning.clone(),
            _ => warning.clone().of(format_args!("{count} of {all}")),
        };
        Warning {
            // Figures of an invalid repeat are left out of the study.
            severity: warning.severity.min(Severity::Warning),
            ..named
        }
    });
    listed.collect()
}

fn not_precise(precision: f64) -> Warning {
    Warning::warn(
        WarningCode::StudyNotPrecise,
        format!("Not every result is within {} %.", precision * 100.0),
    )
    .advise("Allow more time (--budget) or repeats (--repeat).")
}
