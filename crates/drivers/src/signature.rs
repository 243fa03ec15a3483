//! Does a device carry data? A table of the marks that file systems, volume managers, encryption,
//! RAID and partition tables leave, by their published on-disk formats.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Where a mark is looked for.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// So many bytes from the start.
    Start(u64),
    /// So many bytes before the end, after rounding the end down to a multiple of the second.
    End(u64, u64),
}

struct Mark {
    name: &'static str,
    place: Place,
    bytes: &'static [u8],
}

const fn at(name: &'static str, offset: u64, bytes: &'static [u8]) -> Mark {
    Mark {
        name,
        place: Place::Start(offset),
        bytes,
    }
}

const fn before_end(name: &'static str, back: u64, unit: u64, bytes: &'static [u8]) -> Mark {
    Mark {
        name,
        place: Place::End(back, unit),
        bytes,
    }
}

const MD: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
const JBD: &[u8] = &[0xc0, 0x3b, 0x39, 0x98];
const BCACHE: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];
const BCACHEFS: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef,
];
const ZFS: &[u8] = &[0x0c, 0xb1, 0xba, 0x00];

const MARKS: &[Mark] = &[
    at(
        "an ext2, ext3 or ext4 file system or journal",
        1024 + 56,
        &[0x53, 0xef],
    ),
    at("an XFS file system", 0, b"XFSB"),
    at("a Btrfs file system", 65_536 + 64, b"_BHRfS_M"),
    at("a LUKS volume", 0, b"LUKS\xba\xbe"),
    at("a LUKS volume", 16_384, b"SKUL\xba\xbe"),
    at("a BitLocker volume", 3, b"-FVE-FS-"),
    at("an LVM physical volume", 24, b"LVM2 001"),
    at("an LVM physical volume", 512 + 24, b"LVM2 001"),
    at("an LVM physical volume", 1024 + 24, b"LVM2 001"),
    at("an LVM physical volume", 1536 + 24, b"LVM2 001"),
    at("a Linux RAID member", 0, MD),
    at("a Linux RAID member", 4096, MD),
    before_end("a Linux RAID member", 65_536, 65_536, MD),
    before_end("a Linux RAID member", 8192, 4096, MD),
    before_end(
        "a vendor RAID member",
        1024,
        512,
        b"Intel Raid ISM Cfg Sig. ",
    ),
    before_end("a vendor RAID member", 512, 512, &[0xde, 0x11, 0xde, 0x11]),
    at("swap space", 4096 - 10, b"SWAPSPACE2"),
    at("swap space", 4096 - 10, b"SWAP-SPACE"),
    at("swap space", 16_384 - 10, b"SWAPSPACE2"),
    at("swap space", 65_536 - 10, b"SWAPSPACE2"),
    at("a hibernated system", 4096 - 10, b"S1SUSPEND"),
    at("an NTFS file system", 3, b"NTFS    "),
    at("an exFAT file system", 3, b"EXFAT   "),
    at("a FAT file system", 54, b"FAT1"),
    at("a FAT file system", 82, b"FAT32   "),
    at("a ZFS member", 131_072, ZFS),
    at("a ZFS member", 135_168, ZFS),
    at("a ZFS member", 139_264, ZFS),
    at("a GUID partition table", 512, b"EFI PART"),
    at("a GUID partition table", 4096, b"EFI PART"),
    before_end("a GUID partition table's copy", 512, 512, b"EFI PART"),
    before_end("a GUID partition table's copy", 4096, 4096, b"EFI PART"),
    at("an ISO 9660 file system", 32_769, b"CD001"),
    at("a UDF file system", 32_769, b"BEA01"),
    at("a SquashFS file system", 0, b"hsqs"),
    at("an EROFS file system", 1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    at("an F2FS file system", 1024, &[0x10, 0x20, 0xf5, 0xf2]),
    at("a bcache member", 4096 + 24, BCACHE),
    at("a bcachefs file system", 4096 + 24, BCACHEFS),
    at("a file system journal", 2048, JBD),
    at("a file system journal", 4096, JBD),
    at("a ReiserFS file system", 65_536 + 52, b"ReIsEr"),
    at("a JFS file system", 32_768, b"JFS1"),
    at("a NILFS2 file system", 1024 + 6, &[0x34, 0x34]),
    at("a GFS2 file system", 65_536, &[0x01, 0x16, 0x19, 0x70]),
    at("an OCFS2 file system", 8192, b"OCFSV2"),
    at("an APFS container", 32, b"NXSB"),
    at("an HFS+ file system", 1024, b"H+"),
    at("a Stratis pool", 512 + 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    at("a VDO volume", 0, b"dmvdo001"),
    at("a dm-integrity volume", 0, b"integrt\0"),
    at("a dm-verity volume", 0, b"verity\0\0"),
];

/// The part of a partition table's sector that lists partitions, and where its mark is.
const MBR_TABLE: std::ops::Range<usize> = 446..510;
const MBR_MARK: [u8; 2] = [0x55, 0xaa];

/// The start that is read in one go; it covers every mark that is counted from the start.
const HEAD_BYTES: usize = 160 << 10;
/// The end that is read in one go.
const TAIL_BYTES: u64 = 192 << 10;

/// What a device of `size` bytes carries, each kind named once; empty when nothing is known.
///
/// # Errors
/// When it cannot be read; a device whose content is unknown must not be overwritten.
pub fn find_signatures(file: &File, size: u64) -> io::Result<Vec<&'static str>> {
    let head = read_up_to(file, 0, HEAD_BYTES as u64)?;
    // A multiple of every sector size, so that the tail's own start is readable by direct I/O.
    let tail_start = size.saturating_sub(TAIL_BYTES) & !0xffff;
    let tail = read_up_to(file, tail_start, size - tail_start)?;
    let mut found = Vec::new();
    for mark in MARKS {
        let hit = match mark.place {
            Place::Start(offset) => carries(&head, offset, mark.bytes),
            Place::End(back, unit) => (size / unit * unit)
                .checked_sub(back)
                .and_then(|offset| offset.checked_sub(tail_start))
                .is_some_and(|offset| carries(&tail, offset, mark.bytes)),
        };
        if hit && !found.contains(&mark.name) {
            found.push(mark.name);
        }
    }
    if found.is_empty() && has_partition_table(&head) {
        found.push("a partition table");
    }
    Ok(found)
}

fn carries(bytes: &[u8], offset: u64, mark: &[u8]) -> bool {
    usize::try_from(offset)
        .ok()
        .and_then(|start| bytes.get(start..)?.get(..mark.len()))
        .is_some_and(|found| found == mark)
}

/// Every boot sector ends in 55 AA; a partition table also lists at least one partition, and marks
/// each entry with 00 or 80.
fn has_partition_table(head: &[u8]) -> bool {
    let (Some(mark), Some(table)) = (head.get(510..512), head.get(MBR_TABLE)) else {
        return false;
    };
    let mut entries = table.chunks(16);
    mark == MBR_MARK
        && table.chunks(16).all(|entry| matches!(entry[0], 0 | 0x80))
        && entries.any(|entry| entry[4] != 0)
}

fn read_up_to(file: &File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn every_mark_is_found_where_its_format_puts_it() {
        let size = (3 << 20) + 5 * 512;
        for mark in MARKS {
            let offset = match mark.place {
                Place::Start(offset) => offset,
                Place::End(back, unit) => size / unit * unit - back,
            };
            check(size, offset, mark.bytes, &[mark.name]);
        }
    }

    #[test]
    fn a_partition_table_is_told_from_noise() {
        let mut sector = [0; 512];
        sector[510..].copy_from_slice(&MBR_MARK);
        check(1 << 20, 0, &sector, &[]);
        sector[446 + 4] = 0x83;
        check(1 << 20, 0, &sector, &["a partition table"]);
        sector[446 + 16] = 0x17;
        check(1 << 20, 0, &sector, &[]);
    }

    #[test]
    fn blank_and_tiny_devices_carry_nothing() {
        check(1 << 20, 0, &[], &[]);
        check(0, 0, &[], &[]);
        check(511, 0, &[1], &[]);
    }
}
