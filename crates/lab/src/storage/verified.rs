//! Targets whose writes carry headers, and reading them back.

use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use drivers::{AlignedBuffer, Caching, Seal, Target, TargetError, Verification};
use engine::Clock as _;
use host::limits::Limits;
use results::Warning;
use sys::drop_cached;
use units::{Bytes, Instant};
use verify::{Findings, Ledger, Trust, new_words, words_needed};
use workload::TargetId;

use super::StorageLaboratory;
use crate::laboratory::LaboratoryError;

/// Bytes that are read back at once.
const READ_BACK_BYTES: u64 = 1 << 20;
/// Findings that a warning tells.
const TOLD_MAX: usize = 5;
/// The part of the available memory that a ledger may take.
const MEMORY_PART: u64 = 2;

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
        let words = words_needed(unit, &lens);
        let needed = words.saturating_mul(size_of::<u64>() as u64);
        let available = Limits::capture().memory_available_bytes;
        if available.is_some_and(|available| needed > available / MEMORY_PART) {
            return Err(LaboratoryError::LedgerMemory {
                bytes: Bytes(lens.iter().sum()),
                needed: Bytes(needed),
            });
        }
        let ledger = Ledger::new(Seal::of_this_run().number(), unit, &lens, new_words(words))?;
        let inherited = inherited.iter().map(|id| self.table.stamp_id(*id).0);
        let verification = Verification::new(ledger, inherited.collect());
        self.payload.headers = Some(Arc::new(verification));
        Ok(())
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
    #[must_use]
    pub fn findings(&self) -> Findings {
        let headers = self.payload.headers.as_ref();
        headers
            .map(|headers| headers.findings())
            .unwrap_or_default()
    }

    /// Read all that was written to a target, while nobody writes. `watch` is told which share is
    /// done, and returns whether to go on.
    ///
    /// # Errors
    /// When the target cannot be read.
    pub fn read_back(
        &self,
        id: TargetId,
        ends_at_first: bool,
        watch: &mut dyn FnMut(f64, Instant) -> bool,
    ) -> Result<(), LaboratoryError> {
        let Some(headers) = &self.payload.headers else {
            return Ok(());
        };
        let stamp_id = self.table.stamp_id(id);
        let Some(target) = self.reader_of(stamp_id, headers.ledger().unit()) else {
            return Ok(());
        };
        let in_context = |error| TargetError::io("read back", target.path(), error);
        if target.caching() == Caching::Buffered {
            drop_cached(target.file()).map_err(in_context)?;
        }
        let memory = AlignedBuffer::zeroed(READ_BACK_BYTES.max(headers.ledger().unit()) as usize);
        let mut memory = memory.map_err(|error| in_context(std::io::Error::other(error)))?;
        let size = target.size().max(1) as f64;
        for (offset, len) in headers.ledger().written(stamp_id.0, READ_BACK_BYTES) {
            if !watch(offset as f64 / size, self.clock.now()) {
                return Ok(());
            }
            let bytes = &mut memory.as_mut_slice()[..len as usize];
            target
                .file()
                .read_exact_at(bytes, offset)
                .map_err(in_context)?;
            let found = headers
                .ledger()
                .judge(stamp_id.0, offset, bytes, Trust::Acknowledged);
            headers.note(&found, len);
            if ends_at_first && !found.is_empty() {
                return Ok(());
            }
        }
        Ok(())
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

/// What a report says of findings.
#[must_use]
pub fn wrong_data(title: &str, findings: &Findings) -> Warning {
    let told = findings.first().iter().take(TOLD_MAX);
    let told: Vec<String> = told.map(ToString::to_string).collect();
    Warning::void(
        "wrong-data",
        format!(
            "{title}: what was written was verified, and {findings} found: {}. The storage \
             returned something else than was written.",
            told.join("; ")
        ),
    )
}
