//! Bug: `read_bytes` of this process was trusted on every file system, so whatever FUSE, SMB or
//! Ceph read "came from the page cache" to 100 %, in the first line of a check-up.

use std::path::PathBuf;

use super::{Machine, directory};
use crate::inspect::FetchAccount::{self, Arc, NfsMount, Nobody, Process};
use crate::inspect::Uncounted::{self, Dax, LoopFile, OutOfSight, Program};

/// A line of the table of mounts: device number, mount point, and the rest.
type MountLine = (&'static str, &'static str, &'static str);

const ROOT: MountLine = ("8:1", "/", "rw - ext4 /dev/sda1 rw");

fn kind(name: &str) -> FetchAccount {
    Nobody(Uncounted::FileSystem(name.to_owned()))
}

#[track_caller]
fn check(lines: &[MountLine], expected: &FetchAccount) {
    let machine = lines.iter().fold(Machine::new(), |machine, line| {
        machine.mount(line.0, line.1, line.2)
    });
    let found = FetchAccount::within(&machine.facts(), &directory("/m/x"));
    assert_eq!(&found, expected, "{lines:?}");
}

#[test]
fn each_file_system_says_who_counts_what_is_fetched() {
    let nfs = NfsMount(PathBuf::from("/m"));
    for (number, rest, expected) in [
        ("8:2", "rw - ext4 /dev/sda2 rw", Process),
        ("8:2", "rw - xfs /dev/sda2 rw,dax=never", Process),
        ("0:40", "rw - btrfs /dev/sda2 rw", Process),
        ("0:40", "rw - bcachefs /dev/sda2:/dev/sdb2 rw", Process),
        ("8:2", "rw - unheard-of /dev/sda2 rw", Process),
        ("0:40", "rw - tmpfs none rw", Process),
        ("0:40", "rw - ramfs none rw", Process),
        ("0:40", "rw - nfs server:/x rw", nfs.clone()),
        ("0:40", "rw - nfs4 server:/x rw", nfs),
        ("0:40", "rw - zfs tank/x rw", Arc),
        ("0:40", "rw - fuse /dev/fuse rw", Nobody(Program)),
        ("0:40", "rw - fuse.sshfs me@host: rw", Nobody(Program)),
        ("0:40", "rw - fuse.mergerfs a:b rw", Nobody(Program)),
        ("8:2", "rw - fuseblk /dev/sda2 rw", Nobody(Program)),
        ("259:0", "rw - ext4 /dev/pmem0 rw,dax=always", Nobody(Dax)),
        ("259:0", "rw - xfs /dev/pmem0 rw,dax", Nobody(Dax)),
        ("0:40", "rw - cifs //server/x rw", kind("cifs")),
        ("0:40", "rw - smb3 //server/x rw", kind("smb3")),
        ("0:40", "rw - 9p share rw", kind("9p")),
        ("0:40", "rw - virtiofs share rw", kind("virtiofs")),
        ("0:40", "rw - ceph mon:/ rw", kind("ceph")),
        ("0:40", "rw - gpfs /dev/gpfs rw", kind("gpfs")),
        ("7:0", "ro - squashfs /dev/loop0 ro", kind("squashfs")),
        ("0:40", "rw - unheard-of none rw", kind("unheard-of")),
    ] {
        check(&[ROOT, (number, "/m", rest)], &expected);
    }
}

#[test]
fn an_overlay_is_counted_where_all_its_layers_are() {
    let over = "rw - overlay overlay rw,lowerdir=/l/a:/l/b,upperdir=/u/a,workdir=/u/b";
    let top: MountLine = ("0:60", "/m", over);
    check(&[ROOT, top], &Process);
    let memory: MountLine = ("0:41", "/u", "rw - tmpfs none rw");
    check(&[ROOT, memory, top], &Process);
    let program: MountLine = ("0:42", "/l", "rw - fuse.rclone x: rw");
    check(&[ROOT, program, top], &Nobody(Program));
    let remote: MountLine = ("0:43", "/l/b", "rw - cifs //server/x rw");
    check(&[ROOT, remote, top], &kind("cifs"));
    let nfs: MountLine = ("0:44", "/l", "rw - nfs4 server:/x rw");
    check(&[ROOT, nfs, top], &Nobody(Uncounted::Several));
    // Without the host's mounts, the paths lead back to the overlay or nowhere.
    let root: MountLine = (
        "0:60",
        "/",
        "rw - overlay overlay rw,lowerdir=/l,upperdir=/u",
    );
    check(&[root], &Nobody(OutOfSight));
    check(&[], &Nobody(OutOfSight));
}

#[test]
fn a_loop_device_is_counted_where_its_file_is() {
    let check = |file: MountLine, direct: &str, expected: &FetchAccount| {
        let machine = Machine::new()
            .mount(ROOT.0, ROOT.1, ROOT.2)
            .mount(file.0, file.1, file.2)
            .mount("7:0", "/m", "rw - ext4 /dev/loop0 rw");
        machine.device("pci0/ata1/block/sda1", "8:1", &[]);
        machine.device(
            "virtual/block/loop0",
            "7:0",
            &[("loop/backing_file", "/f/image\n"), ("loop/dio", direct)],
        );
        let found = FetchAccount::within(&machine.facts(), &directory("/m/x"));
        assert_eq!(&found, expected, "{file:?} {direct}");
    };
    let unknown = Nobody(LoopFile);
    let disk: MountLine = ("8:3", "/f", "rw - ext4 /dev/sda3 rw");
    check(disk, "0\n", &Process);
    check(disk, "1\n", &Process);
    let program: MountLine = ("0:40", "/f", "rw - fuse.rclone x: rw");
    check(program, "0\n", &unknown);
    check(program, "1\n", &Process);
    let memory: MountLine = ("0:40", "/f", "rw - tmpfs none rw");
    check(memory, "0\n", &unknown);
    check(memory, "1\n", &unknown);
}

/// One plain sentence says why, unless another caution does.
#[test]
fn one_note_says_why_the_share_is_unknown() {
    for (rest, expected) in [
        (
            "rw - fuse.sshfs me@host: rw",
            "fuse.sshfs is a FUSE file system: its CPU time and page cache hits are not counted",
        ),
        (
            "rw - ceph mon:/ rw",
            "the share of the page cache is unknown: the kernel does not count reads of ceph",
        ),
        (
            "rw - ext4 /dev/pmem0 rw,dax=always",
            "the share of the page cache is unknown: mount option `dax` goes past it",
        ),
    ] {
        let machine = Machine::new().mount("0:40", "/m", rest);
        let (_, cautions) = machine.inspect(&directory("/m/x"));
        let texts = cautions.iter().map(|it| it.text());
        let of_cache: Vec<String> = texts.filter(|it| it.contains("page cache")).collect();
        assert_eq!(of_cache, [expected]);
        assert!(expected.split_whitespace().count() <= 20, "{expected}");
    }
}
