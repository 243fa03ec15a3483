//! Rounds and clocks of up to a thousand simulated hosts, where the truth is known.

#[path = "support/virtual_fleet.rs"]
mod virtual_fleet;

use fleet::{ClockLine, Fleet, FleetError, FleetGroup};
use random::{Purpose, Stream};
use units::{Duration, Instant};

use virtual_fleet::{HostClock, Latency, Servant, VirtualFleet, VirtualHost};

const PATIENCE: Duration = Duration::from_secs(8);
const LATENCY: Latency = Latency {
    least: Duration::from_micros(20),
    more: Duration::from_micros(30),
};

/// A host that answers what it was told, with its number before it.
fn echo(rank: u8) -> impl VirtualHost {
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
fn pass(group: &mut FleetGroup, span: Duration) {
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
    let mut group = FleetGroup::new(Box::new(fleet_of(&clocks, 7)), PATIENCE);
    let mut lines = vec![ClockLine::own(); clocks.len()];
    let (mut off, mut stated, mut checked) = (0.0, 0.0, 0);
    for burst in 0..4 {
        for (rank, line) in (1..).zip(&mut lines) {
            line.add(&group.read_clock(rank, 8).expect("all hosts answer"));
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

/// What is said of one run: before, during and after a trial of a minute, and the share of hosts
/// whose truth lies in the interval.
#[track_caller]
fn check_covered(what: &str, held: usize, of: usize) {
    let share = held as f64 / of as f64;
    assert!(
        (0.93..=0.985).contains(&share),
        "{what}: {share:.3} of {of}"
    );
}

/// An interval says 95 %, and so often, neither more nor less, does it hold the truth: offsets of a
/// millisecond, drifts of 50 parts in a million.
#[test]
fn the_intervals_of_a_thousand_clocks_cover_as_often_as_they_say() {
    for (seed, during) in [(11, 0), (12, 1), (13, 4)] {
        let clocks = clocks(1000, seed);
        let mut group = FleetGroup::new(Box::new(fleet_of(&clocks, seed)), PATIENCE);
        let mut lines = vec![ClockLine::own(); clocks.len()];
        let begun = group.now();
        for burst in 0..during + 2 {
            for (rank, line) in (1..).zip(&mut lines) {
                let until = group.now() + Duration::from_millis(100);
                let exchanges = if burst == 0 || burst == during + 1 {
                    group.read_clock(rank, 16)
                } else {
                    group.glance_at_clock(rank, 16, until)
                };
                line.add(&exchanges.expect("all hosts answer"));
                assert_eq!(line.likely_ahead(begun).is_some(), burst > 0);
            }
            pass(&mut group, Duration::from_secs(60 / (during + 1)));
        }
        let ended = group.now();
        let (mut held, mut narrow) = ([0; 3], 0);
        for (line, clock) in lines.iter().zip(&clocks) {
            for (place, at) in [begun, ended].into_iter().enumerate() {
                let (ahead, half) = line.likely_ahead(at).expect("several bursts");
                let error = (ahead - truly_ahead(clock, at)).abs();
                held[place] += usize::from(error <= half);
                narrow += usize::from(half < line.ahead(at).1);
            }
            let (drift, half) = line.likely_drift_ppm().expect("several bursts");
            held[2] += usize::from((drift - clock.drift_ppm).abs() <= half);
        }
        let names = [
            "the offset at the start",
            "the offset after the end",
            "the drift",
        ];
        for (name, held) in names.into_iter().zip(held) {
            check_covered(
                &format!("{name}, {during} bursts during"),
                held,
                clocks.len(),
            );
        }
        assert!(
            narrow > 2 * clocks.len() * 9 / 10,
            "{narrow}: the bound is as good"
        );
    }
}

/// A host that does not look up is not waited for longer than was asked for.
#[test]
fn a_glance_at_a_dead_host_ends_in_time_with_nothing() {
    let fleet = VirtualFleet::new(HostClock::default(), LATENCY, 5);
    let fleet = fleet.with(echo(1), HostClock::default(), Instant(1));
    let mut group = FleetGroup::new(Box::new(fleet), PATIENCE);
    let until = group.now() + Duration::from_millis(100);
    assert_eq!(group.glance_at_clock(1, 16, until), Ok(Vec::new()));
    assert_eq!(group.now(), until);
}

#[test]
fn rounds_bring_what_was_sent_in_the_order_of_the_ranks() {
    let mut group = FleetGroup::new(Box::new(fleet_of(&clocks(5, 3), 3)), PATIENCE);
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
    let mut group = FleetGroup::new(Box::new(fleet), PATIENCE);
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
    let mut group = FleetGroup::new(Box::new(fleet), PATIENCE);
    group.broadcast(b"go").expect("a round");
    let error = group.all_reduce(1, u64::max).expect_err("no number");
    assert_eq!(
        error.to_string(),
        "rank 1 sent 3 bytes where a number was asked for"
    );
}

/// A host that answers every round with three bytes.
struct Odd;

impl VirtualHost for Odd {
    fn take_letter(&mut self, bytes: &[u8], at: Instant) -> Vec<Vec<u8>> {
        let answer = |_: &[u8]| vec![1, 2, 3];
        Servant { answer }.take_letter(bytes, at)
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
    let mut group = FleetGroup::new(Box::new(fleet), PATIENCE);
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

/// The living ranks are told that there is no number, and answer in the next round.
#[test]
fn a_number_that_cannot_be_had_is_waited_for_by_nobody() {
    let mut fleet = VirtualFleet::new(HostClock::default(), LATENCY, 7);
    for (rank, clock) in (1..).zip(clocks(2, 7)) {
        let end = if rank == 1 {
            Instant(1)
        } else {
            Instant::NEVER
        };
        let answer = |told: &[u8]| match told {
            [] => b"told of none".to_vec(),
            _ => 1_u64.to_le_bytes().to_vec(),
        };
        fleet = fleet.with(Servant { answer }, clock, end);
    }
    let mut group = FleetGroup::new(Box::new(fleet), PATIENCE);
    group.broadcast(b"go").expect("sending needs no receiver");
    let error = group.all_reduce(2, u64::max).expect_err("one is dead");
    assert!(
        matches!(error, FleetError::Silent { rank: 1, .. }),
        "{error}"
    );
    let (all, _) = group.gather_living(&[]).expect("the other is heard");
    assert_eq!(all[2].as_deref(), Some(&b"told of none"[..]));
}

#[test]
fn bytes_that_are_no_letter_are_named_with_their_rank() {
    struct Stranger;
    impl VirtualHost for Stranger {
        fn take_letter(&mut self, _: &[u8], _: Instant) -> Vec<Vec<u8>> {
            vec![b"hello".to_vec()]
        }
    }
    let fleet = VirtualFleet::new(HostClock::default(), LATENCY, 1);
    let fleet = fleet.with(Stranger, HostClock::default(), Instant::NEVER);
    let mut group = FleetGroup::new(Box::new(fleet), PATIENCE);
    group.broadcast(b"who").expect("a round");
    let error = group.gather(&[]).expect_err("no letter");
    assert_eq!(error.to_string(), "rank 1 sent no letter of ours");
}
