//! The directories of a client, from its root on, and the way to what lies in them.
//!
//! Others may put a directory of theirs in the place of one of ours at any moment. So a directory
//! is opened and looked at first: a descriptor stays with the directory that was made, whatever
//! becomes of its name. From then on all in it is reached by that descriptor and a bare name. If
//! there are more directories than descriptors, some are opened and looked at again for each call.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno as SystemError;
use workload::DirectoryNumber;

use crate::guard::beneath::open_beneath;
use crate::guard::identity::{FileLinks, Identity};
use crate::work_directory::{errno_of, require_name};
use crate::work_tree::tree_directory_name;

const HELD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

#[derive(Debug)]
pub(super) struct DirectoryTree {
    root: OwnedFd,
    made: BTreeMap<u32, MadeDirectory>,
    held: BTreeMap<u32, File>,
    held_max: usize,
    /// The last one that was opened, which is closed for the next if there is no room: programs go
    /// through directories in turn, and so find most of them open.
    last: u32,
}

#[derive(Clone, Debug)]
struct MadeDirectory {
    /// From the root on, with a slash at the end.
    path: String,
    parent: DirectoryNumber,
    identity: Identity,
}

impl DirectoryTree {
    /// No directories but the root, of which `held_max` stay open, one at least.
    pub(super) fn new(root: OwnedFd, held_max: usize) -> Self {
        Self {
            root,
            made: BTreeMap::new(),
            held: BTreeMap::new(),
            held_max: held_max.max(1),
            last: 0,
        }
    }

    pub(super) const fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// From the root on, with a slash at the end: for words, and to look by other ways.
    pub(super) fn path(&self, directory: DirectoryNumber) -> Result<&str, SystemError> {
        match directory {
            DirectoryNumber::ROOT => Ok(""),
            _ => Ok(&self.made(directory)?.path),
        }
    }

    fn made(&self, directory: DirectoryNumber) -> Result<&MadeDirectory, SystemError> {
        self.made.get(&directory.0).ok_or(SystemError::NOENT)
    }

    /// The directory that was made, whatever has its name now.
    ///
    /// # Errors
    /// `ESTALE` when it has to be opened, and its name stands for another one.
    pub(super) fn at(&mut self, directory: DirectoryNumber) -> Result<BorrowedFd<'_>, SystemError> {
        if directory == DirectoryNumber::ROOT {
            return Ok(self.root.as_fd());
        }
        if !self.held.contains_key(&directory.0) {
            let made = self.made(directory)?;
            let opened = open_beneath(&self.root, &made.path, HELD)?;
            let found = FileLinks::of(&opened).map_err(|error| errno_of(&error))?;
            if !found.identity.is_same_file(&made.identity) {
                return Err(SystemError::STALE);
            }
            self.hold(directory, opened);
        }
        Ok(self.held[&directory.0].as_fd())
    }

    fn hold(&mut self, directory: DirectoryNumber, opened: File) {
        if self.held.len() >= self.held_max {
            self.held.remove(&self.last);
        }
        self.held.insert(directory.0, opened);
        self.last = directory.0;
    }

    /// Close all but the root: an open directory stays in the kernel's memory.
    pub(super) fn close(&mut self) {
        self.held.clear();
    }

    pub(super) fn make(
        &mut self,
        directory: DirectoryNumber,
        parent: DirectoryNumber,
    ) -> Result<(), SystemError> {
        let name = tree_directory_name(directory.0);
        let path = format!("{}{name}/", self.path(parent)?);
        let outer = self.at(parent)?;
        rustix::fs::mkdirat(outer, &name, Mode::RWXU)?;
        let found = FileLinks::named(outer, &name).map_err(|error| errno_of(&error))?;
        if !found.is_directory() || !found.is_private() {
            return Err(SystemError::STALE);
        }
        let made = MadeDirectory {
            path,
            parent,
            identity: found.identity,
        };
        self.made.insert(directory.0, made);
        Ok(())
    }

    /// Remove an empty directory; says which one it was in.
    pub(super) fn remove(
        &mut self,
        directory: DirectoryNumber,
    ) -> Result<DirectoryNumber, SystemError> {
        let &MadeDirectory {
            parent, identity, ..
        } = self.made(directory)?;
        let name = tree_directory_name(directory.0);
        unlink(self.at(parent)?, &name, &identity, AtFlags::REMOVEDIR)?;
        self.forget(directory);
        Ok(parent)
    }

    fn forget(&mut self, directory: DirectoryNumber) {
        self.made.remove(&directory.0);
        self.held.remove(&directory.0);
    }

    /// Remove all of them, which are empty.
    ///
    /// # Errors
    /// When one could not be removed, which is still known. One that is gone is forgotten.
    pub(super) fn clear(&mut self) -> Result<(), SystemError> {
        let mut failed = Ok(());
        // A directory's number is higher than that of the directory that holds it.
        let numbers: Vec<u32> = self.made.keys().rev().copied().collect();
        for directory in numbers.into_iter().map(DirectoryNumber) {
            match self.remove(directory) {
                Ok(_) => {}
                Err(SystemError::NOENT) => self.forget(directory),
                Err(error) => failed = Err(error),
            }
        }
        failed
    }
}

/// Remove a name, by one call, if it stands for what was made here.
pub(super) fn unlink(
    directory: BorrowedFd<'_>,
    name: &str,
    made: &Identity,
    flags: AtFlags,
) -> Result<(), SystemError> {
    require_name(directory, name, made)?;
    rustix::fs::unlinkat(directory, name, flags)
}
