//! Is a block device in use? Asked of the kernel by device number, so that no path can mislead.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::target_error::TargetError;

/// A device number, as `/proc` and `/sys` write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DeviceNumber {
    major: u32,
    minor: u32,
}

impl DeviceNumber {
    fn of_node(raw: u64) -> Self {
        Self {
            major: rustix::fs::major(raw),
            minor: rustix::fs::minor(raw),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }
}

/// A disk or partition that shares bytes with the device that was named.
#[derive(Debug)]
struct Member {
    number: DeviceNumber,
    name: String,
    directory: PathBuf,
}

/// A block device and everything that shares bytes with it.
#[derive(Debug)]
pub(crate) struct Device {
    path: PathBuf,
    members: Vec<Member>,
}

impl Device {
    /// The device behind an open descriptor whose metadata are `metadata`.
    pub(crate) fn of(metadata: &Metadata, path: &Path) -> Result<Self, TargetError> {
        let number = DeviceNumber::of_node(metadata.rdev());
        let link = format!("/sys/dev/block/{}:{}", number.major, number.minor);
        let directory =
            fs::canonicalize(&link).map_err(|error| TargetError::io("look up", &link, error))?;
        let mut members = vec![member(&directory, number)];
        if directory.join("partition").exists() {
            // Writing to a partition changes the disk that it lies on, not its neighbours.
            members.extend(directory.parent().and_then(member_in));
        } else {
            let children = fs::read_dir(&directory)
                .map_err(|error| TargetError::io("list the partitions of", &directory, error))?;
            let children = children.filter_map(Result::ok).map(|entry| entry.path());
            let partitions = children.filter(|child| child.join("partition").exists());
            members.extend(partitions.filter_map(|child| member_in(&child)));
        }
        Ok(Self {
            path: path.to_path_buf(),
            members,
        })
    }

    /// The kernel's name, such as `sda`.
    pub(crate) fn name(&self) -> &str {
        &self.members[0].name
    }

    /// Refuse a device that is mounted, swapped to, or part of another device.
    pub(crate) fn refuse_if_used(&self) -> Result<(), TargetError> {
        self.refuse_if_held()?;
        self.refuse_if_mounted()?;
        self.refuse_if_swap()
    }

    fn refuse_if_held(&self) -> Result<(), TargetError> {
        for member in &self.members {
            let holders = names_in(&member.directory.join("holders"));
            if !holders.is_empty() {
                return Err(TargetError::Held {
                    device: self.path.display().to_string(),
                    member: member.name.clone(),
                    holders: holders.join(", "),
                });
            }
        }
        Ok(())
    }

    fn refuse_if_mounted(&self) -> Result<(), TargetError> {
        let table = read("/proc/self/mountinfo")?;
        for mount in table.lines().filter_map(Mount::parse) {
            // A file system on several devices has a number of its own; its source is then a node.
            let source = fs::metadata(&mount.source)
                .ok()
                .filter(|node| node.file_type().is_block_device());
            let source = source.map(|node| DeviceNumber::of_node(node.rdev()));
            let hit = self
                .members
                .iter()
                .find(|member| member.number == mount.number || Some(member.number) == source);
            if let Some(member) = hit {
                return Err(self.mounted(member, mount.point));
            }
        }
        self.refuse_if_in_btrfs()
    }

    /// A mounted Btrfs names only one of its devices as the source; the rest are listed here.
    fn refuse_if_in_btrfs(&self) -> Result<(), TargetError> {
        for id in names_in(Path::new("/sys/fs/btrfs")) {
            let devices = names_in(&Path::new("/sys/fs/btrfs").join(&id).join("devices"));
            let hit = self
                .members
                .iter()
                .find(|member| devices.contains(&member.name));
            if let Some(member) = hit {
                return Err(self.mounted(member, PathBuf::from(format!("Btrfs {id}"))));
            }
        }
        Ok(())
    }

    fn refuse_if_swap(&self) -> Result<(), TargetError> {
        for path in swap_paths()? {
            let Ok(node) = fs::metadata(&path) else {
                continue;
            };
            let number = node.file_type().is_block_device().then(|| node.rdev());
            let number = number.map(DeviceNumber::of_node);
            if let Some(member) = self.members.iter().find(|one| Some(one.number) == number) {
                let device = self.path.display().to_string();
                return Err(TargetError::Swap {
                    device,
                    member: member.name.clone(),
                });
            }
        }
        Ok(())
    }

    fn mounted(&self, member: &Member, mount_point: PathBuf) -> TargetError {
        TargetError::Mounted {
            device: self.path.display().to_string(),
            member: member.name.clone(),
            mount_point,
        }
    }
}

/// Refuse a regular file that the system uses as swap space or as a disk.
pub fn refuse_if_file_used(metadata: &Metadata, path: &Path) -> Result<(), TargetError> {
    let is_same = |other: &Path| {
        fs::metadata(other)
            .is_ok_and(|node| (node.dev(), node.ino()) == (metadata.dev(), metadata.ino()))
    };
    let device = path.display().to_string();
    if swap_paths()?.iter().any(|swap| is_same(swap)) {
        return Err(TargetError::Swap {
            member: device.clone(),
            device,
        });
    }
    for name in names_in(Path::new("/sys/block")) {
        let backing = Path::new("/sys/block")
            .join(&name)
            .join("loop/backing_file");
        let Ok(backing) = fs::read_to_string(backing) else {
            continue;
        };
        if is_same(Path::new(backing.trim_end_matches('\n'))) {
            return Err(TargetError::Held {
                member: device.clone(),
                device,
                holders: name,
            });
        }
    }
    Ok(())
}

/// One line of `/proc/self/mountinfo`.
struct Mount {
    number: DeviceNumber,
    point: PathBuf,
    source: PathBuf,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (fixed, rest) = line.split_once(" - ")?;
        let mut fields = fixed.split(' ').skip(2);
        let number = DeviceNumber::parse(fields.next()?)?;
        let point = PathBuf::from(unescape(fields.nth(1)?));
        let source = PathBuf::from(unescape(rest.split(' ').nth(1)?));
        Some(Self {
            number,
            point,
            source,
        })
    }
}

fn member(directory: &Path, number: DeviceNumber) -> Member {
    let name = directory
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Member {
        number,
        name,
        directory: directory.to_path_buf(),
    }
}

fn member_in(directory: &Path) -> Option<Member> {
    let number = fs::read_to_string(directory.join("dev")).ok()?;
    Some(member(directory, DeviceNumber::parse(&number)?))
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn swap_paths() -> Result<Vec<PathBuf>, TargetError> {
    // A kernel without swap has no such file.
    if !Path::new("/proc/swaps").exists() {
        return Ok(Vec::new());
    }
    let table = read("/proc/swaps")?;
    let paths = table
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    Ok(paths.map(|path| PathBuf::from(unescape(path))).collect())
}

fn read(path: &str) -> Result<String, TargetError> {
    let bytes = fs::read(path).map_err(|error| TargetError::io("read", path, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The kernel writes blanks, tabs, newlines and backslashes in paths as three octal digits.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                plain.push(char::from(code));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_line_is_read() {
        let line = "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw";
        let mount = Mount::parse(line).unwrap();
        assert_eq!(
            mount.number,
            DeviceNumber {
                major: 98,
                minor: 0
            }
        );
        assert_eq!(mount.point, Path::new("/mnt 2"));
        assert_eq!(mount.source, Path::new("/dev/root"));
        assert!(Mount::parse("nonsense").is_none());
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape("a\\040b\\134c\\x"), "a b\\c\\x");
    }
}
