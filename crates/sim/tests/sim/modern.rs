//! What devices of today do for a while: caches of one-bit cells, heat, shingles, write caches.

use sim::{
    Action, DeviceLimits, Disk, DiskSpec, HeatSpec, MemoryDevice, MemorySpec, ShingledDisk,
    ShinglesSpec, Shingling, SimSpec, SlcCacheSpec,
};
use units::{Duration, Instant};

use crate::other_devices::close;
use crate::support::{MS, WRITE, command, disk, finish, one_by_one, outstanding};

const MIB: u64 = 1 << 20;
const SECOND: u64 = 1000 * MS;

/// 1 GiB/s, and nothing before that.
fn memory() -> Box<dyn sim::Device> {
    Box::new(MemoryDevice::new(MemorySpec {
        size: 64 << 30,
        access: 0,
        rate: f64::from(1 << 30),
    }))
}

/// MiB per second of writes of a MiB from one number to another.
fn rate(ends: &[Instant], from: usize, to: usize) -> f64 {
    (to - from) as f64 / ends[to].since(ends[from]).as_secs_f64()
}

/// The bytes before the cliff are those of the cache, at its rate; after it the rate is that of the
/// other cells; a pause gives back what it empties, and no more.
#[test]
fn a_cache_of_one_bit_cells_takes_its_size_and_is_empty_again_after_a_pause() {
    let mib = MIB as f64;
    let limits = DeviceLimits {
        slc: Some(SlcCacheSpec {
            bytes: 1000 * MIB,
            rate: 500.0 * mib,
            rate_past: 100.0 * mib,
            emptying: 50.0 * mib,
            idle: SECOND,
        }),
        ..DeviceLimits::default()
    };
    let mut device = limits.around(memory());
    let writes = |count: u64| (0..count).map(|number| command(WRITE, number * MIB, MIB));
    let ends = one_by_one(&mut *device, Duration::ZERO, writes(2000));
    close(rate(&ends, 1, 998), 500.0, 0.01, "into the cache");
    close(rate(&ends, 1002, 1999), 100.0, 0.01, "past it");
    // A second passes before it is emptied, and four empty 200 MiB of it.
    let again = one_by_one_from(&mut *device, ends[1999] + Duration(5 * SECOND), writes(600));
    close(rate(&again, 1, 197), 500.0, 0.01, "into what is empty");
    close(rate(&again, 205, 599), 100.0, 0.01, "past that");
    let read = finish(&mut *device, again[599], command(Action::Read, 0, MIB));
    assert!(
        read.since(again[599]).as_nanos() < 2 * MS,
        "reads do not wait"
    );
}

fn one_by_one_from(
    device: &mut dyn sim::Device,
    start: Instant,
    commands: impl Iterator<Item = sim::Command>,
) -> Vec<Instant> {
    let mut now = start;
    let mut ends = Vec::new();
    for command in commands {
        now = finish(device, now, command);
        ends.push(now);
    }
    ends
}

/// From cold it runs at its own rate for -tau ln(1 - rise / (k r tau)); in the long run its mean
/// rate is the one whose heat it gives off between the two temperatures.
#[test]
fn a_device_is_throttled_when_it_is_hot_and_carries_what_it_can_cool() {
    let (gib, tau) = (f64::from(1 << 30), 100.0);
    let spec = HeatSpec {
        ambient: 40.0,
        byte: 0.6 / gib,
        cooling: tau * 1e9,
        limit: 70.0,
        below: 69.0,
        rate: 0.1 * gib,
    };
    let limits = DeviceLimits {
        heat: Some(spec),
        ..DeviceLimits::default()
    };
    let mut device = limits.around(memory());
    let reads = (0..600 << 10).map(|number| command(Action::Read, number % 1024 * MIB, MIB));
    let ends = one_by_one(&mut *device, Duration::ZERO, reads);
    let is_slow = |pair: &[Instant]| pair[1].since(pair[0]).as_nanos() > 5 * MS;
    let first = ends.windows(2).position(is_slow).expect("it is throttled");
    let expected = -tau * (1.0 - 30.0 / (0.6 * tau)).ln();
    close(ends[first].0 as f64 / 1e9, expected, 0.01, "from cold");
    // Between 69 and 70 degrees it gives off the heat of 29.5 / 60 GiB/s.
    let half = ends.len() / 2;
    close(
        rate(&ends, half, ends.len() - 1),
        1024.0 * 29.5 / 60.0,
        0.01,
        "hot",
    );
}

fn shingled(shingling: Shingling) -> ShingledDisk {
    let spec = ShinglesSpec {
        shingling,
        band: 32 * MIB,
        cache: 64 * MIB,
        idle: SECOND,
    };
    ShingledDisk::new(spec, memory())
}

/// A block of 4 KiB in each band in turn.
fn scattered(count: u64) -> impl Iterator<Item = sim::Command> {
    (0..count).map(|number| {
        command(
            WRITE,
            number % 1024 * 32 * MIB + 4096 * (1 + number / 1024),
            4096,
        )
    })
}

/// The cache takes its bytes of writes that go anywhere; then each band that is cleaned, read and
/// written, makes room for what it had there. A pause empties it.
#[test]
fn shingles_take_scattered_writes_until_their_cache_is_full() {
    let mut disk = shingled(Shingling::DriveManaged);
    let fits = 64 * MIB / 4096;
    let ends = one_by_one(&mut disk, Duration::ZERO, scattered(fits + 160));
    let is_slow = |pair: &[Instant]| pair[1].since(pair[0]).as_nanos() > 10 * MS;
    let slow: Vec<usize> = ends
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| is_slow(pair))
        .map(|(place, _)| place + 1)
        .collect();
    // Sixteen blocks of each band are in the cache when it is full; all but the first band get one
    // more until their turn comes.
    let later = (0..9).map(|turn| fits as usize + 16 + turn * 17);
    let expected: Vec<usize> = std::iter::once(fits as usize).chain(later).collect();
    assert_eq!(slow, expected);
    let cleaning = ends[slow[0]].since(ends[slow[0] - 1]).as_secs_f64();
    close(
        cleaning,
        2.0 * 32.0 / 1024.0,
        0.001,
        "a band is read and written",
    );
    // 1024 bands in 64 s.
    let last = ends[ends.len() - 1] + Duration(70 * SECOND);
    let again = one_by_one_from(&mut disk, last, scattered(1000));
    assert!(!again.windows(2).any(is_slow), "empty again");
}

/// Writes in order go to their bands. Of two streams in turn, only a host that knows the bands gets
/// there.
#[test]
fn shingles_take_writes_in_order_at_the_rate_of_the_disk() {
    let streams = |shingling, count: u64| {
        let mut disk = shingled(shingling);
        let place = |number: u64| number % count * 512 * MIB + number / count * MIB;
        let writes = (0..400).map(|number| command(WRITE, place(number), MIB));
        let ends = one_by_one(&mut disk, Duration::ZERO, writes);
        rate(&ends, 0, 399)
    };
    for shingling in [Shingling::HostAware, Shingling::DriveManaged] {
        close(streams(shingling, 1), 1024.0, 0.001, "one stream");
    }
    close(
        streams(Shingling::HostAware, 2),
        1024.0,
        0.001,
        "two, known",
    );
    // Into the cache, and read and written once more from there.
    let twice = streams(Shingling::DriveManaged, 2);
    assert!((300.0..500.0).contains(&twice), "two, not known: {twice}");
}

/// With its write cache off a disk loses a turn with each write in order; with it on it writes at
/// the rate of the platters, and a flush waits for them.
#[test]
fn a_write_cache_saves_the_turn_that_writes_in_order_lose() {
    let seconds = |write_cache| {
        let spec = DiskSpec {
            write_cache,
            bus: Some(1e9),
            overhead_write: MS / 10,
            ..disk()
        };
        let mut disk = Disk::new(spec, 0);
        let writes = (0..400).map(|number| command(WRITE, number * 4096, 4096));
        let last = outstanding(&mut disk, 1, writes);
        let begun = Instant(MS) + last;
        finish(&mut disk, begun, command(Action::Flush, 0, 0)).0 as f64 / 1e9
    };
    // 400 turns of 10 ms, and the 32 of the data with their switches.
    close(seconds(0), 400.0 * 0.010 + 0.35, 0.03, "off");
    close(seconds(MIB), 32.0 * 0.011, 0.1, "on");
}

/// The built-in devices are what their makers say.
#[test]
fn devices_of_today_have_their_makers_figures() {
    for (name, bytes) in [
        ("st4000nm0023", 4_000_787_030_016),
        ("st8000as0002", 8_001_563_222_016),
        ("qvo870", 4_000_000_000_000),
    ] {
        let spec = SimSpec::parse(&format!("sim:{name}")).expect(name);
        assert_eq!(spec.size.0, bytes, "{name}");
    }
}
