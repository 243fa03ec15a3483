//! Which file systems may be filled: only one that nobody would miss.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use drivers::{DIRECTORY_PREFIX, FreeSpace, free_space};
use results::environment::TargetKind;
use units::Bytes;

use super::place::{MeasureError, Result};
use host::inspect::facts::SystemRoots;
use host::inspect::inspect;
use host::inspect::mounts::{self, Mount};
use host::limits::ProcessLimits;

/// Directories whose file systems are never filled, if they exist.
const PROTECTED: [&str; 12] = [
    "/", "/tmp", "/home", "/root", "/var", "/var/tmp", "/var/log", "/usr", "/etc", "/boot", "/run",
    "/dev/shm",
];
/// What a new file system holds by itself.
const OF_FILE_SYSTEM: &str = "lost+found";
/// File systems in memory may take one part in this many of what is available.
const MEMORY_PART: u64 = 2;

/// Refuse to fill what is mounted at `target` unless it is a file system of its own.
///
/// # Errors
/// When it is none; the message says why, and what would be one.
pub fn refuse_mount(target: &Path) -> Result<()> {
    let refused = |why: String| {
        MeasureError::Usage(format!(
            "{} is not filled: {why}. Name the mount point of an empty file system made for it, \
             such as one on a loop device",
            target.display()
        ))
    };
    let path = fs::canonicalize(target).map_err(MeasureError::io("look at", target))?;
    let table = mounts::read(&SystemRoots::default());
    refuse_by_table(&table, &path, &protected()).map_err(refused)?;
    refuse_content(&path).map_err(refused)?;
    refuse_storage(&path).map_err(refused)
}

/// What must stay writable: the system's directories, the user's, and this program's.
fn protected() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = PROTECTED.into_iter().map(PathBuf::from).collect();
    paths.push(std::env::temp_dir());
    for name in ["HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "TMPDIR"] {
        paths.extend(std::env::var_os(name).map(PathBuf::from));
    }
    paths.extend(std::env::current_dir());
    paths.extend(std::env::current_exe());
    paths
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect()
}

/// By the table of mounts alone.
fn refuse_by_table(table: &[Mount], path: &Path, protected: &[PathBuf]) -> Result<(), String> {
    let at_point = |mount: &&Mount| mount.point == path;
    let Some(mount) = table.iter().rev().find(at_point) else {
        return Err("it is no mount point".into());
    };
    if mount.root != Path::new("/") {
        return Err(format!(
            "only a part of its file system is mounted there ({})",
            mount.root.display()
        ));
    }
    if mount.is_read_only() {
        return Err("it is mounted read-only".into());
    }
    for holder in protected {
        let held = mounts::holding(table, None, holder);
        if held.is_some_and(|held| are_one(held, mount)) {
            return Err(format!("its file system holds {}", holder.display()));
        }
    }
    let mut inside = table
        .iter()
        .filter(|other| other.point != path && other.point.starts_with(path));
    if let Some(other) = inside.next() {
        return Err(format!("{} is mounted in it", other.point.display()));
    }
    let others = table
        .iter()
        .filter(|other| are_one(other, mount) && other.point != path);
    match others.map(|other| other.point.display().to_string()).next() {
        Some(point) => Err(format!("its file system is mounted at {point}, too")),
        None => Ok(()),
    }
}

/// Whether two mounts take their room from the same storage. Subvolumes and datasets have device
/// numbers of their own, but one source.
fn are_one(first: &Mount, second: &Mount) -> bool {
    let pool = |mount: &Mount| {
        let source = mount.source.as_str();
        match mount.kind.as_str() {
            "zfs" => source.split('/').next().map(str::to_owned),
            _ => source.starts_with('/').then(|| source.to_owned()),
        }
    };
    let is_shared = pool(first).is_some() && pool(first) == pool(second);
    first.number == second.number || is_shared
}

fn refuse_content(path: &Path) -> Result<(), String> {
    let entries = fs::read_dir(path).map_err(|error| format!("it cannot be listed ({error})"))?;
    for entry in entries {
        let entry = entry.map_err(|error| format!("it cannot be listed ({error})"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(DIRECTORY_PREFIX) {
            return Err(format!(
                "it holds {name}. `seekstone clean` there removes what is dead"
            ));
        }
        let is_own = name == OF_FILE_SYSTEM && entry.file_type().is_ok_and(|it| it.is_dir());
        if !is_own {
            return Err(format!("it is not empty ({name})"));
        }
        refuse_found(&entry.path())?;
    }
    Ok(())
}

/// What a file system's repair has found is the only copy of somebody's file.
fn refuse_found(path: &Path) -> Result<(), String> {
    let unlisted = |error: io::Error| {
        format!("its {OF_FILE_SYSTEM} cannot be read ({error}). Be root, or remove it")
    };
    let mut entries = fs::read_dir(path).map_err(unlisted)?;
    match entries.next().transpose().map_err(unlisted)? {
        Some(entry) => Err(format!(
            "it is not empty ({OF_FILE_SYSTEM}/{})",
            entry.file_name().to_string_lossy()
        )),
        None => Ok(()),
    }
}

/// By what the file system stands on.
fn refuse_storage(path: &Path) -> Result<(), String> {
    let (target, _) = inspect(path).map_err(|error| error.to_string())?;
    if target.kind != TargetKind::Directory {
        return Err("it is no directory".into());
    }
    if target.remote {
        return Err("it is on another machine, where others may need the space".into());
    }
    let FreeSpace { available, .. } = free_space(path).map_err(|error| error.to_string())?;
    let loops = target
        .devices
        .iter()
        .filter_map(|device| device.backing_file.as_ref());
    for file in loops {
        refuse_thin_storage(Path::new(file), available)?;
    }
    if target
        .devices
        .iter()
        .any(|device| device.mapping.as_deref() == Some("thin"))
    {
        return Err("it stands on a thin volume, whose pool others use".into());
    }
    if target.devices.is_empty() && !target.memory_backed {
        return Err("the device that it stands on is not known".into());
    }
    let memory = ProcessLimits::capture().memory_available_bytes.unwrap_or(0);
    if target.memory_backed && available > memory / MEMORY_PART {
        return Err(format!(
            "it lives in memory, and its {} are more than half of the {} that are available",
            Bytes(available),
            Bytes(memory)
        ));
    }
    Ok(())
}

/// The file behind a loop device may grow while it is written: what it lies on must have the room.
fn refuse_thin_storage(file: &Path, growth: u64) -> Result<(), String> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    let space = free_space(directory).map_err(|error| error.to_string())?;
    if space.available >= growth.saturating_add(space.reserve) {
        return Ok(());
    }
    Err(format!(
        "it stands on {}, which may grow by {}, only {} are free, and {} must stay \
         free",
        file.display(),
        Bytes(growth),
        Bytes(space.available),
        Bytes(space.reserve)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(number: &str, root: &str, point: &str, kind: &str, source: &str) -> Mount {
        Mount {
            id: 0,
            number: number.into(),
            root: root.into(),
            point: point.into(),
            options: vec!["rw".into()],
            kind: kind.into(),
            source: source.into(),
            super_options: vec!["rw".into()],
        }
    }

    fn refusal(table: &[Mount], path: &str) -> String {
        let protected = ["/", "/tmp", "/home/me"].map(PathBuf::from);
        match refuse_by_table(table, Path::new(path), &protected) {
            Ok(()) => "filled".into(),
            Err(why) => why,
        }
    }

    #[test]
    fn only_a_mount_point_of_its_own_is_filled() {
        let table = [
            mount("8:1", "/", "/", "ext4", "/dev/a1"),
            mount("8:2", "/", "/home", "xfs", "/dev/a2"),
            mount("8:1", "/data", "/bound", "ext4", "/dev/a1"),
            mount("8:1", "/", "/again", "ext4", "/dev/a1"),
            mount("8:2", "/", "/mnt/home", "xfs", "/dev/a2"),
            mount("0:50", "/", "/pool", "btrfs", "/dev/b1"),
            mount("0:51", "/sub", "/mnt/sub", "btrfs", "/dev/b1"),
            mount("7:0", "/", "/mnt/own", "ext4", "/dev/loop0"),
            mount("7:1", "/", "/mnt/twice", "ext4", "/dev/loop1"),
            mount("7:1", "/", "/mnt/second", "ext4", "/dev/loop1"),
            mount("0:60", "/", "/tank", "zfs", "tank"),
            mount("0:61", "/", "/tank/own", "zfs", "tank/own"),
            mount("7:2", "/", "/mnt/holder", "ext4", "/dev/loop2"),
            mount("0:64", "/", "/mnt/holder/lost+found", "tmpfs", "tmpfs"),
            mount("0:62", "/", "/mnt/memory", "tmpfs", "tmpfs"),
            mount("0:63", "/", "/other/memory", "tmpfs", "tmpfs"),
        ];
        let check = |path: &str, expected: &str| assert_eq!(refusal(&table, path), expected);
        check("/mnt/own", "filled");
        check("/mnt/memory", "filled");
        check("/", "its file system holds /");
        check("/home", "its file system holds /home/me");
        check("/mnt/home", "its file system holds /home/me");
        check("/again", "its file system holds /");
        check("/mnt/own/inside", "it is no mount point");
        check(
            "/bound",
            "only a part of its file system is mounted there (/data)",
        );
        check(
            "/mnt/sub",
            "only a part of its file system is mounted there (/sub)",
        );
        check("/pool", "its file system is mounted at /mnt/sub, too");
        check(
            "/mnt/twice",
            "its file system is mounted at /mnt/second, too",
        );
        check("/mnt/holder", "/mnt/holder/lost+found is mounted in it");
        check("/tank/own", "its file system is mounted at /tank, too");
    }

    #[test]
    fn the_last_mount_at_a_place_counts() {
        let table = [
            mount("8:1", "/", "/", "ext4", "/dev/a1"),
            mount("7:0", "/", "/mnt", "ext4", "/dev/loop0"),
            mount("8:1", "/x", "/mnt", "ext4", "/dev/a1"),
        ];
        let expected = "only a part of its file system is mounted there (/x)";
        assert_eq!(refusal(&table, "/mnt"), expected);
    }

    #[test]
    fn the_systems_own_directories_are_refused_on_this_machine() {
        for path in ["/", "/tmp", "/home", "/proc", "/sys", "/dev"] {
            if Path::new(path).exists() {
                refuse_mount(Path::new(path)).expect_err(path);
            }
        }
        let own = tempfile::tempdir().expect("a directory");
        let why = refuse_mount(own.path())
            .expect_err("a directory")
            .to_string();
        assert!(why.contains("it is no mount point"), "{why}");
    }
}
