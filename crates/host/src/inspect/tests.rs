//! Inspections of small fake trees of `/proc` and `/sys`.

mod devices;
mod fetch_account;
mod file_systems;
mod raid;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use results::environment::{Caution, TargetDescription, TargetKind};

use super::{InspectedPath, Space, SystemRoots, describe, missing};

const GIB: u64 = 1 << 30;

/// A fake machine.
struct Machine {
    top: tempfile::TempDir,
    mounts: String,
}

impl Machine {
    fn new() -> Self {
        let top = tempfile::tempdir().expect("a temporary directory");
        let machine = Machine {
            top,
            mounts: String::new(),
        };
        machine.file("proc/meminfo", "MemTotal: 8388608 kB\n");
        machine
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.top.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// A device with the directory `place` below `sys/devices`, and links by name and number.
    fn device(&self, place: &str, number: &str, files: &[(&str, &str)]) {
        let name = place.rsplit('/').next().expect("a name");
        let own = format!("sys/devices/{place}");
        self.file(&format!("{own}/dev"), number);
        self.file(&format!("{own}/size"), "2097152\n");
        for (path, text) in files {
            self.file(&format!("{own}/{path}"), text);
        }
        self.link(&format!("sys/class/block/{name}"), &own);
        self.link(&format!("sys/dev/block/{number}"), &own);
    }

    fn link(&self, from: &str, to: &str) {
        let from = self.top.path().join(from);
        fs::create_dir_all(from.parent().expect("a parent")).expect("a directory");
        symlink(self.top.path().join(to), from).expect("a link");
    }

    fn slave(&self, place: &str, of: &str) {
        let name = of.rsplit('/').next().expect("a name");
        self.link(
            &format!("sys/devices/{place}/slaves/{name}"),
            &format!("sys/devices/{of}"),
        );
    }

    fn mount(mut self, number: &str, point: &str, rest: &str) -> Self {
        let id = 20 + self.mounts.lines().count();
        self.mounts
            .push_str(&format!("{id} 1 {number} / {point} {rest}\n"));
        self.file("proc/self/mountinfo", &self.mounts);
        self
    }

    fn facts(&self) -> SystemRoots {
        SystemRoots {
            proc: self.top.path().join("proc"),
            sys: self.top.path().join("sys"),
        }
    }

    fn inspect(&self, subject: &InspectedPath) -> (TargetDescription, Vec<Caution>) {
        describe(&self.facts(), subject)
    }
}

fn directory(path: &str) -> InspectedPath {
    InspectedPath {
        given: path.to_owned(),
        path: PathBuf::from(path),
        kind: TargetKind::Directory,
        device: None,
        mount_id: None,
        size_bytes: None,
        allocated_bytes: None,
        space: Some(Space {
            size_bytes: 100 * GIB,
            available_bytes: 50 * GIB,
            files_free: Some(1000),
        }),
        is_compressed: false,
    }
}

#[track_caller]
fn check_codes(cautions: &[Caution], expected: &[&str]) {
    let codes: Vec<&str> = cautions
        .iter()
        .map(|caution| caution.code.as_str())
        .collect();
    assert_eq!(codes, expected, "{cautions:#?}");
}

fn device_names(target: &TargetDescription) -> Vec<&str> {
    target
        .devices
        .iter()
        .map(|device| device.name.as_str())
        .collect()
}

/// Bug: "create the directory first" for a server without a bucket, and for a device.
#[test]
fn what_is_no_directory_is_not_to_be_created() {
    let check = |named: &str, expected: &str| {
        let said = missing(Path::new(named));
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains("create"), "{said}");
    };
    check("http://h:9/", "`seekstone objects s3:http://h:9/BUCKET`");
    check("https://h/b", "`seekstone objects s3:https://h/b`");
    check("nfs://h/export", "Mount it");
    check("h:/export", "Mount it");
    check("/dev/nvme9n9", "`lsblk` lists devices");
    check("null", "The device is /dev/null");
    let typed = missing(Path::new("no/such"));
    assert!(typed.ends_with("or create the directory first"), "{typed}");
}
