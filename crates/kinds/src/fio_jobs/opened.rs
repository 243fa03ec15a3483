//! What jobs work on: their files as they are found, opened or made, and the laboratory on them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drivers::{AccessMode, Caching, DirectoryOwner, Target, TargetOptions, free_space};
use fio::Job;
use host::interrupt::Interrupt;
use host::limits::{LimitError, check_budget};
use host::{environment, inspect};
use lab::bench::BenchError;
use lab::cells::{Cells, Killed};
use lab::hosts::{FleetLaboratory, Ranks, serve};
use lab::kept::{Kept, ReplayLaboratory};
use lab::laboratory::{Laboratory, LaboratoryError, NullLaboratory, SimLaboratory};
use lab::simulated::open_recorded_model;
use lab::storage::{FileToMake, StorageLaboratory, WantedFile};
use procedure::Trial;
use results::{Access, Caution, Setup, Severity, TargetDescription, Warning, WarningCode};
use serde::{Deserialize, Serialize};
use sim::SimError;
use units::{Bytes, TargetName};
use verify::Findings;
use workload::TargetId;

use super::hosts::open_on_all;
use super::plan::{FioPlan, JobStorage, PlannedFile, plan_jobs};
use super::run::{FioRequest, Recall};
use crate::single_load::null_description;

/// What is to be done, and where.
pub(super) struct OpenedJobs {
    pub plan: FioPlan,
    pub bench: FioBench,
    /// What was found when the run was begun.
    pub found: FoundFiles,
}

/// What the files of jobs were found to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FoundFiles {
    /// Bytes of each file that was there.
    sizes: BTreeMap<PathBuf, Option<u64>>,
    pub description: TargetDescription,
    pub cautions: Vec<Caution>,
    /// How direct requests reach them, and what opening found, where they are real.
    real: Option<(Access, Vec<Warning>)>,
}

impl FoundFiles {
    /// Of a run of several hosts, of which nothing is kept against a kill.
    pub(super) const fn on_hosts(description: TargetDescription, cautions: Vec<Caution>) -> Self {
        Self {
            sizes: BTreeMap::new(),
            description,
            cautions,
            real: None,
        }
    }
}

/// Plan jobs, and open or make their files, as they were when the run was begun.
///
/// # Errors
/// When a job cannot be carried out.
pub(super) fn open_jobs(request: &FioRequest) -> Result<OpenedJobs, BenchError> {
    if let Some(ranks) = &request.ranks {
        return open_on_all(ranks, request);
    }
    let of = format!("files {}", request.storage.seed);
    let known: Option<FoundFiles> = request.cells.recalled(&of);
    let sizes = RefCell::new(BTreeMap::new());
    let is_replay = request.cells.is_replay_only();
    let size_of = |path: &Path| {
        let before = known.as_ref().and_then(|it| it.sizes.get(path).copied());
        let size = match before {
            Some(before) if is_replay => before,
            _ => size_of(path, &request.setup),
        };
        sizes.borrow_mut().insert(path.to_owned(), size);
        size
    };
    let plan = plan_jobs(&request.jobs, &size_of);
    let plan = plan.map_err(|error| BenchError::Usage(error.to_string()))?;
    if is_replay {
        let found = known.ok_or(Killed)?;
        let replay = ReplayLaboratory::new(request.cells.clone(), request.storage.seed);
        let bench = FioBench::Replayed(replay, Box::new(found.clone()));
        return Ok(OpenedJobs { plan, bench, found });
    }
    let sizes = sizes.into_inner();
    if let Some(known) = &known {
        refuse_changed(&known.sizes, &sizes)?;
    }
    refuse_unwanted_writes(&plan, request)?;
    let (description, cautions) = describe(&plan)?;
    let bench = open(&plan, request)?;
    let real = match &bench {
        FioBench::Real(real) => Some((real.access(), notes_of(real))),
        _ => None,
    };
    let found = FoundFiles {
        sizes,
        description,
        cautions,
        real,
    };
    if known.is_none() {
        request.cells.note(&of, &found);
    }
    Ok(OpenedJobs { plan, bench, found })
}

/// What was measured on other files is not mixed with what would be measured on these.
fn refuse_changed(
    before: &BTreeMap<PathBuf, Option<u64>>,
    now: &BTreeMap<PathBuf, Option<u64>>,
) -> Result<(), BenchError> {
    let changed = before
        .iter()
        .find(|(path, size)| now.get(*path) != Some(*size));
    changed.map_or(Ok(()), |(path, _)| {
        Err(BenchError::Usage(format!(
            "{}: its size has changed since the run started, so old and new \
             results do not fit together: start over",
            path.display()
        )))
    })
}

/// Bytes of a file, device or model that exists.
pub(super) fn size_of(path: &Path, setup: &Setup) -> Option<u64> {
    if let Some(TargetName::Model(model)) = path.to_str().map(TargetName::from) {
        let spec = open_recorded_model(&model, setup).ok();
        return spec.map(|spec| spec.size.0);
    }
    let options = TargetOptions {
        access: AccessMode::ReadOnly,
        caching: Caching::Buffered,
        signature_confirmed: None,
    };
    // What exists and cannot be opened is no file to be made: it is refused when it is opened.
    match Target::open(path, &options) {
        Ok(target) => Some(target.size()),
        Err(_) => path.symlink_metadata().ok().map(|_| u64::MAX),
    }
}

/// fio writes into whatever its job names; here that takes a word.
pub(super) fn refuse_unwanted_writes(
    plan: &FioPlan,
    request: &FioRequest,
) -> Result<(), BenchError> {
    if plan.storage != JobStorage::Files || request.overwrite {
        return Ok(());
    }
    let mut files = plan.files.iter();
    let Some(file) = files.find(|file| file.is_written && file.exists.is_some()) else {
        return Ok(());
    };
    Err(BenchError::Usage(format!(
        "{0} exists, and a job writes to it: fio would overwrite filename={0} at once; here that \
         needs --overwrite, and everything in it may be lost",
        file.path.display()
    )))
}

pub(super) fn describe(plan: &FioPlan) -> Result<(TargetDescription, Vec<Caution>), BenchError> {
    let first = plan.files.first();
    match (&plan.storage, first) {
        (JobStorage::Null, _) | (_, None) => Ok((null_description(Bytes(0)), Vec::new())),
        (JobStorage::Simulated, Some(_)) => {
            let names: Vec<String> = plan.files.iter().map(name_of_model).collect();
            let (name, size) = (
                names.join(", "),
                plan.files.iter().map(|it| it.exists).sum(),
            );
            let description = TargetDescription::simulated(&name, &name, size);
            Ok((description, Vec::new()))
        }
        (JobStorage::Files, Some(_)) => describe_files(&plan.files),
    }
}

/// The first place, with the cautions of all: one that not every place has names its own.
fn describe_files(files: &[PlannedFile]) -> Result<(TargetDescription, Vec<Caution>), BenchError> {
    let mut places: Vec<PathBuf> = Vec::new();
    for place in files.iter().map(place_of) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let inspected: Result<Vec<_>, _> = places.iter().map(|it| inspect::inspect(it)).collect();
    let mut inspected = inspected?;
    let mut cautions: Vec<Caution> = Vec::new();
    for (place, (_, own)) in places.iter().zip(&inspected) {
        for caution in own {
            let is_of_all = inspected.iter().all(|(_, all)| all.contains(caution));
            let caution = match is_of_all {
                true => caution.clone(),
                false => Caution {
                    cause: format!("{}: {}", place.display(), caution.cause),
                    ..caution.clone()
                },
            };
            if !cautions.contains(&caution) {
                cautions.push(caution);
            }
        }
    }
    Ok((inspected.swap_remove(0).0, cautions))
}

/// A file that exists, or the directory in which it would be.
pub(super) fn place_of(file: &PlannedFile) -> PathBuf {
    match file.exists {
        Some(_) => file.path.clone(),
        None => directory_of(&file.path),
    }
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Where jobs are carried out.
pub(super) enum FioBench {
    Null(NullLaboratory),
    Simulated(Kept<SimLaboratory>),
    Real(Box<Kept<StorageLaboratory>>),
    /// No target is opened: what a killed run measured is reported.
    Replayed(ReplayLaboratory, Box<FoundFiles>),
    /// On several hosts, of which this one is rank 0.
    Fleet(Box<FleetLaboratory>),
    /// On several hosts, of which this one does as rank 0 says.
    Served(Box<StorageLaboratory>, Ranks),
}

/// Descriptors that a file takes: that of its name and that of its data. All files of a run are
/// open as long as it lasts, whatever `openfiles` says.
const DESCRIPTORS_OF_FILE: u64 = 2;

/// Whether this process may have the files of these jobs open, after raising its limit as far as it
/// may. Jobs that cannot be planned are not judged.
///
/// # Errors
/// How many files are needed, and how many are allowed.
pub fn files_fit(jobs: &[Job], setup: &Setup) -> Result<(), LimitError> {
    match plan_jobs(jobs, &|path| size_of(path, setup)) {
        Ok(plan) => plan_fits(&plan),
        Err(_) => Ok(()),
    }
}

fn plan_fits(plan: &FioPlan) -> Result<(), LimitError> {
    match plan.storage {
        JobStorage::Files => check_budget(plan.files.len() as u64 * DESCRIPTORS_OF_FILE, 0),
        JobStorage::Null | JobStorage::Simulated => Ok(()),
    }
}

pub(super) fn open(plan: &FioPlan, request: &FioRequest) -> Result<FioBench, BenchError> {
    let settings = &request.storage;
    match &plan.storage {
        JobStorage::Null => Ok(FioBench::Null(NullLaboratory::new(settings.seed))),
        JobStorage::Simulated => {
            let model = |(number, file): (u32, &PlannedFile)| {
                let spec = open_recorded_model(&name_of_model(file), &request.setup)?;
                Ok((FioPlan::target_of(number), spec))
            };
            let models: Result<_, SimError> = (0..).zip(&plan.files).map(model).collect();
            let laboratory = SimLaboratory::on_several(models?, settings.seed);
            let laboratory = laboratory.with_errors(settings.on_error);
            Ok(FioBench::Simulated(kept(laboratory, request)))
        }
        JobStorage::Files => {
            plan_fits(plan).map_err(LaboratoryError::from)?;
            let owner = DirectoryOwner {
                program: format!("seekstone {}", host::VERSION),
                started: environment::capture().started_at,
                purpose: "fio".into(),
            };
            let files = plan.files.iter().map(|file| wanted_file(file, request));
            let wanted = files.collect::<Result<Vec<WantedFile>, _>>()?;
            let mut settings = settings.clone();
            settings.reserve = request.reserve.map_or(0, |it| it.0);
            let confirmed = request.confirmed.as_deref();
            let laboratory = StorageLaboratory::on_several(&wanted, &owner, confirmed, settings)?;
            Ok(FioBench::Real(Box::new(kept(laboratory, request))))
        }
    }
}

fn name_of_model(file: &PlannedFile) -> String {
    file.path.to_string_lossy().into_owned()
}

fn kept<L>(laboratory: L, request: &FioRequest) -> Kept<L> {
    let cells: Cells = request.cells.clone();
    Kept::new(laboratory, cells, request.storage.seed)
}

fn wanted_file(file: &PlannedFile, request: &FioRequest) -> Result<WantedFile, BenchError> {
    let make = match file.exists {
        Some(_) => None,
        None => Some(FileToMake {
            bytes: file.needs,
            reserve: reserve_at(&directory_of(&file.path), request)?,
        }),
    };
    Ok(WantedFile {
        path: file.path.clone(),
        make,
        access: match file.is_written {
            true => AccessMode::Overwrite,
            false => AccessMode::ReadOnly,
        },
    })
}

/// Bytes that stay free on the file system of a directory: as asked for, or its own share.
pub(super) fn reserve_at(directory: &Path, request: &FioRequest) -> Result<u64, BenchError> {
    match request.reserve {
        Some(reserve) => Ok(reserve.0),
        None => Ok(free_space(directory)
            .map_err(LaboratoryError::from)?
            .reserve),
    }
}

impl FioBench {
    pub(super) fn laboratory(&mut self) -> &mut dyn Laboratory {
        match self {
            Self::Null(null) => null,
            Self::Simulated(simulated) => simulated,
            Self::Real(real) => real.as_mut(),
            Self::Replayed(replay, _) => replay,
            Self::Fleet(fleet) => fleet.as_mut(),
            Self::Served(local, _) => local.as_mut(),
        }
    }

    /// The laboratory for a trial that may be told where its result was kept, or not.
    pub(super) fn laboratory_for(&mut self, recall: Recall) -> Box<dyn Laboratory + '_> {
        match (self, recall) {
            (Self::Fleet(fleet), Recall::Fill) => Box::new(fleet.that_leaves()),
            (Self::Fleet(fleet), _) => Box::new(fleet.of_each()),
            (Self::Simulated(simulated), Recall::Never | Recall::Fill) => {
                Box::new(simulated.leaving())
            }
            (Self::Real(real), Recall::Never | Recall::Fill) => Box::new(real.leaving()),
            (other, _) => Box::new(other.laboratory()),
        }
    }

    /// The same as one of several hosts, which differ in `notes`.
    pub(super) fn of_ranks(self, ranks: &Ranks, request: &FioRequest, notes: Vec<String>) -> Self {
        let how = (request.storage.seed, request.storage.on_error);
        match self {
            Self::Real(local) if ranks.leads() => {
                let local = local.alone();
                Self::Fleet(Box::new(FleetLaboratory::new(
                    local,
                    ranks.clone(),
                    how,
                    notes,
                )))
            }
            Self::Real(local) => Self::Served(Box::new(local.alone()), ranks.clone()),
            other => other,
        }
    }

    /// Where another rank leads, carry out those of `trials` that it names, to the end.
    ///
    /// # Errors
    /// [`BenchError::Served`] when all is done, or why it is not.
    pub(super) fn serve(&mut self, how: (&[Trial], &Interrupt)) -> Result<(), BenchError> {
        let Self::Served(local, ranks) = self else {
            return Ok(());
        };
        match serve(ranks, local, how) {
            Ok(()) => Err(BenchError::Served),
            Err(error) => Err(self.abandon(error)),
        }
    }

    /// The hosts, of which this one is rank 0.
    pub(super) const fn fleet(&mut self) -> Option<&mut FleetLaboratory> {
        match self {
            Self::Fleet(fleet) => Some(fleet),
            _ => None,
        }
    }

    /// Verify what the plan says.
    pub(super) fn verify(&mut self, plan: &FioPlan) -> Result<(), BenchError> {
        let (Self::Real(real), Some(verify)) = (self, &plan.verify) else {
            return Ok(());
        };
        let targets = |files: &[usize]| -> Vec<TargetId> {
            files
                .iter()
                .map(|file| TargetId(*file as u32 * 2))
                .collect()
        };
        let inherited = targets(&verify.inherited);
        Ok(real.verify_targets(&targets(&verify.files), &inherited, verify.unit)?)
    }

    /// What verification found so far.
    pub(super) fn findings(&self) -> Findings {
        match self {
            Self::Real(real) => real.findings(),
            _ => Findings::default(),
        }
    }

    /// Whether time stands still while nothing is measured.
    pub(super) const fn is_virtual(&self) -> bool {
        matches!(self, Self::Simulated(_))
    }

    /// Whether it is, or was, the storage of this machine.
    pub(super) const fn is_real(&self) -> bool {
        match self {
            Self::Null(_) | Self::Simulated(_) => false,
            Self::Real(_) | Self::Fleet(_) | Self::Served(..) => true,
            Self::Replayed(_, found) => found.real.is_some(),
        }
    }

    pub(super) fn access(&self, is_direct: bool) -> Access {
        let real = match self {
            Self::Null(_) => return Access::Null,
            Self::Simulated(_) => return Access::Simulated,
            Self::Real(real) => real.access(),
            Self::Fleet(fleet) => fleet.local.access(),
            Self::Served(local, _) => local.access(),
            Self::Replayed(_, found) => match &found.real {
                None => return Access::Simulated,
                Some((access, _)) => *access,
            },
        };
        if is_direct { real } else { Access::Buffered }
    }

    /// What opening found, and what could not be removed.
    pub(super) fn warnings(&mut self) -> Vec<Warning> {
        match self {
            Self::Null(_) => vec![Warning::info(
                WarningCode::NullTarget,
                "Nothing was read or written: the figures are Seekstone's own overhead.",
            )],
            Self::Simulated(_) => Vec::new(),
            Self::Replayed(_, found) => found.real.iter().flat_map(|it| it.1.clone()).collect(),
            Self::Real(real) => {
                let mut all = notes_of(real);
                all.extend(left_behind(real.clean_up().err()));
                all
            }
            Self::Served(local, _) => {
                let mut all = notes_of(local);
                all.extend(left_behind(local.clean_up().err()));
                all
            }
            Self::Fleet(fleet) => {
                let mut all = notes_of(&fleet.local);
                all.extend(fleet.warnings());
                all.extend(left_behind(fleet.local.clean_up().err()));
                all.extend(left_behind(fleet.dismiss()));
                all
            }
        }
    }

    pub(super) fn abandon(&mut self, error: BenchError) -> BenchError {
        let left = self.warnings().into_iter();
        let mut left = left.filter(|warning| warning.code == WarningCode::LeftBehind);
        match left.next() {
            None => error,
            Some(warning) => BenchError::LeftBehind {
                error: Box::new(error),
                left: warning.text(),
            },
        }
    }
}

/// What could not be removed.
fn left_behind<T: ToString>(left: impl IntoIterator<Item = T>) -> Vec<Warning> {
    let left = left.into_iter();
    left.map(|left| Warning::warn(WarningCode::LeftBehind, left.to_string()))
        .collect()
}

/// What opening found.
fn notes_of(real: &StorageLaboratory) -> Vec<Warning> {
    let notes = real.notes().iter();
    let doubt = |note: &String| Warning::new(Severity::Warning, WarningCode::Access, note.clone());
    notes.map(doubt).chain(real.hung().cloned()).collect()
}
