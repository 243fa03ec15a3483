//! Devices driven by hand, one command after the other or several at a time.

#![allow(
    dead_code,
    reason = "each test binary uses its own part of the support"
)]

use sim::{
    Action, Answer, BufferSpec, Command, Device, DiskLayout, DiskSpec, QueueDiscipline, SeekCurve,
    SeekInterference, ZoneSpec,
};
use units::{Duration, Instant};
use workload::Durability;

pub const MS: u64 = 1_000_000;
pub const WRITE: Action = Action::Write(Durability::Volatile);

pub const fn command(action: Action, offset: u64, len: u64) -> Command {
    Command {
        tag: 0,
        action,
        client: None,
        offset,
        len,
    }
}

/// When a command that begins at `now` is answered.
pub fn finish(device: &mut dyn Device, now: Instant, command: Command) -> Instant {
    let mut answers: Vec<Answer> = Vec::new();
    settle(device, now);
    device.begin(now, command);
    loop {
        let at = device.next().expect("a command is under way").max(now);
        device.step(at, &mut answers);
        if let Some(answer) = answers.first() {
            assert_eq!(answer.tag, command.tag);
            assert!(answer.result.is_ok(), "{answer:?}");
            return at;
        }
    }
}

/// Let everything happen that is due by `until`.
pub fn settle(device: &mut dyn Device, until: Instant) {
    let mut answers = Vec::new();
    while let Some(at) = device.next().filter(|&at| at <= until) {
        device.step(at, &mut answers);
    }
}

/// Commands one after the other, with `gap` between an answer and the next command; returns when
/// each was answered.
pub fn one_by_one(
    device: &mut dyn Device,
    gap: Duration,
    commands: impl IntoIterator<Item = Command>,
) -> Vec<Instant> {
    let mut now = Instant(MS);
    let mut ends = Vec::new();
    for command in commands {
        now = finish(device, now, command);
        ends.push(now);
        now += gap;
    }
    ends
}

/// Commands with `depth` of them outstanding all the time; returns how long they took.
pub fn outstanding(
    device: &mut dyn Device,
    depth: usize,
    commands: impl IntoIterator<Item = Command>,
) -> Duration {
    let start = Instant(MS);
    let mut now = start;
    let mut commands = commands.into_iter();
    let mut under_way = 0;
    let mut answers = Vec::new();
    for command in commands.by_ref().take(depth) {
        device.begin(now, command);
        under_way += 1;
    }
    while under_way > 0 {
        now = device.next().expect("commands are under way").max(now);
        device.step(now, &mut answers);
        for _ in answers.drain(..) {
            under_way -= 1;
            if let Some(command) = commands.next() {
                device.begin(now, command);
                under_way += 1;
            }
        }
    }
    now.since(start)
}

/// A disk of 1000 cylinders, 4 heads and 100 sectors, at 6000 turns per minute, whose switches and
/// skews are 1 ms (head) and 2 ms (cylinder).
pub fn disk() -> DiskSpec {
    let zones = vec![ZoneSpec {
        cylinders: 1000,
        sectors: 100,
    }];
    DiskSpec {
        sector_bytes: 512,
        capacity: 1000 * 400 * 512,
        layout: DiskLayout {
            zones,
            heads: 4,
            period: 10 * MS,
            track_skew: MS,
            cylinder_skew: 2 * MS,
            interleave: 1,
        },
        seek: SeekCurve::Steps {
            step: 10_000.0,
            settle: 2e6,
        },
        head_switch: MS,
        cylinder_switch: 2 * MS,
        write_settle: 0,
        overhead_read: 0,
        overhead_write: 0,
        bus: None,
        buffer: None,
        write_cache: 0,
        order: QueueDiscipline::Fifo,
        interference: SeekInterference::On,
    }
}

/// The same with a buffer of segments of 64 KiB.
pub fn buffered_disk() -> DiskSpec {
    DiskSpec {
        buffer: Some(BufferSpec {
            segments: 4,
            segment_sectors: 128,
            read_ahead: 128,
        }),
        ..disk()
    }
}
