//! The data file: found, checked or created, and never harmed if it is not ours.
//!
//! A file created by this program has a marker beside it, and its seal in every block (see
//! [`lab::data_marker`]). Only such a file is written to without `--overwrite`.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use drivers::{
    AccessMode, Caching, DriverKind, Payload, Removal, Seal, Target, TargetError, TargetFileType,
    TargetOptions, TargetTable, fill_incompressible,
};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use sim::SimSpec;
use sys::drop_cached;
use units::{Bytes, TargetName};
use workload::TargetId;

use host::interrupt::Interrupt;
use lab::data_marker::{DataMarker, MarkerState};
use lab::simulated::open_model;

use crate::run::data_file::{DataFate, DataFile as MadeFile, check_room, directory_of};
use crate::run::{ClassicError, go_on};

/// Bytes written at once.
const CHUNK: usize = 1 << 20;

/// How a data file is accessed, whatever its size.
#[derive(Clone, Debug)]
pub struct DataAccess {
    /// Seed of everything random.
    pub seed: u64,
    /// The driver.
    pub driver: DriverKind,
    /// Whether a file that is not ours may be written to.
    pub overwrite: bool,
    /// The device's name as typed, if its content may be destroyed.
    pub confirmed: Option<String>,
    /// Reserve of free space when a data file is created.
    pub reserve: Option<u64>,
}

impl DataAccess {
    /// For a model, or our own file.
    pub const fn with_seed(seed: u64) -> Self {
        Self {
            seed,
            driver: DriverKind::Auto,
            overwrite: false,
            confirmed: None,
            reserve: None,
        }
    }
}

/// Requirements for a data file.
pub(super) struct DataRequest<'a> {
    pub(super) name: TargetName,
    /// Its size, if given: of a file to create, or the part to use.
    pub(super) size: Option<u64>,
    /// Whether it will be written to.
    pub(super) writes: bool,
    pub(super) access: &'a DataAccess,
    /// Alignment of all I/Os.
    pub(super) unit: u64,
}

/// A data file that is ready.
pub(super) struct RptDataFile {
    /// Its name as given.
    pub(super) name: String,
    /// Bytes used.
    pub(super) bytes: u64,
    /// Notes about it, a sentence each.
    pub(super) notes: Vec<String>,
    pub(super) storage: DataStorage,
}

/// Where its data is.
pub(super) enum DataStorage {
    Simulated(SimSpec),
    /// A file or device.
    Real {
        targets: Arc<TargetTable>,
        /// The seal in everything written, so that the file stays ours.
        seal: Seal,
        /// The lock that marks it as in use.
        _held: Option<HeldFile>,
    },
}

/// Receives the progress of a file being created: bytes written, and total.
pub type Filling<'a> = &'a mut dyn FnMut(u64, u64);

impl RptDataFile {
    /// Size of the caches between a program and the medium, if known: for a model.
    pub(super) fn cache_bytes(&self) -> Option<u64> {
        match &self.storage {
            DataStorage::Simulated(spec) => spec.cache_bytes(),
            DataStorage::Real { .. } => None,
        }
    }
}

/// Finds or creates the data file. `fits` checks the size before anything is created or read.
///
/// # Errors
/// If it is missing, too small or not ours, or the system refuses.
pub(super) fn open_data(
    request: &DataRequest<'_>,
    fits: &dyn Fn(u64) -> Result<(), String>,
    interrupt: &Interrupt,
    filling: Filling<'_>,
) -> Result<RptDataFile, ClassicError> {
    let in_context = |reason: String| ClassicError::Usage(format!("{}: {reason}", request.name));
    let access = request.access;
    if let Some(model) = request.name.model() {
        if access.overwrite || access.confirmed.is_some() {
            return Err(in_context(
                "a model holds nothing that --overwrite could mean".into(),
            ));
        }
        let spec = open_model(model)?;
        let bytes = part(request, spec.size.0)?;
        fits(bytes).map_err(in_context)?;
        return Ok(RptDataFile {
            name: spec.text.clone(),
            bytes,
            notes: Vec::new(),
            storage: DataStorage::Simulated(spec),
        });
    }
    let path = Path::new(&request.name);
    if is_missing(path)? || remove_unfinished(path, request)? {
        let Some(size) = request.size else {
            return Err(ClassicError::Usage(format!(
                "the data file {} does not exist: make it with -B BYTES, or name another with -f",
                path.display()
            )));
        };
        if access.overwrite {
            return Err(in_context(
                "--overwrite applies to a file that exists; leave it out".into(),
            ));
        }
        fits(size).map_err(in_context)?;
        make(path, size, access.reserve, interrupt, filling)?;
    }
    let marker = marker_of(path)?;
    let OpenedDataFile {
        target,
        mut notes,
        is_ours,
    } = open_target(path, request, marker.as_ref())?;
    let bytes = part(request, target.size())?;
    fits(bytes).map_err(in_context)?;
    let held = hold(&target, &mut notes).map_err(ClassicError::file("hold", path))?;
    if target.caching() == Caching::Direct {
        notes.push(format!(
            "{}: past the page cache (direct I/O)",
            path.display()
        ));
    }
    Ok(RptDataFile {
        name: request.name.to_string(),
        bytes,
        notes,
        storage: DataStorage::Real {
            targets: Arc::new(TargetTable::new(vec![target])),
            // With the seal of its marker, a user's file would be taken for ours next time.
            seal: marker
                .filter(|_| is_ours)
                .map_or_else(Seal::of_this_run, |marker| marker.seal()),
            _held: held,
        },
    })
}

/// A data file with a lock that marks it as being measured.
pub(super) struct HeldFile(File);

/// Locks a file, and notes other users. Not possible for a device, which others lock for their own
/// reasons, or on a file system without locks.
fn hold(target: &Target, notes: &mut Vec<String>) -> std::io::Result<Option<HeldFile>> {
    if target.kind() != TargetFileType::File {
        return Ok(None);
    }
    match flock(target.file(), FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => return Ok(Some(HeldFile(target.file().try_clone()?))),
        Err(Errno::WOULDBLOCK) => notes.push(format!(
            "{}: another rpt or transact is using it now: each slows the other down, and neither's \
             results are the storage's",
            target.path().display()
        )),
        Err(_) => {}
    }
    Ok(None)
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        // io_uring releases its files a little after the process has ended: the next program would
        // find a lock without owner.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// All of it, or the requested part.
fn part(request: &DataRequest<'_>, whole: u64) -> Result<u64, ClassicError> {
    match request.size {
        Some(wanted) if wanted > whole => Err(ClassicError::Usage(format!(
            "{} has {}, and {} are asked for: leave the size out to use it as it is, or remove \
             the file to have a larger one made",
            request.name,
            Bytes(whole),
            Bytes(wanted)
        ))),
        wanted => Ok(wanted.unwrap_or(whole)),
    }
}

fn is_missing(path: &Path) -> Result<bool, ClassicError> {
    match path.metadata() {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(ClassicError::file("examine", path)(error)),
    }
}

/// The marker of a file, if there is a valid one.
fn marker_of(path: &Path) -> Result<Option<DataMarker>, ClassicError> {
    DataMarker::read(path).map_err(ClassicError::file("read the marker of", path))
}

/// Whether it may be written without permission.
fn is_ours(target: &Target, marker: Option<&DataMarker>) -> Result<bool, ClassicError> {
    let Some(marker) = marker.filter(|marker| marker.is_complete()) else {
        return Ok(false);
    };
    let proved = target.kind() == TargetFileType::File && {
        let proof = marker.proves(target.file());
        proof.map_err(ClassicError::file("read", target.path()))?
    };
    Ok(proved)
}

/// An existing file or device, opened.
struct OpenedDataFile {
    target: Target,
    notes: Vec<String>,
    is_ours: bool,
}

/// Opens an existing file or device to read it or, if harmless, to write it.
fn open_target(
    path: &Path,
    request: &DataRequest<'_>,
    marker: Option<&DataMarker>,
) -> Result<OpenedDataFile, ClassicError> {
    // A device is opened for writing only with permission, since that alone can disturb others.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    if request.writes && !request.access.overwrite && !is_file {
        return Err(foreign(path));
    }
    let (target, why_cached) = open_past_the_cache(path, request)?;
    let is_ours = request.writes && is_ours(&target, marker)?;
    if request.writes && !request.access.overwrite && !is_ours {
        return Err(foreign(path));
    }
    let note = why_cached.map(|why| {
        format!(
            "{}: {why}: everything goes through the page cache, and the response times are not \
             those of the storage",
            path.display()
        )
    });
    if note.is_some() && target.kind() == TargetFileType::File {
        drop_cached(target.file())
            .map_err(|error| TargetError::io("prepare the page cache of", path, error))?;
    }
    Ok(OpenedDataFile {
        target,
        notes: note.into_iter().collect(),
        is_ours,
    })
}

/// Opens it with direct I/O, or reports why that is not possible.
fn open_past_the_cache(
    path: &Path,
    request: &DataRequest<'_>,
) -> Result<(Target, Option<&'static str>), ClassicError> {
    let access = if request.writes {
        AccessMode::Overwrite
    } else {
        AccessMode::ReadOnly
    };
    let options = |caching| TargetOptions {
        access,
        caching,
        signature_confirmed: request.access.confirmed.clone(),
    };
    let target = match Target::open(path, &options(Caching::Direct)) {
        Err(TargetError::DirectUnsupported { .. }) => {
            let target = Target::open(path, &options(Caching::Buffered))?;
            return Ok((target, Some("direct I/O is not supported here")));
        }
        opened => opened?,
    };
    let unit = u64::from(target.alignment().offset);
    if request.unit.is_multiple_of(unit) {
        return Ok((target, None));
    }
    // A device cannot be claimed twice.
    drop(target);
    let target = Target::open(path, &options(Caching::Buffered))?;
    let why = "I/Os of these sizes cannot pass the page cache";
    Ok((target, Some(why)))
}

fn foreign(path: &Path) -> ClassicError {
    ClassicError::Usage(format!(
        "{} is not written to: nothing in it proves that this program made it, and the workload \
         writes; use --overwrite if everything in it may be lost, or have a new file made with -B",
        path.display()
    ))
}

/// Removes an incomplete file of an earlier run if it is to be created again. Returns whether it
/// did.
fn remove_unfinished(path: &Path, request: &DataRequest<'_>) -> Result<bool, ClassicError> {
    let Some(marker) = marker_of(path)?.filter(|marker| !marker.is_complete()) else {
        return Ok(false);
    };
    if !marker.is_idle() {
        return Err(ClassicError::Usage(format!(
            "the data file {} is being made by another program: begin when that has ended",
            path.display()
        )));
    }
    if request.size.is_none() {
        return Err(ClassicError::Usage(format!(
            "the data file {} was not filled to its end when this program was killed: use -B BYTES \
             to have it made anew, or remove it",
            path.display()
        )));
    }
    let removed = marker.remove_with(path);
    let removed = removed.map_err(ClassicError::file("remove", path))?;
    // Files that are not ours are detected and named when opened.
    Ok(removed != Removal::Foreign)
}

fn make(
    path: &Path,
    size: u64,
    reserve: Option<u64>,
    interrupt: &Interrupt,
    filling: Filling<'_>,
) -> Result<(), ClassicError> {
    let parent = directory_of(path);
    if !parent.is_dir() {
        return Err(ClassicError::Usage(format!(
            "there is no directory {} for the data file {}: make it, or name a file elsewhere (-f)",
            parent.display(),
            path.display()
        )));
    }
    let what = format!("{} of {}", path.display(), Bytes(size));
    check_room(parent, [size, 0], reserve, &what, "less (-B)")?;
    let refused = |path: &Path, error| ClassicError::file("create", path)(error);
    let mut data = MadeFile::make(path, size, 0o600, refused)?;
    fill(&data.file, path, size, interrupt, filling)?;
    let noted = data.marker.note(MarkerState::Complete, size);
    noted.map_err(ClassicError::file("write the marker of", path))?;
    data.fate = DataFate::Kept;
    Ok(())
}

/// Fills the file with noise, so that every read reaches a written block.
fn fill(
    file: &File,
    path: &Path,
    size: u64,
    interrupt: &Interrupt,
    filling: Filling<'_>,
) -> Result<(), ClassicError> {
    use rustix::fs::{FallocateFlags, fallocate};
    match fallocate(file, FallocateFlags::empty(), 0, size) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        Err(error) => return Err(ClassicError::file("allocate space in", path)(error.into())),
    }
    let payload = Payload {
        run: Seal::of_this_run().number(),
        ..Payload::default()
    };
    let mut block = vec![0; CHUNK];
    let mut done = 0;
    let mut to = file;
    while done < size {
        go_on(interrupt, "the unfinished data file was removed")?;
        let len = (size - done).min(CHUNK as u64) as usize;
        fill_incompressible(&mut block[..len], done ^ size.rotate_left(32));
        payload.stamp(&mut block[..len], TargetId(0), done);
        to.write_all(&block[..len])
            .map_err(ClassicError::file("fill", path))?;
        done += len as u64;
        filling(done, size);
    }
    file.sync_all()
        .map_err(ClassicError::file("write out", path))?;
    drop_cached(file).map_err(ClassicError::file("prepare the page cache of", path))?;
    Ok(())
}
