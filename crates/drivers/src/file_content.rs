//! What stands in the files of a program that uses files: every block tells which file it belongs
//! to, which block of it it is, and how often one of its elements was changed since.

use crate::verification::time_ns;
use verify::{Bounds, HEADER_BYTES, Sector, SectorHeader, VerifyMismatch, read_sector, seal};
use workload::{BLOCK_BYTES, FileName};

use crate::guard::seal::Seal;
use crate::payload::{STAMP_BYTES, stamp};

const BLOCK: usize = BLOCK_BYTES as usize;
/// Bytes of a data element.
const ELEMENT: usize = 4;
/// Elements of a block that are its stamp, and are never changed: it carries the seal of the run,
/// and names the file and the block.
const FIXED: u32 = (STAMP_BYTES / ELEMENT) as u32;
/// Elements of a block that are changed one after the other.
const CHANGEABLE: u32 = BLOCK_BYTES / ELEMENT as u32 - FIXED;
/// What each element of a fresh block is more than the one before it.
const STEP: u32 = 0x85EB_CA6B;

/// How much of what a call reads is compared with what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadCompare {
    /// Every byte.
    #[default]
    All,
    /// The first block, which says what file and place it is of.
    FirstBlock,
}

impl ReadCompare {
    /// How many of the bytes that were read are compared.
    pub(crate) fn bytes(self, read: usize) -> usize {
        match self {
            Self::All => read,
            Self::FirstBlock => read.min(BLOCK_BYTES as usize),
        }
    }
}

/// What a file of ours should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileContent {
    /// The name that it was created with: what its blocks say.
    pub origin: FileName,
    /// How often an element of its first block was changed.
    pub changes: u32,
    /// Its length.
    pub bytes: u64,
    /// The headers of its blocks, where what is read back is to tell how it was lost.
    pub headers: Option<Headers>,
}

/// What the headers of a file's blocks say. Its stamps stand behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    /// The number of the file.
    pub file: u32,
    /// The number of its writes: how often the files of the directory were made anew. No byte is
    /// written twice in between.
    pub sequence: u64,
    /// Bytes of each write, from the beginning of the file on; the last one may be shorter.
    pub write_bytes: u32,
}

impl Headers {
    /// Put them into whole blocks, which are one write.
    fn put(&self, offset: u64, blocks: &mut [u8]) {
        for block in blocks.chunks_exact_mut(BLOCK) {
            block.copy_within(..STAMP_BYTES, HEADER_BYTES);
        }
        let first = SectorHeader {
            seed: Seal::of_this_run().number(),
            sequence: self.sequence,
            target: self.file,
            offset,
            begin: offset,
            len: blocks.len() as u32,
            time_ns: time_ns(),
        };
        seal(blocks, first);
    }

    /// What is wrong with blocks that one call wrote, or is to have written.
    pub fn check(&self, offset: u64, blocks: &[u8]) -> Vec<VerifyMismatch> {
        let place = (Seal::of_this_run().number(), self.file, offset);
        let only = Bounds {
            least: self.sequence,
            most: self.sequence,
        };
        verify::check(blocks, place, u64::MAX, &[only])
    }

    /// Whether a block is one of this file, as some write of this run left it.
    pub fn are_in(&self, offset: u64, block: &[u8]) -> bool {
        let seed = Seal::of_this_run().number();
        match read_sector(block, Some(seed), self.file, offset) {
            Sector::Sound(it) => (it.seed, it.target, it.offset) == (seed, self.file, offset),
            Sector::Unsound(_) => false,
        }
    }
}

impl FileContent {
    /// Fill `buffer` with the bytes from `offset` on.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        self.fill_plain(offset, buffer);
        if let Some(headers) = self.headers {
            headers.put(offset, buffer);
        }
    }

    fn fill_plain(&self, offset: u64, buffer: &mut [u8]) {
        let mut rest = buffer;
        for (block, skip) in blocks_from(offset) {
            if rest.is_empty() {
                return;
            }
            let (part, behind) = rest.split_at_mut(rest.len().min(BLOCK - skip));
            if part.len() == BLOCK {
                self.fill_block(block, part);
            } else {
                let mut whole = [0; BLOCK];
                self.fill_block(block, &mut whole);
                part.copy_from_slice(&whole[skip..skip + part.len()]);
            }
            rest = behind;
        }
    }

    /// Whether `found` is what stands at `offset`.
    pub fn matches(&self, offset: u64, found: &[u8]) -> bool {
        let mut rest = found;
        let mut expected = [0; BLOCK];
        for (block, skip) in blocks_from(offset) {
            if rest.is_empty() {
                break;
            }
            let (part, behind) = rest.split_at(rest.len().min(BLOCK - skip));
            self.fill_block(block, &mut expected);
            if part != &expected[skip..skip + part.len()] {
                return false;
            }
            rest = behind;
        }
        true
    }

    fn fill_block(&self, block: u64, part: &mut [u8]) {
        let series = u32::from(self.origin.series);
        let salt = self.origin.number.wrapping_mul(0x9E37_79B9) ^ (block as u32) ^ series << 24;
        let file = u64::from(self.origin.number) << 32;
        let stamp = stamp(
            Seal::of_this_run().number(),
            series,
            file | block & 0xffff_ffff,
        );
        let (head, rest) = part.split_at_mut(STAMP_BYTES);
        head.copy_from_slice(&stamp);
        // Sums, unlike products, are made by the vector on any processor.
        let mut fresh = salt.wrapping_add(FIXED.wrapping_mul(STEP));
        for element in rest.chunks_exact_mut(ELEMENT) {
            element.copy_from_slice(&fresh.to_le_bytes());
            fresh = fresh.wrapping_add(STEP);
        }
        if block > 0 || self.changes == 0 {
            return;
        }
        for (index, element) in (FIXED..).zip(rest.chunks_exact_mut(ELEMENT)) {
            let fresh = salt.wrapping_add(index.wrapping_mul(STEP));
            let value = fresh.wrapping_add(self.changed(index));
            element.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// How often element `index` was changed: they take turns.
    const fn changed(&self, index: u32) -> u32 {
        let turn = index - FIXED;
        (self.changes + CHANGEABLE - 1 - turn) / CHANGEABLE
    }
}

/// Blocks from a byte on, each with how many of its bytes lie before that one.
fn blocks_from(offset: u64) -> impl Iterator<Item = (u64, usize)> {
    let size = u64::from(BLOCK_BYTES);
    let first = (offset / size, (offset % size) as usize);
    std::iter::once(first).chain((first.0 + 1..).map(|block| (block, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: FileContent = FileContent {
        origin: FileName::new('d', 7),
        changes: 0,
        bytes: 1024,
        headers: None,
    };

    fn block(content: &FileContent, offset: u64) -> Vec<u8> {
        let mut buffer = vec![0; BLOCK];
        content.fill(offset, &mut buffer);
        buffer
    }

    #[test]
    fn every_file_block_and_change_has_bytes_of_its_own() {
        let mut seen = Vec::new();
        for origin in [
            FileName::new('d', 7),
            FileName::new('d', 8),
            FileName::new('c', 7),
        ] {
            for changes in [0, 1, 2, CHANGEABLE, CHANGEABLE + 1] {
                let content = FileContent {
                    origin,
                    changes,
                    ..CONTENT
                };
                let found = block(&content, 0);
                assert!(content.matches(0, &found));
                assert!(!seen.contains(&found), "{content:?}");
                seen.push(found);
            }
        }
        assert_ne!(block(&CONTENT, 0), block(&CONTENT, 512));
    }

    #[test]
    fn one_change_changes_one_element() {
        for changes in 0..3 * CHANGEABLE {
            let before = block(&FileContent { changes, ..CONTENT }, 0);
            let changes = changes + 1;
            let after = block(&FileContent { changes, ..CONTENT }, 0);
            let elements = before.chunks(ELEMENT).zip(after.chunks(ELEMENT));
            assert_eq!(elements.filter(|(old, new)| old != new).count(), 1);
        }
    }

    /// 3901 bytes, as one file of mdtest's hard pattern has, end in the midst of an element.
    #[test]
    fn a_file_may_end_in_the_midst_of_a_block() {
        let mut found = vec![0xAA; 3901];
        CONTENT.fill(0, &mut found);
        let mut whole = vec![0; 4096];
        CONTENT.fill(0, &mut whole);
        assert_eq!(found, whole[..3901]);
        assert!(CONTENT.matches(0, &found));
    }

    /// Records of 47008 bytes, as IOR's hard pattern has, begin and end in the midst of a block.
    #[test]
    fn records_may_begin_in_the_midst_of_a_block() {
        let record = 47_008;
        let mut whole = vec![0; 3 * record];
        CONTENT.fill(0, &mut whole);
        for (number, expected) in whole.chunks(record).enumerate() {
            let offset = (number * record) as u64;
            let mut found = vec![0xAA; record];
            CONTENT.fill(offset, &mut found);
            assert!(found == expected && CONTENT.matches(offset, &found));
            found[record - 1] ^= 1;
            assert!(!CONTENT.matches(offset, &found));
        }
        assert!(!CONTENT.matches(0, &whole[record..]));
    }

    #[test]
    fn blocks_with_headers_carry_their_stamps_behind_them() {
        let headers = Headers {
            file: 77,
            sequence: 3,
            write_bytes: 1024,
        };
        let content = FileContent {
            headers: Some(headers),
            ..CONTENT
        };
        let mut found = vec![0; 2 * BLOCK];
        content.fill(1024, &mut found);
        assert_eq!(headers.check(1024, &found), []);
        assert!(headers.are_in(1024, &found[..BLOCK]) && !headers.are_in(0, &found[..BLOCK]));
        let stamped = crate::payload::stamps_in(&found[BLOCK..]).next();
        assert_eq!(stamped, Some(Seal::of_this_run().number()));
        let old = Headers {
            sequence: 2,
            ..headers
        };
        assert!(
            old.are_in(1024, &found[..BLOCK]),
            "of this run, whichever write"
        );
        found[BLOCK..].fill(0);
        let classes: Vec<_> = headers
            .check(1024, &found)
            .iter()
            .map(|it| it.class)
            .collect();
        assert_eq!(classes, [verify::Class::Torn]);
    }

    #[test]
    fn one_wrong_bit_is_seen() {
        let mut found = vec![0; 2 * BLOCK];
        CONTENT.fill(0, &mut found);
        assert!(CONTENT.matches(0, &found) && CONTENT.matches(0, &found[..700]));
        for place in [0, 511, 512, 1023] {
            found[place] ^= 1;
            assert!(!CONTENT.matches(0, &found), "byte {place}");
            found[place] ^= 1;
        }
        assert!(!CONTENT.matches(512, &found));
    }
}
