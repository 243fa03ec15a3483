//! `seekstone clean`, and the offer that every measuring command makes: killed runs leave a work
//! directory behind, the directory of a study's set-ups, a data file that was not finished, or one
//! that was just being removed, all named and removed on demand.

use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use drivers::{ClosedDirectory, StaleDirectory, find_closed, find_stale};
use kinds::measure::MeasureError;
use kinds::measure::s3::BucketLeftovers;
use lab::left_over::data_files;
use study::LeftScratch;
use units::{Bytes, TargetName, format_counted};

use crate::args::CleanArgs;
use crate::exit::{Exit, UsageError, missing_is_usage};
use crate::output;

/// What is said of what stays.
const KEPT: &str = "Kept. `seekstone clean --yes` in that directory removes it.";

/// List and remove what killed runs left in a directory.
///
/// # Errors
/// When the directory cannot be listed, or something cannot be removed.
pub fn clean(args: &CleanArgs) -> anyhow::Result<Exit> {
    if let Some(TargetName::Bucket(bucket)) = args.directory.to_str().map(TargetName::from) {
        return clean_bucket(&bucket, args);
    }
    if args.ca.is_some() {
        refuse!("--ca is for the server of a bucket: leave it out");
    }
    let stale = find_stale(&args.directory).map_err(|it| missing_is_usage(it.into()))?;
    let closed = find_closed(&args.directory)?;
    let data = data_files(&args.directory);
    let studies = LeftScratch::find(&args.directory);
    let is_nothing = stale.is_empty() && data.is_empty() && studies.is_empty();
    if is_nothing && !closed.is_empty() {
        return Err(unseen(&closed));
    }
    if is_nothing {
        return output::print(&format!(
            "{}: nothing left here by killed runs",
            args.directory.display()
        ));
    }
    remove_each(stale, args.yes)?;
    for left in studies {
        remove_set_ups(left, args.yes)?;
    }
    for file in data {
        let path = file.path.clone();
        output::complain(&format!(
            "A killed program left the file {} behind: {}.",
            path.display(),
            Bytes(file.bytes)
        ));
        if args.yes || agrees()? {
            let removed = file.remove();
            removed.with_context(|| format!("cannot remove {}", path.display()))?;
            output::complain(&format!("Removed {}.", path.display()));
        } else {
            output::complain(KEPT);
        }
    }
    if closed.is_empty() {
        return Ok(Exit::Done);
    }
    Err(unseen(&closed))
}

/// List and remove what killed runs left in a bucket.
fn clean_bucket(bucket: &str, args: &CleanArgs) -> anyhow::Result<Exit> {
    let left = BucketLeftovers::look(bucket, args.ca.as_deref()).map_err(|error| {
        let text = error.to_string();
        match error {
            MeasureError::Usage(_) => UsageError(text).into(),
            _ => anyhow::anyhow!(text),
        }
    })?;
    if left.found.is_empty() {
        return output::print(&format!("{bucket}: nothing left here by killed runs"));
    }
    for one in &left.found {
        let (name, objects) = (&one.name, format_counted(one.objects, "object"));
        if let Some(user) = &one.used_by {
            output::complain(&format!(
                "Kept {name} ({objects}): {user} may still use it."
            ));
            continue;
        }
        output::complain(&format!(
            "A killed run (process {} on {}) left {name} behind: {} in {objects}.",
            one.pid,
            one.host,
            Bytes(one.bytes),
        ));
        if args.yes || agrees()? {
            let removed = left.remove(one);
            removed.map_err(|error| anyhow::anyhow!(error.to_string()))?;
            output::complain(&format!("Removed {name}."));
        } else {
            output::complain(&format!(
                "Kept. `seekstone clean {bucket} --yes` removes it."
            ));
        }
    }
    Ok(Exit::Done)
}

/// What could not be looked into is not said to be nothing.
fn unseen(closed: &[ClosedDirectory]) -> anyhow::Error {
    let broken = closed
        .iter()
        .find(|it| it.why.kind() != ErrorKind::PermissionDenied);
    if let Some(ClosedDirectory { path, why }) = broken {
        return anyhow::anyhow!(
            "cannot read {}, which a killed run may have left: {why}. Check the file system, then \
             run `seekstone clean` again",
            path.display()
        );
    }
    let names: Vec<String> = closed
        .iter()
        .map(|it| it.path.display().to_string())
        .collect();
    anyhow::anyhow!(
        "no permission to read {}, which a killed run may have left. Run `seekstone clean` \
         as its owner, or as root",
        names.join(", ")
    )
}

/// Name what a killed study left, with what was set up and not taken down.
fn remove_set_ups(left: LeftScratch, yes: bool) -> anyhow::Result<()> {
    let path = left.path.clone();
    output::complain(&match left.pid {
        Some(pid) => format!(
            "The killed study {} (process {pid}) left {} behind: {} in {}.",
            left.study,
            path.display(),
            Bytes(left.bytes),
            format_counted(left.files, "file"),
        ),
        None => format!(
            "A study that was killed at once left {} behind, which is empty.",
            path.display()
        ),
    });
    for undo in left.undo.iter().rev() {
        output::complain(&format!(
            "Not run: {} ({}). The study runs it when started again. To run it by hand:\n{}",
            undo.what,
            undo.place,
            undo.line()
        ));
    }
    if yes || agrees()? {
        let removed = left.remove();
        removed.with_context(|| format!("cannot remove {}", path.display()))?;
        output::complain(&format!("Removed {}.", path.display()));
    } else {
        output::complain(KEPT);
    }
    Ok(())
}

/// Name what killed runs left in `directory`, and offer to remove it.
///
/// # Errors
/// When something that was to be removed cannot be.
pub fn offer_removal(directory: &Path, yes: bool) -> anyhow::Result<()> {
    // A directory that cannot be listed is reported by what follows.
    remove_each(find_stale(directory).unwrap_or_default(), yes)
}

fn remove_each(stale: Vec<StaleDirectory>, yes: bool) -> anyhow::Result<()> {
    for directory in stale {
        let path = directory.path.clone();
        output::complain(&match directory.pid {
            Some(pid) => format!(
                "A killed run (process {pid}) left {} behind: {} in {}.",
                path.display(),
                Bytes(directory.bytes),
                format_counted(directory.files, "file"),
            ),
            None => format!(
                "A run that was killed at once left {} behind, which is empty.",
                path.display()
            ),
        });
        if yes || agrees()? {
            directory.remove()?;
            output::complain(&format!("Removed {}.", path.display()));
        } else {
            output::complain(KEPT);
        }
    }
    Ok(())
}

/// Ask at the terminal; without one the answer is no.
fn agrees() -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }
    let _ = write!(std::io::stderr(), "Remove it? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
