//! What must hold of the event loop whatever the driver, its capacity, and the number of engines.

use std::collections::BTreeMap;

use crate::support::{Done, SLOT, Setting, closed, mixed, open};
use engine::{BACKLOG_MAX, EngineState, KindRecord};
use stats::Histogram;
use units::{Duration, Instant};
use workload::{ClientId, GapShape, Op, OpKind};

const OPERATIONS: u64 = 150;
const CLIENTS: u32 = 7;

fn setting(device: &'static str) -> Setting {
    Setting {
        device,
        spec: mixed(closed(Duration::from_micros(200)), Some(OPERATIONS)),
        clients: CLIENTS,
        engines: 1,
        capacity: 64,
        seed: 11,
        end: Duration::from_secs(60),
    }
}

fn streams(done: &[Done]) -> BTreeMap<ClientId, Vec<Op>> {
    done.iter().flat_map(|done| done.driver.streams()).collect()
}

#[test]
fn a_clients_operations_depend_on_seed_and_client_only() {
    let reference = streams(&setting("sim:mm1").run());
    assert_eq!(reference.len(), CLIENTS as usize);
    for device in ["sim:mm1", "sim:mmc?mean=2ms", "sim:delay?time=10us", "null"] {
        for capacity in [1, 64] {
            for engines in [1, 2, 3] {
                let here = Setting {
                    capacity,
                    engines,
                    ..setting(device)
                };
                assert!(
                    streams(&here.run()) == reference,
                    "{device} {capacity} {engines}"
                );
            }
        }
    }
    let other_seed = Setting {
        seed: 12,
        ..setting("sim:mm1")
    };
    assert!(streams(&other_seed.run()) != reference);
}

#[test]
fn a_clients_operations_do_not_depend_on_its_pacing() {
    let reference = streams(&setting("sim:mm1").run());
    let pacings = [
        closed(Duration::ZERO),
        closed(Duration::from_millis(3)),
        open(GapShape::Constant, 500.0),
        open(GapShape::Uniform, 50_000.0),
        open(GapShape::Exponential, 500.0),
    ];
    for pacing in pacings {
        let here = Setting {
            spec: mixed(pacing, Some(OPERATIONS)),
            ..setting("sim:mm1")
        };
        assert!(streams(&here.run()) == reference, "{pacing:?}");
    }
}

#[test]
fn nothing_is_lost_or_repeated_and_finished_clients_end_the_run() {
    for device in [
        "sim:mm1",
        "sim:mmc?servers=3&mean=1ms",
        "sim:delay",
        "sim:cache",
        "null",
    ] {
        for (capacity, engines) in [(1, 1), (3, 2), (64, 3)] {
            for pacing in [closed(Duration::ZERO), open(GapShape::Exponential, 3_000.0)] {
                let spec = mixed(pacing, Some(OPERATIONS));
                let here = Setting {
                    capacity,
                    engines,
                    spec,
                    ..setting(device)
                };
                let done = here.run();
                let completed: usize = done.iter().map(|done| done.driver.completed.len()).sum();
                assert_eq!(
                    completed as u64,
                    OPERATIONS * u64::from(CLIENTS),
                    "{here:?}"
                );
                for engine in &done {
                    assert_eq!(engine.state, EngineState::Finished, "{here:?}");
                    assert!(engine.driver.outstanding_max <= capacity, "{here:?}");
                    assert_each_answered_once(engine, &here);
                }
            }
        }
    }
}

fn assert_each_answered_once(done: &Done, setting: &Setting) {
    let key =
        |request: &workload::Request| (request.client, request.due, format!("{:?}", request.op));
    let mut asked: Vec<_> = done.driver.submitted.iter().map(key).collect();
    let mut answered: Vec<_> = done
        .driver
        .completed
        .iter()
        .map(|c| key(&c.request))
        .collect();
    asked.sort();
    answered.sort();
    assert!(asked == answered, "{setting:?}");
}

#[test]
fn a_client_with_nothing_to_do_ends_at_once() {
    for pacing in [closed(Duration::ZERO), open(GapShape::Exponential, 1_000.0)] {
        let done = Setting {
            spec: mixed(pacing, Some(0)),
            ..setting("sim:mm1")
        }
        .run();
        assert_eq!(done[0].state, EngineState::Finished);
        assert!(done[0].driver.submitted.is_empty());
        // All that is to be told is that the clients have gone.
        let slots = &done[0].slots;
        assert!(slots.iter().all(|slot| slot.completions + slot.errors == 0));
        assert!(slots.iter().map(|slot| slot.left).sum::<u32>() > 0);
    }
}

#[test]
fn requests_beyond_capacity_wait_in_the_order_in_which_they_fell_due() {
    for capacity in [1, 4] {
        let spec = mixed(open(GapShape::Exponential, 2_000.0), Some(2_000));
        let device = "sim:mm1?mean=100us";
        let done = Setting {
            capacity,
            spec,
            ..setting(device)
        }
        .run();
        let requests = &done[0].driver.submitted;
        let waited = requests
            .iter()
            .filter(|request| request.ready > request.due)
            .count();
        assert!(
            waited > 1_000,
            "only {waited} of {} requests waited",
            requests.len()
        );
        assert!(
            requests.is_sorted_by_key(|request| request.due),
            "capacity {capacity}"
        );
        for completion in &done[0].driver.completed {
            assert_eq!(
                completion.lateness(),
                Duration::ZERO,
                "virtual time is never late"
            );
        }
    }
}

#[test]
fn a_slow_device_does_not_move_the_schedule_of_open_clients() {
    for shape in [GapShape::Constant, GapShape::Uniform, GapShape::Exponential] {
        let run = |device, capacity| {
            let spec = mixed(open(shape, 1_000.0), Some(500));
            Setting {
                device,
                capacity,
                spec,
                ..setting(device)
            }
            .run()[0]
                .driver
                .schedules()
        };
        let reference = run("sim:delay?time=1us", 64);
        assert_eq!(run("sim:mm1?mean=5ms", 1), reference, "{shape:?}");
        assert_eq!(run("sim:mm1?stall=300ms@100", 8), reference, "{shape:?}");
    }
}

/// Two requests a millisecond more than the device takes, until the backlog is full.
#[test]
fn open_arrivals_that_outrun_the_storage_are_reported_at_the_bound_of_the_backlog() {
    let spec = mixed(open(GapShape::Constant, 1e6), None);
    let here = Setting {
        spec,
        capacity: 2,
        clients: 4,
        ..setting("sim:md1?time=1ms")
    };
    let done = here.run();
    assert_eq!(done[0].state, EngineState::Overloaded);
    // Four million a second fill the backlog in a quarter of a second, in which 250 are done.
    let seconds = done[0]
        .driver
        .completed
        .last()
        .expect("some were done")
        .completed
        .as_nanos() as f64
        / 1e9;
    let expected = (BACKLOG_MAX as f64 + 250.0) / 4e6;
    assert!(
        (seconds - expected).abs() < 0.002,
        "{seconds} s, not {expected}"
    );
}

/// Bug: a client without a gap between its requests made the event loop fill the memory, because
/// the bound was only looked at when no timer was due.
#[test]
fn arrivals_without_a_gap_are_reported_too() {
    let pacing = open(GapShape::Constant, f64::INFINITY);
    let done = Setting {
        spec: mixed(pacing, None),
        ..setting("sim:md1")
    }
    .run();
    assert_eq!(done[0].state, EngineState::Overloaded);
}

#[test]
fn slots_add_up_to_the_record_and_come_in_order() {
    for device in [
        "sim:mm1",
        "sim:mmc?servers=3&mean=1ms",
        "sim:mm1?stall=50ms@300",
        "null",
    ] {
        for engines in [1, 2] {
            let done = Setting {
                engines,
                ..setting(device)
            }
            .run();
            done.iter()
                .for_each(|done| assert_slots_add_up(done, device));
            let slots = done.iter().flat_map(|done| &done.slots);
            assert_eq!(
                slots.map(|slot| slot.newly_warm).sum::<u32>(),
                CLIENTS,
                "{device}"
            );
        }
    }
}

fn assert_slots_add_up(done: &Done, device: &str) {
    let kinds = || done.record.kinds.values();
    let slots = || done.slots.iter();
    let count: u64 = kinds().map(|kind| kind.response.len()).sum();
    let bytes: u64 = kinds().map(|kind| kind.bytes).sum();
    assert_eq!(
        slots().map(|slot| slot.completions).sum::<u64>(),
        count,
        "{device}"
    );
    assert_eq!(
        slots().map(|slot| slot.bytes).sum::<u64>(),
        bytes,
        "{device}"
    );
    let sum = |of: fn(&KindRecord) -> &Histogram| {
        kinds()
            .map(|kind| of(kind).mean() * of(kind).len() as f64)
            .sum::<f64>()
    };
    let responses: f64 = slots().map(|slot| slot.response.sum).sum();
    let services: f64 = slots().map(|slot| slot.service.sum).sum();
    // Sums of whole numbers below 2^53 are exact; a mean times its count is not quite.
    assert!(
        (responses - sum(|kind| &kind.response)).abs() <= 1e-9 * responses,
        "{device}"
    );
    assert!(
        (services - sum(|kind| &kind.service)).abs() <= 1e-9 * services,
        "{device}"
    );
    assert!(
        done.slots.is_sorted_by(|a, b| a.epoch < b.epoch),
        "{device}"
    );
}

#[test]
fn each_completion_is_filed_under_the_epoch_in_which_it_came() {
    for device in ["sim:mm1", "sim:mm1?stall=50ms@300", "sim:delay?time=1ms"] {
        let done = &setting(device).run()[0];
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for completion in &done.driver.completed {
            let elapsed = completion.completed.since(Instant::START);
            *counts
                .entry(elapsed.as_nanos() / SLOT.as_nanos())
                .or_default() += 1;
        }
        let filed: BTreeMap<u64, u64> = done
            .slots
            .iter()
            .map(|slot| (slot.epoch, slot.completions))
            .collect();
        assert_eq!(filed, counts, "{device}");
    }
}

#[test]
fn a_stall_leaves_its_epochs_out_and_shifts_none() {
    let spec = mixed(closed(Duration::ZERO), Some(2_000));
    let device = "sim:md1?time=100us&stall=50ms@2000";
    let done = &Setting {
        clients: 1,
        spec,
        ..setting(device)
    }
    .run()[0];
    let epochs: Vec<u64> = done.slots.iter().map(|slot| slot.epoch).collect();
    // 1999 requests of 100 us end at 199.9 ms; the next one, stalled for 50 ms, at 250 ms.
    let expected: Vec<u64> = (0..200).chain([250]).collect();
    assert_eq!(epochs, expected);
}

#[test]
fn only_counted_kinds_go_into_slots_but_all_into_the_record() {
    let done = &setting("sim:mm1").run()[0];
    let kinds: Vec<OpKind> = done.record.kinds.keys().copied().collect();
    assert_eq!(kinds, [OpKind::Read, OpKind::Write, OpKind::Flush]);
    let flushes = done.record.kinds[&OpKind::Flush].response.len() as f64;
    // One in ten of 1050 draws: mean 105, standard deviation 9.7; 3.9 of them.
    assert!((flushes - 105.0).abs() < 38.0, "{flushes} flushes");
}
