//! Stores that no sane device fills: every number must still be a number.

use crate::support::acceptance::goal;
use crate::support::{self, Random, store_of};
use stats::{
    Channel, DriftVerdict, Evaluation, Goal, Slot, SlotStore, Verdict, evaluate_fully,
    quantile_interval,
};

const PS: [f64; 6] = [0.0, 0.001, 0.5, 0.99, 0.999, 1.0];

fn assert_numbers(found: &Evaluation, store: &SlotStore, what: &str) {
    let percentiles = found.percentiles.iter().filter_map(|p| p.estimate);
    let raw = PS
        .iter()
        .filter_map(|&p| quantile_interval(store, found.channel, found, p));
    for estimate in percentiles.chain(raw).chain([found.mean, found.throughput]) {
        assert!(
            estimate.value.is_finite() && estimate.low.is_finite(),
            "{what}: {estimate:?}"
        );
        assert!(
            estimate.samples.is_finite() && !estimate.high.is_nan(),
            "{what}: {estimate:?}"
        );
        assert!(
            estimate.low <= estimate.value && estimate.value <= estimate.high,
            "{what}"
        );
        assert!(!estimate.relative_half_width().is_nan(), "{what}");
    }
    let drift = found.drift;
    for number in [found.ess, drift.total, drift.standard_error, drift.bound] {
        assert!(number.is_finite(), "{what}: {found:?}");
    }
    for finding in &found.findings {
        let text = finding.to_string();
        assert!(
            !text.contains("NaN") && !text.contains("inf"),
            "{what}: {text}"
        );
    }
}

fn check(store: &SlotStore, what: &str) -> Option<Evaluation> {
    for goal in [Goal::scout(), goal(0.03), goal(0.10)] {
        for channel in [Channel::Response, Channel::Service] {
            if let Some(found) = evaluate_fully(store, channel, &goal, &PS) {
                assert_numbers(&found, store, what);
            }
        }
    }
    evaluate_fully(store, Channel::Response, &goal(0.03), &PS)
}

#[test]
fn too_little_gives_nothing() {
    let mut store = SlotStore::with_grouping(1000, 0, 1);
    assert_eq!(check(&store, "nothing pushed"), None);
    store.push(support::slot_of(7, [1.0].into_iter()));
    assert_eq!(check(&store, "1 completion"), None);
    store.close(1000);
    assert_eq!(check(&store, "1 completion in 993 slots"), None);
    let mut store = SlotStore::with_grouping(1000, 0, 1);
    store.push(Slot::empty(0));
    store.close(600);
    assert_eq!(check(&store, "all empty"), None);
    assert_eq!(check(&store_of(15, |_| 1.0), "15 slots"), None);
}

#[test]
fn sixteen_slots_give_an_interval() {
    let mut random = Random::new("sixteen", 0);
    let found = check(&store_of(16, |_| random.exponential()), "16 slots").expect("enough");
    assert!(found.mean.low < found.mean.high);
    assert!(!found.is_converged, "{:?}", found.verdict);
}

/// A device with a constant delay has no variance to estimate: its mean is known at once.
#[test]
fn a_constant_device_converges_without_width() {
    for slots in [256, 300, 1000] {
        let found = check(&store_of(slots, |_| 1.234_567), "constant").expect("enough");
        assert_eq!(found.verdict, Verdict::Converged, "{found:?}");
        assert!((found.mean.value - 1_234_567.0).abs() < 1e-6);
        assert_eq!(found.mean.low, found.mean.high);
        assert_eq!(found.throughput.low, found.throughput.high);
        assert_eq!(found.drift.verdict, DriftVerdict::Steady);
        assert_eq!(found.findings, []);
        let median = found
            .percentiles
            .iter()
            .find(|p| p.p == 0.5)
            .expect("asked for");
        let estimate = median.estimate.expect("supported");
        assert_eq!(
            (estimate.low, estimate.value, estimate.high),
            (1_234_567.0, 1_234_567.0, 1_234_567.0)
        );
    }
}

#[test]
fn extremes_stay_numbers() {
    let huge = (u64::MAX / 4) as f64 / support::UNIT_NS;
    check(&store_of(200, |_| huge), "all huge");
    check(&store_of(200, |_| 0.0), "all zero");
    check(
        &store_of(200, |i| if i == 3000 { huge } else { 0.001 }),
        "one huge",
    );
    check(
        &store_of(200, |i| if i % 7 == 0 { huge } else { 0.0 }),
        "huge and zero",
    );
    check(
        &store_of(200, |i| if i < 2500 { 1.0 } else { 2.0 }),
        "a step",
    );
    check(&store_of(200, |i| i as f64), "a ramp");
}

#[test]
fn stores_with_random_holes_stay_numbers() {
    for seed in 0..300 {
        let mut random = Random::new("odd stores", seed);
        let clients = (random.bits() % 3) as u32;
        let mut store = SlotStore::new(1 + random.bits() % 1_000_000, clients);
        let mut epoch = random.bits() % 100;
        let density = random.bits() % 40;
        let shape = random.bits() % 50;
        for _ in 0..random.bits() % 2000 {
            let count = if random.bits() % 5 < 2 { 0 } else { density };
            let times = (0..count).map(|_| random.exponential().powi(shape as i32 / 4));
            let mut slot = support::slot_of(epoch, times);
            slot.newly_warm = u32::from(epoch % 100 == 99);
            store.push(slot);
            epoch += 1 + if random.bits().is_multiple_of(50) {
                random.bits() % 3000
            } else {
                0
            };
        }
        store.close(epoch + random.bits() % 1000);
        check(&store, &format!("seed {seed}"));
    }
}

/// Bug: of storage that stalls, a curve said "between -42.4/s and 243/s". Whatever the data, what
/// is said of times and rates is not negative, shares are shares, and percentiles are in order.
#[test]
fn what_is_impossible_is_never_said() {
    let shapes: [fn(&mut Random) -> f64; 5] = [
        |random| random.exponential(),
        |random| random.exponential().powi(6),
        |random| random.uniform().powf(-1.0 / 1.2),
        |random| if random.uniform() < 0.01 { 300.0 } else { 4.0 },
        |random| (4.0 * random.normal()).exp(),
    ];
    for (shape, next) in shapes.into_iter().enumerate() {
        for seed in 0..60 {
            let mut random = Random::new("possible", seed);
            let mut store = SlotStore::with_grouping(25_000_000, 0, 1);
            let mut epoch = 0;
            for _ in 0..16 + seed {
                // Some slots are empty, and some pauses long.
                epoch += 1 + random.exponential().powi(4) as u64;
                let count = random.bits() % 6;
                store.push(support::slot_of(
                    epoch,
                    (0..count).map(|_| next(&mut random)),
                ));
            }
            let Some(found) = check(&store, "possible") else {
                continue;
            };
            let what = format!("shape {shape}, seed {seed}: {found:?}");
            assert!(
                found.mean.low >= 0.0 && found.throughput.low >= 0.0,
                "{what}"
            );
            let percentiles = found.percentiles.iter().filter_map(|it| it.estimate);
            let ends: Vec<[f64; 2]> = percentiles.map(|it| [it.low, it.value]).collect();
            let known = found.percentiles.iter().filter(|it| it.has_interval());
            let highs: Vec<f64> = known.filter_map(|it| Some(it.estimate?.high)).collect();
            assert!(highs.is_sorted(), "{what}");
            assert!(ends.is_sorted_by(|a, b| a[1] <= b[1]), "{what}");
            for finding in &found.findings {
                if let stats::Finding::Bimodal { weight, .. } = finding {
                    assert!(weight.low >= 0.0 && weight.high <= 1.0, "{what}");
                }
            }
        }
    }
}
