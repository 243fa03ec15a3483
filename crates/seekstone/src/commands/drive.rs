//! One way through a run: everything is checked, the archive opened, what killed runs left offered
//! for removal, signals caught; then the command measures, and its run is delivered.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use ::study::StudyStage;
use anyhow::Context as _;
use archive::Archive;
use host::interrupt::Interrupt;
use kinds::stage::{Show, Stage};
use lab::bench::{BenchError, BenchRequest, directory_of};
use lab::cells::{Cells, Resume};
use lab::hosts::Ranks;
use lab::run_journal::RunJournal;
use procedure::{Requirement, verdict};
use results::{Run, Setup, Warning, WarningCode};

use crate::args::Common;
use crate::commands::clean::offer_removal;
use crate::commands::finish::{Delivery, deliver};
use crate::commands::fleet::agreed;
use crate::commands::live::LivePage;
use crate::commands::setup::open_archive;
use crate::commands::unfinished;
use crate::exit::Exit;
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
    /// Where what is measured is kept, against a kill; none where the command does so itself, or
    /// nothing is kept.
    pub cells: Option<Cells>,
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
        Self::on(common, bench, move |looking| looking.watch(measure))
    }

    /// The same, shown in a way of its own.
    pub fn on(
        common: &'a Common,
        bench: &BenchRequest,
        measure: impl FnOnce(&Onlooking<'_>) -> anyhow::Result<(Run, Delivery<'a>)> + 'a,
    ) -> Self {
        Self {
            common,
            goals: common.goals.clone(),
            places: directory_of(&bench.target).into_iter().collect(),
            setup: bench.setup.clone(),
            cells: Some(bench.cells.clone()),
            measure: Box::new(measure),
        }
    }
}

impl Common {
    /// A measurement of a request, which has that target.
    pub fn ready<'a, R: 'a>(
        &'a self,
        request: R,
        bench: fn(&R) -> &BenchRequest,
        measure: fn(&R, &Interrupt, Show<'_>) -> Result<Run, BenchError>,
    ) -> Ready<'a> {
        let target = bench(&request).clone();
        Ready::new(self, &target, move |interrupt, show| {
            measure(&request, interrupt, show)
        })
    }
}

/// From what was checked to a run, and to what its command does with it.
pub type Measure<'a> = Box<dyn FnOnce(&Onlooking<'_>) -> anyhow::Result<(Run, Delivery<'a>)> + 'a>;

/// Who looks on, and who may stop it.
pub struct Onlooking<'a> {
    /// Raised by a signal.
    pub interrupt: &'a Interrupt,
    /// Whether nobody wants to see how far it is.
    pub is_quiet: bool,
    /// Whether the report is to hold everything.
    pub all: bool,
    /// A page that follows it.
    pub live: Option<&'a RefCell<LivePage>>,
    /// Where the run will be archived.
    pub archive: Option<&'a Path>,
}

impl<'a> Onlooking<'a> {
    /// Measure, show how far it is, and report the run.
    ///
    /// # Errors
    /// Those of `measure`.
    pub fn watch<'d, E: Into<anyhow::Error>>(
        &self,
        measure: impl FnOnce(&Interrupt, Show<'_>) -> Result<Run, E>,
    ) -> anyhow::Result<(Run, Delivery<'d>)> {
        let mut watcher = self.watcher(Progress::new(self.is_quiet));
        let measured = measure(self.interrupt, &mut |stage| watcher.show(stage));
        watcher.finish();
        Ok((measured.map_err(Into::into)?, Delivery::report(self.all)))
    }

    /// Shows how far it is: on the terminal as `progress` does, and on the page that follows it.
    pub const fn watcher(&self, progress: Progress) -> StageObserver<'a> {
        StageObserver {
            progress,
            live: self.live,
        }
    }
}

/// Shows stages to all who look on.
pub struct StageObserver<'a> {
    progress: Progress,
    live: Option<&'a RefCell<LivePage>>,
}

impl StageObserver<'_> {
    pub fn show(&mut self, stage: &Stage<'_>) {
        self.progress.show(stage);
        if let Some(live) = self.live {
            live.borrow_mut().show(stage);
        }
    }

    /// Show where a study is.
    pub fn show_study(&mut self, stage: &StudyStage) {
        self.progress.show_study(stage);
        if let Some(live) = self.live {
            live.borrow_mut().show_study(stage);
        }
    }

    /// Take it away from the terminal.
    pub fn finish(self) {
        self.progress.finish();
    }
}

/// Measure what is ready, and deliver the run.
///
/// # Errors
/// When nothing could be measured, or the run cannot be delivered.
pub fn drive(ready: Ready<'_>) -> anyhow::Result<Exit> {
    let archive = opened(&ready)?;
    if let Some(archive) = &archive {
        if !ready.common.has_no_notes {
            unfinished::offer(archive);
        }
        // Of what several hosts measure together nothing goes on.
        if let (None, Some(cells)) = (&ready.common.ranks, &ready.cells) {
            unfinished::keep(cells, &ready.setup, archive);
        }
    }
    measured(ready, archive, false)
}

/// Go on with a run whose program was killed, or take what it measured for all that it is.
///
/// # Errors
/// Those of [`drive`].
pub fn resume_run(ready: Ready<'_>, journal: RunJournal, resume: Resume) -> anyhow::Result<Exit> {
    let archive = opened(&ready)?;
    if let Some(cells) = &ready.cells {
        cells.keep_in(journal, resume);
    }
    measured(ready, archive, true)
}

/// The same for a run that has a journal of its own.
///
/// # Errors
/// Those of [`drive`].
pub fn resume_alone(ready: Ready<'_>) -> anyhow::Result<Exit> {
    let archive = opened(&ready)?;
    measured(ready, archive, true)
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
    common.ranks.as_ref().is_none_or(Ranks::leads)
}

/// Offer to remove what killed runs left. On several hosts before any of them makes something:
/// where their mounts share no locks, rank 0 would take it for that.
fn offer_removals(ready: &Ready<'_>) -> anyhow::Result<()> {
    let common = ready.common;
    let offer = || {
        let mut places = ready.places.iter();
        places.try_for_each(|place| offer_removal(place, common.yes))
    };
    match &common.ranks {
        None => offer(),
        Some(ranks) if ranks.leads() => agreed(ranks, ranks.beating(offer)),
        Some(ranks) => agreed(ranks, Ok(())),
    }
}

fn measured(ready: Ready<'_>, archive: Option<Archive>, is_resumed: bool) -> anyhow::Result<Exit> {
    let common = ready.common;
    let leads = leads(common);
    offer_removals(&ready)?;
    // Not before: until here nothing was made, and Ctrl-C at a question must end the program.
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let title = live_title(&ready.setup);
    let live = common.live.filter(|_| leads);
    let live = live.map(|at| LivePage::start(at, &title));
    let live = live.transpose()?.map(RefCell::new);
    let measured = (ready.measure)(&Onlooking {
        interrupt: &interrupt,
        is_quiet: common.quiet || !leads,
        all: common.all,
        live: live.as_ref(),
        archive: archive.as_ref().map(Archive::path),
    });
    let live = live.map(RefCell::into_inner);
    let cells = ready.cells.unwrap_or_default();
    let (mut run, delivery) = match measured {
        Ok(measured) => measured,
        Err(error) => {
            live.into_iter().for_each(|live| live.end(None));
            let (journal, replayed, _) = cells.done();
            // A run that went on may do so once more.
            unfinished::remove(journal.filter(|_| replayed == 0 && !is_resumed));
            // MPICH's launcher may end with the code of any rank that it has stopped.
            let is_served = Exit::of_error(&error) == Exit::Done;
            return match interrupt.is_raised() {
                Some(_) if is_served => Ok(Exit::Failed),
                _ => Err(error),
            };
        }
    };
    run.environment.hosts = common
        .ranks
        .as_ref()
        .map_or_else(Vec::new, Ranks::described);
    let judged: Vec<_> = ready.goals.iter().map(|goal| goal.judge(&run)).collect();
    // Behind limits on changes.
    run.goals.extend(judged);
    let journal = unfinished::take_journal(&cells, &mut run);
    run.verdict = Some(verdict(&run));
    let path = archive.as_ref().map(|it| it.path().to_owned());
    let delivered = deliver(&mut run, archive, common, delivery);
    live.into_iter().for_each(|live| live.end(Some(&run)));
    // What could not be written elsewhere is in the archive.
    if delivered.is_ok() || run.id.is_some() {
        let hung = |warning: &Warning| warning.code == WarningCode::Hung;
        match path.filter(|_| run.warnings.iter().any(hung)) {
            Some(archive) => unfinished::leave(journal, &archive),
            None => unfinished::remove(journal),
        }
    }
    delivered
}

/// What a page that follows a run is titled: the command, and what it measures.
fn live_title(setup: &Setup) -> String {
    let measured = ["target", "study", "files"].map(|name| setup.value(name));
    let measured = measured.into_iter().flatten().next().unwrap_or_default();
    format!("{} {measured}", setup.command)
        .trim_end()
        .to_owned()
}
