use std::cell::Cell;
use std::sync::mpsc::sync_channel;

use engine::NullDriver;
use workload::{Agenda, Client, Durability, Event, Op, TargetId};

use super::*;

/// A clock that leaps ahead at each reading, like that of a thread that lost its processor.
struct Leaping(Cell<u64>);

impl Clock for Leaping {
    fn now(&self) -> Instant {
        let now = self.0.get();
        self.0.set(now + SLOT_WIDTH.as_nanos() * 2 / 3);
        Instant(now)
    }
}

/// Writes a number of blocks, one after the other.
struct Writer(u32);

impl Client for Writer {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        let at = match event {
            Event::Started { at } | Event::Due { at } => at,
            Event::Completed(completion) => completion.completed,
        };
        if self.0 == 0 {
            return agenda.finish();
        }
        self.0 -= 1;
        let op = Op::Write {
            target: TargetId(0),
            offset: 0,
            len: 4096,
            durability: Durability::Volatile,
        };
        agenda.issue(at, op);
    }
}

/// Bug: a worker with nothing left to do reported its time, and sent the slot in which it had ended
/// afterwards. The slots of other workers had been processed by then.
#[test]
fn a_worker_sends_no_slot_of_a_time_that_it_has_told_to_be_over() {
    for writes in 1..200 {
        let start = Instant::START;
        let options = EngineOptions {
            start,
            slot_width: SLOT_WIDTH,
            counted: KindSet::of(&[workload::OpKind::Write]),
            first_client: 0,
            stride: 1,
        };
        let clients = vec![AnyClient::Own(Box::new(Writer(writes)))];
        let driver = NullDriver::new(Leaping(Cell::new(0)), 1);
        let mut engine = Engine::new(driver, clients, options);
        let shared = TrialState::of(1);
        let own = &shared.states[0];
        let (sender, receiver) = sync_channel(1024);
        let mut reporter = Reporter::new(0, sender);
        let (ending, elapsed) =
            run(&mut engine, start, (&shared, own), &mut reporter).expect("a driver that works");
        assert_eq!(ending, Ending::Finished);
        reporter.report_end(ending, elapsed);
        let mut over = 0;
        let mut counted = 0;
        for report in receiver.try_iter() {
            let WorkerReport::Slots { slots, elapsed, .. } = report else {
                continue;
            };
            for slot in slots {
                assert!(slot.epoch >= over, "{writes}: {} after {over}", slot.epoch);
                counted += slot.completions;
            }
            over = over.max(elapsed.as_nanos() / SLOT_WIDTH.as_nanos());
        }
        assert_eq!(counted, u64::from(writes));
    }
}
