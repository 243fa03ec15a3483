//! One suite for every driver of real storage, with and without the page cache.

// Cargo shows what a skipped test says only if it is printed.
#![allow(clippy::print_stderr)]

mod conformance_suite;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use conformance_suite::{
    ConformanceFiles, check_contract, check_storage, dropped_writes_do_no_harm,
};
use drivers::{
    Caching, DirectoryOwner, DriverKind, DriverOptions, Payload, TargetTable, Taskrun,
    ThreadsDriver, UringDriver, UringSupport, WorkDirectory, open_driver, probe,
};
use engine::{Clock, Driver};
use sys::MonotonicClock;
use workload::{ClientId, Durability, Errno, Op, Request, TargetId};

const BUFFER_BYTES: usize = 32 << 10;

/// The whole suite for a kind of driver.
fn check<D: Driver>(
    caching: Caching,
    make: impl Fn(&Arc<TargetTable>, MonotonicClock, &DriverOptions) -> D,
    options: &DriverOptions,
) {
    let Some(scene) = ConformanceFiles::new(Path::new(env!("CARGO_TARGET_TMPDIR")), caching) else {
        eprintln!("skipped: no direct I/O in {}", env!("CARGO_TARGET_TMPDIR"));
        return;
    };
    let clock = MonotonicClock::start();
    let table = scene.table();
    check_contract(|| make(&table, clock, options), &scene.terrain());
    let with_payload = |table: &Arc<TargetTable>, payload: Payload| {
        make(
            table,
            clock,
            &DriverOptions {
                payload,
                ..options.clone()
            },
        )
    };
    check_storage(with_payload, &scene);
}

fn check_threads(caching: Caching, depth: usize) {
    let make = |table: &Arc<TargetTable>, clock: MonotonicClock, options: &DriverOptions| {
        ThreadsDriver::new(table, clock, options).unwrap()
    };
    check(caching, make, &DriverOptions::new(depth, BUFFER_BYTES));
}

fn check_uring(caching: Caching, depth: usize, change: impl Fn(&mut DriverOptions)) {
    if let UringSupport::Refused { reason } = probe() {
        eprintln!("skipped: io_uring is refused here ({reason})");
        return;
    }
    let mut options = DriverOptions::new(depth, BUFFER_BYTES);
    change(&mut options);
    let make = |table: &Arc<TargetTable>, clock: MonotonicClock, options: &DriverOptions| {
        UringDriver::new(table, clock, options).unwrap()
    };
    check(caching, make, &options);
}

#[test]
fn threads_in_place() {
    check_threads(Caching::Direct, 1);
    check_threads(Caching::Buffered, 1);
}

#[test]
fn threads_in_a_pool() {
    check_threads(Caching::Direct, 8);
    check_threads(Caching::Buffered, 8);
}

#[test]
fn uring_one_at_a_time() {
    check_uring(Caching::Direct, 1, |_| {});
    check_uring(Caching::Buffered, 1, |_| {});
}

#[test]
fn uring_unbatched() {
    check_uring(Caching::Direct, 16, |_| {});
    check_uring(Caching::Buffered, 16, |_| {});
}

#[test]
fn uring_batched() {
    check_uring(Caching::Direct, 16, |options| options.uring.batch = 8);
    check_uring(Caching::Buffered, 16, |options| options.uring.batch = 8);
}

#[test]
fn uring_without_registration() {
    check_uring(Caching::Direct, 4, |options| options.uring.register = false);
}

#[test]
fn uring_with_other_task_work() {
    check_uring(Caching::Direct, 4, |options| {
        options.uring.taskrun = Taskrun::Cooperative;
    });
    check_uring(Caching::Buffered, 4, |options| {
        options.uring.taskrun = Taskrun::Immediate;
    });
}

#[test]
fn uring_that_never_stays_awake() {
    check_uring(Caching::Direct, 4, |options| {
        options.awake = units::Duration::ZERO;
    });
}

/// Core 19: the end of each slice of 16 ms was waited for awake, though nothing is due then.
#[test]
fn nobody_stays_awake_for_a_deadline_at_which_nothing_is_due() {
    let scene =
        ConformanceFiles::new(Path::new(env!("CARGO_TARGET_TMPDIR")), Caching::Buffered).unwrap();
    let (table, clock) = (scene.table(), MonotonicClock::start());
    let mut kinds = vec![(DriverKind::Threads, 1), (DriverKind::Threads, 4)];
    match probe() {
        UringSupport::Refused { reason } => eprintln!("skipped: no io_uring here ({reason})"),
        _ => kinds.push((DriverKind::Uring, 4)),
    }
    for (kind, depth) in kinds {
        let options = DriverOptions::new(depth, BUFFER_BYTES);
        let mut driver = open_driver(kind, &table, clock, &options).unwrap().driver;
        for _ in 0..50 {
            // Nearer than the usual time awake before a deadline.
            let soon = clock.now() + units::Duration::from_micros(20);
            driver.rest(soon, &mut Vec::new()).unwrap();
        }
        assert_eq!(driver.own_work().awake_ns, 0, "{kind:?} {depth}");
    }
}

/// What is done one at a time does not depend on the depth: it is not done again here, where each
/// driver has 16384 buffers.
#[test]
fn the_deepest_ring_can_be_had() {
    if let UringSupport::Refused { reason } = probe() {
        eprintln!("skipped: io_uring is refused here ({reason})");
        return;
    }
    let scene =
        ConformanceFiles::new(Path::new(env!("CARGO_TARGET_TMPDIR")), Caching::Buffered).unwrap();
    let mut options = DriverOptions::new(drivers::DEPTH_MAX, 4096);
    options.uring.batch = 64;
    let (table, clock) = (scene.table(), MonotonicClock::start());
    let make = |table: &Arc<TargetTable>, payload: Payload| {
        let options = options.clone();
        UringDriver::new(table, clock, &DriverOptions { payload, ..options }).unwrap()
    };
    check_contract(|| make(&table, Payload::default()), &scene.terrain());
    dropped_writes_do_no_harm(make, &scene);
}

#[test]
fn the_usual_choice_is_a_working_driver() {
    let scene =
        ConformanceFiles::new(Path::new(env!("CARGO_TARGET_TMPDIR")), Caching::Buffered).unwrap();
    let (table, clock) = (scene.table(), MonotonicClock::start());
    for kind in [DriverKind::Auto, DriverKind::Threads] {
        let options = DriverOptions::new(4, BUFFER_BYTES);
        let opened = open_driver(kind, &table, clock, &options).unwrap();
        assert_ne!(opened.kind, DriverKind::Auto);
        assert_eq!(opened.driver.capacity(), 4);
    }
    let wrong = open_driver(
        DriverKind::Auto,
        &table,
        clock,
        &DriverOptions::new(0, BUFFER_BYTES),
    );
    assert!(wrong.is_err_and(|error| error.to_string().contains("must lie in 1 to 16384")));
}

/// Not a test of its own: runs where no file may grow beyond 8 KiB, so that longer writes come out
/// short before they fail.
#[test]
fn helper_with_a_file_limit() {
    let Some(parent) = std::env::var_os("SEEKSTONE_TEST_FILE_LIMIT_IN") else {
        return;
    };
    let owner = DirectoryOwner::default();
    let directory = WorkDirectory::create(Path::new(&parent), &owner).unwrap();
    drop(directory.create_file("file").unwrap());
    let target = directory.open_target("file", Caching::Buffered).unwrap();
    let (table, clock) = (
        Arc::new(TargetTable::new(vec![target])),
        MonotonicClock::start(),
    );
    for kind in [DriverKind::Auto, DriverKind::Threads] {
        for depth in [1, 4] {
            let options = DriverOptions::new(depth, BUFFER_BYTES);
            let mut driver = open_driver(kind, &table, clock, &options).unwrap().driver;
            for durability in [Durability::Volatile, Durability::Synced] {
                let mut write = |offset, len| {
                    let op = Op::Write {
                        target: TargetId(0),
                        offset,
                        len,
                        durability,
                    };
                    driver
                        .submit(Request::new(ClientId(0), clock.now(), op))
                        .unwrap();
                    let mut done = Vec::new();
                    driver.wait(None, &mut done).unwrap();
                    done[0].result
                };
                assert_eq!(write(0, 8192), Ok(8192));
                assert_eq!(
                    write(4096, 16_384),
                    Err(Errno(27)),
                    "EFBIG after a short count"
                );
            }
        }
    }
}

#[test]
fn a_short_write_is_carried_on_until_it_fails() {
    // The limit is in blocks of 512 bytes or 1 KiB, as the shell likes.
    let script = "trap '' XFSZ; ulimit -S -f 16; test $(ulimit -f) = 16 || exit 1; \
                  exec \"$0\" --exact helper_with_a_file_limit";
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outcome = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("SEEKSTONE_TEST_FILE_LIMIT_IN", scratch.path())
        .output()
        .unwrap();
    assert!(
        outcome.status.success(),
        "{}",
        String::from_utf8_lossy(&outcome.stdout)
    );
}
