//! Arguments of `seekstone ping`.

use clap::Args;
use units::{Duration, TargetName};

use super::parse::{parse_level, parse_span, parse_target, within};

/// `seekstone ping`.
///
/// Reads 4 KiB at a random place once a second, and prints how long each took.
#[derive(Args, Debug)]
#[command(after_help = help!("ping"))]
pub struct PingArgs {
    /// Directory, file, block device or `sim:NAME`. Files and devices are only read. In a directory
    /// a file of 16 MiB is made and removed.
    #[arg(default_value = ".", value_parser = parse_target)]
    pub target: TargetName,
    /// Stop after this many [default: at Ctrl-C, on a model and for Nagios after 10].
    #[arg(long, short, value_parser = within::<u32>(1..=1_000_000_000))]
    pub count: Option<u32>,
    /// Time from one to the next. 0 waits for the answer alone.
    #[arg(long, short, default_value = "1s", value_parser = parse_span)]
    pub interval: Duration,
    /// Write with fdatasync instead, to a file of its own in a directory.
    #[arg(long)]
    pub sync: bool,
    /// Print the summary alone.
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the summary as JSON, and no lines.
    #[arg(long, conflicts_with_all = ["warn", "crit"])]
    pub json: bool,
    /// Warn above this time.
    #[arg(long, value_parser = parse_level)]
    pub warn: Option<Duration>,
    /// Be critical above this time.
    #[arg(long, value_parser = parse_level)]
    pub crit: Option<Duration>,
    /// Seed of the places.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}
