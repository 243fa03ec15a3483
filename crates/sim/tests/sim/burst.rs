//! Burst credits against their arithmetic: how long a bucket lasts under a load, and what is left
//! of the load behind it.

use sim::{Action, Answer, SimSpec};
use units::{Duration, Instant};

use crate::support::{WRITE, command};

/// When each of the operations ended, with `depth` of them outstanding all the time; seconds.
fn closed(model: &str, depth: usize, count: usize, action: Action, len: u64) -> Vec<f64> {
    let spec = SimSpec::parse(model).unwrap_or_else(|error| panic!("{model}: {error}"));
    let mut device = spec.device(1);
    let mut ends = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    let mut now = Instant::START;
    let mut begun = depth;
    for _ in 0..depth {
        device.begin(now, command(action, 0, len));
    }
    while ends.len() < count {
        now = device.next().expect("operations are under way");
        device.step(now, &mut answers);
        for _ in answers.drain(..) {
            ends.push(now.since(Instant::START).as_secs_f64());
            if begun < count {
                begun += 1;
                device.begin(now, command(action, 0, len));
            }
        }
    }
    ends
}

/// Operations that ended within these seconds, per second.
fn rate(ends: &[f64], from: f64, to: f64) -> f64 {
    let within = ends.iter().filter(|&&end| from < end && end <= to);
    within.count() as f64 / (to - from)
}

#[track_caller]
fn check(found: f64, expected: f64, what: &str) {
    let is_near = (found / expected - 1.0).abs() < 0.005;
    assert!(is_near, "{what}: {found} and not {expected}");
}

/// A bucket of so many credits that are spent at a rate and earned at another one lasts
/// credits / (rate - baseline); then the baseline is left.
#[test]
fn a_bucket_lasts_as_long_as_its_credits_and_leaves_the_baseline() {
    // Eight at a time of 1 ms would be 8,000 a second: the burst rate is in the way.
    let model = "sim:delay?time=1ms&iops=100..3000:58k";
    let ends = closed(model, 8, 70_000, Action::Read, 4096);
    let lasts = 58_000.0 / (3000.0 - 100.0);
    check(rate(&ends, 0.0, lasts), 3000.0, "burst");
    check(rate(&ends, lasts + 1.0, lasts + 81.0), 100.0, "baseline");
    // One at a time of 1 ms does not come to the burst rate, and the bucket lasts longer.
    let ends = closed(model, 1, 70_000, Action::Read, 4096);
    let lasts = 58_000.0 / (1000.0 - 100.0);
    check(rate(&ends, 0.0, lasts), 1000.0, "alone");
    check(rate(&ends, lasts + 1.0, lasts + 51.0), 100.0, "alone, then");
    // A twentieth of the bucket lasts a twentieth of the time.
    let ends = closed(&format!("{model}&credits=5%"), 8, 20_000, WRITE, 4096);
    check(rate(&ends, 0.0, 1.0), 3000.0, "burst of a twentieth");
    check(rate(&ends, 2.0, 82.0), 100.0, "baseline after a twentieth");
    // Without burst there is nothing to spend.
    let ends = closed("sim:delay?time=1ms&iops=3000", 8, 30_000, WRITE, 4096);
    check(rate(&ends, 0.0, 5.0), 3000.0, "a limit");
}

#[test]
fn bytes_pay_by_their_number_and_large_operations_several_credits() {
    let mib = 1 << 20;
    // 15 MiB/s more than what comes in: 150 MiB last 10 s.
    let model = "sim:delay?time=1ms&bps=5MiB/s..20MiB/s:150MiB";
    let ends = closed(model, 4, 500, Action::Read, mib);
    check(rate(&ends, 0.5, 9.5), 20.0, "burst");
    check(rate(&ends, 10.5, 50.5), 5.0, "baseline");
    // An operation of a MiB counts as four of 256 KiB.
    let model = "sim:delay?time=1ms&iops=1000&io-size=256KiB";
    let ends = closed(model, 4, 5000, Action::Read, mib);
    check(rate(&ends, 1.0, 11.0), 250.0, "four credits");
}

#[test]
fn reads_and_writes_have_buckets_of_their_own_or_one_of_both() {
    let reads = "sim:delay?time=1ms&riops=100..500:4000";
    check(
        rate(&closed(reads, 4, 8000, Action::Read, 4096), 11.0, 21.0),
        100.0,
        "reads that are held to their limit",
    );
    check(
        rate(&closed(reads, 4, 8000, WRITE, 4096), 0.5, 1.5),
        4000.0,
        "writes that are not",
    );
}

/// Arrivals below the baseline never wait; above it they wait from the moment on at which the
/// bucket is empty, and the queue grows by what is too much.
#[test]
fn arrivals_wait_once_the_bucket_is_empty() {
    let latency_of_last = |per_second: u64, seconds: u64| {
        let spec = SimSpec::parse("sim:delay?time=1ms&iops=100..3000:4000").expect("a model");
        let mut device = spec.device(1);
        let mut answers = Vec::new();
        let gap = Duration::from_nanos(1_000_000_000 / per_second);
        let mut arrived = Instant::START;
        for _ in 0..per_second * seconds {
            arrived += gap;
            while let Some(at) = device.next().filter(|&at| at <= arrived) {
                device.step(at, &mut answers);
            }
            device.begin(arrived, command(Action::Read, 0, 4096));
        }
        let mut end = arrived;
        while let Some(at) = device.next() {
            device.step(at, &mut answers);
            end = at;
        }
        assert_eq!(answers.len() as u64, per_second * seconds);
        end.since(arrived).as_secs_f64()
    };
    check(latency_of_last(90, 100), 0.001, "below the baseline");
    // 400 a second over the baseline empty 4,000 in 10 s.
    check(latency_of_last(500, 9), 0.001, "before the bucket is empty");
    // Then 10 s x 400 are too much, which take 40 s at the baseline.
    check(latency_of_last(500, 20), 40.0, "after it");
}

/// What is spent comes back: idle for half of what a bucket takes to fill, it is half full.
#[test]
fn credits_come_back_while_nothing_is_asked() {
    let spec = SimSpec::parse("sim:delay?time=1ms&iops=100..1100:2000&credits=0%").expect("one");
    let mut device = spec.device(1);
    let mut now = Instant::START + Duration::from_secs(10);
    let start = now;
    let mut answers = Vec::new();
    // Half of the bucket, 1,000 credits: at 1,100 a second they last a second.
    for _ in 0..4 {
        device.begin(now, command(Action::Read, 0, 4096));
    }
    let mut ends = Vec::new();
    while ends.len() < 2000 {
        now = device.next().expect("operations are under way");
        device.step(now, &mut answers);
        for _ in answers.drain(..) {
            ends.push(now.since(start).as_secs_f64());
            device.begin(now, command(Action::Read, 0, 4096));
        }
    }
    check(rate(&ends, 0.0, 1.0), 1100.0, "earned while idle");
    check(rate(&ends, 1.5, 6.5), 100.0, "spent again");
}

#[test]
fn a_volume_of_an_array_has_its_own_credits_and_a_seed_repeats_it() {
    // Two volumes of 100 IOPS.
    let pair = "sim:aws-gp2?raid=0&disks=2&credits=0%&unit=4KiB";
    let ends = |seed| {
        let spec = SimSpec::parse(pair).expect("a pair");
        let mut device = spec.device(seed);
        let mut answers = Vec::new();
        let mut ends = Vec::new();
        for number in 0..2000 {
            device.begin(Instant::START, command(Action::Read, number * 4096, 4096));
        }
        while let Some(at) = device.next() {
            device.step(at, &mut answers);
            ends.extend(
                answers
                    .drain(..)
                    .map(|_| at.since(Instant::START).as_secs_f64()),
            );
        }
        ends
    };
    let once = ends(3);
    check(rate(&once, 0.5, 9.5), 200.0, "two volumes");
    assert_eq!(once, ends(3));
    assert_ne!(once, ends(4));
}
