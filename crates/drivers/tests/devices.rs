//! Block devices: what is in use or carries data is not overwritten. Run on loop devices; skipped,
//! with a message, where those cannot be had.

// Cargo shows what a skipped test says only if it is printed.
#![allow(clippy::print_stderr)]

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivers::{AccessMode, Alignment, Caching, Target, TargetError, TargetKind, TargetOptions};
use tempfile::TempDir;

const SIZE: u64 = 16 << 20;

/// One test at a time: a child process that another test starts holds our descriptors, and with
/// them our claim to a device, until it runs its program.
static ALONE: Mutex<()> = Mutex::new(());

/// A loop device on a file of its own; detached when dropped, also by a panic.
struct Loop {
    path: PathBuf,
    scratch: TempDir,
    /// Undone first.
    mounted: Option<PathBuf>,
    _alone: MutexGuard<'static, ()>,
}

impl Loop {
    /// `None`, with a message, where loop devices cannot be had.
    fn new(options: &[&str]) -> Option<Self> {
        Self::holding(&[], options)
    }

    /// The same with `head` as its first bytes.
    fn holding(head: &[u8], options: &[&str]) -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let image = scratch.path().join("image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(SIZE).unwrap();
        file.write_all_at(head, 0).unwrap();
        let made = Command::new("losetup")
            .args(["-f", "--show"])
            .args(options)
            .arg(&image)
            .output();
        let path = made
            .ok()
            .filter(|made| made.status.success())
            .map(|made| PathBuf::from(String::from_utf8_lossy(&made.stdout).trim()));
        if path.is_none() {
            eprintln!("skipped: losetup is missing or may not make loop devices");
        }
        Some(Self {
            path: path?,
            scratch,
            mounted: None,
            _alone: alone,
        })
    }

    fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    fn image(&self) -> PathBuf {
        self.scratch.path().join("image")
    }

    fn overwrite(&self, confirmed: Option<&str>) -> Result<Target, TargetError> {
        let options = TargetOptions {
            access: AccessMode::Overwrite,
            caching: Caching::Direct,
            signature_confirmed: confirmed.map(str::to_owned),
        };
        Target::open(&self.path, &options)
    }

    /// The partition of 8 MiB, 1 MiB from the start; `None`, with a message, where there is none.
    fn first_partition(&self) -> Option<PathBuf> {
        // Not every kernel reads this kind of table, but every kernel can be told. When it has read
        // the table this fails, because the partition is there.
        let _ = Command::new("addpart")
            .arg(&self.path)
            .args(["1", "2048", "16384"])
            .output();
        let node = PathBuf::from(format!("{}p1", self.path.display()));
        if !node.exists() {
            eprintln!("skipped: no partition of a loop device can be had");
            return None;
        }
        Some(node)
    }

    /// False, with a message, when the tool is missing.
    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let done = Command::new(program)
            .args(arguments)
            .arg(&self.path)
            .output();
        let is_done = done.is_ok_and(|output| output.status.success());
        if !is_done {
            eprintln!("skipped: {program} is missing or failed");
        }
        is_done
    }

    fn mount(&mut self) -> bool {
        let point = self.scratch.path().join("point");
        std::fs::create_dir(&point).unwrap();
        let done = Command::new("mount").arg(&self.path).arg(&point).status();
        let is_done = done.is_ok_and(|status| status.success());
        if is_done {
            self.mounted = Some(point);
        } else {
            eprintln!("skipped: mount is missing or may not be used");
        }
        is_done
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if let Some(point) = &self.mounted {
            let _ = Command::new("umount").arg(point).status();
        }
        let _ = Command::new("losetup").arg("-d").arg(&self.path).status();
    }
}

fn read_only(path: &Path) -> Target {
    Target::open(path, &TargetOptions::default()).unwrap()
}

#[test]
fn a_blank_device_may_be_overwritten_and_is_ours_alone() {
    let Some(device) = Loop::new(&[]) else { return };
    let target = device.overwrite(None).unwrap();
    assert_eq!((target.kind(), target.size()), (TargetKind::Device, SIZE));
    assert!(target.is_exclusive());
    let second = device.overwrite(None).unwrap_err();
    assert!(matches!(second, TargetError::Busy { .. }), "{second}");
    drop(target);
    device.overwrite(None).unwrap();
}

#[test]
fn a_device_is_read_only_by_default() {
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
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    if !device.run("mkfs.ext4", &["-q"]) || !device.mount() {
        return;
    }
    let refused = device.overwrite(Some(device.name())).unwrap_err();
    assert!(matches!(refused, TargetError::Mounted { .. }), "{refused}");
    assert!(
        refused.to_string().contains("/point; unmount it first"),
        "{refused}"
    );
    assert_eq!(read_only(&device.path).size(), SIZE);
}

#[test]
fn a_file_behind_a_device_is_refused() {
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
    for (options, expected) in [(vec![], 512), (vec!["-b", "4096"], 4096)] {
        let Some(device) = Loop::new(&options) else {
            return;
        };
        let Alignment { offset, memory } = read_only(&device.path).alignment();
        assert_eq!(offset, expected);
        assert!(memory <= expected && memory.is_power_of_two());
    }
}
