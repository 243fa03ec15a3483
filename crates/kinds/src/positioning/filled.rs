//! A simulated device that files of equal size fill, one after the other.

use procedure::{PositioningError, PositioningPlan, position};
use sim::SimSpec;
use units::{Bytes, Duration, Instant};

use crate::session::Result;
use lab::bench::BenchError;

/// A model, and the files on it.
pub(super) struct FilledModel {
    spec: SimSpec,
    pub plan: PositioningPlan,
}

impl FilledModel {
    /// The model, filled with this many files of at least a record each.
    ///
    /// # Errors
    /// When files are too small for a record.
    pub fn of(spec: SimSpec, files: u32, record: Bytes, seed: u64) -> Result<Self> {
        let file_bytes = spec.size.0 / u64::from(files.max(1));
        if file_bytes < record.0 || record.0 == 0 {
            return Err(BenchError::Usage(format!(
                "{files} files of {} have no first record of {record}: choose fewer files, or a \
                 smaller record",
                spec.size
            )));
        }
        let plan = PositioningPlan {
            files,
            file_bytes,
            record_bytes: record.0 as u32,
            bin: None,
            seed,
        };
        Ok(Self { spec, plan })
    }

    /// The time of each file, in the order of that round. Every round begins with a device at rest,
    /// so that rounds know nothing of each other.
    ///
    /// # Errors
    /// When a record cannot be read.
    pub fn round(&self, round: u32) -> Result<Vec<Duration>, PositioningError> {
        let seed = self.plan.seed.wrapping_add(u64::from(round));
        let mut driver = self.spec.driver(seed, 1, Instant::START);
        position(&mut driver, &self.plan, round)
    }
}
