//! A program's calls on a real file system, in a directory of our own, with everything that is read
//! checked against what was written.
//!
//! Calls block and follow each other, so this is no [`engine::Driver`]. What one client makes lies
//! in one directory inside the work directory; removing it all takes that directory, too, because
//! a directory that was long once stays so on many file systems. A directory that all clients share
//! stays until the last of them has gone.

mod file_map;
mod read_buffer;
mod shared;
mod tree;
mod verified;

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;

use engine::{Clock, FileDriver, ProcessorTime, WRONG_DATA};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno as SystemError;
use units::Instant;
use workload::{DirectoryNumber, DirectoryUse, Durability, Errno, FileName, FileOp, OpenFor};

use crate::file_content::{FileContent, ReadCompare};
use crate::guard::beneath::{create_new, open_beneath};
use crate::guard::identity::{self, Identity};
use crate::raw_device::{RawDevice, close_checked, forget, read_exactly, thread_times};
use crate::target_error::TargetError;
use crate::work_directory::{DIRECTORY_FLAGS, WorkDirectory, errno_of, require_name};
use file_map::FileMap;
use read_buffer::FileReadBuffer;
use shared::{Joint, Learned, make_root, root_name};
use sys::MonotonicClock;
use tree::{DirectoryTree, unlink};
use verified::Verifying;

/// The file that makes the kernel forget what it holds in memory.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// How caches are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheDrop {
    /// Our files are written out and their pages given back. Names and inodes stay in memory.
    #[default]
    OwnFiles,
    /// The whole machine forgets pages, names and inodes. Needs root.
    Machine,
}

/// How a [`FileSystemDriver`] works.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystemOptions {
    /// With a durable one, a file is synced before it is closed, and a directory whenever
    /// a name in it has changed.
    pub durability: Durability,
    /// How caches are dropped.
    pub drop: CacheDrop,
    /// Whether clients share one directory.
    pub directories: DirectoryUse,
    /// How many directories below the first one stay open, one at least.
    pub directories_held: usize,
    /// Whether blocks carry headers, and wrong data is reported by class and does not end the run.
    /// Reads and writes are whole blocks then, each file is read as it was written, call by call,
    /// and none is written twice.
    pub verify: bool,
    /// How much is compared where nothing is verified.
    pub compare: ReadCompare,
}

/// One client's calls, on a real file system.
#[derive(Debug)]
pub struct FileSystemDriver {
    clock: MonotonicClock,
    options: FileSystemOptions,
    /// Holds the marker, and is removed with its last user.
    work: Arc<WorkDirectory>,
    client: u32,
    name: String,
    tree: DirectoryTree,
    device: Option<RawDevice>,
    files: FileMap<MadeFile>,
    /// A file of another client, which the next call is about.
    learned: Option<Learned>,
    /// What was written last to a file of all clients, which another client has made.
    joint: Option<Joint>,
    open: Option<OpenHandle>,
    memory: FileReadBuffer,
    verifying: Option<Verifying>,
}

/// A file that was made here, or given its name.
#[derive(Clone, Copy, Debug)]
struct MadeFile {
    content: FileContent,
    identity: Identity,
}

#[derive(Debug)]
enum OpenHandle {
    Null(File),
    File {
        file: File,
        name: FileName,
        /// What it holds, or will hold when it is closed.
        content: FileContent,
        purpose: OpenPurpose,
        at: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenPurpose {
    Read,
    Fill,
    Rewrite,
    /// Together with others, at places that are named.
    Join,
}

impl FileSystemDriver {
    /// Client `client` of the run, in a directory inside `work`. TEST11 reads `device`, if there is
    /// one: a block device or a file, which is never written.
    ///
    /// # Errors
    /// When the directory cannot be made, or the device cannot be read.
    pub fn new(
        work: Arc<WorkDirectory>,
        client: u32,
        device: Option<&Path>,
        clock: MonotonicClock,
        options: FileSystemOptions,
    ) -> Result<Self, TargetError> {
        let device = device.map(RawDevice::open).transpose()?;
        let name = root_name(options.directories, client);
        let root = make_root(&work, &name, options.directories)
            .map_err(|error| TargetError::io("make a directory in", work.path(), error))?;
        Ok(Self {
            clock,
            options,
            work,
            client,
            name,
            tree: DirectoryTree::new(root, options.directories_held),
            device,
            files: FileMap::default(),
            learned: None,
            joint: None,
            open: None,
            memory: FileReadBuffer::new(),
            verifying: options.verify.then(Verifying::new),
        })
    }

    /// From now on what is written is as durable as this.
    pub fn set_durability(&mut self, durability: Durability) {
        self.options.durability = durability;
    }

    fn do_it(&mut self, op: &FileOp) -> Result<u64, SystemError> {
        match *op {
            FileOp::MakeDirectory { directory, parent } => self.make_directory(directory, parent),
            FileOp::RemoveDirectory { directory } => self.remove_directory(directory),
            FileOp::Create { file, .. } => self.create(file),
            FileOp::Open { file, purpose } => self.open(file, purpose),
            FileOp::OpenShared { file, purpose } => self.open_shared(file, purpose),
            FileOp::Seek { at } => self.seek(at),
            FileOp::OpenNull => self.open_null(),
            FileOp::Read { bytes } => self.read(bytes as usize),
            FileOp::Write { bytes } => self.write(bytes as usize),
            FileOp::WriteNull { bytes } => self.write_null(bytes as usize),
            FileOp::Close => self.close(),
            FileOp::Modify => self.modify(),
            FileOp::Learn { maker, file, bytes } => self.learn(maker, file, bytes),
            FileOp::Remove { file } => self.remove(file),
            FileOp::Rename { from, to } => self.rename(from, to),
            FileOp::Stat { file } => self.stat(file),
            FileOp::List { directory } => self.list(directory),
            FileOp::ReadDevice { offset, bytes } => self.read_device(offset, bytes as usize),
            FileOp::Sync => rustix::fs::syncfs(self.tree.root()).map(|()| 0),
            FileOp::Squeeze => Ok(0),
            FileOp::DropCaches => self.drop_caches(),
            FileOp::Initialise => self.initialise(),
        }
    }

    /// From the root on: for words, and for those who do not know this client's directories.
    fn path(&self, file: FileName) -> Result<String, SystemError> {
        Ok(format!("{}{file}", self.tree.path(file.directory)?))
    }

    fn known(&self, file: FileName) -> Result<MadeFile, SystemError> {
        self.files.get(&file).copied().ok_or(SystemError::NOENT)
    }

    fn make_directory(
        &mut self,
        directory: DirectoryNumber,
        parent: DirectoryNumber,
    ) -> Result<u64, SystemError> {
        self.tree.make(directory, parent)?;
        self.sync_names(parent)
    }

    fn remove_directory(&mut self, directory: DirectoryNumber) -> Result<u64, SystemError> {
        let parent = self.tree.remove(directory)?;
        self.sync_names(parent)
    }

    fn create(&mut self, name: FileName) -> Result<u64, SystemError> {
        let file = create_new(self.tree.at(name.directory)?, &name.text())?;
        let identity = Identity::of_new(&file).map_err(|error| errno_of(&error))?;
        let content = FileContent {
            origin: name,
            changes: 0,
            bytes: 0,
            headers: self.headers(&self.name, name),
        };
        self.files.insert(name, MadeFile { content, identity });
        self.open = Some(OpenHandle::File {
            file,
            name,
            content,
            purpose: OpenPurpose::Fill,
            at: 0,
        });
        Ok(0)
    }

    fn open(&mut self, name: FileName, purpose: OpenFor) -> Result<u64, SystemError> {
        if let Some(learned) = self.learned.take() {
            return self.open_learned(&learned);
        }
        let MadeFile { content, identity } = self.known(name)?;
        let (flags, content, purpose) = match purpose {
            OpenFor::Reading => (OFlags::RDONLY, content, OpenPurpose::Read),
            // What was read and modified is written; without that, what is there.
            OpenFor::Writing => {
                let held = self.memory.content.filter(|it| it.origin == content.origin);
                let held = held.unwrap_or(content);
                (OFlags::WRONLY, held, OpenPurpose::Rewrite)
            }
        };
        let file = self.open_file(name, flags)?;
        if purpose == OpenPurpose::Rewrite {
            // What is about to be written must be the file that was made here.
            identity::require(&file, &identity).map_err(|_| SystemError::STALE)?;
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

    fn open_file(&mut self, name: FileName, flags: OFlags) -> Result<File, SystemError> {
        open_beneath(self.tree.at(name.directory)?, name.text(), flags)
    }

    fn read(&mut self, bytes: usize) -> Result<u64, SystemError> {
        let Some(OpenHandle::File {
            file,
            content,
            purpose: OpenPurpose::Read,
            at,
            ..
        }) = &mut self.open
        else {
            return Err(SystemError::BADF);
        };
        let buffer = self.memory.part(bytes);
        read_exactly(file, *at, buffer)?;
        match (content.headers, &mut self.verifying) {
            (Some(headers), Some(verifying)) => verifying.judge(headers, *at, buffer),
            _ if content.matches(*at, &buffer[..self.options.compare.bytes(bytes)]) => {}
            _ => return Err(SystemError::from_raw_os_error(WRONG_DATA.0)),
        }
        self.memory.content = Some(*content);
        *at += bytes as u64;
        Ok(bytes as u64)
    }

    fn write(&mut self, bytes: usize) -> Result<u64, SystemError> {
        let Some(OpenHandle::File {
            file,
            content,
            purpose: purpose @ (OpenPurpose::Fill | OpenPurpose::Rewrite | OpenPurpose::Join),
            at,
            ..
        }) = &mut self.open
        else {
            return Err(SystemError::BADF);
        };
        if let Some(verifying) = &mut self.verifying {
            verifying.write(content, bytes);
        }
        let buffer = self.memory.part(bytes);
        content.fill(*at, buffer);
        let mut done = 0;
        while done < bytes {
            let place = *at + done as u64;
            let moved =
                rustix::io::retry_on_intr(|| rustix::io::pwrite(&*file, &buffer[done..], place))?;
            if moved == 0 {
                return Err(SystemError::IO);
            }
            done += moved;
        }
        *at += bytes as u64;
        content.bytes = match purpose {
            OpenPurpose::Join => content.bytes + bytes as u64,
            _ => content.bytes.max(*at),
        };
        Ok(bytes as u64)
    }

    fn open_null(&mut self) -> Result<u64, SystemError> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let null = rustix::fs::open("/dev/null", flags, Mode::empty())?;
        self.open = Some(OpenHandle::Null(File::from(null)));
        Ok(0)
    }

    fn write_null(&mut self, bytes: usize) -> Result<u64, SystemError> {
        let Some(OpenHandle::Null(null)) = &self.open else {
            return Err(SystemError::BADF);
        };
        rustix::io::write(null, self.memory.part(bytes)).map(|moved| moved as u64)
    }

    fn close(&mut self) -> Result<u64, SystemError> {
        let open = self.open.take().ok_or(SystemError::BADF)?;
        let OpenHandle::File {
            file,
            name,
            content,
            purpose,
            ..
        } = open
        else {
            // Dropping the null device closes it.
            return Ok(0);
        };
        match purpose {
            OpenPurpose::Read => return Ok(0),
            OpenPurpose::Join => self.joint = Some(Joint::of(name, &file, content)?),
            OpenPurpose::Fill | OpenPurpose::Rewrite => {
                let made = self.files.get_mut(&name).ok_or(SystemError::NOENT)?;
                made.content = content;
            }
        }
        if self.options.durability.is_durable() {
            rustix::fs::fsync(&file)?;
            if purpose == OpenPurpose::Fill {
                self.sync_names(name.directory)?;
            }
        }
        // Network file systems tell of a write that failed only here, and dropping would hide it.
        close_checked(file).map(|()| 0)
    }

    fn modify(&mut self) -> Result<u64, SystemError> {
        let content = self.memory.content.as_mut().ok_or(SystemError::INVAL)?;
        content.changes += 1;
        Ok(0)
    }

    fn remove(&mut self, file: FileName) -> Result<u64, SystemError> {
        let made = self.known(file)?;
        self.unlink(file, &made.identity)?;
        self.files.remove(&file);
        self.sync_names(file.directory)
    }

    fn unlink(&mut self, file: FileName, made: &Identity) -> Result<(), SystemError> {
        let at = self.tree.at(file.directory)?;
        unlink(at, &file.text(), made, AtFlags::empty())
    }

    fn rename(&mut self, from: FileName, to: FileName) -> Result<u64, SystemError> {
        let made = self.known(from)?;
        // No test renames a file into another directory.
        if to.directory != from.directory {
            return Err(SystemError::XDEV);
        }
        let (old, new) = (from.text(), to.text());
        let at = self.tree.at(from.directory)?;
        require_name(at, &old, &made.identity)?;
        let flags = rustix::fs::RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(at, &old, at, &new, flags) {
            // Not every file system can refuse to replace; here nothing has the new name.
            Err(SystemError::INVAL | SystemError::NOSYS) if !self.files.contains_key(&to) => {
                rustix::fs::renameat(at, &old, at, &new)?;
            }
            done => done?,
        }
        self.files.remove(&from);
        self.files.insert(to, made);
        self.sync_names(from.directory)
    }

    fn stat(&mut self, file: FileName) -> Result<u64, SystemError> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let (expected, found) = match self.learned.take() {
            Some(it) => {
                let found = rustix::fs::statat(self.work.descriptor(), &it.path, flags)?;
                (it.content, found)
            }
            None => {
                let expected = self.known(file)?.content;
                let found = rustix::fs::statat(self.tree.at(file.directory)?, file.text(), flags)?;
                (expected, found)
            }
        };
        if found.st_size as u64 == expected.bytes {
            Ok(0)
        } else {
            Err(SystemError::from_raw_os_error(WRONG_DATA.0))
        }
    }

    fn list(&mut self, directory: DirectoryNumber) -> Result<u64, SystemError> {
        let opened = self.open_directory(directory)?;
        for entry in rustix::fs::Dir::new(opened)? {
            entry?;
        }
        Ok(0)
    }

    fn open_directory(&mut self, directory: DirectoryNumber) -> Result<File, SystemError> {
        open_beneath(self.tree.at(directory)?, ".", DIRECTORY_FLAGS)
    }

    fn read_device(&mut self, offset: u64, bytes: usize) -> Result<u64, SystemError> {
        let device = self.device.as_ref().ok_or(SystemError::NODEV)?;
        self.memory.content = None;
        device.read(offset, self.memory.part(bytes))
    }

    /// What has changed in a directory is made durable where that was asked for.
    fn sync_names(&mut self, directory: DirectoryNumber) -> Result<u64, SystemError> {
        if self.options.durability.is_durable() {
            if directory == DirectoryNumber::ROOT {
                rustix::fs::fsync(self.tree.root())?;
            } else {
                rustix::fs::fsync(self.open_directory(directory)?)?;
            }
        }
        Ok(0)
    }

    /// Bytes of our files and of the device that are in memory all the same.
    fn drop_caches(&mut self) -> Result<u64, SystemError> {
        rustix::fs::syncfs(self.tree.root())?;
        let mut kept = 0.0;
        for (name, made) in &self.files {
            let at = self.tree.at(name.directory)?;
            let file = open_beneath(at, name.text(), OFlags::RDONLY)?;
            kept += forget(&file, made.content.bytes)?;
        }
        kept += self.drop_joint_pages()?;
        if let Some(device) = &self.device {
            kept += device.forget()?;
        }
        // Last: opening a file brings its name and inode back.
        if self.options.drop == CacheDrop::Machine {
            self.tree.close();
            File::options()
                .write(true)
                .open(DROP_CACHES)
                .and_then(|mut file| file.write_all(b"3"))
                .map_err(|error| SystemError::from_io_error(&error).unwrap_or(SystemError::IO))?;
        }
        Ok(kept as u64)
    }

    fn initialise(&mut self) -> Result<u64, SystemError> {
        self.open = None;
        self.learned = None;
        self.joint = None;
        self.memory.content = None;
        if let Some(verifying) = &mut self.verifying {
            verifying.begin_anew();
        }
        let mut failed = Ok(0);
        for (name, made) in self.files.clone() {
            match self.unlink(name, &made.identity) {
                Ok(()) | Err(SystemError::NOENT) => drop(self.files.remove(&name)),
                Err(error) => failed = Err(error),
            }
        }
        failed = self.tree.clear().and(failed);
        failed?;
        if self.options.directories == DirectoryUse::Own {
            self.remove_root()?;
            let root = make_root(&self.work, &self.name, DirectoryUse::Own)?;
            self.tree = DirectoryTree::new(root, self.options.directories_held);
        }
        Ok(0)
    }

    fn remove_root(&self) -> Result<(), SystemError> {
        let made = Identity::of(self.tree.root()).map_err(|error| errno_of(&error))?;
        unlink(
            self.work.descriptor().as_fd(),
            &self.name,
            &made,
            AtFlags::REMOVEDIR,
        )
    }
}

impl Clock for FileSystemDriver {
    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl FileDriver for FileSystemDriver {
    fn perform(&mut self, op: &FileOp) -> Result<u64, Errno> {
        self.do_it(op).map_err(|error| {
            self.open = None;
            Errno(error.raw_os_error())
        })
    }

    fn device_bytes(&self) -> Option<u64> {
        self.device.as_ref().map(|device| device.bytes)
    }

    fn processor_time(&self) -> Option<ProcessorTime> {
        thread_times()
    }
}

impl Drop for FileSystemDriver {
    fn drop(&mut self) {
        // Nobody is left to tell; the next start finds what could not be removed.
        if self.initialise().is_ok() {
            let _ = self.remove_root();
        }
    }
}
