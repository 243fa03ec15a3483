//! Findings, drift and warm-up cut: hits where there is a cause, silence where there is none.
//! Every rate is over 100 seeds.

use crate::support::acceptance::goal;
use crate::support::closed_loop::ClosedLoop;
use crate::support::processes::{Kind, Process};
use crate::support::table::Table;
use crate::support::{
    self, PER_SLOT, Random, UNIT_NS, replicate, share, store_of, store_of_epochs,
};
use stats::{
    Channel, DriftVerdict, Evaluation, Finding, SlotAccumulator, SlotStore, evaluate,
    evaluate_fully, moved,
};

const SEEDS: u64 = 100;

fn fully(store: &SlotStore) -> Evaluation {
    evaluate_fully(store, Channel::Response, &goal(0.03), &[]).expect("enough slots")
}

/// Share of seeds for which a finding of interest appears in 40 000 I/Os of `series`.
fn rate(series: impl Fn(u64) -> SlotStore + Sync, wanted: impl Fn(&Finding) -> bool + Sync) -> f64 {
    share(replicate(SEEDS, |i| fully(&series(i)).findings.iter().any(&wanted)).into_iter())
}

fn store_from(process: Process, ios: u64, seed: u64) -> SlotStore {
    let mut series = process.start(seed);
    store_of(ios / PER_SLOT, |_| series.next_time())
}

const EXPONENTIAL: Process = Process::new("detector exponential", Kind::Exponential);
const AUTOREGRESSIVE: Process = Process::new("detector AR(1)", Kind::Autoregressive { rho: 0.9 });
const QUEUE: Process = Process::new("detector M/M/1 .8", Kind::Queue { load: 0.8 });
const HEAVY: Process = Process::new("detector lognormal 1.5", Kind::Lognormal { sigma: 1.5 });
const NARROW: Process = Process::new("detector lognormal .2", Kind::Lognormal { sigma: 0.2 });
const WIDE: Process = Process::new("detector lognormal 1", Kind::Lognormal { sigma: 1.0 });

/// Fast and slow completions mixed independently, each lognormal with sigma 0.2.
fn mixture(ios: u64, ratio: f64, slow: f64, seed: u64) -> SlotStore {
    let mut random = Random::new("mixture", seed);
    store_of(ios / PER_SLOT, |_| {
        let level = if random.uniform() <= slow { ratio } else { 1.0 };
        level * (0.2 * random.normal()).exp()
    })
}

/// A latency that rose from 1 to 2 ms was said to have risen 64.7 %, and one that halved to have
/// fallen 66.7 %, or 215 %: the change was divided by the mean.
#[test]
fn a_change_is_told_as_one_of_the_start() {
    let check = |from: f64, to: f64, expected: &str| {
        let total = (to - from) / f64::midpoint(from, to);
        assert_eq!(moved(total), expected);
    };
    check(1.0, 1.2, "latency rose 20.0 %");
    check(1.0, 2.0, "latency rose 100.0 %");
    check(2.0, 1.0, "latency fell 50.0 %");
    check(1.0, 4.0, "latency rose by more than its mean");
    let fall = Finding::Drifting {
        total: -2.153,
        bound: 3.2,
    };
    let told = "latency fell by more than its mean. Precondition the target, or run longer.";
    assert_eq!(fall.to_string(), told);
}

#[test]
fn two_modes_are_found_and_one_is_not_split() {
    let is_bimodal = |finding: &Finding| matches!(finding, Finding::Bimodal { .. });
    let mut table = Table::new("bimodality");
    for process in [EXPONENTIAL, AUTOREGRESSIVE, HEAVY, NARROW, WIDE] {
        for ios in [1_600, 40_000] {
            let found = rate(|i| store_from(process, ios, i), is_bimodal);
            table.cell(&format!("{} {ios}", process.name), found, 0.0..=0.02, "");
        }
    }
    let found = rate(|i| mixture(40_000, 1.5, 0.5, i), is_bimodal);
    table.cell("ratio 1.5, below the resolution", found, 0.0..=0.0, "");
    for (ratio, slow) in [(100.0, 0.2), (100.0, 0.02), (4.0, 0.3)] {
        let found = rate(|i| mixture(40_000, ratio, slow, i), is_bimodal);
        table.cell(
            &format!("ratio {ratio}, {slow} slow"),
            found,
            0.99..=1.0,
            "",
        );
    }
    table.finish();
}

#[test]
fn the_modes_are_described() {
    let found = fully(&mixture(40_000, 100.0, 0.2, 1)).findings;
    let [
        Finding::Bimodal {
            modes: [fast, slow],
            weight,
        },
    ] = found[..]
    else {
        panic!("one finding expected: {found:?}");
    };
    assert!((fast / UNIT_NS - 1.02).abs() < 0.05, "{fast}");
    assert!((slow / UNIT_NS - 102.0).abs() < 3.0, "{slow}");
    assert!(
        weight.contains(0.2) && weight.relative_half_width() < 0.1,
        "{weight:?}"
    );
}

#[test]
fn rare_episodes_are_found() {
    let is_rare = |finding: &Finding| matches!(finding, Finding::Rare { .. });
    let mut table = Table::new("rare episodes");
    for process in [EXPONENTIAL, AUTOREGRESSIVE] {
        let found = rate(|i| store_from(process, 40_000, i), is_rare);
        table.cell(process.name, found, 0.0..=0.02, "");
    }
    let stalls = |seed| {
        let mut series = EXPONENTIAL.start(seed);
        store_of(1600, |i| {
            series.next_time() * if i % 8000 < 100 { 20.0 } else { 1.0 }
        })
    };
    table.cell("5 stalls", rate(stalls, is_rare), 0.99..=1.0, "");
    table.finish();
}

/// Bug: slots in which nothing completed repeated the mean of the one before, which was told as a
/// level that moved.
#[test]
fn a_stall_is_no_swing() {
    let is_swing = |finding: &Finding| matches!(finding, Finding::Swinging { .. });
    let mut table = Table::new("swing");
    for slots in [20, 80, 160] {
        let stalled = |seed| {
            let mut series = EXPONENTIAL.start(seed);
            store_of_epochs((0..150).chain(150 + slots..400), |_| series.next_time())
        };
        let what = format!("nothing in {slots} of 400 slots");
        table.cell(&what, rate(stalled, is_swing), 0.0..=0.02, "");
    }
    table.finish();
}

#[test]
fn oscillation_is_found_with_its_period() {
    let is_periodic = |finding: &Finding| matches!(finding, Finding::Oscillation { .. });
    let mut table = Table::new("oscillation");
    for process in [EXPONENTIAL, AUTOREGRESSIVE, QUEUE, HEAVY] {
        for ios in [1_600, 40_000] {
            let found = rate(|i| store_from(process, ios, i), is_periodic);
            table.cell(&format!("{} {ios}", process.name), found, 0.0..=0.03, "");
        }
    }
    // 4000 I/Os are 160 base slots of 25 ms.
    let is_right = |finding: &Finding| {
        matches!(finding, Finding::Oscillation { period_ns }
            if (3_600_000_000..=4_400_000_000).contains(period_ns))
    };
    let wave = |seed| {
        let mut series = EXPONENTIAL.start(seed);
        let turn = |i: u64| (i as f64 / 4000.0 * std::f64::consts::TAU).sin();
        store_of(1600, |i| series.next_time() * (1.0 + 0.3 * turn(i)))
    };
    table.cell(
        "wave of 30 %, 10 periods",
        rate(wave, is_right),
        0.95..=1.0,
        "",
    );
    let stalls = |seed| {
        let mut series = EXPONENTIAL.start(seed);
        store_of(1600, |i| {
            series.next_time() * if i % 4000 < 100 { 20.0 } else { 1.0 }
        })
    };
    table.cell(
        "stall every 4000 I/Os",
        rate(stalls, is_right),
        0.95..=1.0,
        "",
    );
    // Ten to eighty times as often: no multiple of the period may be taken for it.
    for ios in [50, 125, 390, 1_000, 2_500] {
        let stalls = |seed| {
            let mut series = EXPONENTIAL.start(seed);
            store_of(1600, |i| {
                let slow = if i % ios < 12 { 20.0 } else { 1.0 };
                series.next_time() * slow
            })
        };
        let period_ns = ios * 1_000_000;
        let is_wrong = |finding: &Finding| {
            matches!(finding, Finding::Oscillation { period_ns: told }
                if told.abs_diff(period_ns) > period_ns / 10)
        };
        let what = format!("stall every {ios} I/Os: another period");
        table.cell(&what, rate(stalls, is_wrong), 0.0..=0.05, "");
    }
    table.finish();
}

#[test]
fn drift_is_named_where_it_is_relevant() {
    let drifting = |process: Process, total: f64| {
        let verdicts = replicate(SEEDS, |seed| {
            let mut series = process.start(seed);
            let store = store_of(1600, |i| {
                series.next_time() * (1.0 + total * (i as f64 / 40_000.0 - 0.5))
            });
            let found = evaluate(&store, Channel::Response, &goal(0.03)).expect("1600 slots");
            found.drift.verdict == DriftVerdict::Drifting
        });
        share(verdicts.into_iter())
    };
    let mut table = Table::new("called drifting");
    table.cell(
        "exponential, no drift",
        drifting(EXPONENTIAL, 0.0),
        0.0..=0.04,
        "",
    );
    table.cell(
        "AR(1), no drift",
        drifting(AUTOREGRESSIVE, 0.0),
        0.0..=0.04,
        "",
    );
    table.cell(
        "exponential, 10 %",
        drifting(EXPONENTIAL, 0.1),
        0.9..=1.0,
        "",
    );
    table.cell("AR(1), 20 %", drifting(AUTOREGRESSIVE, 0.2), 0.95..=1.0, "");
    table.finish();
}

#[test]
fn a_cold_start_is_cut_off() {
    let found = replicate(SEEDS, |seed| {
        let mut series = EXPONENTIAL.start(seed);
        let store = store_of(1600, |i| {
            series.next_time() * (1.0 + 2.0 * (-(i as f64) / 800.0).exp())
        });
        evaluate(&store, Channel::Response, &goal(0.03)).expect("1600 slots")
    });
    let bias = found
        .iter()
        .map(|e| e.mean.value / UNIT_NS - 1.0)
        .sum::<f64>()
        / SEEDS as f64;
    let mut table = Table::new("cold start, 3x, decaying over 800 I/Os");
    table.cell("bias, %", bias * 100.0, -0.5..=0.5, "");
    let settled = share(found.iter().map(|e| e.cut.is_settled && e.cut.slots > 2));
    table.cell("settled after a cut", settled, 0.95..=1.0, "");
    table.cell(
        "coverage",
        share(found.iter().map(|e| e.mean.contains(UNIT_NS))),
        0.88..=1.0,
        "",
    );
    table.finish();
}

/// One client, a fifth of whose operations take 500 times as long: a slot holds a hundred
/// completions or two. A gate that looked at the mean time of each slot took that for a warm-up.
#[test]
fn hits_and_misses_are_no_warm_up() {
    const WIDTH_NS: u64 = 32_000_000;
    let objects = replicate(10 * SEEDS, |seed| {
        let mut random = Random::new("hits and misses", seed);
        let mut store = SlotStore::with_grouping(WIDTH_NS, 1, 1);
        let mut accumulator = SlotAccumulator::new();
        let (mut now_ns, mut epoch) = (0, 0);
        while epoch < 256 {
            let mean_ns = if random.uniform() <= 0.2 { 5e6 } else { 1e4 };
            let time_ns = (random.exponential() * mean_ns) as u64;
            now_ns += time_ns;
            if now_ns / WIDTH_NS > epoch {
                store.push(accumulator.take(epoch));
                epoch = now_ns / WIDTH_NS;
            }
            accumulator.record(time_ns, time_ns, 0, 0);
            accumulator.record_warm();
        }
        let found = evaluate(&store, Channel::Response, &goal(0.03)).expect("256 slots");
        found.cut.slots > 2
    });
    let mut table = Table::new("hits and misses");
    table.cell("gate objects", share(objects.into_iter()), 0.0..=0.02, "");
    table.finish();
}

/// A closed system accounts for all of its clients' time; a harness that loses a tenth of the
/// think time between a completion and the next request is found out.
#[test]
fn lost_time_is_unaccounted_for() {
    let system = ClosedLoop {
        name: "lost time",
        servers: 4,
        clients: 40,
        service_ms: 5.0,
        think_ms: 50.0,
    };
    for (lost, expected) in [(0.0, false), (0.1, true)] {
        let mut store = SlotStore::with_grouping(100_000_000, 40, 1);
        let mut accumulator = SlotAccumulator::new();
        let (mut epoch, mut completions) = (0, 0);
        system.run(1, |done| {
            let current = done.at_ns / 100_000_000;
            if current > epoch {
                store.push(accumulator.take(epoch));
                epoch = current;
            }
            accumulator.record(done.response_ns, done.response_ns, 0, 0);
            accumulator.record_think((done.think_ns as f64 * (1.0 - lost)) as u64);
            if done.is_second {
                accumulator.record_warm();
            }
            completions += 1;
            completions < 100_000
        });
        let found = fully(&store).findings;
        let is_lost = found
            .iter()
            .any(|f| matches!(f, Finding::Unaccounted { .. }));
        assert_eq!(is_lost, expected, "{lost} lost: {found:?}");
    }
}

#[test]
fn lateness_is_told_with_advice() {
    let mut series = EXPONENTIAL.start(0);
    let mut store = SlotStore::with_grouping(1_000_000, 0, 1);
    for epoch in 0..200 {
        let mut slot = support::slot_of(epoch, (0..25).map(|_| series.next_time()));
        slot.lateness_sum = 0.2 * slot.response.sum;
        store.push(slot);
    }
    let found = fully(&store).findings;
    let all: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(all.join("\n").contains("late, by 20 %"), "{all:?}");
}
