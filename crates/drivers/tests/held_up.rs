//! Storage that keeps the caller in the kernel until it has answered gets all that was asked for at
//! once, and not one request at a time.

// Cargo shows what a skipped test says only if it is printed.
#![allow(clippy::print_stderr)]

use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use drivers::{
    AccessMode, Caching, DriverKind, DriverOptions, Target, TargetOptions, TargetTable,
    UringDriver, UringSupport, open_driver, probe,
};
use engine::{Clock as _, Driver};
use known_storage::{Behaviour, KnownStorage, KnownSubmission, OperationType, ServedOperation};
use sys::MonotonicClock;
use tempfile::TempDir;
use workload::{ClientId, Durability, Op, Request, TargetId};

const DEPTH: usize = 8;
const BLOCK: u32 = 4096;
const DELAY: Duration = Duration::from_millis(40);

struct Scene {
    /// Its open file goes first: it keeps the storage from being unmounted.
    table: Arc<TargetTable>,
    storage: KnownStorage,
    clock: MonotonicClock,
    _mounted_on: TempDir,
}

impl Scene {
    /// `None` where FUSE or io_uring cannot be used.
    fn new(submission: KnownSubmission) -> Option<Self> {
        if let UringSupport::Refused { reason } = probe() {
            eprintln!("skipped: io_uring is refused here ({reason})");
            return None;
        }
        let mounted_on = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let behaviour = Behaviour {
            size: 1 << 20,
            submission,
            law: Box::new(|_| DELAY),
        };
        let storage = match KnownStorage::mount(mounted_on.path(), behaviour) {
            Ok(storage) => storage,
            Err(error) => {
                eprintln!("skipped: FUSE cannot be used here ({error})");
                return None;
            }
        };
        let table = Arc::new(TargetTable::new(vec![open(
            storage.file(),
            Caching::Direct,
        )]));
        Some(Self {
            storage,
            table,
            clock: MonotonicClock::start(),
            _mounted_on: mounted_on,
        })
    }

    /// Carry out so many rounds of [`DEPTH`] operations; gives the log of the last.
    fn carry_out(
        &self,
        driver: &mut dyn Driver,
        rounds: usize,
        write: bool,
    ) -> Vec<ServedOperation> {
        let mut done = Vec::new();
        for _ in 0..rounds {
            for number in 0..DEPTH as u32 {
                let op = transfer(u64::from(number * BLOCK), write);
                let request = Request::new(ClientId(number), self.clock.now(), op);
                driver.submit(request).expect("a sound driver");
            }
            done.clear();
            while done.len() < DEPTH {
                driver.wait(None, &mut done).expect("a sound driver");
            }
            assert!(done.iter().all(|done| done.result == Ok(BLOCK)), "{done:?}");
        }
        let log = self.storage.log();
        log[log.len() - DEPTH..].to_vec()
    }
}

fn transfer(offset: u64, write: bool) -> Op {
    let target = TargetId(0);
    match write {
        true => Op::Write {
            target,
            offset,
            len: BLOCK,
            durability: Durability::Volatile,
        },
        false => Op::Read {
            target,
            offset,
            len: BLOCK,
        },
    }
}

fn open(path: &Path, caching: Caching) -> Target {
    let options = TargetOptions {
        access: AccessMode::Overwrite,
        caching,
        ..TargetOptions::default()
    };
    Target::open(path, &options).expect("the file can be opened")
}

#[track_caller]
fn check_all_at_once(log: &[ServedOperation], kind: OperationType) {
    // On a busy machine the last may come when the first is done.
    let most = log.iter().map(|served| served.at_once).max();
    assert!(most > Some(DEPTH / 2), "{log:?}");
    assert!(log.iter().all(|served| served.arrival.kind == kind));
}

#[test]
fn threads_are_chosen_where_entering_the_kernel_waits_for_the_storage() {
    let options = DriverOptions::new(DEPTH, BLOCK as usize);
    let cases = [
        (
            KnownSubmission::Blocks,
            DriverKind::Auto,
            DriverKind::Threads,
            true,
        ),
        (
            KnownSubmission::Blocks,
            DriverKind::Uring,
            DriverKind::Uring,
            true,
        ),
        (
            KnownSubmission::Returns,
            DriverKind::Auto,
            DriverKind::Uring,
            false,
        ),
    ];
    for (submission, asked, expected, is_told) in cases {
        let Some(scene) = Scene::new(submission) else {
            return;
        };
        let opened = open_driver(asked, &scene.table, scene.clock, &options);
        let mut opened = opened.expect("a driver");
        assert_eq!(opened.kind, expected, "{submission:?}");
        let told = opened.obstacle.as_deref().unwrap_or_default();
        assert_eq!(told.contains("keeps io_uring waiting"), is_told, "{told}");
        let log = scene.carry_out(&mut opened.driver, 1, false);
        check_all_at_once(&log, OperationType::Read);
        let by_kernel_threads = opened.driver.own_work().by_kernel_threads;
        assert_eq!(by_kernel_threads, is_told && expected == DriverKind::Uring);
        if opened.kind == DriverKind::Threads {
            let log = scene.carry_out(&mut opened.driver, 1, true);
            check_all_at_once(&log, OperationType::Write);
        }
    }
}

/// A file in memory has no reads that return instead of waiting: a ring leaves each to a thread of
/// the kernel, so one request at a time is a plain call, and several are named as what they are.
#[test]
fn a_file_in_memory_is_read_by_calls_or_by_the_kernels_threads() {
    if let UringSupport::Refused { reason } = probe() {
        eprintln!("skipped: io_uring is refused here ({reason})");
        return;
    }
    let memory = tempfile::tempfile_in("/dev/shm").expect("a file in memory");
    memory.set_len(1 << 20).expect("room for a mebibyte");
    let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
    // Not every kernel reads memory past the page cache.
    let target = open(Path::new(&path), Caching::Buffered);
    let table = Arc::new(TargetTable::new(vec![target]));
    let cases = [
        (1, DriverKind::Auto, DriverKind::Threads),
        (1, DriverKind::Uring, DriverKind::Uring),
        (DEPTH, DriverKind::Auto, DriverKind::Uring),
    ];
    for (depth, asked, expected) in cases {
        let options = DriverOptions::new(depth, BLOCK as usize);
        let opened = open_driver(asked, &table, MonotonicClock::start(), &options);
        let opened = opened.expect("a driver");
        assert_eq!(opened.kind, expected, "{asked:?} at a depth of {depth}");
        let obstacle = opened.obstacle.expect("a reason");
        assert!(obstacle.contains("kernel thread per request"), "{obstacle}");
        let by_kernel_threads = opened.driver.own_work().by_kernel_threads;
        assert_eq!(by_kernel_threads, expected == DriverKind::Uring);
    }
}

/// Whatever was found out beforehand, entries that wait for the storage are noticed.
#[test]
fn a_ring_that_is_held_up_leaves_its_requests_to_the_kernels_threads() {
    for batch in [1, 4] {
        let mut options = DriverOptions::new(DEPTH, BLOCK as usize);
        options.uring.batch = batch;
        let Some(scene) = Scene::new(KnownSubmission::Blocks) else {
            return;
        };
        let mut driver = UringDriver::new(&scene.table, scene.clock, &options).expect("a ring");
        let first = scene.carry_out(&mut driver, 1, false);
        let most = first.iter().map(|served| served.at_once).max();
        assert!(most < Some(DEPTH), "nothing holds this ring up");
        let log = scene.carry_out(&mut driver, 4, false);
        check_all_at_once(&log, OperationType::Read);
        let own = driver.own_work();
        assert!(own.by_kernel_threads && own.entries_held_up >= 4, "{own:?}");
    }
}

#[test]
fn a_ring_that_is_not_held_up_carries_requests_out_itself() {
    let Some(scene) = Scene::new(KnownSubmission::Returns) else {
        return;
    };
    let options = DriverOptions::new(DEPTH, BLOCK as usize);
    let mut driver = UringDriver::new(&scene.table, scene.clock, &options).expect("a ring");
    let log = scene.carry_out(&mut driver, 10, false);
    check_all_at_once(&log, OperationType::Read);
    let own = driver.own_work();
    assert!(!own.by_kernel_threads, "{own:?}");
}
