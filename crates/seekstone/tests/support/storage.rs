//! Loop devices and file systems of a test's own. They are unmounted and detached when dropped,
//! also by a panic.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::{Scratch, skipped};
use rustix::fs::{FallocateFlags, fallocate};

/// Tries to unmount before giving up: a ring is taken apart a moment after its process has ended.
const UNMOUNT_TRIES: usize = 5000;
/// Looks at a device before giving up, and the time between two.
const FREE_LOOKS: u32 = 2400;
const FREE_EVERY: Duration = Duration::from_millis(50);

/// A loop device that goes round the page cache, or does not: a file in memory lies there.
const DIRECT: &str = "--direct-io=on";
const BUFFERED: &str = "--direct-io=off";

/// A loop device on an image file in a scratch directory.
pub struct Loop {
    pub device: PathBuf,
    pub image: PathBuf,
}

impl Loop {
    /// A device that holds nothing known; `None`, with a message, where there can be none.
    pub fn new(test: &str, scratch: &Scratch, mib: usize) -> Option<Self> {
        Self::filled(DIRECT, test, scratch.path("image"), mib)
    }

    /// The same on a file system: on one in memory, no other work on the disks makes it slower.
    pub fn within(test: &str, made: &FileSystem, mib: usize) -> Option<Self> {
        let option = made.device.as_ref().map_or(BUFFERED, |_| DIRECT);
        Self::filled(option, test, made.root.join("image"), mib)
    }

    fn filled(option: &str, test: &str, image: PathBuf, mib: usize) -> Option<Self> {
        let mut file = File::create_new(&image).expect("an image file");
        let pattern: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
        for _ in 0..mib {
            file.write_all(&pattern).expect("room for an image");
        }
        file.sync_all().expect("an image on disk");
        Self::attach(option, test, image)
    }

    /// The same device once more, through the page cache.
    pub fn buffered(&self, test: &str) -> Option<Self> {
        Self::attach(BUFFERED, test, self.image.clone())
    }

    fn attach(option: &str, test: &str, image: PathBuf) -> Option<Self> {
        let made = Command::new("losetup")
            .args(["-f", "--show", option])
            .arg(&image)
            .output();
        let device = made
            .ok()
            .filter(|made| made.status.success())
            .map(|made| PathBuf::from(String::from_utf8_lossy(&made.stdout).trim()));
        if device.is_none() {
            skipped(test, "losetup is missing or may not make loop devices");
        }
        let device = device?;
        Some(Self { device, image })
    }

    /// A device of `mib` on `memory`, which has no space for all of it: what is written there
    /// fails once that is full.
    pub fn thin(test: &str, memory: &FileSystem, mib: usize) -> Option<Self> {
        let image = memory.root.join("image");
        let file = File::create_new(&image).expect("an image file");
        file.set_len((mib as u64) << 20).expect("a size");
        Self::attach(BUFFERED, test, image)
    }

    /// Such as `loop0`.
    pub fn name(&self) -> &str {
        self.device
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name")
    }

    pub fn path(&self) -> &str {
        self.device.to_str().expect("a plain path")
    }

    /// What lies on it now.
    pub fn content(&self) -> Vec<u8> {
        succeed("sync", &["-f", self.image.to_str().expect("a plain path")]);
        fs::read(&self.image).expect("the image")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}

/// A small file system that is mounted in a scratch directory.
pub struct FileSystem {
    /// Mount point.
    pub root: PathBuf,
    /// Beneath it; a file system in memory has none.
    pub device: Option<Loop>,
}

impl FileSystem {
    /// An ext4 file system; `None`, with a message, where there can be none.
    pub fn ext4(test: &str, scratch: &Scratch, mib: usize, make_options: &[&str]) -> Option<Self> {
        let options = [&["-q", "-F"], make_options].concat();
        Self::made(test, scratch, mib, "mkfs.ext4", &options)
    }

    /// A btrfs file system; `None`, with a message, where there can be none.
    pub fn btrfs(test: &str, scratch: &Scratch, mib: usize) -> Option<Self> {
        Self::made(test, scratch, mib, "mkfs.btrfs", &["-q", "-f"])
    }

    fn made(
        test: &str,
        scratch: &Scratch,
        mib: usize,
        program: &str,
        options: &[&str],
    ) -> Option<Self> {
        let image = scratch.path("file-system");
        let file = File::create_new(&image).expect("an image file");
        file.set_len((mib as u64) << 20).expect("a size");
        let option = match scratch.is_in_memory() {
            true => BUFFERED,
            false => DIRECT,
        };
        let device = Loop::attach(option, test, image)?;
        if !is_success(Command::new(program).args(options).arg(&device.device)) {
            skipped(test, &format!("{program} is missing"));
            return None;
        }
        let made = Self {
            root: mount_point(scratch),
            device: Some(device),
        };
        made.mount(test, "rw").then_some(made)
    }

    /// An ext4 file system on that device, which goes on after errors.
    pub fn enduring(test: &str, scratch: &Scratch, device: Loop) -> Option<Self> {
        let options = ["-q", "-F", "-O", "^has_journal", "-e", "continue"];
        if !is_success(Command::new("mkfs.ext4").args(options).arg(&device.device)) {
            skipped(test, "mkfs.ext4 is missing");
            return None;
        }
        let root = scratch.path("enduring");
        fs::create_dir_all(&root).expect("a directory");
        let device = Some(device);
        let made = Self { root, device };
        made.mount(test, "rw").then_some(made)
    }

    /// A file system in memory.
    pub fn tmpfs(test: &str, scratch: &Scratch, mib: usize) -> Option<Self> {
        let root = mount_point(scratch);
        let size = format!("size={mib}M");
        let mut command = Command::new("mount");
        command
            .args(["-t", "tmpfs", "-o", &size, "seekstone-test"])
            .arg(&root);
        if !is_success(&mut command) {
            skipped(test, "mounting is not allowed");
            return None;
        }
        let device = None;
        Some(Self { root, device })
    }

    /// Mount it again; `false`, with a message, where that is not allowed.
    pub fn mount(&self, test: &str, options: &str) -> bool {
        let device = &self.device.as_ref().expect("a device").device;
        let mut command = Command::new("mount");
        command.args(["-o", options]).arg(device).arg(&self.root);
        let is_mounted = is_success(&mut command);
        if !is_mounted {
            skipped(test, "mounting is not allowed");
        }
        is_mounted
    }

    pub fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        succeed("mount", &["-o", &options, self.path()]);
    }

    /// Unmount it everywhere, for another look later. Its device is free then.
    pub fn unmount(&self) {
        unmount(&self.root, &self.device);
    }

    /// Repair what a broken file system left.
    pub fn repair(&self) {
        let device = &self.device.as_ref().expect("a device").device;
        let mut fsck = Command::new("fsck.ext4");
        let ended = fsck.arg("-fy").arg(device).output().expect("fsck.ext4");
        // It ends with 1 when something was repaired.
        assert!(matches!(ended.status.code(), Some(0 | 1)), "{ended:?}");
    }

    /// Change an ext4 file system that is not mounted, with a command of debugfs.
    pub fn edit(&self, command: &str) {
        let device = &self.device.as_ref().expect("a device").device;
        let device = device.to_str().expect("a plain path");
        succeed("debugfs", &["-w", "-R", command, device]);
    }

    pub fn path(&self) -> &str {
        self.root.to_str().expect("a plain path")
    }

    /// Bytes that an ordinary user may still take.
    pub fn available(&self) -> u64 {
        let found = rustix::fs::statvfs(&self.root).expect("free space");
        found.f_bavail * found.f_frsize
    }
}

/// A btrfs file system that mirrors data over two loop devices.
pub struct Mirror {
    /// Mount point.
    pub root: PathBuf,
    /// Both members; a member that was taken away is gone from here.
    pub members: Vec<Loop>,
}

impl Mirror {
    /// A mounted mirror; `None`, with a message, where there can be none.
    pub fn new(test: &str, scratch: &Scratch, mib: usize) -> Option<Self> {
        let mut members = Vec::new();
        for number in 0..2 {
            members.push(Self::device(
                test,
                scratch,
                &format!("member-{number}"),
                mib,
            )?);
        }
        let made = is_success(
            Command::new("mkfs.btrfs")
                .args(["-q", "-f", "-d", "raid1", "-m", "raid1"])
                .args(members.iter().map(|member| &member.device)),
        );
        if !made {
            skipped(test, "mkfs.btrfs is missing");
            return None;
        }
        let root = mount_point(scratch);
        let mirror = Self { root, members };
        mirror.mount(test, "rw").then_some(mirror)
    }

    /// A loop device that could be a member.
    pub fn device(test: &str, scratch: &Scratch, name: &str, mib: usize) -> Option<Loop> {
        let image = scratch.path(name);
        let file = File::create_new(&image).expect("an image file");
        file.set_len((mib as u64) << 20).expect("a size");
        Loop::attach(DIRECT, test, image)
    }

    /// Mount it again; `false`, with a message, where that is not allowed.
    pub fn mount(&self, test: &str, options: &str) -> bool {
        for member in &self.members {
            succeed("btrfs", &["device", "scan", member.path()]);
        }
        let mut command = Command::new("mount");
        command
            .args(["-o", options])
            .arg(&self.members[0].device)
            .arg(&self.root);
        let is_mounted = is_success(&mut command);
        if !is_mounted {
            skipped(test, "btrfs cannot be mounted");
        }
        is_mounted
    }

    /// Take the second member away, and mount what is left.
    pub fn lose_member(&mut self, test: &str) -> bool {
        unmount(&self.root, &self.members);
        let lost = self.members.pop().expect("a second member");
        succeed("btrfs", &["device", "scan", "-u", lost.path()]);
        drop(lost);
        self.mount(test, "degraded")
    }

    pub fn path(&self) -> &str {
        self.root.to_str().expect("a plain path")
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        let _ = is_success(Command::new("umount").arg("-l").arg(&self.root));
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        // Lazily: whoever still uses it must not keep the next test from its device.
        let _ = is_success(Command::new("umount").arg("-l").arg(&self.root));
    }
}

fn mount_point(scratch: &Scratch) -> PathBuf {
    let root = scratch.path("mounted");
    fs::create_dir_all(&root).expect("a directory");
    root
}

/// Unmount it, and wait until its devices are free. Another test that copied the mounts of this
/// process into a namespace of its own keeps the file system mounted until it ends: mounting the
/// device again would show what the kernel still has of it, and not what was changed on the device.
fn unmount<'a>(root: &Path, devices: impl IntoIterator<Item = &'a Loop>) {
    let is_unmounted = (0..UNMOUNT_TRIES).any(|_| is_success(Command::new("umount").arg(root)));
    assert!(is_unmounted, "{} stays busy", root.display());
    for Loop { device, .. } in devices {
        let is_free = |_| {
            let mut exclusive = File::options();
            exclusive.read(true).custom_flags(libc::O_EXCL);
            let opened = exclusive.open(device);
            opened.inspect_err(|_| thread::sleep(FREE_EVERY)).is_ok()
        };
        let is_free = (0..FREE_LOOKS).any(is_free);
        assert!(is_free, "{} stays in use", device.display());
    }
}

/// Fill a file system to the last block with a file of the user's. Most of it is taken and not
/// written: a program that is under way must not be done before.
pub fn fill(directory: &Path) {
    let mut file = File::create_new(directory.join("fill")).expect("a file");
    let mut part = 64_u64 << 20;
    while part >= 64 << 10 {
        let end = file.metadata().expect("metadata").len();
        if fallocate(&file, FallocateFlags::empty(), end, part).is_err() {
            part /= 2;
        }
    }
    file.seek(SeekFrom::End(0)).expect("the end");
    let block = vec![0x5a; 64 << 10];
    while file.write_all(&block).is_ok() {}
    // The last blocks are taken one by one.
    while file.write_all(&block[..512]).is_ok() {}
    let _ = file.sync_all();
}

/// Run a command that must succeed.
#[track_caller]
pub fn succeed(program: &str, args: &[&str]) {
    assert!(
        is_success(Command::new(program).args(args)),
        "{program} {args:?}"
    );
}

fn is_success(command: &mut Command) -> bool {
    let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    ended.is_ok_and(|status| status.success())
}
