//! Over a link whose delay and rate are known, a stream is as fast as its window and the line
//! allow.

#![allow(
    clippy::print_stderr,
    reason = "cargo shows what a test says only if it is printed"
)]

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use network::socket::SocketOptions;
use network::tcp::{StreamOutcome, StreamPlan, send_stream};
use network::wire::{End, Ends, LaneSettings, LaneTally, WireError, relay};

/// Each way. A full packet takes 1.23 ms to be sent, and its answer 0.07 ms: 20 ms there and back.
const DELAY: Duration = Duration::from_micros(9350);
const ROUND_TRIP: f64 = 0.020;
const LINE_BITS: u64 = 10_000_000;
/// Of 1538 bytes on an Ethernet, 1448 are payload.
const LINE: f64 = LINE_BITS as f64 / 8.0 * 1448.0 / 1538.0;

fn settings() -> LaneSettings {
    LaneSettings {
        delay: DELAY,
        bits_per_second: Some(LINE_BITS),
        loss: 0.0,
        queue_bytes: 128 << 10,
    }
}

/// Two ends of names of our own.
fn ends(test: &str) -> [End; 2] {
    let end = |number: u8| {
        let space = format!("ss-{}-{test}{number}", std::process::id());
        End::parse(&space, &format!("10.90.0.{number}/24")).unwrap()
    };
    [end(1), end(2)]
}

/// Do `work` while the link is there. Nothing, with a message, where there can be none.
fn with_link<T: Send>(
    test: &str,
    settings: &LaneSettings,
    work: impl FnOnce(&[End; 2]) -> T + Send,
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
        let is_stopped = || is_over.load(Ordering::Relaxed);
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

fn stream(ends: &[End; 2], window: Option<u32>, bytes: u64) -> StreamOutcome {
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

/// Window by round trip, and never more than the line. The round trip is the one that the sender
/// saw: a machine that computes for others carries packets late. With the round trip of the link
/// itself, no rate may be too high. To connect and to see the last byte takes two round trips.
#[track_caller]
fn check_rate(ends: &[End; 2], window: u32) {
    let outcome = stream(ends, Some(window), 1 << 20);
    let rate = |round_trip: f64| {
        let steady = (f64::from(window) / round_trip).min(LINE);
        let bytes = outcome.bytes as f64;
        bytes / (bytes / steady + 2.0 * round_trip)
    };
    let found = outcome.bytes as f64 / outcome.elapsed.as_secs_f64();
    let expected = rate(outcome.round_trip.as_secs_f64());
    let round_trip = outcome.round_trip;
    let told = format!("window {window}: {found:.0} of {expected:.0} bytes/s, {round_trip:?}");
    eprintln!("{told}");
    assert!(found < rate(ROUND_TRIP) * 1.05, "{told}");
    assert!(found > expected * 0.9 && found < expected * 1.1, "{told}");
}

#[test]
fn the_rate_follows_the_window_until_the_link_is_full() {
    let checked = with_link("window", &settings(), |ends| {
        for window in [9216, 16384, 24576, 32768] {
            check_rate(ends, window);
        }
    });
    let Some(((), [there, _])) = checked else {
        return;
    };
    assert!(there.bytes > 4 << 20, "{there:?}");
    assert_eq!((there.lost, there.dropped), (0, 0));
}

#[test]
fn a_delay_is_seen_by_who_connects() {
    let slow = LaneSettings {
        bits_per_second: None,
        delay: Duration::from_millis(30),
        ..settings()
    };
    let connected = with_link("delay", &slow, |ends| stream(ends, None, 1).round_trip);
    let Some((round_trip, _)) = connected else {
        return;
    };
    assert!(round_trip >= Duration::from_millis(60), "{round_trip:?}");
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
    let is_there = |end: &End| std::path::Path::new("/run/netns").join(&end.space).exists();
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
