//! A control group of little memory: a command that fits works, any other says that it does not.

use crate::bounded::run;
use crate::cases::{
    COMPARE, CURVE, Case, DISKMBPS, FILES, FIO, RANDOM, REPLAY, RUN, SIMULATED, SSD, STUDY,
    TRANSACTIONS, TRANSFER, TRIAL, TRIAL_BUFFERED,
};
use crate::place::Place;
use crate::scaled;
use crate::support::group::Group;
use crate::table::Table;

/// The first ones every day.
const CASES: [Case; 16] = [
    TRIAL,
    STUDY,
    TRIAL_BUFFERED,
    RUN,
    TRANSFER,
    RANDOM,
    FILES,
    TRANSACTIONS,
    CURVE,
    SSD,
    FIO,
    REPLAY,
    COMPARE,
    DISKMBPS,
    SIMULATED,
    MANY,
];
/// Asks for more memory than the group has.
const MANY: Case = Case {
    name: "trial, 256 MiB of buffers",
    args: &[
        "trial",
        "--clients",
        "64",
        "--block",
        "4MiB",
        "--size",
        "256MiB",
        "--duration",
        "50ms",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    ..TRIAL
};
const LIMITS: [&str; 3] = ["64M", "32M", "24M"];

#[test]
fn little_memory_is_enough_or_told() {
    let test = "little_memory_is_enough_or_told";
    let mut table = Table::new("memory");
    for limit in &LIMITS[..scaled(1, LIMITS.len())] {
        for case in &CASES[..scaled(2, CASES.len())] {
            let Some(group) = Group::new(test, "memory") else {
                return;
            };
            assert!(group.set("memory.limit_in_bytes", limit), "{limit}");
            let place = Place::new(case);
            let mut command = group.command(&place.scratch, case.args);
            command.current_dir(&place.work);
            let outcome = run(command);
            let mut faults: Vec<String> = outcome.fault(&[0, 1, 3]).into_iter().collect();
            faults.extend(place.clean().fault(&[0]));
            faults.extend(place.changes());
            table.row(case.name, &format!("{limit}: 1 run"), &faults);
        }
    }
    table.finish();
}
