//! A directory of a study's own, in which its set-ups may put what they like.
//!
//! Whatever lies in it is removed with it, but never across the border of a file system: what is
//! still mounted there is somebody's data.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::inspect::facts::Facts;

/// How the names of these directories begin.
const PREFIX: &str = ".seekstone-study-";

/// A scratch directory. It stays when it is dropped: [`Scratch::remove`] says what went wrong.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Make one in `parent`, for the owner alone.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(parent: &Path) -> io::Result<Self> {
        let parent = fs::canonicalize(parent)?;
        let name = RandomState::new().build_hasher().finish();
        let path = parent.join(format!("{PREFIX}{name:016x}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    /// One that a killed program left. `None` where it is gone, or never was one.
    #[must_use]
    pub fn left_at(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let is_ours = name.starts_with(PREFIX) && path.is_dir() && !path.is_symlink();
        is_ours.then(|| Self {
            path: path.to_owned(),
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Remove it with all that is in it.
    ///
    /// # Errors
    /// When something is mounted in it (nothing is touched then), or the system refuses.
    pub fn remove(self) -> io::Result<()> {
        if let Some(mount) = mounted_below(&self.path) {
            let why = format!(
                "{} is still mounted there; unmount it, and remove {} yourself",
                mount.display(),
                self.path.display()
            );
            return Err(io::Error::other(why));
        }
        fs::remove_dir_all(&self.path)
    }
}

/// The first thing that is mounted below a path.
fn mounted_below(path: &Path) -> Option<PathBuf> {
    let text = Facts::default().proc_text("self/mountinfo")?;
    let points = text.lines().filter_map(|line| line.split(' ').nth(4));
    // Spaces and the like are written as octal numbers; our own names have none, but parents may.
    let points = points.map(|point| {
        let plain = point.replace("\\040", " ").replace("\\011", "\t");
        PathBuf::from(plain.replace("\\012", "\n").replace("\\134", "\\"))
    });
    points.into_iter().find(|point| point.starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_it_goes_and_links_are_not_followed() {
        let top = tempfile::tempdir().expect("a directory");
        let kept = top.path().join("kept");
        fs::create_dir(&kept).expect("a directory");
        fs::write(kept.join("file"), "of the user").expect("a file");
        let scratch = Scratch::create(top.path()).expect("a scratch directory");
        let path = scratch.path().to_owned();
        fs::create_dir(path.join("inner")).expect("a directory");
        fs::write(path.join("inner/file"), "ours").expect("a file");
        std::os::unix::fs::symlink(&kept, path.join("link")).expect("a link");
        assert!(Scratch::left_at(&path).is_some());
        assert!(Scratch::left_at(&kept).is_none());
        scratch.remove().expect("removed");
        assert!(!path.exists());
        assert_eq!(fs::read(kept.join("file")).expect("a file"), b"of the user");
    }

    #[test]
    fn mounts_are_found_below_a_path_only() {
        assert!(mounted_below(Path::new("/")).is_some());
        assert_eq!(mounted_below(Path::new("/nonexistent-path")), None);
    }
}
