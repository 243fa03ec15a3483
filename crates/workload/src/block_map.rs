//! A map of the blocks of a file that a job has reached, for varying sizes: a request takes a run
//! of free ones.
//!
//! One bit per block and, above each 64 words, a word that tells which of them are full, so that
//! the next free block is found in one step per level.

const BITS: u64 = u64::BITS as u64;

#[derive(Clone, Debug)]
pub(crate) struct BlockMap {
    /// From the blocks up to a single word; a bit is set if nothing below it is free.
    levels: Vec<Vec<u64>>,
    blocks: u64,
    free: u64,
}

impl BlockMap {
    /// A map of `blocks` free blocks.
    pub(crate) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = bits.div_ceil(BITS).max(1);
            let mut level = vec![0; words as usize];
            // Bits beyond the last block are never free.
            let inside = bits % BITS;
            if inside > 0 || bits == 0 {
                level[words as usize - 1] = u64::MAX << inside;
            }
            levels.push(level);
            if words == 1 {
                break;
            }
            bits = words;
        }
        Self {
            levels,
            blocks,
            free: blocks,
        }
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.free == 0
    }

    /// Frees all blocks.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.blocks);
    }

    /// The first free block from `from` on, or else from the start; `None` if all are taken.
    pub(crate) fn next_free(&self, from: u64) -> Option<u64> {
        self.free_from(from).or_else(|| self.free_from(0))
    }

    fn free_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = level.get((at / BITS) as usize)?;
            let free = !word & (u64::MAX << (at % BITS));
            if free != 0 {
                let found = at / BITS * BITS + u64::from(free.trailing_zeros());
                let below = self.levels[..height].iter().rev();
                return Some(below.fold(found, |found, level| {
                    let word = level[found as usize];
                    found * BITS + u64::from((!word).trailing_zeros())
                }));
            }
            at = at / BITS + 1;
        }
        None
    }

    /// Takes up to `count` consecutive free blocks from `first` on. Returns how many.
    pub(crate) fn take(&mut self, first: u64, count: u64) -> u64 {
        let end = first.saturating_add(count).min(self.blocks);
        let is_free = |map: &Self, block: u64| {
            let word = map.levels[0][(block / BITS) as usize];
            word & (1 << (block % BITS)) == 0
        };
        let mut at = first;
        while at < end && is_free(self, at) {
            self.set(at);
            at += 1;
        }
        self.free -= at - first;
        at - first
    }

    fn set(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / BITS) as usize];
            *word |= 1 << (at % BITS);
            if *word != u64::MAX {
                return;
            }
            at /= BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::{Purpose, Stream};

    /// Compares with a plain list, for sizes around the ends of words and levels.
    #[test]
    fn it_finds_and_takes_what_a_list_does() {
        for blocks in [1, 63, 64, 65, 4095, 4096, 4097, 20_000] {
            let mut stream = Stream::new(7, blocks, Purpose::Address);
            let mut map = BlockMap::new(blocks);
            let mut taken = vec![false; blocks as usize];
            for _ in 0..2 {
                while !map.is_full() {
                    let from = stream.below(blocks);
                    let all = (from..blocks).chain(0..from);
                    let first = all.clone().find(|&at| !taken[at as usize]);
                    assert_eq!(map.next_free(from), first, "{blocks} from {from}");
                    let first = first.expect("it is not full");
                    let count = 1 + stream.below(100);
                    let end = (first + count).min(blocks);
                    let run = (first..end).take_while(|&at| !taken[at as usize]).count();
                    assert_eq!(map.take(first, count), run as u64, "{blocks} at {first}");
                    taken[first as usize..first as usize + run].fill(true);
                }
                assert_eq!(map.next_free(0), None);
                assert!(taken.iter().all(|it| *it), "{blocks}");
                map.clear();
                taken.fill(false);
            }
        }
    }
}
