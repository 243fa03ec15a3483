//! Why a bench gives no run.

use host::inspect::InspectError;
use procedure::PositioningError;
use results::Warning;
use units::capitalised;
use verify::Findings;

use crate::cells::Killed;
use crate::laboratory::{LaboratoryError, with_causes};
use crate::state_file::StateFileError;

/// Why there is no run at all.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The target cannot be inspected.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The model does not exist.
    #[error(transparent)]
    Sim(#[from] sim::SimError),
    /// Nothing could be measured.
    #[error(transparent)]
    Laboratory(#[from] LaboratoryError),
    /// A file could not be opened.
    #[error(transparent)]
    Positioning(#[from] PositioningError),
    /// The run is only replayed, and no further results were kept.
    #[error(transparent)]
    Killed(#[from] Killed),
    /// The target holds different data than was written.
    #[error("verification found {0}")]
    WrongData(Findings),
    /// Options that conflict with each other or with the target.
    #[error("{0}")]
    Usage(String),
    /// What storage refused to a program that uses files, as a sentence.
    #[error("{0}")]
    Refused(String),
    /// This is not rank 0. Rank 0 has the run, or reports why there is none.
    #[error("rank 0 has the result")]
    Served,
    /// Stopped before anything was measured.
    #[error("stopped by {signal} before anything was measured. Nothing was saved")]
    Interrupted {
        /// Name of the signal.
        signal: String,
    },
    /// Nothing was measured, and some of Seekstone's files could not be removed.
    #[error("{}. {}", with_causes(error), capitalised(left))]
    LeftBehind {
        /// Why nothing was measured.
        error: Box<BenchError>,
        /// What is left, and why.
        left: String,
    },
}

impl BenchError {
    /// Whether it is a usage error and nothing was done.
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Usage(_)
                | Self::Inspect(InspectError::Missing(_))
                | Self::Sim(_)
                | Self::Laboratory(
                    LaboratoryError::Misfit(_) | LaboratoryError::State(StateFileError::Exists(_)),
                )
        )
    }

    /// Adds what could not be removed.
    #[must_use]
    pub fn with_left(self, left: impl IntoIterator<Item = Warning>) -> Self {
        let texts: Vec<String> = left.into_iter().map(|warning| warning.text()).collect();
        match texts.is_empty() {
            true => self,
            false => Self::LeftBehind {
                error: Box::new(self),
                left: texts.join("; "),
            },
        }
    }

    /// Why a run is partial, if something had been measured before.
    pub fn reason(&self) -> String {
        match self {
            Self::Interrupted { signal } => format!("stopped by {signal}"),
            other => with_causes(other),
        }
    }
}
