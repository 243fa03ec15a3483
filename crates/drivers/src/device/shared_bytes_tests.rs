//! Devices in a `/sys` and a `/proc` of the test's own.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::block_layer::{DeviceNumber, StorageIdentity, bytes_of};
use super::loop_device::LoopStatus;
use super::{Device, Kernel, look_in_kernel};
use crate::target_error::TargetError;

const MIB: u64 = 1 << 20;
const FILE: StorageIdentity = StorageIdentity::File {
    file_system: DeviceNumber { major: 8, minor: 1 },
    inode: 77,
};

/// A made-up machine.
struct Machine {
    root: TempDir,
    numbers: HashMap<String, u32>,
    loops: HashMap<String, LoopStatus>,
    mounts: String,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for directory in ["sys/dev/block", "proc/self"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        let machine = Self {
            root,
            numbers: HashMap::new(),
            loops: HashMap::new(),
            mounts: String::new(),
        };
        machine.put("proc/swaps", "Filename Type Size Used Priority\n");
        machine.put("proc/self/mountinfo", "");
        machine
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn directory(&self, name: &str) -> PathBuf {
        let number = self.number(name);
        let link = format!("sys/dev/block/{}:{}", number.major, number.minor);
        fs::canonicalize(self.root.path().join(link)).unwrap()
    }

    fn number(&self, name: &str) -> DeviceNumber {
        let minor = self.numbers[name];
        DeviceNumber { major: 9, minor }
    }

    fn storage(&self, name: &str) -> StorageIdentity {
        StorageIdentity::Device(self.number(name))
    }

    fn add(&mut self, name: &str, directory: &str) {
        let minor = u32::try_from(self.numbers.len()).unwrap();
        self.numbers.insert(name.to_owned(), minor);
        self.put(&format!("{directory}/dev"), &format!("9:{minor}\n"));
        let link = self.root.path().join(format!("sys/dev/block/9:{minor}"));
        symlink(self.root.path().join(directory), link).unwrap();
    }

    fn disk(mut self, name: &str) -> Self {
        self.add(name, &format!("sys/devices/{name}"));
        self
    }

    /// A partition of `disk`, in MiB.
    fn partition(mut self, disk: &str, name: &str, start: u64, len: u64) -> Self {
        let directory = format!("sys/devices/{disk}/{name}");
        self.add(name, &directory);
        self.put(&format!("{directory}/partition"), "1\n");
        self.put(
            &format!("{directory}/start"),
            &format!("{}\n", start * 2048),
        );
        self.put(&format!("{directory}/size"), &format!("{}\n", len * 2048));
        self
    }

    /// A loop device on a whole device or file, or a part of it, in MiB.
    fn looped(mut self, name: &str, storage: StorageIdentity, offset: u64, limit: u64) -> Self {
        let directory = format!("sys/devices/{name}");
        self.add(name, &directory);
        let backing = "/gone (deleted)\n";
        self.put(&format!("{directory}/loop/backing_file"), backing);
        let bytes = bytes_of(offset * MIB, limit * MIB);
        self.loops
            .insert(name.to_owned(), LoopStatus { storage, bytes });
        self
    }

    fn loop_over(self, name: &str, device: &str, offset: u64, limit: u64) -> Self {
        let storage = self.storage(device);
        self.looped(name, storage, offset, limit)
    }

    /// Device mapper or RAID.
    fn stack(mut self, name: &str, parts: &[&str]) -> Self {
        self.add(name, &format!("sys/devices/{name}"));
        let own = self.directory(name);
        fs::create_dir_all(own.join("slaves")).unwrap();
        for part in parts {
            let directory = self.directory(part);
            symlink(&directory, own.join("slaves").join(part)).unwrap();
            fs::create_dir_all(directory.join("holders")).unwrap();
            symlink(&own, directory.join("holders").join(name)).unwrap();
        }
        self
    }

    fn mounted(mut self, name: &str) -> Self {
        let minor = self.numbers[name];
        let line = format!("1 0 9:{minor} / /mnt/{name} rw - ext4 none rw\n");
        self.mounts.push_str(&line);
        self.put("proc/self/mountinfo", &self.mounts);
        self
    }

    fn with<T>(&self, use_it: impl FnOnce(&Kernel<'_>) -> T) -> T {
        let ask = |name: &str, _: DeviceNumber| {
            let status = self.loops.get(name).cloned();
            status.ok_or_else(|| io::Error::from_raw_os_error(libc::EACCES))
        };
        let (sys, proc) = (self.root.path().join("sys"), self.root.path().join("proc"));
        use_it(&Kernel {
            sys: &sys,
            proc: &proc,
            ask: &ask,
        })
    }

    fn refusal(&self, name: &str) -> Result<(), TargetError> {
        self.with(|kernel| {
            let path = PathBuf::from(format!("/dev/{name}"));
            Device::in_kernel(kernel, self.storage(name), &path)?.refuse_by(kernel)
        })
    }

    /// Overwriting `name` is refused with words that hold `expected`; with none, it is not.
    #[track_caller]
    fn check(&self, name: &str, expected: &str) {
        match (self.refusal(name), expected) {
            (Ok(()), "") => {}
            (Ok(()), _) => panic!("{name} is not refused: {expected}"),
            (Err(error), _) => {
                let text = error.to_string();
                assert!(!expected.is_empty() && text.contains(expected), "{text}");
            }
        }
    }
}

fn partitioned() -> Machine {
    let machine = Machine::new().disk("sda").disk("sdb");
    let machine = machine.partition("sda", "sda1", 1, 8);
    machine.partition("sda", "sda2", 9, 8)
}

#[test]
fn a_partition_shares_bytes_with_its_disk_and_not_with_its_neighbours() {
    let machine = partitioned().mounted("sda1");
    machine.check("sda1", "sda1 is mounted at /mnt/sda1. Unmount it first");
    machine.check("sda", "sda1 is mounted at /mnt/sda1");
    machine.check("sda2", "");
    machine.check("sdb", "");
    let machine = partitioned().mounted("sda");
    machine.check("sda2", "sda is mounted");
}

/// A device was overwritten beneath a file system that was mounted by way of a loop device: such a
/// one is in no list of holders, and does not keep others from an exclusive opening.
#[test]
fn a_loop_device_on_a_device_or_partition_is_followed() {
    let machine = partitioned().loop_over("loop0", "sda1", 1, 0);
    machine.check("sda1", "sda1 is in use by loop0. Take that apart first");
    machine.check("sda", "sda1 is in use by loop0");
    machine.check("sda2", "");
    machine.check("loop0", "");
    let machine = machine.loop_over("loop1", "loop0", 0, 1).mounted("loop1");
    machine.check("sda1", "loop1 is mounted at /mnt/loop1");
    machine.check("sda", "loop1 is mounted");
    machine.check("loop0", "loop1 is mounted");
    machine.check("sda2", "");
}

#[test]
fn loop_devices_on_other_bytes_do_not_count() {
    let machine = partitioned().loop_over("loop0", "sda", 10, 4);
    let machine = machine.loop_over("loop1", "sda", 14, 0).mounted("loop1");
    machine.check("sda1", "");
    machine.check("loop0", "");
    machine.check("sda2", "loop1 is mounted");
    let machine = machine.loop_over("loop2", "sda", 13, 1);
    machine.check("loop0", "sda is in use by loop2");
}

#[test]
fn what_lies_beneath_a_loop_device_is_followed() {
    let machine = partitioned().loop_over("loop0", "sda", 0, 4);
    let machine = machine.mounted("sda1");
    machine.check("loop0", "sda1 is mounted");
    let machine = partitioned().looped("loop0", FILE, 0, 4);
    let machine = machine.looped("loop1", FILE, 4, 0).mounted("loop1");
    machine.check("loop0", "");
    let machine = machine.looped("loop2", FILE, 3, 2);
    machine.check("loop0", "the file beneath it is in use by loop2");
}

#[test]
fn members_of_stacks_are_held_and_siblings_are_not() {
    let machine = partitioned().stack("dm-0", &["sda1", "sdb"]);
    let machine = machine.stack("dm-1", &["sda1"]).mounted("sda2");
    machine.check("sda1", "sda1 is in use by dm-0, dm-1");
    machine.check("sdb", "sdb is in use by dm-0");
    machine.check("dm-0", "");
    machine.check("dm-1", "");
    let machine = machine.stack("dm-2", &["dm-0"]).mounted("dm-2");
    machine.check("sdb", "dm-2 is mounted");
    machine.check("dm-0", "dm-2 is mounted");
    machine.check("dm-1", "");
    // A loop device on a part may show any of its bytes.
    let machine = machine.loop_over("loop0", "sda1", 0, 1);
    machine.check("dm-1", "sda1 is in use by loop0");
}

#[test]
fn arrays_that_are_not_started_and_caches_hold_their_members() {
    let machine = partitioned();
    machine.put(
        "proc/mdstat",
        "Personalities :\nmd127 : inactive sdb[0](S)\n",
    );
    machine.check("sdb", "sdb is in use by md127");
    machine.check("sda", "");
    let directory = machine.directory("sda2");
    fs::create_dir(directory.join("bcache")).unwrap();
    machine.check("sda", "sda2 is in use by bcache");
    machine.check("sda1", "");
}

#[test]
fn btrfs_members_and_swap_space_are_refused() {
    let machine = partitioned().loop_over("loop0", "sdb", 1, 0);
    machine.put("sys/fs/btrfs/0a-1b/devices/loop0/x", "");
    machine.check("sdb", "loop0 is mounted at Btrfs 0a-1b");
    machine.check("sda", "");
    // No test may make nodes, so that a swap device cannot be named here; a swap file can.
    let file = machine.root.path().join("swap file");
    fs::write(&file, "x").unwrap();
    let storage = StorageIdentity::at(&file).unwrap();
    let name = file.display().to_string().replace(' ', "\\040");
    let line = format!("Filename Type Size\n{name} file 1 0 -2\n");
    machine.put("proc/swaps", &line);
    let machine = machine.looped("loop1", storage, 1, 0);
    machine.check("loop1", "the file beneath it is swap space in use");
}

#[test]
fn mounts_that_other_processes_see_count() {
    let machine = partitioned();
    let line = "1 0 9:2 / /elsewhere rw - ext4 none rw\n";
    machine.put("proc/321/mountinfo", line);
    machine.check(
        "sda",
        "sda1 is mounted at /elsewhere as process 321 sees it",
    );
    machine.check("sda2", "");
}

#[test]
fn a_device_about_which_the_system_does_not_tell_is_refused() {
    let machine = partitioned().loop_over("loop0", "sdb", 0, 0);
    let mut silent = machine;
    silent.loops.clear();
    silent.check("sda", "does not show what is below loop0 (/gone (deleted)");
    // A name that leads somewhere has to do.
    let backing = silent.root.path().join("backing");
    fs::write(&backing, "x").unwrap();
    let name = backing.display().to_string();
    silent.put("sys/devices/loop0/loop/backing_file", &name);
    silent.put("sys/devices/loop0/loop/offset", "0\n");
    silent.put("sys/devices/loop0/loop/sizelimit", "0\n");
    silent.check("sda", "");
    let look = |path: &Path| {
        silent.with(|kernel| look_in_kernel(kernel, StorageIdentity::at(path).unwrap(), path))
    };
    let refused = look(&backing).unwrap_err().to_string();
    assert!(refused.contains("is in use by loop0"), "{refused}");
    for missing in ["proc", "sys"] {
        silent.check("sda", "");
        let (whole, away) = (
            silent.root.path().join(missing),
            silent.root.path().join("away"),
        );
        fs::rename(&whole, &away).unwrap();
        assert!(silent.refusal("sda").is_err(), "without {missing}");
        let unseen = look(&backing).map(|unseen| unseen.len());
        assert!(missing == "proc" || unseen.is_ok_and(|count| count == 1));
        fs::rename(&away, &whole).unwrap();
    }
}

/// A file was overwritten beneath a mounted loop device, because the name that the device knew it
/// by was gone.
#[test]
fn a_file_beneath_a_loop_device_is_known_without_its_name() {
    let machine = partitioned();
    let path = machine.root.path().join("file");
    fs::write(&path, "x").unwrap();
    let file = StorageIdentity::at(&path).unwrap();
    let look = |machine: &Machine| machine.with(|kernel| look_in_kernel(kernel, file, &path));
    assert_eq!(look(&machine).unwrap(), [""; 0]);
    let mut machine = machine.looped("loop0", file, 1, 0);
    let refused = look(&machine).unwrap_err().to_string();
    assert!(refused.contains("/file is in use by loop0"), "{refused}");
    // Who may not ask is told so, and goes on: nothing speaks against the file.
    machine.loops.clear();
    let unseen = look(&machine).unwrap();
    let expected = "the system does not show what is below loop0 (/gone (deleted)";
    assert!(unseen[0].starts_with(expected), "{unseen:?}");
}

#[test]
fn an_image_file_that_is_mounted_as_it_is_is_refused() {
    let machine = Machine::new();
    let path = machine.root.path().join("image");
    fs::write(&path, "x").unwrap();
    let line = format!("1 0 0:44 / /mnt ro - erofs {} ro\n", path.display());
    machine.put("proc/self/mountinfo", &line);
    let storage = StorageIdentity::at(&path).unwrap();
    let refused = machine.with(|kernel| look_in_kernel(kernel, storage, &path));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("/image is mounted at /mnt"), "{refused}");
}
