//! docs/documents.md says of each row of the five documents that was once missing, wrong or
//! different what it is now: its commands run, and print what it says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::support::{PROGRAM, Scratch, finish};

/// One line of a table.
struct Row {
    name: String,
    now: String,
    shown_by: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(root().join("docs/documents.md")).expect("the document");
    // The list of published tables has a test of its own.
    let (text, _) = text
        .split_once("## Every published table")
        .expect("the list");
    let lines = text.lines().filter(|line| line.starts_with("| "));
    let rows = lines.filter(|line| !line.starts_with("| row |") && !line.starts_with("| --- |"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, now, shown_by] = cells.as_slice() else {
            panic!("three cells: {line}");
        };
        Row {
            name: (*name).to_owned(),
            now: (*now).to_owned(),
            shown_by: (*shown_by).to_owned(),
        }
    };
    rows.map(row).collect()
}

/// What stands between back ticks.
fn spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_row_has_a_verdict_and_something_that_shows_it() {
    let rows = rows();
    assert!(rows.len() >= 52, "{} rows", rows.len());
    for row in &rows {
        let has_reason = row.now.starts_with("differs: ");
        let is_shown = row.now.starts_with("works") && !row.shown_by.is_empty();
        assert!(has_reason || is_shown, "{}: {}", row.name, row.now);
        for file in spans(&row.shown_by)
            .iter()
            .filter(|it| it.starts_with("crates/"))
        {
            assert!(root().join(file).is_file(), "{}: no file {file}", row.name);
        }
    }
}

#[test]
fn the_commands_of_the_rows_print_what_the_rows_say() {
    let rows = rows();
    let commands: Vec<_> = rows.iter().flat_map(commands).collect();
    assert!(commands.len() >= 30, "{} commands", commands.len());
    // Two at once: some of their time is waiting.
    let (first, second) = commands.split_at(commands.len() / 2);
    let failures: Vec<String> = thread::scope(|scope| {
        let halves = [first, second]
            .map(|half| scope.spawn(|| half.iter().filter_map(failure).collect::<Vec<_>>()));
        let failures = halves.map(|half| half.join().expect("no command hangs"));
        failures.concat()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The commands of a row, each with what it prints.
fn commands(row: &Row) -> Vec<(&str, &str)> {
    let spans = spans(&row.shown_by);
    let commands = (0..spans.len()).filter(|&at| spans[at].starts_with("seekstone "));
    let printed = |at: usize| spans.get(at + 1).copied().unwrap_or_default();
    commands.map(|at| (spans[at], printed(at))).collect()
}

/// What is wrong with a command, if anything is.
fn failure((line, expected): &(&str, &str)) -> Option<String> {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("d")).expect("a directory");
    fs::write(scratch.path("s3"), vec![7; 3_000_000]).expect("a file");
    let mut command = Command::new("sh");
    command.args(["-ec", line]);
    scratch.settle(&mut command);
    let programs = Path::new(PROGRAM).parent().expect("a directory").display();
    command.env("PATH", format!("{programs}:{}", env!("PATH")));
    let ended = finish(command);
    let told = format!("{}{}", ended.stdout, ended.stderr);
    // Exit code 3 is an end, too: a warning voids a number.
    let is_done = matches!(ended.code, Some(0 | 3)) && told.contains(expected);
    (!is_done).then(|| {
        format!(
            "{line}: no {expected:?}, exit code {:?}:\n{told}",
            ended.code
        )
    })
}
