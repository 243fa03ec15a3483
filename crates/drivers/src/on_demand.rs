//! Files that are opened when they are used, and closed again when others are: a workload of more
//! files than a process may have open needs no more descriptors than it says.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use crate::guard::identity::Identity;
use crate::table::close_and_report;
use crate::target::{Caching, TargetOptions, open_path, reopen};
use crate::target_error::TargetError;
use crate::work_directory::WorkDirectory;

/// The files that are open at once of those that are opened on demand. Which is closed is decided
/// by second chance: one that was used since it was looked at last stays.
#[derive(Debug)]
pub struct OpenFilePool {
    room: usize,
    files: Mutex<OpenFiles>,
}

#[derive(Debug, Default)]
struct OpenFiles {
    /// Files that were added so far.
    count: u32,
    open: HashMap<u32, OpenFile>,
    /// Numbers of the open files; the first is closed first.
    queue: VecDeque<u32>,
}

#[derive(Debug)]
struct OpenFile {
    file: Arc<File>,
    is_used: bool,
}

/// A file that is opened on demand.
#[derive(Debug)]
pub(crate) struct OnDemandFile {
    pool: Arc<OpenFilePool>,
    number: u32,
    source: FileSource,
}

/// Where a file is found again, and which one it must be.
#[derive(Debug)]
pub(crate) enum FileSource {
    /// One of ours.
    Made {
        directory: Arc<WorkDirectory>,
        name: String,
        caching: Caching,
        identity: Identity,
    },
    /// One that the user named.
    Named {
        path: PathBuf,
        options: TargetOptions,
        identity: Identity,
    },
}

impl OpenFilePool {
    /// A pool that keeps `room` files open, one at least. Requests under way keep theirs open as
    /// well.
    pub fn new(room: usize) -> Arc<Self> {
        Arc::new(Self {
            room: room.max(1),
            files: Mutex::default(),
        })
    }

    pub(crate) fn add(self: &Arc<Self>, source: FileSource) -> OnDemandFile {
        let mut files = self.files();
        let number = files.count;
        files.count += 1;
        OnDemandFile {
            pool: Arc::clone(self),
            number,
            source,
        }
    }

    fn files(&self) -> MutexGuard<'_, OpenFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFiles {
    fn find(&mut self, number: u32) -> Option<Arc<File>> {
        let found = self.open.get_mut(&number)?;
        found.is_used = true;
        Some(Arc::clone(&found.file))
    }

    /// Keep a file open; what is closed for it.
    fn keep(&mut self, number: u32, file: &Arc<File>, room: usize) -> Option<Arc<File>> {
        let closed = (self.open.len() >= room).then(|| self.take_unused());
        let file = Arc::clone(file);
        let opened = OpenFile {
            file,
            is_used: false,
        };
        self.open.insert(number, opened);
        self.queue.push_back(number);
        closed
    }

    fn take_unused(&mut self) -> Arc<File> {
        loop {
            let number = self.queue.pop_front().expect("the pool is full");
            let found = self.open.get_mut(&number).expect("an open file");
            if !std::mem::take(&mut found.is_used) {
                return self.open.remove(&number).expect("an open file").file;
            }
            self.queue.push_back(number);
        }
    }
}

impl OnDemandFile {
    /// Whether it is open now.
    pub(crate) fn is_open(&self) -> bool {
        self.pool.files().open.contains_key(&self.number)
    }

    /// The file, which is opened unless it is open.
    ///
    /// # Errors
    /// When the system refuses, another file has its name now, or the one that is closed for it
    /// failed to be.
    pub(crate) fn open(&self) -> io::Result<Arc<File>> {
        if let Some(file) = self.pool.files().find(self.number) {
            return Ok(file);
        }
        // Others find their files meanwhile.
        let file = Arc::new(self.source.open()?);
        let closed = {
            let mut files = self.pool.files();
            if let Some(file) = files.find(self.number) {
                return Ok(file);
            }
            files.keep(self.number, &file, self.pool.room)
        };
        // A request under way holds it still; the last one to finish closes it.
        if let Some(closed) = closed.and_then(Arc::into_inner) {
            close_and_report(closed).map_err(|error| io::Error::from_raw_os_error(error.0))?;
        }
        Ok(file)
    }

    /// Which file it is.
    pub(crate) const fn identity(&self) -> &Identity {
        match &self.source {
            FileSource::Made { identity, .. } | FileSource::Named { identity, .. } => identity,
        }
    }
}

impl FileSource {
    fn open(&self) -> io::Result<File> {
        match self {
            Self::Made {
                directory,
                name,
                caching,
                ..
            } => directory.open_made(name, *caching).map_err(io_error),
            Self::Named {
                path,
                options,
                identity,
            } => {
                // What is not that file is not even opened.
                let named = require_same(open_path(path)?, identity)?;
                let file = reopen(&named, path, options).map_err(io_error)?;
                require_same(file, identity)
            }
        }
    }
}

/// A file by the name of one that the user named; it may have others.
fn require_same(file: File, identity: &Identity) -> io::Result<File> {
    match Identity::of(&file)?.is_same_file(identity) {
        true => Ok(file),
        false => Err(Errno::STALE.into()),
    }
}

fn io_error(error: TargetError) -> io::Error {
    match error {
        TargetError::Io { source, .. } => source,
        other => io::Error::other(other),
    }
}
