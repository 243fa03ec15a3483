//! Rounds and clocks of up to a thousand simulated hosts, where the truth is known.

use fleet::{ClockLine, Fleet, FleetError, Group, Host, HostClock, Latency, Servant, VirtualFleet};
use random::{Purpose, Stream};
use units::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(8);
const LATENCY: Latency = Latency {
    least: Duration::from_micros(20),
    more: Duration::from_micros(30),
};

/// A host that answers what it was told, with its number before it.
fn echo(rank: u8) -> impl Host {
    Servant {
        answer: move |told: &[u8]| [&[rank], told].concat(),
    }
}

fn fleet_of(clocks: &[HostClock], seed: u64) -> VirtualFleet {
    let fleet = VirtualFleet::new(HostClock::default(), LATENCY, seed);
    (1_u32..).zip(clocks).fold(fleet, |fleet, (rank, clock)| {
        fleet.with(echo(rank as u8), *clock, Instant::NEVER)
    })
}

/// Clocks up to a millisecond apart that drift by up to 50 parts in a million.
fn clocks(count: usize, seed: u64) -> Vec<HostClock> {
    let mut stream = Stream::new(seed, 1, Purpose::Network);
    let mut within = |most: f64| most * (2.0 * stream.unit() - 1.0);
    let clock = |_| HostClock {
        ahead_ns: 1_000_000 + within(1e6) as i64,
        drift_ppm: within(50.0),
    };
    (0..count).map(clock).collect()
}

/// Let time pass without anything to wait for.
fn pass(group: &mut Group, span: Duration) {
    let until = group.now() + span;
    let note = group.next_note(until).expect("a fleet in virtual time");
    assert_eq!(note, None);
}

/// By how much a clock is ahead of rank 0's, which reads true time, nanoseconds.
fn truly_ahead(clock: &HostClock, at: Instant) -> f64 {
    (i128::from(clock.reads(at).as_nanos()) - i128::from(at.as_nanos())) as f64
}

/// What is stated is a bound, so it must hold for every host at every instant.
#[test]
fn a_thousand_clocks_are_where_they_are_said_to_be() {
    let clocks = clocks(1000, 7);
    let mut group = Group::new(Box::new(fleet_of(&clocks, 7)), PATIENCE);
    let mut lines = vec![ClockLine::own(); clocks.len()];
    let (mut off, mut stated, mut checked) = (0.0, 0.0, 0);
    for burst in 0..4 {
        for (rank, line) in (1..).zip(&mut lines) {
            line.add(group.read_clock(rank, 8).expect("all hosts answer"));
        }
        let read = group.now();
        for (line, clock) in lines.iter().zip(&clocks) {
            for seconds in [0, 1, 10, 30] {
                let at = read + Duration::from_secs(seconds);
                let (ahead, bound) = line.ahead(at);
                let error = (ahead - truly_ahead(clock, at)).abs();
                // The simulated clock itself reads whole nanoseconds.
                assert!(
                    error <= bound + 1.0,
                    "{clock:?} {burst}: {error} of {bound} ns"
                );
                (off, stated, checked) = (off + error, stated + bound, checked + 1);
            }
            if let Some((drift, bound)) = line.drift_ppm() {
                assert!((drift - clock.drift_ppm).abs() <= bound + 1e-6, "{clock:?}");
            }
        }
        pass(&mut group, Duration::from_secs(30));
    }
    assert_eq!(checked, 4 * 4 * clocks.len());
    assert!(
        off > stated / 1000.0,
        "a bound that is never approached says nothing"
    );
    let widest = lines.iter().map(|line| line.ahead(group.now()).1);
    let widest = widest.fold(0.0, f64::max);
    assert!(widest < 100_000.0, "after four bursts: {widest} ns");
}

#[test]
fn rounds_bring_what_was_sent_in_the_order_of_the_ranks() {
    let mut group = Group::new(Box::new(fleet_of(&clocks(5, 3), 3)), PATIENCE);
    assert!(group.leads());
    for told in [&b"plan"[..], b"", b"measure"] {
        assert_eq!(group.broadcast(told).expect("a round"), told);
        let all = group.gather(&[0]).expect("a round");
        let expected: Vec<Vec<u8>> = (1..=5).map(|rank| [&[rank], told].concat()).collect();
        assert_eq!(all[0], [0]);
        assert_eq!(all[1..], expected);
    }
}

#[test]
fn numbers_are_joined_over_all_ranks() {
    let mut fleet = VirtualFleet::new(HostClock::default(), LATENCY, 4);
    for own in [30_u64, 400, 5000] {
        let answer = move |_: &[u8]| own.to_le_bytes().to_vec();
        fleet = fleet.with(Servant { answer }, HostClock::default(), Instant::NEVER);
    }
    let mut group = Group::new(Box::new(fleet), PATIENCE);
    group.broadcast(b"go").expect("a round");
    let sum = group.all_reduce(2, |sum, more| sum + more);
    assert_eq!(sum, Ok(5432));
    assert_eq!(group.all_reduce(2, u64::max), Ok(5000));
    assert_eq!(group.barrier(), Ok(()));
}

/// A rank of another program would end a reduction with a wrong number.
#[test]
fn a_number_that_is_none_is_named_with_its_rank() {
    let fleet = VirtualFleet::new(HostClock::default(), LATENCY, 1);
    let fleet = fleet.with(Odd, HostClock::default(), Instant::NEVER);
    let mut group = Group::new(Box::new(fleet), PATIENCE);
    group.broadcast(b"go").expect("a round");
    let error = group.all_reduce(1, u64::max).expect_err("no number");
    assert_eq!(
        error.to_string(),
        "rank 1 sent 3 bytes where a number was asked for"
    );
}

/// A host that answers every round with three bytes.
struct Odd;

impl Host for Odd {
    fn hear(&mut self, bytes: &[u8], at: Instant) -> Vec<Vec<u8>> {
        let answer = |_: &[u8]| vec![1, 2, 3];
        Servant { answer }.hear(bytes, at)
    }
}

#[test]
fn a_host_that_dies_is_named_within_ten_seconds_and_the_others_are_heard() {
    let mut fleet = VirtualFleet::new(HostClock::default(), LATENCY, 9);
    let dies = Instant(5_000_000_000);
    for (rank, clock) in (1..).zip(clocks(4, 9)) {
        let end = if rank == 3 { dies } else { Instant::NEVER };
        fleet = fleet.with(echo(rank), clock, end);
    }
    assert_eq!(fleet.size(), 5);
    let mut group = Group::new(Box::new(fleet), PATIENCE);
    group.broadcast(b"before").expect("a round");
    assert_eq!(group.gather(&[]).expect("all live").len(), 5);
    pass(&mut group, Duration::from_secs(6));

    let asked = group.now();
    group
        .broadcast(b"after")
        .expect("sending needs no receiver");
    let error = group.gather(&[]).expect_err("one is dead");
    let FleetError::Silent { rank, silent } = error else {
        panic!("{error}");
    };
    assert_eq!(rank, 3);
    assert!(silent > PATIENCE && group.now().since(asked) < Duration::from_secs(10));
    assert!(group.read_clock(2, 1).is_ok());
    let again = group.now();
    group
        .broadcast(b"again")
        .expect("sending needs no receiver");
    let (all, lost) = group.gather_living(&[]).expect("the others are heard");
    assert_eq!(all.iter().filter(|it| it.is_none()).count(), 1);
    assert!(lost.is_some() && group.now().since(again) < Duration::from_secs(1));
    let error = group.read_clock(3, 1).expect_err("it is still dead");
    assert!(
        error.to_string().starts_with("rank 3 has been silent for "),
        "{error}"
    );
}

#[test]
fn bytes_that_are_no_letter_are_named_with_their_rank() {
    struct Stranger;
    impl Host for Stranger {
        fn hear(&mut self, _: &[u8], _: Instant) -> Vec<Vec<u8>> {
            vec![b"hello".to_vec()]
        }
    }
    let fleet = VirtualFleet::new(HostClock::default(), LATENCY, 1);
    let fleet = fleet.with(Stranger, HostClock::default(), Instant::NEVER);
    let mut group = Group::new(Box::new(fleet), PATIENCE);
    group.broadcast(b"who").expect("a round");
    let error = group.gather(&[]).expect_err("no letter");
    assert_eq!(error.to_string(), "rank 1 sent no letter of ours");
}
