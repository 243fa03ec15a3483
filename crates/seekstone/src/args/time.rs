//! Arguments of `seekstone time`.

use std::path::PathBuf;

use clap::Args;
use units::Duration;

use super::Common;
use super::parse::{parse_budget, parse_level, parse_precision, parse_share};

/// `seekstone time`.
#[derive(Args, Debug)]
#[command(
    after_help = "A program is timed as it stands after --; commands that are to be compared are \
given as texts, each of which a shell runs:\n\n  \
seekstone time -- cp -r src copy\n  \
seekstone time 'gzip -k -f data' 'zstd -k -f data'\n  \
seekstone time --prepare 'rm -rf copy' 'cp -r src copy' 'rsync -a src/ copy'\n  \
seekstone time --cold --runs 10 'grep -r word src'\n\n\
In each round every command runs once, in random order, and every second round goes backwards. \
Commands are compared by pairs of one round, so that a machine whose speed changes favours none. \
A difference is claimed only when its whole interval exceeds --margin, and from five rounds on.",
    group = clap::ArgGroup::new("what").required(true).multiple(false)
)]
pub struct TimeArgs {
    /// Commands to time and compare, each a text for `sh -c`; the others are compared with the
    /// first.
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
    /// Exactly this many rounds [default: until precise].
    #[arg(
        long, short = 'r', value_name = "N", conflicts_with_all = ["precision", "budget"],
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    pub runs: Option<u32>,
    /// Stop when the mean of one command, or each ratio of several, is this precise.
    #[arg(
        long, value_name = "PERCENT", default_value = "2%", value_parser = parse_precision,
        allow_hyphen_values = true
    )]
    pub precision: f64,
    /// No round begins later than this after the first; five are made whatever they take.
    #[arg(
        long, value_name = "TIME", default_value = "60s", value_parser = parse_budget,
        allow_hyphen_values = true
    )]
    pub budget: Duration,
    /// Runs of each command before those that count, which fill the caches [default: 1, and 0 with
    /// --cold].
    #[arg(
        long, short = 'w', value_name = "N", conflicts_with = "cold",
        value_parser = clap::value_parser!(u32).range(0..=1000)
    )]
    pub warm_ups: Option<u32>,
    /// Drop the page cache of the whole system before each run; root only.
    #[arg(long)]
    pub cold: bool,
    /// A command for the shell before each run, warm-ups included; its time does not count.
    #[arg(long, short = 'p', value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// A command for the shell after each run; its time does not count.
    #[arg(long, value_name = "COMMAND")]
    pub conclude: Option<String>,
    /// A name for each command, in tables; in their order.
    #[arg(long = "name", short = 'n', value_name = "NAME")]
    pub names: Vec<String>,
    /// Differences below this are of no interest.
    #[arg(
        long, value_name = "PERCENT", default_value = "2%", value_parser = parse_share,
        allow_hyphen_values = true
    )]
    pub margin: f64,
    /// Where the commands run.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// What they read as standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Let their standard output and standard error through.
    #[arg(long)]
    pub show_output: bool,
    /// Count runs that end with an exit status other than 0, instead of stopping at the first.
    #[arg(long, short = 'i')]
    pub ignore_failure: bool,
    /// End a run that takes longer, and stop.
    #[arg(
        long, value_name = "TIME", default_value = "1h", value_parser = parse_level,
        allow_hyphen_values = true
    )]
    pub time_limit: Duration,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}
