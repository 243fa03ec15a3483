//! The scripts of the DECUS tests do what the paper says: counts, sizes, bytes and order.

use std::collections::{BTreeMap, BTreeSet};

use workload::{
    DecusOrder, DecusTest, FileName, FileOp, FileOpKind, FileScript, OpenFor, Spacing,
    device_bytes_read, stand_in_for_device,
};

const ORDER: DecusOrder = DecusOrder {
    seed: 7,
    client: 0,
    round: 0,
};
const DISK_BYTES: u64 = 1 << 30;

/// A disk in miniature: which files there are and how long. It checks every call's sense.
#[derive(Default)]
struct Disk {
    files: BTreeMap<FileName, u64>,
    /// In the order of their making: where they would lie.
    made: Vec<FileName>,
    open: Option<Open>,
    counts: BTreeMap<FileOpKind, u64>,
    read: u64,
    written: u64,
    to_null: u64,
}

enum Open {
    Null,
    New(FileName, u64),
    File(FileName, OpenFor, u64),
}

impl Disk {
    fn play(&mut self, script: FileScript) -> &mut Self {
        (self.read, self.written, self.to_null) = (0, 0, 0);
        self.counts.clear();
        for op in script {
            *self.counts.entry(op.kind()).or_default() += 1;
            self.perform(op);
        }
        assert!(self.open.is_none(), "a file is left open");
        self
    }

    fn perform(&mut self, op: FileOp) {
        match (op, &mut self.open) {
            (FileOp::Create { file, bytes }, None) => {
                assert!(!self.files.contains_key(&file), "{file} is there already");
                self.files.insert(file, bytes);
                self.made.push(file);
                self.open = Some(Open::New(file, 0));
            }
            (FileOp::Open { file, purpose }, None) => {
                assert!(self.files.contains_key(&file), "{file} is not there");
                self.open = Some(Open::File(file, purpose, 0));
            }
            (FileOp::OpenNull, None) => self.open = Some(Open::Null),
            (FileOp::Read { bytes }, Some(Open::File(_, OpenFor::Reading, at))) => {
                *at += u64::from(bytes);
                self.read += u64::from(bytes);
            }
            (
                FileOp::Write { bytes },
                Some(Open::New(_, at) | Open::File(_, OpenFor::Writing, at)),
            ) => {
                *at += u64::from(bytes);
                self.written += u64::from(bytes);
            }
            (FileOp::WriteNull { bytes }, Some(Open::Null)) => self.to_null += u64::from(bytes),
            (FileOp::Close, Some(open)) => {
                if let Open::New(file, at) | Open::File(file, _, at) = open {
                    assert_eq!(self.files[file], *at, "{file} is read or written whole");
                }
                self.open = None;
            }
            (FileOp::Remove { file }, None) => {
                self.files.remove(&file).expect("the file is there");
                self.made.retain(|it| *it != file);
            }
            (FileOp::Rename { from, to }, None) => {
                let bytes = self.files.remove(&from).expect("the file is there");
                assert!(self.files.insert(to, bytes).is_none(), "{to} is free");
                let place = self.made.iter().position(|it| *it == from);
                self.made[place.expect("it was made")] = to;
            }
            (FileOp::ReadDevice { bytes, .. }, None) => self.read += u64::from(bytes),
            (FileOp::Modify | FileOp::Squeeze, None) => {}
            (op, _) => panic!("{op:?} makes no sense here"),
        }
    }

    fn count(&self, kind: FileOpKind) -> u64 {
        self.counts.get(&kind).copied().unwrap_or(0)
    }
}

fn run(disk: &mut Disk, test: DecusTest) -> &Disk {
    disk.play(test.script(1, DISK_BYTES, &ORDER))
}

/// Files opened or created, bytes read, written, and written to the null device.
#[track_caller]
fn check(test: DecusTest, opened: [u64; 2], bytes: [u64; 3]) {
    let mut disk = Disk::default();
    if let Some(needed) = test.needs() {
        run(&mut disk, needed);
    }
    let disk = run(&mut disk, test);
    let found = [disk.count(FileOpKind::Create), disk.count(FileOpKind::Open)];
    assert_eq!(found, opened, "TEST{}: creates, opens", test.number());
    let found = [disk.read, disk.written, disk.to_null];
    assert_eq!(found, bytes, "TEST{}: bytes", test.number());
    assert_eq!(u64::from(test.files(1)), opened[0].max(disk_files(test)));
}

fn disk_files(test: DecusTest) -> u64 {
    match test.needs() {
        Some(needed) => u64::from(needed.files(1)),
        None if test == DecusTest::Test11 => 1,
        None => 0,
    }
}

#[test]
fn counts_and_bytes_are_the_papers() {
    // "Actual data written was 76,800 bytes", and so on, in the paper's order.
    check(DecusTest::Test1, [150, 0], [0, 76_800, 0]);
    check(DecusTest::Test2, [1, 0], [0, 76_800, 0]);
    check(DecusTest::Test3, [300, 0], [0, 153_600, 0]);
    check(DecusTest::Test4, [0, 600], [153_600, 153_600, 0]);
    check(DecusTest::Test4A, [0, 600], [153_600, 0, 153_600]);
    check(DecusTest::Test4B, [0, 300], [153_600, 0, 0]);
    check(DecusTest::Test5, [0, 600], [153_600, 0, 153_600]);
    check(DecusTest::Test5A, [0, 300], [153_600, 0, 0]);
    check(DecusTest::Test6, [1, 0], [0, 153_600, 0]);
    check(DecusTest::Test7, [0, 2], [153_600, 0, 153_600]);
    check(DecusTest::Test8, [1, 0], [0, 409_600, 0]);
    check(DecusTest::Test9, [0, 1], [409_600, 0, 0]);
    check(DecusTest::Test10, [1_000, 0], [0, 2_560_000, 0]);
    check(DecusTest::Test11, [0, 0], [16_384_000, 0, 0]);
}

#[test]
fn a_scale_multiplies_the_counts() {
    for test in DecusTest::ALL {
        let bytes = |scale: u32| -> u64 {
            let script = test.script(scale, DISK_BYTES, &ORDER);
            script.map(|op| op.bytes()).sum()
        };
        let times = if test == DecusTest::Test11 { 1 } else { 100 };
        assert_eq!(bytes(100), times * bytes(1), "TEST{}", test.number());
    }
    assert_eq!(DecusTest::Test3.files(100), 30_000);
}

fn opened(script: FileScript) -> Vec<FileName> {
    let names = script.filter_map(|op| match op {
        FileOp::Open {
            file,
            purpose: OpenFor::Reading,
        } => Some(file),
        _ => None,
    });
    names.collect()
}

#[test]
fn random_order_takes_every_file_once_and_differs_between_rounds() {
    let order = |order: &DecusOrder| opened(DecusTest::Test4.script(1, 0, order));
    let first = order(&ORDER);
    assert_eq!(first, order(&ORDER), "the same seed, the same order");
    let next = order(&DecusOrder { round: 1, ..ORDER });
    let other = order(&DecusOrder { client: 1, ..ORDER });
    assert!(first != next && first != other && next != other);
    let sequence = opened(DecusTest::Test5A.script(1, 0, &ORDER));
    assert!(sequence.is_sorted() && !first.is_sorted());
    for found in [first, next, other] {
        let all: BTreeSet<FileName> = found.iter().copied().collect();
        assert_eq!(
            (found.len(), all),
            (300, sequence.iter().copied().collect())
        );
    }
}

#[test]
fn test_4_rewrites_what_it_read_and_changed() {
    let calls: Vec<FileOp> = DecusTest::Test4.script(1, 0, &ORDER).take(7).collect();
    let FileOp::Open { file, .. } = calls[0] else {
        panic!("{calls:?}");
    };
    let open = |purpose| FileOp::Open { file, purpose };
    let expected = [
        open(OpenFor::Reading),
        FileOp::Read { bytes: 512 },
        FileOp::Close,
        FileOp::Modify,
        open(OpenFor::Writing),
        FileOp::Write { bytes: 512 },
        FileOp::Close,
    ];
    assert_eq!(calls, expected);
}

#[test]
fn spacers_lie_in_the_midst_of_the_300() {
    let mut disk = Disk::default();
    run(&mut disk, DecusTest::Test3);
    for (spacing, blocks) in [(Spacing::Space2, 2_000), (Spacing::Space8, 8_000)] {
        disk.play(spacing.script(1));
        assert_eq!(disk.count(FileOpKind::Squeeze), 1);
        assert_eq!(disk.files.len(), 302, "{}", spacing.name());
        let long: Vec<(usize, u64)> = disk
            .made
            .iter()
            .enumerate()
            .map(|(place, file)| (place, disk.files[file]))
            .filter(|(_, bytes)| *bytes != 512)
            .collect();
        assert_eq!(long, [(100, blocks * 512), (201, blocks * 512)]);
        assert_eq!(spacing.bytes(1), 2 * blocks * 512);
        let data = disk.made.iter().filter(|file| disk.files[file] == 512);
        assert!(data.is_sorted(), "the data files keep their order");
        // And tests 4 to 5A run on them.
        for test in DecusTest::ALL.into_iter().filter(|it| it.is_spaced()) {
            run(&mut disk, test);
        }
    }
    assert_eq!(Spacing::None.script(1).count(), 0);
}

#[test]
fn test_11_reads_a_small_device_whole_and_a_large_one_in_part() {
    #[track_caller]
    fn check(device: u64, reads: usize, last: u32) {
        let script = DecusTest::Test11.script(1, device, &ORDER);
        let calls: Vec<FileOp> = script.collect();
        assert_eq!(calls.len(), reads, "{device} bytes");
        let mut at = 0;
        for call in &calls {
            let FileOp::ReadDevice { offset, bytes } = *call else {
                panic!("{call:?}");
            };
            assert_eq!(offset, at);
            at += u64::from(bytes);
        }
        assert_eq!(at, device_bytes_read(device));
        let found = calls.last().map_or(0, |call| call.bytes() as u32);
        assert_eq!(found, last, "{device} bytes");
    }
    check(0, 0, 0);
    check(512, 1, 512);
    check(16_384, 1, 16_384);
    check(16_384 + 512, 2, 512);
    check(32_000 * 512, 1_000, 16_384);
    check(u64::MAX, 1_000, 16_384);
}

#[test]
fn without_a_device_a_file_of_32000_blocks_stands_in() {
    let mut disk = Disk::default();
    let (made, read) = stand_in_for_device(16_384);
    assert_eq!(disk.play(made).written, 16_384_000);
    let disk = disk.play(read);
    assert_eq!(
        (disk.read, disk.count(FileOpKind::Read)),
        (16_384_000, 1_000)
    );
}

#[test]
fn numbers_are_read_as_they_are_printed() {
    for test in DecusTest::ALL {
        assert_eq!(DecusTest::parse(test.number()), Some(test));
    }
    assert_eq!(DecusTest::parse("5a"), Some(DecusTest::Test5A));
    assert_eq!(DecusTest::parse("12"), None);
    assert_eq!(FileName::new('d', 1).to_string(), "d0001");
}
