//! Compares simulated machines with published figures and exact laws.
//!
//! Each experiment runs a procedure of the documents, or of a law, on simulated machines, and
//! judges the figures by a criterion that was fixed before. The command that shows the table and
//! the tests that check it run the same experiments. Everything uses virtual time and fixed seeds,
//! so that figures are the same on every run and machine.

mod census;
mod copying;
mod diskrand;
mod experiment;
mod hand;
mod laws;
mod modern;
mod over_lan;
mod queues;
mod rpt;
mod standard;
mod studies;
mod tapes;
mod together;
mod transfer;
mod unreached;

pub use census::{FigureAccount, PublishedTable, TablePart, published_tables};

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use results::{Validation, ValidationRow, ValidationTable};

use experiment::{Experiment, Figures, Fillers, experiments};

use host::interrupt::Interrupt;
use kinds::measure::MeasureError;
use lab::bench::BenchError;
use lab::laboratory::LaboratoryError;
use vintage::run::ClassicError;

/// The version of the JSON form.
const SCHEMA: u32 = 1;

/// Why validation failed.
#[derive(Debug, thiserror::Error)]
pub enum ValidationError {
    /// There are no figures for that device.
    #[error(
        "nothing was published, and no law is known, of \"{name}\" that could be held against a \
         simulation. There are values for {known}"
    )]
    Unknown {
        /// The name as typed.
        name: String,
        /// Names with figures.
        known: String,
    },
    /// A classic program failed.
    #[error(transparent)]
    Classic(#[from] ClassicError),
    /// A load of users failed.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A trial failed.
    #[error(transparent)]
    Laboratory(#[from] LaboratoryError),
    /// A measurement of a study failed.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A model does not exist.
    #[error(transparent)]
    Sim(#[from] sim::SimError),
    /// The driver failed.
    #[error(transparent)]
    Driver(#[from] engine::DriverError),
    /// An experiment lacks an expected result.
    #[error("{0}")]
    Nothing(String),
}

/// Rows of an experiment.
type Rows = Result<Vec<ValidationRow>, ValidationError>;

/// Fillers of the tables.
const FIGURES: [Fillers<Figures>; 8] = [
    diskrand::FIGURES,
    together::FIGURES,
    transfer::FIGURES,
    over_lan::FIGURES,
    copying::FIGURES,
    tapes::FIGURES,
    rpt::FIGURES,
    modern::FIGURES,
];
const ROWS: [Fillers<Rows>; 5] = [
    standard::ROWS,
    rpt::ROWS,
    queues::ROWS,
    laws::ROWS,
    unreached::ROWS,
];

/// Receives the next table, the number done, and the total.
pub type OnProgress<'a> = &'a mut dyn FnMut(&str, usize, usize);

/// Runs all experiments, or those with a device or machine. Results before a signal are kept.
///
/// # Errors
/// If there is no figure for the device, or an experiment cannot be run.
pub fn validate(
    device: Option<&str>,
    interrupt: &Interrupt,
    on_progress: OnProgress<'_>,
) -> Result<Validation, ValidationError> {
    let device = device.map(units::listed_name);
    let chosen: Vec<&Experiment> = experiments()
        .iter()
        .filter(|it| device.is_none_or(|name| it.devices.contains(&name)))
        .collect();
    if chosen.is_empty() {
        return Err(ValidationError::Unknown {
            name: device.unwrap_or_default().into(),
            known: known().join(", "),
        });
    }
    let mut tables = Vec::new();
    for (experiment, rows) in chosen.iter().zip(rows_of(&chosen, interrupt, on_progress)) {
        let Some(rows) = rows else {
            continue;
        };
        tables.push(ValidationTable {
            title: experiment.title.into(),
            reference: experiment.reference,
            devices: experiment.devices.iter().map(ToString::to_string).collect(),
            method: experiment.method.clone(),
            rows: rows?,
        });
    }
    Ok(Validation {
        schema: SCHEMA,
        device: device.map(str::to_owned),
        tables,
        stopped: interrupt
            .is_raised()
            .map(|signal| format!("stopped by {}", signal.name)),
    })
}

/// Progress of an experiment.
enum ExperimentStep {
    Begun(usize),
    Done(usize, Rows),
}

/// Results of all experiments, run on all processors: `None` if a signal came before its end.
fn rows_of(
    chosen: &[&Experiment],
    interrupt: &Interrupt,
    on_progress: OnProgress<'_>,
) -> Vec<Option<Rows>> {
    let next = AtomicUsize::new(0);
    let work = |sender: &Sender<ExperimentStep>| {
        while interrupt.is_raised().is_none() {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(experiment) = chosen.get(place) else {
                break;
            };
            // The receiver lives until all have ended.
            let _ = sender.send(ExperimentStep::Begun(place));
            let rows = experiment.run(interrupt);
            if interrupt.is_raised().is_none() {
                let _ = sender.send(ExperimentStep::Done(place, rows));
            }
        }
    };
    let mut found: Vec<Option<Rows>> = chosen.iter().map(|_| None).collect();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (sender, steps) = channel();
        for _ in 0..workers {
            let sender = sender.clone();
            scope.spawn(move || work(&sender));
        }
        drop(sender);
        let mut done = 0;
        for step in steps {
            match step {
                ExperimentStep::Begun(place) => {
                    on_progress(chosen[place].title, done, chosen.len());
                }
                ExperimentStep::Done(place, rows) => {
                    found[place] = Some(rows);
                    done += 1;
                }
            }
        }
    });
    found
}

/// Names of devices and machines with figures.
fn known() -> Vec<&'static str> {
    let devices = experiments().iter().flat_map(|it| &it.devices);
    let mut names: Vec<&str> = devices.copied().collect();
    names.sort_unstable();
    names.dedup();
    names
}
