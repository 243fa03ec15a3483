//! Decodes blocks to content, and records damage.

use std::fmt;

use crate::block::{
    BlockHeader, BlockRole, HEADER_BYTES, StreamLayout, crc_in, fold, put_crc, u64_at,
};

/// Blocks processed together if there are no groups.
const BATCH: u64 = 16;
/// Maximum number of damages kept; a stream of noise has millions.
const DAMAGES_MAX: usize = 100;

/// Why a stream cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It starts with something else.
    #[error("it does not begin with the first block of a backup stream")]
    NoBeginning,
    /// It is too short for its first and last block.
    #[error("it was cut off: it is only {bytes} bytes long, with blocks of {block}")]
    TooShort {
        /// Bytes of the stream.
        bytes: u64,
        /// Bytes of a block.
        block: u32,
    },
}

/// A damaged block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Index of the block in the stream, from 0.
    pub block: u64,
    /// Kind of damage.
    pub what: What,
    /// Whether it was repaired by the redundancy of its group.
    pub is_repaired: bool,
}

/// Kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is not a block of this stream.
    Foreign,
    /// Its bytes were modified.
    Changed,
    /// It is intact, but belongs elsewhere.
    Misplaced {
        /// Where it belongs.
        found: u64,
    },
    /// The stream ends before its last block.
    CutOff,
    /// The blocks of a group contradict their redundancy, and without CRCs the wrong one is
    /// unknown.
    Disagrees,
    /// The last block states another total than found.
    WrongTotal,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = self.block;
        match self.what {
            What::Foreign => write!(f, "block {block} is not a block of this stream"),
            What::Changed => write!(f, "block {block} does not hold what was written"),
            What::Misplaced { found } => {
                write!(f, "block {found} stands in the place of block {block}")
            }
            What::CutOff => write!(f, "the stream was cut off: it ends with block {block}"),
            What::Disagrees => write!(
                f,
                "a block of the group that ends with block {block} does not hold what was written"
            ),
            What::WrongTotal => write!(f, "blocks are missing before block {block}, the last one"),
        }?;
        if self.is_repaired {
            f.write_str(" (made up for by redundancy)")?;
        }
        Ok(())
    }
}

/// Decodes a stream, some blocks at a time.
#[derive(Debug)]
pub struct Decoder {
    layout: StreamLayout,
    /// Blocks of the whole stream.
    total: u64,
    /// Bytes after the last whole block.
    rest: u64,
    next: u64,
    data_blocks: u64,
    content_bytes: u64,
    damages: Vec<Damage>,
    /// Number of damages, and of those not repaired.
    seen: u64,
    lost: u64,
}

impl Decoder {
    /// A decoder of a stream of `len` bytes that starts with `start` (a few hundred bytes).
    ///
    /// # Errors
    /// If it cannot be read at all.
    pub fn new(start: &[u8], len: u64) -> Result<Self, Unreadable> {
        let layout = StreamLayout::described(start).ok_or(Unreadable::NoBeginning)?;
        let block = u64::from(layout.block);
        if len < 2 * block {
            return Err(Unreadable::TooShort {
                bytes: len,
                block: layout.block,
            });
        }
        Ok(Self {
            layout,
            total: len / block,
            rest: len % block,
            next: 0,
            data_blocks: 0,
            content_bytes: 0,
            damages: Vec::new(),
            seen: 0,
            lost: 0,
        })
    }

    /// Common properties of its blocks.
    pub const fn layout(&self) -> &StreamLayout {
        &self.layout
    }

    /// Number of bytes for the next [`Self::take`]; 0 at the end.
    pub fn wanted(&self) -> usize {
        let last = self.total - 1;
        let blocks = match (self.next, self.layout.group) {
            (0, _) => 1,
            (next, _) if next >= last => self.total - next,
            (next, 0) => BATCH.min(last - next),
            (next, group) => (u64::from(group) + 1).min(last - next),
        };
        blocks as usize * self.layout.block as usize
    }

    /// Processes the next blocks, as many bytes as [wanted](Self::wanted). They are repaired in
    /// place, and the sink gets their content unless some of it is lost.
    ///
    /// # Errors
    /// Those of the sink.
    // fuzzed: backup_stream
    pub fn take<E>(
        &mut self,
        blocks: &mut [u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        assert_eq!(blocks.len(), self.wanted(), "other bytes than were wanted");
        let first = self.next;
        let count = blocks.len() / self.layout.block as usize;
        self.next += count as u64;
        if first == 0 {
            self.check(blocks, 0, BlockRole::First);
            return Ok(());
        }
        if first == self.total - 1 {
            self.take_last(blocks);
            return Ok(());
        }
        let data = count - usize::from(self.layout.group > 0);
        self.take_group(blocks, first, data);
        self.data_blocks += data as u64;
        for block in blocks.chunks_exact(self.layout.block as usize).take(data) {
            // Lost data leaves no gap in the content, and later data would move into its place.
            if self.lost == 0
                && let Some(header) = self.layout.header(block)
            {
                self.content_bytes += u64::from(header.length);
                sink(&block[HEADER_BYTES..HEADER_BYTES + header.length as usize])?;
            }
        }
        Ok(())
    }

    /// Damages, at most the first hundred.
    pub fn damages(&self) -> &[Damage] {
        &self.damages
    }

    /// Number of damaged blocks.
    pub const fn damages_seen(&self) -> u64 {
        self.seen
    }

    /// Whether all content was intact or repaired.
    pub const fn is_whole(&self) -> bool {
        self.lost == 0 && self.wanted_none()
    }

    const fn wanted_none(&self) -> bool {
        self.next == self.total
    }

    /// Processes the blocks of a group: `data` blocks with content, and one of redundancy if there
    /// are groups.
    fn take_group(&mut self, blocks: &mut [u8], first: u64, data: usize) {
        let len = self.layout.block as usize;
        let mut wrong = Vec::new();
        for (place, block) in blocks.chunks_exact(len).enumerate() {
            let role = if place < data {
                BlockRole::Data
            } else {
                BlockRole::Redundancy
            };
            if let Some(what) = self.fault_of(block, first + place as u64, role) {
                wrong.push((place, what));
            }
        }
        let mended = match wrong.as_slice() {
            [(place, _)] if self.layout.group > 0 => {
                *place == data || self.mend(blocks, *place, first + *place as u64)
            }
            _ => false,
        };
        if wrong.is_empty() && self.disagrees(blocks) {
            wrong.push((data, What::Disagrees));
        }
        for (place, what) in wrong {
            self.note(first + place as u64, what, mended);
        }
    }

    /// Without CRCs, only the redundancy shows modifications.
    fn disagrees(&self, blocks: &[u8]) -> bool {
        if self.layout.group == 0 || self.layout.is_checked {
            return false;
        }
        let mut sum = vec![0; self.layout.payload()];
        let mut lengths = 0;
        for block in blocks.chunks_exact(self.layout.block as usize) {
            fold(&mut sum, &block[HEADER_BYTES..]);
            lengths ^= self.layout.header(block).map_or(0, |header| header.length);
        }
        lengths != 0 || sum.iter().any(|&byte| byte != 0)
    }

    /// Reconstructs the block at `place` from the others. Returns whether that succeeded.
    fn mend(&self, blocks: &mut [u8], place: usize, number: u64) -> bool {
        let len = self.layout.block as usize;
        let mut made = vec![0; len];
        let (mut length, mut crc) = (0, 0);
        for (other, block) in blocks.chunks_exact(len).enumerate() {
            let Some(header) = self.layout.header(block).filter(|_| other != place) else {
                continue;
            };
            fold(&mut made[HEADER_BYTES..], &block[HEADER_BYTES..]);
            length ^= header.length;
            crc ^= match header.role {
                BlockRole::Redundancy => header.crcs,
                _ => crc_in(block),
            };
        }
        if length as usize > self.layout.payload() {
            return false;
        }
        let header = BlockHeader {
            role: BlockRole::Data,
            number,
            length,
            crcs: 0,
        };
        self.layout.seal(&mut made, header);
        if self.layout.is_checked {
            put_crc(&mut made, crc);
        }
        let is_right = self.layout.is_intact(&made);
        blocks[place * len..(place + 1) * len].copy_from_slice(&made);
        is_right
    }

    fn take_last(&mut self, block: &[u8]) {
        let last = self.total - 1;
        // An intact block that should not be the last one, or bytes after it: the end is missing.
        let header = self.layout.header(block);
        let is_data = header.is_some_and(|it| it.role != BlockRole::Last && it.number == last);
        if is_data || self.rest > 0 {
            self.note(last, What::CutOff, false);
            return;
        }
        if !self.check(block, last, BlockRole::Last) {
            return;
        }
        let stored = |at: usize| u64_at(block, HEADER_BYTES + at);
        let is_all = stored(0) == self.data_blocks;
        if !is_all || self.lost == 0 && stored(8) != self.content_bytes {
            self.note(last, What::WrongTotal, false);
        }
    }

    fn check(&mut self, block: &[u8], number: u64, role: BlockRole) -> bool {
        let what = self.fault_of(block, number, role);
        if let Some(what) = what {
            self.note(number, what, false);
        }
        what.is_none()
    }

    fn fault_of(&self, block: &[u8], number: u64, role: BlockRole) -> Option<What> {
        if !self.layout.is_intact(block) {
            return Some(What::Changed);
        }
        let Some(header) = self.layout.header(block) else {
            return Some(What::Foreign);
        };
        if header.number != number {
            let found = header.number;
            return Some(What::Misplaced { found });
        }
        (header.role != role).then_some(What::Changed)
    }

    fn note(&mut self, block: u64, what: What, is_repaired: bool) {
        self.seen += 1;
        self.lost += u64::from(!is_repaired);
        if self.damages.len() < DAMAGES_MAX {
            self.damages.push(Damage {
                block,
                what,
                is_repaired,
            });
        }
    }
}
