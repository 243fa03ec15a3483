//! docs/reference/measurements.md says what the kinds say of themselves, and nothing else.

use std::fmt::Write as _;

use kinds::measure::{Default, KINDS, Kind, TargetUse};
use results::metrics_of;

const DOCUMENT: &str = include_str!("../../../../docs/reference/measurements.md");

/// The tables of a kind as the document has them.
fn tables(kind: &Kind) -> String {
    let mut text =
        String::from("| setting | value | default | what it does |\n|---|---|---|---|\n");
    for setting in kind.settings {
        let default = match setting.default {
            Default::Required => "must be given".to_owned(),
            Default::Nothing => "not given".to_owned(),
            Default::Is(value) => format!("`{value}`"),
        };
        let (name, form, meaning) = (setting.name, setting.form, setting.meaning);
        writeln!(text, "| `{name}` | {form} | {default} | {meaning} |").expect("a text");
    }
    text.push_str("\n| reading | unit | what it is |\n|---|---|---|\n");
    for reading in kind.readings {
        let (name, unit, meaning) = (reading.name, reading.unit.name(), reading.meaning);
        writeln!(text, "| {name} | {unit} | {meaning} |").expect("a text");
    }
    text
}

/// What each kind does with each sort of target.
fn targets() -> String {
    let mut text =
        String::from("| kind | directory | file or device | model |\n|---|---|---|---|\n");
    for kind in KINDS {
        let of = kind.targets;
        let [directory, named, model] = [of.directory, of.named, of.model].map(words);
        writeln!(text, "| {} | {directory} | {named} | {model} |", kind.name).expect("a text");
    }
    text
}

fn words(of: TargetUse) -> String {
    match of {
        TargetUse::OwnFiles => "yes".into(),
        TargetUse::Read => "read".into(),
        TargetUse::Overwritten => "with `--overwrite`".into(),
        TargetUse::ReadOrOverwritten => "read, or written with `--overwrite`".into(),
        TargetUse::Elsewhere(what) => format!("not used: {what}"),
        TargetUse::Refused(why) => format!("no: {why}"),
    }
}

#[test]
fn the_targets_of_every_kind_are_documented() {
    let expected = targets();
    let is_there = DOCUMENT.contains(&format!("\n{expected}\n"));
    assert!(
        is_there,
        "docs/reference/measurements.md lacks:\n{expected}"
    );
}

/// The part of the document about a kind.
fn section(name: &str) -> &'static str {
    let head = format!("\n## `{name}`");
    let start = DOCUMENT
        .find(&head)
        .unwrap_or_else(|| panic!("no section on {name}"));
    let rest = &DOCUMENT[start + head.len()..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

#[test]
fn every_kind_is_documented_as_it_is() {
    let mut lacks = String::new();
    for kind in KINDS {
        let (expected, found) = (tables(kind), section(kind.name));
        let is_said = found.starts_with(&format!(": {}\n", kind.about));
        if !is_said || !found.contains(&expected) {
            let (name, about) = (kind.name, kind.about);
            writeln!(lacks, "\n## `{name}`: {about}\n\n{expected}").expect("a text");
        }
    }
    assert!(
        lacks.is_empty(),
        "docs/reference/measurements.md lacks, or has otherwise:\n{lacks}"
    );
}

#[test]
fn goals_may_be_on_what_a_kind_gives() {
    for kind in KINDS {
        // Commands of these names measure otherwise.
        let of_study = format!("study {}", kind.name);
        let name = match kind.name {
            "positioning" | "transfer" => of_study.as_str(),
            other => other,
        };
        let given = kind.readings.iter().map(|it| (it.name.to_owned(), it.unit));
        let (mut given, mut known) = (given.collect::<Vec<_>>(), metrics_of(name));
        given.sort_by(|one, other| one.0.cmp(&other.0));
        known.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(given, known, "{name}");
    }
}

#[test]
fn nothing_else_is_documented() {
    let rows = DOCUMENT
        .lines()
        .filter(|line| line.starts_with("| `"))
        .count();
    let settings = KINDS.iter().map(|kind| kind.settings.len());
    assert_eq!(rows, settings.sum::<usize>());
    let sections = DOCUMENT
        .lines()
        .filter(|line| line.starts_with("## `"))
        .count();
    assert_eq!(sections, KINDS.len());
}
