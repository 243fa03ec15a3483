//! Runs whose programs were killed: kept cell by cell beside the archive, they go on, or are kept
//! as the partial runs that they are.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use archive::Archive;
use host::environment;
use host::interrupt::say_at_the_end;
use lab::cells::{Cells, Resume};
use lab::run_journal::{RunHead, RunJournal};
use results::{Run, SettingOrigin, Setup, Warning, WarningCode};
use study::{Beginning, KilledStudy};
use units::format_counted;

use crate::args::{Command, MeasureCommand, ResumeArgs};
use crate::commands::drive::{resume_alone, resume_run};
use crate::commands::repeat::{Recorded, commanded};
use crate::commands::setup::archive_option;
use crate::commands::study::{StudyInvocation, ready_study, study_journals};
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::written;

/// What the names of the journals of an archive's runs begin with.
fn stem(archive: &Path) -> PathBuf {
    let mut name = archive.as_os_str().to_owned();
    name.push(".unfinished-");
    name.into()
}

/// Keep what a run measures beside the archive until the archive has the run.
pub fn keep(cells: &Cells, setup: &Setup, archive: &Archive) {
    let head = RunHead::new(setup.clone(), environment::capture());
    match RunJournal::create(&stem(archive.path()), head) {
        Ok(journal) => {
            cells.keep_in(journal, Resume::Measuring);
            let (cells, option) = (cells.clone(), archive_option(archive.path()));
            say_at_the_end(move || {
                let kept = cells.kept().filter(|kept| *kept > 0)?;
                let kept = format_counted(kept as u64, "complete result");
                Some(format!(
                    "kept: {kept}. `seekstone runs resume{option}` goes on, `--keep` archives it"
                ))
            });
        }
        Err(error) => output::complain(&format!(
            "note: if killed, this run loses its results: {:#}",
            anyhow::Error::new(error)
        )),
    }
}

/// Say which runs were killed, and what can be done with them.
pub fn offer(archive: &Archive) {
    let left = left_beside(archive.path());
    let Some(last) = left.last() else { return };
    let option = archive_option(archive.path());
    let more = match left.len() {
        1 => String::new(),
        many => {
            let others = many - 1;
            format!(" ({others} more: `seekstone runs resume --list{option}`)")
        }
    };
    output::complain(&format!(
        "note: {}. `seekstone runs resume{option}` continues it, `--keep` archives its results, \
         `--discard` drops them{more}",
        described(last)
    ));
}

/// A killed run that holds a result.
enum KilledRun {
    Run(RunJournal),
    /// A study, or a comparison of targets, has a journal of replicates.
    Study(KilledStudy),
}

impl KilledRun {
    const fn head(&self) -> Option<&RunHead> {
        match self {
            Self::Run(journal) => journal.head.as_ref(),
            Self::Study(study) => match study.asked() {
                Some(asked) => Some(&asked.head),
                None => None,
            },
        }
    }

    fn begun_at(&self) -> &str {
        match self {
            Self::Run(journal) => journal.begun_at(),
            Self::Study(study) => study.begun_at(),
        }
    }

    fn results(&self) -> u64 {
        let results = match self {
            Self::Run(journal) => journal.results(),
            Self::Study(study) => study.replicates(),
        };
        results as u64
    }

    fn discard(self) -> anyhow::Result<()> {
        let is_gone = match self {
            Self::Run(journal) => journal.remove().map(|()| true),
            Self::Study(study) => study.discard(),
        };
        match is_gone.context("it cannot be forgotten")? {
            true => Ok(()),
            false => Err(UsageError(
                "its set-up still has to be undone: resume it, or archive what it measured \
                 with --keep"
                    .into(),
            )
            .into()),
        }
    }
}

/// Killed runs that hold a result, oldest first; the journals of those that hold none are removed.
fn left_beside(archive: &Path) -> Vec<KilledRun> {
    let left = RunJournal::left_at(&stem(archive)).into_iter();
    let (kept, empty): (Vec<_>, Vec<_>) =
        left.partition(|journal| journal.head.is_some() && journal.results() > 0);
    for journal in empty {
        // It stays where the system refuses, and is looked at again next time.
        let _ = journal.remove();
    }
    let studies = KilledStudy::left_at(&study_journals(archive)).into_iter();
    let studies = studies.filter(|it| it.asked().is_some());
    let kept = kept.into_iter().map(KilledRun::Run);
    let mut all: Vec<KilledRun> = kept.chain(studies.map(KilledRun::Study)).collect();
    all.sort_by_key(|it| it.begun_at().to_owned());
    all
}

/// A killed run in words.
fn described(left: &KilledRun) -> String {
    let command = left.head().map_or_else(String::new, |head| {
        let setup = &head.setup;
        let given = setup.settings.iter();
        let targets = given.filter(|it| {
            ["target", "study"].contains(&it.name.as_str()) && it.origin == SettingOrigin::Given
        });
        let targets = targets.flat_map(|it| it.values.iter().map(String::as_str));
        let words: Vec<&str> = [setup.command.as_str()]
            .into_iter()
            .chain(targets)
            .collect();
        format!("`{}`", words.join(" "))
    });
    format!(
        "{command} of {} ended before it was archived, after {}",
        moment(left.begun_at()),
        format_counted(left.results(), "result")
    )
}

/// A time stamp for people: to the second.
fn moment(stamp: &str) -> String {
    let second = stamp.split('.').next().unwrap_or(stamp);
    format!("{} UTC", second.trim_end_matches('Z').replace('T', " "))
}

/// The journal of a run, part of which was replayed: its warnings say so, and one that was only
/// replayed has the environment that it had.
pub fn take_journal(cells: &Cells, run: &mut Run) -> Option<RunJournal> {
    let is_replay_only = cells.is_replay_only();
    let (journal, replayed, failed) = cells.done();
    if let Some(error) = failed {
        output::complain(&format!(
            "note: a kill would have lost some results: {:#}",
            anyhow::Error::new(error)
        ));
    }
    let head = journal.as_ref().and_then(|journal| journal.head.as_ref());
    if let (Some(head), true) = (head, replayed > 0) {
        let begun = moment(&head.environment.started_at);
        let (of, what) = (
            format_counted(replayed as u64, "result"),
            if is_replay_only {
                "these are all its results"
            } else {
                "the rest was measured later, by another process"
            },
        );
        run.warnings.push(Warning::info(
            WarningCode::Resumed,
            format!("This run started at {begun} and was killed after {of}: {what}."),
        ));
        if is_replay_only {
            run.environment = head.environment.clone();
        }
    }
    journal
}

/// Forget a journal whose run is archived.
pub fn remove(journal: Option<RunJournal>) {
    let Some(Err(error)) = journal.map(RunJournal::remove) else {
        return;
    };
    output::complain(&format!("note: {:#}", anyhow::Error::new(error)));
}

/// Leave the journal of a run whose storage did not answer, if it holds a result: it can go on.
pub fn leave(journal: Option<RunJournal>, archive: &Path) {
    let Some(path) = journal.map(|journal| journal.path()) else {
        return;
    };
    // As it is on the disk.
    match RunJournal::open(&path) {
        Ok(journal) if journal.results() > 0 => output::complain(&format!(
            "note: `seekstone runs resume{}` goes on after {}, once the storage answers",
            archive_option(archive),
            format_counted(journal.results() as u64, "complete result")
        )),
        journal => remove(journal.ok()),
    }
}

/// `seekstone runs resume`.
///
/// # Errors
/// When there is no such run, or it cannot go on.
pub fn resume(archive: &Path, args: &ResumeArgs) -> anyhow::Result<Exit> {
    let mut left = left_beside(archive);
    if args.list {
        let lines: Vec<String> = (1_u32..)
            .zip(&left)
            .map(|(number, journal)| format!("{number}  {}", described(journal)))
            .collect();
        if lines.is_empty() {
            return output::print("no run was killed");
        }
        return output::print(&lines.join("\n"));
    }
    let chosen = match args.number {
        None => left.pop(),
        Some(number) => {
            let place = (number as usize)
                .checked_sub(1)
                .filter(|&it| it < left.len());
            place.map(|place| left.swap_remove(place))
        }
    };
    let left_over = chosen.ok_or_else(|| none_such(archive, args.number))?;
    // The others may be resumed meanwhile.
    drop(left);
    if args.discard {
        let what = described(&left_over);
        left_over.discard()?;
        return output::print(&format!("dropped: {what}"));
    }
    let head = left_over
        .head()
        .cloned()
        .context("it does not say which command it belongs to")?;
    if head.program != host::VERSION && !args.keep {
        refuse!(
            "the run was started by version {}, and this is {}. Resume it with that version, or \
             archive what it measured with --keep",
            head.program,
            host::VERSION
        );
    }
    let recorded = Recorded {
        what: "the killed run",
        verb: "resumed",
        setup: &head.setup,
        environment: &head.environment,
        must_be_allowed: !args.keep,
    };
    let path = Some(archive.to_string_lossy().into_owned());
    let (command, setup) = commanded(&recorded, path, &args.again)?;
    let Command::Measure(command) = &command else {
        refuse!("`{}` produces no run", setup.command);
    };
    written::check(&command.measuring().outline().files)?;
    let how = if args.keep {
        Resume::No
    } else {
        Resume::Measuring
    };
    match left_over {
        KilledRun::Run(journal) => resume_run(command.ready(setup)?, journal, how),
        KilledRun::Study(study) => {
            refuse_elsewhere(&study)?;
            // The study opens its journal itself.
            drop(study);
            resume_study(command, setup, how)
        }
    }
}

/// There is no killed run of that number, or none at all.
fn none_such(archive: &Path, number: Option<u32>) -> UsageError {
    UsageError(match number {
        None => {
            "no run was killed: there is nothing to resume (runs of many hosts cannot be resumed)"
                .into()
        }
        Some(number) => {
            let list = format!("seekstone runs resume --list{}", archive_option(archive));
            format!("there is no killed run {number}: see `{list}`")
        }
    })
}

/// Paths of a study begin where it was begun.
fn refuse_elsewhere(study: &KilledStudy) -> Result<(), UsageError> {
    let begun_in = study.asked().map(|it| it.directory.as_path());
    let here = std::env::current_dir().ok();
    match begun_in {
        Some(begun_in) if here.as_deref() != Some(begun_in) => Err(UsageError(format!(
            "it was started in {}, and its paths may be relative to that: resume it from there",
            begun_in.display()
        ))),
        _ => Ok(()),
    }
}

fn resume_study(command: &MeasureCommand, mut setup: Setup, how: Resume) -> anyhow::Result<Exit> {
    let asked = command.measuring().study(&mut setup)?;
    let beginning = match how {
        Resume::Measuring => Beginning::Resume,
        Resume::No => Beginning::Keep,
    };
    resume_alone(ready_study(StudyInvocation { beginning, ..asked }, setup)?)
}
