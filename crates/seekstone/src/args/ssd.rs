//! Arguments of `seekstone ssd`.

use clap::{Args, ValueEnum};
use procedure::SsdTest;
use units::{Bytes, Duration, TargetName};

use super::parse::within;
use super::parse::{parse_budget, parse_level, parse_precision, parse_size, parse_target};
use super::words::{one_of, words};
use super::{Common, RankSharing, Reach};

/// `seekstone ssd`.
#[derive(Args, Debug)]
#[command(after_help = help!("ssd"))]
pub struct SsdArgs {
    /// Block device or file (with --overwrite), directory or `sim:NAME`.
    #[arg(value_parser = parse_target)]
    pub target: TargetName,
    /// Tests of the standard, comma-separated. Write saturation (wsat), 7 mixes of 8 block sizes
    /// (iops), depth 1 (lat), sequential (tp), idle recovery (hir). Cross stimulus recovery (xsr),
    /// composite workload (cbw), response times at rising demand (dirth).
    #[arg(
        long = "test",
        value_parser = one_of(TESTS),
        value_name = "TESTS",
        default_value = "wsat",
        value_delimiter = ','
    )]
    pub tests: Vec<SsdTest>,
    /// End rounds when precise, instead of by the standard's timing.
    #[arg(long)]
    pub quick: bool,
    /// Time of each load in a round [default: 60s, at most 5s with --quick]. Bursts and pauses of
    /// hir, xsr, cbw and dirth are shorter in proportion.
    #[arg(long, value_parser = parse_level)]
    pub round: Option<Duration>,
    /// With --quick: wanted precision of the mean latency of each load in a round [default: 5%].
    #[arg(long, value_parser = parse_precision, requires = "quick")]
    pub precision: Option<f64>,
    /// At most this many rounds of a test [default: 25, or as many as --budget allows for wsat].
    #[arg(long = "repeat", alias = "rounds", value_parser = within::<u32>(1..=100_000))]
    pub rounds: Option<u32>,
    /// End the rounds of a test once all was written N times, precondition included. The standard
    /// ends wsat at 4.
    #[arg(long, value_parser = within::<u32>(1..=1000))]
    pub capacities: Option<u32>,
    /// Largest change over the last half of the rounds that still counts as steady.
    #[arg(long, default_value = "10%", value_parser = parse_precision)]
    pub trend: f64,
    /// Times to write everything sequentially before the first round [default: 2, or 0 for wsat].
    /// Filling a test file counts as one.
    #[arg(long, value_parser = within::<u32>(0..=100))]
    pub precondition: Option<u32>,
    /// Purge earlier writes before each test, and read samples back: `discard` for a device
    /// (BLKDISCARD), `punch` for a file.
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = PurgeChoice::None)]
    pub purge: PurgeChoice,
    /// Whether the volatile write cache of the drive is switched off during the tests.
    #[arg(long, value_enum, value_name = "STATE", default_value_t = WriteCacheChoice::AsIs)]
    pub write_cache: WriteCacheChoice,
    /// Queue depth, except for lat. Loads of cbw and dirth rise to its square.
    #[arg(long, default_value_t = 32, value_parser = within::<u32>(1..=1024))]
    pub depth: u32,
    /// Test file size, or part of the target to use [default: 1 GiB or half the free space].
    #[arg(long, value_parser = parse_size)]
    pub size: Option<Bytes>,
    /// Total time, in equal parts for each test [default: no round of a test begins after 24h of
    /// rounds, with --quick 10min].
    #[arg(long, value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// How to access the storage.
    #[command(flatten)]
    pub reach: Reach,
    /// Whether the ranks of a fleet share the target.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

words! {
    /// Tests of the standard.
    TESTS: SsdTest =
        Wsat "wsat" "Random writes of 4 KiB from the start";
        Iops "iops" "Seven mixes of reads and writes with eight block sizes";
        Lat "lat" "Three mixes with three block sizes, one operation at a time";
        Tp "tp" "Sequential reads and writes of 128 KiB, then of 1 MiB";
        Hir "hir" "Random writes of 4 KiB after waits of 5 to 50 s";
        Xsr "xsr" "Sequential writes before and after hours of random ones";
        Cbw "cbw" "A mix of sizes and places at rising depths";
        Dirth "dirth" "Random 65/35 mixes of 8 KiB at rising depths";
}

/// What becomes of the volatile write cache of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WriteCacheChoice {
    /// It stays unchanged.
    AsIs,
    /// Switched off, and on again at the end.
    Off,
}

/// How to purge earlier writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PurgeChoice {
    /// None.
    None,
    /// BLKDISCARD of all of a device.
    Discard,
    /// Punch out the file's blocks.
    Punch,
    /// NVMe format: printed, for you to run.
    Format,
    /// NVMe or SCSI sanitize: printed, for you to run.
    Sanitize,
}
