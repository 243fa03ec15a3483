//! Directories below a work directory: their names, and their removal with what is in them.
//!
//! Below a work directory nobody but a run of this program makes anything, but that is looked at,
//! not taken for granted: whatever else is found there stays, and its directories with it.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;

use crate::work_directory::{DIRECTORY_FLAGS, DirectoryFacts, entries};

/// How deep directories may lie; what is deeper was not made by this program.
const DEPTH_MAX: usize = 64;

/// The name of directory `number`.
pub(crate) fn tree_directory_name(number: u32) -> String {
    format!("t{number:08}")
}

pub(crate) fn is_tree_directory(name: &str) -> bool {
    name.strip_prefix('t')
        .is_some_and(|digits| digits.len() >= 8 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a file of a tree has this name: a small letter and a number, as scripts name them.
fn is_tree_file(name: &str) -> bool {
    let mut bytes = name.bytes();
    let series = bytes.next();
    series.is_some_and(|letter| letter.is_ascii_lowercase())
        && bytes.len() >= 4
        && bytes.all(|b| b.is_ascii_digit())
}

/// What a tree holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeContent {
    /// Bytes that its files take up.
    pub bytes: u64,
    /// How many files there are.
    pub files: u64,
    /// The first thing in it that no run of this program makes.
    pub strange: Option<String>,
}

/// Look at the tree below `name` in `parent`.
///
/// # Errors
/// When a directory of it cannot be read.
pub(crate) fn examine_tree(parent: impl AsFd, name: &str) -> Result<TreeContent, Errno> {
    let mut content = TreeContent::default();
    let mut path = vec![open(parent, name)?];
    visit(&mut path, &mut |directory, name, kind| {
        let mut is_made_here = true;
        if kind == FileType::RegularFile {
            let found = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            content.bytes += u64::try_from(found.st_blocks).unwrap_or(0) * 512;
            content.files += 1;
            is_made_here = DirectoryFacts::of(directory)?.is_made_here(&found);
        }
        if !(is_made_here && is_ours(name, kind)) && content.strange.is_none() {
            content.strange = Some(name.to_owned());
        }
        Ok(())
    })?;
    Ok(content)
}

/// Remove the tree below `name` in `parent`. It was looked at before: what has come since then
/// and is not ours makes this fail.
///
/// # Errors
/// When the system refuses.
pub(crate) fn remove_tree(parent: impl AsFd, name: &str) -> Result<(), Errno> {
    let directory = open(&parent, name)?;
    let mut path = vec![directory];
    visit(&mut path, &mut |directory, name, kind| match kind {
        FileType::RegularFile if is_tree_file(name) => {
            rustix::fs::unlinkat(directory, name, AtFlags::empty())
        }
        FileType::Directory => rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR),
        _ => Err(Errno::NOTEMPTY),
    })?;
    rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)
}

fn open(parent: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(parent, name, DIRECTORY_FLAGS, Mode::empty())
}

fn is_ours(name: &str, kind: FileType) -> bool {
    match kind {
        FileType::RegularFile => is_tree_file(name),
        FileType::Directory => is_tree_directory(name),
        _ => false,
    }
}

type Visitor<'a> = &'a mut dyn FnMut(&OwnedFd, &str, FileType) -> Result<(), Errno>;

/// Visit everything below the last directory of `path`, what is in a directory before it.
fn visit(path: &mut Vec<OwnedFd>, with: Visitor<'_>) -> Result<(), Errno> {
    let here = path.last().expect("the tree's own directory");
    let found = entries(here)?;
    for (name, kind) in found {
        if kind == FileType::Directory && is_tree_directory(&name) && path.len() < DEPTH_MAX {
            let inner = open(path.last().expect("as above"), &name)?;
            path.push(inner);
            visit(path, with)?;
            path.pop();
        }
        with(path.last().expect("as above"), &name, kind)?;
    }
    Ok(())
}
