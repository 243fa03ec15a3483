//! Signals at random instants: one is enough, the command ends by itself, and nothing is left.

use std::time::Duration;

use crate::bounded::Bounded;
use crate::cases::{self, Case, MEASURING};
use crate::place::Place;
use crate::support;
use crate::table::Table;
use crate::{random, scaled};
use rustix::process::Signal;

const STOPPING: [(Signal, &str); 3] = [
    (Signal::INT, "SIGINT"),
    (Signal::TERM, "SIGTERM"),
    (Signal::HUP, "SIGHUP"),
];

/// Also what measures no directory.
const OTHERS: [Case; 4] = [
    cases::STUDY,
    cases::TRANSACT,
    cases::DISKMBPS,
    cases::OUTPUTS,
];

/// Send a signal at an instant of its own; what went wrong.
fn signalled(case: &Case, signal: Signal, random: &mut fastrand::Rng) -> (bool, Vec<String>) {
    let place = Place::new(case);
    let running = Bounded::start(place.command(case.args));
    // Before, nothing is made yet, and it dies as any program does.
    running.await_that(|| running.catches(signal));
    let instant = Duration::from_millis(case.span_ms).mul_f64(random.f64());
    let was_early = !running.ends_within(instant);
    if was_early {
        running.signal(signal);
    }
    let outcome = running.end();
    let mut faults: Vec<String> = outcome.fault(&[0, 1, 3]).into_iter().collect();
    faults.extend(place.changes());
    (was_early, faults)
}

/// Whether what we start ignores a hang-up, as under nohup.
fn is_hang_up_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 != 0)
}

#[test]
fn one_signal_ends_every_command_that_measures() {
    let mut table = Table::new("signals");
    let cases = || MEASURING.iter().chain(&OTHERS);
    for (signal, name) in STOPPING {
        if signal == Signal::HUP && is_hang_up_ignored() {
            support::skipped("one_signal_ends", "SIGHUP is ignored here");
            continue;
        }
        for (number, case) in cases().enumerate() {
            // Every day each command has one of the three.
            let is_todays = crate::is_full() || number % 3 == signal.as_raw() as usize % 3;
            if !is_todays {
                continue;
            }
            let mut faults = Vec::new();
            let mut sent = 0;
            let tries = scaled(1, 10);
            for attempt in 0..tries {
                let (was_early, found) = signalled(case, signal, &mut random(case.name, attempt));
                sent += u32::from(was_early);
                faults.extend(found.into_iter().map(|it| format!("try {attempt}: {it}")));
            }
            table.row(
                case.name,
                &format!("{name}: {sent} sent, {tries} runs"),
                &faults,
            );
        }
    }
    table.finish();
}

#[test]
fn a_command_that_is_stopped_goes_on() {
    let mut table = Table::new("signals");
    for case in MEASURING.iter().take(scaled(3, MEASURING.len())) {
        let mut faults = Vec::new();
        let tries = scaled(1, 5);
        for attempt in 0..tries {
            let place = Place::new(case);
            let running = Bounded::start(place.command(case.args));
            let share = random(case.name, attempt).f64();
            if !running.ends_within(Duration::from_millis(case.span_ms).mul_f64(share)) {
                running.signal(Signal::TSTP);
                running.await_that(|| running.is_stopped());
                running.signal(Signal::CONT);
            }
            faults.extend(running.end().fault(&[0, 3]));
            faults.extend(place.changes());
        }
        table.row(
            case.name,
            &format!("SIGTSTP, SIGCONT: {tries} runs"),
            &faults,
        );
    }
    table.finish();
}
