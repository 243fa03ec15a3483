//! What is written, and how a read finds out that it got something else.
//!
//! Every 4 KiB of a write start with a 32-byte stamp that no other block of any run carries; the
//! rest is noise, and each further sector of 512 bytes begins with a word of its own. So the data
//! do not deduplicate in blocks of a sector or more, nor compress in windows of less than the
//! noise, some MiB; and a lost, misdirected or stale write shows when it is read back. Unless told
//! otherwise only the stamp is checked: damage behind it is not seen. Records carry a line of text
//! with their number behind the stamp, too, for readers of a dump. A read finds the stamps when it
//! starts where a write started, or whole blocks behind.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use workload::{Errno, TargetId};

use crate::buffers::mix;
use crate::content::ContentSource;
use crate::verification::Verification;

/// Distance between stamps.
pub const BLOCK_BYTES: usize = 4096;
/// Length of a stamp; a shorter block carries none.
pub const STAMP_BYTES: usize = 32;
/// What a completion carries when a read was answered with wrong data.
pub const MISMATCH: Errno = Errno(libc::EILSEQ);

/// The smallest block that storage deduplicates.
const SECTOR_BYTES: usize = 512;

const MAGIC: [u8; 4] = *b"SkSt";

/// The line of text of a record: what stands before its number, and behind it.
const TEXT_BEFORE: [u8; 8] = *b"\nrecord ";
const TEXT_BEHIND: [u8; 32] = *b": Seekstone random access test.\n";
/// Digits of the number, which is the offset in blocks.
const TEXT_DIGITS: usize = 16;
const TEXT_BYTES: usize = TEXT_BEFORE.len() + TEXT_DIGITS + TEXT_BEHIND.len();

/// How much of what is read is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checking {
    #[default]
    EveryStamp,
    /// The last stamp of each transfer: what checking costs hardly shows.
    LastStamp,
    /// Every byte. What is written then follows from the stamps.
    WholeBlock,
    /// Every stamp, and the line of text with the record's number that is then written behind it.
    Record,
}

/// What a driver writes and whether it checks what it reads.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    /// The run that writes; part of every stamp.
    pub run: u64,
    /// The pass over the target; part of every stamp. Reads accept this pass or a later one.
    pub pass: u32,
    /// How much is checked.
    pub checking: Checking,
    /// What clients write, by their number; blocks with stamps where there is nothing.
    pub contents: Arc<[Option<ContentSource>]>,
    /// What writes to verified targets carry in place of stamps, and what reads are held against.
    pub headers: Option<Arc<Verification>>,
    /// Where wrong stamps are noted; no stamp is checked without.
    pub verification: Option<Arc<VerificationLog>>,
}

/// How a block differs from what was written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadMismatch {
    /// Zeroes: nothing was ever written, or the write was lost.
    #[error("holds zeroes: never written, or the write was lost")]
    NeverWritten,
    /// A stamp of an older pass: the last write was lost.
    #[error("is of pass {found}: the last write was lost")]
    StalePass {
        /// The pass found.
        found: u32,
    },
    /// A stamp that belongs elsewhere: a write or read went to the wrong place.
    #[error("belongs to offset {offset} of target {target}: misdirected")]
    WrongBlock {
        /// The target that the block was written to.
        target: u32,
        /// The offset that it was written to.
        offset: u64,
    },
    /// A stamp of another run.
    #[error("was written by another run ({found:016x})")]
    WrongRun {
        /// The run found.
        found: u64,
    },
    /// Neither zeroes nor a sound stamp.
    #[error("has no valid stamp: damaged, or not written by this program")]
    Damaged,
}

/// A block that holds something else than what was written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the block at offset {offset} of target {} {fault}", target.0)]
pub struct Mismatch {
    /// The target that was read.
    pub target: TargetId,
    /// Where the block starts.
    pub offset: u64,
    /// What is wrong with it.
    pub fault: PayloadMismatch,
}

/// Counts wrong blocks of all workers and keeps the first.
#[derive(Debug, Default)]
pub struct VerificationLog {
    count: AtomicU64,
    first: Mutex<Option<Mismatch>>,
}

impl VerificationLog {
    /// How many reads brought wrong data.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The first wrong block that was noticed.
    pub fn first(&self) -> Option<Mismatch> {
        *self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, mismatch: Mismatch) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(mismatch);
    }
}

impl Payload {
    /// Stamp every block of `bytes`, which is about to be written to `target` at `offset`.
    #[inline]
    pub fn stamp(&self, bytes: &mut [u8], target: TargetId, offset: u64) {
        for (block, at) in bytes
            .chunks_mut(BLOCK_BYTES)
            .zip((offset..).step_by(BLOCK_BYTES))
        {
            if let Some(place) = block.first_chunk_mut::<STAMP_BYTES>() {
                *place = encode(self.run, target.0, at, self.pass);
                match self.checking {
                    Checking::WholeBlock => fill_behind(block),
                    Checking::Record => {
                        mark_sectors(block);
                        write_text(block, at);
                    }
                    Checking::EveryStamp | Checking::LastStamp => mark_sectors(block),
                }
            }
        }
    }

    /// Check `bytes`, which was read from `target` at `offset`, as far as is wanted.
    ///
    /// # Errors
    /// The first block that is not what was written there.
    pub fn verify(&self, bytes: &[u8], target: TargetId, offset: u64) -> Result<(), Mismatch> {
        let first = match self.checking {
            Checking::LastStamp => (bytes.len() / BLOCK_BYTES).saturating_sub(1) * BLOCK_BYTES,
            Checking::EveryStamp | Checking::WholeBlock | Checking::Record => 0,
        };
        for (block, at) in bytes[first..]
            .chunks(BLOCK_BYTES)
            .zip((offset + first as u64..).step_by(BLOCK_BYTES))
        {
            let Some(found) = block.first_chunk::<STAMP_BYTES>() else {
                continue;
            };
            let fault = if *found == encode(self.run, target.0, at, self.pass) {
                None
            } else {
                self.diagnose(found, target, at)
            };
            let is_damaged = || match self.checking {
                Checking::WholeBlock => !is_filled(block),
                Checking::Record => !has_text(block, at),
                Checking::EveryStamp | Checking::LastStamp => false,
            };
            if let Some(fault) = fault.or_else(|| is_damaged().then_some(PayloadMismatch::Damaged))
            {
                return Err(Mismatch {
                    target,
                    offset: at,
                    fault,
                });
            }
        }
        Ok(())
    }

    /// `result` of a read, or [`MISMATCH`] when checking is on and the data are wrong.
    #[inline]
    pub(crate) fn judge(
        &self,
        result: Result<u32, Errno>,
        bytes: &[u8],
        target: TargetId,
        offset: u64,
    ) -> Result<u32, Errno> {
        match (&self.verification, result) {
            (Some(log), Ok(len)) => self.judge_by(log, len, bytes, (target, offset)),
            _ => result,
        }
    }

    fn judge_by(
        &self,
        log: &VerificationLog,
        len: u32,
        bytes: &[u8],
        (target, offset): (TargetId, u64),
    ) -> Result<u32, Errno> {
        let read = &bytes[..bytes.len().min(len as usize)];
        self.verify(read, target, offset)
            .map(|()| len)
            .map_err(|mismatch| {
                log.note(mismatch);
                MISMATCH
            })
    }

    fn diagnose(
        &self,
        stamp: &[u8; STAMP_BYTES],
        target: TargetId,
        at: u64,
    ) -> Option<PayloadMismatch> {
        if stamp.iter().all(|byte| *byte == 0) {
            return Some(PayloadMismatch::NeverWritten);
        }
        let (run, offset) = (word64(stamp, 8), word64(stamp, 16));
        let (found_target, pass) = (word32(stamp, 24), word32(stamp, 28));
        if *stamp != encode(run, found_target, offset, pass) {
            return Some(PayloadMismatch::Damaged);
        }
        if run != self.run {
            return Some(PayloadMismatch::WrongRun { found: run });
        }
        if (found_target, offset) != (target.0, at) {
            return Some(PayloadMismatch::WrongBlock {
                target: found_target,
                offset,
            });
        }
        (pass < self.pass).then_some(PayloadMismatch::StalePass { found: pass })
    }
}

/// The offset that a sound stamp of any run at the start of `bytes` was made for.
pub(crate) fn stamped_offset(bytes: &[u8]) -> Option<u64> {
    let stamp = bytes.first_chunk::<STAMP_BYTES>()?;
    let (run, offset) = (word64(stamp, 8), word64(stamp, 16));
    let (target, pass) = (word32(stamp, 24), word32(stamp, 28));
    (stamp[..4] == MAGIC && *stamp == encode(run, target, offset, pass)).then_some(offset)
}

/// Begin every sector but the first, which has the stamp, with a word that follows from it.
#[inline]
fn mark_sectors(block: &mut [u8]) {
    let seed = seed_of(block);
    for (sector, number) in block.chunks_mut(SECTOR_BYTES).zip(0_u64..).skip(1) {
        if let Some(place) = sector.first_chunk_mut::<8>() {
            *place = mix(seed ^ number).to_le_bytes();
        }
    }
}

/// Write the text of the record that begins at `at`; a part of a record has none.
fn write_text(block: &mut [u8], at: u64) {
    if at.is_multiple_of(BLOCK_BYTES as u64)
        && let Some(place) = block.get_mut(STAMP_BYTES..STAMP_BYTES + TEXT_BYTES)
    {
        place.copy_from_slice(&text_of(at));
    }
}

/// Whether the record that begins at `at` carries its text.
fn has_text(block: &[u8], at: u64) -> bool {
    let found = block.get(STAMP_BYTES..STAMP_BYTES + TEXT_BYTES);
    !at.is_multiple_of(BLOCK_BYTES as u64) || found.is_none_or(|found| found == text_of(at))
}

/// The line of text of the record that begins at `at`.
fn text_of(at: u64) -> [u8; TEXT_BYTES] {
    let mut text = [b'0'; TEXT_BYTES];
    let (before, rest) = text.split_at_mut(TEXT_BEFORE.len());
    let (digits, behind) = rest.split_at_mut(TEXT_DIGITS);
    before.copy_from_slice(&TEXT_BEFORE);
    behind.copy_from_slice(&TEXT_BEHIND);
    let mut number = at / BLOCK_BYTES as u64;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text
}

/// Fill a block behind its stamp with what follows from the stamp.
fn fill_behind(block: &mut [u8]) {
    let seed = seed_of(block);
    for (words, number) in block[STAMP_BYTES..].chunks_mut(8).zip(0_u64..) {
        words.copy_from_slice(&mix(seed ^ number).to_le_bytes()[..words.len()]);
    }
}

/// Whether a block holds behind its stamp what [`fill_behind`] would put there.
fn is_filled(block: &[u8]) -> bool {
    let seed = seed_of(block);
    let mut words = block[STAMP_BYTES..].chunks(8).zip(0_u64..);
    words.all(|(words, number)| *words == mix(seed ^ number).to_le_bytes()[..words.len()])
}

/// The check word and the other words of a stamp in one.
fn seed_of(block: &[u8]) -> u64 {
    let words = block[..STAMP_BYTES].chunks_exact(8);
    words.fold(0, |seed, word| {
        let word = word
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte));
        mix(seed ^ word)
    })
}

/// Layout, little-endian: magic (4), check word (4), run (8), offset (8), target (4), pass (4).
#[inline]
fn encode(run: u64, target: u32, offset: u64, pass: u32) -> [u8; STAMP_BYTES] {
    let place = u64::from(target) << 32 | u64::from(pass);
    let check = mix(mix(mix(run) ^ offset) ^ place);
    let mut stamp = [0; STAMP_BYTES];
    stamp[..4].copy_from_slice(&MAGIC);
    stamp[4..8].copy_from_slice(&check.to_le_bytes()[..4]);
    stamp[8..16].copy_from_slice(&run.to_le_bytes());
    stamp[16..24].copy_from_slice(&offset.to_le_bytes());
    stamp[24..28].copy_from_slice(&target.to_le_bytes());
    stamp[28..].copy_from_slice(&pass.to_le_bytes());
    stamp
}

/// The stamp of a block of `target` at `offset`, which any pass wrote.
pub fn stamp(run: u64, target: u32, offset: u64) -> [u8; STAMP_BYTES] {
    encode(run, target, offset, 0)
}

/// The runs of the sound stamps that begin anywhere in `bytes`.
pub(crate) fn stamps_in(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let places = bytes.windows(STAMP_BYTES).filter_map(|it| it.first_chunk());
    places.filter_map(|stamp: &[u8; STAMP_BYTES]| {
        let (run, offset) = (word64(stamp, 8), word64(stamp, 16));
        let is_sound = stamp[..4] == MAGIC
            && *stamp == encode(run, word32(stamp, 24), offset, word32(stamp, 28));
        is_sound.then_some(run)
    })
}

fn word64(bytes: &[u8; STAMP_BYTES], at: usize) -> u64 {
    bytes[at..at + 8]
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn word32(bytes: &[u8; STAMP_BYTES], at: usize) -> u32 {
    bytes[at..at + 4]
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: TargetId = TargetId(3);

    fn payload(run: u64, pass: u32) -> Payload {
        Payload {
            run,
            pass,
            ..Payload::default()
        }
    }

    fn written(len: usize) -> Vec<u8> {
        let mut bytes = vec![0xa5; len];
        payload(7, 2).stamp(&mut bytes, TARGET, 8192);
        bytes
    }

    /// What a reader of run 7, pass `pass`, says about `bytes` read from offset 8192.
    fn check(bytes: &[u8], pass: u32, expected: Result<(), (u64, PayloadMismatch)>) {
        let found = payload(7, pass).verify(bytes, TARGET, 8192);
        assert_eq!(
            found.map_err(|mismatch| (mismatch.offset, mismatch.fault)),
            expected
        );
    }

    #[test]
    fn what_was_written_is_recognised() {
        for len in [0, 1, 31, 32, 512, 4096, 4100, 12_288] {
            check(&written(len), 2, Ok(()));
            check(&written(len), 1, Ok(()));
        }
    }

    /// Only the stamp of each 4 KiB was new: arrays that deduplicate in sectors of 512 bytes kept
    /// one copy of the rest.
    #[test]
    fn no_sector_is_written_twice() {
        for checking in [
            Checking::EveryStamp,
            Checking::LastStamp,
            Checking::Record,
            Checking::WholeBlock,
        ] {
            let payload = Payload {
                checking,
                ..payload(7, 2)
            };
            let mut sectors = std::collections::BTreeSet::new();
            for offset in (0..64).map(|block| block * 8192) {
                let mut bytes = [0xa5; 8192];
                payload.stamp(&mut bytes, TARGET, offset);
                let new = bytes.chunks(SECTOR_BYTES).map(<[u8]>::to_vec);
                sectors.extend(new);
            }
            assert_eq!(sectors.len(), 64 * 16, "{checking:?}");
        }
    }

    #[test]
    fn each_fault_has_its_name() {
        check(&[0; 4096], 2, Err((8192, PayloadMismatch::NeverWritten)));
        check(
            &written(4096),
            3,
            Err((8192, PayloadMismatch::StalePass { found: 2 })),
        );
        let wrong = PayloadMismatch::WrongBlock {
            target: 3,
            offset: 12_288,
        };
        check(&written(8192)[4096..], 2, Err((8192, wrong)));
        let mut bytes = written(8192);
        bytes[4096 + 9] ^= 1;
        check(&bytes, 2, Err((12_288, PayloadMismatch::Damaged)));
        check(&[0x11; 4096], 2, Err((8192, PayloadMismatch::Damaged)));
        let mut other = vec![0; 4096];
        payload(8, 2).stamp(&mut other, TARGET, 8192);
        check(
            &other,
            2,
            Err((8192, PayloadMismatch::WrongRun { found: 8 })),
        );
        payload(7, 2).stamp(&mut other, TargetId(4), 8192);
        check(
            &other,
            2,
            Err((
                8192,
                PayloadMismatch::WrongBlock {
                    target: 4,
                    offset: 8192,
                },
            )),
        );
    }

    #[test]
    fn the_last_stamp_alone_or_every_byte_can_be_checked() {
        let with = |checking| Payload {
            checking,
            ..payload(7, 2)
        };
        let mut bytes = vec![0xa5; 12_288];
        with(Checking::WholeBlock).stamp(&mut bytes, TARGET, 8192);
        let check = |bytes: &[u8], checking, expected: Option<u64>| {
            let found = with(checking).verify(bytes, TARGET, 8192);
            assert_eq!(
                found.err().map(|wrong| wrong.offset),
                expected,
                "{checking:?}"
            );
        };
        for checking in [
            Checking::EveryStamp,
            Checking::LastStamp,
            Checking::WholeBlock,
        ] {
            check(&bytes, checking, None);
        }
        let mut damaged = bytes.clone();
        damaged[4096 + 4095] ^= 1;
        check(&damaged, Checking::EveryStamp, None);
        check(&damaged, Checking::WholeBlock, Some(12_288));
        damaged[4096 + 9] ^= 1;
        check(&damaged, Checking::EveryStamp, Some(12_288));
        check(&damaged, Checking::LastStamp, None);
        damaged[8192] ^= 1;
        check(&damaged, Checking::LastStamp, Some(16_384));
        check(&bytes[..512], Checking::LastStamp, None);
    }

    #[test]
    fn records_carry_number_and_text() {
        let record = Payload {
            checking: Checking::Record,
            ..payload(7, 2)
        };
        let mut bytes = vec![0xa5; 8192];
        record.stamp(&mut bytes, TARGET, 12_345 * 4096);
        let text = String::from_utf8_lossy(&bytes[4096 + STAMP_BYTES..][..TEXT_BYTES]);
        assert_eq!(
            text,
            "\nrecord 0000000000012346: Seekstone random access test.\n"
        );
        assert_eq!(record.verify(&bytes, TARGET, 12_345 * 4096), Ok(()));
        bytes[4096 + STAMP_BYTES + 10] ^= 1;
        let wrong = record.verify(&bytes, TARGET, 12_345 * 4096);
        assert_eq!(
            wrong.map_err(|wrong| (wrong.offset, wrong.fault)),
            Err((12_346 * 4096, PayloadMismatch::Damaged))
        );
        // Who does not ask for the text does not look at it, and a part of a record has none.
        assert_eq!(payload(7, 2).verify(&bytes, TARGET, 12_345 * 4096), Ok(()));
        let mut part = vec![0xa5; 512];
        record.stamp(&mut part, TARGET, 512);
        assert_eq!(part[STAMP_BYTES], 0xa5);
        assert_eq!(record.verify(&part, TARGET, 512), Ok(()));
    }

    #[test]
    fn a_judged_read_is_counted_and_kept() {
        let log = Arc::new(VerificationLog::default());
        let judge = Payload {
            verification: Some(Arc::clone(&log)),
            ..payload(7, 2)
        };
        assert_eq!(
            judge.judge(Ok(4096), &written(4096), TARGET, 8192),
            Ok(4096)
        );
        assert_eq!(
            judge.judge(Ok(4096), &[0; 4096], TARGET, 8192),
            Err(MISMATCH)
        );
        assert_eq!(
            judge.judge(Err(Errno(5)), &[0; 4096], TARGET, 8192),
            Err(Errno(5))
        );
        assert_eq!(log.count(), 1);
        let text = log.first().unwrap().to_string();
        assert!(
            text.starts_with("the block at offset 8192 of target 3 holds zeroes"),
            "{text}"
        );
    }
}
