//! A target that is open.

use procedure::{MAIN_DIRECT, cached_part};
use results::environment::{RaidActivity, RaidState};
use results::{Access, Caution, Severity, Warning};
use sim::{ArrayActivity, Level};
use units::Bytes;
use workload::{Spread, TargetId};

use super::BenchError;
use crate::kept::{Kept, Told};
use crate::laboratory::{Laboratory, LaboratoryError, SimLaboratory, with_causes};
use crate::storage::StorageLaboratory;
use host::inspect;

/// Where trials are run.
pub enum Bench {
    /// On real storage.
    Real(Kept<StorageLaboratory>),
    /// On a model.
    Simulated(Kept<SimLaboratory>),
    /// Nowhere: what a killed run measured is told.
    Told(Told),
}

impl Bench {
    /// The laboratory behind it.
    pub fn laboratory(&mut self) -> &mut dyn Laboratory {
        match self {
            Self::Real(real) => real,
            Self::Simulated(simulated) => simulated,
            Self::Told(told) => told,
        }
    }

    /// The laboratory for trials that are parts of something that is kept as a whole.
    pub fn laboratory_itself(&mut self) -> &mut dyn Laboratory {
        match self {
            Self::Real(real) => &mut **real,
            Self::Simulated(simulated) => &mut **simulated,
            Self::Told(told) => told,
        }
    }

    /// The laboratory for a trial that leaves behind what later ones read: it is measured also
    /// where its result was kept, unless the whole run is only told.
    pub fn laboratory_that_leaves(&mut self) -> Box<dyn Laboratory + '_> {
        match self {
            Self::Real(real) => Box::new(real.leaving()),
            Self::Simulated(simulated) => Box::new(simulated.leaving()),
            Self::Told(told) => Box::new(told),
        }
    }

    /// Bytes of the caches between a program and the medium, where they are known: of a model.
    #[must_use]
    pub fn cache_bytes(&self) -> Option<u64> {
        match self {
            Self::Simulated(simulated) => simulated.spec().cache_bytes(),
            _ => None,
        }
    }

    /// In which state the array of a model is, if it has one.
    #[must_use]
    pub fn raid_of_model(&self) -> Option<RaidState> {
        let Self::Simulated(simulated) = self else {
            return None;
        };
        let state = simulated.array_state()?;
        let (missing, activity) = match state.activity {
            ArrayActivity::Whole => (0, RaidActivity::Normal),
            ArrayActivity::Reduced => (1, RaidActivity::Degraded),
            ArrayActivity::Rebuilding { share } => {
                let percent = Some(share * 100.0);
                (1, RaidActivity::Rebuilding { percent })
            }
        };
        let level = match state.level {
            Level::Raid0 => "raid0",
            Level::Raid1 => "raid1",
            Level::Raid5 => "raid5",
        };
        Some(RaidState {
            kind: "simulated".into(),
            level: Some(level.into()),
            members: Some(state.disks as u32),
            missing: Some(missing),
            state: activity,
            source: "the model".into(),
        })
    }

    /// The targets of the test files.
    #[must_use]
    pub fn test_files(&self) -> Vec<TargetId> {
        match self {
            Self::Real(real) => real.test_files(),
            Self::Simulated(_) => vec![MAIN_DIRECT],
            Self::Told(told) => told.found().test_files.clone(),
        }
    }

    /// How clients are dealt to the test files, where there are several.
    #[must_use]
    pub fn spread(&self) -> Option<Spread> {
        match self {
            Self::Real(real) => real.spread(),
            Self::Simulated(_) => None,
            Self::Told(told) => told.found().spread,
        }
    }

    /// Make the test files, each of that size.
    ///
    /// # Errors
    /// When there is no room, or the system refuses.
    pub fn lay_out(&mut self, size: Bytes) -> Result<(), LaboratoryError> {
        match self {
            Self::Real(real) => real.lay_out(size, Bytes(0)),
            Self::Simulated(_) | Self::Told(_) => Ok(()),
        }
    }

    /// Make the test file, and a smaller one for the page cache, which `memory` may take.
    ///
    /// # Errors
    /// When there is no room, or the system refuses.
    pub fn lay_out_both(&mut self, size: Bytes, memory: Bytes) -> Result<(), LaboratoryError> {
        match self {
            Self::Real(real) => real.lay_out(size, cached_part(size, memory)),
            Self::Simulated(_) | Self::Told(_) => Ok(()),
        }
    }

    /// From now on every block that is read from a test file of ours must be one that was written.
    pub fn verify_from_now(&mut self) {
        if let Self::Real(real) = self {
            real.verify_from_now();
        }
    }

    /// What inspection and opening found worth saying.
    #[must_use]
    pub fn warnings(&self, cautions: &[Caution]) -> Vec<Warning> {
        let mut warnings = inspect::warnings(cautions);
        if let Self::Told(told) = self {
            warnings.extend(told.found().warnings.clone());
        }
        if let Self::Real(real) = self {
            let severity = match real.access() {
                Access::Buffered => Severity::Doubt,
                _ => Severity::Note,
            };
            warnings.extend(
                real.notes()
                    .iter()
                    .map(|note| Warning::new(severity, "access", note.clone())),
            );
        }
        warnings
    }

    /// Remove what was made; what could not be removed is a warning.
    pub fn clean_up(&mut self) -> Option<Warning> {
        let Self::Real(real) = self else { return None };
        let error = real.clean_up().err()?;
        let text = format!(
            "{}; `seekstone clean` there removes what is left, once it can be removed",
            with_causes(&error)
        );
        Some(Warning::doubt("left-behind", text))
    }

    /// Remove what was made, because of `error`, which then says what could not be removed.
    pub fn abandon(&mut self, error: BenchError) -> BenchError {
        match self.clean_up() {
            None => error,
            Some(warning) => BenchError::LeftBehind {
                error: Box::new(error),
                left: warning.text,
            },
        }
    }
}
