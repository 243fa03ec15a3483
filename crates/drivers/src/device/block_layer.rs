//! Every block device that the kernel knows, and what each of them lies on: one look at `/sys`.

use std::fs::{self, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::loop_device::LoopStatus;
use crate::target_error::TargetError;

/// Unit of the kernel's tables of partitions and loop devices, whatever a device's own sector is.
const SECTOR_BYTES: u64 = 512;
/// Bytes of a device whose place in another is not known: all of them may be meant.
pub(super) const EVERYTHING: Range<u64> = 0..u64::MAX;

/// A device number, as `/proc` and `/sys` write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

impl DeviceNumber {
    pub(super) fn of_node(raw: u64) -> Self {
        Self {
            major: rustix::fs::major(raw),
            minor: rustix::fs::minor(raw),
        }
    }

    // fuzzed: kernel_tables
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }
}

/// What bytes are kept in, known without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StorageIdentity {
    /// A block device.
    Device(DeviceNumber),
    /// A regular file.
    File {
        file_system: DeviceNumber,
        inode: u64,
    },
}

impl StorageIdentity {
    /// `None` for what holds no bytes.
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        if kind.is_block_device() {
            return Some(Self::Device(DeviceNumber::of_node(metadata.rdev())));
        }
        kind.is_file().then(|| Self::File {
            file_system: DeviceNumber::of_node(metadata.dev()),
            inode: metadata.ino(),
        })
    }

    pub(super) fn at(path: &Path) -> Option<Self> {
        Self::of(&fs::metadata(path).ok()?)
    }
}

/// Where the bytes of a device are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BackingDevice {
    /// Nowhere else.
    Itself,
    /// A partition: in these bytes of its disk.
    Disk(DeviceNumber, Range<u64>),
    /// A loop device: in these bytes of a file or device.
    Backing(StorageIdentity, Range<u64>),
    /// Somewhere in these: device mapper, RAID, bcache.
    Stacked(Vec<DeviceNumber>),
    /// A loop device on something that nobody tells.
    Unknown(String),
}

#[derive(Clone, Debug)]
pub(super) struct BlockLayerDevice {
    pub number: DeviceNumber,
    /// The kernel's name, such as `sda1`.
    pub name: String,
    pub place: BackingDevice,
    /// Names of those who have it for a part of theirs.
    pub holders: Vec<String>,
    /// The name that a loop device's file had when it was attached.
    pub backing_name: Option<PathBuf>,
}

impl BlockLayerDevice {
    /// What a loop device lies on, as the kernel says.
    pub(super) fn backing(&self) -> Option<StorageIdentity> {
        match &self.place {
            BackingDevice::Backing(storage, _) => Some(*storage),
            _ => None,
        }
    }
}

/// Every block device, at one moment.
#[derive(Debug, Default)]
pub(super) struct BlockLayer {
    pub devices: Vec<BlockLayerDevice>,
}

/// Asks a loop device of this name and number what it lies on.
pub(super) type AskLoop<'a> = &'a dyn Fn(&str, DeviceNumber) -> io::Result<LoopStatus>;

impl BlockLayer {
    /// What the trees at `sys` and `proc` tell.
    pub(super) fn read(sys: &Path, proc: &Path, ask: AskLoop<'_>) -> Result<Self, TargetError> {
        let table = sys.join("dev/block");
        let in_context = |error| TargetError::io("list the devices in", &table, error);
        let mut devices = Vec::new();
        for entry in fs::read_dir(&table).map_err(in_context)? {
            let entry = entry.map_err(in_context)?;
            let number = entry.file_name().to_str().and_then(DeviceNumber::parse);
            // A device may go while we look.
            let directory = fs::canonicalize(entry.path()).ok();
            if let (Some(number), Some(directory)) = (number, directory) {
                devices.push(block_device(number, &directory, ask)?);
            }
        }
        let arrays = fs::read_to_string(proc.join("mdstat")).unwrap_or_default();
        for (array, member) in array_members(&arrays) {
            let device = devices.iter_mut().find(|device| device.name == member);
            if let Some(device) = device.filter(|it| !it.holders.iter().any(|one| one == array)) {
                device.holders.push(array.to_owned());
            }
        }
        Ok(Self { devices })
    }

    pub(super) fn with_number(&self, number: DeviceNumber) -> Option<&BlockLayerDevice> {
        self.devices.iter().find(|device| device.number == number)
    }

    pub(super) fn with_name(&self, name: &str) -> Option<&BlockLayerDevice> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// What is attached to something that nobody tells, as "NAME (why)".
    pub(super) fn unresolved(&self) -> impl Iterator<Item = String> {
        self.devices
            .iter()
            .filter_map(|device| match &device.place {
                BackingDevice::Unknown(why) => Some(format!("{} ({why})", device.name)),
                _ => None,
            })
    }
}

fn block_device(
    number: DeviceNumber,
    directory: &Path,
    ask: AskLoop<'_>,
) -> Result<BlockLayerDevice, TargetError> {
    let name = name_of(directory);
    let backing = fs::read(directory.join("loop/backing_file")).ok();
    let backing_name = backing.map(|bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        PathBuf::from(text.trim_end_matches('\n'))
    });
    let mut holders = names_in(&directory.join("holders"));
    // A cache device has no holder, and a bcache device a folder of the same name.
    if !name.starts_with("bcache") && directory.join("bcache").exists() && holders.is_empty() {
        holders.push("bcache".to_owned());
    }
    let place = if directory.join("partition").exists() {
        partition_place(directory)?
    } else if let Some(backing) = &backing_name {
        loop_place(&name, number, directory, backing, ask)
    } else {
        let slaves = names_in(&directory.join("slaves"));
        let slaves = slaves.iter().map(|name| {
            let path = directory.join("slaves").join(name).join("dev");
            read_number(&path)
        });
        match slaves.collect::<Result<Vec<_>, _>>()? {
            slaves if slaves.is_empty() => BackingDevice::Itself,
            slaves => BackingDevice::Stacked(slaves),
        }
    };
    Ok(BlockLayerDevice {
        number,
        name,
        place,
        holders,
        backing_name,
    })
}

fn partition_place(directory: &Path) -> Result<BackingDevice, TargetError> {
    let disk = read_number(&directory.parent().unwrap_or(directory).join("dev"))?;
    let start = read_count(&directory.join("start"))?.saturating_mul(SECTOR_BYTES);
    let len = read_count(&directory.join("size"))?.saturating_mul(SECTOR_BYTES);
    Ok(BackingDevice::Disk(disk, start..start.saturating_add(len)))
}

/// The kernel tells device and inode; where it may not be asked, the name in `/sys` has to do.
fn loop_place(
    name: &str,
    number: DeviceNumber,
    directory: &Path,
    backing: &Path,
    ask: AskLoop<'_>,
) -> BackingDevice {
    let why = match ask(name, number) {
        Ok(status) => return BackingDevice::Backing(status.storage, status.bytes),
        // It was detached a moment ago.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return BackingDevice::Itself,
        Err(error) => error,
    };
    let count = |file: &str| read_count(&directory.join("loop").join(file)).ok();
    match (
        StorageIdentity::at(backing),
        count("offset"),
        count("sizelimit"),
    ) {
        (Some(storage), Some(offset), Some(limit)) => {
            BackingDevice::Backing(storage, bytes_of(offset, limit))
        }
        _ => BackingDevice::Unknown(format!("{}: {why}", backing.display())),
    }
}

/// The bytes that a loop device shows; a limit of 0 is none.
pub(super) fn bytes_of(offset: u64, limit: u64) -> Range<u64> {
    match limit {
        0 => offset..u64::MAX,
        limit => offset..offset.saturating_add(limit),
    }
}

/// Array and member, by each line of `/proc/mdstat`: an array that is not started holds them, too.
pub(super) fn array_members(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().flat_map(|line| {
        let (array, rest) = line.split_once(" : ").unwrap_or_default();
        rest.split(' ')
            .filter_map(move |word| Some((array, word.split_once('[')?.0)))
    })
}

fn name_of(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

pub(super) fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn read_number(path: &Path) -> Result<DeviceNumber, TargetError> {
    read_parsed(path, DeviceNumber::parse)
}

fn read_count(path: &Path) -> Result<u64, TargetError> {
    read_parsed(path, |text| text.trim().parse().ok())
}

fn read_parsed<T>(path: &Path, parse: impl Fn(&str) -> Option<T>) -> Result<T, TargetError> {
    let text = fs::read_to_string(path).map_err(|error| TargetError::io("read", path, error))?;
    let unreadable = || io::Error::from(io::ErrorKind::InvalidData);
    parse(&text).ok_or_else(|| TargetError::io("understand", path, unreadable()))
}
