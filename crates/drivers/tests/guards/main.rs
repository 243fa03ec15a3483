//! Nothing is destroyed that this program did not make.

// A test that cannot run here says so.
#![allow(clippy::print_stderr)]

mod stale;

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use drivers::{
    AccessMode, Caching, DirectoryOwner, MARKER_NAME, Seal, Target, TargetError, TargetOptions,
    WorkDirectory, find_stale,
};
use tempfile::TempDir;

/// Taken by tests that start a child process or that need a lock given up at once: until it runs
/// its program, a child holds our descriptors, and with them our locks.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn owner() -> DirectoryOwner {
    DirectoryOwner {
        program: "test 1".into(),
        started: "noon".into(),
        purpose: "a\nb".into(),
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let mut names: Vec<_> = entries
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_work_directory_comes_and_goes() {
    let parent = scratch();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    assert_eq!(
        fs::metadata(work.path()).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let marker = fs::read_to_string(work.path().join(MARKER_NAME)).unwrap();
    let (pid, seal) = (std::process::id(), Seal::of_this_run());
    let expected = format!(
        "seekstone work directory\npid {pid}\nseal {seal}\nprogram test 1\nstarted noon\n\
         purpose a b\n\
         makes probe\nmakes main\nmakes cache\n"
    );
    assert_eq!(marker, expected);
    work.create_file("one")
        .unwrap()
        .write_all_at(b"x", 0)
        .unwrap();
    work.create_file("two").unwrap();
    work.remove_file("two").unwrap();
    assert!(work.remove_file("two").is_err());
    assert_eq!(names(work.path()), ["one", "owner"]);
    work.remove().unwrap();
    work.remove().unwrap();
    assert!(names(parent.path()).is_empty());
    assert!(work.create_file("late").is_err());
}

#[test]
fn dropping_cleans_up_too() {
    let parent = scratch();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    work.create_file("one").unwrap();
    drop(work);
    assert!(names(parent.path()).is_empty());
}

#[test]
fn an_existing_name_is_never_taken_over() {
    let (parent, elsewhere) = (scratch(), scratch());
    let precious = elsewhere.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    symlink(&precious, work.path().join("link")).unwrap();
    symlink(
        elsewhere.path().join("absent"),
        work.path().join("dangling"),
    )
    .unwrap();
    fs::write(work.path().join("file"), "theirs").unwrap();
    for name in ["link", "dangling", "file"] {
        assert!(work.create_file(name).is_err(), "{name}");
        assert!(work.open_target(name, Caching::Buffered).is_err(), "{name}");
        assert!(work.remove_file(name).is_err(), "{name}");
    }
    for name in [
        "../x",
        "a/b",
        "",
        ".",
        "..",
        "owner",
        "owner.new",
        "a b",
        "a\0",
    ] {
        let refused = work.create_file(name);
        assert!(
            matches!(refused, Err(TargetError::BadName { .. })),
            "{name:?}"
        );
    }
    let left = work.remove().unwrap_err().to_string();
    assert!(
        left.contains("was left unchanged") && left.contains("link"),
        "{left}"
    );
    assert_eq!(fs::read_to_string(precious).unwrap(), "precious");
    assert_eq!(
        fs::read_to_string(work.path().join("file")).unwrap(),
        "theirs"
    );
    assert!(!elsewhere.path().join("absent").exists());
    for name in ["link", "dangling", "file"] {
        fs::remove_file(work.path().join(name)).unwrap();
    }
    work.remove().unwrap();
}

#[test]
fn a_link_put_in_place_of_a_file_of_ours_is_not_followed() {
    let (parent, elsewhere) = (scratch(), scratch());
    let precious = elsewhere.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    work.create_file("file").unwrap();
    fs::remove_file(work.path().join("file")).unwrap();
    symlink(&precious, work.path().join("file")).unwrap();
    assert!(work.open_target("file", Caching::Buffered).is_err());
    assert!(work.remove().is_err());
    assert_eq!(fs::read_to_string(precious).unwrap(), "precious");
}

#[test]
fn a_directory_put_in_place_of_ours_is_not_touched() {
    let parent = scratch();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    work.create_file("file").unwrap();
    let moved = parent.path().join("moved");
    fs::rename(work.path(), &moved).unwrap();
    fs::create_dir(work.path()).unwrap();
    fs::write(work.path().join("file"), "theirs").unwrap();
    work.create_file("other").unwrap();
    assert!(work.remove().unwrap_err().to_string().contains("renamed"));
    assert_eq!(names(work.path()), ["file"]);
    assert!(
        names(&moved).is_empty(),
        "our own files are gone wherever they are"
    );
}

#[test]
fn a_directory_removed_by_others_is_no_trouble() {
    let parent = scratch();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    work.create_file("file").unwrap();
    fs::remove_dir_all(parent.path()).unwrap();
    work.remove().unwrap();
    assert!(WorkDirectory::create(parent.path(), &owner()).is_err());
}

#[test]
fn two_runs_in_one_directory_leave_each_other_alone() {
    let parent = scratch();
    let first = WorkDirectory::create(parent.path(), &owner()).unwrap();
    let second = WorkDirectory::create(parent.path(), &owner()).unwrap();
    assert_ne!(first.path(), second.path());
    assert!(find_stale(parent.path()).unwrap().is_empty());
    second.create_file("file").unwrap();
    first.remove().unwrap();
    assert_eq!(names(second.path()), ["file", "owner"]);
}

/// A file that somebody had put in the place of ours was removed with the directory.
#[test]
fn a_file_in_the_place_of_ours_is_left() {
    let parent = scratch();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    let private = fs::Permissions::from_mode(0o600);
    for name in ["main", "alone"] {
        work.create_file(name).unwrap();
        // Beside each other for a moment, so that they differ in number.
        let theirs = parent.path().join("theirs");
        fs::write(&theirs, "theirs").unwrap();
        fs::set_permissions(&theirs, private.clone()).unwrap();
        fs::rename(&theirs, work.path().join(name)).unwrap();
    }
    fs::write(work.path().join("f0000001"), "theirs").unwrap();
    let refused = work.remove_file("alone").unwrap_err().to_string();
    assert!(refused.contains("another file has this name"), "{refused}");
    for _ in 0..2 {
        let refused = work.remove().unwrap_err().to_string();
        for name in ["main", "alone", "f0000001"] {
            assert!(refused.contains(name), "{refused}");
        }
        assert_eq!(names(work.path()), ["alone", "f0000001", "main", "owner"]);
    }
    for name in ["main", "alone", "f0000001"] {
        let content = fs::read(work.path().join(name)).unwrap();
        assert_eq!(content, b"theirs");
        fs::remove_file(work.path().join(name)).unwrap();
    }
    work.remove().unwrap();
    assert!(names(parent.path()).is_empty());
}

/// A hard link or a bind mount in the place of a file of ours was followed, and overwritten.
#[test]
fn a_file_that_came_in_the_place_of_ours_is_not_opened() {
    let parent = scratch();
    let precious = parent.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    let place = work.path().join("main");
    let refusal = || {
        work.open_target("main", Caching::Buffered)
            .unwrap_err()
            .to_string()
    };
    let source = |error: &dyn std::error::Error| error.source().unwrap().to_string();
    drop(work.create_file("main").unwrap());
    work.open_target("main", Caching::Buffered).unwrap();
    fs::rename(&place, parent.path().join("moved")).unwrap();
    fs::hard_link(&precious, &place).unwrap();
    let error = work.open_target("main", Caching::Buffered).unwrap_err();
    assert_eq!(source(&error), "another file has its name now");
    fs::remove_file(&place).unwrap();
    fs::copy(&precious, &place).unwrap();
    assert!(refusal().starts_with("cannot use "));
    fs::rename(parent.path().join("moved"), &place).unwrap();
    fs::hard_link(&place, parent.path().join("second")).unwrap();
    let error = work.open_target("main", Caching::Buffered).unwrap_err();
    assert_eq!(source(&error), "it has a second name (a hard link) now");
    fs::remove_file(parent.path().join("second")).unwrap();
    work.open_target("main", Caching::Buffered).unwrap();
    work.remove().unwrap();
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
}

#[test]
fn only_files_and_devices_are_targets() {
    let _alone = alone();
    let parent = scratch();
    let fifo = parent.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let socket = parent.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    for (path, kind) in [
        (fifo.as_path(), "FIFO"),
        (&socket, "socket"),
        (parent.path(), "directory"),
        (Path::new("/dev/null"), "character device"),
    ] {
        for access in [AccessMode::ReadOnly, AccessMode::Overwrite] {
            let options = TargetOptions {
                access,
                ..TargetOptions::default()
            };
            let refused = Target::open(path, &options).unwrap_err().to_string();
            assert!(
                refused.contains(&format!("is a {kind}. Name a regular")),
                "{refused}"
            );
        }
    }
    let missing = Target::open(&parent.path().join("none"), &TargetOptions::default());
    assert!(missing.unwrap_err().to_string().starts_with("cannot open "));
}

/// When the file was read last, after a target read it that was written since it was read before:
/// that is when a usual mount, `relatime`, would note the time.
fn last_access_after_a_read(path: &Path) -> SystemTime {
    fs::write(path, [1; 8192]).unwrap();
    let long_ago = UNIX_EPOCH + Duration::from_secs(1_000_000);
    let times = FileTimes::new().set_accessed(long_ago);
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(times).unwrap();
    let options = TargetOptions {
        caching: Caching::Buffered,
        ..Default::default()
    };
    let target = Target::open(path, &options).unwrap();
    let mut block = [0; 4096];
    target.file().read_exact_at(&mut block, 0).unwrap();
    file.metadata().unwrap().accessed().unwrap()
}

#[test]
fn who_only_reads_leaves_the_time_of_access_alone() {
    let _alone = alone();
    let parent = scratch();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "strictatime", "tmpfs"])
        .arg(parent.path())
        .status();
    let read = |parent: &Path| last_access_after_a_read(&parent.join("file"));
    let long_ago = UNIX_EPOCH + Duration::from_secs(1_000_000);
    if mounted.is_ok_and(|status| status.success()) {
        let strict = std::panic::catch_unwind(|| read(parent.path()));
        let unmounted = Command::new("umount").arg(parent.path()).status();
        assert!(unmounted.unwrap().success());
        assert!(strict.unwrap() > long_ago, "this mount notes each access");
    } else {
        eprintln!("skipped: who_only_reads...: mounting is not allowed: no strict mount");
    }
    assert_eq!(read(parent.path()), long_ago);
}

#[test]
fn a_file_is_read_only_unless_it_may_be_overwritten() {
    let parent = scratch();
    let path = parent.path().join("file");
    fs::write(&path, [1; 8192]).unwrap();
    for (access, may_write) in [(AccessMode::ReadOnly, false), (AccessMode::Overwrite, true)] {
        let options = TargetOptions {
            access,
            caching: Caching::Buffered,
            ..Default::default()
        };
        let target = Target::open(&path, &options).unwrap();
        assert_eq!((target.size(), target.access()), (8192, access));
        assert_eq!(target.file().write_all_at(b"x", 0).is_ok(), may_write);
    }
    let direct = Target::open(&path, &TargetOptions::default());
    match direct {
        Ok(target) => assert!(target.alignment().offset.is_power_of_two()),
        Err(error) => assert!(
            matches!(error, TargetError::DirectUnsupported { .. }),
            "{error}"
        ),
    }
    assert_eq!(File::open(&path).unwrap().metadata().unwrap().len(), 8192);
}
