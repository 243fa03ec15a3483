//! Data files left by killed programs beside the user's own, and their removal.
//!
//! A data file has a marker that says it is unfinished or was to be removed, and that no program
//! holds it. It is removed only if it contains the seal of its marker. A file that was being
//! removed or replaced is marked in its name.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use drivers::{FileLinks, Removal, left_aside, remove_left_aside};

use crate::data_marker::{DataMarker, MARKER_SUFFIX, place_of};

/// Maximum number of directory entries examined.
const ENTRIES_MAX: usize = 100_000;

/// An unused file. While this value lives, no program can claim it.
#[derive(Debug)]
pub struct LeftOverFile {
    pub path: PathBuf,
    /// Size on disk, bytes.
    pub bytes: u64,
    /// Holds the lock; none for a file that was being removed.
    marker: Option<DataMarker>,
}

/// Files in `directory` left by killed programs, sorted by name. Files that cannot be examined are
/// skipped.
pub fn data_files(directory: &Path) -> Vec<LeftOverFile> {
    let entries = directory.read_dir().into_iter().flatten();
    let paths = entries.take(ENTRIES_MAX).flatten().map(|it| it.path());
    let opened = File::open(directory).ok();
    let files = paths.filter_map(|path| match data_of(&path) {
        Some(data) => examine(data).ok().flatten(),
        None => examine_aside(opened.as_ref()?, path),
    });
    let mut files: Vec<LeftOverFile> = files.collect();
    files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    files
}

impl LeftOverFile {
    /// Removes the file and its marker.
    ///
    /// # Errors
    /// If another file has its name now, or the system refuses.
    pub fn remove(self) -> io::Result<()> {
        let removed = match self.marker {
            Some(marker) => marker.remove_with(&self.path),
            None => {
                let (directory, name) = place_of(&self.path)?;
                remove_left_aside(directory, name)
            }
        };
        match removed? {
            Removal::Removed | Removal::Absent => Ok(()),
            Removal::Foreign => Err(io::Error::other(
                "nothing in it proves that Seekstone created it: remove it yourself if it is not \
                 needed",
            )),
        }
    }
}

/// The data file to which a marker of this name would belong.
fn data_of(marker: &Path) -> Option<PathBuf> {
    let name = marker.file_name()?.to_str()?.strip_suffix(MARKER_SUFFIX)?;
    (!name.is_empty()).then(|| marker.with_file_name(name))
}

fn examine(path: PathBuf) -> io::Result<Option<LeftOverFile>> {
    let Some(marker) = DataMarker::read(&path)? else {
        return Ok(None);
    };
    if marker.is_complete() || !marker.is_idle() {
        return Ok(None);
    }
    let (parent, name) = place_of(&path)?;
    let bytes = FileLinks::named(parent, name).map_or(0, |found| found.taken);
    Ok(Some(LeftOverFile {
        path,
        bytes,
        marker: Some(marker),
    }))
}

fn examine_aside(directory: &File, path: PathBuf) -> Option<LeftOverFile> {
    let bytes = left_aside(directory, path.file_name()?.to_str()?)?;
    Some(LeftOverFile {
        path,
        bytes,
        marker: None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use drivers::{Payload, Seal};
    use workload::TargetId;

    use super::*;
    use crate::data_marker::MarkerState;

    /// Bug: files of the user were removed that had the name and form of ours, since nothing else
    /// distinguished them.
    #[test]
    fn only_unfinished_files_that_carry_their_seal_are_removed() {
        let top = tempfile::tempdir().expect("a directory");
        let path = |name: &str| top.path().join(name);
        let mut ours = vec![7; 8192];
        let payload = Payload {
            run: Seal::of_this_run().number(),
            ..Payload::default()
        };
        payload.stamp(&mut ours, TargetId(0), 0);
        let make = |name: &str, content: &[u8]| {
            let marker = DataMarker::make(&path(name), 8192).expect("a marker");
            fs::write(path(name), content).expect("a file");
            marker
        };
        drop(make("J000000A.TMP", &ours));
        drop(make("J000000B.TMP", b"a file of somebody else"));
        let mut complete = make("complete", &ours);
        complete.note(MarkerState::Complete, 8192).expect("noted");
        drop(complete);
        let held = make("held", &ours);
        fs::write(path("J000000C.TMP"), &ours).expect("a file");
        let mut found = data_files(top.path());
        let names: Vec<_> = found.iter().map(|it| it.path.clone()).collect();
        assert_eq!(names, [path("J000000A.TMP"), path("J000000B.TMP")]);
        assert!(found[0].bytes >= 8192);
        let foreign = found.pop().expect("two");
        foreign.remove().expect_err("it is somebody's");
        found.pop().expect("one").remove().expect("ours");
        assert!(!path("J000000A.TMP").exists() && path("J000000B.TMP").exists());
        assert!(!path("J000000A.TMP.seekstone").exists());
        for kept in ["complete", "held", "J000000C.TMP"] {
            assert!(path(kept).exists(), "{kept}");
        }
        drop(held);
    }
}
