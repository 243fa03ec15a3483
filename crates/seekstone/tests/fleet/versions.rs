//! Two versions of the program among the ranks, as where an installation on one host is older: a
//! copy of the program in which the number of the version is another.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support::ranks::{Library, MPICH, OPEN_MPI, launcher, with_shim};
use crate::support::{Belongings, PROGRAM, Scratch, finish};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const TRIAL: [&str; 6] = ["trial", "target", "--clients", "2", "--duration", "1s"];

/// The version with another last digit: a number of the same length.
fn other_version() -> String {
    let last = if VERSION.ends_with('9') { "8" } else { "9" };
    format!("{}{last}", &VERSION[..VERSION.len() - 1])
}

fn copy_of_other_version(scratch: &Scratch) -> PathBuf {
    let mut program = fs::read(PROGRAM).expect("the program");
    let (own, other) = (VERSION.as_bytes(), other_version().into_bytes());
    let mut from = 0;
    while let Some(at) = position(&program[from..], own) {
        program[from + at..from + at + own.len()].copy_from_slice(&other);
        from += at + own.len();
    }
    let path = scratch.path("other-version");
    fs::write(&path, program).expect("a copy");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    let mut asked = Command::new(&path);
    asked.arg("--version");
    let said = finish(asked).stdout;
    assert!(said.contains(&other_version()), "{said}");
    path
}

fn position(all: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted[0];
    let mut from = 0;
    loop {
        from += all[from..].iter().position(|byte| *byte == first)?;
        if all[from..].starts_with(wanted) {
            return Some(from);
        }
        from += 1;
    }
}

#[track_caller]
fn check_refused(test: &str, library: &Library) {
    let Some(scratch) = with_shim(test, library) else {
        return;
    };
    let other = copy_of_other_version(&scratch);
    let other = other.to_str().expect("text");
    let target = scratch.target();
    fs::write(target.join("mine"), "precious").expect("a file");
    let before = Belongings::of(&target);
    for (programs, here, there) in [
        ([PROGRAM, other], other_version(), VERSION.to_owned()),
        ([other, PROGRAM], VERSION.to_owned(), other_version()),
    ] {
        let [first, second] = programs;
        let mut command = launcher(&scratch, library, &["-n", "1", first]);
        command
            .args(TRIAL)
            .args([":", "-n", "1", second])
            .args(TRIAL);
        let ended = finish(command);
        ended.check(&TRIAL, 2, "rank 1");
        let expected =
            format!("version {here} runs here, and {there} on rank 0: install one version");
        assert!(ended.error().contains(&expected), "{ended:?}");
        assert!(!ended.error().contains('\n'), "one sentence: {ended:?}");
        before.assert_untouched();
        assert!(!scratch.archive().exists(), "nothing is archived");
    }
}

#[test]
fn two_versions_do_not_measure_together_under_mpich() {
    check_refused("two_versions_do_not_measure_together_under_mpich", &MPICH);
}

#[test]
fn two_versions_do_not_measure_together_under_open_mpi() {
    check_refused(
        "two_versions_do_not_measure_together_under_open_mpi",
        &OPEN_MPI,
    );
}
