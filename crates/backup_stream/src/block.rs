//! A block: its header and validation.

use crc32fast::Hasher;

/// Header size, bytes.
pub const HEADER_BYTES: usize = 40;
/// The smallest block.
pub const BLOCK_BYTES_MIN: u32 = 512;
/// The largest block.
pub const BLOCK_BYTES_MAX: u32 = 16 << 20;
/// Maximum number of blocks per block of redundancy.
pub const GROUP_MAX: u16 = 1000;

const MAGIC: [u8; 4] = *b"SKB1";
const KIND: usize = 4;
const CHECKED: usize = 5;
const ID: usize = 8;
const NUMBER: usize = 16;
const LENGTH: usize = 24;
const CRC: usize = 28;
const CRCS: usize = 32;
/// Size of the description in the first block's payload, bytes.
const DESCRIPTION_BYTES: usize = 8;

/// Common properties of all blocks in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLayout {
    /// Block size including the header, bytes.
    pub block: u32,
    /// Data blocks per block of redundancy; 0 for none.
    pub group: u16,
    /// Whether each block carries a CRC.
    pub is_checked: bool,
    /// Identifies this stream's blocks.
    pub id: u64,
}

/// Role of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRole {
    /// Describes the stream.
    First,
    /// Carries content.
    Data,
    /// The exclusive or of the blocks in its group.
    Redundancy,
    /// States the total; a stream without it is truncated.
    Last,
}

impl BlockRole {
    const ALL: [Self; 4] = [Self::First, Self::Data, Self::Redundancy, Self::Last];

    const fn code(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Data => 2,
            Self::Redundancy => 3,
            Self::Last => 4,
        }
    }
}

/// The header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    pub(crate) role: BlockRole,
    pub(crate) number: u64,
    /// Used bytes of the payload; for redundancy, the exclusive or of those of its group.
    pub(crate) length: u32,
    /// For redundancy, the exclusive or of the CRCs of its group.
    pub(crate) crcs: u32,
}

impl StreamLayout {
    /// Payload size, bytes.
    pub const fn payload(&self) -> usize {
        self.block as usize - HEADER_BYTES
    }

    /// Writes the header into a block whose payload is complete.
    pub(crate) fn seal(&self, block: &mut [u8], header: BlockHeader) {
        block[..4].copy_from_slice(&MAGIC);
        block[KIND] = header.role.code();
        block[CHECKED] = u8::from(self.is_checked);
        block[6..ID].fill(0);
        block[ID..NUMBER].copy_from_slice(&self.id.to_le_bytes());
        block[NUMBER..LENGTH].copy_from_slice(&header.number.to_le_bytes());
        block[LENGTH..CRC].copy_from_slice(&header.length.to_le_bytes());
        block[CRC..CRCS].fill(0);
        block[CRCS..CRCS + 4].copy_from_slice(&header.crcs.to_le_bytes());
        block[CRCS + 4..HEADER_BYTES].fill(0);
        if self.is_checked {
            let crc = crc_of(block);
            block[CRC..CRCS].copy_from_slice(&crc.to_le_bytes());
        }
    }

    /// The header of a block of this stream; `None` if invalid.
    pub(crate) fn header(&self, block: &[u8]) -> Option<BlockHeader> {
        let is_ours = block[..4] == MAGIC && u64_at(block, ID) == self.id;
        let role = BlockRole::ALL
            .into_iter()
            .find(|it| it.code() == block[KIND])?;
        let header = BlockHeader {
            role,
            number: u64_at(block, NUMBER),
            length: u32_at(block, LENGTH),
            crcs: u32_at(block, CRCS),
        };
        let is_sound = role == BlockRole::Redundancy || header.length as usize <= self.payload();
        (is_ours && is_sound).then_some(header)
    }

    /// Whether a block's CRC is correct; true for blocks without one.
    pub(crate) fn is_intact(&self, block: &[u8]) -> bool {
        !self.is_checked || crc_in(block) == crc_of(block)
    }

    pub(crate) fn describe(&self) -> [u8; DESCRIPTION_BYTES] {
        let mut bytes = [0; DESCRIPTION_BYTES];
        bytes[..4].copy_from_slice(&self.block.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.group.to_le_bytes());
        bytes[6] = u8::from(self.is_checked);
        bytes
    }

    /// The layout described by the start of a first block; `None` if invalid.
    pub(crate) fn described(start: &[u8]) -> Option<Self> {
        let description = start.get(HEADER_BYTES..HEADER_BYTES + DESCRIPTION_BYTES)?;
        let layout = Self {
            block: u32_at(description, 0),
            group: u16::from_le_bytes([description[4], description[5]]),
            is_checked: description[6] == 1,
            id: u64_at(start, ID),
        };
        let is_sound = (BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&layout.block)
            && layout.group <= GROUP_MAX
            && description[6] <= 1
            && description[6] == start[CHECKED]
            && layout.header(start)?.role == BlockRole::First;
        is_sound.then_some(layout)
    }
}

/// The CRC in a block.
pub(crate) fn crc_in(block: &[u8]) -> u32 {
    u32_at(block, CRC)
}

/// Writes the CRC into a block.
pub(crate) fn put_crc(block: &mut [u8], crc: u32) {
    block[CRC..CRCS].copy_from_slice(&crc.to_le_bytes());
}

/// CRC-32 (IEEE 802.3) of a block, with its own field as zero.
fn crc_of(block: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&block[..CRC]);
    hasher.update(&[0; CRCS - CRC]);
    hasher.update(&block[CRCS..]);
    hasher.finalize()
}

/// XORs `part` into `sum`.
pub(crate) fn fold(sum: &mut [u8], part: &[u8]) {
    for (sum, part) in sum.iter_mut().zip(part) {
        *sum ^= part;
    }
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|place| bytes[at + place]))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|place| bytes[at + place]))
}
