//! Reads the kernel's text files.
//!
//! The two roots are values, so that tests can use small fake trees. An absent or unreadable file
//! is `None`: no fact is worth failing an inspection.

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
    /// Text of a file below `/proc`, trimmed.
    pub fn proc_text(&self, path: &str) -> Option<String> {
        text(&self.proc.join(path))
    }

    /// Text of a file below `/sys`, trimmed.
    pub fn sys_text(&self, path: &str) -> Option<String> {
        text(&self.sys.join(path))
    }

    /// Maps an absolute path of the running system into this tree, if it is below `/sys`.
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

/// Trimmed text of a file; `None` if it is unreadable or empty.
pub fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// A file with one integer.
pub fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// A file with a flag: `0` or something else.
pub fn flag(path: &Path) -> Option<bool> {
    number(path).map(|value| value != 0)
}

/// Sorted names in a directory; empty if it is unreadable.
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
