//! The table against itself, against the tools of the system, and what no mark tells.

// Cargo shows what a skipped test says only if it is printed.
#![allow(clippy::print_stderr)]

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

use workload::TargetId;

use super::boot_sector::BOOT_SECTOR_KINDS;
use super::mark::{MarkPosition, SignatureBytes, marks};
use super::{find_content, find_signatures};
use crate::buffers::fill_incompressible;
use crate::payload::{Checking, Payload};

/// Not a multiple of anything.
const SIZE: u64 = (400 << 20) + 5 * 512;

/// What the tools know and the table does not: a partition table without any mark, told by numbers
/// that fit. As data of unknown kind it is found all the same.
const NOT_MARKED: &[&str] = &["atari"];

#[track_caller]
fn check(size: u64, offset: u64, bytes: &[u8], expected: &[&str]) {
    let file = tempfile::tempfile().unwrap();
    file.set_len(size).unwrap();
    file.write_all_at(bytes, offset).unwrap();
    assert_eq!(
        find_signatures(&file, size).unwrap(),
        expected,
        "{size} {offset} {bytes:?}"
    );
}

/// The first and the last of the places where a mark may stand, on a device of `size` bytes.
fn ends(place: MarkPosition, size: u64) -> BTreeSet<u64> {
    let offsets = place.offsets(size);
    let ends = [offsets.first(), offsets.last()];
    ends.into_iter().flatten().copied().collect()
}

#[test]
fn every_mark_is_found_where_its_format_puts_it() {
    let size = (256 << 30) + SIZE;
    for SignatureBytes {
        name,
        bytes,
        places,
        ..
    } in marks()
    {
        for offset in places.iter().flat_map(|place| ends(*place, size)) {
            let file = tempfile::tempfile().unwrap();
            file.set_len(size).unwrap();
            file.write_all_at(bytes, offset).unwrap();
            let found = find_signatures(&file, size).unwrap();
            assert!(found.contains(name), "{name} at {offset}: {found:?}");
        }
    }
}

/// Disks in production use went unnoticed: Ceph, DRBD, ASM, LVM1, VMFS and more.
#[test]
fn the_table_has_every_kind_that_the_system_knows() {
    let ours: BTreeSet<_> = marks().flat_map(|mark| mark.kinds.split(' ')).collect();
    let known = |kind: &str| {
        ours.contains(kind) || BOOT_SECTOR_KINDS.contains(&kind) || NOT_MARKED.contains(&kind)
    };
    for table in [
        "aix",
        "atari",
        "bsd",
        "dos",
        "gpt",
        "mac",
        "minix",
        "PMBR",
        "sgi",
        "solaris_x86",
        "sun",
        "ultrix",
        "unixware",
    ] {
        assert!(known(table), "{table}");
    }
    let Ok(list) = Command::new("blkid").arg("-k").output() else {
        eprintln!("skipped: blkid is missing");
        return;
    };
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let missing: Vec<_> = list.lines().filter(|kind| !known(kind)).collect();
    assert_eq!(missing, [""; 0]);
    if list.is_empty() {
        eprintln!("skipped: blkid lists nothing");
    }
}

/// Each mark alone, as the tool of the system sees it: what that recognises has the same kind here.
#[test]
fn marks_mean_what_the_system_says() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut recognised = BTreeSet::new();
    for SignatureBytes {
        bytes,
        kinds,
        places,
        ..
    } in marks()
    {
        for offset in places.iter().flat_map(|place| ends(*place, SIZE)) {
            file.as_file().set_len(0).unwrap();
            file.as_file().set_len(SIZE).unwrap();
            file.as_file().write_all_at(bytes, offset).unwrap();
            let Some(found) = wiped(file.path()) else {
                return;
            };
            for kind in found {
                let is_ours = kinds.split(' ').any(|it| it == kind);
                assert!(is_ours, "{kind}: {kinds:?} at {offset}");
                recognised.insert(kind);
            }
        }
    }
    assert!(recognised.len() > 40, "{recognised:?}");
}

/// What `wipefs` finds; `None`, with a message, where there is none.
fn wiped(path: &std::path::Path) -> Option<Vec<String>> {
    let found = Command::new("wipefs")
        .args(["-n", "--parsable", "--output=TYPE", "--noheadings"])
        .arg(path)
        .output();
    let found = found.ok().filter(|found| found.status.success());
    if found.is_none() {
        eprintln!("skipped: wipefs is missing or failed");
    }
    let text = String::from_utf8_lossy(&found?.stdout).into_owned();
    let lines = text.lines().map(|line| line.trim().to_owned());
    Some(lines.filter(|line| !line.is_empty()).collect())
}

#[test]
fn a_partition_table_is_told_from_noise() {
    let mut sector = [0; 512];
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    check(1 << 20, 0, &sector, &[]);
    sector[446 + 4] = 0x83;
    check(1 << 20, 0, &sector, &["a partition table"]);
    sector[446 + 16] = 0x17;
    check(1 << 20, 0, &sector, &[]);
}

#[test]
fn a_fat_file_system_without_its_text_is_known() {
    let mut sector = [0; 512];
    sector[..3].copy_from_slice(&[0xeb, 0x3c, 0x90]);
    sector[11..22].copy_from_slice(&[0, 2, 4, 1, 0, 2, 0, 2, 0, 0, 0xf8]);
    check(1 << 20, 0, &sector, &["a FAT file system"]);
    sector[13] = 3;
    check(1 << 20, 0, &sector, &[]);
}

#[test]
fn blank_and_tiny_devices_carry_nothing() {
    check(1 << 20, 0, &[], &[]);
    check(0, 0, &[], &[]);
    check(511, 0, &[1], &[]);
    for size in [0, 1, 511, 4096, 70_000, SIZE] {
        let file = tempfile::tempfile().unwrap();
        file.set_len(size).unwrap();
        assert_eq!(find_content(&file, size).unwrap(), None);
    }
}

/// A sparse file of `SIZE` bytes.
fn device() -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(SIZE).unwrap();
    file
}

fn content(device: &File) -> Option<String> {
    find_content(device, SIZE).unwrap()
}

#[test]
fn data_of_no_known_kind_are_found_at_the_usual_places() {
    let spread = (SIZE / 65) & !0xffff;
    for offset in [
        0,
        300,
        65_535,
        (1 << 20) - 1,
        2 << 20,
        spread + 5,
        64 * spread,
        SIZE - (1 << 20),
        SIZE - 1,
    ] {
        let device = device();
        device.write_all_at(&[7], offset).unwrap();
        let expected = format!("data of unknown kind (first at byte {offset})");
        assert_eq!(content(&device), Some(expected));
    }
    let device = device();
    device.write_all_at(&vec![0xff; 4 << 20], 0).unwrap();
    assert_eq!(content(&device), None, "erased flash");
    device.write_all_at(&vec![0xfe; 512], 512).unwrap();
    let expected = "data of unknown kind (first at byte 512)".to_owned();
    assert_eq!(content(&device), Some(expected));
}

/// Write `bytes` at `offset` as a driver does.
fn write(device: &File, checking: Checking, len: usize, offset: u64) {
    let mut bytes = vec![0; len];
    fill_incompressible(&mut bytes, offset);
    let payload = Payload {
        run: offset ^ 5,
        pass: 3,
        checking,
        ..Payload::default()
    };
    payload.stamp(&mut bytes, TargetId(1), offset);
    device.write_all_at(&bytes, offset).unwrap();
}

#[test]
fn what_this_program_wrote_is_known_again() {
    for len in [32, 100, 512, 1536, 4096, 6144, 8192, 65_536, 1_048_576] {
        for checking in [Checking::EveryStamp, Checking::WholeBlock, Checking::Record] {
            let device = device();
            let end = SIZE - 2 * len as u64;
            for start in [0, 2 << 20, (SIZE / 65) & !0xffff, end / 512 * 512] {
                let count = (200_000 / len as u64).clamp(1, 2_000);
                for number in 0..count {
                    let offset = start + number * len as u64;
                    if offset + len as u64 <= SIZE {
                        write(&device, checking, len, offset);
                    }
                }
            }
            assert_eq!(content(&device), None, "{len} {checking:?}");
        }
    }
}

#[test]
fn writes_of_ours_over_one_another_are_known_again() {
    let device = device();
    for round in 0..400_u64 {
        let len = [512, 1024, 4096, 6144, 16_384, 131_072][round as usize % 6];
        let places = (1 << 20) / len;
        let offset = round * 7_919 % places * len;
        write(&device, Checking::EveryStamp, len as usize, offset);
    }
    assert_eq!(content(&device), None);
    // The end of a block whose stamp was written over.
    write(&device, Checking::EveryStamp, 4096, 524_288);
    write(&device, Checking::EveryStamp, 4096, 524_288 - 1024);
    assert_eq!(content(&device), None);
    // Two such ends in a row: of 1536 bytes over 4 KiB, and the start of that written over, too.
    write(&device, Checking::EveryStamp, 4096, 16_384);
    write(&device, Checking::EveryStamp, 1536, 15_360);
    write(&device, Checking::EveryStamp, 16_384, 0);
    assert_eq!(content(&device), None);
}

#[test]
fn data_of_others_between_ours_are_found() {
    let device = device();
    write(&device, Checking::EveryStamp, 1 << 20, 0);
    device.write_all_at(&[0x11; 4096], 40_960).unwrap();
    let expected = "data of unknown kind (first at byte 40960)".to_owned();
    assert_eq!(content(&device), Some(expected));
    // A stamp for another place is a copy that somebody made.
    let device = self::device();
    write(&device, Checking::EveryStamp, 4096, 1 << 30);
    let mut block = vec![0; 4096];
    device.read_exact_at(&mut block, 1 << 30).unwrap();
    device.set_len(SIZE).unwrap();
    assert_eq!(content(&device), None);
    device.write_all_at(&block, 8192).unwrap();
    assert!(content(&device).is_some());
}
