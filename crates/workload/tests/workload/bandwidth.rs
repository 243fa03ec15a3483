//! IOR's patterns: which bytes of which file each client writes, and who reads them.

use std::collections::BTreeMap;

use workload::{
    BandwidthPhase, BandwidthSpec, DirectoryUse, FileName, FileOp, MetadataClient, OpenFor,
};

const HARD: BandwidthSpec = BandwidthSpec {
    transfers: 5,
    transfer_bytes: 47_008,
    clients: 3,
    directories: DirectoryUse::Shared,
    in_a_row: 1,
    order: workload::TransferOrder::Ascending,
};
const EASY: BandwidthSpec = BandwidthSpec {
    transfer_bytes: 2 << 20,
    directories: DirectoryUse::Own,
    in_a_row: 1,
    order: workload::TransferOrder::Ascending,
    ..HARD
};

fn client(number: u32) -> MetadataClient {
    MetadataClient {
        number,
        reads_of: (number + 1) % 3,
    }
}

fn ops(spec: &BandwidthSpec, phase: BandwidthPhase, number: u32) -> Vec<FileOp> {
    spec.script_of(phase, client(number), 0..spec.transfers)
        .collect()
}

/// Places of the shared file that a client's calls reach.
fn places(phase: BandwidthPhase, number: u32) -> Vec<u64> {
    let mut at = None;
    let mut places = Vec::new();
    for op in ops(&HARD, phase, number) {
        match op {
            FileOp::Seek { at: to } => at = Some(to),
            FileOp::Write { bytes } | FileOp::Read { bytes } => {
                assert_eq!(bytes, 47_008);
                places.push(at.take().expect("a place for each"));
            }
            FileOp::OpenShared { file, purpose } => {
                let is_write = phase == BandwidthPhase::Write;
                assert_eq!(purpose == OpenFor::Writing, is_write);
                assert_eq!(file, FileName::new('s', 0));
            }
            op => assert_eq!(op, FileOp::Close),
        }
    }
    places
}

/// Records of all clients take turns, fill the file behind its maker's record without a gap, and
/// each is read by another client.
#[test]
fn records_of_the_hard_pattern_take_turns_in_one_file() {
    let mut writer: BTreeMap<u64, u32> = BTreeMap::new();
    for number in 0..3 {
        for place in places(BandwidthPhase::Write, number) {
            assert_eq!(writer.insert(place, number), None);
        }
    }
    let expected: Vec<(u64, u32)> = (1..=15).map(|n| (n * 47_008, (n as u32 - 1) % 3)).collect();
    assert_eq!(writer.into_iter().collect::<Vec<_>>(), expected);
    for number in 0..3 {
        let read = places(BandwidthPhase::Read, number);
        assert_eq!(read, places(BandwidthPhase::Write, (number + 1) % 3));
    }
    let made: Vec<FileOp> = HARD.shared_file().collect();
    assert_eq!(made.iter().map(FileOp::bytes).sum::<u64>(), 47_008);
    assert_eq!(EASY.shared_file().count(), 0);
}

#[test]
fn files_of_the_easy_pattern_are_each_clients_own() {
    for number in 0..3 {
        let maker = (number + 1) % 3;
        let written = ops(&EASY, BandwidthPhase::Write, number);
        let create = FileOp::Create {
            file: FileName::new('b', number),
            bytes: 10 << 20,
        };
        assert_eq!(written[0], create);
        let read = ops(&EASY, BandwidthPhase::Read, number);
        let learn = FileOp::Learn {
            maker,
            file: FileName::new('b', maker),
            bytes: 10 << 20,
        };
        assert_eq!(read[0], learn);
        for calls in [written, read] {
            assert_eq!(calls.iter().map(FileOp::bytes).sum::<u64>(), 10 << 20);
            assert!(calls.iter().all(|op| !matches!(op, FileOp::Seek { .. })));
        }
    }
}
