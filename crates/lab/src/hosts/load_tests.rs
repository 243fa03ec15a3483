//! Load of rank 0 with many hosts: the figures of docs/evidence/fleet.md.

use std::time::Instant as WallClock;

use procedure::Monitor;
use random::{Purpose, Stream};
use stats::{Channel, Slot, Tally};
use units::Duration;

use super::wire::Note;

/// Hosts, and operations per second on each.
const HOSTS: usize = 1000;
const RATE: u64 = 10_000;
/// Slots of a note, 1 ms each.
const SLOTS: u64 = 100;

/// Times between 50 us and 1 ms.
fn tally(stream: &mut Stream) -> Tally {
    let mut tally = Tally::default();
    for _ in 0..RATE / 1000 {
        tally.record(50_000 + stream.below(950_000));
    }
    tally
}

/// A note from a host that closed the slots of 100 ms.
fn note(from: u64, stream: &mut Stream) -> Note {
    let slots = (from..from + SLOTS).map(|epoch| Slot {
        completions: RATE / 1000,
        bytes: 4096 * RATE / 1000,
        response: tally(stream),
        service: tally(stream),
        ..Slot::empty(epoch)
    });
    Note::Slots {
        elapsed: Duration::from_millis(from + SLOTS),
        slots: slots.collect(),
    }
}

/// One second of 1,000 hosts at rank 0: messages and bytes are bounded, everything is counted, and
/// the cost is printed.
#[test]
#[expect(clippy::print_stderr, reason = "the figures of docs/evidence/fleet.md")]
fn the_notes_of_a_thousand_hosts_are_counted() {
    let mut monitor = Monitor::new(
        None,
        Channel::Response,
        Duration::from_secs(60),
        Duration::from_millis(1),
        HOSTS,
        HOSTS as u32,
    );
    let mut stream = Stream::new(7, 0, Purpose::Device);
    let (mut bytes, mut spent) = (0, std::time::Duration::ZERO);
    for round in 0..10 {
        let sent = note(round * SLOTS, &mut stream).to_bytes();
        for worker in 0..HOSTS {
            bytes += sent.len();
            let begun = WallClock::now();
            let Ok(Note::Slots { elapsed, slots }) = Note::from_bytes(1, &sent) else {
                panic!("a note that was just written");
            };
            monitor.push(worker, slots, elapsed);
            spent += begun.elapsed();
        }
    }
    let each = bytes / (HOSTS * 10);
    assert!((10_000..60_000).contains(&each), "{each} bytes a note");
    monitor.finish(Duration::from_secs(1));
    let store = monitor.store();
    let slots = store.slots().iter().map(|slot| slot.completions);
    let counted = slots.sum::<u64>() + store.partial().completions;
    assert_eq!(counted, HOSTS as u64 * RATE);
    eprintln!(
        "{each} bytes and {:.0} us a note",
        spent.as_micros() as f64 / (HOSTS * 10) as f64
    );
}
