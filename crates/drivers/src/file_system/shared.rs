//! What clients have in common: the directory of all of them, and files that another one made.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno as SystemError;
use workload::{DirectoryUse, FileName};

use super::{FileSystemDriver, Open, Purpose};
use crate::file_content::Content;
use crate::guard::beneath::open_beneath;
use crate::work_directory::{DIRECTORY_FLAGS, WorkDirectory};
use crate::work_tree::tree_directory_name;

/// What another client made.
#[derive(Debug)]
pub(super) struct Learned {
    /// From the work directory on.
    pub(super) path: String,
    name: FileName,
    pub(super) content: Content,
}

impl FileSystemDriver {
    /// The next call is about this file of client `maker`.
    pub(super) fn learn(
        &mut self,
        maker: u32,
        name: FileName,
        bytes: u64,
    ) -> Result<u64, SystemError> {
        let root = root_name(self.options.directories, maker);
        self.learned = Some(Learned {
            path: format!("{root}/{}", self.path(name)?),
            name,
            content: Content {
                origin: name,
                changes: 0,
                bytes,
            },
        });
        Ok(0)
    }

    /// Open another client's file, to read it.
    pub(super) fn open_learned(&mut self, learned: &Learned) -> Result<u64, SystemError> {
        let file = open_beneath(self.work.descriptor(), &learned.path, OFlags::RDONLY)?;
        self.open = Some(Open::File {
            file,
            name: learned.name,
            content: learned.content,
            purpose: Purpose::Read,
            at: 0,
        });
        Ok(0)
    }
}

/// The directory of client `client`.
pub(super) fn root_name(directories: DirectoryUse, client: u32) -> String {
    tree_directory_name(match directories {
        DirectoryUse::Own => client,
        DirectoryUse::Shared => 0,
    })
}

pub(super) fn make_root(
    work: &WorkDirectory,
    name: &str,
    directories: DirectoryUse,
) -> Result<OwnedFd, SystemError> {
    match rustix::fs::mkdirat(work.descriptor(), name, Mode::RWXU) {
        Err(SystemError::EXIST) if directories == DirectoryUse::Shared => {}
        made => made?,
    }
    open_beneath(work.descriptor(), name, DIRECTORY_FLAGS).map(OwnedFd::from)
}
