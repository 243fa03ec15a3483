//! The file system: a directory with one file that holds zeros and forgets what is written.

use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::timer::AnswerTimer;
use crate::{HELD, KnownSubmission, OperationType, StorageBook, StorageFault};

/// Name of the file.
pub const FILE_NAME: &str = "data";
/// The number of the next file: no two of a process have the same.
static NEXT_FILE: AtomicU64 = AtomicU64::new(2);
/// Marks the number of a file that took the place of another one.
const REPLACED: u64 = 1 << 40;
/// How long the kernel may remember what does not change.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);
const SECTOR: u64 = 512;
const BLOCK: u64 = 4096;
/// Requests that the kernel keeps outstanding for us.
const BACKGROUND_MAX: u16 = 4096;

pub struct OneFile {
    inode: INodeNo,
    size: u64,
    submission: KnownSubmission,
    shared: Arc<StorageBook>,
    timer: AnswerTimer,
}

impl OneFile {
    pub fn new(
        size: u64,
        submission: KnownSubmission,
        shared: Arc<StorageBook>,
        timer: AnswerTimer,
    ) -> Self {
        Self {
            inode: INodeNo(NEXT_FILE.fetch_add(1, Ordering::Relaxed)),
            size,
            submission,
            shared,
            timer,
        }
    }

    /// The number of the file, which is another one once it was replaced.
    fn inode(&self) -> INodeNo {
        match self.shared.fault() {
            Some(StorageFault::Replaced) => INodeNo(self.inode.0 | REPLACED),
            _ => self.inode,
        }
    }

    fn size(&self) -> u64 {
        match self.shared.fault() {
            Some(StorageFault::Shrunk) => self.size / 2,
            _ => self.size,
        }
    }

    /// How long the kernel may remember names and attributes.
    fn memory(&self) -> Duration {
        match self.shared.may_change() {
            true => Duration::ZERO,
            false => FOR_EVER,
        }
    }

    fn attributes(&self, of: INodeNo) -> FileAttr {
        let is_file = of != INodeNo::ROOT;
        let now = SystemTime::UNIX_EPOCH;
        let size = if is_file { self.size() } else { 0 };
        FileAttr {
            ino: of,
            size,
            blocks: size / SECTOR,
            atime: now,
            mtime: now,
            ctime: now,
            crtime: now,
            kind: if is_file {
                FileType::RegularFile
            } else {
                FileType::Directory
            },
            perm: if is_file { 0o600 } else { 0o700 },
            nlink: if is_file { 1 } else { 2 },
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: BLOCK as u32,
            flags: 0,
        }
    }

    /// Let the operation take its time, then answer.
    fn serve(
        &self,
        kind: OperationType,
        (offset, len): (u64, u64),
        answer: impl FnOnce(Transfer) + Send + 'static,
    ) {
        let served = self.shared.arrive(kind, offset, len);
        let transfer = transfer(len, served.arrival.number, self.shared.fault());
        let shared = Arc::clone(&self.shared);
        let answer = Box::new(move || {
            shared.leave(served);
            answer(transfer);
        });
        match served.delay {
            HELD => self.shared.hold(answer).into_iter().for_each(|it| it()),
            delay => self.timer.at(Instant::now() + delay, answer),
        }
    }
}

/// What becomes of a transfer: so many bytes, or an error.
type Transfer = Result<u64, Errno>;

/// What becomes of a transfer of `len` bytes, the operation of that number.
fn transfer(len: u64, number: u64, fault: Option<StorageFault>) -> Transfer {
    match fault.filter(|_| number % 2 == 1) {
        Some(StorageFault::Error(number)) => Err(Errno::from_i32(number)),
        Some(StorageFault::Short) => Ok(len / 2),
        Some(StorageFault::Empty) => Ok(0),
        Some(StorageFault::TooLong) => Ok(len + BLOCK),
        _ => Ok(len),
    }
}

impl Filesystem for OneFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let _ = config.set_max_background(BACKGROUND_MAX);
        if self.submission == KnownSubmission::Returns {
            let asked = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
            asked.map_err(|_| std::io::Error::other("no asynchronous direct I/O"))?;
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == FILE_NAME {
            let found = self.attributes(self.inode());
            return reply.entry(&self.memory(), &found, Generation(0));
        }
        reply.error(Errno::ENOENT);
    }

    fn getattr(&self, _: &Request, of: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&self.memory(), &self.attributes(of));
    }

    fn setattr(
        &self,
        _: &Request,
        of: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _accessed: Option<TimeOrNow>,
        _modified: Option<TimeOrNow>,
        _changed: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _modified_at: Option<SystemTime>,
        _backed_up: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        reply.attr(&self.memory(), &self.attributes(of));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let how = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), how);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let len = u64::from(size).min(self.size().saturating_sub(offset));
        self.serve(OperationType::Read, (offset, len), move |it| match it {
            Ok(len) => reply.data(&vec![0; len as usize]),
            Err(error) => reply.error(error),
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let len = data.len() as u32;
        self.serve(
            OperationType::Write,
            (offset, u64::from(len)),
            move |it| match it {
                Ok(len) => reply.written(len as u32),
                Err(error) => reply.error(error),
            },
        );
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.serve(OperationType::Flush, (0, 0), move |it| match it {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(error),
        });
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _offset: u64,
        _len: u64,
        _mode: i32,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = 2 * self.size / BLOCK;
        let block = BLOCK as u32;
        reply.statfs(blocks, blocks / 2, blocks / 2, 16, 14, block, 255, block);
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (self.inode(), FileType::RegularFile, FILE_NAME),
        ];
        let rest = (1..).zip(entries).skip(offset as usize);
        for (next, (inode, kind, name)) in rest {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
