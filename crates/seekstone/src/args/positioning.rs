//! Arguments of `seekstone positioning`.

use clap::Args;
use units::{Bytes, Duration, TargetName};

use super::Common;
use super::parse::within;
use super::parse::{parse_budget, parse_level, parse_size, parse_target};

/// `seekstone positioning`.
#[derive(Args, Debug)]
#[command(after_help = help!("positioning"))]
pub struct PositioningArgs {
    /// `sim:NAME`.
    #[arg(default_value = "sim:dlt2000", value_parser = parse_target)]
    pub target: TargetName,
    /// Files.
    #[arg(long, default_value_t = 91, value_parser = within::<u32>(1..=1_000_000))]
    pub files: u32,
    /// Bytes to read from each.
    #[arg(long, default_value = "32KiB", value_parser = parse_size)]
    pub record: Bytes,
    /// Rounds. Each opens all files once.
    #[arg(
        long = "repeat", alias = "rounds",
        default_value_t = 200, value_parser = within::<u32>(1..=100_000)
    )]
    pub rounds: u32,
    /// Time limit for new rounds, in the device's time [default: none].
    #[arg(long, value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Bin width of the histogram [default: a round number giving at most a dozen bins].
    #[arg(long, value_parser = parse_level)]
    pub bin: Option<Duration>,
    /// Compare with the results of 1995 on a DLT2000 with 91 files, in the same bins.
    #[arg(long, conflicts_with_all = ["bin", "files"])]
    pub published: bool,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}
