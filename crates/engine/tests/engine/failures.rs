//! What failed has times of its own: no success has them.

use engine::{KindSet, Recorder, RecorderOptions};
use units::{Duration, Instant};
use workload::{ClientId, Completion, Errno, Op, OpKind, Request, TargetId};

const EIO: Errno = Errno(5);

/// A read of 4 KiB that is due at `due` microseconds, issued a microsecond later, and takes `took`.
fn read(due: u64, took: u64, result: Result<u32, Errno>) -> Completion {
    let op = Op::Read {
        target: TargetId::NONE,
        offset: 0,
        len: 4096,
    };
    let due = Instant(due * 1000);
    let issued = due + Duration::from_micros(1);
    Completion {
        request: Request::new(ClientId(0), due, op),
        issued,
        completed: issued + Duration::from_micros(took),
        result,
    }
}

#[test]
fn failed_and_short_operations_are_in_no_time_and_no_slot_of_the_others() {
    let mut recorder = Recorder::new(RecorderOptions {
        start: Instant::START,
        slot_width: Duration::from_millis(1),
        counted: KindSet::of(&[OpKind::Read]),
        clients: 1,
    });
    recorder.record(&read(0, 10, Ok(4096)), 0);
    recorder.record(&read(20, 700, Err(EIO)), 0);
    recorder.record(&read(800, 90, Ok(512)), 0);
    recorder.record(&read(900, 20, Ok(4096)), 0);
    assert_eq!(recorder.errors_total(), 1);
    recorder.close_until(Instant::START + Duration::from_millis(1));
    let slots = recorder.take_slots();
    assert_eq!(
        (slots.len(), slots[0].completions, slots[0].errors),
        (1, 2, 2)
    );

    let record = recorder.to_record();
    let reads = &record.kinds[&OpKind::Read];
    assert_eq!((reads.service.min(), reads.service.max()), (10_000, 20_000));
    assert_eq!((reads.response.len(), reads.bytes), (2, 8192));
    assert_eq!(record.lateness.len(), 2);
    let failed = &record.errors[&(OpKind::Read, EIO)];
    assert_eq!(
        (failed.service.max(), failed.response.max()),
        (700_000, 701_000)
    );
    assert_eq!((failed.response.len(), failed.bytes), (1, 0));
    let short = &record.short[&OpKind::Read];
    assert_eq!((short.service.max(), short.bytes), (90_000, 512));
}
