//! The null device of the DECUS tests, alone in its process: the test looks at what is open there.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use drivers::{DirectoryOwner, FileSystemDriver, FileSystemOptions, WorkDirectory};
use engine::{PlayEnd, play};
use sys::MonotonicClock;
use workload::FileOp;

/// How often it is open.
fn open() -> usize {
    let entries = fs::read_dir("/proc/self/fd").expect("this process");
    let links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.filter(|link| link == Path::new("/dev/null")).count()
}

/// The paper's programs open, write and close the null device for each file. It was opened once,
/// and opening and closing were counted and timed all the same: TEST5 was 35 % short.
#[test]
fn the_null_device_is_opened_and_closed() {
    let parent = tempfile::tempdir().expect("a directory");
    let work =
        WorkDirectory::create(parent.path(), &DirectoryOwner::default()).expect("a work directory");
    let (clock, options) = (MonotonicClock::start(), FileSystemOptions::default());
    let driver = FileSystemDriver::new(Arc::new(work), 0, None, clock, options);
    let mut driver = driver.expect("a driver");
    let mut perform = |calls: &[FileOp]| {
        let played = play(&mut driver, calls.iter().copied(), &mut || false);
        assert_eq!(played.end, PlayEnd::Whole);
        assert_eq!(played.ops, calls.len() as u64);
    };
    let before = open();
    perform(&[FileOp::OpenNull]);
    assert_eq!(open(), before + 1);
    perform(&[FileOp::WriteNull { bytes: 512 }, FileOp::Close]);
    assert_eq!(open(), before);
}
