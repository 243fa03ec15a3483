//! The machine whose processors and memory clients use, and whose time they live in.

use host::limits::{LimitError, check_budget};
use host::processors::processors;
use results::Setup;
use sim::SimError;
use units::TargetName;

use crate::simulated::open_recorded_model;

/// The machine that clients are programs of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientMachine {
    This,
    /// That of a model.
    Modelled {
        processors: u32,
    },
}

impl ClientMachine {
    /// The machine of clients of this target.
    ///
    /// # Errors
    /// When the target is a model that does not exist.
    pub fn of(target: &TargetName, setup: &Setup) -> Result<Self, SimError> {
        let Some(name) = target.model() else {
            return Ok(Self::This);
        };
        let processors = open_recorded_model(name, setup)?.cpus as u32;
        Ok(Self::Modelled { processors })
    }

    /// How many processors work for clients.
    #[must_use]
    pub fn processors(self) -> u32 {
        match self {
            Self::This => processors().len() as u32,
            Self::Modelled { processors } => processors,
        }
    }

    /// Check that this many files can still be opened, and this many bytes of memory used. Clients
    /// of a model share its file cache instead, which gives what it has.
    ///
    /// # Errors
    /// What is too little.
    pub fn check_budget(self, files: u64, memory: u64) -> Result<(), LimitError> {
        match self {
            Self::This => check_budget(files, memory),
            Self::Modelled { .. } => Ok(()),
        }
    }

    /// Whether a moment of the calendar is one of its time, so that clients can start at it.
    #[must_use]
    pub const fn keeps_our_time(self) -> bool {
        matches!(self, Self::This)
    }
}
