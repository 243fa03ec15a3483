//! Cautions about the devices below a target, and about other users of them.

use results::environment::{BlockDevice, Caution, RaidActivity, TargetDescription, TargetKind};
use units::{Bytes, format_counted};

use super::cautions::Cautions;
use super::{Evidence, block, mounts};
use results::{Warning, WarningCode};

/// Maximum number of places named in a sentence.
const PLACES_MAX: usize = 4;

/// Cautions about the devices below a target.
pub(crate) fn of_devices(evidence: &Evidence<'_>) -> Vec<Caution> {
    let mut found = Cautions::default();
    for device in &evidence.target.devices {
        of_layer(&mut found, device);
        throttle(&mut found, device);
    }
    for device in disks(&evidence.target.devices) {
        cache(&mut found, evidence, device);
    }
    raid(&mut found, evidence);
    if evidence.target.kind == TargetKind::BlockDevice {
        device_itself(&mut found, evidence);
    }
    neighbours(&mut found, evidence);
    found.into_vec()
}

/// Seek times grow about with the square root of the distance (Ruemmler and Wilkes, 1994): within
/// this share of a disk they are a third of those over all of it.
const SHORT_STROKE: f64 = 0.1;
/// Transports of virtual disks, whose medium the kernel does not know.
const VIRTUAL: [&str; 3] = ["virtio", "xen", "hyper-v"];

/// Warns that `bytes` of a target are so small a part of its disks that heads hardly move.
pub fn short_seeks(target: &TargetDescription, bytes: u64) -> Option<Warning> {
    let is_turning = |it: &BlockDevice| it.rotational == Some(true) && !is_virtual(it);
    let mut below = disks(&target.devices).peekable();
    below.peek()?;
    let all_turn = below.all(is_turning) && !target.memory_backed;
    let device = target.devices.first().filter(|_| all_turn)?;
    let whole = device.size_bytes.filter(|it| *it > 0)?;
    let share = bytes as f64 / whole as f64;
    (share < SHORT_STROKE).then(|| {
        let text = format!(
            "only {} of the {} of {} were used ({:.2} %), so seeks were short. Random I/O over the \
             whole disk takes longer.",
            Bytes(bytes),
            Bytes(whole),
            device.name,
            share * 100.0
        );
        Warning::warn(WarningCode::ShortSeeks, text).advise("Use a larger --size.")
    })
}

fn is_virtual(device: &BlockDevice) -> bool {
    let transport = device.transport.as_deref();
    transport.is_some_and(|it| VIRTUAL.contains(&it))
}

/// Devices at the bottom of the stack.
fn disks(devices: &[BlockDevice]) -> impl Iterator<Item = &BlockDevice> {
    devices.iter().filter(|device| {
        device.partition_of.is_none() && device.members.is_empty() && device.backing_file.is_none()
    })
}

fn of_layer(found: &mut Cautions, device: &BlockDevice) {
    let name = &device.name;
    match device.mapping.as_deref() {
        Some("crypt") => found.add(
            WarningCode::Encryption,
            format!(
                "{name} encrypts (dm-crypt), so results include CPU work for every \
                 block"
            ),
            "measure the underlying device too, to tell them apart",
        ),
        Some("thin") => found.add(
            WarningCode::ThinProvisioned,
            format!(
                "{name} is a thin volume. The first write to a block allocates it, and reads of \
                 unwritten blocks never reach the disk"
            ),
            "fill the target before measuring",
        ),
        Some(kind) => found.add(
            WarningCode::MappedDevice,
            format!("{name} is a mapping ({kind}) that splits or redirects requests"),
            "look at the limits of the underlying devices",
        ),
        None => {}
    }
    if device.backing_file.is_some() && device.backing_direct != Some(true) {
        found.add(
            WarningCode::LoopBuffered,
            format!(
                "{name} is a loop device that reads its file through the page cache. Direct I/O \
                 may be served from memory"
            ),
            "attach it with `losetup --direct-io=on`",
        );
    }
}

fn throttle(found: &mut Cautions, device: &BlockDevice) {
    // The limit is that of the disk; partitions would repeat it.
    let Some(limits) = device
        .throttled
        .as_ref()
        .filter(|_| device.partition_of.is_none())
    else {
        return;
    };
    let bytes =
        |what: &str, value: Option<u64>| value.map(|value| format!("{what} {}/s", Bytes(value)));
    let operations =
        |what: &str, value: Option<u64>| value.map(|value| format!("{value} {what}/s"));
    let rules = [
        bytes("reads", limits.read_bytes_per_second),
        bytes("writes", limits.write_bytes_per_second),
        operations("reads", limits.read_operations_per_second),
        operations("writes", limits.write_operations_per_second),
    ];
    let rules: Vec<String> = rules.into_iter().flatten().collect();
    found.add(
        WarningCode::IoThrottled,
        format!(
            "the control group {} limits I/O on {} ({}), so you would measure the limit, not the \
             device",
            limits.group,
            device.name,
            rules.join(", ")
        ),
        "leave the group, or lift the limit",
    );
}

fn cache(found: &mut Cautions, evidence: &Evidence<'_>, device: &BlockDevice) {
    if evidence.target.memory_backed {
        return;
    }
    if device.write_cache.as_deref() == Some("write back") {
        found.add(
            WarningCode::VolatileWriteCache,
            format!(
                "{} has a write-back cache: a completed write is not yet durable, so durable \
                 writes are measured with fsync",
                device.name
            ),
            "",
        );
    }
    if is_virtual(device) {
        found.add(
            WarningCode::VirtualDisk,
            format!(
                "{} is a virtual disk, and the host may cache it",
                device.name
            ),
            "use a working set larger than the host's memory to see past the cache",
        );
    }
}

fn raid(found: &mut Cautions, evidence: &Evidence<'_>) {
    let Some(raid) = &evidence.target.raid else {
        return;
    };
    let name = raid
        .level
        .as_ref()
        .map_or(raid.kind.clone(), |l| format!("{} {l}", raid.kind));
    let progress = |percent: Option<f64>| {
        percent
            .map(|percent| format!(" at {percent:.1} %"))
            .unwrap_or_default()
    };
    match raid.state {
        RaidActivity::Normal => {}
        RaidActivity::Degraded => found.add(
            WarningCode::RaidDegraded,
            format!(
                "the RAID ({name}) is degraded{}, so reads may have to be reconstructed",
                match raid.missing {
                    Some(missing) if missing > 0 => format!(", {missing} missing"),
                    _ => String::new(),
                }
            ),
            "replace the failed device before comparing results",
        ),
        RaidActivity::Rebuilding { percent } => found.add(
            WarningCode::RaidRebuilding,
            format!(
                "the RAID ({name}) is rebuilding{}, which competes with the measurement",
                progress(percent)
            ),
            "wait until it is done, unless you want to measure that",
        ),
        RaidActivity::Replacing => found.add(
            WarningCode::RaidReplacing,
            format!(
                "the RAID ({name}) is copying a device to its replacement, which competes with \
                 the measurement"
            ),
            "wait until it is done, unless you want to measure that",
        ),
        RaidActivity::Checking { percent } => found.add(
            WarningCode::RaidChecking,
            format!(
                "the RAID ({name}) is checking its data{}, which competes with the measurement",
                progress(percent)
            ),
            "wait until it is done",
        ),
    }
}

fn device_itself(found: &mut Cautions, evidence: &Evidence<'_>) {
    let Some(device) = evidence.target.devices.first() else {
        return;
    };
    if device.read_only == Some(true) {
        found.add(
            WarningCode::DeviceReadOnly,
            format!(
                "{} refuses writes, so only reads can be measured",
                device.name
            ),
            "lift its write protection to measure writes",
        );
    }
    let mut users = places(evidence, |stack| {
        stack.iter().any(|d| d.name == device.name)
    });
    if let Some(own) = block::directory(evidence.facts, &device.name) {
        let holders = super::facts::names(&own.join("holders"));
        users.extend(holders.into_iter().map(|holder| format!("device {holder}")));
    }
    if !users.is_empty() {
        found.add(
            WarningCode::DeviceInUse,
            format!(
                "{} is in use ({}), so only reads are allowed, and others use it during the \
                 run",
                device.name,
                listed(&users)
            ),
            "unmount it first for clean results",
        );
    }
}

/// Other users of the disks below the target, from mounts and I/O in flight.
fn neighbours(found: &mut Cautions, evidence: &Evidence<'_>) {
    let own: Vec<&str> = disks(&evidence.target.devices)
        .map(|disk| disk.name.as_str())
        .collect();
    // What uses a device target itself has another caution.
    let itself = evidence
        .target
        .devices
        .first()
        .filter(|_| evidence.mount.is_none());
    let shared = places(evidence, |stack| {
        let is_above = itself.is_some_and(|own| stack.iter().any(|d| d.name == own.name));
        !is_above && disks(stack).any(|disk| own.contains(&disk.name.as_str()))
    });
    let own_point = evidence
        .mount
        .map(|mount| mount.point.display().to_string());
    let others: Vec<String> = shared
        .into_iter()
        .filter(|place| place == "/" || Some(place) != own_point.as_ref())
        .collect();
    if !others.is_empty() {
        found.add(
            WarningCode::SharedDevice,
            format!(
                "the underlying disk also serves {}, whose I/O mixes with ours",
                listed(&others)
            ),
            "keep the machine quiet, or measure a disk that serves nothing else",
        );
    }
    for name in own {
        if let Some(count) = block::in_flight(evidence.facts, name).filter(|count| *count > 0) {
            found.add(
                WarningCode::OtherIo,
                format!(
                    "{} of others in flight on {name} at inspection",
                    format_counted(count, "request")
                ),
                "stop what issues them, or wait",
            );
        }
    }
}

/// Mount points and swap spaces whose device stack satisfies `wanted`, each file system once.
fn places(evidence: &Evidence<'_>, wanted: impl Fn(&[BlockDevice]) -> bool) -> Vec<String> {
    let (facts, table) = (evidence.facts, evidence.mounts);
    let stands =
        |names: &[String]| !names.is_empty() && wanted(&block::stack(facts, table, names).devices);
    let mut seen: Vec<&str> = Vec::new();
    let mut places = Vec::new();
    for mount in table {
        if seen.contains(&mount.number.as_str()) {
            continue;
        }
        seen.push(&mount.number);
        // Bind mounts show one file system in many places. The shortest path names it best.
        let same = table.iter().filter(|other| other.number == mount.number);
        let point = same
            .map(|m| &m.point)
            .min_by_key(|point| point.components().count());
        if let Some(point) = point.filter(|_| stands(&block::names_beneath(facts, mount))) {
            places.push(point.display().to_string());
        }
    }
    let swaps = facts.proc_text("swaps").unwrap_or_default();
    for swap in swaps
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
    {
        let names = block::name_of_node(facts, swap)
            .map(|name| vec![name])
            .or_else(|| {
                let mount = mounts::holding(table, None, std::path::Path::new(swap))?;
                Some(block::names_beneath(facts, mount))
            });
        if stands(&names.unwrap_or_default()) {
            places.push(format!("swap {swap}"));
        }
    }
    places
}

fn listed(places: &[String]) -> String {
    let more = places.len().saturating_sub(PLACES_MAX);
    let mut text = places
        .iter()
        .take(PLACES_MAX)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
