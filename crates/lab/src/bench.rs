//! Opens the target of a command: a directory, a named target, or a model.

mod again;
mod error;
mod null;
mod place;

use std::path::{Path, PathBuf};

use drivers::{
    AccessMode, BufferPages, Caching, DirectoryOwner, DriverKind, FreeSpace, Notice, TargetError,
    free_space,
};
use engine::OnError;
use procedure::{CheckUpFacts, SIZE_MIN};
use results::environment::TargetKind;
use results::{Access, Caution, Setup, TargetDescription};
use units::{Bytes, Duration, TargetName};

pub use self::place::{Bench, HostReach, only_objects};
use crate::cells::{Cells, Killed};
use crate::hosts::{CommonTarget, Ranks, TargetReport, opened_on_all};
use crate::kept::{Kept, OpenedTarget, ReplayLaboratory};
use crate::laboratory::{LaboratoryError, SimLaboratory, with_causes};
use crate::simulated::open_recorded_model;
use crate::storage::{Neighbours, StorageLaboratory, StorageSettings};
use host::environment;
use host::inspect;
use host::limits::ProcessLimits;
use host::processors::processors;

use again::changed;
pub use again::{found, replayed};
pub use error::BenchError;
pub use null::open_null;

/// The test file takes one part in this many of the space above the reserve: in a check-up, because
/// the file for the page cache takes up to half as much again and the small files need the rest; by
/// default, to leave space for others.
const ROOM_PART: u64 = 2;
/// Minimum size of an existing target.
const TARGET_MIN: Bytes = Bytes::from_mib(1);
/// Minimum number of files: a directory, its marker, and two test files.
const FILES_MIN: u64 = 4;

/// A target to open, and what may be done to it.
#[derive(Clone, Debug)]
pub struct BenchRequest {
    pub target: TargetName,
    /// Purpose of the work directory.
    pub purpose: String,
    /// Size of the test file, or of the used part of a named target; chosen automatically if
    /// absent.
    pub size: Option<Bytes>,
    /// Reserve of free space; if absent, the larger of 5 % and 1 GiB, at most a quarter.
    pub reserve: Option<Bytes>,
    /// Whether an existing target may be written.
    pub overwrite: bool,
    /// Name of the device whose content may be destroyed, as typed by the user.
    pub confirmed: Option<String>,
    /// Settings for all workers.
    pub storage: StorageSettings,
    /// The setup recorded in the run.
    pub setup: Setup,
    /// Where results are kept in case the program is killed.
    pub cells: Cells,
    /// The hosts that measure together, if there are several.
    pub ranks: Option<Ranks>,
}

impl BenchRequest {
    /// A request with defaults, which may not overwrite anything.
    pub fn new(target: TargetName, purpose: &str, setup: Setup) -> Self {
        Self {
            target,
            purpose: purpose.into(),
            size: None,
            reserve: None,
            overwrite: false,
            confirmed: None,
            storage: default_settings(setup.seed),
            setup,
            cells: Cells::default(),
            ranks: None,
        }
    }

    /// The setup for the run, with automatic choices resolved.
    pub fn resolved(&self, size: Bytes) -> Setup {
        let mut setup = self.setup.clone();
        // Jobs have their own sizes.
        if size > Bytes(0) {
            setup.resolve("size", [size.to_exact_string()]);
        }
        setup.resolve("workers", [self.storage.workers.to_string()]);
        setup
    }
}

/// A target ready for measurement.
pub struct OpenedBench {
    /// Where trials run.
    pub bench: Bench,
    pub description: TargetDescription,
    /// Cautions about the target.
    pub cautions: Vec<Caution>,
    /// Properties of the target for procedures.
    pub facts: CheckUpFacts,
}

/// Inspects and opens a target. In a directory this only creates a work directory.
///
/// # Errors
/// If the target does not exist, must not be used that way, or has no space.
pub fn open_bench(request: &BenchRequest) -> Result<OpenedBench, BenchError> {
    open_on_all(request, FilesMade::TestFile)
}

fn open_on_all(request: &BenchRequest, files: FilesMade) -> Result<OpenedBench, BenchError> {
    let opened = open(request, files);
    match &request.ranks {
        Some(ranks) => on_common_target(request, ranks, opened),
        None => opened,
    }
}

/// Opens the target on all hosts, or on none.
fn on_common_target(
    request: &BenchRequest,
    ranks: &Ranks,
    opened: Result<OpenedBench, BenchError>,
) -> Result<OpenedBench, BenchError> {
    let judge = |all: Vec<TargetReport>| {
        let common = CommonTarget::of(&all, ranks)?;
        common.holds(request.size).map(|()| common)
    };
    let (mut opened, common) = opened_on_all(
        opened.map_err(of_full_host),
        |opened| Ok(TargetReport::of(&opened.description, &opened.facts)),
        |seen| ranks.agree(seen, judge),
        |mut opened, error| opened.bench.abandon(error),
    )?;
    common.apply(&mut opened.facts);
    let how = (request.storage.seed, request.storage.on_error);
    opened.bench = opened.bench.of_ranks(ranks, how, common.differences);
    Ok(opened)
}

/// A host without space is a usage error of the whole group.
pub fn of_full_host(error: BenchError) -> BenchError {
    match error {
        BenchError::Laboratory(LaboratoryError::Target(
            ref full @ (TargetError::NoRoom { .. } | TargetError::NoFiles { .. }),
        )) => BenchError::Usage(with_causes(full)),
        other => other,
    }
}

/// As [`open_bench`], for a check-up, which creates more files than the test file.
///
/// # Errors
/// Those of [`open_bench`].
pub fn open_check_up(request: &BenchRequest) -> Result<OpenedBench, BenchError> {
    open_on_all(request, FilesMade::CheckUp)
}

/// Files created in a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilesMade {
    /// Only the test file.
    TestFile,
    /// A test file, one for the page cache, and small files.
    CheckUp,
}

/// Opens a target with the properties found when the run started.
fn open(request: &BenchRequest, files: FilesMade) -> Result<OpenedBench, BenchError> {
    // Identified by the seed, since the path may be given differently when the run is resumed.
    let of = format!("target {}", request.storage.seed);
    let known: Option<OpenedTarget> = request.cells.recalled(&of);
    if request.cells.is_replay_only() {
        let replay = ReplayLaboratory::new(request.cells.clone(), request.storage.seed);
        return Ok(replayed(replay, known.ok_or(Killed)?));
    }
    let mut opened = open_now(request, files)?;
    match known {
        Some(known) => match changed(&known, &opened) {
            // Automatic choices stay as they were made then.
            None => opened.facts = known.facts,
            Some(what) => {
                let error = BenchError::Usage(format!(
                    "{}: {what} since the run started, so old and new results \
                     do not fit together. Start over",
                    request.target
                ));
                return Err(opened.bench.abandon(error));
            }
        },
        None => request.cells.note(&of, &found(&opened)),
    }
    Ok(opened)
}

fn open_now(request: &BenchRequest, files: FilesMade) -> Result<OpenedBench, BenchError> {
    if let Some(model) = request.target.model() {
        refuse_idle_options(request, TargetKind::Simulated)?;
        return simulated(request, model);
    }
    let (path, description, cautions) = inspected(&request.target)?;
    refuse_idle_options(request, description.kind)?;
    refuse_without_poll_queues(request, &description)?;
    let mut settings = request.storage.clone();
    settings.device = description
        .devices
        .first()
        .map(|device| device.name.clone());
    match description.kind {
        TargetKind::Directory => {
            refuse_read_only(&description)?;
            let room = room_in(path, request, files)?;
            in_directory(request, path, room, settings, description, cautions)
        }
        _ => on_target(request, path, settings, description, cautions),
    }
}

/// Inspects a target other than a model.
///
/// # Errors
/// If it does not exist or cannot be inspected.
pub fn inspected(
    target: &TargetName,
) -> Result<(&Path, TargetDescription, Vec<Caution>), BenchError> {
    if target.is_null() {
        return Err(BenchError::Usage(format!(
            "there is no storage at `{target}`, which `seekstone trial` alone measures. Name a \
             directory, a file, a device or a model"
        )));
    }
    if let Some(bucket) = target.bucket() {
        return Err(BenchError::Usage(only_objects(bucket)));
    }
    let path = Path::new(target);
    let (description, cautions) = inspect::inspect(path)?;
    Ok((path, description, cautions))
}

/// Options without effect on this target are refused, not ignored.
fn refuse_idle_options(request: &BenchRequest, kind: TargetKind) -> Result<(), BenchError> {
    let is_named = matches!(kind, TargetKind::File | TargetKind::BlockDevice);
    let idle = if request.overwrite && !is_named {
        "--overwrite applies to an existing file or device"
    } else if request.confirmed.is_some() && kind != TargetKind::BlockDevice {
        "--confirm applies to the content of a block device"
    } else if request.reserve.is_some() && kind != TargetKind::Directory {
        "--reserve applies to a directory in which a test file is made"
    } else if request.storage.test_files > 1 && kind != TargetKind::Directory {
        "--files applies to a directory in which test files are made"
    } else if request.storage.notice == Notice::Poll && kind == TargetKind::Simulated {
        "--poll applies to a device with poll queues"
    } else {
        return Ok(());
    };
    let target = &request.target;
    Err(BenchError::Usage(format!("{target}: {idle}. Leave it out")))
}

/// Polling a device without poll queues would still wait for its interrupts, on older kernels
/// without an error.
fn refuse_without_poll_queues(
    request: &BenchRequest,
    description: &TargetDescription,
) -> Result<(), BenchError> {
    if request.storage.notice == Notice::Interrupt {
        return Ok(());
    }
    let device = description.devices.first().map(|device| &device.name);
    let what = match device {
        Some(name) if inspect::has_poll_queues(&inspect::SystemRoots::default(), name) => {
            return Ok(());
        }
        Some(name) => format!("{name} has no poll queues (queue/io_poll in /sys is not 1)"),
        None => "it is not on a block device of this machine".to_owned(),
    };
    Err(BenchError::Usage(format!(
        "--poll on {}: {what}. Configure them (nvme.poll_queues=N), or leave --poll out",
        request.target
    )))
}

fn simulated(request: &BenchRequest, model: &str) -> Result<OpenedBench, BenchError> {
    let spec = open_recorded_model(model, &request.setup)?;
    let size = part_of(request, spec.size)?;
    let description = TargetDescription::simulated(model, &spec.text, Some(size.0));
    let facts = CheckUpFacts {
        makes_files: false,
        may_overwrite: !spec.is_read_only(),
        existing: Some(size),
        room: size,
        memory: Bytes(0),
        access: Access::Simulated,
        has_page_cache: false,
    };
    let seed = request.storage.seed;
    let laboratory = SimLaboratory::new(spec, seed).with_errors(request.storage.on_error);
    let bench = Bench::Simulated(Kept::new(laboratory, request.cells.clone(), seed));
    Ok(OpenedBench {
        bench,
        description,
        cautions: Vec::new(),
        facts,
    })
}

fn in_directory(
    request: &BenchRequest,
    path: &Path,
    (room, reserve): (Bytes, u64),
    mut settings: StorageSettings,
    description: TargetDescription,
    cautions: Vec<Caution>,
) -> Result<OpenedBench, BenchError> {
    settings.reserve = reserve;
    let owner = directory_owner(&request.purpose);
    let mut laboratory = StorageLaboratory::in_directory(path, &owner, settings)?;
    laboratory.probe_directory()?;
    Ok(real(request, laboratory, room, (description, cautions)))
}

/// Description of a work directory in its marker.
pub fn directory_owner(purpose: &str) -> DirectoryOwner {
    DirectoryOwner {
        program: format!("seekstone {}", host::VERSION),
        started: environment::capture().started_at,
        purpose: purpose.to_owned(),
    }
}

/// Opens real storage: files of at most `size` are created in a directory; of existing targets that
/// part is used.
fn real(
    request: &BenchRequest,
    laboratory: StorageLaboratory,
    size: Bytes,
    (description, cautions): (TargetDescription, Vec<Caution>),
) -> OpenedBench {
    let makes_files = description.kind == TargetKind::Directory;
    let facts = CheckUpFacts {
        makes_files,
        may_overwrite: request.overwrite,
        existing: (!makes_files).then_some(size),
        room: size,
        memory: memory(),
        access: laboratory.access(),
        has_page_cache: true,
    };
    let kept = Kept::new(laboratory, request.cells.clone(), request.storage.seed);
    OpenedBench {
        bench: Bench::Real(Box::new(kept)),
        description,
        cautions,
        facts,
    }
}

fn on_target(
    request: &BenchRequest,
    path: &Path,
    settings: StorageSettings,
    description: TargetDescription,
    cautions: Vec<Caution>,
) -> Result<OpenedBench, BenchError> {
    let access = if request.overwrite {
        AccessMode::Overwrite
    } else {
        AccessMode::ReadOnly
    };
    let laboratory =
        StorageLaboratory::on_target(path, access, request.confirmed.as_deref(), settings)?;
    let whole = Bytes(laboratory.size());
    let size = part_of(request, whole)?;
    if whole < TARGET_MIN {
        return Err(BenchError::Usage(format!(
            "{} holds {whole}, and a measurement needs at least {TARGET_MIN}. Name \
             a larger file, or a directory for a test file",
            path.display()
        )));
    }
    if size < TARGET_MIN {
        return Err(BenchError::Usage(format!(
            "--size {size}: a measurement needs at least {TARGET_MIN}, and {} holds \
             {whole}",
            path.display()
        )));
    }
    Ok(real(request, laboratory, size, (description, cautions)))
}

/// The used part of an existing target: all of `whole`, or the requested size.
fn part_of(request: &BenchRequest, whole: Bytes) -> Result<Bytes, BenchError> {
    match request.size {
        Some(wanted) if wanted > whole => Err(BenchError::Usage(format!(
            "--size {wanted}: {} holds only {whole}",
            request.target
        ))),
        Some(wanted) => Ok(wanted),
        None => Ok(whole),
    }
}

/// Maximum size of a test file, and the reserve.
fn room_in(
    path: &Path,
    request: &BenchRequest,
    made: FilesMade,
) -> Result<(Bytes, u64), BenchError> {
    let space = free_space(path).map_err(LaboratoryError::from)?;
    let FreeSpace {
        available,
        reserve,
        files,
        ..
    } = space;
    let path = path.to_owned();
    let wanted = FILES_MIN + u64::from(request.storage.test_files - 1);
    if let Some(available) = files.filter(|&files| files < wanted) {
        let error = TargetError::NoFiles {
            path,
            wanted,
            available,
        };
        return Err(LaboratoryError::from(error).into());
    }
    let reserve = request.reserve.map_or(reserve, |reserve| reserve.0);
    let copies = space.copies();
    let free = Bytes(available.saturating_sub(reserve) / copies);
    let part = Bytes(free.0 / ROOM_PART);
    let wanted = request.size.unwrap_or(SIZE_MIN);
    let (room, needed) = match made {
        FilesMade::CheckUp => (part, Bytes(wanted.0.saturating_mul(ROOM_PART))),
        FilesMade::TestFile if request.size.is_some() => (free, wanted),
        FilesMade::TestFile => (part.max(wanted), wanted),
    };
    if free >= needed {
        return Ok((room, reserve));
    }
    let why = match (made, space.copies_on_write) {
        (FilesMade::CheckUp, false) => " (the test file, and as much for the other files of a run)",
        (FilesMade::CheckUp, true) => {
            " (the test file and as much for the other files of a run, twice, since copy-on-write \
             keeps old blocks)"
        }
        (FilesMade::TestFile, false) => "",
        (FilesMade::TestFile, true) => {
            " (twice the test file: a copy-on-write file system keeps old blocks for a while)"
        }
    };
    let error = TargetError::NoRoom {
        path,
        wanted: needed.0.saturating_mul(copies),
        why,
        available,
        reserve,
    };
    Err(LaboratoryError::from(error).into())
}

fn memory() -> Bytes {
    Bytes(
        ProcessLimits::capture()
            .memory_available_bytes
            .unwrap_or(1 << 30),
    )
}

fn refuse_read_only(description: &TargetDescription) -> Result<(), BenchError> {
    let is_read_only = description
        .file_system
        .as_ref()
        .is_some_and(|file_system| file_system.read_only);
    if !is_read_only {
        return Ok(());
    }
    Err(BenchError::Usage(format!(
        "{} is mounted read-only: no test file can be created there. Name an existing file on it \
         to measure reads",
        description.path
    )))
}

/// The directory that would contain a target's stale work directories.
pub fn directory_of(target: &TargetName) -> Option<PathBuf> {
    let path = target.path()?;
    path.is_dir().then(|| path.to_owned())
}

/// How long a finished trial waits for its storage to respond.
pub const HANG_LIMIT: Duration = Duration::from_secs(60);

/// Settings with all automatic choices.
pub fn default_settings(seed: u64) -> StorageSettings {
    StorageSettings {
        seed,
        driver: DriverKind::Auto,
        batch: None,
        pages: BufferPages::default(),
        notice: Notice::Interrupt,
        test_files: 1,
        on_error: OnError::Stop,
        workers: (processors().len() / 2).clamp(1, 4),
        processors: Vec::new(),
        device: None,
        reserve: 0,
        caching: Caching::Direct,
        verify_unit: None,
        verify_state: None,
        neighbours: Neighbours::of_environment(),
        hang_limit: HANG_LIMIT,
    }
}
