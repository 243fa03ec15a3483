//! Disks against the laws that follow from their parts.

use crate::support::{MS, WRITE, buffered_disk, command, disk, finish, one_by_one, outstanding};
use random::{Purpose, Stream};
use sim::{Action, Command, Disk, DiskSpec, QueueDiscipline, SeekCurve, SeekInterference, SimSpec};
use units::{Duration, Instant};
use workload::ClientId;

fn ms(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}

fn reads_in_order(count: u64, len: u64) -> impl Iterator<Item = Command> {
    (0..count).map(move |number| command(Action::Read, number * len, len))
}

fn random_reads(seed: u64, bytes: u64) -> impl Iterator<Item = Command> {
    let mut stream = Stream::new(seed, 0, Purpose::Address);
    std::iter::repeat_with(move || command(Action::Read, stream.below(bytes / 4096) * 4096, 4096))
}

/// A track of 100 sectors in a turn of 10 ms and a switch: 1 ms three times, 2 ms the fourth.
#[test]
fn a_long_stream_moves_a_track_in_a_turn_and_a_switch() {
    let spec = disk();
    let rate = spec.sustained_rate(&spec.layout.zones[0]);
    let track = 100.0 * 512.0;
    assert!((rate - track / 11.25e-3).abs() < 1.0, "{rate}");
    let bytes = 400 * 512 * 500;
    let mut disk = Disk::new(spec, 0);
    let whole = finish(&mut disk, Instant(0), command(Action::Read, 0, bytes));
    let found = bytes as f64 * 1e9 / whole.0 as f64;
    assert!((found / rate - 1.0).abs() < 1e-3, "{found} and not {rate}");
}

/// With reading ahead, commands one after the other lose nothing, whatever their size.
#[test]
fn reading_ahead_streams_across_commands() {
    for len in [4096, 8192, 32768] {
        let spec = buffered_disk();
        let rate = spec.sustained_rate(&spec.layout.zones[0]);
        let mut disk = Disk::new(spec, 3 * MS);
        let count = (40 << 20) / len;
        let gap = Duration::from_micros(100);
        let ends = one_by_one(&mut disk, gap, reads_in_order(count, len));
        let span = ends[ends.len() - 1].since(ends[0]);
        let found = ((count - 1) * len) as f64 / span.as_secs_f64();
        assert!(
            (found / rate - 1.0).abs() < 5e-3,
            "{len}: {found} and not {rate}"
        );
    }
}

/// Back-to-back writes without write cache: each command comes after its first sector has passed,
/// and waits until it comes round again. Time per I/O = (n / spt) T + crossings x switch + T.
#[test]
fn writes_in_order_without_a_write_cache_lose_a_turn_each() {
    for gap_us in [1, 500, 5000] {
        let mut disk = Disk::new(disk(), 0);
        let len = 10 * 512;
        let gap = Duration::from_micros(gap_us);
        let writes = (0..10_u64).map(|number| command(WRITE, number * len, len));
        let ends = one_by_one(&mut disk, gap, writes);
        for pair in ends.windows(2) {
            // Of it, the gap is the host's.
            assert_eq!(
                pair[1].since(pair[0]),
                Duration(MS + 10 * MS),
                "{gap_us} us"
            );
        }
        let across = command(WRITE, 95 * 512, len);
        let before = finish(
            &mut disk,
            ends[9] + Duration(MS),
            command(WRITE, 85 * 512, len),
        );
        let end = finish(&mut disk, before + gap, across);
        assert_eq!(
            end.since(before),
            Duration(MS + MS + 10 * MS),
            "and a switch"
        );
    }
}

/// A write cache promises at once; the platters follow, and a flush waits for them.
#[test]
fn a_write_cache_promises_and_a_flush_keeps_it() {
    let spec = DiskSpec {
        write_cache: 64 << 10,
        overhead_write: MS / 10,
        ..disk()
    };
    let mut disk = Disk::new(spec.clone(), 0);
    let write = |place: u64| command(WRITE, place * 4_000_000, 4096);
    let first = finish(&mut disk, Instant(0), write(1));
    assert_eq!(first, Instant(MS / 10));
    let flushed = finish(&mut disk, first, command(Action::Flush, 0, 0));
    assert!(flushed.since(first) > Duration(2 * MS), "{flushed}");
    // In the long run it is no faster than the platters: at most as many as fit are ahead.
    let count = 400_u64;
    let writes = || (0..count).map(|number| write(number * 7 % 50));
    let cached = outstanding(&mut Disk::new(spec.clone(), 0), 1, writes());
    let through = DiskSpec {
        write_cache: 0,
        ..spec
    };
    let plain = outstanding(&mut Disk::new(through, 0), 1, writes());
    assert!(cached < plain, "{cached} and {plain}");
    assert!(ms(cached) > 0.85 * ms(plain), "{cached} and {plain}");
}

#[test]
fn what_the_buffer_holds_costs_no_movement() {
    let spec = DiskSpec {
        overhead_read: MS / 2,
        bus: Some(8.192e6),
        ..buffered_disk()
    };
    let mut disk = Disk::new(spec, 0);
    let first = finish(&mut disk, Instant(0), command(Action::Read, 0, 4096));
    let again = finish(&mut disk, first, command(Action::Read, 0, 4096));
    // Half a millisecond of the controller, and 4096 bytes at 8.192 MB/s.
    assert_eq!(again.since(first), Duration(MS));
    let ahead = again + Duration(20 * MS);
    let next = finish(&mut disk, ahead, command(Action::Read, 4096, 4096));
    assert_eq!(next.since(ahead), Duration(MS), "it was read ahead");
    // Written over, it is read from the platters again.
    let written = finish(&mut disk, next, command(WRITE, 4096, 4096));
    let reread = finish(&mut disk, written, command(Action::Read, 4096, 4096));
    assert!(reread.since(written) > Duration(MS), "{reread}");
}

/// Random reads: mean seek, half a turn, transfer. Steps of 10 us and 2 ms to settle, over a third
/// of the cylinders on average; a seek of no distance needs nothing, once in a thousand.
#[test]
fn random_reads_take_seek_latency_and_transfer() {
    let spec = disk();
    let bytes = spec.capacity;
    let mut disk = Disk::new(spec, 7 * MS);
    let count = 20_000;
    let spent = outstanding(&mut disk, 1, random_reads(1, bytes).take(count));
    let found = ms(spent) / count as f64;
    let seek = 2.0 * 0.999 + 0.01 * 1000.0 / 3.0;
    // Eight sectors; one in a hundred sectors begins within seven of a track's end.
    let transfer = 0.8 + 0.07 * 1.25;
    let expected = seek + 5.0 + transfer;
    assert!(
        (found / expected - 1.0).abs() < 0.01,
        "{found} and not {expected}"
    );
}

#[test]
fn the_nearest_first_carries_more_than_the_first_first() {
    let spec = disk();
    let bytes = spec.capacity;
    let fifo = outstanding(
        &mut Disk::new(spec.clone(), 0),
        16,
        random_reads(2, bytes).take(2000),
    );
    let nearest = DiskSpec {
        order: QueueDiscipline::Nearest,
        ..spec
    };
    let spent = outstanding(
        &mut Disk::new(nearest, 0),
        16,
        random_reads(2, bytes).take(2000),
    );
    assert!(ms(spent) < 0.85 * ms(fifo), "{spent} and {fifo}");
}

#[test]
fn a_slowed_disk_takes_that_much_longer() {
    let spec = DiskSpec {
        seek: SeekCurve::Lee {
            min: 1e6,
            avg: 8e6,
            max: 16e6,
        },
        ..buffered_disk()
    };
    let bytes = spec.capacity;
    let slow = spec.slowed(1.5);
    let one = outstanding(
        &mut Disk::new(spec, 0),
        1,
        random_reads(3, bytes).take(3000),
    );
    let other = outstanding(
        &mut Disk::new(slow, 0),
        1,
        random_reads(3, bytes).take(3000),
    );
    assert!(
        (ms(other) / ms(one) - 1.5).abs() < 0.02,
        "{one} and {other}"
    );
}

fn of_client(client: u32, command: Command) -> Command {
    Command {
        client: Some(ClientId(client)),
        ..command
    }
}

/// With one client there is nobody to interfere with, whatever it does.
#[test]
fn one_client_does_not_see_whether_clients_interfere() {
    for spec in [disk(), buffered_disk()] {
        let times = |interference| {
            let mut stream = Stream::new(7, 0, Purpose::Address);
            let commands = (0..2000_u64).map(|number| {
                let random = stream.below(spec.capacity / 4096) * 4096;
                let place = if number % 3 == 0 {
                    random
                } else {
                    number * 4096
                };
                let action = if number % 5 == 0 { WRITE } else { Action::Read };
                of_client(1, command(action, place, 4096))
            });
            let spec = DiskSpec {
                interference,
                ..spec.clone()
            };
            let gap = Duration(MS);
            one_by_one(&mut Disk::new(spec, 0), gap, commands.collect::<Vec<_>>())
        };
        assert_eq!(times(SeekInterference::On), times(SeekInterference::Off));
    }
}

/// Two clients, each at its own end of the disk, take turns. Without interference no arm moves,
/// and a turn of both is a turn of the platters; with it the arm goes from end to end, 11.99 ms.
#[test]
fn clients_at_two_ends_drag_the_arm_or_do_not() {
    let round = |interference| {
        let spec = DiskSpec {
            interference,
            ..disk()
        };
        let end = spec.capacity - 4096;
        let reads = (0..20_u64).map(|number| {
            let client = (number % 2) as u32;
            of_client(client, command(Action::Read, u64::from(client) * end, 4096))
        });
        let ends = one_by_one(&mut Disk::new(spec, 0), Duration(0), reads);
        ends[19].since(ends[17])
    };
    assert_eq!(round(SeekInterference::Off), Duration(10 * MS));
    assert_eq!(round(SeekInterference::On), Duration(30 * MS));
}

/// The controller ceiling of an interleave of two: 13 sectors in a turn.
#[test]
fn rx_floppies_read_13_sectors_in_a_turn() {
    for (device, ceiling) in [("sim:rx01", 9.98), ("sim:rx02", 19.96)] {
        let spec = SimSpec::parse(device).expect("a device");
        let mut device = spec.device(1);
        let track = 26 * if ceiling > 10.0 { 256 } else { 128 };
        let first = finish(
            device.as_mut(),
            Instant::START,
            command(Action::Read, 0, 128),
        );
        let end = finish(
            device.as_mut(),
            first,
            command(Action::Read, 128, track - 128),
        );
        let rate = track as f64 / end.0 as f64 * 1e6;
        // A turn more to begin with, and none of it is faster.
        assert!(
            rate < ceiling && rate > 0.5 * ceiling,
            "{rate} of {ceiling}"
        );
    }
}
