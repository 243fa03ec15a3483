//! Over a link whose delay and rate are known, a stream is as fast as its window and the line
//! allow.

#![allow(
    clippy::print_stderr,
    reason = "cargo shows what a test says only if it is printed"
)]

use std::net::IpAddr;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use network::socket::SocketOptions;
use network::tcp::{StreamOutcome, StreamPlan, send_stream};
use network::wire::{Ends, LaneSettings, LaneTally, LinkEnd, WireError, relay};

/// Each way. A full packet takes 1.23 ms to be sent, and its answer 0.07 ms: 20 ms there and back.
const DELAY: Duration = Duration::from_micros(9350);
const ROUND_TRIP: f64 = 0.020;
const LINE_BITS: u64 = 10_000_000;
/// Payload of a full packet, and what it is on an Ethernet.
const SEGMENT: u32 = 1448;
const FRAME: f64 = 1538.0;
/// The most payload that the line carries in a second.
const LINE: f64 = LINE_BITS as f64 / 8.0 * SEGMENT as f64 / FRAME;

fn settings() -> LaneSettings {
    LaneSettings {
        delay: DELAY,
        bits_per_second: Some(LINE_BITS),
        loss: 0.0,
        queue_bytes: 128 << 10,
    }
}

/// Two ends of names of our own.
fn ends(test: &str) -> [LinkEnd; 2] {
    let end = |number: u8| {
        let space = format!("ss-{}-{test}{number}", std::process::id());
        LinkEnd::parse(&space, &format!("10.90.0.{number}/24")).unwrap()
    };
    [end(1), end(2)]
}

/// Do `work` while the link is there. Nothing, with a message, where there can be none.
fn with_link<T: Send>(
    test: &str,
    settings: &LaneSettings,
    work: impl FnOnce(&[LinkEnd; 2]) -> T + Send,
) -> Option<(T, [LaneTally; 2])> {
    with_busy_link(test, settings, Duration::ZERO, work)
}

/// The same, where the link is kept from its processor for a time in every 100 ms.
fn with_busy_link<T: Send>(
    test: &str,
    settings: &LaneSettings,
    absence: Duration,
    work: impl FnOnce(&[LinkEnd; 2]) -> T + Send,
) -> Option<(T, [LaneTally; 2])> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: {test}: network namespaces are root's");
        return None;
    }
    let ends = ends(test);
    let made = match Ends::make(&ends) {
        Ok(made) => made,
        Err(error @ (WireError::Command { .. } | WireError::Interface { .. })) => {
            eprintln!("skipped: {test}: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _over = Over(&is_over);
            // Sender and receiver are not the ones to be late here.
            let _ = rustix::process::nice(-19);
            work(&ends)
        });
        let is_stopped = || {
            if !absence.is_zero() {
                thread::park_timeout(absence);
            }
            is_over.load(Ordering::Relaxed)
        };
        let tallies = relay(&made, settings, 1, &is_stopped).unwrap();
        Some((worker.join().unwrap(), tallies))
    })
}

/// Ends the link when the work is over, also by a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn stream(ends: &[LinkEnd; 2], window: Option<u32>, bytes: u64) -> StreamOutcome {
    let plan = StreamPlan {
        receiver: IpAddr::from([10, 90, 0, 2]),
        receiver_space: Some(ends[1].space.clone()),
        sender_space: Some(ends[0].space.clone()),
        bytes,
        buffer: 64 << 10,
        socket: SocketOptions {
            window,
            congestion: Some("reno".into()),
        },
        timeout: Duration::from_secs(20),
    };
    let outcome = send_stream(&plan, &|| false).unwrap();
    assert_eq!((outcome.fault.as_deref(), outcome.bytes), (None, bytes));
    outcome
}

/// A receiver mostly waits for a second packet before it acknowledges; a route may forbid it.
fn acknowledge_each_packet(end: &LinkEnd) {
    let route = ["10.90.0.0/24", "dev", "link0", "src", "10.90.0.2"];
    let status = Command::new("ip")
        .args(["-n", &end.space, "route", "change"])
        .args(route)
        .args(["proto", "kernel", "scope", "link", "quickack", "1"])
        .status();
    assert!(status.unwrap().success(), "{}", end.space);
}

/// Streams that are tried: a machine that takes the processor away makes one slower, and none
/// faster.
const STREAMS: usize = 5;

/// `bytes` by `round_trip`, and never more than the line, within 10 %. The round trip is that of
/// the link itself, however busy the machine is. To connect and to see the last byte takes two.
#[track_caller]
fn check_rate(ends: &[LinkEnd; 2], window: u32, bytes: u32, round_trip: f64) {
    for _ in 1..STREAMS {
        let outcome = stream(ends, Some(window), 512 << 10);
        let (ratio, told) = rate(&outcome, window, bytes, round_trip);
        assert!(ratio <= 1.1, "{told}");
        if ratio >= 0.9 {
            return;
        }
    }
    let outcome = stream(ends, Some(window), 512 << 10);
    check_outcome(&outcome, window, bytes, round_trip);
}

#[track_caller]
fn check_outcome(outcome: &StreamOutcome, window: u32, bytes: u32, round_trip: f64) {
    let (ratio, told) = rate(outcome, window, bytes, round_trip);
    assert!((0.9..=1.1).contains(&ratio), "{told}");
}

/// The rate over what is expected of it, and both in words.
fn rate(outcome: &StreamOutcome, window: u32, bytes: u32, round_trip: f64) -> (f64, String) {
    let sent = outcome.bytes as f64;
    let steady = (f64::from(bytes) / round_trip).min(LINE);
    let expected = sent / (sent / steady + 2.0 * ROUND_TRIP);
    let found = sent / outcome.elapsed.as_secs_f64();
    let ratio = found / expected;
    let told = format!("window {window}: {found:.0} of {expected:.0} bytes/s, {ratio:.3}");
    eprintln!("{told}, round trip seen {:?}", outcome.round_trip);
    (ratio, told)
}

#[test]
fn the_rate_is_window_by_round_trip_until_the_link_is_full() {
    let checked = with_link("window", &settings(), |ends| {
        acknowledge_each_packet(&ends[1]);
        for window in [9216, 16384, 24576, 32768] {
            check_rate(ends, window, window, ROUND_TRIP);
        }
    });
    let Some(((), [there, _])) = checked else {
        return;
    };
    assert!(there.bytes > 2 << 20, "{there:?}");
    assert_eq!((there.lost, there.dropped), (0, 0));
}

/// Story: rates lay at 0.80 to 0.84 of window by round trip, and only the link was suspected. A
/// window holds whole packets, two of them travel together, and one waits for the other.
#[test]
fn who_acknowledges_every_second_packet_has_the_round_trip_of_two() {
    let pair = ROUND_TRIP + FRAME * 8.0 / LINE_BITS as f64;
    with_link("pairs", &settings(), |ends| {
        for window in [9216, 16384] {
            let whole = window / SEGMENT * SEGMENT;
            check_rate(ends, window, whole, pair);
        }
    });
}

/// Story: what a late packet set off was late as well, and a busy machine made round trips longer.
#[test]
fn a_link_that_is_late_makes_up_for_it() {
    let absence = Duration::from_millis(15);
    let streamed = with_busy_link("late", &settings(), absence, |ends| {
        acknowledge_each_packet(&ends[1]);
        stream(ends, Some(9216), 512 << 10)
    });
    let Some((outcome, [there, _])) = streamed else {
        return;
    };
    assert!(there.late_max >= absence / 2, "{there:?}");
    if there.late_max > absence * 2 {
        // A sender that hears nothing for so long sends again.
        eprintln!(
            "skipped: a_link_that_is_late_makes_up_for_it: late by {:?}",
            there.late_max
        );
        return;
    }
    check_outcome(&outcome, 9216, 9216, ROUND_TRIP);
}

#[test]
fn a_delay_is_seen_by_who_connects() {
    let slow = LaneSettings {
        bits_per_second: None,
        delay: Duration::from_millis(30),
        ..settings()
    };
    let connected = with_link("delay", &slow, |ends| stream(ends, None, 1));
    let Some((outcome, [there, back])) = connected else {
        return;
    };
    // A packet that follows a late one counts as sent when that one was due.
    let late = there.late_max + back.late_max;
    for round_trip in [outcome.round_trip, outcome.idle_round_trip] {
        assert!(
            round_trip + late >= Duration::from_millis(60),
            "{round_trip:?} {late:?}"
        );
    }
    // To find the receiver's address on the Ethernet takes as long again, and is no part of it.
    let idle = outcome.idle_round_trip;
    assert!(
        idle < Duration::from_millis(100) + late,
        "{idle:?} {late:?}"
    );
}

#[test]
fn lost_packets_are_sent_again_and_counted() {
    let lossy = LaneSettings {
        bits_per_second: None,
        delay: Duration::ZERO,
        loss: 0.02,
        ..settings()
    };
    let sent = with_link("loss", &lossy, |ends| stream(ends, None, 1 << 20));
    let Some((_, [there, back])) = sent else {
        return;
    };
    // Some 730 packets; that none of 700 is lost has a chance of one in a million.
    assert!(there.lost > 0, "{there:?} {back:?}");
}

#[test]
fn both_namespaces_are_gone_at_the_end_and_a_foreign_one_stays() {
    let ends = ends("gone");
    let is_there = |end: &LinkEnd| std::path::Path::new("/run/netns").join(&end.space).exists();
    if with_link("gone", &settings(), |ends| {
        assert!(ends.iter().all(is_there));
    })
    .is_none()
    {
        return;
    }
    assert!(!ends.iter().any(is_there));
    let made = Ends::make(&ends).unwrap();
    let again = Ends::make(&ends).unwrap_err();
    assert!(matches!(again, WireError::Taken(_)), "{again}");
    assert!(ends.iter().all(is_there), "what is another's stays");
    drop(made);
    assert!(!ends.iter().any(is_there));
}
