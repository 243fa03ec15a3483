//! The phases of the metadata workload make, use and remove one tree.

use std::collections::{BTreeMap, BTreeSet};

use workload::{DirectoryNumber, FileName, FileOp, MetadataPhase, MetadataSpec};

#[track_caller]
fn check(spec: MetadataSpec, directories: u32, bottom: u32) {
    assert_eq!(spec.directories(), Some(directories));
    assert_eq!(spec.items(MetadataPhase::List), bottom);
    let mut tree = BTreeSet::from([DirectoryNumber::ROOT]);
    let mut files: BTreeMap<FileName, bool> = BTreeMap::new();
    let mut listed = 0;
    for phase in MetadataPhase::ALL {
        let mut items = 0;
        for op in spec.script(phase) {
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
    let spec = |files, depth, fan_out| MetadataSpec {
        files,
        depth,
        fan_out,
    };
    check(spec(1_000, 2, 10), 110, 100);
    check(spec(17, 3, 2), 14, 8);
    check(spec(5, 0, 10), 0, 1);
    check(spec(5, 4, 1), 4, 1);
}

#[test]
fn a_tree_of_too_many_directories_has_no_number() {
    let spec = MetadataSpec {
        files: 1,
        depth: 20,
        fan_out: 10,
    };
    assert_eq!(spec.directories(), None);
}
