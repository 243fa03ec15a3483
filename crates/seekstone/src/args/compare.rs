//! `seekstone compare`.

use clap::Args;
use procedure::study::Limit;
use units::{Bytes, Duration, TargetName};

use super::parse::within;
use super::parse::{parse_budget, parse_pair, parse_precision, parse_target};
use super::{Common, RankSharing};

/// `seekstone compare`.
#[derive(Args, Debug)]
#[command(after_help = help!("compare"))]
pub struct CompareArgs {
    /// What to compare. Targets (directories, files, devices, `sim:NAME`) are compared with the
    /// first. Runs are compared with the ones before the last: numbers, ranges as in 3..7,
    /// `latest`, `latest:5`, JSON files. Commas make a set. With --baseline alone: what its limits
    /// can see.
    #[arg(
        required_unless_present = "baseline", value_name = "TARGET", value_parser = parse_target
    )]
    pub target: Vec<TargetName>,
    /// What to measure on each target: a command for one target, or a study measurement.
    #[arg(long, short, value_name = "KIND", default_value = "trial")]
    pub measure: String,
    /// Option for that command, as in clients=8 (repeatable).
    #[arg(long, value_name = "OPTION=VALUE", value_parser = parse_pair)]
    pub set: Vec<(String, String)>,
    /// Rounds. Each measures every target once, in random order.
    #[arg(
        long = "repeat", alias = "rounds",
        default_value_t = stats::PAIRS_DEFAULT as u32,
        value_parser = within::<u32>(1..=10_000)
    )]
    pub rounds: u32,
    /// Compare only these metrics, by their names in --csv output.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub figures: Vec<String>,
    /// Fail on a change, as in 'p99 > +10%' or 'iops < -5%' (repeatable). Exit code 4 when that is
    /// shown at 95 % confidence, 5 when more rounds are needed.
    #[arg(long, value_name = "LIMIT")]
    pub fail: Vec<Limit>,
    /// Compare runs with this named set of archived runs (docs/compare.md).
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Add the runs to the baseline afterwards, unless a limit is exceeded or undecided. The
    /// baseline keeps the latest 100.
    #[arg(long, requires = "baseline")]
    pub update: bool,
    /// Ignore differences smaller than this.
    #[arg(long, default_value = "2%", value_parser = parse_precision)]
    pub margin: f64,
    /// Time limit for new rounds. Repeats are shortened so that all rounds fit.
    #[arg(long, value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Resume an interrupted comparison of the same targets.
    #[arg(long, conflicts_with_all = ["restart", "seed"])]
    pub resume: bool,
    /// Discard what an interrupted comparison measured, and start over.
    #[arg(long)]
    pub restart: bool,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// Whether the ranks of a fleet share a target.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}
