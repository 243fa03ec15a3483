//! What clients have in common: the directory of all of them, and files that another one made.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno as SystemError;
use workload::{BLOCK_BYTES, DirectoryUse, FileName, OpenFor};

use super::{FileSystemDriver, OpenHandle, OpenPurpose};
use crate::file_content::FileContent;
use crate::guard::beneath::open_beneath;
use crate::raw_device::{forget, read_exactly};
use crate::work_directory::{DIRECTORY_FLAGS, WorkDirectory};
use crate::work_tree::tree_directory_name;

/// What another client made.
#[derive(Debug)]
pub(super) struct Learned {
    /// From the work directory on.
    pub(super) path: String,
    name: FileName,
    pub(super) content: FileContent,
}

/// A file of all clients that this one has written to.
#[derive(Debug)]
pub(super) struct Joint {
    pub(super) name: FileName,
    /// What it holds: its length, and all clients' blocks are like this one's.
    pub(super) content: FileContent,
    /// How much of it this client wrote.
    written: u64,
}

impl Joint {
    /// As the file is now.
    pub(super) fn of(
        name: FileName,
        file: &File,
        written: FileContent,
    ) -> Result<Self, SystemError> {
        let bytes = rustix::fs::fstat(file)?.st_size as u64;
        Ok(Self {
            name,
            content: FileContent { bytes, ..written },
            written: written.bytes,
        })
    }
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
            content: FileContent {
                origin: name,
                changes: 0,
                bytes,
                headers: self.headers(&root, name),
            },
        });
        Ok(0)
    }

    /// Open a file of all clients. That it was made in this run its first block proves, which
    /// carries the seal: nobody else's file is written.
    pub(super) fn open_shared(
        &mut self,
        name: FileName,
        purpose: OpenFor,
    ) -> Result<u64, SystemError> {
        let (flags, purpose) = match purpose {
            OpenFor::Reading => (OFlags::RDONLY, OpenPurpose::Read),
            OpenFor::Writing => (OFlags::RDWR, OpenPurpose::Join),
        };
        let file = self.open_file(name, flags)?;
        let content = FileContent {
            origin: name,
            changes: 0,
            bytes: 0,
            headers: self.headers(&self.name, name),
        };
        let mut first = [0; BLOCK_BYTES as usize];
        read_exactly(&file, 0, &mut first).map_err(|_| SystemError::STALE)?;
        let is_ours = match content.headers {
            // What is only read may be wrong, which reading it tells.
            Some(headers) => purpose == OpenPurpose::Read || headers.are_in(0, &first),
            None => content.matches(0, &first),
        };
        if !is_ours {
            return Err(SystemError::STALE);
        }
        if self.verifying.is_some() {
            self.record_opened(&format!("{}/{}", self.name, self.path(name)?));
        }
        self.open = Some(OpenHandle::File {
            file,
            name,
            content,
            purpose,
            at: 0,
        });
        Ok(0)
    }

    /// The next bytes lie there.
    pub(super) fn seek(&mut self, to: u64) -> Result<u64, SystemError> {
        match &mut self.open {
            Some(OpenHandle::File { at, .. }) => *at = to,
            _ => return Err(SystemError::BADF),
        }
        Ok(0)
    }

    /// Drop what this host holds of a file of all clients; this client's share of what stays.
    pub(super) fn drop_joint_pages(&mut self) -> Result<f64, SystemError> {
        let Some(joint) = &self.joint else {
            return Ok(0.0);
        };
        let file = open_beneath(
            self.tree.at(joint.name.directory)?,
            joint.name.text(),
            OFlags::RDONLY,
        )?;
        let bytes = joint.content.bytes;
        let kept = forget(&file, bytes)?;
        Ok(kept * joint.written as f64 / (bytes as f64).max(1.0))
    }

    /// Open another client's file, to read it.
    pub(super) fn open_learned(&mut self, learned: &Learned) -> Result<u64, SystemError> {
        let file = open_beneath(self.work.descriptor(), &learned.path, OFlags::RDONLY)?;
        self.record_opened(&learned.path);
        self.open = Some(OpenHandle::File {
            file,
            name: learned.name,
            content: learned.content,
            purpose: OpenPurpose::Read,
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
