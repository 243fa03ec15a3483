//! The files of a job: its data, which are removed at the end, and its log.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use drivers::Identity;
use lab::data_marker::{DataMarker, remove_known};

use super::log_name;
use crate::run::{ClassicError, make_marker};

/// The file that is written; removed when this is dropped, unless it was before or is kept.
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
    identity: Identity,
    /// Whether it stays; then it is the user's.
    pub(super) is_kept: bool,
    /// Locked while we live; `None` once the file is gone.
    marker: Option<DataMarker>,
}

impl DataFile {
    pub(super) fn create(path: PathBuf, bytes: u64) -> Result<Self, ClassicError> {
        if path.symlink_metadata().is_ok() {
            return Err(taken(std::io::ErrorKind::AlreadyExists.into(), &path));
        }
        let marker = make_marker(&path, bytes)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let created = options
            .open(&path)
            .and_then(|file| Ok((Identity::of(&file)?, file)));
        match created {
            Ok((identity, file)) => Ok(Self {
                path,
                file,
                identity,
                is_kept: false,
                marker: Some(marker),
            }),
            Err(error) => {
                // Nobody is left to tell, and the next start replaces it.
                let _ = marker.remove();
                Err(taken(error, &path))
            }
        }
    }

    /// The same file, for reading.
    pub(super) fn open(&self) -> Result<File, ClassicError> {
        let opened = File::open(&self.path).and_then(|file| {
            drivers::require_same(&file, &self.identity)?;
            Ok(file)
        });
        opened.map_err(ClassicError::file("open", self.path.as_path()))
    }

    /// Leave nothing behind but a file that is kept.
    pub(super) fn end(&mut self) -> Result<(), ClassicError> {
        self.remove_both()
            .map_err(ClassicError::file("remove", self.path.as_path()))
    }

    /// Remove the file, if its name still stands for it, and its marker.
    fn remove_both(&mut self) -> std::io::Result<()> {
        let Some(marker) = self.marker.take() else {
            return Ok(());
        };
        if !self.is_kept {
            remove_known(&self.path, &self.identity)?;
        }
        marker.remove()
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        // Nobody is left to tell; the next start names what could not be removed.
        let _ = self.remove_both();
    }
}

/// The log, each line written through as it comes; without a pass it is not kept.
pub(super) struct Log {
    pub(super) name: String,
    file: File,
    pub(super) has_passes: bool,
}

impl Log {
    pub(super) fn create(job: &str) -> Result<Self, ClassicError> {
        let name = log_name(job);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&name)
            .map_err(|error| taken(error, Path::new(&name)))?;
        Ok(Self {
            name,
            file,
            has_passes: false,
        })
    }

    /// One call for one text: whatever ends the program, no line is cut.
    pub(super) fn put(&mut self, text: &str) -> Result<(), ClassicError> {
        self.file
            .write_all(format!("{text}\n").as_bytes())
            .map_err(ClassicError::file("write", self.name.as_str()))
    }

    pub(super) fn close_with(&mut self, error: &ClassicError) {
        if self.has_passes {
            // The disk may be full; what was measured is in the log already.
            let _ = self.put(&format!("; stopped: {error}"));
        } else if let Ok(made) = Identity::of(&self.file) {
            let _ = remove_known(Path::new(&self.name), &made);
        }
    }
}

fn taken(error: std::io::Error, path: &Path) -> ClassicError {
    if error.kind() == std::io::ErrorKind::AlreadyExists {
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
