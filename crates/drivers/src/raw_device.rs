//! A device or file that is read past the file system tests, and never written.

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use engine::{Clock, FileDriver, ProcessorTime};
use rustix::fs::{Advice, Mode, OFlags};
use rustix::io::Errno as SystemError;
use units::{Duration, Instant};
use workload::{Errno, FileOp, device_bytes_read};

use crate::target_error::TargetError;
use sys::MonotonicClock;
use sys::resident_share;

/// What TEST11 reads.
#[derive(Debug)]
pub(crate) struct RawDevice {
    file: File,
    pub bytes: u64,
}

impl RawDevice {
    pub fn open(path: &Path) -> Result<Self, TargetError> {
        let refused = |error: SystemError| TargetError::io("open", path, error);
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(refused)?;
        let file = File::from(file);
        let kind = file
            .metadata()
            .map_err(|source| TargetError::Io {
                operation: "look at",
                path: path.to_owned(),
                source,
            })?
            .file_type();
        if !(kind.is_file() || kind.is_block_device()) {
            return Err(TargetError::NotStorage {
                path: path.to_owned(),
                kind: if kind.is_dir() {
                    "directory"
                } else {
                    "character device, pipe or socket"
                },
            });
        }
        let bytes = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).map_err(refused)?;
        if bytes == 0 {
            return Err(TargetError::NothingToRead {
                path: path.to_owned(),
            });
        }
        Ok(Self { file, bytes })
    }

    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<u64, SystemError> {
        read_exactly(&self.file, offset, buffer)?;
        Ok(buffer.len() as u64)
    }

    /// Give its pages back; returns the bytes that stay of what TEST11 reads.
    pub fn forget(&self) -> Result<f64, SystemError> {
        forget(&self.file, device_bytes_read(self.bytes))
    }
}

/// Reads a device or file, and does nothing else.
#[derive(Debug)]
pub struct DeviceReader {
    clock: MonotonicClock,
    device: RawDevice,
    buffer: Vec<u8>,
}

impl DeviceReader {
    /// Read `path`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn new(path: &Path, clock: MonotonicClock) -> Result<Self, TargetError> {
        Ok(Self {
            clock,
            device: RawDevice::open(path)?,
            buffer: Vec::new(),
        })
    }
}

impl Clock for DeviceReader {
    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl FileDriver for DeviceReader {
    fn perform(&mut self, op: &FileOp) -> Result<u64, Errno> {
        let done = match *op {
            FileOp::ReadDevice { offset, bytes } => {
                self.buffer.resize(bytes as usize, 0);
                self.device.read(offset, &mut self.buffer)
            }
            FileOp::DropCaches => self.device.forget().map(|kept| kept as u64),
            // There is nothing of ours that could be removed or synced.
            FileOp::Initialise | FileOp::Sync => Ok(0),
            _ => Err(SystemError::NOTSUP),
        };
        done.map_err(|error| Errno(error.raw_os_error()))
    }

    fn device_bytes(&self) -> Option<u64> {
        Some(self.device.bytes)
    }

    fn processor_time(&self) -> Option<ProcessorTime> {
        thread_times()
    }
}

pub(crate) fn read_exactly(file: &File, offset: u64, buffer: &mut [u8]) -> Result<(), SystemError> {
    let mut done = 0;
    while done < buffer.len() {
        let place = offset + done as u64;
        let rest = &mut buffer[done..];
        match rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut *rest, place))? {
            0 => return Err(SystemError::IO),
            moved => done += moved,
        }
    }
    Ok(())
}

/// Give the pages of a clean file back, and say how many bytes stay.
pub(crate) fn forget(file: &File, bytes: u64) -> Result<f64, SystemError> {
    rustix::fs::fadvise(file, 0, None::<NonZeroU64>, Advice::DontNeed)?;
    let share = resident_share(file, 0, bytes).unwrap_or(0.0);
    Ok(share * bytes as f64)
}

/// Close a file, and tell of a write that failed only then.
pub(crate) fn close_checked(file: File) -> Result<(), SystemError> {
    use std::os::fd::IntoRawFd as _;
    // SAFETY: the descriptor is owned here, and given away by `into_raw_fd`: closed once.
    let outcome = unsafe { libc::close(file.into_raw_fd()) };
    if outcome == 0 {
        return Ok(());
    }
    match SystemError::from_io_error(&std::io::Error::last_os_error()) {
        // The descriptor is closed all the same.
        None | Some(SystemError::INTR) => Ok(()),
        Some(error) => Err(error),
    }
}

/// Processor time of the calling thread.
pub(crate) fn thread_times() -> Option<ProcessorTime> {
    // SAFETY: all-zero bytes are a valid value of this plain struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid, writable rusage for the length of the call.
    let outcome = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    let span = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    (outcome == 0).then(|| ProcessorTime {
        user: span(usage.ru_utime),
        system: span(usage.ru_stime),
    })
}
