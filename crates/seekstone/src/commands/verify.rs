//! `seekstone verify`: reads back what a run wrote, by the state that it kept.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use host::interrupt::Interrupt;
use kinds::stage::Stage;
use lab::state_file::{Checked, StateFile, StateFileError};
use serde_json::{Value, json};
use units::{Bytes, Duration, format_counted};
use verify::{Class, ExpectedDurability, VerifyMismatch};

use crate::args::{AfterChoice, VerifyArgs};
use crate::exit::{Exit, UsageError};
use crate::output::{self, Output};
use crate::progress::Progress;

/// Findings that are printed, a line each; JSON has the first hundred.
const LISTED_MAX: usize = 20;

/// Read all targets of a state back.
///
/// # Errors
/// When the state or a target cannot be read.
pub fn verify(args: &VerifyArgs) -> anyhow::Result<Exit> {
    let state = StateFile::read(&args.state).map_err(as_usage)?;
    let targets = targets(args, &state)?;
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let mut checked = Checked::default();
    let trust = match args.after {
        AfterChoice::Kill => ExpectedDurability::Acknowledged,
        AfterChoice::PowerLoss => ExpectedDurability::Flushed,
    };
    let begun = std::time::Instant::now();
    let mut progress = Progress::new(args.quiet);
    for (number, path) in &targets {
        let title = format!("reading back {}", path.display());
        let mut watch = |done| {
            let elapsed = Duration::from_nanos(begun.elapsed().as_nanos() as u64);
            progress.show(&Stage {
                title: &title,
                done,
                elapsed,
                ..Stage::default()
            });
            interrupt.is_raised().is_none()
        };
        let done = state.check((*number, path), trust, &mut checked, &mut watch);
        progress.finish();
        done?;
    }
    let is_whole = interrupt.is_raised().is_none();
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&document(args, &targets, &checked, is_whole));
        path.write(&format!("{}\n", text.context("JSON")?).into())?;
    }
    if !args.json.as_ref().is_some_and(Output::is_stdout) {
        output::print(&report(args, &targets, &checked, is_whole))?;
    }
    Ok(match checked.findings.total() == 0 && is_whole {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

/// The targets by their numbers, where they are now.
fn targets(args: &VerifyArgs, state: &StateFile) -> Result<Vec<(u32, PathBuf)>, UsageError> {
    let known = state
        .targets()
        .map(|(number, path)| (number, path.to_owned()));
    let mut known: Vec<(u32, PathBuf)> = known.collect();
    if !args.targets.is_empty() {
        if args.targets.len() != known.len() {
            let names: Vec<String> = known.iter().map(|it| it.1.display().to_string()).collect();
            refuse!(
                "--target is given {}, and the state has {}: {}",
                format_counted(args.targets.len() as u64, "time"),
                format_counted(known.len() as u64, "target"),
                names.join(", ")
            );
        }
        for ((_, path), now) in known.iter_mut().zip(&args.targets) {
            path.clone_from(now);
        }
    }
    Ok(known)
}

/// A file that is no state was named wrongly.
fn as_usage(error: StateFileError) -> anyhow::Error {
    let is_usage = match &error {
        StateFileError::Damaged(_) => true,
        StateFileError::Io { why, .. } => why.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    };
    match is_usage {
        true => UsageError(error.to_string()).into(),
        false => error.into(),
    }
}

fn path_of(targets: &[(u32, PathBuf)], finding: &VerifyMismatch) -> PathBuf {
    let found = targets.iter().find(|it| it.0 == finding.target);
    found.map_or_else(PathBuf::new, |it| it.1.clone())
}

fn report(
    args: &VerifyArgs,
    targets: &[(u32, PathBuf)],
    checked: &Checked,
    is_whole: bool,
) -> String {
    let findings = &checked.findings;
    let mut lines: Vec<String> = Vec::new();
    let read = Bytes(checked.bytes);
    lines.push(match (findings.total(), is_whole) {
        (_, false) => format!("Stopped after {read}: the rest was not read."),
        (0, true) if checked.bytes == 0 => "Nothing had been written.".into(),
        (0, true) => format!("No errors: {read} read back, {}.", held(args.after)),
        (_, true) => format!("WRONG DATA: {findings} found in {read}."),
    });
    let listed = findings.first().iter().take(LISTED_MAX);
    lines.extend(listed.map(|it| format!("  {}: {it}", path_of(targets, it).display())));
    let more = findings.total().saturating_sub(LISTED_MAX as u64);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines.join("\n")
}

const fn held(after: AfterChoice) -> &'static str {
    match after {
        AfterChoice::Kill => "and every acknowledged write is there",
        AfterChoice::PowerLoss => "and every flushed write is there",
    }
}

fn document(
    args: &VerifyArgs,
    targets: &[(u32, PathBuf)],
    checked: &Checked,
    is_whole: bool,
) -> Value {
    let text = |path: &Path| path.display().to_string();
    let one = |it: &VerifyMismatch| {
        json!({
            "class": it.class,
            "target": text(&path_of(targets, it)),
            "offset": it.offset,
            "bytes": it.bytes,
            "expected": it.expected,
            "found": it.found,
        })
    };
    let findings = &checked.findings;
    let counts = Class::ALL.map(|class| (class.name().to_owned(), findings.count(class).into()));
    json!({
        "state": text(&args.state),
        "after": match args.after {
            AfterChoice::Kill => "kill",
            AfterChoice::PowerLoss => "power-loss",
        },
        "targets": targets.iter().map(|it| text(&it.1)).collect::<Vec<String>>(),
        "whole": is_whole,
        "bytes": checked.bytes,
        "findings": findings.total(),
        "classes": Value::Object(counts.into_iter().collect()),
        "first": findings.first().iter().map(one).collect::<Vec<Value>>(),
    })
}
