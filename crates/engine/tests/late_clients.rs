//! Clients that join an engine while it runs.

mod support;

use engine::{Clock as _, Engine, EngineOptions, EngineState, KindSet};
use support::{SLOT, closed, driver, mixed};
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
