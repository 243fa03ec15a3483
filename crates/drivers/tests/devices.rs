//! Block devices: what is in use or carries data is not overwritten. Run on loop devices; skipped,
//! with a message, where those cannot be had.

// Cargo shows what a skipped test says only if it is printed.
#![allow(clippy::print_stderr)]

#[path = "devices/content.rs"]
mod content;
#[path = "devices/loops.rs"]
mod loops;
#[path = "devices/shared.rs"]
mod shared;

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivers::{AccessMode, Alignment, Caching, Target, TargetError, TargetFileType, TargetOptions};

use loops::{Loop, SIZE};

fn read_only(path: &Path) -> Target {
    Target::open(path, &TargetOptions::default()).unwrap()
}

/// Taken by every test: until it runs its program, a child that another test starts holds our
/// descriptors, and with them the claim on a device.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_blank_device_may_be_overwritten_and_is_ours_alone() {
    let _alone = alone();
    let Some(device) = Loop::new(&[]) else { return };
    let target = device.overwrite(None).unwrap();
    assert_eq!(
        (target.kind(), target.size()),
        (TargetFileType::Device, SIZE)
    );
    assert!(target.is_exclusive());
    let second = device.overwrite(None).unwrap_err();
    assert!(matches!(second, TargetError::Busy { .. }), "{second}");
    drop(target);
    device.overwrite(None).unwrap();
}

#[test]
fn a_device_is_read_only_by_default() {
    let _alone = alone();
    let Some(device) = Loop::new(&[]) else { return };
    let target = read_only(&device.path);
    assert_eq!(target.access(), AccessMode::ReadOnly);
    let refused = target.file().write_all_at(&[0; 4096], 0).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc_ebadf()));
}

fn libc_ebadf() -> i32 {
    rustix::io::Errno::BADF.raw_os_error()
}

#[test]
fn a_device_with_a_file_system_needs_its_name_typed() {
    let _alone = alone();
    let Some(device) = Loop::new(&[]) else { return };
    if !device.run("mkfs.ext4", &["-q"]) {
        return;
    }
    let refused = device.overwrite(None).unwrap_err().to_string();
    assert!(
        refused.contains("it carries an ext2, ext3 or ext4 file system"),
        "{refused}"
    );
    for wrong in ["", "yes", "loop", "/dev/"] {
        let refused = device.overwrite(Some(wrong)).unwrap_err();
        assert!(
            matches!(refused, TargetError::Signature { .. }),
            "{wrong}: {refused}"
        );
    }
    device.overwrite(Some(device.name())).unwrap();
    device
        .overwrite(Some(device.path.to_str().unwrap()))
        .unwrap();
}

#[test]
fn what_the_tools_write_is_recognised() {
    let _alone = alone();
    for (program, arguments, expected) in [
        ("mkswap", vec![], "swap space"),
        (
            "mkfs.ext4",
            vec!["-q", "-O", "journal_dev"],
            "file system or journal",
        ),
        ("mkfs.vfat", vec![], "a FAT file system"),
        ("mkfs.btrfs", vec!["-q", "--mixed"], "a Btrfs file system"),
        (
            "cryptsetup",
            vec!["-q", "luksFormat", "--key-file", "/dev/null"],
            "a LUKS volume",
        ),
    ] {
        let Some(device) = Loop::new(&[]) else { return };
        if device.run(program, &arguments) {
            let refused = device.overwrite(None).unwrap_err().to_string();
            assert!(refused.contains(expected), "{program}: {refused}");
        }
    }
}

#[test]
fn a_mounted_device_is_refused_whatever_was_typed() {
    let _alone = alone();
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    if !device.run("mkfs.ext4", &["-q"]) || !device.mount() {
        return;
    }
    let refused = device.overwrite(Some(device.name())).unwrap_err();
    assert!(matches!(refused, TargetError::Mounted { .. }), "{refused}");
    assert!(
        refused.to_string().contains("/point. Unmount it first"),
        "{refused}"
    );
    assert_eq!(read_only(&device.path).size(), SIZE);
}

#[test]
fn a_file_behind_a_device_is_refused() {
    let _alone = alone();
    let Some(device) = Loop::new(&[]) else { return };
    let options = TargetOptions {
        access: AccessMode::Overwrite,
        caching: Caching::Buffered,
        ..TargetOptions::default()
    };
    let refused = Target::open(&device.image(), &options)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains(&format!("is in use by {}", device.name())),
        "{refused}"
    );
}

#[test]
fn a_disk_with_a_partition_in_use_is_refused() {
    let _alone = alone();
    // One partition of 8 MiB, 1 MiB from the start.
    let mut table = [0; 512];
    table[446 + 4] = 0x83;
    table[446 + 8..446 + 12].copy_from_slice(&2048_u32.to_le_bytes());
    table[446 + 12..446 + 16].copy_from_slice(&16_384_u32.to_le_bytes());
    table[510..].copy_from_slice(&[0x55, 0xaa]);
    let Some(device) = Loop::holding(&table, &["-P"]) else {
        return;
    };
    let refused = device.overwrite(None).unwrap_err().to_string();
    assert!(
        refused.contains("it carries a partition table"),
        "{refused}"
    );
    let Some(partition) = device.first_partition() else {
        return;
    };
    let options = TargetOptions {
        access: AccessMode::Overwrite,
        ..TargetOptions::default()
    };
    let claimed = Target::open(&partition, &options).unwrap();
    let refused = device.overwrite(Some(device.name())).unwrap_err();
    assert!(matches!(refused, TargetError::Busy { .. }), "{refused}");
    drop(claimed);
    device.overwrite(Some(device.name())).unwrap();
}

#[test]
fn the_sector_size_of_a_device_is_found() {
    let _alone = alone();
    for (options, expected) in [(vec![], 512), (vec!["-b", "4096"], 4096)] {
        let Some(device) = Loop::new(&options) else {
            return;
        };
        let Alignment { offset, memory } = read_only(&device.path).alignment();
        assert_eq!(offset, expected);
        assert!(memory <= expected && memory.is_power_of_two());
    }
}
