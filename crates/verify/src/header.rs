//! The header of a sector: whose write it is part of, which one, and where it belongs.
//!
//! Each sector has one, because a sector is what storage writes whole or not at all: a torn write
//! then shows as sectors of two writes. The checksum is CRC-32C over the sector without the
//! checksum itself.

pub const SECTOR_BYTES: usize = 512;
/// Bytes at the beginning of each sector that belong to its header.
pub const HEADER_BYTES: usize = 56;

const MAGIC: [u8; 4] = *b"SkVf";
/// The checksum's place in a sector.
const CHECKSUM: std::ops::Range<usize> = 4..8;

/// What a sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorHeader {
    /// The ledger that its write is in.
    pub seed: u64,
    /// The number of its write, from 1: a later write has a larger one.
    pub sequence: u64,
    /// The file or device that it was written to.
    pub target: u32,
    /// Where the sector belongs, bytes.
    pub offset: u64,
    /// Where its write begins, bytes.
    pub begin: u64,
    /// Bytes of its write.
    pub len: u32,
    /// When it was asked for, nanoseconds since 1970 by the clock of its machine: writes of two
    /// runs have no other order.
    pub time_ns: u64,
}

/// What a sector holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// A header, and what the checksum says is right.
    Sound(SectorHeader),
    /// Something else.
    Unsound(SectorFault),
}

/// What a sector without a sound header holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorFault {
    Zeroes,
    /// Something that resembles the header that was expected, with another checksum.
    Flipped {
        /// The checksum that it carries.
        carried: u32,
        /// The checksum of what it holds.
        computed: u32,
    },
    /// Nothing that was written with a header.
    Foreign,
}

/// Put a header into each sector of `bytes`, which are one write of `first.len` bytes; `first` is
/// the header of the first sector. What a sector holds behind its header stays, and is part of the
/// checksum.
///
/// # Panics
/// When `bytes` are not whole sectors.
pub fn seal(bytes: &mut [u8], first: SectorHeader) {
    assert!(
        bytes.len().is_multiple_of(SECTOR_BYTES),
        "{} bytes are not whole sectors",
        bytes.len()
    );
    let places = (first.offset..).step_by(SECTOR_BYTES);
    for (sector, offset) in bytes.chunks_exact_mut(SECTOR_BYTES).zip(places) {
        encode(sector, &SectorHeader { offset, ..first });
        let checksum = checksum(sector);
        sector[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// What a sector holds, where a write of ledger `seed` to that place is expected; `seed` is `None`
/// where any ledger's will do.
///
/// # Panics
/// When it is not [`SECTOR_BYTES`] long.
#[must_use]
pub fn read_sector(sector: &[u8], seed: Option<u64>, target: u32, offset: u64) -> Sector {
    assert_eq!(sector.len(), SECTOR_BYTES, "a sector");
    let header = decode(sector);
    let carried = u32::from_le_bytes(bytes_at(sector, CHECKSUM.start));
    let has_magic = sector[..4] == MAGIC;
    let computed = checksum(sector);
    if has_magic && carried == computed {
        return Sector::Sound(header);
    }
    if sector.iter().all(|byte| *byte == 0) {
        return Sector::Unsound(SectorFault::Zeroes);
    }
    // One damaged field leaves the others as they were.
    let is_seed = seed.is_some_and(|seed| seed == header.seed);
    let is_place = (header.target, header.offset) == (target, offset);
    let after = offset.checked_sub(header.begin);
    let is_of_write = after.is_some_and(|after| after < u64::from(header.len));
    let alike = [
        has_magic,
        is_seed,
        is_place,
        is_of_write,
        carried == computed,
    ];
    let is_like = alike.iter().filter(|is_alike| **is_alike).count() >= 2;
    Sector::Unsound(match is_like {
        true => SectorFault::Flipped { carried, computed },
        false => SectorFault::Foreign,
    })
}

/// Layout, little-endian: magic (4), checksum (4), seed (8), sequence (8), offset (8), begin (8),
/// length (4), target (4), time (8).
fn encode(sector: &mut [u8], header: &SectorHeader) {
    sector[..4].copy_from_slice(&MAGIC);
    sector[8..16].copy_from_slice(&header.seed.to_le_bytes());
    sector[16..24].copy_from_slice(&header.sequence.to_le_bytes());
    sector[24..32].copy_from_slice(&header.offset.to_le_bytes());
    sector[32..40].copy_from_slice(&header.begin.to_le_bytes());
    sector[40..44].copy_from_slice(&header.len.to_le_bytes());
    sector[44..48].copy_from_slice(&header.target.to_le_bytes());
    sector[48..HEADER_BYTES].copy_from_slice(&header.time_ns.to_le_bytes());
}

fn decode(sector: &[u8]) -> SectorHeader {
    let long = |at| u64::from_le_bytes(bytes_at(sector, at));
    let short = |at| u32::from_le_bytes(bytes_at(sector, at));
    SectorHeader {
        seed: long(8),
        sequence: long(16),
        offset: long(24),
        begin: long(32),
        len: short(40),
        target: short(44),
        time_ns: long(48),
    }
}

fn bytes_at<const N: usize>(sector: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&sector[at..at + N]);
    bytes
}

/// CRC-32C (Castagnoli), as in iSCSI, RFC 3720, section 12.1.
fn checksum(sector: &[u8]) -> u32 {
    let begin = crc32c::crc32c(&sector[..CHECKSUM.start]);
    crc32c::crc32c_append(begin, &sector[CHECKSUM.end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: SectorHeader = SectorHeader {
        seed: 0x1122_3344_5566_7788,
        sequence: 9,
        target: 3,
        offset: 8192,
        begin: 8192,
        len: 2048,
        time_ns: 1_000_000,
    };

    fn written() -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..2048_u32).map(|at| (at * 7 % 251) as u8).collect();
        seal(&mut bytes, FIRST);
        bytes
    }

    #[test]
    fn every_sector_says_whose_it_is() {
        let bytes = written();
        for (number, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
            let offset = 8192 + number as u64 * 512;
            let found = read_sector(sector, Some(FIRST.seed), 3, offset);
            assert_eq!(found, Sector::Sound(SectorHeader { offset, ..FIRST }));
            assert_eq!(
                sector[HEADER_BYTES],
                ((number * 512 + HEADER_BYTES) * 7 % 251) as u8
            );
        }
    }

    /// Every bit of a sector is under the checksum, and one that flips never makes it foreign.
    #[test]
    fn any_flipped_bit_is_seen() {
        let bytes = written();
        for bit in 0..SECTOR_BYTES * 8 {
            let mut sector = bytes[..SECTOR_BYTES].to_vec();
            sector[bit / 8] ^= 1 << (bit % 8);
            // Bug: without the ledger's seed a damaged place made it foreign.
            for seed in [Some(FIRST.seed), None] {
                let found = read_sector(&sector, seed, 3, 8192);
                let is_flipped = matches!(found, Sector::Unsound(SectorFault::Flipped { .. }));
                assert!(is_flipped, "bit {bit}: {found:?}");
            }
        }
    }

    #[test]
    fn zeroes_and_bytes_of_others_have_no_header() {
        let check = |bytes: &[u8], expected| {
            let found = read_sector(bytes, Some(FIRST.seed), 3, 8192);
            assert_eq!(found, Sector::Unsound(expected));
        };
        check(&[0; 512], SectorFault::Zeroes);
        check(&[0xa5; 512], SectorFault::Foreign);
    }

    /// The check value of CRC-32C: RFC 3720, appendix B.4, 32 bytes of ones.
    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32c::crc32c(&[0xff; 32]), 0x62a8_ab43);
    }
}
