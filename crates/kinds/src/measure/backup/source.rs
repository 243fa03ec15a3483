//! What is saved: the entries of a tree, or one image.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use backup_stream::{BackupEntry, EntryKind, NAME_BYTES_MAX};
use drivers::DIRECTORY_PREFIX;
use rustix::fs::{Mode, OFlags};

use crate::measure::Stop;
use crate::measure::place::{MeasureError, Result, go_on};

/// The most entries of a tree.
const ITEMS_MAX: usize = 10_000_000;

/// One thing that is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupItem {
    /// As it is in the stream.
    pub entry: BackupEntry,
    pub path: PathBuf,
}

impl BackupItem {
    /// A file of our own.
    pub fn made(name: String, path: PathBuf, size: u64) -> Self {
        let entry = BackupEntry {
            kind: EntryKind::File,
            mode: 0o600,
            size,
            name: name.into_bytes(),
        };
        Self { entry, path }
    }

    /// Whether bytes of a file or device follow its entry.
    pub fn has_bytes(&self) -> bool {
        matches!(self.entry.kind, EntryKind::File | EntryKind::Image)
    }

    /// Open it for reading. Neither a link nor a pipe that took its place may lead or hold us.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn open(&self) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.path, flags, Mode::empty());
        opened
            .map(File::from)
            .map_err(|error| MeasureError::io("open", &self.path)(error.into()))
    }

    /// What a link points to.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn link(&self) -> Result<Vec<u8>> {
        let target = fs::read_link(&self.path).map_err(MeasureError::io("read", &self.path))?;
        Ok(target.into_os_string().into_vec())
    }
}

/// What `source` consists of: a directory with all that is in it, in the order of names, without
/// following links or leaving its file system; or a file or block device as an image. Pipes,
/// sockets and devices in a tree are left out, and so are work directories of this program.
///
/// # Errors
/// When it cannot be read, or is neither.
pub fn find_items(source: &Path, stop: &Stop) -> Result<Vec<BackupItem>> {
    let path = fs::canonicalize(source).map_err(MeasureError::io("look at", source))?;
    let found = path
        .metadata()
        .map_err(MeasureError::io("look at", &path))?;
    if found.is_dir() {
        return tree(&path, found.dev(), stop);
    }
    if !found.is_file() && !found.file_type().is_block_device() {
        return Err(MeasureError::Usage(format!(
            "source = {:?}: name a directory, a file, or a block device",
            source.display().to_string()
        )));
    }
    let mut file = File::open(&path).map_err(MeasureError::io("open", &path))?;
    let size = file
        .seek(SeekFrom::End(0))
        .map_err(MeasureError::io("measure", &path))?;
    let name = path.file_name().unwrap_or_default().as_bytes().to_vec();
    let entry = BackupEntry {
        kind: EntryKind::Image,
        mode: found.mode() & 0o7777,
        size,
        name,
    };
    Ok(vec![BackupItem { entry, path }])
}

fn tree(top: &Path, device: u64, stop: &Stop) -> Result<Vec<BackupItem>> {
    let mut items = Vec::new();
    let mut waiting = vec![top.to_owned()];
    while let Some(directory) = waiting.pop() {
        go_on(stop)?;
        let refused = || MeasureError::io("list", &directory);
        let mut names = Vec::new();
        for entry in fs::read_dir(&directory).map_err(refused())? {
            names.push(entry.map_err(refused())?.file_name());
        }
        names.sort_unstable();
        let mut deeper = Vec::new();
        for name in names {
            let path = directory.join(&name);
            let found = path
                .symlink_metadata()
                .map_err(MeasureError::io("look at", &path))?;
            let is_ours = name.to_string_lossy().starts_with(DIRECTORY_PREFIX);
            if found.dev() != device || is_ours {
                continue;
            }
            let Some(entry) = entry_of(top, &path, &found)? else {
                continue;
            };
            if entry.kind == EntryKind::Directory {
                deeper.push(path.clone());
            }
            items.push(BackupItem { entry, path });
            if items.len() > ITEMS_MAX {
                return Err(MeasureError::Usage(format!(
                    "{} holds more than {ITEMS_MAX} files and directories. Name a smaller tree",
                    top.display()
                )));
            }
        }
        waiting.extend(deeper.into_iter().rev());
    }
    Ok(items)
}

fn entry_of(top: &Path, path: &Path, found: &fs::Metadata) -> Result<Option<BackupEntry>> {
    let kind = found.file_type();
    let (kind, size) = if kind.is_file() {
        (EntryKind::File, found.len())
    } else if kind.is_dir() {
        (EntryKind::Directory, 0)
    } else if kind.is_symlink() {
        (EntryKind::Link, found.len())
    } else {
        return Ok(None);
    };
    let name = path
        .strip_prefix(top)
        .unwrap_or(path)
        .as_os_str()
        .as_bytes()
        .to_vec();
    if name.len() > NAME_BYTES_MAX {
        return Err(MeasureError::Usage(format!(
            "{} has a path of {} bytes, and at most {NAME_BYTES_MAX} can be saved",
            path.display(),
            name.len()
        )));
    }
    let mode = found.mode() & 0o7777;
    Ok(Some(BackupEntry {
        kind,
        mode,
        size,
        name,
    }))
}
