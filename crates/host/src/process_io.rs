//! Which processes moved bytes to and from storage: two readings of `/proc/PID/io` of all
//! processes.
//!
//! Processes that start and end between two readings are missed. Without root, only those of the
//! same user are visible.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of processes named in an event.
const NAMED_MAX: usize = 3;
/// Processes with less than this part of the first one's bytes are not named.
const NAMED_PART: u64 = 10;
/// Minimum number of bytes for a process to be named.
const NAMED_BYTES_MIN: u64 = 1 << 20;

/// A process with the bytes that it moved to and from storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessBytes {
    pub pid: u32,
    /// Name as the kernel keeps it, 15 bytes.
    pub name: String,
    pub read: u64,
    pub written: u64,
}

/// Bytes read and written by each process since it started.
#[derive(Clone, Debug, Default)]
pub struct ProcessLook {
    bytes: BTreeMap<u32, (u64, u64)>,
    proc: PathBuf,
    /// Number of inaccessible processes.
    pub closed: u32,
}

impl ProcessLook {
    /// Reads all processes except this one.
    pub fn take() -> Self {
        Self::of(Path::new("/proc"), std::process::id())
    }

    fn of(proc: &Path, own: u32) -> Self {
        let mut look = Self {
            proc: proc.to_owned(),
            ..Self::default()
        };
        let entries = fs::read_dir(proc).into_iter().flatten().flatten();
        let pids = entries.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
        for pid in pids.filter(|pid| *pid != own) {
            match fs::read_to_string(proc.join(format!("{pid}/io"))) {
                Ok(text) => {
                    let moved = (field(&text, "read_bytes"), field(&text, "write_bytes"));
                    look.bytes.insert(pid, moved);
                }
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    look.closed += 1;
                }
                Err(_) => {}
            }
        }
        look
    }

    /// Processes by bytes moved since an `earlier` reading, most first.
    pub fn since(&self, earlier: &Self) -> Vec<ProcessBytes> {
        let moved = |(&pid, &(read, written)): (&u32, &(u64, u64))| {
            let known = earlier.bytes.get(&pid).copied().unwrap_or_default();
            // A reused process id has smaller counts.
            let (read_before, written_before) = match known.0 > read || known.1 > written {
                true => (0, 0),
                false => known,
            };
            (pid, read - read_before, written - written_before)
        };
        let mut moved: Vec<(u32, u64, u64)> = self.bytes.iter().map(moved).collect();
        let sum = |it: &(u32, u64, u64)| it.1.saturating_add(it.2);
        moved.sort_by_key(|it| std::cmp::Reverse(sum(it)));
        let least = moved.first().map_or(0, |it| sum(it) / NAMED_PART);
        let named = moved.into_iter().take(NAMED_MAX);
        let named = named.filter(|it| sum(it) >= least.max(NAMED_BYTES_MIN));
        let share = |(pid, read, written)| ProcessBytes {
            pid,
            name: self.name(pid),
            read,
            written,
        };
        named.map(share).collect()
    }

    /// The program's name, as the kernel keeps it: 15 bytes.
    fn name(&self, pid: u32) -> String {
        let name = fs::read(self.proc.join(format!("{pid}/comm"))).unwrap_or_default();
        String::from_utf8_lossy(&name).trim_end().to_owned()
    }
}

fn field(text: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter_map(|line| line.split_once(": "));
    let found = lines.find(|(key, _)| *key == name);
    found.and_then(|(_, n)| n.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_moved_most_are_named_first() {
        let top = tempfile::tempdir().expect("a directory");
        let put = |pid: u32, name: &str, read: u64, written: u64| {
            let own = top.path().join(pid.to_string());
            fs::create_dir_all(&own).expect("a directory");
            let text = format!("rchar: 1\nread_bytes: {read}\nwrite_bytes: {written}\n");
            fs::write(own.join("io"), text).expect("a file");
            fs::write(own.join("comm"), format!("{name}\n")).expect("a file");
        };
        put(1, "init", 5 << 20, 0);
        put(70, "small", 0, 0);
        put(80, "reused", 900 << 20, 0);
        put(99, "itself", 0, 0);
        let before = ProcessLook::of(top.path(), 99);
        put(70, "small", 4096, 0);
        put(80, "again", 3 << 20, 1 << 20);
        put(99, "itself", 900 << 20, 0);
        put(4711, "pg_dump", 20 << 20, 7);
        let after = ProcessLook::of(top.path(), 99);
        let found: Vec<_> = after
            .since(&before)
            .into_iter()
            .map(|it| (it.pid, it.name, it.read, it.written))
            .collect();
        let expected = [
            (4711, "pg_dump".to_owned(), 20 << 20, 7),
            (80, "again".to_owned(), 3 << 20, 1 << 20),
        ];
        assert_eq!(found, expected);
    }
}
