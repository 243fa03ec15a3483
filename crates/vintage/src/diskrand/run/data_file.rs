//! The data file: written, checked, removed. No other file is ever harmed.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::diskrand::{RECORD_BYTES, fill_records, is_beginning_of_record, is_record};
use drivers::{Caching, FileLinks, Target, require_same};
use rustix::fs::{FlockOperation, OFlags, flock};
use units::Bytes;

use crate::run::ClassicError;
use crate::run::data_file::{DataFate, DataFile, check_room, directory_of, open_to_read};
use lab::data_marker::{DataMarker, MarkerState};
use lab::laboratory::with_causes;

/// Records written at once.
const CHUNK_RECORDS: u64 = 64;
/// Records of an existing file that are checked, spread over all of it.
const LOOKED_AT: u64 = 1024;
/// Directory entries among which a mistyped name is searched.
const ENTRIES_MAX: usize = 10_000;

impl DataFile {
    /// Creates the file, or opens an existing one of this program without changing it yet.
    pub(super) fn open_to_write(
        path: &Path,
        size: u64,
        reserve: Option<u64>,
    ) -> Result<Self, ClassicError> {
        let found = match path.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(ClassicError::file("examine", path)(error)),
            Ok(_) => Some(Self::find(path, "overwritten")?),
        };
        let gained = found.as_ref().map_or(Ok(0), Self::len)?;
        let directory = directory_of(path);
        let what = format!("{} in {}", Bytes(size), directory.display());
        check_room(directory, [size, gained], reserve, &what, "fewer megabytes")?;
        if let Some(data) = found {
            return Ok(data);
        }
        let refused = |path: &Path, error| ClassicError::file("create", path)(error);
        let data = Self::make(path, size, 0o666, refused)?;
        // Without locks, files in use are not detected.
        let _ = flock(&data.file, FlockOperation::NonBlockingLockExclusive);
        Ok(data)
    }

    /// Opens an existing file with this program's records; `done` says what would happen to it.
    fn find(path: &Path, done: &str) -> Result<Self, ClassicError> {
        let refuse =
            |why: &str| ClassicError::Usage(format!("{} is not {done}: {why}", path.display()));
        let metadata = path
            .symlink_metadata()
            .map_err(ClassicError::file("examine", path))?;
        if metadata.is_symlink() {
            return Err(refuse("it is a symbolic link; name the file itself"));
        }
        if !metadata.is_file() {
            return Err(refuse("it is not a regular file"));
        }
        // Checked again once open, since a name can change its meaning.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
            .map_err(ClassicError::file("open", path))?;
        let found = FileLinks::of(&file).map_err(ClassicError::file("examine", path))?;
        if !found.is_file() || found.links > 1 {
            return Err(refuse("it is not a regular file with one name"));
        }
        let unproved = "it does not hold the records that `diskrand Write` writes, with the \
                        mark that its marker names; nothing was touched";
        let marker = DataMarker::read(path).map_err(ClassicError::file("read the marker of", path));
        let Some(marker) = marker? else {
            return Err(refuse(unproved));
        };
        let data = Self {
            path: path.to_owned(),
            file,
            identity: found.identity,
            marker,
            fate: DataFate::Kept,
        };
        let proved = data.marker.proves(&data.file);
        let proved = proved.and_then(|is_sealed| Ok(is_sealed && data.holds_records()?));
        if !proved.map_err(ClassicError::file("read", path))? {
            return Err(refuse(unproved));
        }
        let is_locked = flock(&data.file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !is_locked || !data.marker.is_idle() {
            return Err(refuse("another diskrand is at work with it"));
        }
        Ok(data)
    }

    /// End of each of its records.
    fn mark(&self) -> String {
        format!(" {}", self.marker.seal().text())
    }

    fn len(&self) -> Result<u64, ClassicError> {
        let metadata = self.file.metadata();
        let metadata = metadata.map_err(ClassicError::file("examine", self.path.as_path()))?;
        Ok(metadata.len())
    }

    /// First, last and some records between must be valid. A partial last record must be the start
    /// of the right one, as a killed program leaves it.
    fn holds_records(&self) -> std::io::Result<bool> {
        let len = self.file.metadata()?.len();
        let record = RECORD_BYTES as u64;
        let (whole, rest) = (len / record, (len % record) as usize);
        let mark = self.mark();
        let mut bytes = [0; RECORD_BYTES];
        let places = LOOKED_AT.min(whole);
        for place in 0..places {
            let number = place * (whole - 1) / (places - 1).max(1);
            self.file.read_exact_at(&mut bytes, number * record)?;
            if !is_record(&bytes, number + 1, &mark) {
                return Ok(false);
            }
        }
        self.file
            .read_exact_at(&mut bytes[..rest], whole * record)?;
        Ok(len > 0 && is_beginning_of_record(&bytes[..rest], whole + 1, &mark))
    }

    /// Writes the records, and reports the number after each chunk.
    pub(super) fn write(
        &mut self,
        records: u64,
        caching: Caching,
        on_progress: &mut dyn FnMut(u64) -> Result<(), ClassicError>,
    ) -> Result<(), ClassicError> {
        let path = self.path.clone();
        let failed = |operation| ClassicError::file(operation, path.as_path());
        let (mark, size) = (self.mark(), records * RECORD_BYTES as u64);
        self.fate = DataFate::Removed;
        let noted = self.marker.note(MarkerState::Unfinished, size);
        noted.map_err(failed("write the marker of"))?;
        self.file.set_len(0).map_err(failed("empty"))?;
        let mut block = vec![0; CHUNK_RECORDS as usize * RECORD_BYTES];
        let mut done = 0;
        while done < records {
            let count = (records - done).min(CHUNK_RECORDS);
            let part = &mut block[..count as usize * RECORD_BYTES];
            fill_records(part, done + 1, &mark);
            self.file.write_all(part).map_err(failed("write"))?;
            done += count;
            on_progress(done)?;
        }
        if caching == Caching::Direct {
            self.file.sync_all().map_err(failed("write out"))?;
        }
        let noted = self.marker.note(MarkerState::Complete, size);
        noted.map_err(failed("write the marker of"))?;
        self.fate = DataFate::Kept;
        Ok(())
    }

    /// The same file for reading. From now on others may read it, too.
    pub(super) fn open_to_read(&self, caching: Caching) -> Result<Target, ClassicError> {
        let target = open_to_read(&self.path, caching)?;
        require_same(target.file(), &self.identity)
            .map_err(ClassicError::file("use", self.path.as_path()))?;
        let _ = flock(&self.file, FlockOperation::NonBlockingLockShared);
        Ok(target)
    }
}

/// Removes a data file. Returns its size.
///
/// # Errors
///
/// If it does not exist, is not ours, or is in use.
pub fn erase(path: &Path) -> Result<Bytes, ClassicError> {
    let mut data = DataFile::find(path, "erased")?;
    let size = data.len()?;
    data.fate = DataFate::Removed;
    data.end().map_err(ClassicError::file("remove", path))?;
    Ok(Bytes(size))
}

/// Opens any file or block device for reading, with a lock that prevents erasing it.
pub(super) fn open_existing(path: &Path, caching: Caching) -> Result<Target, ClassicError> {
    let target = open_to_read(path, caching).map_err(|error| hinted(error, path))?;
    if target.size() < RECORD_BYTES as u64 {
        return Err(ClassicError::Usage(format!(
            "{} has {} bytes, and not one record of {RECORD_BYTES}: `diskrand Write` makes a file",
            path.display(),
            target.size()
        )));
    }
    match flock(target.file(), FlockOperation::NonBlockingLockShared) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(ClassicError::Usage(format!(
            "{} is being written by another diskrand: begin when that has ended",
            path.display()
        ))),
        // Without locks, use by others is not detected.
        _ => Ok(target),
    }
}

/// The document writes `DataFile.txt` and reads `Datafile.txt`, and elsewhere `RandData` and
/// `RanData`: on its system these were one name, or are easily mistyped.
fn hinted(error: ClassicError, path: &Path) -> ClassicError {
    match meant(path) {
        Some(name) => ClassicError::Usage(format!(
            "{}; there is {name}, and upper and lower case count here",
            with_causes(&error)
        )),
        None => error,
    }
}

/// The only file with the name of a missing one except for case or one letter.
fn meant(path: &Path) -> Option<String> {
    if path.symlink_metadata().is_ok() {
        return None;
    }
    let wanted = path.file_name()?.to_str()?;
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let entries = std::fs::read_dir(directory.unwrap_or(Path::new("."))).ok()?;
    let names = entries
        .take(ENTRIES_MAX)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut alike = names.filter(|name| is_alike(name, wanted));
    alike.next().filter(|_| alike.next().is_none())
}

fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let (long, short) = if one.len() >= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let without = |index: usize| long.chars().take(index).chain(long.chars().skip(index + 1));
    long == short || (0..long.chars().count()).any(|index| without(index).eq(short.chars()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &Path, records: u64) -> DataFile {
        let mut data = DataFile::open_to_write(path, 1, Some(0)).expect("a new file");
        data.write(records, Caching::Buffered, &mut |_| Ok(()))
            .expect("records");
        data
    }

    #[test]
    fn what_is_written_is_known_again_and_erased() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("D");
        for records in [1, 2, 64, 65, 3000] {
            drop(written(&path, records));
            let size = std::fs::metadata(&path).expect("a file").len();
            assert_eq!(size, records * RECORD_BYTES as u64);
            assert_eq!(erase(&path).expect("ours"), Bytes(size));
            assert!(!path.exists());
        }
    }

    #[test]
    fn other_files_are_never_touched() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("mine");
        drop(written(&path, 5));
        let ours = std::fs::read(&path).expect("a file");
        let mut others = ours.clone();
        fill_records(&mut others, 1, "");
        let mut changed = ours.clone();
        changed[2 * RECORD_BYTES + 9] ^= 1;
        let mut behind = ours.clone();
        behind.extend(b"and a line of mine\n");
        for content in [
            b"precious".to_vec(),
            Vec::new(),
            vec![0; 8192],
            changed,
            behind,
            others,
        ] {
            std::fs::write(&path, &content).expect("a file");
            let error = erase(&path).expect_err("not ours").to_string();
            assert!(error.contains("is not erased: it does not hold"), "{error}");
            let error = DataFile::open_to_write(&path, 1, Some(0))
                .err()
                .expect("not ours");
            assert!(error.to_string().contains("is not overwritten"), "{error}");
            assert!(std::fs::read(&path).expect("a file") == content);
        }
        let link = directory.path().join("link");
        std::fs::write(&path, &ours).expect("a file");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        let error = erase(&link).expect_err("a link").to_string();
        assert!(error.contains("symbolic link"), "{error}");
        let second = directory.path().join("second");
        std::fs::hard_link(&path, &second).expect("a name");
        assert!(
            erase(&path)
                .expect_err("two names")
                .to_string()
                .contains("one name")
        );
        assert!(
            erase(directory.path())
                .expect_err("a directory")
                .to_string()
                .contains("regular")
        );
    }

    #[test]
    fn an_unfinished_file_goes_and_a_cut_one_can_be_erased() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("D");
        let mut data = DataFile::open_to_write(&path, 1, Some(0)).expect("a new file");
        let stop = |done| {
            if done < 128 {
                return Ok(());
            }
            Err(ClassicError::Operation("stopped".into()))
        };
        let mut stop = stop;
        assert!(data.write(1000, Caching::Buffered, &mut stop).is_err());
        drop(data);
        assert!(!path.exists());
        drop(written(&path, 2));
        let ours = std::fs::read(&path).expect("a file");
        let mut marker = DataMarker::read(&path).expect("read").expect("a marker");
        marker.note(MarkerState::Unfinished, 0).expect("noted");
        drop(marker);
        std::fs::write(&path, &ours[..RECORD_BYTES + 77]).expect("a file");
        assert!(erase(&path).is_ok(), "what a killed program left");
        assert_eq!(directory.path().read_dir().expect("a list").count(), 0);
    }

    #[test]
    fn a_file_in_use_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("D");
        drop(written(&path, 10));
        let reader = open_existing(&path, Caching::Buffered).expect("a file");
        let error = erase(&path).expect_err("in use").to_string();
        assert!(
            error.contains("another diskrand is at work with it"),
            "{error}"
        );
        drop(reader);
        let writer = DataFile::find(&path, "overwritten").expect("a file");
        let error = open_existing(&path, Caching::Buffered).expect_err("in use");
        assert!(error.to_string().contains("is being written"), "{error}");
        drop(writer);
        assert!(erase(&path).is_ok());
    }

    #[test]
    fn a_file_without_a_record_cannot_be_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("D");
        std::fs::write(&path, [0; RECORD_BYTES - 1]).expect("a file");
        let error = open_existing(&path, Caching::Buffered).expect_err("too short");
        assert!(
            error.to_string().contains("not one record of 4096"),
            "{error}"
        );
    }
}
