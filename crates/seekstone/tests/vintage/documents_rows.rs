//! docs/documents.md says of each row of the five documents that was once missing, wrong or
//! different what it is now, and which command shows it: here the commands run, and must print the
//! figures and sentences that the rows name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::support::{PROGRAM, Scratch, finish, side_by_side, skipped};
use crate::terminal::Terminal;

/// One line of a table.
struct Row {
    name: String,
    now: String,
    shown_by: String,
}

/// A command of a row, and what is to be seen.
#[derive(Debug)]
struct Evidence<'a> {
    command: &'a str,
    is_on_terminal: bool,
    is_nightly: bool,
    steps: Vec<Step<'a>>,
}

#[derive(Debug)]
enum Step<'a> {
    Prints(&'a str),
    Key(&'a str),
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

impl Row {
    /// A command names the program; what stands between back ticks behind it is printed by it, or
    /// a key that is pressed.
    fn evidence(&self) -> Vec<Evidence<'_>> {
        let mut found: Vec<Evidence<'_>> = Vec::new();
        let parts: Vec<&str> = self.shown_by.split('`').collect();
        for pair in parts.chunks_exact(2) {
            let (before, span) = (pair[0], pair[1]);
            if span.contains("seekstone ") {
                found.push(Evidence {
                    command: span,
                    is_on_terminal: before.contains("on a terminal"),
                    is_nightly: before.contains("nightly"),
                    steps: Vec::new(),
                });
                continue;
            }
            let steps = &mut found.last_mut().expect("a command first").steps;
            steps.push(match before.trim_end().ends_with("key") {
                true => Step::Key(span),
                false => Step::Prints(span),
            });
        }
        found
    }
}

/// A label tells nothing; a figure or a sentence does.
fn is_fact(step: &Step<'_>) -> bool {
    let Step::Prints(text) = step else {
        return false;
    };
    text.contains(|c: char| c.is_ascii_digit()) || text.split_whitespace().count() >= 3
}

#[test]
fn every_row_has_a_verdict_and_a_command_that_prints_its_fact() {
    let rows = rows();
    assert!(rows.len() >= 58, "{} rows", rows.len());
    for Row { name, now, .. } in &rows {
        let has_verdict = now.starts_with("differs: ") || now.starts_with("works");
        assert!(has_verdict, "{name}: {now}");
    }
    for row in &rows {
        let evidence = row.evidence();
        assert!(!evidence.is_empty(), "{}: no command", row.name);
        for it in evidence {
            let has_fact = it.steps.iter().any(is_fact);
            assert!(has_fact, "{}: {it:?} shows no fact", row.name);
        }
    }
}

#[test]
fn the_commands_of_the_rows_print_what_the_rows_say() {
    check(false);
}

/// Studies of this machine, each for tens of seconds.
#[test]
#[ignore = "nightly: the rows of docs/documents.md that say so"]
fn the_nightly_commands_of_the_rows_print_what_the_rows_say() {
    check(true);
}

fn check(is_nightly: bool) {
    let rows = rows();
    let evidence: Vec<Evidence<'_>> = rows.iter().flat_map(Row::evidence).collect();
    let due: Vec<&Evidence<'_>> = evidence
        .iter()
        .filter(|it| it.is_nightly == is_nightly)
        .collect();
    let failures = Mutex::new(Vec::new());
    side_by_side(&due, |it| {
        let failure = it.failure();
        failures.lock().expect("no panic").extend(failure);
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

impl Evidence<'_> {
    /// What is wrong with a command, if anything is.
    fn failure(&self) -> Option<String> {
        let scratch = Scratch::new();
        if self.command.contains("over-memory") && scratch.is_in_memory() {
            skipped(self.command, "the files of tests are in memory");
            return None;
        }
        fs::create_dir(scratch.path("d")).expect("a directory");
        fs::write(scratch.path("s3"), vec![7; 3_000_000]).expect("a file");
        if self.is_on_terminal {
            return self.failure_on_terminal(&scratch);
        }
        let mut command = Command::new("sh");
        command.args(["-ec", self.command]);
        scratch.settle(&mut command);
        command.env("PATH", path());
        let ended = finish(command);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        let lacks = |step: &&Step<'_>| match step {
            Step::Prints(text) => !in_one_line(&told).contains(&in_one_line(text)),
            Step::Key(_) => true,
        };
        let missing: Vec<&Step<'_>> = self.steps.iter().filter(lacks).collect();
        // Exit code 3 is an end, too: a warning voids a number.
        let is_done = matches!(ended.code, Some(0 | 3)) && missing.is_empty();
        (!is_done).then(|| {
            format!(
                "{}: no {missing:?}, exit code {:?}:\n{told}",
                self.command, ended.code
            )
        })
    }

    fn failure_on_terminal(&self, scratch: &Scratch) -> Option<String> {
        if !Terminal::is_possible() {
            skipped(self.command, "no script or timeout");
            return None;
        }
        let line = format!("PATH={}; {}", path(), self.command);
        let mut terminal = Terminal::open(scratch, &scratch.path(""), &line);
        for step in &self.steps {
            match step {
                Step::Key(key) => terminal.press(key),
                Step::Prints(text) => {
                    let told = terminal.read_until(text);
                    if !told.contains(text) {
                        return Some(format!("{}: no {text:?}:\n{told}", self.command));
                    }
                }
            }
        }
        let (code, told) = terminal.end();
        (code != Some(0)).then(|| format!("{}: exit code {code:?}:\n{told}", self.command))
    }
}

/// Where the program is, before all else.
fn path() -> String {
    let programs = Path::new(PROGRAM).parent().expect("a directory").display();
    format!("{programs}:{}", env!("PATH"))
}

/// Columns of a table are as wide as their widest value, and sentences are wrapped.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
