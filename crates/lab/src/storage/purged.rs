//! Makes the main target forget what was written to it.

use drivers::{PurgeMethod, ReadBack, TargetFileType, purge};

use super::{StorageLaboratory, TargetLocation};
use crate::laboratory::LaboratoryError;

impl StorageLaboratory {
    /// How the target can be purged: a device by a discard, a file by punching it out. `None` for a
    /// directory, whose test file is a new one.
    pub fn purge_method(&self) -> Option<PurgeMethod> {
        let TargetLocation::Named = self.place else {
            return None;
        };
        Some(match self.table.targets().first()?.kind() {
            TargetFileType::Device => PurgeMethod::Discard,
            TargetFileType::File => PurgeMethod::Punch,
        })
    }

    /// Make all of the target forget; `None` when `go_on` said no between two pieces.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn purge(
        &self,
        method: PurgeMethod,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<ReadBack>, LaboratoryError> {
        match self.table.targets().first() {
            Some(target) => Ok(purge(target, method, go_on)?),
            None => Ok(None),
        }
    }
}
