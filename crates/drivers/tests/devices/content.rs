//! What a device carries: nothing, something known, something unknown, or what we wrote.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use drivers::{Payload, TargetError, find_signatures};
use workload::TargetId;

use crate::loops::{Loop, SIZE};

/// Each mark alone was overwritten without a question: an offset, and the bytes there.
const UNNOTICED: &[(&str, u64, &[u8])] = &[
    ("a Ceph BlueStore device", 0, b"bluestore block device"),
    ("DRBD metadata", SIZE - 4096 + 60, b"\x83\x74\x02\x6b"),
    ("an Oracle ASM disk", 32, b"ORCLDISK"),
    ("an LVM1 physical volume", 0, b"HM\x02\0"),
    ("a VMFS volume", 1 << 20, b"\x0d\xd0\x01\xc0"),
    ("a ReFS file system", 3, b"ReFS\0"),
    ("a UFS file system", 65_536 + 1372, b"\x19\x01\x54\x19"),
    ("an Apple partition map", 512, b"PM\0\0"),
    ("a cramfs file system", 0, b"\x45\x3d\xcd\x28"),
    ("a romfs file system", 0, b"-rom1fs-"),
    ("a BFS file system", 0, b"\xce\xfa\xad\x1b"),
    (
        "a FAT file system",
        0,
        b"\xeb\x3c\x90        \0\x02\x04\x01\0\x02\0\x02\0\0\xf8",
    ),
    ("a LUKS volume", 32 << 10, b"SKUL\xba\xbe"),
    ("a LUKS volume", 4 << 20, b"SKUL\xba\xbe"),
    ("a ZFS member", (128 + 16) << 10, b"\x0c\xb1\xba\0\0\0\0\0"),
    ("a ZFS member", (128 + 24) << 10, b"\0\0\0\0\0\xba\xb1\x0c"),
    (
        "a ZFS member",
        SIZE - (384 << 10),
        b"\x0c\xb1\xba\0\0\0\0\0",
    ),
    ("a ZFS member", SIZE - 1024, b"\0\0\0\0\0\xba\xb1\x0c"),
    ("a Minix file system", 1024 + 16, b"\x7f\x13"),
    ("an HFS file system", 1024, b"BD"),
    ("a Sun disk label", 508, b"\xda\xbe"),
    ("a BSD disk label", 512, b"\x57\x45\x56\x82"),
    ("a tar archive", 257, b"ustar"),
    (
        "a spare superblock of an ext2, ext3 or ext4 file system",
        (8193 << 10) + 56,
        b"\x53\xef",
    ),
];

#[test]
fn marks_that_went_unnoticed_ask_for_the_name() {
    let _alone = crate::alone();
    let Some(device) = Loop::new(&[]) else {
        return;
    };
    let image = File::options().write(true).open(device.image()).unwrap();
    for (name, offset, bytes) in UNNOTICED {
        image.write_all_at(bytes, *offset).unwrap();
        let refused = device.overwrite(None).unwrap_err().to_string();
        let expected = format!("it carries {name}. If that may go");
        assert!(refused.contains(&expected), "{name}: {refused}");
        image.write_all_at(&vec![0; bytes.len()], *offset).unwrap();
    }
    device.overwrite(None).unwrap();
}

/// Anything that no mark tells was overwritten without a question.
#[test]
fn data_of_unknown_kind_ask_for_the_name() {
    let _alone = crate::alone();
    let Some(device) = Loop::new(&[]) else {
        return;
    };
    let image = File::options().write(true).open(device.image()).unwrap();
    image.write_all_at(b"precious", SIZE - 100).unwrap();
    let refused = device.overwrite(None).unwrap_err();
    let is_question = matches!(refused, TargetError::Signature { .. });
    let text = refused.to_string();
    let expected = format!(
        "it carries data of unknown kind (first at byte {})",
        SIZE - 100
    );
    assert!(is_question && text.contains(&expected), "{text}");
    device.overwrite(Some(device.name())).unwrap();
}

#[test]
fn what_an_earlier_run_wrote_asks_nothing() {
    let _alone = crate::alone();
    let Some(device) = Loop::new(&[]) else {
        return;
    };
    let payload = Payload {
        run: 77,
        pass: 1,
        ..Payload::default()
    };
    for (number, block) in [(0, 4096), (40, 512), (3, 1536), (9, 65_536), (1, 1 << 20)] {
        let target = device.overwrite(None).unwrap();
        let offset = number * block;
        // Neither zeroes nor all the same.
        let mut bytes: Vec<_> = (0..block).map(|at| (at % 251) as u8).collect();
        payload.stamp(&mut bytes, TargetId(0), offset);
        drop(target);
        let file = File::options().write(true).open(&device.path).unwrap();
        file.write_all_at(&bytes, offset).unwrap();
        file.sync_all().unwrap();
    }
    device.overwrite(None).unwrap();
}

/// Tools that write on an image, and what they are told.
const TOOLS: &[(&str, &str)] = &[
    ("mkfs.ext2 -q -F", ""),
    ("mkfs.ext4 -q -F", ""),
    ("mkfs.ext4 -q -F -b 4096", ""),
    ("mke2fs -q -F -O journal_dev", ""),
    ("mkfs.btrfs -q -f --mixed", ""),
    ("mkfs.xfs -q -f", ""),
    ("mkfs.vfat", ""),
    ("mkfs.vfat -F 32", ""),
    ("mkfs.exfat", ""),
    ("mkfs.ntfs -q -F -f", ""),
    ("mkfs.f2fs -q -f", ""),
    ("mkfs.minix", ""),
    ("mkfs.minix -3", ""),
    ("mkfs.bfs", ""),
    ("mkfs.jfs -q", ""),
    ("mkfs.reiserfs -q -ff", ""),
    ("mkfs.nilfs2 -q -f", ""),
    ("mkfs.udf", ""),
    ("mkfs.hfsplus", ""),
    ("mkfs.hfs", ""),
    ("mkfs.gfs2 -q -O -p lock_nolock -j 1 -J 8", ""),
    ("mkswap -q", ""),
    ("sfdisk -q", "label: dos\nstart=2048\n"),
    ("sfdisk -q", "label: gpt\n"),
    ("sfdisk -q", "label: sun\n"),
    ("sfdisk -q", "label: sgi\n"),
    ("make-bcache -B", ""),
    ("pvcreate -q", ""),
    (
        "cryptsetup -q luksFormat --type luks1 --key-file /dev/null",
        "",
    ),
    (
        "cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --key-file /dev/null",
        "",
    ),
];

/// What a tool writes on an image that `wipefs` then recognises is known to us.
#[test]
fn what_the_system_recognises_is_known() {
    let _alone = crate::alone();
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let image = scratch.path().join("image");
    for (tool, input) in TOOLS {
        let file = File::create(&image).unwrap();
        file.set_len(320 << 20).unwrap();
        if !make(tool, input, &image) {
            eprintln!("skipped: {tool} {input:?}: missing or failed");
            continue;
        }
        let known = Command::new("wipefs").arg("-n").arg(&image).output();
        let Some(known) = known.ok().filter(|known| known.status.success()) else {
            eprintln!("skipped: wipefs is missing");
            return;
        };
        let file = File::open(&image).unwrap();
        let found = find_signatures(&file, 320 << 20).unwrap();
        assert!(known.stdout.is_empty() || !found.is_empty(), "{tool}");
    }
}

/// Run a tool on an image; false when it is missing or fails.
fn make(tool: &str, input: &str, image: &Path) -> bool {
    let mut words = tool.split(' ');
    let started = Command::new(words.next().unwrap())
        .args(words)
        .arg(image)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        return false;
    };
    // A tool that does not read it may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait().unwrap().success()
}
