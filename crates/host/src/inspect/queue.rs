//! Properties of a device's request queue.

use super::SystemRoots;

/// The smallest page, and so the smallest segment of a request.
const PAGE_BYTES: u64 = 4096;
const SECTOR_BYTES: u64 = 512;

/// Whether the driver of a device has poll queues, without interrupts.
pub fn has_poll_queues(facts: &SystemRoots, device: &str) -> bool {
    number(facts, device, "io_poll") == Some(1)
}

/// Minimum size in bytes of the requests that a contiguous operation on `device` is split into;
/// `None` if unknown. Documented in the kernel's `ABI/stable/sysfs-block`.
pub fn request_bytes(facts: &SystemRoots, device: &str) -> Option<u64> {
    let of_queue = |name| number(facts, device, name);
    smallest(
        of_queue("max_sectors_kb")?,
        of_queue("max_segments")?,
        [of_queue("chunk_sectors"), of_queue("minimum_io_size")],
    )
}

/// How many times the file system on `device` writes each byte: ext4 may write all data to its
/// journal first, by a mount option or by its superblock.
pub fn writes_of_each_byte(facts: &SystemRoots, device: &str) -> u64 {
    let options = facts.proc_text(&format!("fs/ext4/{device}/options"));
    let options = options.unwrap_or_default();
    match options.lines().any(|it| it == "data=journal") {
        true => 2,
        false => 1,
    }
}

/// A number of a device's queue; a partition uses that of its disk.
fn number(facts: &SystemRoots, device: &str, name: &str) -> Option<u64> {
    let mut places = ["queue", "../queue"].into_iter();
    places.find_map(|queue| {
        let text = facts.sys_text(&format!("class/block/{device}/{queue}/{name}"));
        text?.parse().ok()
    })
}

/// A chunk is the part of one member of a stripe set, and also the minimum I/O size of such a set.
fn smallest(
    sectors_kb: u64,
    segments: u64,
    [chunk_sectors, io_min]: [Option<u64>; 2],
) -> Option<u64> {
    let chunk = chunk_sectors.map(|sectors| sectors * SECTOR_BYTES);
    let chunks = [chunk, io_min].into_iter().flatten();
    let chunks = chunks.filter(|bytes| *bytes > PAGE_BYTES);
    let whole = [sectors_kb << 10, segments * PAGE_BYTES];
    let all = whole.into_iter().chain(chunks);
    all.min().filter(|bytes| *bytes >= PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_of_the_queue_counts() {
        let check = |sectors_kb, segments, chunks, expected| {
            assert_eq!(smallest(sectors_kb, segments, chunks), expected);
        };
        check(1280, 254, [Some(0), Some(512)], Some(254 * 4096));
        check(128, 254, [None, Some(4096)], Some(128 << 10));
        check(1280, 256, [Some(0), Some(64 << 10)], Some(64 << 10));
        check(1280, 256, [Some(256), None], Some(128 << 10));
        check(0, 0, [None, None], None);
    }
}
