//! The passes of a backup, over files or between models.

use results::Reading;
use units::Duration;

use crate::measure::Stop;
use crate::measure::place::Result;
use crate::measure::records::Flow;

pub struct Saved {
    pub stream_bytes: u64,
    /// What else this storage tells.
    pub others: Vec<Reading>,
}

/// A source, and the stream that it is saved to.
pub trait Passes {
    /// Bytes of the source.
    fn bytes(&self) -> u64;

    /// Save it, until the stream is on the storage.
    ///
    /// # Errors
    /// When the storage fails, or somebody stopped it.
    fn save(&mut self, stop: &Stop) -> Result<Flow>;

    /// Read the stream, and compare it with the source.
    ///
    /// # Errors
    /// When it is not what was saved, the storage fails, or somebody stopped it.
    fn verify(&mut self, stop: &Stop) -> Result<Flow>;

    /// Restore it, and compare; what that gives, where there is content.
    ///
    /// # Errors
    /// When it is not what was saved, the storage fails, or somebody stopped it.
    fn restore(&mut self, stop: &Stop) -> Result<Vec<Reading>>;

    /// What saving and verifying took of the processor, where it is a part of the model.
    fn processor_time(&self) -> Option<Duration>;

    /// Leave nothing behind.
    ///
    /// # Errors
    /// When the system refuses.
    fn finish(self: Box<Self>) -> Result<Saved>;
}
