//! What dead runs left is found, and nothing but that is removed.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drivers::{DIRECTORY_PREFIX, MARKER_NAME, Payload, Seal, WorkDirectory, find_stale};
use workload::TargetId;

use crate::{alone, names, owner, scratch};

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
        .args(["--exact", "stale::helper_that_dies", "--nocapture"])
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
    assert_eq!((stale[0].pid, stale[0].files), (Some(pid), 1));
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

/// A run that was killed before it wrote a marker left an empty directory for good. Of those, only
/// ones with a name of ours go.
#[test]
fn an_empty_directory_goes_if_its_name_is_ours() {
    let _alone = alone();
    let parent = scratch();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    let left = work.path().to_owned();
    drop(work);
    let one_up = |digit: char| if digit == 'f' { '0' } else { 'f' };
    let mut name = left.display().to_string();
    let last = name.pop().unwrap();
    let theirs = PathBuf::from(format!("{name}{}", one_up(last)));
    for path in [&left, &theirs] {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let mut stale = find_stale(parent.path()).unwrap();
    let found = stale.pop().unwrap();
    assert_eq!((&found.path, found.pid, stale.len()), (&left, None, 0));
    assert!(find_stale(parent.path()).unwrap().is_empty(), "it is held");
    // Somebody puts something there meanwhile.
    fs::write(left.join("file"), "theirs").unwrap();
    assert!(found.remove().is_err());
    assert!(find_stale(parent.path()).unwrap().is_empty());
    fs::remove_file(left.join("file")).unwrap();
    let found = find_stale(parent.path()).unwrap().pop().unwrap();
    found.remove().unwrap();
    assert!(!left.exists() && theirs.exists());
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
        let expected = format!("no proof that its run made {strange}.");
        assert!(refused.contains(&expected), "{refused}");
        assert_eq!(names(&path), before);
        fs::remove_file(&place).unwrap();
    }
    for stale in find_stale(parent.path()).unwrap() {
        stale.remove().unwrap();
    }
    assert_eq!(names(parent.path()), ["precious"]);
}

/// A run that was killed while it removed its marker, the last of its files, left a directory that
/// nobody knew.
#[test]
fn a_marker_that_was_being_removed_is_known() {
    let _alone = alone();
    let parent = scratch();
    let work = WorkDirectory::create(parent.path(), &owner()).unwrap();
    let path = work.path().to_path_buf();
    work.abandon();
    let aside = path.join(".removing-0123456789abcdef");
    fs::rename(path.join("owner"), &aside).unwrap();
    fs::write(path.join("precious"), "precious").unwrap();
    assert!(find_stale(parent.path()).unwrap().is_empty());
    fs::rename(path.join("precious"), parent.path().join("precious")).unwrap();
    let stale = find_stale(parent.path()).unwrap().pop().unwrap();
    assert_eq!((stale.pid, stale.files), (Some(std::process::id()), 0));
    stale.remove().unwrap();
    assert_eq!(names(parent.path()), ["precious"]);
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
