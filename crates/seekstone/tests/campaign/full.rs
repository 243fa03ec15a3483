//! A full disk under everything that is written beside a measurement: each form of output, the
//! archive, an import. What was there stays whole, and what is new is whole or absent.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::bounded::run;
use crate::cases::REPLAY;
use crate::scaled;
use crate::support::storage::{FileSystem, fill};
use crate::support::{Ended, Scratch, finish};
use crate::table::Table;

const TRIAL: &str = "trial sim:mm1?mean=100us --duration 50ms -q --seed 1";
/// Each form, with what makes it.
const OUTPUTS: [(&str, &str); 20] = [
    ("json", TRIAL),
    ("csv", TRIAL),
    ("markdown", TRIAL),
    ("html", TRIAL),
    ("openmetrics", TRIAL),
    ("influx", TRIAL),
    ("svg", "positioning --rounds 20 --seed 1 -q"),
    (
        "iolog",
        "trial . --duration 50ms --size 4MiB --reserve 0 -q",
    ),
    (
        "verify-state",
        "trial . --duration 50ms --size 4MiB --reserve 0 -q --writes 50% --verify",
    ),
    ("output", "runs export latest"),
    ("json", "runs list"),
    ("html", "runs compare 1 1"),
    ("json", "inspect trace"),
    ("job", "inspect trace"),
    ("json", "profile trace"),
    ("output", "profile trace"),
    ("iolog", "profile trace"),
    ("blkparse", "profile trace"),
    (
        "output",
        "fio --name=a --filename=sim:mm1?mean=100us&size=64MiB --size=1M --rw=randread \
         --number_ios=200",
    ),
    (
        "write_lat_log",
        "fio --name=a --filename=sim:mm1?mean=100us&size=64MiB --size=1M --rw=randread \
         --number_ios=9000",
    ),
];

/// A scratch directory with a run in its archive, and a file system with no byte to spare.
fn filled(test: &str) -> Option<(Scratch, FileSystem)> {
    let scratch = Scratch::new();
    ran(&scratch, TRIAL, &[]).check(&[TRIAL], 0, "");
    fs::write(scratch.path("trace"), REPLAY.files[0].1).expect("a trace");
    let made = FileSystem::tmpfs(test, &scratch, 1)?;
    fs::write(made.root.join("mine"), "of the user").expect("a file");
    Some((scratch, made))
}

fn ran(scratch: &Scratch, line: &str, more: &[&str]) -> Ended {
    let words: Vec<&str> = line.split_whitespace().collect();
    finish(scratch.seekstone([&words[..], more].concat()))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let mut names: Vec<String> = entries
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_leaves_no_part_of_an_output() {
    let test = "a_full_disk_leaves_no_part_of_an_output";
    let mut table = Table::new("full");
    for (option, line) in OUTPUTS {
        let Some((scratch, made)) = filled(test) else {
            return;
        };
        let new = made.root.join("new");
        let words: Vec<&str> = line.split_whitespace().collect();
        let given = format!("--{option}={}", new.display());
        let command = || scratch.seekstone([&words[..], &[&given]].concat());
        let mut faults = Vec::new();
        // An earlier content stays as it was. Of logs and states there is no earlier one.
        let is_replaced = !["iolog", "verify-state", "write_lat_log"].contains(&option);
        if is_replaced {
            faults.extend(run(command()).fault(&[0, 3]));
        }
        let before = fs::read(&new).ok();
        fill(&made.root);
        let listed = names(&made.root);
        let outcome = run(command());
        faults.extend(outcome.fault(&[0, 1, 2, 3]));
        if is_replaced && before.is_some() && fs::read(&new).ok() != before {
            let is_whole = matches!(outcome.code, Some(0 | 3));
            if !is_whole {
                faults.push("the earlier content is altered".to_owned());
            }
        }
        if names(&made.root) != listed && outcome.code == Some(1) && is_replaced {
            faults.push(format!("{listed:?} became {:?}", names(&made.root)));
        }
        if fs::read(made.root.join("mine")).ok().as_deref() != Some(b"of the user") {
            faults.push("a file of the user is altered".to_owned());
        }
        table.row(&format!("--{option}"), words[0], &faults);
    }
    table.finish();
}

/// What is wrong with an archive that has these runs.
fn archive_faults(path: &Path, runs: i64) -> Vec<String> {
    let looked = Connection::open(path).and_then(|database| {
        let text: String = database.query_row("pragma integrity_check", [], |row| row.get(0))?;
        let count: i64 = database.query_row("select count(*) from runs", [], |row| row.get(0))?;
        Ok((text, count))
    });
    match looked {
        Ok((text, count)) if text == "ok" && count >= runs => Vec::new(),
        other => vec![format!("the archive is not what it was: {other:?}")],
    }
}

#[test]
fn a_full_disk_under_the_archive_loses_no_run() {
    let test = "a_full_disk_under_the_archive_loses_no_run";
    let mut table = Table::new("full");
    for (name, line) in [
        ("run saved", TRIAL),
        ("runs import", "runs import run.json"),
        ("runs delete", "runs delete 2"),
    ] {
        let mut faults = Vec::new();
        // The last pages are taken away one by one: each place of a commit may fail.
        let spares = scaled(3, 40);
        for spare in 0..spares {
            let Some((scratch, made)) = filled(test) else {
                return;
            };
            ran(&scratch, "runs export latest --output run.json", &[]).check(
                &["runs export"],
                0,
                "",
            );
            let path = made.root.join("new.db");
            let archive = format!("--archive={}", path.display());
            for _ in 0..2 {
                ran(&scratch, TRIAL, &[&archive]).check(&[TRIAL], 0, "");
            }
            fs::write(made.root.join("spare"), vec![1; spare * 4096]).expect("room");
            fill(&made.root);
            fs::remove_file(made.root.join("spare")).expect("removal");
            let words: Vec<&str> = line.split_whitespace().collect();
            let outcome = run(scratch.seekstone([&words[..], &[&archive]].concat()));
            let found = outcome.fault(&[0, 1, 3]).into_iter();
            let left = if name == "runs delete" { 1 } else { 2 };
            let found = found.chain(archive_faults(&path, left));
            faults.extend(found.map(|fault| format!("{spare} pages: {fault}")));
        }
        table.row(name, &format!("ENOSPC: {spares} runs"), &faults);
    }
    table.finish();
}
