//! System calls that the kernel refuses, one after the other: what a sandbox may do to the program.
//! It works without, or says a sentence; it never panics, hangs, or harms what is the user's.
#![cfg(target_arch = "x86_64")]
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::bounded::{Outcome, run};
use crate::cases::{Case, FILES, OUTPUTS, RUN, STUDY, TRANSFER, TRIAL, TRIAL_BUFFERED};
use crate::place::Place;
use crate::support::seccomp::{enter, refusing};
use crate::support::{PROGRAM, is_installed};
use crate::table::Table;
use crate::{is_full, scaled};

/// What the loader, the runtime and the locks of any program need to begin, to wait and to end;
/// what never fails by its manual; what the library that hears signals takes for granted.
const NEEDED: [libc::c_long; 17] = [
    libc::SYS_arch_prctl,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_execve,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_geteuid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_poll,
    libc::SYS_recvfrom,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigreturn,
    libc::SYS_uname,
];
/// Nothing can be said without it.
const TALK: [libc::c_long; 2] = [libc::SYS_write, libc::SYS_writev];
/// Refused every day.
const USUAL: [libc::c_long; 12] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_statx,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_unlinkat,
    libc::SYS_flock,
    libc::SYS_clone3,
    libc::SYS_prlimit64,
    libc::SYS_sched_getaffinity,
    libc::SYS_renameat2,
    libc::SYS_getrandom,
];
/// As a shell says that the loader found a library that it could not map.
const LOADER: i32 = 127;

/// The command, to which the kernel answers one call by an error.
fn refused(place: &Place, case: &Case, number: libc::c_long, errno: libc::c_int) -> Command {
    let steps = refusing(&[number], errno);
    let mut command = place.command(case.args);
    // SAFETY: between fork and exec only system calls are made.
    unsafe { command.pre_exec(move || enter(&steps)) };
    command
}

/// What is wrong with its end.
fn fault(outcome: &Outcome, number: libc::c_long) -> Option<String> {
    let is_of_loader = outcome.code == Some(LOADER) && outcome.said.contains("shared libraries");
    let is_mute = TALK.contains(&number) && outcome.code.is_some_and(|it| it != 0);
    if is_of_loader || is_mute {
        return None;
    }
    outcome.fault(&[0, 1, 2, 3])
}

/// The calls that the command makes, by number.
fn made(case: &Case) -> BTreeSet<libc::c_long> {
    let place = Place::new(case);
    let log = place.scratch.path("calls.log");
    let mut command = Command::new("strace");
    command.args(["-f", "-n", "-o"]).arg(&log);
    command.arg(PROGRAM).args(case.args);
    place.scratch.settle(&mut command);
    command.current_dir(&place.work);
    let outcome = run(command);
    assert!(outcome.fault(&[0, 3]).is_none(), "{}", outcome.said);
    let text = fs::read_to_string(log).expect("a log");
    let numbers = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once('[')?;
        rest.split_once(']')?.0.trim().parse().ok()
    });
    numbers.collect()
}

fn without(case: &Case, number: libc::c_long, errno: libc::c_int) -> Vec<String> {
    let place = Place::new(case);
    let outcome = run(refused(&place, case, number, errno));
    let mut faults: Vec<String> = fault(&outcome, number).into_iter().collect();
    // What it may not remove is removed by the next.
    faults.extend(place.clean().fault(&[0]));
    // An empty directory that may not be removed is nobody's proof: it is named.
    let changes = place.changes().into_iter();
    let is_named = |it: &String| {
        let path = it.split(' ').next().unwrap_or_default();
        outcome.said.contains(path)
    };
    faults.extend(changes.filter(|it| !(it.ends_with("left behind") && is_named(it))));
    faults
}

#[test]
fn a_system_call_that_is_refused_is_done_without_or_told() {
    let mut table = Table::new("calls");
    let all = [TRIAL, FILES, RUN, TRIAL_BUFFERED, TRANSFER, STUDY, OUTPUTS];
    let errors = [(libc::EPERM, "EPERM"), (libc::ENOSYS, "ENOSYS")];
    for case in &all[..scaled(2, all.len())] {
        let numbers = match is_full() && is_installed("strace") {
            true => made(case),
            false => USUAL.into(),
        };
        let numbers = numbers.into_iter().filter(|it| !NEEDED.contains(it));
        let numbers: Vec<_> = numbers.collect();
        for (errno, name) in &errors[..scaled(1, errors.len())] {
            let mut faults = Vec::new();
            for number in &numbers {
                let found = without(case, *number, *errno).into_iter();
                faults.extend(found.map(|fault| format!("call {number}: {fault}")));
            }
            let tried = format!("{} calls refused by {name}", numbers.len());
            table.row(case.name, &tried, &faults);
        }
    }
    table.finish();
}
