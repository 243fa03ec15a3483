//! One way through a run: everything is checked, the archive opened, what killed runs left offered
//! for removal, signals caught; then the command measures, and its run is delivered.

use std::path::PathBuf;

use anyhow::Context as _;
use host::interrupt::Interrupt;
use kinds::check_up::Show;
use lab::bench::directory_of;
use lab::hosts::Party;
use procedure::Requirement;
use results::{Run, Setup};

use crate::args::{Command, Common};
use crate::commands::clean::offer_removal;
use crate::commands::finish::deliver;
use crate::commands::offers;
use crate::commands::runs::show;
use crate::commands::setup::open_archive;
use crate::commands::{curve, files, rab, random, run, time, transactions, transfer, trial};
use crate::exit::{Exit, UsageError};
use crate::progress::Progress;

/// Files that a run may have open at once, with some to spare.
const FILES_NEEDED: u64 = 16;
/// Memory that every command takes, in bytes, with some to spare: what a limit on data refuses
/// later ends the program without a word.
const MEMORY_NEEDED: u64 = 8 << 20;

/// A measurement whose options were found to go together; nothing was made yet.
pub struct Ready<'a> {
    /// What all commands share.
    pub common: &'a Common,
    /// What figures are required to be.
    pub goals: Vec<Requirement>,
    /// Directories in which killed runs may have left something.
    pub places: Vec<PathBuf>,
    /// Measures.
    pub measure: Measure<'a>,
}

impl<'a> Ready<'a> {
    /// A measurement of one target that shows how far it is.
    pub fn new<E: Into<anyhow::Error>>(
        common: &'a Common,
        target: &str,
        measure: impl FnOnce(&Interrupt, Show<'_>) -> Result<Run, E> + 'a,
    ) -> Self {
        Self {
            common,
            goals: common.goals.clone(),
            places: directory_of(target).into_iter().collect(),
            measure: Box::new(move |looking| looking.watch(measure)),
        }
    }
}

/// From what was checked to a run.
pub type Measure<'a> = Box<dyn FnOnce(&Onlooking<'_>) -> anyhow::Result<Run> + 'a>;

/// Who looks on, and who may stop it.
pub struct Onlooking<'a> {
    /// Raised by a signal.
    pub interrupt: &'a Interrupt,
    /// Whether nobody wants to see how far it is.
    pub is_quiet: bool,
}

impl Onlooking<'_> {
    /// Measure, and show how far it is.
    ///
    /// # Errors
    /// Those of `measure`.
    pub fn watch<E: Into<anyhow::Error>>(
        &self,
        measure: impl FnOnce(&Interrupt, Show<'_>) -> Result<Run, E>,
    ) -> anyhow::Result<Run> {
        let mut progress = Progress::new(self.is_quiet);
        let measured = measure(self.interrupt, &mut |stage| progress.show(stage));
        progress.finish();
        measured.map_err(Into::into)
    }
}

/// The measurement that a command asks for.
///
/// # Errors
/// When its options do not go together, or the command measures in another way, or not at all.
pub fn ready(command: &Command, setup: Setup) -> anyhow::Result<Ready<'_>> {
    offers::check(command)?;
    match command {
        Command::Run(args) => run::ready(args, setup),
        Command::Trial(args) => trial::ready(args, setup),
        Command::Curve(args) => curve::ready(args, setup),
        Command::Rab(args) => rab::ready(args, setup),
        Command::Random(args) => random::ready(args, setup),
        Command::Transfer(args) => transfer::ready(args, setup),
        Command::Transactions(args) => transactions::ready(args, setup),
        Command::Files(args) => files::ready(args, setup),
        Command::Time(args) => time::ready(args, setup),
        _ => Err(UsageError(format!("`{}` gives no run of its own", setup.command)).into()),
    }
}

/// Measure what is ready, and deliver the run.
///
/// # Errors
/// When nothing could be measured, or the run cannot be delivered.
pub fn drive(ready: Ready<'_>) -> anyhow::Result<Exit> {
    let common = ready.common;
    host::limits::check_budget(FILES_NEEDED, MEMORY_NEEDED)?;
    // Other ranks than the first keep nothing, and show nothing.
    let leads = common.party.as_ref().is_none_or(Party::leads);
    let archive = if leads { open_archive(common)? } else { None };
    for place in ready.places.iter().filter(|_| leads) {
        offer_removal(place, common.yes)?;
    }
    // Not before: until here nothing was made, and Ctrl-C at a question must end the program.
    let interrupt = Interrupt::install().context("signals cannot be caught")?;
    let mut run = (ready.measure)(&Onlooking {
        interrupt: &interrupt,
        is_quiet: common.quiet || !leads,
    })?;
    run.goals = ready.goals.iter().map(|goal| goal.judge(&run)).collect();
    deliver(&mut run, archive, common, |run| show(run, common.all))
}
