//! File systems under test: a directory, a device that is read, a model, and the memory disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration as StdDuration;

use drivers::{
    CacheDrop, DeviceReader, FileSystemDriver, FileSystemOptions, TargetError, WorkDirectory,
    free_space,
};
use engine::FileDriver;
use procedure::{FileItem, RoundOrder};
use results::environment::TargetKind;
use results::{Caution, FileSystemRole, Severity, TargetDescription, Warning, WarningCode};
use sys::MonotonicClock;
use verify::FileFindings;
use workload::{DecusTest, DirectoryUse, Durability, Errno, FileOp};

use super::model::{self, open_model};
use super::needs::HeldDirectories;
use super::run::{FileWork, FilesRequest};
use super::stripes::LustreStripes;
use host::inspect::inspect;
use lab::bench::{BenchError, directory_owner, inspected};
use lab::laboratory::{LaboratoryError, with_causes};

/// Where a memory disk usually is.
const MEMORY_PLACES: [&str; 3] = ["/dev/shm", "/run", "/tmp"];
/// Names that a run needs beside its files: work directory, marker, and one directory a client.
const NAMES_BESIDE: u64 = 4;

/// How often it is tried to remove a directory in which other ranks still remove theirs ...
const TRIES_MAX: u32 = 50;
/// ... and how long to wait between two tries.
const BETWEEN_TRIES: StdDuration = StdDuration::from_millis(100);

/// Who makes one client's calls.
pub enum ClientFiles {
    Real(Box<FileSystemDriver>),
    /// A device or file, which is only read.
    Reader(DeviceReader),
    Model(Box<dyn FileDriver + Send>),
}

impl ClientFiles {
    /// What makes the calls.
    pub(super) fn driver(&mut self) -> &mut dyn FileDriver {
        match self {
            Self::Real(real) => real.as_mut(),
            Self::Reader(reader) => reader,
            Self::Model(model) => model,
        }
    }

    /// The same, to ask it something.
    pub(super) fn looked_at(&self) -> &dyn FileDriver {
        match self {
            Self::Real(real) => real.as_ref(),
            Self::Reader(reader) => reader,
            Self::Model(model) => model,
        }
    }

    /// What verification found since this was asked last.
    pub fn take_findings(&mut self) -> FileFindings {
        match self {
            Self::Real(real) => real.take_findings(),
            Self::Reader(_) | Self::Model(_) => FileFindings::default(),
        }
    }

    /// Read back what was written, where it is verified. `goes_on` is asked before each read.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read_back(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<(), Errno> {
        match self {
            Self::Real(real) => real.read_back(goes_on),
            Self::Reader(_) | Self::Model(_) => Ok(()),
        }
    }

    /// From now on what is written is as durable as this.
    pub fn set_durability(&mut self, durability: Durability) {
        if let Self::Real(real) = self {
            real.set_durability(durability);
        }
    }
}

/// What is dropped in the cold state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColdReach {
    /// Nothing can be, and why.
    Nothing(&'static str),
    /// Pages of the test's own files; names and inodes stay in memory.
    OwnPages,
    /// All that caches hold.
    All,
}

impl ColdReach {
    /// Why there is no cold state.
    pub const fn why_nothing(self) -> Option<&'static str> {
        match self {
            Self::Nothing(why) => Some(why),
            Self::OwnPages | Self::All => None,
        }
    }

    /// Of files on this machine.
    const fn here(description: &TargetDescription, drop: CacheDrop) -> Self {
        match drop {
            _ if description.memory_backed => {
                Self::Nothing("the files are in memory, so no cache can be dropped")
            }
            CacheDrop::OwnFiles => Self::OwnPages,
            CacheDrop::Machine => Self::All,
        }
    }
}

/// A file system and its clients.
pub struct TestedFileSystem {
    /// Whose it is.
    pub role: FileSystemRole,
    pub description: TargetDescription,
    /// What would mislead.
    pub warnings: Vec<Warning>,
    /// One for each client.
    pub hands: Vec<ClientFiles>,
    /// The device whose counters are read.
    pub device: Option<String>,
    /// What TEST11 reads in the place of a file of our own.
    pub named: Option<TargetDescription>,
    /// In which order its tests come, and whether a first pass finds what others left.
    pub order: RoundOrder,
    /// Whether a pass that was kept need not be made again for the sake of the next ones.
    pub is_stateless: bool,
    /// What is dropped in the cold state.
    pub cold: ColdReach,
    work: Option<Arc<WorkDirectory>>,
    /// How often it is tried again to remove the work directory.
    patience: u32,
}

impl TestedFileSystem {
    /// A file system of this machine, which others use as well, with nothing of ours on it.
    pub fn new(
        role: FileSystemRole,
        description: TargetDescription,
        hands: Vec<ClientFiles>,
        drop: CacheDrop,
    ) -> Self {
        Self {
            role,
            cold: ColdReach::here(&description, drop),
            description,
            warnings: Vec::new(),
            hands,
            device: None,
            named: None,
            order: RoundOrder::Random,
            is_stateless: true,
            work: None,
            patience: 0,
        }
    }

    /// Where its files are made: of a directory that is measured.
    ///
    /// # Panics
    /// On a device or a model, which has no such place.
    pub fn work_path(&self) -> &Path {
        self.work.as_ref().expect("a directory is measured").path()
    }

    /// The device beneath what a test reads and writes.
    pub fn device_of(&self, item: FileItem) -> Option<String> {
        match (item, &self.named) {
            (FileItem::Decus(DecusTest::Test11, _), Some(named)) => first_device(named),
            _ => self.device.clone(),
        }
    }

    /// Remove the files that were made; what could not be removed is a warning.
    pub fn clear(&mut self) -> Option<Warning> {
        let mut failed = None;
        for mut hand in self.hands.drain(..) {
            if let Err(error) = hand.driver().perform(&FileOp::Initialise) {
                failed = Some(error);
            }
        }
        let why = std::io::Error::from_raw_os_error(failed?.0).to_string();
        let path = self.work.as_ref()?.path().to_owned();
        Some(left_behind(&TargetError::LeftBehind { path, why }))
    }

    /// Remove the work directory, whose files are gone; what could not be removed is a warning.
    /// Where ranks that have failed share it, it is waited for them to remove their files.
    pub fn remove(&mut self) -> Option<Warning> {
        let work = self.work.take()?;
        let mut removed = work.remove();
        for _ in 0..self.patience {
            if removed.is_ok() {
                break;
            }
            thread::sleep(BETWEEN_TRIES);
            removed = work.remove();
        }
        removed.err().map(|why| left_behind(&why))
    }

    /// Remove all that was made; what could not be removed is a warning.
    pub fn clean_up(&mut self) -> Option<Warning> {
        match self.clear() {
            None => self.remove(),
            Some(left) => {
                self.work.take();
                Some(left)
            }
        }
    }
}

fn left_behind(why: &TargetError) -> Warning {
    let text = format!(
        "{}. `seekstone clean` there removes what is left, once it can be removed",
        with_causes(why)
    );
    Warning::warn(WarningCode::LeftBehind, text)
}

fn first_device(description: &TargetDescription) -> Option<String> {
    description.devices.first().map(|it| it.name.clone())
}

/// The request without the tests that the target is known not to hold, and a note that names them.
/// What a file system of this machine does not hold is refused where it is opened.
///
/// # Errors
/// When it does not exist, or holds none of the tests.
pub fn fitting(request: &FilesRequest) -> Result<(FilesRequest, Option<Warning>), BenchError> {
    match request.bench.target.is_model() {
        true => model::fitting(request),
        false => Ok((request.clone(), None)),
    }
}

/// Open the target that was named.
///
/// # Errors
/// When it does not exist, must not be used that way, or has no room.
pub fn open_target(
    request: &FilesRequest,
    clock: MonotonicClock,
) -> Result<TestedFileSystem, BenchError> {
    if request.bench.target.is_model() {
        return open_model(request);
    }
    let role = FileSystemRole::Target;
    let (path, description, cautions) = inspected(&request.bench.target)?;
    let as_info = |caution: &Caution| caution.as_warning(Severity::Info);
    let mut warnings: Vec<Warning> = cautions.iter().map(as_info).collect();
    let device = first_device(&description);
    if description.kind != TargetKind::Directory {
        let reader = || DeviceReader::new(path, clock).map_err(LaboratoryError::from);
        let hands: Result<Vec<ClientFiles>, _> = (0..request.clients_here())
            .map(|_| reader().map(ClientFiles::Reader))
            .collect();
        return Ok(TestedFileSystem {
            warnings,
            device,
            ..TestedFileSystem::new(role, description, hands?, request.cache_drop)
        });
    }
    refuse_read_only(&description)?;
    let reserve = match request.bench.reserve {
        Some(reserve) => reserve.0,
        None => free_space(path).map_err(LaboratoryError::from)?.reserve,
    };
    check_needs(path, request, reserve)?;
    let held = request.directories_held()?;
    warnings.extend(held.warning());
    let named = request.device.as_deref();
    let (work, hands) = open_directory(path, request, named, held, request.stripes, clock)?;
    let named = named.map(inspect).transpose()?;
    Ok(TestedFileSystem {
        warnings,
        device,
        named: named.map(|(description, _)| description),
        work: Some(work),
        patience: if request.needs_one_directory() {
            TRIES_MAX
        } else {
            0
        },
        ..TestedFileSystem::new(role, description, hands, request.cache_drop)
    })
}

/// Open the memory disk to run beside the target; a note where there is none.
///
/// # Errors
/// When the directory that the user named cannot be used.
pub fn open_memory(
    request: &FilesRequest,
    clock: MonotonicClock,
) -> Result<Result<TestedFileSystem, Warning>, BenchError> {
    let named = request.memory_directory.clone();
    let place = named.clone().or_else(memory_disk);
    let Some(path) = place else {
        let text = "No memory disk (tmpfs) that could be written was found to compare with: name \
                    one with --memory DIR.";
        return Ok(Err(Warning::info(WarningCode::NoMemoryDisk, text)));
    };
    let opened = open_memory_at(&path, request, clock);
    match opened {
        Ok(subject) => Ok(Ok(subject)),
        Err(error) if named.is_some() => Err(error),
        Err(error) => Ok(Err(Warning::info(
            WarningCode::NoMemoryDisk,
            format!("No memory disk to compare with: {}", with_causes(&error)),
        ))),
    }
}

fn open_memory_at(
    path: &Path,
    request: &FilesRequest,
    clock: MonotonicClock,
) -> Result<TestedFileSystem, BenchError> {
    let (description, _) = inspect(path)?;
    if description.kind != TargetKind::Directory || !description.memory_backed {
        let text = format!(
            "--memory {}: not a directory on a memory file system (tmpfs). Name one, such as \
             /dev/shm, or leave it out",
            path.display()
        );
        return Err(BenchError::Usage(text));
    }
    check_needs(path, request, 0)?;
    let held = request.directories_held()?;
    let (work, hands) = open_directory(path, request, None, held, None, clock)?;
    Ok(TestedFileSystem {
        work: Some(work),
        ..TestedFileSystem::new(
            FileSystemRole::Memory,
            description,
            hands,
            request.cache_drop,
        )
    })
}

/// The first directory on a tmpfs that may be written.
pub fn memory_disk() -> Option<PathBuf> {
    let user = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places = MEMORY_PLACES.iter().map(PathBuf::from).chain(user);
    let mut found = places.filter(|place| {
        let inspected = inspect(place);
        let is_memory = inspected.is_ok_and(|(description, _)| {
            let file_system = description.file_system.as_ref();
            file_system.is_some_and(|it| it.kind == "tmpfs" && !it.read_only)
        });
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        is_memory && rustix::fs::access(place, access).is_ok()
    });
    found.next()
}

type Opened = (Arc<WorkDirectory>, Vec<ClientFiles>);

fn open_directory(
    path: &Path,
    request: &FilesRequest,
    device: Option<&Path>,
    held: HeldDirectories,
    stripes: Option<LustreStripes>,
    clock: MonotonicClock,
) -> Result<Opened, BenchError> {
    let work = Arc::new(work_directory(path, request)?);
    if let Some(stripes) = stripes {
        stripes.set(work.path())?;
    }
    let options = FileSystemOptions {
        durability: Durability::Volatile,
        drop: request.cache_drop,
        directories: request.directories(),
        directories_held: usize::try_from(held.held).unwrap_or(usize::MAX),
        verify: request.verify,
        compare: request.compare,
    };
    let share = request.share();
    let hands: Result<Vec<ClientFiles>, TargetError> = (0..request.clients_here())
        .map(|client| {
            let client = share.client(client);
            FileSystemDriver::new(Arc::clone(&work), client, device, clock, options)
                .map(|driver| ClientFiles::Real(Box::new(driver)))
        })
        .collect();
    Ok((work, hands.map_err(LaboratoryError::from)?))
}

/// A work directory of this host's own, or that of rank 0 where hosts use each other's files.
fn work_directory(path: &Path, request: &FilesRequest) -> Result<WorkDirectory, BenchError> {
    let create = || {
        let owner = directory_owner(&request.bench.purpose);
        WorkDirectory::create(path, &owner).map_err(LaboratoryError::from)
    };
    let ranks = request.bench.ranks.as_ref();
    let Some(ranks) = ranks.filter(|_| request.needs_one_directory()) else {
        return Ok(create()?);
    };
    if ranks.leads() {
        let made = create()?;
        ranks.agree(Ok(made.name().to_owned()), |names| Ok(names[0].clone()))?;
        return Ok(made);
    }
    let name = ranks.agree(Ok(String::new()), |names| Ok(names[0].clone()))?;
    WorkDirectory::join(path, &name).map_err(|error| {
        BenchError::Usage(format!(
            "{}: the directory that rank 0 made cannot be used here ({}). {} needs one file system \
             on all hosts",
            path.display(),
            with_causes(&LaboratoryError::from(error)),
            match request.directories() {
                DirectoryUse::Shared => "A directory of all clients",
                DirectoryUse::Own => "--reorder",
            }
        ))
    })
}

/// Nothing is begun that is known not to fit.
fn check_needs(path: &Path, request: &FilesRequest, reserve: u64) -> Result<(), BenchError> {
    let needs = request.needs();
    let space = free_space(path).map_err(LaboratoryError::from)?;
    let refused = |error: TargetError| -> BenchError { LaboratoryError::from(error).into() };
    let wanted = needs.names + NAMES_BESIDE + u64::from(request.clients_here());
    if let Some(available) = space.files.filter(|available| *available < wanted) {
        let path = path.to_owned();
        return Err(refused(TargetError::NoFiles {
            path,
            wanted,
            available,
        }));
    }
    if needs.bytes.saturating_add(reserve) <= space.available {
        return Ok(());
    }
    Err(BenchError::Usage(format!(
        "{} has no space for the files of these tests. They take up to {}, {} are free, and {} \
         must stay free. Ask for less ({}), {}or free some space",
        path.display(),
        units::Bytes(needs.bytes),
        units::Bytes(space.available),
        units::Bytes(reserve),
        match request.work {
            FileWork::Decus { .. } => "--tests, --scale, --clients",
            FileWork::Metadata(_) => "--files",
            FileWork::Bandwidth(_) => "--file-size, --clients",
        },
        if needs.bytes <= space.available {
            "keep less free (--reserve 0 lets them have all of it), "
        } else {
            ""
        },
    )))
}

fn refuse_read_only(description: &TargetDescription) -> Result<(), BenchError> {
    let file_system = description.file_system.as_ref();
    if !file_system.is_some_and(|it| it.read_only) {
        return Ok(());
    }
    Err(BenchError::Usage(format!(
        "{} is mounted read-only: files cannot be made there. Name another directory, or a file \
         or device on it for TEST11, which only reads",
        description.given
    )))
}

/// Whether the machine's caches may be dropped by this process.
///
/// # Errors
/// When they may not.
pub fn check_cache_drop(drop: CacheDrop) -> Result<(), BenchError> {
    let path = "/proc/sys/vm/drop_caches";
    let is_allowed = rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    if drop == CacheDrop::OwnFiles || is_allowed {
        return Ok(());
    }
    Err(BenchError::Usage(format!(
        "--drop-caches makes the whole machine forget its caches, and {path} cannot be written. \
         Run it as root, or leave it out. Then only the pages of the test's own files are dropped"
    )))
}
