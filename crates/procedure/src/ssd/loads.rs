//! The tests of SSS PTS as data: the loads of a round, the tracked load, and the preconditioning.

use results::{SsdLoad, SsdPattern, Tracked};
use units::Duration;

use super::segments::{DemandPoint, SegmentLoad, SsdSegmentPlan};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
/// Percentages of reads in the standard's mixes, in its order.
const MIXES: [u32; 7] = [100, 95, 65, 50, 35, 5, 0];
/// Block sizes of the IOPS test, in the order of the standard.
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
/// Mixes and block sizes of the latency test.
const LATENCY_MIXES: [u32; 3] = [100, 65, 0];
const LATENCY_BLOCKS: [u64; 3] = [8 * KIB, 4 * KIB, 512];
/// Block size of preconditioning, except for write saturation.
const PRECONDITION_BLOCK: u64 = 128 * KIB;
/// Queue depths of the demand tests: the products of the standard's threads and operations per
/// thread. A device does not see which thread issues a request.
const DEMANDS: [u32; 7] = [32, 16, 8, 6, 4, 2, 1];
/// Percentage of reads of the composite workload and of the other demand test.
const COMPOSITE_READS: u32 = 40;
const DEMAND_READS: u32 = 65;
/// The writes of a demand test's round take this many times the time of a load.
const DEMAND_WRITES: u32 = 5;
/// Idle times of the host idle recovery test, seconds, and its bursts.
const WAITS: [(u64, [&str; 2]); 5] = [
    (5, ["wait 5 s", "return from 5 s"]),
    (10, ["wait 10 s", "return from 10 s"]),
    (15, ["wait 15 s", "return from 15 s"]),
    (25, ["wait 25 s", "return from 25 s"]),
    (50, ["wait 50 s", "return from 50 s"]),
];
const MINUTE: Duration = Duration::from_secs(60);
/// Distance between rounds of a window, in rounds of a minute, if the standard's load is one minute
/// in half an hour.
const SATURATION_STRIDE: u32 = 30;

units::words! {
    /// A test of the standard.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SsdTest {
        /// Write saturation: random 4 KiB writes.
        Wsat = "wsat",
        /// Seven mixes with eight block sizes.
        Iops = "iops",
        /// Three mixes with three block sizes, at depth 1.
        Lat = "lat",
        /// Sequential reads and writes of 128 KiB, then of 1 MiB.
        Tp = "tp",
        /// Host idle recovery: short writes separated by pauses of five lengths.
        Hir = "hir",
        /// Cross stimulus recovery: sequential writes before and after random ones.
        Xsr = "xsr",
        /// Composite workload at increasing demand.
        Cbw = "cbw",
        /// Response times of one size and mix at increasing demand.
        Dirth = "dirth",
    }
}

/// A test, or its part with one block size.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdPhasePlan {
    /// Name in the JSON form.
    pub name: &'static str,
    /// Description.
    pub title: String,
    /// The tracked figure.
    pub tracked: Tracked,
    /// Index of the tracked load in `loads`.
    pub tracked_load: usize,
    /// Loads of a round, in this order.
    pub loads: Vec<SsdLoad>,
    /// Block size of the sequential writes before the first round.
    pub precondition_block: u64,
    /// Default number of capacity writes before the first round.
    pub precondition: u32,
    /// Distance between the rounds of a window of the standard.
    pub stride: u32,
    /// Length of the first load of a round relative to the others.
    pub first_times: u32,
    /// Whether there are rounds until it is steady.
    pub has_rounds: bool,
    /// Segments after the rounds.
    pub segments: Vec<SsdSegmentPlan>,
}

impl SsdTest {
    /// Its parts, at depth `depth` if the standard leaves that open.
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
            Self::Hir => vec![SsdPhasePlan {
                segments: idle_recovery(depth),
                precondition: 0,
                ..random("hir", Tracked::Iops, crossed(&[0], &[4 * KIB], depth))
            }],
            Self::Xsr => vec![cross_stimulus(depth)],
            Self::Cbw => {
                let load = SsdLoad {
                    pattern: SsdPattern::Composite,
                    ..random_load(512, COMPOSITE_READS, depth)
                };
                vec![demand("cbw", "composite loads", load)]
            }
            Self::Dirth => {
                let load = random_load(8 * KIB, DEMAND_READS, depth);
                vec![demand("dirth", "random 65/35 mixes of 8 KiB", load)]
            }
        }
    }
}

/// Each pause with bursts of 5 s, followed by half an hour without pause.
fn idle_recovery(depth: u32) -> Vec<SsdSegmentPlan> {
    let load = SegmentLoad::Fixed(random_load(4 * KIB, 0, depth));
    let of_wait = |(wait, [waiting, back]): (u64, [&'static str; 2])| {
        let bursts = SsdSegmentPlan {
            name: waiting,
            load,
            bursts: 360,
            burst: Duration::from_secs(5),
            pause: Duration::from_secs(wait),
        };
        [
            bursts,
            SsdSegmentPlan::without_pause(back, load, MINUTE * 30),
        ]
    };
    WAITS.into_iter().flat_map(of_wait).collect()
}

/// Sequential writes for eight hours, random ones for six, then sequential ones again.
fn cross_stimulus(depth: u32) -> SsdPhasePlan {
    let hours = |hours: u64| Duration::from_secs(3600 * hours);
    let random_writes = SegmentLoad::Fixed(random_load(8 * KIB, 0, depth));
    let plan = sequential("xsr", MIB, depth);
    let writes = SegmentLoad::Fixed(plan.loads[1]);
    SsdPhasePlan {
        title: format!("sequential writes of 1 MiB, random ones of 8 KiB between, depth {depth}"),
        has_rounds: false,
        precondition: 0,
        segments: vec![
            SsdSegmentPlan::without_pause("sequential", writes, hours(8)),
            SsdSegmentPlan::without_pause("random", random_writes, hours(6)),
            SsdSegmentPlan::without_pause("sequential again", writes, hours(8)),
        ],
        ..plan
    }
}

/// Writes, then `load` at decreasing depth, then ten minutes each at three of these depths.
fn demand(name: &'static str, what: &str, load: SsdLoad) -> SsdPhasePlan {
    let most = load.depth * load.depth;
    let all = DEMANDS
        .iter()
        .flat_map(|one| DEMANDS.map(|other| one * other));
    let mut depths: Vec<u32> = all.filter(|depth| *depth < most).collect();
    depths.push(most);
    depths.sort_unstable_by(|one, other| other.cmp(one));
    depths.dedup();
    let writes = SsdLoad {
        read_percent: 0,
        depth: most,
        ..load
    };
    let at_depths = depths.iter().map(|&depth| SsdLoad { depth, ..load });
    let loads: Vec<SsdLoad> = std::iter::once(writes).chain(at_depths).collect();
    let at = |name, demand| SsdSegmentPlan {
        name,
        load: SegmentLoad::Of(demand),
        bursts: 1,
        burst: MINUTE * 10,
        pause: Duration::ZERO,
    };
    SsdPhasePlan {
        title: format!("{what}, depth 1 to {most}, followed by writes"),
        tracked_load: 0,
        first_times: DEMAND_WRITES,
        segments: vec![
            at("least load", DemandPoint::Least),
            at("middle load", DemandPoint::Middle),
            at("most load", DemandPoint::Most),
        ],
        ..random(name, Tracked::Iops, loads)
    }
}

const fn random_load(block_bytes: u64, read_percent: u32, depth: u32) -> SsdLoad {
    SsdLoad {
        block_bytes,
        read_percent,
        pattern: SsdPattern::Random,
        depth,
    }
}

fn crossed(mixes: &[u32], blocks: &[u64], depth: u32) -> Vec<SsdLoad> {
    let of_mix = |&read_percent: &u32| {
        let blocks = blocks.iter();
        blocks.map(move |&block_bytes| random_load(block_bytes, read_percent, depth))
    };
    mixes.iter().flat_map(of_mix).collect()
}

/// A random-access test, preceded by 4 KiB writes.
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
        first_times: 1,
        has_rounds: true,
        segments: Vec::new(),
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
        first_times: 1,
        has_rounds: true,
        segments: Vec::new(),
    }
}

impl SsdPhasePlan {
    /// The same without block sizes that direct I/O of `unit` bytes cannot do.
    #[must_use]
    pub fn without_smaller(mut self, unit: u32) -> Self {
        let unit_bytes = u64::from(unit);
        let composite = self.loads.iter_mut();
        let composite = composite.filter(|it| it.pattern == SsdPattern::Composite);
        composite.for_each(|it| it.block_bytes = it.block_bytes.max(unit_bytes));
        let tracked = self.loads[self.tracked_load];
        self.loads
            .retain(|it| it.block_bytes.is_multiple_of(unit_bytes) || *it == tracked);
        let place = self.loads.iter().position(|it| *it == tracked);
        self.tracked_load = place.unwrap_or(0);
        self
    }

    /// The tracked load.
    pub fn tracked(&self) -> SsdLoad {
        self.loads[self.tracked_load]
    }

    /// Size of its largest operation, bytes.
    pub fn block_max(&self) -> u64 {
        let blocks = self.loads.iter().map(SsdLoad::largest);
        blocks.max().unwrap_or(0).max(self.precondition_block)
    }
}
