//! Words in a file that another process can read while they change, and after this one was killed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

/// Numbers of 64 bits, in the machine's byte order, that lie in a file. What is stored is in
/// the file
/// at once for all who read it; it reaches the file's storage when the system sees fit.
#[derive(Debug)]
pub struct SharedWords {
    words: NonNull<AtomicU64>,
    count: usize,
}

// SAFETY: the words are atomic, and the mapping stays until the value is dropped.
unsafe impl Send for SharedWords {}
// SAFETY: as above.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// The `count` words of a file from byte `offset` on, which is a multiple of the page size. The
    /// file has that many, and nobody shortens it.
    ///
    /// # Errors
    /// When the file cannot be mapped, or is too short.
    pub fn of(file: &File, offset: u64, count: usize) -> io::Result<Self> {
        let bytes = count
            .checked_mul(size_of::<AtomicU64>())
            .filter(|bytes| *bytes > 0)
            .ok_or(io::ErrorKind::InvalidInput)?;
        if file.metadata()?.len() < offset + bytes as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let offset = i64::try_from(offset).map_err(io::Error::other)?;
        // SAFETY: a fresh mapping, at an address of the kernel's choice.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                offset,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let words = NonNull::new(map.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { words, count })
    }
}

impl AsRef<[AtomicU64]> for SharedWords {
    fn as_ref(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has that many words, aligned to a page, and lives as long as `self`;
        // any bytes are a word.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.count) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        let bytes = self.count * size_of::<AtomicU64>();
        // SAFETY: the mapping made above, unmapped once.
        unsafe {
            libc::munmap(self.words.as_ptr().cast(), bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Read as _;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn what_is_stored_is_in_the_file_while_it_is_mapped() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = scratch.path().join("words");
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(&path);
        let file = file.expect("a file");
        file.set_len(4096 + 24).expect("room");
        let words = SharedWords::of(&file, 4096, 3).expect("a mapping");
        words.as_ref()[2].store(7, Relaxed);
        let mut bytes = Vec::new();
        let mut again = File::open(&path).expect("the file");
        again.read_to_end(&mut bytes).expect("its bytes");
        assert_eq!(bytes[4096 + 16..], 7_u64.to_ne_bytes());
        assert!(SharedWords::of(&file, 4096, 4).is_err(), "beyond the file");
        assert!(SharedWords::of(&file, 0, 0).is_err(), "nothing");
    }
}
