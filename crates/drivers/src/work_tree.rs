//! Directories below a work directory: their names, and their removal with what is in them.
//!
//! Below a work directory nobody but a run of this program makes anything, but that is looked at,
//! not taken for granted: whatever else is found there stays, and its directories with it. No mount
//! is entered.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use crate::guard::beneath::{open_beneath, open_file};
use crate::guard::identity::FileLinks;
use crate::guard::removal::{Removal, is_aside, remove_proven};
use crate::guard::seal::Maker;
use crate::work_directory::{DIRECTORY_FLAGS, entries};

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

/// Look at the tree below `name` in `parent`, which `maker` made.
///
/// # Errors
/// When a directory or file of it cannot be read.
pub(crate) fn examine_tree(
    parent: impl AsFd,
    name: &str,
    maker: &Maker,
) -> io::Result<TreeContent> {
    let mut content = TreeContent::default();
    let root = match open_beneath(parent, name, DIRECTORY_FLAGS) {
        Ok(root) => root,
        Err(Errno::XDEV) => {
            content.strange = Some("something that is mounted there".to_owned());
            return Ok(content);
        }
        Err(error) => return Err(error.into()),
    };
    examine_content(&root, DEPTH_MAX, maker, &mut content)?;
    Ok(content)
}

fn examine_content(
    directory: &File,
    depth: usize,
    maker: &Maker,
    content: &mut TreeContent,
) -> io::Result<()> {
    for (name, kind) in entries(directory)? {
        let is_made_here = match kind {
            FileType::RegularFile => {
                let found = FileLinks::named(directory, &name)?;
                content.bytes += found.taken;
                content.files += 1;
                (is_tree_file(&name) || is_aside(&name)) && maker.made_name(directory, &name)?
            }
            FileType::Directory if is_tree_directory(&name) && depth > 0 => {
                match open_beneath(directory, &name, DIRECTORY_FLAGS) {
                    Ok(inner) => {
                        examine_content(&inner, depth - 1, maker, content)?;
                        true
                    }
                    Err(Errno::XDEV) => false,
                    Err(error) => return Err(error.into()),
                }
            }
            _ => false,
        };
        if !is_made_here && content.strange.is_none() {
            content.strange = Some(name);
        }
    }
    Ok(())
}

/// Remove the tree below `name` in `parent`. It was looked at before: what has come since then
/// and is not ours makes this fail.
///
/// # Errors
/// When the system refuses.
pub(crate) fn remove_tree(parent: impl AsFd, name: &str, maker: &Maker) -> io::Result<()> {
    let root = open_beneath(&parent, name, DIRECTORY_FLAGS)?;
    remove_content(&root, DEPTH_MAX, maker)?;
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

fn remove_content(directory: &File, depth: usize, maker: &Maker) -> io::Result<()> {
    for (name, kind) in entries(directory)? {
        match kind {
            FileType::RegularFile if is_tree_file(&name) || is_aside(&name) => {
                let removed = remove_proven(directory, &name, |file, it| maker.made(file, it))?;
                if removed == Removal::Foreign {
                    return Err(Errno::NOTEMPTY.into());
                }
            }
            FileType::Directory if is_tree_directory(&name) && depth > 0 => {
                let inner = open_beneath(directory, &name, DIRECTORY_FLAGS)?;
                remove_content(&inner, depth - 1, maker)?;
                rustix::fs::unlinkat(directory, name.as_str(), AtFlags::REMOVEDIR)?;
            }
            _ => return Err(Errno::NOTEMPTY.into()),
        }
    }
    Ok(())
}

impl Maker {
    /// Whether the name stands for a file that this run made.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub(crate) fn made_name(&self, directory: impl AsFd, name: &str) -> io::Result<bool> {
        match open_file(directory, name) {
            Ok(Some(file)) => self.made(&file, &FileLinks::of(&file)?),
            Ok(None) | Err(Errno::LOOP | Errno::XDEV) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
