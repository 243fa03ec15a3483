//! The two kinds of boot sector that no mark alone tells.

use std::ops::Range;

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
