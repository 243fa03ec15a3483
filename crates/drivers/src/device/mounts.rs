//! What is mounted: here, and in the mount namespaces of other processes as far as they tell.
//!
//! A namespace that no process is in, and a mount that was taken out of the tree while in use, are
//! not seen. A device that is mounted so is refused by its exclusive opening.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::block_layer::{DeviceNumber, StorageIdentity};
use super::unescape;
use crate::target_error::TargetError;

/// More tables than that are not read. As they differ, each is a namespace.
const TABLES_MAX: usize = 4096;

/// One line of `mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MountInfoLine {
    /// Of the file system; one on several devices has a number of its own.
    pub number: DeviceNumber,
    /// The directory of the file system that is mounted.
    pub root: PathBuf,
    pub point: PathBuf,
    pub kind: String,
    pub source: PathBuf,
    pub options: String,
    /// A process that sees it, unless we do.
    pub process: Option<u32>,
}

impl MountInfoLine {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (fixed, rest) = line.split_once(" - ")?;
        let mut fields = fixed.split(' ').skip(2);
        let number = DeviceNumber::parse(fields.next()?)?;
        let root = PathBuf::from(unescape(fields.next()?));
        let point = PathBuf::from(unescape(fields.next()?));
        let mut rest = rest.split(' ');
        let kind = rest.next()?.to_owned();
        let source = PathBuf::from(unescape(rest.next()?));
        let options = unescape(rest.next().unwrap_or_default());
        Some(Self {
            number,
            root,
            point,
            kind,
            source,
            options,
            process: None,
        })
    }

    /// Whether it shows what `storage` holds.
    pub(super) fn is_of(&self, storage: StorageIdentity, proc: &Path) -> bool {
        storage == StorageIdentity::Device(self.number) || self.sources(proc).contains(&storage)
    }

    /// The nodes or image files that are named as its source, as its own namespace sees them.
    fn sources(&self, proc: &Path) -> Vec<StorageIdentity> {
        let source = self.source.to_string_lossy();
        // bcachefs names all of its devices.
        let paths = source.split(':').filter(|path| path.starts_with("/dev/"));
        let whole = Some(&*source).filter(|path| path.starts_with('/'));
        let storages = paths.chain(whole).filter_map(|path| {
            StorageIdentity::at(&match self.process {
                None => PathBuf::from(path),
                Some(process) => {
                    let root = proc.join(process.to_string()).join("root");
                    root.join(path.trim_start_matches('/'))
                }
            })
        });
        storages.collect()
    }

    /// The place as a message names it.
    pub(super) fn place(&self) -> String {
        let point = self.point.display();
        match self.process {
            None => point.to_string(),
            Some(process) => format!("{point} as process {process} sees it"),
        }
    }
}

/// Every mount, our own first.
///
/// # Errors
/// When our own table cannot be read, or there are too many others.
pub(super) fn all_mounts(proc: &Path) -> Result<Vec<MountInfoLine>, TargetError> {
    let own = own_table(proc)?;
    let mut mounts = parsed(&own);
    let mut tables = HashSet::from([own]);
    let mut namespaces: HashSet<_> = fs::read_link(proc.join("self/ns/mnt"))
        .into_iter()
        .collect();
    let in_context = |error| TargetError::io("list the processes in", proc, error);
    for entry in fs::read_dir(proc).map_err(in_context)? {
        let name = entry.map_err(in_context)?.file_name();
        let Some(process) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let directory = proc.join(&name);
        // Who may not be asked for the namespace may still be asked for the table.
        if fs::read_link(directory.join("ns/mnt")).is_ok_and(|it| !namespaces.insert(it)) {
            continue;
        }
        // A process may end while we look, and has then no table.
        let Ok(table) = fs::read(directory.join("mountinfo")) else {
            continue;
        };
        if tables.contains(&table) {
            continue;
        }
        if tables.len() == TABLES_MAX {
            let source = std::io::Error::other(format!("there are more than {TABLES_MAX}"));
            return Err(TargetError::io(
                "read every table of mounts in",
                proc,
                source,
            ));
        }
        let found = parsed(&table).into_iter().map(|mount| MountInfoLine {
            process: Some(process),
            ..mount
        });
        mounts.extend(found);
        tables.insert(table);
    }
    Ok(mounts)
}

/// What is mounted in our own namespace.
pub(super) fn own_mounts(proc: &Path) -> Result<Vec<MountInfoLine>, TargetError> {
    Ok(parsed(&own_table(proc)?))
}

fn own_table(proc: &Path) -> Result<Vec<u8>, TargetError> {
    let path = proc.join("self/mountinfo");
    fs::read(&path).map_err(|error| TargetError::io("read", &path, error))
}

// fuzzed: kernel_tables
fn parsed(table: &[u8]) -> Vec<MountInfoLine> {
    let text = String::from_utf8_lossy(table);
    text.lines().filter_map(MountInfoLine::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_line_is_read() {
        let line = "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw,errors=x";
        let mount = MountInfoLine::parse(line).unwrap();
        let number = DeviceNumber {
            major: 98,
            minor: 0,
        };
        assert_eq!(mount.number, number);
        assert_eq!(mount.root, Path::new("/mnt1"));
        assert_eq!(mount.point, Path::new("/mnt 2"));
        assert_eq!(mount.kind, "ext3");
        assert_eq!(mount.source, Path::new("/dev/root"));
        assert_eq!(mount.options, "rw,errors=x");
        assert!(MountInfoLine::parse("nonsense").is_none());
    }
}
