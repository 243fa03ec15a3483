//! What a recording covers: devices whose requests the kernel can trace, or processes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::inspect::{InspectError, inspect};

/// How long the members of a control group are cached.
const FRESH: Duration = Duration::from_millis(250);
/// Maximum number of ancestors of a process to check.
const PARENTS_MAX: usize = 64;
/// Maximum depth of stacked devices.
const DEVICES_MAX: usize = 64;

/// A disk whose requests are traced, or a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedDevice {
    /// Kernel name of the disk, such as `nvme0n1`.
    pub name: String,
    /// Device number of the disk: 12 bits of major, 20 of minor.
    pub number: u32,
    /// First sector of 512 bytes, and number of sectors.
    pub sectors: (u64, u64),
}

impl TracedDevice {
    /// The number as `major,minor`.
    pub fn number_text(&self) -> String {
        format!("{},{}", self.number >> 20, self.number & 0xf_ffff)
    }
}

/// Why something cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum TracedError {
    #[error("no process has the number {0}")]
    NoProcess(u32),
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error("{0} is on no block device: there are no requests to record")]
    NoDevice(String),
    #[error("{0} takes requests without a queue, which the kernel does not trace one by one")]
    NoQueue(String),
}

/// Whose requests are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traced {
    /// All requests to some disks.
    Devices(Vec<TracedDevice>),
    /// Requests of a process and its children, to all disks.
    Process(u32),
    /// Requests of all processes of a control group and its descendants, to all disks.
    Group(PathBuf),
}

impl Traced {
    /// Resolves a command-line argument: a process by its id, a control group by its directory, or
    /// a device, also as that of a file or directory.
    ///
    /// # Errors
    /// If it does not exist or cannot be traced.
    pub fn find(word: &Path) -> Result<Self, TracedError> {
        if let Some(pid) = word.to_str().and_then(|it| it.parse().ok()) {
            return match Path::new(&format!("/proc/{pid}")).exists() {
                true => Ok(Self::Process(pid)),
                false => Err(TracedError::NoProcess(pid)),
            };
        }
        if word.join("cgroup.procs").is_file() {
            return Ok(Self::Group(word.to_owned()));
        }
        let (description, _) = inspect(word)?;
        let shown = word.display().to_string();
        let Some(device) = description.devices.first() else {
            return Err(TracedError::NoDevice(shown));
        };
        let is_device = fs::metadata(word).is_ok_and(|it| it.file_type().is_block_device());
        let found = disks(Path::new("/sys/class/block"), &device.name, is_device);
        match found.is_empty() {
            true => Err(TracedError::NoQueue(device.name.clone())),
            false => Ok(Self::Devices(found)),
        }
    }
}

/// The disks that a device's requests reach. For a partition named directly, only its part.
fn disks(sys: &Path, name: &str, is_named: bool) -> Vec<TracedDevice> {
    let mut waiting = vec![name.to_owned()];
    let mut found: Vec<TracedDevice> = Vec::new();
    let mut seen = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if seen.len() == DEVICES_MAX || !seen.insert(name.clone()) {
            continue;
        }
        let Ok(place) = sys.join(&name).canonicalize() else {
            continue;
        };
        let is_part = place.join("partition").exists();
        let disk = match place.parent().filter(|_| is_part) {
            Some(disk) => disk.to_owned(),
            None => place.clone(),
        };
        if !disk.join("mq").exists() {
            waiting.extend(names_in(&place.join("slaves")));
            continue;
        }
        let is_itself = is_named && seen.len() == 1;
        let of = if is_itself && is_part { &place } else { &disk };
        let sectors = (number_in(&of.join("start")), number_in(&of.join("size")));
        let name = disk.file_name().map(|it| it.to_string_lossy().into_owned());
        let number = fs::read_to_string(disk.join("dev")).ok();
        let number = number.and_then(|it| device_number(it.trim()));
        if let (Some(name), Some(number)) = (name, number) {
            let sectors = (sectors.0.unwrap_or(0), sectors.1.unwrap_or(u64::MAX));
            found.push(TracedDevice {
                name,
                number,
                sectors,
            });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn names_in(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|it| it.file_name().to_string_lossy().into_owned())
}

fn number_in(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// `major:minor` in the kernel's encoding.
fn device_number(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once(':')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    (major < 1 << 12 && minor < 1 << 20).then_some(major << 20 | minor)
}

/// Whether a file would be written to one of these disks, judged by its own device.
pub fn is_on(path: &Path, devices: &[TracedDevice]) -> bool {
    let Ok(found) = path.metadata() else {
        return false;
    };
    let (major, minor) = (
        rustix::fs::major(found.dev()),
        rustix::fs::minor(found.dev()),
    );
    let place = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
    let Some(name) = place
        .canonicalize()
        .ok()
        .and_then(|it| Some(it.file_name()?.to_owned()))
    else {
        return false;
    };
    let beneath = disks(
        Path::new("/sys/class/block"),
        &name.to_string_lossy(),
        false,
    );
    let number = |it: &TracedDevice| it.number;
    beneath
        .iter()
        .any(|it| devices.iter().map(number).any(|number| number == it.number))
}

/// To whom a thread belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// To a recorded process.
    Recorded(u32),
    /// To another process.
    Other,
    /// It has ended.
    Gone,
}

/// Maps threads to processes, and tells whether they are recorded.
#[derive(Debug)]
pub struct ThreadOwners {
    traced: Traced,
    /// Processes of a control group, and when they were read.
    group: Option<(Instant, BTreeSet<u32>)>,
}

impl ThreadOwners {
    pub const fn new(traced: Traced) -> Self {
        Self {
            traced,
            group: None,
        }
    }

    /// The owner of a thread. Our own threads are never recorded.
    pub fn owner(&mut self, thread: u32) -> Ownership {
        match process_of(thread) {
            None => Ownership::Gone,
            Some((process, _)) if process == std::process::id() => Ownership::Other,
            Some((process, parent)) => match self.is_recorded(process, parent) {
                true => Ownership::Recorded(process),
                false => Ownership::Other,
            },
        }
    }

    fn is_recorded(&mut self, process: u32, parent: u32) -> bool {
        match &self.traced {
            Traced::Devices(_) => true,
            Traced::Process(wanted) => {
                let mut ancestor = (process, parent);
                for _ in 0..PARENTS_MAX {
                    if ancestor.0 == *wanted {
                        return true;
                    }
                    match process_of(ancestor.1) {
                        Some(next) if ancestor.1 != 0 => ancestor = next,
                        _ => return false,
                    }
                }
                false
            }
            Traced::Group(directory) => {
                if self
                    .group
                    .as_ref()
                    .is_none_or(|(seen, _)| seen.elapsed() >= FRESH)
                {
                    let mut members = BTreeSet::new();
                    members_of(directory, &mut members, 0);
                    self.group = Some((Instant::now(), members));
                }
                self.group
                    .as_ref()
                    .is_some_and(|it| it.1.contains(&process))
            }
        }
    }
}

/// The program name of a process, as the kernel keeps it: 15 bytes.
pub fn program_name(process: u32) -> String {
    if process == 0 {
        return "kernel".into();
    }
    let name = fs::read(format!("/proc/{process}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}

/// The process of a thread, and its parent.
fn process_of(thread: u32) -> Option<(u32, u32)> {
    if thread == 0 {
        return Some((0, 0));
    }
    let text = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
    };
    Some((field("Tgid")?, field("PPid")?))
}

/// The processes of a control group and its descendants.
fn members_of(directory: &Path, members: &mut BTreeSet<u32>, depth: usize) {
    let text = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    members.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
    if depth == PARENTS_MAX {
        return;
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            members_of(&entry.path(), members, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_and_a_mapping_lead_to_the_disks_that_have_queues() {
        let top = tempfile::tempdir().expect("a directory");
        let put = |name: &str, text: &str| {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        };
        put("devices/sda/dev", "8:0\n");
        put("devices/sda/size", "4096\n");
        fs::create_dir_all(top.path().join("devices/sda/mq")).expect("a directory");
        put("devices/sda/sda1/partition", "1\n");
        put("devices/sda/sda1/start", "2048\n");
        put("devices/sda/sda1/size", "1024\n");
        put("devices/dm-0/dev", "252:0\n");
        fs::create_dir_all(top.path().join("devices/dm-0/slaves/sda1")).expect("a directory");
        put("devices/zram0/dev", "253:0\n");
        let class = top.path().join("class");
        fs::create_dir_all(&class).expect("a directory");
        for (name, place) in [
            ("sda", "sda"),
            ("sda1", "sda/sda1"),
            ("dm-0", "dm-0"),
            ("zram0", "zram0"),
        ] {
            let place = top.path().join("devices").join(place);
            std::os::unix::fs::symlink(place, class.join(name)).expect("a link");
        }
        let check = |name: &str, is_named: bool, expected: Option<(u64, u64)>| {
            let expected = expected.map(|sectors| TracedDevice {
                name: "sda".into(),
                number: 8 << 20,
                sectors,
            });
            let found = disks(&class, name, is_named);
            assert_eq!(found, Vec::from_iter(expected), "{name}");
        };
        check("sda", true, Some((0, 4096)));
        check("sda1", true, Some((2048, 1024)));
        check("sda1", false, Some((0, 4096)));
        check("dm-0", true, Some((0, 4096)));
        check("zram0", true, None);
        check("nothing", true, None);
    }

    #[test]
    fn threads_belong_to_a_process_and_to_those_that_it_started() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("sleep");
        let mut owners = ThreadOwners::new(Traced::Process(child.id()));
        assert_eq!(owners.owner(child.id()), Ownership::Recorded(child.id()));
        assert_eq!(owners.owner(1), Ownership::Other);
        // Its parent is this process, whose requests are not recorded.
        let mut owners = ThreadOwners::new(Traced::Process(own));
        assert_eq!(owners.owner(child.id()), Ownership::Recorded(child.id()));
        assert_eq!(owners.owner(own), Ownership::Other);
        child.kill().expect("an end");
        child.wait().expect("an end");
        assert_eq!(owners.owner(child.id()), Ownership::Gone);
    }
}
