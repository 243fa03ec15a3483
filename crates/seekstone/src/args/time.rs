//! Arguments of `seekstone time`.

use std::path::PathBuf;

use clap::Args;
use units::Duration;

use super::Common;
use super::parse::within;
use super::parse::{parse_budget, parse_level, parse_precision, parse_share};

/// `seekstone time`.
#[derive(Args, Debug)]
#[command(
    after_help = help!("time"),
    group = clap::ArgGroup::new("what").required(true).multiple(false)
)]
pub struct TimeArgs {
    /// Commands to time and compare, each run by `sh -c`. Compared with the first.
    #[arg(value_name = "COMMAND", group = "what")]
    pub commands: Vec<String>,
    /// One program with its arguments, started without a shell.
    #[arg(
        last = true,
        value_name = "PROGRAM",
        group = "what",
        allow_hyphen_values = true
    )]
    pub program: Vec<String>,
    /// Number of rounds [default: until precise].
    #[arg(
        long = "repeat", alias = "runs",
        short = 'r', conflicts_with_all = ["precision", "budget"],
        value_parser = within::<u32>(1..=100_000)
    )]
    pub runs: Option<u32>,
    /// Stop at this precision, of the mean of one command or the ratios of several.
    #[arg(long, default_value = "2%", value_parser = parse_precision)]
    pub precision: f64,
    /// Time limit. Five rounds that need more end the run. By
    /// default they exceed it.
    #[arg(long, default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// Warm-up runs of each command, uncounted [default: 1, and 0 with --cold].
    #[arg(long, short = 'w', conflicts_with = "cold", value_parser = within::<u32>(0..=1000))]
    pub warm_ups: Option<u32>,
    /// Drop the system's page cache before each run. Root only.
    #[arg(long)]
    pub cold: bool,
    /// Shell command before each run, warm-ups included. Not timed.
    #[arg(long, short = 'p', value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// Shell command after each run. Not timed.
    #[arg(long, value_name = "COMMAND")]
    pub conclude: Option<String>,
    /// Name of each command in tables, in order.
    #[arg(long = "name", short = 'n', value_name = "NAME")]
    pub names: Vec<String>,
    /// Ignore differences smaller than this.
    #[arg(long, default_value = "2%", value_parser = parse_share)]
    pub margin: f64,
    /// Working directory of the commands.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// File for their standard input [default: none].
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Show their standard output and standard error.
    #[arg(long)]
    pub show_output: bool,
    /// Go on after a run with a non-zero exit status. It is counted and shown, but is in no mean
    /// unless none succeeded [default: stop at the first].
    #[arg(long, short = 'i')]
    pub ignore_failure: bool,
    /// Kill a run that takes longer, and stop.
    #[arg(long, default_value = "1h", value_parser = parse_level)]
    pub time_limit: Duration,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}
