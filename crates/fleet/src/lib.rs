//! Hosts that measure together.
//!
//! A [`Fleet`] carries bytes from rank to rank and is the only place where a rank waits. A
//! [`FleetGroup`] makes of it what a procedure needs: rounds in which all take part, letters in
//! between, and the name of a rank that has fallen silent. [`ClockLine`] says what another rank's
//! clock reads, and how far that may be wrong. [`ClientShare`] deals clients to ranks.
//!
//! [`Launch`] writes what starts them on a cluster.
//!
//! Knows nothing about trials, MPI, or storage.

mod clock;
mod deal;
mod fleet;
mod group;
mod launch;
mod letter;

pub use clock::{ClockLine, ClockReading, DRIFT_MAX_PPM, Exchange};
pub use deal::ClientShare;
pub use fleet::{Fleet, FleetError, Message};
pub use group::FleetGroup;
pub use launch::{Launch, LaunchError, Mpi, Pods, SlurmBatch};
pub use letter::{Letter, LetterKind};
