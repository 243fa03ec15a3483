//! The contract of `engine::Driver`, on the drivers that need no kernel: simulated devices, and the
//! null driver on a clock that steps.

use std::cell::Cell;
use std::collections::BTreeSet;

use engine::{Clock, Driver, DriverError, NullDriver};
use sim::SimSpec;
use units::{Duration, Instant};
use workload::{ClientId, Completion, Op, Request, TargetId};

use crate::conformance_suite::{Terrain, check_contract};

const DEVICES: [&str; 15] = [
    "sim:mm1",
    "sim:mmc?servers=3",
    "sim:md1",
    "sim:delay",
    "sim:cache",
    "sim:mm1?stall=9ms@20",
    "sim:fireball",
    "sim:rz26?raid=5&disks=5",
    "sim:st15150n?raid=1&disks=2&mode=rebuild",
    "sim:nvme?blocks=16&spare=30%",
    "sim:ppro",
    "sim:p100?stall=20ms@20&short=20%",
    "sim:lan-ppro",
    "sim:cdrom8",
    "sim:dlt2000",
];
const CAPACITY: usize = 8;

/// A clock that goes on by a microsecond whenever it is read.
#[derive(Default)]
struct SteppingClock(Cell<u64>);

impl Clock for SteppingClock {
    fn now(&self) -> Instant {
        self.0.set(self.0.get() + 1_000);
        Instant(self.0.get())
    }
}

fn for_each_driver(check: impl Fn(&str, &mut dyn Driver)) {
    for device in DEVICES {
        let spec = SimSpec::parse(device).expect("a valid simulated device");
        check(device, &mut spec.driver(3, CAPACITY, Instant(77)));
    }
    check(
        "null",
        &mut NullDriver::new(SteppingClock::default(), CAPACITY),
    );
}

fn request(number: u32, due: Instant) -> Request {
    let op = Op::Read {
        target: TargetId(0),
        offset: u64::from(number) * 4096,
        len: 4096,
    };
    Request::new(ClientId(number), due, op)
}

/// Simulated devices have checks of their own below: the suite waits again and again for a deadline
/// that has passed, which brings a real driver on, but lets no virtual time pass.
#[test]
fn the_null_driver_keeps_the_contract_of_real_drivers() {
    let terrain = Terrain {
        target: TargetId(0),
        block: 4096,
        blocks: 1024,
    };
    check_contract(
        || NullDriver::new(SteppingClock::default(), CAPACITY),
        &terrain,
    );
}

#[test]
fn every_request_is_answered_once_whole_and_as_it_was_asked() {
    for_each_driver(|name, driver| {
        let mut done: Vec<Completion> = Vec::new();
        let mut asked = Vec::new();
        for number in 0..200 {
            let request = request(number, driver.now());
            asked.push(request);
            driver.submit(request).expect("room");
            while asked.len() - done.len() == CAPACITY {
                driver
                    .wait(None, &mut done)
                    .expect("something is in flight");
            }
        }
        while done.len() < asked.len() {
            driver
                .wait(None, &mut done)
                .expect("something is in flight");
        }
        let clients: BTreeSet<ClientId> = done.iter().map(|done| done.request.client).collect();
        assert_eq!((done.len(), clients.len()), (200, 200), "{name}");
        for completion in &done {
            assert_eq!(
                completion.request, asked[completion.request.client.0 as usize],
                "{name}"
            );
            assert_eq!(completion.result, Ok(4096), "{name}");
        }
    });
}

#[test]
fn stamps_are_in_order_and_none_is_from_before_submit() {
    for_each_driver(|name, driver| {
        let mut done = Vec::new();
        let mut last = driver.now();
        for number in 0..200 {
            let before = driver.now();
            driver
                .submit(request(number, Instant::START))
                .expect("room");
            let reaped = done.len();
            driver
                .wait(None, &mut done)
                .expect("something is in flight");
            let after = driver.now();
            for completion in &done[reaped..] {
                assert!(
                    completion.issued >= before,
                    "{name}: issued before it was submitted"
                );
                assert!(
                    completion.completed >= completion.issued,
                    "{name}: {completion:?}"
                );
                assert!(
                    completion.completed >= last,
                    "{name}: completions out of order"
                );
                assert!(
                    completion.completed <= after,
                    "{name}: completed in the future"
                );
                last = completion.completed;
            }
        }
    });
}

#[test]
fn waiting_returns_at_the_first_completion_or_at_the_deadline() {
    for_each_driver(|name, driver| {
        let mut done = Vec::new();
        let deadline = driver.now() + Duration::from_millis(5);
        driver
            .wait(Some(deadline), &mut done)
            .expect("a deadline was set");
        assert!(
            done.is_empty() && driver.now() >= deadline,
            "{name}: nothing was in flight"
        );
        for number in 0..CAPACITY as u32 {
            driver.submit(request(number, deadline)).expect("room");
        }
        while done.len() < CAPACITY {
            let before = done.len();
            let deadline = driver.now() + Duration::from_micros(5);
            driver
                .wait(Some(deadline), &mut done)
                .expect("a deadline was set");
            let is_over = driver.now() >= deadline;
            assert!(
                done.len() > before || is_over,
                "{name}: came back with nothing and too early"
            );
        }
    });
}

#[test]
fn a_deadline_that_has_passed_returns_at_once() {
    for device in DEVICES {
        let spec = SimSpec::parse(device).expect("a valid simulated device");
        let mut driver = spec.driver(3, CAPACITY, Instant(1_000_000));
        driver.submit(request(0, driver.now())).expect("room");
        let mut done = Vec::new();
        driver
            .wait(Some(Instant(5)), &mut done)
            .expect("a deadline was set");
        assert_eq!(
            driver.now(),
            Instant(1_000_000),
            "{device}: time went backwards or on"
        );
        assert!(done.is_empty(), "{device}");
    }
}

#[test]
fn an_endless_wait_is_refused() {
    for_each_driver(|name, driver| {
        assert_eq!(
            driver.wait(None, &mut Vec::new()),
            Err(DriverError::Idle),
            "{name}"
        );
    });
}

#[test]
fn submitting_may_not_let_time_pass_in_a_simulation() {
    for device in DEVICES {
        let spec = SimSpec::parse(device).expect("a valid simulated device");
        let mut driver = spec.driver(3, CAPACITY, Instant(42));
        for number in 0..CAPACITY as u32 {
            driver
                .submit(request(number, Instant::START))
                .expect("room");
            assert_eq!(driver.now(), Instant(42), "{device}");
        }
    }
}

#[test]
fn more_requests_than_capacity_are_a_mistake_of_ours() {
    for_each_driver(|name, driver| {
        assert_eq!(driver.capacity(), CAPACITY, "{name}");
        let overfill = std::panic::AssertUnwindSafe(|| {
            for number in 0..=CAPACITY as u32 {
                let _ = driver.submit(request(number, Instant::START));
            }
        });
        assert!(std::panic::catch_unwind(overfill).is_err(), "{name}");
    });
}

#[test]
fn what_ends_at_the_same_instant_ends_in_the_order_of_submission() {
    let spec = SimSpec::parse("sim:delay?time=10us").expect("a valid simulated device");
    let mut driver = spec.driver(1, 64, Instant::START);
    for number in 0..64 {
        driver
            .submit(request(number, Instant::START))
            .expect("room");
    }
    let mut done = Vec::new();
    driver
        .wait(None, &mut done)
        .expect("something is in flight");
    let order: Vec<u32> = done.iter().map(|done| done.request.client.0).collect();
    assert_eq!(order, (0..64).collect::<Vec<u32>>());
}
