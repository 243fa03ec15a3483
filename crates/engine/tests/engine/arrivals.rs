//! Whether as much load is offered as was asked for, from a thousand to 600,000 a second.
//!
//! In virtual time on a constant delay, the number of completions in T is that of the arrivals in T
//! less the delay. Its relative standard deviation is the coefficient of variation c of the gaps
//! over the root of their number n. A tolerance of 3.29 of them is missed by one seed in a
//! thousand.

#![allow(
    clippy::print_stdout,
    reason = "the tables are a product of these tests"
)]

use std::mem::size_of;

use crate::support::{closed, mixed, open};
use engine::{Clock, Driver, DriverError, Engine, EngineOptions, KindSet};
use sim::{SimDriver, SimSpec};
use units::{Duration, Instant};
use workload::{AnyClient, ClientSpec, Completion, GapShape, MixClient, OpKind, Request};

/// Standard deviations that one normal sample in a thousand exceeds.
const MISSED_BY_ONE_IN_A_THOUSAND: f64 = 3.29;

/// Completions of `clients` of `spec` between `from` and `to` on a delay of `delay_us`.
fn completions(spec: &ClientSpec, clients: u32, delay_us: u64, from: f64, to: f64) -> f64 {
    let seed = 5;
    let device = SimSpec::parse(&format!("sim:delay?time={delay_us}us")).expect("a valid device");
    let start = Instant::START;
    let options = EngineOptions {
        start,
        slot_width: Duration::from_millis(10),
        counted: KindSet::of(&OpKind::ALL),
        first_client: 0,
        stride: 1,
    };
    let clients: Vec<AnyClient> = (0..clients)
        .map(|id| {
            spec.client(seed, id, clients)
                .expect("blocks for everybody")
        })
        .collect();
    let mut engine = Engine::new(device.driver(seed, 1 << 20, start), clients, options);
    let mut count = |until: f64| {
        engine
            .run_until(start + Duration::from_secs_f64(until))
            .expect("virtual time");
        engine
            .recorder_mut()
            .take_slots()
            .iter()
            .map(|slot| slot.completions)
            .sum::<u64>() as f64
    };
    count(from);
    count(to)
}

/// Offered and counted must agree within 3.29 standard deviations of `arrivals` arrivals.
fn check_rates(shape: GapShape, variation: f64, arrivals: f64) {
    let clients = 8;
    for rate in [1e3, 50e3, 150e3, 600e3] {
        let spec = mixed(open(shape, rate / f64::from(clients)), None);
        // Whole slots of 10 ms, since the open one is not counted.
        let seconds = (arrivals / rate * 100.0).ceil() / 100.0;
        let counted = completions(&spec, clients, 10, 0.0, seconds) / seconds;
        // Each client's first and last gap are cut at random.
        let ends = 2.0 * f64::from(clients) / arrivals;
        let tolerance =
            MISSED_BY_ONE_IN_A_THOUSAND * variation / arrivals.sqrt() + ends + 1e-5 / seconds;
        assert!(tolerance <= 0.004, "{tolerance} tells nothing");
        let error = counted / rate - 1.0;
        println!(
            "{shape:?} {rate}/s: {:+.4} % of at most {:.4} %",
            error * 100.0,
            tolerance * 100.0
        );
        assert!(
            error.abs() <= tolerance,
            "{shape:?}: {counted} and not {rate} per second"
        );
    }
}

/// Coefficients of variation: 0, 1 / sqrt 3, and 1.
const SHAPES: [(GapShape, f64); 3] = [
    (GapShape::Constant, 0.0),
    (GapShape::Uniform, 0.577_35),
    (GapShape::Exponential, 1.0),
];

#[test]
fn constant_arrivals_have_the_rate_asked_for_within_a_thousandth() {
    // Off by the cut gaps alone: 16 in 100,000.
    check_rates(GapShape::Constant, 0.0, 1e5);
}

#[test]
fn random_arrivals_have_the_rate_asked_for() {
    for (shape, variation) in &SHAPES[1..] {
        check_rates(*shape, *variation, 7e5);
    }
}

/// With n = 12 million, 3.29 / sqrt n is 0.095 %.
#[test]
#[ignore = "nightly: takes minutes"]
fn all_arrivals_have_the_rate_asked_for_within_a_thousandth() {
    for (shape, variation) in SHAPES {
        check_rates(shape, variation, 12e6);
    }
}

/// N clients with think time Z on a delay R offer N / (Z + R). Gaps between one client's
/// completions vary by Z / (Z + R), nearly 1; the first seconds are left out, though with
/// exponential thinking even they are close.
fn check_many_clients(seconds: f64) {
    let (clients, think, delay) = (100_000_u32, 5.0, 0.001);
    let spec = mixed(closed(Duration::from_secs_f64(think)), None);
    let load = f64::from(clients) / (think + delay);
    let counted = completions(&spec, clients, 1_000, 5.0, 5.0 + seconds) / seconds;
    let tolerance = MISSED_BY_ONE_IN_A_THOUSAND / (load * seconds).sqrt();
    println!(
        "{counted:.1} of {load:.1} per second, tolerance {:.3} %",
        tolerance * 100.0
    );
    assert!(
        (counted / load - 1.0).abs() <= tolerance,
        "{counted} and not {load} per second"
    );
}

#[test]
fn a_hundred_thousand_clients_offer_what_their_think_time_says() {
    check_many_clients(40.0);
}

/// 3.29 / sqrt n is a thousandth at n = 10.8 million, which 100,000 clients need 541 s for.
#[test]
#[ignore = "nightly: takes minutes"]
fn a_hundred_thousand_clients_offer_what_their_think_time_says_within_a_thousandth() {
    check_many_clients(541.0);
}

/// So that 100,000 clients fit into 45 megabytes.
#[test]
fn a_client_is_small() {
    let bytes = size_of::<AnyClient>() + size_of::<MixClient>();
    println!("a mixing client takes {bytes} bytes");
    assert!(bytes <= 448, "{bytes} bytes");
}

/// A device that notes what it was asked to be punctual for, and what not.
struct Attentive {
    inner: SimDriver,
    due: Vec<Instant>,
    waited: Vec<Instant>,
    rested: Vec<Instant>,
}

impl Clock for Attentive {
    fn now(&self) -> Instant {
        self.inner.now()
    }
}

impl Driver for Attentive {
    fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        self.due.push(request.due);
        self.inner.submit(request)
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        self.waited.extend(deadline);
        self.inner.wait(deadline, done)
    }

    fn rest(&mut self, deadline: Instant, done: &mut Vec<Completion>) -> Result<(), DriverError> {
        self.rested.push(deadline);
        self.inner.rest(deadline, done)
    }
}

/// Core 19: the end of each slice was waited for as if an operation were due then. Only where one
/// follows at once must nobody oversleep.
#[test]
fn the_end_of_a_slice_needs_no_punctuality_unless_something_is_due_soon_after() {
    let start = Instant::START;
    let device = SimSpec::parse("sim:delay?time=10us").expect("a valid device");
    let spec = mixed(open(GapShape::Exponential, 500.0), None);
    let client = spec.client(5, 0, 1).expect("blocks");
    let driver = Attentive {
        inner: device.driver(5, 64, start),
        due: Vec::new(),
        waited: Vec::new(),
        rested: Vec::new(),
    };
    let options = EngineOptions {
        start,
        slot_width: Duration::from_millis(1),
        counted: KindSet::of(&OpKind::ALL),
        first_client: 0,
        stride: 1,
    };
    let mut engine = Engine::new(driver, vec![client], options);
    let ends: Vec<Instant> = (1..=200)
        .map(|slice| start + Duration::from_millis(16 * slice))
        .collect();
    for end in &ends {
        engine.run_until(*end).expect("virtual time");
    }
    let (_, driver) = engine.into_parts();
    let soon = Duration::from_micros(250);
    let is_near = |end: Instant| {
        driver
            .due
            .iter()
            .any(|due| *due >= end && *due <= end + soon)
    };
    assert!(
        driver
            .rested
            .iter()
            .all(|end| ends.contains(end) && !is_near(*end))
    );
    let punctual = driver.waited.iter().filter(|at| ends.contains(at));
    assert!(punctual.clone().all(|end| is_near(*end)));
    assert!(driver.rested.len() > 100 && punctual.count() > 5);
}
