//! Where a name leads: through links, to a directory and a name in it, or to a descriptor that
//! whoever started us has opened.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// As many links as the kernel follows.
const LINKS_MAX: u32 = 40;
/// The bits of open flags that say whether writing is allowed, and that it is only reading.
const ACCESS_MODE: u32 = 0o3;

/// What a name stands for.
#[derive(Debug, PartialEq, Eq)]
pub enum OutputLocation {
    /// An entry of a directory, which is there or not, and is no link.
    Name {
        /// The directory, without links.
        directory: PathBuf,
        name: OsString,
    },
    /// An open descriptor of this process.
    Descriptor(u32),
}

/// Follow `path`.
///
/// # Errors
/// When its directory does not exist, links lead in a circle, or one was put there by a stranger.
pub fn place_of(path: &Path) -> io::Result<OutputLocation> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        return Err(ErrorKind::IsADirectory.into());
    }
    drivers::refuse_strangers_links(path)?;
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Some(name) = path.file_name().map(ToOwned::to_owned) else {
            return Err(ErrorKind::IsADirectory.into());
        };
        let directory = parent_of(&path).canonicalize()?;
        if let Some(number) = descriptor(&directory, &name) {
            return Ok(OutputLocation::Descriptor(number));
        }
        let entry = directory.join(&name);
        match entry.symlink_metadata() {
            Ok(found) if found.is_symlink() => path = directory.join(fs::read_link(&entry)?),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Ok(OutputLocation::Name { directory, name }),
        }
    }
    Err(ErrorKind::TooManyLinks.into())
}

fn parent_of(path: &Path) -> &Path {
    let parent = path.parent();
    parent
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// The number of a descriptor, if the directory lists those of this process or thread.
fn descriptor(directory: &Path, name: &OsString) -> Option<u32> {
    let own = Path::new("/proc").join(std::process::id().to_string());
    let is_own = directory.starts_with(own) && directory.ends_with("fd");
    name.to_str()?.parse().ok().filter(|_| is_own)
}

/// Whether a descriptor was opened for writing.
pub fn is_writable(number: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & ACCESS_MODE != 0)
}
