//! Where the kernel's text files are read from.
//!
//! The two roots are values, so that tests can put small made-up trees in their place. A file
//! that is absent or unreadable is `None`: no fact is worth failing an inspection for.

use std::fs;
use std::path::{Path, PathBuf};

/// The roots of `/proc` and `/sys`.
#[derive(Clone, Debug)]
pub struct SystemRoots {
    /// Root of the proc file system.
    pub proc: PathBuf,
    /// Root of the sys file system.
    pub sys: PathBuf,
}

impl Default for SystemRoots {
    fn default() -> Self {
        SystemRoots {
            proc: PathBuf::from("/proc"),
            sys: PathBuf::from("/sys"),
        }
    }
}

impl SystemRoots {
    /// Text of a file below `/proc`, without surrounding blanks.
    pub fn proc_text(&self, path: &str) -> Option<String> {
        text(&self.proc.join(path))
    }

    /// Text of a file below `/sys`, without surrounding blanks.
    pub fn sys_text(&self, path: &str) -> Option<String> {
        text(&self.sys.join(path))
    }

    /// Our tree's name for an absolute path of the running system, when it is below `/sys`.
    pub fn place(&self, path: &Path) -> PathBuf {
        path.strip_prefix("/sys")
            .map_or_else(|_| path.to_path_buf(), |rest| self.sys.join(rest))
    }

    /// A line `NAME: value kB` of `/proc/meminfo`, in bytes.
    pub fn memory_bytes(&self, name: &str) -> Option<u64> {
        let text = self.proc_text("meminfo")?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace()
            .next()?
            .parse::<u64>()
            .ok()?
            .checked_mul(1024)
    }
}

/// Text of a file without surrounding blanks; `None` when it cannot be read or is empty.
pub fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// A file that holds one whole number.
pub fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// A file that holds `0` or something else.
pub fn flag(path: &Path) -> Option<bool> {
    number(path).map(|value| value != 0)
}

/// Names in a directory in sorted order; none when it cannot be read.
pub fn names(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
