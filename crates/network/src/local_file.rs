//! The local end of a file transfer: a file that grows by whole extents, or nothing.

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::{FallocateFlags, fallocate, ftruncate};

/// Error if a file would exceed its maximum size.
const NO_ROOM: &str = "no space left within the limit. The rest of the file system stays free";

/// Destination of received bytes.
#[derive(Debug)]
pub struct Sink {
    file: Option<File>,
    /// The file grows in extents of this size; 0 leaves it to the file system.
    extent: u64,
    /// Maximum size of the file.
    room: u64,
    allocated: u64,
    written: u64,
    /// Number of allocations.
    pub allocations: u64,
}

impl Sink {
    /// Counts and discards bytes.
    pub fn nowhere() -> Self {
        Self {
            file: None,
            extent: 0,
            room: u64::MAX,
            allocated: 0,
            written: 0,
            allocations: 0,
        }
    }

    /// A new, empty file, which grows by `extent` bytes up to `room` bytes.
    pub fn file(file: File, extent: u64, room: u64) -> Self {
        Self {
            file: Some(file),
            extent,
            room,
            ..Self::nowhere()
        }
    }

    /// Writes received bytes.
    ///
    /// # Errors
    /// If there is no space.
    pub fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.written + bytes.len() as u64;
        if let Some(file) = &mut self.file {
            let taken = match self.extent {
                0 => end,
                extent => end.checked_next_multiple_of(extent).unwrap_or(u64::MAX),
            };
            if taken > self.room {
                return Err(io::Error::other(NO_ROOM));
            }
            while self.extent > 0 && self.allocated < end {
                let keep = FallocateFlags::KEEP_SIZE;
                fallocate(&*file, keep, self.allocated, self.extent)?;
                self.allocated += self.extent;
                self.allocations += 1;
            }
            file.write_all(bytes)?;
        }
        self.written = end;
        Ok(())
    }

    /// Frees unused space, and closes the file. Returns the bytes written.
    ///
    /// # Errors
    /// If the file system fails.
    pub fn finish(self, is_durable: bool) -> io::Result<u64> {
        if let Some(file) = &self.file {
            if self.allocated > self.written {
                ftruncate(file, self.written)?;
            }
            if is_durable {
                file.sync_all()?;
            }
        }
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_file_grows_by_whole_extents_and_gives_the_rest_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut sink = Sink::file(File::create_new(&path).unwrap(), 1 << 20, 4 << 20);
        for _ in 0..3 {
            sink.take(&[7; 400_000]).unwrap();
        }
        assert_eq!(sink.allocations, 2);
        let blocks = std::fs::metadata(&path).unwrap().blocks() * 512;
        assert!(blocks >= 2 << 20, "{blocks}");
        assert_eq!(sink.finish(true).unwrap(), 1_200_000);
        let metadata = std::fs::metadata(&path).unwrap();
        assert_eq!(metadata.len(), 1_200_000);
        assert!(metadata.blocks() * 512 < 2 << 20, "{}", metadata.blocks());
        assert!(std::fs::read(&path).unwrap().iter().all(|it| *it == 7));
    }

    #[test]
    fn a_file_takes_no_more_than_it_may() {
        for (extent, fits) in [(0, 10), (4, 8)] {
            let mut sink = Sink::file(tempfile::tempfile().unwrap(), extent, 10);
            for _ in 0..fits {
                sink.take(&[7]).unwrap();
            }
            let error = sink.take(&[7; 3]).unwrap_err();
            assert_eq!(error.to_string(), NO_ROOM);
            assert_eq!(sink.finish(false).unwrap(), fits);
        }
    }

    #[test]
    fn nowhere_counts() {
        let mut sink = Sink::nowhere();
        sink.take(&[0; 10]).unwrap();
        assert_eq!(sink.finish(false).unwrap(), 10);
    }
}
