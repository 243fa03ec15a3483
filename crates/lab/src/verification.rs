//! A bench whose writes are verified.

use units::{Bytes, Instant};
use verify::Findings;

use crate::bench::Bench;
use crate::laboratory::LaboratoryError;

impl Bench {
    /// Verify all test files, or the named target, where the settings ask for it.
    ///
    /// # Errors
    /// When that takes more memory than there is.
    pub fn verify_as_asked(&mut self) -> Result<(), LaboratoryError> {
        match self {
            Self::Real(real) => real.verify_as_asked(),
            _ => Ok(()),
        }
    }

    /// Read all back that was written to verified targets, and say how much that was. `watch` is
    /// told which share of a target is done, and returns whether to go on.
    ///
    /// # Errors
    /// When a target cannot be read.
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

    /// What verification found so far.
    #[must_use]
    pub fn findings(&self) -> Findings {
        match self {
            Self::Real(real) => real.findings(),
            _ => Findings::default(),
        }
    }
}
