//! File systems and files.

use results::environment::{Caution, TargetKind};

use super::{GIB, InspectedPath, Machine, Space, check_codes, device_names, directory};

#[test]
fn an_overlay_stands_on_what_its_upper_directory_stands_on() {
    let machine = Machine::new()
        .mount("8:1", "/", "rw - ext4 /dev/sda1 rw")
        .mount(
            "0:60",
            "/merged",
            "rw - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w",
        );
    machine.device("pci0/ata1/block/sda1", "8:1", &[]);
    let (target, cautions) = machine.inspect(&directory("/merged/x"));
    assert_eq!(
        target.file_system.as_ref().map(|s| s.kind.as_str()),
        Some("overlay")
    );
    assert_eq!(device_names(&target), ["sda1"]);
    check_codes(&cautions, &["overlay", "shared-device"]);

    // Inside a container the upper directory is not visible.
    let machine = Machine::new().mount("0:60", "/", "rw - overlay overlay rw,upperdir=/var/u");
    let (target, cautions) = machine.inspect(&directory("/x"));
    assert!(target.devices.is_empty());
    check_codes(&cautions, &["overlay", "could-not-look"]);
}

/// Bug: in a container no device was named, since the host's paths are not visible. What its engine
/// binds into it comes from the same place.
#[test]
fn an_overlay_in_a_container_is_followed_by_what_is_bound_into_it() {
    let machine = Machine::new();
    let table = "20 1 0:60 / / rw - overlay overlay rw,upperdir=/var/lib/docker/overlay2/a/diff\n\
                 21 20 0:70 / /proc rw - proc proc rw\n\
                 22 20 8:9 /etc/other /etc/other rw - ext4 /dev/sdb9 rw\n\
                 23 20 8:1 /var/lib/docker/containers/a/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n";
    machine.file("proc/self/mountinfo", table);
    machine.device("pci0/ata1/block/sda1", "8:1", &[]);
    machine.device("pci0/ata1/block/sdb9", "8:9", &[]);
    let (target, _) = machine.inspect(&directory("/x"));
    assert_eq!(device_names(&target), ["sda1"]);
}

/// Bug: in a chroot without /proc there were no cautions, although nothing had been examined.
#[test]
fn what_could_not_be_looked_at_is_said() {
    let machine = Machine::new();
    std::fs::remove_file(machine.top.path().join("proc/meminfo")).expect("the file");
    let (_, cautions) = machine.inspect(&directory("/x"));
    check_codes(&cautions, &["could-not-look"]);
    assert!(
        cautions[0]
            .cause
            .starts_with("could not look: /proc is not mounted")
    );
    assert_eq!(cautions[0].advice, "mount it");
    let warning = &crate::inspect::warnings(&cautions)[0];
    assert_eq!(warning.advice, "mount it");
    assert!(
        warning.text().ends_with("are unknown. Mount it"),
        "{warning}"
    );
    let machine = Machine::new().mount("8:1", "/", "rw - ext4 /dev/sda1 rw");
    let (_, cautions) = machine.inspect(&directory("/x"));
    check_codes(&cautions, &["could-not-look"]);
    assert!(
        cautions[0]
            .cause
            .starts_with("could not look: /sys is not mounted")
    );
}

#[test]
fn file_systems_without_a_device() {
    let check = |rest: &str, memory: bool, remote: bool, codes: &[&str]| {
        let machine = Machine::new().mount("0:70", "/m\\040x", rest);
        let (target, cautions) = machine.inspect(&directory("/m x/d"));
        assert_eq!(
            (target.memory_backed, target.remote),
            (memory, remote),
            "{rest}"
        );
        check_codes(&cautions, codes);
    };
    check(
        "rw - nfs4 server:/x rw,vers=4.2",
        false,
        true,
        &["remote-file-system"],
    );
    check(
        "rw - fuse.sshfs me@host: rw",
        false,
        true,
        &["remote-file-system", "fuse"],
    );
    check("rw - fuse.mergerfs a:b rw", false, false, &["fuse"]);
    check(
        "rw - tmpfs tmpfs rw,size=1g",
        true,
        false,
        &["memory-backed"],
    );
    check(
        "ro - squashfs /dev/none ro",
        false,
        false,
        &["could-not-look", "cache-share-unknown", "read-only"],
    );
    check(
        "rw - cifs //server/x rw",
        false,
        true,
        &["remote-file-system", "cache-share-unknown"],
    );
    check(
        "rw - zfs tank/data rw,xattr",
        false,
        false,
        &["compression", "copy-on-write"],
    );
}

/// Bug: the second of two check-ups on such a file system created files 23 times slower.
#[test]
fn ext4_without_a_journal_is_named() {
    let check = |options: &str, codes: &[&str]| {
        let machine = Machine::new().mount("8:1", "/", "rw - ext4 /dev/sda1 rw");
        machine.device("pci0/ata1/block/sda1", "8:1", &[]);
        machine.file("proc/fs/ext4/sda1/options", options);
        let (_, cautions) = machine.inspect(&directory("/x"));
        check_codes(&cautions, codes);
    };
    check("rw\nbarrier\ndata=ordered\ncommit=5\n", &["shared-device"]);
    check("rw\nbarrier\ncommit=5\n", &["shared-device", "no-journal"]);
}

/// `chattr +c` compresses a directory on a file system mounted without compression.
#[test]
fn an_attribute_compresses_too() {
    let check = |is_compressed, codes: &[&str]| {
        let machine = Machine::new().mount("0:70", "/m", "rw - btrfs /dev/sda1 rw,space_cache");
        let (_, cautions) = machine.inspect(&InspectedPath {
            is_compressed,
            ..directory("/m/d")
        });
        let codes = [&["could-not-look"], codes].concat();
        check_codes(&cautions, &codes);
    };
    check(false, &["copy-on-write"]);
    check(true, &["compression", "copy-on-write"]);
}

#[test]
fn a_sparse_small_file_on_a_nearly_full_file_system() {
    let machine = Machine::new().mount("0:3", "/d", "rw - xfs /dev/x rw");
    let mut subject = InspectedPath {
        kind: TargetKind::File,
        size_bytes: Some(4 * GIB),
        allocated_bytes: Some(GIB),
        ..directory("/d/file")
    };
    let space = Space {
        size_bytes: 100 * GIB,
        available_bytes: 9 * GIB,
        files_free: None,
    };
    subject.space = Some(space);
    let (_, cautions) = machine.inspect(&subject);
    check_codes(
        &cautions,
        &["could-not-look", "nearly-full", "sparse-file", "small-file"],
    );
}

/// Bug: one hole of 4 KiB in a file of any size made all its numbers invalid, and so did a FUSE
/// file system that does not report what is allocated.
#[test]
fn few_holes_are_no_sparse_file() {
    let check = |kind: &str, missing: u64, codes: &[&str]| {
        let line = format!("rw - {kind} /dev/x rw");
        let (_, cautions) = Machine::new()
            .mount("0:3", "/d", &line)
            .inspect(&InspectedPath {
                kind: TargetKind::File,
                size_bytes: Some(4 * GIB),
                allocated_bytes: Some(4 * GIB - missing),
                ..directory("/d/file")
            });
        let of_holes = |it: &Caution| ["few-holes", "sparse-file"].contains(&it.code.as_str());
        let found: Vec<Caution> = cautions.into_iter().filter(of_holes).collect();
        check_codes(&found, codes);
    };
    check("xfs", 0, &[]);
    check("xfs", 2048, &[]);
    check("xfs", 4096, &["few-holes"]);
    check("xfs", 42 << 20, &["sparse-file"]);
    check("xfs", 4 * GIB, &["sparse-file"]);
    check("fuse.bindfs", 4 * GIB, &[]);
    check("fuseblk", 42 << 20, &["sparse-file"]);
}

#[test]
fn an_empty_tree_gives_an_empty_description() {
    let (target, cautions) = Machine::new().inspect(&directory("/nowhere"));
    assert_eq!(target.file_system, None);
    assert!(target.devices.is_empty() && target.raid.is_none());
    check_codes(&cautions, &[]);
}
