//! No storage of a behaviour that is known to mislead gives a wrong number in silence.
//!
//! `cargo test -p seekstone --features all --test measure traps:: -- --nocapture` prints the table,
//! `make simulations` writes it into docs/traps.md.

#![allow(clippy::print_stdout, reason = "the table is a product of these tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::support::side_by_side;
use crate::support::traps::models::TRAPS;
use crate::support::traps::{Sprung, Trap, TrapCommand};

/// What writes the document anew.
const WRITE: &str = "SEEKSTONE_WRITE_SIMULATIONS";
/// The head of the table.
const HEAD: &str = "\
| trap | command | truth | printed (95 % CI) | holds it | named on the screen | elsewhere |
| --- | --- | --- | --- | --- | --- | --- |
";
const OPEN: &str = "<!-- traps -->\n";
const CLOSE: &str = "<!-- end of traps -->";
/// Replications at night. Of ten intervals of 95 % more than three miss in 1 of 1000 cases.
const SEEDS: u64 = 10;
const SILENT_MOST: usize = 3;

/// Every trap before every command, in the order of the table.
fn cells() -> Vec<(&'static Trap, TrapCommand)> {
    let all = TRAPS.iter();
    all.flat_map(|trap| trap.commands.iter().map(move |command| (trap, *command)))
        .collect()
}

/// What comes of every cell with each seed.
fn sprung(seeds: std::ops::RangeInclusive<u64>) -> Vec<Vec<Sprung>> {
    let cells = cells();
    let found = Mutex::new(vec![Vec::new(); cells.len()]);
    let each = |index| seeds.clone().map(move |seed| (index, seed));
    let work: Vec<(usize, u64)> = (0..cells.len()).flat_map(each).collect();
    side_by_side(&work, |(index, seed)| {
        let (trap, command) = cells[*index];
        let sprung = trap.sprung(command, *seed);
        found.lock().expect("no panic")[*index].push(sprung);
    });
    found.into_inner().expect("no panic")
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/traps.md")
}

/// The document with `table` in place of what stood there.
fn renewed(text: &str, table: &str) -> String {
    let (before, rest) = text.split_once(OPEN).expect("a place for the table");
    let (_, after) = rest.split_once(CLOSE).expect("its end");
    format!("{before}{OPEN}{table}{CLOSE}{after}")
}

#[test]
fn no_trap_gives_a_wrong_number_in_silence() {
    let mut table = HEAD.to_owned();
    let mut silent = Vec::new();
    for ((trap, _), found) in cells().into_iter().zip(sprung(1..=1)) {
        let line = format!("| {} | {} |\n", trap.name, found[0].line());
        silent.extend(found[0].is_silent().then(|| line.clone()));
        table.push_str(&line);
    }
    print!("{table}");
    assert!(silent.is_empty(), "wrong in silence:\n{}", silent.concat());
    let text = fs::read_to_string(document()).expect("docs/traps.md");
    let found = renewed(&text, &table);
    if std::env::var_os(WRITE).is_some() {
        fs::write(document(), found).expect("a document that can be written");
        return;
    }
    let pairs = text.lines().zip(found.lines());
    let differing: Vec<_> = pairs
        .filter(|(ours, theirs)| ours != theirs)
        .take(5)
        .collect();
    assert!(
        text == found,
        "docs/traps.md says what the commands do not: run `make simulations` and look at the \
         difference\n{differing:#?}"
    );
}

#[test]
#[ignore = "takes minutes: part of the nightly tests"]
fn hardly_any_seed_gives_a_wrong_number_in_silence() {
    let mut failed = Vec::new();
    println!("| trap | command | of {SEEDS}: holds the truth | named on the screen | silent |");
    for ((trap, command), found) in cells().into_iter().zip(sprung(1..=SEEDS)) {
        let count = |is: fn(&Sprung) -> bool| found.iter().filter(|it| is(it)).count();
        let silent = count(Sprung::is_silent);
        let line = format!(
            "| {} | {} | {} | {} | {silent} |",
            trap.name,
            command.name(),
            count(Sprung::holds_truth),
            count(Sprung::is_named)
        );
        println!("{line}");
        failed.extend((silent > SILENT_MOST).then_some(line));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
