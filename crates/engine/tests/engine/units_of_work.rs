//! Units of several operations: recorded apart, counted in slots, and never in the way of storage.

use crate::support::SLOT;
use engine::{Engine, EngineOptions, EngineState, KindSet};
use sim::SimSpec;
use units::{Duration, Instant};
use workload::{
    ClientSpec, Gap, GapShape, LoadFactor, OpKind, Records, TargetId, UserProfile, UsersSpec,
};

const USERS: u32 = 20;
const TRANSACTIONS: u64 = 30;

fn users() -> ClientSpec {
    let profile = UserProfile {
        name: "user".into(),
        users: 1,
        ios: 3,
        io_size: 4096,
        reads: 1,
        writes: 0,
        think: Gap::new(GapShape::Exponential, Duration::from_millis(50)),
        cpu_ns: 3_000_000,
        memory: 0,
        load: LoadFactor::Constant,
        records: Records::New,
        transactions: Some(TRANSACTIONS),
    };
    let spec = UsersSpec::new(TargetId(0), 1 << 30, None, vec![profile]);
    ClientSpec::Users(spec.expect("a valid profile"))
}

/// Two requests may be outstanding; all users may compute at once.
#[test]
fn every_transaction_is_recorded_once() {
    let spec = users();
    let clients = (0..USERS)
        .map(|user| spec.client(7, user, USERS).expect("records"))
        .collect();
    let device = SimSpec::parse("sim:mmc?mean=1ms&servers=4&cpus=2").expect("a model");
    let driver = device.driver(7, 2, Instant::START);
    let options = EngineOptions {
        start: Instant::START,
        slot_width: SLOT,
        counted: KindSet::of(&spec.counted_kinds()),
        first_client: 0,
        stride: 1,
    };
    let mut engine = Engine::new(driver, clients, options);
    let end = Instant::START + Duration::from_secs(3600);
    assert_eq!(engine.run_until(end), Ok(EngineState::Finished));
    engine.recorder_mut().close_until(end);
    let slots = engine.recorder_mut().take_slots();
    let counted: u64 = slots.iter().map(|slot| slot.completions).sum();
    let all = u64::from(USERS) * TRANSACTIONS;
    assert_eq!(counted, all);
    let thinks: u64 = slots.iter().map(|slot| slot.think_count).sum();
    assert_eq!(thinks, all - u64::from(USERS));
    let (record, _) = engine.into_parts();
    assert_eq!(record.units[&0].response.len(), all);
    assert_eq!(record.units[&0].bytes, all * 3 * 4096);
    assert_eq!(record.kinds[&OpKind::Read].service.len(), all * 3);
    assert_eq!(record.kinds[&OpKind::Compute].service.len(), all * 3);
    // Three pieces of 1 ms on shared processors, and three reads of 1 ms on average.
    assert!(record.units[&0].service.min() >= 3_000_000);
    assert_eq!(record.lateness.max(), 0, "virtual time is never late");
}
