//! Opening a file or device that a user named, without harm.
//!
//! The path is looked up once. What it is gets decided on that descriptor, which is then opened
//! again through `/proc/self/fd`; so nobody can put another thing in its place between check and
//! use.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{OFlags, StatVfs, StatVfsMountFlags, fcntl_getfl, fcntl_setfl, fstatvfs};

use crate::alignment::{Alignment, find_alignment};
use crate::device::{self, Device};
use crate::guard::identity::Identity;
use crate::guard::kept::mark_kept;
use crate::on_demand::{FileSource, OnDemandFile, OpenFilePool};
use crate::signature::find_content;
use crate::target_error::TargetError;

/// A name of what each descriptor of this process refers to.
const OWN_DESCRIPTORS: &str = "/proc/self/fd";

/// What may be done to a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessMode {
    /// Nothing is changed.
    #[default]
    ReadOnly,
    /// Its content may be destroyed; a device has to pass every check first.
    Overwrite,
}

/// Whether the page cache takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    /// `O_DIRECT`: past the page cache.
    #[default]
    Direct,
    /// Through the page cache.
    Buffered,
}

/// How to open a target.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    /// What may be done to it.
    pub access: AccessMode,
    /// Whether the page cache takes part.
    pub caching: Caching,
    /// The device's name as typed by the user, who so agrees to lose what it carries.
    pub signature_confirmed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetFileType {
    /// A regular file.
    File,
    /// A block device.
    Device,
}

/// An open file or device, or a file that is opened on demand.
#[derive(Debug)]
pub struct Target {
    file: TargetFile,
    path: PathBuf,
    kind: TargetFileType,
    size: u64,
    access: AccessMode,
    caching: Caching,
    alignment: Alignment,
    /// Keep a device that is overwritten, and what it lies on, from being mounted or taken by
    /// others meanwhile.
    exclusive: Vec<File>,
    /// Uses of a file to be overwritten that could not be looked at.
    unseen: Vec<String>,
}

/// How the descriptor of a target is had.
#[derive(Debug)]
enum TargetFile {
    Held(File),
    OnDemand(OnDemandFile),
}

/// A descriptor of a target, for as long as it is used.
#[derive(Debug)]
pub enum TargetDescriptor<'a> {
    Held(&'a File),
    OnDemand(Arc<File>),
}

impl Deref for TargetDescriptor<'_> {
    type Target = File;

    fn deref(&self) -> &File {
        match self {
            Self::Held(file) => file,
            Self::OnDemand(file) => file,
        }
    }
}

impl Target {
    /// Open `path`, which the user named.
    ///
    /// # Errors
    /// When it is not a file or device, when it is in use or carries data, or when the system
    /// refuses. [`TargetError::DirectUnsupported`] means that buffered I/O would work.
    pub fn open(path: &Path, options: &TargetOptions) -> Result<Self, TargetError> {
        let named = open_path(path).map_err(|error| TargetError::io("open", path, error))?;
        let metadata = examine(&named, path)?;
        let kind = kind_of(&metadata, path)?;
        let (exclusive, unseen) = match (kind, options.access) {
            (_, AccessMode::ReadOnly) => (Vec::new(), Vec::new()),
            (TargetFileType::File, AccessMode::Overwrite) => {
                (Vec::new(), device::look_at_file(&metadata, path)?)
            }
            (TargetFileType::Device, AccessMode::Overwrite) => {
                (claim_device(&named, &metadata, path, options)?, Vec::new())
            }
        };
        let file = reopen(&named, path, options)?;
        let target = Self::opened(file, path, kind, options.access, options.caching)?;
        Ok(Self {
            exclusive,
            unseen,
            ..target
        })
    }

    /// Open the same file or device once more, with the same access: no path is looked up, no check
    /// repeated, and no claim given up.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open_again(&self, caching: Caching) -> Result<Self, TargetError> {
        let options = TargetOptions {
            access: self.access,
            caching,
            signature_confirmed: None,
        };
        let file = reopen(self.file(), &self.path, &options)?;
        let opened = Self::opened(file, &self.path, self.kind, self.access, caching)?;
        Ok(Self {
            unseen: self.unseen.clone(),
            ..opened
        })
    }

    /// Whether nobody else can mount or claim the device while this target is open.
    pub fn is_exclusive(&self) -> bool {
        !self.exclusive.is_empty()
    }

    /// Uses of a file to be overwritten that could not be looked at: it may be, say, the disk of a
    /// loop device that the system does not tell about.
    pub fn unseen(&self) -> &[String] {
        &self.unseen
    }

    /// Take an open file as a target.
    pub(crate) fn opened(
        mut file: File,
        path: &Path,
        kind: TargetFileType,
        access: AccessMode,
        caching: Caching,
    ) -> Result<Self, TargetError> {
        spare_access_time(&file);
        let size = file
            .seek(SeekFrom::End(0))
            .map_err(|error| TargetError::io("find the size of", path, error))?;
        let alignment = match caching {
            Caching::Buffered => Some(Alignment::NONE),
            Caching::Direct => {
                find_alignment(&file).map_err(|error| TargetError::io("read", path, error))?
            }
        };
        let path = path.to_path_buf();
        match alignment {
            Some(alignment) => Ok(Self {
                file: TargetFile::Held(file),
                path,
                kind,
                size,
                access,
                caching,
                alignment,
                exclusive: Vec::new(),
                unseen: Vec::new(),
            }),
            None => Err(TargetError::DirectUnsupported { path }),
        }
    }

    /// The open file; `None` where it is opened on demand.
    pub const fn held(&self) -> Option<&File> {
        match &self.file {
            TargetFile::Held(file) => Some(file),
            TargetFile::OnDemand(_) => None,
        }
    }

    /// The open file.
    ///
    /// # Panics
    /// When it is opened on demand: [`Target::descriptor`] opens that.
    pub fn file(&self) -> &File {
        let held = self.held();
        held.unwrap_or_else(|| panic!("{} is opened on demand", self.path.display()))
    }

    /// The open file, opened now where it is opened on demand.
    ///
    /// # Errors
    /// When the system refuses, or another file has its name now.
    pub fn descriptor(&self) -> io::Result<TargetDescriptor<'_>> {
        Ok(match &self.file {
            TargetFile::Held(file) => TargetDescriptor::Held(file),
            TargetFile::OnDemand(file) => TargetDescriptor::OnDemand(file.open()?),
        })
    }

    /// The file, where it is opened on demand.
    #[inline]
    pub(crate) const fn on_demand(&self) -> Option<&OnDemandFile> {
        match &self.file {
            TargetFile::Held(_) => None,
            TargetFile::OnDemand(file) => Some(file),
        }
    }

    /// Close a file that the user named, and open it again when it is used, if its name stands for
    /// the same file then. A device stays open: its claim would be lost.
    ///
    /// # Errors
    /// When the system does not tell which file it is.
    pub fn opened_on_demand(self, pool: &Arc<OpenFilePool>) -> Result<Self, TargetError> {
        if self.kind == TargetFileType::Device {
            return Ok(self);
        }
        let identity = Identity::of(self.file())
            .map_err(|error| TargetError::io("examine", &self.path, error))?;
        let source = FileSource::Named {
            path: self.path.clone(),
            options: TargetOptions {
                access: self.access,
                caching: self.caching,
                signature_confirmed: None,
            },
            identity,
        };
        Ok(self.closed(pool, source))
    }

    /// Close it, and open it again as `source` says.
    pub(crate) fn closed(self, pool: &Arc<OpenFilePool>, source: FileSource) -> Self {
        let file = TargetFile::OnDemand(pool.add(source));
        Self { file, ..self }
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file or a device.
    pub fn kind(&self) -> TargetFileType {
        self.kind
    }

    /// Mark a file that an earlier run kept as one that this run keeps.
    ///
    /// # Errors
    /// When the file system keeps no such mark.
    pub fn keep(&self) -> Result<(), TargetError> {
        let marked = self.descriptor().and_then(|file| mark_kept(&file));
        marked.map_err(|error| TargetError::io("mark", &self.path, error))
    }

    /// Bytes when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What may be done to it.
    pub fn access(&self) -> AccessMode {
        self.access
    }

    /// Whether the page cache takes part.
    pub fn caching(&self) -> Caching {
        self.caching
    }

    /// What transfers must be multiples of.
    pub fn alignment(&self) -> Alignment {
        self.alignment
    }

    /// Bytes that the file system has allocated for a file; of a device all of it is there.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn allocated(&self) -> io::Result<u64> {
        match self.kind {
            // The kernel counts in units of 512 bytes, whatever the file system's block is.
            TargetFileType::File => self.descriptor()?.metadata().map(|it| it.blocks() * 512),
            TargetFileType::Device => Ok(self.size),
        }
    }

    /// The numbers of its file system and of itself: the same for every descriptor of one file or
    /// device.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        if let TargetFile::OnDemand(file) = &self.file {
            return Ok(file.identity().numbers());
        }
        let metadata = self.file().metadata()?;
        Ok(match self.kind {
            TargetFileType::File => (metadata.dev(), metadata.ino()),
            // A device may have several nodes. No file system has the number of all ones.
            TargetFileType::Device => (u64::MAX, metadata.rdev()),
        })
    }

    /// Where the target ends now: a file may have grown since it was opened.
    pub(crate) fn end(&self) -> io::Result<u64> {
        match self.kind {
            TargetFileType::File => self.descriptor()?.metadata().map(|metadata| metadata.len()),
            TargetFileType::Device => Ok(self.size),
        }
    }
}

fn kind_of(metadata: &Metadata, path: &Path) -> Result<TargetFileType, TargetError> {
    let found = metadata.file_type();
    let kind = match () {
        () if found.is_file() => return Ok(TargetFileType::File),
        () if found.is_block_device() => return Ok(TargetFileType::Device),
        () if found.is_dir() => "directory",
        () if found.is_fifo() => "FIFO",
        () if found.is_socket() => "socket",
        () if found.is_char_device() => "character device",
        () => "thing of unknown kind",
    };
    Err(TargetError::NotStorage {
        path: path.to_path_buf(),
        kind,
    })
}

/// Put a device to be overwritten through every check, and claim it for us alone.
fn claim_device(
    named: &File,
    metadata: &Metadata,
    path: &Path,
    options: &TargetOptions,
) -> Result<Vec<File>, TargetError> {
    let device = Device::of(metadata, path)?;
    device.refuse_if_used()?;
    let exclusive = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(own_path(named))
        .map_err(|error| busy_or(error, path))?;
    let mut claims = device.claim_backing()?;
    let opened = examine(&exclusive, path)?;
    assert_eq!(opened.rdev(), metadata.rdev(), "one descriptor, one device");
    let size = (&exclusive)
        .seek(SeekFrom::End(0))
        .map_err(|error| TargetError::io("find the size of", path, error))?;
    let found = find_content(&exclusive, size)
        .map_err(|error| TargetError::io("look for data on", path, error))?;
    // What was looked at must not be found in the page cache by what is measured.
    let _ = rustix::fs::fadvise(&exclusive, 0, None, rustix::fs::Advice::DontNeed);
    claims.push(exclusive);
    let name = device.name();
    let typed = options.signature_confirmed.as_deref();
    let is_confirmed = typed.is_some_and(|text| text.strip_prefix("/dev/").unwrap_or(text) == name);
    match found {
        Some(found) if !is_confirmed => Err(TargetError::Signature {
            device: path.display().to_string(),
            found,
            name: name.to_owned(),
        }),
        _ => Ok(claims),
    }
}

/// Look at a thing without opening it: a FIFO does not block, a tape does not wind.
pub(crate) fn open_path(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_PATH).open(path)
}

/// Open what `named` refers to for the work itself.
pub(crate) fn reopen(
    named: &File,
    path: &Path,
    options: &TargetOptions,
) -> Result<File, TargetError> {
    let is_writable = options.access == AccessMode::Overwrite;
    let direct = if options.caching == Caching::Direct {
        libc::O_DIRECT
    } else {
        0
    };
    let opened = OpenOptions::new()
        .read(true)
        .write(is_writable)
        .custom_flags(direct)
        .open(own_path(named));
    opened.map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) if options.caching == Caching::Direct => {
            TargetError::DirectUnsupported {
                path: path.to_path_buf(),
            }
        }
        _ => again_error("open", error, path),
    })
}

/// Let reads leave the time of the last access alone: who only reads writes nothing, and is as fast
/// as with fio, which does the same. A mount that updates that time with each read is an exception:
/// there it is a part of what a read costs. Only who owns the file may do so.
fn spare_access_time(file: &File) {
    let spared = StatVfsMountFlags::NOATIME | StatVfsMountFlags::RELATIME;
    let is_strict = |mount: StatVfs| !mount.f_flag.intersects(spared);
    if fstatvfs(file).is_ok_and(is_strict) {
        return;
    }
    if let Ok(flags) = fcntl_getfl(file) {
        let _ = fcntl_setfl(file, flags | OFlags::NOATIME);
    }
}

/// Why a descriptor could not be opened again. Without /proc the system says that there is no such
/// file, which is true of another one than a user would think.
fn again_error(operation: &'static str, error: io::Error, path: &Path) -> TargetError {
    if error.kind() == io::ErrorKind::NotFound && !Path::new(OWN_DESCRIPTORS).exists() {
        return TargetError::NoProc {
            path: path.to_path_buf(),
        };
    }
    TargetError::io(operation, path, error)
}

fn busy_or(error: io::Error, path: &Path) -> TargetError {
    if error.raw_os_error() == Some(libc::EBUSY) {
        return TargetError::Busy {
            device: path.display().to_string(),
        };
    }
    again_error("open exclusively", error, path)
}

fn examine(file: &File, path: &Path) -> Result<Metadata, TargetError> {
    file.metadata()
        .map_err(|error| TargetError::io("examine", path, error))
}

fn own_path(file: &File) -> PathBuf {
    Path::new(OWN_DESCRIPTORS).join(file.as_raw_fd().to_string())
}
