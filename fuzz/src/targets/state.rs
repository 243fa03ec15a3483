//! States of verified writes: any bytes, or a head with its right checksum.

use verify::StateHead;

/// The checksum covers what is behind these bytes.
const COVERED: usize = 12;

pub fn read(bytes: &[u8]) {
    let _ = StateHead::decode(bytes);
    let mut head = bytes.to_vec();
    head.resize(bytes.len().max(COVERED).next_multiple_of(4096), 0);
    head[..8].copy_from_slice(&verify::STATE_MAGIC);
    let len = head.len() as u32;
    head[COVERED..COVERED + 4].copy_from_slice(&len.to_le_bytes());
    let sum = crc32c::crc32c(&head[COVERED..]);
    head[8..COVERED].copy_from_slice(&sum.to_le_bytes());
    if let Ok(found) = StateHead::decode(&head) {
        assert!(found.targets.len() <= head.len() / COVERED);
    }
}
