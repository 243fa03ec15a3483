//! Offsets of a client's operations: the space is divided among clients, and each walks over its
//! share.

use random::{
    ExponentialStep, LawError, ParetoStep, Permutation, Purpose, Stream, Zipf, wrap_step,
};
use serde::{Deserialize, Serialize};

use crate::access_zones::{AccessZone, blocks_of};
use crate::op::TargetId;

/// The part of a target that a trial uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// The file or device.
    pub target: TargetId,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
    /// Distance between the starts of consecutive blocks, bytes.
    pub block: u64,
}

impl Region {
    /// The first bytes of a target.
    pub const fn first(target: TargetId, len: u64, block: u64) -> Self {
        Self {
            target,
            offset: 0,
            len,
            block,
        }
    }
}

/// How clients share a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partition {
    /// Each client has a contiguous range of blocks.
    Contiguous,
    /// Block `i` belongs to client `i` modulo the number of clients.
    Interleaved,
    /// Every client uses every block.
    Contending,
}

/// Minimum exponent of a Zipf law that a user may request, as in fio: below it, all blocks are
/// equally likely.
pub const THETA_MIN: f64 = 0.001;

/// Order of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum Pattern {
    /// Each block is `step` blocks after the one before; wraps at the end.
    Sequential {
        /// Distance in blocks.
        step: u64,
    },
    /// Every block is equally likely, with replacement.
    Uniform,
    /// A random walk in both directions with Pareto step lengths of exponent `alpha`.
    Hyperbolic {
        /// Exponent: the larger, the shorter the steps.
        alpha: f64,
    },
    /// A random walk in both directions with exponential step lengths.
    ExponentialSteps {
        /// Mean step length in blocks.
        mean: f64,
    },
    /// Popularity falls as a power of rank; ranks are scattered over the region by a bijection.
    Zipf {
        /// Exponent, above zero: near 0 is nearly uniform, 1 the classic law.
        theta: f64,
    },
    /// Within each of three zones, every block is equally likely.
    Zoned { zones: [AccessZone; 3] },
}

/// Start of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WalkStart {
    /// At the first block of the client's share.
    First,
    /// At a random block of the client's share.
    Random,
}

/// Parameters of the addresses of a group of clients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AddressSpec {
    /// The bytes used.
    pub region: Region,
    /// How clients share them.
    pub partition: Partition,
    /// Order of blocks.
    pub pattern: Pattern,
    /// Start of the walk.
    pub start: WalkStart,
}

impl AddressSpec {
    /// Every client accesses random blocks.
    pub const fn random(region: Region) -> Self {
        Self {
            region,
            partition: Partition::Contending,
            pattern: Pattern::Uniform,
            start: WalkStart::Random,
        }
    }

    /// Every client goes from the first block to the last.
    pub const fn sequential(region: Region) -> Self {
        Self {
            pattern: Pattern::Sequential { step: 1 },
            start: WalkStart::First,
            ..Self::random(region)
        }
    }
}

/// Why an address specification is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AddressError {
    /// A share has no block.
    #[error(
        "the region of {region} bytes has {blocks} blocks of {block} bytes, too few for {clients} \
         clients. Use a larger region, smaller blocks, fewer clients, or let them contend"
    )]
    ShareEmpty {
        /// Bytes in the region.
        region: u64,
        /// Bytes in a block.
        block: u64,
        /// Whole blocks in the region.
        blocks: u64,
        /// Clients that share them.
        clients: u32,
    },
    /// Clients of an archived run, which cannot be created again.
    #[error("the clients of {kind} are made by `seekstone {kind}` alone")]
    Unmade { kind: String },
    /// A parameter of a law is out of bounds.
    #[error(transparent)]
    Law(#[from] LawError),
}

/// A walk over numbered positions.
#[derive(Clone, Debug)]
pub(crate) struct AddressWalk {
    stream: Stream,
    walk: Walk,
    position: u64,
    count: u64,
}

impl AddressWalk {
    /// The walk of client `client` over `count` positions, with its own stream.
    pub(crate) fn new(
        pattern: Pattern,
        start: WalkStart,
        count: u64,
        seed: u64,
        client: u32,
    ) -> Result<Self, AddressError> {
        let mut stream = Stream::new(seed, u64::from(client), Purpose::Address);
        let walk = Walk::new(pattern, count, seed)?;
        let position = match start {
            WalkStart::First => 0,
            WalkStart::Random => stream.below(count),
        };
        Ok(Self {
            stream,
            walk,
            position,
            count,
        })
    }

    /// The next position, from 0 to below the count.
    #[inline]
    pub(crate) fn next_place(&mut self) -> u64 {
        match &self.walk {
            Walk::Uniform => self.stream.below(self.count),
            Walk::Sequential(step) => {
                let here = self.position;
                let next = here + step;
                self.position = if next < self.count {
                    next
                } else {
                    next % self.count
                };
                here
            }
            Walk::Pareto(law) => {
                let step = law.sample(&mut self.stream);
                self.move_by(step)
            }
            Walk::Exponential(law) => {
                let step = law.sample(&mut self.stream);
                self.move_by(step)
            }
            Walk::Zipf(law, scatter) => scatter.apply(law.sample(&mut self.stream)),
            Walk::Zoned(zones) => {
                let drawn = self.stream.below(100);
                let blocks = blocks_of(zones, drawn, (self.count, 1));
                blocks.start + self.stream.below(blocks.end - blocks.start)
            }
        }
    }

    fn move_by(&mut self, step: i64) -> u64 {
        self.position = wrap_step(self.position, step, self.count);
        self.position
    }
}

/// The blocks in one share of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionShare {
    /// Blocks in the share.
    pub(crate) blocks: u64,
    first_block: u64,
    stride: u64,
    base: u64,
    block_len: u64,
}

impl RegionShare {
    /// Share `number` of `shares`.
    pub(crate) fn new(
        region: Region,
        partition: Partition,
        number: u32,
        shares: u32,
    ) -> Result<Self, AddressError> {
        let all = region.len.checked_div(region.block).unwrap_or(0);
        let (number, count) = (u64::from(number), u64::from(shares));
        let (blocks, first_block, stride) = match partition {
            Partition::Contiguous => (all / count, all / count * number, 1),
            Partition::Interleaved => (all / count, number, count),
            Partition::Contending => (all, 0, 1),
        };
        if blocks == 0 {
            return Err(AddressError::ShareEmpty {
                region: region.len,
                block: region.block,
                blocks: all,
                clients: shares,
            });
        }
        Ok(Self {
            blocks,
            first_block,
            stride,
            base: region.offset,
            block_len: region.block,
        })
    }

    /// Start of block `index` of the share, in bytes.
    #[inline]
    pub(crate) const fn offset(&self, index: u64) -> u64 {
        self.base + (self.first_block + index * self.stride) * self.block_len
    }
}

/// The walk of one client: an endless stream of byte offsets.
#[derive(Clone, Debug)]
pub struct Addresses {
    places: AddressWalk,
    share: RegionShare,
}

#[derive(Clone, Debug)]
enum Walk {
    Sequential(u64),
    Uniform,
    Pareto(ParetoStep),
    Exponential(ExponentialStep),
    Zipf(Zipf, Permutation),
    Zoned([AccessZone; 3]),
}

impl Addresses {
    /// The walk of client `client`, with its own stream, in share `number` of `shares`.
    ///
    /// # Errors
    /// If a share would be empty or a parameter is out of range.
    pub(crate) fn of_share(
        spec: &AddressSpec,
        seed: u64,
        client: u32,
        (number, shares): (u32, u32),
    ) -> Result<Self, AddressError> {
        assert!(
            number < shares,
            "client {number} of {shares} does not exist"
        );
        let share = RegionShare::new(spec.region, spec.partition, number, shares)?;
        let places = AddressWalk::new(spec.pattern, spec.start, share.blocks, seed, client)?;
        Ok(Self { places, share })
    }

    /// The byte offset of the next operation.
    #[inline]
    pub fn next_offset(&mut self) -> u64 {
        self.share.offset(self.places.next_place())
    }
}

impl Walk {
    fn new(pattern: Pattern, blocks: u64, seed: u64) -> Result<Self, AddressError> {
        Ok(match pattern {
            Pattern::Sequential { step } => Self::Sequential(step % blocks.max(1)),
            Pattern::Uniform => Self::Uniform,
            Pattern::Zoned { zones } => Self::Zoned(zones),
            Pattern::Hyperbolic { alpha } => Self::Pareto(ParetoStep::new(alpha)?),
            Pattern::ExponentialSteps { mean } => Self::Exponential(ExponentialStep::new(mean)?),
            Pattern::Zipf { theta } => {
                // The scatter belongs to the region rather than to the client: all must agree on
                // which blocks are hot.
                let mut scatter = Stream::new(seed, 0, Purpose::Scatter);
                Self::Zipf(
                    Zipf::new(blocks, theta)?,
                    Permutation::new(blocks, &mut scatter)?,
                )
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access_zones::ZoneSpan;
    use std::collections::BTreeSet;

    fn spec(partition: Partition, pattern: Pattern, blocks: u64) -> AddressSpec {
        let region = Region {
            target: TargetId(0),
            offset: 1 << 20,
            len: blocks * 4096 + 100,
            block: 4096,
        };
        AddressSpec {
            region,
            partition,
            pattern,
            start: WalkStart::First,
        }
    }

    fn offsets(spec: &AddressSpec, client: u32, clients: u32, count: usize) -> Vec<u64> {
        let mut walk =
            Addresses::of_share(spec, 7, client, (client, clients)).expect("a valid specification");
        (0..count)
            .map(|_| (walk.next_offset() - (1 << 20)) / 4096)
            .collect()
    }

    #[test]
    fn sequential_shares_cover_the_region_once_and_do_not_overlap() {
        for partition in [Partition::Contiguous, Partition::Interleaved] {
            let spec = spec(partition, Pattern::Sequential { step: 1 }, 12);
            let mut seen = BTreeSet::new();
            for client in 0..3 {
                for block in offsets(&spec, client, 3, 4) {
                    assert!(
                        seen.insert(block),
                        "{partition:?}: block {block} came twice"
                    );
                }
            }
            assert_eq!(seen, (0..12).collect());
        }
    }

    #[test]
    fn interleaved_blocks_step_by_the_number_of_clients() {
        let spec = spec(Partition::Interleaved, Pattern::Sequential { step: 1 }, 12);
        assert_eq!(offsets(&spec, 1, 3, 5), [1, 4, 7, 10, 1]);
    }

    #[test]
    fn contiguous_blocks_follow_each_other_and_wrap() {
        let spec = spec(Partition::Contiguous, Pattern::Sequential { step: 1 }, 12);
        assert_eq!(offsets(&spec, 2, 3, 5), [8, 9, 10, 11, 8]);
    }

    #[test]
    fn contending_clients_use_every_block() {
        let spec = spec(Partition::Contending, Pattern::Uniform, 16);
        for client in 0..2 {
            let seen: BTreeSet<u64> = offsets(&spec, client, 2, 2_000).into_iter().collect();
            assert_eq!(seen, (0..16).collect());
        }
    }

    /// The zones of SSS PTS: half of the operations in the first 5 %, 20 % in the last 80 %.
    #[test]
    fn zones_have_their_shares_of_the_operations() {
        let zone = |percent, span| AccessZone {
            percent,
            span: ZoneSpan::Percent(span),
        };
        let zones = [zone(50, 5), zone(30, 15), zone(20, 80)];
        let spec = spec(Partition::Contending, Pattern::Zoned { zones }, 1000);
        let drawn = offsets(&spec, 0, 1, 20_000);
        for (blocks, share) in [(0..50, 0.5), (50..200, 0.3), (200..1000, 0.2)] {
            let found = drawn.iter().filter(|it| blocks.contains(*it)).count();
            let found = found as f64 / drawn.len() as f64;
            assert!((found - share).abs() < 0.015, "{blocks:?}: {found}");
        }
    }

    #[test]
    fn every_pattern_stays_within_the_share() {
        let patterns = [
            Pattern::Sequential { step: 5 },
            Pattern::Uniform,
            Pattern::Hyperbolic { alpha: 0.5 },
            Pattern::ExponentialSteps { mean: 3.0 },
            Pattern::Zipf { theta: 0.9 },
            Pattern::Zipf { theta: 1.0 },
        ];
        for pattern in patterns {
            let spec = spec(Partition::Contiguous, pattern, 100);
            for block in offsets(&spec, 1, 2, 10_000) {
                assert!(
                    (50..100).contains(&block),
                    "{pattern:?} went to block {block}"
                );
            }
        }
    }

    #[test]
    fn a_walk_goes_both_ways() {
        let spec = spec(
            Partition::Contending,
            Pattern::ExponentialSteps { mean: 2.0 },
            1_000_000,
        );
        let walk = offsets(&spec, 0, 1, 1_000);
        let up = walk.windows(2).filter(|pair| pair[1] > pair[0]).count();
        assert!((350..650).contains(&up), "{up} of 999 steps went up");
    }

    #[test]
    fn an_empty_share_names_both_numbers() {
        let spec = spec(Partition::Contiguous, Pattern::Uniform, 4);
        let error =
            Addresses::of_share(&spec, 7, 0, (0, 5)).expect_err("five clients share four blocks");
        assert!(error.to_string().contains("4 blocks") && error.to_string().contains("5 clients"));
    }

    #[test]
    fn addresses_depend_on_seed_and_client_only() {
        let spec = spec(Partition::Contending, Pattern::Uniform, 1 << 20);
        assert_eq!(offsets(&spec, 3, 8, 50), offsets(&spec, 3, 9, 50));
        assert_ne!(offsets(&spec, 3, 8, 50), offsets(&spec, 4, 8, 50));
    }
}
