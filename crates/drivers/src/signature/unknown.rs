//! Does a device carry anything that is neither nothing nor ours? Looked for where a mark would be
//! known to stand, and at places spread over the device; a device is not read as a whole.
//!
//! *Nothing* is a sector of zeroes, or of ones, as erased flash. *Ours* is what a stamp stands for
//! (see `payload`): the 4 KiB from a sound stamp on that was made for that very offset. A later
//! write that began elsewhere leaves the end of an older block without its stamp, which is shorter
//! than a block and follows what is ours; several such ends may follow one another, and are noise.
//! A write of less than a stamp carries none; what such writes left is not known again, and has to
//! be confirmed.

use std::fs::File;
use std::io;

use super::reading::read_up_to;
use crate::payload::{BLOCK_BYTES, STAMP_BYTES, stamped_offset};

/// Looked at as a whole, at the start and at the end.
const EDGE_BYTES: u64 = 1 << 20;
/// Places spread evenly over the device.
const SPREAD: u64 = 64;
/// Looked at in each of them.
const SPREAD_BYTES: u64 = 16 << 10;
/// Read before each place: where the stamp is that stands for its first bytes.
const BEFORE_BYTES: u64 = 4 * BLOCK_BYTES as u64;
/// Ends of blocks in a row whose stamps were written over have fewer bytes than that.
const REMAINDER_BYTES: usize = 3 * BLOCK_BYTES;
/// Different bytes in a sector of noise: 221 on average, hardly ever fewer than 190.
const NOISE_VALUES: usize = 180;
/// What is nothing, or ours, or not, as a whole.
const SECTOR_BYTES: usize = 512;

/// The offset of the first byte found that is neither nothing nor ours, on a device of `size`
/// bytes; the blocks at `places` are looked at, too.
pub(super) fn find_unknown(file: &File, size: u64, places: &[u64]) -> io::Result<Option<u64>> {
    let edge = EDGE_BYTES.min(size);
    let block = BLOCK_BYTES as u64;
    let mut windows = vec![(0, edge), (size - edge, edge)];
    let apart = (size / (SPREAD + 1)) & !0xffff;
    windows.extend((1..=SPREAD).map(|number| (number * apart, SPREAD_BYTES)));
    let is_within = |start: &u64| *start >= edge && *start < size - edge;
    let starts = places.iter().map(|place| place / block * block);
    windows.extend(starts.filter(is_within).map(|start| (start, block)));
    windows.sort_unstable();
    windows.dedup();
    for (start, len) in windows {
        let before = start.min(BEFORE_BYTES);
        let len = before + len.min(size.saturating_sub(start));
        let bytes = read_up_to(file, start - before, len)?;
        let found = first_unknown(&bytes, start - before, before as usize);
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The offset of the first byte at or behind `from` that is neither nothing nor ours, in what was
/// read from `offset`.
fn first_unknown(bytes: &[u8], offset: u64, from: usize) -> Option<u64> {
    let stamps = stamps_in(bytes, offset);
    let mut run: Option<UnknownSectors> = None;
    let mut is_behind_ours = false;
    for (sector, start) in bytes.chunks(SECTOR_BYTES).zip((0..).step_by(SECTOR_BYTES)) {
        let end = start + sector.len();
        let last = stamps.partition_point(|stamp| *stamp < end).checked_sub(1);
        let is_ours = last.is_some_and(|last| stamps[last] + BLOCK_BYTES > start);
        if !is_ours && !is_blank(sector) {
            let begun = UnknownSectors {
                start,
                end,
                is_behind_ours,
            };
            run.get_or_insert(begun).end = end;
            continue;
        }
        is_behind_ours = is_ours;
        if let Some(run) = run.take().filter(|run| run.is_unknown(bytes, from)) {
            return Some(run.first(bytes, offset, from));
        }
    }
    let run = run.filter(|run| run.is_unknown(bytes, from))?;
    Some(run.first(bytes, offset, from))
}

/// Sectors in a row that are neither nothing nor stamped.
struct UnknownSectors {
    start: usize,
    end: usize,
    is_behind_ours: bool,
}

impl UnknownSectors {
    /// Not before `from`, and not the ends of blocks of ours whose stamps were written over.
    fn is_unknown(&self, bytes: &[u8], from: usize) -> bool {
        let len = self.end - self.start;
        let mut sectors = bytes[self.start..self.end].chunks(SECTOR_BYTES);
        let is_remainder = self.is_behind_ours
            && (len < BLOCK_BYTES || len < REMAINDER_BYTES && sectors.all(is_noise));
        self.end > from && !is_remainder
    }

    /// The offset of its first byte that is looked at and is not zero.
    fn first(&self, bytes: &[u8], offset: u64, from: usize) -> u64 {
        let start = self.start.max(from);
        let before = bytes[start..self.end].iter().position(|byte| *byte != 0);
        offset + (start + before.unwrap_or(0)) as u64
    }
}

/// Where stamps stand in what was read from `offset`.
fn stamps_in(bytes: &[u8], offset: u64) -> Vec<usize> {
    let windows = bytes.windows(STAMP_BYTES).enumerate();
    windows
        .filter(|(at, stamp)| {
            stamp[0] == b'S' && stamped_offset(stamp) == Some(offset + *at as u64)
        })
        .map(|(at, _)| at)
        .collect()
}

fn is_blank(sector: &[u8]) -> bool {
    matches!(sector.first(), Some(0 | 0xff)) && sector.iter().all(|byte| *byte == sector[0])
}

fn is_noise(sector: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in sector {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count() >= NOISE_VALUES
}
