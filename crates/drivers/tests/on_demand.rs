//! Files that are opened when they are used: a run with `nrfiles=25000 openfiles=1` once ended in
//! the middle of laying its files out with "Too many open files".

use std::fs;
use std::path::Path;
use std::sync::Arc;

use drivers::{
    AccessMode, Caching, DirectoryOwner, DriverKind, DriverOptions, OpenFilePool, Target,
    TargetOptions, TargetTable, WorkDirectory, open_driver,
};
use engine::Driver;
use sys::MonotonicClock;
use tempfile::TempDir;
use workload::{ClientId, Durability, Errno, Op, Request, TargetId};

const FILES: u32 = 12;
const ROOM: usize = 2;
const DEPTH: usize = 3;
const LEN: u32 = 4096;
/// Each driver, whatever this kernel allows.
const KINDS: [DriverKind; 2] = [DriverKind::Auto, DriverKind::Threads];

fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

fn driver(kind: DriverKind, targets: Vec<Target>) -> Box<dyn Driver> {
    let table = Arc::new(TargetTable::new(targets));
    let options = DriverOptions::new(DEPTH, LEN as usize);
    let opened = open_driver(kind, &table, MonotonicClock::start(), &options);
    opened.expect("a driver").driver
}

/// Files of this process below `directory` that are open.
fn open_files(directory: &Path) -> usize {
    let links = fs::read_dir("/proc/self/fd")
        .expect("descriptors")
        .flatten();
    let paths = links.filter_map(|it| fs::read_link(it.path()).ok());
    paths
        .filter(|path| path.starts_with(directory) && path.is_file())
        .count()
}

/// Carry out these, as many at once as there is room for; the results by target.
fn carry_out(driver: &mut dyn Driver, ops: Vec<Op>) -> Vec<(TargetId, Result<u32, Errno>)> {
    let (mut results, mut done, mut under_way) = (Vec::new(), Vec::new(), 0);
    let mut ops = ops.into_iter();
    loop {
        let room = driver.capacity() - under_way;
        for op in ops.by_ref().take(room) {
            let request = Request::new(ClientId(0), driver.now(), op);
            driver.submit(request).expect("a request");
            under_way += 1;
        }
        if under_way == 0 {
            return results;
        }
        driver.wait(None, &mut done).expect("a completion");
        under_way -= done.len();
        results.extend(done.drain(..).map(|it| (it.request.op.target(), it.result)));
    }
}

fn write(target: u32) -> Op {
    Op::Write {
        target: TargetId(target),
        offset: 0,
        len: LEN,
        durability: Durability::Volatile,
    }
}

fn read(target: u32) -> Op {
    Op::Read {
        target: TargetId(target),
        offset: 0,
        len: LEN,
    }
}

fn of_each(op: fn(u32) -> Op) -> Vec<Op> {
    // Neighbours, so that some are found open, and all again, so that all are opened twice.
    (0..4 * FILES)
        .map(|number| op(number / 2 % FILES))
        .collect()
}

#[test]
fn as_many_files_are_open_as_there_is_room_for_and_requests_are_under_way() {
    for kind in KINDS {
        let parent = scratch();
        let directory = WorkDirectory::create(parent.path(), &DirectoryOwner::default());
        let directory = Arc::new(directory.expect("a directory"));
        let pool = OpenFilePool::new(ROOM);
        let target = |number: u32| {
            let name = format!("main-{number}");
            let file = directory.create_file(&name).expect("a file");
            file.set_len(LEN.into()).expect("a length");
            directory
                .target_on_demand(&name, Caching::Buffered, &pool)
                .expect("a target")
        };
        let mut driver = driver(kind, (0..FILES).map(target).collect());
        // Those that were looked at may be open still.
        assert!(open_files(directory.path()) <= ROOM, "{kind:?}");
        for op in [write, read] {
            let results = carry_out(&mut *driver, of_each(op));
            assert_eq!(results.len(), 4 * FILES as usize);
            let is_whole = |it: &(TargetId, Result<u32, Errno>)| it.1 == Ok(LEN);
            assert!(results.iter().all(is_whole), "{kind:?}: {results:?}");
            assert_eq!(open_files(directory.path()), ROOM, "{kind:?}");
        }
        for number in 0..FILES {
            let content = fs::read(directory.path().join(format!("main-{number}")));
            let is_written = content.expect("a file").iter().any(|it| *it != 0);
            assert!(is_written, "file {number} holds what was written");
        }
        drop(driver);
        directory.remove().expect("removal");
    }
}

/// A name that came to stand for something else is not even opened.
#[test]
fn what_somebody_puts_in_the_place_of_a_closed_file_is_left_alone() {
    for kind in KINDS {
        for replace in [
            (|path: &Path| fs::write(path, "of the user")) as fn(&Path) -> std::io::Result<()>,
            |path| std::os::unix::fs::symlink("/dev/zero", path),
        ] {
            let parent = scratch();
            let paths = ["a", "b"].map(|name| parent.path().join(name));
            let pool = OpenFilePool::new(1);
            let target = |path: &std::path::PathBuf| {
                fs::write(path, vec![1; LEN as usize]).expect("a file");
                let options = TargetOptions {
                    access: AccessMode::Overwrite,
                    caching: Caching::Buffered,
                    signature_confirmed: None,
                };
                let target = Target::open(path, &options).expect("a target");
                target.opened_on_demand(&pool).expect("a file")
            };
            let mut driver = driver(kind, paths.iter().map(target).collect());
            // The old file keeps its inode, or its number might be given to the new one.
            let aside = parent.path().join("aside");
            fs::rename(&paths[1], &aside).expect("a rename");
            replace(&paths[1]).expect("another");
            let results = carry_out(&mut *driver, vec![write(0), write(1), read(1)]);
            let stale = Err(Errno(libc::ESTALE));
            for (target, result) in results {
                let expected = if target.0 == 0 { Ok(LEN) } else { stale };
                assert_eq!(result, expected, "{kind:?} {target:?}");
            }
            let untouched = fs::read(&aside).expect("the old file");
            assert!(untouched.iter().all(|it| *it == 1), "{kind:?}");
            if fs::symlink_metadata(&paths[1])
                .expect("the new one")
                .is_file()
            {
                assert_eq!(fs::read(&paths[1]).expect("the new one"), b"of the user");
            }
            // Back in its place, it is found again.
            fs::rename(&aside, &paths[1]).expect("a rename");
            let results = carry_out(&mut *driver, vec![read(1)]);
            assert_eq!(results, [(TargetId(1), Ok(LEN))]);
        }
    }
}
