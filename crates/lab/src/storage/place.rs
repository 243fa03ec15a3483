//! What a laboratory of real storage made, and where.

use std::sync::Arc;

use drivers::{TargetError, TargetTable, WorkDirectory};

/// Where the targets are.
pub(super) enum TargetLocation {
    Directory {
        directory: Arc<WorkDirectory>,
        size: u64,
    },
    Named,
    /// Several files, of which those that were not there lie in directories of ours.
    Several {
        directories: Vec<Arc<WorkDirectory>>,
        /// Bytes that stay free on the file system of each file.
        reserves: Vec<u64>,
    },
}

impl TargetLocation {
    /// Close the targets, and remove what was made.
    pub(super) fn clean_up(self, table: Arc<TargetTable>) -> Result<(), TargetError> {
        drop(table);
        // All are tried, whatever becomes of one.
        let removed = self.directories().iter().map(|it| it.remove());
        let removed: Vec<Result<(), TargetError>> = removed.collect();
        removed.into_iter().collect()
    }

    pub(super) fn directories(&self) -> &[Arc<WorkDirectory>] {
        match self {
            Self::Directory { directory, .. } => std::slice::from_ref(directory),
            Self::Several { directories, .. } => directories,
            Self::Named => &[],
        }
    }
}
