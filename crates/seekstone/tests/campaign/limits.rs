//! Limits of the system: whatever is too little is told in a sentence, before or after.

use crate::bounded::{Outcome, run};
use crate::cases::{Case, DISKMBPS, FILES, RUN, STUDY, TRANSACTIONS, TRANSFER, TRIAL};
use crate::place::Place;
use crate::support::{is_installed, skipped};
use crate::table::Table;
use crate::{is_full, scaled};
use rustix::process::Signal;

/// What a shell sets, the quick ones of every day first.
const LIMITS: [&str; 20] = [
    "ulimit -n 16",
    "ulimit -v 120000",
    "ulimit -d 20000",
    "ulimit -s 64",
    "ulimit -f 64",
    "ulimit -l 0",
    "ulimit -n 8",
    "ulimit -n 32",
    "ulimit -v 60000",
    "ulimit -v 200000",
    "ulimit -v 300000",
    "ulimit -d 5000",
    "ulimit -d 12000",
    "ulimit -d 60000",
    // With 16 KiB, which hold arguments and environment, too, the loader itself may run out.
    "ulimit -s 32",
    "ulimit -s 128",
    "ulimit -f 16",
    "ulimit -f 4096",
    "ulimit -u 1",
    "ulimit -i 0",
];

/// Works its processor for longer than a limit of a second.
const BUSY: Case = Case {
    name: "trial, busy",
    args: &[
        "trial",
        "--duration",
        "4s",
        "--size",
        "4MiB",
        "--clients",
        "16",
        "--buffered",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    ..TRIAL
};

/// More threads than a small machine has memory for.
const MANY: Case = Case {
    name: "transactions, 64 users",
    args: &[
        "transactions",
        "--size",
        "4MiB",
        "--users",
        "64",
        "--think",
        "1ms",
        "--cpu",
        "0",
        "--memory",
        "1MiB",
        "--writes",
        "50%",
        "--duration",
        "50ms",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    ..TRANSACTIONS
};

/// What is wrong with its end, under a limit of processor time as well.
fn fault(outcome: &Outcome) -> Option<String> {
    let is_out_of_time = outcome.signal == Some(Signal::XCPU.as_raw());
    if is_out_of_time {
        return None;
    }
    outcome.fault(&[0, 1, 2, 3])
}

fn limited(case: &Case, limit: &str) -> Vec<String> {
    let place = Place::new(case);
    let outcome = run(place.shell(limit, case.args));
    let mut faults: Vec<String> = fault(&outcome).into_iter().collect();
    let names_left = place.left().iter().all(|left| {
        let name = left.file_name().expect("a name").to_string_lossy();
        outcome.said.contains(&*name)
    });
    if names_left || outcome.signal == Some(Signal::XCPU.as_raw()) {
        // Too little to remove it itself, or like a kill: what it left is known.
        faults.extend(place.clean().fault(&[0]));
    }
    faults.extend(place.changes());
    faults
}

#[test]
fn a_limit_of_the_system_is_told_in_a_sentence() {
    let test = "a_limit_of_the_system_is_told_in_a_sentence";
    if !is_installed("bash") {
        return skipped(
            test,
            "bash is not installed, and other shells know fewer limits",
        );
    }
    let mut table = Table::new("limits");
    let all = [TRIAL, DISKMBPS, TRANSFER, FILES, MANY, STUDY, RUN];
    for limit in &LIMITS[..scaled(6, LIMITS.len())] {
        let mut faults = Vec::new();
        let count = scaled(2, all.len());
        for case in &all[..count] {
            let found = limited(case, limit).into_iter();
            faults.extend(found.map(|fault| format!("{}: {fault}", case.name)));
        }
        table.row(limit, &format!("{count} commands"), &faults);
    }
    if is_full() {
        // A second is much for all others.
        let limit = "ulimit -St 1";
        table.row(limit, BUSY.name, &limited(&BUSY, limit));
    }
    table.finish();
}
