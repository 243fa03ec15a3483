//! Swap space in use.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::block_layer::StorageIdentity;
use super::unescape;
use crate::target_error::TargetError;

/// The swap space that `/proc/swaps` lists.
#[derive(Debug, Default)]
pub(super) struct Swaps {
    paths: Vec<PathBuf>,
    /// Whether any of it is a file, which may have another name by now, or none.
    has_files: bool,
}

impl Swaps {
    pub(super) fn read(proc: &Path) -> Result<Self, TargetError> {
        let path = proc.join("swaps");
        // A kernel without swap has no such file.
        if proc.join("self").exists() && !path.exists() {
            return Ok(Self::default());
        }
        let table = std::fs::read(&path).map_err(|error| TargetError::io("read", &path, error))?;
        Ok(Self::parse(&String::from_utf8_lossy(&table)))
    }

    // fuzzed: kernel_tables
    pub(super) fn parse(table: &str) -> Self {
        let mut swaps = Self::default();
        for line in table.lines().skip(1) {
            let mut fields = line.split_whitespace();
            if let Some(path) = fields.next() {
                swaps.paths.push(PathBuf::from(unescape(path)));
                swaps.has_files |= fields.next() != Some("partition");
            }
        }
        swaps
    }

    /// Which of `storages` is swap space, by the names in the table.
    pub(super) fn find(&self, storages: &[StorageIdentity]) -> Option<StorageIdentity> {
        let used = self
            .paths
            .iter()
            .filter_map(|path| StorageIdentity::at(path));
        used.into_iter().find(|it| storages.contains(it))
    }

    /// Whether the file at `path` is swap space by whatever name: the kernel refuses to reserve
    /// blocks of it, before it finds that these lie beyond the end of any file. Asked only while
    /// files are swapped to.
    pub(super) fn holds_file(&self, path: &Path, storage: StorageIdentity) -> bool {
        if !self.has_files {
            return false;
        }
        let opened = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path);
        let Ok(file) = opened else {
            return false;
        };
        let is_same = file
            .metadata()
            .is_ok_and(|found| StorageIdentity::of(&found) == Some(storage));
        let beyond = i64::MAX.unsigned_abs();
        let reserved = fallocate(&file, FallocateFlags::KEEP_SIZE, beyond, 1);
        is_same && reserved == Err(Errno::TXTBSY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_swap_space_is_read() {
        let table = "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 1 0 -2\n";
        let swaps = Swaps::parse(table);
        assert_eq!(swaps.paths, [Path::new("/dev/sda2")]);
        assert!(!swaps.has_files);
        let swaps = Swaps::parse(&format!("{table}/a\\040b\\040(deleted) file 1 0 -3\n"));
        assert_eq!(swaps.paths[1], Path::new("/a b (deleted)"));
        assert!(swaps.has_files);
    }
}
