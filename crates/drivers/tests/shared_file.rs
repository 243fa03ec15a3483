//! A file that all clients write: records find their places, every byte is known, and a file that
//! somebody puts in its place is not written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::{DirectoryOwner, FileSystemDriver, FileSystemOptions, WorkDirectory};
use engine::{PlayEnd, WRONG_DATA, play};
use sys::MonotonicClock;
use workload::{
    BandwidthPhase, BandwidthSpec, DirectoryUse, Errno, FileOp, FileScript, MetadataClient,
};

const SPEC: BandwidthSpec = BandwidthSpec {
    transfers: 7,
    transfer_bytes: 47_008,
    clients: 2,
    directories: DirectoryUse::Shared,
    in_a_row: 1,
    order: workload::TransferOrder::Ascending,
};

struct Clients {
    drivers: Vec<FileSystemDriver>,
    parent: tempfile::TempDir,
}

impl Clients {
    /// Two, with the file that they share.
    fn new() -> Self {
        let parent = tempfile::tempdir().expect("a directory");
        let work =
            WorkDirectory::create(parent.path(), &DirectoryOwner::default()).expect("a directory");
        let work = Arc::new(work);
        let options = FileSystemOptions {
            directories: DirectoryUse::Shared,
            ..FileSystemOptions::default()
        };
        let client = |number| {
            let clock = MonotonicClock::start();
            FileSystemDriver::new(Arc::clone(&work), number, None, clock, options)
        };
        let drivers = (0..2).map(|number| client(number).expect("a driver"));
        let mut all = Self {
            drivers: drivers.collect(),
            parent,
        };
        assert_eq!(all.play(0, SPEC.shared_file()), PlayEnd::Whole);
        all
    }

    fn play(&mut self, client: usize, script: FileScript) -> PlayEnd {
        play(&mut self.drivers[client], script, &mut || false).end
    }

    /// A phase of a client, which reads what the other one wrote.
    fn phase(&mut self, client: u32, phase: BandwidthPhase) -> PlayEnd {
        let number = client;
        let reads_of = 1 - client;
        let script = SPEC.script_of(phase, MetadataClient { number, reads_of }, 0..7);
        self.play(client as usize, script)
    }

    fn file(&self) -> PathBuf {
        let inside = |path: &Path| {
            let entries = fs::read_dir(path).expect("a directory");
            let mut paths = entries.map(|it| it.expect("an entry").path());
            paths.find(|it| it.is_dir()).expect("a directory inside")
        };
        inside(&inside(self.parent.path())).join("s0000")
    }
}

#[test]
fn each_reads_what_the_other_wrote_and_nothing_is_left() {
    let mut clients = Clients::new();
    for phase in BandwidthPhase::ALL {
        for client in 0..2 {
            assert_eq!(clients.phase(client, phase), PlayEnd::Whole, "{phase:?}");
        }
    }
    let length = fs::metadata(clients.file()).expect("the file").len();
    assert_eq!(length, 15 * 47_008);
    for client in 0..2 {
        let drop = || Box::new([FileOp::DropCaches].into_iter());
        assert_eq!(clients.play(client, drop()), PlayEnd::Whole);
    }
    assert_eq!(clients.phase(1, BandwidthPhase::Read), PlayEnd::Whole);
    clients.drivers.clear();
    let left = fs::read_dir(clients.parent.path()).expect("a directory");
    assert_eq!(left.count(), 0, "something is left");
}

#[test]
fn a_record_that_was_lost_is_seen() {
    let mut clients = Clients::new();
    assert_eq!(clients.phase(0, BandwidthPhase::Write), PlayEnd::Whole);
    // The other client's records are holes.
    let read = clients.phase(0, BandwidthPhase::Read);
    let is_wrong = matches!(
        read,
        PlayEnd::Failed {
            error: WRONG_DATA,
            ..
        }
    );
    assert!(is_wrong, "{read:?}");
}

#[test]
fn a_file_put_in_its_place_is_not_written() {
    let mut clients = Clients::new();
    let path = clients.file();
    let precious = vec![7; 100_000];
    fs::remove_file(&path).expect("removed");
    fs::write(&path, &precious).expect("another file");
    for phase in BandwidthPhase::ALL {
        let end = clients.phase(1, phase);
        let FileOp::OpenShared { .. } = (match end {
            PlayEnd::Failed {
                op,
                error: Errno(116),
            } => op,
            end => panic!("{phase:?}: {end:?}"),
        }) else {
            panic!("another call failed");
        };
    }
    assert!(fs::read(&path).expect("it is there") == precious);
    fs::remove_file(&path).expect("removed");
}
