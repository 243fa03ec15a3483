//! How often a warning comes up in trials of storage in which nothing moves: what says that
//! something is wrong with it must hardly ever.

#![allow(clippy::print_stdout, reason = "the table is a product of this test")]

use std::collections::BTreeMap;

use results::WarningCode;
use stats::Goal;
use units::Duration;
use workload::Pacing;

use crate::support::{Bench, of_seeds, poisson, thinking};

/// The share of trials in which a warning may be false.
const MOST: f64 = 0.02;
/// True of any storage in too little time, and no statement about this one.
const OF_TIME: [WarningCode; 4] = [
    WarningCode::TooFewSamples,
    WarningCode::NotConverged,
    WarningCode::TooShort,
    WarningCode::DepthNotReached,
];

/// Storage in which nothing moves, its load, and what is true of it.
struct Steady {
    device: &'static str,
    clients: u32,
    pacing: Pacing,
    is_true: &'static [WarningCode],
}

fn steady() -> Vec<Steady> {
    let all = |device, clients, pacing| Steady {
        device,
        clients,
        pacing,
        is_true: &[],
    };
    let open = |device, rate| all(device, 1, poisson(rate));
    let closed =
        |device, clients, think_ms| all(device, clients, thinking(Duration::from_millis(think_ms)));
    let hits = "sim:cache?hit=100us&miss=4ms&hits=80%&run=1";
    let two_modes: &[WarningCode] = &[WarningCode::TwoModes];
    vec![
        open("sim:mm1?mean=1ms", 500.0),
        open("sim:mm1?mean=1ms", 800.0),
        open("sim:mm1?mean=1ms", 900.0),
        open("sim:md1?time=1ms", 800.0),
        open("sim:mmc?mean=4ms&servers=4", 900.0),
        Steady {
            is_true: two_modes,
            ..open(hits, 795.0)
        },
        open("sim:drive", 40.0),
        closed("sim:mm1?mean=1ms", 1, 0),
        closed("sim:mmc?mean=4ms&servers=4", 8, 0),
        closed("sim:mmc?mean=5ms&servers=4", 40, 50),
        Steady {
            is_true: two_modes,
            ..closed(hits, 1, 0)
        },
        closed("sim:drive", 4, 0),
        closed("sim:fireball", 1, 0),
        closed("sim:nvme", 8, 0),
        closed("sim:delay?time=1ms", 4, 0),
    ]
}

/// In how many of the trials with these seeds each warning came up.
fn alarms(bench: &Bench, seeds: u64) -> BTreeMap<WarningCode, u64> {
    let found = of_seeds(30_001..=30_000 + seeds, |seed| bench.measure(seed).warnings);
    let mut counts = BTreeMap::new();
    for warnings in found {
        for code in WarningCode::ALL {
            if warnings.iter().any(|it| it.code == *code) {
                *counts.entry(code.clone()).or_default() += 1;
            }
        }
    }
    counts
}

#[test]
#[ignore = "nightly: takes minutes"]
fn hardly_any_warning_is_false() {
    check(200);
}

fn check(seeds: u64) {
    let lengths = [
        ("10 s", None, 10.0),
        ("until 3 %", Some(Goal::result(0.03)), 60.0),
    ];
    let mut wrong = Vec::new();
    for it in steady() {
        for (length, goal, seconds) in lengths {
            let bench = Bench::new(it.device, it.clients, it.pacing, seconds)
                .goal(goal)
                .depth(1 << 16);
            for (code, count) in alarms(&bench, seeds) {
                let is_counted = !OF_TIME.contains(&code) && !it.is_true.contains(&code);
                let row = format!(
                    "{}, {} clients, {:?}, {length}: {} {count} of {seeds}",
                    it.device,
                    it.clients,
                    it.pacing,
                    code.as_str()
                );
                println!("{row}{}", if is_counted { "" } else { " (true)" });
                if is_counted && count as f64 > MOST * seeds as f64 {
                    wrong.push(row);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "above {MOST}: {wrong:#?}");
}
