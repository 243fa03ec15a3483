//! Job files of others, which are not ours to keep here: a directory of them, by repository, is
//! named by `JOB_FILES`. None may panic; those that fio takes are shown as fio shows them. With
//! `JOB_FILES_REPORT` a file gets what became of each, a line for a file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use fio::{JobFile, Surroundings, read_job_file, resolve, show_command};

struct Beside(PathBuf);

impl Surroundings for Beside {
    fn include(&mut self, _: &str, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())
    }

    fn bytes(&mut self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.0.join(path)).map_err(|error| error.to_string())
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn fact(&mut self, _: &str) -> Option<u64> {
        let count = std::thread::available_parallelism();
        count.ok().map(|count| count.get() as u64)
    }
}

fn files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).expect("a directory");
    for entry in entries.map(|entry| entry.expect("an entry").path()) {
        match entry.is_dir() {
            true => files_below(&entry, found),
            false => found.push(entry),
        }
    }
}

/// What fio shows of it; `None` where fio takes it for a mistake.
fn theirs(path: &Path) -> Option<String> {
    let mut command = Command::new("fio");
    command.arg("--showcmd").arg(path.file_name()?);
    let said = command.current_dir(path.parent()?).output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout);
    // fio keeps a blank behind the sign of equality, which we leave out.
    let text = text.trim_end().replace("= ", "=");
    (said.status.success() && !text.is_empty()).then_some(text)
}

/// The reasons why it does not run whole, without repeats.
fn reasons(file: &JobFile) -> Vec<String> {
    let found = resolve(file, &[]);
    let mut all: Vec<String> = found.faults.iter().map(|it| it.message.clone()).collect();
    all.sort();
    all.dedup();
    all
}

/// Skipped by name where no files are named.
#[test]
fn job_files_of_others_are_shown_as_fio_shows_them() {
    let test = "job_files_of_others_are_shown_as_fio_shows_them";
    let Some(directory) = std::env::var_os("JOB_FILES") else {
        return support::skipped(test, "JOB_FILES names no directory");
    };
    if Command::new("fio").arg("--version").output().is_err() {
        return support::skipped(test, "fio is missing");
    }
    let (mut paths, mut report, mut differ) = (Vec::new(), String::new(), String::new());
    files_below(Path::new(&directory), &mut paths);
    paths.sort();
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let around = path.parent().expect("a directory").to_owned();
        let file = read_job_file("j.fio", &text, &mut Beside(around));
        let name = path.strip_prefix(&directory).unwrap_or(&path).display();
        let theirs = theirs(&path);
        let reasons = reasons(&file);
        let taken = theirs.is_some();
        let _ = writeln!(report, "{name}\t{taken}\t{}", reasons.join(" | "));
        if let Some(theirs) = theirs.filter(|_| file.faults.is_empty()) {
            let ours = show_command(&file.sections, &[]);
            if ours.trim_end() != theirs {
                let _ = writeln!(differ, "{name}\n  {}\n  {theirs}", ours.trim_end());
            }
        }
    }
    if let Some(to) = std::env::var_os("JOB_FILES_REPORT") {
        std::fs::write(to, report).expect("the report can be written");
    }
    assert_eq!(differ, "", "shown otherwise than fio shows it");
}
