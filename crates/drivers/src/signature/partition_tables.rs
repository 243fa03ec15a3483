//! Marks of partition tables and disk labels, by their published formats, and the two kinds of
//! boot sector that no mark alone tells.

use std::ops::Range;

use super::mark::{MarkPosition, SignatureBytes, at, each, end, mark};

const KIB: u64 = 1 << 10;

const GPT: &str = "a GUID partition table";
const GPT_COPY: &str = "a GUID partition table's copy";
const APPLE: &str = "an Apple partition map";
const BSD: &str = "a BSD disk label";
const SOLARIS: &str = "a Solaris disk label";
const UNIXWARE: &str = "a UnixWare disk label";
const DYNAMIC: &str = "a Windows dynamic disk";

const UNIXWARE_PLACES: &[MarkPosition] = &[at(29 * 512 + 4)];

pub(super) const MARKS: &[SignatureBytes] = &[
    mark(GPT, &["gpt"], b"EFI PART", &[at(512), at(4 * KIB)]),
    mark(
        GPT_COPY,
        &["gpt"],
        b"EFI PART",
        &[end(512, 512), end(4 * KIB, 4 * KIB)],
    ),
    mark(APPLE, &["mac"], b"ER", &[at(0)]),
    mark(
        APPLE,
        &["mac"],
        b"PM\0\0",
        &[at(512), at(KIB), at(2 * KIB), at(4 * KIB)],
    ),
    mark(APPLE, &["mac"], b"TS\0\0", &[at(512)]),
    mark("a Sun disk label", &["sun"], &[0xda, 0xbe], &[at(508)]),
    mark(
        "an SGI disk label",
        &["sgi"],
        &[0x0b, 0xe5, 0xa9, 0x41],
        &[at(0)],
    ),
    mark(
        "an AIX disk label",
        &["aix"],
        &[0xc9, 0xc2, 0xd4, 0xc1],
        &[at(0)],
    ),
    mark(
        BSD,
        &["bsd"],
        &[0x57, 0x45, 0x56, 0x82],
        &[at(0), at(64), at(128), at(512), at(512 + 64)],
    ),
    mark(
        BSD,
        &["bsd"],
        &[0x82, 0x56, 0x45, 0x57],
        &[at(0), at(64), at(128), at(512), at(512 + 64)],
    ),
    mark(
        SOLARIS,
        &["solaris_x86"],
        &[0xee, 0xde, 0x0d, 0x60],
        &[at(512 + 12)],
    ),
    mark(
        UNIXWARE,
        &["unixware"],
        &[0x0d, 0x60, 0x5e, 0xca],
        UNIXWARE_PLACES,
    ),
    mark(
        UNIXWARE,
        &["unixware"],
        &[0x0d, 0x60, 0xe5, 0xca],
        UNIXWARE_PLACES,
    ),
    mark(
        "an Ultrix disk label",
        &["ultrix"],
        &[0x57, 0x29, 0x03, 0x00],
        &[at(16 * KIB - 72)],
    ),
    mark(
        "an Amiga partition table",
        &[],
        b"RDSK",
        &[each(&at(0), 512, 16)],
    ),
    mark(DYNAMIC, &[], b"PRIVHEAD", &[at(6 * 512), end(512, 512)]),
];

/// What [`boot_sector`] finds, in the words of `blkid`.
#[cfg(test)]
pub(super) const BOOT_SECTOR_KINDS: &[&str] = &["dos", "vfat", "PMBR"];

/// The part of a partition table's sector that lists partitions.
const TABLE: Range<usize> = 446..510;
/// How a boot sector ends.
const MARK: [u8; 2] = [0x55, 0xaa];

/// What a first sector is that no mark tells.
pub(super) fn boot_sector(sector: &[u8]) -> Option<&'static str> {
    if is_fat(sector) {
        return Some("a FAT file system");
    }
    has_partitions(sector).then_some("a partition table")
}

/// Every boot sector ends in 55 AA; a partition table also lists at least one partition, and marks
/// each entry with 00 or 80.
fn has_partitions(sector: &[u8]) -> bool {
    let (Some(mark), Some(table)) = (sector.get(510..512), sector.get(TABLE)) else {
        return false;
    };
    let mut entries = table.chunks(16);
    mark == MARK
        && table.chunks(16).all(|entry| matches!(entry[0], 0 | 0x80))
        && entries.any(|entry| entry[4] != 0)
}

/// A FAT file system need not say so in text: the numbers that describe it have few values.
fn is_fat(sector: &[u8]) -> bool {
    let Some(&[first, _, third, ..]) = sector.get(..64) else {
        return false;
    };
    let jumps = first == 0xe9 || first == 0xeb && third == 0x90;
    let number = |at: usize| u16::from_le_bytes([sector[at], sector[at + 1]]);
    let (cluster, tables, medium) = (sector[13], sector[16], sector[21]);
    jumps
        && matches!(number(11), 512 | 1024 | 2048 | 4096)
        && cluster.is_power_of_two()
        && number(14) != 0
        && matches!(tables, 1 | 2)
        && (medium == 0xf0 || medium >= 0xf8)
}
