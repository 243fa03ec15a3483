//! A limit of our own is never taken for the storage's: virtual time, known answers.

use crate::support::{Bench, poisson};
use results::{Measurement, Severity};

fn open(device: &str, rate: f64, depth: u32, seconds: f64) -> Measurement {
    let clients = 4;
    let pacing = poisson(rate / f64::from(clients));
    let bench = Bench::new(device, clients, pacing, seconds);
    bench.goal(None).depth(depth).measure(1)
}

fn severity(measurement: &Measurement, code: &str) -> Option<Severity> {
    let mut warnings = measurement.warnings.iter();
    warnings
        .find(|it| it.code.as_str() == code)
        .map(|it| it.severity)
}

/// Bug: 256 requests at a time on a delay of 5 ms carry 51,200 a second. At 50,000 the mean
/// response time was said to be 5.28 ms, at 60,000 the storage, which has no limit, was called
/// saturated.
#[test]
fn room_for_too_few_requests_makes_a_number_void() {
    for rate in [50e3, 60e3] {
        let found = open("sim:delay?time=5ms", rate, 256, 4.0);
        assert!(found.response.mean.value > 5.1e6, "{rate}");
        assert_eq!(
            severity(&found, "own-limit"),
            Some(Severity::Invalid),
            "{rate}"
        );
        assert_eq!(severity(&found, "load-not-sustained"), None, "{rate}");
        let said: String = found.warnings.iter().map(|it| it.text()).collect();
        assert!(
            !said.contains("saturated") && !said.contains("storage stalled"),
            "{said}"
        );
    }
    let enough = open("sim:delay?time=5ms", 50e3, 5000, 4.0);
    assert_eq!(severity(&enough, "own-limit"), None);
    assert_eq!(enough.response.mean.value.round(), 5e6);
}

/// Bug: four requests at a time on a delay of 10 ms were all under way from the first moment, none
/// without a wait was there to compare with, and the storage was called saturated.
#[test]
fn room_that_is_full_from_the_start_is_not_blamed_on_the_storage() {
    let found = open("sim:delay?time=10ms", 1000.0, 4, 20.0);
    assert_eq!(severity(&found, "own-limit"), Some(Severity::Warning));
    assert_eq!(severity(&found, "load-not-sustained"), None);
}

#[test]
fn a_queue_of_the_storage_is_its_own_wherever_it_waits() {
    let busy = open("sim:mm1?mean=1ms", 900.0, 256, 60.0);
    assert_eq!(severity(&busy, "own-limit"), None);
    let saturated = open("sim:mm1?mean=1ms", 1200.0, 64, 20.0);
    assert_eq!(severity(&saturated, "own-limit"), None);
    assert_eq!(
        severity(&saturated, "load-not-sustained"),
        Some(Severity::Warning)
    );
}

/// Bug: arrivals that filled all room while the storage answered nothing were called a limit of
/// this program, and the number void: the stall is the cause, and is named.
#[test]
fn room_that_a_stall_fills_is_no_limit_of_ours() {
    for (device, seconds) in [
        ("sim:delay?time=5ms&stall=2s@20000", 30.0),
        ("sim:delay?time=5ms&stall=10s@40000", 60.0),
        ("sim:mm1?mean=100us&stall=2s@20000", 30.0),
    ] {
        let found = open(device, 2000.0, 256, seconds);
        let share = found.room.map_or(0.0, |room| room.share);
        assert!(share > 0.5, "{device}: {share}");
        assert_eq!(severity(&found, "own-limit"), None, "{device}");
        assert_eq!(
            severity(&found, "stall"),
            Some(Severity::Warning),
            "{device}"
        );
    }
    // A short stall does not excuse a room that is too small all the time.
    let both = open("sim:delay?time=5ms&stall=200ms@20000", 60e3, 256, 4.0);
    assert_eq!(severity(&both, "own-limit"), Some(Severity::Invalid));
}
