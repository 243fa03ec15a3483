//! Named rolling sets of runs.

use rusqlite::params;

use super::{Archive, failure};
use crate::error::ArchiveError;

/// Maximum number of runs in a set. Older ones leave it, but stay in the archive.
pub const BASELINE_RUNS_MAX: usize = 100;

impl Archive {
    /// The numbers of a baseline's runs, the oldest first; empty if there is no such set.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn baseline(&self, name: &str) -> Result<Vec<i64>, ArchiveError> {
        let query = "SELECT run_id FROM baselines WHERE name = ? ORDER BY run_id";
        self.rows(query, [name], |row| row.get(0))
    }

    /// Adds runs to a baseline: all of them or, on an error, none. Beyond [`BASELINE_RUNS_MAX`],
    /// the oldest leave the set.
    ///
    /// # Errors
    /// If one of the runs does not exist, or the file cannot be written.
    pub fn add_to_baseline(&mut self, name: &str, ids: &[i64]) -> Result<(), ArchiveError> {
        for &id in ids {
            self.load(id)?;
        }
        let path = self.path.clone();
        let failed = |source| failure("write", path.clone(), source);
        let transaction = self.writing()?;
        for id in ids {
            let insert = "INSERT OR IGNORE INTO baselines (name, run_id) VALUES (?, ?)";
            transaction
                .execute(insert, params![name, id])
                .map_err(failed)?;
        }
        let trim = "DELETE FROM baselines WHERE name = ?1 AND run_id NOT IN \
                    (SELECT run_id FROM baselines WHERE name = ?1 ORDER BY run_id DESC LIMIT ?2)";
        let most = BASELINE_RUNS_MAX as i64;
        transaction
            .execute(trim, params![name, most])
            .map_err(failed)?;
        transaction.commit().map_err(failed)?;
        self.tidy();
        Ok(())
    }
}
