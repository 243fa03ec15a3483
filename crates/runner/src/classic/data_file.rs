//! The data file: found, checked, or made, and never harmed when it is not ours.
//!
//! A file that this program made has a marker beside it, its name with `.seekstone` behind, which
//! holds the file's inode and size. Only such a file is written to without `--overwrite`.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::{
    AccessMode, Caching, Target, TargetError, TargetKind, TargetOptions, TargetTable, drop_cached,
    fill_incompressible, free_space,
};
use sim::{SIM_PREFIX, SimSpec};
use units::Bytes;

use crate::interrupt::Interrupt;
use crate::simulated::open_model;

use super::ClassicError;

/// What stands behind the name of a data file in the name of its marker.
pub const MARKER_SUFFIX: &str = ".seekstone";
const MARKER_HEAD: &str = "seekstone data file";
/// Bytes of a marker, at most.
const MARKER_BYTES_MAX: u64 = 4096;
/// Bytes written at once.
const CHUNK: usize = 1 << 20;

/// What is wanted of a data file.
#[derive(Clone, Debug)]
pub struct DataRequest {
    /// A path, a device, or `sim:NAME`.
    pub name: String,
    /// Its size, where one is given: that of a file to be made, or the part to use.
    pub size: Option<u64>,
    /// Whether a missing file is made.
    pub may_create: bool,
    /// Whether it will be written to.
    pub writes: bool,
    /// Whether a file that is not ours may be written to.
    pub overwrite: bool,
    /// The device's name as typed, where its content may be lost.
    pub confirmed: Option<String>,
    /// Room that stays free.
    pub reserve: Option<u64>,
    /// What all I/Os are multiples of.
    pub unit: u64,
}

/// A data file that is ready.
#[derive(Clone, Debug)]
pub enum DataFile {
    /// A model.
    Simulated {
        /// The model.
        spec: SimSpec,
        /// Bytes that are used.
        bytes: u64,
    },
    /// A file or device.
    Real {
        /// As it was named.
        name: String,
        /// Bytes that are used.
        bytes: u64,
        /// The open file.
        targets: Arc<TargetTable>,
        /// What should be known about it, a sentence each.
        notes: Vec<String>,
    },
}

/// Told of a file being made: bytes written, and all bytes.
pub type Filling<'a> = &'a mut dyn FnMut(u64, u64);

impl DataFile {
    /// As it was named.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Simulated { spec, .. } => &spec.text,
            Self::Real { name, .. } => name,
        }
    }

    /// Bytes that are used.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        match self {
            Self::Simulated { bytes, .. } | Self::Real { bytes, .. } => *bytes,
        }
    }

    /// What should be known about it, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Simulated { .. } => &[],
            Self::Real { notes, .. } => notes,
        }
    }
}

/// Find or make the data file. `fits` says whether a size is large enough, before anything is
/// made or read.
///
/// # Errors
/// When it is missing, too small, not ours, or the system refuses.
pub fn open_data(
    request: &DataRequest,
    fits: &dyn Fn(u64) -> Result<(), String>,
    interrupt: &Interrupt,
    filling: Filling<'_>,
) -> Result<DataFile, ClassicError> {
    let in_context = |reason: String| ClassicError::Usage(format!("{}: {reason}", request.name));
    if request.name.starts_with(SIM_PREFIX) {
        if request.overwrite || request.confirmed.is_some() {
            return Err(in_context(
                "a model holds nothing that --overwrite could mean".into(),
            ));
        }
        let spec = open_model(&request.name)?;
        let bytes = part(request, spec.size.0)?;
        fits(bytes).map_err(in_context)?;
        return Ok(DataFile::Simulated { spec, bytes });
    }
    let path = Path::new(&request.name);
    if is_missing(path)? || remove_unfinished(path, request)? {
        let Some(size) = request.size.filter(|_| request.may_create) else {
            return Err(ClassicError::Usage(format!(
                "the data file {} does not exist: make it with -B BYTES, or name another with -f",
                path.display()
            )));
        };
        if request.overwrite {
            return Err(in_context(
                "--overwrite is about a file that exists; leave it out".into(),
            ));
        }
        fits(size).map_err(in_context)?;
        make(path, size, request.reserve, interrupt, filling)?;
    }
    let (target, mut notes) = open_target(path, request)?;
    let bytes = part(request, target.size())?;
    fits(bytes).map_err(in_context)?;
    if target.caching() == Caching::Direct {
        notes.push(format!(
            "{}: past the page cache (direct I/O)",
            path.display()
        ));
    }
    Ok(DataFile::Real {
        name: request.name.clone(),
        bytes,
        targets: Arc::new(TargetTable::new(vec![target])),
        notes,
    })
}

/// All of it, or as much as asked for.
fn part(request: &DataRequest, whole: u64) -> Result<u64, ClassicError> {
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

/// Open what exists, to read it or, if that does no harm, to write it.
fn open_target(path: &Path, request: &DataRequest) -> Result<(Target, Vec<String>), ClassicError> {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let is_ours = is_file && marker_of(path)?.is_some_and(|marker| marker.is_of(path));
    if request.writes && !is_ours && !request.overwrite {
        return Err(ClassicError::Usage(format!(
            "{} is not written to: it was not made by this program, and the workload writes; say \
             --overwrite if everything in it may be lost, or have a new file made with -B",
            path.display()
        )));
    }
    let access = if request.writes {
        AccessMode::Overwrite
    } else {
        AccessMode::ReadOnly
    };
    let open = |caching| {
        Target::open(
            path,
            &TargetOptions {
                access,
                caching,
                signature_confirmed: request.confirmed.clone(),
            },
        )
    };
    let mut notes = Vec::new();
    let opened = match open(Caching::Direct) {
        Err(TargetError::DirectUnsupported { .. }) => None,
        other => Some(other?),
    };
    let misfit = opened.as_ref().is_some_and(|target| {
        !request
            .unit
            .is_multiple_of(u64::from(target.alignment().offset))
    });
    if let Some(target) = opened.filter(|_| !misfit) {
        return Ok((target, notes));
    }
    let why = if misfit {
        "I/Os of these sizes cannot pass the page cache"
    } else {
        "direct I/O is not supported here"
    };
    notes.push(format!(
        "{}: {why}: everything goes through the page cache, and the response times are not those \
         of the storage",
        path.display()
    ));
    let target = open(Caching::Buffered)?;
    if target.kind() == TargetKind::File {
        drop_cached(target.file())
            .map_err(|error| TargetError::io("prepare the page cache of", path, error))?;
    }
    Ok((target, notes))
}

/// What a marker says.
struct Marker {
    inode: u64,
    size: u64,
    is_complete: bool,
}

impl Marker {
    fn is_of(&self, path: &Path) -> bool {
        path.metadata().is_ok_and(|metadata| {
            self.is_complete && metadata.ino() == self.inode && metadata.len() == self.size
        })
    }

    fn text(&self) -> String {
        let state = if self.is_complete {
            "complete"
        } else {
            "filling"
        };
        format!(
            "{MARKER_HEAD}\ninode {}\nsize {}\nstate {state}\n",
            self.inode, self.size
        )
    }
}

fn marker_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(MARKER_SUFFIX);
    name.into()
}

/// The marker beside a file, if there is one and it is one.
fn marker_of(path: &Path) -> Result<Option<Marker>, ClassicError> {
    let path = marker_path(path);
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ClassicError::file("examine", path)(error)),
    }
    let mut bytes = Vec::new();
    File::open(&path)
        .and_then(|file| file.take(MARKER_BYTES_MAX).read_to_end(&mut bytes))
        .map_err(ClassicError::file("read", path))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    if lines.next() != Some(MARKER_HEAD) {
        return Ok(None);
    }
    let mut value = |name: &str| {
        let line = lines.next()?.strip_prefix(name)?;
        Some(line.trim().to_owned())
    };
    let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
    let (inode, size) = (number(value("inode")), number(value("size")));
    let is_complete = value("state").as_deref() == Some("complete");
    Ok(inode.zip(size).map(|(inode, size)| Marker {
        inode,
        size,
        is_complete,
    }))
}

/// A file that an earlier start of ours did not fill to its end is removed if it is to be made
/// anew; whether it was.
fn remove_unfinished(path: &Path, request: &DataRequest) -> Result<bool, ClassicError> {
    let Some(marker) = marker_of(path)?.filter(|marker| !marker.is_complete) else {
        return Ok(false);
    };
    let metadata = path
        .symlink_metadata()
        .map_err(ClassicError::file("examine", path))?;
    if !metadata.is_file() || metadata.ino() != marker.inode {
        return Ok(false);
    }
    if !request.may_create || request.size.is_none() {
        return Err(ClassicError::Usage(format!(
            "the data file {} was not filled to its end when this program was killed: say -B BYTES \
             to have it made anew, or remove it",
            path.display()
        )));
    }
    std::fs::remove_file(path).map_err(ClassicError::file("remove", path))?;
    Ok(true)
}

/// A file that is being made; removed with its marker unless it is finished.
struct Making<'a> {
    path: &'a Path,
    inode: u64,
    is_finished: bool,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let is_ours = |metadata: std::fs::Metadata| metadata.ino() == self.inode;
        if !self.is_finished && self.path.symlink_metadata().is_ok_and(is_ours) {
            // Nobody is left to tell; the marker says that the file is unfinished.
            if std::fs::remove_file(self.path).is_ok() {
                let _ = std::fs::remove_file(marker_path(self.path));
            }
        }
    }
}

fn make(
    path: &Path,
    size: u64,
    reserve: Option<u64>,
    interrupt: &Interrupt,
    filling: Filling<'_>,
) -> Result<(), ClassicError> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    check_room(path, parent, size, reserve)?;
    let marker_at = marker_path(path);
    if marker_at.symlink_metadata().is_ok() {
        if marker_of(path)?.is_none() {
            return Err(ClassicError::Usage(format!(
                "{} exists and is not a marker of this program: it would stand beside the data \
                 file; choose another name with -f",
                marker_at.display()
            )));
        }
        std::fs::remove_file(&marker_at).map_err(ClassicError::file("remove", &marker_at))?;
    }
    let create = |path: &Path| {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        options.open(path)
    };
    let file = create(path).map_err(ClassicError::file("create", path))?;
    let metadata = file
        .metadata()
        .map_err(ClassicError::file("examine", path))?;
    let mut making = Making {
        path,
        inode: metadata.ino(),
        is_finished: false,
    };
    let mut marker = Marker {
        inode: making.inode,
        size,
        is_complete: false,
    };
    let marker_file = create(&marker_at).map_err(ClassicError::file("create", &marker_at))?;
    let note = |marker: &Marker| {
        marker_file
            .write_all_at(marker.text().as_bytes(), 0)
            .and_then(|()| marker_file.sync_all())
            .map_err(ClassicError::file("write", &marker_at))
    };
    note(&marker)?;
    fill(&file, path, size, interrupt, filling)?;
    marker.is_complete = true;
    note(&marker)?;
    making.is_finished = true;
    Ok(())
}

fn check_room(
    path: &Path,
    parent: &Path,
    size: u64,
    reserve: Option<u64>,
) -> Result<(), ClassicError> {
    let space = free_space(parent)?;
    let reserve = reserve.unwrap_or(space.reserve);
    if size.saturating_add(reserve) <= space.available {
        return Ok(());
    }
    Err(ClassicError::Usage(format!(
        "there is no room for {} of {}: {} are free, of which {} stay untouched; ask for less \
         (-B), keep less free (--reserve), or make room",
        path.display(),
        Bytes(size),
        Bytes(space.available),
        Bytes(reserve)
    )))
}

/// Fill the file with noise, so that every read reaches a block that was written.
fn fill(
    file: &File,
    path: &Path,
    size: u64,
    interrupt: &Interrupt,
    filling: Filling<'_>,
) -> Result<(), ClassicError> {
    use rustix::fs::{FallocateFlags, fallocate};
    match fallocate(file, FallocateFlags::empty(), 0, size) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        Err(error) => return Err(ClassicError::file("make room in", path)(error.into())),
    }
    let mut block = vec![0; CHUNK];
    let mut done = 0;
    let mut to = file;
    while done < size {
        if let Some(signal) = interrupt.is_raised() {
            return Err(ClassicError::Interrupted {
                signal: signal.name,
                kept: "the unfinished data file was removed",
            });
        }
        let len = (size - done).min(CHUNK as u64) as usize;
        fill_incompressible(&mut block[..len], done ^ size.rotate_left(32));
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
