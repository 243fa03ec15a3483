//! Traps that need real time: a file system of our own that decides how long each operation takes
//! and logs it, the clients of a few seconds, and whoever disturbs them. What is printed holds the
//! mean of the log, or a warning of the right kind is on the default screen.

#![allow(clippy::print_stdout, reason = "the table is a product of these tests")]

use std::collections::HashSet;
use std::fs::{self, File, create_dir};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use known_storage::{
    Behaviour, KnownStorage, KnownSubmission, Law, OperationType, ServedOperation,
};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::group::Group;
use crate::support::pressure::Pressure;
use crate::support::traps::{Printed, Sprung, TrapCommand};
use crate::support::{Running, Scratch, side_by_side, skipped};

const MS: Duration = Duration::from_millis(1);
const SIZE: u64 = 16 << 20;
/// The trial goes on when others begin ...
const BEFORE: Duration = Duration::from_millis(2500);
/// ... for so long.
const MEANWHILE: Duration = Duration::from_millis(1500);

/// Who is there besides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Disturbance {
    None,
    /// Somebody stops the program for a while.
    Stopped,
    /// Another program reads, too.
    OtherUser,
    /// A control group leaves it little time of a processor.
    Quota,
}

struct ServedTrap {
    name: &'static str,
    submission: KnownSubmission,
    law: fn() -> Law,
    load: &'static [&'static str],
    disturbance: Disturbance,
    names: &'static [&'static str],
}

impl ServedTrap {
    const fn new(name: &'static str, law: fn() -> Law, names: &'static [&'static str]) -> Self {
        Self {
            name,
            submission: KnownSubmission::Returns,
            law,
            load: &["--clients", "4"],
            disturbance: Disturbance::None,
            names,
        }
    }

    const fn blocking(mut self) -> Self {
        self.submission = KnownSubmission::Blocks;
        self
    }

    const fn under(mut self, load: &'static [&'static str]) -> Self {
        self.load = load;
        self
    }

    const fn disturbed(mut self, disturbance: Disturbance) -> Self {
        self.disturbance = disturbance;
        self
    }
}

const MOVED: &[&str] = &[
    "drift",
    "not-stationary",
    "step",
    "warm-up",
    "warm-up-differs",
];

const TRAPS: &[ServedTrap] = &[
    ServedTrap::new(
        "submission blocks",
        || Box::new(|_| MS * 5),
        &["engine-fallback"],
    )
    .blocking()
    .under(&["--clients", "8"]),
    ServedTrap::new(
        "submission blocks, arrivals",
        || Box::new(|_| MS * 5),
        &["engine-fallback"],
    )
    .blocking()
    .under(&["--rate", "200/s"]),
    ServedTrap::new(
        "two regions",
        || {
            Box::new(|it| {
                if it.offset < SIZE / 2 {
                    MS * 4
                } else {
                    MS * 16
                }
            })
        },
        &["two-modes"],
    ),
    ServedTrap::new("first write of a block", first_write, MOVED).under(&[
        "--clients",
        "8",
        "--writes",
        "100%",
        "--overwrite",
        "--size",
        "4MiB",
    ]),
    ServedTrap::new(
        "credits for 3 s",
        || Box::new(|it| if it.at < MS * 4000 { MS * 3 } else { MS * 15 }),
        MOVED,
    ),
    ServedTrap::new(
        "silent for 300 ms in 1.5 s",
        || {
            Box::new(|it| {
                let phase = it.at.as_millis() as u64 % 1500;
                if phase < 300 {
                    MS * (302 - phase) as u32
                } else {
                    MS * 2
                }
            })
        },
        &["stall"],
    ),
    ServedTrap::new(
        "stopped by somebody",
        || Box::new(|_| MS * 3),
        &["standstill"],
    )
    .disturbed(Disturbance::Stopped),
    ServedTrap::new(
        "little of a processor",
        || Box::new(|_| MS * 3),
        &["busy-worker", "late-generator", "standstill"],
    )
    .under(&["--clients", "16"])
    .disturbed(Disturbance::Quota),
    ServedTrap::new("another user", one_at_a_time, MOVED)
        .under(&["--clients", "1"])
        .disturbed(Disturbance::OtherUser),
];

/// A block takes longer when it is written for the first time.
fn first_write() -> Law {
    let mut written = HashSet::new();
    Box::new(move |it| {
        let is_first = it.kind == OperationType::Write && written.insert(it.offset);
        if is_first { MS * 20 } else { MS * 4 }
    })
}

/// One operation at a time: of two users each waits for the other.
fn one_at_a_time() -> Law {
    let mut free_at = Duration::ZERO;
    Box::new(move |it| {
        free_at = free_at.max(it.at) + MS * 4;
        free_at - it.at
    })
}

/// What came of it; `None` where there is no FUSE.
fn sprung(trap: &ServedTrap) -> Option<Sprung> {
    let scratch = Scratch::new();
    let mounted_on = scratch.path("known");
    create_dir(&mounted_on).expect("a new directory");
    let behaviour = Behaviour {
        size: SIZE,
        submission: trap.submission,
        law: (trap.law)(),
    };
    let storage = match KnownStorage::mount(&mounted_on, behaviour) {
        Ok(storage) => storage,
        Err(error) => {
            skipped(trap.name, &format!("FUSE cannot be used here ({error})"));
            return None;
        }
    };
    let file = storage.file().to_string_lossy().into_owned();
    let json = scratch.path("run.json");
    let out = json.to_string_lossy();
    let fixed = ["trial", &*file, "--duration", "6s", "--no-save", "--quiet"];
    let args = [&fixed[..], trap.load, &["--json", &*out]].concat();
    let group = match trap.disturbance {
        Disturbance::Quota => Some(throttled(trap.name)?),
        _ => None,
    };
    let command = match &group {
        Some(group) => group.command(&scratch, &args),
        None => scratch.seekstone(&args),
    };
    let mut running = Running::start(command);
    disturb(trap.disturbance, &mut running, storage.file());
    let ended = running.end();
    assert!(matches!(ended.code, Some(0 | 3)), "{}", ended.stderr);
    let run = fs::read_to_string(&json).expect("the run");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let printed = Printed::of(&run["measurements"][0]["response"]["mean"]);
    let printed = printed.map(|it| it.scaled(1e-6));
    let truth = mean_ms(&storage.log());
    let parts = (&run, &*ended.stdout);
    Some(Sprung::judged(
        TrapCommand::Trial,
        Some(truth),
        printed,
        parts,
        trap.names,
    ))
}

/// A control group that gets 5 ms in each 100 ms.
fn throttled(test: &str) -> Option<Group> {
    let group = Group::new(&test.replace(' ', "-"), "cpu")?;
    let is_set = group.set("cpu.cfs_period_us", "100000") && group.set("cpu.cfs_quota_us", "5000");
    if !is_set {
        skipped(test, "the kernel has no quota of processors");
    }
    is_set.then_some(group)
}

fn disturb(disturbance: Disturbance, running: &mut Running, file: &Path) {
    if matches!(disturbance, Disturbance::None | Disturbance::Quota) {
        return;
    }
    let begun = Instant::now();
    running.runs_until(|| begun.elapsed() > BEFORE);
    let is_over = || begun.elapsed() > BEFORE + MEANWHILE;
    if disturbance == Disturbance::Stopped {
        running.signal(Signal::STOP);
        running.runs_until(is_over);
        running.signal(Signal::CONT);
        return;
    }
    let file = File::open(file).expect("the file");
    let mut block = [0; 4096];
    while !is_over() {
        file.read_at(&mut block, 0).expect("a block");
    }
}

/// What the storage took for what was read and written, ms.
fn mean_ms(log: &[ServedOperation]) -> f64 {
    let transfers = log
        .iter()
        .filter(|it| it.arrival.kind != OperationType::Flush);
    let took: Vec<f64> = transfers.map(|it| it.took.as_secs_f64() * 1e3).collect();
    took.iter().sum::<f64>() / took.len() as f64
}

#[test]
fn no_trap_in_real_time_gives_a_wrong_number_in_silence() {
    let pressure = Pressure::new();
    side_by_side(TRAPS, |trap| {
        let Some(sprung) = sprung(trap) else { return };
        let line = format!("| {} | {} |", trap.name, sprung.line());
        println!("{line}");
        let ratio = sprung.ratio().expect("a mean and a log");
        if sprung.is_silent() {
            let found = format!("wrong in silence: {line}");
            pressure.assert_printed(trap.name, ratio, &found);
        }
    });
}
