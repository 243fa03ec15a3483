//! An RT-11 system: the calls of one program under the single-job monitor, on a simulated device.
//!
//! Every access to the directory and to a file is a block transfer, one after the other, with CPU
//! work in between, since the program waits for each transfer. A file is one contiguous run of
//! blocks. Reading and writing an open file needs no directory access. The system may have its own
//! block cache: all reads go through it and cost CPU time per block, hit or miss; writes go to the
//! device and into the cache.
//!
//! Not modelled: other jobs, swapping of the system itself, bad blocks, and operator input.

mod directory;

use engine::{Activity, Clock, FileDriver, ProcessorTime};
use random::{Purpose, Stream};
use units::{Duration, Instant};
use workload::{BLOCK_BYTES, ClientId, Durability, Errno, FileName, FileOp};

use crate::device::{Action, Answer, Command, Device};
use crate::host::FileCache;

pub use directory::{Allocation, ENTRIES_MAX, SEGMENTS_MAX, default_segments};
use directory::{
    DIRECTORY_START, Directory, DirectoryStep, FileExtent, Full, SEGMENT_BLOCKS, segment_block,
};

/// Maximum number of blocks that the system can address on a device.
pub const VOLUME_BLOCKS_MAX: u64 = 65_535;
/// Blocks copied at a time by a squeeze: what the memory of such a machine allows.
const SQUEEZE_BLOCKS: u64 = 16;
/// Maximum time from an initialised volume to a program's first call, ns.
const PAUSE_MAX: u64 = 1_000_000_000;
const BLOCK: u64 = BLOCK_BYTES as u64;
/// The only program.
const PROGRAM: ClientId = ClientId(0);

const NO_SUCH_FILE: Errno = Errno(2);
const SHORT: Errno = Errno(5);
const NOT_OPEN: Errno = Errno(9);
const BUSY: Errno = Errno(16);
const EXISTS: Errno = Errno(17);
const INVALID: Errno = Errno(22);
const NO_SPACE: Errno = Errno(28);
const UNSUPPORTED: Errno = Errno(95);

/// Parameters of the system without its device. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Rt11Spec {
    /// Directory segments; by default according to the size of the volume.
    pub segments: Option<usize>,
    /// How many blocks a new file gets.
    pub allocation: Allocation,
    /// Size of the system's cache, bytes; zero for none.
    pub cache: u64,
    /// CPU time of a system call.
    pub cpu_request: u64,
    /// CPU time of a transfer in the device handler, interrupt included.
    pub cpu_transfer: u64,
    /// CPU time of the run-time library to open a file, and to close one.
    pub cpu_open: u64,
    /// CPU time to examine a directory entry.
    pub cpu_entry: u64,
    /// CPU time to look up a block in the cache, and to copy it.
    pub cpu_cache_block: u64,
    /// Size of a formatted data element, bytes.
    pub element: u64,
    /// CPU time of the run-time library to format or parse an element.
    pub cpu_element: u64,
}

/// Work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rt11Work {
    /// Directory segments read.
    pub segments_read: u64,
    /// Directory segments written.
    pub segments_written: u64,
    /// Directory entries examined.
    pub entries: u64,
    /// Read commands to the device.
    pub reads: u64,
    /// Write commands to the device.
    pub writes: u64,
    /// Bytes moved by the device.
    pub bytes: u64,
    /// Time in which the device was busy.
    pub device_ns: u64,
    /// CPU time of the program and its run-time library.
    pub program_ns: u64,
    /// CPU time of the system.
    pub system_ns: u64,
}

/// An RT-11 system with one program and one volume.
#[derive(Debug)]
pub struct Rt11 {
    spec: Rt11Spec,
    directory: Directory,
    storage: Box<dyn Device>,
    /// The first byte of the volume on the device.
    start: u64,
    /// Blocks of the volume.
    blocks: u64,
    cache: FileCache,
    now: Instant,
    answers: Vec<Answer>,
    open: Option<OpenChannel>,
    work: Rt11Work,
    /// Pauses before a volume is initialised.
    moments: Stream,
}

/// An open file.
#[derive(Clone, Copy, Debug)]
enum OpenChannel {
    Null,
    File {
        name: FileName,
        place: FileExtent,
        /// Created by this program, and tentative until it is closed.
        is_new: bool,
        /// The next byte.
        position: u64,
    },
}

/// To whom CPU time is charged.
#[derive(Clone, Copy)]
enum ProcessorUser {
    Program,
    System,
}

impl Rt11 {
    /// A freshly initialised volume on `storage` from byte `start` on; the clock starts at `now`.
    /// Each further initialisation is preceded by a random pause, drawn from `seed`.
    ///
    /// # Panics
    /// If the volume is too small for its directory.
    pub fn new(
        spec: Rt11Spec,
        storage: Box<dyn Device>,
        start: u64,
        seed: u64,
        now: Instant,
    ) -> Self {
        let blocks = volume_blocks(storage.size().saturating_sub(start));
        let cache = FileCache::new((spec.cache / BLOCK) as usize);
        Self {
            directory: Directory::new(blocks, spec.segments_on(blocks)),
            spec,
            storage,
            start,
            blocks,
            cache,
            now,
            answers: Vec::new(),
            open: None,
            work: Rt11Work::default(),
            moments: Stream::new(seed, 0, Purpose::Think),
        }
    }

    /// Work done since the start.
    pub const fn work(&self) -> Rt11Work {
        self.work
    }

    /// Directory segments in use.
    pub const fn segments_used(&self) -> usize {
        self.directory.segments_used()
    }

    /// CPU work of the program or the system, during which the device continues.
    fn compute(&mut self, whose: ProcessorUser, ns: u64) {
        match whose {
            ProcessorUser::Program => self.work.program_ns += ns,
            ProcessorUser::System => self.work.system_ns += ns,
        }
        self.let_pass(ns);
    }

    /// Lets time pass while the program is idle.
    fn let_pass(&mut self, ns: u64) {
        let until = self.now + Duration(ns);
        while let Some(at) = self.storage.next().filter(|&at| at <= until) {
            self.storage.step(at, &mut self.answers);
        }
        self.answers.clear();
        self.now = until;
    }

    /// Runs a device command to its end.
    fn command(&mut self, action: Action, first: u64, count: u64) -> Result<(), Errno> {
        self.compute(ProcessorUser::System, self.spec.cpu_transfer);
        let command = Command {
            tag: 0,
            action,
            client: Some(PROGRAM),
            offset: self.start + first * BLOCK,
            len: count * BLOCK,
        };
        let begun = self.now;
        self.storage.begin(begun, command);
        while self.answers.is_empty() {
            let next = self.storage.next().expect("the device has a command");
            self.now = next.max(self.now);
            self.storage.step(self.now, &mut self.answers);
        }
        let answer = self.answers.remove(0);
        self.answers.clear();
        self.work.device_ns += self.now.since(begun).as_nanos();
        match action {
            Action::Read => self.work.reads += 1,
            Action::Write(_) => self.work.writes += 1,
            Action::Flush | Action::Compute { .. } => {}
        }
        self.work.bytes += command.len;
        match answer.result {
            Ok(_) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// Reads blocks, through the cache if there is one.
    fn read(&mut self, first: u64, count: u64) -> Result<(), Errno> {
        if self.cache.room() == 0 {
            return self.command(Action::Read, first, count);
        }
        let mut block = first;
        while block < first + count {
            if self.cache.touch(block) {
                block += 1;
                continue;
            }
            let missing = (block..first + count).take_while(|&next| !self.cache.touch(next));
            let end = block + missing.count() as u64;
            self.command(Action::Read, block, end - block)?;
            (block..end).for_each(|read| self.cache.insert(read));
            block = end;
        }
        self.compute(ProcessorUser::System, count * self.spec.cpu_cache_block);
        Ok(())
    }

    /// Writes blocks to the device and into the cache.
    fn write(&mut self, first: u64, count: u64) -> Result<(), Errno> {
        if self.cache.room() > 0 {
            self.compute(ProcessorUser::System, count * self.spec.cpu_cache_block);
            (first..first + count).for_each(|block| self.cache.insert(block));
        }
        self.command(Action::Write(Durability::Volatile), first, count)
    }

    /// Carries out the steps of the directory.
    fn carry_out(&mut self) -> Result<(), Errno> {
        for step in self.directory.take_steps() {
            match step {
                DirectoryStep::Read(number) => {
                    self.work.segments_read += 1;
                    self.read(segment_block(number), SEGMENT_BLOCKS)?;
                }
                DirectoryStep::Write(number) => {
                    self.work.segments_written += 1;
                    self.write(segment_block(number), SEGMENT_BLOCKS)?;
                }
                DirectoryStep::Search(entries) => {
                    self.work.entries += entries as u64;
                    self.compute(ProcessorUser::System, entries as u64 * self.spec.cpu_entry);
                }
                DirectoryStep::Copy { from, to, blocks } => {
                    let mut done = 0;
                    while done < blocks {
                        let piece = (blocks - done).min(SQUEEZE_BLOCKS);
                        self.read(from + done, piece)?;
                        self.write(to + done, piece)?;
                        done += piece;
                    }
                }
            }
        }
        Ok(())
    }

    fn create(&mut self, name: FileName, bytes: u64) -> Result<(), Errno> {
        self.free_to_open(name)?;
        if self.directory.holds(name) {
            return Err(EXISTS);
        }
        let blocks = bytes.div_ceil(BLOCK);
        let entered = self.directory.enter(name, blocks, self.spec.allocation);
        self.carry_out()?;
        let place = entered.map_err(|full| match full {
            Full::Volume | Full::Directory => NO_SPACE,
        })?;
        self.open = Some(OpenChannel::File {
            name,
            place,
            is_new: true,
            position: 0,
        });
        Ok(())
    }

    fn open(&mut self, name: FileName) -> Result<(), Errno> {
        self.free_to_open(name)?;
        let place = self.lookup(name)?;
        self.open = Some(OpenChannel::File {
            name,
            place,
            is_new: false,
            position: 0,
        });
        Ok(())
    }

    /// Before a file is opened: the work of the run-time library and the system call.
    fn free_to_open(&mut self, name: FileName) -> Result<(), Errno> {
        self.compute(ProcessorUser::Program, self.spec.cpu_open);
        self.compute(ProcessorUser::System, self.spec.cpu_request);
        if self.open.is_some() {
            return Err(BUSY);
        }
        flat(name)
    }

    fn lookup(&mut self, name: FileName) -> Result<FileExtent, Errno> {
        flat(name)?;
        let found = self.directory.lookup(name);
        self.carry_out()?;
        found.ok_or(NO_SUCH_FILE)
    }

    fn close(&mut self) -> Result<(), Errno> {
        let open = self.open.take().ok_or(NOT_OPEN)?;
        self.compute(ProcessorUser::Program, self.spec.cpu_open);
        self.compute(ProcessorUser::System, self.spec.cpu_request);
        if let OpenChannel::File {
            name,
            place,
            is_new: true,
            position,
        } = open
        {
            self.directory.close(name, &place, position.div_ceil(BLOCK));
        }
        self.carry_out()
    }

    /// Transfers the next bytes of the open file. Returns how many.
    fn move_bytes(&mut self, action: Action, bytes: u64) -> Result<u64, Errno> {
        let Some(OpenChannel::File {
            place, position, ..
        }) = &mut self.open
        else {
            return Err(NOT_OPEN);
        };
        let from = *position;
        if bytes > (place.blocks * BLOCK).saturating_sub(from) {
            return Err(if action == Action::Read {
                SHORT
            } else {
                NO_SPACE
            });
        }
        *position += bytes;
        let first = place.start + from / BLOCK;
        let count = (from + bytes).div_ceil(BLOCK) - from / BLOCK;
        if action == Action::Read {
            self.compute(ProcessorUser::System, self.spec.cpu_request);
            self.read(first, count)?;
            self.format(bytes);
        } else {
            self.format(bytes);
            self.compute(ProcessorUser::System, self.spec.cpu_request);
            self.write(first, count)?;
        }
        Ok(bytes)
    }

    /// The run-time library converts between elements and text.
    fn format(&mut self, bytes: u64) {
        let elements = bytes.div_ceil(self.spec.element);
        self.compute(ProcessorUser::Program, elements * self.spec.cpu_element);
    }

    fn write_null(&mut self, bytes: u64) -> Result<u64, Errno> {
        if !matches!(self.open, Some(OpenChannel::Null)) {
            return Err(NOT_OPEN);
        }
        self.format(bytes);
        self.compute(ProcessorUser::System, self.spec.cpu_request);
        Ok(bytes)
    }

    fn read_device(&mut self, offset: u64, bytes: u64) -> Result<u64, Errno> {
        let is_whole = offset.is_multiple_of(BLOCK) && bytes.is_multiple_of(BLOCK);
        if !is_whole || offset + bytes > self.blocks * BLOCK {
            return Err(INVALID);
        }
        self.compute(ProcessorUser::System, self.spec.cpu_request);
        self.read(offset / BLOCK, bytes / BLOCK)?;
        Ok(bytes)
    }

    /// A call that changes or searches the directory.
    fn direct(&mut self, call: impl FnOnce(&mut Directory)) -> Result<(), Errno> {
        self.compute(ProcessorUser::System, self.spec.cpu_request);
        call(&mut self.directory);
        self.carry_out()
    }

    fn rename(&mut self, from: FileName, to: FileName) -> Result<(), Errno> {
        flat(from)?;
        flat(to)?;
        if self.directory.holds(to) {
            return Err(EXISTS);
        }
        let mut is_there = false;
        self.direct(|directory| is_there = directory.rename(from, to))?;
        if is_there { Ok(()) } else { Err(NO_SUCH_FILE) }
    }

    fn remove(&mut self, name: FileName) -> Result<(), Errno> {
        flat(name)?;
        let mut is_there = false;
        self.direct(|directory| is_there = directory.delete(name))?;
        if is_there { Ok(()) } else { Err(NO_SUCH_FILE) }
    }

    fn squeeze(&mut self) -> Result<(), Errno> {
        if self.open.is_some() {
            return Err(BUSY);
        }
        self.direct(Directory::squeeze)
    }

    /// Writes the blocks of the system and an empty directory.
    fn initialise(&mut self) -> Result<(), Errno> {
        self.open = None;
        self.directory = Directory::new(self.blocks, self.spec.segments_on(self.blocks));
        self.compute(ProcessorUser::System, self.spec.cpu_request);
        self.write(0, DIRECTORY_START)?;
        self.write(segment_block(1), SEGMENT_BLOCKS)?;
        // Programs start at arbitrary angles of the platters.
        let pause = self.moments.below(PAUSE_MAX);
        self.let_pass(pause);
        Ok(())
    }

    fn call(&mut self, op: &FileOp) -> Result<u64, Errno> {
        const WRITE: Action = Action::Write(Durability::Volatile);
        match *op {
            FileOp::Create { file, bytes } => self.create(file, bytes).map(|()| 0),
            FileOp::Open { file, .. } => self.open(file).map(|()| 0),
            // One program runs at a time, and accesses its files sequentially.
            FileOp::OpenShared { .. } | FileOp::Seek { .. } => Err(UNSUPPORTED),
            FileOp::OpenNull => {
                self.free_to_open(FileName::new('n', 0))?;
                self.open = Some(OpenChannel::Null);
                Ok(0)
            }
            FileOp::Read { bytes } => self.move_bytes(Action::Read, u64::from(bytes)),
            FileOp::Write { bytes } => self.move_bytes(WRITE, u64::from(bytes)),
            FileOp::WriteNull { bytes } => self.write_null(u64::from(bytes)),
            FileOp::Close => self.close().map(|()| 0),
            FileOp::Modify => {
                self.compute(ProcessorUser::Program, self.spec.cpu_element);
                Ok(0)
            }
            FileOp::Remove { file } => self.remove(file).map(|()| 0),
            FileOp::Rename { from, to } => self.rename(from, to).map(|()| 0),
            FileOp::Stat { file } => {
                self.compute(ProcessorUser::System, self.spec.cpu_request);
                self.lookup(file).map(|_| 0)
            }
            FileOp::List { .. } => self.direct(|directory| _ = directory.list()).map(|()| 0),
            FileOp::ReadDevice { offset, bytes } => self.read_device(offset, u64::from(bytes)),
            FileOp::Sync => self.command(Action::Flush, 0, 0).map(|()| 0),
            FileOp::Squeeze => self.squeeze().map(|()| 0),
            FileOp::DropCaches => {
                self.cache = FileCache::new(self.cache.room());
                self.directory.forget();
                Ok(0)
            }
            FileOp::Initialise => self.initialise().map(|()| 0),
            FileOp::MakeDirectory { .. }
            | FileOp::RemoveDirectory { .. }
            | FileOp::Learn { .. } => Err(UNSUPPORTED),
        }
    }

    /// After an error nothing is open, and a tentative file is discarded.
    fn give_up(&mut self) {
        if let Some(OpenChannel::File {
            name,
            place,
            is_new: true,
            ..
        }) = self.open.take()
        {
            self.directory.purge(name, &place);
            // The device may be the cause. Only the first error is reported.
            let _ = self.carry_out();
        }
    }
}

impl Rt11Spec {
    /// Directory segments of a volume with that many blocks.
    pub fn segments_on(&self, blocks: u64) -> usize {
        self.segments.unwrap_or_else(|| default_segments(blocks))
    }

    /// Blocks for files on a volume with that many bytes.
    pub fn data_blocks(&self, bytes: u64) -> u64 {
        let blocks = volume_blocks(bytes);
        blocks.saturating_sub(segment_block(self.segments_on(blocks) + 1))
    }
}

/// Blocks that the system can use of that many bytes.
fn volume_blocks(bytes: u64) -> u64 {
    (bytes / BLOCK).min(VOLUME_BLOCKS_MAX)
}

/// There is a single directory.
fn flat(name: FileName) -> Result<(), Errno> {
    let is_there = name.directory == workload::DirectoryNumber::ROOT;
    if is_there { Ok(()) } else { Err(UNSUPPORTED) }
}

impl Clock for Rt11 {
    fn now(&self) -> Instant {
        self.now
    }
}

impl FileDriver for Rt11 {
    fn perform(&mut self, op: &FileOp) -> Result<u64, Errno> {
        let done = self.call(op);
        if done.is_err() {
            self.give_up();
        }
        done
    }

    fn device_bytes(&self) -> Option<u64> {
        Some(self.blocks * BLOCK)
    }

    fn processor_time(&self) -> Option<ProcessorTime> {
        Some(ProcessorTime {
            user: Duration(self.work.program_ns),
            system: Duration(self.work.system_ns),
        })
    }

    fn activity(&self) -> Option<Activity> {
        let work = self.work;
        let cpu_ns = work.program_ns + work.system_ns;
        Some(Activity {
            cpu_busy_ns: Some(cpu_ns),
            cpu_there_ns: Some(cpu_ns + work.device_ns),
            device_busy_ns: Some(work.device_ns),
            device_queue_ns: Some(work.device_ns),
            device_reads: Some(work.reads),
            device_writes: Some(work.writes),
            device_bytes: Some(work.bytes),
            ..Activity::default()
        })
    }
}
