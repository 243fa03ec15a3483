//! A program between two devices, against what it must take.

use crate::support::{MS, WRITE};
use sim::{
    Action, Between, CommandSource, Device, MemoryDevice, MemorySpec, Tape, TapeSpec, Transport,
    TransportCommand, TransportCommands, Transported,
};
use units::{Duration, Instant};

const RECORD: u64 = 1000;
const RECORDS: u64 = 100;

/// A device that takes so many milliseconds for a record.
fn device(ms: u64) -> Box<dyn Device> {
    Box::new(MemoryDevice::new(MemorySpec {
        size: RECORD * RECORDS,
        access: ms * MS,
        rate: 1e15,
    }))
}

fn steps(action: Action, before: impl Fn(u64) -> u64 + Send + 'static) -> TransportCommands {
    Box::new((0..RECORDS).map(move |number| TransportCommand {
        action,
        offset: number * RECORD,
        len: RECORD,
        bytes: RECORD,
        before: Duration(before(number) * MS),
    }))
}

fn side(ms: u64, action: Action) -> CommandSource {
    CommandSource {
        device: device(ms),
        steps: steps(action, |_| 0),
        at_once: 1,
    }
}

fn run(
    between: Between,
    source: CommandSource,
    sink: CommandSource,
) -> (f64, Transported, Transport) {
    let start = Instant(77 * MS);
    let mut transport = Transport::new(between, source, sink, start);
    while transport.step().expect("no faults") {}
    let took = transport.now().since(start).as_secs_f64() * 1e3;
    (took, transport.done(), transport)
}

/// With one buffer the processor follows the source, and the sink goes on beside them with what it
/// has; with more buffers all three go on beside each other.
#[test]
fn one_buffer_adds_times_and_many_take_the_longest() {
    // Source, processor and sink in ms for each of 100 records; buffers; what it takes.
    for (read, work, write, buffers, expected) in [
        (5, 0, 3, 1, 503.0),
        (5, 2, 3, 1, 703.0),
        // The longest, and what the others take for one record.
        (5, 2, 3, 8, 505.0),
        (3, 2, 5, 8, 505.0),
        (3, 5, 2, 8, 505.0),
        (0, 5, 0, 8, 500.0),
    ] {
        let between = Between {
            window: buffers * RECORD,
            work_byte: (work * MS) as f64 / RECORD as f64,
        };
        let (took, done, _) = run(between, side(read, Action::Read), side(write, WRITE));
        assert!(
            (took - expected).abs() < 1e-6,
            "{read} {work} {write} with {buffers}: {took}"
        );
        assert_eq!((done.source_commands, done.sink_commands), (100, 100));
        assert_eq!(done.work, Duration(work * RECORDS * MS));
    }
}

/// Room that is made for every tenth record holds the sink back, and the source too once its
/// buffers are full.
#[test]
fn what_must_pass_first_is_waited_for() {
    let between = Between {
        window: RECORD,
        work_byte: 0.0,
    };
    let sink = CommandSource {
        steps: steps(
            WRITE,
            |number| {
                if number.is_multiple_of(10) { 40 } else { 0 }
            },
        ),
        ..side(3, WRITE)
    };
    let (took, done, _) = run(between, side(5, Action::Read), sink);
    // Ten times 40 ms longer than the source's 100 times 5, and the last write.
    assert!((took - 903.0).abs() < 1e-6, "{took}");
    assert_eq!(done.waits, 10);
}

#[test]
fn a_sink_takes_more_or_less_at_a_time_than_the_source_brings() {
    let between = Between {
        window: 8 * RECORD,
        work_byte: 0.0,
    };
    for len in [250, 4000] {
        let steps = (0..RECORD * RECORDS / len).map(move |number| TransportCommand {
            action: WRITE,
            offset: number * len,
            len,
            bytes: len,
            before: Duration::ZERO,
        });
        let sink = CommandSource {
            steps: Box::new(steps),
            ..side(1, WRITE)
        };
        let (_, done, _) = run(between, side(1, Action::Read), sink);
        assert_eq!(done.sink_commands, RECORD * RECORDS / len);
    }
}

#[test]
fn commands_that_bring_and_take_nothing_are_done_all_the_same() {
    let between = Between {
        window: RECORD,
        work_byte: 1.0,
    };
    let nothing = |action| CommandSource {
        steps: Box::new(steps(action, |_| 0).map(|step| TransportCommand { bytes: 0, ..step })),
        ..side(2, action)
    };
    let (took, done, _) = run(between, nothing(Action::Read), nothing(WRITE));
    assert!((took - 200.0).abs() < 1e-6, "{took}");
    assert_eq!((done.source_commands, done.sink_commands), (100, 100));
}

#[test]
fn devices_come_back_as_they_were_left() {
    let tape = |rate: f64| TapeSpec {
        passes: 2,
        pass_bytes: 1 << 20,
        rate,
        search: 1000 * MS,
        locate: 0,
        track_change: 0,
        reposition: 100 * MS,
        buffer: 8 * RECORD,
        compression: 1.0,
        bus: 1e9,
        overhead: 0,
    };
    // A source of 1 kB in 5 ms is 200 kB/s.
    let stops = |rate: f64| {
        let between = Between {
            window: RECORD,
            work_byte: 0.0,
        };
        let sink = CommandSource {
            device: Box::new(Tape::new(tape(rate))),
            ..side(0, WRITE)
        };
        let (_, _, transport) = run(between, side(5, Action::Read), sink);
        let [memory, tape] = transport.into_devices();
        assert_eq!(memory.tape_stops(), None);
        tape.tape_stops().expect("a tape")
    };
    assert_eq!(stops(100e3), 0);
    assert!(stops(400e3) >= 5);
}
