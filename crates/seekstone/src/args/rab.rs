//! Arguments of `seekstone rab`.

use clap::Args;
use results::Mode;
use units::{Bytes, Duration, Rate, TargetName};

use super::parse::within;
use super::parse::{
    LevelArg, parse_budget, parse_level, parse_level_at, parse_precision, parse_rate, parse_size,
    parse_span, parse_target,
};
use super::{Common, RAB_BUDGET, RankSharing, Reach};

/// `seekstone rab`.
#[derive(Args, Debug)]
#[command(after_help = help!("rab"))]
pub struct RabArgs {
    /// Directory, file or device (with --overwrite), or `sim:NAME`.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Workloads: names, numbers 1 to 7, or TOML files, separated by commas [default: all seven].
    #[arg(long, short, value_name = "LIST", value_delimiter = ',')]
    pub workload: Vec<String>,
    /// Print a workload's definition, to copy and edit, and exit.
    #[arg(long, value_name = "NAME")]
    pub print_workload: Option<String>,
    /// Highest mean service time.
    #[arg(long, default_value = "50ms", value_parser = parse_level)]
    pub response_max: Duration,
    /// Lowest service time to take as the no-load level.
    #[arg(long, default_value = "0", value_parser = parse_span, conflicts_with = "levels")]
    pub response_min: Duration,
    /// Use this level instead of the thirds: a mean time, or a percentile, as in 1ms@p99
    /// (repeatable).
    #[arg(
        long = "level", value_parser = parse_level_at,
        conflicts_with = "response_max"
    )]
    pub levels: Vec<LevelArg>,
    /// Operations per second of each waiting client [default: from its workload, 20].
    #[arg(long, value_parser = parse_rate)]
    pub iops_per_client: Option<Rate>,
    /// Most clients of a transaction workload.
    #[arg(long, default_value_t = 100_000, value_parser = within::<u32>(1..=100_000))]
    pub clients_max: u32,
    /// Precision of the load at a level, or of a batch workload.
    #[arg(long, default_value = "3%", value_parser = parse_precision)]
    pub precision: f64,
    /// Repeat all workloads, in normal mode.
    #[arg(
        long = "repeat", alias = "runs",
        default_value_t = 1, value_parser = within::<u32>(1..=10_000)
    )]
    pub runs: u32,
    /// RAID mode to stamp results with: normal, continuous, reduced, repair, rebuild, exchange. All
    /// but normal run until stopped. A degraded, rebuilding or replacing btrfs, md or ZFS RAID is
    /// detected.
    #[arg(long, value_name = "MODE", default_value = "normal")]
    pub mode: Mode,
    /// End modes other than normal after this long.
    #[arg(long = "for", value_parser = parse_budget)]
    pub duration: Option<Duration>,
    /// Test file size, or part of the target to use [default: at most 4 GiB].
    #[arg(long, value_parser = parse_size)]
    pub size: Option<Bytes>,
    /// Always leave this much of the start of every curve point and batch workload out. Counts
    /// towards --budget [default: at most 1 s or a twentieth, unless latency is stable by then].
    #[arg(long, value_parser = parse_level)]
    pub warm_up: Option<Duration>,
    /// Time limit of each repeat. The first includes the test file. By default, models of slow
    /// storage take longer.
    #[arg(long, default_value = RAB_BUDGET.default, value_parser = parse_budget)]
    pub budget: Duration,
    /// Show a line of progress instead of the full screen on a terminal.
    #[arg(long)]
    pub no_screen: bool,
    /// Keep the full screen open at the end, until Q is pressed.
    #[arg(long, conflicts_with = "no_screen")]
    pub stay: bool,
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
