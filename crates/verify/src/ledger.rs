//! The ledger: which writes went where, and which were acknowledged and flushed.
//!
//! A write has a number, its sequence. For each block the ledger keeps the range of writes that may
//! be there. Writes to a block that overlap in time may be executed in any order: they form a
//! group, and once the last of them completes any of them may be there, but nothing older. A flush
//! makes durable what completed before it was issued. After a crash a block may hold anything from
//! its last durable group to the last write issued.
//!
//! All numbers are in one array of words.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::check::{Bounds, check, check_alone};
use crate::finding::VerifyMismatch;
use crate::header::{SECTOR_BYTES, SectorHeader, seal};

/// Words per block, of which six are used: a power of two, so that no block spans two pages of a
/// file, which may reach the disk at different times.
pub const BLOCK_WORDS: usize = 8;
/// Words before the blocks: the number of the last write, the number of events, and for each target
/// the event up to which it is flushed.
const HEAD_WORDS: u64 = 2;
/// Number of locks shared by the blocks.
const LOCKS: usize = 256;

/// The words of a block.
#[derive(Clone, Copy)]
enum Word {
    /// The newest write issued.
    Issued,
    /// The oldest write of the current group.
    Group,
    /// Number of incomplete writes of the group, and whether one of it succeeded or was durable.
    Pending,
    /// The oldest write that may be there according to acknowledgements.
    Floor,
    /// The event at which that changed.
    Settled,
    /// The oldest write that may be there after a crash, apart from flushes.
    Durable,
}

/// In [`Word::Pending`]: a write of the group succeeded.
const ANY_GOOD: u64 = 1 << 32;
/// In [`Word::Pending`]: a write of the group was durable.
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
    /// The words belong to another ledger.
    #[error("the state holds {there} words, and {needed} are needed: it belongs to another target")]
    Words {
        /// Number of words.
        there: u64,
        /// Required number of words.
        needed: u64,
    },
}

/// Outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Completed, but may be lost with the power.
    Done,
    /// Completed and durable.
    Durable,
    /// Failed: all, none or a part of it may be there.
    Failed,
}

/// Requirement for a target's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedDurability {
    Acknowledged,
    /// What was acknowledged before the last flush; later writes may or may not be there.
    Flushed,
}

/// The words of a ledger, shared by all workers: in memory, or in a file that survives a kill.
pub type Words = Arc<dyn AsRef<[AtomicU64]> + Send + Sync>;

/// Words of a new ledger.
pub fn new_words(count: u64) -> Words {
    words_of((0..count).map(|_| 0))
}

/// Words with these numbers from a state file.
pub fn words_of(numbers: impl Iterator<Item = u64>) -> Words {
    let words: Vec<AtomicU64> = numbers.map(AtomicU64::new).collect();
    Arc::new(words)
}

/// Number of words for targets of those lengths.
pub fn words_needed(unit: u64, lens: &[u64]) -> u64 {
    let blocks = lens.iter().map(|len| len.div_ceil(unit));
    let blocks = blocks.fold(0, u64::saturating_add);
    first_block(lens).saturating_add(blocks.saturating_mul(BLOCK_WORDS as u64))
}

/// Index of the first block's words.
fn first_block(lens: &[u64]) -> u64 {
    (HEAD_WORDS + lens.len() as u64).next_multiple_of(BLOCK_WORDS as u64)
}

/// The ledger of some targets, shared by all workers.
pub struct Ledger {
    seed: u64,
    unit: u64,
    /// First word of each target's blocks, and number of blocks.
    targets: Vec<(u64, u64)>,
    words: Words,
    locks: Vec<Mutex<()>>,
    /// Held while a write is recorded, so that writes are recorded in the order of their numbers.
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
    /// If blocks are not whole sectors, or there are too few words.
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

    /// Seed in its headers.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Block size, bytes.
    pub const fn unit(&self) -> u64 {
        self.unit
    }

    /// Whether reads and writes of a target are verified.
    pub fn holds(&self, target: u32) -> bool {
        self.targets
            .get(target as usize)
            .is_some_and(|(_, blocks)| *blocks > 0)
    }

    /// Called before a write is issued at `time_ns`, nanoseconds since 1970: writes headers into
    /// its bytes. Returns its number.
    ///
    /// # Panics
    /// If it exceeds the target, or is not whole blocks.
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

    /// Called when a write completed.
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

    /// Called before a flush is issued; the result is for [`Ledger::end_flush`].
    pub fn begin_flush(&self) -> u64 {
        self.next(1)
    }

    /// The flush of a target that started with that event succeeded.
    pub fn end_flush(&self, target: u32, began: u64) {
        self.flushed(target).fetch_max(began, Relaxed);
    }

    /// Called before a read is issued: the oldest write that each of its blocks may hold.
    pub fn begin_read(&self, target: u32, offset: u64, len: u64) -> Vec<u64> {
        let floor = |block| self.block(target, block).0.of(Word::Floor);
        self.blocks(offset, len).map(floor).collect()
    }

    /// Finds errors in the data of a read; `floors` is the result of [`Ledger::begin_read`]. Blocks
    /// never written are not judged.
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

    /// The same, expecting a header of any run in blocks never written.
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

    /// Finds errors in `bytes` read while nothing is being written.
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

    /// Number of the last write; 0 before the first.
    pub fn last_write(&self) -> u64 {
        self.words()[0].load(Relaxed)
    }

    /// How many of these bytes were written by writes after that number.
    pub fn bytes_written_after(&self, write: u64, target: u32, offset: u64, len: u64) -> u64 {
        let is_later = |block: &u64| self.block(target, *block).0.of(Word::Issued) > write;
        self.blocks(offset, len).filter(is_later).count() as u64 * self.unit
    }

    /// Written ranges of a target: starts and lengths in bytes, in order, none longer than `most`.
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

    /// Increments a counter and returns it, starting with 1.
    fn next(&self, word: usize) -> u64 {
        self.words()[word].fetch_add(1, Relaxed) + 1
    }

    fn flushed(&self, target: u32) -> &AtomicU64 {
        &self.words()[HEAD_WORDS as usize + target as usize]
    }

    fn blocks(&self, offset: u64, len: u64) -> std::ops::Range<u64> {
        offset / self.unit..(offset + len).div_ceil(self.unit)
    }

    /// The words of a block; the caller must hold its lock.
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
