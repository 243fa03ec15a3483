//! The work directory of another process of this run, which makes files in it, too.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Mutex;

use rustix::fs::{Mode, OFlags};

use super::{
    DIRECTORY_FLAGS, MARKER_NAME, SmallIdentities, WorkDirectory, WorkDirectoryState,
    is_directory_name,
};
use crate::guard::beneath::open_beneath;
use crate::guard::identity::FileLinks;
use crate::guard::seal::Seal;
use crate::stale::seal_of_marker;
use crate::target_error::TargetError;

impl WorkDirectory {
    /// Its name below the directory in which it was made.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory `name` under `parent`, which another process of this run made and will remove.
    /// Both have one seal (see [`Seal::adopt`]).
    ///
    /// # Errors
    /// When it is not there, belongs to somebody else, or its marker tells another seal.
    pub fn join(parent: &Path, name: &str) -> Result<Self, TargetError> {
        let path = parent.join(name);
        let in_context = |error| TargetError::io("join the directory", &path, error);
        if !is_directory_name(OsStr::new(name)) {
            return Err(TargetError::BadName {
                name: name.to_owned(),
            });
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent_fd =
            rustix::fs::open(parent, flags, Mode::empty()).map_err(|it| in_context(it.into()))?;
        let directory = open_beneath(&parent_fd, name, DIRECTORY_FLAGS)
            .map_err(|error| in_context(error.into()))?;
        let found = FileLinks::of(&directory).map_err(in_context)?;
        let marker = open_beneath(&directory, MARKER_NAME, OFlags::RDONLY | OFlags::NONBLOCK)
            .map_err(|error| in_context(error.into()))?;
        if !found.is_own_directory() || seal_of_marker(&marker) != Some(Seal::of_this_run()) {
            let why = "this run did not make it".to_owned();
            return Err(TargetError::LeftBehind { path, why });
        }
        Ok(Self {
            parent: parent_fd,
            directory: OwnedFd::from(directory),
            name: name.to_owned(),
            path,
            // Without a marker of its own it removes nothing but the files that it made.
            state: Mutex::new(WorkDirectoryState {
                marker: None,
                is_emptied: false,
                created: BTreeMap::new(),
                shapes: BTreeSet::new(),
            }),
            small: SmallIdentities::default(),
        })
    }
}
