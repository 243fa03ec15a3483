//! What a driver receives: the open targets, and the small files that clients create and remove.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, OFlags};
use workload::{Errno, TargetId};

use crate::target::{Caching, Target, TargetDescriptor, TargetFileType};
use crate::work_directory::{WorkDirectory, small_file_name};

/// Small files are spread over so many locks that workers hardly ever meet at one.
const SHARDS: usize = 64;
/// What a resumed direct transfer to a small file is rounded to: enough for any file system.
const SMALL_FILE_UNIT: u32 = 4096;

/// Small files in a work directory, which operations create, open, close and remove.
#[derive(Clone, Debug)]
pub struct SmallFiles {
    /// Where they live.
    pub directory: Arc<WorkDirectory>,
    /// How many there may be; their target numbers follow those of the open targets.
    pub count: u32,
    /// Whether the page cache takes part.
    pub caching: Caching,
}

impl SmallFiles {
    const fn direct(&self) -> OFlags {
        match self.caching {
            Caching::Direct => OFlags::DIRECT,
            Caching::Buffered => OFlags::empty(),
        }
    }

    const fn unit(&self) -> u32 {
        match self.caching {
            Caching::Direct => SMALL_FILE_UNIT,
            Caching::Buffered => 1,
        }
    }
}

/// All targets of a trial, shared by its workers. Open targets come first and need no lock.
#[derive(Debug, Default)]
pub struct TargetTable {
    targets: Vec<Target>,
    /// For each target the first that is the same file or device: the number in the stamps of its
    /// blocks, so that they are recognised however the file is opened.
    stamp_ids: Vec<TargetId>,
    opens_on_demand: bool,
    small_files: Option<SmallFiles>,
    handles: Vec<Mutex<HashMap<u32, Arc<File>>>>,
}

/// An open file behind a target number.
pub(crate) enum Handle<'a> {
    /// An open target and its place in the table.
    Target(&'a Target, u32),
    /// A small file, or one that was opened on demand; it stays open until the last request on it
    /// is done. Resumed transfers go on at multiples of the number.
    Shared(Arc<File>, u32),
}

impl TargetTable {
    /// A table of open targets, numbered from zero.
    pub fn new(targets: Vec<Target>) -> Self {
        let identities: Vec<_> = targets
            .iter()
            .map(|target| target.identity().ok())
            .collect();
        let mut firsts = HashMap::new();
        let first_same = |(place, identity): (usize, Option<_>)| {
            let first = identity.map_or(place, |it| *firsts.entry(it).or_insert(place));
            TargetId(u32::try_from(first).expect("targets are counted in 32 bits"))
        };
        let stamp_ids = identities.into_iter().enumerate().map(first_same).collect();
        Self {
            opens_on_demand: targets.iter().any(|it| it.on_demand().is_some()),
            targets,
            stamp_ids,
            ..Self::default()
        }
    }

    /// The same with small files, numbered after the open targets.
    #[must_use]
    pub fn with_small_files(mut self, small_files: SmallFiles) -> Self {
        self.small_files = Some(small_files);
        self.handles = (0..SHARDS).map(|_| Mutex::default()).collect();
        self
    }

    /// The open targets.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The number of the first small file.
    pub fn first_small_file(&self) -> TargetId {
        TargetId(self.open_count())
    }

    /// The open file behind a number; `EBADF` when there is none.
    #[inline(always)]
    pub(crate) fn handle(&self, id: TargetId) -> Result<Handle<'_>, Errno> {
        match self.targets.get(id.0 as usize) {
            Some(target) if !self.opens_on_demand => Ok(Handle::Target(target, id.0)),
            Some(target) => in_use(target, id.0),
            None => self.small_file_handle(id),
        }
    }

    fn small_file_handle(&self, id: TargetId) -> Result<Handle<'_>, Errno> {
        let (files, number) = self.small_file(id)?;
        let file = self
            .shard(number)
            .get(&number)
            .cloned()
            .ok_or(Errno(libc::EBADF))?;
        Ok(Handle::Shared(file, files.unit()))
    }

    /// Whether a request to it first has to open it, which takes time.
    #[inline]
    pub(crate) fn is_closed(&self, id: TargetId) -> bool {
        let is_closed = |target: &Target| target.on_demand().is_some_and(|file| !file.is_open());
        self.opens_on_demand && self.targets.get(id.0 as usize).is_some_and(is_closed)
    }

    /// Whether any target is opened on demand.
    pub(crate) const fn opens_on_demand(&self) -> bool {
        self.opens_on_demand
    }

    /// The number that the stamps of a target's blocks carry.
    #[inline]
    pub fn stamp_id(&self, id: TargetId) -> TargetId {
        self.stamp_ids.get(id.0 as usize).copied().unwrap_or(id)
    }

    /// Create a small file that must not exist, and keep it open.
    pub(crate) fn create(&self, id: TargetId) -> Result<u32, Errno> {
        let (files, number) = self.small_file(id)?;
        let file = files
            .directory
            .create_small(number, OFlags::RDWR | files.direct())
            .map_err(errno)?;
        self.shard(number).insert(number, Arc::new(file));
        Ok(0)
    }

    /// Open a small file for reading. One that is open already is opened anew.
    pub(crate) fn open(&self, id: TargetId) -> Result<u32, Errno> {
        let (files, number) = self.small_file(id)?;
        let name = small_file_name(number);
        let file = files
            .directory
            .open_at(&name, OFlags::RDONLY | files.direct())
            .map_err(errno)?;
        self.shard(number).insert(number, Arc::new(file));
        Ok(0)
    }

    /// Close a small file; `EBADF` when it is not open.
    pub(crate) fn close(&self, id: TargetId) -> Result<u32, Errno> {
        let (_, number) = self.small_file(id)?;
        let file = self
            .shard(number)
            .remove(&number)
            .ok_or(Errno(libc::EBADF))?;
        match Arc::try_unwrap(file) {
            Ok(file) => close_and_report(file),
            // A request in flight still holds it; the last one to finish closes it.
            Err(_) => Ok(0),
        }
    }

    /// Remove a small file's name.
    pub(crate) fn remove(&self, id: TargetId) -> Result<u32, Errno> {
        let (files, number) = self.small_file(id)?;
        let removed = files.directory.remove_small(number);
        removed.map(|()| 0).map_err(errno)
    }

    /// Ask for a small file's attributes.
    pub(crate) fn stat(&self, id: TargetId) -> Result<u32, Errno> {
        let (files, number) = self.small_file(id)?;
        let (directory, name) = (files.directory.descriptor(), small_file_name(number));
        let found = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        found.map(|_| 0).map_err(errno)
    }

    /// A small file's number; `EINVAL` for an open target, `EBADF` for a number beyond the table.
    fn small_file(&self, id: TargetId) -> Result<(&SmallFiles, u32), Errno> {
        let number =
            id.0.checked_sub(self.open_count())
                .ok_or(Errno(libc::EINVAL))?;
        let files = self
            .small_files
            .as_ref()
            .filter(|files| number < files.count);
        Ok((files.ok_or(Errno(libc::EBADF))?, number))
    }

    fn shard(&self, number: u32) -> MutexGuard<'_, HashMap<u32, Arc<File>>> {
        let shard = &self.handles[number as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_count(&self) -> u32 {
        u32::try_from(self.targets.len()).expect("targets are counted in 32 bits")
    }
}

impl Handle<'_> {
    pub(crate) fn file(&self) -> &File {
        match self {
            Self::Target(target, _) => target.file(),
            Self::Shared(file, _) => file,
        }
    }

    pub(crate) fn is_device(&self) -> bool {
        matches!(self, Self::Target(target, _) if target.kind() == TargetFileType::Device)
    }

    pub(crate) fn raw_fd(&self) -> RawFd {
        self.file().as_raw_fd()
    }

    /// Where a transfer that had moved `moved` bytes and now moved `count` more, fewer than asked
    /// for, goes on; `None` when it is over because the file ends there. Direct I/O can only go on
    /// at a multiple of its unit.
    pub(crate) fn resume_at(
        &self,
        offset: u64,
        moved: u32,
        count: u32,
        is_read: bool,
    ) -> Option<u32> {
        let total = moved + count;
        let end = match self {
            Self::Target(target, _) => target.end(),
            Self::Shared(file, _) => file.metadata().map(|metadata| metadata.len()),
        };
        // Without a known end the next transfer tells: it moves nothing there.
        if is_read && (count == 0 || end.is_ok_and(|end| offset + u64::from(total) >= end)) {
            return None;
        }
        let unit = match self {
            Self::Target(target, _) => target.alignment().offset,
            Self::Shared(_, unit) => *unit,
        };
        Some(total / unit * unit)
    }
}

/// The file of a target of a table in which some are opened on demand.
#[cold]
fn in_use(target: &Target, place: u32) -> Result<Handle<'_>, Errno> {
    match target.descriptor() {
        Ok(TargetDescriptor::OnDemand(file)) => Ok(Handle::Shared(file, target.alignment().offset)),
        Ok(TargetDescriptor::Held(_)) => Ok(Handle::Target(target, place)),
        // Another file has its name now.
        Err(error) => Err(Errno(error.raw_os_error().unwrap_or(libc::ESTALE))),
    }
}

/// Close, and tell what the system said: on network file systems a write can fail as late as here.
pub(crate) fn close_and_report(file: File) -> Result<u32, Errno> {
    // SAFETY: the descriptor was just taken out of its owner, so it is closed exactly once.
    let outcome = unsafe { libc::close(file.into_raw_fd()) };
    if outcome == 0 {
        return Ok(0);
    }
    Err(last_errno())
}

pub(crate) fn last_errno() -> Errno {
    Errno(
        std::io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO),
    )
}

fn errno(error: rustix::io::Errno) -> Errno {
    Errno(error.raw_os_error())
}
