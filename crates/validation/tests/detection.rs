//! What is wrong with a simulated device is named by a check-up of it, and nothing else is.
//!
//! Every device is checked up in virtual time with many seeds. A hit is a check-up that names what
//! is there; a false alarm is one that names, in any of its trials, something that is not there.

#![allow(clippy::print_stdout, reason = "the table is a product of these tests")]

#[path = "comparison/parallel.rs"]
mod parallel;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use host::interrupt::Interrupt;
use kinds::check_up::{CheckUpRequest, check_up};
use lab::bench::{BenchRequest, default_settings};
use parallel::in_parallel;
use results::{Run, Setup, Status};
use units::Duration;

/// Share of check-ups that shall be right.
const RIGHT: f64 = 0.95;
/// As `seekstone run` has it, with fewer clients: more of them take real time and show no more.
const BUDGET: Duration = Duration::from_secs(110);
const CLIENTS_MAX: u32 = 8;

/// Said of storage that is not at the end what it was at the start; wrongly in at most this share
/// of check-ups.
const CHANGED: &str = "level-changed";
const CHANGED_MOST: f64 = 0.02;

/// An operation that failed: the run says so, and no warning.
const ERROR: &str = "error";
/// Every other warning counts. These say that the time was too little for the precision asked for,
/// or for the search for a load: true of any device, and no statement about this one. That they are
/// gone where there is time is a test of its own.
const ABOUT_PRECISION: [&str; 8] = [
    "depth-not-reached",
    "level-uncertain",
    "too-few-samples",
    "not-converged",
    "not-finished",
    "not-saturated",
    "search-not-finished",
    "too-short",
];

/// A device, and what is true of it.
struct Condition {
    title: &'static str,
    device: &'static str,
    /// What must be named.
    expected: Option<&'static str>,
    /// What is true as well, and may be named.
    companions: &'static [&'static str],
}

const fn healthy(title: &'static str, device: &'static str) -> Condition {
    Condition {
        title,
        device,
        expected: None,
        companions: &[],
    }
}

/// A trial takes 10 to 14 seconds, the durable write what is left. What a queue does
/// counts from the start of each trial.
const CONDITIONS: [Condition; 14] = [
    healthy("one server", "sim:mm1?mean=1ms"),
    healthy("four servers", "sim:mmc?mean=4ms&servers=4"),
    healthy("disk", "sim:fireball"),
    Condition {
        // Four requests of half a second wait for one processor: each is as late as its neighbours.
        companions: &["correlated"],
        ..healthy("machine with a disk", "sim:ppro?writes=through")
    },
    healthy(
        "flash below its cliff",
        "sim:nvme?channels=2&dies=2&content=fresh&write-buffer=64KiB",
    ),
    Condition {
        title: "stall of 200 ms",
        device: "sim:mm1?mean=1ms&stall=200ms@1500",
        expected: Some("stall"),
        companions: &[
            "rare-episodes",
            "not-stationary",
            "heavy-tail",
            "correlated",
        ],
    },
    Condition {
        title: "stall of 2 s",
        device: "sim:mm1?mean=1ms&stall=2s@1500",
        expected: Some("stall"),
        companions: &[
            "rare-episodes",
            "not-stationary",
            "heavy-tail",
            "correlated",
            // A scout of fewer operations never meets it: the points of the curve differ by it.
            "curve-drift",
        ],
    },
    Condition {
        title: "stall of 500 ms, disk",
        device: "sim:fireball?stall=500ms@100",
        expected: Some("stall"),
        companions: &[
            "rare-episodes",
            "not-stationary",
            "heavy-tail",
            "correlated",
        ],
    },
    Condition {
        title: "errors, 1 in 1000",
        device: "sim:mm1?mean=1ms&error=EIO@0.1%",
        expected: Some(ERROR),
        companions: &[],
    },
    Condition {
        title: "drift, 30 % in 7.5 s",
        device: "sim:mm1?mean=1ms&drift=240%@60s",
        expected: Some("drift"),
        companions: &["not-stationary", "curve-drift", "correlated"],
    },
    Condition {
        title: "warm-up, 3 times as slow, 2 s",
        device: "sim:mm1?mean=1ms&warm-up=200%@2s",
        expected: Some("warm-up"),
        // Seconds in which it becomes faster are slow ups and downs, too.
        companions: &[
            "not-stationary",
            "curve-drift",
            "warm-up-differs",
            "correlated",
        ],
    },
    Condition {
        title: "hits and misses",
        device: "sim:cache?hit=10us&miss=5ms&hits=80%&run=1",
        expected: Some("two-modes"),
        companions: &[],
    },
    Condition {
        title: "wave, 50 %, every 500 ms",
        device: "sim:mm1?mean=1ms&wave=50%@500ms",
        expected: Some("oscillation"),
        companions: &[],
    },
    Condition {
        title: "write cliff",
        device: "sim:nvme?channels=2&dies=2&blocks=48&spare=15%&content=fresh&write-buffer=64KiB",
        expected: Some("write-cliff"),
        // Cleaning keeps a die busy for an eighth of a second: that is a stall, and a mode. It does
        // so one die after the other, six times a second: that is a period. What was cut of the
        // start was faster than the rest.
        companions: &[
            "two-modes",
            "stall",
            "rare-episodes",
            "not-stationary",
            "correlated",
            "oscillation",
            "warm-up-differs",
        ],
    },
];

/// Time and clients that a check-up has.
#[derive(Clone, Copy)]
struct Room {
    budget: Duration,
    clients_max: u32,
}

const USUAL: Room = Room {
    budget: BUDGET,
    clients_max: CLIENTS_MAX,
};

/// Twenty times as long, and clients enough to see that more of them bring nothing.
const AMPLE: Room = Room {
    budget: Duration::from_secs(20 * 110),
    clients_max: 256,
};

/// What a check-up of `device` names of its behaviour.
fn names(device: &str, seed: u64) -> BTreeSet<String> {
    let mut names = names_in(&checked_up(device, seed, USUAL));
    names.retain(|name| !ABOUT_PRECISION.contains(&&**name));
    names
}

fn checked_up(device: &str, seed: u64, room: Room) -> Run {
    let request = CheckUpRequest {
        percentile: None,
        bench: BenchRequest {
            ranks: None,
            target: device.into(),
            purpose: "a test".into(),
            size: None,
            reserve: None,
            overwrite: false,
            confirmed: None,
            storage: default_settings(seed),
            setup: Setup::new("run", seed),
            cells: lab::cells::Cells::default(),
        },
        budget: room.budget,
        levels: procedure::Levels::Grid { count: 3 },
        clients_max: room.clients_max,
        goals: Vec::new(),
    };
    check_up(&request, &Interrupt::never(), &mut |_| ())
        .unwrap_or_else(|error| panic!("{device}, seed {seed}: {error}"))
}

fn names_in(run: &Run) -> BTreeSet<String> {
    let of_trials = run.measurements.iter().flat_map(|trial| &trial.warnings);
    let of_curve = run.curves.iter().flat_map(|curve| &curve.warnings);
    let warnings = of_trials.chain(of_curve).chain(&run.warnings);
    let mut names: BTreeSet<String> = warnings.map(|warning| warning.code.to_string()).collect();
    if let Status::Partial { reason } = &run.status {
        assert!(reason.contains("failed: Input/output error"), "{reason}");
        names.insert(ERROR.into());
    }
    names
}

/// How many of so many check-ups of `device` say each of [`ABOUT_PRECISION`].
fn too_little(device: &str, seeds: &[u64], room: Room) -> [usize; ABOUT_PRECISION.len()] {
    let found = in_parallel(seeds, |&seed| names_in(&checked_up(device, seed, room)));
    ABOUT_PRECISION.map(|code| found.iter().filter(|names| names.contains(code)).count())
}

/// How often a condition was found, and how often something else.
struct Detections {
    seeds: usize,
    hits: usize,
    /// How often the storage was said to change from the first rows to the last.
    changes: usize,
    false_alarms: usize,
}

impl Condition {
    fn detect(&self, seeds: &[u64]) -> Detections {
        let found = in_parallel(seeds, |&seed| names(self.device, seed));
        let is_false = |name: &String| {
            self.expected != Some(name.as_str()) && !self.companions.contains(&name.as_str())
        };
        let is_hit = |names: &&BTreeSet<String>| {
            let name = self.expected;
            name.is_none_or(|name| names.contains(name))
        };
        let mut wrong: Vec<String> = found
            .iter()
            .flatten()
            .filter(|n| is_false(n))
            .cloned()
            .collect();
        wrong.sort();
        let detections = Detections {
            seeds: seeds.len(),
            hits: found.iter().filter(is_hit).count(),
            changes: found.iter().filter(|names| names.contains(CHANGED)).count(),
            false_alarms: found
                .iter()
                .filter(|names| names.iter().any(is_false))
                .count(),
        };
        println!(
            "| {} | `{}` | {} | {} | {} | {}",
            self.title,
            self.device,
            self.expected.unwrap_or("nothing"),
            self.expected
                .map_or("-".into(), |_| detections.hits.to_string()),
            detections.false_alarms,
            wrong.join(" "),
        );
        detections
    }
}

/// Whether so few of `all` may be right by chance, once in fifty, where [`RIGHT`] are.
fn may_be(right: usize, all: usize) -> bool {
    let (mut chance, mut at_most) = ((1.0 - RIGHT).powi(all as i32), 0.0);
    for count in 0..=right {
        at_most += chance;
        chance *= (all - count) as f64 / (count + 1) as f64 * RIGHT / (1.0 - RIGHT);
    }
    at_most >= 0.02
}

fn check(
    seeds: impl Fn(&Condition) -> RangeInclusive<u64>,
    is_enough: impl Fn(usize, usize) -> bool,
) {
    println!("| what is there | device | named | hits | false alarms |");
    let mut wrong = Vec::new();
    let (mut changes, mut all) = (0, 0);
    for condition in &CONDITIONS {
        let seeds: Vec<u64> = seeds(condition).collect();
        let found = condition.detect(&seeds);
        if !is_enough(found.hits, found.seeds) {
            wrong.push(format!("{}: {} hits", condition.title, found.hits));
        }
        changes += found.changes;
        all += found.seeds;
        let quiet = found.seeds - found.false_alarms;
        if !is_enough(quiet, found.seeds) {
            let alarms = found.false_alarms;
            wrong.push(format!("{}: {alarms} false alarms", condition.title));
        }
    }
    // What these devices do they do in each trial anew: none is another one at the end.
    let share = changes as f64 / all as f64;
    println!("`{CHANGED}`: {changes} of {all}");
    assert!(
        share <= CHANGED_MOST,
        "{changes} of {all} are said to change"
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Burst credits that run out, and some that come back while others are spent.
#[test]
fn a_level_that_does_not_last_is_named() {
    for device in [
        "sim:aws-gp2?credits=1%",
        "sim:delay?time=1ms&riops=400..1000:10000&credits=0%",
    ] {
        let seeds: Vec<u64> = (1..=6).collect();
        let found = in_parallel(&seeds, |&seed| names(device, seed));
        let missed = found.iter().filter(|names| !names.contains(CHANGED));
        assert_eq!(missed.count(), 0, "{device}: {found:?}");
    }
}

#[test]
fn what_is_there_is_named_and_nothing_else() {
    check(|_| 1..=4, may_be);
}

/// The first hundred seeds served for tuning. Where nothing is wrong 400 are counted: of 100 seeds,
/// one set in seven has more than five alarms where there are 3.5 on average.
#[test]
#[ignore = "takes minutes: part of the nightly tests"]
fn what_is_there_is_named_in_hundreds_of_check_ups() {
    let seeds = |condition: &Condition| match condition.expected {
        None => 1001..=1400,
        Some(_) => 1001..=1100,
    };
    check(seeds, |right, all| right as f64 >= RIGHT * all as f64);
}

/// On devices with which nothing is wrong "too little time" is true if more time removes it. With
/// twenty times as much it is said in at most 5 of 100 check-ups.
fn check_too_little_time(seeds: RangeInclusive<u64>) {
    let seeds: Vec<u64> = seeds.collect();
    println!("| device | room | {} |", ABOUT_PRECISION.join(" | "));
    let mut wrong = Vec::new();
    for condition in CONDITIONS.iter().filter(|it| it.expected.is_none()) {
        let device = condition.device;
        let (usual, ample) = (
            too_little(device, &seeds, USUAL),
            too_little(device, &seeds, AMPLE),
        );
        for (room, counts) in [("usual", usual), ("ample", ample)] {
            let cells = counts.map(|count| count.to_string()).join(" | ");
            println!("| `{device}` | {room} | {cells} |");
        }
        let most = (1.0 - RIGHT) * seeds.len() as f64;
        let false_alarms = ABOUT_PRECISION.iter().zip(ample);
        wrong.extend(false_alarms.filter(|(_, count)| *count as f64 > most));
    }
    assert!(wrong.is_empty(), "of {} seeds: {wrong:?}", seeds.len());
}

#[test]
fn too_little_time_is_said_only_where_more_helps() {
    check_too_little_time(1..=1);
}

#[test]
#[ignore = "takes minutes: part of the nightly tests"]
fn too_little_time_is_said_only_where_more_helps_in_a_hundred_check_ups() {
    check_too_little_time(1001..=1100);
}

#[test]
fn chance_is_told_from_failure() {
    assert!(may_be(10, 10) && may_be(8, 10) && !may_be(7, 10));
    assert!(may_be(90, 100) && !may_be(89, 100));
}
