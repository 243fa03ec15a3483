//! Power that fails while a run is saved: what the disk may then hold is made of the system calls
//! of a real run. Whatever was synced is there, anything written since may be there, in part or
//! not at all. The archive opens, and has every run that was said to be saved.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;

use crate::support::{PROGRAM, Scratch, is_installed, skipped};
use crate::table::Table;
use crate::{random, scaled};

/// The archive in a directory of its own, with what lies beside it.
const ARCHIVE: &str = "new.db";
/// Calls that alter what a disk holds, and the answer.
const CALLS: &str =
    "trace=openat,linkat,pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,renameat2";
/// Disks keep or lose so many bytes at once.
const SECTOR: usize = 512;

/// What was done to a file of the directory, by its name.
#[derive(Debug)]
enum Done {
    Created(String),
    /// A file without a name got one.
    Named(String, String),
    Removed(String),
    Written(String, usize, Vec<u8>),
    Cut(String, usize),
    Synced(String),
    DirectorySynced,
    Acknowledged,
}

/// A run of a model that is saved; all that it did to the directory.
fn saved(scratch: &Scratch, directory: &Path, seed: &str) -> Vec<Done> {
    let log = scratch.path("calls.log");
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-xx", "-s", "10000000", "-e", CALLS, "-o"]);
    command.arg(&log).arg(PROGRAM);
    command.args(["trial", "sim:nvme", "--duration", "50ms", "--seed", seed]);
    command.args(["-q", "--archive", ARCHIVE]);
    scratch.settle(&mut command);
    let ended = command.current_dir(directory).output().expect("strace");
    assert!(ended.status.success(), "{ended:?}");
    let text = fs::read_to_string(log).expect("a log");
    let root = directory.canonicalize().expect("a directory");
    let mut known = Known::default();
    text.lines()
        .filter_map(|line| done(line, &root, &mut known))
        .collect()
}

/// What earlier lines of a log tell.
#[derive(Default)]
struct Known {
    /// Of files that are appended to.
    lengths: BTreeMap<String, usize>,
    /// By number of descriptor.
    opened: BTreeMap<String, String>,
}

/// `\x6e\x65` as bytes.
fn plain(text: &str) -> Vec<u8> {
    let digits = text.split("\\x").skip(1);
    let bytes = digits.map(|it| u8::from_str_radix(&it[..2], 16).expect("two digits"));
    bytes.collect()
}

/// What a line of strace did to the directory.
fn done(line: &str, root: &Path, known: &mut Known) -> Option<Done> {
    let (_, line) = line.split_once(char::is_whitespace)?;
    let (call, rest) = line.trim_start().split_once('(')?;
    let (arguments, answer) = rest.rsplit_once(") = ")?;
    if answer.starts_with('-') {
        return None;
    }
    let quoted: Vec<Vec<u8>> = arguments.split('"').skip(1).step_by(2).map(plain).collect();
    let bracketed = |text: &str| {
        let (_, rest) = text.split_once('<')?;
        String::from_utf8(plain(rest.split_once('>')?.0)).ok()
    };
    let name = |path: &str| {
        let path = root.join(path);
        let inner = path.strip_prefix(root).ok()?;
        Some(inner.to_str()?.to_owned())
    };
    let of_quoted = || name(std::str::from_utf8(quoted.first()?).ok()?);
    let numbers = || arguments.rsplit(", ").map_while(|it| it.parse().ok());
    let of_file = || name(&bracketed(arguments)?);
    Some(match call {
        "openat" => {
            let (number, _) = answer.split_once('<')?;
            let name = name(&bracketed(answer)?)?;
            known.opened.insert(number.to_owned(), name.clone());
            return arguments.contains("O_CREAT").then_some(Done::Created(name));
        }
        "linkat" => {
            let from = String::from_utf8(quoted[0].clone()).ok()?;
            let from = known.opened.get(from.strip_prefix("/proc/self/fd/")?)?;
            let to = name(std::str::from_utf8(&quoted[1]).ok()?)?;
            Done::Named(from.clone(), to)
        }
        "unlink" | "unlinkat" | "renameat2" => Done::Removed(of_quoted()?),
        "write" if quoted[0].starts_with(b"\nSaved as run") => Done::Acknowledged,
        "write" => {
            let name = of_file()?;
            let length = known.lengths.entry(name.clone()).or_default();
            let at = std::mem::replace(length, *length + quoted[0].len());
            Done::Written(name, at, quoted[0].clone())
        }
        "pwrite64" => Done::Written(of_file()?, numbers().next()?, quoted[0].clone()),
        "ftruncate" => Done::Cut(of_file()?, numbers().next()?),
        "fsync" | "fdatasync" => match of_file()? {
            it if it.is_empty() => Done::DirectorySynced,
            file => Done::Synced(file),
        },
        _ => return None,
    })
}

/// Files by name, with what they hold.
type Disk = BTreeMap<String, Vec<u8>>;

/// What the disk holds if power fails after `calls`: what was not synced as `kept` says.
fn crashed(before: &Disk, calls: &[Done], mut kept: impl FnMut() -> Kept) -> Disk {
    let synced = |file: &str| {
        calls
            .iter()
            .rposition(|it| matches!(it, Done::Synced(name) if name == file))
    };
    let directory = calls
        .iter()
        .rposition(|it| matches!(it, Done::DirectorySynced));
    let (mut disk, mut files) = (before.clone(), before.clone());
    for (number, call) in calls.iter().enumerate() {
        let file = match call {
            Done::Created(file) | Done::Removed(file) | Done::Named(_, file) => {
                let is_there = !matches!(call, Done::Removed(_));
                if let Done::Named(from, _) = call {
                    let content = files.get(from).cloned().unwrap_or_default();
                    files.insert(file.clone(), content);
                }
                if directory.is_some_and(|it| number < it) || kept() != Kept::Nothing {
                    match is_there {
                        true => _ = disk.entry(file.clone()).or_default(),
                        false => _ = disk.remove(file),
                    }
                }
                if is_there {
                    files.entry(file.clone()).or_default();
                }
                continue;
            }
            Done::Written(file, ..) | Done::Cut(file, _) => file,
            _ => continue,
        };
        let is_synced = synced(file).is_some_and(|it| number < it);
        let kept = if is_synced { Kept::All } else { kept() };
        let content = files.entry(file.clone()).or_default();
        match call {
            Done::Written(_, at, bytes) if kept != Kept::Nothing => {
                let whole = bytes.len();
                let length = match kept {
                    Kept::Part if whole > SECTOR => whole / SECTOR / 2 * SECTOR,
                    _ => whole,
                };
                content.resize(content.len().max(at + length), 0);
                content[*at..at + length].copy_from_slice(&bytes[..length]);
            }
            Done::Cut(_, length) if kept != Kept::Nothing => content.truncate(*length),
            _ => {}
        }
    }
    disk.retain(|name, content| {
        content.clone_from(&files[name]);
        true
    });
    disk
}

/// What became of a write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    All,
    Part,
    Nothing,
}

fn on_disk(directory: &Path) -> Disk {
    let entries = fs::read_dir(directory).expect("a directory");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let named = files.map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy();
        (name.into_owned(), fs::read(&path).expect("a file"))
    });
    named.collect()
}

/// How many runs the archive of a crashed disk holds, opened as the next run does.
fn runs(disk: &Disk, directory: &Path) -> Result<usize, String> {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir(directory).expect("a directory");
    for (name, content) in disk {
        fs::write(directory.join(name), content).expect("a file");
    }
    let path = directory.join(ARCHIVE);
    if !path.exists() || disk[ARCHIVE].is_empty() {
        return Ok(0);
    }
    let archive = Connection::open(path).map_err(|error| error.to_string())?;
    let text = |sql: &str| -> rusqlite::Result<String> {
        archive.query_row(sql, [], |row| {
            row.get::<_, rusqlite::types::Value>(0)
                .map(|it| format!("{it:?}"))
        })
    };
    let whole = text("pragma integrity_check").map_err(|error| error.to_string())?;
    if whole != "Text(\"ok\")" {
        return Err(whole);
    }
    let tables = "select count(*) from sqlite_master where name = 'runs'";
    if text(tables).map_err(|error| error.to_string())? == "Integer(0)" {
        return Ok(0);
    }
    let count = archive.query_row("select count(*) from runs", [], |row| row.get::<_, i64>(0));
    count
        .map_err(|error| error.to_string())
        .map(|it| usize::try_from(it).expect("a count"))
}

#[test]
fn a_run_that_was_saved_survives_a_power_failure() {
    let test = "a_run_that_was_saved_survives_a_power_failure";
    if !is_installed("strace") {
        return skipped(test, "strace is not installed");
    }
    let mut table = Table::new("power");
    let scratch = Scratch::new();
    let (directory, crash) = (scratch.path("archive"), scratch.path("crashed"));
    fs::create_dir(&directory).expect("a directory");
    for (held, case) in ["into a new archive", "into one that holds a run"]
        .iter()
        .enumerate()
    {
        let before = on_disk(&directory);
        let calls = saved(&scratch, &directory, &format!("{}", held + 1));
        let told = calls.iter().position(|it| matches!(it, Done::Acknowledged));
        let told = told.expect("a sentence that it is saved");
        let (mut random, mut tried, mut faults) = (random(case, 0), 0, Vec::new());
        for end in 0..=calls.len() {
            for round in 0..scaled(4, 60) {
                let disk = crashed(&before, &calls[..end], || match round {
                    0 => Kept::Nothing,
                    1 => Kept::All,
                    _ => [Kept::All, Kept::Part, Kept::Nothing][random.usize(..3)],
                });
                let least = held + usize::from(end > told);
                tried += 1;
                match runs(&disk, &crash) {
                    Ok(count) if count >= least => {}
                    found => faults.push(format!("after call {end}: {found:?}, not {least}")),
                }
            }
        }
        table.row(case, &format!("{tried} power failures"), &faults);
    }
    table.finish();
}
