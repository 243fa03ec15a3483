//! Links and hosts against their laws.

use crate::other_devices::{close, random_pages};
use crate::support::{MS, WRITE, command, disk, finish, one_by_one, outstanding, settle};
use sim::{
    Action, Command, Device, Disk, Host, HostSpec, IoWait, Link, LinkSpec, ServiceLaw, Station,
    Wire, WritePolicy,
};
use units::{Duration, Instant};

const SECOND: u64 = 1000 * MS;

fn link(window: u64) -> LinkSpec {
    LinkSpec {
        bandwidth: 1.25e6,
        round_trip: 4 * MS,
        packet: 1500,
        header: 0,
        window,
        request: 1 << 30,
    }
}

/// A server that answers at once.
fn server() -> Box<dyn Device> {
    Box::new(Station::new(
        ServiceLaw::Constant { time_ns: 0.0 },
        Some(1),
        1,
    ))
}

/// W / (L + W / B).
#[test]
fn a_window_limits_a_link() {
    for window in [4096, 9216, 24_576] {
        for action in [Action::Read, WRITE] {
            let mut link = Link::new(link(window), server(), 0.0, Wire::default());
            let bytes = 100 * window;
            let end = finish(&mut link, Instant(0), command(action, 0, bytes));
            let found = bytes as f64 * 1e9 / end.0 as f64;
            let w = window as f64;
            close(found, w / (0.004 + w / 1.25e6), 0.001, "the rate");
        }
    }
}

#[test]
fn requests_on_a_link_come_one_after_the_other_with_the_server_in_series() {
    let spec = LinkSpec {
        request: 8192,
        window: 65_536,
        ..link(0)
    };
    let time_ns = 10e6;
    let server = Box::new(Station::new(ServiceLaw::Constant { time_ns }, Some(1), 1));
    let mut link = Link::new(spec, server, 0.0, Wire::default());
    let end = finish(&mut link, Instant(0), command(Action::Read, 0, 81_920));
    let each = 0.010 + 0.004 + 8192.0 / 1.25e6;
    close(end.0 as f64 / 1e9, 10.0 * each, 1e-6, "ten requests");
}

/// The server's processor sends while the data are on the wire, and takes what came after that.
#[test]
fn a_server_works_for_the_data_on_its_link() {
    let time = |action, server_ms| {
        let each = server_ms * 1e6 / 12_500.0;
        let spec = link(1 << 30);
        let server = Host::new(host(), slow_storage());
        let mut link = Link::new(spec, Box::new(server), each, Wire::default());
        finish(&mut link, Instant(0), command(action, 0, 12_500)).0 / MS
    };
    // There and back 4 ms, the wire 10 ms, the server 12 ms for a read and 1 ms for a write.
    assert_eq!(time(Action::Read, 0.0), 26);
    assert_eq!(time(Action::Read, 7.0), 26);
    assert_eq!(time(Action::Read, 15.0), 31);
    assert_eq!(time(WRITE, 0.0), 15);
    assert_eq!(time(WRITE, 7.0), 22);
}

/// Two links on one wire wait for each other.
#[test]
fn links_may_share_a_wire() {
    let wire = Wire::default();
    let ends = [0, 1].map(|_| {
        let mut link = Link::new(link(1 << 30), server(), 0.0, wire.clone());
        finish(&mut link, Instant(0), command(Action::Read, 0, 12_500)).0 / MS
    });
    assert_eq!(ends, [14, 24]);
}

fn host() -> HostSpec {
    HostSpec {
        cpus: 1,
        cpu_unit: None,
        cpu_hit: MS,
        cpu_overlapped: MS,
        cpu_serial: 2 * MS,
        cpu_byte: 0.0,
        cpu_byte_serial: 0.0,
        cpu_byte_sent: 0.0,
        waiting: IoWait::Free,
        memory: 64 << 20,
        system: 0,
        cache: 4 << 20,
        cache_max: 4 << 20,
        cache_growth: 0,
        page: 4096,
        read_ahead: 0,
        read_ahead_streams: 16,
        read_run: u64::MAX,
        writes: WritePolicy::Back {
            dirty_share: 0.5,
            interval: 5 * SECOND,
        },
        write_run: 65_536,
    }
}

fn slow_storage() -> Box<dyn Device> {
    let law = ServiceLaw::Constant { time_ns: 1e7 };
    Box::new(Station::new(law, Some(1), 1))
}

#[test]
fn a_host_answers_from_memory_and_charges_its_processor() {
    let mut host = Host::new(host(), Box::new(Disk::new(disk(), 0)));
    let mut storage = Host::new(self::host(), slow_storage());
    let first = finish(&mut storage, Instant(0), command(Action::Read, 0, 4096));
    assert_eq!(first, Instant(12 * MS), "the storage, and what comes after");
    let again = finish(&mut storage, first, command(Action::Read, 0, 4096));
    assert_eq!(again.since(first), Duration(MS));
    // Hits C / F of uniform reads, with a cache of 1024 pages and a file of 4096.
    let count = 20_000;
    let warm = random_pages(Action::Read, 16 << 20, 4096, count);
    outstanding(&mut host, 1, warm);
    let mut hits = 0;
    let mut now = Instant(1000 * SECOND);
    for command in random_pages(Action::Read, 16 << 20, 4096, count) {
        let end = finish(&mut host, now, command);
        hits += usize::from(end.since(now) == Duration(MS));
        now = end;
    }
    close(hits as f64 / count as f64, 0.25, 0.03, "the share of hits");
}

/// Reads in order bring 64 KiB more each time they go to the storage: one in seventeen does.
#[test]
fn reading_ahead_into_memory_saves_the_way_to_the_storage() {
    let spec = HostSpec {
        read_ahead: 65_536,
        ..host()
    };
    let mut host = Host::new(spec, slow_storage());
    let reads = (0..170).map(|number| command(Action::Read, number * 4096, 4096));
    let ends = one_by_one(&mut host, Duration::ZERO, reads);
    let is_slow = |pair: &&[Instant]| pair[1].since(pair[0]) > Duration(MS);
    assert_eq!(ends.windows(2).filter(is_slow).count(), 10);
}

/// Streams that alternate lose what is read ahead for one of them.
#[test]
fn reading_ahead_for_one_stream_is_lost_when_two_alternate() {
    let slow = |read_ahead_streams| {
        let spec = HostSpec {
            read_ahead: 65_536,
            read_ahead_streams,
            ..host()
        };
        let mut host = Host::new(spec, slow_storage());
        let place = |number: u64| ((number % 2) << 20) + number / 2 * 4096;
        let reads = (0..170).map(|number| command(Action::Read, place(number), 4096));
        let ends = one_by_one(&mut host, Duration::ZERO, reads);
        let is_slow = |pair: &&[Instant]| pair[1].since(pair[0]) > Duration(MS);
        ends.windows(2).filter(is_slow).count()
    };
    assert_eq!(
        slow(2),
        11,
        "of each stream the first two, and one in seventeen"
    );
    assert_eq!(slow(1), 169, "all of them");
}

/// A read of 64 KiB in runs of 16 KiB goes to the storage four times, with work after each; what is
/// for its bytes is in proportion, beside the storage and after it.
#[test]
fn a_long_read_goes_to_the_storage_in_runs_and_pays_for_its_bytes() {
    let time = |read_run| {
        let spec = HostSpec {
            read_run,
            cpu_overlapped: 0,
            // 16 ms beside the storage for 64 KiB, and 4 ms after it.
            cpu_byte: 16e6 / 65_536.0,
            cpu_byte_serial: 4e6 / 65_536.0,
            ..host()
        };
        let mut host = Host::new(spec, slow_storage());
        finish(&mut host, Instant(0), command(Action::Read, 0, 65_536)).0 / MS
    };
    assert_eq!(time(u64::MAX), 16 + 4 + 2);
    assert_eq!(time(16_384), 4 * (10 + 1 + 2));
}

/// What is written out costs the processor its bytes, and the writer nothing.
#[test]
fn writing_out_costs_the_processor_its_bytes() {
    let spec = HostSpec {
        cpu_byte: 16e6 / 65_536.0,
        ..host()
    };
    let mut host = Host::new(spec, slow_storage());
    let end = finish(&mut host, Instant(0), command(WRITE, 0, 65_536));
    assert_eq!(end, Instant(MS));
    let later = Instant(60 * SECOND);
    settle(&mut host, later);
    let done = host.done(later).expect("a host").activity(true);
    assert_eq!(done.cpu_busy_ns, Some(17 * MS));
}

/// Two tasks: free, the processor works for one while the storage works for the other; spinning,
/// nothing overlaps.
#[test]
fn a_spinning_processor_serves_one_task_at_a_time() {
    let time = |waiting, tasks| {
        let spec = HostSpec {
            waiting,
            cache: 0,
            cache_max: 0,
            cpu_overlapped: 0,
            cpu_serial: 5 * MS,
            ..host()
        };
        let mut host = Host::new(spec, slow_storage());
        let reads = (0..200).map(|number| command(Action::Read, number * 4096, 4096));
        outstanding(&mut host, tasks, reads).as_nanos() / MS
    };
    assert_eq!(time(IoWait::Free, 1), 200 * 15);
    assert_eq!(time(IoWait::Free, 2), 200 * 10 + 5);
    assert_eq!(time(IoWait::Spinning, 1), 200 * 15);
    assert_eq!(time(IoWait::Polling, 1), 200 * 15);
    // Beside one who loops, 5 ms take 10: as long as the storage, which is never idle.
    assert_eq!(time(IoWait::Polling, 2), 200 * 10 + 5);
    let spun = time(IoWait::Spinning, 2);
    assert!(spun.abs_diff(200 * 15) <= 5, "{spun}");
}

#[test]
fn writes_are_kept_until_too_much_is_dirty_or_somebody_asks() {
    let mut host = Host::new(host(), slow_storage());
    let mut now = Instant(0);
    for number in 0..100 {
        let end = finish(&mut host, now, command(WRITE, number * 4096, 4096));
        assert_eq!(end.since(now), Duration(MS), "write {number}");
        now = end;
    }
    // 100 pages in runs of 16, of 10 ms each; then the storage's own flush.
    let flushed = finish(&mut host, now, command(Action::Flush, 0, 0));
    assert_eq!(flushed.since(now), Duration(80 * MS));
    // More than twice half of the cache is dirty: the writer gets the rate of the storage.
    let count = 20_000;
    let writes = (0..count).map(|number| command(WRITE, number * 8192, 4096));
    let spent = outstanding(&mut host, 1, writes.skip(100));
    close(
        spent.as_secs_f64(),
        (count as f64 - 1100.0) / 100.0,
        0.06,
        "throttled",
    );
}

#[test]
fn memory_of_programs_takes_the_file_cache_away() {
    let spec = HostSpec {
        memory: 8 << 20,
        ..host()
    };
    let mut host = Host::new(spec, slow_storage());
    let read_all = |host: &mut Host, now| {
        let mut now = now;
        let mut hits = 0;
        for number in 0..1024_u64 {
            let end = finish(host, now, command(Action::Read, number * 4096, 4096));
            hits += usize::from(end.since(now) == Duration(MS));
            now = end;
        }
        (now, hits)
    };
    let (now, _) = read_all(&mut host, Instant(0));
    let (now, hits) = read_all(&mut host, now);
    assert_eq!(hits, 1024, "all of it fits");
    let work = Action::Compute {
        work_ns: MS,
        touched: 6 << 20,
    };
    let work = Command {
        client: Some(workload::ClientId(1)),
        ..command(work, 0, 0)
    };
    let now = finish(&mut host, now, work);
    let (_, hits) = read_all(&mut host, now);
    assert_eq!(
        hits, 0,
        "LRU and a loop: half of it in memory is none of it"
    );
}
