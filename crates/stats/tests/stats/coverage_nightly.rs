//! The acceptance test of the stopping rule, nightly tier: all processes, all precisions,
//! percentiles, closed systems, efficiency, false alarms, power.
//!
//! `cargo test --release -p stats coverage_nightly:: -- --ignored --nocapture`

use std::ops::RangeInclusive;

use crate::support::acceptance::{
    Judge, PERCENTILES, allowance, closed_loop_cells, goal, run, thousands,
};
use crate::support::closed_loop::ClosedLoop;
use crate::support::processes::{Kind, Process};
use crate::support::table::Table;
use crate::support::{PER_SLOT, UNIT_NS, replicate, rivals, share, slot_of, store_of};
use stats::{Channel, DriftVerdict, SlotStore, evaluate};

const REPLICATIONS: u64 = 1000;
const BAND: RangeInclusive<f64> = 0.920..=0.985;

const PROCESSES: [Process; 8] = [
    Process::new("i.i.d. exponential", Kind::Exponential),
    Process::new("AR(1) .9", Kind::Autoregressive { rho: 0.9 }),
    Process::new("M/M/1 .5", Kind::Queue { load: 0.5 }),
    Process::new("M/M/1 .8", Kind::Queue { load: 0.8 }),
    Process::new("M/M/1 .9", Kind::Queue { load: 0.9 }),
    Process::new(
        "sticky cache 200/50",
        Kind::Sticky {
            hits: 200.0,
            misses: 50.0,
        },
    ),
    Process::new(
        "lognormal CV .1",
        Kind::Lognormal {
            sigma: 0.099_751_345,
        },
    ),
    Process::new("lognormal sigma 1.5", Kind::Lognormal { sigma: 1.5 }),
];

const HOLDOUT: [Process; 7] = [
    Process::new("AR(1) .99", Kind::Autoregressive { rho: 0.99 }),
    Process::new("AR(1) -.5", Kind::Autoregressive { rho: -0.5 }),
    Process::new("M/M/1 .7", Kind::Queue { load: 0.7 }),
    Process::new("M/M/1 .95", Kind::Queue { load: 0.95 }),
    Process::new("M/H2/1 .8", Kind::BurstyQueue { load: 0.8 }),
    Process::new(
        "sticky cache 950/50",
        Kind::Sticky {
            hits: 950.0,
            misses: 50.0,
        },
    ),
    Process::new("alternating devices", Kind::Alternating),
];

fn check_processes(title: &str, processes: &[Process], precisions: &[f64], judge: Judge) {
    let mut table = Table::new(title);
    for process in processes {
        let outcomes = replicate(REPLICATIONS, |i| run(process, precisions, judge, i));
        for (i, &precision) in precisions.iter().enumerate() {
            let coverage = share(outcomes.iter().map(|o| o.covered[i]));
            let thousand = thousands(outcomes.iter().map(|o| o.completions[i]));
            let name = format!("{} r {precision:.2}", process.name);
            table.cell(
                &format!("{name} mean"),
                coverage,
                BAND,
                &format!("{thousand:.1}k I/Os"),
            );
            let most = allowance(process, precision);
            if !most.is_nan() && process.name != "M/M/1 .95" {
                // M/M/1 .95 is cut off by the cap of the test before it converges.
                table.cell(&format!("{name} thousand I/Os"), thousand, 0.0..=most, "");
            }
        }
        if judge == Judge::MeansAndPercentiles {
            for (i, (p, _)) in PERCENTILES.iter().enumerate() {
                let coverage = share(outcomes.iter().map(|o| o.percentiles_covered[i]));
                let band = if *p > 0.99 { 0.87..=1.0 } else { 0.930..=0.990 };
                table.cell(
                    &format!("{} p{}", process.name, p * 100.0),
                    coverage,
                    band,
                    "",
                );
            }
        }
    }
    table.finish();
}

#[test]
#[ignore = "nightly: takes minutes"]
fn means_and_percentiles_cover() {
    check_processes(
        "1000 replications, percentiles at the stop of r = .03",
        &PROCESSES,
        &[0.03, 0.05, 0.10],
        Judge::MeansAndPercentiles,
    );
}

#[test]
#[ignore = "nightly: takes minutes"]
fn means_of_processes_not_used_for_tuning_cover() {
    check_processes(
        "holdout, 1000 replications",
        &HOLDOUT,
        &[0.05, 0.10],
        Judge::Means,
    );
}

#[test]
#[ignore = "nightly: takes minutes"]
fn closed_systems_cover() {
    let four = |name, clients| ClosedLoop {
        name,
        servers: 4,
        clients,
        service_ms: 5.0,
        think_ms: 50.0,
    };
    let mut table = Table::new("closed systems, 500 replications, r = .03");
    for system in [
        four("M/M/4//1", 1),
        four("M/M/4//16", 16),
        four("M/M/4//32", 32),
        four("M/M/4//40", 40),
        four("M/M/4//50", 50),
        four("M/M/4//64", 64),
    ] {
        closed_loop_cells(&mut table, &system, 0.03, 500, 0.925..=0.995);
    }
    table.finish();
}

#[test]
#[ignore = "nightly: takes minutes"]
fn closed_systems_not_used_for_tuning_cover() {
    let one = |name, clients| ClosedLoop {
        name,
        servers: 1,
        clients,
        service_ms: 1.0,
        think_ms: 10.0,
    };
    let busy = |name, clients| ClosedLoop {
        name,
        servers: 16,
        clients,
        service_ms: 0.1,
        think_ms: 0.0,
    };
    let mut table = Table::new("closed systems, holdout, 400 replications, r = .05");
    for system in [
        one("M/M/1//2", 2),
        one("M/M/1//8", 8),
        one("M/M/1//11", 11),
        one("M/M/1//16", 16),
        busy("M/M/16//1", 1),
        busy("M/M/16//8", 8),
        busy("M/M/16//32", 32),
    ] {
        closed_loop_cells(&mut table, &system, 0.05, 400, 0.925..=0.995);
    }
    table.finish();
}

/// 40 000 I/Os of a process, each multiplied by `factor` of its place, 0 to 1.
fn shaped(process: &Process, replication: u64, factor: impl Fn(f64) -> f64) -> SlotStore {
    let mut series = process.start(replication);
    store_of(40_000 / PER_SLOT, |i| {
        series.next_time() * factor(i as f64 / 40_000.0)
    })
}

#[test]
#[ignore = "nightly: takes minutes"]
fn alarms_are_rare_without_and_certain_with_a_cause() {
    let mut table = Table::new("false alarms and power, 40 000 I/Os");
    for process in &PROCESSES[..2] {
        // A cut beyond the minimum of two slots means that the gate objected.
        let alarms = replicate(1000, |i| {
            let store = shaped(process, i, |_| 1.0);
            let found = evaluate(&store, Channel::Response, &goal(0.03)).expect("1600 slots");
            (
                found.cut.slots > 2,
                found.drift.verdict == DriftVerdict::Drifting,
            )
        });
        let gate = share(alarms.iter().map(|a| a.0));
        table.cell(
            &format!("{}: gate objects", process.name),
            gate,
            0.0..=0.02,
            "",
        );
        let drifting = share(alarms.iter().map(|a| a.1));
        table.cell(
            &format!("{}: called drifting", process.name),
            drifting,
            0.0..=0.02,
            "",
        );
    }
    let called = replicate(300, |i| {
        let store = shaped(&PROCESSES[1], i, |u| 0.9 + 0.2 * u);
        let found = evaluate(&store, Channel::Response, &goal(0.03)).expect("1600 slots");
        found.drift.verdict == DriftVerdict::Drifting
    });
    table.cell(
        "AR(1) .9: drift of 20 % called drifting",
        share(called.into_iter()),
        0.95..=1.0,
        "",
    );
    let cold = replicate(300, |i| {
        let store = shaped(&PROCESSES[0], i, |u| {
            1.0 + 2.0 * (-u * 40_000.0 / 800.0).exp()
        });
        let found = evaluate(&store, Channel::Response, &goal(0.03)).expect("1600 slots");
        (
            found.mean.value / UNIT_NS - 1.0,
            found.mean.contains(UNIT_NS),
        )
    });
    let bias = cold.iter().map(|c| c.0).sum::<f64>() / cold.len() as f64;
    table.cell("cold start 3x: bias, %", bias * 100.0, -0.5..=0.5, "");
    table.cell(
        "cold start 3x: coverage",
        share(cold.iter().map(|c| c.1)),
        0.90..=1.0,
        "",
    );
    table.finish();
}

/// Cutting whenever MSER suggests it and trusting one variance estimate, on a bursty queue.
#[test]
#[ignore = "nightly: takes minutes"]
fn a_popular_rule_is_seen_to_fail() {
    let process = &PROCESSES[4];
    let truth = process.mean() * UNIT_NS;
    let covered = replicate(200, |replication| {
        let mut series = process.start(replication);
        let mut store = SlotStore::with_grouping(25_000_000, 0, 1);
        for epoch in 0.. {
            store.push(slot_of(epoch, (0..PER_SLOT).map(|_| series.next_time())));
            if store.look_due()
                && let Some((mean, half_width)) = rivals::mser_obm(&store, 0.10, 1000.0)
            {
                return (mean - truth).abs() <= half_width;
            }
        }
        false
    });
    let mut table = Table::new("negative control: MSER-5 with overlapping batch means, r = .10");
    table.cell(process.name, share(covered.into_iter()), 0.0..=0.90, "");
    table.finish();
}
