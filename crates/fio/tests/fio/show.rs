//! `--showcmd` prints what fio prints, for job files after the habits of real ones.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use fio::{Surroundings, read_job_file, show_command};

const VARIABLES: [(&str, &str); 4] = [("SIZE", "12m"), ("BLOCK", "8"), ("JOBS", "3"), ("U", "")];

struct Real(PathBuf);

impl Surroundings for Real {
    fn include(&mut self, _: &str, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())
    }

    fn bytes(&mut self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.0.join(path)).map_err(|error| error.to_string())
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        let found = VARIABLES.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }

    fn fact(&mut self, _: &str) -> Option<u64> {
        std::thread::available_parallelism()
            .ok()
            .map(|count| count.get() as u64)
    }
}

fn job_files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobs");
    let entries = std::fs::read_dir(directory).expect("the job files");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_job = |path: &PathBuf| path.extension().is_some_and(|it| it == "fio");
    let mut paths: Vec<PathBuf> = paths.filter(is_job).collect();
    paths.sort();
    paths
}

fn ours(path: &Path, wanted: &[String]) -> String {
    let text = std::fs::read_to_string(path).expect("a job file");
    let directory = path.parent().expect("a directory").to_owned();
    let file = read_job_file("j.fio", &text, &mut Real(directory));
    assert_eq!(file.faults, [], "{}", path.display());
    show_command(&file.sections, wanted)
}

/// Skipped by name where fio is not installed.
#[test]
fn every_job_file_is_shown_as_fio_shows_it() {
    let paths = job_files();
    assert!(paths.len() >= 10);
    for path in paths {
        let mut command = Command::new("fio");
        command.arg("--showcmd").arg(&path).envs(VARIABLES);
        command.current_dir(path.parent().expect("a directory"));
        let Ok(said) = command.output() else {
            let test = "every_job_file_is_shown_as_fio_shows_it";
            return support::skipped(test, "fio is missing");
        };
        let theirs = String::from_utf8_lossy(&said.stdout).trim_end().to_owned();
        assert!(said.status.success(), "{}: {said:?}", path.display());
        assert_eq!(ours(&path, &[]).trim_end(), theirs, "{}", path.display());
    }
}

#[test]
fn sections_are_shown_by_name() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobs");
    assert_eq!(
        ours(&directory.join("globals.fio"), &["one".into()]),
        "fio --bs=4k --name=one --rw=read --size=1m --bs=4k --bs=8k --iodepth=4 "
    );
}
