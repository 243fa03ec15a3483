//! Position of a job in one of its files, and its next request.

use random::{AroundMiddle, LawError, Permutation, SelfSimilar, Stream, Zipf};

use crate::access_zones::blocks_of;
use crate::address::Region;
use crate::block_map::BlockMap;
use crate::job_terms::JobPattern;

/// Position of a job in one file.
#[derive(Clone, Debug)]
pub(crate) struct JobWalk {
    pub(crate) region: Region,
    /// Next sequential offset of reads and of writes, from the region's start.
    pub(crate) position: [u64; 2],
    /// Number of blocks of `order` that were done.
    place: u64,
    order: Option<Permutation>,
    /// Map of the blocks reached, if sizes vary and each is reached once.
    map: Option<BlockMap>,
    /// Whether no block is free for a random request.
    is_spent: bool,
    law: Option<PlaceLaw>,
}

/// How unequal positions are drawn.
#[derive(Clone, Debug)]
enum PlaceLaw {
    Zipf(Zipf, Permutation),
    SelfSimilar(SelfSimilar),
    AroundMiddle(AroundMiddle),
}

impl PlaceLaw {
    fn of(
        pattern: &JobPattern,
        blocks: u64,
        addresses: &mut Stream,
    ) -> Result<Option<Self>, LawError> {
        Ok(match *pattern {
            JobPattern::Zipf { theta } => Some(Self::Zipf(
                Zipf::new(blocks.min(Zipf::RANKS_MAX), theta)?,
                Permutation::new(blocks, addresses)?,
            )),
            JobPattern::Pareto { share } => Some(Self::SelfSimilar(SelfSimilar::new(share)?)),
            JobPattern::Normal { percent } => Some(Self::AroundMiddle(AroundMiddle::new(percent)?)),
            _ => None,
        })
    }

    fn sample(&self, blocks: u64, addresses: &mut Stream) -> u64 {
        match self {
            Self::Zipf(law, scatter) => scatter.apply(law.sample(addresses)),
            Self::SelfSimilar(law) => law.sample(blocks, addresses),
            Self::AroundMiddle(law) => law.sample(blocks, addresses),
        }
    }
}

impl JobWalk {
    pub(crate) fn new(
        region: Region,
        (pattern, is_mapped): (&JobPattern, bool),
        addresses: &mut Stream,
    ) -> Result<Self, LawError> {
        let blocks = (region.len / region.block).max(1);
        let law = PlaceLaw::of(pattern, blocks, addresses)?;
        let first = match *pattern {
            JobPattern::Sequential { skip } if skip < 0 && region.offset > 0 => {
                first_backwards(region, skip.unsigned_abs())
            }
            _ => 0,
        };
        Ok(Self {
            region,
            position: [first; 2],
            place: 0,
            order: None,
            map: is_mapped.then(|| BlockMap::new(blocks)),
            is_spent: false,
            law,
        })
    }

    fn blocks(&self) -> u64 {
        (self.region.len / self.region.block).max(1)
    }

    pub(crate) const fn is_mapped(&self) -> bool {
        self.map.is_some()
    }

    /// Whether each block was reached.
    pub(crate) fn is_done(&self) -> bool {
        match &self.map {
            Some(map) => self.is_spent || map.is_full(),
            None => self.place == self.blocks(),
        }
    }

    /// Makes all blocks available again.
    pub(crate) fn begin_again(&mut self) {
        self.is_spent = false;
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }

    /// Starts again from the beginning.
    pub(crate) fn restart(&mut self) {
        self.position = [0; 2];
        self.place = 0;
        self.order = None;
        self.begin_again();
    }

    /// Start of the next free block of `block` bytes, from a random block on. If the map counts
    /// smaller blocks, the next free one may be beyond all of these: then there is none, and the
    /// file is finished.
    pub(crate) fn next_free(&mut self, block: u64, addresses: &mut Stream) -> Option<u64> {
        let blocks = (self.region.len / block).max(1);
        let map = self.map.as_ref().expect("sizes vary");
        let free = map.next_free(addresses.below(blocks));
        let free = free.expect("blocks are left");
        self.is_spent = free >= blocks;
        (!self.is_spent).then_some(free * block)
    }

    /// Marks the blocks of `len` bytes at `at` as reached, up to one that was reached before.
    /// Returns their size in bytes.
    pub(crate) fn take(&mut self, direction: usize, (at, len): (u64, u32), block: u64) -> u32 {
        let map = self.map.as_mut().expect("sizes vary");
        let taken = map.take(at / block, u64::from(len).div_ceil(block));
        let len = (taken * block).min(len.into());
        self.position[direction] = at + len;
        len as u32
    }

    /// Number of a random block.
    fn draw(&mut self, pattern: &JobPattern, direction: usize, addresses: &mut Stream) -> u64 {
        let blocks = self.blocks();
        match *pattern {
            JobPattern::Sequential { .. } | JobPattern::Uniform => addresses.below(blocks),
            JobPattern::Once => {
                if self.place == blocks {
                    self.place = 0;
                    self.order = None;
                }
                let order = self.order.get_or_insert_with(|| {
                    Permutation::new(blocks, addresses).expect("there is a block")
                });
                self.place += 1;
                order.apply(self.place - 1)
            }
            JobPattern::Zipf { .. } | JobPattern::Pareto { .. } | JobPattern::Normal { .. } => {
                let law = self.law.as_ref().expect("its pattern has a law");
                law.sample(blocks, addresses)
            }
            JobPattern::Zoned { ref zones } => {
                let drawn = addresses.below(100);
                let zone = blocks_of(&zones[direction], drawn, (blocks, self.region.block));
                zone.start + addresses.below(zone.end - zone.start)
            }
        }
    }

    /// Random offset of a request of `len` bytes, from the file's start.
    pub(crate) fn drawn(
        &mut self,
        pattern: &JobPattern,
        (direction, len): (usize, u64),
        addresses: &mut Stream,
    ) -> u64 {
        let at = self.draw(pattern, direction, addresses) * self.region.block;
        let last = self.region.len.saturating_sub(len) / self.region.block * self.region.block;
        at.min(last)
    }

    /// Bytes from the next sequential offset to the end of the file, if at least `least`.
    pub(crate) const fn room(&self, direction: usize, least: u64) -> u64 {
        let left = self.region.len.saturating_sub(self.position[direction]);
        if left < least { self.region.len } else { left }
    }

    /// Next sequential offset, and whether the file was just finished. Backwards, in a region that
    /// starts with its file, the first request is at the start and the next at the end.
    pub(crate) fn in_order(&mut self, direction: usize, len: u64, skip: i64) -> (u64, bool) {
        let end = self.region.len;
        let mut at = self.position[direction];
        if at + len > end {
            at = 0;
        }
        let next = (at + len).checked_add_signed(skip);
        let back = end.saturating_sub(skip.unsigned_abs());
        self.position[direction] = next.unwrap_or(back);
        let is_done = next.is_none_or(|next| next + len > end);
        (at, is_done)
    }
}

/// Where fio starts backwards in a region that does not start with its file: it counts the region's
/// length from the start of the file.
fn first_backwards(region: Region, step: u64) -> u64 {
    let from_end = region.len.saturating_sub(step);
    match region.len.checked_sub(region.offset) {
        Some(0) => 0,
        Some(left) => left.checked_sub(step).unwrap_or(from_end),
        None => from_end,
    }
}
