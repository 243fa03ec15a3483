//! The machine that provides clients with processors, memory and time.

use host::limits::{LimitError, check_budget};
use host::processors::processors;
use results::Setup;
use sim::SimError;
use units::TargetName;

use crate::simulated::open_recorded_model;

/// The machine on which clients run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientMachine {
    This,
    /// The host of a model.
    Modelled {
        processors: u32,
    },
}

impl ClientMachine {
    /// The machine of this target's clients.
    ///
    /// # Errors
    /// If the target is a model that does not exist.
    pub fn of(target: &TargetName, setup: &Setup) -> Result<Self, SimError> {
        let Some(name) = target.model() else {
            return Ok(Self::This);
        };
        let processors = open_recorded_model(name, setup)?.cpus as u32;
        Ok(Self::Modelled { processors })
    }

    /// Number of processors for clients.
    pub fn processors(self) -> u32 {
        match self {
            Self::This => processors().len() as u32,
            Self::Modelled { processors } => processors,
        }
    }

    /// Checks that this many files can be opened, and this many bytes of memory used. Clients of a
    /// model share its file cache instead, which has no such limit.
    ///
    /// # Errors
    /// Names the exceeded limits.
    pub fn check_budget(self, files: u64, memory: u64) -> Result<(), LimitError> {
        match self {
            Self::This => check_budget(files, memory),
            Self::Modelled { .. } => Ok(()),
        }
    }

    /// Whether it uses real time, so that clients can start at a wall-clock time.
    pub const fn keeps_our_time(self) -> bool {
        matches!(self, Self::This)
    }
}
