//! The files that a command writes, looked at before anything is measured: none of them may be a
//! file that it reads or measures, or one that the archive needs beside it, and each must be one
//! that can be written.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use units::{TargetName, listed_name};

use crate::args::{
    Command, Common, DevicesCommand, Force, Outputs, RunsArgs, RunsCommand, WhatIfArgs,
};
use crate::commands::setup::archive_path;
use crate::commands::study::STUDY_JOURNAL;
use crate::exit::UsageError;
use crate::forms::form_named;
use crate::output::{Output, OutputLocation, place_of};

/// A file that will be written, and the option that names it.
pub type Written<'a> = (&'static str, &'a Output);

/// The files that a command touches.
#[derive(Debug, Default)]
pub struct CommandFiles<'a> {
    /// What it writes.
    pub written: Vec<Written<'a>>,
    /// Where runs are kept.
    pub archive: Option<PathBuf>,
    /// What it reads or measures.
    pub used: Vec<PathBuf>,
    /// What may be replaced.
    pub force: Force,
}

impl<'a> CommandFiles<'a> {
    /// Those that every measuring command has, and what it reads or measures.
    pub fn of(common: &'a Common, targets: impl IntoIterator<Item = &'a TargetName>) -> Self {
        let archive = match common.no_save {
            true => None,
            false => archive_path(common.archive.as_ref()).ok(),
        };
        Self {
            archive,
            ..Self::in_forms(&common.outputs)
        }
        .and_used(targets.into_iter().map(used_path))
    }

    /// The forms of a run.
    fn in_forms(outputs: &'a Outputs) -> Self {
        let asked = outputs.asked();
        let written = asked.filter_map(|(form, it)| Some((form.option.as_ref()?.flag, it)));
        Self {
            written: written.collect(),
            force: outputs.force.clone(),
            ..Self::default()
        }
    }

    /// With an output, unless it is none.
    pub fn and(mut self, option: &'static str, output: Option<&'a Output>) -> Self {
        self.written.extend(output.map(|output| (option, output)));
        self
    }

    /// With further files that are read or measured.
    pub fn and_used(mut self, used: impl IntoIterator<Item = PathBuf>) -> Self {
        self.used.extend(used);
        self
    }

    /// Of a command that measures nothing, with one output.
    fn only(option: &'static str, output: Option<&'a Output>, force: &Force) -> Self {
        let files = Self {
            force: force.clone(),
            ..Self::default()
        };
        files.and(option, output)
    }

    /// With an archive that is read.
    fn and_archive(mut self, asked: Option<&PathBuf>) -> Self {
        self.archive = archive_path(asked).ok();
        self
    }
}

/// Look at the files of a command that does not measure.
///
/// # Errors
/// When one of them would go over a file that the command uses, or cannot be written.
pub fn check_command(command: &Command) -> anyhow::Result<()> {
    check(&match command {
        Command::Verify(args) => CommandFiles::only("--json", args.json.as_ref(), &args.force)
            .and_used([args.state.clone()])
            .and_used(args.targets.clone()),
        Command::Inspect(args) => CommandFiles::only("--json", args.json.as_ref(), &args.force)
            .and("--job", args.job.as_ref())
            .and_used([args.target.clone()]),
        Command::Whatif(args) => of_whatif(args),
        Command::Profile(args) => CommandFiles::only("--json", args.json.as_ref(), &args.force)
            .and("--output", args.output.as_ref())
            .and("--iolog", args.iolog.as_ref())
            .and("--blkparse", args.blkparse.as_ref())
            .and_used([args.trace.clone()]),
        Command::Record(args) => CommandFiles::only("--output", Some(&args.output), &args.force),
        Command::Devices(args) => match &args.command {
            DevicesCommand::Validate(args) => {
                CommandFiles::only("--json", args.json.as_ref(), &args.force)
            }
            DevicesCommand::List | DevicesCommand::Show { .. } => return Ok(()),
        },
        Command::Watch(args) => match args.no_save {
            true => return Ok(()),
            false => CommandFiles::default()
                .and_archive(args.archive.as_ref())
                .and_used(args.targets.iter().map(used_path)),
        },
        Command::Runs(args) => match of_runs(args) {
            Some(files) => files,
            None => return Ok(()),
        },
        // These look on their way, name their files themselves, or write to the terminal alone.
        Command::Measure(_)
        | Command::Rpt(_)
        | Command::Diskmbps(_)
        | Command::Diskrand(_)
        | Command::Together(_)
        | Command::Transact(_)
        | Command::Classic(_)
        | Command::Ping(_)
        | Command::Wire(_)
        | Command::Serve(_)
        | Command::Clean(_)
        | Command::Fleet(_)
        | Command::Completions(_)
        | Command::Man(_) => return Ok(()),
    })
}

/// The files of a command of the archive, where it has any.
fn of_runs(args: &RunsArgs) -> Option<CommandFiles<'_>> {
    Some(match &args.command {
        RunsCommand::Export {
            output,
            force,
            facts,
            ..
        } => CommandFiles::only("--output", Some(output), force)
            .and_archive(args.archive.as_ref())
            .and_used(facts.facts.iter().cloned()),
        RunsCommand::Import { file } => CommandFiles::default()
            .and_archive(args.archive.as_ref())
            .and_used([file.clone()]),
        RunsCommand::Compare(it) => CommandFiles::only("--html", it.html.as_ref(), &it.force)
            .and_archive(args.archive.as_ref())
            .and_used(it.facts.facts.iter().cloned()),
        // A repeat looks as the command that it repeats.
        RunsCommand::List { json, force, .. } => {
            CommandFiles::only("--json", json.as_ref(), force).and_archive(args.archive.as_ref())
        }
        RunsCommand::Show { outputs, facts, .. } => CommandFiles::in_forms(outputs)
            .and_archive(args.archive.as_ref())
            .and_used(facts.facts.iter().cloned()),
        RunsCommand::Repeat(_)
        | RunsCommand::Resume(_)
        | RunsCommand::Merge { .. }
        | RunsCommand::Delete { .. } => return None,
    })
}

fn of_whatif(args: &WhatIfArgs) -> CommandFiles<'_> {
    CommandFiles::only("--json", args.json.as_ref(), &args.force)
        .and_archive(args.archive.as_ref())
        .and_used(args.device.iter().map(used_path))
}

/// Look at files: none that is written may be one of those used, the archive, or another of them.
/// Those that may be written are opened.
///
/// # Errors
/// When one of them would go over another file, or cannot be written.
pub fn check(files: &CommandFiles<'_>) -> anyhow::Result<()> {
    let written = files.written.iter().filter(|(_, it)| !it.is_stdout());
    let written: Vec<&Written<'_>> = written.collect();
    let mut to_stdout = files.written.iter().filter(|(_, it)| it.is_stdout());
    if let (Some((one, _)), Some((other, _))) = (to_stdout.next(), to_stdout.next()) {
        refuse!("{one} - and {other} - both mean standard output. Name a file for one");
    }
    if let Some(archive) = &files.archive {
        check_archive(archive, &files.used)?;
    }
    for (at, (option, output)) in written.iter().enumerate() {
        let path = output.path();
        let also = written[..at]
            .iter()
            .map(|(option, it)| (it.path(), *option));
        let used = files.used.iter();
        let used = used.map(|it| (it.as_path(), "which is read or measured"));
        let archive = files.archive.iter();
        let archive = archive.map(|it| (it.as_path(), "the archive of runs"));
        for (other, what) in also.chain(used).chain(archive) {
            if is_same(path, other) {
                refuse!(
                    "{option} {} would write over {} ({what}). Name another file",
                    path.display(),
                    other.display()
                );
            }
        }
        if let Some(archive) = files.archive.iter().find(|it| is_beside(path, it)) {
            refuse!(
                "{option} {} is a name that the archive {} needs. Name another file",
                path.display(),
                archive.display()
            );
        }
    }
    for (option, output) in &written {
        let form = form_named(option.trim_start_matches('-'));
        if let Some(why) = form.and_then(|it| it.mismatch(output.path())) {
            refuse!("{option}: {why}");
        }
    }
    // After all were looked at: some wait for what is opened, and see it.
    let mut written = written.iter();
    written.try_for_each(|(option, output)| output.prepare(option, &files.force))
}

/// The archive, and what it has beside it, is nothing that is measured.
fn check_archive(archive: &Path, used: &[PathBuf]) -> Result<(), UsageError> {
    let advice = "name another with --archive, or use --no-save";
    for used in used.iter().filter(|used| !used.is_dir()) {
        let (archive, shown) = (archive, used.display());
        if is_same(archive, used) {
            refuse!(
                "the archive {} is the same file as {shown}, which is read or measured: {advice}",
                archive.display(),
            );
        }
        if is_beside(used, archive) {
            refuse!(
                "the archive {} needs the name of {shown}, which is read or measured: \
                 {advice}",
                archive.display(),
            );
        }
    }
    Ok(())
}

/// The file that a target stands for: a model of a user's own has its definition in one.
fn used_path(target: &TargetName) -> PathBuf {
    let definition = target.model().map(listed_name);
    let definition = definition.map(|text| text.split_once('?').map_or(text, |(path, _)| path));
    definition.map_or_else(|| target.into(), PathBuf::from)
}

/// Whether two names stand for one file, through links too. A file that does not exist yet is
/// told by its directory and its name.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => match (place_of(one), place_of(other)) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        },
        _ => false,
    }
}

/// Whether `path` is what the archive has, or may come to have, beside it.
fn is_beside(path: &Path, archive: &Path) -> bool {
    let Ok(OutputLocation::Name { directory, name }) = place_of(archive) else {
        return false;
    };
    let archive = directory.join(&name);
    if archive::side_files(&archive)
        .iter()
        .any(|side| is_same(path, side))
    {
        return true;
    }
    let Ok(OutputLocation::Name {
        directory: own,
        name: asked,
    }) = place_of(path)
    else {
        return false;
    };
    let mut journals = name.into_encoded_bytes();
    journals.extend_from_slice(STUDY_JOURNAL.as_bytes());
    own == directory && asked.as_encoded_bytes().starts_with(&journals)
}
