//! A mail spool on a device whose times are known.

use crate::support::{measured, model, reading, refused};

/// A device that takes exactly 1 ms for each operation, one at a time.
const MODEL: &str = "sim:delay?time=1ms";

/// A session alone: of five operations two deliver, with two writes, two read and one deletes, so
/// an operation takes 1.4 ms on average.
#[test]
fn deliveries_and_reads_come_in_their_shares() {
    let readings = measured("mail", "sessions = 1\ntime = \"100s\"", &model(MODEL));
    let check = |name: &str, expected: f64, error_max: f64| {
        let found = reading(&readings, name);
        let error = (found / expected - 1.0).abs();
        assert!(error < error_max, "{name} is {found}, not {expected}");
    };
    check("deliveries", 0.4 / 0.0014, 0.02);
    check("messages read", 0.4 / 0.0014, 0.02);
    check("latency", 0.002, 0.001);
    check("latency-p99", 0.002, 0.001);
    check("read latency", 0.001, 0.001);
    // The mean of a log-normal law of 4 KiB and 1.75, cut at 1 MiB.
    check("message size", 18_265.0, 0.08);
}

#[test]
fn a_mailbox_has_room_for_its_largest_messages() {
    let told = refused("mail", "largest = \"64MiB\"\nsize = \"64MiB\"");
    assert!(told.contains("8 messages of it do not fit"), "{told}");
    assert!(refused("mail", "sync = \"linked\"").contains("fdatasync"));
}
