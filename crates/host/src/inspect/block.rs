//! Block devices from sysfs, and the devices below them.
//!
//! See the kernel's `ABI/stable/sysfs-block`. Device-mapper kinds come from the prefix that each
//! tool puts before the identifier in `dm/uuid`.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use results::environment::BlockDevice;

use super::cgroup;
use super::facts::{self, SystemRoots};
use super::mounts::{self, Mount};

/// Maximum number of devices in a stack.
const DEVICES_MAX: usize = 256;

/// Device-mapper kinds by the start of `dm/uuid`.
const MAPPINGS: [(&str, &str); 6] = [
    ("CRYPT-VERITY", "verity"),
    ("CRYPT-", "crypt"),
    ("LVM-", "lvm"),
    ("mpath-", "multipath"),
    ("DMRAID-", "raid"),
    ("VDO-", "vdo"),
];

/// Transports by the start of a device's own name.
const NAMED: [(&str, &str); 13] = [
    ("loop", "loop"),
    ("zram", "zram"),
    ("dm-", "dm"),
    ("md", "md"),
    ("ram", "ram"),
    ("nbd", "nbd"),
    ("rbd", "rbd"),
    ("drbd", "drbd"),
    ("bcache", "bcache"),
    ("ublkb", "ublk"),
    ("nullb", "null_blk"),
    ("pmem", "pmem"),
    ("nvme", "nvme"),
];

/// Transports by a prefix in the device's sysfs path. The first match counts.
const CONNECTED: [(&str, &str); 10] = [
    ("virtio", "virtio"),
    ("usb", "usb"),
    ("ata", "sata"),
    ("session", "iscsi"),
    ("rport-", "fibre-channel"),
    ("end_device-", "sas"),
    ("mmc", "mmc"),
    ("vbd-", "xen"),
    ("VMBUS", "hyper-v"),
    ("host", "scsi"),
];

/// The devices found so far.
pub(crate) struct Stack<'a> {
    facts: &'a SystemRoots,
    mounts: &'a [Mount],
    pub(crate) devices: Vec<BlockDevice>,
    /// Mounts that hold the backing files of loop devices.
    pub(crate) backing: Vec<&'a Mount>,
}

/// Finds `names` and all devices below them, breadth first, each once.
pub(crate) fn stack<'a>(
    facts: &'a SystemRoots,
    mounts: &'a [Mount],
    names: &[String],
) -> Stack<'a> {
    let mut stack = Stack {
        facts,
        mounts,
        devices: Vec::new(),
        backing: Vec::new(),
    };
    let mut waiting: VecDeque<String> = names.iter().cloned().collect();
    while let Some(name) = waiting.pop_front() {
        let known = stack.devices.iter().any(|device| device.name == name);
        if known || stack.devices.len() == DEVICES_MAX {
            continue;
        }
        let Some(device) = describe(facts, mounts, &name) else {
            continue;
        };
        waiting.extend(device.partition_of.clone());
        waiting.extend(device.members.iter().cloned());
        let behind = device
            .backing_file
            .clone()
            .map(|file| stack.behind_file(Path::new(&file)));
        waiting.extend(behind.unwrap_or_default());
        stack.devices.push(device);
    }
    stack
}

impl Stack<'_> {
    /// The devices below the file system that holds a loop device's backing file.
    fn behind_file(&mut self, file: &Path) -> Vec<String> {
        let Some(mount) = mounts::holding(self.mounts, None, file) else {
            return Vec::new();
        };
        self.backing.push(mount);
        names_beneath(self.facts, mount)
    }
}

/// Kernel names of the devices directly below a mounted file system.
pub(crate) fn names_beneath(facts: &SystemRoots, mount: &Mount) -> Vec<String> {
    if let Some(name) = name_of_number(facts, &mount.number) {
        return vec![name];
    }
    // An anonymous device number: btrfs, bcachefs (which joins its devices with colons), or no
    // device at all. The source names one device, sysfs has the others.
    let sources = mount
        .source
        .split(':')
        .filter(|source| source.starts_with("/dev/"));
    let named: Vec<String> = sources
        .filter_map(|source| name_of_node(facts, source))
        .collect();
    match (mount.kind.as_str(), named.first()) {
        ("btrfs", Some(name)) => super::raid::btrfs_devices(facts, name).unwrap_or(named),
        _ => named,
    }
}

/// Kernel name of a device number, `major:minor`.
pub(crate) fn name_of_number(facts: &SystemRoots, number: &str) -> Option<String> {
    let path = fs::canonicalize(facts.sys.join("dev/block").join(number)).ok()?;
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// Kernel name of a device node such as `/dev/sda1`, `/dev/mapper/home` or a link to one.
pub(crate) fn name_of_node(facts: &SystemRoots, node: &str) -> Option<String> {
    let exists = |name: &str| facts.sys.join("class/block").join(name).exists();
    let plain = node.strip_prefix("/dev/")?;
    // The kernel replaces `/` in a device's name with `!`.
    let kernel = plain.replace('/', "!");
    if exists(&kernel) {
        return Some(kernel);
    }
    if let Some(label) = plain.strip_prefix("mapper/") {
        let blocks = facts.sys.join("class/block");
        let labelled = |name: &String| {
            facts::text(&blocks.join(name).join("dm/name")).is_some_and(|text| text == label)
        };
        if let Some(name) = facts::names(&blocks).into_iter().find(labelled) {
            return Some(name);
        }
    }
    let target = fs::canonicalize(node).ok()?;
    let name = target.file_name()?.to_string_lossy().into_owned();
    exists(&name).then_some(name)
}

/// Directory of a device in sysfs, with links resolved. Its path shows how the device is attached.
pub(crate) fn directory(facts: &SystemRoots, name: &str) -> Option<PathBuf> {
    let class = fs::canonicalize(facts.sys.join("class/block").join(name));
    class
        .or_else(|_| fs::canonicalize(facts.sys.join("block").join(name)))
        .ok()
}

fn describe(facts: &SystemRoots, mounts: &[Mount], name: &str) -> Option<BlockDevice> {
    let own = directory(facts, name)?;
    let is_partition = own.join("partition").exists();
    let disk = if is_partition {
        own.parent()?.to_path_buf()
    } else {
        own.clone()
    };
    let queue = disk.join("queue");
    let of_queue = |file: &str| facts::number(&queue.join(file));
    let number = facts::text(&own.join("dev")).unwrap_or_default();
    // Control groups limit whole disks, never partitions.
    let disk_number = facts::text(&disk.join("dev")).unwrap_or_else(|| number.clone());
    let members = facts::names(&own.join("slaves"));
    Some(BlockDevice {
        name: name.to_owned(),
        model: model(&disk),
        transport: transport(&disk),
        mapping: mapping(facts, &own, &members),
        partition_of: is_partition.then(|| file_name(&disk)),
        members,
        rotational: facts::flag(&queue.join("rotational")),
        scheduler: facts::text(&queue.join("scheduler")).map(|text| chosen(&text)),
        write_cache: facts::text(&queue.join("write_cache")),
        size_bytes: facts::number(&own.join("size")).and_then(|sectors| sectors.checked_mul(512)),
        logical_block_bytes: of_queue("logical_block_size"),
        physical_block_bytes: of_queue("physical_block_size"),
        minimum_io_bytes: of_queue("minimum_io_size"),
        optimal_io_bytes: of_queue("optimal_io_size"),
        read_ahead_kib: of_queue("read_ahead_kb"),
        max_sectors_kib: of_queue("max_sectors_kb"),
        requests: of_queue("nr_requests"),
        discard: of_queue("discard_max_bytes").map(|bytes| bytes > 0),
        removable: facts::flag(&disk.join("removable")),
        read_only: facts::flag(&own.join("ro")),
        backing_file: facts::text(&own.join("loop/backing_file")),
        backing_direct: facts::flag(&own.join("loop/dio")),
        throttled: cgroup::throttle(facts, mounts, &disk_number),
        number,
    })
}

/// The word in brackets: `none [mq-deadline] kyber`.
fn chosen(text: &str) -> String {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(word, _)| word).to_owned()
}

fn model(disk: &Path) -> Option<String> {
    ["device/model", "dm/name", "device/name"]
        .iter()
        .find_map(|file| facts::text(&disk.join(file)))
}

fn transport(disk: &Path) -> Option<String> {
    let name = file_name(disk);
    let named = NAMED.iter().find(|(start, _)| {
        name.strip_prefix(start)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    let connected = || {
        CONNECTED.iter().find(|(start, _)| {
            disk.components().any(|part| {
                let part = part.as_os_str().to_string_lossy();
                let rest = part.strip_prefix(start);
                rest.is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit() || c == ':'))
            })
        })
    };
    let transport = named
        .or_else(connected)
        .map(|(_, transport)| (*transport).to_owned())?;
    // NVMe states its own transport, which may be a network.
    let fabric = facts::text(&disk.join("device/transport")).filter(|fabric| fabric != "pcie");
    match fabric {
        Some(fabric) if transport == "nvme" => Some(format!("nvme-{fabric}")),
        _ => Some(transport),
    }
}

fn mapping(facts: &SystemRoots, own: &Path, members: &[String]) -> Option<String> {
    let uuid = facts::text(&own.join("dm/uuid"))?;
    // A thin volume's pool has an identifier that says so; the volume's own does not.
    let is_pool = |member: &String| {
        let path = facts.sys.join("class/block").join(member).join("dm/uuid");
        facts::text(&path).is_some_and(|uuid| uuid.ends_with("-tpool"))
    };
    if uuid.starts_with("LVM-") && members.iter().any(is_pool) {
        return Some("thin".to_owned());
    }
    let kind = MAPPINGS.iter().find(|(start, _)| uuid.starts_with(start));
    Some(kind.map_or("other", |(_, kind)| kind).to_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Requests in flight on a device now.
pub(crate) fn in_flight(facts: &SystemRoots, name: &str) -> Option<u64> {
    let text = facts.sys_text(&format!("class/block/{name}/inflight"))?;
    Some(
        text.split_whitespace()
            .filter_map(|word| word.parse::<u64>().ok())
            .sum(),
    )
}
