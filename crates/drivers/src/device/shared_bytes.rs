//! Everything whose bytes change when a device or file is written.
//!
//! *Down*, from a partition to its disk, from a loop device to its file or device, from a device of
//! several (device mapper, RAID, bcache) to its parts; and from each of those *up* to the
//! partitions, loop devices and holders that show the same bytes. Where the place is known, as of
//! partitions and loop devices, neighbours do not count. Where it is not, as in device mapper, the
//! other holders of a part do not count either: they have other bytes of it.
//!
//! The device beneath a file's file system does not share its bytes: a write goes through the file
//! system, which knows of it.

use std::ops::Range;

use super::block_layer::{BackingDevice, BlockLayer, DeviceNumber, EVERYTHING, StorageIdentity};

/// More than that are not followed. No machine has so many that share bytes.
const MEMBERS_MAX: usize = 4096;

/// How one that shares bytes was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// It is the one that will be written.
    Itself,
    /// The disk of a partition.
    Disk,
    /// What a loop device lies on.
    Backing,
    /// Part of a device that lies on several; which bytes of it are meant is not known.
    Stacked,
    /// Something that lies on one of the others.
    Above,
}

/// One that shares bytes with what will be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OverlappingDevice {
    pub storage: StorageIdentity,
    pub relation: Relation,
    /// The bytes of it that may change.
    bytes: Range<u64>,
    /// Who else has these bytes: loop devices and holders.
    pub held_by: Vec<String>,
}

/// All that share bytes with `start`, itself first; `None` when they are too many to follow.
pub(super) fn sharing(
    layer: &BlockLayer,
    start: StorageIdentity,
) -> Option<Vec<OverlappingDevice>> {
    let mut members = Members(vec![member(start, Relation::Itself, EVERYTHING)]);
    let mut at = 0;
    while at < members.0.len() {
        for found in beneath(layer, &members.0[at]) {
            members.add(found);
        }
        at += 1;
        members.within_bounds()?;
    }
    let below = members.0.len();
    let mut at = 0;
    while at < members.0.len() {
        let (found, holders) = above(layer, &members.0[at]);
        let is_below = |name: &String| {
            let number = layer.with_name(name).map(|device| device.number);
            let is_it =
                |it: &OverlappingDevice| Some(it.storage) == number.map(StorageIdentity::Device);
            members.0[..below].iter().any(is_it)
        };
        let held_by = holders.into_iter().filter(|name| !is_below(name)).collect();
        members.0[at].held_by = held_by;
        for found in found {
            members.add(found);
        }
        at += 1;
        members.within_bounds()?;
    }
    Some(members.0)
}

struct Members(Vec<OverlappingDevice>);

impl Members {
    /// Add one, unless one that includes it is there.
    fn add(&mut self, found: OverlappingDevice) {
        // The way up leads back to the parts of a stack, whose other holders do not count.
        let is_fit = |known: &OverlappingDevice| {
            known.relation != Relation::Stacked
                || matches!(found.relation, Relation::Stacked | Relation::Above)
        };
        let includes = |known: &OverlappingDevice| {
            known.storage == found.storage
                && known.bytes.start <= found.bytes.start
                && known.bytes.end >= found.bytes.end
                && is_fit(known)
        };
        if !self.0.iter().any(includes) {
            self.0.push(found);
        }
    }

    fn within_bounds(&self) -> Option<()> {
        (self.0.len() <= MEMBERS_MAX).then_some(())
    }
}

fn member(storage: StorageIdentity, relation: Relation, bytes: Range<u64>) -> OverlappingDevice {
    OverlappingDevice {
        storage,
        relation,
        bytes,
        held_by: Vec::new(),
    }
}

/// What the bytes of `upper` lie in.
fn beneath(layer: &BlockLayer, upper: &OverlappingDevice) -> Vec<OverlappingDevice> {
    let StorageIdentity::Device(number) = upper.storage else {
        return Vec::new();
    };
    match layer.with_number(number).map(|device| &device.place) {
        Some(BackingDevice::Disk(disk, place)) => {
            let bytes = outward(&upper.bytes, place);
            vec![member(
                StorageIdentity::Device(*disk),
                Relation::Disk,
                bytes,
            )]
        }
        Some(BackingDevice::Backing(storage, place)) => {
            let bytes = outward(&upper.bytes, place);
            vec![member(*storage, Relation::Backing, bytes)]
        }
        Some(BackingDevice::Stacked(parts)) => parts
            .iter()
            .map(|part| {
                member(
                    StorageIdentity::Device(*part),
                    Relation::Stacked,
                    EVERYTHING,
                )
            })
            .collect(),
        Some(BackingDevice::Itself | BackingDevice::Unknown(_)) | None => Vec::new(),
    }
}

/// What lies on the bytes of `lower`, and who of that keeps them from being written.
fn above(layer: &BlockLayer, lower: &OverlappingDevice) -> (Vec<OverlappingDevice>, Vec<String>) {
    let mut found = Vec::new();
    let mut holders = Vec::new();
    for device in &layer.devices {
        let (place, is_loop) = match &device.place {
            BackingDevice::Disk(disk, place) if StorageIdentity::Device(*disk) == lower.storage => {
                (place, false)
            }
            BackingDevice::Backing(storage, place) if *storage == lower.storage => (place, true),
            _ => continue,
        };
        let bytes = lower.bytes.start.max(place.start)..lower.bytes.end.min(place.end);
        if bytes.is_empty() {
            continue;
        }
        let bytes = bytes.start - place.start..bytes.end - place.start;
        found.push(member(
            StorageIdentity::Device(device.number),
            Relation::Above,
            bytes,
        ));
        if is_loop {
            holders.push(device.name.clone());
        }
    }
    if let (StorageIdentity::Device(number), false) =
        (lower.storage, lower.relation == Relation::Stacked)
    {
        let named = layer.with_number(number).map(|device| &device.holders);
        holders.extend(named.into_iter().flatten().cloned());
        let stacks = layer.devices.iter().filter(|it| is_on(&it.place, number));
        holders.extend(stacks.map(|stack| stack.name.clone()));
        let numbers = holders.iter().filter_map(|name| layer.with_name(name));
        let whole = numbers.map(|it| {
            member(
                StorageIdentity::Device(it.number),
                Relation::Above,
                EVERYTHING,
            )
        });
        // Loop devices are here with their place already.
        let is_new =
            |it: &OverlappingDevice| !found.iter().any(|known| known.storage == it.storage);
        let whole: Vec<_> = whole.filter(is_new).collect();
        found.extend(whole);
        holders.sort();
        holders.dedup();
    }
    (found, holders)
}

fn is_on(place: &BackingDevice, number: DeviceNumber) -> bool {
    matches!(place, BackingDevice::Stacked(parts) if parts.contains(&number))
}

/// Bytes of an inner device as bytes of the one that it lies in at `place`.
fn outward(bytes: &Range<u64>, place: &Range<u64>) -> Range<u64> {
    let end = place.start.saturating_add(bytes.end).min(place.end);
    place.start.saturating_add(bytes.start).min(end)..end
}
