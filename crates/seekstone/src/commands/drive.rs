//! One way through a run: everything is checked, the archive opened, what killed runs left offered
//! for removal, signals caught; then the command measures, and its run is delivered.

use std::cell::RefCell;
use std::path::PathBuf;

use anyhow::Context as _;
use archive::Archive;
use host::interrupt::Interrupt;
use kinds::check_up::Show;
use lab::bench::{BenchRequest, directory_of};
use lab::cells::{Cells, GoOn};
use lab::hosts::Party;
use lab::run_journal::RunJournal;
use procedure::Requirement;
use results::{Run, Setup};

use crate::args::{Command, Common};
use crate::commands::clean::offer_removal;
use crate::commands::finish::deliver;
use crate::commands::live::Live;
use crate::commands::offers;
use crate::commands::runs::show;
use crate::commands::setup::open_archive;
use crate::commands::{
    curve, files, rab, random, run, time, transactions, transfer, trial, unfinished,
};
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
    /// All settings as resolved, with the seed.
    pub setup: Setup,
    /// Where what is measured is kept, against a kill.
    pub cells: Cells,
    /// Measures.
    pub measure: Measure<'a>,
}

impl<'a> Ready<'a> {
    /// A measurement of one target that shows how far it is.
    pub fn new<E: Into<anyhow::Error>>(
        common: &'a Common,
        bench: &BenchRequest,
        measure: impl FnOnce(&Interrupt, Show<'_>) -> Result<Run, E> + 'a,
    ) -> Self {
        Self {
            common,
            goals: common.goals.clone(),
            places: directory_of(&bench.target).into_iter().collect(),
            setup: bench.setup.clone(),
            cells: bench.cells.clone(),
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
    /// A page that follows it.
    pub live: Option<&'a RefCell<Live>>,
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
        let measured = measure(self.interrupt, &mut |stage| {
            progress.show(stage);
            if let Some(live) = self.live {
                live.borrow_mut().show(stage);
            }
        });
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

/// Measure what is ready, and deliver the run; `name` is what a page that follows it is titled.
///
/// # Errors
/// When nothing could be measured, or the run cannot be delivered.
pub fn drive(ready: Ready<'_>, name: &str) -> anyhow::Result<Exit> {
    let archive = opened(&ready)?;
    if let Some(archive) = &archive {
        unfinished::offer(archive);
        // Of what several hosts measure together nothing goes on.
        if ready.common.party.is_none() {
            unfinished::keep(&ready.cells, &ready.setup, archive);
        }
    }
    measured(ready, archive, name, false)
}

/// Go on with a run whose program was killed, or take what it measured for all that it is.
///
/// # Errors
/// Those of [`drive`].
pub fn go_on(
    ready: Ready<'_>,
    name: &str,
    journal: RunJournal,
    go_on: GoOn,
) -> anyhow::Result<Exit> {
    let archive = opened(&ready)?;
    ready.cells.keep_in(journal, go_on);
    measured(ready, archive, name, true)
}

/// The archive, once it is known that there is room for a run.
fn opened(ready: &Ready<'_>) -> anyhow::Result<Option<Archive>> {
    host::limits::check_budget(FILES_NEEDED, MEMORY_NEEDED)?;
    // Other ranks than the first keep nothing, and show nothing.
    match leads(ready.common) {
        true => open_archive(ready.common),
        false => Ok(None),
    }
}

/// Whether this process has the run: always, unless a launcher started several.
fn leads(common: &Common) -> bool {
    common.party.as_ref().is_none_or(Party::leads)
}

fn measured(
    ready: Ready<'_>,
    archive: Option<Archive>,
    name: &str,
    is_resumed: bool,
) -> anyhow::Result<Exit> {
    let common = ready.common;
    let leads = leads(common);
    for place in ready.places.iter().filter(|_| leads) {
        offer_removal(place, common.yes)?;
    }
    // Not before: until here nothing was made, and Ctrl-C at a question must end the program.
    let interrupt = Interrupt::install().context("signals cannot be caught")?;
    let live = common.live.map(|at| Live::start(at, name));
    let live = live.transpose()?.map(RefCell::new);
    let measured = (ready.measure)(&Onlooking {
        interrupt: &interrupt,
        is_quiet: common.quiet || !leads,
        live: live.as_ref(),
    });
    let live = live.map(RefCell::into_inner);
    let cells = ready.cells;
    let mut run = match measured {
        Ok(run) => run,
        Err(error) => {
            live.into_iter().for_each(|live| live.end(None));
            let (journal, told, _) = cells.done();
            // A run that went on may do so once more.
            unfinished::remove(journal.filter(|_| told == 0 && !is_resumed));
            return Err(error);
        }
    };
    run.goals = ready.goals.iter().map(|goal| goal.judge(&run)).collect();
    let journal = unfinished::told(&cells, &mut run);
    let delivered = deliver(&mut run, archive, common, |run| show(run, common.all));
    live.into_iter().for_each(|live| live.end(Some(&run)));
    // What could not be written elsewhere is in the archive.
    if delivered.is_ok() || run.id.is_some() {
        unfinished::remove(journal);
    }
    delivered
}
