//! Nothing is destroyed that this program did not make.

// A test that cannot run here says so.
#![allow(clippy::print_stderr)]

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivers::{
    AccessMode, Caching, DIRECTORY_PREFIX, MARKER_NAME, Owner, Payload, Seal, Target, TargetError,
    TargetOptions, WorkDirectory, find_stale,
};
use tempfile::TempDir;
use workload::TargetId;

/// Taken by tests that start a child process or that need a lock given up at once: until it runs
/// its program, a child holds our descriptors, and with them our locks.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn owner() -> Owner {
    Owner {
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

/// Not a test of its own: the process that `what_a_killed_run_left_is_found` starts and that dies
/// without cleaning up.
#[test]
fn helper_that_dies() {
    let Ok(parent) = std::env::var("SEEKSTONE_TEST_DIE_IN") else {
        return;
    };
    let work = WorkDirectory::create(Path::new(&parent), &owner()).unwrap();
    let file = work.create_file("big").unwrap();
    file.write_all_at(&sealed(8192, Seal::of_this_run().number()), 0)
        .unwrap();
    file.sync_all().unwrap();
    std::process::abort();
}

#[test]
fn what_a_killed_run_left_is_found() {
    let _alone = alone();
    let parent = scratch();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "helper_that_dies", "--nocapture"])
        .env("SEEKSTONE_TEST_DIE_IN", parent.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    assert!(!child.wait().unwrap().success());
    let alive = WorkDirectory::create(parent.path(), &owner()).unwrap();
    let stale = find_stale(parent.path()).unwrap();
    assert_eq!(stale.len(), 1);
    assert_eq!((stale[0].pid, stale[0].files), (pid, 1));
    assert!(stale[0].bytes >= 8192);
    assert!(
        find_stale(parent.path()).unwrap().is_empty(),
        "held by whoever found it first"
    );
    for directory in stale {
        directory.remove().unwrap();
    }
    assert_eq!(names(parent.path()).len(), 1);
    alive.remove().unwrap();
}

/// What the run of that number might have written.
fn sealed(len: usize, run: u64) -> Vec<u8> {
    let mut bytes = vec![1; len];
    let payload = Payload {
        run,
        ..Payload::default()
    };
    payload.stamp(&mut bytes, TargetId(0), 0);
    bytes
}

/// A directory with our kind of name and marker.
fn plant(parent: &Path, digits: &str, marker: &str) -> PathBuf {
    let path = parent.join(format!("{DIRECTORY_PREFIX}{digits}"));
    fs::create_dir(&path).unwrap();
    fs::write(path.join(MARKER_NAME), marker).unwrap();
    path
}

#[test]
fn only_what_is_surely_ours_counts_as_stale() {
    let _alone = alone();
    let parent = scratch();
    const GOOD: &str = "seekstone work directory\npid 7\n";
    let abandoned = WorkDirectory::create(parent.path(), &owner()).unwrap();
    let abandoned_path = abandoned.path().to_path_buf();
    abandoned.abandon();
    plant(parent.path(), "0123", GOOD);
    plant(parent.path(), "0123456789ABCDEF", GOOD);
    plant(parent.path(), "0000000000000001", "something else\npid 7\n");
    plant(
        parent.path(),
        "0000000000000002",
        "seekstone work directory\n",
    );
    let real = plant(parent.path(), "0000000000000003", GOOD);
    let link = parent
        .path()
        .join(format!("{DIRECTORY_PREFIX}0000000000000004"));
    symlink(&real, link).unwrap();
    let file = parent
        .path()
        .join(format!("{DIRECTORY_PREFIX}0000000000000005"));
    fs::write(file, GOOD).unwrap();
    let mut found: Vec<_> = find_stale(parent.path())
        .unwrap()
        .into_iter()
        .map(|stale| stale.path)
        .collect();
    found.sort();
    let mut expected = vec![real, abandoned_path];
    expected.sort();
    assert_eq!(found, expected);
}

/// A run that was killed before its marker was on the storage left a directory for good.
#[test]
fn a_marker_that_was_not_finished_tells_whose_a_directory_is() {
    let _alone = alone();
    let parent = scratch();
    let named = plant(
        parent.path(),
        "0000000000000001",
        "seekstone work directory\npid 7\n",
    );
    let cut_off = plant(parent.path(), "0000000000000002", "seekstone wo");
    for path in [&named, &cut_off] {
        fs::rename(path.join(MARKER_NAME), path.join("owner.new")).unwrap();
    }
    let mut stale = find_stale(parent.path()).unwrap();
    let found = stale.pop().unwrap();
    assert_eq!((&found.path, found.files, stale.len()), (&named, 0, 0));
    found.remove().unwrap();
    assert!(!named.exists() && cut_off.exists());
}

#[test]
fn a_stale_directory_with_strange_content_is_left_whole() {
    let _alone = alone();
    let parent = scratch();
    let precious = parent.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let path = plant(
        parent.path(),
        "0000000000000001",
        "seekstone work directory\npid 7\nseal 0000000000000007\n",
    );
    fs::write(path.join("f0000001"), sealed(100, 7)).unwrap();
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(path.join("f0000001"), private).unwrap();
    for strange in ["link", "directory", "odd name"] {
        let place = path.join(strange);
        match strange {
            "link" => symlink(&precious, &place).unwrap(),
            "directory" => fs::create_dir(&place).unwrap(),
            _ => fs::write(&place, "theirs").unwrap(),
        }
        let stale = find_stale(parent.path()).unwrap().pop().unwrap();
        let refused = stale.remove().unwrap_err().to_string();
        assert!(refused.contains(strange), "{refused}");
        assert_eq!(names(&path).len(), 3);
        fs::remove_file(&place)
            .or_else(|_| fs::remove_dir(&place))
            .unwrap();
    }
    find_stale(parent.path())
        .unwrap()
        .pop()
        .unwrap()
        .remove()
        .unwrap();
    assert_eq!(names(parent.path()), ["precious"]);
}

/// `seekstone clean` removed a file of a user's that had got into the directory of a killed run.
#[test]
fn nothing_but_what_the_run_made_is_removed_after_it() {
    let _alone = alone();
    let parent = scratch();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    let path = work.path().to_path_buf();
    for name in ["main", "got-1", "got-22"] {
        work.create_file(name).unwrap();
    }
    work.abandon();
    let private = fs::Permissions::from_mode(0o600);
    let precious = parent.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    type Case<'a> = (&'a str, &'a dyn Fn(&Path));
    let put = |place: &Path| fs::write(place, "theirs").unwrap();
    let put_private = |place: &Path, content: &[u8]| {
        fs::write(place, content).unwrap();
        fs::set_permissions(place, private.clone()).unwrap();
    };
    let cases: [Case; 9] = [
        ("extra", &|place| {
            put(place);
            fs::set_permissions(place, private.clone()).unwrap();
        }),
        ("main-of-mine", &|place| {
            fs::rename(path.join("main"), place).unwrap();
        }),
        ("main", &|place| put(place)),
        ("got-3", &|place| fs::hard_link(&precious, place).unwrap()),
        ("f0000002", &|place| put(place)),
        // By name, owner, rights and form each of these could be ours.
        ("main", &|place| put_private(place, b"theirs")),
        ("f0000002", &|place| put_private(place, &[b'p'; 8192])),
        ("got-4", &|place| put_private(place, &sealed(8192, 7))),
        (".removing-0123456789abcdef", &|place| {
            put_private(place, b"theirs");
        }),
    ];
    for (strange, make) in cases {
        let place = path.join(strange);
        make(&place);
        let before = names(&path);
        let stale = find_stale(parent.path()).unwrap().pop().unwrap();
        let refused = stale.remove().unwrap_err().to_string();
        let expected = format!("no proof that its run made {strange};");
        assert!(refused.contains(&expected), "{refused}");
        assert_eq!(names(&path), before);
        fs::remove_file(&place).unwrap();
    }
    for stale in find_stale(parent.path()).unwrap() {
        stale.remove().unwrap();
    }
    assert_eq!(names(parent.path()), ["precious"]);
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

/// `clean` entered what was mounted on a directory of a killed run's tree, and removed files there.
#[test]
fn nothing_that_is_mounted_in_a_dead_directory_is_entered() {
    let _alone = alone();
    let parent = scratch();
    let victim = parent.path().join("victim");
    fs::create_dir(&victim).unwrap();
    let private = fs::Permissions::from_mode(0o600);
    fs::write(victim.join("a0001"), sealed(512, 7)).unwrap();
    fs::set_permissions(victim.join("a0001"), private).unwrap();
    let path = plant(
        parent.path(),
        "0123456789abcdef",
        "seekstone work directory\npid 7\nseal 0000000000000007\n",
    );
    let place = path.join("t00000001");
    fs::create_dir(&place).unwrap();
    let run = |program: &str, args: &[&Path]| {
        let status = Command::new(program).args(args).status();
        status.is_ok_and(|status| status.success())
    };
    if !run("mount", &[Path::new("--bind"), &victim, &place]) {
        eprintln!("skipped: mounting needs root");
        return;
    }
    let stale = find_stale(parent.path()).unwrap().pop().unwrap();
    let removed = stale.remove();
    let left = names(&victim);
    assert!(run("umount", &[&place]));
    let refused = removed.unwrap_err().to_string();
    assert!(
        refused.contains("t00000001/.../something that is mounted there"),
        "{refused}"
    );
    assert_eq!(left, ["a0001"]);
    find_stale(parent.path())
        .unwrap()
        .pop()
        .unwrap()
        .remove()
        .unwrap();
    assert_eq!(names(parent.path()), ["victim"]);
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
                refused.contains(&format!("is a {kind}: name a regular")),
                "{refused}"
            );
        }
    }
    let missing = Target::open(&parent.path().join("none"), &TargetOptions::default());
    assert!(missing.unwrap_err().to_string().starts_with("cannot open "));
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
