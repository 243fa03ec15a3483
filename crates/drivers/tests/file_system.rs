//! The calls of a program on a real file system: what is read is what was written, errors are
//! told, and nothing of ours stays.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::{
    DirectoryOwner, FileSystemDriver, FileSystemOptions, Payload, Seal, WorkDirectory, find_stale,
};
use engine::{FileDriver, PlayEnd, Played, WRONG_DATA, play};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use sys::MonotonicClock;
use tempfile::TempDir;
use workload::{
    DecusOrder, DecusTest, DirectoryUse, Durability, FileName, FileOp, FileScript, MetadataClient,
    MetadataPhase, MetadataSpec, OpenFor, Spacing, TargetId, stand_in_for_device,
};

const ORDER: DecusOrder = DecusOrder {
    seed: 5,
    client: 0,
    round: 0,
};

struct Bed {
    driver: FileSystemDriver,
    parent: TempDir,
}

fn bed(durability: Durability, device: Option<&Path>) -> Bed {
    let options = FileSystemOptions {
        durability,
        ..FileSystemOptions::default()
    };
    bed_with(options, device)
}

fn bed_with(options: FileSystemOptions, device: Option<&Path>) -> Bed {
    let parent = tempfile::tempdir().expect("a directory");
    let work =
        WorkDirectory::create(parent.path(), &DirectoryOwner::default()).expect("a work directory");
    let clock = MonotonicClock::start();
    let driver = FileSystemDriver::new(Arc::new(work), 0, device, clock, options);
    Bed {
        driver: driver.expect("a driver"),
        parent,
    }
}

impl Bed {
    fn play(&mut self, script: FileScript) -> Played {
        play(&mut self.driver, script, &mut || false)
    }

    #[track_caller]
    fn whole(&mut self, script: FileScript) -> Played {
        let played = self.play(script);
        assert_eq!(played.end, PlayEnd::Whole);
        played
    }

    fn test(&mut self, test: DecusTest) -> Played {
        self.whole(test.script(1, 0, &ORDER))
    }

    /// The directory with the client's files.
    fn inside(&self) -> PathBuf {
        let entries = fs::read_dir(self.parent.path()).expect("a directory");
        let work = entries.map(|it| it.expect("an entry").path()).next();
        work.expect("the work directory").join("t00000000")
    }

    fn count(&self) -> usize {
        fs::read_dir(self.inside()).expect("a directory").count()
    }

    #[track_caller]
    fn leaves_nothing(self) {
        drop(self.driver);
        let left = fs::read_dir(self.parent.path()).expect("a directory");
        assert_eq!(left.count(), 0, "something is left");
    }
}

fn fails_with(played: &Played) -> i32 {
    match played.end {
        PlayEnd::Failed { error, .. } => error.0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_test_runs_and_leaves_nothing() {
    let mut bed = bed(Durability::Volatile, None);
    for test in DecusTest::ALL {
        if test == DecusTest::Test11 {
            continue;
        }
        let played = bed.test(test);
        let script = test.script(1, 0, &ORDER).filter(|op| op.kind().is_call());
        let (calls, bytes) =
            script.fold((0, 0), |(calls, bytes), op| (calls + 1, bytes + op.bytes()));
        assert_eq!((played.ops, played.bytes), (calls, bytes), "{test:?}");
        let timed: u64 = played.times.values().map(stats::Histogram::len).sum();
        assert_eq!(timed, calls);
    }
    for spacing in Spacing::ALL {
        bed.whole(spacing.script(1));
        // Twice: what the first one changed must be what the second one reads.
        bed.test(DecusTest::Test4);
        bed.test(DecusTest::Test4);
    }
    let (made, read) = stand_in_for_device(workload::CHUNK_BYTES);
    bed.whole(made);
    assert_eq!(bed.whole(read).bytes, 16_384_000);
    bed.whole(Box::new([FileOp::Sync, FileOp::DropCaches].into_iter()));
    bed.test(DecusTest::Test5A);
    bed.whole(Box::new([FileOp::Initialise].into_iter()));
    assert_eq!(bed.count(), 0);
    bed.leaves_nothing();
}

#[test]
fn durable_files_hold_what_they_should() {
    let mut bed = bed(Durability::Synced, None);
    for test in [DecusTest::Test6, DecusTest::Test7] {
        bed.test(test);
    }
    let files = (1..=3).map(|n| FileName::new('d', n));
    let calls = files.flat_map(|file| {
        let bytes = u64::from(workload::BLOCK_BYTES);
        let purpose = OpenFor::Reading;
        let rewrite = OpenFor::Writing;
        [
            FileOp::Create { file, bytes },
            FileOp::Write { bytes: 512 },
            FileOp::Close,
            FileOp::Open { file, purpose },
            FileOp::Read { bytes: 512 },
            FileOp::Close,
            FileOp::Modify,
            FileOp::Open {
                file,
                purpose: rewrite,
            },
            FileOp::Write { bytes: 512 },
            FileOp::Close,
        ]
    });
    bed.whole(Box::new(calls.collect::<Vec<FileOp>>().into_iter()));
    bed.leaves_nothing();
}

#[test]
fn a_metadata_tree_is_made_and_removed() {
    let mut bed = bed(Durability::Synced, None);
    let spec = MetadataSpec::in_own_trees(12, 2, 2);
    for phase in MetadataPhase::ALL {
        bed.whole(spec.script(phase, MetadataClient::alone(0)));
        if phase == MetadataPhase::List {
            assert_eq!(bed.count(), 2);
        }
    }
    assert_eq!(bed.count(), 0);
    // And from the middle, when something stopped it.
    for phase in &MetadataPhase::ALL[..3] {
        bed.whole(spec.script(*phase, MetadataClient::alone(0)));
    }
    bed.leaves_nothing();
}

/// A directory of the user's, with files of names like ours, that takes the place of `ours` while
/// ours has its name.
struct Exchanged {
    ours: PathBuf,
    theirs: PathBuf,
}

const NAMES: [&str; 3] = ["n0000", "r0000", "precious"];

impl Exchanged {
    fn new(bed: &Bed, ours: &str) -> Self {
        let ours = bed.inside().join(ours);
        let theirs = bed.parent.path().join("theirs");
        fs::create_dir(&theirs).expect("a directory");
        for name in NAMES {
            fs::write(theirs.join(name), "of the user").expect("a file");
        }
        let exchanged = Self { ours, theirs };
        exchanged.exchange();
        exchanged
    }

    fn exchange(&self) {
        let flags = RenameFlags::EXCHANGE;
        renameat_with(CWD, &self.ours, CWD, &self.theirs, flags).expect("exchanged");
    }

    #[track_caller]
    fn is_unharmed(&self) {
        let found = fs::read_dir(&self.ours).expect("a directory").count();
        assert_eq!(found, NAMES.len(), "something was made or removed there");
        for name in NAMES {
            let content = fs::read(self.ours.join(name)).expect("a file");
            assert_eq!(content, b"of the user", "{name}");
        }
    }

    /// Ours is empty and back, theirs is elsewhere.
    #[track_caller]
    fn undo(self) {
        let left = fs::read_dir(&self.theirs).expect("a directory").count();
        assert_eq!(left, 0, "files of ours are left in ours");
        self.exchange();
        fs::remove_dir_all(&self.theirs).expect("removed");
    }
}

/// Somebody exchanged a directory of the tree for one of his own between two calls: new files were
/// made in his, and stayed there when he had exchanged it back.
#[test]
fn all_calls_stay_in_the_directory_that_was_made() {
    let spec = MetadataSpec::in_own_trees(6, 2, 1);
    for exchanged in ["t00000001", "t00000001/t00000002"] {
        let mut bed = bed_with(
            FileSystemOptions {
                directories_held: 2,
                ..FileSystemOptions::default()
            },
            None,
        );
        let me = MetadataClient::alone(0);
        bed.whole(spec.script(MetadataPhase::MakeDirectories, me));
        bed.whole(spec.script_of(MetadataPhase::Create, me, 0..2));
        let exchanged = Exchanged::new(&bed, exchanged);
        bed.whole(spec.script_of(MetadataPhase::Create, me, 2..6));
        for phase in &MetadataPhase::ALL[2..8] {
            bed.whole(spec.script(*phase, me));
            exchanged.is_unharmed();
        }
        bed.whole(spec.script(MetadataPhase::Create, me));
        bed.driver
            .perform(&FileOp::Initialise)
            .expect_err("ours is elsewhere");
        exchanged.is_unharmed();
        exchanged.undo();
        bed.leaves_nothing();
    }
}

/// With fewer descriptors than directories one is opened anew, and looked at.
#[test]
fn a_directory_of_another_is_not_taken_for_ours() {
    let mut bed = bed(Durability::Volatile, None);
    let spec = MetadataSpec::in_own_trees(6, 1, 2);
    let me = MetadataClient::alone(0);
    bed.whole(spec.script(MetadataPhase::MakeDirectories, me));
    bed.whole(spec.script(MetadataPhase::Create, me));
    let exchanged = Exchanged::new(&bed, "t00000001");
    for phase in [
        MetadataPhase::Stat,
        MetadataPhase::Rename,
        MetadataPhase::List,
    ] {
        let played = bed.play(spec.script(phase, me));
        assert_eq!(fails_with(&played), libc::ESTALE, "{phase:?}");
        exchanged.is_unharmed();
    }
    exchanged.exchange();
    fs::remove_dir_all(&exchanged.theirs).expect("removed");
    bed.leaves_nothing();
}

/// The first directory was removed by its name alone.
#[test]
fn a_directory_in_the_place_of_the_first_one_stays() {
    let mut bed = bed(Durability::Volatile, None);
    let inside = bed.inside();
    let aside = bed.parent.path().join("aside");
    fs::rename(&inside, &aside).expect("renamed");
    fs::create_dir(&inside).expect("a directory");
    bed.driver
        .perform(&FileOp::Initialise)
        .expect_err("another one");
    assert!(inside.exists() && aside.exists());
    fs::remove_dir(&inside).expect("removed");
    fs::rename(&aside, &inside).expect("renamed");
    bed.leaves_nothing();
}

/// Two processes of one run: the second joins the directory of the first.
fn pair(directories: DirectoryUse) -> (TempDir, Arc<WorkDirectory>, [FileSystemDriver; 2]) {
    let parent = tempfile::tempdir().expect("a directory");
    let made =
        WorkDirectory::create(parent.path(), &DirectoryOwner::default()).expect("a work directory");
    let joined = WorkDirectory::join(parent.path(), made.name()).expect("the same run");
    let made = Arc::new(made);
    let options = FileSystemOptions {
        directories,
        ..FileSystemOptions::default()
    };
    let driver = |work: Arc<WorkDirectory>, client| {
        FileSystemDriver::new(work, client, None, MonotonicClock::start(), options)
            .expect("a driver")
    };
    let drivers = [driver(Arc::clone(&made), 0), driver(Arc::new(joined), 1)];
    (parent, made, drivers)
}

/// Each reads what the other has made, in one directory or in two, and nothing stays.
#[test]
fn clients_of_two_processes_read_each_others_files() {
    for (directories, depth) in [(DirectoryUse::Own, 2), (DirectoryUse::Shared, 0)] {
        let (parent, made, mut drivers) = pair(directories);
        let spec = MetadataSpec {
            file_bytes: 3901,
            directories,
            ..MetadataSpec::in_own_trees(20, depth, 3)
        };
        for phase in MetadataPhase::ALL {
            for (number, driver) in (0..).zip(&mut drivers) {
                let reads_of = 1 - number;
                let script = spec.script(phase, MetadataClient { number, reads_of });
                let played = play(driver, script, &mut || false);
                assert_eq!(played.end, PlayEnd::Whole, "{directories:?} {phase:?}");
            }
        }
        drop(drivers);
        made.remove().expect("nothing strange is in it");
        assert_eq!(fs::read_dir(parent.path()).expect("a directory").count(), 0);
    }
}

/// What another client was said to have made is looked at as strictly as one's own.
#[test]
fn another_clients_file_with_other_data_is_found() {
    let (parent, made, mut drivers) = pair(DirectoryUse::Shared);
    let spec = MetadataSpec {
        directories: DirectoryUse::Shared,
        ..MetadataSpec::in_own_trees(3, 0, 1)
    };
    let of_first = |phase| spec.script(phase, MetadataClient::alone(0));
    let made_whole = play(
        &mut drivers[0],
        of_first(MetadataPhase::Create),
        &mut || false,
    );
    assert_eq!(made_whole.end, PlayEnd::Whole);
    let root = parent.path().join(made.name()).join("t00000000");
    fs::copy(root.join("n0001"), root.join("n0002")).expect("a copy");
    let second = MetadataClient {
        number: 1,
        reads_of: 0,
    };
    let read = spec.script(MetadataPhase::Read, second);
    let played = play(&mut drivers[1], read, &mut || false);
    assert_eq!(fails_with(&played), WRONG_DATA.0);
    assert_eq!(played.ops, 2 * 3 + 1);
}

#[test]
fn a_directory_of_another_run_is_not_joined() {
    let parent = tempfile::tempdir().expect("a directory");
    let made =
        WorkDirectory::create(parent.path(), &DirectoryOwner::default()).expect("a work directory");
    let marker = parent.path().join(made.name()).join("owner");
    let text = fs::read_to_string(&marker).expect("a marker");
    let seal = Seal::of_this_run().to_string();
    let other = Seal::fresh().expect("random numbers").to_string();
    fs::write(&marker, text.replace(&seal, &other)).expect("another seal");
    let refused = WorkDirectory::join(parent.path(), made.name()).expect_err("another run's");
    assert!(
        refused.to_string().contains("this run did not make it"),
        "{refused}"
    );
    assert!(WorkDirectory::join(parent.path(), "../etc").is_err());
    fs::write(&marker, text).expect("the marker as it was");
    assert!(WorkDirectory::join(parent.path(), made.name()).is_ok());
}

#[test]
fn a_file_that_holds_another_files_data_is_found() {
    let mut bed = bed(Durability::Volatile, None);
    bed.test(DecusTest::Test3);
    fs::copy(bed.inside().join("d0007"), bed.inside().join("d0008")).expect("a copy");
    let played = bed.play(DecusTest::Test5A.script(1, 0, &ORDER));
    assert_eq!(fails_with(&played), WRONG_DATA.0);
    assert_eq!(played.ops, 7 * 3 + 1, "seven files, and the eighth is open");
    bed.leaves_nothing();
}

#[test]
fn a_lost_rewrite_is_found() {
    let mut bed = bed(Durability::Volatile, None);
    bed.test(DecusTest::Test3);
    let old = fs::read(bed.inside().join("d0100")).expect("a file");
    bed.test(DecusTest::Test4);
    fs::write(bed.inside().join("d0100"), old).expect("a file");
    let played = bed.play(DecusTest::Test4B.script(1, 0, &ORDER));
    assert_eq!(fails_with(&played), WRONG_DATA.0);
}

#[test]
fn a_file_cut_short_is_an_error() {
    let mut bed = bed(Durability::Volatile, None);
    bed.test(DecusTest::Test8);
    let path = bed.inside().join("h0001");
    let file = fs::File::options().write(true).open(path).expect("a file");
    file.set_len(1000).expect("a shorter file");
    let played = bed.play(DecusTest::Test9.script(1, 0, &ORDER));
    assert_eq!(fails_with(&played), libc::EIO);
    let stat = FileOp::Stat {
        file: FileName::new('h', 1),
    };
    let played = bed.play(Box::new([stat].into_iter()));
    assert_eq!(fails_with(&played), WRONG_DATA.0);
}

#[test]
fn a_foreign_file_is_neither_written_nor_removed() {
    let mut bed = bed(Durability::Volatile, None);
    let outside = tempfile::NamedTempFile::new().expect("a file");
    fs::write(outside.path(), "precious").expect("a file");
    symlink(outside.path(), bed.inside().join("a0003")).expect("a link");
    fs::write(bed.inside().join("foreign"), "too").expect("a file");
    let played = bed.play(DecusTest::Test1.script(1, 0, &ORDER));
    assert_eq!(fails_with(&played), libc::EEXIST);
    let inside = bed.inside();
    drop(bed.driver);
    assert_eq!(fs::read(outside.path()).expect("a file"), b"precious");
    assert_eq!(fs::read(inside.join("foreign")).expect("a file"), b"too");
    let left = fs::read_dir(&inside).expect("a directory").count();
    assert_eq!(left, 2, "the files that this program made are gone");
}

#[test]
fn only_files_made_here_are_opened_renamed_or_removed() {
    let mut bed = bed(Durability::Volatile, None);
    let (file, to) = (FileName::new('x', 1), FileName::new('x', 2));
    fs::write(bed.inside().join("x0001"), "foreign").expect("a file");
    let purpose = OpenFor::Writing;
    for op in [
        FileOp::Open { file, purpose },
        FileOp::Rename { from: file, to },
        FileOp::Remove { file },
        FileOp::Read { bytes: 512 },
        FileOp::Write { bytes: 512 },
        FileOp::WriteNull { bytes: 512 },
        FileOp::Close,
        FileOp::Modify,
        FileOp::ReadDevice {
            offset: 0,
            bytes: 512,
        },
    ] {
        assert!(bed.driver.perform(&op).is_err(), "{op:?}");
    }
    let content = fs::read(bed.inside().join("x0001")).expect("a file");
    assert_eq!(content, b"foreign");
}

#[test]
fn a_device_is_read_and_never_written() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let bytes = vec![7; 40_000];
    file.as_file().write_all_at(&bytes, 0).expect("room");
    let mut bed = bed(Durability::Volatile, Some(file.path()));
    assert_eq!(bed.driver.device_bytes(), Some(40_000));
    let played = bed.whole(DecusTest::Test11.script(1, 40_000, &ORDER));
    assert_eq!((played.ops, played.bytes), (3, 40_000));
    bed.leaves_nothing();
    assert_eq!(fs::read(file.path()).expect("a file"), bytes);
}

#[test]
fn a_stopped_script_says_so() {
    let mut bed = bed(Durability::Volatile, None);
    let mut calls = 0;
    let script = DecusTest::Test1.script(1, 0, &ORDER);
    let played = play(&mut bed.driver, script, &mut || {
        calls += 1;
        calls > 10
    });
    assert_eq!((played.end, played.ops), (PlayEnd::Stopped, 10));
    bed.leaves_nothing();
}

/// What this run might have written: whoever removes it must see that.
fn sealed(len: usize) -> Vec<u8> {
    let mut bytes = vec![1; len];
    let payload = Payload {
        run: Seal::of_this_run().number(),
        ..Payload::default()
    };
    payload.stamp(&mut bytes, TargetId(0), 0);
    bytes
}

/// What a killed run leaves is found and removed, its trees too; with a foreign file in them, or
/// beside them, it stays. A file of a plain name was taken for one of ours, and removed.
#[test]
fn the_tree_of_a_dead_run_is_removed_unless_something_else_is_in_it() {
    let parent = tempfile::tempdir().expect("a directory");
    let work =
        WorkDirectory::create(parent.path(), &DirectoryOwner::default()).expect("a work directory");
    let path = work.path().to_owned();
    let tree = path.join("t00000000/t00000001");
    fs::create_dir_all(&tree).expect("directories");
    fs::write(tree.join("n0001"), sealed(600)).expect("a file");
    fs::write(path.join("t00000000/d0001"), sealed(512)).expect("a file");
    for made in [tree.join("n0001"), path.join("t00000000/d0001")] {
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(made, private).expect("permissions");
    }
    assert!(find_stale(parent.path()).expect("a list").is_empty());
    work.abandon();
    let beside = path.clone();
    for (place, name) in [
        (&tree, "with blank"),
        (&tree, "notes.txt"),
        (&tree, "d001"),
        (&tree, "D0001"),
        (&tree, "d0001"),
        (&beside, "main"),
    ] {
        let foreign = place.join(name);
        fs::write(&foreign, "precious").expect("a file");
        let mut found = find_stale(parent.path()).expect("a list");
        let stale = found.pop().expect("a stale directory");
        assert_eq!(stale.files, 3);
        let said = stale
            .remove()
            .expect_err("it holds a foreign file")
            .to_string();
        assert!(said.contains(name), "{said}");
        assert!(path.join("t00000000/d0001").exists(), "nothing is touched");
        assert_eq!(fs::read(&foreign).expect("a file"), b"precious");
        fs::remove_file(&foreign).expect("a file");
    }
    let mut found = find_stale(parent.path()).expect("a list");
    let stale = found.pop().expect("a stale directory");
    assert!(stale.bytes > 0 && stale.files == 2);
    stale.remove().expect("only files of ours");
    assert_eq!(fs::read_dir(parent.path()).expect("a list").count(), 0);
}
