//! The tests of SSS PTS as data: what a round does, what is followed, and what is written before.

use results::{SsdLoad, SsdPattern, Tracked};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
/// Reads in the mixes of the standard, percent, in its order.
const MIXES: [u32; 7] = [100, 95, 65, 50, 35, 5, 0];
/// Blocks of the IOPS test, in the order of the standard.
const BLOCKS: [u64; 8] = [
    MIB,
    128 * KIB,
    64 * KIB,
    32 * KIB,
    16 * KIB,
    8 * KIB,
    4 * KIB,
    512,
];
/// Mixes and blocks of the latency test.
const LATENCY_MIXES: [u32; 3] = [100, 65, 0];
const LATENCY_BLOCKS: [u64; 3] = [8 * KIB, 4 * KIB, 512];
/// What is written before a test that is no write saturation.
const PRECONDITION_BLOCK: u64 = 128 * KIB;
/// Rounds of a minute from one of a window to the next, where the load is a minute of half an hour.
const SATURATION_STRIDE: u32 = 30;

units::words! {
    /// A test of the standard.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SsdTest {
        /// Write saturation: random writes of 4 KiB from the first on.
        Wsat = "wsat",
        /// Seven mixes with eight block sizes.
        Iops = "iops",
        /// Three mixes with three block sizes, one at a time.
        Lat = "lat",
        /// Sequential reads and writes of 128 KiB, then of 1 MiB.
        Tp = "tp",
    }
}

/// A test, or the part of it with one block size.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdPhasePlan {
    /// As in the JSON form.
    pub name: &'static str,
    /// What is done, in words.
    pub title: String,
    /// The figure that is followed.
    pub tracked: Tracked,
    /// The load that it is a figure of, by its place in `loads`.
    pub tracked_load: usize,
    /// What a round does, in this order.
    pub loads: Vec<SsdLoad>,
    /// Block size of the sequential writes before the first round.
    pub precondition_block: u64,
    /// How often all is written before the first round, if nobody says.
    pub precondition: u32,
    /// From one round of a window of the standard to the next.
    pub stride: u32,
}

impl SsdTest {
    /// Its parts, with as many operations outstanding where the standard leaves that open.
    #[must_use]
    pub fn phases(self, depth: u32) -> Vec<SsdPhasePlan> {
        match self {
            Self::Wsat => vec![SsdPhasePlan {
                stride: SATURATION_STRIDE,
                precondition: 0,
                ..random("wsat", Tracked::Iops, crossed(&[0], &[4 * KIB], depth))
            }],
            Self::Iops => {
                let loads = crossed(&MIXES, &BLOCKS, depth);
                vec![random("iops", Tracked::Iops, loads)]
            }
            Self::Lat => {
                let loads = crossed(&LATENCY_MIXES, &LATENCY_BLOCKS, 1);
                vec![random("lat", Tracked::Latency, loads)]
            }
            Self::Tp => [("tp-128k", 128 * KIB), ("tp-1m", MIB)]
                .map(|(name, block)| sequential(name, block, depth))
                .to_vec(),
        }
    }
}

fn crossed(mixes: &[u32], blocks: &[u64], depth: u32) -> Vec<SsdLoad> {
    let of_mix = |&read_percent: &u32| {
        blocks.iter().map(move |&block_bytes| SsdLoad {
            block_bytes,
            read_percent,
            pattern: SsdPattern::Random,
            depth,
        })
    };
    mixes.iter().flat_map(of_mix).collect()
}

/// A test of random access, which follows writes of 4 KiB.
fn random(name: &'static str, tracked: Tracked, loads: Vec<SsdLoad>) -> SsdPhasePlan {
    let is_tracked = |it: &SsdLoad| (it.block_bytes, it.read_percent) == (4 * KIB, 0);
    let tracked_load = loads.iter().position(is_tracked).unwrap_or(0);
    let depth = loads[tracked_load].depth;
    let what = match loads.len() {
        1 => "random writes of 4 KiB".to_owned(),
        many => format!("{many} random loads, followed by 4 KiB writes"),
    };
    SsdPhasePlan {
        name,
        title: format!("{what}, depth {depth}"),
        tracked,
        tracked_load,
        loads,
        precondition_block: PRECONDITION_BLOCK,
        precondition: 2,
        stride: 1,
    }
}

fn sequential(name: &'static str, block_bytes: u64, depth: u32) -> SsdPhasePlan {
    let load = |read_percent| SsdLoad {
        block_bytes,
        read_percent,
        pattern: SsdPattern::Sequential,
        depth,
    };
    let block = units::Bytes(block_bytes);
    SsdPhasePlan {
        name,
        title: format!("sequential reads and writes of {block}, depth {depth}"),
        tracked: Tracked::Throughput,
        tracked_load: 1,
        loads: vec![load(100), load(0)],
        precondition_block: block_bytes,
        precondition: 2,
        stride: 1,
    }
}

impl SsdPhasePlan {
    /// The same without the blocks that direct I/O of `unit` bytes cannot move.
    #[must_use]
    pub fn without_smaller(mut self, unit: u32) -> Self {
        let tracked = self.loads[self.tracked_load];
        self.loads
            .retain(|it| it.block_bytes.is_multiple_of(u64::from(unit)) || *it == tracked);
        let place = self.loads.iter().position(|it| *it == tracked);
        self.tracked_load = place.unwrap_or(0);
        self
    }

    /// The load that is followed.
    #[must_use]
    pub fn tracked(&self) -> SsdLoad {
        self.loads[self.tracked_load]
    }

    /// Bytes of its largest operation.
    #[must_use]
    pub fn block_max(&self) -> u64 {
        let blocks = self.loads.iter().map(|it| it.block_bytes);
        blocks.max().unwrap_or(0).max(self.precondition_block)
    }
}
