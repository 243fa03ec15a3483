//! `cargo xtask tidy`: layers, banned calls, lengths, names of types and of targets, words of
//! names and for users, and documents that name what exists, every warning among them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::bench_build::check_first_build;
use crate::house_words::house_words;
use crate::layers::{
    ALONE, BANNED, ORDER, PURE, PURE_BUT_RUNS, REAL_WORLD, STAMPS, UNSAFE, WALL_CLOCK,
};
use crate::metrics;
use crate::readers::readers;
use crate::schema;
use crate::source::{Source, root, sources};
use crate::target_names::target_names;
use crate::type_names::type_names;
use crate::warnings::warnings;
use crate::words::words;

const FILE_LINES_MAX: usize = 600;
const LINE_COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
/// Marks of unfinished work, written apart so that this file does not carry them.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

/// Check everything, and name every fault at once.
pub fn tidy() -> Result<()> {
    let sources = sources()?;
    let mut faults = Vec::new();
    for source in &sources {
        lengths(source, &mut faults);
        unfinished(source, &mut faults);
        if is_pure(source) && source.is_product() {
            purity(source, &mut faults);
        }
        if !UNSAFE.contains(&source.krate.as_str()) && source.is_product() {
            no_unsafe(source, &mut faults);
        }
        if source.krate != "xtask" && source.is_product() {
            wall_clock(source, &mut faults);
        }
    }
    layers(&mut faults)?;
    documents(&sources, &mut faults)?;
    type_names(&sources, &mut faults);
    house_words(&sources, &mut faults);
    target_names(&sources, &mut faults);
    warnings(&mut faults)?;
    words(&sources, &mut faults)?;
    readers(&sources, &mut faults)?;
    schema::check(&mut faults)?;
    metrics::check(&mut faults);
    check_first_build(&mut faults)?;
    if faults.is_empty() {
        println!("tidy: {} files in order", sources.len());
        return Ok(());
    }
    for fault in &faults {
        println!("{fault}");
    }
    bail!("{} places are not in order", faults.len())
}

fn lengths(source: &Source, faults: &mut Vec<String>) {
    let name = source.path.display();
    let lines: Vec<&str> = source.text.lines().collect();
    if lines.len() > FILE_LINES_MAX {
        faults.push(format!(
            "{name}: {} lines, at most {FILE_LINES_MAX}",
            lines.len()
        ));
    }
    for (index, line) in lines.iter().enumerate() {
        if line.chars().count() > LINE_COLUMNS_MAX {
            faults.push(format!(
                "{name}:{}: longer than {LINE_COLUMNS_MAX} columns",
                index + 1
            ));
        }
    }
    for (first, length) in functions(&lines) {
        if length > FUNCTION_LINES_MAX {
            faults.push(format!(
                "{name}:{}: a function of {length} lines, at most {FUNCTION_LINES_MAX}",
                first + 1
            ));
        }
    }
}

/// First line and length of each function, by its indentation: rustfmt puts the closing brace of an
/// item in the column of its first word.
fn functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let starts = [
            "fn ",
            "pub fn ",
            "pub(crate) fn ",
            "pub(super) fn ",
            "const fn ",
            "pub const fn ",
            "unsafe fn ",
            "pub unsafe fn ",
        ];
        let is_one_line = code.trim_end().ends_with(['}', ';']);
        if is_one_line || !starts.iter().any(|start| code.starts_with(start)) {
            continue;
        }
        let indent = line.len() - code.len();
        let closing = format!("{}}}", " ".repeat(indent));
        let end = lines[index..]
            .iter()
            .position(|line| line.trim_end() == closing);
        if let Some(length) = end {
            found.push((index, length + 1));
        }
    }
    found
}

fn unfinished(source: &Source, faults: &mut Vec<String>) {
    for (index, line) in source.text.lines().enumerate() {
        if UNFINISHED.iter().any(|mark| line.contains(mark)) {
            faults.push(format!(
                "{}:{}: unfinished work",
                source.path.display(),
                index + 1
            ));
        }
    }
}

/// Whether the same input must give the same output here.
fn is_pure(source: &Source) -> bool {
    let is_run = || {
        let parts = source.path.iter().filter_map(|part| part.to_str());
        parts
            .into_iter()
            .any(|part| part == "run" || part == "run.rs")
    };
    let krate = source.krate.as_str();
    PURE.contains(&krate) || (PURE_BUT_RUNS.contains(&krate) && !is_run())
}

fn purity(source: &Source, faults: &mut Vec<String>) {
    for (number, line) in source.product_lines() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (banned, why) in BANNED {
            if line.contains(banned) {
                faults.push(format!(
                    "{}:{number}: `{banned}` {why}, and the crate is pure",
                    source.path.display()
                ));
            }
        }
    }
}

fn wall_clock(source: &Source, faults: &mut Vec<String>) {
    if STAMPS.iter().any(|it| source.path.ends_with(it)) {
        return;
    }
    for (number, line) in source.product_lines() {
        if let Some(name) = WALL_CLOCK.iter().find(|it| line.contains(**it)) {
            faults.push(format!(
                "{}:{number}: `{name}` may be set meanwhile: measure with a monotonic clock, or \
                 add the file to STAMPS in xtask/src/layers.rs",
                source.path.display()
            ));
        }
    }
}

fn no_unsafe(source: &Source, faults: &mut Vec<String>) {
    if source.krate == "xtask" {
        return;
    }
    for (number, line) in source.product_lines() {
        let code = line.trim_start();
        if !code.starts_with("//") && (code.contains("unsafe {") || code.contains("unsafe fn")) {
            faults.push(format!(
                "{}:{number}: `unsafe` belongs into sys, mpi and drivers alone",
                source.path.display()
            ));
        }
    }
}

fn layers(faults: &mut Vec<String>) -> Result<()> {
    let folders: BTreeSet<String> = std::fs::read_dir(root().join("crates"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let known: BTreeSet<String> = ORDER.iter().map(|name| (*name).to_owned()).collect();
    for name in folders.symmetric_difference(&known) {
        faults.push(format!(
            "crates/{name}: the folder and the list of layers differ"
        ));
    }
    for (place, name) in ORDER
        .iter()
        .enumerate()
        .filter(|(_, name)| folders.contains(**name))
    {
        let path = root().join("crates").join(name).join("Cargo.toml");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let manifest: toml::Table = text.parse().with_context(|| path.display().to_string())?;
        let Some(dependencies) = manifest.get("dependencies").and_then(toml::Value::as_table)
        else {
            continue;
        };
        for used in dependencies.keys() {
            let used_place = ORDER.iter().position(|other| other == used);
            if used_place.is_some_and(|used_place| used_place >= place) {
                faults.push(format!("crates/{name} uses {used}, which is not below it"));
            }
            if PURE.contains(name) && REAL_WORLD.contains(&used.as_str()) {
                faults.push(format!("crates/{name} is pure and uses {used}"));
            }
            for (library, owner) in ALONE {
                if used == library && name != owner {
                    faults.push(format!("crates/{name} uses {library}; only {owner} may"));
                }
            }
        }
    }
    Ok(())
}

/// README and ARCHITECTURE name what exists: every crate, and no file that is not there.
fn documents(sources: &[Source], faults: &mut Vec<String>) -> Result<()> {
    let read = |name: &str| {
        std::fs::read_to_string(root().join(name)).with_context(|| format!("reading {name}"))
    };
    let architecture = read("ARCHITECTURE.md")?;
    for name in ORDER {
        if !architecture.contains(&format!("`{name}`")) {
            faults.push(format!("ARCHITECTURE.md does not name crate `{name}`"));
        }
    }
    let documents = [
        "README.md",
        "ARCHITECTURE.md",
        "GLOSSARY.md",
        "CONTRIBUTING.md",
        "docs/README.md",
        "docs/statistics.md",
        "docs/invariants.md",
        "docs/side-doors.md",
        "docs/decisions/changes.md",
    ];
    for name in documents {
        for path in paths_named_in(&read(name)?) {
            if !root().join(&path).exists() {
                faults.push(format!("{name} names {path}, which does not exist"));
            }
        }
    }
    let main = sources
        .iter()
        .find(|source| source.path == Path::new("crates/seekstone/src/args.rs"));
    let index = read("docs/README.md")?;
    for command in commands_in(main.map_or("", |source| &source.text)) {
        if !index.contains(&format!("seekstone {command}")) {
            faults.push(format!(
                "docs/README.md does not name the command `seekstone {command}`"
            ));
        }
    }
    Ok(())
}

/// Words in back quotes and link targets that look like paths of ours.
fn paths_named_in(text: &str) -> BTreeSet<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    let linked = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    quoted
        .chain(linked)
        .map(|word| word.trim_end_matches('/'))
        .filter(|word| {
            ["docs/", "crates/", "xtask/", ".ci/"]
                .iter()
                .any(|top| word.starts_with(top))
                && !word.contains(['*', '<', ' ', '{'])
        })
        .map(|word| word.split(['#', ':']).next().unwrap_or(word).to_owned())
        .collect()
}

/// The names of the variants of `enum Command` and `enum MeasureCommand`, as typed on the command
/// line.
fn commands_in(args: &str) -> Vec<String> {
    let heads = ["pub enum Command {", "pub enum MeasureCommand {"].into_iter();
    let bodies = heads.filter_map(|head| args.split(head).nth(1)?.split("\n}").next());
    bodies.flat_map(variants_in).collect()
}

fn variants_in(body: &str) -> Vec<String> {
    let lines = body.lines().map(str::trim);
    // What is skipped stands for commands that are data, and what is flattened for those of another
    // enumeration.
    lines
        .clone()
        .zip(lines.skip(1))
        .filter(|(before, line)| {
            !before.starts_with("#[command(") && line.starts_with(char::is_uppercase)
        })
        .filter_map(|(_, line)| line.split(['(', ',', ' ']).next())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_by_their_braces() {
        let text =
            "impl A {\n    fn one() {\n        x\n    }\n}\nfn two() {}\npub fn three() {\n}";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(functions(&lines), [(1, 3), (6, 2)]);
    }

    #[test]
    fn paths_are_found_in_quotes_and_links() {
        let found =
            paths_named_in("see `docs/a.md` and [b](docs/b.md#part), not `a.md` or `docs/*`");
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["docs/a.md", "docs/b.md"]
        );
    }

    #[test]
    fn commands_are_read_off_the_definition() {
        let text = "pub enum Command {\n    #[command(flatten)]\n    Measure(MeasureCommand),\n    \
                    /// Doc.\n    Man,\n}\npub enum MeasureCommand {\n    Run(RunArgs),\n}\n";
        assert_eq!(commands_in(text), ["man", "run"]);
    }
}
