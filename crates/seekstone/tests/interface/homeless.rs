//! Where no run can be archived unasked, it is measured all the same, and said not to be kept.

use std::fs;
use std::process::Command;

use crate::support::{Scratch, finish};

const TRIAL: [&str; 6] = ["trial", "sim:mm1", "--duration", "1s", "--seed", "1"];
const NOT_KEPT: &str = "warning: this run is not archived: ";

/// A trial with that home, or none, and no archive named.
fn trial(scratch: &Scratch, home: Option<&str>) -> Command {
    let mut command = scratch.seekstone(TRIAL);
    command.env_remove("SEEKSTONE_ARCHIVE").env_remove("HOME");
    if let Some(home) = home {
        command.env("HOME", home);
    }
    command
}

/// A service account has no home: it was refused with exit code 1.
#[test]
fn without_a_home_it_measures() {
    let scratch = Scratch::new();
    let missing = scratch.path("nonexistent");
    // Bug: as root a home that does not exist was made.
    for home in [None, missing.to_str()] {
        let ended = finish(trial(&scratch, home));
        ended.check(&["no HOME"], 0, "random read 4 KiB");
        let why = format!("{NOT_KEPT}there is no home directory");
        assert!(ended.stderr.contains(&why), "{}", ended.stderr);
        assert!(!ended.stdout.contains("Saved as run"), "{}", ended.stdout);
    }
    assert!(!missing.exists());
}

/// Nothing can be made in /proc, by root neither.
#[test]
fn in_a_home_that_cannot_be_written_it_measures() {
    let scratch = Scratch::new();
    let ended = finish(trial(&scratch, Some("/proc")));
    ended.check(&["HOME=/proc"], 0, "random read 4 KiB");
    let why = format!("{NOT_KEPT}cannot create the directory /proc/.local");
    assert!(ended.stderr.contains(&why), "{}", ended.stderr);
}

/// What is asked for by name is an error when it cannot be had.
#[test]
fn an_archive_that_was_named_is_an_error() {
    let scratch = Scratch::new();
    let mut command = trial(&scratch, None);
    command.args(["--archive", "/proc/none/archive.db"]);
    finish(command).check(&["--archive"], 2, "/proc/none does not exist");
    let mut command = trial(&scratch, None);
    command.env("SEEKSTONE_ARCHIVE", "/proc/none/archive.db");
    finish(command).check(&["SEEKSTONE_ARCHIVE"], 1, "runs cannot be archived");
}

/// A file in the place of the archive would keep no later run either.
#[test]
fn somebody_elses_file_in_its_place_is_an_error() {
    let scratch = Scratch::new();
    let place = scratch.path("home/.local/share/seekstone");
    fs::create_dir_all(&place).expect("a directory");
    fs::write(place.join("archive.db"), "a text").expect("a file");
    let home = scratch.path("home").display().to_string();
    finish(trial(&scratch, Some(&home))).check(&["a text"], 1, "is not an archive of Seekstone");
}
