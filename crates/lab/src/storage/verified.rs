//! Targets whose writes carry headers, and reading them back.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use drivers::{AlignedBuffer, Caching, Seal, Target, TargetError, Verification};
use engine::Clock as _;
use host::limits::ProcessLimits;
use results::{Warning, WarningCode};
use sys::drop_cached;
use units::{Bytes, Instant};
use verify::{
    ExpectedDurability, Findings, Ledger, StateHead, StateTarget, VerifyMismatch, Words, new_words,
    words_needed,
};
use workload::TargetId;

use super::StorageLaboratory;
use crate::laboratory::LaboratoryError;
use crate::state_file;

/// Bytes that are read back at once.
const READ_BACK_BYTES: u64 = 1 << 20;
/// Findings that a warning tells.
const LISTED_MAX: usize = 5;
/// The part of the available memory that a ledger may take.
const MEMORY_PART: u64 = 2;

/// A piece of a target that was read back and held against what was written.
#[derive(Clone, Copy, Debug)]
pub struct ReadBackPiece {
    /// The share of the target before it.
    pub share: f64,
    /// Those of its bytes that were written after the write that was named.
    pub new: u64,
    /// When its read began.
    pub begun: Instant,
    /// When it was read and checked.
    pub now: Instant,
}

impl StorageLaboratory {
    /// From now on writes to those targets get headers, and reads are held against what was
    /// written. In blocks of `inherited` targets that this run did not write, headers of an earlier
    /// run are expected. All offsets and lengths are multiples of `unit` bytes.
    ///
    /// # Errors
    /// When that takes more memory than there is, or blocks are not whole sectors.
    pub fn verify_targets(
        &mut self,
        targets: &[TargetId],
        inherited: &[TargetId],
        unit: u64,
    ) -> Result<(), LaboratoryError> {
        let ids: Vec<TargetId> = targets.iter().map(|id| self.table.stamp_id(*id)).collect();
        let len_of = |(number, target): (usize, &Target)| {
            let is_verified = ids.contains(&TargetId(number as u32));
            if is_verified { target.size() } else { 0 }
        };
        let lens = self.table.targets().iter().enumerate().map(len_of);
        let lens: Vec<u64> = lens.collect();
        let seed = Seal::of_this_run().number();
        let words = self.words(seed, unit, &lens)?;
        let ledger = Ledger::new(seed, unit, &lens, words)?;
        let inherited = inherited.iter().map(|id| self.table.stamp_id(*id).0);
        let verification = Verification::new(ledger, inherited.collect());
        self.payload.headers = Some(Arc::new(verification));
        Ok(())
    }

    /// The numbers of a new ledger: in the state file that was asked for, else in memory.
    fn words(&self, seed: u64, unit: u64, lens: &[u64]) -> Result<Words, LaboratoryError> {
        let count = words_needed(unit, lens);
        if let Some(path) = &self.settings.verify_state {
            let targets = self.table.targets().iter().zip(lens);
            let targets = targets.map(|(target, &bytes)| {
                let path = std::path::absolute(target.path());
                let path = path.unwrap_or_else(|_| target.path().to_owned());
                StateTarget {
                    bytes,
                    path: path.as_os_str().as_bytes().to_vec(),
                }
            });
            let targets = targets.collect();
            let head = StateHead {
                seed,
                unit,
                targets,
            };
            return Ok(state_file::create(path, &head, count)?);
        }
        let needed = count.saturating_mul(size_of::<u64>() as u64);
        let available = ProcessLimits::capture().memory_available_bytes;
        match available.is_some_and(|available| needed > available / MEMORY_PART) {
            true => {
                let bytes = Bytes(lens.iter().sum());
                Err(LaboratoryError::LedgerMemory(bytes, Bytes(needed)))
            }
            false => Ok(new_words(count)),
        }
    }

    /// Verify all test files, or the named target, where the settings ask for it.
    ///
    /// # Errors
    /// As for [`StorageLaboratory::verify_targets`].
    pub fn verify_as_asked(&mut self) -> Result<(), LaboratoryError> {
        match self.settings.verify_unit {
            Some(unit) => self.verify_targets(&self.test_files(), &[], unit),
            None => Ok(()),
        }
    }

    /// What verification found so far.
    pub fn findings(&self) -> Findings {
        let headers = self.payload.headers.as_ref();
        headers
            .map(|headers| headers.findings())
            .unwrap_or_default()
    }

    /// The number of the last write to a verified target.
    pub fn last_write(&self) -> u64 {
        let headers = self.payload.headers.as_ref();
        headers.map_or(0, |headers| headers.ledger().last_write())
    }

    /// Read all that was written to a target, while nobody writes, and say how many bytes that
    /// was. `watch` is told of each piece, with what of it was written after `since`, and returns
    /// whether to go on.
    ///
    /// # Errors
    /// When the target cannot be read.
    pub fn read_back(
        &self,
        (id, since): (TargetId, u64),
        ends_at_first: bool,
        watch: &mut dyn FnMut(&ReadBackPiece) -> bool,
    ) -> Result<u64, LaboratoryError> {
        let mut read = 0;
        let Some(headers) = &self.payload.headers else {
            return Ok(read);
        };
        let stamp_id = self.table.stamp_id(id);
        let Some(target) = self.reader_of(stamp_id, headers.ledger().unit()) else {
            return Ok(read);
        };
        let in_context = |error| TargetError::io("read back", target.path(), error);
        let file = &*target.descriptor().map_err(in_context)?;
        if target.caching() == Caching::Buffered {
            drop_cached(file).map_err(in_context)?;
        }
        let size = target.size().max(1) as f64;
        let mut begun = self.clock.now();
        let ledger = headers.ledger();
        read_written(
            ledger,
            stamp_id.0,
            file,
            ExpectedDurability::Acknowledged,
            |at, len, found| {
                headers.note(found);
                read += len;
                let now = self.clock.now();
                let goes_on = watch(&ReadBackPiece {
                    share: at as f64 / size,
                    new: ledger.bytes_written_after(since, stamp_id.0, at, len),
                    begun,
                    now,
                });
                begun = self.clock.now();
                (found.is_empty() || !ends_at_first) && goes_on
            },
        )
        .map_err(in_context)?;
        Ok(read)
    }

    /// The target by which a file is read in pieces of `unit` bytes: past the page cache, where
    /// that takes such pieces.
    fn reader_of(&self, stamp_id: TargetId, unit: u64) -> Option<&Target> {
        let numbered = (0..).zip(self.table.targets());
        let mut same =
            numbered.filter(|(number, _)| self.table.stamp_id(TargetId(*number)) == stamp_id);
        let fits = |target: &Target| unit.is_multiple_of(u64::from(target.alignment().offset));
        same.find(|(_, target)| target.caching() == Caching::Buffered || fits(target))
            .map(|(_, target)| target)
    }
}

/// Read all that was written to a target, while nobody writes. `see` is told where it was read, how
/// many bytes, and what is wrong with them, and returns whether to go on.
///
/// # Errors
/// When the target cannot be read, or there is no memory.
pub(crate) fn read_written(
    ledger: &Ledger,
    target: u32,
    file: &File,
    trust: ExpectedDurability,
    mut see: impl FnMut(u64, u64, &[VerifyMismatch]) -> bool,
) -> io::Result<()> {
    let memory = AlignedBuffer::zeroed(READ_BACK_BYTES.max(ledger.unit()) as usize);
    let mut memory = memory.map_err(io::Error::other)?;
    for (offset, len) in ledger.written(target, READ_BACK_BYTES) {
        let bytes = &mut memory.as_mut_slice()[..len as usize];
        file.read_exact_at(bytes, offset)?;
        let found = ledger.judge(target, offset, bytes, trust);
        if !see(offset, len, &found) {
            break;
        }
    }
    Ok(())
}

/// What a report says of findings.
pub fn wrong_data(title: &str, findings: &Findings) -> Warning {
    let listed = findings.first().iter().take(LISTED_MAX);
    let listed: Vec<String> = listed.map(ToString::to_string).collect();
    Warning::invalid(
        WarningCode::WrongData,
        format!(
            "{title}: verification found {findings} ({}). The storage returned different data from \
             what was written.",
            listed.join("; ")
        ),
    )
}
