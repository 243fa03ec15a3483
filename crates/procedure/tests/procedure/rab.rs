//! RABmarks of systems whose answers are known: four servers of 5 ms, and clients that each ask for
//! 20 operations per second by a clock of their own.
//!
//! One client alone never queues: its service time is that of a server, 5 ms, its load 20 per
//! second. Levels of 100 and 200 ms lie where every client always has an operation outstanding: the
//! load is that of four servers, 800 per second, whatever the level.

#![allow(clippy::print_stdout, reason = "the table is a product of these tests")]

use std::cell::Cell;
use std::ops::RangeInclusive;

use crate::support;
use crate::support::Coverage;
use crate::support::queues::{OpenQueue, load_where};
use procedure::{
    Plan as _, PointPlan, Preparation, RabOptions, RabProcedure, RabSubject, Trial, busy_worker,
};
use results::{
    Access, Generator, LevelOutcome, Measurement, Mode, RabGroup, RabWorkload, WarningCode,
};
use sim::SimSpec;
use stats::{Channel, Verdict};
use units::Duration;
use workload::{ClientSpec, TargetId, WorkloadDefinition};

const DEVICE: &str = "sim:mmc?servers=4&mean=5ms";
/// Requests per second of four servers that are always busy.
const CAPACITY: f64 = 800.0;
const NO_LOAD_NS: f64 = 5e6;

fn options(levels_ms: &[u64]) -> RabOptions {
    RabOptions {
        warm_up: None,
        percentile: None,
        levels: levels_ms
            .iter()
            .copied()
            .map(Duration::from_millis)
            .collect(),
        response_min: Duration::ZERO,
        response_max: Duration::from_millis(50),
        precision: 0.03,
        clients_max: 100_000,
        budget: Duration::from_secs(600),
    }
}

fn measure(name: &str, device: &str, options: RabOptions, seed: u64) -> RabWorkload {
    measure_adjusted(name, device, options, seed, |_, _| {})
}

fn measure_adjusted(
    name: &str,
    device: &str,
    options: RabOptions,
    seed: u64,
    adjust: impl Fn(&PointPlan, &mut Measurement),
) -> RabWorkload {
    measure_at((name, None), device, options, seed, adjust)
}

/// A workload whose clients ask for so much each, with every measurement `adjust`ed before the
/// procedure sees it.
fn measure_at(
    (name, rate): (&str, Option<f64>),
    device: &str,
    options: RabOptions,
    seed: u64,
    adjust: impl Fn(&PointPlan, &mut Measurement),
) -> RabWorkload {
    let definition = WorkloadDefinition::built_in(name).expect("a built-in workload");
    let spec = definition
        .spec(TargetId(0), 1 << 30, rate)
        .expect("a file that is large enough");
    let subject = RabSubject {
        run: 1,
        number: 1,
        name: name.into(),
        title: definition.title.clone(),
        clients: definition.threads,
        mode: Mode::Normal,
        begun: Duration::ZERO,
    };
    let device = SimSpec::parse(device).expect("a valid simulated device");
    let mut procedure = RabProcedure::new(subject, options);
    while let Some(plan) = procedure.next_step() {
        let trial = Trial {
            name: name.into(),
            title: name.into(),
            spec: ClientSpec::Control(spec.clone()),
            clients: plan.clients,
            depth: 1 << 16,
            access: Access::Simulated,
            preparation: Preparation::None,
            goal: Some(plan.goal),
            channel: plan.channel,
            duration_max: plan.duration_max,
            salt: plan.salt,
            sample_every: None,
            limit: None,
            warm_up: None,
        };
        let outcome = support::run_trial(&device, &trial, seed, Duration::from_millis(1));
        let mut measurement = outcome
            .measurement
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(
            measurement.lateness.max_ns, 0,
            "nobody is late in virtual time"
        );
        adjust(&plan, &mut measurement);
        procedure.record(&plan, &measurement, outcome.elapsed);
    }
    procedure.workload()
}

/// How often intervals of transaction workloads contained the truth.
fn check_transactions(seeds: RangeInclusive<u64>) {
    let mut no_load = Coverage::of("service time of one client");
    let mut load = Coverage::of("load at 100 and 200 ms");
    let mut mark = Coverage::of("RABmark[r]");
    let mut unsettled = Vec::new();
    let truth = 20.0 / 5.0 + CAPACITY / 100.0 + CAPACITY / 200.0;
    for seed in seeds {
        let found = measure("transaction", DEVICE, options(&[100, 200]), seed);
        assert!(
            found.is_complete && found.group == RabGroup::Transaction,
            "seed {seed}"
        );
        let one = found.no_load.expect("one client is measured");
        no_load.add(&one.service, NO_LOAD_NS, seed);
        for level in &found.levels {
            match &level.by_service {
                LevelOutcome::Reached { load: at, .. } => load.add(at, CAPACITY, seed),
                LevelOutcome::Between { low, high } if (*low..=*high).contains(&CAPACITY) => {
                    unsettled.push(seed);
                }
                other => panic!("seed {seed}: {other:?}"),
            }
        }
        let found = found.rabmark_r.expect("all was measured");
        assert!(found.is_whole, "seed {seed}");
        mark.add(&found.value, truth, seed);
    }
    // Two loads between which the level surely lies are an answer, too, but not the usual one.
    let allowed = load.replications() / 10;
    assert!(unsettled.len() as u64 <= allowed, "{unsettled:?}");
    no_load.check();
    load.check();
    mark.check();
}

#[test]
fn rabmarks_of_a_transaction_workload_cover_the_truth() {
    check_transactions(1..=12);
}

#[test]
#[ignore = "takes a minute in release: part of the nightly tests"]
fn rabmarks_of_many_transaction_workloads_cover_the_truth() {
    check_transactions(1001..=1400);
}

#[test]
fn rabmarks_of_a_batch_workload_cover_the_truth() {
    let mut of_load = Coverage::of("RABmark[r] of five clients");
    let mut of_bytes = Coverage::of("RABmark[s] of five clients");
    // Five clients that never wait keep four servers busy: 800 per second, 5 / 800 s each.
    let truth = CAPACITY / (5.0 / CAPACITY * 1e3);
    for seed in 1..=12 {
        let found = measure("batch", DEVICE, options(&[]), seed);
        of_load.add(&found.rabmark_r.expect("measured").value, truth, seed);
        let mib = CAPACITY * 64.0 / 1024.0;
        of_bytes.add(&found.rabmark_s.expect("measured").value, mib, seed);
    }
    of_load.check();
    of_bytes.check();
}

/// Thirds of the way from one client to 50 ms, of clients that ask once in five seconds: so many of
/// them make random arrivals at four servers of 15 ms, whose answers are Erlang's.
fn check_levels_from_no_load(budget: Duration, seeds: RangeInclusive<u64>) {
    let queue = |arrivals: f64| OpenQueue {
        servers: 4,
        arrivals,
        service: 1.0 / 15.0,
    };
    let load_at =
        |level_ms: f64| 1e3 * load_where(4.0 / 15.0, |it| queue(it).response_mean() > level_ms);
    let levels = [15.0 + 35.0 / 3.0, 15.0 + 70.0 / 3.0, 50.0];
    let terms = levels.map(|level| load_at(level) / level);
    let truth = 0.2 / 15.0 + terms.iter().sum::<f64>();
    let mut no_load = Coverage::of("service time of one client");
    let mut first = Coverage::of("first level");
    let mut mark = Coverage::of("RABmark[r]");
    for seed in seeds {
        let options = RabOptions {
            budget,
            ..options(&[])
        };
        let workload = ("transaction", Some(0.2));
        let found = measure_at(workload, "sim:mmc?mean=15ms", options, seed, |_, _| {});
        no_load.add(
            &found.no_load.as_ref().expect("one client").service,
            15e6,
            seed,
        );
        let level = found.levels[0].level_estimate.expect("an interval");
        first.add(&level, levels[0] * 1e6, seed);
        let found = found.rabmark_r.expect("all was measured").value;
        mark.add(&found, truth, seed);
    }
    no_load.check();
    first.check();
    mark.check();
}

#[test]
fn a_rabmark_has_what_is_unsure_of_the_time_its_levels_are_made_from() {
    check_levels_from_no_load(Duration::from_secs(6_000), 1..=8);
}

#[test]
#[ignore = "takes minutes: part of the nightly tests"]
fn many_rabmarks_have_what_is_unsure_of_their_levels() {
    check_levels_from_no_load(Duration::from_secs(6_000), 1001..=1060);
    check_levels_from_no_load(Duration::from_secs(7 * 86_400), 2001..=2060);
}

/// Clients that never wait keep their places: on a disk the throughput of one set of places is some
/// percent off the mean over places, however long it is measured. The truth is the mean of all
/// seeds.
fn check_places(seeds: RangeInclusive<u64>) {
    let options = RabOptions {
        budget: Duration::from_secs(4 * 3600),
        ..options(&[])
    };
    let (mut found, mut unsettled) = (Vec::new(), 0);
    for seed in seeds {
        let first = Cell::new(None);
        let options = options.clone();
        let all = measure_adjusted("batch", "sim:hp97560", options, seed, |plan, set| {
            if plan.salt == 0 {
                first.set(Some(set.throughput));
            }
        });
        let load = all.measurement.expect("measured");
        unsettled += usize::from(load.verdict != Verdict::Converged);
        let sets = all.place_sets.expect("sets of places");
        assert!(sets >= 13, "seed {seed}: {sets}");
        found.push((seed, load.throughput, first.get().expect("a first set")));
    }
    // A few have no time for more sets, or sets that do not look settled.
    assert!(unsettled <= found.len() / 8, "{unsettled}");
    let truth = found.iter().map(|it| it.1.value).sum::<f64>() / found.len() as f64;
    let mut over_sets = Coverage::of("throughput of five sequential clients on a disk");
    let mut of_one = Coverage::of("the same of a single set of places");
    for (seed, over, one) in &found {
        over_sets.add(over, truth, *seed);
        of_one.add(one, truth, *seed);
    }
    println!("{of_one}");
    over_sets.check();
    assert!(of_one.share() < 0.5, "{of_one}: the model keeps no places");
}

/// Bug: the interval was that of a single set. +- 0.4 % stood beside values that differed by 3.4 %.
#[test]
fn the_interval_of_a_batch_workload_covers_the_places_where_clients_begin() {
    check_places(1..=16);
}

#[test]
#[ignore = "takes half a minute: part of the nightly tests"]
fn intervals_of_many_batch_workloads_cover_the_places() {
    check_places(1001..=1240);
}

/// One client alone on a server of 40 ms asks 20 times a second: 3 % takes more than three minutes.
#[test]
fn hours_of_budget_are_used_where_an_answer_needs_them() {
    let precision = |budget| {
        let options = RabOptions {
            budget,
            ..options(&[400])
        };
        let found = measure("transaction", "sim:mm1?mean=40ms", options, 5);
        found
            .no_load
            .expect("one client")
            .service
            .relative_half_width()
    };
    let (short, long) = (
        precision(Duration::from_secs(600)),
        precision(Duration::from_secs(40 * 3600)),
    );
    assert!(short > 0.03 && long <= 0.03, "{short} and {long}");
}

#[test]
fn thirds_are_of_the_way_from_no_load_to_the_highest_level() {
    let few = RabOptions {
        clients_max: 200,
        ..options(&[])
    };
    let found = measure("transaction", "sim:delay?time=5ms", few, 7);
    let levels: Vec<u64> = found.levels.iter().map(|level| level.level_ns).collect();
    assert_eq!(levels, [20_000_000, 35_000_000, 50_000_000]);
    let labels: Vec<&str> = found.levels.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["1/3", "2/3", "max"]);
    // A pure delay never gets slower: no level is reached, and the RABmark is a lower bound.
    let unreached = |outcome: &LevelOutcome| matches!(outcome, LevelOutcome::NotReached { .. });
    assert!(
        found
            .levels
            .iter()
            .all(|level| unreached(&level.by_service))
    );
    assert!(!found.rabmark_r.expect("something was measured").is_whole);
}

/// A thread of ours that had no time for more is a limit of `rab` as of any trial: told of a batch
/// workload, and of the points of a curve that are cited, but not of scouts.
///
/// Bug: of the curve of response time from due it was not kept.
#[test]
fn a_worker_that_was_the_limit_is_told_of_a_workload() {
    let told = |name: &str, is_busy: &dyn Fn(&PointPlan) -> bool| {
        let options = options(&[100]);
        let found = measure_adjusted(name, DEVICE, options, 3, |plan, measurement| {
            let busy = if is_busy(plan) { 0.99 } else { 0.5 };
            measurement.clients = measurement.clients.max(2);
            measurement.generator = Some(Generator {
                busiest_worker: Some(busy),
                workers_busy: Some(busy),
                ..Generator::default()
            });
            measurement.warnings.extend(busy_worker(measurement));
        });
        found
            .all_warnings()
            .any(|it| it.code == WarningCode::BusyWorker)
    };
    assert!(told("batch", &|_| true));
    assert!(!told("batch", &|_| false));
    assert!(!told("transaction", &|plan| plan.is_scout));
    assert!(told("transaction", &|plan| !plan.is_scout
        && plan.channel == Channel::Service));
    assert!(told("transaction", &|plan| !plan.is_scout
        && plan.channel == Channel::Response));
}
