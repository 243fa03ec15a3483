//! Is a block device or a file in use? Asked of the kernel by device and inode, so that no path can
//! mislead, and of everything that shares bytes with it.

mod block_layer;
mod loop_device;
mod mounts;
mod overlay;
mod shared_bytes;
#[cfg(test)]
mod shared_bytes_tests;
mod swaps;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use self::block_layer::{
    AskLoop, BlockLayer, BlockLayerDevice, StorageIdentity, array_members, names_in,
};
use self::loop_device::ask_loop;
use self::mounts::{MountInfoLine, all_mounts, own_mounts};
use self::overlay::{Beneath, beneath, is_read_through};
use self::shared_bytes::{OverlappingDevice, Relation, sharing};
use self::swaps::Swaps;
use crate::target_error::TargetError;

/// Where the kernel answers.
struct Kernel<'a> {
    sys: &'a Path,
    proc: &'a Path,
    ask: AskLoop<'a>,
}

fn kernel() -> Kernel<'static> {
    Kernel {
        sys: Path::new("/sys"),
        proc: Path::new("/proc"),
        ask: &ask_loop,
    }
}

/// A block device and everything that shares bytes with it.
#[derive(Debug)]
pub(crate) struct Device {
    path: String,
    layer: BlockLayer,
    members: Vec<OverlappingDevice>,
}

impl Device {
    /// The device behind an open descriptor whose metadata are `metadata`.
    pub(crate) fn of(metadata: &Metadata, path: &Path) -> Result<Self, TargetError> {
        let storage = StorageIdentity::of(metadata);
        Self::in_kernel(&kernel(), storage.expect("a block device"), path)
    }

    fn in_kernel(
        kernel: &Kernel<'_>,
        start: StorageIdentity,
        path: &Path,
    ) -> Result<Self, TargetError> {
        let layer = BlockLayer::read(kernel.sys, kernel.proc, kernel.ask)?;
        let path = path.display().to_string();
        let is_known = |number| layer.with_number(number).is_some();
        if !matches!(start, StorageIdentity::Device(number) if is_known(number)) {
            let what = format!(
                "{} does not list it",
                kernel.sys.join("dev/block").display()
            );
            return Err(TargetError::Unseen { device: path, what });
        }
        let Some(members) = sharing(&layer, start) else {
            let what = "more devices share bytes with it than can be followed".to_owned();
            return Err(TargetError::Unseen { device: path, what });
        };
        Ok(Self {
            path,
            layer,
            members,
        })
    }

    /// The kernel's name, such as `sda`.
    pub(crate) fn name(&self) -> &str {
        self.name_of(self.members[0].storage)
    }

    /// Refuse a device that is mounted, swapped to, or part of another device, itself or by way of
    /// anything that shares bytes with it.
    pub(crate) fn refuse_if_used(&self) -> Result<(), TargetError> {
        self.refuse_by(&kernel())
    }

    fn refuse_by(&self, kernel: &Kernel<'_>) -> Result<(), TargetError> {
        self.refuse_if_mounted(kernel)?;
        self.refuse_if_swap(kernel)?;
        self.refuse_if_held()?;
        self.refuse_if_read_through(kernel)?;
        match self.layer.unresolved().next() {
            None => Ok(()),
            Some(unresolved) => Err(TargetError::Unseen {
                device: self.path.clone(),
                what: format!("the system does not show what is below {unresolved}"),
            }),
        }
    }

    /// Claim what the device lies on, if it is a loop device: who has that for himself is not kept
    /// from it by a claim to the loop device.
    pub(crate) fn claim_backing(&self) -> Result<Vec<File>, TargetError> {
        let backing = self
            .members
            .iter()
            .filter(|it| it.relation == Relation::Backing);
        let devices = backing.filter(|it| matches!(it.storage, StorageIdentity::Device(_)));
        devices
            .map(|it| {
                // The kernel writes `!` where a name has a slash.
                let node = self.name_of(it.storage).replace('!', "/");
                self.claim_member(&PathBuf::from(format!("/dev/{node}")), it)
            })
            .collect()
    }

    fn claim_member(&self, node: &Path, member: &OverlappingDevice) -> Result<File, TargetError> {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_EXCL)
            .open(node);
        let file = opened.map_err(|error| match error.raw_os_error() {
            Some(libc::EBUSY) => TargetError::Held {
                device: self.path.clone(),
                member: self.name_of(member.storage).to_owned(),
                holders: "the system or another program".to_owned(),
            },
            _ => TargetError::io("open exclusively", node, error),
        })?;
        let found = file
            .metadata()
            .map_err(|error| TargetError::io("examine", node, error))?;
        if StorageIdentity::of(&found) == Some(member.storage) {
            return Ok(file);
        }
        let error = io::Error::other("it is another device");
        Err(TargetError::io("open exclusively", node, error))
    }

    fn refuse_if_held(&self) -> Result<(), TargetError> {
        let held = self.members.iter().find(|it| !it.held_by.is_empty());
        match held {
            None => Ok(()),
            Some(member) => Err(TargetError::Held {
                device: self.path.clone(),
                member: self.name_of(member.storage).to_owned(),
                holders: member.held_by.join(", "),
            }),
        }
    }

    /// The file beneath a loop device may be beneath another one as well, by way of an overlay.
    fn refuse_if_read_through(&self, kernel: &Kernel<'_>) -> Result<(), TargetError> {
        let is_member = |device: &BlockLayerDevice| {
            let mut members = self.members.iter();
            members.any(|it| it.storage == StorageIdentity::Device(device.number))
        };
        let (own, others): (Vec<_>, Vec<_>) =
            self.layer.devices.iter().partition(|it| is_member(it));
        let below = own.iter().filter_map(|it| {
            let file = it
                .backing()
                .filter(|it| matches!(it, StorageIdentity::File { .. }));
            Some((file?, it.backing_name.as_deref()?))
        });
        let below: Vec<_> = below.collect();
        if below.is_empty() {
            return Ok(());
        }
        let mounts = all_mounts(kernel.proc)?;
        for (file, path) in below {
            let reads = |it: &&&BlockLayerDevice| reads_through(it, (&[file], path), &mounts);
            if let Some(holder) = others.iter().find(reads) {
                return Err(TargetError::Held {
                    device: self.path.clone(),
                    member: path.display().to_string(),
                    holders: holder.name.clone(),
                });
            }
        }
        Ok(())
    }

    fn refuse_if_mounted(&self, kernel: &Kernel<'_>) -> Result<(), TargetError> {
        for mount in all_mounts(kernel.proc)? {
            let is_of = |it: &&OverlappingDevice| mount.is_of(it.storage, kernel.proc);
            if let Some(member) = self.members.iter().find(is_of) {
                return Err(self.mounted(member, mount.place()));
            }
        }
        self.refuse_if_in_btrfs(kernel)
    }

    /// A mounted Btrfs names only one of its devices as the source; the rest are listed here.
    fn refuse_if_in_btrfs(&self, kernel: &Kernel<'_>) -> Result<(), TargetError> {
        let list = kernel.sys.join("fs/btrfs");
        for id in names_in(&list) {
            let devices = names_in(&list.join(&id).join("devices"));
            let is_in = |it: &&OverlappingDevice| {
                devices.iter().any(|name| name == self.name_of(it.storage))
            };
            if let Some(member) = self.members.iter().find(is_in) {
                return Err(self.mounted(member, format!("Btrfs {id}")));
            }
        }
        Ok(())
    }

    fn refuse_if_swap(&self, kernel: &Kernel<'_>) -> Result<(), TargetError> {
        let storages: Vec<_> = self.members.iter().map(|it| it.storage).collect();
        match Swaps::read(kernel.proc)?.find(&storages) {
            None => Ok(()),
            Some(swap) => Err(TargetError::Swap {
                device: self.path.clone(),
                member: self.name_of(swap).to_owned(),
            }),
        }
    }

    fn name_of(&self, storage: StorageIdentity) -> &str {
        let StorageIdentity::Device(number) = storage else {
            return "the file beneath it";
        };
        let device = self.layer.with_number(number);
        device.map_or("a device that is gone", |device| &device.name)
    }

    fn mounted(&self, member: &OverlappingDevice, place: String) -> TargetError {
        TargetError::Mounted {
            device: self.path.clone(),
            member: self.name_of(member.storage).to_owned(),
            place,
        }
    }
}

/// Refuse a regular file that the system uses as swap space, as a disk, or as a file system.
///
/// # Errors
/// When something speaks against writing to it.
pub fn refuse_if_file_used(metadata: &Metadata, path: &Path) -> Result<(), TargetError> {
    look_at_file(metadata, path).map(drop)
}

/// The same; what could not be looked at is told.
pub(crate) fn look_at_file(metadata: &Metadata, path: &Path) -> Result<Vec<String>, TargetError> {
    match StorageIdentity::of(metadata) {
        Some(file @ StorageIdentity::File { .. }) => look_in_kernel(&kernel(), file, path),
        _ => Ok(Vec::new()),
    }
}

fn look_in_kernel(
    kernel: &Kernel<'_>,
    file: StorageIdentity,
    path: &Path,
) -> Result<Vec<String>, TargetError> {
    let mut unseen = Vec::new();
    let device = path.display().to_string();
    let mounts = own_mounts(kernel.proc).unwrap_or_default();
    let mut storages = vec![file];
    let plain = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match beneath(&plain, &mounts) {
        Beneath::Nothing => {}
        Beneath::File(storage) => storages.push(storage),
        Beneath::Hidden(upper) => unseen.push(format!(
            "{device} lies on an overlay whose upper layer, {}, is not seen from here",
            upper.display()
        )),
    }
    match Swaps::read(kernel.proc) {
        Ok(swaps) if swaps.find(&storages).is_some() || swaps.holds_file(path, file) => {
            return Err(TargetError::Swap {
                member: device.clone(),
                device,
            });
        }
        Ok(_) => {}
        Err(error) => unseen.push(reason_of(&error)),
    }
    let everywhere = all_mounts(kernel.proc);
    match BlockLayer::read(kernel.sys, kernel.proc, kernel.ask) {
        Ok(layer) => {
            let mounts = everywhere.as_ref().unwrap_or(&mounts);
            refuse_if_backing(&layer, mounts, (&storages, &plain), &device)?;
            unseen.extend(
                layer
                    .unresolved()
                    .map(|it| format!("the system does not show what is below {it}")),
            );
        }
        Err(error) => unseen.push(reason_of(&error)),
    }
    match everywhere {
        Ok(mounts) => refuse_if_mounted_file(kernel, &mounts, &storages, &device)?,
        Err(error) => unseen.push(reason_of(&error)),
    }
    Ok(unseen)
}

/// Refuse a file beneath a loop device, whatever that is used for.
fn refuse_if_backing(
    layer: &BlockLayer,
    mounts: &[MountInfoLine],
    (storages, path): (&[StorageIdentity], &Path),
    file: &str,
) -> Result<(), TargetError> {
    for device in &layer.devices {
        let is_direct = device
            .backing()
            .is_some_and(|backing| storages.contains(&backing));
        if is_direct || reads_through(device, (storages, path), mounts) {
            return Err(TargetError::Held {
                member: file.to_owned(),
                device: file.to_owned(),
                holders: device.name.clone(),
            });
        }
    }
    Ok(())
}

/// Whether a loop device reads one of the files through a stacking file system.
fn reads_through(
    device: &BlockLayerDevice,
    files: (&[StorageIdentity], &Path),
    mounts: &[MountInfoLine],
) -> bool {
    let name = device.backing_name.as_deref();
    name.is_some_and(|name| is_read_through((device.backing(), name), files, mounts))
}

/// Some file systems are mounted from an image file without a loop device.
fn refuse_if_mounted_file(
    kernel: &Kernel<'_>,
    mounts: &[MountInfoLine],
    storages: &[StorageIdentity],
    file: &str,
) -> Result<(), TargetError> {
    let shows = |mount: &&MountInfoLine| storages.iter().any(|it| mount.is_of(*it, kernel.proc));
    match mounts.iter().find(shows) {
        None => Ok(()),
        Some(mount) => Err(TargetError::Mounted {
            device: file.to_owned(),
            member: file.to_owned(),
            place: mount.place(),
        }),
    }
}

/// An error with its cause, for a list of what was not seen.
fn reason_of(error: &TargetError) -> String {
    match error {
        TargetError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
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

/// Read what may be a table of mounts, of swap space or of arrays.
pub(crate) fn read_tables(text: &str) {
    let _ = text.lines().filter_map(MountInfoLine::parse).count();
    let _ = Swaps::parse(text);
    let _ = array_members(text).count();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape("a\\040b\\134c\\x"), "a b\\c\\x");
    }
}
