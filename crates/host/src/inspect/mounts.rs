//! The mount table (`/proc/self/mountinfo`, see proc_pid_mountinfo(5)).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::facts::SystemRoots;

/// Two host paths with this many common components, the root included, are in the same place: as
/// `/var/lib/docker`.
const SHARED_PARTS_MIN: usize = 4;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub id: u64,
    /// Device number, as `major:minor`; anonymous for btrfs and network file systems.
    pub number: String,
    /// The mounted part of the file system; not `/` for a bind mount or a subvolume.
    pub root: PathBuf,
    pub point: PathBuf,
    pub options: Vec<String>,
    pub kind: String,
    pub source: String,
    pub super_options: Vec<String>,
}

impl Mount {
    /// Whether the mount or the file system has an option, by its name before `=`.
    pub fn has(&self, name: &str) -> bool {
        let named = |option: &String| option.split('=').next() == Some(name);
        self.options.iter().any(named) || self.super_options.iter().any(named)
    }

    /// Value of a file system option, after `=`.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.super_options
            .iter()
            .find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    /// Whether the mount or the file system is read-only.
    pub fn is_read_only(&self) -> bool {
        [&self.options, &self.super_options]
            .iter()
            .any(|list| list.iter().any(|o| o == "ro"))
    }
}

/// All mounts visible to this process, in the order of mounting.
pub fn read(facts: &SystemRoots) -> Vec<Mount> {
    let bytes = std::fs::read(facts.proc.join("self/mountinfo")).unwrap_or_default();
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(parse)
        .collect()
}

/// The mount that holds `path`: by its id if known, or else by the longest matching mount point. A
/// later mount hides an earlier one at the same place.
pub fn holding<'a>(mounts: &'a [Mount], id: Option<u64>, path: &Path) -> Option<&'a Mount> {
    if let Some(mount) = id.and_then(|id| mounts.iter().find(|mount| mount.id == id)) {
        return Some(mount);
    }
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

/// The mount that holds a directory of an overlay. In a container the path belongs to the host, and
/// would resolve to the overlay itself.
pub fn beneath_overlay<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    holding(mounts, None, path)
        .filter(|mount| mount.kind != "overlay")
        .or_else(|| from_same_place(mounts, path))
}

/// A bind mount from the same part of the host as `path`, which this process does not see: files
/// that a container engine adds to each container (`/etc/hosts`) are on the same file system as the
/// container's upper directory.
fn from_same_place<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let shared = |mount: &Mount| {
        let parts = mount.root.components().zip(path.components());
        parts.take_while(|(root, path)| root == path).count()
    };
    mounts
        .iter()
        .filter(|mount| mount.kind != "overlay" && shared(mount) >= SHARED_PARTS_MIN)
        .max_by_key(|mount| shared(mount))
}

fn parse(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let dash = fields.iter().position(|field| *field == b"-")?;
    let (left, right) = (&fields[..dash], &fields[dash + 1..]);
    Some(Mount {
        id: plain(left.first()?).parse().ok()?,
        number: plain(left.get(2)?),
        root: path_of(left.get(3)?),
        point: path_of(left.get(4)?),
        options: list(left.get(5)?),
        kind: plain(right.first()?),
        source: plain(right.get(1)?),
        super_options: right.get(2).map(|field| list(field)).unwrap_or_default(),
    })
}

fn list(field: &[u8]) -> Vec<String> {
    plain(field)
        .split(',')
        .filter(|option| !option.is_empty())
        .map(str::to_owned)
        .collect()
}

fn plain(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field)).into_owned()
}

fn path_of(field: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&unescape(field)))
}

/// The kernel escapes blank, tab, line feed, backslash and `#` as a backslash and three octal
/// digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        match octal(rest) {
            Some(byte) => {
                plain.push(byte);
                rest = &rest[4..];
            }
            None => {
                plain.push(*first);
                rest = tail;
            }
        }
    }
    plain
}

fn octal(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"\\")?.get(..3)?;
    let value = digits.iter().try_fold(0_u16, |value, digit| {
        digit
            .is_ascii_digit()
            .then(|| value * 8 + u16::from(digit - b'0'))
    })?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, point: &str, kind: &str, source: &str) {
        let mount = parse(line.as_bytes()).expect(line);
        assert_eq!(
            (
                mount.point.to_str(),
                mount.kind.as_str(),
                mount.source.as_str()
            ),
            (Some(point), kind, source),
            "{line}"
        );
    }

    #[test]
    fn lines_are_read_with_and_without_optional_fields() {
        check(
            "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
            "/",
            "ext4",
            "/dev/vda",
        );
        check(
            "36 35 98:0 /a /mnt rw shared:1 master:2 - ext3 /dev/root rw",
            "/mnt",
            "ext3",
            "/dev/root",
        );
        check("9 1 0:5 / /m rw - tmpfs none", "/m", "tmpfs", "none");
    }

    #[test]
    fn octal_escapes_are_undone_and_stray_backslashes_stay() {
        check(
            "5 1 0:9 / /a\\040b\\134c rw - nfs4 srv:/x\\011y rw",
            "/a b\\c",
            "nfs4",
            "srv:/x\ty",
        );
        assert_eq!(unescape(b"a\\04"), b"a\\04");
        assert_eq!(unescape(b"a\\999"), b"a\\999");
    }

    #[test]
    fn broken_lines_are_left_out() {
        for line in [
            "",
            "27 1 254:0 / / rw",
            "x 1 1:1 / / rw - a b c",
            "1 2 - ext4",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn the_longest_and_latest_mount_point_holds_a_path() {
        let lines = "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 8:2 / /home rw - xfs /dev/b rw\n\
                     3 1 8:3 / /home rw - xfs /dev/c rw";
        let mounts: Vec<Mount> = lines
            .lines()
            .filter_map(|line| parse(line.as_bytes()))
            .collect();
        let id = |id, path: &str| holding(&mounts, id, Path::new(path)).map(|mount| mount.id);
        assert_eq!(id(None, "/home/x"), Some(3));
        assert_eq!(id(None, "/homely"), Some(1));
        assert_eq!(id(Some(2), "/home/x"), Some(2));
        assert_eq!(id(Some(77), "/home/x"), Some(3));
    }
}
