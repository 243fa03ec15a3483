//! What jobs work on: their files as they are found, opened or made, and the laboratory on them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::session::Result;
use drivers::{
    AccessMode, Caching, OpenFilePool, Target, TargetError, TargetOptions, check_room, direct_unit,
    free_space, is_kept_at,
};
use fio::{Amount, Job};
use host::inspect;
use host::limits::LimitError;
use lab::bench::{
    Bench, BenchError, HostReach, OpenedBench, directory_owner, found, open_null, replayed,
};
use lab::cells::{Cells, Killed};
use lab::kept::{Kept, OpenedTarget, ReplayLaboratory};
use lab::laboratory::{LaboratoryError, SimLaboratory};
use lab::simulated::open_recorded_model;
use lab::storage::{FileToMake, StorageLaboratory, WantedFile};
use procedure::CheckUpFacts;
use results::{Access, Caution, Setup, TargetDescription};
use serde::{Deserialize, Serialize};
use sim::SimError;
use units::{Bytes, TargetName};
use workload::TargetId;

use super::hosts::open_on_all;
use super::open_files;
use super::plan::{FioPlan, JobStorage, PlanError, PlannedFile, plan_jobs, refused};
use super::run::{FioRequest, Recall};

/// What is to be done, and where.
pub(super) struct OpenedJobs {
    pub plan: FioPlan,
    pub opened: OpenedBench,
}

/// What the files of jobs were found to be when the run was begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FoundFiles {
    /// Bytes of each file that was there.
    sizes: BTreeMap<PathBuf, Option<u64>>,
    target: OpenedTarget,
}

/// Plan jobs, and open or make their files, as they were when the run was begun.
///
/// # Errors
/// When a job cannot be carried out.
pub(super) fn open_jobs(request: &FioRequest) -> Result<OpenedJobs> {
    if let Some(ranks) = &request.bench.ranks {
        return open_on_all(ranks, request);
    }
    let of = format!("files {}", request.bench.storage.seed);
    let known: Option<FoundFiles> = request.bench.cells.recalled(&of);
    let sizes = RefCell::new(BTreeMap::new());
    let is_replay = request.bench.cells.is_replay_only();
    let size_of = |path: &Path| {
        let before = known.as_ref().and_then(|it| it.sizes.get(path).copied());
        let size = match before {
            Some(before) if is_replay => before,
            _ => size_of(path, &request.bench.setup),
        };
        sizes.borrow_mut().insert(path.to_owned(), size);
        size
    };
    let jobs = filling(request)?;
    let plan = plan_jobs(&jobs, &size_of);
    let plan = plan.map_err(|error| BenchError::Usage(error.to_string()))?;
    if is_replay {
        let target = known.ok_or(Killed)?.target;
        let replay = ReplayLaboratory::new(request.bench.cells.clone(), request.bench.storage.seed);
        let opened = replayed(replay, target);
        return Ok(OpenedJobs { plan, opened });
    }
    let sizes = sizes.into_inner();
    if let Some(known) = &known {
        refuse_changed(&known.sizes, &sizes)?;
    }
    refuse_unwanted_writes(&plan, request)?;
    if request.shape.is_none() {
        let aligned = refuse_misaligned(&jobs, &plan);
        aligned.map_err(|error| BenchError::Usage(error.to_string()))?;
    }
    let opened = open(&plan, request)?;
    if known.is_none() {
        let target = found(&opened);
        request.bench.cells.note(&of, &FoundFiles { sizes, target });
    }
    Ok(OpenedJobs { plan, opened })
}

/// The part of what is free that filling leaves to others, who write meanwhile, and to the file
/// system's own records.
const MARGIN_PART: u64 = 64;

/// The jobs of a request; those that fill a file system have the size of what is free there but
/// for its reserve, shared equally among them.
pub(super) fn filling(request: &FioRequest) -> Result<Vec<Job>> {
    let mut jobs = request.jobs.clone();
    let fill = jobs.iter().filter(|job| job.files.fill);
    let shares: u64 = fill.map(|job| u64::from(job.copies)).sum();
    for job in jobs.iter_mut().filter(|job| job.files.fill) {
        let named = job
            .files
            .names
            .first()
            .map(|name| directory_of(Path::new(name)));
        let directory = job.files.directories.first().map(PathBuf::from);
        let place = named.or(directory).unwrap_or_else(|| PathBuf::from("."));
        let free = free_space(&place).map_err(LaboratoryError::from)?.available;
        let free = free.saturating_sub(reserve_at(&place, request)?);
        let free = free - free / MARGIN_PART;
        job.size = Some(Amount::Bytes(free / shares));
    }
    Ok(jobs)
}

/// What was measured on other files is not mixed with what would be measured on these.
fn refuse_changed(
    before: &BTreeMap<PathBuf, Option<u64>>,
    now: &BTreeMap<PathBuf, Option<u64>>,
) -> Result<()> {
    let changed = before
        .iter()
        .find(|(path, size)| now.get(*path) != Some(*size));
    changed.map_or(Ok(()), |(path, _)| {
        Err(BenchError::Usage(format!(
            "{}: its size has changed since the run started, so old and new \
             results do not fit together. Start over",
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
    // What exists and cannot be opened is no file to be made: it is refused when it is opened.
    match opened(path) {
        Ok(target) => Some(target.size()),
        Err(_) => path.symlink_metadata().ok().map(|_| u64::MAX),
    }
}

fn opened(path: &Path) -> Result<Target, TargetError> {
    let options = TargetOptions {
        access: AccessMode::ReadOnly,
        caching: Caching::Buffered,
        signature_confirmed: None,
    };
    Target::open(path, &options)
}

/// fio writes into whatever its job names; here that takes a word.
pub(super) fn refuse_unwanted_writes(plan: &FioPlan, request: &FioRequest) -> Result<()> {
    if plan.storage != JobStorage::Files || request.bench.overwrite {
        return Ok(());
    }
    let mut files = plan.files.iter();
    let is_unwanted = |file: &&PlannedFile| {
        let is_there = file.is_written && file.exists.is_some();
        is_there && !(request.keeps_files && is_kept_at(&file.path))
    };
    let Some(file) = files.find(is_unwanted) else {
        return Ok(());
    };
    let kept = match request.keeps_files {
        true => ", as no run kept it that way",
        false => "",
    };
    Err(BenchError::Usage(format!(
        "{0} exists, and a job writes to it: fio would overwrite filename={0} at once. Here that \
         needs --overwrite{kept}, and everything in it may be lost",
        file.path.display()
    )))
}

/// Leave the files of jobs to the user, where that is asked for. What a later run will not be able
/// to write again, a sentence each.
pub(super) fn keep_files(
    plan: &FioPlan,
    request: &FioRequest,
    bench: &Bench,
) -> Result<Vec<String>> {
    let Bench::Real(real) = bench else {
        return Ok(Vec::new());
    };
    let is_left = |file: &PlannedFile| match file.exists {
        None => !file.is_removed,
        Some(_) => file.is_written && !request.bench.overwrite,
    };
    let files = plan.files.iter().enumerate();
    let left = files.filter(|(_, file)| request.keeps_files && is_left(file));
    let left: Vec<_> = left.map(|(number, it)| (number, it.path.clone())).collect();
    Ok(real.keep(&left)?)
}

fn describe(plan: &FioPlan) -> Result<(TargetDescription, Vec<Caution>)> {
    match plan.storage {
        _ if plan.files.is_empty() && plan.called.is_none() => {
            Ok((open_null(Bytes(0), 0).description, Vec::new()))
        }
        JobStorage::Files => describe_files(plan),
        JobStorage::Null | JobStorage::Simulated => {
            let names: Vec<String> = plan.files.iter().map(name_of_model).collect();
            let size = plan.files.iter().map(|it| it.exists).sum();
            let names = names.join(", ");
            Ok((
                TargetDescription::simulated(&names, &names, size),
                Vec::new(),
            ))
        }
    }
}

/// Places that are looked at, of all files: each takes a millisecond, and there may be thousands.
const PLACES_MAX: usize = 64;

/// The first place, with the cautions of all: one that not every place has names its own.
fn describe_files(plan: &FioPlan) -> Result<(TargetDescription, Vec<Caution>)> {
    let mut places: Vec<PathBuf> = Vec::new();
    let called = plan.called.iter().map(|it| existing(&it.directory));
    for place in plan.files.iter().map(place_of).chain(called) {
        if places.len() < PLACES_MAX && !places.contains(&place) {
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
    existing(path.parent().unwrap_or(Path::new("")))
}

/// The current directory has no name in the name of its file.
fn existing(parent: &Path) -> PathBuf {
    match parent == Path::new("") {
        true => PathBuf::from("."),
        false => parent.to_owned(),
    }
}

/// Why jobs would not run that were read well.
#[derive(Debug, thiserror::Error)]
pub enum UnfitJobs {
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// How many files are needed, and how many are allowed.
    #[error(transparent)]
    Files(#[from] LimitError),
    /// What their files or the room for them do not allow.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

/// Whether jobs can be carried out on what their files are now, and this process may have as many
/// open as that takes, after raising its limit as far as it may.
///
/// # Errors
/// What a run would say before it begins.
pub fn check_jobs(request: &FioRequest) -> Result<(), UnfitJobs> {
    let jobs = filling(request)?;
    let plan = plan_jobs(&jobs, &|path| size_of(path, &request.bench.setup))?;
    refuse_unwanted_writes(&plan, request)?;
    refuse_misaligned(&jobs, &plan)?;
    open_files::check(&plan)?;
    if plan.storage != JobStorage::Files {
        return Ok(());
    }
    let mut made: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for file in &plan.files {
        let found = match wanted_file(file, request)?.make {
            Some(FileToMake { bytes, reserve }) => {
                let directory = directory_of(&file.path);
                let all = made.entry(directory.clone()).or_default();
                *all = all.saturating_add(bytes);
                check_room(&directory, *all, reserve)
            }
            None => opened(&file.path).map(drop),
        };
        found.map_err(|error| BenchError::from(LaboratoryError::from(error)))?;
    }
    Ok(())
}

/// Direct I/O that its file, or what a new file lies on, does not take.
fn refuse_misaligned(jobs: &[Job], plan: &FioPlan) -> Result<(), PlanError> {
    if plan.storage != JobStorage::Files {
        return Ok(());
    }
    let mut units: BTreeMap<PathBuf, u64> = BTreeMap::new();
    let phases = plan.phases.iter();
    for (number, job) in phases.flat_map(|it| it.jobs.iter().zip(&it.workloads)) {
        let direct = job.files.iter().filter(|region| region.target.0 % 2 == 0);
        for region in direct {
            let file = &plan.files[region.target.0 as usize / 2];
            let place = place_of(file);
            let unit = units.entry(place).or_insert_with_key(|place| {
                let unit = Some(place).filter(|_| file.exists != Some(u64::MAX));
                unit.and_then(|it| direct_unit(it)).map_or(1, u64::from)
            });
            let lengths = job.lengths().chain([region.block, region.offset]);
            if let Some(bytes) = lengths.into_iter().find(|it| !it.is_multiple_of(*unit)) {
                let shown = file.path.display();
                return refused(
                    &jobs[*number],
                    format!(
                        "{shown} takes direct I/O of multiples of {unit} bytes, and not of \
                         {bytes}. Give such a bs, size and offset, or leave direct=1 out"
                    ),
                );
            }
        }
    }
    Ok(())
}

pub(super) fn open(plan: &FioPlan, request: &FioRequest) -> Result<OpenedBench> {
    let settings = &request.bench.storage;
    let (description, cautions) = describe(plan)?;
    let bench = match &plan.storage {
        JobStorage::Null => return Ok(open_null(Bytes(0), settings.seed)),
        JobStorage::Simulated => {
            let model = |(number, file): (u32, &PlannedFile)| {
                let spec = open_recorded_model(&name_of_model(file), &request.bench.setup)?;
                Ok((FioPlan::target_of(number), spec))
            };
            let models: Result<_, SimError> = (0..).zip(&plan.files).map(model).collect();
            let laboratory = SimLaboratory::on_several(models?, settings.seed);
            let laboratory = laboratory.with_errors(settings.on_error);
            Bench::Simulated(kept(laboratory, request))
        }
        JobStorage::Files => {
            open_files::check(plan).map_err(LaboratoryError::from)?;
            let owner = directory_owner("fio");
            let pool = OpenFilePool::new(plan.open_files as usize);
            let wanted = |file: &PlannedFile| -> Result<WantedFile> {
                Ok(WantedFile {
                    pool: file.is_on_demand.then(|| Arc::clone(&pool)),
                    ..wanted_file(file, request)?
                })
            };
            let files = plan.files.iter().map(wanted);
            let wanted = files.collect::<Result<Vec<WantedFile>, _>>()?;
            let mut settings = settings.clone();
            settings.reserve = request.bench.reserve.map_or(0, |it| it.0);
            let confirmed = request.bench.confirmed.as_deref();
            let mut laboratory =
                StorageLaboratory::on_several(&wanted, &owner, confirmed, settings)?;
            if let Some(called) = &plan.called {
                let directory = existing(&called.directory);
                let bytes = called.laid_out.iter().map(|(_, bytes)| bytes).sum();
                let room = (bytes, reserve_at(&directory, request)?);
                let files = (directory.as_path(), called.count);
                laboratory = laboratory.with_small_files(files, room, &owner)?;
            }
            Bench::Real(Box::new(kept(laboratory, request)))
        }
    };
    let facts = CheckUpFacts {
        makes_files: false,
        may_overwrite: request.bench.overwrite,
        existing: None,
        room: Bytes(0),
        memory: Bytes(0),
        access: bench.access(),
        has_page_cache: is_real(&bench),
    };
    Ok(OpenedBench {
        bench,
        description,
        cautions,
        facts,
    })
}

fn name_of_model(file: &PlannedFile) -> String {
    file.path.to_string_lossy().into_owned()
}

fn kept<L>(laboratory: L, request: &FioRequest) -> Kept<L> {
    let cells: Cells = request.bench.cells.clone();
    Kept::new(laboratory, cells, request.bench.storage.seed)
}

fn wanted_file(file: &PlannedFile, request: &FioRequest) -> Result<WantedFile> {
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
        pool: None,
        access: match file.is_written {
            true => AccessMode::Overwrite,
            false => AccessMode::ReadOnly,
        },
        is_kept: file.is_written && !request.bench.overwrite,
    })
}

/// Bytes that stay free on the file system of a directory: as asked for, or its own share.
pub(super) fn reserve_at(directory: &Path, request: &FioRequest) -> Result<u64> {
    match request.bench.reserve {
        Some(reserve) => Ok(reserve.0),
        None => Ok(free_space(directory)
            .map_err(LaboratoryError::from)?
            .reserve),
    }
}

/// How a trial is carried out that may be told where its result was kept, or not.
pub(super) const fn reach_of(bench: &Bench, recall: Recall) -> HostReach {
    match (recall, bench) {
        (Recall::Never, Bench::Fleet(_)) | (Recall::WhereKept, _) => HostReach::Each,
        (Recall::Never | Recall::Fill, _) => HostReach::Leaving,
    }
}

/// Verify what the plan says.
pub(super) fn verify(bench: &mut Bench, plan: &FioPlan) -> Result<()> {
    let (Bench::Real(real), Some(verify)) = (bench, &plan.verify) else {
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

/// Whether it is, or was, the storage of this machine.
pub(super) fn is_real(bench: &Bench) -> bool {
    !matches!(bench.access(), Access::Null | Access::Simulated)
}

/// How jobs reach their files, if all of them go past the page cache or not.
pub(super) fn access_of(bench: &Bench, is_direct: bool) -> Access {
    match is_real(bench) && !is_direct {
        true => Access::Buffered,
        false => bench.access(),
    }
}
