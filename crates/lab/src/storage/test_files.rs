//! The test files that a laboratory makes in its directory: one, or several of one size.

use std::sync::Arc;

use drivers::{Caching, SmallFiles, TargetError, TargetTable, WorkDirectory};
use procedure::{MAIN_DIRECT, SMALL_FILES_MAX};
use units::Bytes;
use workload::{FileSet, TargetId};

use super::{MAIN_FILE, StorageLaboratory, TargetLocation};
use crate::laboratory::LaboratoryError;

const CACHE_FILE_NAME: &str = "cache";
/// The target of the second of several test files, behind the first one and the cache's.
const OTHER_TEST_FILES: TargetId = TargetId(3);

impl StorageLaboratory {
    /// The targets of the test files.
    pub fn test_files(&self) -> Vec<TargetId> {
        let others = (1..self.settings.test_files)
            .map(|it| TargetId(OTHER_TEST_FILES.0 + u32::from(it) - 1));
        [MAIN_DIRECT].into_iter().chain(others).collect()
    }

    /// How clients are dealt to the test files, where there are several.
    pub fn spread(&self) -> Option<FileSet> {
        let files = u32::from(self.settings.test_files);
        (files > 1).then_some(FileSet {
            others: OTHER_TEST_FILES,
            files,
        })
    }

    /// Make each test file `size` bytes long, and one of `cached` for the page cache, which stays
    /// empty where nobody asks for it. What they hold is undefined until a trial has written it.
    ///
    /// # Errors
    /// When there is no room, or the system refuses.
    pub fn lay_out(&mut self, size: Bytes, cached: Bytes) -> Result<(), LaboratoryError> {
        let TargetLocation::Directory {
            directory,
            size: known,
        } = &mut self.place
        else {
            return Ok(());
        };
        let is_new = *known == 0;
        *known = size.0;
        let directory = Arc::clone(directory);
        self.table = Arc::default();
        let others = (1..self.settings.test_files).map(|number| format!("{MAIN_FILE}-{number}"));
        let others: Vec<String> = others.collect();
        let lengths = [(MAIN_FILE, size), (CACHE_FILE_NAME, cached)].into_iter();
        for (name, len) in lengths.chain(others.iter().map(|name| (name.as_str(), size))) {
            make_room(&directory, name, len, is_new)?;
        }
        let main = directory.open_target(MAIN_FILE, self.settings.caching)?;
        let buffered = directory.open_target(MAIN_FILE, Caching::Buffered)?;
        let cache = directory.open_target(CACHE_FILE_NAME, Caching::Buffered)?;
        let mut targets = vec![main, buffered, cache];
        for name in &others {
            targets.push(directory.open_target(name, self.settings.caching)?);
        }
        let small = SmallFiles {
            directory,
            count: SMALL_FILES_MAX,
            caching: Caching::Buffered,
        };
        self.table = Arc::new(TargetTable::new(targets).with_small_files(small));
        self.payload.pass += 1;
        self.payload.verification = None;
        Ok(())
    }
}

/// Give a file of ours its length and, where the file system can, its blocks.
fn make_room(
    directory: &WorkDirectory,
    name: &str,
    len: Bytes,
    is_new: bool,
) -> Result<(), TargetError> {
    let file = if is_new {
        directory.create_file(name)?
    } else {
        let target = directory.open_target(name, Caching::Buffered)?;
        let file = target.file().try_clone();
        file.map_err(|error| TargetError::io("open", name, error))?
    };
    allocate(&file, len.0)
        .map_err(|error| TargetError::io("allocate space in", directory.path().join(name), error))
}

/// Reserve blocks where the file system can, so that "no room" is known before anything is
/// measured.
pub(super) fn allocate(file: &std::fs::File, len: u64) -> std::io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    if len == 0 {
        return file.set_len(0);
    }
    match fallocate(file, FallocateFlags::empty(), 0, len) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => file.set_len(len),
        Err(error) => Err(error.into()),
    }
}
