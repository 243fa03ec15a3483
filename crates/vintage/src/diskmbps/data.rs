//! What is written and checked: numbers 1 to 16384 in every block of 64 KiB.

/// Words of four bytes in a block.
pub const BLOCK_WORDS: u32 = 16_384;
pub const BLOCK_BYTES: usize = 4 * BLOCK_WORDS as usize;
/// Blocks in 1048576 bytes.
pub const BLOCKS_PER_MEGABYTE: u64 = 16;

/// The block that is written again and again.
pub fn block() -> Vec<u8> {
    (1..=BLOCK_WORDS).flat_map(u32::to_le_bytes).collect()
}

/// The last word of a block; `None` when there is not even one.
pub fn last_word(block: &[u8]) -> Option<u32> {
    block
        .last_chunk::<4>()
        .map(|word| u32::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_counts_from_one_to_its_last_word() {
        let block = block();
        assert_eq!(block.len(), 65_536);
        assert_eq!(&block[..8], &[1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(last_word(&block), Some(16_384));
        assert_eq!(last_word(&block[..3]), None);
        assert_eq!(BLOCKS_PER_MEGABYTE * block.len() as u64, 1 << 20);
    }
}
