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
    /// The target cannot be looked at.
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
    /// The run is only told, and nothing more was kept of it.
    #[error(transparent)]
    Killed(#[from] Killed),
    /// The target holds something else than was written.
    #[error("verification found {0}")]
    WrongData(Findings),
    /// Options that do not go together, or with the target.
    #[error("{0}")]
    Usage(String),
    /// What storage refused a program that uses files, in a sentence.
    #[error("{0}")]
    Refused(String),
    /// This is not rank 0, which has the run, and says why where there is none.
    #[error("rank 0 has the result")]
    Served,
    /// It was stopped before anything was measured.
    #[error("stopped by {signal} before anything was measured. Nothing was saved")]
    Interrupted {
        /// The signal's name.
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
    /// Whether it was asked for wrongly, and nothing was done.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Usage(_)
                | Self::Inspect(InspectError::Missing(_))
                | Self::Sim(_)
                | Self::Laboratory(
                    LaboratoryError::Misaligned { .. }
                        | LaboratoryError::MisalignedThreads { .. }
                        | LaboratoryError::Unpolled { .. }
                        | LaboratoryError::Addresses { .. }
                        | LaboratoryError::State(StateFileError::Exists(_)),
                )
        )
    }

    /// The same with what could not be removed, too.
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

    /// Why a run is a partial one, where something had been measured before.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Interrupted { signal } => format!("stopped by {signal}"),
            other => with_causes(other),
        }
    }
}
