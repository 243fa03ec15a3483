//! What is slower or rarer than a trial is long: the interval holds the truth, or a sign, a doubt
//! or a note speaks of it, or the trust line says that the trial was too short for it.

#![allow(
    clippy::print_stdout,
    reason = "the table is a product of these tests; docs/statistics.md has it"
)]

use crate::procedures::{Bench, poisson, thinking};
use results::{Measurement, Severity, WarningCode};
use stats::{Goal, Verdict};
use units::Duration;
use workload::Pacing;

const MS: f64 = 1e6;
const SECOND: f64 = 1e9;

/// How slow or how rare a process is, to be compared with what a trial could not have seen.
#[derive(Clone, Copy)]
enum Scale {
    /// It changes all the time, over so many nanoseconds.
    Change(f64),
    /// It comes once in so many nanoseconds.
    EveryNs(f64),
}

impl Scale {
    /// Whether the trust line says that the trial was too short for it.
    fn is_named(self, found: &Measurement) -> bool {
        let Some(seen) = found.resolution else {
            return false;
        };
        match self {
            Self::Change(ns) => seen.slowest_change_ns as f64 <= ns,
            Self::EveryNs(ns) => seen.rarest_ns as f64 <= ns,
        }
    }
}

struct Process {
    title: &'static str,
    device: &'static str,
    pacing: Pacing,
    precision: f64,
    /// Mean response time in the long run, ns.
    truth: f64,
    scale: Scale,
}

fn closed(title: &'static str, device: &'static str, truth: f64, scale: Scale) -> Process {
    Process {
        title,
        device,
        pacing: thinking(Duration::ZERO),
        precision: 0.03,
        truth,
        scale,
    }
}

/// A client that never thinks sees a wave as its operations do: more of them while it is fast. Of a
/// share `a` up and down the mean is that of a steady device times the root of `1 - a^2`.
fn wave(title: &'static str, device: &'static str, share: f64, seconds: f64) -> Process {
    let truth = MS * (1.0 - share * share).sqrt();
    closed(title, device, truth, Scale::Change(seconds * SECOND))
}

/// Poisson arrivals at one server of 1 ms that stalls once in `every` operations for `stall_ms`:
/// Pollaczek and Khinchine.
fn stalls(
    title: &'static str,
    device: &'static str,
    rate: f64,
    (stall_ms, every): (f64, u64),
) -> Process {
    let share = 1.0 / every as f64;
    let (mean, square) = (
        1.0 + share * stall_ms,
        1.0 - share + share * (1.0 + stall_ms).powi(2),
    );
    let wait = rate / 1e3 * square / (2.0 * (1.0 - rate / 1e3 * mean));
    Process {
        pacing: poisson(rate),
        ..closed(
            title,
            device,
            (mean + wait) * MS,
            Scale::EveryNs(every as f64 / rate * SECOND),
        )
    }
}

fn processes() -> Vec<Process> {
    [regimes(), waves(), rare_stalls()]
        .into_iter()
        .flatten()
        .collect()
}

fn regimes() -> Vec<Process> {
    vec![
        closed(
            "regimes of 10 us and 1 ms, half each, 20,000 operations long",
            "sim:cache?hit=10us&miss=1ms&hits=50%&run=20000",
            0.505 * MS,
            Scale::EveryNs(20.2 * SECOND),
        ),
        closed(
            "regimes of 1 and 1.3 ms, .8 and .2, 10,000 operations long",
            "sim:cache?hit=1ms&miss=1.3ms&hits=80%&run=10000",
            1.06 * MS,
            Scale::EveryNs(50.0 * SECOND),
        ),
        closed(
            "hits of 10 us (.9), misses of 1 ms, runs of 5000",
            "sim:cache?hit=10us&miss=1ms&hits=90%&run=5000",
            0.109 * MS,
            Scale::EveryNs(50.0 * SECOND),
        ),
    ]
}

fn waves() -> Vec<Process> {
    vec![
        wave(
            "a wave of 10 % in 20 s",
            "sim:mm1?mean=1ms&wave=10%@20s",
            0.1,
            20.0,
        ),
        wave(
            "a wave of 10 % in 30 s",
            "sim:mm1?mean=1ms&wave=10%@30s",
            0.1,
            30.0,
        ),
        wave(
            "a wave of 10 % in 60 s",
            "sim:mm1?mean=1ms&wave=10%@60s",
            0.1,
            60.0,
        ),
        wave(
            "a wave of 20 % in 300 s",
            "sim:mm1?mean=1ms&wave=20%@300s",
            0.2,
            300.0,
        ),
        wave(
            "a wave of 50 % in 300 s",
            "sim:mm1?mean=1ms&wave=50%@300s",
            0.5,
            300.0,
        ),
        closed(
            "a drift of 30 % in 60 s; the truth is its end",
            "sim:mm1?mean=1ms&drift=30%@60s",
            1.3 * MS,
            Scale::Change(60.0 * SECOND),
        ),
    ]
}

fn rare_stalls() -> Vec<Process> {
    vec![
        closed(
            "a stall of 1 s, one in 20,000 operations",
            "sim:mm1?mean=1ms&stall=1s@0.005%",
            1.05 * MS,
            Scale::EveryNs(21.0 * SECOND),
        ),
        stalls(
            "a stall of 2 s, one in 100,000, arrivals of 490/s",
            "sim:md1?time=1ms&stall=2s@0.001%",
            490.0,
            (2000.0, 100_000),
        ),
        stalls(
            "a stall of .5 s, one in 50,000, arrivals of 495/s",
            "sim:md1?time=1ms&stall=500ms@0.002%",
            495.0,
            (500.0, 50_000),
        ),
        Process {
            precision: 0.1,
            ..closed(
                "a stall of .5 s, one in 10,000, until 10 %",
                "sim:mm1?mean=1ms&stall=500ms@0.01%",
                1.05 * MS,
                Scale::EveryNs(10.5 * SECOND),
            )
        },
    ]
}

/// A sign before the value, a doubt, or a note on rare episodes or oscillation.
fn is_warned(found: &Measurement) -> bool {
    let speaks = |warning: &results::Warning| {
        warning.severity != Severity::Info
            || matches!(
                warning.code,
                WarningCode::RareEpisodes | WarningCode::Oscillation
            )
    };
    let has_sign = !matches!(found.verdict, Verdict::Converged);
    has_sign || found.warnings.iter().any(speaks)
}

#[test]
#[ignore = "takes minutes: part of the nightly tests"]
fn what_is_slower_than_a_trial_is_in_the_interval_or_spoken_of_or_named() {
    const SEEDS: u64 = 30;
    println!("| process | covers | or is warned | or is named as not looked for |");
    let mut missed = Vec::new();
    for process in processes() {
        let bench = Bench::new(process.device, 1, process.pacing, 600.0)
            .goal(Some(Goal::result(process.precision)));
        let (mut covers, mut warned, mut named) = (0, 0, 0);
        for seed in 1..=SEEDS {
            let found = bench.measure(seed);
            let is_right = found.response.mean.contains(process.truth);
            let is_right_or_warned = is_right || is_warned(&found);
            covers += u32::from(is_right);
            warned += u32::from(is_right_or_warned);
            named += u32::from(is_right_or_warned || process.scale.is_named(&found));
        }
        let share = |count: u32| f64::from(count) / SEEDS as f64;
        println!(
            "| {} | {:.2} | {:.2} | {:.2} |",
            process.title,
            share(covers),
            share(warned),
            share(named)
        );
        if share(named) < 0.9 {
            missed.push(process.title);
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
