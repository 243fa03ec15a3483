//! The contract of [`Driver`], checked against any driver: the tests of the crates that have one
//! call this, so that real storage and its models promise the same.

#![allow(dead_code, reason = "each test binary uses its own part of the suite")]

use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use drivers::{
    AccessMode, Caching, Checking, DirectoryOwner, MISMATCH, Payload, SmallFiles, Target,
    TargetError, TargetOptions, TargetTable, VerificationLog, WorkDirectory,
};
use engine::{Driver, DriverError};
use units::{Duration, Instant};
use workload::{ClientId, Completion, Durability, Errno, Op, Request, TargetId, WriteOut};

/// How many requests a check makes for each that may be outstanding, as far as
/// [`REQUESTS_MAX`] allows.
const ROUNDS: usize = 20;
/// More than that, and a deep driver is filled twice only: each round of it takes seconds.
const REQUESTS_MAX: usize = 20_000;

/// What a write may promise.
const DURABILITIES: [Durability; 4] = [
    Durability::Volatile,
    Durability::Synced,
    Durability::DataSynced,
    Durability::Through,
];

/// What the requests of the general checks read.
#[derive(Clone, Copy, Debug)]
pub struct Terrain {
    pub target: TargetId,
    /// Bytes per read.
    pub block: u32,
    /// Blocks in the target.
    pub blocks: u64,
}

impl Terrain {
    fn read(&self, number: usize) -> Op {
        let block = number as u64 * 7 % self.blocks;
        let (target, len) = (self.target, self.block);
        Op::Read {
            target,
            offset: block * u64::from(len),
            len,
        }
    }

    fn request(&self, number: usize) -> Request {
        let client = ClientId(u32::try_from(number).expect("few requests"));
        Request::new(client, Instant(number as u64), self.read(number))
    }
}

/// How often a check fills the driver.
fn rounds<D: Driver>(driver: &D) -> usize {
    (REQUESTS_MAX / driver.capacity()).clamp(2, ROUNDS)
}

/// Everything that holds for every driver, real or virtual.
pub fn check_contract<D: Driver>(mut make: impl FnMut() -> D, terrain: &Terrain) {
    each_request_completes_once(&mut make(), terrain);
    requests_beyond_capacity_are_refused(&mut make(), terrain);
    a_deadline_ends_an_idle_wait(&mut make());
    a_deadline_ends_a_busy_wait(&mut make(), terrain);
    an_endless_wait_is_refused(&mut make());
    a_busy_driver_can_be_dropped(make(), terrain);
}

fn each_request_completes_once<D: Driver>(driver: &mut D, terrain: &Terrain) {
    let total = rounds(driver) * driver.capacity();
    let mut outstanding: HashMap<u64, (Request, Instant)> = HashMap::new();
    let (mut next, mut finished) = (0, 0);
    while finished < total {
        while next < total && outstanding.len() < driver.capacity() {
            let request = terrain.request(next);
            outstanding.insert(request.due.0, (request, driver.now()));
            driver.submit(request).expect("submit");
            next += 1;
        }
        let mut done = Vec::new();
        driver.wait(None, &mut done).expect("wait");
        assert!(
            !done.is_empty(),
            "a wait without a deadline brings a completion"
        );
        for completion in done {
            let Completion {
                request,
                issued,
                completed,
                result,
            } = completion;
            let (asked, at) = outstanding
                .remove(&request.due.0)
                .expect("a completion belongs to one outstanding request");
            assert_eq!(request, asked, "a completion carries its own request");
            assert!(
                issued >= at,
                "issued {issued} before it was submitted at {at}"
            );
            assert!(
                completed >= issued,
                "completed {completed} before issued {issued}"
            );
            assert!(
                completed <= driver.now(),
                "completed {completed} in the future"
            );
            assert_eq!(result, Ok(terrain.block));
            finished += 1;
        }
    }
    assert!(outstanding.is_empty());
}

fn requests_beyond_capacity_are_refused<D: Driver>(driver: &mut D, terrain: &Terrain) {
    let capacity = driver.capacity();
    for number in 0..capacity {
        driver.submit(terrain.request(number)).expect("submit");
    }
    let beyond = catch_unwind(AssertUnwindSafe(|| {
        driver.submit(terrain.request(capacity))
    }));
    assert!(
        beyond.is_err(),
        "request {capacity} of {capacity} must panic"
    );
    assert_eq!(drain(driver, capacity).len(), capacity);
}

fn a_deadline_ends_an_idle_wait<D: Driver>(driver: &mut D) {
    let mut done = Vec::new();
    for span in [0, 1, 1_000, 200_000] {
        let deadline = driver.now() + Duration::from_nanos(span);
        driver.wait(Some(deadline), &mut done).expect("wait");
        assert!(
            driver.now() >= deadline,
            "returned before the deadline with nothing done"
        );
        assert!(done.is_empty());
        let deadline = driver.now() + Duration::from_nanos(span);
        driver.rest(deadline, &mut done).expect("rest");
        assert!(driver.now() >= deadline, "a rest ended early");
        assert!(done.is_empty());
    }
    driver
        .wait(Some(Instant::START), &mut done)
        .expect("a wait for the past");
    assert!(done.is_empty());
}

fn a_deadline_ends_a_busy_wait<D: Driver>(driver: &mut D, terrain: &Terrain) {
    for number in 0..ROUNDS {
        driver.submit(terrain.request(number)).expect("submit");
        let mut done = Vec::new();
        while done.is_empty() {
            // Set anew: on a virtual clock time stands still at a deadline that has passed.
            let deadline = driver.now() + Duration::from_nanos(number as u64 * 3_000 + 1);
            match number % 2 {
                0 => driver.wait(Some(deadline), &mut done).expect("wait"),
                _ => driver.rest(deadline, &mut done).expect("rest"),
            }
            assert!(
                !done.is_empty() || driver.now() >= deadline,
                "neither done nor due"
            );
        }
        assert_eq!(done.len(), 1);
    }
}

fn an_endless_wait_is_refused<D: Driver>(driver: &mut D) {
    assert_eq!(driver.wait(None, &mut Vec::new()), Err(DriverError::Idle));
}

fn a_busy_driver_can_be_dropped<D: Driver>(mut driver: D, terrain: &Terrain) {
    for number in 0..driver.capacity() {
        driver.submit(terrain.request(number)).expect("submit");
    }
    driver.wait(None, &mut Vec::new()).expect("wait");
    drop(driver);
}

fn drain<D: Driver>(driver: &mut D, count: usize) -> Vec<Completion> {
    let mut done = Vec::new();
    while done.len() < count {
        driver.wait(None, &mut done).expect("wait");
    }
    done
}

/// A file to work on and room for small ones, in a directory of its own.
#[derive(Debug)]
pub struct ConformanceFiles {
    directory: Arc<WorkDirectory>,
    caching: Caching,
}

/// Length of the file: ten blocks and a bit, so that its end is no block's end.
const FILE_BYTES: u64 = 10 * BLOCK as u64 + 1000;
const BLOCK: u32 = 4096;
const SMALL_FILES: u32 = 8;
const FILE_NAME: &str = "main";

impl ConformanceFiles {
    /// A scene under `parent`; `None` where direct I/O is asked for and not supported.
    ///
    /// # Panics
    /// When it cannot be set up.
    pub fn new(parent: &Path, caching: Caching) -> Option<Self> {
        let directory =
            WorkDirectory::create(parent, &DirectoryOwner::default()).expect("a directory");
        let file = directory.create_file(FILE_NAME).expect("a file");
        file.write_all_at(&vec![1; FILE_BYTES as usize], 0)
            .expect("a full file");
        file.sync_all().expect("a synced file");
        match directory.open_target(FILE_NAME, caching) {
            Ok(_) => Some(Self {
                directory: Arc::new(directory),
                caching,
            }),
            Err(TargetError::DirectUnsupported { .. }) => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// The file as target 0, the same read-only as target 1, and small files.
    pub fn table(&self) -> Arc<TargetTable> {
        let writable = self
            .directory
            .open_target(FILE_NAME, self.caching)
            .expect("the file");
        let path = self.directory.path().join(FILE_NAME);
        let options = TargetOptions {
            caching: self.caching,
            ..TargetOptions::default()
        };
        let read_only = Target::open(&path, &options).expect("the file");
        assert_eq!(read_only.access(), AccessMode::ReadOnly);
        let directory = Arc::clone(&self.directory);
        let small = SmallFiles {
            directory,
            count: SMALL_FILES,
            caching: self.caching,
        };
        Arc::new(TargetTable::new(vec![writable, read_only]).with_small_files(small))
    }

    /// What the general checks may read.
    pub fn terrain(&self) -> Terrain {
        Terrain {
            target: TargetId(0),
            block: BLOCK,
            blocks: FILE_BYTES / u64::from(BLOCK),
        }
    }
}

/// Everything that holds for drivers of real storage, beyond [`check_contract`]. `make` opens a
/// driver for blocks of at least 32 KiB.
pub fn check_storage<D: Driver>(
    make: impl Fn(&Arc<TargetTable>, Payload) -> D,
    scene: &ConformanceFiles,
) {
    written_data_are_read_back(&make, scene);
    reads_stop_at_the_end(&make, scene);
    files_live_and_die(&make, scene);
    failures_are_data(&make, scene);
    dropped_writes_do_no_harm(make, scene);
}

/// The outcome of `ops`, carried out one after the other.
fn run<D: Driver>(driver: &mut D, ops: &[Op]) -> Vec<Result<u32, Errno>> {
    let mut results = Vec::new();
    for (number, op) in ops.iter().enumerate() {
        let client = ClientId(u32::try_from(number).expect("few requests"));
        driver
            .submit(Request::new(client, driver.now(), *op))
            .expect("submit");
        let completion = drain(driver, 1)[0];
        assert_eq!(
            (completion.request.client, completion.request.op),
            (client, *op)
        );
        results.push(completion.result);
    }
    results
}

fn read(target: TargetId, offset: u64, len: u32) -> Op {
    Op::Read {
        target,
        offset,
        len,
    }
}

fn write(target: TargetId, offset: u64, len: u32, durability: Durability) -> Op {
    Op::Write {
        target,
        offset,
        len,
        durability,
    }
}

fn written_data_are_read_back<D: Driver>(
    make: &impl Fn(&Arc<TargetTable>, Payload) -> D,
    scene: &ConformanceFiles,
) {
    let log = Arc::new(VerificationLog::default());
    let payload = |pass| Payload {
        run: 42,
        pass,
        checking: Checking::default(),
        verification: Some(Arc::clone(&log)),
        ..Payload::default()
    };
    let (table, target) = (scene.table(), TargetId(0));
    for (pass, durability) in (1..).zip(DURABILITIES) {
        let mut driver = make(&table, payload(pass));
        let whole = 8 * BLOCK;
        let mut ops = vec![write(target, 0, whole, durability)];
        ops.extend((8..10).map(|block| write(target, block * u64::from(BLOCK), BLOCK, durability)));
        ops.extend([false, true].map(|data_only| Op::Flush { target, data_only }));
        ops.extend(
            [(0, 0), (2 * u64::from(BLOCK), whole)].map(|(offset, span)| Op::WriteOut {
                target,
                offset,
                span,
                how: WriteOut {
                    writes: true,
                    waits_after: true,
                    ..WriteOut::default()
                },
            }),
        );
        let written = run(&mut driver, &ops);
        let moved = [whole, BLOCK, BLOCK, 0, 0, 0, 0].map(Ok);
        assert_eq!(written, moved);
        let mut ops = vec![read(target, 0, whole)];
        ops.extend((0..10).map(|block| read(target, block * u64::from(BLOCK), BLOCK)));
        // The same file under another number.
        ops.push(read(TargetId(1), u64::from(BLOCK), BLOCK));
        for (op, result) in ops.iter().zip(run(&mut driver, &ops)) {
            assert_eq!(result, Ok(op.len()), "{op:?}: {:?}", log.first());
        }
    }
    assert_eq!(log.count(), 0);
    let mut driver = make(&table, payload(9));
    assert_eq!(run(&mut driver, &[read(target, 0, BLOCK)]), [Err(MISMATCH)]);
    assert_eq!(log.count(), 1, "a lost write would be noticed");
}

fn reads_stop_at_the_end<D: Driver>(
    make: &impl Fn(&Arc<TargetTable>, Payload) -> D,
    scene: &ConformanceFiles,
) {
    let mut driver = make(&scene.table(), Payload::default());
    let (target, block) = (TargetId(0), u64::from(BLOCK));
    let ops = [
        read(target, 9 * block, 4 * BLOCK),
        read(target, 10 * block, BLOCK),
        read(target, 11 * block, BLOCK),
        read(target, 1 << 40, 2 * BLOCK),
    ];
    assert_eq!(
        run(&mut driver, &ops),
        [Ok(BLOCK + 1000), Ok(1000), Ok(0), Ok(0)]
    );
}

fn files_live_and_die<D: Driver>(
    make: &impl Fn(&Arc<TargetTable>, Payload) -> D,
    scene: &ConformanceFiles,
) {
    let log = Arc::new(VerificationLog::default());
    let payload = Payload {
        run: 1,
        pass: 1,
        checking: Checking::default(),
        verification: Some(Arc::clone(&log)),
        ..Payload::default()
    };
    let table = scene.table();
    let target = TargetId(table.first_small_file().0 + 5);
    let mut driver = make(&table, payload);
    let ops = [
        Op::Open { target },
        Op::Create { target },
        Op::Create { target },
        write(target, 0, 2 * BLOCK, Durability::Synced),
        read(target, u64::from(BLOCK), BLOCK),
        Op::Flush {
            target,
            data_only: false,
        },
        Op::Close { target },
        Op::Close { target },
        read(target, 0, BLOCK),
        Op::Open { target },
        read(target, 0, 4 * BLOCK),
        write(target, 0, BLOCK, Durability::Volatile),
        Op::Close { target },
        Op::Stat { target },
        Op::Remove { target },
        Op::Stat { target },
        Op::Remove { target },
        Op::Open { target },
        Op::Create { target },
        Op::Remove { target },
        Op::Close { target },
    ];
    let (missing, closed) = (Err(Errno(libc::ENOENT)), Err(Errno(libc::EBADF)));
    let expected = [
        missing,
        Ok(0),
        Err(Errno(libc::EEXIST)),
        Ok(2 * BLOCK),
        Ok(BLOCK),
        Ok(0),
        Ok(0),
        closed,
        closed,
        Ok(0),
        Ok(2 * BLOCK),
        closed,
        Ok(0),
        Ok(0),
        Ok(0),
        missing,
        missing,
        missing,
        Ok(0),
        Ok(0),
        Ok(0),
    ];
    for ((op, found), wanted) in ops.iter().zip(run(&mut driver, &ops)).zip(expected) {
        assert_eq!(found, wanted, "{op:?}: {:?}", log.first());
    }
}

fn failures_are_data<D: Driver>(
    make: &impl Fn(&Arc<TargetTable>, Payload) -> D,
    scene: &ConformanceFiles,
) {
    let table = scene.table();
    let mut driver = make(&table, Payload::default());
    let (read_only, beyond) = (
        TargetId(1),
        TargetId(table.first_small_file().0 + SMALL_FILES),
    );
    let ops = [
        write(read_only, 0, BLOCK, Durability::Volatile),
        write(read_only, 0, BLOCK, Durability::Synced),
        read(beyond, 0, BLOCK),
        Op::Flush {
            target: beyond,
            data_only: false,
        },
        Op::Create { target: beyond },
        Op::Close {
            target: TargetId(0),
        },
        Op::Remove {
            target: TargetId(0),
        },
        read(read_only, 0, BLOCK),
    ];
    let (bad, invalid) = (Err(Errno(libc::EBADF)), Err(Errno(libc::EINVAL)));
    let expected = [bad, bad, bad, bad, bad, invalid, invalid, Ok(BLOCK)];
    assert_eq!(run(&mut driver, &ops), expected);
}

/// Writes under way when their driver is dropped harm nothing. `make` opens a driver for blocks of
/// at least 4 KiB.
pub fn dropped_writes_do_no_harm<D: Driver>(
    make: impl Fn(&Arc<TargetTable>, Payload) -> D,
    scene: &ConformanceFiles,
) {
    let (table, target) = (scene.table(), TargetId(0));
    let times = rounds(&make(&table, Payload::default()));
    for (round, pass) in (0..).take((times / 2).max(2)).enumerate() {
        let mut driver = make(
            &table,
            Payload {
                run: 9,
                pass,
                checking: Checking::default(),
                ..Payload::default()
            },
        );
        for number in 0..driver.capacity() as u64 {
            let durability = DURABILITIES[number as usize % DURABILITIES.len()];
            let op = write(target, number % 10 * u64::from(BLOCK), BLOCK, durability);
            driver
                .submit(Request::new(ClientId(0), driver.now(), op))
                .expect("submit");
        }
        // With and without having entered the kernel.
        if round % 2 == 0 {
            driver
                .wait(Some(Instant::START), &mut Vec::new())
                .expect("wait");
        }
    }
    let mut driver = make(&table, Payload::default());
    assert_eq!(run(&mut driver, &[read(target, 0, BLOCK)]), [Ok(BLOCK)]);
}
