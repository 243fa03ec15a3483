//! Opens what a command measures: a directory, a named target, or a model.

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

/// The test file takes one part in this many of what lies above the reserve: of a check-up, since
/// the file for the page cache takes up to half as much again and the small files need the rest,
/// and where no size is asked for, to leave others some room.
const ROOM_PART: u64 = 2;
/// The least of an existing target that can be measured.
const TARGET_MIN: Bytes = Bytes::from_mib(1);
/// Files without which nothing can be measured: a directory, its marker, and two test files.
const FILES_MIN: u64 = 4;

/// What is measured, and what may be done to it.
#[derive(Clone, Debug)]
pub struct BenchRequest {
    pub target: TargetName,
    /// What the work directory is for.
    pub purpose: String,
    /// Size of the test file, or the part of a named target to use; chosen when absent.
    pub size: Option<Bytes>,
    /// Room that stays free; the larger of 5 % and 1 GiB, at most a quarter, when absent.
    pub reserve: Option<Bytes>,
    /// Whether an existing target may be written.
    pub overwrite: bool,
    /// The name of the device whose known content may be lost, as typed by the user.
    pub confirmed: Option<String>,
    /// What all workers are told.
    pub storage: StorageSettings,
    /// What the run records of all this.
    pub setup: Setup,
    /// Where what is measured is kept, against a kill.
    pub cells: Cells,
    /// The hosts that measure together, where there are several.
    pub ranks: Option<Ranks>,
}

impl BenchRequest {
    /// A target of which nothing more is asked, and on which nothing may be overwritten.
    #[must_use]
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

    /// The setup as the run records it, with what was left to the program.
    #[must_use]
    pub fn resolved(&self, size: Bytes) -> Setup {
        let mut setup = self.setup.clone();
        // Jobs have sizes of their own.
        if size > Bytes(0) {
            setup.resolve("size", [size.to_exact_string()]);
        }
        setup.resolve("workers", [self.storage.workers.to_string()]);
        setup
    }
}

/// A target that is ready to be measured.
pub struct OpenedBench {
    /// Where trials are run.
    pub bench: Bench,
    pub description: TargetDescription,
    /// What would mislead.
    pub cautions: Vec<Caution>,
    /// What a procedure must know.
    pub facts: CheckUpFacts,
}

/// Look at a target and open it. In a directory this makes a work directory and nothing else.
///
/// # Errors
/// When the target does not exist, must not be used that way, or has no room.
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

/// All hosts have opened the target, or none has.
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

/// A host without space is a mistake in what was asked of the hosts together.
#[must_use]
pub fn of_full_host(error: BenchError) -> BenchError {
    match error {
        BenchError::Laboratory(LaboratoryError::Target(
            ref full @ (TargetError::NoRoom { .. } | TargetError::NoFiles { .. }),
        )) => BenchError::Usage(with_causes(full)),
        other => other,
    }
}

/// The same for a check-up, which makes more files than the one that is measured.
///
/// # Errors
/// Those of [`open_bench`].
pub fn open_check_up(request: &BenchRequest) -> Result<OpenedBench, BenchError> {
    open_on_all(request, FilesMade::CheckUp)
}

/// What is made in a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilesMade {
    /// The test file alone.
    TestFile,
    /// A test file, one for the page cache, and small files.
    CheckUp,
}

/// Open a target, as it was found to be when the run was begun.
fn open(request: &BenchRequest, files: FilesMade) -> Result<OpenedBench, BenchError> {
    // By its seed: a path may be given in another way when the run goes on.
    let of = format!("target {}", request.storage.seed);
    let known: Option<OpenedTarget> = request.cells.recalled(&of);
    if request.cells.is_replay_only() {
        let replay = ReplayLaboratory::new(request.cells.clone(), request.storage.seed);
        return Ok(replayed(replay, known.ok_or(Killed)?));
    }
    let mut opened = open_now(request, files)?;
    match known {
        Some(known) => match changed(&known, &opened) {
            // What was left to the program stays as it was chosen then.
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

/// What the system says of a target that is no model.
///
/// # Errors
/// When nothing is there, or it cannot be looked at.
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

/// An option that would do nothing on this target is refused, not ignored.
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

/// Polling a device that has no queues for it would wait for its interrupts all the same, on older
/// kernels without a word.
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

/// What the marker of a work directory says of it.
#[must_use]
pub fn directory_owner(purpose: &str) -> DirectoryOwner {
    DirectoryOwner {
        program: format!("seekstone {}", host::VERSION),
        started: environment::capture().started_at,
        purpose: purpose.to_owned(),
    }
}

/// Real storage that is open: in a directory files of at most `size` are made, of what exists so
/// much is used.
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

/// The part of an existing target that is used: all of `whole`, or as much of it as asked for.
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

/// What a test file may take, and what stays free.
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

/// The directory in which a target's stale work directories would be.
#[must_use]
pub fn directory_of(target: &TargetName) -> Option<PathBuf> {
    let path = target.path()?;
    path.is_dir().then(|| path.to_owned())
}

/// How long a trial that is over waits for an answer of its storage.
pub const HANG_LIMIT: Duration = Duration::from_secs(60);

/// Settings with every choice left to the program.
#[must_use]
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
