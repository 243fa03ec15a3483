//! Where trials run: on this host's storage, on a model, or on several hosts.

use engine::OnError;
use host::inspect::{self, FetchAccount};
use host::interrupt::Interrupt;
use procedure::{MAIN_DIRECT, Trial, cached_part};
use results::environment::{RaidActivity, RaidState};
use results::{Access, Caution, Measurement, Severity, Warning, WarningCode};
use sim::{ArrayActivity, RaidLevel};
use units::Bytes;
use workload::{FileSet, TargetId};

use super::BenchError;
use crate::hosts::{FleetLaboratory, HostStep, Ranks, serve, take_step};
use crate::kept::{Kept, OpenedTarget, ReplayLaboratory};
use crate::laboratory::{
    Laboratory, LaboratoryError, NullLaboratory, Outcome, SimLaboratory, Watch, with_causes,
};
use crate::storage::StorageLaboratory;

/// Why most commands cannot measure a bucket.
pub fn only_objects(bucket: &str) -> String {
    format!("{bucket} is a bucket of an object store: measure it with `seekstone objects`")
}

/// Where trials run.
pub enum Bench {
    /// On the null driver, which completes every request at once.
    Null(NullLaboratory),
    Real(Box<Kept<StorageLaboratory>>),
    /// On a model.
    Simulated(Kept<SimLaboratory>),
    /// No target is opened: the results of a killed run are reported.
    Replayed(ReplayLaboratory, Box<OpenedTarget>),
    /// On real storage of several hosts, with this one as rank 0.
    Fleet(Box<FleetLaboratory>),
    /// On real storage of several hosts, where this one follows rank 0.
    Served(Box<StorageLaboratory>, Ranks),
}

/// Which hosts run a trial, and whether its result is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostReach {
    /// All hosts share its clients.
    Shared,
    /// The same, as part of something that is kept as a whole.
    Unkept,
    /// Each host runs all of its clients, as it would alone.
    Each,
    /// Each host runs all of its clients, and later trials read the data it writes. It runs even if
    /// its result was kept, unless the whole run is only replayed.
    Leaving,
}

impl Bench {
    /// The underlying laboratory.
    pub fn laboratory(&mut self) -> &mut dyn Laboratory {
        match self {
            Self::Real(real) => real.as_mut(),
            Self::Simulated(simulated) => simulated,
            _ => self.laboratory_itself(),
        }
    }

    /// The laboratory itself, which does not keep results.
    pub fn laboratory_itself(&mut self) -> &mut dyn Laboratory {
        match self {
            Self::Null(null) => null,
            Self::Real(real) => &mut ***real,
            Self::Simulated(simulated) => &mut **simulated,
            Self::Replayed(replay, _) => replay,
            Self::Fleet(fleet) => fleet.as_mut(),
            Self::Served(local, _) => local.as_mut(),
        }
    }

    /// Runs a trial.
    ///
    /// # Errors
    /// If it cannot be measured.
    pub fn measure(
        &mut self,
        trial: &Trial,
        reach: HostReach,
        watch: Watch<'_>,
    ) -> Result<Outcome, LaboratoryError> {
        match self {
            Self::Real(real) => real.measure_as(reach, trial, watch),
            Self::Simulated(simulated) => simulated.measure_as(reach, trial, watch),
            Self::Fleet(fleet) => fleet.measure_as(reach, trial, watch),
            other => other.laboratory_itself().measure(trial, watch),
        }
    }

    /// Makes it one of several hosts, which differ in `notes`.
    #[must_use]
    pub fn of_ranks(self, ranks: &Ranks, how: (u64, OnError), notes: Vec<String>) -> Self {
        match self {
            Self::Real(local) if ranks.leads() => {
                let fleet = FleetLaboratory::new(local.alone(), ranks.clone(), how, notes);
                Self::Fleet(Box::new(fleet))
            }
            Self::Real(local) => Self::Served(Box::new(local.alone()), ranks.clone()),
            other => other,
        }
    }

    /// The hosts that measure together, if there are several.
    pub fn ranks(&self) -> Option<&Ranks> {
        match self {
            Self::Fleet(fleet) => Some(fleet.ranks()),
            Self::Served(_, ranks) => Some(ranks),
            _ => None,
        }
    }

    /// Measurements of each host in the last trial, if there are several.
    pub fn take_rows(&mut self) -> Vec<Measurement> {
        match self {
            Self::Fleet(fleet) => fleet.take_rows(),
            _ => Vec::new(),
        }
    }

    /// Reports of each other rank on the last trial, in the form of the kind.
    pub fn take_reports(&mut self) -> Vec<(u32, Vec<u8>)> {
        match self {
            Self::Fleet(fleet) => fleet.take_reports(),
            _ => Vec::new(),
        }
    }

    /// If another rank leads, follows it to the end.
    ///
    /// # Errors
    /// [`BenchError::Served`] if all is done, or the reason why not.
    pub fn serve(&mut self, interrupt: &Interrupt) -> Result<(), BenchError> {
        self.serve_listed(&[], interrupt)
    }

    /// The same with trials that every rank creates itself, and rank 0 names by their salt.
    ///
    /// # Errors
    ///
    /// Those of [`Bench::serve`].
    pub fn serve_listed(
        &mut self,
        listed: &[Trial],
        interrupt: &Interrupt,
    ) -> Result<(), BenchError> {
        let Self::Served(local, ranks) = self else {
            return Ok(());
        };
        match serve(ranks, local, (listed, interrupt)) {
            Ok(()) => Err(BenchError::Served),
            Err(error) => Err(self.abandon(error)),
        }
    }

    /// The counter of fetched bytes; `None` for a model.
    pub fn fetch_account(&self) -> Option<FetchAccount> {
        self.real().map(StorageLaboratory::fetch_account)
    }

    fn real(&self) -> Option<&StorageLaboratory> {
        match self {
            Self::Real(real) => Some(real),
            Self::Fleet(fleet) => Some(&fleet.local),
            Self::Served(local, _) => Some(local),
            Self::Null(_) | Self::Simulated(_) | Self::Replayed(..) => None,
        }
    }

    fn real_mut(&mut self) -> Option<&mut StorageLaboratory> {
        match self {
            Self::Real(real) => Some(real),
            Self::Fleet(fleet) => Some(&mut fleet.local),
            Self::Served(local, _) => Some(local),
            Self::Null(_) | Self::Simulated(_) | Self::Replayed(..) => None,
        }
    }

    /// How unbuffered requests access storage.
    pub fn access(&self) -> Access {
        match self {
            Self::Null(_) => Access::Null,
            Self::Replayed(_, found) => found.facts.access,
            _ => self
                .real()
                .map_or(Access::Simulated, StorageLaboratory::access),
        }
    }

    /// Bytes of the caches between program and medium, if known: for a model.
    pub fn cache_bytes(&self) -> Option<u64> {
        match self {
            Self::Simulated(simulated) => simulated.spec().cache_bytes(),
            _ => None,
        }
    }

    /// State of a model's array, if it has one.
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
            RaidLevel::Raid0 => "raid0",
            RaidLevel::Raid1 => "raid1",
            RaidLevel::Raid5 => "raid5",
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

    /// Ids of the test files.
    pub fn test_files(&self) -> Vec<TargetId> {
        match self {
            Self::Replayed(_, found) => found.test_files.clone(),
            _ => self
                .real()
                .map_or(vec![MAIN_DIRECT], StorageLaboratory::test_files),
        }
    }

    /// Distribution of clients over the test files, if there are several.
    pub fn spread(&self) -> Option<FileSet> {
        match self {
            Self::Replayed(_, found) => found.spread,
            _ => self.real()?.spread(),
        }
    }

    /// Creates the test files, each of that size.
    ///
    /// # Errors
    /// If there is no space, or the system refuses.
    pub fn lay_out(&mut self, size: Bytes) -> Result<(), LaboratoryError> {
        self.lay_out_files(size, Bytes(0))
    }

    /// Creates the test file and a smaller one for the page cache, limited by `memory`.
    ///
    /// # Errors
    /// If there is no space, or the system refuses.
    pub fn lay_out_both(&mut self, size: Bytes, memory: Bytes) -> Result<(), LaboratoryError> {
        self.lay_out_files(size, cached_part(size, memory))
    }

    /// From now on, verifies every block read from our test files.
    pub fn verify_from_now(&mut self) {
        // If other hosts cannot be notified, the next trial fails, which needs them.
        let _ = self.take_step(HostStep::VerifyFromNow);
    }

    fn lay_out_files(&mut self, size: Bytes, cached: Bytes) -> Result<(), LaboratoryError> {
        self.take_step(HostStep::LayOut {
            size: size.0,
            cached: cached.0,
        })
    }

    /// Writes verifiable records from now on.
    ///
    /// # Errors
    /// If another host cannot be notified.
    pub fn write_records(&mut self) -> Result<(), LaboratoryError> {
        self.take_step(HostStep::WriteRecords)
    }

    /// Reads blocks without verification from now on.
    ///
    /// # Errors
    /// If another host cannot be notified.
    pub fn read_unchecked(&mut self) -> Result<(), LaboratoryError> {
        self.take_step(HostStep::ReadUnchecked)
    }

    /// Waits until written data is on the storage, so that it does not slow a later trial.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn settle(&mut self) -> Result<(), LaboratoryError> {
        self.take_step(HostStep::Settle)
    }

    /// Alignment of direct I/O, for offsets and lengths.
    pub fn unit(&self) -> u32 {
        self.real().map_or(1, StorageLaboratory::unit)
    }

    /// Checks that direct I/O can use blocks of these sizes, before a file is created for them.
    ///
    /// # Errors
    /// Names the first that is not possible.
    pub fn refuse_misaligned(
        &self,
        mut blocks: impl Iterator<Item = u64>,
    ) -> Result<(), BenchError> {
        let unit = self.unit();
        match blocks.find(|block| !block.is_multiple_of(u64::from(unit))) {
            Some(block) => Err(LaboratoryError::misaligned(block, unit).into()),
            None => Ok(()),
        }
    }

    fn take_step(&mut self, step: HostStep) -> Result<(), LaboratoryError> {
        match self {
            Self::Fleet(fleet) => fleet.take_step(step),
            other => other.real_mut().map_or(Ok(()), |it| take_step(it, step)),
        }
    }

    /// Warnings from inspecting and opening the target.
    pub fn warnings(&self, cautions: &[Caution]) -> Vec<Warning> {
        let mut warnings = inspect::warnings(cautions);
        if let Self::Null(_) = self {
            let text = "Nothing was read or written: results show Seekstone's own overhead.";
            warnings.push(Warning::info(WarningCode::NullTarget, text));
        }
        if let Self::Replayed(_, found) = self {
            warnings.extend(found.warnings.clone());
        }
        if let Self::Fleet(fleet) = self {
            warnings.extend(fleet.warnings());
        }
        if let Some(real) = self.real() {
            warnings.extend(real.hung().cloned());
            warnings.extend(real.unwritten());
            let severity = match real.access() {
                Access::Buffered => Severity::Warning,
                _ => Severity::Info,
            };
            warnings.extend(
                real.notes()
                    .iter()
                    .map(|note| Warning::new(severity, WarningCode::Access, note.clone())),
            );
        }
        warnings
    }

    /// Removes created files. What could not be removed is a warning.
    pub fn clean_up(&mut self) -> Option<Warning> {
        let error = self.real_mut()?.clean_up().err();
        let mut left: Vec<String> = error.iter().map(|error| with_causes(error)).collect();
        if let Self::Fleet(fleet) = self {
            left.extend(fleet.dismiss());
        }
        (!left.is_empty()).then(|| {
            let text = format!(
                "{}. `seekstone clean` there removes what is left, once it can be removed",
                left.join("; ")
            );
            Warning::warn(WarningCode::LeftBehind, text)
        })
    }

    /// Removes created files because of `error`, and adds what could not be removed.
    pub fn abandon(&mut self, error: BenchError) -> BenchError {
        error.with_left(self.clean_up())
    }
}
