//! Verification of a bench's writes.

use units::{Bytes, Instant};
use verify::Findings;

use crate::bench::Bench;
use crate::laboratory::LaboratoryError;

impl Bench {
    /// Verifies all test files or the named target, if the settings require it.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn verify_as_asked(&mut self) -> Result<(), LaboratoryError> {
        match self {
            Self::Real(real) => real.verify_as_asked(),
            _ => Ok(()),
        }
    }

    /// Reads back everything written to verified targets, and returns how much that was. `watch`
    /// receives the progress on a target, and returns whether to continue.
    ///
    /// # Errors
    /// If a target cannot be read.
    pub fn read_back(
        &self,
        watch: &mut dyn FnMut(f64, Instant) -> bool,
    ) -> Result<Bytes, LaboratoryError> {
        let Self::Real(real) = self else {
            return Ok(Bytes(0));
        };
        let mut targets = real.test_files().into_iter();
        let read = targets.try_fold(0, |read, target| {
            let bytes = real.read_back((target, 0), false, &mut |piece| {
                watch(piece.share, piece.now)
            });
            Ok::<_, LaboratoryError>(read + bytes?)
        });
        read.map(Bytes)
    }

    /// Findings of verification so far.
    pub fn findings(&self) -> Findings {
        match self {
            Self::Real(real) => real.findings(),
            _ => Findings::default(),
        }
    }
}
