//! The files that a command writes, looked at before anything is measured: none of them may be a
//! file that it reads or measures, and each must be one that can be written.

use std::fs::{self, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use drivers::TargetError;
use sim::SIM_PREFIX;

use crate::args::{Command, Common, DevicesCommand, RunsCommand};
use crate::commands::setup::archive_path;
use crate::exit::UsageError;

/// Standard output.
const STDOUT: &str = "-";

/// A file that will be written, and the option that names it.
pub type Written<'a> = (&'static str, &'a Path);

/// Look at the files of a command. What a study measures is known only when it was read.
///
/// # Errors
/// When one of them would go over a file that the command uses, or cannot be written.
pub fn check_command(command: &Command) -> anyhow::Result<()> {
    let (written, archive, used) = match command {
        Command::Run(args) => of_common(&args.common, [&args.target]),
        Command::Trial(args) => of_common(&args.common, [&args.target]),
        Command::Curve(args) => of_common(&args.common, [&args.target]),
        Command::Rab(args) => of_common(&args.common, args.workload.iter().chain([&args.target])),
        Command::Random(args) => of_common(&args.common, [&args.target]),
        Command::Transactions(args) => {
            let (written, archive, mut used) = of_common(&args.common, [&args.target]);
            used.extend(args.profiles.clone());
            (written, archive, used)
        }
        Command::Transfer(args) => {
            of_common(&args.common, args.beside.iter().chain([&args.target]))
        }
        Command::Files(args) => {
            let (written, archive, mut used) = of_common(&args.common, [&args.target]);
            used.extend(args.device.clone());
            (written, archive, used)
        }
        Command::Time(args) => {
            let (written, archive, mut used) = of_common(&args.common, args.program.first());
            used.extend(args.input.clone());
            (written, archive, used)
        }
        Command::Study(args) => {
            let (mut written, archive, used) =
                of_common(&args.common, args.study.iter().chain(&args.target));
            written.extend(named("--markdown", args.markdown.as_deref()));
            (written, archive, used)
        }
        Command::Positioning(args) => (
            [
                named("--svg", args.svg.as_deref()),
                named("--json", args.json.as_deref()),
            ]
            .concat(),
            None,
            vec![used_path(&args.target)],
        ),
        Command::Inspect(args) => (
            named("--json", args.json.as_deref()),
            None,
            vec![args.target.clone()],
        ),
        Command::Whatif(args) => (
            named("--json", args.json.as_deref()),
            archive_path(args.archive.as_ref()).ok(),
            args.device.iter().map(|it| used_path(it)).collect(),
        ),
        Command::Devices(args) => match &args.command {
            DevicesCommand::Validate(args) => {
                (named("--json", args.json.as_deref()), None, Vec::new())
            }
            _ => return Ok(()),
        },
        Command::Runs(args) => match &args.command {
            RunsCommand::Export { output, .. } => (
                named("--output", Some(output)),
                archive_path(args.archive.as_ref()).ok(),
                Vec::new(),
            ),
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    check(&written, archive.as_deref(), &used)
}

/// Look at files to be written: none may be one of those `used`, the archive, or another of them.
///
/// # Errors
/// When one of them would go over another file, or cannot be written.
pub fn check(
    written: &[Written<'_>],
    archive: Option<&Path>,
    used: &[PathBuf],
) -> anyhow::Result<()> {
    if let Some(archive) = archive
        && let Some(target) = used
            .iter()
            .find(|used| !used.is_dir() && is_same(archive, used))
    {
        let text = format!(
            "the archive {} is the same file as {}, which is read or measured: name another with \
             --archive, or use --no-save",
            archive.display(),
            target.display()
        );
        return Err(UsageError(text).into());
    }
    for (at, (option, path)) in written.iter().enumerate() {
        let also = written[..at].iter().map(|(option, path)| (*path, *option));
        let used = used
            .iter()
            .map(|it| (it.as_path(), "that is read or measured"));
        let archive = archive.iter().map(|it| (*it, "the archive of runs"));
        for (other, what) in also.chain(used).chain(archive) {
            if is_same(path, other) {
                let text = format!(
                    "{option} {} would write over {} ({what}): name another file",
                    path.display(),
                    other.display()
                );
                return Err(UsageError(text).into());
            }
        }
        refuse_used(option, path)?;
    }
    // After all were looked at: trying makes a file for a moment.
    written.iter().try_for_each(|(_, path)| try_writing(path))
}

/// The files that a command writes, the archive, and the files that it uses.
type OfCommand<'a> = (Vec<Written<'a>>, Option<PathBuf>, Vec<PathBuf>);

fn of_common<'a>(
    common: &'a Common,
    targets: impl IntoIterator<Item = &'a String>,
) -> OfCommand<'a> {
    let archive = match common.no_save {
        true => None,
        false => archive_path(common.archive.as_ref()).ok(),
    };
    let used = targets.into_iter().map(|target| used_path(target));
    (
        named("--json", common.json.as_deref()),
        archive,
        used.collect(),
    )
}

/// A file to be written, unless it is none.
pub fn named<'a>(option: &'static str, path: Option<&'a Path>) -> Vec<Written<'a>> {
    let file = path.filter(|path| *path != Path::new(STDOUT));
    file.map(|path| (option, path)).into_iter().collect()
}

/// The file that a target stands for: a model of a user's own has its definition in one.
fn used_path(target: &str) -> PathBuf {
    let definition = target.strip_prefix(SIM_PREFIX);
    let definition = definition.map(|text| text.split_once('?').map_or(text, |(path, _)| path));
    PathBuf::from(definition.unwrap_or(target))
}

/// Whether two names stand for one file, through links too. A file that does not exist yet is
/// told by its directory and its name.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => match (place(one), place(other)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        },
        _ => false,
    }
}

fn place(path: &Path) -> Option<PathBuf> {
    let parent = parent_of(path);
    Some(parent.canonicalize().ok()?.join(path.file_name()?))
}

fn parent_of(path: &Path) -> &Path {
    let parent = path.parent();
    parent
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Storage, and what the system uses as storage, is never written as an output.
fn refuse_used(option: &'static str, path: &Path) -> anyhow::Result<()> {
    let Ok(found) = path.metadata() else {
        return Ok(());
    };
    let what = match () {
        () if found.file_type().is_block_device() => "a block device",
        () if found.is_dir() => "a directory",
        () => {
            return match drivers::refuse_if_file_used(&found, path) {
                // Where the system does not tell, nothing speaks against it.
                Ok(()) | Err(TargetError::Io { .. }) => Ok(()),
                Err(error) => Err(anyhow::Error::new(error).context(option)),
            };
        }
    };
    let text = format!("{option} {} names {what}: name a file", path.display());
    Err(UsageError(text).into())
}

/// Open a file as for writing, and leave everything as it was.
fn try_writing(path: &Path) -> anyhow::Result<()> {
    let before = path.metadata();
    // Pipes and terminals belong to somebody who waits for what comes.
    if before.as_ref().is_ok_and(|found| !found.is_file()) {
        return Ok(());
    }
    let is_new = matches!(&before, Err(error) if error.kind() == ErrorKind::NotFound);
    let opened = OpenOptions::new().append(true).create(is_new).open(path);
    let file = opened.with_context(|| format!("{} cannot be written", path.display()))?;
    if is_new {
        let made = file.metadata().ok();
        remove_empty(path, made.as_ref());
    }
    Ok(())
}

/// Remove the file that was made to see whether it can be.
fn remove_empty(path: &Path, made: Option<&Metadata>) {
    // Behind a link that led nowhere it is the file that goes, not the link.
    let Ok(path) = path.canonicalize() else {
        return;
    };
    let found = path.symlink_metadata().ok();
    let number = |it: &Metadata| (it.dev(), it.ino(), it.len());
    if found.is_some() && found.as_ref().map(number) == made.map(number) {
        // What cannot be removed is an empty file of the name that the user gave.
        let _ = fs::remove_file(path);
    }
}
