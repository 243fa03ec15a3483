//! Files of a job: its data, removed at the end, and its log.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use drivers::Identity;
use lab::data_marker::remove_known;

use super::log_name;
use crate::run::data_file::DataFile;
use crate::run::{ClassicError, LogPlace};

impl DataFile {
    /// Creates the file to write, which is removed unless it is the user's.
    pub(super) fn create(path: PathBuf, bytes: u64) -> Result<Self, ClassicError> {
        if path.symlink_metadata().is_ok() {
            return Err(taken(&path, ErrorKind::AlreadyExists.into()));
        }
        Self::make(path, bytes, 0o600, taken)
    }

    /// The same file, for reading.
    pub(super) fn open(&self) -> Result<File, ClassicError> {
        let opened = File::open(&self.path).and_then(|file| {
            drivers::require_same(&file, &self.identity)?;
            Ok(file)
        });
        opened.map_err(ClassicError::file("open", self.path.as_path()))
    }
}

/// The log, written line by line. Without a pass it is removed.
pub(super) struct PassLog {
    pub(super) name: String,
    /// None if nothing is logged.
    file: Option<File>,
    pub(super) has_passes: bool,
}

impl PassLog {
    pub(super) fn create(place: LogPlace, job: &str) -> Result<Self, ClassicError> {
        let name = log_name(job);
        let create = || {
            let file = OpenOptions::new().write(true).create_new(true).open(&name);
            file.map_err(|error| taken(Path::new(&name), error))
        };
        let is_logged = place == LogPlace::Named;
        Ok(Self {
            file: is_logged.then(create).transpose()?,
            name,
            has_passes: false,
        })
    }

    /// One call per text, so that no line is cut however the program ends.
    pub(super) fn put(&mut self, text: &str) -> Result<(), ClassicError> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.write_all(format!("{text}\n").as_bytes())
            .map_err(ClassicError::file("write", self.name.as_str()))
    }

    pub(super) fn close_with(&mut self, error: &ClassicError) {
        if self.has_passes {
            // The disk may be full; the measurements are already in the log.
            let _ = self.put(&format!("; stopped: {error}"));
        } else if let Some(Ok(made)) = self.file.as_ref().map(Identity::of) {
            let _ = remove_known(Path::new(&self.name), &made);
        }
    }
}

fn taken(path: &Path, error: std::io::Error) -> ClassicError {
    if error.kind() == ErrorKind::AlreadyExists {
        return ClassicError::Usage(format!(
            "{} exists: another copy of the program began in this second; give each copy a letter \
             of its own, as in 40 6 A and 40 6 B",
            path.display()
        ));
    }
    ClassicError::file("create", path)(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_never_taken() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("J123456Z.TMP");
        std::fs::write(&path, "precious").expect("a file");
        let error = DataFile::create(path.clone(), 1).err().expect("it exists");
        assert!(error.to_string().contains("a letter of its own"), "{error}");
        assert_eq!(std::fs::read(&path).expect("a file"), b"precious");
    }

    #[test]
    fn a_file_that_came_in_its_place_is_neither_read_nor_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("J123456Z.TMP");
        let data = DataFile::create(path.clone(), 1).expect("a file");
        data.open().expect("ours");
        std::fs::remove_file(&path).expect("removed");
        std::fs::write(&path, "precious").expect("a file");
        assert!(data.open().is_err());
        drop(data);
        assert_eq!(std::fs::read(&path).expect("a file"), b"precious");
    }
}
