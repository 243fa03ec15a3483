//! What transfer passes need of a laboratory between trials.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::{Caching, Checking, TargetError, VerificationLog};
use sys::drop_cached;

use super::{MAIN_FILE, StorageLaboratory, TargetLocation};
use crate::laboratory::LaboratoryError;

impl StorageLaboratory {
    /// Write out and drop what the page cache holds of the main target.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn drop_main(&self) -> Result<(), LaboratoryError> {
        if let Some(target) = self.table.targets().first() {
            drop_cached(target.file()).map_err(|error| {
                TargetError::io("prepare the page cache of", target.path(), error)
            })?;
        }
        Ok(())
    }

    /// Write out what was written to the main target, so that no later read waits for it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn settle_main(&self) -> Result<(), LaboratoryError> {
        if let Some(target) = self.table.targets().first() {
            let synced = target.file().sync_data();
            synced.map_err(|error| TargetError::io("write out", target.path(), error))?;
        }
        Ok(())
    }

    /// What offsets and lengths on the main target must be multiples of: known before it is made,
    /// in a directory that was probed.
    pub fn unit(&self) -> u32 {
        let main = self.table.targets().first();
        let of_main = main.map(|target| target.alignment().offset);
        let of_directory = match self.settings.caching {
            Caching::Direct => self.direct_unit,
            Caching::Buffered => None,
        };
        of_main.or(of_directory).unwrap_or(1)
    }

    /// From now on that much of what is read is held against what was written; nothing when absent.
    pub fn check_reads(&mut self, checking: Option<Checking>) {
        self.payload.checking = checking.unwrap_or_default();
        self.payload.verification = checking.map(|_| Arc::new(VerificationLog::default()));
    }

    /// How what is written from now on can be checked.
    pub fn write_for(&mut self, checking: Checking) {
        self.payload.checking = checking;
    }

    /// The main file, if this laboratory made one.
    pub fn main_file(&self) -> Option<PathBuf> {
        let TargetLocation::Directory { directory, .. } = &self.place else {
            return None;
        };
        Some(Path::new(directory.path()).join(MAIN_FILE))
    }
}
