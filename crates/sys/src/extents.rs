//! In how many pieces a file lies on its device.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// `struct fiemap` without any room for extents, from the kernel's `linux/fiemap.h`.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `FS_IOC_FIEMAP`: the same number on every architecture that we know.
const FS_IOC_FIEMAP: u32 = 0xc020_660b;
/// Write the file out first: what is not written yet has no place.
const FLAG_SYNC: u32 = 1;

/// The extents of a file. `None` where the file system does not tell (tmpfs, most network file
/// systems). Extents that adjoin on the device are counted as the file system keeps them.
///
/// # Errors
/// When the system refuses for any other reason.
pub fn count_extents(file: &File) -> io::Result<Option<u64>> {
    let mut map = Fiemap {
        start: 0,
        length: u64::MAX,
        flags: FLAG_SYNC,
        mapped_extents: 0,
        extent_count: 0,
        reserved: 0,
    };
    // SAFETY: with `extent_count` zero the kernel writes no extents, only into `map` itself.
    let outcome = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut map) };
    if outcome == 0 {
        return Ok(Some(map.mapped_extents.into()));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS | libc::EINVAL) => Ok(None),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn a_hole_splits_a_file_in_two() {
        let file = tempfile::tempfile().unwrap();
        let block = [7; 65_536];
        file.write_all_at(&block, 0).unwrap();
        let Some(first) = count_extents(&file).unwrap() else {
            // tmpfs does not tell.
            return;
        };
        assert!(first >= 1);
        file.write_all_at(&block, 1 << 20).unwrap();
        assert!(count_extents(&file).unwrap().unwrap() > first);
        let empty = tempfile::tempfile().unwrap();
        assert_eq!(count_extents(&empty).unwrap(), Some(0));
    }
}
