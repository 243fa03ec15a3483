//! The time of day jumps while a command works, as when a clock is set: what was measured is told
//! by another clock, and the run is archived. The clock of this machine stays as it is: a library
//! that is loaded before the C library gives the program another one.

use std::fs;
use std::process::Command;

use crate::bounded::{Outcome, run};
use crate::cases::{CURVE, Case, FILES, FIO, RUN, STUDY, TRANSFER, TRIAL, WATCH};
use crate::place::Place;
use crate::scaled;
use crate::support::skipped;
use crate::table::Table;

/// Steps the time of day by `STEP_SECONDS` at each second reading.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int readings;
int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = (int)syscall(SYS_clock_gettime, clock, time);
    if (failed == 0 && clock == CLOCK_REALTIME && __atomic_fetch_add(&readings, 1, 5) % 2)
        time->tv_sec += atol(getenv("STEP_SECONDS"));
    return failed;
}
"#;
const YEARS: i64 = 10 * 365 * 86_400;
const STEPS: [(&str, i64); 4] = [
    ("back 10 years", -YEARS),
    ("on 10 years", YEARS),
    ("back 1 h", -3600),
    ("to before 1970", -60 * 365 * 86_400),
];

/// A command whose clock jumps; `None` where there is no such clock.
fn jumping(place: &Place, case: &Case, seconds: i64) -> Option<Outcome> {
    let library = place.scratch.path("clock.so");
    let source = place.scratch.path("clock.c");
    fs::write(&source, CLOCK).expect("a source");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source);
    if !compiler.output().is_ok_and(|it| it.status.success()) {
        skipped("clocks", "there is no C compiler");
        return None;
    }
    let mut command = place.command(case.args);
    command
        .env("LD_PRELOAD", &library)
        .env("STEP_SECONDS", seconds.to_string());
    Some(run(command))
}

#[test]
fn a_clock_that_jumps_neither_ends_a_command_nor_alters_a_figure() {
    let mut table = Table::new("clocks");
    let cases = [
        &TRIAL, &STUDY, &RUN, &FILES, &TRANSFER, &CURVE, &FIO, &WATCH,
    ];
    for (name, seconds) in &STEPS[..scaled(2, STEPS.len())] {
        let mut faults = Vec::new();
        let count = scaled(2, cases.len());
        for case in &cases[..count] {
            let place = Place::new(case);
            let Some(outcome) = jumping(&place, case, *seconds) else {
                return;
            };
            let mut found: Vec<String> = outcome.fault(&[0, 3, 5]).into_iter().collect();
            found.extend(place.changes());
            found.extend(absurd(&place));
            faults.extend(found.into_iter().map(|it| format!("{}: {it}", case.name)));
        }
        table.row(name, &format!("{count} commands"), &faults);
    }
    table.finish();
}

/// Spans in the archived run that no command of the campaign lasts, and whether it is listed.
fn absurd(place: &Place) -> Vec<String> {
    let listed = run(place.command(&["runs", "list"]));
    let mut faults: Vec<String> = listed.fault(&[0]).into_iter().collect();
    let shown = run(place.command(&["runs", "export", "latest"]));
    let Ok(document) = serde_json::from_str::<serde_json::Value>(&shown.said) else {
        // Not every command archives a run.
        return faults;
    };
    let measurements = document["measurements"].as_array().into_iter().flatten();
    for measurement in measurements {
        let lasted = measurement["duration_ns"].as_f64().unwrap_or_default();
        let longest = measurement["response"]["max_ns"]
            .as_f64()
            .unwrap_or_default();
        if lasted.max(longest) > 120e9 {
            faults.push(format!("a span of {} s", lasted.max(longest) / 1e9));
        }
    }
    faults
}
