//! A data file among the user's own, with its marker: created, kept or removed, and never confused
//! with another.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use drivers::{AccessMode, Caching, Identity, Removal, Target, TargetOptions, free_space};
use lab::data_marker::{DataMarker, marker_path, remove_known};
use units::Bytes;

use super::ClassicError;

/// An open data file of this program.
pub(crate) struct DataFile {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) identity: Identity,
    /// Locked as long as this program lives.
    pub(crate) marker: DataMarker,
    pub(crate) fate: DataFate,
}

/// What happens to a data file when this program releases it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataFate {
    /// Removed with its marker.
    Removed,
    /// Kept with its marker.
    Kept,
    /// Kept without a marker: it is the user's.
    Given,
}

impl DataFile {
    /// Creates a file of `size` bytes with its marker, if none exists. It is removed unless it is
    /// kept. `refused` says what a failure means.
    pub(crate) fn make(
        path: impl Into<PathBuf>,
        size: u64,
        mode: u32,
        refused: fn(&Path, std::io::Error) -> ClassicError,
    ) -> Result<Self, ClassicError> {
        let path = path.into();
        let marker = make_marker(&path, size)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(mode);
        let created = options.open(&path);
        match created.and_then(|file| Ok((Identity::of(&file)?, file))) {
            Ok((identity, file)) => Ok(Self {
                path,
                file,
                identity,
                marker,
                fate: DataFate::Removed,
            }),
            Err(error) => {
                // Errors cannot be reported here, and the next run replaces it.
                let _ = marker.remove();
                Err(refused(&path, error))
            }
        }
    }

    /// Releases it as its fate says. A name that refers to another file by now is left alone.
    pub(crate) fn end(&mut self) -> std::io::Result<()> {
        match std::mem::replace(&mut self.fate, DataFate::Kept) {
            DataFate::Removed if remove_known(&self.path, &self.identity)? == Removal::Foreign => {
                Ok(())
            }
            DataFate::Removed | DataFate::Given => self.marker.remove_file(),
            DataFate::Kept => Ok(()),
        }
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        // Errors cannot be reported here: the marker of what is left says that it is unfinished.
        let _ = self.end();
    }
}

/// Creates the marker of a data file that is about to be created.
fn make_marker(data: &Path, size: u64) -> Result<DataMarker, ClassicError> {
    DataMarker::make(data, size).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => ClassicError::Usage(format!(
            "{} exists and is not a marker of this program: it would stand next to the data file; \
             choose another name for that",
            marker_path(data).display()
        )),
        ErrorKind::ResourceBusy => ClassicError::Usage(format!(
            "{} is being made by another program: begin when that has ended",
            data.display()
        )),
        _ => ClassicError::file("make the marker of", data)(error),
    })
}

/// The directory of a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Refuses to fill a file system: `gained` bytes are overwritten, `what` is to be created, and
/// `less` is a smaller request.
pub(crate) fn check_room(
    directory: &Path,
    [size, gained]: [u64; 2],
    reserve: Option<u64>,
    what: &str,
    less: &str,
) -> Result<(), ClassicError> {
    let space = free_space(directory)?;
    let reserve = reserve.unwrap_or(space.reserve);
    let available = space.available.saturating_add(gained);
    if size.saturating_add(reserve) <= available {
        return Ok(());
    }
    Err(ClassicError::Usage(format!(
        "there is no space for {what}: {} are free, and {} must stay free; ask for {less}, keep \
         less free (--reserve), or free some space",
        Bytes(available),
        Bytes(reserve)
    )))
}

/// Opens any file or block device for reading.
pub(crate) fn open_to_read(path: &Path, caching: Caching) -> Result<Target, ClassicError> {
    let options = TargetOptions {
        access: AccessMode::ReadOnly,
        caching,
        signature_confirmed: None,
    };
    Ok(Target::open(path, &options)?)
}
