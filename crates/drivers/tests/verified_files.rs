//! Files with headers: each way in which a file system can lose data is reported by class and path,
//! in files of one client, of another one and of all; honest ones are not accused.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::{DirectoryOwner, FileSystemDriver, FileSystemOptions, WorkDirectory};
use engine::{PlayEnd, play};
use sys::MonotonicClock;
use verify::{Class, FileFindings};
use workload::{
    BandwidthPhase, BandwidthSpec, DirectoryUse, FileOp, FileScript, MetadataClient, MetadataPhase,
    MetadataSpec,
};

const WRITE: u32 = 8192;
const WRITES: u32 = 6;

struct Clients {
    drivers: Vec<FileSystemDriver>,
    parent: tempfile::TempDir,
    spec: BandwidthSpec,
}

impl Clients {
    fn new(directories: DirectoryUse) -> Self {
        let parent = tempfile::tempdir().expect("a directory");
        let work =
            WorkDirectory::create(parent.path(), &DirectoryOwner::default()).expect("a directory");
        let work = Arc::new(work);
        let options = FileSystemOptions {
            directories,
            verify: true,
            ..FileSystemOptions::default()
        };
        let client = |number| {
            let clock = MonotonicClock::start();
            FileSystemDriver::new(Arc::clone(&work), number, None, clock, options)
        };
        let drivers = (0..2).map(|number| client(number).expect("a driver"));
        Self {
            drivers: drivers.collect(),
            parent,
            spec: BandwidthSpec {
                transfers: WRITES,
                transfer_bytes: WRITE,
                clients: 2,
                directories,
                in_a_row: 1,
                order: workload::TransferOrder::Ascending,
            },
        }
    }

    #[track_caller]
    fn play(&mut self, client: usize, script: FileScript) {
        let played = play(&mut self.drivers[client], script, &mut || false);
        assert_eq!(played.end, PlayEnd::Whole);
    }

    /// All files, written anew.
    fn write(&mut self) {
        for client in 0..2 {
            self.play(client, Box::new([FileOp::Initialise].into_iter()));
        }
        self.play(0, self.spec.shared_file());
        for client in 0..2 {
            let of = MetadataClient::alone(client);
            let script = self.spec.script_of(BandwidthPhase::Write, of, 0..WRITES);
            self.play(client as usize, script);
        }
    }

    /// What reading back finds; or what the other client finds when it reads the files.
    fn found(&mut self, by_other: bool) -> FileFindings {
        let mut all = FileFindings::default();
        for client in 0..2 {
            if by_other {
                let of = MetadataClient {
                    number: client,
                    reads_of: 1 - client,
                };
                let script = self.spec.script_of(BandwidthPhase::Read, of, 0..WRITES);
                self.play(client as usize, script);
            } else {
                let driver = &mut self.drivers[client as usize];
                driver.read_back(&mut || true).expect("read");
            }
            all.merge(&self.drivers[client as usize].take_findings());
        }
        all
    }

    /// The files of the clients, or the one of both.
    fn files(&self) -> Vec<PathBuf> {
        files_below(self.parent.path())
    }
}

fn files_below(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).expect("a directory");
    let mut paths: Vec<PathBuf> = entries
        .map(|it| it.expect("an entry").path())
        .flat_map(|it| match it.is_dir() {
            true => files_below(&it),
            false => vec![it],
        })
        .filter(|it| it.file_name().is_some_and(|name| name != "owner"))
        .collect();
    paths.sort_unstable();
    paths
}

/// What goes wrong with the write at byte 2 * WRITE of a file, given that write, the one of a
/// generation before, and the one behind it.
type Lie = fn(new: &[u8], old: &[u8], next: &[u8]) -> Vec<u8>;

const LIES: [(Class, Lie); 6] = [
    (Class::Lost, |new, _, _| vec![0; new.len()]),
    (Class::Lost, |new, _, _| vec![0x5a; new.len()]),
    (Class::Stale, |_, old, _| old.to_vec()),
    (Class::Misplaced, |_, _, next| next.to_vec()),
    (Class::Torn, |new, old, _| {
        [&new[..4096], &old[4096..]].concat()
    }),
    (Class::Flipped, |new, _, _| {
        let mut bytes = new.to_vec();
        bytes[5000] ^= 4;
        bytes
    }),
];

#[test]
fn every_lie_is_told_by_class_place_and_path() {
    for directories in [DirectoryUse::Own, DirectoryUse::Shared] {
        for by_other in [false, true] {
            for (class, lie) in LIES {
                let mut clients = Clients::new(directories);
                clients.write();
                let (place, len) = (2 * u64::from(WRITE), WRITE as usize);
                let at = |path: &Path, place| {
                    let mut bytes = vec![0; len];
                    let file = fs::File::open(path).expect("a file");
                    file.read_exact_at(&mut bytes, place).expect("bytes");
                    bytes
                };
                let path = clients.files()[0].clone();
                let old = at(&path, place);
                clients.write();
                let lied = lie(
                    &at(&path, place),
                    &old,
                    &at(&path, place + u64::from(WRITE)),
                );
                let file = fs::OpenOptions::new().write(true).open(&path);
                file.expect("a file")
                    .write_all_at(&lied, place)
                    .expect("written");
                let found = clients.found(by_other);
                let told: Vec<String> = found.sentences().collect();
                let what = format!("{directories:?}, {by_other}, {class:?}: {told:?}");
                assert_eq!(found.counts().total(), 1, "{what}");
                assert_eq!(found.counts().count(class), 1, "{what}");
                assert!(
                    told[0].starts_with(&format!("{}: ", path.display())),
                    "{what}"
                );
                let offset = found.counts().first()[0].offset;
                assert!(
                    (place..place + u64::from(WRITE)).contains(&offset),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn honest_files_are_read_back_whole_and_once() {
    for directories in [DirectoryUse::Own, DirectoryUse::Shared] {
        let mut clients = Clients::new(directories);
        for _ in 0..3 {
            clients.write();
            let records = match directories {
                DirectoryUse::Own => 2 * WRITES,
                // With that of its maker.
                DirectoryUse::Shared => 2 * WRITES + 1,
            };
            let bytes = u64::from(records) * u64::from(WRITE);
            let found = clients.found(false);
            assert_eq!((found.counts().total(), found.bytes()), (0, bytes));
            assert_eq!(
                clients.found(false),
                FileFindings::default(),
                "nothing is new"
            );
            assert_eq!(clients.found(true).counts().total(), 0);
        }
        clients.drivers.clear();
        assert_eq!(clients.files(), Vec::<PathBuf>::new());
    }
}

/// A file that is shorter than what was written has lost its end.
#[test]
fn an_end_that_is_missing_was_lost() {
    let mut clients = Clients::new(DirectoryUse::Own);
    clients.write();
    let path = clients.files()[0].clone();
    let len = fs::metadata(&path).expect("a file").len();
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("a file");
    file.set_len(len - u64::from(WRITE)).expect("cut");
    let found = clients.found(false);
    assert_eq!(found.counts().count(Class::Lost), 1, "{found:?}");
}

/// Renamed files keep the headers that they were written with.
#[test]
fn small_files_in_a_tree_are_known_by_the_names_of_their_making() {
    let mut clients = Clients::new(DirectoryUse::Own);
    let spec = MetadataSpec {
        files: 30,
        depth: 1,
        fan_out: 3,
        file_bytes: 1024,
        directories: DirectoryUse::Own,
        is_renamed: true,
    };
    let phases = MetadataPhase::ALL.into_iter().take(6);
    for phase in phases {
        clients.play(0, spec.script_of(phase, MetadataClient::alone(0), 0..30));
    }
    let paths = clients.files();
    let (one, other) = (&paths[3], &paths[4]);
    let bytes = fs::read(one).expect("a file");
    fs::write(other, bytes).expect("a file");
    let driver = &mut clients.drivers[0];
    let before = driver.take_findings();
    assert_eq!((before.counts().total(), before.bytes()), (0, 30 * 1024));
    driver.read_back(&mut || true).expect("read");
    let found = driver.take_findings();
    let told: Vec<String> = found.sentences().collect();
    assert_eq!(found.counts().count(Class::Misplaced), 1, "{told:?}");
    assert!(
        told[0].starts_with(&format!("{}: ", other.display())),
        "{told:?}"
    );
}
