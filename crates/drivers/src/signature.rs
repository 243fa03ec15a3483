//! Does a device carry data? A table of the marks that file systems, volume managers, encryption,
//! RAID and partition tables leave; and whether there is anything that no mark tells.

mod boot_sector;
mod mark;
mod reading;
#[cfg(test)]
mod tests;
mod unknown;

use std::fs::File;
use std::io;

use self::boot_sector::boot_sector;
use self::mark::marks;
use self::reading::DeviceChunks;

/// The bytes of a first sector.
const SECTOR_BYTES: usize = 512;

/// What a device of `size` bytes carries, each kind named once; empty when nothing is known.
///
/// # Errors
/// When it cannot be read; a device whose content is unknown must not be overwritten.
// fuzzed: content
pub fn find_signatures(file: &File, size: u64) -> io::Result<Vec<&'static str>> {
    let mut reading = DeviceChunks::new(file, size);
    let mut found = Vec::new();
    for mark in marks() {
        for offset in mark.places.iter().flat_map(|place| place.offsets(size)) {
            let is_there = reading.bytes(offset, mark.bytes.len())? == mark.bytes;
            if is_there && !found.contains(&mark.name) {
                found.push(mark.name);
            }
        }
    }
    if found.is_empty() {
        found.extend(boot_sector(&reading.bytes(0, SECTOR_BYTES)?));
    }
    Ok(found)
}

/// What a device of `size` bytes carries, as a message says it: the kinds that are known, or else
/// data that are neither zeroes nor ones nor what this program wrote there. `None` when there is
/// none at the usual places.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn find_content(file: &File, size: u64) -> io::Result<Option<String>> {
    let known = find_signatures(file, size)?;
    if !known.is_empty() {
        return Ok(Some(known.join(", ")));
    }
    let places = marks().flat_map(|mark| &mark.places);
    let places: Vec<_> = places.flat_map(|place| place.offsets(size)).collect();
    let found = unknown::find_unknown(file, size, &places)?;
    Ok(found.map(|offset| format!("data of unknown kind (first at byte {offset})")))
}
