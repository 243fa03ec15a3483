//! How much of a file the page cache holds, so that cache is never mistaken for disk.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::ptr;

use rustix::fs::Advice;

/// The system call's number is the same on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;
/// How much `mincore` looks at in one go.
const WINDOW_BYTES: u64 = 1 << 30;

#[repr(C)]
struct Range {
    offset: u64,
    len: u64,
}

#[repr(C)]
#[derive(Default)]
struct CacheStat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// The share of `len` bytes from `offset` that the page cache holds, 0 to 1; of nothing it is 0.
///
/// # Errors
/// When the system does not tell, as for a file that the caller may not write.
pub fn resident_share(file: &File, offset: u64, len: u64) -> io::Result<f64> {
    if len == 0 {
        return Ok(0.0);
    }
    let page = rustix::param::page_size() as u64;
    let pages = (offset.saturating_add(len)).div_ceil(page) - offset / page;
    let resident = match count_by_cachestat(file, offset, len) {
        Ok(count) => count,
        Err(_) => count_by_mincore(file, offset / page * page, pages)?,
    };
    Ok((resident as f64 / pages as f64).min(1.0))
}

/// Write out what is dirty, drop the file from the page cache, and tell which share stayed.
///
/// # Errors
/// When the system refuses.
pub fn drop_cached(file: &File) -> io::Result<f64> {
    match rustix::fs::fdatasync(file) {
        // A file opened for reading on a read-only file system has nothing to write out.
        Ok(()) | Err(rustix::io::Errno::ROFS | rustix::io::Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    rustix::fs::fadvise(file, 0, None::<NonZeroU64>, Advice::DontNeed)?;
    let len = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))?;
    resident_share(file, 0, len)
}

/// Announce random reads of the file to the kernel: no readahead. Source: posix_fadvise(2).
///
/// # Errors
/// When the system refuses.
pub fn expect_random_reads(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::Random)?)
}

/// Announce sequential reads of the file to the kernel: more readahead. Source: posix_fadvise(2).
///
/// # Errors
/// When the system refuses.
pub fn expect_sequential_reads(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::Sequential)?)
}

fn count_by_cachestat(file: &File, offset: u64, len: u64) -> io::Result<u64> {
    let range = Range { offset, len };
    let mut found = CacheStat::default();
    // SAFETY: both structs have the kernel's layout and live through the call.
    let outcome = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut found,
            0,
        )
    };
    if outcome == 0 {
        Ok(found.cached)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// For kernels before 6.5: map the file without reading it, and ask page by page.
fn count_by_mincore(file: &File, start: u64, pages: u64) -> io::Result<u64> {
    let page = rustix::param::page_size() as u64;
    let window_pages = WINDOW_BYTES / page;
    let mut resident = 0;
    let mut at = 0;
    while at < pages {
        let count = window_pages.min(pages - at);
        resident += count_in_window(file, start + at * page, count, page)?;
        at += count;
    }
    Ok(resident)
}

fn count_in_window(file: &File, start: u64, pages: u64, page: u64) -> io::Result<u64> {
    let len = usize::try_from(pages * page).map_err(io::Error::other)?;
    let offset = i64::try_from(start).map_err(io::Error::other)?;
    let mut states = vec![0_u8; usize::try_from(pages).map_err(io::Error::other)?];
    // SAFETY: a fresh mapping, at an address of the kernel's choice, that nobody reads through.
    let map = unsafe {
        let (protection, flags) = (libc::PROT_NONE, libc::MAP_SHARED);
        libc::mmap(
            ptr::null_mut(),
            len,
            protection,
            flags,
            file.as_raw_fd(),
            offset,
        )
    };
    if map == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `map` is `len` bytes long and `states` has a byte for each of its pages.
    let outcome = unsafe { libc::mincore(map, len, states.as_mut_ptr()) };
    let error = io::Error::last_os_error();
    // SAFETY: the mapping made above, unmapped once.
    unsafe {
        libc::munmap(map, len);
    }
    if outcome != 0 {
        return Err(error);
    }
    Ok(states.iter().filter(|state| **state & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn what_was_just_written_is_resident() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[7; 64 << 10], 0).unwrap();
        assert!((resident_share(&file, 0, 64 << 10).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(count_by_mincore(&file, 0, 16).unwrap(), 16);
        assert!(resident_share(&file, 0, 0).unwrap() < 1e-9);
        assert!((0.0..=1.0).contains(&drop_cached(&file).unwrap()));
    }

    #[test]
    fn a_hole_is_not_resident() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        assert!(resident_share(&file, 0, 1 << 20).unwrap() < 1e-9);
        assert_eq!(count_by_mincore(&file, 0, 256).unwrap(), 0);
    }
}
