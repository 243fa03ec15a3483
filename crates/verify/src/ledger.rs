//! What was written where, what of it was acknowledged, and what was flushed.
//!
//! A write has a number, its sequence. For each block the ledger keeps the range of writes that may
//! be there. Writes to a block that overlap in time may be carried out in any order: together they
//! are a group, and once the last of them is done any of them may be there, but nothing older. A
//! flush makes durable what was done before it was asked for. After a crash a block may hold
//! anything from its last durable group to the last write that was asked for.
//!
//! All numbers lie in one row of words.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::check::{Bounds, check, check_alone};
use crate::finding::VerifyMismatch;
use crate::header::{SECTOR_BYTES, SectorHeader, seal};

/// Words of a block, of which it uses six: a power of two, so that none spans two pages of a file,
/// which may reach a disk at different moments.
pub const BLOCK_WORDS: usize = 8;
/// Words before the blocks: the number of the last write, the count of events, and for each target
/// the event up to which it is flushed.
const HEAD_WORDS: u64 = 2;
/// Blocks share so many locks.
const LOCKS: usize = 256;

/// What a block's words are.
#[derive(Clone, Copy)]
enum Word {
    /// The newest write that was asked for.
    Issued,
    /// The oldest write of the group that is under way.
    Group,
    /// Writes of the group that are not done, and whether one of it was done well or durably.
    Pending,
    /// The oldest write that may be there, now that it was acknowledged.
    Floor,
    /// The event at which that became so.
    Settled,
    /// The oldest write that may be there after a crash, apart from what the flushes tell.
    Durable,
}

/// In [`Word::Pending`]: one write of the group was done well.
const ANY_GOOD: u64 = 1 << 32;
/// In [`Word::Pending`]: one write of the group was durable.
const ANY_DURABLE: u64 = 1 << 33;
const COUNT: u64 = ANY_GOOD - 1;

/// Why a ledger cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// Blocks are not whole sectors.
    #[error(
        "--verify takes blocks that are whole sectors of {SECTOR_BYTES} bytes, and {unit} are not"
    )]
    Unit {
        /// Bytes of a block.
        unit: u64,
    },
    /// The words are those of another ledger.
    #[error("the state holds {there} words, and {needed} are needed: it belongs to another target")]
    Words {
        /// Words that there are.
        there: u64,
        /// Words that are needed.
        needed: u64,
    },
}

/// How a write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It is done, and may be lost with the power.
    Done,
    /// It is done, and survives a power loss.
    Durable,
    /// It failed: all, nothing or a part of it may be there.
    Failed,
}

/// What must be there when a target is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedDurability {
    Acknowledged,
    /// What was acknowledged before the last flush; of what came after either may be there.
    Flushed,
}

/// The numbers of a ledger, which all workers share: in memory, or in a file that outlives a kill.
pub type Words = Arc<dyn AsRef<[AtomicU64]> + Send + Sync>;

/// Words of a new ledger.
#[must_use]
pub fn new_words(count: u64) -> Words {
    words_of((0..count).map(|_| 0))
}

/// Those numbers, as a state file holds them.
#[must_use]
pub fn words_of(numbers: impl Iterator<Item = u64>) -> Words {
    let words: Vec<AtomicU64> = numbers.map(AtomicU64::new).collect();
    Arc::new(words)
}

/// How many words a ledger of targets of those lengths needs.
#[must_use]
pub fn words_needed(unit: u64, lens: &[u64]) -> u64 {
    let blocks = lens.iter().map(|len| len.div_ceil(unit));
    let blocks = blocks.fold(0, u64::saturating_add);
    first_block(lens).saturating_add(blocks.saturating_mul(BLOCK_WORDS as u64))
}

/// The first word of the blocks.
fn first_block(lens: &[u64]) -> u64 {
    (HEAD_WORDS + lens.len() as u64).next_multiple_of(BLOCK_WORDS as u64)
}

/// What was written to some targets. Shared by all workers.
pub struct Ledger {
    seed: u64,
    unit: u64,
    /// The first word of each target's blocks, and how many blocks it has.
    targets: Vec<(u64, u64)>,
    words: Words,
    locks: Vec<Mutex<()>>,
    /// Held while a write is noted: writes are noted in the order of their numbers.
    order: Mutex<()>,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger")
            .field("seed", &self.seed)
            .field("unit", &self.unit)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

impl Ledger {
    /// A ledger of targets of those lengths in bytes, zero for one that is not verified; a block
    /// has `unit` bytes.
    ///
    /// # Errors
    /// When blocks are not whole sectors, or there are too few words.
    pub fn new(seed: u64, unit: u64, lens: &[u64], words: Words) -> Result<Self, LedgerError> {
        if unit == 0 || !unit.is_multiple_of(SECTOR_BYTES as u64) {
            return Err(LedgerError::Unit { unit });
        }
        let (there, needed) = ((*words).as_ref().len() as u64, words_needed(unit, lens));
        if there < needed {
            return Err(LedgerError::Words { there, needed });
        }
        let mut next = first_block(lens);
        let mut targets = Vec::with_capacity(lens.len());
        for len in lens {
            let blocks = len.div_ceil(unit);
            targets.push((next, blocks));
            next += blocks * BLOCK_WORDS as u64;
        }
        Ok(Self {
            seed,
            unit,
            targets,
            words,
            locks: (0..LOCKS).map(|_| Mutex::default()).collect(),
            order: Mutex::default(),
        })
    }

    /// What its headers carry.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn unit(&self) -> u64 {
        self.unit
    }

    /// Whether reads and writes of a target are verified.
    #[must_use]
    pub fn holds(&self, target: u32) -> bool {
        self.targets
            .get(target as usize)
            .is_some_and(|(_, blocks)| *blocks > 0)
    }

    /// A write is about to be asked for at `time_ns`, nanoseconds since 1970: put headers into its
    /// bytes. Returns its number.
    ///
    /// # Panics
    /// When it lies beyond the target, or is not whole blocks.
    pub fn begin_write(&self, (target, offset): (u32, u64), bytes: &mut [u8], time_ns: u64) -> u64 {
        let len = bytes.len() as u64;
        assert!(
            len <= u64::from(u32::MAX)
                && offset.is_multiple_of(self.unit)
                && len.is_multiple_of(self.unit),
            "a write of {len} bytes at {offset} in blocks of {}",
            self.unit
        );
        let sequence = self.note_write(target, offset, len);
        let header = SectorHeader {
            seed: self.seed,
            sequence,
            target,
            offset,
            begin: offset,
            len: len as u32,
            time_ns,
        };
        seal(bytes, header);
        sequence
    }

    fn note_write(&self, target: u32, offset: u64, len: u64) -> u64 {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let sequence = self.next(0);
        for block in self.blocks(offset, len) {
            let (words, _guard) = self.block(target, block);
            let pending = words.of(Word::Pending);
            if pending & COUNT == 0 {
                words.set(Word::Group, sequence);
                words.set(Word::Pending, 1);
            } else {
                words.set(Word::Pending, pending + 1);
            }
            words.set(Word::Issued, sequence);
        }
        sequence
    }

    /// A write is done.
    pub fn end_write(&self, target: u32, offset: u64, len: u64, outcome: WriteOutcome) {
        let event = self.next(1);
        let flushed = self.flushed(target).load(Relaxed);
        for block in self.blocks(offset, len) {
            let (words, _guard) = self.block(target, block);
            let mut pending = words.of(Word::Pending) - 1;
            match outcome {
                WriteOutcome::Done => pending |= ANY_GOOD,
                WriteOutcome::Durable => pending |= ANY_GOOD | ANY_DURABLE,
                WriteOutcome::Failed => {}
            }
            words.set(Word::Pending, pending);
            if pending & COUNT == 0 && pending & ANY_GOOD != 0 {
                if words.of(Word::Settled) <= flushed {
                    words.set(Word::Durable, words.of(Word::Floor));
                }
                let group = words.of(Word::Group);
                words.set(Word::Floor, group);
                words.set(Word::Settled, event);
                if pending & ANY_DURABLE != 0 {
                    words.set(Word::Durable, group);
                }
            }
        }
    }

    /// A flush is about to be asked for; what it returns is for [`Ledger::end_flush`].
    #[must_use]
    pub fn begin_flush(&self) -> u64 {
        self.next(1)
    }

    /// The flush of a target that began then is done well.
    pub fn end_flush(&self, target: u32, began: u64) {
        self.flushed(target).fetch_max(began, Relaxed);
    }

    /// A read is about to be asked for: the oldest write that each of its blocks may hold.
    #[must_use]
    pub fn begin_read(&self, target: u32, offset: u64, len: u64) -> Vec<u64> {
        let floor = |block| self.block(target, block).0.of(Word::Floor);
        self.blocks(offset, len).map(floor).collect()
    }

    /// What is wrong with what a read brought; `floors` is what [`Ledger::begin_read`] said. Blocks
    /// that were never written are not judged.
    #[must_use]
    pub fn end_read(
        &self,
        target: u32,
        offset: u64,
        bytes: &[u8],
        floors: &[u64],
    ) -> Vec<VerifyMismatch> {
        let blocks = self.blocks(offset, bytes.len() as u64);
        let bounds = blocks.zip(floors).map(|(block, &least)| Bounds {
            least,
            most: self.block(target, block).0.of(Word::Issued),
        });
        let bounds: Vec<Bounds> = bounds.collect();
        check(bytes, (self.seed, target, offset), self.unit, &bounds)
    }

    /// The same where a header of whatever run is expected in blocks that were never written.
    #[must_use]
    pub fn end_read_of_others(
        &self,
        target: u32,
        offset: u64,
        bytes: &[u8],
        floors: &[u64],
    ) -> Vec<VerifyMismatch> {
        let mut findings = self.end_read(target, offset, bytes, floors);
        let blocks = self.blocks(offset, bytes.len() as u64);
        let is_unknown = |block| self.block(target, block).0.of(Word::Issued) == 0;
        let unknown: Vec<bool> = blocks.map(is_unknown).collect();
        for mut finding in check_alone(bytes, None, offset) {
            let block = (finding.offset / self.unit - offset / self.unit) as usize;
            if unknown[block] {
                finding.target = target;
                findings.push(finding);
            }
        }
        findings
    }

    /// What is wrong with `bytes` that were read while nothing is written.
    #[must_use]
    pub fn judge(
        &self,
        target: u32,
        offset: u64,
        bytes: &[u8],
        trust: ExpectedDurability,
    ) -> Vec<VerifyMismatch> {
        let flushed = self.flushed(target).load(Relaxed);
        let bounds = self.blocks(offset, bytes.len() as u64).map(|block| {
            let (words, _guard) = self.block(target, block);
            let floor = words.of(Word::Floor);
            let is_kept =
                trust == ExpectedDurability::Acknowledged || words.of(Word::Settled) <= flushed;
            let least = if is_kept { floor } else { 0 };
            Bounds {
                least: least.max(words.of(Word::Durable)),
                most: words.of(Word::Issued),
            }
        });
        let bounds: Vec<Bounds> = bounds.collect();
        check(bytes, (self.seed, target, offset), self.unit, &bounds)
    }

    /// The number of the last write; 0 before the first.
    #[must_use]
    pub fn last_write(&self) -> u64 {
        self.words()[0].load(Relaxed)
    }

    /// How many of these bytes a write after that number was asked for.
    #[must_use]
    pub fn bytes_written_after(&self, write: u64, target: u32, offset: u64, len: u64) -> u64 {
        let is_later = |block: &u64| self.block(target, *block).0.of(Word::Issued) > write;
        self.blocks(offset, len).filter(is_later).count() as u64 * self.unit
    }

    /// Where a target was written: begins and lengths in bytes, in order, none longer than `most`.
    pub fn written(&self, target: u32, most: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let blocks = self.targets[target as usize].1;
        let most = (most / self.unit).max(1);
        let mut next = 0;
        std::iter::from_fn(move || {
            let is_written = |block: &u64| self.block(target, *block).0.of(Word::Issued) > 0;
            let begin = (next..blocks).find(is_written)?;
            let end = begin
                + (begin..blocks.min(begin + most))
                    .take_while(is_written)
                    .count() as u64;
            next = end;
            Some((begin * self.unit, (end - begin) * self.unit))
        })
    }

    fn words(&self) -> &[AtomicU64] {
        (*self.words).as_ref()
    }

    /// Count one up and return it, from 1.
    fn next(&self, word: usize) -> u64 {
        self.words()[word].fetch_add(1, Relaxed) + 1
    }

    fn flushed(&self, target: u32) -> &AtomicU64 {
        &self.words()[HEAD_WORDS as usize + target as usize]
    }

    fn blocks(&self, offset: u64, len: u64) -> std::ops::Range<u64> {
        offset / self.unit..(offset + len).div_ceil(self.unit)
    }

    /// The words of a block, for the holder of the lock alone.
    fn block(&self, target: u32, block: u64) -> (BlockWords<'_>, MutexGuard<'_, ()>) {
        let (first, count) = self.targets[target as usize];
        assert!(block < count, "block {block} of {count} of target {target}");
        let at = (first + block * BLOCK_WORDS as u64) as usize;
        let lock = &self.locks[block as usize % LOCKS];
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        (BlockWords(&self.words()[at..at + BLOCK_WORDS]), guard)
    }
}

struct BlockWords<'a>(&'a [AtomicU64]);

impl BlockWords<'_> {
    fn of(&self, word: Word) -> u64 {
        self.0[word as usize].load(Relaxed)
    }

    fn set(&self, word: Word, value: u64) {
        self.0[word as usize].store(value, Relaxed);
    }
}
