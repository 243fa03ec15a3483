//! The seam: bytes from rank to rank.

use units::{Duration, Instant};

/// What one rank sent to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank that sent it.
    pub from: u32,
    /// What it sent.
    pub bytes: Vec<u8>,
}

/// Why ranks cannot go on together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// A rank was waited for, and nothing came from it.
    #[error("rank {rank} has been silent for {silent}")]
    Silent {
        /// The first such rank.
        rank: u32,
        /// For how long nothing was heard of it.
        silent: Duration,
    },
    /// A rank sent what no rank of this program sends at that point.
    #[error("rank {rank} sent {what}")]
    Unexpected {
        rank: u32,
        /// What came, in words.
        what: String,
    },
    /// The library that carries messages failed.
    #[error("MPI: {operation} failed with {reason}")]
    Transport {
        /// What was asked of it.
        operation: &'static str,
        /// What it says.
        reason: String,
    },
}

/// Ranks `0..size` that send each other bytes. Messages from one rank to another arrive in the
/// order in which they were sent. Rank 0 leads.
pub trait Fleet: Send {
    fn rank(&self) -> u32;

    fn size(&self) -> u32;

    /// The present instant on this rank's own clock. No two ranks' clocks agree.
    fn now(&self) -> Instant;

    /// Send bytes without waiting for their receiver.
    ///
    /// # Errors
    /// When the library refuses. That the receiver is dead shows by its silence, not here.
    fn send(&mut self, to: u32, bytes: &[u8]) -> Result<(), FleetError>;

    /// The next message, if one comes before `until` on this rank's clock. The only place where a
    /// rank waits; an `until` that has passed asks what is there already.
    ///
    /// # Errors
    /// When the library fails.
    fn receive(&mut self, until: Instant) -> Result<Option<Message>, FleetError>;

    /// Part from the others in order: all of them call it, and none waits for one that has not.
    ///
    /// # Errors
    /// When the library fails.
    fn leave(&mut self) -> Result<(), FleetError>;

    /// End all ranks at once, with that exit code, because one of them can no longer part in order.
    fn abort(&mut self, code: i32);
}
