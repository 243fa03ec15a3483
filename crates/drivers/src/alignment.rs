//! What direct I/O on a file asks of addresses and offsets: found out, not assumed.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};

use crate::buffers::AlignedBuffer;

/// What transfers must be multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Of the address in memory.
    pub memory: u32,
    /// Of the offset and the length.
    pub offset: u32,
}

impl Alignment {
    /// No rule: buffered I/O.
    pub const NONE: Self = Self {
        memory: 1,
        offset: 1,
    };
}

/// What direct I/O on `file`, opened with `O_DIRECT`, asks for; `None` when it is not supported.
///
/// # Errors
/// When the file cannot be read at all.
pub fn find_alignment(file: &File) -> io::Result<Option<Alignment>> {
    let claimed = match reported(file) {
        Reported::Unsupported => return Ok(None),
        Reported::Rule(rule) => Some(rule),
        Reported::Unknown => sector_size(file),
    };
    let candidates = match claimed {
        // What is claimed is still tried: some file systems refuse at the first read only.
        Some(rule) => vec![rule],
        None => [512, 4096]
            .map(|unit| Alignment {
                memory: unit,
                offset: unit,
            })
            .to_vec(),
    };
    for rule in candidates {
        if can_read(file, rule.offset)? {
            return Ok(Some(rule));
        }
    }
    Ok(None)
}

/// What the length and offset of direct I/O have to be multiples of, on a file or device that there
/// is, or on a new file of a directory: as far as the system says without any I/O.
pub fn direct_unit(path: &Path) -> Option<u32> {
    let flags = match path.is_dir() {
        true => OFlags::TMPFILE | OFlags::RDWR,
        false => OFlags::RDONLY | OFlags::NONBLOCK,
    };
    let flags = flags | OFlags::DIRECT | OFlags::CLOEXEC;
    let file: File = rustix::fs::open(path, flags, Mode::RUSR).ok()?.into();
    match reported(&file) {
        Reported::Rule(rule) => Some(rule.offset),
        Reported::Unsupported => None,
        Reported::Unknown => Some(sector_size(&file)?.offset),
    }
}

enum Reported {
    Rule(Alignment),
    Unsupported,
    Unknown,
}

/// What `statx` says. It knows the truth for most file systems, and for devices in newer kernels.
fn reported(file: &File) -> Reported {
    let mask = StatxFlags::DIOALIGN;
    let Ok(found) = rustix::fs::statx(file.as_fd(), c"", AtFlags::EMPTY_PATH, mask) else {
        return Reported::Unknown;
    };
    if found.stx_mask & mask.bits() == 0 {
        return Reported::Unknown;
    }
    match (found.stx_dio_mem_align, found.stx_dio_offset_align) {
        (0, _) | (_, 0) => Reported::Unsupported,
        (memory, offset) => Reported::Rule(Alignment { memory, offset }),
    }
}

/// A block device's logical block size.
fn sector_size(file: &File) -> Option<Alignment> {
    let unit = rustix::fs::ioctl_blksszget(file)
        .ok()
        .filter(|unit| *unit > 0)?;
    Some(Alignment {
        memory: unit,
        offset: unit,
    })
}

fn can_read(file: &File, len: u32) -> io::Result<bool> {
    let mut buffer = AlignedBuffer::zeroed(len as usize).map_err(io::Error::other)?;
    loop {
        match file.read_at(&mut buffer.as_mut_slice()[..len as usize], 0) {
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Ok(false),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}
