//! Faults of machines, and that nothing but the seed decides.

use engine::{Clock as _, Driver as _};
use random::{Purpose, Stream};
use sim::SimSpec;
use units::Instant;
use workload::{ClientId, Completion, Durability, Errno, Op, Request, TargetId};

const DEPTH: usize = 4;

/// Random reads and writes of 4 KiB, four at a time, in the order in which they ended.
fn completions(device: &str, seed: u64, count: usize) -> Vec<Completion> {
    let spec = SimSpec::parse(device).unwrap_or_else(|error| panic!("{device}: {error}"));
    let mut driver = spec.driver(seed, DEPTH, Instant::START);
    let mut stream = Stream::new(77, 0, Purpose::Address);
    let blocks = (spec.size.0 / 4096).min(4096);
    let (mut sent, mut done) = (0, Vec::new());
    while done.len() < count {
        while sent < count && sent - done.len() < DEPTH {
            let (target, len) = (TargetId(0), 4096);
            let offset = stream.below(blocks) * 4096;
            let durability = Durability::Volatile;
            let op = match stream.below(4) {
                0 => Op::Write {
                    target,
                    offset,
                    len,
                    durability,
                },
                _ => Op::Read {
                    target,
                    offset,
                    len,
                },
            };
            let request = Request::new(ClientId(sent as u32), driver.now(), op);
            driver.submit(request).expect("room");
            sent += 1;
        }
        driver
            .wait(None, &mut done)
            .expect("requests are under way");
    }
    done
}

#[test]
fn the_same_seed_gives_the_same_and_another_seed_another() {
    for device in [
        "sim:ppro",
        "sim:rz26?raid=5&disks=4&error=EIO@1%&short=5%",
        "sim:nvme?blocks=16&spare=30%&stall=5ms@2%",
        "sim:lan-ppro",
    ] {
        let first = completions(device, 1, 3000);
        assert_eq!(first, completions(device, 1, 3000), "{device}");
    }
    let disk = "sim:rz26";
    assert_ne!(
        completions(disk, 1, 100),
        completions(disk, 2, 100),
        "platters stand elsewhere"
    );
}

#[test]
fn errors_strike_at_their_rate_or_place() {
    let done = completions("sim:rz26?error=EIO@10%", 3, 5000);
    let errors = done
        .iter()
        .filter(|done| done.result == Err(Errno(5)))
        .count();
    assert!(errors.abs_diff(500) < 100, "{errors}");

    let done = completions("sim:rz26?error=EIO@1MiB+8KiB&start=100MiB", 3, 20_000);
    let place = (1 << 20)..(1 << 20) + 8192_u64;
    let mut struck = 0;
    for completion in &done {
        let (Op::Read { offset, .. } | Op::Write { offset, .. }) = completion.request.op else {
            continue;
        };
        assert_eq!(
            completion.result.is_err(),
            place.contains(&offset),
            "{completion:?}"
        );
        struck += usize::from(completion.result.is_err());
    }
    assert!(struck > 0, "20,000 requests on 4096 blocks");
}

#[test]
fn short_transfers_are_carried_on_and_cost_time() {
    let whole = completions("sim:rz26", 1, 1000);
    let short = completions("sim:rz26?short=100%", 1, 1000);
    assert!(short.iter().all(|done| done.result == Ok(4096)));
    let end = |done: &[Completion]| done.last().map(|last| last.completed);
    assert!(
        end(&short) > end(&whole),
        "{:?} and {:?}",
        end(&short),
        end(&whole)
    );
}

#[test]
fn stalls_come_again_and_again_at_their_rate() {
    let done = completions("sim:rz26?stall=500ms@1%", 1, 2000);
    let slow = done
        .iter()
        .filter(|done| done.service_time().as_nanos() >= 500_000_000)
        .count();
    // Each holds up whatever comes meanwhile: four at most.
    assert!((15..=160).contains(&slow), "{slow}");
}

#[test]
fn operations_on_files_are_refused_and_reads_end_at_the_end() {
    let spec = SimSpec::parse("sim:rz26?size=1MiB").expect("a device");
    let mut driver = spec.driver(1, DEPTH, Instant::START);
    let target = TargetId(0);
    let mut run = |op| {
        let mut done = Vec::new();
        let now = driver.now();
        driver
            .submit(Request::new(ClientId(0), now, op))
            .expect("room");
        driver.wait(None, &mut done).expect("one is under way");
        done[0].result
    };
    assert_eq!(run(Op::Create { target }), Err(Errno(95)));
    let read = |offset| Op::Read {
        target,
        offset,
        len: 4096,
    };
    assert_eq!(run(read((1 << 20) - 1024)), Ok(1024));
    assert_eq!(run(read(2 << 20)), Ok(0));
    assert_eq!(
        run(Op::Flush {
            target,
            data_only: false
        }),
        Ok(0)
    );
}

#[test]
fn a_machine_that_was_used_keeps_what_its_cache_holds() {
    let spec = SimSpec::parse("sim:ppro").expect("a machine");
    let mut driver = spec.driver(1, DEPTH, Instant::START);
    let mut times = Vec::new();
    for _ in 0..2 {
        let mut done = Vec::new();
        let op = Op::Read {
            target: TargetId(0),
            offset: 0,
            len: 4096,
        };
        driver
            .submit(Request::new(ClientId(0), driver.now(), op))
            .expect("room");
        driver.wait(None, &mut done).expect("one is under way");
        times.push(done[0].service_time());
        let (device, now) = driver.into_device();
        driver = spec.driver_on(device, 2, DEPTH, now);
    }
    assert!(times[0].as_nanos() > 2_000_000, "{times:?}");
    assert_eq!(times[1].as_nanos(), 1_200_000, "from the file cache");
}

#[test]
fn a_slow_disk_and_a_lost_one_show_in_the_times_of_an_array() {
    let mean = |device: &str| {
        let done = completions(device, 1, 4000);
        let sum: u64 = done.iter().map(|done| done.service_time().as_nanos()).sum();
        sum as f64 / done.len() as f64
    };
    let whole = mean("sim:rz26?raid=5&disks=4");
    let slow = mean("sim:rz26?raid=5&disks=4&slow=2:3");
    let lost = mean("sim:rz26?raid=5&disks=4&lost=2@5s");
    let late = mean("sim:rz26?raid=5&disks=4&lost=2@1h");
    assert!(slow > 1.3 * whole, "{slow} and {whole}");
    assert!(lost > 1.1 * whole, "{lost} and {whole}");
    assert_eq!(late, whole, "an hour is longer than this");
}
