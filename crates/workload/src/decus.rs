//! The test programs of "Real World Disk Comparisons" (DECUS, Fall 1987): TEST1 to TEST11 with 4A,
//! 4B and 5A, and the command files SPACE2 and SPACE8.
//!
//! Counts and sizes are the paper's. Where it is not specific: files are read and written a block
//! at a time, as by the run-time library of its language; the pseudo-random order is a permutation;
//! the files of one test do not exist while an unrelated one runs.

use random::{Permutation, Purpose, Stream};

use crate::file_op::{BLOCK_BYTES, FileName, FileOp, FileScript, OpenFor};

/// Maximum number of blocks read by TEST11.
pub const DEVICE_BLOCKS_MAX: u64 = 32_000;
/// Size of a TEST11 read, bytes.
pub const CHUNK_BYTES: u32 = 16_384;
/// One-block files left by TEST3 for tests 4 to 5A.
const DATA_FILES: u32 = 300;
/// Spacing files are written in pieces of this size, since they are not measured.
const SPACER_PIECE: u32 = 65_536;

/// The series of each test's files.
const SEEK: char = 'a';
const MEDIUM: char = 'b';
const DATA: char = 'd';
const COPY: char = 'c';
const SPACER_2: char = 's';
const SPACER_8: char = 't';
const LARGE: char = 'f';
const LONG: char = 'h';
const MANY: char = 'm';
const WHOLE: char = 'w';

units::words! {
    /// A test program.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum DecusTest {
        /// 150 one-block files are made.
        Test1 = "1": "make 150 one-block files",
        /// One 150-block file is made.
        Test2 = "2": "make one 150-block file",
        /// 300 one-block files are made, for tests 4 to 5A.
        Test3 = "3": "make 300 one-block files",
        /// Each of them is read, modified and rewritten, in pseudo-random order.
        Test4 = "4": "read, modify, rewrite at random",
        /// The same, but what is written goes to the null device.
        Test4A = "4A": "read at random, write to null",
        /// Each of them is read, in pseudo-random order.
        Test4B = "4B": "read at random",
        /// Each of them is read and written to the null device, in sequence.
        Test5 = "5": "read in sequence, write to null",
        /// Each of them is read, in sequence.
        Test5A = "5A": "read in sequence",
        /// One 300-block file is made, for test 7.
        Test6 = "6": "make one 300-block file",
        /// It is read, then written to the null device.
        Test7 = "7": "read it, write to null",
        /// One 800-block file is made, for test 9.
        Test8 = "8": "make one 800-block file",
        /// It is read.
        Test9 = "9": "read it",
        /// 1000 five-block files are made.
        Test10 = "10": "make 1000 five-block files",
        /// The device is read in sequence, 32000 blocks at most.
        Test11 = "11": "read the device in sequence",
    }
}

units::words! {
    /// Files between the 300 files of tests 4 to 5A.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Spacing {
        /// None: as TEST3 left them.
        #[default]
        None = "",
        /// Two 2000-block files, created by SPACE2.
        Space2 = "SPACE2",
        /// Two 8000-block files, with which SPACE8 replaces those of SPACE2.
        Space8 = "SPACE8",
    }
}

impl Spacing {
    /// Blocks of each of the two files, and their series.
    const fn spacers(self) -> Option<(u32, char)> {
        match self {
            Self::None => None,
            Self::Space2 => Some((2_000, SPACER_2)),
            Self::Space8 => Some((8_000, SPACER_8)),
        }
    }

    /// Bytes of both files.
    pub fn bytes(self, scale: u32) -> u64 {
        self.spacers().map_or(0, |(blocks, _)| {
            2 * u64::from(blocks) * u64::from(scale) * u64::from(BLOCK_BYTES)
        })
    }

    /// Converts the files of TEST3, or the previous spacing, into this one: a third of the data
    /// files, a large one, a third, a large one, the last third.
    ///
    /// Files after a spacing file are created again behind it, then the old ones are removed, the
    /// new ones renamed, and the disk is squeezed. Contents are irrelevant here, but a driver keeps
    /// track of them.
    pub fn script(self, scale: u32) -> FileScript {
        let Some((blocks, series)) = self.spacers() else {
            return Box::new(std::iter::empty());
        };
        let count = DATA_FILES * scale;
        let thirds = [count / 3 + 1..=count / 3 * 2, count / 3 * 2 + 1..=count];
        let moved = count / 3 + 1..=count;
        let (old, old_series) = match self {
            Self::Space8 => (2, SPACER_2),
            _ => (0, SPACER_2),
        };
        let made = (1_u32..).zip(thirds).flat_map(move |(number, third)| {
            let spacer = FileName::new(series, number);
            make_in_pieces(spacer, blocks * scale, SPACER_PIECE)
                .chain(third.flat_map(|n| make(FileName::new(COPY, n), 1)))
        });
        let gone = (1..=old).map(move |n| FileName::new(old_series, n));
        let gone = gone.chain(moved.clone().map(|n| FileName::new(DATA, n)));
        let renamed = moved.map(|n| FileOp::Rename {
            from: FileName::new(COPY, n),
            to: FileName::new(DATA, n),
        });
        Box::new(
            made.chain(gone.map(|file| FileOp::Remove { file }))
                .chain(renamed)
                .chain([FileOp::Squeeze]),
        )
    }
}

/// Tests that share files, and therefore run one after the other on the same disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecusGroup {
    /// TEST1.
    Seeks,
    /// TEST2.
    Medium,
    /// TEST3 to TEST5A.
    Data,
    /// TEST6 and TEST7.
    Large,
    /// TEST8 and TEST9.
    Long,
    /// TEST10.
    Many,
    /// TEST11.
    Device,
}

impl DecusTest {
    /// Its number, such as `4A`.
    pub const fn number(self) -> &'static str {
        self.name()
    }

    /// The test with that number, in upper or lower case.
    pub fn parse(number: &str) -> Option<Self> {
        let is_it = |test: &Self| test.number().eq_ignore_ascii_case(number);
        Self::ALL.into_iter().find(is_it)
    }

    /// The group of tests with which it shares files.
    pub const fn group(self) -> DecusGroup {
        match self {
            Self::Test1 => DecusGroup::Seeks,
            Self::Test2 => DecusGroup::Medium,
            Self::Test3
            | Self::Test4
            | Self::Test4A
            | Self::Test4B
            | Self::Test5
            | Self::Test5A => DecusGroup::Data,
            Self::Test6 | Self::Test7 => DecusGroup::Large,
            Self::Test8 | Self::Test9 => DecusGroup::Long,
            Self::Test10 => DecusGroup::Many,
            Self::Test11 => DecusGroup::Device,
        }
    }

    /// The test that creates the files it reads.
    #[must_use]
    pub const fn needs(self) -> Option<Self> {
        match self {
            Self::Test4 | Self::Test4A | Self::Test4B | Self::Test5 | Self::Test5A => {
                Some(Self::Test3)
            }
            Self::Test7 => Some(Self::Test6),
            Self::Test9 => Some(Self::Test8),
            _ => None,
        }
    }

    /// Whether it is repeated after SPACE2 and SPACE8.
    pub fn is_spaced(self) -> bool {
        self.needs() == Some(Self::Test3)
    }

    /// Number of files.
    pub const fn files(self, scale: u32) -> u32 {
        match self {
            Self::Test1 => 150 * scale,
            Self::Test2 | Self::Test6 | Self::Test7 | Self::Test8 | Self::Test9 | Self::Test11 => 1,
            Self::Test3
            | Self::Test4
            | Self::Test4A
            | Self::Test4B
            | Self::Test5
            | Self::Test5A => DATA_FILES * scale,
            Self::Test10 => 1_000 * scale,
        }
    }

    /// Its calls. `client` and `round` vary the pseudo-random order. TEST11 reads a device of
    /// `device_bytes`.
    ///
    /// # Panics
    /// If `scale` is zero.
    pub fn script(self, scale: u32, device_bytes: u64, order: &DecusOrder) -> FileScript {
        assert!(scale > 0, "a scale of zero leaves nothing to do");
        let files = self.files(scale);
        let in_sequence = (1..=files).map(|n| FileName::new(DATA, n));
        match self {
            Self::Test1 => Box::new((1..=files).flat_map(|n| make(FileName::new(SEEK, n), 1))),
            Self::Test2 => Box::new(make(FileName::new(MEDIUM, 1), 150 * scale)),
            Self::Test3 => Box::new(in_sequence.flat_map(|file| make(file, 1))),
            Self::Test4 => Box::new(order.of(files).flat_map(|file| {
                read(file, 1)
                    .chain([FileOp::Modify])
                    .chain(rewrite(file, 1))
            })),
            Self::Test4A => Box::new(
                order
                    .of(files)
                    .flat_map(|file| read(file, 1).chain([FileOp::Modify]).chain(write_null(1))),
            ),
            Self::Test4B => Box::new(order.of(files).flat_map(|file| read(file, 1))),
            Self::Test5 => {
                Box::new(in_sequence.flat_map(|file| read(file, 1).chain(write_null(1))))
            }
            Self::Test5A => Box::new(in_sequence.flat_map(|file| read(file, 1))),
            Self::Test6 => Box::new(make(FileName::new(LARGE, 1), 300 * scale)),
            Self::Test7 => {
                Box::new(read(FileName::new(LARGE, 1), 300 * scale).chain(write_null(300 * scale)))
            }
            Self::Test8 => Box::new(make(FileName::new(LONG, 1), 800 * scale)),
            Self::Test9 => Box::new(read(FileName::new(LONG, 1), 800 * scale)),
            Self::Test10 => Box::new((1..=files).flat_map(|n| make(FileName::new(MANY, n), 5))),
            Self::Test11 => read_device(device_bytes, CHUNK_BYTES),
        }
    }
}

/// The pseudo-random order of tests 4, 4A and 4B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecusOrder {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the client.
    pub client: u32,
    /// Number of the repeat.
    pub round: u32,
}

impl DecusOrder {
    /// Every data file once.
    fn of(&self, files: u32) -> impl Iterator<Item = FileName> + Send + use<> {
        let who = u64::from(self.client) << 32 | u64::from(self.round);
        let mut stream = Stream::new(self.seed, who, Purpose::Order);
        let order = Permutation::new(u64::from(files), &mut stream).expect("a test has files");
        (0..files).map(move |index| {
            let image = order.apply(u64::from(index));
            FileName::new(DATA, image as u32 + 1)
        })
    }
}

/// Bytes of a device read by TEST11.
pub fn device_bytes_read(device_bytes: u64) -> u64 {
    device_bytes.min(DEVICE_BLOCKS_MAX * u64::from(BLOCK_BYTES))
}

/// TEST11 with a buffer of `chunk` bytes; the paper has [`CHUNK_BYTES`].
///
/// # Panics
/// If `chunk` is zero.
pub fn read_device(device_bytes: u64, chunk: u32) -> FileScript {
    let end = device_bytes_read(device_bytes);
    let offsets = (0..end).step_by(chunk as usize);
    Box::new(offsets.map(move |offset| FileOp::ReadDevice {
        offset,
        bytes: (end - offset).min(u64::from(chunk)) as u32,
    }))
}

/// Our own file instead of a device, if the user named none: the scripts to create it, and to read
/// it by TEST11 with a buffer of `chunk` bytes.
///
/// # Panics
/// If `chunk` is zero.
pub fn stand_in_for_device(chunk: u32) -> (FileScript, FileScript) {
    let file = FileName::new(WHOLE, 1);
    let bytes = DEVICE_BLOCKS_MAX * u64::from(BLOCK_BYTES);
    let reads = (0..bytes).step_by(chunk as usize);
    let reads = reads.map(move |offset| FileOp::Read {
        bytes: (bytes - offset).min(u64::from(chunk)) as u32,
    });
    let purpose = OpenFor::Reading;
    (
        Box::new(make_in_pieces(file, DEVICE_BLOCKS_MAX as u32, CHUNK_BYTES)),
        Box::new(
            [FileOp::Open { file, purpose }]
                .into_iter()
                .chain(reads)
                .chain([FileOp::Close]),
        ),
    )
}

fn make(file: FileName, blocks: u32) -> impl Iterator<Item = FileOp> + Send {
    make_in_pieces(file, blocks, BLOCK_BYTES)
}

fn make_in_pieces(file: FileName, blocks: u32, piece: u32) -> impl Iterator<Item = FileOp> + Send {
    let bytes = u64::from(blocks) * u64::from(BLOCK_BYTES);
    let pieces = (0..bytes).step_by(piece as usize);
    let write = pieces.map(move |offset| FileOp::Write {
        bytes: (bytes - offset).min(u64::from(piece)) as u32,
    });
    [FileOp::Create { file, bytes }]
        .into_iter()
        .chain(write)
        .chain([FileOp::Close])
}

fn read(file: FileName, blocks: u32) -> impl Iterator<Item = FileOp> + Send {
    let purpose = OpenFor::Reading;
    let block = FileOp::Read { bytes: BLOCK_BYTES };
    [FileOp::Open { file, purpose }]
        .into_iter()
        .chain(std::iter::repeat_n(block, blocks as usize))
        .chain([FileOp::Close])
}

fn rewrite(file: FileName, blocks: u32) -> impl Iterator<Item = FileOp> + Send {
    let purpose = OpenFor::Writing;
    let block = FileOp::Write { bytes: BLOCK_BYTES };
    [FileOp::Open { file, purpose }]
        .into_iter()
        .chain(std::iter::repeat_n(block, blocks as usize))
        .chain([FileOp::Close])
}

fn write_null(blocks: u32) -> impl Iterator<Item = FileOp> + Send {
    let block = FileOp::WriteNull { bytes: BLOCK_BYTES };
    [FileOp::OpenNull]
        .into_iter()
        .chain(std::iter::repeat_n(block, blocks as usize))
        .chain([FileOp::Close])
}
