//! The phases of the metadata workload make, use and remove one tree.

use std::collections::{BTreeMap, BTreeSet};

use workload::{
    DirectoryNumber, DirectoryUse, FileName, FileOp, MetadataClient, MetadataPhase, MetadataSpec,
};

#[track_caller]
fn check(spec: MetadataSpec, directories: u32, bottom: u32) {
    assert_eq!(spec.directories(), Some(directories));
    assert_eq!(spec.items(MetadataPhase::List), bottom);
    let mut tree = BTreeSet::from([DirectoryNumber::ROOT]);
    let mut files: BTreeMap<FileName, bool> = BTreeMap::new();
    let mut listed = 0;
    for phase in MetadataPhase::ALL {
        let mut items = 0;
        for op in spec.script(phase, MetadataClient::alone(0)) {
            match op {
                FileOp::MakeDirectory { directory, parent } => {
                    assert!(tree.contains(&parent) && tree.insert(directory));
                    items += 1;
                }
                FileOp::RemoveDirectory { directory } => {
                    assert!(files.keys().all(|file| file.directory != directory));
                    assert!(tree.remove(&directory));
                    items += 1;
                }
                FileOp::Create { file, .. } => {
                    assert!(tree.contains(&file.directory));
                    assert!(files.insert(file, true).is_none());
                }
                FileOp::Rename { from, to } => {
                    assert_eq!(from.directory, to.directory);
                    assert!(files.remove(&from).is_some());
                    assert!(files.insert(to, true).is_none());
                    items += 1;
                }
                FileOp::Stat { file } | FileOp::Open { file, .. } => {
                    assert!(files.contains_key(&file));
                    items += u32::from(matches!(op, FileOp::Stat { .. }));
                }
                FileOp::Remove { file } => {
                    assert!(files.remove(&file).is_some());
                    items += 1;
                }
                FileOp::List { directory } => {
                    let held = files.keys().filter(|file| file.directory == directory);
                    listed += held.count();
                    items += 1;
                }
                FileOp::Close => items += 1,
                _ => {}
            }
        }
        assert_eq!(items, spec.items(phase), "{phase:?}");
        if phase == MetadataPhase::Create {
            assert_eq!(files.len(), spec.files as usize);
        }
    }
    assert_eq!(
        listed, spec.files as usize,
        "each file is in a listed directory"
    );
    assert_eq!((tree.len(), files.len()), (1, 0), "nothing is left");
}

#[test]
fn a_tree_is_made_used_and_removed() {
    let spec = MetadataSpec::in_own_trees;
    check(spec(1_000, 2, 10), 110, 100);
    check(spec(17, 3, 2), 14, 8);
    check(spec(5, 0, 10), 0, 1);
    check(spec(5, 4, 1), 4, 1);
}

#[test]
fn a_tree_of_too_many_directories_has_no_number() {
    let spec = MetadataSpec::in_own_trees(1, 20, 10);
    assert_eq!(spec.directories(), None);
}

/// Files of a client, as its script makes them or asks for them.
fn names(spec: &MetadataSpec, phase: MetadataPhase, client: MetadataClient) -> Vec<FileName> {
    let ops = spec.script(phase, client);
    let names = ops.filter_map(|op| match op {
        FileOp::Create { file, .. } | FileOp::Stat { file } | FileOp::Remove { file } => Some(file),
        _ => None,
    });
    names.collect()
}

/// In one directory no two clients make the same name, and each asks for what another has made.
#[test]
fn clients_of_one_directory_have_names_of_their_own() {
    let spec = MetadataSpec {
        file_bytes: 3901,
        directories: DirectoryUse::Shared,
        ..MetadataSpec::in_own_trees(50, 0, 10)
    };
    let client = |number| MetadataClient {
        number,
        reads_of: (number + 1) % 3,
    };
    let made: Vec<Vec<FileName>> = (0..3)
        .map(|number| names(&spec, MetadataPhase::Create, client(number)))
        .collect();
    let all: BTreeSet<&FileName> = made.iter().flatten().collect();
    assert_eq!(all.len(), 150);
    for number in 0..3 {
        let asked = names(&spec, MetadataPhase::Stat, client(number));
        assert_eq!(asked, made[(number as usize + 1) % 3]);
        let learned = spec.script(MetadataPhase::Stat, client(number));
        let learned = learned.filter(|op| matches!(op, FileOp::Learn { bytes: 3901, .. }));
        assert_eq!(learned.count(), 50);
    }
    let alone = spec.script(MetadataPhase::Read, MetadataClient::alone(1));
    let read: u64 = alone.map(|op| op.bytes()).sum();
    assert_eq!(read, 50 * 3901);
}

#[test]
fn large_files_are_written_and_read_in_parts_and_empty_ones_are_not_read() {
    let sized = |file_bytes| MetadataSpec {
        file_bytes,
        ..MetadataSpec::in_own_trees(2, 0, 10)
    };
    let parts = |file_bytes: u32, phase| -> Vec<u64> {
        let ops = sized(file_bytes).script(phase, MetadataClient::alone(0));
        ops.map(|op| op.bytes())
            .filter(|bytes| *bytes > 0)
            .collect()
    };
    let whole = [65_536, 65_536, 1, 65_536, 65_536, 1];
    assert_eq!(parts(131_073, MetadataPhase::Create), whole);
    assert_eq!(parts(131_073, MetadataPhase::Read), whole);
    assert!(parts(0, MetadataPhase::Create).is_empty());
    assert_eq!(sized(0).items(MetadataPhase::Read), 0);
    assert_eq!(sized(1).items(MetadataPhase::Read), 2);
}
