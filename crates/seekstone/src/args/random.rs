//! Arguments of `seekstone random`.

use clap::Args;
use units::{Bytes, Duration, TargetName};

use super::parse::within;
use super::parse::{
    parse_budget, parse_level, parse_part, parse_precision, parse_size, parse_target,
};
use super::{CELL_TIME, Common, RANDOM_BUDGET, RankSharing, Reach};

/// `seekstone random`.
#[derive(Args, Debug)]
#[command(after_help = help!("random"))]
pub struct RandomArgs {
    /// Directory, file, block device or `sim:NAME`. Files and devices are only read without
    /// --overwrite.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Leading parts of the file to spread operations over, `all` for the whole file.
    /// Comma-separated [default: 8 blocks, then each 4 times larger, up to all].
    #[arg(long, value_parser = parse_part, value_delimiter = ',')]
    pub spans: Vec<FilePart>,
    /// Block sizes. Comma-separated [default: 4, 16, 64, 256 KiB].
    #[arg(long, value_parser = parse_size, value_delimiter = ',')]
    pub blocks: Vec<Bytes>,
    /// Queue depths. Comma-separated [default: 1, 2, 4, 8, 16, 32].
    #[arg(long, value_delimiter = ',', value_parser = within::<u32>(1..=4096))]
    pub depths: Vec<u32>,
    /// Measure only reads.
    #[arg(long, conflicts_with = "writes")]
    pub reads: bool,
    /// Measure only writes.
    #[arg(long)]
    pub writes: bool,
    /// Measure every combination of span, block size and depth.
    #[arg(long)]
    pub cross: bool,
    /// Follow every write with an fsync, and count both as one operation.
    #[arg(long, conflicts_with = "reads")]
    pub durable: bool,
    /// Use the page cache (buffered I/O).
    #[arg(long)]
    pub buffered: bool,
    /// Test file size, or part of the target to use [default: 1 GiB or half the free space].
    #[arg(long, value_parser = parse_size)]
    pub size: Option<Bytes>,
    /// Precision of the mean service time of each cell.
    #[arg(long, default_value = "5%", value_parser = parse_precision)]
    pub precision: f64,
    /// At least this many rounds of every cell. Imprecise cells get more while time is left.
    #[arg(
        long = "repeat", alias = "rounds",
        default_value_t = 4, value_parser = within::<u32>(1..=100)
    )]
    pub rounds: u32,
    /// Longest time of a cell in one round.
    #[arg(long, default_value = CELL_TIME.default, value_parser = parse_level)]
    pub max_time: Duration,
    /// Always leave this much of the start of every round of a cell out. Counts towards --max-time
    /// and --budget [default: at most 1 s or a twentieth, unless latency is stable by then].
    #[arg(long, value_parser = parse_level)]
    pub warm_up: Option<Duration>,
    /// Time limit, with the test file. By default, models of slow storage take longer.
    #[arg(long, default_value = RANDOM_BUDGET.default, value_parser = parse_budget)]
    pub budget: Duration,
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

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    /// Its first bytes, this many.
    First(Bytes),
    /// All of it.
    Whole,
}
