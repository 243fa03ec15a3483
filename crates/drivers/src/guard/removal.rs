//! Removing what is ours, and never what has come to stand under its name.
//!
//! Nobody can remove a file "if it is still the one that I looked at": between the look and the
//! removal the name may change its meaning. So a file is moved aside first, to a name that nobody
//! can know; what was moved is looked at; and only that is removed, or moved back. If we are killed
//! meanwhile, its content proves whose it is in a directory of ours; elsewhere it is marked before.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags, RenameFlags};
use rustix::io::Errno;

use super::beneath::{open_beneath, open_file};
use super::identity::FileLinks;
use super::kept::{is_marked, mark};
use super::new_file::UNPUBLISHED;
use super::seal::random;
use crate::work_directory::entries;

/// How a name begins that a file has while it is being removed; sixteen digits follow.
const ASIDE: &str = ".removing-";
/// The attribute of a file that may go.
const ATTRIBUTE: &str = "user.seekstone.removed";

/// What became of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// What it stood for is gone.
    Removed,
    /// It stood for nothing.
    Absent,
    /// It stands for something that is not ours, as before.
    Foreign,
}

/// Whether a file has the name of one that is being removed, or replaced.
pub(crate) fn is_aside(name: &str) -> bool {
    let digits = [ASIDE, UNPUBLISHED]
        .iter()
        .find_map(|it| name.strip_prefix(it));
    digits.is_some_and(|it| it.len() == 16 && it.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Mark a file that may go, for whoever finds it after we were killed. Where the file system keeps
/// no mark, it is the user's to remove.
pub(super) fn mark_removable(file: &File) {
    let _ = mark(file, ATTRIBUTE);
}

/// It stays after all.
pub(super) fn unmark(file: &File) {
    let _ = rustix::fs::fremovexattr(file, ATTRIBUTE);
}

/// Bytes that a file takes up which a removal, or a replacement, that was killed midway left in a
/// directory of the user's; `None` for any other file.
pub fn left_aside(directory: impl AsFd, name: &str) -> Option<u64> {
    is_aside(name).then_some(())?;
    let file = open_file(directory, name).ok().flatten()?;
    is_marked(&file, ATTRIBUTE).then(|| FileLinks::of(&file).map_or(0, |found| found.taken))
}

/// Remove such a file.
///
/// # Errors
/// When the system refuses.
pub fn remove_left_aside(directory: impl AsFd, name: impl AsRef<Path>) -> io::Result<Removal> {
    remove_proven(directory, name, |file, _| Ok(is_marked(file, ATTRIBUTE)))
}

/// Remove a file in a directory of the user's, once it is proved to be ours. It is marked before as
/// one that may go.
///
/// # Errors
/// When the system refuses, or the file cannot be judged.
pub fn remove_marked(
    directory: impl AsFd,
    name: impl AsRef<Path>,
    is_ours: impl FnOnce(&File, &FileLinks) -> io::Result<bool>,
) -> io::Result<Removal> {
    remove_proven(directory, name, |file, found| {
        let is_ours = is_ours(file, found)?;
        if is_ours {
            mark_removable(file);
        }
        Ok(is_ours)
    })
}

/// Remove the regular file `name` of `directory` if `is_ours`, asked with the open file and what is
/// known of it, says so.
///
/// # Errors
/// When the system refuses. The file has its name again then, or one that begins with `.removing-`
/// where that is refused, too.
pub(crate) fn remove_proven(
    directory: impl AsFd,
    name: impl AsRef<Path>,
    is_ours: impl FnOnce(&File, &FileLinks) -> io::Result<bool>,
) -> io::Result<Removal> {
    let (directory, name) = (directory.as_fd(), name.as_ref());
    let file = match open_file(directory, name) {
        Ok(Some(file)) => file,
        Ok(None) | Err(Errno::LOOP | Errno::XDEV) => return Ok(Removal::Foreign),
        Err(Errno::NOENT) => return Ok(Removal::Absent),
        Err(error) => return Err(error.into()),
    };
    let found = FileLinks::of(&file)?;
    if found.links != 1 || !is_ours(&file, &found)? {
        return Ok(Removal::Foreign);
    }
    let aside = format!("{ASIDE}{:016x}", random()?);
    match move_without_replacing((directory, name), (directory, &aside)) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(Removal::Absent),
        // Something is mounted on it.
        Err(Errno::BUSY) => return Ok(Removal::Foreign),
        Err(error) => return Err(error.into()),
    }
    let moved = FileLinks::named(directory, &aside)?;
    if moved.identity.is_same_file(&found.identity) && moved.links == 1 {
        // Network file systems and FUSE keep an open file that is removed, under a name of theirs.
        drop(file);
        let removed = rustix::fs::unlinkat(directory, aside.as_str(), AtFlags::empty());
        return match removed {
            // Whoever cleans up may have been faster.
            Ok(()) | Err(Errno::NOENT) => Ok(Removal::Removed),
            Err(error) => {
                let _ = move_without_replacing((directory, &aside), (directory, name));
                Err(error.into())
            }
        };
    }
    // Somebody was faster. What is his gets its name back, unless that is taken again.
    move_without_replacing((directory, &aside), (directory, name))?;
    Ok(Removal::Foreign)
}

/// Give a file of a directory a name there or in another; a file that has the new name stays.
///
/// # Errors
/// `EEXIST` when there is one, and whatever else the system refuses.
pub(crate) fn move_without_replacing(
    (directory, from): (impl AsFd, impl AsRef<Path>),
    (other, to): (impl AsFd, impl AsRef<Path>),
) -> Result<(), Errno> {
    let (directory, from) = (directory.as_fd(), from.as_ref());
    let (other, to) = (other.as_fd(), to.as_ref());
    match rustix::fs::renameat_with(directory, from, other, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        done => return done,
    }
    // Not every file system can refuse to replace; a link never does.
    match rustix::fs::linkat(directory, from, other, to, AtFlags::empty()) {
        Ok(()) => return rustix::fs::unlinkat(directory, from, AtFlags::empty()),
        Err(Errno::EXIST) => return Err(Errno::EXIST),
        Err(_) => {}
    }
    // Nor has every file system links.
    match rustix::fs::statat(other, to, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => rustix::fs::renameat(directory, from, other, to),
        Ok(_) => Err(Errno::EXIST),
        Err(error) => Err(error),
    }
}

/// Remove everything in `directory` but `kept`, of whatever kind and by whomever, without leaving
/// the file system or following a link: for directories into which a user's own commands write.
///
/// # Errors
/// `EXDEV` at a mount: what lies before it in the order of names is gone then, so look first, with
/// [`first_mount`].
pub fn remove_content(directory: impl AsFd, kept: Option<&str>) -> Result<(), Errno> {
    let directory = directory.as_fd();
    for (name, kind) in entries(directory)? {
        if Some(name.as_str()) == kept {
            continue;
        }
        let mut flags = AtFlags::empty();
        if kind == FileType::Directory {
            let inner = open_beneath(directory, &name, OFlags::RDONLY | OFlags::DIRECTORY)?;
            remove_content(&inner, None)?;
            flags = AtFlags::REMOVEDIR;
        }
        rustix::fs::unlinkat(directory, name.as_str(), flags)?;
    }
    Ok(())
}

/// The first thing below `directory`, as a path from there, on which something is mounted.
///
/// # Errors
/// When a directory cannot be read.
pub fn first_mount(directory: impl AsFd) -> Result<Option<String>, Errno> {
    let directory = directory.as_fd();
    for (name, kind) in entries(directory)? {
        let seen = match open_beneath(directory, &name, OFlags::PATH) {
            // A link is one of the things that may lie there.
            Ok(_) | Err(Errno::LOOP) => None,
            Err(Errno::XDEV) => Some(String::new()),
            Err(error) => return Err(error),
        };
        let below = match (seen, kind) {
            (Some(here), _) => Some(here),
            (None, FileType::Directory) => {
                let inner = open_beneath(directory, &name, OFlags::RDONLY | OFlags::DIRECTORY)?;
                first_mount(&inner)?.map(|path| format!("/{path}"))
            }
            (None, _) => None,
        };
        if let Some(path) = below {
            return Ok(Some(format!("{name}{path}")));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).expect("a directory").flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn only_what_is_proved_goes() {
        let top = tempfile::tempdir().expect("a directory");
        let path = |name: &str| top.path().join(name);
        let directory = File::open(top.path()).expect("a directory");
        let remove = |name: &str| {
            let proof = |_: &File, found: &FileLinks| Ok(found.size == 4);
            remove_proven(&directory, name, proof).expect("looked at")
        };
        fs::write(path("ours"), "ours").expect("a file");
        fs::write(path("precious"), "of the user").expect("a file");
        fs::write(path("twice"), "ours").expect("a file");
        fs::hard_link(path("twice"), path("twice too")).expect("a name");
        fs::create_dir(path("directory")).expect("a directory");
        std::os::unix::fs::symlink(path("ours"), path("link")).expect("a link");
        assert_eq!(remove("ours"), Removal::Removed);
        assert_eq!(remove("ours"), Removal::Absent);
        for name in ["precious", "twice", "directory", "link"] {
            assert_eq!(remove(name), Removal::Foreign, "{name}");
        }
        let left = ["directory", "link", "precious", "twice", "twice too"];
        assert_eq!(names(top.path()), left);
    }

    /// The name changes its meaning after the file was looked at: what came is moved back.
    #[test]
    fn a_file_that_comes_between_look_and_removal_stays() {
        let top = tempfile::tempdir().expect("a directory");
        let path = |name: &str| top.path().join(name);
        fs::write(path("name"), "ours").expect("a file");
        fs::write(path("precious"), "of the user").expect("a file");
        let directory = File::open(top.path()).expect("a directory");
        let swapped = remove_proven(&directory, "name", |_, _| {
            fs::rename(path("precious"), path("name")).expect("renamed");
            Ok(true)
        });
        assert_eq!(swapped.expect("looked at"), Removal::Foreign);
        assert_eq!(fs::read(path("name")).expect("a file"), b"of the user");
        assert_eq!(names(top.path()), ["name"]);
    }

    /// A program that was killed between the two steps of a removal left a file that nobody knew.
    #[test]
    fn what_was_being_removed_is_known_by_its_mark() {
        let top = tempfile::tempdir().expect("a directory");
        let directory = File::open(top.path()).expect("a directory");
        let path = |name: &str| top.path().join(name);
        let aside = format!("{ASIDE}0123456789abcdef");
        let is_left = || left_aside(&directory, &aside).is_some();
        fs::write(path("name"), "of the user").expect("a file");
        fs::rename(path("name"), path(&aside)).expect("renamed");
        assert!(!is_left(), "its name is no proof");
        mark_removable(&File::open(path(&aside)).expect("a file"));
        assert!(is_left() && left_aside(&directory, "name").is_none());
        fs::hard_link(path(&aside), path("name")).expect("a name");
        assert!(!is_left(), "it has another name");
        fs::remove_file(path("name")).expect("removed");
        let left = remove_left_aside(&directory, &aside).expect("looked at");
        assert_eq!(left, Removal::Removed);
        assert!(names(top.path()).is_empty());
    }

    #[test]
    fn everything_goes_but_what_links_lead_to() {
        let top = tempfile::tempdir().expect("a directory");
        let path = |name: &str| top.path().join(name);
        fs::create_dir_all(path("scratch/a/b/c")).expect("directories");
        fs::create_dir(path("kept")).expect("a directory");
        fs::write(path("kept/precious"), "of the user").expect("a file");
        fs::write(path("scratch/a/b/file"), "x").expect("a file");
        fs::write(path("scratch/record"), "x").expect("a file");
        std::os::unix::fs::symlink(path("kept"), path("scratch/a/link")).expect("a link");
        let scratch = File::open(path("scratch")).expect("a directory");
        assert_eq!(first_mount(&scratch), Ok(None));
        remove_content(&scratch, Some("record")).expect("removed");
        assert_eq!(names(&path("scratch")), ["record"]);
        assert_eq!(names(&path("kept")), ["precious"]);
    }
}
