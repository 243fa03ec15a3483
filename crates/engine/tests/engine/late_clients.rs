//! Clients that join an engine while it runs, and requests that are left when it ends.

use crate::support::{self, SLOT, closed, driver, mixed};
use engine::{Clock as _, Engine, EngineOptions, EngineState, KindSet};
use units::{Duration, Instant};
use workload::{ClientId, OpKind};

const OPERATIONS: u64 = 50;

#[test]
fn a_client_that_joins_starts_then_and_does_all_its_work() {
    let spec = mixed(closed(Duration::from_micros(200)), Some(OPERATIONS));
    let options = EngineOptions {
        start: Instant::START,
        slot_width: SLOT,
        counted: KindSet::of(&[OpKind::Read, OpKind::Write, OpKind::Flush]),
        first_client: 3,
        stride: 2,
    };
    let device = support::Watched::new(driver("sim:mm1", 5, 4));
    let mut engine = Engine::new(device, Vec::new(), options);
    assert_eq!(engine.run_until(Instant::START), Ok(EngineState::Finished));
    for number in 0..3_u32 {
        let client = spec.client(5, number, 3).expect("a valid client");
        let before = engine.now();
        let id = engine.add_client(client).expect("a sound driver");
        assert_eq!(id, ClientId(3 + 2 * number));
        let until = before + Duration::from_millis(2);
        assert_eq!(engine.run_until(until), Ok(EngineState::Running));
        let first = engine.driver().schedules()[&id][0];
        assert!(first >= before, "{first:?} lies before {before:?}");
    }
    let end = engine.now() + Duration::from_secs(60);
    assert_eq!(engine.run_until(end), Ok(EngineState::Finished));
    for (id, operations) in engine.driver().streams() {
        assert_eq!(operations.len() as u64, OPERATIONS, "{id:?}");
    }
    let (record, device) = engine.into_parts();
    let recorded: u64 = record.kinds.values().map(|kind| kind.service.len()).sum();
    assert_eq!(recorded, 3 * OPERATIONS);
    assert_eq!(device.submitted.len(), device.completed.len());
    assert!(device.now() > Instant::START);
}

/// The waits of what is left are known to the nanosecond, with the storage and before it.
#[test]
fn what_is_not_done_at_the_end_is_counted_with_its_wait() {
    let spec = mixed(closed(Duration::ZERO), None);
    for (capacity, clients) in [(4, 3_u32), (2, 5)] {
        let options = EngineOptions {
            start: Instant::START,
            slot_width: SLOT,
            counted: KindSet::of(&OpKind::ALL),
            first_client: 0,
            stride: 1,
        };
        let of = |number| spec.client(5, number, clients).expect("a valid client");
        let device = support::Watched::new(driver("sim:mm1", 5, capacity));
        let mut engine = Engine::new(device, (0..clients).map(of).collect(), options);
        let end = Instant::START + Duration::from_millis(50);
        assert_eq!(engine.run_until(end), Ok(EngineState::Running));
        engine.note_unfinished(end);
        let (record, device) = engine.into_parts();
        let found = record.unfinished;
        let with_storage = device.submitted.len() - device.completed.len();
        assert_eq!(found.with_storage as usize, with_storage);
        assert_eq!(found.count(), u64::from(clients));
        let left = device.submitted.iter().filter(|request| {
            let is_done = |done: &workload::Completion| {
                (done.request.client, done.request.due) == (request.client, request.due)
            };
            !device.completed.iter().any(is_done)
        });
        let waits: u64 = left.map(|request| end.since(request.due).as_nanos()).sum();
        assert_eq!(found.with_storage_ns, waits);
        assert_eq!(found.backlog > 0, clients as usize > capacity);
        assert_eq!(found.backlog_ns > 0, clients as usize > capacity);
    }
}

/// What the storage answers after the end is known with the time that it took.
#[test]
fn what_is_done_after_the_end_is_filed_as_long_as_it_took() {
    let spec = mixed(closed(Duration::ZERO), None);
    let options = EngineOptions {
        start: Instant::START,
        slot_width: SLOT,
        counted: KindSet::of(&OpKind::ALL),
        first_client: 0,
        stride: 1,
    };
    let of = |number| spec.client(5, number, 6).expect("a valid client");
    let device = support::Watched::new(driver("sim:mm1", 5, 4));
    let mut engine = Engine::new(device, (0..6).map(of).collect(), options);
    let end = Instant::START + Duration::from_millis(50);
    assert_eq!(engine.run_until(end), Ok(EngineState::Running));
    let before = engine.driver().completed.len();
    let mut seen = Vec::new();
    let drained = engine.drain(end, Duration::from_secs(10), &mut |_, outstanding| {
        seen.push(outstanding);
        true
    });
    assert_eq!(drained, Ok(()));
    let (record, device) = engine.into_parts();
    let later = &device.completed[before..];
    let found = record.unfinished;
    assert_eq!((found.with_storage, found.backlog), (4, 2));
    assert_eq!((later.len(), found.done), (4, 4));
    let left: Vec<u64> = seen.iter().map(|it| it.operations).collect();
    assert_eq!(left, [4, 3, 2, 1]);
    assert_eq!(seen[0].answered, before as u64);
    assert_eq!(device.submitted.len(), device.completed.len());
    let times = later.iter().map(|done| done.response_time().as_nanos());
    let sum = times.sum::<u64>() + found.backlog_ns;
    assert!(
        (found.times.mean() * 6.0 - sum as f64).abs() < 10.0,
        "{found:?}"
    );
    let services = later.iter().map(|done| done.service_time().as_nanos());
    assert_eq!(found.longest_service_ns, services.max().unwrap_or(0));
    let first = later
        .iter()
        .map(|done| done.completed.since(end).as_nanos());
    assert_eq!(found.silent_ns, first.min());
    assert!(found.times.mean() > found.waited_ns() as f64 / 6.0);
}
